/* A periodic pipeline of band 0, 10 000 releases, alone and beside a stream of a lower band that leaves no executor
 * idle, in virtual time. */
#include "support.h"

#include "scene.h"

#include <clotho/admission.h>

enum { RELEASES = 10000, PERIOD_NS = 1000000, EXECUTORS = 2, STREAM_INSTANCES = 64 };

typedef struct scene {
    clo_platform *platform;
    clo_graph *pipeline, *load;
} scene;

/* What became of the pipeline. */
typedef struct fate {
    uint32_t missed;
    int64_t longest_ns;
    uint64_t stream_bodies;
} fate;

/* read -> two filters -> write: a chain of 200 us, 280 us of work. */
static clo_graph *new_pipeline(void)
{
    const clo_task stages[3] = {{.work_ns = 60000}, {.work_ns = 80000, .instances = 2}, {.work_ns = 60000}};
    clo_graph *graph;

    ok(clo_graph_create("pipeline", &graph));
    ok(clo_graph_add_tasks(graph, stages, 3, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 64));
    ok(clo_graph_add_edge(graph, 1, 2, 64));
    ok(clo_graph_seal(graph));
    return graph;
}

static scene open_scene(int64_t stream_ns)
{
    const clo_task load = {.work_ns = stream_ns, .instances = STREAM_INSTANCES};
    scene s = {.platform = scene_platform(EXECUTORS, 0), .pipeline = new_pipeline()};

    ok(clo_graph_create("load", &s.load));
    ok(clo_graph_add_task(s.load, &load, NULL));
    ok(clo_graph_seal(s.load));
    return s;
}

static void close_scene(scene *s)
{
    clo_graph_destroy(s->pipeline);
    clo_graph_destroy(s->load);
    clo_platform_destroy(s->platform);
}

static clo_workload *new_workload(const scene *s, int64_t deadline_ns, int64_t stream_ns)
{
    int64_t room_ns = (int64_t)(RELEASES + 1) * PERIOD_NS * EXECUTORS;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_workload *workload;

    ok(clo_workload_create("beside", &workload));
    job.graph = s->pipeline;
    job.deadline_ns = deadline_ns;
    for (uint32_t k = 0; k < RELEASES; k++) {
        job.arrival_ns = (int64_t)k * PERIOD_NS;
        ok(clo_workload_add(workload, &job));
    }
    job = (clo_workload_job){.size = sizeof job, .graph = s->load, .band = 1};
    for (int64_t k = 0; stream_ns > 0 && k * stream_ns * STREAM_INSTANCES < room_ns; k++)
        ok(clo_workload_add(workload, &job));
    ok(clo_workload_sort(workload));
    return workload;
}

static fate simulate(const scene *s, const char *policy, int64_t deadline_ns, int64_t stream_ns)
{
    clo_workload *workload = new_workload(s, deadline_ns, stream_ns);
    clo_stream_outcome *outcomes = calloc(clo_workload_jobs(workload), sizeof *outcomes);
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    fate f = {0};

    assert_non_null(outcomes);
    config.policy = clo_policy_find(policy);
    config.outcomes = outcomes;
    ok(clo_stream_simulate(workload, s->platform, &config, NULL));
    for (uint32_t i = 0; i < clo_workload_jobs(workload); i++) {
        int64_t took_ns = outcomes[i].finish_ns - outcomes[i].arrival_ns;
        if (clo_workload_get(workload, i)->band > 0) {
            f.stream_bodies += outcomes[i].executions;
            continue;
        }
        f.missed += took_ns > deadline_ns;
        f.longest_ns = took_ns > f.longest_ns ? took_ns : f.longest_ns;
    }
    free(outcomes);
    clo_workload_destroy(workload);
    return f;
}

static clo_admission_job ask(const scene *s, int64_t deadline_ns)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_admission_job answers[2];
    clo_workload *set;

    ok(clo_workload_create("set", &set));
    job.graph = s->pipeline;
    job.period_ns = PERIOD_NS;
    job.deadline_ns = deadline_ns;
    ok(clo_workload_add(set, &job));
    job = (clo_workload_job){.size = sizeof job, .graph = s->load, .band = 1};
    ok(clo_workload_add(set, &job));
    ok(clo_admission_test(set, s->platform, NULL, answers, NULL));
    clo_workload_destroy(set);
    return answers[0];
}

static const char *const policies[] = {"edf", "fifo", "fair", "rank"};

/* The deadline holds the bodies that block: the test admits the pipeline, and the stream costs it no release. */
static void an_admitted_pipeline_misses_as_much_beside_the_stream_as_alone(void **state)
{
    const int64_t stream_ns = 90001, deadline_ns = 520000;
    scene s = open_scene(stream_ns);
    clo_admission_job bound = ask(&s, deadline_ns);

    (void)state;
    assert_int_equal(bound.verdict, CLO_ADMISSION_ADMITTED);
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        fate alone = simulate(&s, policies[p], deadline_ns, 0),
             beside = simulate(&s, policies[p], deadline_ns, stream_ns);
        assert_int_equal(alone.missed, 0);
        assert_int_equal(beside.missed, alone.missed);
        assert_int_equal(alone.longest_ns, 200000);
        assert_true(beside.longest_ns > alone.longest_ns); /* it is blocked */
        assert_true(beside.longest_ns <= bound.response_ns);
        assert_true(beside.stream_bodies > (uint64_t)RELEASES * PERIOD_NS * EXECUTORS / (uint64_t)stream_ns / 2);
    }
    close_scene(&s);
}

/* A deadline that has no room for one body more: alone nothing is missed, the test says "unknown", and beside the
 * stream releases are missed. So the test is not needlessly careful here, and bodies that cannot be preempted cost what
 * it says: the longest response lies within one body for each wait. */
static void without_room_for_the_bodies_that_block_releases_are_missed(void **state)
{
    const int64_t stream_ns = 90001, deadline_ns = 250000;
    scene s = open_scene(stream_ns);

    (void)state;
    assert_int_equal(ask(&s, deadline_ns).verdict, CLO_ADMISSION_UNKNOWN);
    fate alone = simulate(&s, "edf", deadline_ns, 0), beside = simulate(&s, "edf", deadline_ns, stream_ns);
    assert_int_equal(alone.missed, 0);
    assert_true(beside.missed > 0);
    assert_true(beside.longest_ns <= alone.longest_ns + 3 * stream_ns);
    print_message("deadline 250 us: %u of %d missed beside bodies of 90 us; longest response %lld ns, alone %lld ns\n",
                  beside.missed, RELEASES, (long long)beside.longest_ns, (long long)alone.longest_ns);
    close_scene(&s);
}

/* Deadlines that no policy meets are missed alike with and without the stream. */
static void a_refused_pipeline_misses_every_release_either_way(void **state)
{
    scene s = open_scene(50000);

    (void)state;
    assert_int_equal(ask(&s, 199999).verdict, CLO_ADMISSION_REFUSED);
    assert_int_equal(simulate(&s, "edf", 199999, 0).missed, RELEASES);
    assert_int_equal(simulate(&s, "edf", 199999, 50000).missed, RELEASES);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_admitted_pipeline_misses_as_much_beside_the_stream_as_alone),
        cmocka_unit_test(without_room_for_the_bodies_that_block_releases_are_missed),
        cmocka_unit_test(a_refused_pipeline_misses_every_release_either_way),
    };
    return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
