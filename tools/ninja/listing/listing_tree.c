/* listing_tree.c - see listing.h: what is listed by name or by depth, and what the deps log says. */
#include "ninja/listing/listing.h"
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/scope.h"
#include "ninja/text/disk.h"
#include "ninja/text/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TREE_BYTES_MAX = 1 << 26 };

/* Lines that are sorted before they are printed. */
typedef struct line_list {
    piece *lines;
    size_t count, capacity;
    store store;
} line_list;

static bool add_line(ninja_manifest *m, line_list *list, piece line)
{
    piece *grown = array_grow(list->lines, &list->capacity, list->count + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(m);
    list->lines = grown;
    const char *copy = store_copy(&list->store, line);
    if (copy == NULL)
        return ninja_no_memory(m);
    list->lines[list->count++] = (piece){copy, line.bytes};
    return true;
}

/* Prints each line once, each with what `more` adds to it (NULL: nothing), and frees the list. */
static bool print_sorted(ninja_manifest *m, line_list *list, bool is_good,
                         void (*more)(const ninja_manifest *m, piece line, buffer *out), buffer *out)
{
    if (list->count > 0)
        qsort(list->lines, list->count, sizeof *list->lines, piece_order);
    for (size_t i = 0; is_good && i < list->count; i++) {
        if (i > 0 && piece_equal(list->lines[i - 1], list->lines[i]))
            continue;
        buffer_add(out, list->lines[i].at, list->lines[i].bytes);
        if (more != NULL)
            more(m, list->lines[i], out);
        buffer_add(out, "\n", 1);
    }
    free(list->lines);
    store_free(&list->store);
    return is_good && (!out->failed || ninja_no_memory(m));
}

static void print_node(const ninja_manifest *m, uint32_t node, size_t indent, buffer *out)
{
    const ninja_node *n = &m->nodes[node];

    for (size_t i = 0; i < indent; i++)
        buffer_add(out, "  ", 2);
    buffer_add(out, n->path, n->bytes);
    if (n->producer != NINJA_NONE) {
        piece rule = ninja_rule_name(m, n->producer);
        buffer_add(out, ": ", 2);
        buffer_add(out, rule.at, rule.bytes);
    }
    buffer_add(out, "\n", 1);
}

/* An edge whose inputs are being printed. */
typedef struct visit {
    uint32_t edge, next;
} visit;

typedef struct visits {
    visit *stack;
    size_t depth, capacity;
} visits;

static bool go_into(ninja_manifest *m, visits *v, uint32_t node)
{
    uint32_t edge = m->nodes[node].producer;

    if (edge == NINJA_NONE)
        return true;
    visit *grown = array_grow(v->stack, &v->capacity, v->depth + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    v->stack = grown;
    v->stack[v->depth++] = (visit){edge, 0};
    return true;
}

/* Ends: at `depth`, or because no path is longer than there are edges: beyond that it is a cycle. There may be more
 * paths than can be printed. */
static bool print_below(ninja_manifest *m, visits *v, uint32_t root, uint32_t depth, buffer *out)
{
    print_node(m, root, 0, out);
    bool is_good = depth == 1 || go_into(m, v, root);
    while (is_good && v->depth > 0 && !out->failed) {
        visit *top = &v->stack[v->depth - 1];
        if (top->next == m->edges[top->edge].inputs_count) {
            v->depth--;
            continue;
        }
        uint32_t node = m->edges[top->edge].inputs[top->next++];
        print_node(m, node, v->depth, out);
        if (depth == 0 && v->depth > m->edges_count)
            return ninja_fail(m, "the inputs of '%.256s' form a cycle; name a depth", m->nodes[root].path);
        if (out->bytes > TREE_BYTES_MAX)
            return ninja_fail(m,
                              "the inputs of '%.256s' have more than 64 MiB of lines, as paths to one input are many; "
                              "name a depth",
                              m->nodes[root].path);
        if (depth == 0 || v->depth + 1 < depth)
            is_good = go_into(m, v, node);
    }
    return is_good;
}

bool list_depth(ninja_manifest *m, uint32_t depth, buffer *out)
{
    visits v = {0};
    ninja_users users = {0};
    bool is_good = ninja_users_make(m, false, &users), is_any = m->edges_count == 0;

    for (uint32_t e = 0; is_good && e < m->edges_count; e++)
        for (uint32_t i = 0; is_good && i < m->edges[e].outputs_count; i++) {
            uint32_t node = m->edges[e].outputs[i];
            if (users.first[node] != users.first[node + 1])
                continue;
            is_any = true;
            is_good = print_below(m, &v, node, depth, out);
        }
    if (is_good && !is_any)
        is_good = ninja_fail(m,
                             "%.256s: every output is an input of another statement, so they form a cycle; see "
                             "'clotho build -t targets all'",
                             m->files[0]);
    free(v.stack);
    ninja_users_free(&users);
    return is_good && (!out->failed || ninja_no_memory(m));
}

bool list_rule_outputs(ninja_manifest *m, const char *rule, buffer *out)
{
    line_list list = {0};
    bool is_good = true;

    for (uint32_t e = 0; is_good && e < m->edges_count; e++) {
        if (!piece_equal(ninja_rule_name(m, e), piece_of(rule)))
            continue;
        for (uint32_t i = 0; is_good && i < m->edges[e].outputs_count; i++)
            is_good = add_line(m, &list, piece_of(m->nodes[m->edges[e].outputs[i]].path));
    }
    return print_sorted(m, &list, is_good, NULL, out);
}

bool list_sources(ninja_manifest *m, buffer *out)
{
    for (uint32_t e = 0; e < m->edges_count; e++)
        for (uint32_t i = 0; i < m->edges[e].inputs_count; i++)
            if (m->nodes[m->edges[e].inputs[i]].producer == NINJA_NONE)
                print_node(m, m->edges[e].inputs[i], 0, out);
    return !out->failed || ninja_no_memory(m);
}

/* The inputs of one edge, as they stand in a command; and the edges behind them. */
static bool take_inputs(ninja_manifest *m, visits *v, uint32_t edge, line_list *list)
{
    buffer word = {0};
    bool is_good = true;

    for (uint32_t i = 0; is_good && i < m->edges[edge].inputs_count; i++) {
        const ninja_node *n = &m->nodes[m->edges[edge].inputs[i]];
        uint32_t producer = n->producer;
        if (!ninja_is_phony(m, edge)) {
            buffer_clear(&word);
            path_quote(&word, (piece){n->path, n->bytes});
            is_good = word.failed ? ninja_no_memory(m) : add_line(m, list, buffer_piece(&word));
        }
        if (is_good && producer != NINJA_NONE && m->edges[producer].mark != EDGE_DONE) {
            m->edges[producer].mark = EDGE_DONE;
            is_good = go_into(m, v, m->edges[edge].inputs[i]);
        }
    }
    buffer_free(&word);
    return is_good;
}

bool list_inputs(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out)
{
    visits v = {0};
    line_list list = {0};
    bool is_good = true;

    for (size_t i = 0; is_good && i < count; i++) {
        is_good = go_into(m, &v, nodes[i]);
        while (is_good && v.depth > 0)
            is_good = take_inputs(m, &v, v.stack[--v.depth].edge, &list);
    }
    free(v.stack);
    return print_sorted(m, &list, is_good, NULL, out);
}

/* The description of a rule, as it was written. */
static void add_description(const ninja_manifest *m, piece name, buffer *out)
{
    const ninja_value *text = &m->rules[scope_own_rule(m, 0, scope_find_symbol(m, name))].values[SYMBOL_DESCRIPTION];

    if (text->is_set)
        buffer_add(out, ": ", 2);
    for (uint32_t i = 0; i < text->count; i++) {
        bool is_text = text->parts[i].symbol == NINJA_NONE;
        piece part = is_text ? (piece){text->parts[i].at, text->parts[i].bytes} : m->symbols[text->parts[i].symbol];
        buffer_add_text(out, is_text ? "" : "${");
        buffer_add(out, part.at, part.bytes);
        buffer_add_text(out, is_text ? "" : "}");
    }
}

bool list_rules(ninja_manifest *m, bool with_text, buffer *out)
{
    line_list list = {0};
    bool is_good = true;

    for (size_t r = 0; is_good && r < m->rules_count; r++)
        if (scope_own_rule(m, 0, m->rules[r].name) == r) /* else of a file that subninja names */
            is_good = add_line(m, &list, m->symbols[m->rules[r].name]);
    return print_sorted(m, &list, is_good, with_text ? add_description : NULL, out);
}

static void print_deps(const ninja_manifest *m, const deps_log *log, uint32_t node, buffer *out)
{
    const deps_record *record = deps_log_find(log, m, node);
    int64_t age_ns = disk_mtime_ns(m->nodes[node].path);

    buffer_add(out, m->nodes[node].path, m->nodes[node].bytes);
    if (record == NULL) {
        buffer_add_text(out, ": deps not found\n");
        return;
    }
    buffer_add_format(out, ": #deps %u, deps mtime %" PRId64 " (%s)\n", record->count, record->mtime_ns,
                      age_ns == 0 || age_ns > record->mtime_ns ? "STALE" : "VALID");
    for (uint32_t i = 0; i < record->count; i++) {
        buffer_add_text(out, "    ");
        buffer_add(out, m->nodes[record->inputs[i]].path, m->nodes[record->inputs[i]].bytes);
        buffer_add(out, "\n", 1);
    }
    buffer_add(out, "\n", 1);
}

bool list_deps(ninja_manifest *m, const deps_log *log, const uint32_t *nodes, size_t count, buffer *out)
{
    for (size_t i = 0; i < count; i++)
        print_deps(m, log, nodes[i], out);
    for (size_t i = 0; count == 0 && i < log->count; i++) {
        uint32_t producer = m->nodes[log->nodes[i]].producer;
        if (producer != NINJA_NONE && ninja_edge_flag(m, producer, SYMBOL_DEPS))
            print_deps(m, log, log->nodes[i], out);
    }
    return !out->failed || ninja_no_memory(m);
}
