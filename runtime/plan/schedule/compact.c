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
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>

enum { JUSTIFY_ROUNDS = 16 };

/* About what it takes to sort an execution three times in a round, which is not cut off, and to make a plan object
 * of it. */
enum { SORTS_NS = 600, OBJECT_NS = 400 };

/* The execution that serves `instance` to execution `reader`, which needs `bytes` of it: the earliest arrival among the
 * executions that were there when the reader was placed. */
static uint32_t server_of(const clo_schedule *schedule, uint32_t instance, uint64_t bytes, uint32_t reader)
{
    uint32_t best = CLO_NONE, to = schedule->executions[reader].executor;
    int64_t earliest = INT64_MAX;

    for (uint32_t c = schedule->first_execution[instance]; c != CLO_NONE; c = schedule->executions[c].next) {
        const clo_execution *execution = &schedule->executions[c];
        int64_t arrival = execution->finish_ns + clo_schedule_transfer_ns(schedule, bytes, execution->executor, to);
        if (c < reader && arrival < earliest) {
            earliest = arrival;
            best = c;
        }
    }
    assert(best != CLO_NONE);
    return best;
}

/* A schedule and what its executions are for. */
typedef struct readers {
    const clo_schedule *schedule;
    uint8_t *is_read;       /* [executions] somebody reads it                                                    */
    uint8_t *is_stage_read; /* [tasks] so are all instances of it that were executed once                        */
} readers;

/* What `reader` gets over `edge`. */
static void mark_edge(const readers *r, uint32_t edge, uint32_t reader)
{
    const clo_schedule *schedule = r->schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t source = clo_graph_source(graph, edge);
    uint64_t bytes = clo_graph_in_bytes(graph, edge);
    const clo_stage *stage = clo_schedule_stage(schedule, source);

    if (stage == NULL) {
        r->is_read[server_of(schedule, graph->first_instance[source], bytes, reader)] = 1;
        return;
    }
    r->is_stage_read[source] = 1;
    for (uint32_t v = stage->again; v != CLO_NONE; v = schedule->stages->next_again[v])
        r->is_read[server_of(schedule, v, bytes, reader)] = 1;
}

/* is_read for all executions. Readers were placed after what they read, so one pass from the last execution to the
 * first sees every reader first, and what a dropped execution read does not count. */
