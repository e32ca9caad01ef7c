/* graphs.c - what graphs hold besides plain tasks: grains, handles, branches, merges, loops, modules. Nothing of it
 * changes from run to run: branches choose by what they read, and who changes a kept handle does not look at what the
 * run before has left. So one simulation gives the outputs of every run. */
#include "fuzz_api.h"

static void must(clo_status status, const char *what)
{
    if (status != CLO_OK)
        broken("%s: %s", what, clo_last_error());
}

graph_shape draw_shape(thread *t)
{
    uint32_t at = below(t, 100);

    if (with(WITH_branches) && at < 25)
        return at < 18 ? SHAPE_BRANCHES : SHAPE_LOOP;
    if (with(WITH_handles) && at < 45)
        return SHAPE_HANDLES;
    return with(WITH_grains) && at < 60 ? SHAPE_GRAINS : SHAPE_PLAIN;
}

/* Before the task is added. */
void shape_task(thread *t, graph_shape shape, body_trait *trait, clo_task *task)
{
    if (shape == SHAPE_GRAINS && chance(t, 60)) {
        task->instances = chance(t, 80) ? 1 + below(t, 20) : 0;
        task->grain = chance(t, 80) ? 1 + below(t, 8) : UINT32_MAX;
    }
    if (shape != SHAPE_BRANCHES || !chance(t, 30))
        return;
    trait->arms = 1 + below(t, chance(t, 90) ? 3 : CLO_ARMS_MAX);
    trait->pends = 0;
    task->instances = 0;
    task->may_pend = task->duplicable = 0;
}

/* The edge from -> to, an arm of a branch mostly. */
void shape_edge(thread *t, model_slot *model, uint32_t from, uint32_t to)
{
    uint64_t bytes = below(t, 2) * 64;
    uint32_t arms = model->traits[from].arms;

    if (arms > 0 && chance(t, 85))
        must(clo_graph_add_arm(model->graph, from, to, bytes, below(t, arms)), "clo_graph_add_arm");
    else
        must(clo_graph_add_edge(model->graph, from, to, bytes), "clo_graph_add_edge");
}

/* A handle may be used once by a task. In graphs with branches they are kept. Those at an address are read only: many
 * jobs use them at once. */
static void add_handle(thread *t, model_slot *model, uint32_t tasks, bool is_kept)
{
    static uint64_t shared[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    clo_handle handle = {.bytes = 8 * 60 * (1 + below(t, 3)), .kept = is_kept};
    bool is_shared = chance(t, 10), has_content = is_kept || is_shared;
    uint32_t id;
    clo_task task;

    if (is_shared) {
        handle.address = shared;
        handle.bytes = sizeof shared;
        handle.kept = 0;
    }
    must(clo_graph_add_handle(model->graph, &handle, &id), "clo_graph_add_handle");
    for (uint32_t i = 0; i < tasks; i++) {
        uint32_t mode = is_shared || chance(t, 50) ? CLO_ACCESS_READ : 1 + below(t, 3);
        must(clo_graph_task(model->graph, i, &task), "clo_graph_task");
        if (!chance(t, 40) || task.grain > 1)
            continue;
        if (!has_content)
            mode = CLO_ACCESS_WRITE;
        if (mode != CLO_ACCESS_READ && task.instances > 1)
            mode |= CLO_ACCESS_PARTS;
        has_content = true;
        must(clo_graph_add_access(model->graph, i, id, mode), "clo_graph_add_access");
    }
}

/* A loop of the model's own small body; its traits stand behind those of the tasks. */
static void add_loop(thread *t, model_slot *model, uint32_t tasks)
{
    clo_loop loop = CLO_LOOP_INIT;
    body_trait *traits = model->traits + tasks;
    clo_edge carried = {1, 0, 8};
    clo_graph *body;
    uint32_t first, exit;

    must(clo_graph_create("body", &body), "clo_graph_create");
    for (uint32_t i = 0; i < 3; i++) {
        clo_task task = {.body = fuzz_body, .argument = &traits[i], .work_ns = below(t, 2000), .output_bytes = 16};
        traits[i] = (body_trait){.model = traits[i].model, .arms = i == 2 ? 2 : 0};
        if (i < 2 && chance(t, 30))
            task.instances = 1 + below(t, 3);
        must(clo_graph_add_task(body, &task, NULL), "clo_graph_add_task");
    }
    must(clo_graph_add_edge(body, 0, 1, 16), "clo_graph_add_edge");
    must(clo_graph_add_edge(body, chance(t, 50) ? 1 : 0, 2, 16), "clo_graph_add_edge");
    must(clo_graph_seal(body), "clo_graph_seal");
    loop.body = body;
    loop.condition = 2;
    loop.bound = 1 + below(t, 6);
    loop.again = chance(t, 50) ? 0 : 1 + below(t, 60000);
    loop.carried = &carried;
    loop.carried_count = chance(t, 70);
    traits[2].bound = loop.bound;
    must(clo_graph_add_loop(model->graph, &loop, &first, &exit), "clo_graph_add_loop");
    if (tasks > 0)
        must(clo_graph_add_edge(model->graph, below(t, tasks), first, 8), "clo_graph_add_edge");
    if (chance(t, 30)) {
        uint32_t copy;
        must(clo_graph_add_module(model->graph, body, NULL, &copy), "clo_graph_add_module");
        must(clo_graph_add_edge(model->graph, exit, copy, 8), "clo_graph_add_edge");
    }
    traits[2].first = first + 2;
    clo_graph_destroy(body);
}

/* After tasks and edges. `model->traits` has room for LOOP_TRAITS more. */
void shape_rest(thread *t, model_slot *model, graph_shape shape, uint32_t tasks)
{
    if (shape == SHAPE_LOOP)
        add_loop(t, model, tasks);
    for (uint32_t i = 0; i < tasks && shape == SHAPE_BRANCHES; i++) {
        if (model->traits[i].arms > 0)
            must(clo_graph_set_branch(model->graph, i, model->traits[i].arms, NULL), "clo_graph_set_branch");
        if (chance(t, 30))
            must(clo_graph_set_merge(model->graph, i), "clo_graph_set_merge");
    }
    bool has_handles = shape == SHAPE_HANDLES || (shape == SHAPE_BRANCHES && with(WITH_handles) && chance(t, 40));
    bool is_kept = shape == SHAPE_BRANCHES || chance(t, 30);
    for (uint32_t i = 1 + below(t, 4); i > 0 && has_handles; i--)
        add_handle(t, model, tasks, is_kept);
    model->keeps = has_handles && is_kept;
    for (uint32_t i = 0; i < tasks; i++)
        model->traits[i].keeps = model->keeps;
}
