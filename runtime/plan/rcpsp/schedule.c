/* plan/rcpsp/schedule.c - schedules of packings as objects, and the way from one to a plan. */
#include "plan/rcpsp/problem.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

clo_status clo_pool_schedule_open(clo_pool_schedule *schedule, const clo_pool *pool)
{
    char *block = clo_allocate(pool->tasks, sizeof(int64_t) + sizeof(uint32_t));

    if (block == NULL)
        return clo_fail_memory("a plan");
    *schedule = (clo_pool_schedule){.makespan_ns = INT64_MAX, .start_ns = (void *)block};
    schedule->machine = (void *)(block + pool->tasks * sizeof(int64_t));
    return CLO_OK;
}

void clo_pool_schedule_close(clo_pool_schedule *schedule)
{
    clo_free(schedule->start_ns);
    *schedule = (clo_pool_schedule){0};
}

void clo_pool_schedule_copy(const clo_pool *pool, clo_pool_schedule *to, const clo_pool_schedule *from)
{
    to->makespan_ns = from->makespan_ns;
    memcpy(to->start_ns, from->start_ns, pool->tasks * sizeof *to->start_ns);
    memcpy(to->machine, from->machine, pool->tasks * sizeof *to->machine);
}

typedef struct start_row {
    int64_t start_ns;
    uint32_t position, instance;
} start_row;

static int by_start(const void *left, const void *right)
{
    const start_row *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* On the executor of `machine` where it ends first; the lowest on a tie. All of them take the same time. */
static clo_status place(const clo_pool *pool, clo_draft *draft, uint32_t instance, uint32_t machine)
{
    const clo_graph *graph = draft->graph;
    uint32_t task = graph->task_of[instance], best = CLO_NONE;
    int64_t ready = 0, best_start = INT64_MAX;

    for (uint32_t arc = graph->pred_first[instance]; arc < graph->pred_first[instance + 1]; arc++) {
        int64_t finish = draft->copies[draft->first_copy[graph->pred[arc]]].finish_ns;
        ready = finish > ready ? finish : ready;
    }
    int64_t duration = pool->time_ns[(size_t)machine * pool->tasks + instance];
    ready = clo_draft_capacity_ns(draft, task, machine, ready, duration); /* no executor can do better */
    for (uint32_t e = 0; e < draft->executors && best_start > ready; e++) {
        if (draft->platform->executors[e].machine != machine)
            continue;
        int64_t start = clo_draft_slot_ns(draft, task, e, ready, duration);
        if (start < best_start) {
            best_start = start;
            best = e;
        }
    }
    return clo_draft_place(draft, instance, best, best_start);
}

clo_status clo_pool_realise(const clo_pool *pool, const clo_pool_schedule *schedule, int direction, clo_draft *draft)
{
    start_row *rows = clo_allocate(pool->tasks, sizeof *rows);
    clo_status status = CLO_OK;

    if (rows == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t i = 0; i < pool->tasks; i++) {
        uint32_t v = pool->graph->order[i];
        int64_t start = direction == CLO_POOL_FORWARD ? schedule->start_ns[v]
                                                      : schedule->makespan_ns - clo_pool_finish_ns(pool, schedule, v);
        rows[i] = (start_row){start, i, v};
    }
    qsort(rows, pool->tasks, sizeof *rows, by_start);
    for (uint32_t i = 0; status == CLO_OK && i < pool->tasks; i++)
        status = place(pool, draft, rows[i].instance, schedule->machine[rows[i].instance]);
    clo_free(rows);
    return status;
}
