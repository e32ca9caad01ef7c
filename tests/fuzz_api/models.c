/* models.c - what jobs run: graphs with deterministic bodies, on a few platforms. */
#include "fuzz_api.h"
#include <clotho/planner.h>

#include <stdlib.h>

enum { DEMAND = 2, CAPACITY = 3 };

/* Executors with memories, links and a machine's capacity. */
static clo_platform *linked_platform(uint32_t executors, uint32_t memories)
{
    clo_executor list[8];
    int64_t latency[64], capacities[CLO_RESOURCES_MAX] = {CAPACITY, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    for (uint32_t e = 0; e < executors; e++)
        list[e] = (clo_executor){0, 0, e % memories, -1, {65536, 65536, 65536 * (1 + e % 2), 65536}};
    for (uint32_t i = 0; i < executors * executors; i++)
        latency[i] = 100;
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.latency_ns = latency;
    desc.capacities = capacities;
    desc.coherent = memories == 2;
    if (clo_platform_create(&desc, &platform) != CLO_OK)
        broken("no platform: %s", clo_last_error());
    return platform;
}

void platforms_open(void)
{
    static const char *const specs[] = {"uniform:1", "uniform:2", "rk3588", NULL, NULL, "slots:3"};

    for (uint32_t p = 0; p < PLATFORMS; p++) {
        if (specs[p] == NULL)
            w.platforms[p] = linked_platform(p, p - 1);
        else if (clo_platform_open(specs[p], &w.platforms[p]) != CLO_OK)
            broken("no platform %s: %s", specs[p], clo_last_error());
        w.workers[p] = clo_platform_executors(w.platforms[p]);
    }
}

void platforms_close(void)
{
    for (uint32_t p = 0; p < PLATFORMS; p++)
        clo_platform_destroy(w.platforms[p]);
}

static void add_tasks(thread *t, model_slot *model, uint32_t index, uint32_t tasks)
{
    graph_shape shape = draw_shape(t);
    bool has_demands = chance(t, 20), has_outputs = chance(t, 70), fails = with(WITH_failing) && chance(t, 15);

    for (uint32_t i = 0; i < tasks; i++) {
        clo_task task = {.body = fuzz_body, .argument = &model->traits[i], .work_ns = below(t, 20000)};
        model->traits[i] = draw_trait(t, index);
        if (fails && chance(t, 10))
            model->traits[i].action = ACTION_FAIL;
        task.instances = chance(t, 30) ? 1 + below(t, 5) : 0;
        task.output_bytes = has_outputs && chance(t, 80) ? (uint64_t)8 << below(t, 6) : 0;
        task.task_class = (uint16_t)below(t, 6);
        task.may_pend = model->traits[i].pends > 0;
        task.duplicable = chance(t, 30) && model->traits[i].action == 0;
        task.executors_mask = chance(t, 10) ? 1 : 0;
        task.demand[0] = has_demands && chance(t, 50) ? 1 + below(t, DEMAND) : 0;
        shape_task(t, shape, &model->traits[i], &task);
        if (model->traits[i].arms == 0 && task.grain == 0 && draw_kernel(t, shape)) {
            model->traits[i] = (body_trait){.model = index, .has_kernel = true};
            task.instances = 0;
            task.may_pend = 1;
        }
        if (clo_graph_add_task(model->graph, &task, NULL) != CLO_OK)
            broken("clo_graph_add_task: %s", clo_last_error());
    }
    for (uint32_t i = 0; i < LOOP_TRAITS; i++)
        model->traits[tasks + i].model = index;
    for (uint32_t to = 1; to < tasks; to++)
        for (uint32_t from = 0; from < to; from++)
            if (chance(t, 20))
                shape_edge(t, model, from, to);
    shape_rest(t, model, shape, tasks);
    kernels_make(t, model, tasks);
}

/* The outputs do not depend on who runs what, so one simulation gives the hash that every complete run must have. */
static void expect_hash(model_slot *model)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.execute = 1;
    is_quiet = true;
    if (clo_simulate(model->costs[0], &config, NULL, NULL, &model->hash) != CLO_OK)
        broken("clo_simulate of a new graph: %s", clo_last_error());
    is_quiet = false;
}

/* The last one for releases in flight, where there is one. */
static clo_plan *make_plan(const model_slot *model, uint32_t platform, uint32_t k)
{
    static const char *const planners[PLANS] = {"heft", "deft", "peft"};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    if (k == PLANS - 1 && expect(clo_plan_pipeline(model->costs[platform], NULL, &plan), CLO_OK, CLO_ERR_LIMIT,
                                 CLO_ERR_UNSUPPORTED) == CLO_OK)
        return plan;
    config.planner = clo_planner_find(planners[k]);
    if (clo_plan_create(model->costs[platform], &config, &plan) != CLO_OK)
        broken("clo_plan_create: %s", clo_last_error());
    return plan;
}

bool model_create(thread *t, model_slot *model, uint32_t index)
{
    uint32_t tasks = 1 + below(t, TASKS_DRAWN);

    model->traits = calloc(tasks + LOOP_TRAITS, sizeof *model->traits);
    if (model->traits == NULL || clo_graph_create(NULL, &model->graph) != CLO_OK)
        broken("no graph");
    add_tasks(t, model, index, tasks);
    if (clo_graph_seal(model->graph) != CLO_OK)
        broken("clo_graph_seal: %s", clo_last_error());
    kernels_complete(model, tasks);
    for (uint32_t p = 0; p < PLATFORMS; p++) {
        if (clo_cost_create(model->graph, w.platforms[p], &model->costs[p]) != CLO_OK)
            broken("clo_cost_create: %s", clo_last_error());
        for (uint32_t k = 0; k < PLANS; k++)
            model->plans[p][k] = make_plan(model, p, k);
    }
    expect_hash(model);
    return true;
}

void model_free(model_slot *model)
{
    for (uint32_t p = 0; p < PLATFORMS; p++) {
        for (uint32_t k = 0; k < PLANS; k++)
            clo_plan_destroy(model->plans[p][k]);
        clo_cost_destroy(model->costs[p]);
    }
    clo_graph_destroy(model->graph);
    free(model->traits);
    free(model->kernels);
}

void models_create(thread *t)
{
    for (uint32_t m = 0; m < MODELS; m++)
        (void)model_create(t, &w.models[m], m);
}

void models_destroy(void)
{
    for (uint32_t m = 0; m < MODELS; m++)
        model_free(&w.models[m]);
}

void call_model_new(thread *t)
{
    uint32_t m = below(t, MODELS);

    if (!chance(t, 30) || !use_begin(&w.models[m].object, USE_FREE))
        return;
    log_begin(t, "new graph, costs, plans in", m);
    model_free(&w.models[m]);
    (void)model_create(t, &w.models[m], m);
    log_end(t, 0);
    use_end(&w.models[m].object, USE_FREE);
}
