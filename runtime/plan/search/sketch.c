/* plan/search/sketch.c - see sketch.h. What is placed where, and when, is what heft/deft.c would place: a test compares
 * them. */
#include "plan/search/sketch.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/arrivals.h"

#include <assert.h>
#include <string.h>

/* Of the table of transfers, 8 MiB, and of that of times: what is larger takes longer to fill than a search has. Of tasks:
 * a search for a gap may pass all executions of an executor (of out-trees it does), where a timeline is a tree. */
enum { CELLS_MAX = 1 << 20, TIMES_MAX = 1 << 17, TASKS_MAX = 1 << 10 };

typedef struct spot {
    int64_t value_ns, limit_ns, start_ns, copy_start_ns; /* limit: no value above it is best */
    uint32_t executor, copy; /* copy: the task to execute once more before; CLO_NONE: none */
} spot;

bool clo_sketch_fits(const clo_schedule *schedule)
{
    uint64_t pairs = (uint64_t)schedule->executors * schedule->executors;

    return schedule->occupancies == NULL && schedule->graph->instances == schedule->graph->tasks &&
           schedule->graph->tasks <= TASKS_MAX && pairs <= CELLS_MAX && pairs * schedule->graph->edges <= CELLS_MAX &&
           (uint64_t)schedule->executors * schedule->graph->tasks <= TIMES_MAX;
}

void clo_find_behind(const clo_cost *cost, int64_t *behind_ns)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t t = graph->task_order[i];
        int64_t longest = 0;
        for (uint32_t at = graph->out_first[t]; at < graph->out_first[t + 1]; at++) {
            int64_t way = behind_ns[graph->out[at]] + clo_cost_fastest(cost, graph->out[at]);
            longest = way > longest ? way : longest;
        }
        behind_ns[t] = longest;
    }
}

clo_status clo_sketch_open(clo_sketch *s, const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    size_t executors = schedule->executors;
    clo_block block = {0};

    *s = (clo_sketch){.schedule = schedule,
                      .graph = graph,
                      .executors = schedule->executors,
                      .may_copy = schedule->may_duplicate,
                      .capacity = schedule->may_duplicate ? 2 * graph->tasks : graph->tasks};
    if (s->capacity > schedule->capacity)
        s->capacity = schedule->capacity;
    clo_carve(&block, &s->time_ns, graph->tasks * executors);
    clo_carve(&block, &s->transfer_ns, graph->edges * executors * executors);
    clo_carve(&block, &s->is_row_known, graph->edges * executors);
    clo_carve(&block, &s->behind_ns, graph->tasks);
    clo_carve(&block, &s->executions, s->capacity);
    clo_carve(&block, &s->links, s->capacity);
    clo_carve(&block, &s->first, graph->tasks);
    clo_carve(&block, &s->tail, executors);
    clo_carve(&block, &s->available_ns, executors);
    clo_carve(&block, &s->inputs_ns, graph->tasks * executors);
    clo_carve(&block, &s->is_inputs_known, graph->tasks);
    clo_carve(&block, &s->second_ns, executors);
    clo_carve(&block, &s->critical, executors);
    s->block = clo_block_allocate(&block);
    if (s->block == NULL)
        return clo_fail_memory("a search for a plan");
    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t e = 0; e < s->executors; e++)
            s->time_ns[t * executors + e] = clo_cost_time(schedule->cost, t, e);
    clo_find_behind(schedule->cost, s->behind_ns);
    return CLO_OK;
}

void clo_sketch_close(clo_sketch *s)
{
    clo_free(s->block);
    *s = (clo_sketch){0};
}

void clo_sketch_clear(clo_sketch *s)
{
    memset(s->first, 0xff, s->graph->tasks * sizeof *s->first); /* CLO_NONE */
    memset(s->available_ns, 0, s->executors * sizeof *s->available_ns);
    memset(s->tail, 0xff, s->executors * sizeof *s->tail);
    s->count = 0;
    s->makespan_ns = 0;
}

const int64_t *clo_sketch_fill_row(clo_sketch *s, uint32_t edge, uint32_t from)
{
    int64_t *row = &s->transfer_ns[((size_t)edge * s->executors + from) * s->executors];
    uint64_t bytes = clo_graph_in_bytes(s->graph, edge);

    for (uint32_t to = 0; to < s->executors; to++)
        row[to] = clo_schedule_transfer_ns(s->schedule, bytes, from, to);
    s->is_row_known[(size_t)edge * s->executors + from] = 1;
    return row;
}

/* When data of a producer over `edge` can be on one executor. */
static inline int64_t arrival_ns(clo_sketch *s, uint32_t edge, uint32_t executor)
{
    int64_t earliest = INT64_MAX;

    for (uint32_t c = s->first[clo_graph_source(s->graph, edge)]; c != CLO_NONE; c = s->executions[c].next) {
        int64_t there = s->executions[c].finish_ns + clo_sketch_row(s, edge, s->executions[c].executor)[executor];
        earliest = there < earliest ? there : earliest;
    }
    return earliest;
}

