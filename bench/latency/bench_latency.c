/* bench_latency.c - how long until a task starts? Distributions, beside what the machine itself takes.
 *
 *   wake-up       submit of a one-task job to a runtime whose workers sleep, until its body begins; beside a futex wake
 *                 of a pinned thread that sleeps, in turns with it. Both from one CPU to the other.
 *   hand-over     a body ends on one worker, its successor, bound to the other worker, begins: a long chain from side
 *                 to side, so that both are hot; beside a cache line that two pinned threads poll.
 *   release       a job is due every millisecond; a thread sleeps until then and submits: from due to the body's
 *                 begin; beside how late the thread itself was.
 *   decision      what each built-in policy takes for one decision, by clo_job_result.
 *
 * Everything through the public API. Both sides of a comparison read the same clock in the same places. */
#define _GNU_SOURCE /* clock_nanosleep */
#include "common/platform.h"
#include "latency/raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    RAW_WAKE,
    WAKE,
    RAW_HAND_OVER,
    HAND_OVER_STEAL,
    HAND_OVER_REPLAY,
    RAW_RELEASE,
    RELEASE,
    SERIES,
    POLICIES_MAX = 16,
    CHAIN = 1000,
    PERIOD_NS = 1000000,
    SLEEP_NS = 500000 /* far above what a worker spins before it sleeps */
};

/* Samples of one thing, in ns. */
typedef struct series {
    const char *name;
    int floor; /* the series it stands beside; -1: none */
    double *values;
    size_t count, capacity, kept; /* kept: of turns that count */
} series;

enum { P50, P99, P999, MAX, QUANTILES };

/* What clo_job_result tells of one policy's decisions. */
typedef struct decision {
    const char *name;
    uint64_t count;            /* in one turn */
    double *values[QUANTILES]; /* by turn     */
    bench_stats stats[QUANTILES];
    double highest;
} decision;

typedef struct bench {
    series series[SERIES];
    decision decisions[POLICIES_MAX];
    uint32_t policies;
    uint32_t wakes, runs, releases, tasks; /* of each kind in a turn */
    clo_platform *platform;
    clo_runtime *runtime;
    raw_sleeper *sleeper;
    int cpus[2]; /* this thread is pinned to the first */
    bench_turns turns;
} bench;

/* A graph and what it takes to run it. */
typedef struct bed {
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_job *job;
} bed;

static void close_bed(bed *b)
{
    clo_job_destroy(b->job);
    clo_plan_destroy(b->plan);
    clo_cost_destroy(b->cost);
    clo_graph_destroy(b->graph);
    *b = (bed){0};
}

static void add_sample(series *s, double ns)
{
    if (s->count < s->capacity)
        s->values[s->count++] = ns;
}

static int note_start(const clo_call *call)
{
    int64_t *start_ns = call->argument;

    *start_ns = bench_now_ns();
    return 0;
}

/* A job of one task, on executor 1 if `is_bound`, else on any; start_ns: int64_t, written by the body. */
static bool open_single(bed *b, clo_runtime *runtime, bool is_bound, void *start_ns)
{
    const clo_task task = {
        .body = note_start, .argument = start_ns, .work_ns = 1000, .executors_mask = is_bound ? 2 : 0};

    *b = (bed){0};
    return (clo_graph_create("single", &b->graph) == CLO_OK && clo_graph_add_task(b->graph, &task, NULL) == CLO_OK &&
            clo_graph_seal(b->graph) == CLO_OK &&
            clo_cost_create(b->graph, clo_runtime_platform(runtime), &b->cost) == CLO_OK &&
            clo_job_create(runtime, b->cost, NULL, &b->job) == CLO_OK) ||
           bench_fail("cannot prepare a job of one task");
}

