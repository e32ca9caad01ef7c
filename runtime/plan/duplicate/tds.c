/* plan/duplicate/tds.c - clusters along favourite predecessors: TDS and TDCA.
 *
 *   tds   task duplication based scheduling: Darbha, Agrawal, "Optimal Scheduling Algorithm for Distributed-Memory
 *         Machines", IEEE TPDS 9(1), 1998
 *   tdca  "TDCA-like": He et al., "A Novel Task-Duplication Based Clustering Algorithm for Heterogeneous Computing
 *         Environments", IEEE TPDS 30(1), 2019, of which the four steps are known to us, not their details
 *
 * The favourite predecessor of an instance is the producer whose data would come last: executed on the same
 * executor, it makes the earliest start. From the exit side (rising rank_u, where TDS has rising levels), each
 * instance that is in no cluster yet starts one, which goes on to the favourite, from there to its favourite, and so on
 * up to an entry. Where the favourite is in a cluster already:
 *
 *   tds   if the message between both may take its time (latest start - latest completion >= transfer) the
 *         cluster goes on with another producer that is in none, the one that ends latest, or ends; if not, the
 *         favourite is duplicated, and the cluster goes on through it
 *   tdca  it goes on with such another producer, or ends; then, when an instance is placed, the chain of
 *         critical parents above it is duplicated as far up (at most CHAIN_MAX) as makes it end first
 *
 * Both papers have an executor for each cluster; TDCA merges clusters where there are too few. Here clusters, in order
 * of falling length, each go to the executor that can run most of it, and of these to the one which has least to do
 * with it (time so far + time of the cluster). Instances are then placed in order of falling rank_u on the executors of
 * their clusters, gaps filled; one that cannot run on any of these goes where it ends first. The clean-up
 * of the end (schedule/compact.c) drops duplicates that nobody reads and closes gaps: TDCA's last step.
 *
 * Means stand for times and transfers while clusters are made. Duplicates end when the schedule is full
 * (CLO_EXECUTIONS_EACH of an instance on average). O(edges * executions + executions * executors), plus the searches
 * in the timelines. */
#include "plan/schedule/compact.h"
#include "plan/schedule/planner.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/heft/chain.h"
#include "plan/schedule/ready.h"

#include <assert.h>
#include <string.h>

enum { CHAIN_MAX = 4 };

typedef struct cluster {
    uint32_t first, count; /* its members */
    uint32_t executor;
    int64_t length_ns; /* sum of mean times */
} cluster;

/* Of the first instance of a task, and of its others. */
typedef struct last {
    int64_t first_ns, others_ns;
} last;

typedef struct tds {
    clo_schedule *schedule;
    bool is_tdca;
    uint32_t *favourite;  /* [tasks] edge from the favourite predecessor, its first instance; CLO_NONE: an entry */
    uint32_t *free_from;  /* [tasks] all instances before it are members */
    int64_t *ect_ns;      /* [tasks] earliest completion if every favourite is on the same executor */
    last *last_ns;        /* [tasks] latest completion that delays nothing */
    uint32_t *members;    /* [members_count] of [capacity] instances, cluster by cluster */
    uint8_t *is_member;   /* [instances] of some cluster */
    cluster *clusters;    /* [clusters_count] of [instances] */
    int64_t *load_ns;     /* [executors] */
    uint32_t *home_first; /* [instances + 1] where the homes of each begin */
    uint32_t *homes;      /* [members_count] executors */
    uint32_t members_count, clusters_count;
    void *block;
} tds;

static clo_status open_tds(tds *s, clo_schedule *schedule, bool is_tdca)
{
    size_t n = schedule->graph->instances, tasks = schedule->graph->tasks;
    clo_block block = {0};

    *s = (tds){.schedule = schedule, .is_tdca = is_tdca};
    clo_carve(&block, &s->favourite, tasks);
    clo_carve(&block, &s->free_from, tasks);
    clo_carve(&block, &s->ect_ns, tasks);
    clo_carve(&block, &s->last_ns, tasks);
    clo_carve(&block, &s->members, schedule->capacity);
    clo_carve(&block, &s->is_member, n);
    clo_carve(&block, &s->clusters, n);
    clo_carve(&block, &s->load_ns, schedule->executors);
    clo_carve(&block, &s->home_first, n + 2);
    clo_carve(&block, &s->homes, schedule->capacity);
    s->block = clo_block_allocate(&block);
    if (s->block == NULL)
        return clo_fail_memory("a plan");
    memcpy(s->free_from, schedule->graph->first_instance, tasks * sizeof *s->free_from);
    return CLO_OK;
}

