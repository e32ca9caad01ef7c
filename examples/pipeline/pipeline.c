/* pipeline.c - a pipeline at a fixed rate: the graph is released every period and watched, for thousands of periods.
 *
 *   example-pipeline pylot   the driving pipeline (pylot.c), its measured times replayed frame by frame
 *   example-pipeline radar   the radar of ../radar, all of its signal processing for each pulse burst
 *
 * Everything is made first, in memory of known size; the run itself allocates nothing. Afterwards the report says how
 * long after its release each run ended, what was late, and whether the workers kept the promises: no allocation, no
 * page fault, no missed wake-up. With --in-flight N a release begins before those ahead of it have ended, up to N at
 * once: the report shows what that gives in throughput and costs in latency (flight.c). */
#define _POSIX_C_SOURCE 200809L
#include "../common/load.h"
#include "../common/measure.h"
#include "../common/options.h"
#include "../common/session.h"
#include "../radar/radar.h"
#include "flight.h"
#include "heap.h"
#include "pylot.h"

#include <clotho/planner.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The run-time library of a sanitizer touches memory of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { READINGS = 9, READINGS_MAX = 1500 };
enum { PERIODS, PERIOD_US, DEADLINE_US, LOAD, ON_MISS, SPIN_US, IN_FLIGHT, OWN_OPTIONS };

static const application_option own_options[OWN_OPTIONS] = {
    [PERIODS] = {.name = "periods", .help = "runs", .value = 10000, .quick_value = 500, .low = 1, .high = 100000000},
    [PERIOD_US] = {.name = "period", .help = "microseconds; 0: from --load", .low = 0, .high = 1000000000},
    [DEADLINE_US] = {.name = "deadline",
                     .help = "microseconds from release; 0: the period",
                     .low = 0,
                     .high = 1000000000},
    [LOAD] = {.name = "load", .help = "percent of the CPUs", .value = 50, .quick_value = 50, .low = 1, .high = 1000},
    [ON_MISS] = {.name = "miss", .help = "0 run late, 1 skip, 2 abort", .low = 0, .high = 2},
    [SPIN_US] = {.name = "spin",
                 .help = "microseconds before a worker sleeps",
                 .value = 50,
                 .quick_value = 50,
                 .low = 1,
                 .high = 1000000},
    [IN_FLIGHT] = {.name = "in-flight",
                   .help = "1 to N releases at once, planned modulo an interval; 0: one after another",
                   .low = 0,
                   .high = CLO_IN_FLIGHT_MAX},
};

typedef struct pipeline {
    application app;
    application_option options[PYLOT_OPTIONS + RADAR_OPTIONS + OWN_OPTIONS];
    application_option *own; /* [OWN_OPTIONS] */
    struct options common;
    dispatch how;
    session s;
    int64_t serial_ns, period_ns, deadline_ns;
    void *runtime_memory, *job_memory;
    size_t runtime_bytes, job_bytes;
    bool is_locked;
    uint64_t told; /* calls of the miss handler */
    uint64_t allocations;
    double foreign_load;
    clo_job_timing timing;
    clo_worker_stats workers; /* sums */
    clo_status status;
} pipeline;

static void on_miss(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)job;
    (void)miss;
    ++*(uint64_t *)argument;
}

/* For means: so many runs as take about two seconds, but no more than will be run. */
static uint32_t readings_of(const pipeline *p)
{
    int64_t runs = 2000000000 / (p->serial_ns > 0 ? p->serial_ns : 1), periods = p->own[PERIODS].value;

    runs = runs < periods ? runs : periods;
    return runs < READINGS ? READINGS : runs > READINGS_MAX ? READINGS_MAX : (uint32_t)runs;
}

/* The time of each kernel here, and of a whole run on one core. */
static clo_status measure(pipeline *p, application_times *times)
{
    yardstick y = {0};
    clo_status status = yardstick_open(&y, &p->app, p->common.workers);

    if (status == CLO_OK)
        status = yardstick_read(&y, &p->app, READINGS, &p->serial_ns, times);
    if (status == CLO_OK && p->own[IN_FLIGHT].value > 0) { /* how long frames take on average, which is throughput */
        y.by_mean = true;
        status = yardstick_read(&y, &p->app, readings_of(p), &p->serial_ns, times);
    }
    yardstick_close(&y);
    return status;
}

