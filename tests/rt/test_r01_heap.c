/* R1, R8 and (with the kernel's counts) R2 in all modes, counted in another way than by the linker's --wrap, which does
 * not see what the C library calls itself (stdio, pthread_create): this program defines malloc and its kin, so every
 * call of the process comes here.
 * Mutation: clo_thread_faults in place of clo_thread_own_faults in worker_main (it opens /proc). */
#define _GNU_SOURCE
#include "support.h"

#include "device_scene.h"
#include "page_faults.h"
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !SANITIZED
static _Atomic uint64_t calls;
static _Atomic int64_t blocks; /* taken and not given back */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

/* The C library's calls come to these, too. */
#define OURS __attribute__((visibility("default")))

static void *count(void *memory)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&blocks, memory != NULL, memory_order_relaxed);
    return memory;
}

OURS void *malloc(size_t bytes)
{
    return count(__libc_malloc(bytes));
}

OURS void *calloc(size_t number, size_t bytes)
{
    return count(__libc_calloc(number, bytes));
}

OURS void *realloc(void *memory, size_t bytes)
{
    atomic_fetch_sub_explicit(&blocks, memory != NULL, memory_order_relaxed);
    return count(__libc_realloc(memory, bytes));
}

OURS void *aligned_alloc(size_t alignment, size_t bytes)
{
    return count(__libc_memalign(alignment, bytes));
}

OURS int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    *out = count(__libc_memalign(alignment, bytes));
    return *out == NULL;
}

OURS void free(void *memory)
{
    if (memory == NULL)
        return;
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
    __libc_free(memory);
}

static void nothing_missed(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    (void)miss;
}

/* What a job can be, each with the ways to dispatch that it goes together with. */
enum { PLAIN, PERIODIC, WATCHED, HEDGED, IN_RELEASES, BRANCHES, SLOTS, DEVICE, KINDS };

static const char *const kind_names[KINDS] = {
    "plain", "periodic", "deadline and limit", "hedged", "in flight", "branches", "slots", "device"};

static bool go_together(int kind, int way)
{
    return way != RT_POLICY || (kind != HEDGED && kind != IN_RELEASES);
}

typedef struct place {
    rt_scene s;
    device_scene d; /* its platform and graph are those of s */
    int64_t after_ns[RT_TASKS];
    void *runtime_memory, *job_memory;
} place;

static clo_graph *branches(void)
{
    clo_task tasks[4];

    for (int i = 0; i < 4; i++)
        tasks[i] = (clo_task){.body = rt_body, .work_ns = 500};
    return scene_fork(tasks, 2);
}

static clo_graph *pure(void)
{
    clo_task task = {.body = rt_body, .work_ns = 500, .duplicable = 1};

    return scene_layers(RT_TASKS / 4, 4, &task);
}

static void configure(place *p, int kind, int way, clo_job_config *job)
{
    clo_plan_config plan = CLO_PLAN_CONFIG_INIT;
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
    rt_scene *s = &p->s;

    *s = (rt_scene){0};
    p->d = (device_scene){0};
    if (kind == DEVICE) {
        p->d = device_open("launch_ns=3000,depth=2", NULL, 2);
        device_graph(&p->d, 1, false, true);
        ok(clo_device_prepare(p->d.device, p->d.graph));
        s->platform = p->d.platform;
    } else if (kind == SLOTS)
        ok(clo_platform_open("slots:4", &s->platform));
    else
        s->platform = scene_platform(2, 0);
    s->graph = kind == DEVICE     ? p->d.graph
               : kind == BRANCHES ? branches()
               : kind == HEDGED   ? pure()
                                  : rt_graph(rt_body);
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    plan.no_duplicates = 1;
    pipeline.releases_in_flight = 2;
    if (way == RT_REPLAY && kind == IN_RELEASES)
        ok(clo_plan_pipeline(s->cost, &pipeline, &s->plan));
    else if (way == RT_REPLAY)
        ok(clo_plan_create(s->cost, &plan, &s->plan));
    job->plan = s->plan;
    job->policy = way == RT_POLICY ? clo_policy_find("rank") : NULL;
    if (kind == PERIODIC || kind == IN_RELEASES) {
        job->period_ns = 200000;
        job->releases = 50;
    }
    if (kind == IN_RELEASES)
        job->releases_in_flight = 2;
    if (kind == WATCHED) {
        job->deadline_ns = INT64_C(3600000000000);
        job->task_limit_ns = 1000;
        job->miss = nothing_missed;
    }
    for (uint32_t t = 0; t < RT_TASKS; t++)
        p->after_ns[t] = 20000;
    if (kind == HEDGED)
        job->hedge_after_ns = p->after_ns;
}