static int64_t mean_ns(const tds *s, uint32_t instance)
{
    return s->schedule->cost->mean_ns[s->schedule->graph->task_of[instance]];
}

static int64_t transfer_ns(const tds *s, uint32_t edge)
{
    return clo_cost_mean_transfer_ns(s->schedule->cost, clo_graph_in_bytes(s->schedule->graph, edge));
}

/* favourite and ect_ns, in topological order. All producers of an edge come at the same time: the first of them is the
 * favourite, and if there are others one of these comes second. */
static void find_favourites(tds *s)
{
    const clo_graph *graph = s->schedule->graph;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t task = graph->task_order[i], best = CLO_NONE;
        int64_t latest = 0, second = 0;
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
            int64_t arrival = s->ect_ns[clo_graph_source(graph, edge)] + transfer_ns(s, edge);
            bool is_alone = clo_graph_instances_of(graph, clo_graph_source(graph, edge)) == 1;
            if (best == CLO_NONE || arrival > latest) {
                second = !is_alone ? arrival : best == CLO_NONE ? 0 : latest;
                latest = arrival;
                best = edge;
            } else if (arrival > second) {
                second = arrival;
            }
        }
        int64_t start = best == CLO_NONE ? 0 : s->ect_ns[clo_graph_source(graph, best)];
        s->favourite[task] = best;
        s->ect_ns[task] = (start > second ? start : second) + s->schedule->cost->mean_ns[task];
    }
}

static void lower_to(int64_t *to, int64_t value)
{
    *to = value < *to ? value : *to;
}

/* last_ns, in reverse: an exit may end no later than it can. Only the first instance of a favourite is one. */
static void find_last(tds *s)
{
    const clo_graph *graph = s->schedule->graph;

    for (uint32_t t = 0; t < graph->tasks; t++)
        s->last_ns[t] = (last){INT64_MAX, INT64_MAX};
    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t task = graph->task_order[i];
        last *mine = &s->last_ns[task];
        if (graph->out_first[task] == graph->out_first[task + 1])
            *mine = (last){s->ect_ns[task], s->ect_ns[task]};
        int64_t least = clo_graph_instances_of(graph, task) > 1 && mine->others_ns < mine->first_ns ? mine->others_ns
                                                                                                    : mine->first_ns;
        int64_t start = least - s->schedule->cost->mean_ns[task];
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
            last *above = &s->last_ns[clo_graph_source(graph, edge)];
            lower_to(&above->others_ns, start - transfer_ns(s, edge));
            lower_to(&above->first_ns, edge == s->favourite[task] ? start : start - transfer_ns(s, edge));
        }
    }
}

static int64_t last_ns(const tds *s, uint32_t instance)
{
    const clo_graph *graph = s->schedule->graph;
    const last *both = &s->last_ns[graph->task_of[instance]];

    return graph->first_instance[graph->task_of[instance]] == instance ? both->first_ns : both->others_ns;
}

/* The first instance of the task that is in no cluster; CLO_NONE: all are. Clusters never lose a member, so the search
 * goes on where the last one ended. */
static uint32_t first_free(tds *s, uint32_t task)
{
    uint32_t end = s->schedule->graph->first_instance[task + 1], *at = &s->free_from[task];

    while (*at < end && s->is_member[*at])
        (*at)++;
    return *at < end ? *at : CLO_NONE;
}

/* The producer that is in no cluster and whose data would come last; CLO_NONE: all are. */
static uint32_t find_other(tds *s, uint32_t task)
{
    const clo_graph *graph = s->schedule->graph;
    uint32_t best = CLO_NONE;
    int64_t latest = -1;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        int64_t arrival = s->ect_ns[clo_graph_source(graph, edge)] + transfer_ns(s, edge);
        uint32_t producer = arrival > latest ? first_free(s, clo_graph_source(graph, edge)) : CLO_NONE;
        if (producer == CLO_NONE)
            continue;
        latest = arrival;
        best = producer;
    }
    return best;
}

