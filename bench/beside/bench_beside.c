/* bench_beside.c - does a periodic job keep its deadlines beside a stream that fills the machine?
 *
 * A pipeline of band 0 is released every millisecond and has a millisecond to end: alone, and beside jobs of band 1
 * that leave no worker idle. Both in the simulator, where time is that of the cost model, and on real workers. The
 * admission test says beforehand what the stream can add: bodies are not preempted, so one body of the stream on each
 * worker each time that the pipeline waits.
 *
 * On real workers the last body of a release reads the clock; the release was due at submit + k * period. Alone and
 * beside take turns of as many releases, and turns are dropped where other programs used the CPUs (bench.h). */
#include "common/platform.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WORKERS = 2,
    PERIOD_NS = 1000000,
    STAGES = 3,
    STREAM_JOBS = 4,
    STREAM_INSTANCES = 64,
    STREAM_NS = 50000, /* one body of the stream */
    ROWS = 4,
    TURN_RELEASES = 1000,
    QUICK_RELEASES = 300
};

typedef struct row {
    const char *clock, *how;
    uint64_t releases, missed, stream_bodies;
    double p50_ns, p99_ns, p999_ns, max_ns;
    /* Of real workers: from due to end of each release, and how many are of turns that count. */
    double *took_ns;
    size_t count, kept, capacity;
    uint64_t kept_bodies;
} row;

/* When the releases of one turn ended. */
typedef struct ends {
    int64_t at_ns[TURN_RELEASES];
    uint32_t count;
} ends;

typedef struct bed {
    clo_platform *platform;
    clo_graph *pipeline, *load;
    clo_cost *pipeline_cost, *load_cost;
    uint64_t releases; /* in all */
    uint32_t turn;     /* of a turn */
    ends *ends;
    bench_turns turns;
    const clo_policy *policy;
    bool has_fifo;
    clo_admission_job bound;
} bed;

/* Releases follow each other: one writer at a time. */
static int write_out(const clo_call *call)
{
    ends *e = call->argument;
    int failed = clo_body_spin(call);

    if (e->count < TURN_RELEASES)
        e->at_ns[e->count++] = bench_now_ns();
    return failed;
}

static bool build_pipeline(bed *b)
{
    const clo_task stages[STAGES] = {{.name = "read", .work_ns = 60000, .body = clo_body_spin},
                                     {.name = "filter", .work_ns = 80000, .instances = 2, .body = clo_body_spin},
                                     {.name = "write", .work_ns = 60000, .body = write_out, .argument = b->ends}};

    if (clo_graph_create("pipeline", &b->pipeline) != CLO_OK ||
        clo_graph_add_tasks(b->pipeline, stages, STAGES, NULL) != CLO_OK)
        return false;
    for (uint32_t t = 1; t < STAGES; t++)
        if (clo_graph_add_edge(b->pipeline, t - 1, t, 0) != CLO_OK)
            return false;
    return clo_graph_seal(b->pipeline) == CLO_OK;
}

static bool build_load(bed *b, uint32_t instances)
{
    const clo_task task = {.name = "load", .work_ns = STREAM_NS, .instances = instances, .body = clo_body_spin};

    return clo_graph_create("load", &b->load) == CLO_OK && clo_graph_add_task(b->load, &task, NULL) == CLO_OK &&
           clo_graph_seal(b->load) == CLO_OK;
}

static bool open_bed(bed *b, const bench_options *o)
{
    b->turn = o->quick ? QUICK_RELEASES : TURN_RELEASES;
    b->releases = (uint64_t)b->turn * o->rounds;
    b->turns.wanted = o->rounds;
    b->ends = calloc(1, sizeof *b->ends);
    b->policy = clo_policy_find("edf");
    b->platform = bench_platform(WORKERS);
    return (b->ends != NULL && b->platform != NULL && build_pipeline(b) && build_load(b, STREAM_INSTANCES) &&
            clo_cost_create(b->pipeline, b->platform, &b->pipeline_cost) == CLO_OK &&
            clo_cost_create(b->load, b->platform, &b->load_cost) == CLO_OK) ||
           bench_fail("cannot prepare the jobs");
}

