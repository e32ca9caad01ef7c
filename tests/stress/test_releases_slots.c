/* Releases in flight on CPUs and slots: a camera pipeline whose device tasks finish later, with and without a plan,
 * each release with its own data and in its order; completed at once, late, with an error, or not at all when it is
 * cancelled. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <clotho/pipeline.h>
#include <clotho/token.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { TASKS = 12, EDGES = 14, FLIGHTS = 3, QUEUE = 64, KINDS = 3, CPUS = 2, EXECUTORS = 4 };
static const uint32_t edges[EDGES][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5},  {4, 6},  {2, 7},
                                         {6, 8}, {7, 8}, {8, 9}, {5, 9}, {9, 10}, {2, 10}, {10, 11}};
/* Kinds: CPU, NPU, GPU; us, 0: not there. */
static const int64_t times_us[TASKS][KINDS] = {{3, 0, 0}, {35, 0, 18}, {52, 0, 25}, {12, 0, 0}, {0, 125, 0}, {0, 90, 0},
                                               {7, 0, 0}, {80, 0, 0},  {16, 0, 0},  {14, 0, 0}, {20, 0, 9},  {3, 0, 0}};

/* What stands in for the devices: a thread that completes what it is given. */
typedef struct device {
    pthread_mutex_t lock;
    pthread_cond_t more;
    clo_token queue[QUEUE];
    uint32_t count;
    _Atomic int code; /* of every seventh; 0: none fails. A stale token may still lie here when it changes */
    uint32_t completed;
    bool is_over, is_stuck;
    pthread_t thread;
} device;

static struct {
    device device;
    uint64_t seen[TASKS]; /* releases; a task never runs beside itself */
    _Atomic uint32_t wrong, pended;
    uint64_t last;
} c;

static void *complete_all(void *argument)
{
    device *d = argument;

    pthread_mutex_lock(&d->lock);
    for (;;) { /* until it is over */
        while (d->count == 0 && !d->is_over)
            pthread_cond_wait(&d->more, &d->lock);
        if (d->count == 0)
            break;
        clo_token token = d->queue[--d->count];
        int code = d->code != 0 && ++d->completed % 7 == 0 ? d->code : 0;
        pthread_mutex_unlock(&d->lock);
        (void)!clo_token_complete(token, code); /* stale, if its run was cut short */
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static uint64_t value_of(uint32_t task, uint64_t release)
{
    uint64_t value = task * 1000003 + release;

    for (uint32_t e = 0; e < EDGES; e++)
        if (edges[e][1] == task)
            value = value * 31 + value_of(edges[e][0], release);
    return value;
}

static void compute(const clo_call *call)
{
    uint64_t value = call->task * 1000003 + call->release, input;

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        memcpy(&input, call->inputs[i], sizeof input);
        value = value * 31 + input;
    }
    memcpy(call->output, &value, sizeof value);
    atomic_fetch_add(&c.wrong, c.seen[call->task]++ != call->release);
    if (call->task == TASKS - 1)
        atomic_fetch_add(&c.wrong, value != value_of(TASKS - 1, call->release));
}

static int on_cpu(const clo_call *call)
{
    compute(call);
    return 0;
}

static int on_device(const clo_call *call)
{
    device *d = &c.device;
    clo_token token;

    compute(call);
    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 1;
    atomic_fetch_add(&c.pended, 1);
    if (call->release % 5 == 0 && !d->is_stuck)
        return clo_token_complete(token, 0) == CLO_OK ? CLO_PENDING : 1; /* before the body returns */
    pthread_mutex_lock(&d->lock);
    if (!d->is_stuck)
        d->queue[d->count++] = token;
    pthread_cond_signal(&d->more);
    pthread_mutex_unlock(&d->lock);
    return CLO_PENDING;
}

static clo_graph *camera(void)
{
    static const char *const names[KINDS] = {"cpu", "npu", "gpu"};
    uint32_t kinds[KINDS];
    clo_graph *graph;

    ok(clo_graph_create("camera", &graph));
    for (uint32_t k = 0; k < KINDS; k++)
        ok(clo_graph_kind(graph, names[k], &kinds[k]));
    for (uint32_t t = 0; t < TASKS; t++) {
        clo_task task = {.output_bytes = 64, .may_pend = times_us[t][1] > 0 || times_us[t][2] > 0};
        ok(clo_graph_add_task(graph, &task, NULL));
        for (uint32_t k = 0; k < KINDS; k++)
            if (times_us[t][k] > 0) {
                ok(clo_graph_set_time(graph, t, kinds[k], times_us[t][k] * 1000));
                ok(clo_graph_set_body(graph, t, kinds[k], k == 0 ? on_cpu : on_device));
            }
    }
    for (uint32_t e = 0; e < EDGES; e++)
        ok(clo_graph_add_edge(graph, edges[e][0], edges[e][1], 64));
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_platform *board(void)
{
    static const char *const names[KINDS] = {"cpu", "npu", "gpu"};
    clo_executor executors[EXECUTORS] = {{0}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    for (uint32_t e = 0; e < EXECUTORS; e++) {
        executors[e].kind = e < CPUS ? 0 : e - CPUS + 1;
        executors[e].os_index = e < CPUS ? -1 : CLO_OS_SLOT;
        for (uint32_t s = 0; s < CLO_CLASSES_BUILTIN; s++)
            executors[e].speed_q16[s] = CLO_SPEED_ONE;
    }
    desc.executors_count = EXECUTORS;
    desc.executors = executors;
    desc.kinds_count = KINDS;
    desc.kind_names = names;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
} scene;

static scene begin(clo_clock clock)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    scene s = {.graph = camera(), .platform = board()};

    memset(&c, 0, sizeof c);
    pthread_mutex_init(&c.device.lock, NULL);
    pthread_cond_init(&c.device.more, NULL);
    pthread_create(&c.device.thread, NULL, complete_all, &c.device);
    config.unpinned = 1;
    config.trace = 1;
    config.clock = clock;
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_pipeline(s.cost, NULL, &s.plan));
    ok(clo_runtime_create(s.platform, &config, &s.runtime));
    return s;
}

static void end(scene *s)
{
    pthread_mutex_lock(&c.device.lock);
    c.device.is_over = true;
    pthread_cond_signal(&c.device.more);
    pthread_mutex_unlock(&c.device.lock);
    pthread_join(c.device.thread, NULL);
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
    pthread_cond_destroy(&c.device.more);
    pthread_mutex_destroy(&c.device.lock);
}

static clo_job *job_of(const scene *s, const clo_plan *plan, uint64_t releases, int64_t period_ns)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = plan;
    config.releases_in_flight = FLIGHTS;
    config.releases = releases;
    config.period_ns = period_ns;
    ok(clo_job_create(s->runtime, s->cost, &config, &job));
    return job;
}