static void mark_read(const readers *r)
{
    const clo_schedule *schedule = r->schedule;
    const clo_graph *graph = schedule->graph;

    for (uint32_t c = schedule->count; c-- > 0;) {
        uint32_t instance = schedule->executions[c].instance, task = graph->task_of[instance];
        bool is_result = graph->out_first[task] == graph->out_first[task + 1]; /* never duplicated */
        if (is_result || (r->is_stage_read[task] && !clo_schedule_is_again(schedule, instance)))
            r->is_read[c] = 1;
        for (uint32_t edge = graph->in_first[task]; r->is_read[c] && edge < graph->in_first[task + 1]; edge++)
            mark_edge(r, edge, c);
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
    uint32_t task = schedule->graph->task_of[old->instance];
    int64_t ready = clo_schedule_inputs_ns(schedule, old->instance, old->executor);
    int64_t start = clo_schedule_slot_ns(schedule, task, old->executor, ready, old->finish_ns - old->start_ns);
    assert(start <= old->start_ns);
    return clo_schedule_place(schedule, old->instance, old->executor, start);
}

static clo_status collect(const clo_schedule *schedule, kept_executions *out)
{
    const clo_graph *graph = schedule->graph;
    uint32_t *position = clo_allocate(graph->instances, sizeof *position);
    readers r = {schedule, clo_allocate(schedule->count, 1), clo_allocate(graph->tasks, 1)};
    clo_status status = CLO_OK;

    *out = (kept_executions){clo_allocate(schedule->count, sizeof *out->rows), 0};
    if (out->rows == NULL || position == NULL || r.is_read == NULL || r.is_stage_read == NULL) {
        status = clo_fail_memory("a plan");
        goto done;
    }
    for (uint32_t i = 0; i < graph->instances; i++)
        position[graph->order[i]] = i;
    mark_read(&r);
    for (uint32_t c = 0; c < schedule->count; c++)
        if (r.is_read[c])
            out->rows[out->count++] =
                (kept_execution){schedule->executions[c], position[schedule->executions[c].instance], c};
done:
    clo_free(position);
    clo_free(r.is_read);
    clo_free(r.is_stage_read);
    return status;
}

/* The schedule becomes these executions, in order of start, each as early as it can be. */
static clo_status shift_left(clo_schedule *schedule, kept_executions *kept)
{
    clo_status status = CLO_OK;

    clo_sort(kept->rows, kept->count, sizeof *kept->rows, by_start);
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

/* A schedule that is mirrored, and when what was moved so far lets others end, in the mirror's time. */
typedef struct mirroring {
    const clo_schedule *schedule;
    clo_schedule *mirror;
    int64_t *after_ns;       /* [executions]                                        */
    int64_t *group_after_ns; /* [groups of the stages] the same for all that are in it */
} mirroring;

static void raise_to(int64_t *to, int64_t value)
{
    *to = value > *to ? value : *to;
}

/* Execution `index` on `executor` now begins when `end_ns` has passed in the mirror: what it reads must end before. */
static void raise_servers(const mirroring *m, uint32_t index, int64_t end_ns)
{
    const clo_schedule *schedule = m->schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[schedule->executions[index].instance], to = schedule->executions[index].executor;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint64_t bytes = clo_graph_in_bytes(graph, edge);
        const clo_stage *stage = clo_schedule_stage(schedule, clo_graph_source(graph, edge));
        assert(stage == NULL || schedule->stages != NULL);
        uint32_t v = stage != NULL ? stage->again : graph->first_instance[clo_graph_source(graph, edge)];
        for (; v != CLO_NONE; v = stage != NULL ? schedule->stages->next_again[v] : CLO_NONE) {
            uint32_t server = server_of(schedule, v, bytes, index);
            raise_to(&m->after_ns[server],
                     end_ns + clo_schedule_transfer_ns(schedule, bytes, schedule->executions[server].executor, to));
        }
        for (uint32_t g = 0; stage != NULL && g < stage->count; g++) {
            uint32_t group = stage->first + g, from = schedule->stages->groups[group].executor;
            raise_to(&m->group_after_ns[group], end_ns + clo_schedule_transfer_ns(schedule, bytes, from, to));
        }
    }
}

/* When execution `index` may end, all its readers being moved. */
static int64_t after_of(const mirroring *m, uint32_t index)
{
    const clo_schedule *schedule = m->schedule;
    uint32_t instance = schedule->executions[index].instance;
    const clo_stage *stage = clo_schedule_stage(schedule, schedule->graph->task_of[instance]);

    if (stage == NULL || clo_schedule_is_again(schedule, instance))
        return m->after_ns[index];
    return m->group_after_ns[clo_schedule_group_of(schedule, stage, schedule->executions[index].executor)];
}

/* Moves the executions, which are those of `schedule`, as late as the makespan allows: in falling order of finish, each
 * on its executor before its readers. `mirror` is an empty schedule in which time runs backwards from the makespan. */
static clo_status shift_right(const clo_schedule *schedule, clo_schedule *mirror, kept_executions *kept)
{
    const clo_graph *graph = schedule->graph;
    int64_t makespan_ns = clo_schedule_makespan_ns(schedule);
    size_t groups = schedule->stages == NULL ? 0 : schedule->stages->groups_count;
    mirroring m = {schedule, mirror, clo_allocate(schedule->count, sizeof *m.after_ns),
                   clo_allocate(groups, sizeof *m.group_after_ns)};
    clo_status status = m.after_ns == NULL || m.group_after_ns == NULL ? clo_fail_memory("a plan") : CLO_OK;

    clo_sort(kept->rows, kept->count, sizeof *kept->rows, by_falling_finish);
    for (uint32_t i = 0; status == CLO_OK && i < kept->count; i++) {
        clo_execution *execution = &kept->rows[i].execution;
        uint32_t v = execution->instance, index = kept->rows[i].index;
        int64_t duration = execution->finish_ns - execution->start_ns;
        int64_t begin =
            clo_schedule_slot_ns(mirror, graph->task_of[v], execution->executor, after_of(&m, index), duration);
        assert(begin <= makespan_ns - execution->finish_ns);
        status = clo_schedule_place(mirror, v, execution->executor, begin);
        execution->finish_ns = makespan_ns - begin;
        execution->start_ns = execution->finish_ns - duration;
        raise_servers(&m, index, begin + duration);
    }
    clo_free(m.after_ns);
    clo_free(m.group_after_ns);
    return status;
}

/* The schedule becomes these instances, in order of start, each where it ends first. */
static clo_status spread(clo_schedule *schedule, kept_executions *kept)
{
    clo_status status = CLO_OK;

    clo_sort(kept->rows, kept->count, sizeof *kept->rows, by_start);
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