/* When all inputs of a task can be on one executor. */
static int64_t inputs_ns(clo_sketch *s, uint32_t task, uint32_t executor)
{
    int64_t latest = 0;

    if (s->is_inputs_known[task]) /* since it was placed */
        return s->inputs_ns[(size_t)task * s->executors + executor];
    for (uint32_t k = s->graph->in_first[task]; k < s->graph->in_first[task + 1]; k++) {
        int64_t there = arrival_ns(s, k, executor);
        latest = there > latest ? there : latest;
    }
    return latest;
}

/* Data of a producer that are there then, on executor e. Without branches, which would follow the data. */
static inline void note(clo_sketch *s, uint32_t e, int64_t there_ns, uint32_t producer)
{
    int64_t ready_ns = s->ready_ns[e], second_ns = s->second_ns[e];
    bool is_later = there_ns > ready_ns;
    int64_t lower_ns = is_later ? ready_ns : there_ns;

    s->ready_ns[e] = is_later ? there_ns : ready_ns;
    s->second_ns[e] = lower_ns > second_ns ? lower_ns : second_ns;
    s->critical[e] = is_later ? producer : s->critical[e];
}

static void find_critical(clo_sketch *s, uint32_t task)
{
    s->ready_ns = &s->inputs_ns[(size_t)task * s->executors];
    for (uint32_t e = 0; e < s->executors; e++) {
        s->ready_ns[e] = s->second_ns[e] = 0;
        s->critical[e] = CLO_NONE;
    }
    for (uint32_t k = s->graph->in_first[task]; k < s->graph->in_first[task + 1]; k++) {
        uint32_t producer = clo_graph_source(s->graph, k);
        const clo_execution *only = &s->executions[s->first[producer]];
        if (only->next == CLO_NONE) {
            const int64_t *row = clo_sketch_row(s, k, only->executor);
            for (uint32_t e = 0; e < s->executors; e++)
                note(s, e, only->finish_ns + row[e], producer);
            continue;
        }
        for (uint32_t e = 0; e < s->executors; e++)
            note(s, e, arrival_ns(s, k, e), producer);
    }
    s->is_inputs_known[task] = 1;
}

/* Something of a length ends there on the executor, before `c`. */
static bool touches_left(const clo_sketch *s, uint32_t c, int64_t start_ns)
{
    do
        c = s->links[c].before; /* ends: towards the head */
    while (c != CLO_NONE && s->executions[c].start_ns == start_ns);
    return c != CLO_NONE && s->executions[c].finish_ns == start_ns;
}

/* Of a task without a length, from the execution `right` on, the first that ends behind ready_ns: at no seam of two others,
 * as in a timeline. */
static int64_t slot_of_0_ns(const clo_sketch *s, uint32_t right, int64_t ready_ns)
{
    int64_t start_ns = ready_ns;

    for (; right != CLO_NONE && s->executions[right].start_ns <= start_ns; right = s->links[right].behind) {
        if (s->executions[right].finish_ns <= start_ns)
            continue; /* has no length */
        if (s->executions[right].start_ns == start_ns && !touches_left(s, right, start_ns))
            break;
        start_ns = s->executions[right].finish_ns;
    }
    return start_ns;
}

/* The gap test of HEFT, from the last execution that ends by ready_ns on. */
static inline int64_t slot_ns(const clo_sketch *s, uint32_t executor, int64_t ready_ns, int64_t duration_ns)
{
    uint32_t c = s->tail[executor], right = CLO_NONE;

    if (ready_ns >= s->available_ns[executor])
        return ready_ns;
    while (c != CLO_NONE && s->executions[c].finish_ns > ready_ns) { /* ends: towards the head */
        right = c;
        c = s->links[c].before;
    }
    if (duration_ns == 0)
        return slot_of_0_ns(s, right, ready_ns);
    int64_t start_ns = ready_ns;
    for (; right != CLO_NONE && start_ns + duration_ns > s->executions[right].start_ns; right = s->links[right].behind)
        start_ns = s->executions[right].finish_ns; /* ends: towards the tail */
    return start_ns;
}

static bool is_on(const clo_sketch *s, uint32_t task, uint32_t executor)
{
    for (uint32_t c = s->first[task]; c != CLO_NONE; c = s->executions[c].next)
        if (s->executions[c].executor == executor)
            return true;
    return false;
}

static inline void try_plain(const clo_sketch *s, uint32_t task, uint32_t e, int64_t later_ns, spot *best)
{
    int64_t duration_ns = s->time_ns[(size_t)task * s->executors + e];

    if (duration_ns == CLO_TIME_NEVER || s->ready_ns[e] + duration_ns + later_ns > best->limit_ns)
        return;
    int64_t start_ns = slot_ns(s, e, s->ready_ns[e], duration_ns), value_ns = start_ns + duration_ns + later_ns;
    if (value_ns < best->value_ns)
        *best = (spot){value_ns, value_ns, start_ns, 0, e, CLO_NONE};
}

