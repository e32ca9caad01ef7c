/* drive.c - submits the jobs of a workload at their arrivals to real workers, and takes what has ended.
 *
 * One thread does it all. A job is made before it arrives and destroyed after it has ended: at most --live jobs exist
 * at once. Where as many exist, later ones wait for room (back-pressure), and their completion times count that. When a
 * job ended is what the runtime measured, not when this thread looked. All times here are those of the workload: with
 * --dilate N one of its seconds takes N.
 *
 * Under the virtual clock all jobs are made and submitted before time begins, and each arrives at its moment. So what
 * happens does not depend on how quickly this thread is. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/workload/stream.h"

#include "clotho/common/clock.h"
#include "clotho/common/interrupt.h"
#include "clotho/stream/misfits.h"
#include "clotho/workload/bodies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    AHEAD_MAX = 256,      /* jobs that are made before they arrive */
    LOOK_NS = 10000000,   /* between two looks at the jobs that live */
    FULL_LOOK_NS = 500000 /* the same while a job waits for room */
};
#define PROGRESS_NS INT64_C(2000000000)

/* Jobs under the virtual clock: those of a runtime (clo_runtime_config.jobs_max), but for the keeper. */
#define VIRTUAL_JOBS_MAX 65535u

typedef struct driver {
    stream_run *run;
    clo_runtime *runtime;
    clo_job *keeper; /* never submitted: keeps the scheduler, and so its log, while no other job is there */
    clo_graph *kept; /* the keeper's: one task without an output */
    clo_cost *kept_cost;
    clo_job **jobs;       /* [count] by place in the list; NULL: not made, or destroyed */
    int64_t *submit_ns;   /* [count] */
    int64_t *ends_ns;     /* [count] scratch */
    int64_t *decision_ns; /* [count] medians of the jobs that decided */
    uint32_t *live;       /* [count] places of the jobs that live */
    uint32_t count, live_max, live_count, made, submitted, decided, refused;
    bool is_full; /* the next job to be made waits for room */
    int64_t origin_ns, look_ns, progress_ns;
    bodies bodies; /* that ran, for pictures */
    int code;
} driver;

static int64_t now_ns(const driver *d)
{
    return (monotonic_ns() - d->origin_ns) / (int64_t)d->run->options->dilate;
}

static bool is_virtual(const driver *d)
{
    return d->run->options->clock == CLO_CLOCK_VIRTUAL;
}

static const clo_workload_job *row(const driver *d, uint32_t place)
{
    return clo_workload_get(d->run->run.workload, place);
}

static clo_stream_outcome *outcome(const driver *d, uint32_t place)
{
    return &d->run->run.outcomes[place];
}

static void refuse(driver *d, uint32_t place, clo_status status)
{
    const clo_workload_job *job = row(d, place);

    outcome(d, place)->status = status;
    if (d->refused++ < MISFITS_NAMED_MAX)
        complain(d->run->sim.path, "job %" PRIu32 " '%.100s' is refused: %s", place, show_name(job->name),
                 clo_last_error()[0] != '\0' ? clo_last_error() : clo_status_text(status));
    d->run->misfits++;
    d->code = EXIT_BAD_INPUT;
}

static clo_job_config config_of(const driver *d, uint32_t place)
{
    const clo_workload_job *job = row(d, place);
    const run_options *o = d->run->options;
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    if (!d->run->is_steal) {
        config.policy = d->run->sim.policy;
        config.argument = d->run->sim.argument;
    }
    config.deadline_ns = job->deadline_ns;
    config.weight = job->weight;
    config.band = job->band;
    config.group = job->group;
    config.limit = job->limit;
    config.tag = place;
    config.seed = o->seed + place;
    config.arrival_ns = is_virtual(d) ? job->arrival_ns : 0;
    config.steps_max = o->steps_max;
    config.memory_limit_bytes = o->memory_limit_mib < UINT64_MAX >> 20 ? o->memory_limit_mib << 20 : UINT64_MAX;
    return config;
}

