/* plan/list/peft.c - PEFT: Arabnejad, Barbosa, "List Scheduling Algorithm for Heterogeneous Systems by an Optimistic
 * Cost Table", IEEE TPDS 25(3), 2014, section 4.
 *
 * OCT(t, p) = max over successors s of t of min over executors q of OCT(s, q) + time(s, q) + (p == q ? 0 : mean
 * transfer): what is left to do after t, run on p, if nobody were in the way. Ready instances in order of
 * the falling mean of OCT(t, .) (ties: earlier in topological order), each on the executor with the least earliest
 * finish + OCT, gaps filled (ties: the earlier finish, then the lowest executor).
 *
 * Here data move for nothing between the executors of one memory, so OCT(t, p) is the same for all p of
 * a memory and the table has a column a memory, not one an executor; where every executor has its own memory it is
 * the paper's. Beyond the paper: instances (OCT belongs to tasks: all instances of one are alike), placement masks
 * (q, and the mean, go over executors that can run the task), capacities of machines. Means are compared as
 * fractions, exactly.
 *
 * Memory: tasks * memories values. O(tasks * executors + edges * memories) for the table, O(edges * executors) for the
 * arrivals and one search in each executor's timeline an instance. */
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>

typedef struct mean_key {
    clo_u128 sum; /* < 2^62 * 2^14 */
    uint32_t count, position, task;
} mean_key;

typedef struct peft {
    uint32_t memories;
    int64_t *oct_ns;  /* [tasks * memories]                                          */
    int64_t *left_ns; /* [memories] of one task: least time + OCT there; CLO_TIME_NEVER: it cannot run there */
    uint32_t *place;  /* [tasks] in the order of priority                            */
    mean_key *keys;   /* [tasks] scratch                                              */
} peft;

/* left_ns of `task`, whose row of the table is complete; returns the least of it. */
static int64_t find_left(peft *p, const clo_schedule *schedule, uint32_t task)
{
    const int64_t *row = &p->oct_ns[(size_t)task * p->memories];
    int64_t least = INT64_MAX;

    for (uint32_t m = 0; m < p->memories; m++)
        p->left_ns[m] = INT64_MAX;
    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t time_ns = clo_cost_time(schedule->cost, task, e), *left = &p->left_ns[schedule->memory[e]];
        if (time_ns != CLO_TIME_NEVER && time_ns + row[schedule->memory[e]] < *left)
            *left = time_ns + row[schedule->memory[e]];
    }
    for (uint32_t m = 0; m < p->memories; m++)
        least = p->left_ns[m] < least ? p->left_ns[m] : least;
    assert(least < INT64_MAX);
    return least;
}

static void fill_table(peft *p, const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t task = graph->task_order[i];
        int64_t least = find_left(p, schedule, task);
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
            int64_t *row = &p->oct_ns[(size_t)clo_graph_source(graph, edge) * p->memories];
            int64_t far = least + clo_cost_mean_transfer_ns(schedule->cost, clo_graph_in_bytes(graph, edge));
            for (uint32_t m = 0; m < p->memories; m++) {
                int64_t way = p->left_ns[m] < far ? p->left_ns[m] : far;
                row[m] = way > row[m] ? way : row[m];
            }
        }
    }
}

static int by_falling_mean(const void *left, const void *right)
{
    const mean_key *a = left, *b = right;
    clo_u128 x = a->sum * b->count, y = b->sum * a->count;

    if (x != y)
        return x > y ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* place[]: tasks in the order of their means. */
static void find_places(peft *p, const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t task = graph->task_order[i];
        mean_key *key = &p->keys[count];
        *key = (mean_key){.position = count++, .task = task};
        for (uint32_t e = 0; e < schedule->executors; e++)
            if (clo_cost_time(schedule->cost, task, e) != CLO_TIME_NEVER) {
                key->sum += (uint64_t)p->oct_ns[(size_t)task * p->memories + schedule->memory[e]];
                key->count++;
            }
    }
    clo_sort(p->keys, count, sizeof *p->keys, by_falling_mean);
    for (uint32_t i = 0; i < count; i++)
        p->place[p->keys[i].task] = i;
}

static clo_slot choose(const peft *p, clo_schedule *schedule, uint32_t instance)
{
    uint32_t task = schedule->graph->task_of[instance];
    const int64_t *row = &p->oct_ns[(size_t)task * p->memories];
    clo_slot best = {0, INT64_MAX, CLO_NONE};
    int64_t least = INT64_MAX;

    clo_schedule_find_ready(schedule, instance);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t duration = clo_cost_time(schedule->cost, task, e), after = row[schedule->memory[e]];
        if (duration == CLO_TIME_NEVER || schedule->ready_ns[e] + duration + after > least)
            continue;
        int64_t start = clo_schedule_slot_ns(schedule, task, e, schedule->ready_ns[e], duration),
                finish = start + duration;
        if (finish + after < least || (finish + after == least && finish < best.finish_ns)) {
            best = (clo_slot){start, finish, e};
            least = finish + after;
        }
    }
    assert(best.executor != CLO_NONE);
    return best;
}

static clo_status place_all(const peft *p, clo_schedule *schedule)
{
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    uint32_t instance;
    if (status != CLO_OK)
        return status;

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        while (clo_ready_next(&ready, &instance))
            clo_heap_push(&ready.heap, p->place[schedule->graph->task_of[instance]], instance);
        instance = (uint32_t)clo_heap_pop(&ready.heap).id;
        status = clo_ready_place(&ready, instance, choose(p, schedule, instance));
    }
    clo_ready_close(&ready);
    return status;
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    uint32_t tasks = schedule->graph->tasks;
    peft p = {.memories = 0};
    clo_status status = CLO_OK;
    (void)config;

    for (uint32_t e = 0; e < schedule->executors; e++)
        if (schedule->memory[e] >= p.memories)
            p.memories = schedule->memory[e] + 1;
    p.oct_ns = clo_allocate((size_t)tasks * p.memories, sizeof *p.oct_ns);
    p.left_ns = clo_allocate(p.memories, sizeof *p.left_ns);
    p.place = clo_allocate(tasks, sizeof *p.place);
    p.keys = clo_allocate(tasks, sizeof *p.keys);
    if (p.oct_ns == NULL || p.left_ns == NULL || p.place == NULL || p.keys == NULL) {
        status = clo_fail_memory("a plan");
    } else {
        fill_table(&p, schedule);
        find_places(&p, schedule);
        status = place_all(&p, schedule);
    }
    clo_free(p.oct_ns);
    clo_free(p.left_ns);
    clo_free(p.place);
    clo_free(p.keys);
    return status;
}

const clo_planner clo_planner_peft = {
    .name = "peft",
    .summary = "earliest finish time plus an optimistic table of what follows (Arabnejad, Barbosa 2014)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
