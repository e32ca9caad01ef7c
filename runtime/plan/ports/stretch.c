/* stretch.c - see stretch.h. A link is never faster than its share of the two ports: port / flows. A machine is as fast
 * as the sum of its executors' generic speeds. */
#include "plan/ports/stretch.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "graph/graph.h"

/* ns/byte of a message that gets an equal share of the port of a machine. */
static uint64_t slope_of(const clo_platform *platform, uint32_t machine, uint32_t flows)
{
    uint64_t port_q32 = platform->port_q32[machine];
    clo_u128 slope = port_q32 > 0 ? ((clo_u128)flows << 64) / port_q32 : 0;

    return slope > UINT64_MAX ? UINT64_MAX : (uint64_t)slope;
}

/* One link, piece by piece; latencies are the times at which pieces begin. True if it is another link then. */
static bool stretch(clo_stretched *s, uint32_t from, uint32_t to, uint64_t least_q32)
{
    const clo_platform *p = &s->platform;
    size_t cells = (size_t)p->executors_count * p->executors_count;
    size_t cell = (size_t)from * p->executors_count + to;
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

/* True if some link is another one then. */
static bool stretch_all(clo_stretched *s, uint32_t flows)
{
    const clo_platform *p = &s->platform;
    bool changes = false;

    for (uint32_t from = 0; from < p->executors_count && flows > 0; from++)
        for (uint32_t to = 0; to < p->executors_count; to++) {
            uint32_t a = p->executors[from].machine, b = p->executors[to].machine;
            uint64_t out_q32 = slope_of(p, a, flows), in_q32 = slope_of(p, b, flows);
            if (a != b && p->executors[from].memory != p->executors[to].memory)
                changes |= stretch(s, from, to, out_q32 > in_q32 ? out_q32 : in_q32);
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

/* What the platform has of each executor, and of each pair. */
static clo_status copy_executors(clo_stretched *s, const clo_platform *all)
{
    clo_platform *p = &s->platform;
    size_t n = p->executors_count, m = all->executors_count;

    p->executors = clo_allocate(n, sizeof *p->executors);
    p->executor_names = clo_allocate(n, sizeof *p->executor_names);
    p->source_of = clo_allocate(n, sizeof *p->source_of);
    p->latency_ns = clo_allocate(n * n, p->pieces_count * sizeof *p->latency_ns);
    p->ns_per_byte_q32 = clo_allocate(n * n, p->pieces_count * sizeof *p->ns_per_byte_q32);
    p->places = NULL; /* for pictures alone */
    if (p->executors == NULL || p->executor_names == NULL || p->source_of == NULL || p->latency_ns == NULL ||
        p->ns_per_byte_q32 == NULL)
        return clo_fail_memory("a plan over ports");
    for (size_t e = 0; e < n; e++) {
        p->executors[e] = all->executors[s->executors[e]];
        p->executor_names[e] = all->executor_names[s->executors[e]];
        p->source_of[e] = all->source_of[s->executors[e]];
    }
    for (size_t k = 0; k < p->pieces_count; k++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) {
                size_t from = (k * m + s->executors[a]) * m + s->executors[b], to = (k * n + a) * n + b;
                p->latency_ns[to] = all->latency_ns[from];
                p->ns_per_byte_q32[to] = all->ns_per_byte_q32[from];
            }
    return CLO_OK;
}

clo_status clo_stretched_open(clo_stretched *s, const clo_cost *cost, uint32_t flows, uint32_t machines)
{
    const clo_platform *all = clo_cost_platform(cost);
    const clo_graph *graph = clo_cost_graph(cost);

    *s = (clo_stretched){.platform = *all};
    s->platform.executors = NULL;
    s->platform.executor_names = NULL;
    s->platform.source_of = NULL;
    s->platform.latency_ns = NULL;
    s->platform.ns_per_byte_q32 = NULL;
    clo_status status = choose_executors(s, all, machines);
    bool is_part = status == CLO_OK && s->platform.executors_count < all->executors_count;
    if (status != CLO_OK || s->platform.executors_count == 0 || (is_part && graph->sets.count > 0))
        return status; /* sets of executors name these by number */
    status = copy_executors(s, all);
    if (status == CLO_OK && (stretch_all(s, flows) || is_part || flows == 0))
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
    clo_free(s->platform.source_of);
    clo_free(s->platform.latency_ns);
    clo_free(s->platform.ns_per_byte_q32);
    *s = (clo_stretched){0};
}