static void open_place(place *p, clo_runtime_config *runtime, clo_job_config *job, int64_t *of_runtime)
{
    ok(clo_runtime_memory_bytes(p->s.platform, runtime, &runtime->memory_bytes));
    runtime->memory = p->runtime_memory = aligned_alloc(64, (runtime->memory_bytes + 63) / 64 * 64);
    int64_t before = (int64_t)atomic_load(&calls);
    ok(clo_runtime_create(p->s.platform, runtime, &p->s.runtime));
    *of_runtime = (int64_t)atomic_load(&calls) - before;
    ok(clo_job_memory_bytes(p->s.runtime, p->s.cost, job, &job->memory_bytes));
    job->memory = p->job_memory = aligned_alloc(64, (job->memory_bytes + 63) / 64 * 64);
}

static void close_place(place *p)
{
    rt_close(&p->s);
    clo_device_close(p->d.device);
    free(p->job_memory);
    free(p->runtime_memory);
}

static uint64_t calls_of_runs(place *p, int kind)
{
    uint64_t before = atomic_load(&calls);

    for (int run = 0; run < (kind == PERIODIC || kind == IN_RELEASES ? 2 : 50); run++) {
        ok(clo_job_submit(p->s.job));
        ok(clo_job_wait(p->s.job, NULL));
    }
    return atomic_load(&calls) - before;
}

/* R2 in the same modes: page faults of workers where memory is locked; the bodies have run before. */
static uint64_t faults_of_more_runs(place *p, int kind)
{
    uint64_t before = faults_of(p->s.runtime);

    if (strstr(clo_runtime_report(p->s.runtime), "ok    memory is locked") == NULL)
        return 0; /* test_r02 says so */
    (void)calls_of_runs(p, kind);
    return faults_of(p->s.runtime) - before;
}

/* In a place made anew; returns the page faults. */
static uint64_t play(int kind, int way)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    int64_t of_runtime;
    place p;

    configure(&p, kind, way, &job);
    runtime.unpinned = 1;
    runtime.real_time = CLO_REAL_TIME_TRY;
    open_place(&p, &runtime, &job, &of_runtime);
    /* The C library's own records of each thread: workers or slot threads, and the watchdog. */
    if (of_runtime > 2 * (2 + 1))
        fail_msg("%s, way %d: clo_runtime_create calls the heap %d times", kind_names[kind], way, (int)of_runtime);
    uint64_t before = atomic_load(&calls);
    int64_t kept = atomic_load(&blocks);
    ok(clo_job_create(p.s.runtime, p.s.cost, &job, &p.s.job));
    uint64_t of_job = atomic_load(&calls) - before;
    if (of_job > 0 || atomic_load(&blocks) != kept)
        fail_msg("%s, way %d: clo_job_create calls the heap %d times", kind_names[kind], way, (int)of_job);
    uint64_t of_runs = calls_of_runs(&p, kind);
    if (of_runs > 0)
        fail_msg("%s, way %d: runs call the heap %d times", kind_names[kind], way, (int)of_runs);
    uint64_t faults = faults_of_more_runs(&p, kind);
    close_place(&p);
    return faults;
}

static void memory_of_the_callers_is_all_that_is_taken(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < RT_WAYS; way++) {
            uint64_t faults = 1;
            if (!go_together(kind, way) || (kind == IN_RELEASES && way == RT_POLICY))
                continue;
            for (int series = 0; series < FAULT_SERIES_MAX && faults > 0; series++)
                faults = play(kind, way);
            if (faults > 0)
                fail_msg("%s, way %d: %d page faults in workers", kind_names[kind], way, (int)faults);
        }
}

/* graphene and replan plan each job when it is made: what they take for that is in the job's memory, too. */
static void no_policy_takes_more_for_a_job_than_its_memory(void **state)
{
    (void)state;
    for (uint32_t i = 0; policy_at(i) != NULL; i++) {
        clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        int64_t of_runtime;
        place p;

        configure(&p, PLAIN, RT_POLICY, &job);
        job.policy = policy_at(i);
        runtime.unpinned = 1;
        runtime.policy_bytes = 1 << 20; /* networks */
        open_place(&p, &runtime, &job, &of_runtime);
        uint64_t before = atomic_load(&calls);
        ok(clo_job_create(p.s.runtime, p.s.cost, &job, &p.s.job));
        if (atomic_load(&calls) != before)
            fail_msg("%s: clo_job_create calls the heap %d times", job.policy->name,
                     (int)(atomic_load(&calls) - before));
        uint64_t of_runs = calls_of_runs(&p, PLAIN);
        if (of_runs > 0)
            fail_msg("%s: runs call the heap %d times", job.policy->name, (int)of_runs);
        close_place(&p);
    }
}