static void *take_memory(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static clo_status open_runtime(pipeline *p)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    /* Workers that never wait: the kernel would take 5 % from real-time threads (sched_rt_runtime_us). */
    if (p->own[IN_FLIGHT].value > 0 && p->own[PERIOD_US].value == 0)
        p->is_locked = !SANITIZED && mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    else
        config.real_time = CLO_REAL_TIME_TRY;
    config.trace = p->own[IN_FLIGHT].value > 0; /* how long bodies take */
    config.spin_ns = p->own[SPIN_US].value * 1000;
    config.unpinned = p->s.is_crowded;
    config.name_signals = 1;
    clo_status status = clo_runtime_memory_bytes(p->s.platform, &config, &p->runtime_bytes);
    if (status != CLO_OK)
        return status;
    config.memory = p->runtime_memory = take_memory(p->runtime_bytes);
    config.memory_bytes = p->runtime_bytes;
    status = clo_runtime_create(p->s.platform, &config, &p->s.runtime);
    if (status == CLO_OK && !SANITIZED && strstr(clo_runtime_report(p->s.runtime), "ok    memory is locked") != NULL)
        p->is_locked = true;
    return status;
}

static clo_status open_job(pipeline *p)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = p->s.plan;
    config.policy = p->how.policy;
    config.period_ns = p->period_ns;
    config.deadline_ns = p->deadline_ns;
    config.releases = (uint64_t)p->own[PERIODS].value;
    config.on_miss = (clo_miss_action)p->own[ON_MISS].value;
    config.miss = on_miss;
    config.miss_argument = &p->told;
    clo_status status = clo_job_memory_bytes(p->s.runtime, p->s.cost, &config, &p->job_bytes);
    if (status != CLO_OK)
        return status;
    config.memory = p->job_memory = take_memory(p->job_bytes);
    config.memory_bytes = p->job_bytes;
    if (config.memory != NULL)
        memset(config.memory, 0, p->job_bytes); /* its pages are there before the first run */
    return clo_job_create(p->s.runtime, p->s.cost, &config, &p->s.job);
}

static clo_status prepare(pipeline *p)
{
    application_times times = {0};
    clo_plan_config plan = CLO_PLAN_CONFIG_INIT;
    clo_status status = measure(p, &times);

    if (status == CLO_OK)
        status = session_open(&p->s, &p->app, p->common.platform, p->common.workers, &times, NULL);
    plan.planner = clo_planner_find(p->how.planner);
    if (status == CLO_OK && plan.planner != NULL && p->own[IN_FLIGHT].value == 0)
        status = clo_plan_create(p->s.cost, &plan, &p->s.plan);
    if (status != CLO_OK)
        return status;
    double share = (double)clo_platform_executors(p->s.platform) * (double)p->own[LOAD].value / 100;
    p->period_ns =
        p->own[PERIOD_US].value > 0 ? p->own[PERIOD_US].value * 1000 : (int64_t)((double)p->serial_ns / share);
    p->deadline_ns = p->own[DEADLINE_US].value > 0 ? p->own[DEADLINE_US].value * 1000 : p->period_ns;
    status = open_runtime(p);
    return status == CLO_OK && p->own[IN_FLIGHT].value == 0 ? open_job(p) : status;
}

static void add_stats(pipeline *p, int sign, clo_worker_stats *sum)
{
    (void)p;
    for (uint32_t w = 0; w < clo_runtime_workers(p->s.runtime); w++) {
        clo_worker_stats one = CLO_WORKER_STATS_INIT;

        if (clo_runtime_worker_stats(p->s.runtime, w, &one) != CLO_OK)
            continue;
        sum->parks += sign > 0 ? one.parks : -one.parks;
        sum->missed_wakes += sign > 0 ? one.missed_wakes : -one.missed_wakes;
        sum->minor_faults += sign > 0 ? one.minor_faults : -one.minor_faults;
        sum->major_faults += sign > 0 ? one.major_faults : -one.major_faults;
        if (sign > 0 && one.wake_ns.max_ns > sum->wake_ns.max_ns)
            sum->wake_ns = one.wake_ns;
    }
}