static void close_bed(bed *b)
{
    clo_cost_destroy(b->pipeline_cost);
    clo_cost_destroy(b->load_cost);
    clo_graph_destroy(b->pipeline);
    clo_graph_destroy(b->load);
    clo_platform_destroy(b->platform);
    free(b->ends);
}

/* Each release as a job; of the stream as many jobs as fill the time. */
static clo_status make_workload(const bed *b, bool is_beside, clo_workload **out)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_status status = clo_workload_create("beside", out);
    uint64_t fill = b->releases * (PERIOD_NS / STREAM_NS) * WORKERS / STREAM_INSTANCES + 1;

    job.graph = b->pipeline;
    job.deadline_ns = PERIOD_NS;
    for (uint64_t k = 0; k < b->releases && status == CLO_OK; k++) {
        job.arrival_ns = (int64_t)k * PERIOD_NS;
        status = clo_workload_add(*out, &job);
    }
    job = (clo_workload_job)CLO_WORKLOAD_JOB_INIT;
    job.graph = b->load;
    job.band = 1;
    for (uint64_t k = 0; is_beside && k < fill && status == CLO_OK; k++)
        status = clo_workload_add(*out, &job);
    return status == CLO_OK ? clo_workload_sort(*out) : status;
}

static void summarise(row *r, double *took_ns, size_t count)
{
    r->releases = count;
    for (size_t i = 0; i < count; i++)
        r->missed += took_ns[i] > (double)PERIOD_NS;
    bench_sort(took_ns, count);
    r->p50_ns = bench_quantile(took_ns, count, 0.5);
    r->p99_ns = bench_quantile(took_ns, count, 0.99);
    r->p999_ns = bench_quantile(took_ns, count, 0.999);
    r->max_ns = bench_quantile(took_ns, count, 1);
}

static void read_outcomes(row *r, const clo_workload *workload, const clo_stream_outcome *outcomes, double *took_ns)
{
    size_t count = 0;

    for (uint32_t i = 0; i < clo_workload_jobs(workload); i++)
        if (clo_workload_get(workload, i)->band > 0)
            r->stream_bodies += outcomes[i].executions;
        else
            took_ns[count++] = (double)(outcomes[i].finish_ns - outcomes[i].arrival_ns);
    summarise(r, took_ns, count);
}

static bool simulate(const bed *b, bool is_beside, row *r)
{
    clo_workload *workload = NULL;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_status status = make_workload(b, is_beside, &workload);
    uint32_t jobs = status == CLO_OK ? clo_workload_jobs(workload) : 1;

    config.policy = b->policy;
    config.outcomes = calloc(jobs, sizeof *config.outcomes);
    double *took = calloc(jobs, sizeof *took);
    if (config.outcomes == NULL || took == NULL)
        status = CLO_ERR_MEMORY;
    if (status == CLO_OK)
        status = clo_stream_simulate(workload, b->platform, &config, NULL);
    if (status == CLO_OK)
        read_outcomes(r, workload, config.outcomes, took);
    free(took);
    free(config.outcomes);
    clo_workload_destroy(workload);
    return status == CLO_OK || bench_fail("cannot simulate");
}

/* What the admission test says of the pipeline with the stream below it. */
static bool test_admission(bed *b)
{
    clo_workload_job pipeline = CLO_WORKLOAD_JOB_INIT, stream = CLO_WORKLOAD_JOB_INIT;
    clo_admission_config config = CLO_ADMISSION_CONFIG_INIT;
    clo_admission_job answers[2];
    clo_workload *workload;

    pipeline.graph = b->pipeline;
    pipeline.period_ns = pipeline.deadline_ns = PERIOD_NS;
    stream.graph = b->load;
    stream.band = 1;
    config.order = CLO_ADMISSION_EDF;
    if (clo_workload_create("beside", &workload) != CLO_OK)
        return bench_fail("out of memory");
    bool is_good = clo_workload_add(workload, &pipeline) == CLO_OK && clo_workload_add(workload, &stream) == CLO_OK &&
                   clo_admission_test(workload, b->platform, &config, answers, NULL) == CLO_OK;
    clo_workload_destroy(workload);
    b->bound = answers[0];
    return is_good || bench_fail("cannot test the admission");
}

