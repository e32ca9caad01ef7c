/* releases.c - see releases.h. */
#include "clotho/run/releases.h"
#include "clotho/common/interrupt.h"

#include "clotho/plan/pipeline.h"
#include "clotho/run/commands.h"

#include <clotho/flight.h>
#include <clotho/report.h>
#include <stdio.h>
#include <string.h>

#define TRACED_RELEASES 100

enum {
    READ_EVERY_NS = 2000000,    /* the flight recorder */
    LOOK_EVERY_NS = 100000000,  /* for a signal, where there is no recorder */
    RECORDER_EVENTS_MIN = 16384 /* of each worker, until it is read */
};

typedef struct flown {
    uint64_t releases; /* that ran */
    bool is_cut;       /* by a signal */
    clo_plan *plan;
    clo_job_result result;
    clo_job_timing timing;
    clo_flight *flight; /* real clock, where a trace is wanted; else NULL */
    clo_flight_counts counts;
    clo_trace *trace;
    uint64_t output_hash;
    double each_ns; /* from one release to the next */
    uint32_t responses[CLO_LATENCY_BUCKETS];
} flown;

static bool is_free(const run_options *o)
{
    return o->policy != NULL && strcmp(o->policy, "steal") == 0 && o->planner == NULL;
}

static bool wants_trace(const run_options *o)
{
    return o->trace != NULL || o->report != NULL;
}

static pipeline_series series_of(const run_options *o)
{
    return (pipeline_series){.in_flight = o->releases_in_flight,
                             .releases = o->releases,
                             .period_ns = o->period_ns,
                             .deadline_ns = o->deadline_ns,
                             .has_planner = (o->planner != NULL || o->policy != NULL) && !is_free(o)};
}

int run_flight_check(const run_options *o)
{
    const pipeline_series series = series_of(o);
    int code = pipeline_check_series(&series);

    if (code == EXIT_GOOD && o->traced_releases + (uint64_t)o->late_releases > 0 &&
        (o->releases_in_flight == 0 || !wants_trace(o)))
        return misuse("--%s is of --releases-in-flight N with --trace F.json or --report F.html; add them",
                      o->traced_releases > 0 ? "traced-releases" : "late-releases");
    if (code == EXIT_GOOD && o->late_releases > 0 && (o->period_ns == 0 || o->clock != CLO_CLOCK_REAL))
        return misuse(
            "--late-releases keeps releases that were late in real time; add --period TIME, leave --clock out");
    if (code == EXIT_GOOD && (uint64_t)o->traced_releases + o->late_releases > CLO_FLIGHT_RELEASES_MAX / 2)
        return misuse("--traced-releases and --late-releases keep %llu releases; at most %u",
                      (unsigned long long)o->traced_releases + o->late_releases, CLO_FLIGHT_RELEASES_MAX / 2);
    if (code != EXIT_GOOD || o->releases_in_flight == 0)
        return code;
    if (o->gantt != NULL || o->repeat > 1)
        return misuse("--releases-in-flight runs one series of --releases N; leave --gantt and --repeat out "
                      "('clotho plan --pipeline --gantt' draws the plan)");
    return EXIT_GOOD;
}

static uint32_t traced_of(const run_options *o)
{
    return !wants_trace(o) ? 0 : o->traced_releases > 0 ? o->traced_releases : TRACED_RELEASES;
}

/* In real time the flight recorder knows more than the trace of a job: the releases that were late, however long ago. */
static bool is_recorded(const run_options *o)
{
    return wants_trace(o) && o->clock == CLO_CLOCK_REAL;
}

static clo_status open_flight(const run_options *o, clo_runtime *runtime, const input *in, flown *f)
{
    clo_flight_config config = CLO_FLIGHT_CONFIG_INIT;

    if (!is_recorded(o))
        return CLO_OK;
    config.last = traced_of(o) > o->releases_in_flight ? traced_of(o) : o->releases_in_flight + 1;
    config.late = o->late_releases > 0 ? o->late_releases : TRACED_RELEASES;
    config.period_ns = o->period_ns;
    config.deadline_ns = o->deadline_ns;
    return clo_flight_create(runtime, in->cost, &config, &f->flight);
}

static clo_status read_timing(const clo_job *job, flown *f)
{
    clo_status status = clo_job_timing_read(job, &f->timing);

    return status == CLO_OK ? clo_job_latency_read(job, CLO_LATENCY_RESPONSE, f->responses) : status;
}

/* A cancelled release ends at once, and is counted as any other: what is reported is what was there before. */
static clo_status cut(clo_job *job, flown *f)
{
    clo_status status = read_timing(job, f);

    f->is_cut = true;
    clo_job_cancel(job);
    return status;
}

