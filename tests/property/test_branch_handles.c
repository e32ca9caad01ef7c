/* Handles in graphs with branches and loops, 1 000 random graphs: the simulator, workers in virtual time and workers in
 * real time agree, whoever decides, and leave in every handle what the same code leaves that goes through the tasks in
 * the order of their ids. Bodies read and change the handles, and branches choose by what they read: so an order that
 * is missing, or a task that is skipped for an edge that only orders, shows. */
#include "support.h"

#include "random.h"
#include "recorded.h"
#include "sample.h"

#include "base/numbers/rng.h"
#include "planner_named.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS sample_size(1000, 2)
#define SEEDS_STEP (SANITIZED ? 7u : 1u)

enum { TASKS_MAX = 30, HANDLES_MAX = 4, PARTS = 12, BYTES_MAX = 8 * PARTS, ARMS = 3 };

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    /* Of the handles that have an address. */
    unsigned char *buffers;
} scene;

/* argument: how many arms the body chooses from; NULL: it chooses none. */
static int use(const clo_call *call)
{
    uint64_t seen = call->task * UINT64_C(0x9e3779b97f4a7c15) + call->instance;

    for (uint32_t k = 0; k < call->data_count; k++) {
        unsigned char *at = call->data[k];
        size_t bytes = call->data_bytes[k];
        if ((call->data_modes[k] & CLO_ACCESS_PARTS) != 0) {
            bytes = bytes / call->instances;
            at += bytes * call->instance;
            bytes *= call->count;
        }
        uint32_t mode = call->data_modes[k] & ~(uint32_t)CLO_ACCESS_PARTS;
        for (size_t i = 0; i < bytes && mode != CLO_ACCESS_WRITE; i++)
            seen = (seen ^ at[i]) * UINT64_C(0x100000001b3);
        for (size_t i = 0; i < bytes && mode != CLO_ACCESS_READ; i++)
            at[i] =
                (unsigned char)((mode == CLO_ACCESS_UPDATE ? at[i] * 5 : 0) + (int)(seen >> (i % 8 * 8) & 0x7f) + 1);
    }
    if (call->arm != NULL && call->argument != NULL)
        *call->arm = (uint32_t)(seen >> 7) % (uint32_t)(uintptr_t)call->argument;
    return 0;
}

static void add_handles(scene *s, clo_rng *rng, clo_graph *graph)
{
    uint32_t count = 1 + clo_rng_below(rng, HANDLES_MAX);

    for (uint32_t h = 0; h < count; h++) {
        clo_handle handle = {.bytes = PARTS * (1 + clo_rng_below(rng, BYTES_MAX / PARTS))};
        handle.address = clo_rng_below(rng, 2) ? s->buffers + (size_t)h * BYTES_MAX : NULL;
        handle.kept = handle.address == NULL || clo_rng_below(rng, 2);
        ok(clo_graph_add_handle(graph, &handle, NULL));
    }
}

/* Some accesses of one task; many instances write their parts only. */
static void add_accesses(clo_graph *graph, clo_rng *rng, uint32_t task, uint32_t instances)
{
    for (uint32_t h = 0; h < clo_graph_handles(graph); h++) {
        uint32_t mode = clo_rng_below(rng, 5);
        if (mode == 0 || mode > CLO_ACCESS_UPDATE)
            continue;
        if (instances > 1 && (mode != CLO_ACCESS_READ || clo_rng_below(rng, 2)))
            mode |= CLO_ACCESS_PARTS;
        ok(clo_graph_add_access(graph, task, h, mode));
    }
}

