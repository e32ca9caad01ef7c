/* generate.c - graph families with times and bytes: checks the config, lets families.c draw the graph with relative
 * weights, then scales weights so that the mean work is work_mean_ns and the mean bytes of an edge are ccr *
 * work_mean_ns (links of 1 byte/ns). Times per kind: uniform in w * (1 +- beta/2) (Topcuoglu 2002, section 5.1).
 *
 * Invariant: the generator draws the shape first, then tasks in order of id, then edges in order, then instances and
 * demands task by task; so a graph with another ccr has the same tasks, and one with demands the same edges too.
 * Doubles are only multiplied, added and rounded half up: the same on every IEEE machine. */
#include "generate/families.h"
#include "generate/registry.h"

#include "base/memory.h"
#include "base/status.h"

#include <clotho/body.h>
#include <clotho/branch.h>
#include <clotho/generate.h>

#include <stdio.h>
#include <string.h>

#define TASKS_MAX (1u << 28)
#define CCR_MAX 1e6
#define INSTANCES_MAX 1000000u
#define NUMBER_MAX 0x1p61 /* largest work and bytes that are given to a graph */

CLO_REGISTRY_ROW(clo_family);
const clo_registry clo_graph_families = {.name = "families", .rows = clo_families, .row_bytes = sizeof(clo_family)};

static clo_status check(const clo_generate_config *config)
{
    if (config->tasks > TASKS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "tasks is %u; use at most %u", config->tasks, TASKS_MAX);
    if (config->width > TASKS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "width is %u; use at most %u", config->width, TASKS_MAX);
    if (config->work_mean_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "work_mean_ns is %lld; give a number >= 0", (long long)config->work_mean_ns);
    if (!(config->ccr >= 0 && config->ccr <= CCR_MAX)) /* so that NaN is refused */
        return clo_fail(CLO_ERR_ARGUMENT, "ccr is %g; give a number from 0 to %g", config->ccr, CCR_MAX);
    if (!(config->work_spread >= 0 && config->work_spread <= 1))
        return clo_fail(CLO_ERR_ARGUMENT, "work_spread is %g; give a number from 0 to 1", config->work_spread);
    if (!(config->beta >= 0 && config->beta < 2))
        return clo_fail(CLO_ERR_ARGUMENT, "beta is %g; give a number from 0 to below 2", config->beta);
    if (config->kinds > CLO_GRAPH_KINDS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "kinds is %u; use at most %d", config->kinds, CLO_GRAPH_KINDS_MAX);
    if (config->demands > CLO_RESOURCES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "demands is %u; use at most %d resources", config->demands,
                        CLO_RESOURCES_MAX);
    if (config->instances_min > INSTANCES_MAX || config->instances_max > INSTANCES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "instances are %u to %u; use at most %u", config->instances_min,
                        config->instances_max, INSTANCES_MAX);
    if (config->instances_max > 0 && config->instances_min > config->instances_max)
        return clo_fail(CLO_ERR_ARGUMENT, "instances are %u to %u; put the smaller number first", config->instances_min,
                        config->instances_max);
    if (config->duplicable > 1 || config->outputs > 1)
        return clo_fail(CLO_ERR_ARGUMENT, "duplicable is %u and outputs is %u; give 0 or 1", config->duplicable,
                        config->outputs);
    return CLO_OK;
}

static const clo_family *find_family(const char *name)
{
    for (const clo_family *family = clo_families; family->name != NULL; family++)
        if (strcmp(family->name, name) == 0)
            return family;
    return NULL;
}

