/* test_policy_lachesis.c - the policy of a network that selects, with a drawn model: what it keeps from event to event
 * is what would be computed from scratch, and what it lacks or cannot take is named in one line. */
#include "common/lachesis_model.h"
#include "policy/network/learned_head.h"
#include "random.h"
#include "scene.h"

#include "base/numbers/rng.h"

#include <string.h>

typedef struct fixture {
    void *data;
    clo_model *model;
    clo_learned_argument argument;
    const clo_policy *policy;
    uint64_t decisions, most;
} fixture;

static fixture f;

static int set_up(void **state)
{
    size_t bytes;

    (void)state;
    f = (fixture){.argument = CLO_LEARNED_ARGUMENT_INIT, .policy = clo_policy_find("lachesis")};
    assert_non_null(f.policy);
    f.data = lachesis_model_draw(5, 0, &bytes);
    assert_non_null(f.data);
    ok(clo_model_open("drawn", f.data, bytes, &f.model));
    f.argument.model = f.model;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clo_model_destroy(f.model);
    free(f.data);
    return 0;
}

/* Sums over the stages of a job that have instances left, against those that are kept. */
static void compare_sums(const clo_learned_head *h, const clo_view *view, uint32_t slot)
{
    const clo_head *head = &h->head;
    const clo_head_job *job = h->set.jobs[slot].job;
    int32_t sums[CLO_MODEL_WIDTH_MAX] = {0};

    for (uint32_t k = 0; k < head->sums[0].count; k++)
        for (uint32_t s = 0; s < job->stages; s++)
            if (clo_view_stage(view, slot, s)->unfinished > 0)
                clo_head_add(head, head->sums[0].list[k].value,
                             clo_head_record(head, job, head->sums[0].list[k].value, s), 1,
                             sums + head->sums[0].list[k].at);
    assert_memory_equal(sums, job->left, head->sums[0].numbers * sizeof *sums);
}

static void compare_job(const clo_learned_head *h, const clo_view *view, uint32_t slot)
{
    const clo_live_job *live = clo_view_job(view, slot);
    const clo_scored_job *kept = &h->set.jobs[slot];
    uint32_t listed = 0;

    assert_ptr_equal(kept->job, clo_learned_head_job(live->state));
    assert_int_equal(kept->figures.executors_used, live->running + live->committed);
    assert_int_equal(kept->figures.executors, clo_view_limits(view)->executors);
    assert_int_equal(kept->figures.tasks_left, live->unfinished);
    assert_int_equal(kept->figures.work_left_ns, live->remaining_ns);
    assert_int_equal(kept->is_open, live->running + live->committed < live->limit);
    compare_sums(h, view, slot);
    for (uint32_t s = live->first_ready; s != CLO_NONE; s = clo_view_stage(view, slot, s)->next_ready)
        if (clo_scored_has(&h->set, slot, s))
            listed++;
        else
            assert_true(h->is_short[live->band]);
    assert_int_equal(listed, kept->candidates);
}

/* READY comes after FINISH, so only decisions see all of a turn. */
static bool watched_decide(void *state, const clo_view *view, clo_choice *choice)
{
    const clo_learned_head *h = clo_learned_head_of(state);
    uint32_t candidates = 0, jobs = 0;

    for (uint32_t j = clo_view_first_job(view); j != CLO_NONE; j = clo_view_job(view, j)->next, jobs++) {
        compare_job(h, view, j);
        candidates += h->set.jobs[j].candidates;
    }
    assert_int_equal(candidates, h->set.count);
    assert_int_equal(jobs, h->set.jobs_count);
    f.decisions++;
    f.most = h->set.count > f.most ? h->set.count : f.most;
    return clo_policy_find("lachesis")->decide(state, view, choice);
}

static clo_job_result simulate(clo_graph *graph, clo_platform *platform)
{
    clo_policy watched = *f.policy;
    clo_sim_config config = {.size = sizeof config, .policy = &watched, .argument = &f.argument};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *cost;

    watched.decide = watched_decide;
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return result;
}

