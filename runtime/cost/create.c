/* create.c - times of every task on every column of executors, and mean transfer times.
 *
 * Invariant: after create every task has an executor, and every sum that a planner can form (all longest times in a
 * row, plus the slowest transfer between each pair of instances) fits an int64_t, so planners add without checks. Means
 * are rounded to the nearest ns: the mean over executors of the times (Topcuoglu 2002, eq. 1), the mean over ordered
 * pairs of distinct executors of latency and of ns per byte (eq. 2); a pair that shares a memory counts with zero. */
#include "cost/cost.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "cost/columns.h"

#include <string.h>

#define SUM_MAX ((clo_u128)INT64_MAX / 2) /* leaves room for a rank: times plus transfers */

/* Named resources match by name; an unnamed one of either side by index, unless that one is taken. */
static void match_resources(struct clo_cost *cost)
{
    const clo_graph *graph = cost->graph;
    const clo_platform *platform = cost->platform;
    bool taken[CLO_RESOURCES_MAX] = {false};

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        cost->resource_of[r] = CLO_NONE;
        for (uint32_t p = 0; p < CLO_RESOURCES_MAX && graph->resource_names[r] != NULL; p++)
            if (platform->resource_names[p] != NULL && !taken[p] &&
                strcmp(graph->resource_names[r], platform->resource_names[p]) == 0) {
                cost->resource_of[r] = p;
                taken[p] = true;
                break;
            }
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        bool unnamed = graph->resource_names[r] == NULL || platform->resource_names[r] == NULL;
        if (cost->resource_of[r] == CLO_NONE && unnamed && !taken[r] &&
            !clo_is_memory_rate(platform->resource_names[r]))
            cost->resource_of[r] = r;
    }
}

/* work * 65536 / speed to the nearest ns, at least 1 where there is work. */
static int64_t scale_work(int64_t work_ns, uint32_t speed_q16)
{
    if (speed_q16 == CLO_SPEED_ONE || work_ns == 0)
        return work_ns;
    if (work_ns < INT64_MAX >> 18) {
        uint64_t ns = (((uint64_t)work_ns << 16) + speed_q16 / 2) / speed_q16;
        return ns > 0 ? (int64_t)ns : 1;
    }
    clo_u128 ns = (((clo_u128)work_ns << 16) + speed_q16 / 2) / speed_q16;
    return ns < (clo_u128)INT64_MAX - 1 ? (int64_t)ns : INT64_MAX - 1; /* refused by check_sums */
}

/* What holds a share of a machine holds it for a while, if a short one: an execution of no length would hold it at no
 * moment that a planner or the checker could count, and wait for it in a run all the same. */
static int64_t lasts(bool has_demand, int64_t time_ns)
{
    return has_demand && time_ns == 0 ? 1 : time_ns;
}

static bool demand_fits(const struct clo_cost *cost, uint32_t task, uint32_t machine)
{
    const int64_t *demand = clo_graph_demand(cost->graph, task);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = demand[r] > 0 ? clo_cost_capacity(cost, machine, r) : -1;
        if (capacity >= 0 && demand[r] > capacity)
            return false;
    }
    return true;
}

/* A kind that the task has a time for; CLO_NONE: it has none. */
static uint32_t timed_kind(const clo_graph *graph, uint32_t task)
{
    for (uint32_t s = clo_graph_special_first(graph, task); s != CLO_NONE; s = graph->specials[s].next)
        if (graph->specials[s].time_ns >= 0 && graph->specials[s].time_ns != CLO_TIME_NEVER)
            return graph->specials[s].kind;
    return CLO_NONE;
}