static bool submit_again(clo_job *job, row *r)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status = clo_job_wait_for(job, 1000000, &result);

    if (status == CLO_ERR_TIMEOUT)
        return true;
    r->stream_bodies += result.executed;
    return status == CLO_OK && clo_job_submit(job) == CLO_OK;
}

/* Keeps the jobs of the stream busy until the pipeline has ended. due_ns: receives when its first release was due. */
static bool drive(clo_job *pipeline, clo_job *const *stream, bool is_beside, row *r, int64_t *due_ns)
{
    bool is_good = true;

    if (is_beside)
        for (int i = 0; i < STREAM_JOBS && is_good; i++)
            is_good = clo_job_submit(stream[i]) == CLO_OK;
    *due_ns = bench_now_ns();
    is_good = is_good && clo_job_submit(pipeline) == CLO_OK;
    if (!is_beside)
        return is_good && clo_job_wait(pipeline, NULL) == CLO_OK;
    while (is_good && clo_job_wait_for(pipeline, 0, NULL) == CLO_ERR_TIMEOUT)
        for (int i = 0; i < STREAM_JOBS && is_good; i++)
            is_good = submit_again(stream[i], r);
    return is_good;
}

static bool open_jobs(const bed *b, clo_runtime *runtime, clo_job **pipeline, clo_job **stream)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.policy = b->policy;
    config.period_ns = config.deadline_ns = PERIOD_NS;
    config.releases = b->turn;
    bool is_good = clo_job_create(runtime, b->pipeline_cost, &config, pipeline) == CLO_OK;
    config = (clo_job_config)CLO_JOB_CONFIG_INIT;
    config.policy = b->policy;
    config.band = 1;
    for (int i = 0; i < STREAM_JOBS && is_good; i++)
        is_good = clo_job_create(runtime, b->load_cost, &config, &stream[i]) == CLO_OK;
    return is_good;
}

/* One turn of one row. */
static bool measure(const bed *b, bool is_beside, row *r)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job *pipeline = NULL, *stream[STREAM_JOBS] = {NULL};
    clo_runtime *runtime = NULL;
    int64_t due_ns = 0;

    b->ends->count = 0;
    config.fifo_priority = b->has_fifo ? 80 : 0;
    bool is_good = clo_runtime_create(b->platform, &config, &runtime) == CLO_OK &&
                   open_jobs(b, runtime, &pipeline, stream) && drive(pipeline, stream, is_beside, r, &due_ns);
    clo_runtime_destroy(runtime); /* with its jobs */
    for (uint32_t k = 0; k < b->ends->count && r->count < r->capacity; k++)
        r->took_ns[r->count++] = (double)(b->ends->at_ns[k] - due_ns - (int64_t)k * PERIOD_NS);
    return is_good || bench_fail("cannot run");
}

/* Takes back what a turn that does not count has measured. */
static void end_turn(row *r, bool is_kept)
{
    if (is_kept) {
        r->kept = r->count;
        r->kept_bodies = r->stream_bodies;
    } else {
        r->count = r->kept;
        r->stream_bodies = r->kept_bodies;
    }
}

static bool measure_all(bed *b, row *alone, row *beside)
{
    bool is_good = true;

    alone->capacity = beside->capacity = (size_t)b->releases + 1;
    alone->took_ns = calloc(alone->capacity, sizeof *alone->took_ns);
    beside->took_ns = calloc(beside->capacity, sizeof *beside->took_ns);
    if (alone->took_ns == NULL || beside->took_ns == NULL)
        return bench_fail("out of memory");
    while (is_good && bench_turn_begin(&b->turns)) {
        is_good = measure(b, false, alone) && measure(b, true, beside);
        bool is_kept = bench_turn_end(&b->turns);
        end_turn(alone, is_kept);
        end_turn(beside, is_kept);
    }
    summarise(alone, alone->took_ns, alone->kept);
    summarise(beside, beside->took_ns, beside->kept);
    return is_good;
}