static void what_is_kept_is_what_would_be_computed_from_scratch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++)
        simulate(random_graph(seed, RANDOM_ALL), random_platform(seed, RANDOM_DEMANDS));
    for (uint64_t seed = 1; seed < 20; seed++)
        simulate(random_graph(seed, RANDOM_STAGES), random_platform(seed, 0));
    assert_true(f.decisions > 1000);
}

static void more_ready_stages_than_room_wait_outside(void **state)
{
    const clo_task task = {.work_ns = 10, .instances = 3};

    (void)state;
    f.argument.stages_max = 4;
    f.argument.is_sampled = 1;
    clo_job_result result = simulate(scene_layers(3, 30, &task), scene_platform(3, 1));
    assert_int_equal(f.most, 4);
    assert_true(result.partial >= 3 * 26); /* of 30 stages ready at once, 4 are looked at */
}

/* Ready stages are looked at, all of them or as many as there is room for; choices are counted where some are not. */
static void choices_among_some_of_the_ready_stages_alone_are_counted(void **state)
{
    enum { WIDE = 1030, ROOM = 1024 };
    const clo_task task = {.work_ns = 10};

    (void)state;
    assert_int_equal(simulate(scene_layers(1, ROOM, &task), scene_platform(2, 0)).partial, 0);
    assert_int_equal(f.most, ROOM);
    clo_job_result result = simulate(scene_layers(1, WIDE, &task), scene_platform(2, 0));
    assert_int_equal(f.most, ROOM);
    /* Those outside come in when half of the room is free. A choice that finds no room in a queue is made again. */
    assert_true(result.partial >= ROOM / 2);
    f.argument.stages_max = WIDE;
    assert_int_equal(simulate(scene_layers(1, WIDE, &task), scene_platform(2, 0)).partial, 0);
}

/* Jobs that come and go, in two bands, under limits. */
static void streams_keep_it_too(void **state)
{
    clo_policy watched = *f.policy;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_platform *platform = random_platform(3, 0);
    clo_rng rng = clo_rng_seed(9);
    clo_workload *workload;
    enum { JOBS = 60 };

    (void)state;
    watched.decide = watched_decide;
    ok(clo_workload_create("w", &workload));
    for (uint64_t j = 0; j < JOBS; j++) {
        clo_graph *graph = random_graph(3, RANDOM_SMALL);
        clo_workload_job row = {.size = sizeof row, .graph = graph, .arrival_ns = (int64_t)clo_rng_below(&rng, 100000)};
        row.band = (uint32_t)clo_rng_below(&rng, 2);
        ok(clo_workload_adopt(workload, graph));
        ok(clo_workload_add(workload, &row));
    }
    config.policy = &watched;
    config.argument = &f.argument;
    for (f.argument.stages_max = 0; f.argument.stages_max < 8; f.argument.stages_max += 5) {
        ok(clo_stream_simulate(workload, platform, &config, &result));
        assert_int_equal(result.jobs_ended, JOBS);
        assert_int_equal(result.refused, 0);
    }
    clo_workload_destroy(workload);
    clo_platform_destroy(platform);
}