/* kind: the graph's number of the executor's kind, CLO_NONE if the graph does not name it. */
static int64_t time_on(const struct clo_cost *cost, const clo_cost_times *times, uint32_t task,
                       const clo_executor *executor, uint32_t kind)
{
    const clo_graph_task_row *row = &cost->graph->rows[task];
    uint32_t class = row->task_class < CLO_CLASSES_BUILTIN ? row->task_class : CLO_CLASS_GENERIC;
    const clo_graph_special *special =
        clo_graph_special_first(cost->graph, task) != CLO_NONE ? clo_graph_special_find(cost->graph, task, kind) : NULL;
    bool has_demand = clo_graph_has_demand(cost->graph, task);

    if (row->body == NULL && row->has_kind_body && (special == NULL || special->body == NULL))
        return CLO_TIME_NEVER;
    if (has_demand && !demand_fits(cost, task, executor->machine))
        return CLO_TIME_NEVER;
    if (special != NULL && special->time_ns == CLO_TIME_NEVER)
        return CLO_TIME_NEVER;
    int64_t other_ns = times != NULL ? times->time_ns(times->of, task, executor->kind) : -1;
    if (other_ns >= 0)
        return lasts(has_demand, other_ns);
    if (special != NULL && special->time_ns >= 0)
        return lasts(has_demand, special->time_ns);
    if (row->work_ns == 0 && timed_kind(cost->graph, task) != CLO_NONE) /* what it takes here, nobody has said */
        return CLO_TIME_NEVER;
    return lasts(has_demand, scale_work(row->work_ns, executor->speed_q16[class]));
}

static void fill_times(struct clo_cost *cost, const clo_cost_times *times)
{
    const clo_graph *graph = cost->graph;
    const clo_platform *platform = cost->platform;

    for (uint32_t c = 0; c < cost->columns; c++) {
        const clo_executor *executor = &platform->executors[cost->column_first[c]];
        uint32_t kind = CLO_NONE;
        for (uint32_t k = 0; k < graph->kinds; k++)
            if (strcmp(graph->kind_names[k], platform->kind_names[executor->kind]) == 0)
                kind = k;
        for (uint32_t t = 0; t < graph->tasks; t++)
            cost->time_ns[(size_t)t * cost->columns + c] = time_on(cost, times, t, executor, kind);
    }
}

static bool is_matched(const struct clo_cost *cost, const char *kind)
{
    const clo_platform *platform = cost->platform;

    for (uint32_t c = 0; c < cost->columns; c++) /* equal executors are of one kind */
        if (strcmp(kind, platform->kind_names[platform->executors[cost->column_first[c]].kind]) == 0)
            return true;
    return false;
}

const char *clo_cost_unmatched_kind(const clo_cost *cost, uint32_t index)
{
    for (uint32_t k = 0; cost != NULL && k < cost->graph->kinds; k++)
        if (!is_matched(cost, cost->graph->kind_names[k]) && index-- == 0)
            return cost->graph->kind_names[k];
    return NULL;
}

static clo_status fail_platform(const struct clo_cost *cost, uint32_t task)
{
    const clo_graph *graph = cost->graph;
    const int64_t *demand = clo_graph_demand(graph, task);
    const clo_platform *platform = cost->platform;
    uint32_t executors = platform->executors_count, placement = clo_graph_placement(graph, task);
    char scratch[16];
    const char *name = clo_graph_task_name(graph, task, scratch);

    if (placement != CLO_NONE && clo_placement_next(&graph->sets, placement, 0) >= executors)
        return clo_fail(CLO_ERR_PLATFORM,
                        "task \"%.60s\" (%u): it may only run on executors from %u on, \"%.60s\" has 0 .. %u; name "
                        "executors that are there",
                        name, task, clo_placement_next(&graph->sets, placement, 0), platform->name, executors - 1);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t largest = 0;
        for (uint32_t m = 0; m < platform->machines_count && largest >= 0; m++) {
            int64_t capacity = clo_cost_capacity(cost, m, r);
            largest = capacity < 0 ? -1 : capacity > largest ? capacity : largest;
        }
        if (largest >= 0 && demand[r] > largest)
            return clo_fail(CLO_ERR_PLATFORM,
                            "task \"%.60s\" (%u): it needs %lld of resource %u, no machine of \"%.60s\" has "
                            "more than %lld",
                            name, task, (long long)demand[r], r, platform->name, (long long)largest);
    }
    uint32_t kind = timed_kind(graph, task);
    if (kind != CLO_NONE && graph->rows[task].work_ns == 0)
        return clo_fail(
            CLO_ERR_PLATFORM,
            "task \"%.60s\" (%u): no executor of \"%.60s\" can run it: it has a time for kind \"%.40s\" and "
            "no work; give it work, or a time for a kind of the platform where it can run",
            name, task, platform->name, graph->kind_names[kind]);
    return clo_fail(CLO_ERR_PLATFORM,
                    "task \"%.60s\" (%u): no executor of \"%.60s\" can run it: give it a body or a time for "
                    "one of its kinds, a wider set of executors or a smaller demand",
                    name, task, platform->name);
}