/* The first second of the series warms nothing up: it counts like the others. */
static void run(pipeline *p)
{
    load before = load_now();
    bool shows = !p->common.json;

    add_stats(p, -1, &p->workers);
    heap_count_start();
    p->status = clo_job_submit(p->s.job);
    while (p->status == CLO_OK) { /* ends with the series */
        clo_status status = clo_job_wait_for(p->s.job, 1000000000, NULL);
        if (status != CLO_ERR_TIMEOUT) {
            p->status = status == CLO_ERR_ABORTED ? CLO_OK : status; /* of the last run: asked for by --miss 2 */
            if (p->status != CLO_OK)
                fprintf(stderr, "example-pipeline: %s\n", clo_last_error());
            break;
        }
        if (shows && clo_job_timing_read(p->s.job, &p->timing) == CLO_OK)
            fprintf(stderr, "\r%" PRIu64 " of %" PRId64 " periods", p->timing.finished + p->timing.skipped,
                    p->own[PERIODS].value);
    }
    p->allocations = heap_count_stop();
    if (shows)
        fprintf(stderr, "\r%40s\r", "");
    add_stats(p, 1, &p->workers);
    p->foreign_load = load_foreign(before);
    if (clo_job_timing_read(p->s.job, &p->timing) != CLO_OK)
        p->timing = (clo_job_timing)CLO_JOB_TIMING_INIT;
}

static void print_latency(const char *what, const clo_latency *l)
{
    printf("%-20s %9.1f %9.1f %9.1f %9.1f %9.1f\n", what, (double)l->p50_ns / 1e3, (double)l->p99_ns / 1e3,
           (double)l->p999_ns / 1e3, (double)l->p9999_ns / 1e3, (double)l->max_ns / 1e3);
}

static void print_text(const pipeline *p, bool is_right, const char *line)
{
    const clo_job_timing *t = &p->timing;

    printf("%s on %u workers, %s%s: %" PRIu64 " runs, one each %.3f ms (%.3f ms of work), deadline %.3f ms; other "
           "programs used %.1f %% of the CPUs\n\n",
           p->app.name, clo_runtime_workers(p->s.runtime), p->how.mode, p->how.planner != NULL ? " of a plan" : "",
           t->released, (double)p->period_ns / 1e6, (double)p->serial_ns / 1e6, (double)p->deadline_ns / 1e6,
           100 * p->foreign_load);
    printf("%-20s %9s %9s %9s %9s %9s\n", "microseconds", "p50", "p99", "p99.9", "p99.99", "max");
    print_latency("release to finish", &t->response_ns);
    print_latency("release to start", &t->start_ns);
    print_latency("release jitter", &t->jitter_ns);
    printf("\nmissed %" PRIu64 ", skipped %" PRIu64 ", aborted %" PRIu64 " (handler called %" PRIu64 " times)\n",
           t->missed, t->skipped, t->aborted, p->told);
    printf(
        "workers: %" PRIu64 " allocations, %" PRIu64 " page faults, %" PRIu64 " missed wake-ups, %" PRIu64 " sleeps\n",
        p->allocations, p->workers.minor_faults + p->workers.major_faults, p->workers.missed_wakes, p->workers.parks);
    printf("memory: %zu bytes of runtime, %zu bytes of job\n\n%s%s\n", p->runtime_bytes, p->job_bytes,
           clo_runtime_report(p->s.runtime), line);
    (void)is_right;
}

static void print_json_latency(const char *name, const clo_latency *l)
{
    printf("\"%s\": {\"count\": %" PRIu64 ", \"p50\": %" PRId64 ", \"p99\": %" PRId64 ", \"p999\": %" PRId64
           ", \"p9999\": %" PRId64 ", \"max\": %" PRId64 "}, ",
           name, l->count, l->p50_ns, l->p99_ns, l->p999_ns, l->p9999_ns, l->max_ns);
}

static void print_json(const pipeline *p, bool is_right, const char *members)
{
    const clo_job_timing *t = &p->timing;

    printf("{\"application\": \"%s\", \"dispatch\": \"%s\", \"workers\": %u, \"periods\": %" PRId64
           ", \"period_ns\": %" PRId64 ", \"deadline_ns\": %" PRId64 ", \"serial_ns\": %" PRId64 ", ",
           p->app.name, p->how.mode, clo_runtime_workers(p->s.runtime), p->own[PERIODS].value, p->period_ns,
           p->deadline_ns, p->serial_ns);
    print_json_latency("response_ns", &t->response_ns);
    print_json_latency("start_ns", &t->start_ns);
    print_json_latency("jitter_ns", &t->jitter_ns);
    printf("\"released\": %" PRIu64 ", \"finished\": %" PRIu64 ", \"missed\": %" PRIu64 ", \"skipped\": %" PRIu64
           ", \"aborted\": %" PRIu64 ", \"handler_calls\": %" PRIu64 ", \"allocations\": %" PRIu64
           ", \"page_faults\": %" PRIu64 ", \"missed_wakes\": %" PRIu64 ", \"parks\": %" PRIu64
           ", \"foreign_load\": %.3f, %s, \"valid\": %s}\n",
           t->released, t->finished, t->missed, t->skipped, t->aborted, p->told, p->allocations,
           p->workers.minor_faults + p->workers.major_faults, p->workers.missed_wakes, p->workers.parks,
           p->foreign_load, members, is_right ? "true" : "false");
}