/* Makes the next job. False: there is no room for it now. */
static bool make(driver *d)
{
    uint32_t place = d->made;
    const clo_workload_job *job = row(d, place);
    clo_job_config config = config_of(d, place);

    if (d->made - d->submitted + d->live_count >= d->live_max)
        return false;
    clo_status status = clo_job_create(d->runtime, d->run->jobs.jobs[place].cost, &config, &d->jobs[place]);
    /* In virtual time no place becomes free, and there are enough: the job itself is too large. */
    bool may_fit_later = status == CLO_ERR_MEMORY || (status == CLO_ERR_LIMIT && !is_virtual(d));
    if (may_fit_later && d->live_count > 0)
        return false;
    if (status != CLO_OK)
        refuse(d, place, status);
    if (d->is_full && job->arrival_ns <= now_ns(d))
        d->run->sums.held++;
    else
        d->is_full = false;
    d->made++;
    return true;
}

static void submit(driver *d)
{
    uint32_t place = d->submitted++;
    run_sums *sums = &d->run->sums;

    if (d->jobs[place] == NULL)
        return;
    d->submit_ns[place] = is_virtual(d) ? row(d, place)->arrival_ns : now_ns(d);
    clo_status status = clo_job_submit(d->jobs[place]);
    if (status != CLO_OK) {
        refuse(d, place, status);
        clo_job_destroy(d->jobs[place]);
        d->jobs[place] = NULL;
        return;
    }
    int64_t late_ns = d->submit_ns[place] - row(d, place)->arrival_ns;
    sums->submitted++;
    sums->submit_late_ns += (double)late_ns;
    if (late_ns > sums->submit_late_max_ns)
        sums->submit_late_max_ns = late_ns;
    d->live[d->live_count++] = place;
}

static void sum_up(run_sums *sums, const clo_job_result *r)
{
    sums->executed += r->executed;
    sums->skipped += r->skipped;
    sums->duplicates += r->duplicates_run;
    sums->transfers += r->transfers;
    sums->transferred_bytes += r->transferred_bytes;
    sums->copied_bytes += r->copied_bytes;
    sums->steals += r->steals;
    sums->busy_ns += r->busy_ns;
    sums->decisions += r->decisions;
    if (r->decision_max_ns > sums->decision_max_ns)
        sums->decision_max_ns = r->decision_max_ns;
    if (r->refused > sums->refused) /* each job counts those of all that lived with it */
        sums->refused = r->refused;
    if (r->fallbacks > sums->fallbacks)
        sums->fallbacks = r->fallbacks;
    if (r->partial > sums->partial)
        sums->partial = r->partial;
    if (sums->refusal[0] == '\0')
        snprintf(sums->refusal, sizeof sums->refusal, "%s", r->refusal);
}

/* When the bodies of a job ran. */
static void take_trace(driver *d, uint32_t place)
{
    clo_trace *trace;
    size_t count;
    clo_stream_outcome *o = outcome(d, place);

    if (clo_job_trace(d->jobs[place], &trace) != CLO_OK)
        return;
    const clo_trace_event *events = clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++) {
        const clo_log_record body = {.what = CLO_LOG_FINISH,
                                     .now_ns = d->submit_ns[place] + events[i].finish_ns,
                                     .value = d->submit_ns[place] + events[i].start_ns,
                                     .job = place,
                                     .stage = events[i].task,
                                     .instance = events[i].instance,
                                     .executor = events[i].executor};
        if (body.value < o->start_ns)
            o->start_ns = body.value;
        if (d->run->draws && !bodies_keep(&d->bodies, &body))
            d->code = complain(d->run->sim.path, "out of memory for the picture; leave --gantt and --report out");
    }
    clo_trace_destroy(trace);
}

static void take_result(driver *d, uint32_t place, const clo_job_result *result)
{
    run_sums *sums = &d->run->sums;
    clo_stream_outcome *o = outcome(d, place);
    const clo_workload_job *job = row(d, place);

    sum_up(sums, result);
    o->status = result->status;
    o->busy_ns = result->busy_ns;
    o->executions = result->executed;
    if (d->run->keeps_traces)
        take_trace(d, place);
    if (result->decisions > 0)
        d->decision_ns[d->decided++] = result->decision_p50_ns;
    if (result->status == CLO_OK) {
        o->finish_ns = d->submit_ns[place] + result->makespan_ns;
        sums->ended++;
        sums->late += job->deadline_ns > 0 && o->finish_ns - job->arrival_ns > job->deadline_ns;
        if (o->finish_ns > sums->makespan_ns)
            sums->makespan_ns = o->finish_ns;
    } else if (result->status == CLO_ERR_TASK) {
        if (sums->failed++ == 0)
            d->code = complain(d->run->sim.path, "job %" PRIu32 " '%.100s': %s", place, show_name(job->name),
                               clo_last_error());
    } else {
        sums->cancelled++;
    }
}

