/* plan/check/check.c - the independent checker: it shares no code with the planners, not even the timeline, and takes
 * times from the public calls, so that an error in one is not repeated here.
 *
 * It reports the first violation of: ids, completeness (each instance one original, replicas only of
 * duplicable tasks, one execution of an instance an executor), placement, duration, precedence (an input is there
 * when its nearest execution has finished and travelled, LACHESIS eq. 9), overlap, capacity over time.
 *
 * An edge between tasks of n and m instances asks for all n * m pairs. For the last of n that ended on the same
 * executor the others speak too, and m instances on one executor get their inputs at the same time; so it costs the
 * executors in use on either side, and what was executed more than once.
 * O(n log n + edges * (executors^2 or instances, whichever is less)). */
#include "plan/check/check_control_flow.h"
#include "plan/check/check_holds.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/check/check_interval.h"
#include "plan/facts.h"

#include <clotho/pipeline.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* How late data of a task of several instances can come: the latest finish of those that were executed once on an
 * executor, or an instance that was executed more than once. */
typedef struct end {
    int64_t finish_ns;
    uint32_t executor, instance; /* instance: CLO_NONE for the former */
} end;

/* When all inputs of a task are on an executor. */
typedef struct known {
    int64_t inputs_ns;
    uint32_t task_above; /* the task + 1; 0: nothing is known */
} known;

typedef struct checker {
    const clo_plan *plan;
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    const clo_placement *placements; /* sorted by start, then finish */
    size_t count;
    size_t *first;   /* [instances + 2] executions of instance i: members[first[i]] .. members[first[i + 1] - 1] */
    size_t *members; /* [count] */
    size_t *last;    /* [executors] scratch: index + 1 of a placement; 0: none */
    size_t *
        ends_first; /* [tasks + 1] ends of a task: ends[ends_first[t]] .. ends[ends_first[t + 1] - 1]; none of a task of
                           one instance */
    end *ends;
    known *known; /* [executors] */
    int measured;
} checker;

enum { LABEL_BYTES = 200 };

/* "task 'x' instance 2 on executor 'e0' (replica) from 5 to 9 ns" */
static const char *label(const checker *check, const clo_placement *placement, char *text)
{
    char scratch[16], instance[32] = "";

    if (check->graph->rows[placement->task].instances > 1)
        snprintf(instance, sizeof instance, " instance %u", placement->instance);
    snprintf(text, LABEL_BYTES, "task '%.40s'%s on executor '%.32s'%s from %lld to %lld ns",
             clo_graph_task_name(check->graph, placement->task, scratch), instance,
             clo_platform_executor_name(check->platform, placement->executor),
             placement->is_replica ? " (replica)" : "", (long long)placement->start_ns,
             (long long)placement->finish_ns);
    return text;
}

static clo_status violation(const checker *check, const clo_placement *placement, const char *what)
{
    char text[LABEL_BYTES];

    return clo_fail(CLO_ERR_INVALID, "%s: %s", label(check, placement, text), what);
}

static clo_status check_ids(const checker *check)
{
    for (size_t i = 0; i < check->count; i++) {
        const clo_placement *p = &check->placements[i];
        if (p->task >= check->graph->tasks || p->executor >= clo_platform_executors(check->platform))
            return clo_fail(CLO_ERR_INVALID,
                            "placement %zu: task %u on executor %u: this graph has %u tasks, this "
                            "platform %u executors; check the plan with what it was made for",
                            i, p->task, p->executor, check->graph->tasks, clo_platform_executors(check->platform));
        if (p->instance >= check->graph->rows[p->task].instances)
            return clo_fail(CLO_ERR_INVALID,
                            "placement %zu: task %u has no instance %u; check the plan with the graph it "
                            "was made for",
                            i, p->task, p->instance);
        if (p->start_ns < 0 || p->finish_ns < p->start_ns)
            return violation(check, p, "it ends before it starts, or starts before 0");
    }
    return CLO_OK;
}

/* What each pair of instances exchanges over an edge. */
typedef struct input {
    uint64_t bytes;
    bool comes; /* over a dead edge nothing does, and to what is skipped */
} input;

/* Over in[edge], to `task`. */
static input input_over(const checker *check, uint32_t task, uint32_t edge)
{
    bool comes = !clo_check_is_skipped(check->plan, task) && !clo_check_is_dead(check->plan, check->graph, edge);

    return (input){clo_graph_in_bytes(check->graph, edge), comes};
}