/* On one machine of so much of resource 0. */
static clo_platform *limited(int64_t capacity)
{
    const clo_executor list[2] = {{.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
                                  {.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    const int64_t capacities[CLO_RESOURCES_MAX] = {capacity, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;

    desc.executors_count = 2;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* Makes the job in its own memory without a call of the heap, and runs it. */
static void run_large(place *p, clo_job_config *job, const char *name)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    int64_t of_runtime;

    runtime.unpinned = 1;
    open_place(p, &runtime, job, &of_runtime);
    uint64_t before = atomic_load(&calls);
    ok(clo_job_create(p->s.runtime, p->s.cost, job, &p->s.job));
    if (atomic_load(&calls) != before)
        fail_msg("%s: clo_job_create calls the heap %d times", name, (int)(atomic_load(&calls) - before));
    ok(clo_job_submit(p->s.job));
    ok(clo_job_wait(p->s.job, NULL));
    close_place(p);
}

/* A graph that is large enough for what the C library's qsort takes from the heap, and demands something: planned by
 * policies, and with its plan for releases in flight checked. */
static void large_graphs_with_demands_take_no_more_either(void **state)
{
    enum { TASKS = 400, CAPACITY = 100 };
    static const char *const names[] = {"graphene", "graphene-star", "replan", NULL};

    (void)state;
    for (int i = 0; i < 4; i++) {
        clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        place p = {.s = {.platform = limited(CAPACITY)}};

        ok(clo_graph_create("large", &p.s.graph));
        for (uint32_t t = 0; t < TASKS; t++) {
            clo_task task = {.body = rt_body, .work_ns = 500 + t, .demand = {1 + t % CAPACITY}};
            ok(clo_graph_add_task(p.s.graph, &task, NULL));
            if (t > 0)
                ok(clo_graph_add_edge(p.s.graph, t / 3, t, 0));
        }
        ok(clo_graph_seal(p.s.graph));
        ok(clo_cost_create(p.s.graph, p.s.platform, &p.s.cost));
        job.policy = names[i] != NULL ? clo_policy_find(names[i]) : NULL;
        if (names[i] == NULL) {
            pipeline.releases_in_flight = job.releases_in_flight = 2;
            job.releases = 2;
            ok(clo_plan_pipeline(p.s.cost, &pipeline, &p.s.plan));
            job.plan = p.s.plan;
        }
        run_large(&p, &job, names[i] != NULL ? names[i] : "in flight");
    }
}

/* The same where data travel, so that replan has no packing to search: it tries other planners, and anneals. */
static void large_graphs_whose_data_travel_take_no_more_either(void **state)
{
    enum { TASKS = 400 };
    static const char *const names[] = {"graphene", "graphene-star", "replan", NULL};

    (void)state;
    for (int i = 0; names[i] != NULL; i++) {
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        place p = {.s = {.platform = scene_platform(4, 1)}};

        ok(clo_graph_create("large", &p.s.graph));
        for (uint32_t t = 0; t < TASKS; t++) {
            clo_task task = {.body = rt_body, .work_ns = 500 + t * 37 % 91, .output_bytes = 64};
            ok(clo_graph_add_task(p.s.graph, &task, NULL));
            if (t > 0)
                ok(clo_graph_add_edge(p.s.graph, t / 3, t, 64));
        }
        ok(clo_graph_seal(p.s.graph));
        ok(clo_cost_create(p.s.graph, p.s.platform, &p.s.cost));
        job.policy = clo_policy_find(names[i]);
        run_large(&p, &job, names[i]);
    }
}

static void what_the_c_library_takes_is_seen(void **state)
{
    uint64_t before = atomic_load(&calls);
    FILE *file = fopen("/dev/null", "r");

    (void)state;
    assert_non_null(file);
    fclose(file);
    assert_true(atomic_load(&calls) > before);
}

#define HEAP_TESTS                                                                                                    \
    cmocka_unit_test(what_the_c_library_takes_is_seen), cmocka_unit_test(memory_of_the_callers_is_all_that_is_taken), \
        cmocka_unit_test(no_policy_takes_more_for_a_job_than_its_memory),                                             \
        cmocka_unit_test(large_graphs_with_demands_take_no_more_either),                                              \
        cmocka_unit_test(large_graphs_whose_data_travel_take_no_more_either),
#else
static void nothing_is_counted(void **state)
{
    (void)state;
    skip_because("malloc is not ours to define here", "glibc, and no sanitizer");
}
#define HEAP_TESTS cmocka_unit_test(nothing_is_counted),
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {HEAP_TESTS};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