/* With what the cluster goes on above `instance`; CLO_NONE: it ends. */
static uint32_t find_next(tds *s, uint32_t instance, uint32_t missing)
{
    const clo_graph *graph = s->schedule->graph;
    uint32_t task = graph->task_of[instance], edge = s->favourite[task];
    if (edge == CLO_NONE)
        return CLO_NONE;

    uint32_t favourite = graph->first_instance[clo_graph_source(graph, edge)];
    if (!s->is_member[favourite])
        return favourite;
    int64_t slack = last_ns(s, instance) - mean_ns(s, instance) - last_ns(s, favourite);
    if (s->is_tdca || slack >= transfer_ns(s, edge))
        return find_other(s, task);
    bool has_room = s->members_count + missing < s->schedule->capacity;
    bool may_duplicate = s->schedule->may_duplicate && graph->rows[clo_graph_source(graph, edge)].duplicable;
    return has_room && may_duplicate ? favourite : CLO_NONE;
}

static void make_clusters(tds *s)
{
    const clo_schedule *schedule = s->schedule;
    uint32_t missing = schedule->graph->instances; /* that are in no cluster: each will need a place */

    for (uint32_t i = schedule->graph->instances; i-- > 0;) {
        uint32_t at = schedule->order[i];
        if (s->is_member[at])
            continue;
        cluster *c = &s->clusters[s->clusters_count++];
        *c = (cluster){.first = s->members_count};
        for (; at != CLO_NONE; at = find_next(s, at, missing)) { /* ends: each step goes up one edge */
            assert(s->members_count < schedule->capacity);
            s->members[s->members_count++] = at;
            missing -= !s->is_member[at];
            s->is_member[at] = 1;
            c->count++;
            c->length_ns += mean_ns(s, at);
        }
    }
}