static void sleep_for(int64_t ns)
{
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

static bool measure_wake(bench *b)
{
    int64_t start_ns = 0;
    bed one;
    bool is_good = open_single(&one, b->runtime, true, &start_ns);

    for (uint32_t i = 0; i < b->wakes && is_good; i++) {
        sleep_for(SLEEP_NS);
        add_sample(&b->series[RAW_WAKE], (double)raw_sleeper_wake(b->sleeper));
        sleep_for(SLEEP_NS);
        int64_t submit_ns = bench_now_ns();
        is_good = clo_job_submit(one.job) == CLO_OK && clo_job_wait(one.job, NULL) == CLO_OK;
        add_sample(&b->series[WAKE], (double)(start_ns - submit_ns));
    }
    close_bed(&one);
    return is_good;
}

/* When each task of the chain began and ended. */
typedef struct moments {
    int64_t start_ns, end_ns;
} moments;

static int note_both(const clo_call *call)
{
    int64_t now_ns = bench_now_ns();
    moments *m = (moments *)call->argument + call->task;

    m->start_ns = now_ns;
    m->end_ns = bench_now_ns();
    return 0;
}

/* A chain that goes to the other worker with every task. */
static bool open_chain(bed *b, clo_runtime *runtime, bool is_replay, moments *times)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_status status;

    *b = (bed){0};
    status = clo_graph_create("to and fro", &b->graph);
    for (uint32_t t = 0; t < CHAIN && status == CLO_OK; t++) {
        const clo_task task = {
            .body = note_both, .argument = times, .work_ns = 100, .executors_mask = t % 2 == 0 ? 1 : 2};

        status = clo_graph_add_task(b->graph, &task, NULL);
        if (status == CLO_OK && t > 0)
            status = clo_graph_add_edge(b->graph, t - 1, t, 0);
    }
    if (status == CLO_OK)
        status = clo_graph_seal(b->graph);
    if (status == CLO_OK)
        status = clo_cost_create(b->graph, clo_runtime_platform(runtime), &b->cost);
    if (status == CLO_OK && is_replay)
        status = clo_plan_create(b->cost, NULL, &b->plan);
    config.plan = b->plan;
    if (status == CLO_OK)
        status = clo_job_create(runtime, b->cost, &config, &b->job);
    return status == CLO_OK || bench_fail("cannot prepare a chain");
}

static bool measure_chain(bench *b, bool is_replay, series *into)
{
    moments *times = calloc(CHAIN, sizeof *times);
    bed chain = {0};
    bool is_good = times != NULL && open_chain(&chain, b->runtime, is_replay, times);

    /* The first run warms up. */
    for (uint32_t r = 0; r <= b->runs && is_good; r++) {
        is_good = clo_job_submit(chain.job) == CLO_OK && clo_job_wait(chain.job, NULL) == CLO_OK;
        for (uint32_t t = 1; t < CHAIN && r > 0; t++)
            add_sample(into, (double)(times[t].start_ns - times[t - 1].end_ns));
    }
    close_bed(&chain);
    free(times);
    return is_good;
}

static bool measure_raw_hand_over(bench *b)
{
    double *samples = calloc(CHAIN, sizeof *samples);
    bool is_good = samples != NULL;

    for (uint32_t r = 0; r <= b->runs && is_good; r++) {
        is_good = raw_hand_over(b->cpus[1], samples, CHAIN);
        for (uint32_t i = 1; i < CHAIN && r > 0; i++)
            add_sample(&b->series[RAW_HAND_OVER], samples[i]);
    }
    free(samples);
    return is_good;
}

static void sleep_until(int64_t due_ns)
{
    const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        ;
}

static bool measure_release(bench *b)
{
    int64_t start_ns = 0, due_ns = bench_now_ns();
    bed one;
    bool is_good = open_single(&one, b->runtime, false, &start_ns);

    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul); /* else the kernel is 50 us late on purpose */
    for (uint32_t i = 0; i < b->releases && is_good; i++) {
        due_ns += PERIOD_NS;
        sleep_until(due_ns);
        add_sample(&b->series[RAW_RELEASE], (double)(bench_now_ns() - due_ns));
        is_good = clo_job_submit(one.job) == CLO_OK && clo_job_wait(one.job, NULL) == CLO_OK;
        add_sample(&b->series[RELEASE], (double)(start_ns - due_ns));
    }
    close_bed(&one);
    return is_good;
}

static bool measure_decision(bench *b, decision *d, const clo_policy *policy, uint64_t seed)
{
    const clo_generate_config generate = {.size = sizeof generate, .seed = seed, .tasks = b->tasks, .work_mean_ns = 1};
    clo_job_config config = {.size = sizeof config, .policy = policy};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    bed layers = {0};
    uint32_t turn = b->turns.kept;
    bool is_good = clo_graph_generate("layered", &generate, &layers.graph) == CLO_OK &&
                   clo_cost_create(layers.graph, b->platform, &layers.cost) == CLO_OK &&
                   clo_job_create(b->runtime, layers.cost, &config, &layers.job) == CLO_OK &&
                   clo_job_submit(layers.job) == CLO_OK && clo_job_wait(layers.job, &result) == CLO_OK;

    close_bed(&layers);
    if (!is_good)
        return bench_fail(policy->name);
    d->count = result.decisions;
    d->values[P50][turn] = (double)result.decision_p50_ns;
    d->values[P99][turn] = (double)result.decision_p99_ns;
    d->values[P999][turn] = (double)result.decision_p999_ns;
    d->values[MAX][turn] = (double)result.decision_max_ns;
    return true;
}

