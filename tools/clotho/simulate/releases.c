/* releases.c - `clotho simulate GRAPH --releases-in-flight N`: a series of releases of one graph in virtual
 * time, several of them at once, planned modulo an interval. The trace is judged by clo_pipeline_check_period. */
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"
#include "clotho/plan/pipeline.h"
#include "clotho/simulate/simulate.h"

#include <clotho/report.h>
#include <stdio.h>

#define JUDGED_MAX 4000000u /* executions, beyond which the trace would take much memory */

typedef struct flown {
    uint64_t releases;
    clo_plan *plan;
    clo_trace *trace;
    clo_job_result result;
    clo_job_timing timing;
    uint32_t responses[CLO_LATENCY_BUCKETS];
    double each_ns; /* from one release to the next */
    bool is_judged, is_valid;
    char fault[512];
} flown;

static pipeline_series series_of(const simulate_options *o)
{
    return (pipeline_series){.in_flight = o->releases_in_flight,
                             .releases = o->releases,
                             .period_ns = o->period_ns,
                             .deadline_ns = o->deadline_ns,
                             .has_planner = o->planner != NULL || o->policy != NULL};
}

int simulate_flight_check(const simulate_options *o)
{
    const pipeline_series series = series_of(o);
    int code = pipeline_check_series(&series);

    if (code == EXIT_GOOD && o->releases_in_flight == 0 && o->deadline_ns > 0)
        return misuse("--deadline is of --releases-in-flight N and --period; jobs have deadlines of their own");

    if (code != EXIT_GOOD || o->releases_in_flight == 0)
        return code;
    if (o->jobs > 0 || o->arrivals != NULL || o->seeds != NULL || o->log != NULL || o->replay != NULL ||
        o->csv != NULL || o->gantt != NULL || o->environment != NULL || o->live > 0 || o->steps_max > 0 ||
        o->skips_misfits || o->samples > 0)
        return misuse("--releases-in-flight simulates one series of --releases N; it goes with --period, --deadline, "
                      "--platform, --instance, --profile, --strict, --scale, --trace, --report and --json only "
                      "('clotho plan --pipeline "
                      "--gantt' draws the plan)");
    return EXIT_GOOD;
}

static clo_status fly(const input *in, const simulate_options *o, flown *f)
{
    const pipeline_series series = series_of(o);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    input_warn_untimed(in);
    clo_status status = pipeline_plan_series(in->cost, &series, &f->plan);

    config.plan = f->plan;
    config.releases_in_flight = o->releases_in_flight;
    config.releases = f->releases;
    config.period_ns = o->period_ns;
    config.deadline_ns = o->deadline_ns;
    config.timing = o->period_ns > 0 ? &f->timing : NULL;
    config.responses = o->period_ns > 0 ? f->responses : NULL;
    f->is_judged = f->releases * clo_graph_instances(clo_document_graph(in->document)) <= JUDGED_MAX;
    bool wants_trace = f->is_judged || o->trace != NULL || o->report != NULL;
    if (status == CLO_OK)
        status = clo_simulate(in->cost, &config, &f->result, wants_trace ? &f->trace : NULL, NULL);
    if (status != CLO_OK)
        return status;
    f->each_ns = (double)f->result.makespan_ns / (double)f->releases;
    if (!f->is_judged)
        return CLO_OK;
    status = clo_pipeline_check_period(f->trace, f->plan, in->cost, o->releases_in_flight, o->period_ns);
    f->is_valid = status == CLO_OK;
    return status == CLO_ERR_INVALID ? (snprintf(f->fault, sizeof f->fault, "%s", clo_last_error()), CLO_OK) : status;
}

static double use_of(const input *in, const flown *f)
{
    double room = (double)f->result.makespan_ns * (double)clo_platform_executors(in->platform);

    return room > 0 ? (double)f->result.busy_ns / room : 0;
}

