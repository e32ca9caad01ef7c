/* order.c - see order.h. */
#include "ninja/state/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An edge whose inputs are being asked for; or one that is done, the output and the output's user that come next. */
typedef struct order_visit {
    uint32_t edge, next, user;
} order_visit;

static bool heap_add(build_order *o, uint32_t edge)
{
    uint32_t *grown = array_grow(o->ready, &o->ready_capacity, o->ready_count + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(o->m);
    o->ready = grown;
    size_t at = o->ready_count++;
    for (; at > 0 && o->ready[(at - 1) / 2] > edge; at = (at - 1) / 2)
        o->ready[at] = o->ready[(at - 1) / 2];
    o->ready[at] = edge;
    return true;
}

static uint32_t heap_take(build_order *o)
{
    uint32_t first = o->ready[0], last = o->ready[--o->ready_count];
    size_t at = 0;

    for (size_t child = 1; child < o->ready_count; child = 2 * at + 1) {
        child += child + 1 < o->ready_count && o->ready[child + 1] < o->ready[child];
        if (last <= o->ready[child])
            break;
        o->ready[at] = o->ready[child];
        at = child;
    }
    o->ready[at] = last;
    return first;
}

static bool has_room(const build_order *o, uint32_t pool)
{
    return o->m->pools[pool].depth == 0 || o->in_use[pool] < o->m->pools[pool].depth;
}

/* Lets out of their pool what has room. */
static bool let_out(build_order *o, uint32_t pool)
{
    size_t kept = 0;

    for (size_t i = 0; i < o->delayed_count; i++) {
        uint32_t edge = o->delayed[i];
        if (o->m->edges[edge].pool != pool || !has_room(o, pool)) {
            o->delayed[kept++] = edge;
            continue;
        }
        o->in_use[pool]++;
        if (!heap_add(o, edge))
            return false;
    }
    o->delayed_count = kept;
    return true;
}

static bool delay(build_order *o, uint32_t edge)
{
    uint32_t *grown = array_grow(o->delayed, &o->delayed_capacity, o->delayed_count + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(o->m);
    o->delayed = grown;
    size_t at = o->delayed_count++;
    for (; at > 0 && o->delayed[at - 1] > edge; at--)
        o->delayed[at] = o->delayed[at - 1];
    o->delayed[at] = edge;
    return true;
}

static bool schedule(build_order *o, uint32_t edge)
{
    uint32_t pool = o->m->edges[edge].pool;

    if (o->wants[edge] == WANT_FINISH)
        return true;
    o->wants[edge] = WANT_FINISH;
    if (o->m->pools[pool].depth == 0)
        return heap_add(o, edge);
    return delay(o, edge) && let_out(o, pool);
}

static bool inputs_ready(const ninja_manifest *m, uint32_t edge)
{
    for (uint32_t i = 0; i < m->edges[edge].inputs_count; i++) {
        uint32_t producer = m->nodes[m->edges[edge].inputs[i]].producer;
        if (producer != NINJA_NONE && !m->edges[producer].outputs_ready)
            return false;
    }
    return true;
}

/* Asks for a node, needed by `user` (NINJA_NONE: by the command line). */
static bool ask(build_order *o, uint32_t node, uint32_t user)
{
    ninja_manifest *m = o->m;
    const ninja_node *n = &m->nodes[node];

    if (n->producer == NINJA_NONE) {
        if (!n->is_dirty)
            return true;
        if (user == NINJA_NONE)
            return ninja_fail(m, "'%.256s' is missing and no statement makes it; add the file", n->path);
        return ninja_fail(
            m, "%.200s:%u: '%.256s', needed by '%.256s', is missing and no statement makes it; add the file",
            m->files[m->edges[user].file], m->edges[user].line, n->path, m->nodes[m->edges[user].outputs[0]].path);
    }
    if (m->edges[n->producer].outputs_ready)
        return true;
    bool is_new = o->wants[n->producer] == WANT_UNKNOWN;
    if (is_new)
        o->wants[n->producer] = m->edges[n->producer].is_blocked ? WANT_NEVER : WANT_NOTHING;
    if (n->is_dirty && o->wants[n->producer] == WANT_NOTHING) {
        o->wants[n->producer] = WANT_START;
        o->wanted++;
        o->steps += !ninja_is_phony(m, n->producer);
        if (inputs_ready(m, n->producer) && !schedule(o, n->producer))
            return false;
    }
    if (!is_new)
        return true;
    order_visit *grown = array_grow(o->stack, &o->stack_capacity, o->depth + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    o->stack = grown;
    o->stack[o->depth++] = (order_visit){n->producer, 0, 0};
    return true;
}

static bool add_target(build_order *o, uint32_t node)
{
    bool is_good = ask(o, node, NINJA_NONE);

    while (is_good && o->depth > 0) {
        order_visit *top = &o->stack[o->depth - 1];
        const ninja_edge *edge = &o->m->edges[top->edge];
        if (top->next == edge->inputs_count)
            o->depth--;
        else
            is_good = ask(o, edge->inputs[top->next++], top->edge);
    }
    return is_good;
}

/* Discovered inputs may have added edges since the last target. */
static bool make_room(build_order *o, size_t *room)
{
    if (o->m->edges_count <= *room)
        return true;
    uint8_t *grown = realloc(o->wants, 2 * o->m->edges_count);
    if (grown == NULL)
        return ninja_no_memory(o->m);
    memset(grown + *room, WANT_UNKNOWN, 2 * o->m->edges_count - *room);
    o->wants = grown;
    *room = 2 * o->m->edges_count;
    return true;
}

static bool add_looked_at(build_order *o, dirty_scan *s, uint32_t target, size_t *room)
{
    size_t from = s->validations_count;

    if (!dirty_look(s, target) || !make_room(o, room) || !add_target(o, target))
        return false;
    for (; from < s->validations_count; from++)
        if (o->m->nodes[s->validations[from]].producer != NINJA_NONE && !add_target(o, s->validations[from]))
            return false;
    return true;
}

bool order_make(build_order *o, dirty_scan *s, const uint32_t *targets, size_t count)
{
    size_t room = 0;

    *o = (build_order){.m = s->m};
    o->in_use = calloc(s->m->pools_count, sizeof *o->in_use);
    if (o->in_use == NULL)
        return ninja_no_memory(s->m);
    for (size_t i = 0; i < count; i++)
        if (!add_looked_at(o, s, targets[i], &room))
            return false;
    return ninja_users_make(s->m, false, &o->users);
}

bool order_is_done(const build_order *o)
{
    return o->wanted == 0 || o->steps == 0;
}

uint32_t order_next(build_order *o)
{
    return o->ready_count > 0 ? heap_take(o) : NINJA_NONE;
}

bool order_may_run(const build_order *o, uint32_t edge)
{
    return o->wants[edge] >= WANT_START && inputs_ready(o->m, edge);
}

static bool leave_pool(build_order *o, uint32_t edge)
{
    uint32_t pool = o->m->edges[edge].pool;

    if (o->m->pools[pool].depth == 0)
        return true;
    assert(o->in_use[pool] > 0);
    o->in_use[pool]--;
    return let_out(o, pool);
}

bool order_failed(build_order *o, uint32_t edge)
{
    return leave_pool(o, edge);
}

/* Pushes an edge that is done; its outputs' users are looked at next. */
static bool push_done(build_order *o, uint32_t edge)
{
    order_visit *grown = array_grow(o->stack, &o->stack_capacity, o->depth + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(o->m);
    o->stack = grown;
    o->wants[edge] = WANT_UNKNOWN;
    o->m->edges[edge].outputs_ready = true;
    o->stack[o->depth++] = (order_visit){edge, 0, 0};
    return true;
}

/* Depth first, as ninja goes, because a pool lets out whoever asks first. An edge that nobody wants to run, but whose
 * users are waited for, is done as soon as its inputs are. */
bool order_finished(build_order *o, uint32_t edge)
{
    ninja_manifest *m = o->m;

    if (!leave_pool(o, edge) || !push_done(o, edge))
        return false;
    o->wanted--;
    while (o->depth > 0) {
        order_visit *top = &o->stack[o->depth - 1];
        if (top->next == m->edges[top->edge].outputs_count) {
            o->depth--;
            continue;
        }
        uint32_t node = m->edges[top->edge].outputs[top->next];
        if (o->users.first[node] + top->user == o->users.first[node + 1]) {
            top->next++;
            top->user = 0;
            continue;
        }
        uint32_t user = o->users.edges[o->users.first[node] + top->user++];
        if (o->wants[user] <= WANT_NEVER || !inputs_ready(m, user))
            continue;
        if (!(o->wants[user] == WANT_NOTHING ? push_done(o, user) : schedule(o, user)))
            return false;
    }
    return true;
}

/* Whether an edge has no dirty input; *newest: its youngest one, without the order-only ones. */
static bool inputs_clean(const ninja_manifest *m, const ninja_edge *edge, uint32_t *newest)
{
    *newest = NINJA_NONE;
    for (uint32_t i = 0; i < edge->inputs_count - edge->order_only_count; i++) {
        const ninja_node *input = &m->nodes[edge->inputs[i]];
        if (input->is_dirty)
            return false;
        if (*newest == NINJA_NONE || input->mtime_ns > m->nodes[*newest].mtime_ns)
            *newest = edge->inputs[i];
    }
    return true;
}

/* Nodes that became clean, and whose users are to be looked at. */
typedef struct clean_list {
    uint32_t *nodes;
    size_t count, capacity;
} clean_list;

static bool clean_add(build_order *o, clean_list *list, uint32_t node)
{
    uint32_t *grown = array_grow(list->nodes, &list->capacity, list->count + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(o->m);
    list->nodes = grown;
    list->nodes[list->count++] = node;
    o->m->nodes[node].is_dirty = false;
    return true;
}

static bool clean_edge(build_order *o, dirty_scan *s, clean_list *list, uint32_t index)
{
    const ninja_edge *edge = &o->m->edges[index];
    uint32_t newest;
    bool is_dirty;

    if (o->wants[index] < WANT_START || edge->deps_missing || !inputs_clean(o->m, edge, &newest))
        return true;
    if (!dirty_outputs(s, index, newest, &is_dirty))
        return false;
    if (is_dirty)
        return true;
    for (uint32_t i = 0; i < edge->outputs_count; i++)
        if (!clean_add(o, list, edge->outputs[i]))
            return false;
    o->wants[index] = WANT_NOTHING;
    o->wanted--;
    o->steps -= !ninja_is_phony(o->m, index);
    return true;
}

bool order_clean(build_order *o, dirty_scan *s, uint32_t node)
{
    clean_list list = {0};
    bool is_good = clean_add(o, &list, node);

    while (is_good && list.count > 0) {
        uint32_t next = list.nodes[--list.count];
        for (uint32_t u = o->users.first[next]; is_good && u < o->users.first[next + 1]; u++)
            is_good = clean_edge(o, s, &list, o->users.edges[u]);
    }
    free(list.nodes);
    return is_good;
}

void order_free(build_order *o)
{
    free(o->wants);
    free(o->ready);
    free(o->in_use);
    free(o->delayed);
    free(o->stack);
    ninja_users_free(&o->users);
    *o = (build_order){0};
}