static void run_whole(const scene *s, const clo_plan *plan, int64_t period_ns)
{
    const uint64_t releases = SANITIZED ? 60 : 600;
    clo_job *job = job_of(s, plan, releases, period_ns);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    uint64_t value;

    memset(c.seen, 0, sizeof c.seen);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.executed, releases * TASKS);
    assert_int_equal(c.wrong, 0);
    assert_true(c.pended >= 2 * releases); /* detect and depth */
    const void *output = clo_job_output(job, TASKS - 1, 0, NULL);
    assert_non_null(output);
    memcpy(&value, output, sizeof value);
    assert_true(value == value_of(TASKS - 1, releases - 1));
    clo_trace *trace;
    ok(clo_job_trace(job, &trace));
    clo_trace_destroy(trace);
    clo_job_destroy(job);
}

static void releases_overlap_on_cpus_and_slots(void **state)
{
    (void)state;
    scene s = begin(CLO_CLOCK_REAL);

    run_whole(&s, s.plan, 0);
    run_whole(&s, s.plan, 50000);
    run_whole(&s, NULL, 0);
    run_whole(&s, NULL, 50000);
    end(&s);
    s = begin(CLO_CLOCK_VIRTUAL);
    run_whole(&s, s.plan, 0);
    run_whole(&s, s.plan, 300000);
    end(&s);
}

static void an_error_of_a_device_ends_the_series(void **state)
{
    (void)state;
    scene s = begin(CLO_CLOCK_REAL);

    for (int way = 0; way < 2; way++) {
        clo_job *job = job_of(&s, way == 0 ? s.plan : NULL, 1000, 0);
        clo_job_result result = CLO_JOB_RESULT_INIT;
        c.device.code = 5;
        for (uint32_t i = 0; i < 20; i++) {
            memset(c.seen, 0, sizeof c.seen);
            ok(clo_job_submit(job));
            assert_int_equal(clo_job_wait(job, &result), CLO_ERR_TASK);
            assert_int_equal(result.failed_code, 5);
            assert_true(times_us[result.failed_task][1] > 0 || times_us[result.failed_task][2] > 0);
        }
        c.device.code = 0; /* the same job goes on */
        memset(c.seen, 0, sizeof c.seen);
        clo_job_destroy(job);
        run_whole(&s, way == 0 ? s.plan : NULL, 0);
    }
    end(&s);
}

static void a_cancelled_series_leaves_nothing_pending(void **state)
{
    (void)state;
    scene s = begin(CLO_CLOCK_REAL);

    for (uint32_t i = 0; i < (SANITIZED ? 10 : 60); i++) {
        clo_job *job = job_of(&s, i % 2 == 0 ? s.plan : NULL, 0, i % 3 == 0 ? 20000 : 0);
        memset(c.seen, 0, sizeof c.seen);
        atomic_store(&c.pended, 0);
        c.device.is_stuck = i % 4 < 2; /* nobody ever completes these */
        ok(clo_job_submit(job));
        while (atomic_load(&c.pended) < (c.device.is_stuck ? 1 : i)) /* until one is pending */
            sched_yield();
        clo_job_cancel(job);
        assert_int_equal(clo_job_wait(job, NULL), CLO_ERR_CANCELLED);
        clo_job_destroy(job);
    }
    assert_int_equal(c.wrong, 0);
    c.device.is_stuck = false;
    run_whole(&s, s.plan, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_overlap_on_cpus_and_slots),
        cmocka_unit_test(an_error_of_a_device_ends_the_series),
        cmocka_unit_test(a_cancelled_series_leaves_nothing_pending),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