static bool take_turn(bench *b, uint64_t seed)
{
    bool is_good = measure_wake(b) && measure_raw_hand_over(b) &&
                   measure_chain(b, false, &b->series[HAND_OVER_STEAL]) &&
                   measure_chain(b, true, &b->series[HAND_OVER_REPLAY]) && measure_release(b);

    for (uint32_t p = 0; p < b->policies && is_good; p++)
        is_good = measure_decision(b, &b->decisions[p], clo_policy_find(b->decisions[p].name), seed);
    return is_good;
}

static bool open_series(bench *b, uint32_t turns)
{
    static const series names[SERIES] = {[RAW_WAKE] = {.name = "wake-up: raw futex", .floor = -1},
                                         [WAKE] = {.name = "wake-up: submit to body", .floor = RAW_WAKE},
                                         [RAW_HAND_OVER] = {.name = "hand-over: raw cache line", .floor = -1},
                                         [HAND_OVER_STEAL] = {.name = "hand-over: steal", .floor = RAW_HAND_OVER},
                                         [HAND_OVER_REPLAY] = {.name = "hand-over: replay", .floor = RAW_HAND_OVER},
                                         [RAW_RELEASE] = {.name = "release: the thread that submits", .floor = -1},
                                         [RELEASE] = {.name = "release: due to body", .floor = RAW_RELEASE}};

    for (int i = 0; i < SERIES; i++) {
        uint32_t each = i <= WAKE ? b->wakes : i <= HAND_OVER_REPLAY ? b->runs * CHAIN : b->releases;

        b->series[i] = names[i];
        b->series[i].capacity = (size_t)each * turns;
        b->series[i].values = calloc(b->series[i].capacity, sizeof(double));
        if (b->series[i].values == NULL)
            return false;
    }
    return true;
}

static bool open_decisions(bench *b, uint32_t turns)
{
    clo_entry policy = CLO_ENTRY_INIT;

    for (; b->policies < POLICIES_MAX && clo_registry_entry("policies", b->policies, &policy); b->policies++) {
        decision *d = &b->decisions[b->policies];

        d->name = policy.name;
        for (int i = 0; i < QUANTILES; i++) {
            d->values[i] = calloc(turns, sizeof(double));
            if (d->values[i] == NULL)
                return false;
        }
    }
    return true;
}

static bool open_bench(bench *b, const bench_options *o)
{
    b->wakes = o->quick ? 50 : 400;
    b->runs = o->quick ? 3 : 20;
    b->releases = o->quick ? 100 : 1000;
    b->tasks = o->quick ? 2000 : 20000;
    b->turns.wanted = o->rounds;
    b->platform = bench_platform(2);
    if (b->platform == NULL || !open_series(b, o->rounds) || !open_decisions(b, o->rounds))
        return false;
    for (uint32_t e = 0; e < 2; e++)
        b->cpus[e] = clo_platform_executor(b->platform, e)->os_index;
    if (clo_runtime_create(b->platform, NULL, &b->runtime) != CLO_OK)
        return bench_fail("cannot start the workers");
    b->sleeper = raw_sleeper_open(b->cpus[1]);
    /* Last: what is above goes where this thread may go. */
    return b->sleeper != NULL && raw_pin(b->cpus[0]);
}

static void close_bench(bench *b)
{
    raw_sleeper_close(b->sleeper);
    clo_runtime_destroy(b->runtime);
    clo_platform_destroy(b->platform);
    for (int i = 0; i < SERIES; i++)
        free(b->series[i].values);
    for (uint32_t p = 0; p < b->policies; p++)
        for (int i = 0; i < QUANTILES; i++)
            free(b->decisions[p].values[i]);
    free(b);
}

static void conclude(bench *b)
{
    for (int i = 0; i < SERIES; i++)
        bench_sort(b->series[i].values, b->series[i].count);
    for (uint32_t p = 0; p < b->policies; p++) {
        decision *d = &b->decisions[p];

        for (int i = 0; i < QUANTILES; i++)
            d->stats[i] = bench_summarise(d->values[i], b->turns.kept);
        d->highest = d->values[MAX][b->turns.kept - 1]; /* sorted above */
    }
}

static bool measure_all(bench *b, uint64_t seed)
{
    bool is_good = true;

    while (is_good && bench_turn_begin(&b->turns)) {
        is_good = take_turn(b, seed);
        bool is_kept = bench_turn_end(&b->turns);
        for (int i = 0; i < SERIES; i++) {
            if (is_kept)
                b->series[i].kept = b->series[i].count;
            else
                b->series[i].count = b->series[i].kept;
        }
    }
    return is_good;
}