/* The least value behind all that is there: none above it is best. */
static int64_t append_ns(const clo_sketch *s, uint32_t task, const int64_t *later_ns)
{
    const int64_t *time_ns = &s->time_ns[(size_t)task * s->executors];
    int64_t least_ns = INT64_MAX;

    for (uint32_t e = 0; e < s->executors; e++) {
        int64_t start_ns = s->ready_ns[e] > s->available_ns[e] ? s->ready_ns[e] : s->available_ns[e];
        if (time_ns[e] != CLO_TIME_NEVER && start_ns + time_ns[e] + later_ns[e] < least_ns)
            least_ns = start_ns + time_ns[e] + later_ns[e];
    }
    return least_ns;
}

/* As try_duplicate of heft/deft.c. */
static inline void try_copy(clo_sketch *s, uint32_t task, uint32_t e, int64_t later_ns, spot *best)
{
    uint32_t copy = s->critical[e];
    int64_t duration_ns = s->time_ns[(size_t)task * s->executors + e], ready_ns = s->second_ns[e];

    if (copy == CLO_NONE || duration_ns == CLO_TIME_NEVER || ready_ns >= s->ready_ns[e] ||
        !s->graph->rows[copy].duplicable)
        return;
    int64_t copy_ns = s->time_ns[(size_t)copy * s->executors + e];
    if (copy_ns >= s->ready_ns[e] || /* CLO_TIME_NEVER, too */
        (copy_ns > ready_ns ? copy_ns : ready_ns) + duration_ns + later_ns >= best->value_ns || is_on(s, copy, e))
        return;
    int64_t there_ns = inputs_ns(s, copy, e);
    if (there_ns + copy_ns >= s->ready_ns[e] || there_ns + copy_ns + duration_ns + later_ns >= best->value_ns)
        return; /* no earlier than the data that travel, or too late */
    int64_t copy_start_ns = slot_ns(s, e, there_ns, copy_ns);
    if (copy_start_ns + copy_ns >= s->ready_ns[e])
        return;
    if (copy_start_ns + copy_ns > ready_ns)
        ready_ns = copy_start_ns + copy_ns;
    int64_t start_ns = slot_ns(s, e, ready_ns, duration_ns), value_ns = start_ns + duration_ns + later_ns;
    if (value_ns < best->value_ns)
        *best = (spot){value_ns, value_ns, start_ns, copy_start_ns, e, copy};
}

static void link_in(clo_sketch *s, uint32_t at)
{
    const clo_execution *mine = &s->executions[at];
    uint32_t c = s->tail[mine->executor], right = CLO_NONE;

    while (c != CLO_NONE && s->executions[c].start_ns >= mine->finish_ns &&
           s->executions[c].finish_ns > mine->start_ns) {
        right = c; /* ends: towards the head */
        c = s->links[c].before;
    }
    s->links[at] = (clo_sketch_link){c, right};
    if (c != CLO_NONE)
        s->links[c].behind = at;
    if (right != CLO_NONE)
        s->links[right].before = at;
    if (right == CLO_NONE) {
        s->tail[mine->executor] = at;
        s->available_ns[mine->executor] = mine->finish_ns;
    }
}

static int64_t add(clo_sketch *s, uint32_t task, uint32_t executor, int64_t start_ns)
{
    uint32_t at = s->count++, *first = &s->first[task];
    int64_t finish_ns = start_ns + s->time_ns[(size_t)task * s->executors + executor];

    assert(at < s->capacity);
    s->executions[at] = (clo_execution){start_ns, finish_ns, task, executor, CLO_NONE};
    if (*first == CLO_NONE) {
        *first = at;
    } else { /* behind the original, which stays first */
        s->executions[at].next = s->executions[*first].next;
        s->executions[*first].next = at;
        for (uint32_t k = s->graph->out_first[task]; k < s->graph->out_first[task + 1]; k++)
            s->is_inputs_known[s->graph->out[k]] = 0;
    }
    link_in(s, at);
    s->makespan_ns = finish_ns > s->makespan_ns ? finish_ns : s->makespan_ns;
    return finish_ns;
}

int64_t clo_sketch_place(clo_sketch *s, uint32_t task, const int64_t *later_ns)
{
    spot best = {INT64_MAX, 0, 0, 0, CLO_NONE, CLO_NONE};

    find_critical(s, task);
    best.limit_ns = append_ns(s, task, later_ns);
    for (uint32_t e = 0; e < s->executors; e++)
        try_plain(s, task, e, later_ns[e], &best);
    for (uint32_t e = 0; e < s->executors && s->may_copy; e++)
        try_copy(s, task, e, later_ns[e], &best);
    assert(best.executor != CLO_NONE);
    if (best.copy != CLO_NONE)
        add(s, best.copy, best.executor, best.copy_start_ns);
    return add(s, task, best.executor, best.start_ns);
}

bool clo_sketch_keep(clo_snapshot *snapshot, const clo_sketch *s)
{
    if (s->makespan_ns >= snapshot->makespan_ns)
        return false;
    memcpy(snapshot->executions, s->executions, s->count * sizeof *s->executions);
    snapshot->count = s->count;
    snapshot->makespan_ns = s->makespan_ns;
    return true;
}