/* A branch, a merge or neither; with the edges into it from tasks before. */
static void add_task(clo_graph *graph, clo_rng *rng, uint32_t *arms)
{
    static const uint32_t counts[] = {1, 1, 1, 2, 3, PARTS};
    uint32_t id = clo_graph_tasks(graph), is_branch = clo_rng_below(rng, 3) == 0;
    clo_task task = {.body = use, .work_ns = clo_rng_below(rng, 20000)};

    task.instances = is_branch ? 1 : counts[clo_rng_below(rng, 6)];
    task.grain = task.instances == PARTS ? 5 : 0;
    task.duplicable = !is_branch && clo_rng_below(rng, 2);
    task.argument = clo_rng_below(rng, 4) > 0 ? (void *)(uintptr_t)ARMS : NULL; /* else the arm is drawn */
    ok(clo_graph_add_task(graph, &task, NULL));
    arms[id] = is_branch ? ARMS : 0;
    if (is_branch)
        ok(clo_graph_set_branch(graph, id, ARMS, NULL));
    if (clo_rng_below(rng, 3) == 0)
        ok(clo_graph_set_merge(graph, id));
    for (uint32_t from = 0; from < id; from++)
        if (clo_rng_below(rng, id + 3) < 3) {
            if (arms[from] > 0 && clo_rng_below(rng, 4) > 0)
                ok(clo_graph_add_arm(graph, from, id, clo_rng_below(rng, 2000), clo_rng_below(rng, ARMS)));
            else
                ok(clo_graph_add_edge(graph, from, id, clo_rng_below(rng, 2000)));
        }
    add_accesses(graph, rng, id, task.instances);
}

/* A loop whose iterations use the handles of the graph, and one that they share. */
static void add_loop(clo_graph *graph, clo_rng *rng)
{
    uint32_t handles[HANDLES_MAX + 1], inner = 1 + clo_rng_below(rng, 3);
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *body;

    ok(clo_graph_create("body", &body));
    for (uint32_t h = 0; h < clo_graph_handles(graph); h++) {
        clo_handle handle;
        ok(clo_graph_handle(graph, h, &handle));
        ok(clo_graph_add_handle(body, &handle, NULL));
        handles[h] = h;
    }
    handles[clo_graph_handles(graph)] = CLO_NONE;
    ok(clo_graph_add_handle(body, &(clo_handle){.name = "shared", .bytes = PARTS, .kept = 1}, NULL));
    for (uint32_t t = 0; t < inner; t++) {
        const clo_task task = {.body = use, .work_ns = clo_rng_below(rng, 5000)};
        ok(clo_graph_add_task(body, &task, NULL));
        if (t > 0 && clo_rng_below(rng, 2))
            ok(clo_graph_add_edge(body, t - 1, t, 100));
        add_accesses(body, rng, t, 1);
    }
    ok(clo_graph_seal(body));
    loop.body = body;
    loop.condition = clo_rng_below(rng, inner);
    loop.bound = 1 + clo_rng_below(rng, 4);
    loop.again = CLO_CHANCES_ONE * 3 / 4;
    loop.handles = handles;
    ok(clo_graph_add_loop(graph, &loop, NULL, NULL));
    clo_graph_destroy(body);
}

static scene make_scene(uint64_t seed)
{
    unsigned features = RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS;
    clo_rng rng = sample_rng(seed ^ 0xbada55);
    scene s = {.platform = random_platform(seed, features), .buffers = calloc(HANDLES_MAX, BYTES_MAX)};
    uint32_t arms[2 * TASKS_MAX + 16] = {0}, tasks = 2 + clo_rng_below(&rng, TASKS_MAX);
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    assert_non_null(s.buffers);
    ok(clo_graph_create("handles", &s.graph));
    add_handles(&s, &rng, s.graph);
    for (uint32_t t = 0; t < tasks; t++)
        add_task(s.graph, &rng, arms);
    if (seed % 3 == 0)
        add_loop(s.graph, &rng);
    for (uint32_t t = 0; t < seed % 4; t++)
        add_task(s.graph, &rng, arms);
    ok(clo_graph_seal(s.graph));
    config.planner = planner_named(seed % 3 == 0 ? "heft-expected" : seed % 3 == 1 ? "deft" : "heft");
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, &config, &s.plan));
    ok(clo_plan_check(s.plan, s.cost, CLO_CHECK_FULL));
    return s;
}

static void drop_scene(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
    free(s->buffers);
}

/* What handles hold: [handles][BYTES_MAX]. */
typedef struct content {
    unsigned char of[HANDLES_MAX + 2][BYTES_MAX];
} content;