static void a_bound_on_steps_hands_over_to_the_rule(void **state)
{
    const clo_task task = {.work_ns = 10};
    clo_sim_config config = {.size = sizeof config, .policy = f.policy, .argument = &f.argument, .steps_max = 1};
    clo_graph *graph = scene_layers(3, 5, &task);
    clo_platform *platform = scene_platform(3, 0);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *cost;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    assert_true(result.fallbacks > 0);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void choose_nothing(void *context, const clo_learned_decision *seen, uint32_t *candidate, uint32_t *limit)
{
    (void)context;
    (void)seen;
    (void)candidate;
    (void)limit;
}

static void what_it_cannot_take_is_refused_with_one_line(void **state)
{
    const clo_task task = {.work_ns = 10};
    clo_sim_config config = {.size = sizeof config, .policy = f.policy};
    clo_graph *graph = scene_layers(1, 1, &task);
    clo_platform *platform = scene_platform(1, 0);
    clo_cost *cost;
    size_t bytes;
    clo_model *decima;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    const void *data = clo_model_builtin("decima", &bytes);
    ok(clo_model_open("decima", data, bytes, &decima));
    f.argument.model = decima;
    config.argument = &f.argument;
    fails(CLO_ERR_UNSUPPORTED, "is not of the kind LACHESIS", clo_simulate(cost, &config, NULL, NULL, NULL));
    f.argument.model = f.model;
    f.argument.stages_max = CLO_LEARNED_ROWS_MAX + 1;
    fails(CLO_ERR_ARGUMENT, "stages_max is 65537", clo_simulate(cost, &config, NULL, NULL, NULL));
    f.argument.stages_max = 0;
    f.argument.jobs_max = 1;
    fails(CLO_ERR_ARGUMENT, "leave jobs_max, watch and choose out", clo_simulate(cost, &config, NULL, NULL, NULL));
    f.argument.jobs_max = 0;
    f.argument.choose = choose_nothing;
    fails(CLO_ERR_ARGUMENT, "leave jobs_max, watch and choose out", clo_simulate(cost, &config, NULL, NULL, NULL));
    f.argument.choose = NULL;
    clo_learned_argument read = CLO_LEARNED_ARGUMENT_INIT;
    fails(CLO_ERR_ARGUMENT, "policy 'lachesis': 'now' is none of its parts", f.policy->parse("sampled,now", &read));
    clo_model_destroy(decima);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void without_an_argument_the_built_in_model_decides(void **state)
{
    const clo_task task = {.work_ns = 10, .instances = 2};
    clo_sim_config config = {.size = sizeof config, .policy = f.policy};
    clo_graph *graph = scene_layers(4, 6, &task);
    clo_platform *platform = random_platform(7, 0);
    clo_job_result alone = CLO_JOB_RESULT_INIT, given = CLO_JOB_RESULT_INIT;
    clo_model *shipped;
    clo_cost *cost;
    size_t bytes;

    (void)state;
    const void *data = clo_model_builtin("lachesis", &bytes);
    ok(clo_model_open("lachesis", data, bytes, &shipped));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_simulate(cost, &config, &alone, NULL, NULL));
    f.argument.model = shipped;
    config.argument = &f.argument;
    ok(clo_simulate(cost, &config, &given, NULL, NULL));
    assert_int_equal(alone.makespan_ns, given.makespan_ns);
    assert_int_equal(alone.fallbacks, 0);
    clo_learned_argument read = CLO_LEARNED_ARGUMENT_INIT;
    ok(f.policy->parse("sampled,seed=3", &read));
    config.argument = &read;
    ok(clo_simulate(cost, &config, &given, NULL, NULL));
    f.policy->release(&read);
    clo_model_destroy(shipped);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void a_graph_beyond_the_sums_is_refused_and_endless_times_are_not(void **state)
{
    const clo_task huge = {.work_ns = INT64_MAX / 4}, small = {.work_ns = 1};
    clo_platform *platform = scene_platform(1, 0);
    clo_graph *graph;
    clo_cost *cost;

    (void)state;
    simulate(scene_layers(1, 1, &huge), scene_platform(2, 0));
    ok(clo_graph_create("wide", &graph));
    for (uint32_t t = 0; t <= CLO_HEAD_STAGES_MAX; t++)
        ok(clo_graph_add_task(graph, &small, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    void *memory = calloc(1, f.policy->job_bytes(cost, &f.argument));
    assert_non_null(memory);
    fails(CLO_ERR_LIMIT, "the graph has 65536 stages", f.policy->prepare(memory, cost, &f.argument));
    free(memory);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_kept_is_what_would_be_computed_from_scratch),
        TEST(more_ready_stages_than_room_wait_outside),
        TEST(choices_among_some_of_the_ready_stages_alone_are_counted),
        TEST(streams_keep_it_too),
        TEST(a_bound_on_steps_hands_over_to_the_rule),
        TEST(what_it_cannot_take_is_refused_with_one_line),
        TEST(without_an_argument_the_built_in_model_decides),
        TEST(a_graph_beyond_the_sums_is_refused_and_endless_times_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
