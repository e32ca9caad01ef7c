/* scenes_wrong.c - how much it costs that durations and demands are estimated wrongly, by -75 % to +75 %.
 *
 * Each stage of each job has an error of its own, uniform within the scene's, on its duration and on each of its
 * demands; or all have the same. Only the times and demands that policies see change: a seed has the same jobs, and the
 * same true ones, in all these scenes (truth.c). wrong-decima: the batches of decima-batch. wrong-packing: the streams
 * of graphene-tpch, at a load of 35 % by what is true: what is estimated too low takes longer, and what is estimated
 * too high holds more than it needs, so that errors of 75 % double the load. wrong-times: the streams of graphene-tpch at
 * 85 % load, with true demands: what Graphene's evaluation changes (Grandl et al., OSDI 2016, section 8). */
#include "online/online.h"

static const char *const decima_policies[] = {
    "decima-wfair:-0.8", "parametric", "auto", "sjf-cp", "tetris", "fair", NULL};
static const char *const packing_policies[] = {"tetris",     "graphene",          "auto", "fair", "sjf-cp",
                                               "parametric", "decima-wfair:-0.8", NULL};
static const char *const times_policies[] = {"tetris", "graphene", "auto", "fair", "capacity", NULL};

/* In (-1, 1) of the estimate. */
static double draw_error(const scene *s, uint64_t *state)
{
    double unit = (double)(bench_random(state) >> 11) / 9007199254740992.0;

    return s->error_mean + s->error * (2 * unit - 1);
}

static int64_t spoil(const scene *s, int64_t value, int64_t most, uint64_t *state)
{
    double spoiled = (double)value * (1 + draw_error(s, state));

    if (value <= 0)
        return value;
    return spoiled < 1 ? 1 : spoiled > (double)most ? most : (int64_t)spoiled;
}

static clo_graph *spoil_graph(const scene *s, const clo_graph *graph, uint64_t *state)
{
    clo_graph *out = NULL;
    bool is_good = clo_graph_create(clo_graph_name(graph), &out) == CLO_OK;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && is_good; r++)
        if (clo_graph_resource_name(graph, r) != NULL)
            is_good = clo_graph_set_resource(out, r, clo_graph_resource_name(graph, r)) == CLO_OK;
    for (uint32_t i = 0; i < clo_graph_tasks(graph) && is_good; i++) {
        clo_task task;
        is_good = clo_graph_task(graph, i, &task) == CLO_OK;
        task.work_ns = spoil(s, task.work_ns, INT64_MAX / 1024, state);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            task.demand[r] = s->has_true_demands ? task.demand[r] : spoil(s, task.demand[r], TPCH_CAPACITY, state);
        is_good = is_good && clo_graph_add_task(out, &task, NULL) == CLO_OK;
    }
    for (uint32_t i = 0; i < clo_graph_edges(graph) && is_good; i++) {
        clo_edge edge;
        is_good = clo_graph_edge(graph, i, &edge) == CLO_OK &&
                  clo_graph_add_edge(out, edge.from, edge.to, edge.bytes) == CLO_OK;
    }
    if (is_good && clo_graph_seal(out) == CLO_OK)
        return out;
    clo_graph_destroy(out);
    bench_fail("a graph with wrong estimates");
    return NULL;
}

/* The workload becomes the truth; policies see one with errors. */
static bool spoil_workload(uint64_t seed, occasion *out)
{
    uint64_t state = seed ^ 0x77726f6e67;

    out->truth = out->workload;
    out->workload = NULL;
    if (clo_workload_create("wrong", &out->workload) != CLO_OK)
        return bench_fail("a workload with wrong estimates");
    for (uint32_t j = 0; j < clo_workload_jobs(out->truth); j++) {
        clo_workload_job job = *clo_workload_get(out->truth, j);
        clo_graph *graph = spoil_graph(out->scene, job.graph, &state);
        if (graph == NULL)
            return false;
        if (clo_workload_adopt(out->workload, graph) != CLO_OK) {
            clo_graph_destroy(graph);
            return bench_fail("a workload with wrong estimates");
        }
        job.size = sizeof job;
        job.graph = graph;
        if (clo_workload_add(out->workload, &job) != CLO_OK)
            return bench_fail("a workload with wrong estimates");
    }
    return true;
}

static bool make_decima(const online *o, uint64_t seed, occasion *out)
{
    return online_make_decima_batch(o, seed, out) && spoil_workload(seed, out);
}

static bool make_packing(const online *o, uint64_t seed, occasion *out)
{
    bool is_made = online_make_packing(o, seed, out);

    out->groups = 0;
    return is_made && spoil_workload(seed, out);
}

#define WRONG_LIST(X)                                            \
    X("0", "as they are", 0, 0)                                  \
    X("25", "wrong by -25 % to +25 %, each by its own", 0.25, 0) \
    X("50", "wrong by -50 % to +50 %, each by its own", 0.5, 0)  \
    X("75", "wrong by -75 % to +75 %, each by its own", 0.75, 0) \
    X("low", "all estimated 75 % too low", 0, -0.75)             \
    X("high", "all estimated 75 % too high", 0, 0.75)

const scene online_wrong_decima[WRONG_COUNT] = {
#define X(text, what, width, mean)                                                 \
    {.name = "wrong-decima-" text,                                                 \
     .title = "20 TPC-H queries at once in Decima's environment, durations " what, \
     .paper = "",                                                                  \
     .environment = "decima",                                                      \
     .contenders = decima_policies,                                                \
     .seeds = 20,                                                                  \
     .quick_seeds = 1,                                                             \
     .error = width,                                                               \
     .error_mean = mean,                                                           \
     .make = make_decima},
    WRONG_LIST(X)
#undef X
};

const scene online_wrong_packing[WRONG_COUNT] = {
#define X(text, what, width, mean)                                                   \
    {.name = "wrong-packing-" text,                                                  \
     .title = "TPC-H with four resources at 35 % load, durations and demands " what, \
     .paper = "",                                                                    \
     .environment = "costs",                                                         \
     .contenders = packing_policies,                                                 \
     .seeds = 20,                                                                    \
     .quick_seeds = 1,                                                               \
     .error = width,                                                                 \
     .error_mean = mean,                                                             \
     .load = 0.35,                                                                   \
     .make = make_packing},
    WRONG_LIST(X)
#undef X
};

const scene online_wrong_times[WRONG_COUNT] = {
#define X(text, what, width, mean)                                       \
    {.name = "wrong-times-" text,                                        \
     .title = "TPC-H with four resources at 85 % load, durations " what, \
     .paper = "",                                                        \
     .environment = "costs",                                             \
     .contenders = times_policies,                                       \
     .seeds = 20,                                                        \
     .quick_seeds = 1,                                                   \
     .error = width,                                                     \
     .error_mean = mean,                                                 \
     .has_true_demands = true,                                           \
     .make = make_packing},
    WRONG_LIST(X)
#undef X
};