static double quantile(const series *s, double q)
{
    return bench_quantile(s->values, s->count, q);
}

/* Ratio of the medians to the floor's; 0 where there is none. */
static double over_floor(const bench *b, const series *s)
{
    double floor = s->floor >= 0 ? quantile(&b->series[s->floor], 0.5) : 0;

    return floor > 0 ? quantile(s, 0.5) / floor : 0;
}

#define WAKE_MUST 1.2 /* times the raw futex */

static void print_text(const bench *b)
{
    printf("us. ");
    bench_turns_print(&b->turns, false);
    printf("\n%-34s %8s %9s %9s %9s %9s %9s  %s\n", "what", "samples", "p50", "p90", "p99", "p99.9", "max",
           "p50 / raw");
    for (int i = 0; i < SERIES; i++) {
        const series *s = &b->series[i];

        printf("%-34s %8zu %9.2f %9.2f %9.2f %9.2f %9.2f", s->name, s->count, quantile(s, 0.5) / 1000,
               quantile(s, 0.9) / 1000, quantile(s, 0.99) / 1000, quantile(s, 0.999) / 1000, quantile(s, 1) / 1000);
        if (s->floor >= 0)
            printf("  %.2f", over_floor(b, s));
        if (i == WAKE)
            printf(" (must %.1f: %s)", WAKE_MUST, over_floor(b, s) <= WAKE_MUST ? "holds" : "misses");
        printf("\n");
    }
    printf("\n%-34s %8s %9s %9s %9s %9s %9s\n", "decision of policy", "a turn", "p50", "", "p99", "p99.9", "max");
    for (uint32_t p = 0; p < b->policies; p++) {
        const decision *d = &b->decisions[p];

        printf("%-34s %8llu %9.3f %9s %9.3f %9.3f %9.2f\n", d->name, (unsigned long long)d->count,
               d->stats[P50].median / 1000, "", d->stats[P99].median / 1000, d->stats[P999].median / 1000,
               d->highest / 1000);
    }
    printf("(decisions: medians of the turns' quantiles, and the highest)\n");
}

static void print_json(const bench *b, const bench_options *o)
{
    printf("{\"bench\": \"latency\", \"unit\": \"ns\", \"seed\": %llu, ", (unsigned long long)o->seed);
    bench_turns_print(&b->turns, true);
    printf(", \"rows\": [");
    for (int i = 0; i < SERIES; i++) {
        const series *s = &b->series[i];

        printf("%s{\"what\": \"%s\", \"samples\": %zu, \"p50\": %.0f, \"p90\": %.0f, \"p99\": %.0f, \"p999\": %.0f, "
               "\"max\": %.0f, \"over_raw\": %.3f}",
               i > 0 ? ", " : "", s->name, s->count, quantile(s, 0.5), quantile(s, 0.9), quantile(s, 0.99),
               quantile(s, 0.999), quantile(s, 1), over_floor(b, s));
    }
    printf("], \"decisions\": [");
    for (uint32_t p = 0; p < b->policies; p++) {
        const decision *d = &b->decisions[p];

        printf("%s{\"policy\": \"%s\", \"count\": %llu, \"p50\": %.0f, \"p99\": %.0f, \"p999\": %.0f, \"max\": %.0f}",
               p > 0 ? ", " : "", d->name, (unsigned long long)d->count, d->stats[P50].median, d->stats[P99].median,
               d->stats[P999].median, d->highest);
    }
    printf("], \"goals\": [{\"goal\": \"wake-up / raw futex\", \"value\": %.3f, \"must\": %.2f, \"holds\": %s}]}\n",
           over_floor(b, &b->series[WAKE]), WAKE_MUST, over_floor(b, &b->series[WAKE]) <= WAKE_MUST ? "true" : "false");
}

static int skip(const bench_options *o)
{
    if (o->json)
        printf("{\"bench\": \"latency\", \"skipped\": \"needs two CPUs\"}\n");
    else
        printf("bench-latency needs two CPUs\n");
    return 0;
}

int main(int argc, char **argv)
{
    const bench_about about = {
        .name = "latency", .question = "how long until a task starts?", .rounds = 5, .quick_rounds = 2};
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);
    bench *b;
    bool is_good;

    if (exit_status >= 0)
        return exit_status;
    if (bench_cpus() < 2)
        return skip(&o);
    b = calloc(1, sizeof *b);
    if (b == NULL)
        return 1;
    is_good = open_bench(b, &o) && measure_all(b, o.seed);
    if (is_good) {
        conclude(b);
        if (o.json)
            print_json(b, &o);
        else
            print_text(b);
    }
    close_bench(b);
    return is_good ? 0 : 1;
}