/* Calls the body of each item of a task; returns what it chose. */
static uint32_t call_bodies(const scene *s, uint32_t task, content *all)
{
    void *data[HANDLES_MAX + 2];
    size_t bytes[HANDLES_MAX + 2];
    uint32_t modes[HANDLES_MAX + 2], count = 0, arm = CLO_NONE;
    clo_task row;
    clo_access access;
    clo_handle handle;

    for (uint32_t a = 0; a < clo_graph_accesses(s->graph); a++) {
        ok(clo_graph_access(s->graph, a, &access));
        if (access.task != task)
            continue;
        ok(clo_graph_handle(s->graph, access.handle, &handle));
        data[count] = all->of[access.handle];
        bytes[count] = (size_t)handle.bytes;
        modes[count++] = access.mode;
    }
    ok(clo_graph_task(s->graph, task, &row));
    uint32_t grain = row.grain > 0 ? row.grain : 1;
    for (uint32_t i = 0; row.body != NULL && i < row.instances; i += grain) {
        clo_call call = {.task = task,
                         .instance = i,
                         .instances = row.instances,
                         .count = i + grain > row.instances ? row.instances - i : grain,
                         .argument = row.argument,
                         .data_count = count,
                         .data = data,
                         .data_bytes = bytes,
                         .data_modes = modes,
                         .arm = clo_graph_arms(s->graph, task) > 0 ? &arm : NULL};
        assert_int_equal(row.body(&call), 0);
    }
    return arm;
}

/* The rule of branch.h, of one task whose predecessors are settled. */
static bool must_skip(const scene *s, uint32_t task, const uint8_t *skipped, const uint32_t *arm)
{
    uint32_t dead = 0, alive = 0;

    for (uint32_t e = 0; e < clo_graph_edges_added(s->graph); e++) { /* derived edges only order */
        clo_edge edge;
        ok(clo_graph_edge(s->graph, e, &edge));
        if (edge.to != task)
            continue;
        uint32_t of = clo_graph_edge_arm(s->graph, e);
        bool is_dead = skipped[edge.from] || (of != CLO_NONE && of != arm[edge.from]);
        dead += is_dead;
        alive += !is_dead;
    }
    return dead > 0 && (alive == 0 || !clo_graph_is_merge(s->graph, task));
}

/* The same code without tasks: goes through them by id, with the arms of the trace where they were drawn. Returns how
 * many tasks it has skipped. */
static uint32_t run_by_id(const scene *s, const clo_trace *trace, content *all)
{
    uint32_t tasks = clo_graph_tasks(s->graph), count = 0;
    uint32_t *arm = calloc(tasks, sizeof *arm);
    uint8_t *ran = calloc(tasks, 1), *skipped = calloc(tasks, 1);
    size_t events_count;
    const clo_trace_event *events = clo_trace_events(trace, &events_count);

    assert_true(arm != NULL && ran != NULL && skipped != NULL);
    for (size_t i = 0; i < events_count; i++) {
        ran[events[i].task] |= !events[i].is_skipped;
        if (!events[i].is_skipped)
            arm[events[i].task] = events[i].arm;
    }
    for (uint32_t t = 0; t < tasks; t++) {
        skipped[t] = must_skip(s, t, skipped, arm);
        assert_int_equal(ran[t], !skipped[t]);
        uint32_t chosen = skipped[t] ? CLO_NONE : call_bodies(s, t, all);
        if (chosen != CLO_NONE)
            assert_int_equal(chosen, arm[t]);
        count += skipped[t];
    }
    free(arm);
    free(ran);
    free(skipped);
    return count;
}