/* Takes jobs that have ended, at most `timeout_ns` each. */
static void look(driver *d, int64_t timeout_ns)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < d->live_count; i++) {
        uint32_t place = d->live[i];
        clo_job_result result = CLO_JOB_RESULT_INIT;
        if (clo_job_wait_for(d->jobs[place], timeout_ns, &result) == CLO_ERR_TIMEOUT) {
            d->live[kept++] = place;
            continue;
        }
        take_result(d, place, &result);
        clo_job_destroy(d->jobs[place]);
        d->jobs[place] = NULL;
    }
    d->live_count = kept;
}

static void show_progress(driver *d)
{
    char line[160];
    int64_t now = monotonic_ns();

    if (now < d->progress_ns)
        return;
    d->progress_ns = now + PROGRESS_NS;
    snprintf(line, sizeof line, "%" PRIu64 " of %u jobs ended, %u live, %s", d->run->sums.ended, d->count,
             d->live_count, show_ns(now_ns(d)));
    progress(NULL, line);
}

/* Looks at the jobs that live when it is time to, else sleeps until something is due. Looks cost time: the more jobs
 * live the rarer they are. */
static void look_or_sleep(driver *d)
{
    int64_t begin = monotonic_ns(), until = d->look_ns;

    if (begin >= d->look_ns) {
        look(d, 0);
        int64_t took = monotonic_ns() - begin, rest = d->is_full ? FULL_LOOK_NS : LOOK_NS;
        d->look_ns = begin + took + (rest > 8 * took ? rest : 8 * took);
        show_progress(d);
        return;
    }
    if (d->submitted < d->made) {
        int64_t left = row(d, d->submitted)->arrival_ns - now_ns(d);
        if (left < (until - begin) / (int64_t)d->run->options->dilate)
            until = begin + left * (int64_t)d->run->options->dilate;
    }
    if (until > begin)
        nanosleep(&(struct timespec){(until - begin) / 1000000000, (until - begin) % 1000000000}, NULL);
}

static bool is_due(const driver *d)
{
    return d->submitted < d->made && row(d, d->submitted)->arrival_ns <= now_ns(d);
}

/* Every turn submits a job, makes one, or waits for the time or for a job to end. */
static void drive(driver *d)
{
    d->origin_ns = d->progress_ns = monotonic_ns();
    d->look_ns = d->origin_ns + LOOK_NS;
    d->progress_ns += PROGRESS_NS;
    while (!is_interrupted() && (d->submitted < d->count || d->live_count > 0)) {
        if (is_due(d)) {
            submit(d);
            continue;
        }
        bool wants_more = d->made < d->count && d->made - d->submitted < AHEAD_MAX;
        if (wants_more && make(d))
            continue;
        d->is_full = wants_more && d->submitted == d->made && row(d, d->made)->arrival_ns <= now_ns(d);
        look_or_sleep(d);
    }
}

/* Running bodies finish, nothing else starts. Then nothing is left to be done. */
static void cancel_all(driver *d)
{
    for (uint32_t i = 0; i < d->live_count; i++)
        clo_job_cancel(d->jobs[d->live[i]]);
    look(d, INT64_MAX);
    for (uint32_t i = d->submitted; i < d->count; i++)
        outcome(d, i)->status = CLO_ERR_CANCELLED;
    d->run->sums.cancelled += d->count - d->submitted;
    d->submitted = d->count;
}

