/* bound.c - lower bounds on the makespan of any valid plan, with or without replicas. Transfers count only where
 * replicas cannot avoid them (joins.c).
 *
 * Why they hold. head(t) is the longest chain of spans before t, tail(t) the same after t (joins.c and window.c raise
 * both), M the makespan.
 * (1) No execution of t starts before head(t): its inputs come from executions of all instances of its predecessors,
 *     and these take span in all (stages.c); by induction.
 * (2) Some execution of t, hence the one that finishes first, ends by M - tail(t): an exit's by M; else all
 *     instances of each successor s have an execution that ends by M - tail(s), so the first of them started by
 *     M - tail(s) - span(s), when its input from t was ready.
 * (3) So for a set A of tasks with head >= a and tail >= b, the first-finishing executions of A all lie inside
 *     [a, M - b]. Any bound on how long the platform needs for the work of A alone fits into this window:
 *     M >= a + area(A) + b, with area as in area.c, or with the use of a resource over its capacity.
 *     A shrinks and a + b grows with a and b: the cuts are the pairs (a, b). For A = all tasks it is the plain
 *     area bound; with a + b near M it is the critical path.
 *
 * NewLB of Graphene is the other part of the combined bound: stages.c.
 *
 * All sums are integers in Q<shift> and round down; only a whole bound is rounded up, as makespans are whole. */
#include "cost/bound/area.h"
#include "cost/bound/energy.h"
#include "cost/bound/joins.h"
#include "cost/bound/stages.h"
#include "cost/bound/window.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define THRESHOLDS_MAX 64
#define SWEEP_VISITS (1u << 22) /* bounds thresholds * tasks for one measure */
#define WINDOW_TASKS_MAX 1024   /* up to so many the square of them is worth while */
#define ENERGY_TASKS_MAX 4096   /* beyond it a sample of intervals says nothing */
#define MEASURES (CLO_RESOURCES_MAX + 1)
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* The cuts of one call. */
struct cuts {
    clo_bound_item *by_head, *by_tail, *by_latest; /* [tasks] largest first; by_latest: rest */
    uint64_t visits;                               /* thresholds * tasks for a sweep */
    clo_bound_orders orders;
};

/* Fills head and tail with the longest chains of lengths[tasks]; returns the longest of all. */
static int64_t fill_chains(clo_bound_work *work, const int64_t *lengths)
{
    const clo_graph *graph = work->cost->graph;
    int64_t longest = 0, *head = work->head, *tail = work->tail;

    memset(head, 0, graph->tasks * sizeof *head);
    memset(tail, 0, graph->tasks * sizeof *tail);
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i];
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            if (head[t] + lengths[t] > head[u])
                head[u] = head[t] + lengths[t];
        }
    }
    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t u = graph->task_order[i];
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            if (tail[u] + lengths[u] > tail[t])
                tail[t] = tail[u] + lengths[u];
        }
    }
    for (uint32_t t = 0; t < graph->tasks; t++) {
        int64_t chain = head[t] + lengths[t] + tail[t];
        longest = chain > longest ? chain : longest;
    }
    return longest;
}

/* Sorts tasks by key, largest first, equal keys by id. Radix, least digit first, so it is stable; digits that are equal
 * everywhere are skipped. `spare` is as long as `items`; returns whichever of both holds the result. */