/* Sum and number of the times on all executors that can run the task. */
static uint32_t sum_times(const struct clo_cost *cost, uint32_t task, clo_u128 *sum)
{
    const int64_t *row = &cost->time_ns[(size_t)task * cost->columns];
    uint32_t placement = clo_graph_placement(cost->graph, task), count = 0;

    *sum = 0;
    for (uint32_t c = 0; placement == CLO_NONE && c < cost->columns; c++)
        if (row[c] != CLO_TIME_NEVER) {
            *sum += (clo_u128)row[c] * cost->column_size[c];
            count += cost->column_size[c];
        }
    for (uint32_t e = clo_cost_next_allowed(cost, placement, 0); e != CLO_NONE;
         e = clo_cost_next_allowed(cost, placement, e + 1))
        if (row[cost->column_of[e]] != CLO_TIME_NEVER) {
            *sum += (uint64_t)row[cost->column_of[e]];
            count++;
        }
    return count;
}

static clo_status fill_means(struct clo_cost *cost)
{
    for (uint32_t t = 0; t < cost->graph->tasks; t++) {
        clo_u128 sum;
        if (cost->columns == 1 && cost->time_ns[t] != CLO_TIME_NEVER &&
            clo_graph_placement(cost->graph, t) == CLO_NONE) {
            cost->mean_ns[t] = cost->time_ns[t]; /* of equal times */
            continue;
        }
        uint32_t count = sum_times(cost, t, &sum);
        if (count == 0)
            return fail_platform(cost, t);
        cost->is_restricted |= count < cost->platform->executors_count;
        sum += count / 2;
        if (sum >> 64 == 0)
            cost->mean_ns[t] = (int64_t)((uint64_t)sum / count);
        else
            cost->mean_ns[t] = (int64_t)(sum / count);
    }
    return CLO_OK;
}

/* The sum of the slowest transfers between all pairs of instances, or something above SUM_MAX if that is less. The rounded
 * bytes of an edge are below 2^65 in all, so the sums over 2^32 edges fit. */
static clo_u128 sum_slowest(const struct clo_cost *cost)
{
    const clo_graph *graph = cost->graph;
    const clo_platform *platform = cost->platform;
    clo_u128 sum = 0, bytes[CLO_LINK_PIECES_MAX] = {0}, pairs[CLO_LINK_PIECES_MAX] = {0};
    bool has_links = false;

    for (uint32_t k = 0; k < platform->pieces_count; k++)
        has_links = has_links || cost->platform->spans[k].latency_most_ns > 0 ||
                    cost->platform->spans[k].ns_per_byte_most_q32 > 0;
    for (uint32_t t = 0; t < graph->tasks && has_links; t++)
        for (uint32_t e = graph->in_first[t]; e < graph->in_first[t + 1]; e++) {
            uint64_t each = clo_graph_in_bytes(graph, e), here = clo_graph_pairs(graph, clo_graph_source(graph, e), t);
            uint32_t piece = clo_platform_piece(platform, each);
            bytes[piece] += (clo_u128)(each - platform->cut_bytes[piece]) * here;
            pairs[piece] += here;
        }
    for (uint32_t k = 0; k < platform->pieces_count; k++) {
        const clo_link_span *span = &cost->platform->spans[k];
        if (span->latency_most_ns > 0)
            sum += pairs[k] >> 62 != 0 ? SUM_MAX + 1 : (uint64_t)span->latency_most_ns * pairs[k];
        if (span->ns_per_byte_most_q32 > 0)
            sum += bytes[k] > (SUM_MAX << 32) / span->ns_per_byte_most_q32
                       ? SUM_MAX + 1
                       : ((bytes[k] * span->ns_per_byte_most_q32) >> 32) + pairs[k];
    }
    return sum;
}

