/* dirty.c - see dirty.h. The walk keeps its own stack: chains of a million edges are no danger. */
#include "ninja/state/dirty.h"
#include "ninja/logs/discover.h"
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/dyndep.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* An edge whose inputs are being looked at. */
typedef struct dirty_visit {
    uint32_t edge, node; /* the output through which the edge was reached */
    uint32_t next;       /* input */
    bool has_asked;      /* for its dyndep file */
    bool has_begun;      /* with its inputs */
    bool is_dirty;
} dirty_visit;

static void explain(const dirty_scan *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void explain(const dirty_scan *s, const char *format, ...)
{
    va_list arguments;

    if (s->explains == NULL)
        return;
    fprintf(stderr, "%s explain: ", s->explains);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static bool look_at_file(dirty_scan *s, uint32_t node)
{
    ninja_node *n = &s->m->nodes[node];

    if (n->mtime_ns >= 0)
        return true;
    n->mtime_ns = disk_mtime_ns(n->path);
    n->exists = n->mtime_ns > 0;
    return n->mtime_ns >= 0 ||
           ninja_fail(s->m, "%.256s: cannot be looked at: %s; look at its folder", n->path, strerror(errno));
}

/* "dependency cycle: a -> b -> a", from the output of `edge` that is on the stack. */
static bool fail_cycle(dirty_scan *s, uint32_t node)
{
    ninja_manifest *m = s->m;
    uint32_t edge = m->nodes[node].producer;
    size_t first = 0;
    char text[900];
    size_t used = 0;

    while (s->stack[first].edge != edge)
        first++;
    for (size_t i = first; i < s->depth && used < sizeof text - 300; i++) {
        uint32_t at = i == first ? node : s->stack[i].node;
        used += (size_t)snprintf(text + used, sizeof text - used, "%.250s -> ", m->nodes[at].path);
    }
    return ninja_fail(m, "%.200s:%u: these need each other: %s%.250s; remove one of the inputs",
                      m->files[m->edges[edge].file], m->edges[edge].line, text, m->nodes[node].path);
}

/* Whether the log says of no output of the edge that its command has ended well. */
static bool is_unfinished(const dirty_scan *s, uint32_t edge)
{
    const ninja_node *output = &s->m->nodes[s->m->edges[edge].outputs[0]];
    const log_entry *entry = build_log_find(s->log, (piece){output->path, output->bytes});

    return entry == NULL || log_entry_is_begun(entry);
}

/* The inputs that the compiler has found. A depfile that a killed command has half written is as none. */
static bool load_discovered(dirty_scan *s, uint32_t edge, bool *is_missing)
{
    if (discover_load(s->m, s->deps, edge, s->explains, is_missing))
        return true;
    if (!is_unfinished(s, edge))
        return false;
    s->m->error[0] = '\0';
    *is_missing = true;
    return true;
}

static bool push_edge(dirty_scan *s, uint32_t node)
{
    uint32_t edge = s->m->nodes[node].producer;
    dirty_visit *grown = array_grow(s->stack, &s->capacity, s->depth + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(s->m);
    s->stack = grown;
    s->m->edges[edge].mark = EDGE_ON_PATH;
    s->m->edges[edge].outputs_ready = true;
    s->m->edges[edge].is_blocked = false;
    s->stack[s->depth++] = (dirty_visit){.edge = edge, .node = node};
    return true;
}

/* Looks at a node; a node of an edge that was not looked at is pushed. */
static bool visit(dirty_scan *s, uint32_t node)
{
    ninja_node *n = &s->m->nodes[node];

    if (n->producer == NINJA_NONE) {
        if (n->mtime_ns >= 0)
            return true;
        if (!look_at_file(s, node))
            return false;
        if (!n->exists)
            explain(s, "%s has no in-edge and is missing", n->path);
        n->is_dirty = !n->exists;
        return true;
    }
    if (s->m->edges[n->producer].mark == EDGE_DONE)
        return true;
    if (s->m->edges[n->producer].mark == EDGE_ON_PATH)
        return fail_cycle(s, node);
    return push_edge(s, node);
}

/* What an earlier phase has run of the edge; NULL: nothing. */
static const ran_output *find_ran(const dirty_scan *s, const dirty_visit *of)
{
    return s->ran != NULL ? ran_find(s->ran, &s->m->nodes[of->node]) : NULL;
}

/* The dyndep file of an edge, once it was looked at: read if it is up to date. If not, the edge waits for it as for any
 * other input. */
static bool read_dyndep(dirty_scan *s, uint32_t edge)
{
    ninja_manifest *m = s->m;
    uint32_t file = m->edges[edge].dyndep;
    const ninja_node *node = &m->nodes[file];

    if (node->producer != NINJA_NONE && !m->edges[node->producer].outputs_ready)
        return true;
    if (node->producer == NINJA_NONE && !node->exists)
        return ninja_fail(m, "%.200s:%u: '%.256s' is missing and no statement makes it; add the file",
                          m->files[m->edges[edge].file], m->edges[edge].line, node->path);
    s->has_read = dyndep_read(m, file);
    return s->has_read;
}

static bool add_validations(dirty_scan *s, const ninja_edge *edge)
{
    for (uint32_t i = 0; i < edge->validations_count && !s->leaves_validations; i++) {
        uint32_t *more = array_grow(s->validations, &s->validations_capacity, s->validations_count + 1, sizeof *more);
        if (more == NULL)
            return ninja_no_memory(s->m);
        s->validations = more;
        s->validations[s->validations_count++] = edge->validations[i];
    }
    return true;
}

/* All that comes before the inputs of the edge on top: the dyndep file first, which says what its outputs and inputs
 * are. */
static bool begin_edge(dirty_scan *s)
{
    ninja_manifest *m = s->m;
    dirty_visit *top = &s->stack[s->depth - 1];
    uint32_t edge = top->edge;

    if (m->edges[edge].dyndep != NINJA_NONE && !top->has_asked) {
        top->has_asked = true;
        return visit(s, m->edges[edge].dyndep);
    }
    if (m->edges[edge].dyndep != NINJA_NONE && !read_dyndep(s, edge))
        return false;
    top->has_begun = true;
    for (uint32_t i = 0; i < m->edges[edge].outputs_count; i++)
        if (!look_at_file(s, m->edges[edge].outputs[i]))
            return false;
    if (find_ran(s, top) == NULL) {
        if (!m->edges[edge].deps_loaded) {
            bool is_missing; /* the array of edges may move meanwhile */
            if (!load_discovered(s, edge, &is_missing))
                return false; /* not loaded: if a dyndep file was read before, the next round must fail too */
            m->edges[edge].deps_loaded = true;
            m->edges[edge].deps_missing = is_missing;
        } else if (m->edges[edge].deps_missing) {
            explain(s, "deps for '%s' are missing", m->nodes[m->edges[edge].outputs[0]].path);
        }
        top->is_dirty = m->edges[edge].deps_missing;
    }
    return add_validations(s, &m->edges[edge]);
}

/* An earlier phase has run the edge: it is done or has failed, whatever its inputs look like now. */
static void end_ran_edge(dirty_scan *s, ninja_edge *edge, bool has_failed)
{
    for (uint32_t i = 0; i < edge->outputs_count; i++) {
        ninja_node *output = &s->m->nodes[edge->outputs[i]];
        const ran_output *ran = ran_find(s->ran, output);
        output->is_dirty = has_failed || (ran != NULL && ran->is_new);
    }
    edge->outputs_ready = !has_failed;
    edge->is_blocked = has_failed;
    edge->mark = EDGE_DONE;
    s->depth--;
}

/* Whether one output, which no dirty input makes dirty, is dirty. `entry`: of the log, may be NULL. */
static bool is_output_dirty(dirty_scan *s, uint32_t edge, uint32_t newest, uint64_t hash, uint32_t node)
{
    ninja_manifest *m = s->m;
    const ninja_node *output = &m->nodes[node];
    const ninja_node *input = newest != NINJA_NONE ? &m->nodes[newest] : NULL;
    const log_entry *entry = build_log_find(s->log, (piece){output->path, output->bytes});

    if (!output->exists) {
        explain(s, "output %s doesn't exist", output->path);
        return true;
    }
    if (entry != NULL && log_entry_is_begun(entry)) {
        explain(s, "the command for %s began and has not ended well", output->path);
        return true;
    }
    if (input != NULL && output->mtime_ns < input->mtime_ns) {
        bool is_logged = entry != NULL && ninja_edge_flag(m, edge, SYMBOL_RESTAT);
        int64_t age = is_logged ? entry->mtime_ns : output->mtime_ns;
        if (age < input->mtime_ns) {
            explain(s, "%soutput %s older than most recent input %s (%" PRId64 " vs %" PRId64 ")",
                    is_logged ? "restat of " : "", output->path, input->path, age, input->mtime_ns);
            return true;
        }
    }
    bool is_generator = ninja_edge_flag(m, edge, SYMBOL_GENERATOR);
    if (entry == NULL) {
        if (!is_generator)
            explain(s, "command line not found in log for %s", output->path);
        return !is_generator;
    }
    if (!is_generator && hash != entry->hash) {
        explain(s, "command line changed for %s", output->path);
        return true;
    }
    if (input != NULL && entry->mtime_ns < input->mtime_ns) {
        explain(s, "recorded mtime of %s older than most recent input %s (%" PRId64 " vs %" PRId64 ")", output->path,
                input->path, entry->mtime_ns, input->mtime_ns);
        return true;
    }
    return false;
}

/* A phony edge makes nothing: its outputs are as old as its newest input. */
static bool is_phony_dirty(dirty_scan *s, uint32_t edge, uint32_t newest)
{
    ninja_manifest *m = s->m;
    const ninja_edge *e = &m->edges[edge];

    for (uint32_t i = 0; i < e->outputs_count; i++) {
        ninja_node *output = &m->nodes[e->outputs[i]];
        if (e->inputs_count == 0 && !output->exists) {
            explain(s, "output %s of phony edge with no inputs doesn't exist", output->path);
            return true;
        }
        if (newest != NINJA_NONE && !output->exists && output->mtime_ns < m->nodes[newest].mtime_ns)
            output->mtime_ns = m->nodes[newest].mtime_ns;
    }
    return false;
}

bool dirty_outputs(dirty_scan *s, uint32_t edge, uint32_t newest, bool *is_dirty)
{
    const ninja_edge *e = &s->m->edges[edge];

    *is_dirty = false;
    if (ninja_is_phony(s->m, edge)) {
        *is_dirty = is_phony_dirty(s, edge, newest);
        return true;
    }
    buffer_clear(&s->text);
    if (!ninja_edge_command(s->m, edge, true, &s->text))
        return false;
    uint64_t hash = build_log_hash(s->log, buffer_piece(&s->text));
    for (uint32_t i = 0; !*is_dirty && i < e->outputs_count; i++)
        *is_dirty = is_output_dirty(s, edge, newest, hash, e->outputs[i]);
    return true;
}

/* All inputs of the edge on top were looked at. */
static bool end_edge(dirty_scan *s)
{
    ninja_manifest *m = s->m;
    dirty_visit *top = &s->stack[s->depth - 1];
    ninja_edge *edge = &m->edges[top->edge];
    uint32_t newest = NINJA_NONE, ordered = edge->inputs_count - edge->order_only_count;
    const ran_output *ran = find_ran(s, top);
    bool is_dirty = top->is_dirty;

    if (ran != NULL) {
        end_ran_edge(s, edge, ran->has_failed);
        return true;
    }
    for (uint32_t i = 0; i < edge->inputs_count; i++) {
        const ninja_node *input = &m->nodes[edge->inputs[i]];
        if (input->producer != NINJA_NONE && !m->edges[input->producer].outputs_ready)
            edge->outputs_ready = false;
        edge->is_blocked |= input->producer != NINJA_NONE && m->edges[input->producer].is_blocked;
        if (i >= ordered)
            continue;
        if (input->is_dirty) {
            explain(s, "%s is dirty", input->path);
            is_dirty = true;
        } else if (newest == NINJA_NONE || input->mtime_ns > m->nodes[newest].mtime_ns) {
            newest = edge->inputs[i];
        }
    }
    if (!is_dirty && !dirty_outputs(s, top->edge, newest, &is_dirty))
        return false;
    for (uint32_t i = 0; is_dirty && i < edge->outputs_count; i++)
        m->nodes[edge->outputs[i]].is_dirty = true;
    if (is_dirty && !(ninja_is_phony(m, top->edge) && edge->inputs_count == 0))
        edge->outputs_ready = false;
    edge->mark = EDGE_DONE;
    s->depth--;
    return true;
}

static bool look_at_one(dirty_scan *s, uint32_t node)
{
    bool is_good = visit(s, node);

    while (is_good && s->depth > 0) {
        dirty_visit *top = &s->stack[s->depth - 1];
        const ninja_edge *edge = &s->m->edges[top->edge];
        if (!top->has_begun)
            is_good = begin_edge(s);
        else
            is_good = top->next < edge->inputs_count ? visit(s, edge->inputs[top->next++]) : end_edge(s);
    }
    return is_good;
}

bool dirty_look(dirty_scan *s, uint32_t node)
{
    size_t next = s->validations_count;
    bool is_good = look_at_one(s, node);

    for (; is_good && next < s->validations_count; next++)
        is_good = look_at_one(s, s->validations[next]);
    return is_good;
}

void dirty_free(dirty_scan *s)
{
    free(s->stack);
    free(s->validations);
    buffer_free(&s->text);
    *s = (dirty_scan){0};
}