/* When data that are on `from` at finish_ns are on `to`; measured times hold all transfers. */
static int64_t travelled_ns(const checker *check, int64_t finish_ns, input sent, uint32_t from, uint32_t to)
{
    bool takes_time = !check->measured && sent.comes;
    int64_t way = takes_time ? clo_platform_transfer_ns(check->platform, sent.bytes, from, to) : 0;

    return finish_ns > INT64_MAX - way ? INT64_MAX : finish_ns + way;
}

static uint32_t instance_of(const checker *check, const clo_placement *placement)
{
    return check->graph->first_instance[placement->task] + placement->instance;
}

/* Counting sort of the placements by instance; ids are in range. */
static clo_status build_index(checker *check)
{
    uint32_t instances = check->graph->instances;

    check->first = clo_allocate((size_t)instances + 2, sizeof check->first[0]);
    check->members = clo_allocate(check->count, sizeof check->members[0]);
    check->last = clo_allocate(clo_platform_executors(check->platform), sizeof check->last[0]);
    check->ends_first = clo_allocate((size_t)check->graph->tasks + 1, sizeof check->ends_first[0]);
    check->ends = clo_allocate(instances == check->graph->tasks ? 0 : instances, sizeof check->ends[0]);
    check->known = clo_allocate(clo_platform_executors(check->platform), sizeof check->known[0]);
    if (check->first == NULL || check->members == NULL || check->last == NULL || check->ends_first == NULL ||
        check->ends == NULL || check->known == NULL)
        return clo_fail_memory("the check of a plan");
    for (size_t i = 0; i < check->count; i++)
        check->first[(size_t)instance_of(check, &check->placements[i]) + 2]++;
    for (size_t i = 1; i <= instances; i++)
        check->first[i + 1] += check->first[i];
    for (size_t i = 0; i < check->count; i++)
        check->members[check->first[(size_t)instance_of(check, &check->placements[i]) + 1]++] = i;
    return CLO_OK;
}

/* ends of `task`, from `at` on; returns where they end. */
static size_t fill_ends(const checker *check, uint32_t task, size_t at)
{
    size_t begin = at;

    for (uint32_t v = check->graph->first_instance[task]; v < check->graph->first_instance[task + 1]; v++) {
        const clo_placement *p = &check->placements[check->members[check->first[v]]];
        if (check->first[v + 1] - check->first[v] > 1) {
            check->ends[at++] = (end){.instance = v};
            continue;
        }
        size_t *found = &check->last[p->executor];
        if (*found == 0) {
            check->ends[at++] = (end){p->finish_ns, p->executor, CLO_NONE};
            *found = at;
        } else if (p->finish_ns > check->ends[*found - 1].finish_ns) {
            check->ends[*found - 1].finish_ns = p->finish_ns;
        }
    }
    for (size_t i = begin; i < at; i++)
        check->last[check->ends[i].executor] = 0;
    return at;
}

/* Every instance has an execution. */
static void find_ends(const checker *check)
{
    size_t at = 0;

    for (uint32_t t = 0; t < check->graph->tasks; t++) {
        check->ends_first[t] = at;
        if (check->graph->rows[t].instances > 1)
            at = fill_ends(check, t, at);
    }
    check->ends_first[check->graph->tasks] = at;
}

/* One original for each instance. */
static clo_status check_originals(const checker *check)
{
    char scratch[16], other[LABEL_BYTES];

    for (uint32_t i = 0; i < check->graph->instances; i++) {
        const clo_placement *original = NULL;
        uint32_t task = check->graph->task_of[i];
        for (size_t m = check->first[i]; m < check->first[i + 1]; m++) {
            const clo_placement *p = &check->placements[check->members[m]];
            if (!p->is_replica && original != NULL)
                return clo_fail(CLO_ERR_INVALID, "%s is an original for the second time; mark all but one as replicas",
                                label(check, p, other));
            original = p->is_replica ? original : p;
        }
        if (original == NULL)
            return clo_fail(CLO_ERR_INVALID,
                            "task '%.60s' instance %u has no original execution; every instance needs one",
                            clo_graph_task_name(check->graph, task, scratch), i - check->graph->first_instance[task]);
    }
    return CLO_OK;
}