/* Waits for the end of the series, reads the flight recorder meanwhile, and then its times. A signal ends it early. */
static clo_status wait_for_end(clo_job *job, flown *f)
{
    clo_status status = f->flight != NULL ? clo_flight_begin(f->flight, job) : CLO_OK, timing = CLO_OK;

    if (status != CLO_OK)
        return status;
    do {
        status = clo_job_wait_for(job, f->flight != NULL ? READ_EVERY_NS : LOOK_EVERY_NS, &f->result);
        if (f->flight != NULL)
            (void)clo_flight_read(f->flight);
        if (status == CLO_ERR_TIMEOUT && is_interrupted() && !f->is_cut)
            timing = cut(job, f);
    } while (status == CLO_ERR_TIMEOUT);
    f->is_cut = f->is_cut && status == CLO_ERR_CANCELLED;
    return f->is_cut ? timing : status == CLO_OK ? read_timing(job, f) : status;
}

static clo_status take_trace(const run_options *o, const clo_job *job, const input *in, flown *f)
{
    if (!wants_trace(o))
        return CLO_OK;
    clo_status status = f->flight != NULL ? clo_flight_trace(f->flight, &f->trace) : clo_job_trace(job, &f->trace);
    if (status == CLO_OK && f->flight != NULL)
        status = clo_flight_count(f->flight, &f->counts);
    bool has_all = !f->is_cut && f->counts.executions_lost == 0 && traced_of(o) >= f->releases;
    if (status == CLO_OK && f->plan != NULL && has_all)
        status = clo_pipeline_check_period(f->trace, f->plan, in->cost, o->releases_in_flight, o->period_ns);
    return status;
}

static clo_status run_job(const run_options *o, clo_runtime *runtime, const input *in, flown *f)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = f->plan;
    config.releases_in_flight = o->releases_in_flight;
    config.releases = f->releases;
    config.period_ns = o->period_ns;
    config.deadline_ns = o->deadline_ns;
    config.traced_releases = is_recorded(o) ? 0 : traced_of(o);
    config.memory_limit_bytes = o->memory_limit_mib < UINT64_MAX >> 20 ? o->memory_limit_mib << 20 : UINT64_MAX;
    clo_status status = clo_job_create(runtime, in->cost, &config, &job);
    if (status != CLO_OK)
        return status;
    status = open_flight(o, runtime, in, f);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    interrupts_catch();
    if (status == CLO_OK)
        status = wait_for_end(job, f);
    interrupts_let_go();
    if (status == CLO_OK)
        status = take_trace(o, job, in, f);
    if (f->is_cut && status == CLO_OK) {
        warn("%s: interrupted: %llu of %llu releases are done", in->path, (unsigned long long)f->timing.finished,
             (unsigned long long)f->releases);
        f->releases = f->timing.released = f->timing.finished;
        f->timing.missed = f->timing.missed < f->timing.finished ? f->timing.missed : f->timing.finished;
    }
    f->output_hash = clo_job_output_hash(job);
    f->each_ns = f->releases > 0 ? (double)f->result.makespan_ns / (double)f->releases : 0;
    clo_job_destroy(job);
    return status;
}

/* Room for what happens between two looks, also of tiny tasks. */
static uint32_t recorder_events(const run_options *o, const input *in)
{
    uint64_t wanted = (uint64_t)clo_graph_instances(clo_document_graph(in->document)) * 4 * o->releases_in_flight;

    if (!is_recorded(o))
        return 0;
    return wanted < RECORDER_EVENTS_MIN ? RECORDER_EVENTS_MIN : wanted > 1u << 20 ? 1u << 20 : (uint32_t)wanted;
}

static clo_status fly(const run_options *o, const input *in, flown *f)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    const pipeline_series series = series_of(o);
    clo_runtime *runtime;

    if (!is_free(o))
        input_warn_untimed(in);
    clo_status status = is_free(o) ? CLO_OK : pipeline_plan_series(in->cost, &series, &f->plan);
    if (status == CLO_OK && f->plan != NULL)
        status = clo_plan_check(f->plan, in->cost, CLO_CHECK_FULL);
    config.clock = o->clock;
    config.jobs_max = 1;
    config.fifo_priority = (int32_t)o->fifo;
    config.unpinned = o->unpinned;
    config.copy_always = o->copy_always;
    config.trace = wants_trace(o) && !is_recorded(o);
    config.recorder_events = recorder_events(o, in);
    config.slot_workers = commands_at_once(in);
    if (status == CLO_OK)
        status = clo_runtime_create(in->platform, &config, &runtime);
    if (status != CLO_OK)
        return status;
    status = run_job(o, runtime, in, f);
    clo_flight_destroy(f->flight);
    clo_runtime_destroy(runtime);
    return status;
}