static clo_bound_item *sort_by(const int64_t *keys, uint32_t tasks, clo_bound_item *items, clo_bound_item *spare)
{
    uint32_t count[DIGITS];

    for (uint32_t t = 0; t < tasks; t++)
        items[t] = (clo_bound_item){(uint64_t)INT64_MAX - (uint64_t)keys[t], t};
    for (uint32_t bit = 0; bit < 63; bit += DIGIT_BITS) {
        uint32_t next = 0;
        memset(count, 0, sizeof count);
        for (uint32_t i = 0; i < tasks; i++)
            count[items[i].key >> bit & (DIGITS - 1)]++;
        if (count[items[0].key >> bit & (DIGITS - 1)] == tasks)
            continue;
        for (uint32_t d = 0; d < DIGITS; d++) {
            uint32_t here = count[d];
            count[d] = next;
            next += here;
        }
        for (uint32_t i = 0; i < tasks; i++)
            spare[count[items[i].key >> bit & (DIGITS - 1)]++] = items[i];
        clo_bound_item *sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

/* by_head, by_tail and by_latest have a spare half each. */
static void sort_tasks(clo_bound_work *work, struct cuts *cuts)
{
    uint32_t tasks = work->cost->graph->tasks;

    for (uint32_t t = 0; t < tasks; t++)
        work->rest[t] = work->fastest[t] + work->tail[t];
    cuts->by_head = sort_by(work->head, tasks, cuts->by_head, cuts->by_head + tasks);
    cuts->by_tail = sort_by(work->tail, tasks, cuts->by_tail, cuts->by_tail + tasks);
    cuts->by_latest = sort_by(work->rest, tasks, cuts->by_latest, cuts->by_latest + tasks);
    cuts->orders.by_latest = cuts->by_latest;
    cuts->orders.by_head = cuts->by_head;
}

/* Adds up the tasks in `order` (largest key first) whose other key is at least `other_min`; each prefix is a set A. */
static int64_t sweep(const clo_bound_work *work, const clo_bound_item *order, const int64_t *keys,
                     const int64_t *others, int64_t other_min)
{
    int64_t best = 0;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < work->cost->graph->tasks; i++) {
        uint32_t t = order[i].task;
        if (others[t] < other_min || work->weight[t] == 0)
            continue;
        sum += work->weight[t];
        int64_t bound = keys[t] + other_min + clo_bound_round_up(work, sum);
        best = bound > best ? bound : best;
    }
    return best;
}

/* The best cut for the weights as they are: every threshold on one side with a sample of thresholds on the other. */
static int64_t best_cut(const clo_bound_work *work, const struct cuts *cuts)
{
    uint32_t tasks = work->cost->graph->tasks;
    uint64_t thresholds = cuts->visits / tasks;
    int64_t best = 0, last_head = -1, last_tail = -1;

    thresholds = thresholds < 1 ? 1 : thresholds > THRESHOLDS_MAX ? THRESHOLDS_MAX : thresholds;
    thresholds = thresholds > tasks ? tasks : thresholds;
    for (uint64_t k = 0; k < thresholds; k++) {
        /* from the smallest threshold (all tasks) up */
        uint64_t at = tasks - 1 - k * tasks / thresholds;
        int64_t head_min = work->head[cuts->by_head[at].task], tail_min = work->tail[cuts->by_tail[at].task];
        int64_t by_tail = head_min == last_head ? 0 : sweep(work, cuts->by_tail, work->tail, work->head, head_min);
        int64_t by_head = tail_min == last_tail ? 0 : sweep(work, cuts->by_head, work->head, work->tail, tail_min);
        best = by_tail > best ? by_tail : best;
        best = by_head > best ? by_head : best;
        last_head = head_min;
        last_tail = tail_min;
    }
    return best;
}

/* True if a task with a demand is limited wherever it can run. The machines of a column are alike (cost.h);
 * placement sets are not in the columns. */
static bool is_limited(const clo_cost *cost, uint32_t task, uint32_t resource)
{
    bool has_set = clo_graph_placement(cost->graph, task) != CLO_NONE;
    uint32_t count = has_set ? cost->platform->executors_count : cost->columns;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t e = has_set ? i : cost->column_first[i];
        if (clo_cost_time(cost, task, e) != CLO_TIME_NEVER &&
            clo_cost_capacity(cost, cost->platform->executors[e].machine, resource) < 0)
            return false;
    }
    return true;
}

/* What an instance of each task holds of a measure: work->use; 0 where it may run unlimited. Measure 0: executors;
 * beyond: resource measure - 1. Returns what all machines have together; 0 if nothing is limited. */
static clo_u128 fill_use(clo_bound_work *work, uint32_t measure)
{
    const clo_cost *cost = work->cost;
    clo_u128 capacity = 0;
    uint32_t resource = measure - 1;

    for (uint32_t t = 0; measure == 0 && t < cost->graph->tasks; t++)
        work->use[t] = 1;
    if (measure == 0 || !cost->graph->has_demands)
        return measure == 0 ? cost->platform->executors_count : 0;
    for (uint32_t m = 0; m < cost->platform->machines_count; m++) {
        int64_t here = clo_cost_capacity(cost, m, resource);
        if (here > 0)
            capacity += (uint64_t)here;
    }
    for (uint32_t t = 0; t < cost->graph->tasks; t++) {
        int64_t demand = clo_graph_demand(cost->graph, t)[resource];
        bool limited = demand > 0 && capacity > 0 && is_limited(cost, t, resource);
        work->use[t] = limited ? (uint64_t)demand : 0;
    }
    return capacity;
}

