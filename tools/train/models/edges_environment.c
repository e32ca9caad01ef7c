/* edges_environment.c - see edges_environment.h. */
#include "train/models/edges_environment.h"

#include "learn/infer/lachesis_features.h"
#include "train/models/edges_network.h"
#include "train/numbers/parameters.h"

#include <math.h>
#include <stdlib.h>

enum { CAPACITY = 1000000, EXECUTORS_MAX = 256, SHARES = 3, RULES = 3 };

typedef struct episode {
    const edges_world *world;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_edges *edges;
    clo_edges_view view;
    /* Row of the start that was chosen; CLO_MODEL_NONE: a start is to be chosen. */
    uint32_t start, added, time;
    int64_t first_ns;
    /* Tasks of the edges that were taken away, [CLO_EDGES_MAX] */
    uint32_t refused_from[CLO_EDGES_MAX], refused_to[CLO_EDGES_MAX], refused;
    /* What the teacher will choose behind the start it chose; a task. */
    uint32_t taught_end;
    uint32_t *rows;
    double *inputs, *prior;
    uint32_t capacity, count;
    network_case input;
} episode;

static bool add_job(clo_graph *to, const clo_graph *from, draws *d, double share, bool is_even)
{
    uint32_t first = clo_graph_tasks(to);
    clo_task task;
    clo_edge edge;

    for (uint32_t i = 0; i < clo_graph_tasks(from); i++) {
        if (clo_graph_task(from, i, &task) != CLO_OK)
            return false;
        clo_task mine = CLO_TASK_INIT;
        mine.work_ns = is_even ? 1 + (int64_t)(draws_uniform(d) * 1e9) : task.work_ns;
        mine.demand[0] = 1 + (int64_t)(draws_uniform(d) * share * (CAPACITY - 1));
        if (clo_graph_add_task(to, &mine, NULL) != CLO_OK)
            return false;
    }
    for (uint32_t i = 0; i < clo_graph_edges(from); i++)
        if (clo_graph_edge(from, i, &edge) != CLO_OK ||
            clo_graph_add_edge(to, first + edge.from, first + edge.to, 0) != CLO_OK)
            return false;
    return true;
}