static clo_status print_text(const input *in, const simulate_options *o, const flown *f)
{
    const pipeline_series series = series_of(o);

    input_print(in);
    printf("workload     %llu releases in virtual time, up to %u in flight; nothing is executed\n\n",
           (unsigned long long)f->releases, o->releases_in_flight);
    clo_status status = pipeline_print(f->plan, in->cost);
    printf("simulated    %llu releases in %s, one each %s, so %.4g a second\n", (unsigned long long)f->releases,
           show_ns(f->result.makespan_ns), show_ns((int64_t)f->each_ns), f->each_ns > 0 ? 1e9 / f->each_ns : 0);
    if (o->period_ns > 0)
        pipeline_print_timing(&f->timing, &series);
    printf("executors    %s in use over the series\n", show_percent(use_of(in, f)));
    printf("check        %s\n", !f->is_judged ? "not judged; simulate fewer releases"
                                : f->is_valid ? "valid"
                                              : "NOT VALID");
    return status;
}

static clo_status print_json(const input *in, const simulate_options *o, const flown *f)
{
    json out;

    json_begin(&out);
    json_text(&out, "workload", clo_graph_name(clo_document_graph(in->document)));
    json_text(&out, "file", in->path);
    json_text(&out, "platform", clo_platform_name(in->platform));
    json_count(&out, "executors", clo_platform_executors(in->platform));
    json_count(&out, "releases_in_flight", o->releases_in_flight);
    json_count(&out, "releases", f->releases);
    clo_status status = pipeline_print_json(f->plan, in->cost, &out);
    json_real(&out, "makespan_s", (double)f->result.makespan_ns / 1e9);
    json_integer(&out, "makespan_ns", f->result.makespan_ns);
    json_real(&out, "interval_simulated_ns", f->each_ns);
    json_real(&out, "utilization", use_of(in, f));
    const pipeline_series series = series_of(o);
    if (o->period_ns > 0)
        pipeline_print_timing_json(&f->timing, &series, &out);
    if (o->period_ns > 0)
        pipeline_print_histogram_json(f->responses, &out);
    json_count(&out, "completions", f->result.executed);
    json_count(&out, "transfers", f->result.transfers);
    json_count(&out, "transferred_bytes", f->result.transferred_bytes);
    json_bool(&out, "judged", f->is_judged);
    json_bool(&out, "valid", f->is_valid);
    if (status != CLO_OK) {
        json_drop(&out);
        return status;
    }
    return json_print(&out) == EXIT_GOOD ? CLO_OK : CLO_ERR_SYSTEM;
}

static int write_files(const input *in, const simulate_options *o, const flown *f)
{
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    char title[512];
    clo_status status;
    int code = EXIT_GOOD;

    snprintf(title, sizeof title, "%s on %s, %u releases in flight, simulated",
             clo_graph_name(clo_document_graph(in->document)), clo_platform_name(in->platform), o->releases_in_flight);
    config.title = title;
    config.period_ns = o->period_ns;
    config.deadline_ns = o->deadline_ns > 0 ? o->deadline_ns : o->period_ns;
    config.responses = o->period_ns > 0 ? f->responses : NULL;
    if (o->trace != NULL && (status = clo_trace_write_releases(f->trace, in->cost, &config, o->trace)) != CLO_OK)
        code = complain_status(o->trace, status);
    if (o->report != NULL && (status = clo_report_releases(f->trace, in->cost, &config, o->report)) != CLO_OK)
        code = complain_status(o->report, status);
    return code;
}

static int verdict(const char *path, const flown *f, const pipeline_series *series)
{
    if (f->is_judged && !f->is_valid)
        return complain(path, "%s", f->fault);
    return pipeline_check_deadline(path, &f->timing, series);
}

int simulate_flight(const char *path, const simulate_options *o)
{
    input in;
    const pipeline_series series = series_of(o);
    flown f = {.releases = o->releases > 0 ? o->releases : PIPELINE_RELEASES,
               .result = CLO_JOB_RESULT_INIT,
               .timing = CLO_JOB_TIMING_INIT};
    int code = input_open(&in, path, &o->input);

    if (code != EXIT_GOOD)
        return code;
    clo_status status = fly(&in, o, &f);
    if (status == CLO_OK)
        status = simulate_to_output(o) > 0 ? CLO_OK : o->as_json ? print_json(&in, o, &f) : print_text(&in, o, &f);
    code = status == CLO_OK ? write_files(&in, o, &f) : complain_status(path, status);
    if (code == EXIT_GOOD)
        code = verdict(path, &f, &series);
    clo_trace_destroy(f.trace);
    clo_plan_destroy(f.plan);
    input_close(&in);
    return code;
}