/* Replicas only of duplicable tasks, and one execution of an instance an executor. */
static clo_status check_replicas(const checker *check)
{
    for (uint32_t i = 0; i < check->graph->instances; i++)
        for (size_t m = check->first[i]; m < check->first[i + 1]; m++) {
            const clo_placement *p = &check->placements[check->members[m]];
            size_t before = check->last[p->executor];
            if (p->is_replica && !check->graph->rows[p->task].duplicable)
                return violation(check, p, "the task is not duplicable");
            if (before > 0 && instance_of(check, &check->placements[before - 1]) == i)
                return violation(check, p, "the same instance runs on this executor twice");
            check->last[p->executor] = check->members[m] + 1;
        }
    memset(check->last, 0, clo_platform_executors(check->platform) * sizeof check->last[0]);
    return CLO_OK;
}

static clo_status check_placement(const checker *check, const clo_placement *p)
{
    int64_t time = clo_cost_execution_ns(check->cost, p->task, p->executor);
    char text[LABEL_BYTES];

    if (!clo_graph_allows(check->graph, p->task, p->executor))
        return violation(check, p, "the task's set of executors excludes this one");
    if (time == CLO_TIME_NEVER)
        return violation(check, p, "the task cannot run on this executor");
    if (clo_check_is_skipped(check->plan, p->task))
        return p->finish_ns == p->start_ns ? CLO_OK
                                           : violation(check, p, "it was skipped, and takes time all the same");
    if (!check->measured && p->finish_ns - p->start_ns != time)
        return clo_fail(CLO_ERR_INVALID, "%s: its length is %lld ns, its cost is %lld ns", label(check, p, text),
                        (long long)(p->finish_ns - p->start_ns), (long long)time);
    return CLO_OK;
}

/* When data of the nearest execution of `instance` are on `executor`; *nearest receives which. */
static int64_t arrival_ns(const checker *check, uint32_t instance, input sent, uint32_t executor,
                          const clo_placement **nearest)
{
    int64_t arrival = INT64_MAX;

    *nearest = NULL;
    for (size_t m = check->first[instance]; m < check->first[instance + 1]; m++) {
        const clo_placement *execution = &check->placements[check->members[m]];
        int64_t there = travelled_ns(check, execution->finish_ns, sent, execution->executor, executor);
        if (*nearest == NULL || there < arrival) {
            *nearest = execution;
            arrival = there;
        }
    }
    assert(*nearest != NULL);
    return arrival;
}

/* When the last instance of `task` is on `executor`: of those that were executed once on the same executor only the one
 * that ended last counts. */
static int64_t stage_ns(const checker *check, uint32_t task, input sent, uint32_t executor)
{
    const clo_placement *nearest;
    int64_t latest = 0;

    for (size_t i = check->ends_first[task]; i < check->ends_first[task + 1]; i++) {
        const end *last = &check->ends[i];
        int64_t there = last->instance == CLO_NONE
                            ? travelled_ns(check, last->finish_ns, sent, last->executor, executor)
                            : arrival_ns(check, last->instance, sent, executor, &nearest);
        latest = there > latest ? there : latest;
    }
    return latest;
}

/* When all inputs of instances of `task` are on `executor`. Kept for the next one of them there. */
static int64_t inputs_ns(const checker *check, uint32_t task, uint32_t executor)
{
    const clo_graph *graph = check->graph;
    const clo_placement *nearest;
    known *kept = &check->known[executor];

    if (kept->task_above == task + 1)
        return kept->inputs_ns;
    *kept = (known){0, task + 1};
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t source = clo_graph_source(graph, edge);
        input sent = input_over(check, task, edge);
        int64_t there = clo_graph_instances_of(graph, source) > 1
                            ? stage_ns(check, source, sent, executor)
                            : arrival_ns(check, graph->first_instance[source], sent, executor, &nearest);
        kept->inputs_ns = there > kept->inputs_ns ? there : kept->inputs_ns;
    }
    return kept->inputs_ns;
}