static clo_status fail_family(const char *name)
{
    char names[256];
    size_t used = 0;

    for (const clo_family *family = clo_families; family->name != NULL && used < sizeof names; family++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", family->name);
    return clo_fail(CLO_ERR_ARGUMENT, "unknown graph family \"%.60s\"; use one of %s", name, names);
}

/* Uniform in 1 +- half. */
static double spread(clo_rng *rng, double half)
{
    return 1 + half * (2 * clo_rng_unit(rng) - 1);
}

static int64_t round_ns(double value)
{
    return (int64_t)(value + 0.5);
}

static clo_status scale_task(clo_shape *shape, const clo_generate_config *config, uint32_t task, double work_ns)
{
    clo_graph_task_row *row = &shape->graph->rows[task];

    row->body = clo_body_spin;
    row->duplicable = config->duplicable != 0;
    clo_graph_set_work(shape->graph, task, round_ns(work_ns * spread(&shape->rng, config->work_spread)));
    for (uint32_t kind = 0; kind < config->kinds && row->work_ns > 0; kind++) { /* no work: no time, on any kind */
        int64_t time_ns = round_ns((double)row->work_ns * spread(&shape->rng, config->beta / 2));
        clo_status status = clo_graph_set_time(shape->graph, task, kind, time_ns);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* From here the rows of the open graph are written in place: this file is part of the graph module. */
static clo_status scale_tasks(clo_shape *shape, const clo_generate_config *config)
{
    clo_graph *graph = shape->graph;
    double unit_ns = (double)config->work_mean_ns * (double)graph->tasks / (double)shape->weight_sum;
    uint32_t heaviest = 0;

    for (uint32_t t = 0; t < graph->tasks; t++)
        heaviest = shape->weights[t] > heaviest ? shape->weights[t] : heaviest;
    if (unit_ns * heaviest * 4 > NUMBER_MAX)
        return clo_fail(CLO_ERR_LIMIT, "work_mean_ns is %lld: a task would need more than 2^59 ns; use a smaller one",
                        (long long)config->work_mean_ns);
    for (uint32_t kind = 0; kind < config->kinds; kind++) {
        char name[16];
        uint32_t number;
        snprintf(name, sizeof name, "k%u", kind);
        clo_status status = clo_graph_kind(graph, name, &number);
        if (status != CLO_OK)
            return status;
    }
    for (uint32_t t = 0; t < graph->tasks; t++) {
        clo_status status = scale_task(shape, config, t, unit_ns * shape->weights[t]);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status scale_edges(clo_shape *shape, const clo_generate_config *config)
{
    clo_graph *graph = shape->graph;
    double sum = 0, heaviest = 0;

    for (uint32_t e = 0; e < graph->edges && graph->edge_bytes != NULL; e++) {
        double weight = (double)graph->edge_bytes[e];
        sum += weight;
        heaviest = weight > heaviest ? weight : heaviest;
    }
    if (config->outputs && clo_columns_reserve(&graph->columns, 1u << CLO_COLUMN_OUTPUT, graph->tasks, 0) != 0)
        return clo_fail_memory("a generated graph");
    double unit = graph->edges > 0 ? config->ccr * (double)config->work_mean_ns * (double)graph->edges / sum : 0;
    if (unit * heaviest * 4 > NUMBER_MAX)
        return clo_fail(CLO_ERR_LIMIT, "ccr is %g: an edge would carry more than 2^59 bytes; use a smaller one",
                        config->ccr);
    for (uint32_t e = 0; e < graph->edges && graph->edge_bytes != NULL; e++) {
        uint64_t *bytes = &graph->edge_bytes[e];
        *bytes = (uint64_t)round_ns((double)*bytes * unit * spread(&shape->rng, config->work_spread));
        uint64_t *output = graph->columns.of[CLO_COLUMN_OUTPUT];
        uint32_t from = graph->ends[e].from;
        if (config->outputs && *bytes > output[from]) {
            output[from] = *bytes;
            graph->has_outputs = true;
        }
    }
    return CLO_OK;
}

static void set_instances(clo_shape *shape, const clo_generate_config *config, uint32_t task)
{
    clo_graph *graph = shape->graph;
    uint32_t least = config->instances_min > 0 ? config->instances_min : config->instances_max;
    uint32_t most = config->instances_max > 0 ? config->instances_max : config->instances_min;
    int64_t work_ns = graph->rows[task].work_ns;

    if (most == 0)
        return;
    uint32_t instances = least + clo_rng_below(&shape->rng, most - least + 1);
    clo_graph_set_work(graph, task, 0); /* which is counted for all instances */
    graph->instances_open += instances - graph->rows[task].instances;
    graph->rows[task].instances = instances;
    clo_graph_set_work(graph, task, work_ns);
}

static void set_demand(clo_shape *shape, const clo_generate_config *config, uint32_t task)
{
    clo_graph *graph = shape->graph;
    int64_t *demand = graph->demands[graph->demands_count];

    memset(demand, 0, sizeof graph->demands[0]);
    for (uint32_t r = 0; r < config->demands; r++)
        demand[r] = 1 + clo_rng_below(&shape->rng, CLO_GENERATE_WHOLE);
    clo_columns_set(&graph->columns, CLO_COLUMN_DEMAND, task, (uint32_t)graph->demands_count++);
}

static clo_status open_demands(clo_graph *graph, uint32_t resources)
{
    void *demands = graph->demands;

    if (clo_grow(&demands, &graph->demands_capacity, graph->tasks, sizeof *graph->demands) != 0 ||
        clo_columns_reserve(&graph->columns, 1u << CLO_COLUMN_DEMAND, graph->tasks, 0) != 0)
        return clo_fail_memory("a generated graph");
    graph->demands = demands;
    graph->has_demands = true;
    for (uint32_t r = 0; r < resources; r++) {
        char name[16];
        snprintf(name, sizeof name, "r%u", r);
        clo_status status = clo_graph_set_resource(graph, r, name);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status set_extras(clo_shape *shape, const clo_generate_config *config)
{
    clo_graph *graph = shape->graph;
    uint64_t most = config->instances_max > 0 ? config->instances_max : config->instances_min;
    clo_status status = config->demands > 0 ? open_demands(graph, config->demands) : CLO_OK;

    if (most * graph->tasks >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "up to %llu instances of %u tasks; use fewer than %u in all",
                        (unsigned long long)most, graph->tasks, CLO_NONE);
    for (uint32_t t = 0; t < graph->tasks && status == CLO_OK; t++) {
        set_instances(shape, config, t);
        if (config->demands > 0)
            set_demand(shape, config, t);
    }
    return status;
}

/* A branch has one instance, and no replicas. */
static void spare_branches(clo_graph *graph)
{
    for (uint32_t b = 0; b < clo_graph_branches(graph); b++) {
        uint32_t task = graph->control_flow->branches[b].task;
        clo_graph_task_row *row = &graph->rows[task];
        int64_t work_ns = row->work_ns;
        row->duplicable = 0;
        clo_graph_set_work(graph, task, 0); /* which is counted for all instances */
        graph->instances_open -= row->instances - 1;
        row->instances = 1;
        clo_graph_set_work(graph, task, work_ns);
    }
}

static clo_status build(clo_shape *shape, const clo_family *family, const clo_generate_config *config)
{
    family->build(shape);
    if (shape->failed != CLO_OK)
        return shape->failed;
    clo_status status = scale_tasks(shape, config);
    if (status == CLO_OK)
        status = scale_edges(shape, config);
    if (status == CLO_OK)
        status = set_extras(shape, config);
    spare_branches(shape->graph);
    return status == CLO_OK ? clo_graph_seal(shape->graph) : status;
}

clo_status clo_graph_generate(const char *family_name, const clo_generate_config *config, clo_graph **out)
{
    if (family_name == NULL || out == NULL)
        return clo_fail_null("clo_graph_generate", "family or out");
    clo_generate_config mine = CLO_GENERATE_CONFIG_INIT;
    const clo_family *family = find_family(family_name);
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_generate_config");

    if (status != CLO_OK)
        return status;
    if (family == NULL)
        return fail_family(family_name);
    status = check(&mine);
    if (status != CLO_OK)
        return status;
    if (mine.work_mean_ns == 0)
        mine.work_mean_ns = 100000;

    clo_shape shape = {
        .rng = clo_rng_seed(mine.seed), .tasks_wanted = mine.tasks > 0 ? mine.tasks : 100, .width = mine.width};
    status = clo_graph_create(family->name, &shape.graph);
    if (status != CLO_OK)
        return status;
    status = build(&shape, family, &mine);
    clo_free(shape.weights);
    if (status != CLO_OK) {
        clo_graph_destroy(shape.graph);
        return status;
    }
    *out = shape.graph;
    return CLO_OK;
}
