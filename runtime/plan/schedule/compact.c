/* plan/schedule/compact.c - a plan made better as it stands: clean-up after duplication, and double justification.
 *
 * A duplicate may leave its original without a reader (the idea of DFRN's deletion). Dropping executions frees
 * time, and taking the executions in order of start and giving each the earliest slot on its own executor uses it.
 *
 * Why nothing gets worse: when an execution is placed again, everything placed before it started no later in the
 * old plan and now ends no later than it did. So at its old start its inputs have arrived, its executor is idle, and
 * the machine holds no more than it did: the old start is still free, and the earliest slot is no later.
 *
 * Double justification (Valls, Ballestin and Quintanilla 2005; forward-backward improvement, Li and Willis 1992) does
 * the same in both directions: first to the right, in falling order of finish, towards the makespan; then to the
 * left. For the same reason nothing gets worse, on unlike executors, with transfers, resources and replicas too:
 * everything stays on its executor. Our addition: the order found on the way is also tried with every executor free
 * (a list schedule in order of the justified starts), where there are no replicas. Rounds go on as long as they bring
 * something. */
#include "plan/schedule/compact.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>
#include <stdlib.h>

enum { JUSTIFY_ROUNDS = 16 };

/* About what it takes to sort an execution three times in a round, which is not cut off, and to make a plan object
 * of it. */
enum { SORTS_NS = 600, OBJECT_NS = 400 };

/* The execution that serves `arc` to execution `reader`: the earliest arrival among the executions that were there when the
 * reader was placed. */
static uint32_t server_of(const clo_schedule *schedule, uint32_t arc, uint32_t reader)
{
    const clo_platform *platform = schedule->platform;
    uint32_t best = CLO_NONE, to = schedule->executions[reader].executor;
    int64_t earliest = INT64_MAX;

    for (uint32_t c = schedule->first_execution[schedule->graph->pred[arc]]; c != CLO_NONE;
         c = schedule->executions[c].next) {
        const clo_execution *execution = &schedule->executions[c];
        int64_t arrival =
            execution->finish_ns +
            clo_platform_transfer_ns(platform, clo_graph_arc_bytes(schedule->graph, arc), execution->executor, to);
        if (c < reader && arrival < earliest) {
            earliest = arrival;
            best = c;
        }
    }
    assert(best != CLO_NONE);
    return best;
}

/* is_read[c] for all executions. Readers were placed after what they read, so one pass from the last execution to the first sees
 * every reader first, and what a dropped execution read does not count. */
static void mark_read(const clo_schedule *schedule, uint8_t *is_read)
{
    const clo_graph *graph = schedule->graph;

    for (uint32_t c = schedule->count; c-- > 0;) {
        uint32_t instance = schedule->executions[c].instance;
        if (graph->succ_first[instance] == graph->succ_first[instance + 1])
            is_read[c] = 1; /* a result; never duplicated */
        for (uint32_t arc = graph->pred_first[instance]; is_read[c] && arc < graph->pred_first[instance + 1]; arc++)
            is_read[server_of(schedule, arc, c)] = 1;
    }
}

typedef struct kept_execution {
    clo_execution execution;
    uint32_t position; /* of the instance in the topological order: decides between executions of length 0 */
    uint32_t index;    /* in the schedule it comes from */
} kept_execution;

/* The executions of a schedule that somebody reads. */
typedef struct kept_executions {
    kept_execution *rows; /* [count] */
    uint32_t count;
} kept_executions;

static int by_start(const void *left, const void *right)
{
    const kept_execution *a = left, *b = right;

    if (a->execution.start_ns != b->execution.start_ns)
        return a->execution.start_ns < b->execution.start_ns ? -1 : 1;
    if (a->execution.finish_ns != b->execution.finish_ns)
        return a->execution.finish_ns < b->execution.finish_ns ? -1 : 1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return a->execution.executor < b->execution.executor ? -1 : a->execution.executor > b->execution.executor;
}

