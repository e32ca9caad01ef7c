/* dyndep.c - see dyndep.h. The language is that of ninja 1.11: `ninja_dyndep_version = 1`, then a statement
 * `build OUT | MORE OUTS: dyndep | MORE INPUTS` with an optional `restat` for each statement that names the file. */
#include "ninja/manifest/dyndep.h"
#include "ninja/manifest/manifest.h"
#include "ninja/manifest/scan.h"
#include "ninja/manifest/scope.h"
#include "ninja/text/paths.h"

#include <stdlib.h>
#include <string.h>

/* An edge whose inputs are being looked at. */
typedef struct wait_visit {
    uint32_t edge, next;
} wait_visit;

enum { WAIT_UNSEEN, WAIT_ON_PATH, WAIT_FREE /* of all dyndep files */, WAIT_WAITS };

typedef struct wait_walk {
    ninja_manifest *m;
    uint8_t *waits; /* [edges] */
    wait_visit *stack;
    size_t depth, capacity;
} wait_walk;

static bool push(wait_walk *w, uint32_t node)
{
    uint32_t edge = w->m->nodes[node].producer;

    if (edge == NINJA_NONE || w->waits[edge] != WAIT_UNSEEN)
        return true;
    wait_visit *grown = array_grow(w->stack, &w->capacity, w->depth + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(w->m);
    w->stack = grown;
    w->stack[w->depth++] = (wait_visit){edge, 0};
    w->waits[edge] = WAIT_ON_PATH; /* a cycle is found by whoever looks what is dirty */
    return true;
}

/* An edge on the path that names a dyndep file waits too: then the file needs what it describes. */
static bool waits(const wait_walk *w, uint32_t node)
{
    uint32_t edge = w->m->nodes[node].producer;

    return edge != NINJA_NONE && (w->waits[edge] == WAIT_WAITS || w->m->edges[edge].dyndep != NINJA_NONE);
}

static bool end_edge(wait_walk *w, uint32_t index)
{
    const ninja_edge *edge = &w->m->edges[index];
    bool does = edge->dyndep != NINJA_NONE;

    for (uint32_t i = 0; !does && i < edge->inputs_count; i++)
        does = waits(w, edge->inputs[i]);
    w->waits[index] = does ? WAIT_WAITS : WAIT_FREE;
    w->depth--;
    for (uint32_t i = 0; i < edge->validations_count; i++) /* no edge waits for them */
        if (!push(w, edge->validations[i]))
            return false;
    return true;
}

static bool walk(wait_walk *w, uint32_t target)
{
    bool is_good = push(w, target);

    while (is_good && w->depth > 0) {
        wait_visit *top = &w->stack[w->depth - 1];
        const ninja_edge *edge = &w->m->edges[top->edge];
        is_good = top->next < edge->inputs_count ? push(w, edge->inputs[top->next++]) : end_edge(w, top->edge);
    }
    return is_good;
}

/* *waiting: one that cannot be read yet; NINJA_NONE: none. */
static bool collect(const wait_walk *w, uint32_t **files, size_t *files_count, uint32_t *waiting)
{
    ninja_manifest *m = w->m;
    size_t capacity = 0;
    bool *is_in = calloc(m->nodes_count + 1, sizeof *is_in);

    *waiting = NINJA_NONE;
    for (size_t e = 0; is_in != NULL && e < m->edges_count; e++) {
        uint32_t node = m->edges[e].dyndep;
        if (w->waits[e] != WAIT_WAITS || node == NINJA_NONE || is_in[node])
            continue;
        is_in[node] = true;
        if (m->nodes[node].producer != NINJA_NONE && m->edges[m->nodes[node].producer].is_blocked)
            continue;
        if (waits(w, node)) {
            *waiting = node;
            continue;
        }
        uint32_t *grown = array_grow(*files, &capacity, *files_count + 1, sizeof *grown);
        if (grown == NULL) {
            free(is_in);
            return ninja_no_memory(m);
        }
        *files = grown;
        grown[(*files_count)++] = node;
    }
    free(is_in);
    return is_in != NULL || ninja_no_memory(m);
}

bool dyndep_is_any(const ninja_manifest *m)
{
    for (size_t e = 0; e < m->edges_count; e++)
        if (m->edges[e].dyndep != NINJA_NONE)
            return true;
    return false;
}

bool dyndep_next(ninja_manifest *m, const uint32_t *targets, size_t count, uint32_t **files, size_t *files_count)
{
    wait_walk w = {.m = m};
    uint32_t waiting = NINJA_NONE;

    *files = NULL;
    *files_count = 0;
    if (!dyndep_is_any(m)) /* most builds have none, and some have millions of discovered inputs */
        return true;
    w.waits = calloc(m->edges_count + 1, 1);
    bool is_good = w.waits != NULL || ninja_no_memory(m);
    for (size_t i = 0; is_good && i < count; i++)
        is_good = walk(&w, targets[i]);
    is_good = is_good && collect(&w, files, files_count, &waiting);
    if (is_good && *files_count == 0 && waiting != NINJA_NONE)
        is_good = ninja_fail(m,
                             "the dyndep file '%.256s' is made by steps that wait for it or for another one; remove "
                             "the cycle",
                             m->nodes[waiting].path);
    free(w.waits);
    free(w.stack);
    if (!is_good) {
        free(*files);
        *files = NULL;
    }
    return is_good;
}

/* A dyndep file that is being read. */
typedef struct reader {
    ninja_manifest *m;
    scan_source source;
    scan_parts parts;
    buffer text;
    uint32_t node;
    uint32_t *nodes; /* of one list of paths */
    size_t count, capacity;
} reader;

/* Parts from `first` on. There are no variables in these files but one, which no path names. */
static bool evaluate(reader *r, size_t first)
{
    buffer_clear(&r->text);
    for (size_t i = first; i < r->parts.count; i++)
        if (r->parts.items[i].symbol == NINJA_NONE)
            buffer_add(&r->text, r->parts.items[i].at, r->parts.items[i].bytes);
    return !r->text.failed || ninja_no_memory(r->m);
}

/* Paths up to something else. */
static bool read_paths(reader *r)
{
    r->count = 0;
    for (;;) { /* each round reads a path */
        size_t first = r->parts.count = 0;
        if (!scan_value(r->m, &r->source, true, &r->parts))
            return false;
        if (r->parts.count == 0)
            return true;
        if (!evaluate(r, first))
            return false;
        size_t bytes = r->text.bytes > 0 ? path_canonical(r->text.at, r->text.bytes) : 0;
        if (bytes == 0)
            return scan_fail(r->m, &r->source, "a path is empty; write one");
        uint32_t *grown = array_grow(r->nodes, &r->capacity, r->count + 1, sizeof *grown);
        if (grown == NULL)
            return ninja_no_memory(r->m);
        r->nodes = grown;
        r->nodes[r->count] = ninja_add_node(r->m, (piece){r->text.at, bytes});
        if (r->nodes[r->count++] == NINJA_NONE)
            return false;
    }
}

/* NAME = VALUE, which is in r->text. */
static bool read_let(reader *r, piece *name)
{
    if (!scan_name(&r->source, name))
        return scan_unexpected(r->m, &r->source, "the name of a variable");
    if (scan_next(&r->source) != TOKEN_EQUALS)
        return scan_unexpected(r->m, &r->source, "'='");
    r->parts.count = 0;
    return scan_value(r->m, &r->source, false, &r->parts) && evaluate(r, 0);
}

static bool read_version(reader *r)
{
    unsigned major, minor;
    piece name, is;

    while (scan_if(&r->source, TOKEN_NEWLINE))
        continue;
    if (!read_let(r, &name))
        return false;
    is = buffer_piece(&r->text);
    if (!piece_equal(name, piece_of("ninja_dyndep_version")))
        return scan_fail(r->m, &r->source, "no 'ninja_dyndep_version = 1' comes first; this is no dyndep file");
    piece_version(is, &major, &minor);
    return (major == 1 && minor == 0) ||
           scan_fail(r->m, &r->source, "version '%.*s' of dyndep files is not known, only 1; use ninja",
                     (int)(is.bytes > 40 ? 40 : is.bytes), is.at != NULL ? is.at : "");
}

/* The statement of the manifest that the one line before ':' is about. */
static bool find_edge(reader *r, uint32_t *edge)
{
    ninja_manifest *m = r->m;

    if (!read_paths(r))
        return false;
    if (r->count != 1)
        return scan_fail(m, &r->source, "one output belongs before '|' or ':', not %zu", r->count);
    *edge = m->nodes[r->nodes[0]].producer;
    return (*edge != NINJA_NONE && m->edges[*edge].dyndep == r->node) ||
           scan_fail(m, &r->source, "'%.200s' is no output of a statement with this dyndep file, or comes twice",
                     m->nodes[r->nodes[0]].path);
}

static bool add_outputs(reader *r, uint32_t index)
{
    ninja_manifest *m = r->m;
    ninja_edge *edge = &m->edges[index];
    uint32_t *outputs = store_take(&m->store, (edge->outputs_count + r->count) * sizeof *outputs);

    if (outputs == NULL)
        return ninja_no_memory(m);
    memcpy(outputs, edge->outputs, edge->outputs_count * sizeof *outputs);
    for (size_t i = 0; i < r->count; i++) {
        uint32_t old = m->nodes[r->nodes[i]].producer;
        if (old != NINJA_NONE && !m->edges[old].is_discovered)
            return scan_fail(m, &r->source, "another statement makes '%.200s' too; remove one of them",
                             m->nodes[r->nodes[i]].path);
        m->nodes[r->nodes[i]].producer = index;
        outputs[edge->outputs_count + i] = r->nodes[i];
    }
    edge->outputs = outputs;
    edge->outputs_count += (uint32_t)r->count;
    edge->implicit_outputs += (uint32_t)r->count;
    return true;
}

/* Implicit ones, before those that are order-only. */
static bool add_inputs(reader *r, uint32_t index)
{
    ninja_manifest *m = r->m;
    ninja_edge *edge = &m->edges[index];
    size_t before = edge->inputs_count - edge->order_only_count;
    uint32_t *inputs = store_take(&m->store, (edge->inputs_count + r->count + 1) * sizeof *inputs);

    if (inputs == NULL)
        return ninja_no_memory(m);
    if (before > 0)
        memcpy(inputs, edge->inputs, before * sizeof *inputs);
    if (r->count > 0)
        memcpy(inputs + before, r->nodes, r->count * sizeof *inputs);
    if (edge->order_only_count > 0)
        memcpy(inputs + before + r->count, edge->inputs + before, edge->order_only_count * sizeof *inputs);
    edge->inputs = inputs;
    edge->late_first = (uint32_t)before;
    edge->late_count = (uint32_t)r->count;
    edge->inputs_count += (uint32_t)r->count;
    edge->implicit_count += (uint32_t)r->count;
    return true;
}

static bool read_binding(reader *r, uint32_t edge)
{
    piece name;

    if (!scan_if(&r->source, TOKEN_INDENT))
        return true;
    if (!read_let(r, &name))
        return false;
    if (!piece_equal(name, piece_of("restat")))
        return scan_fail(r->m, &r->source, "only restat belongs here; remove the line");
    r->m->edges[edge].is_restat |= r->text.bytes > 0;
    return true;
}

static bool read_statement(reader *r)
{
    uint32_t edge = NINJA_NONE;
    piece name;

    if (!find_edge(r, &edge))
        return false;
    r->count = 0;
    if (scan_if(&r->source, TOKEN_PIPE) && !read_paths(r))
        return false;
    if (!add_outputs(r, edge))
        return false;
    if (scan_next(&r->source) != TOKEN_COLON)
        return scan_unexpected(r->m, &r->source, "':'");
    if (!scan_name(&r->source, &name) || !piece_equal(name, piece_of("dyndep")))
        return scan_fail(r->m, &r->source, "the rule of each statement here is 'dyndep'");
    if (!read_paths(r))
        return false;
    if (r->count > 0)
        return scan_fail(r->m, &r->source, "inputs belong behind '|' here");
    if (scan_if(&r->source, TOKEN_PIPE) && !read_paths(r))
        return false;
    r->m->edges[edge].dyndep = NINJA_NONE;
    if (scan_next(&r->source) != TOKEN_NEWLINE)
        return scan_unexpected(r->m, &r->source, "the end of the line");
    return add_inputs(r, edge) && read_binding(r, edge);
}

static bool read_statements(reader *r)
{
    for (;;) /* each round reads a word at least */
        switch (scan_next(&r->source)) {
        case TOKEN_NEWLINE:
            break;
        case TOKEN_BUILD:
            if (!read_statement(r))
                return false;
            break;
        case TOKEN_END:
            return true;
        default:
            return scan_unexpected(r->m, &r->source, "a build statement");
        }
}

static bool all_are_said(ninja_manifest *m, uint32_t node)
{
    for (size_t e = 0; e < m->edges_count; e++)
        if (m->edges[e].dyndep == node)
            return ninja_fail(m, "%.256s: says nothing of '%.256s', whose statement names this dyndep file",
                              m->nodes[node].path, m->nodes[m->edges[e].outputs[0]].path);
    return true;
}

bool dyndep_read(ninja_manifest *m, uint32_t node)
{
    reader r = {.m = m, .node = node, .text.most = m->options.value_max};
    char *text = NULL;

    if (!ninja_keep_file(m, m->nodes[node].path, &text))
        return false;
    r.source = (scan_source){.text = text, .file = (uint32_t)(m->files_count - 1), .line = 1};
    bool is_good = read_version(&r) && read_statements(&r) && all_are_said(m, node);
    free(r.parts.items);
    free(r.nodes);
    buffer_free(&r.text);
    return is_good;
}

void dyndep_skip(ninja_manifest *m, uint32_t node)
{
    for (size_t e = 0; e < m->edges_count; e++)
        if (m->edges[e].dyndep == node)
            m->edges[e].dyndep = NINJA_NONE;
}