/* The longest time of a task on the executors that can run it. */
static uint64_t longest_time(const struct clo_cost *cost, uint32_t task)
{
    const int64_t *row = &cost->time_ns[(size_t)task * cost->columns];
    uint32_t placement = clo_graph_placement(cost->graph, task);
    int64_t longest = 0;

    for (uint32_t c = 0; placement == CLO_NONE && c < cost->columns; c++)
        longest = row[c] != CLO_TIME_NEVER && row[c] > longest ? row[c] : longest;
    for (uint32_t e = clo_cost_next_allowed(cost, placement, 0); e != CLO_NONE;
         e = clo_cost_next_allowed(cost, placement, e + 1)) {
        int64_t time_ns = row[cost->column_of[e]];
        longest = time_ns != CLO_TIME_NEVER && time_ns > longest ? time_ns : longest;
    }
    return (uint64_t)longest;
}

static clo_status check_sums(const struct clo_cost *cost)
{
    const clo_graph *graph = cost->graph;
    clo_u128 sum = 0;

    for (uint32_t t = 0; t < graph->tasks; t++)
        sum += (clo_u128)longest_time(cost, t) * graph->rows[t].instances;
    if (sum > SUM_MAX / 2)
        return clo_fail(CLO_ERR_LIMIT,
                        "graph \"%.60s\": its longest times on \"%.60s\" sum up to 2^61 ns or more; use a "
                        "coarser unit",
                        graph->name, cost->platform->name);
    if (sum + sum_slowest(cost) > SUM_MAX)
        return clo_fail(CLO_ERR_LIMIT,
                        "graph \"%.60s\": its slowest transfers on \"%.60s\" sum up to 2^62 ns or more; use a "
                        "coarser unit",
                        graph->name, cost->platform->name);
    return CLO_OK;
}

static clo_status build(struct clo_cost *cost)
{
    clo_status status = fill_means(cost);

    return status == CLO_OK ? check_sums(cost) : status;
}

static clo_status open_tables(struct clo_cost *cost)
{
    size_t tasks = cost->graph->tasks;
    clo_block block = {0};

    clo_carve(&block, &cost->time_ns, tasks * cost->columns);
    if (cost->columns > 1)
        clo_carve(&block, &cost->mean_ns, tasks);
    clo_carve(&block, &cost->bound, 1);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("the times of a cost");
    if (cost->columns == 1) /* the mean of equal times */
        cost->mean_ns = cost->time_ns;
    if (pthread_mutex_init(&cost->bound->lock, NULL) != 0) {
        clo_free(memory);
        cost->bound = NULL;
        return clo_fail_memory("the lock of a cost");
    }
    cost->block = memory;
    return CLO_OK;
}

clo_status clo_cost_create(const clo_graph *graph, const clo_platform *platform, clo_cost **out)
{
    return clo_cost_create_from(graph, platform, NULL, out);
}

clo_status clo_cost_create_from(const clo_graph *graph, const clo_platform *platform, const clo_cost_times *times,
                                clo_cost **out)
{
    if (graph == NULL || platform == NULL || out == NULL)
        return clo_fail_null("clo_cost_create", "graph, platform or out");
    if (!graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is open; call clo_graph_seal before clo_cost_create",
                        graph->name);
    clo_cost *cost = clo_allocate(1, sizeof *cost);
    uint32_t *columns = clo_allocate(platform->executors_count, 3 * sizeof *columns);
    if (cost == NULL || columns == NULL) {
        clo_free(cost);
        clo_free(columns);
        return clo_fail_memory("a cost");
    }
    cost->graph = graph;
    cost->platform = platform;
    cost->column_of = columns;
    cost->column_first = columns + platform->executors_count;
    cost->column_size = columns + 2 * (size_t)platform->executors_count;
    match_resources(cost);

    clo_status status = clo_cost_find_columns(cost);
    if (status == CLO_OK)
        status = open_tables(cost);
    if (status == CLO_OK)
        fill_times(cost, times);
    if (status == CLO_OK)
        status = build(cost);
    if (status != CLO_OK) {
        clo_cost_destroy(cost);
        return status;
    }
    *out = cost;
    return CLO_OK;
}

