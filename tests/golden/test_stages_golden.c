/* What happens in graphs whose tasks have many instances, under tests/golden/stages: random graphs on random platforms,
 * replayed from plans and under every policy, a line each with the figures a reader compares and a hash of all events.
 * However the edges between stages are kept, nothing of this may change. After a wanted change:
 * CLO_UPDATE_GOLDEN=1 build/.../test_stages_golden, then read the difference. */
#include "golden.h"

#include "base/numbers/rng.h"
#include "base/text.h"
#include "planner_named.h"
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 110, TASKS_MAX = 14 };

/* The output is a sum over the inputs and where they stand. */
static int mix_inputs(const clo_call *call)
{
    uint64_t sum = add(call->task, call->instance);

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        const unsigned char *bytes = call->inputs[i];
        sum = add(sum, call->inputs_bytes[i]);
        for (size_t k = 0; k < call->inputs_bytes[i]; k++)
            sum = add(sum, bytes[k]);
    }
    for (size_t k = 0; k < call->output_bytes; k++)
        ((unsigned char *)call->output)[k] = (unsigned char)(sum >> k % 8 * 8);
    return 0;
}

static uint32_t some_instances(clo_rng *rng)
{
    switch (clo_rng_below(rng, 6)) {
    case 0:
        return 1;
    case 1:
        return 2;
    case 2:
        return 3;
    case 3:
        return 1 + clo_rng_below(rng, 60);
    default:
        return 1 + clo_rng_below(rng, 20);
    }
}

static clo_graph *random_stages(uint64_t seed, const clo_platform *platform)
{
    clo_rng rng = clo_rng_seed(seed ^ 0x57a6e);
    uint32_t tasks = 2 + clo_rng_below(&rng, TASKS_MAX - 1), executors = clo_platform_executors(platform);
    bool has_outputs = seed % 3 != 0, has_demands = seed % 4 == 1, has_masks = seed % 5 == 2, is_duplicable = seed % 2;
    uint32_t id[TASKS_MAX];
    clo_graph *graph;

    ok(clo_graph_create("stages", &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.body = mix_inputs, .work_ns = clo_rng_below(&rng, 5) == 0 ? 0 : clo_rng_below(&rng, 20000)};
        task.instances = some_instances(&rng);
        task.output_bytes = has_outputs && clo_rng_below(&rng, 5) > 0 ? 1 + clo_rng_below(&rng, 16) : 0;
        task.duplicable = is_duplicable && clo_rng_below(&rng, 3) > 0;
        for (uint32_t r = 0; r < 3 && has_demands && clo_rng_below(&rng, 2) == 0; r++)
            task.demand[r] = clo_rng_below(&rng, 7);
        if (has_masks && clo_rng_below(&rng, 3) == 0)
            task.executors_mask = 1ull << clo_rng_below(&rng, executors) | 1ull << clo_rng_below(&rng, executors);
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    for (uint32_t t = 0; t < tasks; t++) { /* a random order: ids are not topological */
        uint32_t at = clo_rng_below(&rng, t + 1);
        id[t] = id[at];
        id[at] = t;
    }
    for (uint32_t to = 1; to < tasks; to++)
        for (uint32_t from = 0; from < to; from++)
            if (clo_rng_below(&rng, tasks) < 3) {
                uint64_t bytes = clo_rng_below(&rng, 4) == 0 ? 0 : clo_rng_below(&rng, 200000);
                ok(clo_graph_add_edge(graph, id[from], id[to], bytes));
            }
    ok(clo_graph_seal(graph));
    return graph;
}

typedef struct scene {
    uint64_t seed;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} scene;

static scene open_scene(uint64_t seed)
{
    scene s = {.seed = seed, .platform = random_platform(seed, RANDOM_DEMANDS)};

    s.graph = random_stages(seed, s.platform);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    return s;
}

static void close_scene(scene *s)
{
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static void add_line(clo_text *text, const scene *s, const char *name, const clo_job_result *r, const clo_trace *trace,
                     uint64_t output_hash)
{
    uint64_t hash = add(add(hash_of_trace(trace), output_hash), r->copied_bytes);

    hash = add(add(hash, (uint64_t)r->busy_ns), r->decisions);
    hash = add(add(hash, r->decision_steps), r->steals);
    clo_text_add(text, "%" PRIu64 " %s %" PRId64 " %" PRIu64 "+%" PRIu64 " %" PRIu64 " of %" PRIu64 " %016" PRIx64 "\n",
                 s->seed, name, r->makespan_ns, r->executed, r->duplicates_run, r->transfers, r->transferred_bytes,
                 hash);
}

static void add_simulation(clo_text *text, const scene *s, const char *name, const clo_policy *policy,
                           const clo_plan *plan, uint32_t execute)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result r = CLO_JOB_RESULT_INIT;
    uint64_t output_hash = 0;
    clo_trace *trace;

    config.policy = policy;
    config.plan = plan;
    config.execute = execute;
    ok(clo_simulate(s->cost, &config, &r, &trace, execute ? &output_hash : NULL));
    add_line(text, s, name, &r, trace, output_hash);
    clo_trace_destroy(trace);
}

/* Real workers, whose times follow from the plan alone. */
static void add_virtual_run(clo_text *text, const scene *s, const char *name, const clo_plan *plan)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result r = CLO_JOB_RESULT_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;

    runtime_config.clock = CLO_CLOCK_VIRTUAL;
    runtime_config.trace = runtime_config.unpinned = runtime_config.copy_always = 1;
    config.plan = plan;
    ok(clo_runtime_create(s->platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, s->cost, &config, &job));
    for (int run = 0; run < 2; run++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &r));
    }
    ok(clo_job_trace(job, &trace));
    add_line(text, s, name, &r, trace, clo_job_output_hash(job));
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
}

static bool has_demands(const clo_graph *graph)
{
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
        clo_task task = CLO_TASK_INIT;
        ok(clo_graph_task(graph, t, &task));
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            if (task.demand[r] != 0)
                return true;
    }
    return false;
}

static void add_replays(clo_text *text, const scene *s)
{
    static const struct {
        const char *planner, *simulated, *ran;
    } rows[] = {{"heft", "heft", "heft-run"}, {"deft", "deft", "deft-run"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_plan_config config = {.size = sizeof config, .planner = planner_named(rows[i].planner)};
        clo_plan *plan;
        ok(clo_plan_create(s->cost, &config, &plan));
        add_simulation(text, s, rows[i].simulated, NULL, plan, s->seed % 2 == 0);
        if (!has_demands(s->graph) && s->seed % 2 == i)
            add_virtual_run(text, s, rows[i].ran, plan);
        clo_plan_destroy(plan);
    }
}

static void runs_of_stages_are_golden(void **state)
{
    (void)state;
    clo_text text = {0};
    const clo_policy *policy;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = open_scene(seed);
        add_replays(&text, &s);
        for (uint32_t k = 0; (policy = policy_at(k)) != NULL; k++)
            add_simulation(&text, &s, policy->name, policy, NULL, seed % 3 == k % 3);
        close_scene(&s);
    }
    is_golden("stages/runs.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_of_stages_are_golden)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