/* Right: the result is, every release is accounted for, and the promises of the workers were kept. */
static bool report(pipeline *p)
{
    char line[256], members[256];
    const clo_job_timing *t = &p->timing;
    bool is_right = p->app.check(&p->app, line, members, sizeof line) || t->aborted > 0;

    is_right = is_right && p->status == CLO_OK && t->finished == t->released &&
               t->released + t->skipped == (uint64_t)p->own[PERIODS].value && p->allocations == 0 &&
               p->workers.missed_wakes == 0;
    if (p->common.json)
        print_json(p, is_right, members);
    else
        print_text(p, is_right, line);
    return is_right;
}

static bool show_flight(pipeline *p)
{
    char line[256], members[256];
    const flight_setup setup = {.s = &p->s,
                                .most = (uint32_t)p->own[IN_FLIGHT].value,
                                .period_ns = p->own[PERIOD_US].value * 1000,
                                .releases = (uint64_t)p->own[PERIODS].value,
                                .as_json = p->common.json,
                                .is_locked = p->is_locked};
    bool is_right = flight_run(&setup);

    if (!is_right)
        return false;
    is_right = p->app.check(&p->app, line, members, sizeof line);
    if (!p->common.json)
        printf("%smemory is %slocked\n%s\n", clo_runtime_report(p->s.runtime), p->is_locked ? "" : "not ", line);
    return is_right;
}

static void close_all(pipeline *p)
{
    session_close(&p->s); /* job, runtime, plan ... */
    if (p->app.data != NULL)
        p->app.close(&p->app);
    free(p->job_memory);
    free(p->runtime_memory);
}

static int usage(void)
{
    fputs("usage: example-pipeline pylot|radar [options]; example-pipeline pylot --help lists them\n", stderr);
    return 2;
}

static bool describe(pipeline *p, const char *which)
{
    if (strcmp(which, "pylot") == 0)
        pylot_describe(&p->app, p->options);
    else if (strcmp(which, "radar") == 0)
        radar_describe(&p->app, p->options);
    else
        return false;
    p->own = &p->options[p->app.options_count];
    memcpy(p->own, own_options, sizeof own_options);
    p->app.options_count += OWN_OPTIONS;
    return true;
}

int main(int argc, char **argv)
{
    pipeline p = {.status = CLO_OK, .timing = CLO_JOB_TIMING_INIT, .workers = CLO_WORKER_STATS_INIT};

    if (argc < 2 || !describe(&p, argv[1]))
        return usage();
    int exit_status = options_read(&p.common, &p.app, argc - 1, argv + 1);
    if (exit_status >= 0)
        return exit_status;
    if (dispatch_find(p.common.planner, &p.how) != CLO_OK) {
        fprintf(stderr, "example-pipeline: '%s' is neither a planner nor a policy; see clotho list\n",
                p.common.planner);
        return 2;
    }
    bool is_in_flight = p.own[IN_FLIGHT].value > 0;
    if (is_in_flight && (p.own[DEADLINE_US].is_set || p.own[LOAD].is_set || p.own[ON_MISS].is_set)) {
        fputs("example-pipeline: --deadline, --load and --miss do not go together with --in-flight\n", stderr);
        return 2;
    }
    const char *wrong = p.app.open(&p.app);
    clo_status status = wrong == NULL ? prepare(&p) : CLO_ERR_ARGUMENT;
    if (status != CLO_OK)
        fprintf(stderr, "example-pipeline: %s\n", wrong != NULL ? wrong : clo_last_error());
    else if (!is_in_flight)
        run(&p);
    bool is_right = status == CLO_OK && (is_in_flight ? show_flight(&p) : report(&p));
    close_all(&p);
    return is_right ? 0 : 1;
}
