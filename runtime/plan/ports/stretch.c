/* stretch.c - see stretch.h. A link is never faster than its share of the two ports: port / flows. A machine is as fast
 * as the sum of its executors' generic speeds. */
#include "plan/ports/stretch.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "graph/graph.h"
#include "platform/model/links.h"

/* ns/byte of a message that gets an equal share of the port of a machine. */
static uint64_t slope_of(const clo_platform *platform, uint32_t machine, uint32_t flows)
{
    uint64_t port_q32 = platform->port_q32[machine];
    clo_u128 slope = port_q32 > 0 ? ((clo_u128)flows << 64) / port_q32 : 0;

    return slope > UINT64_MAX ? UINT64_MAX : (uint64_t)slope;
}

/* One link between groups, piece by piece; latencies are the times at which pieces begin. True if it is another link
 * then. */
static bool stretch(clo_stretched *s, size_t cell, uint64_t least_q32)
{
    const clo_platform *p = &s->platform;
    size_t cells = (size_t)p->groups_count * p->groups_count;
    bool changes = false;

    for (uint32_t k = 0; k < p->pieces_count; k++, cell += cells) {
        if (k > 0) {
            int64_t before_ns = clo_link_ns(p->latency_ns[cell - cells], p->ns_per_byte_q32[cell - cells],
                                            p->cut_bytes[k] - p->cut_bytes[k - 1]);
            if (before_ns > p->latency_ns[cell])
                p->latency_ns[cell] = before_ns < CLO_LATENCY_NS_MAX ? before_ns : CLO_LATENCY_NS_MAX;
        }
        if (p->ns_per_byte_q32[cell] < least_q32) {
            p->ns_per_byte_q32[cell] = least_q32;
            changes = true;
        }
    }
    return changes;
}

/* True if some link is another one then. first: an executor of each group. */
static bool stretch_all(clo_stretched *s, uint32_t flows, const uint32_t *first)
{
    const clo_platform *p = &s->platform;
    bool changes = false;

    for (uint32_t from = 0; from < p->groups_count && flows > 0; from++)
        for (uint32_t to = 0; to < p->groups_count; to++) {
            const clo_executor *out = &p->executors[first[from]], *in = &p->executors[first[to]];
            uint64_t out_q32 = slope_of(p, out->machine, flows), in_q32 = slope_of(p, in->machine, flows);
            if (out->machine != in->machine)
                changes |= stretch(s, (size_t)from * p->groups_count + to, out_q32 > in_q32 ? out_q32 : in_q32);
        }
    return changes;
}

typedef struct machine {
    uint64_t speed;
    uint32_t index;
} machine;