static void print_rows(const bed *b, const row *rows, bool is_json)
{
    if (is_json)
        printf("{\"bench\": \"beside\", \"period_ns\": %d, \"stream_body_ns\": %d, \"bound_ns\": %lld, "
               "\"blocking_ns\": %lld, \"admitted\": %s, \"rows\": [",
               PERIOD_NS, STREAM_NS, (long long)b->bound.response_ns, (long long)b->bound.blocking_ns,
               b->bound.verdict == CLO_ADMISSION_ADMITTED ? "true" : "false");
    else
        printf(
            "a pipeline every %.1f ms, deadline as long; bodies of the stream: %.0f us\nadmission test: %s, bound of "
            "the response %.0f us, of it %.0f us because bodies are not preempted\n\n%-10s %-7s %8s %7s %9s %9s %9s "
            "%9s %14s\n",
            (double)PERIOD_NS / 1e6, (double)STREAM_NS / 1e3,
            b->bound.verdict == CLO_ADMISSION_ADMITTED ? "admitted" : "not admitted",
            (double)b->bound.response_ns / 1e3, (double)b->bound.blocking_ns / 1e3, "", "", "releases", "missed",
            "p50 us", "p99 us", "p99.9 us", "max us", "stream bodies");
    for (int i = 0; i < ROWS; i++) {
        const row *r = &rows[i];
        if (is_json)
            printf("%s{\"clock\": \"%s\", \"how\": \"%s\", \"releases\": %llu, \"missed\": %llu, \"p50_ns\": %.0f, "
                   "\"p99_ns\": %.0f, \"p999_ns\": %.0f, \"max_ns\": %.0f, \"stream_bodies\": %llu}",
                   i > 0 ? ", " : "", r->clock, r->how, (unsigned long long)r->releases, (unsigned long long)r->missed,
                   r->p50_ns, r->p99_ns, r->p999_ns, r->max_ns, (unsigned long long)r->stream_bodies);
        else
            printf("%-10s %-7s %8llu %7llu %9.1f %9.1f %9.1f %9.1f %14llu\n", r->clock, r->how,
                   (unsigned long long)r->releases, (unsigned long long)r->missed, r->p50_ns / 1e3, r->p99_ns / 1e3,
                   r->p999_ns / 1e3, r->max_ns / 1e3, (unsigned long long)r->stream_bodies);
    }
    printf(is_json ? "], " : "\n");
    bench_turns_print(&b->turns, is_json);
    printf(is_json ? "}\n" : "\n");
}

int main(int argc, char **argv)
{
    bed b = {0};
    const bench_flag flags[] = {{"fifo", "run the workers with SCHED_FIFO at priority 80", &b.has_fifo, NULL, NULL},
                                {0}};
    const bench_about about = {.name = "beside",
                               .question = "does a periodic job keep its deadlines beside a saturating stream?",
                               .flags = flags,
                               .rounds = 10,
                               .quick_rounds = 1};
    row rows[ROWS] = {{.clock = "simulated", .how = "alone"},
                      {.clock = "simulated", .how = "beside"},
                      {.clock = "real", .how = "alone"},
                      {.clock = "real", .how = "beside"}};
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    bool is_good = open_bed(&b, &o) && test_admission(&b);
    is_good =
        is_good && simulate(&b, false, &rows[0]) && simulate(&b, true, &rows[1]) && measure_all(&b, &rows[2], &rows[3]);
    if (is_good)
        print_rows(&b, rows, o.json);
    for (int i = 0; i < ROWS; i++)
        free(rows[i].took_ns);
    close_bed(&b);
    return is_good ? 0 : 1;
}
