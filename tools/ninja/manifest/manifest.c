/* manifest.c - see manifest.h. */
#include "ninja/manifest/manifest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ninja_set_error(ninja_manifest *m, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(m->error, sizeof m->error, format, arguments);
    va_end(arguments);
}

/* The slot of the path, or the empty one where it belongs. */
static size_t node_slot(const ninja_manifest *m, piece path, uint32_t hash)
{
    size_t mask = m->node_slots_count - 1, at = hash & mask;

    for (; m->node_slots[at] != NINJA_NONE; at = (at + 1) & mask) {
        const ninja_node *node = &m->nodes[m->node_slots[at]];
        if (node->hash == hash && piece_equal((piece){node->path, node->bytes}, path))
            break;
    }
    return at;
}

static bool node_slots_double(ninja_manifest *m)
{
    size_t count = m->node_slots_count == 0 ? 64 : 2 * m->node_slots_count;
    uint32_t *slots = malloc(count * sizeof *slots);

    if (slots == NULL)
        return false;
    memset(slots, 0xff, count * sizeof *slots);
    free(m->node_slots);
    m->node_slots = slots;
    m->node_slots_count = count;
    for (uint32_t i = 0; i < m->nodes_count; i++) {
        size_t at = m->nodes[i].hash & (count - 1);
        while (slots[at] != NINJA_NONE)
            at = (at + 1) & (count - 1);
        slots[at] = i;
    }
    return true;
}

uint32_t ninja_find_node(const ninja_manifest *m, piece path)
{
    if (m->node_slots_count == 0)
        return NINJA_NONE;
    return m->node_slots[node_slot(m, path, (uint32_t)murmur64(path.at, path.bytes))];
}

uint32_t ninja_add_node(ninja_manifest *m, piece path)
{
    uint32_t hash = (uint32_t)murmur64(path.at, path.bytes);

    if (2 * (m->nodes_count + 1) > m->node_slots_count && !node_slots_double(m))
        goto fail;
    size_t slot = node_slot(m, path, hash);
    if (m->node_slots[slot] != NINJA_NONE)
        return m->node_slots[slot];
    ninja_node *grown = array_grow(m->nodes, &m->nodes_capacity, m->nodes_count + 1, sizeof *grown);
    if (grown == NULL || m->nodes_count >= NINJA_NONE / 2) {
        m->nodes = grown != NULL ? grown : m->nodes;
        goto fail;
    }
    m->nodes = grown;
    char *copy = store_copy(&m->store, path);
    if (copy == NULL)
        goto fail;
    m->nodes[m->nodes_count] = (ninja_node){.path = copy,
                                            .bytes = (uint32_t)path.bytes,
                                            .hash = hash,
                                            .producer = NINJA_NONE,
                                            .deps_id = NINJA_NONE,
                                            .mtime_ns = -1};
    m->node_slots[slot] = (uint32_t)m->nodes_count;
    return (uint32_t)m->nodes_count++;
fail:
    ninja_no_memory(m);
    return NINJA_NONE;
}

uint32_t ninja_add_edge(ninja_manifest *m, uint32_t rule, uint32_t scope)
{
    ninja_edge *grown = array_grow(m->edges, &m->edges_capacity, m->edges_count + 1, sizeof *grown);

    if (grown == NULL || m->edges_count >= NINJA_NONE / 2) {
        m->edges = grown != NULL ? grown : m->edges;
        ninja_no_memory(m);
        return NINJA_NONE;
    }
    m->edges = grown;
    m->edges[m->edges_count] = (ninja_edge){.rule = rule, .scope = scope, .dyndep = NINJA_NONE};
    return (uint32_t)m->edges_count++;
}

static void count_users(const ninja_manifest *m, bool validations, uint32_t *first)
{
    for (size_t e = 0; e < m->edges_count; e++) {
        const ninja_edge *edge = &m->edges[e];
        if (!validations && edge->self_uses > 0)
            first[edge->outputs[0] + 1] += edge->self_uses;
        uint32_t count = validations ? edge->validations_count : edge->inputs_count;
        for (uint32_t i = 0; i < count; i++)
            first[(validations ? edge->validations : edge->inputs)[i] + 1]++;
    }
}

/* Moves `at` of each node from where its users begin to where they end. */
static void fill_users(const ninja_manifest *m, bool validations, uint32_t *at, uint32_t *edges)
{
    bool has_late = false;

    for (uint32_t e = 0; e < m->edges_count; e++) {
        const ninja_edge *edge = &m->edges[e];
        uint32_t count = validations ? edge->validations_count : edge->inputs_count;
        has_late |= !validations && edge->late_count > 0;
        for (uint32_t i = 0; i < count; i++)
            if (validations || i - edge->late_first >= edge->late_count)
                edges[at[(validations ? edge->validations : edge->inputs)[i]]++] = e;
        for (uint32_t i = 0; !validations && i < edge->self_uses; i++)
            edges[at[edge->outputs[0]]++] = e;
    }
    for (uint32_t e = 0; has_late && e < m->edges_count; e++)
        for (uint32_t i = 0; i < m->edges[e].late_count; i++)
            edges[at[m->edges[e].inputs[m->edges[e].late_first + i]]++] = e;
}

bool ninja_users_make(ninja_manifest *m, bool validations, ninja_users *out)
{
    size_t nodes = m->nodes_count;
    uint32_t *first = calloc(nodes + 2, sizeof *first);

    if (first == NULL)
        return ninja_no_memory(m);
    count_users(m, validations, first + 1);
    for (size_t i = 2; i <= nodes + 1; i++)
        first[i] += first[i - 1];
    /* first[n + 1] is where the users of n begin; filling moves it to where they end. */
    uint32_t *edges = malloc((first[nodes + 1] + (size_t)1) * sizeof *edges);
    if (edges == NULL) {
        free(first);
        return ninja_no_memory(m);
    }
    fill_users(m, validations, first + 1, edges);
    *out = (ninja_users){first, edges, nodes};
    return true;
}

void ninja_users_free(ninja_users *users)
{
    free(users->first);
    free(users->edges);
    *users = (ninja_users){0};
}

/* All outputs that no edge has as an input. */
static bool roots(ninja_manifest *m, uint32_t *nodes, size_t *count)
{
    ninja_users users = {0};

    if (!ninja_users_make(m, false, &users))
        return false;
    *count = 0;
    for (size_t e = 0; e < m->edges_count; e++)
        for (uint32_t i = 0; i < m->edges[e].outputs_count; i++) {
            uint32_t node = m->edges[e].outputs[i];
            if (users.first[node] == users.first[node + 1])
                nodes[(*count)++] = node;
        }
    ninja_users_free(&users);
    if (*count > 0 || m->edges_count == 0)
        return true;
    return ninja_fail(m, "%.256s: every output is an input of another statement, so they form a cycle; name a target",
                      m->files[0]);
}

bool ninja_default_targets(ninja_manifest *m, uint32_t **nodes, size_t *count)
{
    size_t most = m->defaults_count > m->nodes_count ? m->defaults_count : m->nodes_count;
    uint32_t *found = malloc((most + 1) * sizeof *found);

    if (found == NULL)
        return ninja_no_memory(m);
    *count = m->defaults_count;
    if (m->defaults_count > 0) {
        memcpy(found, m->defaults, m->defaults_count * sizeof *found);
    } else if (!roots(m, found, count)) {
        free(found);
        return false;
    }
    *nodes = found;
    return true;
}
