/* clean.c - see clean.h. A node that is dirty is one that was removed: a dry run counts each file once, too. */
#include "ninja/listing/clean.h"
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/manifest.h"
#include "ninja/manifest/scope.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(cleaner *c, const char *what, piece name)
{
    if (c->lines == NULL)
        return;
    buffer_add_text(c->lines, what);
    buffer_add(c->lines, name.at, name.bytes);
    buffer_add(c->lines, "\n", 1);
}

/* All failures are counted, the first is told. */
static void __attribute__((format(printf, 2, 3))) note(cleaner *c, const char *format, ...)
{
    va_list arguments;

    if (c->failed++ > 0)
        return;
    va_start(arguments, format);
    vsnprintf(c->why, sizeof c->why, format, arguments);
    va_end(arguments);
}

/* A link that leads nowhere is removed, too, but a dry run does not see it: both as ninja. */
static void remove_path(cleaner *c, const char *path)
{
    if (c->is_dry ? disk_mtime_ns(path) <= 0 : remove(path) != 0) {
        if (!c->is_dry && errno != ENOENT && errno != ENOTDIR)
            note(c, "%.256s: cannot be removed: %s; look at its folder", path, strerror(errno));
        return;
    }
    c->count++;
    say(c, "Remove ", piece_of(path));
}

static void remove_node(cleaner *c, uint32_t node)
{
    if (!c->m->nodes[node].is_dirty)
        remove_path(c, c->m->nodes[node].path);
    c->m->nodes[node].is_dirty = true;
}

static bool remove_named(cleaner *c, uint32_t edge, uint32_t symbol)
{
    buffer path = {0};
    bool is_good = ninja_edge_value(c->m, edge, symbol, false, &path);

    if (is_good && path.bytes > 0) {
        uint32_t node = ninja_add_node(c->m, buffer_piece(&path));
        is_good = node != NINJA_NONE;
        if (is_good)
            remove_node(c, node);
    }
    buffer_free(&path);
    return is_good;
}

static bool remove_files_of(cleaner *c, uint32_t edge)
{
    return remove_named(c, edge, SYMBOL_DEPFILE) && remove_named(c, edge, SYMBOL_RSPFILE);
}

static bool remove_edge(cleaner *c, uint32_t edge)
{
    for (uint32_t i = 0; i < c->m->edges[edge].outputs_count; i++)
        remove_node(c, c->m->edges[edge].outputs[i]);
    return remove_files_of(c, edge);
}

bool clean_all(cleaner *c, bool generators)
{
    bool is_good = true;

    for (uint32_t e = 0; is_good && e < c->m->edges_count; e++) {
        if (ninja_is_phony(c->m, e) || (!generators && ninja_edge_flag(c->m, e, SYMBOL_GENERATOR)))
            continue;
        is_good = remove_edge(c, e);
    }
    return is_good;
}

/* Nodes that are still to be looked at; one may be there more than once. */
typedef struct node_list {
    uint32_t *nodes;
    size_t count, capacity;
} node_list;

static bool add_node(cleaner *c, node_list *list, uint32_t node)
{
    if (c->m->nodes[node].producer == NINJA_NONE || c->m->nodes[node].exists)
        return true;
    uint32_t *grown = array_grow(list->nodes, &list->capacity, list->count + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(c->m);
    list->nodes = grown;
    list->nodes[list->count++] = node;
    return true;
}

/* In the order of ninja: a node, then each of its inputs with all behind it. A node that exists was looked at. */
static bool clean_listed(cleaner *c, node_list *list)
{
    bool is_good = true;

    while (is_good && list->count > 0) {
        uint32_t node = list->nodes[--list->count], edge = c->m->nodes[node].producer;
        if (c->m->nodes[node].exists)
            continue;
        c->m->nodes[node].exists = true;
        if (!ninja_is_phony(c->m, edge)) {
            remove_node(c, node);
            is_good = remove_files_of(c, edge);
        }
        for (uint32_t i = c->m->edges[edge].inputs_count; is_good && i > 0; i--)
            is_good = add_node(c, list, c->m->edges[edge].inputs[i - 1]);
    }
    return is_good;
}

bool clean_target(cleaner *c, const char *name)
{
    node_list list = {0};
    uint32_t node = ninja_named(c->m, name);

    if (node == NINJA_NONE) {
        note(c, "%s", c->m->error);
        return true;
    }
    say(c, "Target ", (piece){c->m->nodes[node].path, c->m->nodes[node].bytes});
    bool is_good = add_node(c, &list, node) && clean_listed(c, &list);
    free(list.nodes);
    return is_good;
}

bool clean_rule(cleaner *c, const char *name)
{
    uint32_t symbol = scope_find_symbol(c->m, piece_of(name));
    bool is_good = true;

    if (symbol == NINJA_NONE || scope_own_rule(c->m, 0, symbol) == NINJA_NONE) {
        note(c, "no rule '%.200s'; see 'clotho build -t rules'", name);
        return true;
    }
    say(c, "Rule ", piece_of(name));
    for (uint32_t e = 0; is_good && e < c->m->edges_count; e++)
        if (!ninja_is_phony(c->m, e) && c->m->rules[c->m->edges[e].rule].name == symbol) {
            remove_node(c, c->m->edges[e].outputs[0]);
            is_good = remove_files_of(c, e) && remove_edge(c, e);
        }
    return is_good;
}

bool clean_dead(cleaner *c, const build_log *log)
{
    ninja_users users = {0};

    if (!ninja_users_make(c->m, false, &users))
        return false;
    for (size_t i = 0; i < log->count; i++) {
        uint32_t node = ninja_find_node(c->m, log->entries[i].output);
        bool is_used = node != NINJA_NONE &&
                       (c->m->nodes[node].producer != NINJA_NONE || users.first[node] != users.first[node + 1]);
        if (!is_used)
            remove_path(c, log->entries[i].output.at);
    }
    ninja_users_free(&users);
    return true;
}