/* What a run from zeros has left; the buffers with an address are zeros again afterwards. */
static void check_content(const scene *s, const clo_trace *trace, const clo_job *job, uint32_t *skipped)
{
    content want = {{{0}}};
    clo_plan *happened;
    clo_handle handle;

    *skipped = run_by_id(s, trace, &want);
    for (uint32_t h = 0; h < clo_graph_handles(s->graph); h++) {
        ok(clo_graph_handle(s->graph, h, &handle));
        if (job != NULL)
            assert_memory_equal(clo_job_data(job, h, NULL), want.of[h], (size_t)handle.bytes);
        else if (handle.address != NULL)
            assert_memory_equal(handle.address, want.of[h], (size_t)handle.bytes);
        if (handle.address != NULL)
            memset(handle.address, 0, (size_t)handle.bytes);
    }
    ok(clo_trace_to_plan(trace, s->cost, &happened));
    ok(clo_plan_check(happened, s->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(happened);
}

/* One run on workers from zeros. NULL for both: work stealing. */
static clo_trace *run_on_workers(const scene *s, clo_clock clock, const clo_plan *plan, const clo_policy *policy,
                                 clo_job_result *result, uint64_t *hash)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;
    uint32_t skipped;

    runtime_config.clock = clock;
    runtime_config.trace = 1;
    runtime_config.copy_always = 1;
    runtime_config.unpinned = 1;
    config.plan = plan;
    config.policy = policy;
    config.seed = 70;
    ok(clo_runtime_create(s->platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, s->cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, result));
    ok(clo_job_trace(job, &trace));
    *hash = clo_job_output_hash(job);
    check_content(s, trace, job, &skipped);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return trace;
}

static const clo_policy *policy_of(uint64_t number)
{
    uint32_t count = policies_count();

    return policy_at(count > 0 ? (uint32_t)(number % count) : 0);
}

static uint32_t run_equals_sim(uint64_t seed, bool is_planned)
{
    scene s = make_scene(seed);
    const clo_policy *policy = is_planned ? NULL : policy_of(seed);
    clo_job_result simulated = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    uint64_t simulated_hash, ran_hash;
    uint32_t skipped;
    clo_trace *sim_trace;

    config.plan = is_planned ? s.plan : NULL;
    config.policy = policy;
    config.execute = 1;
    config.seed = 70;
    ok(clo_simulate(s.cost, &config, &simulated, &sim_trace, &simulated_hash));
    check_content(&s, sim_trace, NULL, &skipped);
    clo_trace *run_trace = run_on_workers(&s, CLO_CLOCK_VIRTUAL, config.plan, policy, &ran, &ran_hash);
    if (simulated.makespan_ns != ran.makespan_ns)
        fail_msg("seed %u: simulated %lld ns, ran %lld ns", (unsigned)seed, (long long)simulated.makespan_ns,
                 (long long)ran.makespan_ns);
    assert_int_equal(simulated.skipped, ran.skipped);
    assert_int_equal(simulated.executed, ran.executed);
    assert_int_equal(simulated.transferred_bytes, ran.transferred_bytes);
    assert_true(simulated_hash == ran_hash);
    if (is_planned)
        assert_true(ran.makespan_ns <= clo_plan_makespan_ns(s.plan)); /* planned as if all ran */
    same_events(sim_trace, run_trace);
    clo_trace_destroy(sim_trace);
    clo_trace_destroy(run_trace);
    drop_scene(&s);
    return skipped;
}

static void a_plan_leaves_in_every_handle_what_the_same_code_without_tasks_leaves(void **state)
{
    (void)state;
    uint64_t skipped = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP)
        skipped += run_equals_sim(seed, true);
    print_message("skipped: %llu tasks\n", (unsigned long long)skipped);
    assert_true(skipped > SEEDS / SEEDS_STEP);
}

static void every_policy_does_so_too(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP)
        (void)run_equals_sim(seed, false);
}

static void real_workers_do_so_too(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 4; seed += SEEDS_STEP) {
        scene s = make_scene(seed);
        clo_job_result result = CLO_JOB_RESULT_INIT;
        uint64_t hash;
        const clo_policy *policy = seed % 3 == 0 ? policy_of(seed / 3) : NULL;
        clo_trace_destroy(run_on_workers(&s, CLO_CLOCK_REAL, seed % 3 == 1 ? s.plan : NULL, policy, &result, &hash));
        drop_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_leaves_in_every_handle_what_the_same_code_without_tasks_leaves),
        cmocka_unit_test(every_policy_does_so_too),
        cmocka_unit_test(real_workers_do_so_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