void clo_cost_destroy(clo_cost *cost)
{
    if (cost == NULL)
        return;
    if (cost->bound != NULL)
        pthread_mutex_destroy(&cost->bound->lock);
    clo_free(cost->block);
    clo_free(cost->column_of);
    clo_free(cost);
}

const clo_graph *clo_cost_graph(const clo_cost *cost)
{
    return cost != NULL ? cost->graph : NULL;
}

const clo_platform *clo_cost_platform(const clo_cost *cost)
{
    return cost != NULL ? cost->platform : NULL;
}

int64_t clo_cost_execution_ns(const clo_cost *cost, uint32_t task, uint32_t executor)
{
    if (cost == NULL || task >= cost->graph->tasks || executor >= cost->platform->executors_count)
        return CLO_TIME_NEVER;
    return clo_cost_time(cost, task, executor);
}

int64_t clo_cost_mean_execution_ns(const clo_cost *cost, uint32_t task)
{
    return cost != NULL && task < cost->graph->tasks ? cost->mean_ns[task] : CLO_TIME_NEVER;
}

int64_t clo_cost_mean_transfer_ns(const clo_cost *cost, uint64_t bytes)
{
    if (cost == NULL)
        return CLO_TIME_NEVER;
    uint32_t piece = clo_platform_piece(cost->platform, bytes);
    const clo_link_span *span = &cost->platform->spans[piece];
    clo_u128 q32 = (clo_u128)(bytes - cost->platform->cut_bytes[piece]) * span->mean_ns_per_byte_q32;

    if (q32 >> 93 != 0)
        return INT64_MAX / 4;
    q32 += span->mean_latency_q32 + (1ull << 31);
    return q32 >> 93 != 0 ? INT64_MAX / 4 : (int64_t)(q32 >> 32);
}

int64_t clo_cost_fastest(const clo_cost *cost, uint32_t task)
{
    const int64_t *row = &cost->time_ns[(size_t)task * cost->columns];
    uint32_t placement = clo_graph_placement(cost->graph, task);
    int64_t best = CLO_TIME_NEVER;

    for (uint32_t c = 0; placement == CLO_NONE && c < cost->columns; c++)
        best = row[c] < best ? row[c] : best;
    for (uint32_t e = clo_cost_next_allowed(cost, placement, 0); e != CLO_NONE;
         e = clo_cost_next_allowed(cost, placement, e + 1))
        if (row[cost->column_of[e]] < best)
            best = row[cost->column_of[e]];
    return best;
}

bool clo_cost_has_transfers(const clo_cost *cost)
{
    bool takes_time = cost->platform->spans[0].latency_most_ns > 0;

    for (uint32_t k = 0; k < cost->platform->pieces_count; k++)
        takes_time |= clo_graph_has_bytes(cost->graph) && cost->platform->spans[k].ns_per_byte_most_q32 > 0;
    return cost->graph->edges > 0 && takes_time;
}

int64_t clo_cost_grid_ns(const clo_cost *cost)
{
    size_t cells = (size_t)cost->graph->tasks * cost->columns;
    int64_t grid_ns = 0;

    for (size_t i = 0; i < cells && grid_ns != 1; i++)
        if (cost->time_ns[i] != CLO_TIME_NEVER)
            grid_ns = clo_greatest_divisor(grid_ns, cost->time_ns[i]);
    return grid_ns > 1 && !clo_cost_has_transfers(cost) ? grid_ns : 1;
}
