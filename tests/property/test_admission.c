/* Random sets of periodic jobs over saturating lower bands, in virtual time: no release of an admitted job ends after
 * its bound, and of a refused job one release misses its deadline under every policy. */
#include "support.h"

#include "random.h"

#include <clotho/admission.h>
#include <clotho/stream.h>

#include <stdio.h>

enum { PERIODIC_MAX = 4, ROWS_MAX = 16, RELEASES = 25, SETS = SANITIZED ? 150 : 800 };

typedef struct scene {
    clo_platform *platform;
    clo_graph *graphs[ROWS_MAX];
    clo_workload *set;      /* as the test sees it */
    clo_workload *releases; /* the same, each release a job */
    uint32_t from[ROWS_MAX * RELEASES + ROWS_MAX], rows;
    clo_admission_job answers[ROWS_MAX];
    clo_admission_result result;
} scene;

/* What the sets came to, so that nothing here is true of nothing. */
static struct {
    uint32_t admitted, beside_others, blocked, unknown, refused, overloaded;
    double closest; /* response / bound, at most */
} seen;

static uint64_t draw(uint64_t *state, uint64_t bound)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % bound;
}

static int64_t fastest_chain(const scene *s, const clo_graph *graph)
{
    clo_bound bound = CLO_BOUND_INIT;
    clo_cost *cost;

    ok(clo_cost_create(graph, s->platform, &cost));
    ok(clo_cost_bound(cost, &bound));
    clo_cost_destroy(cost);
    return bound.best_ns > 0 ? bound.best_ns : 1;
}

static void add_row(scene *s, const clo_workload_job *job)
{
    clo_workload_job one = *job;
    uint64_t releases = job->period_ns > 0 ? job->releases : 1;

    ok(clo_workload_add(s->set, job));
    one.period_ns = 0;
    one.releases = 0;
    for (uint64_t k = 0; k < releases; k++) {
        one.arrival_ns = job->arrival_ns + (int64_t)k * job->period_ns;
        s->from[clo_workload_jobs(s->releases)] = s->rows;
        ok(clo_workload_add(s->releases, &one));
    }
    s->rows++;
}

/* Only the graph of the platform's own seed fits where tasks are restricted. */
static clo_graph *small_graph(uint64_t *state, uint64_t platform)
{
    unsigned features =
        RANDOM_SMALL | (draw(state, 2) ? RANDOM_NO_BYTES : 0) | (draw(state, 3) == 0 ? RANDOM_INSTANCES : 0);
    bool is_restricted = draw(state, 3) == 0;

    if (is_restricted)
        features |= RANDOM_MASKS | (draw(state, 2) ? RANDOM_KINDS : 0);
    return random_graph(is_restricted ? platform : draw(state, 1u << 20), features);
}

/* Periodic jobs of bands 0 and 1, and bands below that never run dry. */
static void draw_set(scene *s, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;
    uint32_t periodic = 1 + (uint32_t)draw(&state, PERIODIC_MAX);
    int64_t end_ns = 0;

    *s = (scene){.result = CLO_ADMISSION_RESULT_INIT};
    uint64_t platform = draw(&state, 1u << 20);
    s->platform = random_platform(platform, 0);
    ok(clo_workload_create("set", &s->set));
    ok(clo_workload_create("releases", &s->releases));
    for (uint32_t i = 0; i < periodic; i++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        job.graph = s->graphs[s->rows] = small_graph(&state, platform);
        int64_t fastest = fastest_chain(s, job.graph);
        job.deadline_ns = fastest * (int64_t)(1 + draw(&state, 120)) / 4 + 1;
        job.period_ns = job.deadline_ns * (int64_t)(2 + draw(&state, 12)) / 4 + 1;
        job.arrival_ns = (int64_t)draw(&state, (uint64_t)job.period_ns);
        job.releases = RELEASES;
        job.band = draw(&state, 3) == 0;
        end_ns =
            job.arrival_ns + RELEASES * job.period_ns > end_ns ? job.arrival_ns + RELEASES * job.period_ns : end_ns;
        add_row(s, &job);
    }
    for (uint32_t i = 0; i < 2 && draw(&state, 5) > 0; i++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        clo_task task = {.work_ns = (int64_t)(100 + draw(&state, 20000))};
        int64_t wanted = end_ns / task.work_ns + 1;
        task.instances = (uint32_t)(wanted < 4000 ? wanted : 4000);
        ok(clo_graph_create("load", &s->graphs[s->rows]));
        ok(clo_graph_add_task(s->graphs[s->rows], &task, NULL));
        ok(clo_graph_seal(s->graphs[s->rows]));
        job.graph = s->graphs[s->rows];
        job.band = 2 + i;
        add_row(s, &job);
    }
}

static void stop(scene *s)
{
    clo_workload_destroy(s->set);
    clo_workload_destroy(s->releases);
    for (uint32_t i = 0; i < s->rows; i++)
        clo_graph_destroy(s->graphs[i]);
    clo_platform_destroy(s->platform);
}

static uint32_t count_late(const scene *s, uint32_t row, const clo_stream_outcome *outcomes)
{
    uint32_t late = 0;

    for (uint32_t i = 0; i < clo_workload_jobs(s->releases); i++)
        late += s->from[i] == row &&
                outcomes[i].finish_ns - outcomes[i].arrival_ns > clo_workload_get(s->releases, i)->deadline_ns;
    return late;
}

