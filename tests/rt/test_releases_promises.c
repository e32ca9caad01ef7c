/* R1 and R2 for releases in flight, also while a clo_flight reads what the workers record: 10 000 periods of the driving
 * pipeline (examples/) and 1 000 of the radar, whose bodies take longer (CLO_FULL: 10 000 too), in memory that is there
 * before the first one, ask for none and take no page fault. Small bodies; no time is judged. Mutation: a body
 * that allocates, or touches a fresh page, is counted. */
#define _GNU_SOURCE
#include "support.h"

#include "fault.h"
#include "page_faults.h"

#include "../../examples/pipeline/pylot.h"
#include "../../examples/radar/radar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PERIODS (SANITIZED ? 300u : 10000u)
#define LONG_PERIODS (SANITIZED ? 300u : getenv("CLO_FULL") != NULL ? 10000u : 1000u)
#define IN_RELEASES 4u
#define PAGE 4096u

typedef struct scene {
    application app;
    application_option options[PYLOT_OPTIONS + RADAR_OPTIONS];
    application_graph graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
    void *memory;
    uint64_t periods; /* 0: PERIODS */
    clo_flight *flight;
    bool is_locked, has_no_plan, has_flight;
} scene;

static void set_option(scene *s, const char *name, int64_t value)
{
    for (uint32_t i = 0; i < s->app.options_count; i++)
        if (strcmp(s->app.options[i].name, name) == 0) {
            s->app.options[i].value = value;
            return;
        }
    fail_msg("the application has no option '%s'", name);
}

static void open_graph(scene *s)
{
    assert_null(s->app.open(&s->app));
    ok(clo_graph_create(s->app.name, &s->graph.graph));
    s->app.build(&s->app, &s->graph);
    ok(s->graph.status);
    ok(clo_graph_seal(s->graph.graph));
}

static void open_job(scene *s, int64_t period_ns, uint64_t releases)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;

    pipeline.releases_in_flight = IN_RELEASES;
    runtime.unpinned = 1;
    runtime.stack_bytes = 256 << 10;
    s->is_locked = !SANITIZED && mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    ok(clo_platform_open("uniform:2", &s->platform));
    runtime.recorder_events = s->has_flight ? 1u << 16 : 0;
    ok(clo_cost_create(s->graph.graph, s->platform, &s->cost));
    ok(clo_plan_pipeline(s->cost, &pipeline, &s->plan));
    ok(clo_runtime_create(s->platform, &runtime, &s->runtime));
    job.plan = s->has_no_plan ? NULL : s->plan;
    job.releases_in_flight = IN_RELEASES;
    job.releases = releases;
    job.period_ns = period_ns;
    ok(clo_job_memory_bytes(s->runtime, s->cost, &job, &job.memory_bytes));
    s->memory = job.memory = aligned_alloc(64, (job.memory_bytes + 63) / 64 * 64);
    assert_non_null(s->memory);
    memset(s->memory, 0, job.memory_bytes);
    ok(clo_job_create(s->runtime, s->cost, &job, &s->job));
}

static void open_flight(scene *s, int64_t period_ns)
{
    const clo_flight_config config = {.size = sizeof config, .period_ns = period_ns};

    if (s->has_flight)
        ok(clo_flight_create(s->runtime, s->cost, &config, &s->flight));
}

static void close_scene(scene *s)
{
    clo_job_destroy(s->job);
    clo_flight_destroy(s->flight);
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    application_graph_free(&s->graph);
    if (s->app.close != NULL)
        s->app.close(&s->app);
    free(s->memory);
    munlockall();
}

typedef struct counted {
    uint64_t allocations, faults;
} counted;

static bool is_locked;

/* A series; what it asked for. */
static counted run_series(const scene *s)
{
    uint64_t faults = faults_of(s->runtime);

    clo_status status;

    fault_fail_nth(0);
    ok(clo_job_submit(s->job));
    if (s->flight != NULL) {
        ok(clo_flight_begin(s->flight, s->job)); /* may take memory */
        fault_fail_nth(0);
    }
    do {
        status = clo_job_wait_for(s->job, s->flight != NULL ? 500000 : INT64_MAX, NULL);
        (void)clo_flight_read(s->flight);
    } while (status == CLO_ERR_TIMEOUT);
    ok(status);
    return (counted){fault_count(), faults_of(s->runtime) - faults};
}