/* Each input of p has arrived from the nearest execution of its producer. */
static clo_status check_inputs(const checker *check, const clo_placement *p)
{
    const clo_graph *graph = check->graph;
    const clo_placement *nearest;
    char mine[LABEL_BYTES], theirs[LABEL_BYTES];

    if (inputs_ns(check, p->task, p->executor) <= p->start_ns)
        return CLO_OK;
    for (uint32_t edge = graph->in_first[p->task]; edge < graph->in_first[p->task + 1]; edge++) {
        uint32_t source = clo_graph_source(graph, edge);
        for (uint32_t v = graph->first_instance[source]; v < graph->first_instance[source + 1]; v++) {
            int64_t arrival = arrival_ns(check, v, input_over(check, p->task, edge), p->executor, &nearest);
            if (arrival > p->start_ns)
                return clo_fail(CLO_ERR_INVALID, "%s: its input from %s arrives at %lld ns", label(check, p, mine),
                                label(check, nearest, theirs), (long long)arrival);
        }
    }
    assert(false); /* one of them is late */
    return CLO_OK;
}

/* In order of start, an execution must not begin before the last one on its executor has ended. */
static clo_status check_overlap(const checker *check)
{
    char mine[LABEL_BYTES], theirs[LABEL_BYTES];

    for (size_t i = 0; i < check->count; i++) {
        const clo_placement *p = &check->placements[i];
        size_t before = check->last[p->executor];
        assert(i == 0 || check->placements[i - 1].start_ns <= p->start_ns);
        if (before > 0 && check->placements[before - 1].finish_ns > p->start_ns)
            return clo_fail(CLO_ERR_INVALID, "%s overlaps %s", label(check, p, mine),
                            label(check, &check->placements[before - 1], theirs));
        check->last[p->executor] = i + 1;
    }
    return CLO_OK;
}

static clo_status check_capacity(const checker *check)
{
    clo_hold *holds = clo_allocate(check->count, sizeof *holds);
    clo_hold_fault fault;
    char text[CLO_HOLD_TEXT], whose[LABEL_BYTES];

    if (holds == NULL)
        return clo_fail_memory("the check of a plan");
    for (size_t i = 0; i < check->count; i++) {
        const clo_placement *p = &check->placements[i];
        holds[i] = (clo_hold){p->start_ns, p->finish_ns, p->task, p->executor, i};
    }
    clo_status status = clo_check_holds(check->cost, holds, check->count, &fault);
    if (status == CLO_ERR_INVALID) {
        const clo_placement *p = &check->placements[fault.index];
        clo_hold_fault_text(check->graph, &fault, text);
        status = clo_fail(status, "%s: %s at %lld ns", label(check, p, whose), text, (long long)p->start_ns);
    }
    clo_free(holds);
    return status;
}

static clo_status check_all(checker *check)
{
    clo_status status = check_ids(check);

    if (status == CLO_OK)
        status = build_index(check);
    if (status == CLO_OK)
        status = check_originals(check);
    if (status == CLO_OK)
        status = check_replicas(check);
    if (status == CLO_OK)
        status = clo_check_control_flow(check->plan, check->graph);
    for (size_t i = 0; status == CLO_OK && i < check->count; i++)
        status = check_placement(check, &check->placements[i]);
    if (status == CLO_OK)
        find_ends(check);
    for (size_t i = 0; status == CLO_OK && i < check->count; i++)
        status = check_inputs(check, &check->placements[i]);
    if (status == CLO_OK)
        status = check_overlap(check);
    if (status == CLO_OK && !check->measured && check->graph->has_demands)
        status = check_capacity(check);
    return status;
}

clo_status clo_plan_check(const clo_plan *plan, const clo_cost *cost, int mode)
{
    if (plan == NULL || cost == NULL)
        return clo_fail_null("clo_plan_check", "plan or cost");
    if (mode != CLO_CHECK_FULL && mode != CLO_CHECK_MEASURED)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_plan_check: mode is %d; use CLO_CHECK_...", mode);
    checker check = {.plan = plan,
                     .cost = cost,
                     .graph = clo_cost_graph(cost),
                     .platform = clo_cost_platform(cost),
                     .measured = mode == CLO_CHECK_MEASURED};

    check.placements = clo_plan_placements(plan, &check.count);
    clo_status status = clo_plan_matches(plan, cost) == CLO_OK ? check_all(&check) : CLO_ERR_INVALID;
    if (status == CLO_OK && !check.measured && clo_plan_interval_ns(plan) > 0)
        status = clo_plan_check_interval(plan, cost);
    clo_free(check.first);
    clo_free(check.members);
    clo_free(check.last);
    clo_free(check.ends_first);
    clo_free(check.ends);
    clo_free(check.known);
    return status;
}