static int write_files(const run_options *o, const input *in, const flown *f)
{
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    char title[512];
    clo_status status;
    int code = EXIT_GOOD;

    snprintf(title, sizeof title, "%s on %s, %u releases in flight%s", clo_graph_name(clo_document_graph(in->document)),
             clo_platform_name(in->platform), o->releases_in_flight, o->clock != CLO_CLOCK_REAL ? ", emulated" : "");
    config.title = title;
    config.period_ns = o->period_ns;
    config.deadline_ns = o->deadline_ns > 0 ? o->deadline_ns : o->period_ns;
    config.responses = f->timing.response_ns.count > 0 ? f->responses : NULL;
    if (o->trace != NULL && (status = clo_trace_write_releases(f->trace, in->cost, &config, o->trace)) != CLO_OK)
        code = complain_status(o->trace, status);
    if (o->report != NULL && (status = clo_report_releases(f->trace, in->cost, &config, o->report)) != CLO_OK)
        code = complain_status(o->report, status);
    return code;
}

static clo_status print_text(const run_options *o, const input *in, const flown *f)
{
    input_print(in);
    const pipeline_series series = series_of(o);
    printf("dispatch     %s, up to %u releases in flight%s\n\n",
           f->plan != NULL ? "replay modulo an interval" : "work stealing", o->releases_in_flight,
           o->clock != CLO_CLOCK_REAL ? ", emulated" : "");
    clo_status status = pipeline_print(f->plan, in->cost);
    printf("executed     %llu releases in %s, one each %s, so %.4g a second\n", (unsigned long long)f->releases,
           show_ns(f->result.makespan_ns), show_ns((int64_t)f->each_ns), f->each_ns > 0 ? 1e9 / f->each_ns : 0);
    if (o->clock == CLO_CLOCK_REAL || o->period_ns > 0)
        pipeline_print_timing(&f->timing, &series);
    if (f->counts.releases > 0)
        printf("kept         %llu of %llu releases, %llu of %llu late ones; %llu executions were lost\n",
               (unsigned long long)f->counts.kept, (unsigned long long)f->counts.releases,
               (unsigned long long)f->counts.late_kept, (unsigned long long)f->counts.late,
               (unsigned long long)f->counts.executions_lost);
    return status;
}

static clo_status print_json(const run_options *o, const input *in, const flown *f)
{
    json out;
    char hash[17];

    json_begin(&out);
    json_text(&out, "graph", clo_graph_name(clo_document_graph(in->document)));
    json_text(&out, "platform", clo_platform_name(in->platform));
    json_text(&out, "clock", o->clock_name);
    json_count(&out, "releases_in_flight", o->releases_in_flight);
    json_count(&out, "releases", f->releases);
    clo_status status = pipeline_print_json(f->plan, in->cost, &out);
    json_integer(&out, "measured_ns", f->result.makespan_ns);
    json_real(&out, "interval_measured_ns", f->each_ns);
    json_count(&out, "executed", f->result.executed);
    const pipeline_series series = series_of(o);
    if (o->clock == CLO_CLOCK_REAL || o->period_ns > 0)
        pipeline_print_timing_json(&f->timing, &series, &out);
    pipeline_print_histogram_json(f->responses, &out);
    if (f->counts.releases > 0) {
        json_count(&out, "releases_kept", f->counts.kept);
        json_count(&out, "late_kept", f->counts.late_kept);
        json_count(&out, "executions_lost", f->counts.executions_lost);
    }
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)f->output_hash);
    json_text(&out, "output_hash", hash);
    if (status != CLO_OK) {
        json_drop(&out);
        return status;
    }
    return json_print(&out) == EXIT_GOOD ? CLO_OK : CLO_ERR_SYSTEM;
}

int run_flight(const input *in, const run_options *o)
{
    flown f = {.releases = o->releases > 0 ? o->releases : PIPELINE_RELEASES,
               .result = CLO_JOB_RESULT_INIT,
               .timing = CLO_JOB_TIMING_INIT,
               .counts = CLO_FLIGHT_COUNTS_INIT};
    clo_status status = fly(o, in, &f);

    if (status == CLO_OK)
        status = run_to_output(o) > 0 ? CLO_OK : o->as_json ? print_json(o, in, &f) : print_text(o, in, &f);
    const pipeline_series series = series_of(o);
    int code = status == CLO_OK ? write_files(o, in, &f) : complain_status(in->path, status);
    if (code == EXIT_GOOD)
        code = pipeline_check_deadline(in->path, &f.timing, &series);
    clo_trace_destroy(f.trace);
    clo_plan_destroy(f.plan);
    return f.is_cut ? EXIT_BAD_INPUT : code;
}