/* In a scene made anew; the page faults where memory is locked, else 0. */
static uint64_t play_series(const scene *as, int64_t period_ns)
{
    char line[256], json[256];
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    scene s = *as;
    uint64_t periods = s.periods > 0 ? s.periods : PERIODS;

    open_graph(&s);
    open_job(&s, period_ns, periods);
    open_flight(&s, period_ns);
    counted all = run_series(&s);
    ok(clo_job_timing_read(s.job, &timing));
    assert_int_equal(timing.finished, periods);
    assert_int_equal(all.allocations, 0);
    if (!s.app.check(&s.app, line, json, sizeof line))
        fail_msg("%s", line);
    is_locked = s.is_locked;
    close_scene(&s);
    return is_locked ? all.faults : 0;
}

static void keeps_its_promises(const scene *s, int64_t period_ns)
{
    uint64_t faults = 1;

    for (int series = 0; series < FAULT_SERIES_MAX && faults > 0; series++)
        faults = play_series(s, period_ns);
    assert_int_equal(faults, 0);
    if (SANITIZED)
        skip_because("page faults: a sanitizer touches memory of its own", "./dev test");
    if (!is_locked)
        skip_because("page faults: memory cannot be locked", "ulimit -l unlimited, or run as root");
}

static void ten_thousand_periods_of_the_driving_pipeline(void **state)
{
    (void)state;
    scene s = {0};

    pylot_describe(&s.app, s.options);
    set_option(&s, "scale", 5); /* millionths of the measured times: 3 us of work */
    keeps_its_promises(&s, 20000);
}

static void ten_thousand_releases_of_the_driving_pipeline_without_a_period(void **state)
{
    (void)state;
    scene s = {0};

    pylot_describe(&s.app, s.options);
    set_option(&s, "scale", 5);
    keeps_its_promises(&s, 0);
}

static void ten_thousand_periods_of_the_driving_pipeline_without_a_plan(void **state)
{
    (void)state;
    scene s = {.has_no_plan = true};

    pylot_describe(&s.app, s.options);
    set_option(&s, "scale", 5);
    keeps_its_promises(&s, 20000);
}

static void ten_thousand_periods_of_the_driving_pipeline_beside_a_flight(void **state)
{
    (void)state;
    scene s = {.has_flight = true};

    pylot_describe(&s.app, s.options);
    set_option(&s, "scale", 5);
    keeps_its_promises(&s, 20000);
}

/* The smallest that it takes. */
static void a_thousand_periods_of_the_radar(void **state)
{
    (void)state;
    scene s = {.periods = LONG_PERIODS};

    radar_describe(&s.app, s.options);
    set_option(&s, "pulses", 64);
    set_option(&s, "ranges", 2048);
    set_option(&s, "batch", 64);
    set_option(&s, "block", 2048);
    keeps_its_promises(&s, 20000);
}

static char *fresh;
static _Atomic uint32_t next_page;

static int waste(const clo_call *call)
{
    (void)call;
    char *memory = malloc(16);

    if (memory == NULL)
        return 1;
    *(volatile char *)memory = 1;
    free(memory);
    ((volatile char *)fresh)[(size_t)(next_page++ % PERIODS) * PAGE] = 1;
    return 0;
}

static void a_body_that_allocates_and_touches_fresh_pages_is_counted(void **state)
{
    (void)state;
    clo_task task = {.body = waste, .work_ns = 1000};
    scene s = {0};

    ok(clo_graph_create("waste", &s.graph.graph));
    ok(clo_graph_add_task(s.graph.graph, &task, NULL));
    ok(clo_graph_seal(s.graph.graph));
    open_job(&s, 0, 200);
    munlockall();
    fresh = mmap(NULL, (size_t)PERIODS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fresh != MAP_FAILED);
    (void)madvise(fresh, (size_t)PERIODS * PAGE, MADV_NOHUGEPAGE);
    counted all = run_series(&s);
    assert_true(all.allocations >= 200);
    assert_true(all.faults >= 200);
    munmap(fresh, (size_t)PERIODS * PAGE);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_that_allocates_and_touches_fresh_pages_is_counted),
        cmocka_unit_test(ten_thousand_periods_of_the_driving_pipeline),
        cmocka_unit_test(ten_thousand_releases_of_the_driving_pipeline_without_a_period),
        cmocka_unit_test(ten_thousand_periods_of_the_driving_pipeline_without_a_plan),
        cmocka_unit_test(ten_thousand_periods_of_the_driving_pipeline_beside_a_flight),
        cmocka_unit_test(a_thousand_periods_of_the_radar),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