/* Weights for work->use: use * time over the capacity. Returns the sum, 0 if nothing is limited. */
static uint64_t price_use(clo_bound_work *work, clo_u128 capacity)
{
    uint64_t sum = 0;

    for (uint32_t t = 0; t < work->cost->graph->tasks && capacity > 0; t++) {
        clo_u128 use = (clo_u128)work->use[t] * (uint64_t)work->fastest[t];
        work->weight[t] = 0;
        if (use == 0)
            continue;
        use = use >> (127 - work->shift) != 0 ? use / capacity << work->shift : (use << work->shift) / capacity;
        work->weight[t] = (uint64_t)use * work->cost->graph->rows[t].instances;
        sum += work->weight[t];
    }
    return sum;
}

/* What the weights as they are give: cuts now, stages in the end. */
static void take_weights(clo_bound_work *work, const struct cuts *cuts, clo_bound_stages *stages, clo_bound *out)
{
    clo_bound_raise(&out->combined_ns, best_cut(work, cuts));
    clo_bound_take_stages(work, stages);
}

/* The longest path through a task. */
static int64_t longest_path(const clo_bound_work *work)
{
    int64_t longest = 0;

    for (uint32_t t = 0; t < work->cost->graph->tasks; t++)
        clo_bound_raise(&longest, work->head[t] + work->span[t] + work->tail[t]);
    return longest;
}

/* Heads and tails, for each measure in turn. */
static void tighten(clo_bound_work *work, clo_bound_sets *sets)
{
    for (uint32_t measure = 0; measure < MEASURES; measure++) {
        clo_u128 capacity = fill_use(work, measure);
        sets->capacity = (uint64_t)capacity;
        if (capacity > 0 && capacity <= INT64_MAX)
            clo_bound_tighten(work, sets);
    }
}

/* As far as energy refutes. */
static int64_t raise_by_energy(clo_bound_work *work, const struct cuts *cuts, int64_t grid_ns, int64_t best_ns)
{
    for (uint32_t measure = 0; measure < MEASURES; measure++) {
        clo_u128 capacity = fill_use(work, measure);
        if (capacity > 0 && capacity <= INT64_MAX)
            best_ns = clo_bound_energy(work, &cuts->orders, (uint64_t)capacity, grid_ns, best_ns);
    }
    return best_ns;
}

static void fill_bound(clo_bound_work *work, struct cuts *cuts, clo_bound_stages *stages, clo_bound_sets *sets,
                       clo_bound_input *inputs, clo_bound *out)
{
    uint32_t tasks = work->cost->graph->tasks;

    out->critical_path_ns = fill_chains(work, work->fastest);
    (void)fill_chains(work, work->span);
    if (inputs != NULL)
        clo_bound_join(work, inputs);
    if (sets->words > 0)
        tighten(work, sets);
    out->combined_ns = longest_path(work);
    sort_tasks(work, cuts);

    (void)clo_bound_best_prices(work);
    out->area_ns = clo_bound_round_up(work, clo_bound_price(work, &work->best));
    take_weights(work, cuts, stages, out);
    clo_bound_equal_prices(work, &work->trial); /* the tail of a graph may be spread otherwise than the whole */
    (void)clo_bound_price(work, &work->trial);
    take_weights(work, cuts, stages, out);
    for (uint32_t measure = 1; measure < MEASURES; measure++) {
        uint64_t sum = price_use(work, fill_use(work, measure));
        if (sum == 0)
            continue;
        clo_bound_raise(&out->resource_ns, clo_bound_round_up(work, sum));
        take_weights(work, cuts, stages, out);
    }
    clo_bound_raise(&out->combined_ns, clo_bound_of_stages(work, stages));
    clo_bound_raise(&out->combined_ns, out->critical_path_ns);
    clo_bound_raise(&out->combined_ns, out->area_ns);
    clo_bound_raise(&out->combined_ns, out->resource_ns);
    out->combined_ns += (sets->grid_ns - out->combined_ns % sets->grid_ns) % sets->grid_ns;
    if (tasks <= ENERGY_TASKS_MAX && out->combined_ns < INT64_MAX / 4)
        out->combined_ns = raise_by_energy(work, cuts, sets->grid_ns, out->combined_ns);
    out->best_ns = out->combined_ns;
}