static int by_falling_speed(const void *a, const void *b)
{
    const machine *x = a, *y = b;

    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* s->executors: those of the fastest machines, in their order. */
static clo_status choose_executors(clo_stretched *s, const clo_platform *all, uint32_t machines)
{
    machine *list = clo_allocate(all->machines_count, sizeof *list);
    bool *is_kept = clo_allocate(all->machines_count, sizeof *is_kept);

    s->executors = clo_allocate(all->executors_count, sizeof *s->executors);
    s->platform.executors_count = 0;
    if (list != NULL && is_kept != NULL && s->executors != NULL) {
        for (uint32_t m = 0; m < all->machines_count; m++)
            list[m].index = m;
        for (uint32_t e = 0; e < all->executors_count; e++)
            list[all->executors[e].machine].speed += all->executors[e].speed_q16[CLO_CLASS_GENERIC];
        clo_sort(list, all->machines_count, sizeof *list, by_falling_speed);
        for (uint32_t m = 0; m < machines && m < all->machines_count; m++)
            is_kept[list[m].index] = true;
        for (uint32_t e = 0; e < all->executors_count; e++)
            if (is_kept[all->executors[e].machine])
                s->executors[s->platform.executors_count++] = e;
    }
    clo_status status =
        s->executors != NULL && list != NULL && is_kept != NULL ? CLO_OK : clo_fail_memory("a plan over ports");
    clo_free(list);
    clo_free(is_kept);
    return status;
}

/* Groups of links within a machine. first: [executors] an executor of each of them; next: [executors + machines]
 * scratch. */
static void find_groups(clo_stretched *s, const clo_platform *all, uint32_t *first, uint32_t *next)
{
    clo_platform *p = &s->platform;
    uint32_t *first_in = next + p->executors_count; /* the first of a group of each machine */

    p->groups_count = 0;
    for (uint32_t m = 0; m < p->machines_count; m++)
        first_in[m] = CLO_NONE;
    for (uint32_t e = 0; e < p->executors_count; e++) {
        uint32_t *at = &first_in[p->executors[e].machine], group = all->group_of[s->executors[e]];
        while (*at != CLO_NONE && all->group_of[s->executors[*at]] != group)
            at = &next[*at];
        if (*at != CLO_NONE) {
            p->group_of[e] = p->group_of[*at];
            continue;
        }
        *at = e;
        next[e] = CLO_NONE;
        first[p->groups_count] = e;
        p->group_of[e] = p->groups_count++;
    }
}

/* first: as above. */
static clo_status copy_cells(clo_stretched *s, const clo_platform *all, const uint32_t *first)
{
    clo_platform *p = &s->platform;
    size_t n = p->groups_count;

    p->latency_ns = clo_allocate(n * n, p->pieces_count * sizeof *p->latency_ns);
    p->ns_per_byte_q32 = clo_allocate(n * n, p->pieces_count * sizeof *p->ns_per_byte_q32);
    if (p->latency_ns == NULL || p->ns_per_byte_q32 == NULL)
        return clo_fail_memory("a plan over ports");
    for (uint32_t k = 0; k < p->pieces_count; k++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) {
                size_t from = clo_platform_cell(all, k, s->executors[first[a]], s->executors[first[b]]);
                size_t to = (k * n + a) * n + b;
                p->latency_ns[to] = all->latency_ns[from];
                p->ns_per_byte_q32[to] = all->ns_per_byte_q32[from];
            }
    return CLO_OK;
}

static clo_status copy_executors(clo_stretched *s, const clo_platform *all)
{
    clo_platform *p = &s->platform;
    size_t n = p->executors_count;

    p->executors = clo_allocate(n, sizeof *p->executors);
    p->executor_names = clo_allocate(n, sizeof *p->executor_names);
    p->group_of = clo_allocate(n, sizeof *p->group_of);
    p->places = NULL; /* for pictures alone */
    if (p->executors == NULL || p->executor_names == NULL || p->group_of == NULL)
        return clo_fail_memory("a plan over ports");
    for (size_t e = 0; e < n; e++) {
        p->executors[e] = all->executors[s->executors[e]];
        p->executor_names[e] = all->executor_names[s->executors[e]];
    }
    return CLO_OK;
}

/* The platform of the chosen executors; *changes: some link is another one than before. */
static clo_status copy_platform(clo_stretched *s, const clo_platform *all, uint32_t flows, bool *changes)
{
    size_t n = s->platform.executors_count;
    uint32_t *first = clo_allocate(2 * n + all->machines_count, sizeof *first);
    clo_status status = first != NULL ? copy_executors(s, all) : clo_fail_memory("a plan over ports");

    if (status == CLO_OK) {
        find_groups(s, all, first, first + n);
        status = copy_cells(s, all, first);
    }
    *changes = status == CLO_OK && stretch_all(s, flows, first);
    clo_free(first);
    return status;
}

clo_status clo_stretched_open(clo_stretched *s, const clo_cost *cost, uint32_t flows, uint32_t machines)
{
    const clo_platform *all = clo_cost_platform(cost);
    const clo_graph *graph = clo_cost_graph(cost);

    *s = (clo_stretched){.platform = *all};
    s->platform.executors = NULL;
    s->platform.executor_names = NULL;
    s->platform.group_of = NULL;
    s->platform.source_of = NULL;
    s->platform.latency_ns = NULL;
    s->platform.ns_per_byte_q32 = NULL;
    clo_status status = choose_executors(s, all, machines);
    bool is_part = status == CLO_OK && s->platform.executors_count < all->executors_count;
    if (status != CLO_OK || s->platform.executors_count == 0 || (is_part && graph->sets.count > 0))
        return status; /* sets of executors name these by number */
    bool changes;
    status = copy_platform(s, all, flows, &changes);
    if (status != CLO_OK || !(changes || is_part || flows == 0))
        return status;
    status = clo_links_survey(&s->platform);
    if (status == CLO_OK)
        status = clo_cost_create(graph, &s->platform, &s->cost);
    /* Sums that are too large, or a task without executor: no such plan is looked at. */
    return status == CLO_ERR_LIMIT || status == CLO_ERR_PLATFORM ? CLO_OK : status;
}

void clo_stretched_close(clo_stretched *s)
{
    clo_cost_destroy(s->cost);
    clo_free(s->executors);
    clo_free(s->platform.executors);
    clo_free(s->platform.executor_names);
    clo_free(s->platform.group_of);
    clo_free(s->platform.source_of);
    clo_free(s->platform.latency_ns);
    clo_free(s->platform.ns_per_byte_q32);
    *s = (clo_stretched){0};
}