static clo_platform *make_machine(uint32_t tasks)
{
    clo_executor executors[EXECUTORS_MAX];
    int64_t capacities[CLO_RESOURCES_MAX];
    clo_platform *platform = NULL;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = r == 0 ? CAPACITY : -1;
    desc.executors_count = tasks < EXECUTORS_MAX ? tasks : EXECUTORS_MAX;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacities;
    for (uint32_t e = 0; e < desc.executors_count; e++)
        executors[e] =
            (clo_executor){.os_index = -1, .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    return clo_platform_create(&desc, &platform) == CLO_OK ? platform : NULL;
}

clo_cost *edges_world_draw(const edges_world *world, uint64_t seed, clo_graph **graph, clo_platform **platform)
{
    draws d = {draws_key(seed, 13, 4)};
    uint32_t jobs = world->jobs_least + (uint32_t)(draws_next(&d) % (world->jobs_most - world->jobs_least + 1));
    double share = (double)(1 + draws_next(&d) % SHARES) / (double)SHARES;
    bool is_even = draws_next(&d) % 2 == 1, is_good = clo_graph_create("jobs", graph) == CLO_OK;
    clo_cost *cost = NULL;

    for (uint32_t j = 0; j < jobs && is_good; j++)
        is_good = add_job(*graph, world->graphs[draws_next(&d) % world->graphs_count], &d, share, is_even);
    is_good = is_good && clo_graph_seal(*graph) == CLO_OK;
    if (is_good)
        *platform = make_machine(clo_graph_tasks(*graph));
    is_good = is_good && *platform != NULL && clo_cost_create(*graph, *platform, &cost) == CLO_OK;
    return is_good ? cost : NULL;
}

clo_edges_rule edges_world_rule(const edges_world *world, uint64_t seed)
{
    draws d = {draws_key(seed, 13, 5)};

    return world->has_any_rule ? (clo_edges_rule)(draws_next(&d) % RULES) : world->rule;
}

static void *create(const void *argument)
{
    episode *e = calloc(1, sizeof *e);

    if (e != NULL)
        e->world = argument;
    return e;
}

static void clear(episode *e)
{
    clo_edges_destroy(e->edges);
    clo_cost_destroy(e->cost);
    clo_platform_destroy(e->platform);
    clo_graph_destroy(e->graph);
    e->edges = NULL;
    e->cost = NULL;
    e->platform = NULL;
    e->graph = NULL;
}

static void destroy(void *self)
{
    episode *e = self;

    clear(e);
    free(e->inputs);
    free(e->prior);
    free(e->rows);
    free(e);
}

static bool make_room(episode *e, uint32_t tasks)
{
    if (tasks <= e->capacity)
        return true;
    double *inputs = realloc(e->inputs, (size_t)tasks * CLO_EDGES_FEATURES * sizeof *inputs);
    if (inputs == NULL)
        return false;
    e->inputs = inputs;
    double *prior = realloc(e->prior, tasks * sizeof *prior);
    if (prior == NULL)
        return false;
    e->prior = prior;
    uint32_t *rows = realloc(e->rows, tasks * sizeof *rows);
    if (rows == NULL)
        return false;
    e->rows = rows;
    e->capacity = tasks;
    return true;
}

static bool reset(void *self, uint64_t seed)
{
    episode *e = self;

    clear(e);
    e->start = CLO_MODEL_NONE;
    e->added = e->time = e->refused = 0;
    e->cost = edges_world_draw(e->world, seed, &e->graph, &e->platform);
    if (e->cost == NULL || !make_room(e, clo_graph_tasks(e->graph)) ||
        clo_edges_create(e->cost, edges_world_rule(e->world, seed), &e->edges) != CLO_OK)
        return false;
    e->first_ns = clo_edges_makespan_ns(e->edges);
    return true;
}

static bool is_refused(const episode *e, uint32_t row)
{
    uint32_t from = e->view.task_of[e->start], to = e->view.task_of[row];

    for (uint32_t i = 0; i < e->refused; i++)
        if (e->refused_from[i] == from && e->refused_to[i] == to)
            return true;
    return false;
}

/* Candidates and what is known of the tasks, as numbers. */
static void put_view(episode *e)
{
    e->count = 0;
    for (uint32_t row = 0; row < e->view.shape.stages; row++) {
        int16_t scaled[CLO_EDGES_FEATURES];
        size_t at = (size_t)row * CLO_EDGES_FEATURES;
        (void)clo_features_scale(edges_features, CLO_EDGES_FEATURES, e->view.features + at, scaled);
        for (uint32_t f = 0; f < CLO_EDGES_FEATURES; f++)
            e->inputs[at + f] = ldexp(scaled[f], -EDGES_EXPONENT);
    }
    for (uint32_t i = 0; i < e->view.count; i++) {
        if (e->start != CLO_MODEL_NONE && is_refused(e, e->view.rows[i]))
            continue;
        e->rows[e->count] = e->view.rows[i];
        e->prior[e->count++] = (double)e->view.prior[i] / (double)CLO_EDGES_PRIOR_ONE;
    }
}

static bool look(void *self, train_view *out)
{
    episode *e = self;

    if (e->added == e->world->edges)
        return false;
    if (e->start == CLO_MODEL_NONE)
        clo_edges_starts(e->edges, &e->view);
    else
        clo_edges_ends(e->edges, e->start, &e->view);
    put_view(e);
    if (e->count == 0)
        return false;
    e->input = (network_case){&e->view.shape, e->inputs};
    *out = (train_view){
        .input = &e->input, .stages = {.rows = e->rows, .count = e->count, .prior = e->prior}, .time = e->time};
    return true;
}

static void refuse(episode *e, uint32_t from, uint32_t to)
{
    clo_edges_undo(e->edges);
    e->refused_from[e->refused] = from;
    e->refused_to[e->refused++] = to;
}

static double step(void *self, const train_choice *choice)
{
    episode *e = self;
    uint32_t row = e->rows[choice->stage], start = e->start;

    e->time++;
    if (start == CLO_MODEL_NONE) {
        e->start = row;
        return 0;
    }
    int64_t before = clo_edges_makespan_ns(e->edges);
    uint32_t from = e->view.task_of[start], to = e->view.task_of[row];
    e->start = CLO_MODEL_NONE;
    e->added++;
    if (clo_edges_add(e->edges, start, row) != CLO_OK || e->first_ns == 0) /* a row of the view may be added */
        return 0;
    int64_t gain_ns = before - clo_edges_makespan_ns(e->edges);
    if (gain_ns > 0)
        return 100 * (double)gain_ns / (double)e->first_ns;
    refuse(e, from, to);
    return 0;
}

/* The shortest schedule that an edge from row `start` gives, and the end that gives it; of equal ones that with the
 * highest prior. */
typedef struct lesson {
    int64_t makespan_ns;
    int32_t prior;
    uint32_t start, end;
} lesson;

static void try_ends(episode *e, uint32_t start, int32_t start_prior, lesson *best)
{
    clo_edges_view ends;

    clo_edges_ends(e->edges, start, &ends);
    for (uint32_t i = 0; i < ends.count; i++) {
        uint32_t end = ends.rows[i];
        int32_t prior = start_prior + ends.prior[i];
        if (clo_edges_add(e->edges, start, end) != CLO_OK)
            continue;
        int64_t makespan = clo_edges_makespan_ns(e->edges);
        clo_edges_undo(e->edges);
        if (makespan < best->makespan_ns || (makespan == best->makespan_ns && prior > best->prior))
            *best = (lesson){makespan, prior, start, end};
    }
}

/* Tries every edge; an episode that is taught ends where none makes the schedule shorter. The view of the starts is
 * then made anew, as it was. */
static train_choice teach_start(episode *e)
{
    lesson best = {.makespan_ns = INT64_MAX, .start = e->rows[0], .end = e->rows[0]};
    int64_t before_ns = clo_edges_makespan_ns(e->edges);

    for (uint32_t i = 0; i < e->count; i++)
        try_ends(e, e->rows[i], (int32_t)(e->prior[i] * (double)CLO_EDGES_PRIOR_ONE), &best);
    clo_edges_starts(e->edges, &e->view);
    e->taught_end = e->view.task_of[best.end];
    if (best.makespan_ns >= before_ns)
        e->added = e->world->edges - 1; /* nothing left to teach: this edge is the last */
    for (uint32_t i = 0; i < e->count; i++)
        if (e->rows[i] == best.start)
            return (train_choice){i, CLO_MODEL_NONE};
    return (train_choice){0, CLO_MODEL_NONE};
}

static train_choice teach(void *self)
{
    episode *e = self;

    if (e->start == CLO_MODEL_NONE)
        return teach_start(e);
    for (uint32_t i = 0; i < e->count; i++)
        if (e->view.task_of[e->rows[i]] == e->taught_end)
            return (train_choice){i, CLO_MODEL_NONE};
    return (train_choice){0, CLO_MODEL_NONE};
}

const train_environment edges_environment = {
    .name = "edges",
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .look = look,
    .step = step,
    .teach = teach,
};