static clo_stream_outcome *simulate(const scene *s, const char *policy, clo_stream_result *result)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_outcome *outcomes = calloc(clo_workload_jobs(s->releases), sizeof *outcomes);

    assert_non_null(outcomes);
    config.policy = clo_policy_find(policy);
    config.outcomes = outcomes;
    ok(clo_stream_simulate(s->releases, s->platform, &config, result));
    return outcomes;
}

static void expect_bounds(const scene *s, const char *policy, uint64_t seed)
{
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_stream_outcome *outcomes = simulate(s, policy, &result);

    for (uint32_t i = 0; i < clo_workload_jobs(s->releases); i++) {
        const clo_admission_job *answer = &s->answers[s->from[i]];
        int64_t took = outcomes[i].finish_ns - outcomes[i].arrival_ns;
        if (answer->verdict != CLO_ADMISSION_ADMITTED || answer->deadline_ns == CLO_TIME_NEVER)
            continue;
        if (took > answer->response_ns)
            fail_msg("seed %u, policy %s: release %u of row %u took %lld, bound %lld", (unsigned)seed, policy, i,
                     s->from[i], (long long)took, (long long)answer->response_ns);
        double close = (double)took / (double)answer->response_ns;
        seen.closest = close > seen.closest ? close : seen.closest;
    }
    free(outcomes);
}

static void expect_misses(const scene *s, const char *policy, uint64_t seed)
{
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_stream_outcome *outcomes = simulate(s, policy, &result);

    for (uint32_t row = 0; row < s->rows; row++)
        if (s->answers[row].verdict == CLO_ADMISSION_REFUSED && count_late(s, row, outcomes) == 0)
            fail_msg("seed %u, policy %s: row %u was refused and missed nothing", (unsigned)seed, policy, row);
    if (s->result.overloaded_band != CLO_NONE)
        assert_true(result.jobs_late > 0);
    free(outcomes);
}

static void count(const scene *s)
{
    for (uint32_t row = 0; row < s->rows; row++) {
        const clo_admission_job *a = &s->answers[row];
        bool is_admitted = a->verdict == CLO_ADMISSION_ADMITTED && a->deadline_ns != CLO_TIME_NEVER;
        seen.admitted += is_admitted;
        seen.beside_others += is_admitted && s->rows > 2 && a->response_ns > a->blocking_ns + a->fastest_ns;
        seen.blocked += is_admitted && a->blocking_ns > 0;
        seen.unknown += a->verdict == CLO_ADMISSION_UNKNOWN;
        seen.refused += a->verdict == CLO_ADMISSION_REFUSED;
    }
    seen.overloaded += s->result.overloaded_band != CLO_NONE;
}

static void test_set(scene *s, clo_admission_order order, uint64_t seed)
{
    static const char *const greedy[] = {"fifo", "fair", "edf", "rank", "steal"};
    clo_admission_config config = CLO_ADMISSION_CONFIG_INIT;

    config.order = order;
    ok(clo_admission_test(s->set, s->platform, &config, s->answers, &s->result));
    count(s);
    if (order == CLO_ADMISSION_EDF) {
        expect_bounds(s, "edf", seed);
        return;
    }
    for (size_t i = 0; i < sizeof greedy / sizeof greedy[0]; i++)
        expect_bounds(s, greedy[i], seed);
    if (s->result.refused > 0 || s->result.overloaded_band != CLO_NONE)
        for (uint32_t p = 0; policy_at(p) != NULL; p++)
            expect_misses(s, policy_at(p)->name, seed);
}

static void test_if_overloaded(uint64_t seed)
{
    scene s;

    draw_set(&s, seed);
    ok(clo_admission_test(s.set, s.platform, NULL, s.answers, &s.result));
    if (s.result.overloaded_band != CLO_NONE)
        test_set(&s, CLO_ADMISSION_GREEDY, seed);
    stop(&s);
}

static void no_release_of_an_admitted_job_is_late_and_every_refused_job_misses(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SETS; seed++) {
        scene s;
        draw_set(&s, seed);
        test_set(&s, CLO_ADMISSION_GREEDY, seed);
        test_set(&s, CLO_ADMISSION_EDF, seed);
        stop(&s);
    }
    for (uint64_t seed = SETS; !SANITIZED && seen.overloaded == 0 && seed < 40 * SETS; seed++)
        test_if_overloaded(seed); /* they are rare */
    print_message("%u admitted, %u beside others, %u blocked, %u unknown, %u refused, %u sets overloaded; "
                  "the closest response is %.2f of its bound\n",
                  seen.admitted, seen.beside_others, seen.blocked, seen.unknown, seen.refused, seen.overloaded,
                  seen.closest);
    assert_true(seen.admitted > SETS / 10 && seen.beside_others > SETS / 20 && seen.blocked > SETS / 20);
    assert_true(seen.unknown > SETS / 10 && seen.refused > SETS / 20 && (SANITIZED || seen.overloaded > 0));
    assert_true(seen.closest > (SANITIZED ? 0.7 : 0.9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_release_of_an_admitted_job_is_late_and_every_refused_job_misses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
