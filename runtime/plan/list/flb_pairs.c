/* plan/list/flb_pairs.c - see flb_pairs.h.
 *
 * For unequal executors, as in SAGA: the mean link has the mean bandwidth (and our mean latency), arrivals on an
 * executor are what they are. The links inside a memory and the free ones do not count in the mean. */
#include "plan/list/flb_pairs.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

/* The mean bandwidth of the links between memories as time a byte, and the mean latency, of one piece. */
static void find_mean_piece(clo_flb *f, const clo_link_span *span, uint32_t piece)
{
    clo_u128 sum = span->inverse_sum;

    f->mean_latency_ns[piece] = span->pairs > 0 ? (int64_t)(span->latency_sum_ns / span->pairs) : 0;
    f->mean_ns_per_byte_q32[piece] = sum > 0 ? (uint64_t)((((clo_u128)span->finite << 95) + sum / 2) / sum) : 0;
}

/* A piece begins where the mean link of the piece before ends, so that the time never falls with the bytes. */
static void find_mean_link(clo_flb *f, const clo_schedule *schedule)
{
    const uint64_t *cut_bytes = schedule->platform->cut_bytes;

    for (uint32_t k = 0; k < schedule->platform->pieces_count; k++) {
        find_mean_piece(f, &schedule->platform->spans[k], k);
        if (k > 0)
            f->mean_latency_ns[k] =
                clo_link_ns(f->mean_latency_ns[k - 1], f->mean_ns_per_byte_q32[k - 1], cut_bytes[k] - cut_bytes[k - 1]);
    }
}

static int64_t mean_link_ns(const clo_flb *f, uint64_t bytes)
{
    const clo_platform *platform = f->ready.schedule->platform;
    uint32_t piece = clo_platform_piece(platform, bytes);

    return clo_link_ns(f->mean_latency_ns[piece], f->mean_ns_per_byte_q32[piece], bytes - platform->cut_bytes[piece]);
}

clo_status clo_flb_open(clo_flb *flb, clo_schedule *schedule)
{
    clo_block block = {0};
    clo_status status = clo_ready_open(&flb->ready, schedule);
    if (status != CLO_OK)
        return status;

    clo_carve(&block, &flb->messages, schedule->graph->instances);
    clo_carve(&block, &flb->listed_ns, schedule->executors);
    flb->block = clo_block_allocate(&block);
    if (flb->block == NULL) {
        clo_ready_close(&flb->ready);
        return clo_fail_memory("a plan");
    }
    find_mean_link(flb, schedule);
    return CLO_OK;
}

void clo_flb_close(clo_flb *flb)
{
    clo_free(flb->block);
    clo_ready_close(&flb->ready);
}

/* Fills last_ns and here_ns; returns the enabling executor, CLO_NONE for an entry. */
static uint32_t find_message(clo_flb *flb, uint32_t instance)
{
    const clo_schedule *schedule = flb->ready.schedule;
    const clo_graph *graph = schedule->graph;
    clo_flb_message *m = &flb->messages[instance];
    uint32_t enabling = CLO_NONE, task = graph->task_of[instance];

    *m = (clo_flb_message){0};
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t last = clo_schedule_last_of(schedule, clo_graph_source(graph, edge));
        const clo_execution *execution = &schedule->executions[schedule->first_execution[last]];
        int64_t arrival = execution->finish_ns + mean_link_ns(flb, clo_graph_in_bytes(graph, edge));
        if (enabling == CLO_NONE || arrival > m->last_ns) {
            m->last_ns = arrival;
            enabling = execution->executor;
        }
    }
    if (enabling != CLO_NONE)
        m->here_ns = clo_schedule_inputs_ns(schedule, instance, enabling);
    return enabling;
}

void clo_flb_push_other(clo_flb *flb, uint32_t instance)
{
    clo_heap_push(&flb->ready.heap, flb->messages[instance].last_ns, instance);
}

bool clo_flb_next(clo_flb *flb, uint32_t *instance, uint32_t *enabling)
{
    const clo_schedule *schedule = flb->ready.schedule;

    while (clo_ready_next(&flb->ready, instance)) {
        uint32_t e = find_message(flb, *instance), task = schedule->graph->task_of[*instance];
        if (e != CLO_NONE && flb->messages[*instance].last_ns >= flb->ready.available_ns[e] &&
            clo_cost_time(schedule->cost, task, e) != CLO_TIME_NEVER) {
            *enabling = e;
            return true;
        }
        clo_flb_push_other(flb, *instance);
    }
    return false;
}

clo_slot clo_flb_append(const clo_flb *flb, uint32_t instance, uint32_t enabling)
{
    return clo_ready_append(&flb->ready, flb->ready.schedule->graph->task_of[instance], enabling,
                            flb->messages[instance].here_ns);
}

clo_slot clo_flb_choose_other(const clo_flb *flb)
{
    const clo_schedule *schedule = flb->ready.schedule;
    uint32_t best = CLO_NONE;

    if (flb->ready.heap.count == 0)
        return (clo_slot){INT64_MAX, INT64_MAX, CLO_NONE};
    uint32_t instance = (uint32_t)flb->ready.heap.items[0].id, task = schedule->graph->task_of[instance];
    for (uint32_t e = 0; e < schedule->executors; e++)
        if ((best == CLO_NONE || flb->listed_ns[e] < flb->listed_ns[best]) &&
            clo_cost_time(schedule->cost, task, e) != CLO_TIME_NEVER)
            best = e;
    assert(best != CLO_NONE);
    return clo_ready_append_on(&flb->ready, instance, best);
}