/* Makes and submits all jobs, then lets their time begin. */
static void drive_virtual(driver *d)
{
    bool has_room = true;

    d->origin_ns = d->progress_ns = monotonic_ns();
    d->look_ns = d->origin_ns;
    d->progress_ns += PROGRESS_NS;
    clo_status status = clo_runtime_hold_time(d->runtime, 1);
    while (status == CLO_OK && has_room && !is_interrupted() && d->submitted < d->count) {
        has_room = make(d);
        if (has_room)
            submit(d);
    }
    if (!has_room)
        d->code =
            complain(d->run->sim.path, "job %" PRIu32 ": %s; with --clock virtual all jobs exist at once, lower --jobs",
                     d->made, clo_last_error());
    if (status == CLO_OK)
        status = clo_runtime_hold_time(d->runtime, 0);
    if (status != CLO_OK)
        d->code = complain_status(d->run->sim.path, status);
    if (!has_room)
        cancel_all(d);
    while (!is_interrupted() && d->live_count > 0)
        look_or_sleep(d);
}

/* After an interrupt. */
static void wind_up(driver *d)
{
    uint32_t live = d->live_count, never = d->count - d->submitted;

    d->run->is_interrupted = true;
    cancel_all(d);
    d->code = complain(d->run->sim.path, "interrupted: %u live jobs were cancelled, %u never arrived", live, never);
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* Most jobs that had been submitted and had not ended. Submissions rise with the place; a job that was cancelled or
 * failed counts as if it ended at once. */
static uint64_t measure_peak(const driver *d)
{
    uint64_t peak = 0;
    uint32_t ended = 0, count = 0;

    for (uint32_t i = 0; i < d->submitted; i++)
        if (outcome(d, i)->finish_ns != CLO_TIME_NEVER)
            d->ends_ns[count++] = outcome(d, i)->finish_ns;
    qsort(d->ends_ns, count, sizeof *d->ends_ns, by_time);
    for (uint32_t i = 0, submitted = 0; i < d->submitted; i++) {
        if (outcome(d, i)->finish_ns == CLO_TIME_NEVER)
            continue;
        submitted++;
        while (ended < count && d->ends_ns[ended] <= d->submit_ns[i])
            ended++;
        peak = submitted - ended > peak ? submitted - ended : peak;
    }
    return peak;
}

/* Means and quantiles over the jobs that ended. */
static void summarise(driver *d)
{
    run_sums *sums = &d->run->sums;
    double sum = 0, weighted = 0, weights = 0;
    uint32_t count = 0;

    sums->peak = measure_peak(d);
    for (uint32_t i = 0; i < d->count; i++) {
        const clo_stream_outcome *o = outcome(d, i);
        if (o->status != CLO_OK || o->finish_ns == CLO_TIME_NEVER)
            continue;
        int64_t took_ns = o->finish_ns - o->arrival_ns;
        double weight = row(d, i)->weight;
        sum += (double)took_ns;
        weighted += weight * (double)took_ns;
        weights += weight;
        d->ends_ns[count++] = took_ns;
    }
    qsort(d->ends_ns, count, sizeof *d->ends_ns, by_time);
    qsort(d->decision_ns, d->decided, sizeof *d->decision_ns, by_time);
    sums->jct_mean_ns = count > 0 ? sum / count : 0;
    sums->jct_weighted_ns = weights > 0 ? weighted / weights : 0;
    sums->jct_p95_ns = count > 0 ? d->ends_ns[(size_t)(((uint64_t)count * 95 + 99) / 100 - 1)] : 0;
    sums->decision_p50_ns = d->decided > 0 ? d->decision_ns[(d->decided - 1) / 2] : 0;
}

static clo_status make_keeper(driver *d)
{
    const clo_task task = {.name = "keeper"};
    clo_job_config keeping = config_of(d, 0);

    keeping.limit = 0;
    keeping.arrival_ns = 0;
    clo_status status = clo_graph_create("keeper", &d->kept);
    if (status == CLO_OK)
        status = clo_graph_add_task(d->kept, &task, NULL);
    if (status == CLO_OK)
        status = clo_graph_seal(d->kept);
    if (status == CLO_OK)
        status = clo_cost_create(d->kept, d->run->sim.platform, &d->kept_cost);
    return status == CLO_OK ? clo_job_create(d->runtime, d->kept_cost, &keeping, &d->keeper) : status;
}

static clo_status start_runtime(driver *d)
{
    const run_options *o = d->run->options;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.clock = o->clock;
    config.jobs_max = d->live_max + 1; /* the keeper */
    config.trace = 1;
    config.fifo_priority = (int32_t)o->fifo;
    config.unpinned = o->unpinned;
    config.copy_always = o->copy_always;
    config.dilate = o->dilate;
    clo_status status = clo_runtime_create(d->run->sim.platform, &config, &d->runtime);
    if (status == CLO_OK && d->run->log != NULL)
        status = clo_runtime_log_start(d->runtime, d->run->log);
    return status != CLO_OK || d->run->is_steal ? status : make_keeper(d);
}

static bool allocate(driver *d)
{
    size_t rows = d->count > 0 ? d->count : 1;

    d->jobs = calloc(rows, sizeof *d->jobs);
    d->submit_ns = calloc(rows, sizeof *d->submit_ns);
    d->ends_ns = calloc(rows, sizeof *d->ends_ns);
    d->decision_ns = calloc(rows, sizeof *d->decision_ns);
    d->live = calloc(rows, sizeof *d->live);
    d->run->run.outcomes = calloc(rows, sizeof *d->run->run.outcomes);
    if (d->jobs == NULL || d->submit_ns == NULL || d->ends_ns == NULL || d->decision_ns == NULL || d->live == NULL ||
        d->run->run.outcomes == NULL)
        return false;
    for (uint32_t i = 0; i < d->count; i++)
        *outcome(d, i) = (clo_stream_outcome){
            .arrival_ns = row(d, i)->arrival_ns, .start_ns = CLO_TIME_NEVER, .finish_ns = CLO_TIME_NEVER};
    return true;
}

static void release(driver *d)
{
    for (uint32_t i = 0; i < d->count && d->jobs != NULL; i++)
        clo_job_destroy(d->jobs[i]);
    clo_job_destroy(d->keeper);
    clo_cost_destroy(d->kept_cost);
    clo_graph_destroy(d->kept);
    clo_runtime_destroy(d->runtime);
    free(d->jobs);
    free(d->submit_ns);
    free(d->ends_ns);
    free(d->decision_ns);
    free(d->live);
    free(d->bodies.all);
}

static uint64_t parks_of(const clo_runtime *runtime)
{
    uint64_t parks = 0;

    for (uint32_t w = 0; w < clo_runtime_workers(runtime); w++) {
        clo_worker_stats stats = CLO_WORKER_STATS_INIT;
        if (clo_runtime_worker_stats(runtime, w, &stats) == CLO_OK)
            parks += stats.parks;
    }
    return parks;
}

int run_drive(stream_run *run)
{
    driver d = {.run = run, .count = clo_workload_jobs(run->run.workload), .code = EXIT_GOOD};
    uint32_t wanted = run->options->live > 0 ? run->options->live : RUN_LIVE_DEFAULT;

    if (is_virtual(&d) && d.count > VIRTUAL_JOBS_MAX)
        return complain(run->sim.path,
                        "%u jobs: with --clock virtual all exist at once, at most %u; lower --jobs, or write 'clotho "
                        "simulate'",
                        d.count, VIRTUAL_JOBS_MAX);
    d.live_max = is_virtual(&d) || wanted > d.count ? d.count : wanted;
    if (!allocate(&d)) {
        release(&d);
        return complain(run->sim.path, "out of memory for %u jobs; lower --jobs", d.count);
    }
    clo_status status = start_runtime(&d);
    if (status != CLO_OK) {
        release(&d);
        return complain_status(run->sim.path, status);
    }
    interrupts_catch();
    if (is_virtual(&d))
        drive_virtual(&d);
    else
        drive(&d);
    if (is_interrupted())
        wind_up(&d);
    interrupts_let_go();
    if (d.refused > MISFITS_NAMED_MAX)
        complain(run->sim.path, "%" PRIu32 " more jobs are refused", d.refused - MISFITS_NAMED_MAX);
    run->sums.parks = parks_of(d.runtime);
    if (run->log != NULL && clo_runtime_log_stop(d.runtime) != CLO_OK)
        d.code = complain_status(run->sim.path, CLO_ERR_STATE);
    summarise(&d);
    int drawn = bodies_log(&d.bodies, d.run, d.submitted);
    release(&d);
    return d.code != EXIT_GOOD ? d.code : drawn;
}