/* The total of all fastest times fits 2^61 (cost/create.c); the scale uses the bits above it, so that sums fit 62. */
static void fill_fastest(clo_bound_work *work)
{
    const clo_graph *graph = work->cost->graph;
    uint64_t total = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        work->fastest[t] = clo_cost_fastest(work->cost, t);
        total += (uint64_t)work->fastest[t] * graph->rows[t].instances;
    }
    for (uint32_t t = 0; t < graph->tasks; t++)
        work->span[t] = clo_bound_span(work, t);
    while (work->shift < 20 && total >> (61 - work->shift) == 0)
        work->shift++;
}

static void carve_work(clo_block *block, clo_bound_work *work, size_t tasks)
{
    size_t executors = work->cost->platform->executors_count, columns = work->cost->columns;

    clo_carve(block, &work->fastest, tasks);
    clo_carve(block, &work->span, tasks);
    clo_carve(block, &work->head, tasks);
    clo_carve(block, &work->tail, tasks);
    clo_carve(block, &work->rest, tasks);
    clo_carve(block, &work->weight, tasks);
    clo_carve(block, &work->use, tasks);
    clo_carve(block, &work->best.of_executor, executors);
    clo_carve(block, &work->trial.of_executor, executors);
    clo_carve(block, &work->best.of_column, columns);
    clo_carve(block, &work->trial.of_column, columns);
    clo_carve(block, &work->load, columns);
}

static void carve_stages(clo_block *block, clo_bound_stages *stages, size_t tasks)
{
    clo_carve(block, &stages->stage_ns, tasks);
    clo_carve(block, &stages->part_ns, tasks);
    clo_carve(block, &stages->area, tasks);
    clo_carve(block, &stages->chain_ns, tasks);
    clo_carve(block, &stages->part_of, tasks);
    clo_carve(block, &stages->depth, tasks);
    clo_carve(block, &stages->next_depth, tasks);
}

static clo_status compute(const clo_cost *cost, clo_bound *out)
{
    size_t tasks = cost->graph->tasks;
    bool has_transfers = clo_cost_has_transfers(cost);
    int64_t *ends_ns;
    clo_bound_input *inputs;
    clo_bound bound = CLO_BOUND_INIT;
    clo_bound_work work = {.cost = cost};
    struct cuts cuts = {.visits = SWEEP_VISITS};
    clo_bound_stages stages = {0};
    clo_bound_sets sets = {.grid_ns = clo_cost_grid_ns(cost)};
    clo_block block = {0};

    sets.words = tasks <= WINDOW_TASKS_MAX ? (uint32_t)(tasks + 63) / 64 : 0;
    carve_work(&block, &work, tasks);
    carve_stages(&block, &stages, tasks);
    clo_carve(&block, &cuts.by_head, 2 * tasks);
    clo_carve(&block, &cuts.by_tail, 2 * tasks);
    clo_carve(&block, &cuts.by_latest, 2 * tasks);
    clo_carve(&block, &cuts.orders.ramps, 2 * tasks);
    clo_carve(&block, &sets.list, tasks);
    clo_carve(&block, &sets.before, tasks * sets.words);
    clo_carve(&block, &ends_ns, tasks + 2);
    clo_carve(&block, &inputs, has_transfers ? clo_bound_inputs_max(cost->graph) : 0);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a lower bound");

    fill_fastest(&work);
    clo_bound_cut(cost->graph, &stages, ends_ns);
    fill_bound(&work, &cuts, &stages, &sets, has_transfers ? inputs : NULL, &bound);
    clo_free(memory);
    *out = bound;
    return CLO_OK;
}

/* Threads that ask at once wait for the one that computes. After a failure the next one tries again. */
clo_status clo_cost_bound(const clo_cost *cost, clo_bound *out)
{
    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_cost_bound", "cost or out");
    if (clo_result_check(out, CLO_BYTES_UP_TO(clo_bound, best_ns), "clo_bound") != CLO_OK)
        return CLO_ERR_ARGUMENT;
    clo_bound_kept *kept = cost->bound;
    clo_status status = CLO_OK;

    pthread_mutex_lock(&kept->lock);
    if (!kept->is_known)
        status = compute(cost, &kept->bound);
    kept->is_known = status == CLO_OK;
    if (status == CLO_OK)
        clo_result_write(out, &kept->bound, sizeof kept->bound);
    pthread_mutex_unlock(&kept->lock);
    return status;
}