static int by_falling_length(const void *left, const void *right)
{
    const cluster *a = left, *b = right;

    if (a->length_ns != b->length_ns)
        return a->length_ns > b->length_ns ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* The executor of a cluster. Loads saturate: with duplicates they may pass the sums that clo_cost_create has
 * checked. */
static void find_executor(tds *s, cluster *c)
{
    uint32_t most = 0;
    int64_t least = INT64_MAX;

    for (uint32_t e = 0; e < s->schedule->executors; e++) {
        uint32_t count = 0;
        int64_t time = s->load_ns[e];
        for (uint32_t m = c->first; m < c->first + c->count; m++) {
            int64_t each = clo_cost_time(s->schedule->cost, s->schedule->graph->task_of[s->members[m]], e);
            if (each == CLO_TIME_NEVER)
                continue;
            count++;
            time = time > INT64_MAX / 2 ? time : time + each;
        }
        if (count > most || (count == most && time < least)) {
            c->executor = e;
            most = count;
            least = time;
        }
    }
    s->load_ns[c->executor] = least;
}

/* homes of each instance, in the order of clusters. */
static void find_homes(tds *s)
{
    uint32_t *first = s->home_first + 1; /* shifted by one while it is filled: first[i] moves from begin to end */

    clo_sort(s->clusters, s->clusters_count, sizeof *s->clusters, by_falling_length);
    for (uint32_t c = 0; c < s->clusters_count; c++)
        find_executor(s, &s->clusters[c]);
    for (uint32_t m = 0; m < s->members_count; m++)
        first[s->members[m] + 1]++;
    for (uint32_t i = 0; i < s->schedule->graph->instances; i++)
        first[i + 1] += first[i];
    for (uint32_t c = 0; c < s->clusters_count; c++)
        for (uint32_t m = 0; m < s->clusters[c].count; m++)
            s->homes[first[s->members[s->clusters[c].first + m]]++] = s->clusters[c].executor;
}

/* The trial with the `depth` critical parents above the instance (parents[0] its own) duplicated; finish_ns INT64_MAX:
 * of no use. */
static clo_chain try_chain(const clo_schedule *schedule, const clo_chain *plain, const uint32_t *parents,
                           uint32_t depth)
{
    uint32_t e = plain->executor;
    clo_chain found = {.executor = e, .instance = plain->instance, .count = depth, .finish_ns = INT64_MAX};
    int64_t before = 0; /* end of the duplicate before */

    for (uint32_t k = depth; k-- > 0;) {
        uint32_t task = schedule->graph->task_of[parents[k]], at = depth - 1 - k;
        clo_inputs in = clo_schedule_inputs(schedule, parents[k], e);
        int64_t duration = clo_cost_time(schedule->cost, task, e), ready = at == 0 ? in.latest_ns : in.second_ns;
        found.duplicates[at] = parents[k];
        found.starts_ns[at] = clo_schedule_slot_ns(schedule, task, e, ready > before ? ready : before, duration);
        before = found.starts_ns[at] + duration;
    }
    clo_inputs in = clo_schedule_inputs(schedule, plain->instance, e);
    uint32_t task = schedule->graph->task_of[plain->instance];
    int64_t duration = clo_cost_time(schedule->cost, task, e);
    if (before >= in.latest_ns)
        return found;
    found.start_ns = clo_schedule_slot_ns(schedule, task, e, in.second_ns > before ? in.second_ns : before, duration);
    found.finish_ns = found.start_ns + duration;
    return found;
}

/* The best trial on `executor`, with up to `room` duplicates. */
static clo_chain find_chain(const clo_schedule *schedule, uint32_t instance, uint32_t executor, uint32_t room)
{
    uint32_t parents[CHAIN_MAX], task = schedule->graph->task_of[instance], at = instance;
    int64_t duration = clo_cost_time(schedule->cost, task, executor);
    clo_chain best = {.executor = executor, .instance = instance};

    best.start_ns =
        clo_schedule_slot_ns(schedule, task, executor, clo_schedule_inputs_ns(schedule, instance, executor), duration);
    best.finish_ns = best.start_ns + duration;
    for (uint32_t depth = 1; depth <= CHAIN_MAX && depth <= room; depth++) {
        uint32_t producer = clo_schedule_inputs(schedule, at, executor).producer;
        if (producer == CLO_NONE || !clo_schedule_may_duplicate(schedule, producer, executor))
            break;
        at = parents[depth - 1] = producer;
        clo_chain found = try_chain(schedule, &best, parents, depth);
        if (found.finish_ns < best.finish_ns)
            best = found;
    }
    return best;
}

/* Places an instance on the executors of its clusters, or where it ends first. */
static clo_status place(tds *s, clo_ready *ready, uint32_t instance, uint32_t unplaced)
{
    clo_schedule *schedule = s->schedule;
    uint32_t task = schedule->graph->task_of[instance];
    clo_status status = CLO_OK;

    for (uint32_t h = s->home_first[instance]; status == CLO_OK && h < s->home_first[instance + 1]; h++) {
        uint32_t e = s->homes[h];
        bool is_placed = schedule->first_execution[instance] != CLO_NONE;
        if (clo_cost_time(schedule->cost, task, e) == CLO_TIME_NEVER ||
            clo_schedule_has_execution(schedule, instance, e) ||
            (is_placed && clo_schedule_room(schedule, unplaced - 1) == 0))
            continue;
        uint32_t room = s->is_tdca ? clo_schedule_room(schedule, unplaced) : 0;
        clo_chain chain = find_chain(schedule, instance, e, room);
        if (is_placed && chain.finish_ns > INT64_MAX / 2)
            continue; /* leaves the other half to originals, whose sum fits it (schedule/schedule.h) */
        status = clo_chain_place(&chain, schedule);
    }
    if (status != CLO_OK || schedule->first_execution[instance] != CLO_NONE)
        return status;
    clo_slot slot = clo_ready_earliest(ready, instance, true);
    return clo_schedule_place(schedule, instance, slot.executor, slot.start_ns);
}

static clo_status fill(clo_schedule *schedule, bool is_tdca)
{
    uint32_t instances = schedule->graph->instances;
    tds s = {.block = NULL};
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    if (status != CLO_OK)
        return status;

    status = open_tds(&s, schedule, is_tdca);
    if (status == CLO_OK)
        status = clo_schedule_order(schedule);
    if (status == CLO_OK) {
        find_favourites(&s);
        find_last(&s);
        make_clusters(&s);
        find_homes(&s);
    }
    for (uint32_t i = 0; status == CLO_OK && i < instances; i++)
        status = place(&s, &ready, schedule->order[i], instances - i);
    clo_free(s.block);
    clo_ready_close(&ready);
    return status == CLO_OK ? clo_schedule_compact(schedule) : status;
}

static clo_status tds_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, false);
}

static clo_status tdca_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, true);
}

const clo_planner clo_planner_tds = {
    .name = "tds",
    .summary = "clusters along favourite predecessors, which are duplicated (Darbha, Agrawal 1998)",
    .size = sizeof(clo_planner),
    .executions_each = CLO_EXECUTIONS_EACH,
    .fill = tds_fill,
};

const clo_planner clo_planner_tdca = {
    .name = "tdca",
    .summary = "clusters, then chains of duplicates where they help (TDCA-like; He 2019)",
    .size = sizeof(clo_planner),
    .executions_each = CLO_EXECUTIONS_EACH,
    .fill = tdca_fill,
};
