/* listing.c - see listing.h. */
#define _GNU_SOURCE /* memmem */
#include "ninja/listing/listing.h"
#include "ninja/manifest/bindings.h"

#include <stdlib.h>
#include <string.h>

static bool finish(ninja_manifest *m, const buffer *out)
{
    return !out->failed || ninja_no_memory(m);
}

static void add_line(buffer *out, const char *label, const char *path)
{
    buffer_add_text(out, label);
    buffer_add_text(out, path);
    buffer_add(out, "\n", 1);
}

static void query_producer(const ninja_manifest *m, const ninja_edge *edge, buffer *out)
{
    piece rule = m->symbols[m->rules[edge->rule].name];
    uint32_t ordered = edge->inputs_count - edge->order_only_count;

    buffer_add_text(out, "  input: ");
    buffer_add(out, rule.at, rule.bytes);
    buffer_add(out, "\n", 1);
    for (uint32_t i = 0; i < edge->inputs_count; i++) {
        const char *label = i >= ordered ? "    || " : i >= ordered - edge->implicit_count ? "    | " : "    ";
        add_line(out, label, m->nodes[edge->inputs[i]].path);
    }
    if (edge->validations_count > 0)
        buffer_add_text(out, "  validations:\n");
    for (uint32_t i = 0; i < edge->validations_count; i++)
        add_line(out, "    ", m->nodes[edge->validations[i]].path);
}

static void query_users(const ninja_manifest *m, const ninja_users *users, uint32_t node, buffer *out)
{
    for (uint32_t u = users->first[node]; u < users->first[node + 1]; u++) {
        const ninja_edge *edge = &m->edges[users->edges[u]];
        for (uint32_t i = 0; i < edge->outputs_count; i++)
            add_line(out, "    ", m->nodes[edge->outputs[i]].path);
    }
}

bool list_query(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out)
{
    ninja_users users = {0}, validated = {0};

    if (!ninja_users_make(m, false, &users))
        return false;
    if (!ninja_users_make(m, true, &validated)) {
        ninja_users_free(&users);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t node = nodes[i];
        buffer_add_text(out, m->nodes[node].path);
        buffer_add_text(out, ":\n");
        if (m->nodes[node].producer != NINJA_NONE)
            query_producer(m, &m->edges[m->nodes[node].producer], out);
        buffer_add_text(out, "  outputs:\n");
        query_users(m, &users, node, out);
        if (validated.first[node] < validated.first[node + 1])
            buffer_add_text(out, "  validation for:\n");
        query_users(m, &validated, node, out);
    }
    ninja_users_free(&users);
    ninja_users_free(&validated);
    return finish(m, out);
}

/* An edge whose inputs are being listed. */
typedef struct visit {
    uint32_t edge, next;
} visit;

typedef struct walk {
    visit *stack;
    size_t depth, capacity;
    bool *seen; /* [edges] */
} walk;

static bool walk_into(ninja_manifest *m, walk *w, uint32_t node)
{
    uint32_t edge = m->nodes[node].producer;

    if (edge == NINJA_NONE || w->seen[edge])
        return true;
    visit *grown = array_grow(w->stack, &w->capacity, w->depth + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    w->stack = grown;
    w->seen[edge] = true;
    w->stack[w->depth++] = (visit){edge, 0};
    return true;
}

static bool list_behind(ninja_manifest *m, walk *w, uint32_t node, buffer *out)
{
    bool is_good = walk_into(m, w, node);

    while (is_good && w->depth > 0) {
        visit *top = &w->stack[w->depth - 1];
        const ninja_edge *edge = &m->edges[top->edge];
        if (top->next < edge->inputs_count) {
            is_good = walk_into(m, w, edge->inputs[top->next++]);
            continue;
        }
        if (!ninja_is_phony(m, top->edge)) {
            is_good = ninja_edge_command(m, top->edge, false, out);
            buffer_add(out, "\n", 1);
        }
        w->depth--;
    }
    return is_good;
}

static bool list_last(ninja_manifest *m, walk *w, uint32_t node, buffer *out)
{
    uint32_t edge = m->nodes[node].producer;

    if (edge == NINJA_NONE || w->seen[edge] || ninja_is_phony(m, edge))
        return true;
    w->seen[edge] = true;
    bool is_good = ninja_edge_command(m, edge, false, out);
    buffer_add(out, "\n", 1);
    return is_good;
}

bool list_commands(ninja_manifest *m, const uint32_t *nodes, size_t count, bool only_last, buffer *out)
{
    walk w = {.seen = calloc(m->edges_count + 1, 1)};
    bool is_good = w.seen != NULL || ninja_no_memory(m);

    for (size_t i = 0; is_good && i < count; i++)
        is_good = only_last ? list_last(m, &w, nodes[i], out) : list_behind(m, &w, nodes[i], out);
    free(w.seen);
    free(w.stack);
    return is_good && finish(m, out);
}

static void add_json(buffer *out, piece text)
{
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.at[i];
        const char *shorts = "\b\f\n\r\t\\\"", *names = "bfnrt\\\"";
        size_t s = 0;
        while (shorts[s] != '\0' && shorts[s] != (char)c)
            s++;
        if (c != '\0' && shorts[s] != '\0')
            buffer_add_format(out, "\\%c", names[s]);
        else if (c < 0x20)
            buffer_add_format(out, "\\u%04x", (unsigned)c);
        else
            buffer_add(out, text.at + i, 1);
    }
}