static clo_status place_again(clo_schedule *schedule, const clo_execution *old)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[old->instance];
    int64_t ready = 0;

    for (uint32_t arc = graph->pred_first[old->instance]; arc < graph->pred_first[old->instance + 1]; arc++) {
        int64_t arrival = clo_schedule_arrival_ns(schedule, arc, old->executor);
        if (arrival > ready)
            ready = arrival;
    }
    int64_t start = clo_schedule_slot_ns(schedule, task, old->executor, ready, old->finish_ns - old->start_ns);
    assert(start <= old->start_ns);
    return clo_schedule_place(schedule, old->instance, old->executor, start);
}

static clo_status collect(const clo_schedule *schedule, kept_executions *out)
{
    const clo_graph *graph = schedule->graph;
    uint32_t *position = clo_allocate(graph->instances, sizeof *position);
    uint8_t *is_read = clo_allocate(schedule->count, 1);
    clo_status status = CLO_OK;

    *out = (kept_executions){clo_allocate(schedule->count, sizeof *out->rows), 0};
    if (out->rows == NULL || position == NULL || is_read == NULL) {
        status = clo_fail_memory("a plan");
        goto done;
    }
    for (uint32_t i = 0; i < graph->instances; i++)
        position[graph->order[i]] = i;
    mark_read(schedule, is_read);
    for (uint32_t c = 0; c < schedule->count; c++)
        if (is_read[c])
            out->rows[out->count++] =
                (kept_execution){schedule->executions[c], position[schedule->executions[c].instance], c};
done:
    clo_free(position);
    clo_free(is_read);
    return status;
}

/* The schedule becomes these executions, in order of start, each as early as it can be. */
static clo_status shift_left(clo_schedule *schedule, kept_executions *kept)
{
    clo_status status = CLO_OK;

    qsort(kept->rows, kept->count, sizeof *kept->rows, by_start);
    clo_schedule_clear(schedule);
    for (uint32_t i = 0; status == CLO_OK && i < kept->count; i++)
        status = place_again(schedule, &kept->rows[i].execution);
    return status;
}

clo_status clo_schedule_compact(clo_schedule *schedule)
{
    kept_executions kept;

    if (schedule->count == schedule->graph->instances)
        return CLO_OK; /* no replica: nothing to drop, and every execution took the earliest slot */
    clo_status status = collect(schedule, &kept);
    if (status == CLO_OK)
        status = shift_left(schedule, &kept);
    clo_free(kept.rows);
    return status;
}

static int by_falling_finish(const void *left, const void *right)
{
    const kept_execution *a = left, *b = right;

    if (a->execution.finish_ns != b->execution.finish_ns)
        return a->execution.finish_ns > b->execution.finish_ns ? -1 : 1;
    if (a->execution.start_ns != b->execution.start_ns)
        return a->execution.start_ns > b->execution.start_ns ? -1 : 1;
    if (a->position != b->position)
        return a->position > b->position ? -1 : 1;
    return a->execution.executor < b->execution.executor ? -1 : a->execution.executor > b->execution.executor;
}

/* Moves the executions, which are those of `schedule`, as late as the makespan allows: in falling order of finish, each on its
 * executor before its readers. `mirror` is an empty schedule in which time runs backwards from the makespan. */
static clo_status shift_right(const clo_schedule *schedule, clo_schedule *mirror, kept_executions *kept)
{
    const clo_graph *graph = schedule->graph;
    int64_t makespan_ns = clo_schedule_makespan_ns(schedule),
            *after_ns = clo_allocate(schedule->count, sizeof *after_ns);
    clo_status status = after_ns == NULL ? clo_fail_memory("a plan") : CLO_OK;

    qsort(kept->rows, kept->count, sizeof *kept->rows, by_falling_finish);
    for (uint32_t i = 0; status == CLO_OK && i < kept->count; i++) {
        clo_execution *execution = &kept->rows[i].execution;
        uint32_t v = execution->instance, index = kept->rows[i].index;
        int64_t duration = execution->finish_ns - execution->start_ns;
        int64_t begin = clo_schedule_slot_ns(mirror, graph->task_of[v], execution->executor, after_ns[index], duration);
        assert(begin <= makespan_ns - execution->finish_ns);
        status = clo_schedule_place(mirror, v, execution->executor, begin);
        execution->finish_ns = makespan_ns - begin;
        execution->start_ns = execution->finish_ns - duration;
        for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++) {
            uint32_t server = server_of(schedule, arc, index);
            int64_t after = begin + duration +
                            clo_platform_transfer_ns(schedule->platform, clo_graph_arc_bytes(graph, arc),
                                                     schedule->executions[server].executor, execution->executor);
            after_ns[server] = after > after_ns[server] ? after : after_ns[server];
        }
    }
    clo_free(after_ns);
    return status;
}