static void add_member(buffer *out, const char *key, piece value, const char *end)
{
    buffer_add_text(out, "    \"");
    buffer_add_text(out, key);
    buffer_add_text(out, "\": \"");
    add_json(out, value);
    buffer_add_text(out, end);
}

static bool is_of_rules(const ninja_manifest *m, uint32_t edge, char **rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (piece_equal(ninja_rule_name(m, edge), piece_of(rules[i])))
            return true;
    return count == 0;
}

/* The command of an edge, with what its response file would hold in place of the first "@FILE". */
static bool expanded_command(ninja_manifest *m, uint32_t edge, buffer *out)
{
    buffer command = {0}, file = {0}, content = {0};
    bool is_good = ninja_edge_command(m, edge, false, &command) &&
                   ninja_edge_value(m, edge, SYMBOL_RSPFILE, false, &file) &&
                   ninja_edge_value(m, edge, SYMBOL_RSPFILE_CONTENT, true, &content);
    const char *found = NULL;

    if (is_good && file.bytes > 0 && command.bytes > 0)
        found = memmem(command.at, command.bytes, file.at, file.bytes);
    if (found == NULL || found == command.at || found[-1] != '@') {
        buffer_add(out, command.at, command.bytes);
    } else {
        buffer_add(out, command.at, (size_t)(found - command.at) - 1);
        for (size_t i = 0; i < content.bytes; i++)
            buffer_add(out, content.at[i] == '\n' ? " " : content.at + i, 1);
        found += file.bytes;
        buffer_add(out, found, (size_t)(command.at + command.bytes - found));
    }
    buffer_free(&command);
    buffer_free(&file);
    buffer_free(&content);
    return is_good;
}

bool list_compdb(ninja_manifest *m, const compdb_options *options, buffer *out)
{
    buffer command = {0};
    const char *between = "";
    bool is_good = true;

    buffer_add_text(out, "[");
    for (uint32_t e = 0; is_good && e < m->edges_count; e++) {
        const ninja_edge *edge = &m->edges[e];
        if (edge->inputs_count == 0 || !is_of_rules(m, e, options->rules, options->count))
            continue;
        buffer_clear(&command);
        is_good = options->expands ? expanded_command(m, e, &command) : ninja_edge_command(m, e, false, &command);
        buffer_add_text(out, between);
        buffer_add_text(out, "\n  {\n");
        add_member(out, "directory", piece_of(options->directory), "\",\n");
        add_member(out, "command", buffer_piece(&command), "\",\n");
        add_member(out, "file", piece_of(m->nodes[edge->inputs[0]].path), "\",\n");
        add_member(out, "output", piece_of(m->nodes[edge->outputs[0]].path), "\"\n  }");
        between = ",";
    }
    buffer_add_text(out, "\n]\n");
    buffer_free(&command);
    return is_good && finish(m, out);
}

bool list_targets(ninja_manifest *m, buffer *out)
{
    for (uint32_t e = 0; e < m->edges_count; e++)
        for (uint32_t i = 0; i < m->edges[e].outputs_count; i++) {
            piece rule = ninja_rule_name(m, e);
            buffer_add_text(out, m->nodes[m->edges[e].outputs[i]].path);
            buffer_add_text(out, ": ");
            buffer_add(out, rule.at, rule.bytes);
            buffer_add(out, "\n", 1);
        }
    return finish(m, out);
}