/* The schedule becomes these instances, in order of start, each where it ends first. */
static clo_status spread(clo_schedule *schedule, kept_executions *kept)
{
    clo_status status = CLO_OK;

    qsort(kept->rows, kept->count, sizeof *kept->rows, by_start);
    clo_schedule_clear(schedule);
    for (uint32_t i = 0; status == CLO_OK && i < kept->count; i++) {
        uint32_t v = kept->rows[i].execution.instance;
        clo_slot slot = clo_schedule_earliest(schedule, v, NULL);
        status = clo_schedule_place(schedule, v, slot.executor, slot.start_ns);
    }
    return status;
}

/* One round: *is_better if the schedule got shorter. */
static clo_status justify_once(clo_schedule *schedule, clo_schedule *mirror, clo_snapshot *best, bool *is_better)
{
    bool has_replicas = schedule->count > schedule->graph->instances;
    kept_executions kept;
    clo_status status = collect(schedule, &kept);

    clo_schedule_clear(mirror);
    if (status == CLO_OK)
        status = shift_right(schedule, mirror, &kept);
    if (status == CLO_OK)
        status = shift_left(schedule, &kept);
    *is_better = status == CLO_OK && clo_snapshot_keep(best, schedule);
    if (status == CLO_OK && !has_replicas)
        status = spread(schedule, &kept);
    if (status == CLO_OK && !has_replicas)
        *is_better |= clo_snapshot_keep(best, schedule);
    schedule->schedules += has_replicas ? 2 : 3;
    clo_free(kept.rows);
    schedule->stop_ns = INT64_MAX;
    return status == CLO_OK ? clo_snapshot_restore(best, schedule) : status;
}

static bool may_go_on(const clo_snapshot *best, int64_t bound_ns, int64_t end_ns)
{
    return best->makespan_ns > bound_ns &&
           (end_ns == INT64_MAX || clo_clock_ns() < end_ns - (int64_t)best->count * SORTS_NS);
}

/* A round that is cut off by time is none. */
static clo_status justify_in_time(clo_schedule *schedule, clo_schedule *mirror, clo_snapshot *best, bool *is_better,
                                  int64_t end_ns)
{
    schedule->stop_ns = mirror->stop_ns = end_ns;
    clo_status status = justify_once(schedule, mirror, best, is_better);
    schedule->stop_ns = INT64_MAX;
    if (status != CLO_ERR_TIMEOUT)
        return status;
    *is_better = false;
    return clo_snapshot_restore(best, schedule);
}

clo_status clo_schedule_justify(clo_schedule *schedule, int64_t bound_ns, int64_t end_ns)
{
    clo_schedule mirror;
    clo_snapshot best = {0};
    bool is_better = true;
    clo_status status = clo_schedule_open(&mirror, schedule->cost, schedule->capacity / schedule->graph->instances);

    if (status != CLO_OK)
        return status;
    status = clo_snapshot_open(&best, schedule);
    if (status == CLO_OK)
        clo_snapshot_keep(&best, schedule);
    if (end_ns != INT64_MAX)
        end_ns -= (int64_t)schedule->count * OBJECT_NS;
    for (int round = 0; status == CLO_OK && is_better && round < JUSTIFY_ROUNDS && may_go_on(&best, bound_ns, end_ns);
         round++)
        status = justify_in_time(schedule, &mirror, &best, &is_better, end_ns);
    clo_snapshot_close(&best);
    clo_schedule_close(&mirror);
    return status;
}
