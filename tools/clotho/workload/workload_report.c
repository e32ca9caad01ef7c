/* workload_report.c - what a workload came to on real workers, as text and as JSON: predicted beside measured. */
#include "clotho/workload/stream.h"

#include "clotho/common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double utilization(const stream_run *run)
{
    double room = (double)clo_platform_executors(run->sim.platform) * (double)run->sums.makespan_ns;

    return room > 0 ? (double)run->sums.busy_ns / room : NAN;
}

static double error_of(double measured, double predicted)
{
    return predicted > 0 ? fabs(measured - predicted) / predicted : NAN;
}

/* Mean delay of the submissions; 0 if there were none. */
static double late_ns(const stream_run *run)
{
    return run->sums.submitted > 0 ? run->sums.submit_late_ns / (double)run->sums.submitted : 0;
}

static void json_what(json *out, const stream_run *run)
{
    const run_options *o = run->options;

    json_text(out, "workload", clo_workload_name(run->sim.loaded));
    json_text(out, "file", run->sim.path);
    json_count(out, "jobs", clo_workload_jobs(run->run.workload) + run->misfits);
    json_text(out, "mode", run->is_steal ? "steal" : "policy");
    json_text(out, "policy", run->sim.policy_name);
    json_text(out, "argument", run->sim.policy_text);
    json_text(out, "platform", clo_platform_name(run->sim.platform));
    json_count(out, "executors", clo_platform_executors(run->sim.platform));
    json_text(out, "arrivals", run->sim.draws ? run->sim.arrivals_text : NULL);
    json_text(out, "clock", o->clock_name);
    json_bool(out, "emulated", o->clock != CLO_CLOCK_REAL);
    json_real(out, "scale", o->input.scale);
    json_count(out, "dilate", o->dilate);
    json_count(out, "seed", o->seed);
}

static void json_times(json *out, const stream_run *run)
{
    const run_sums *s = &run->sums;
    const clo_stream_result *p = &run->predicted;

    json_real(out, "avg_jct_s", s->jct_mean_ns / 1e9);
    json_real(out, "p95_jct_s", (double)s->jct_p95_ns / 1e9);
    json_real(out, "weighted_jct_s", s->jct_weighted_ns / 1e9);
    json_real(out, "makespan_s", (double)s->makespan_ns / 1e9);
    json_integer(out, "makespan_ns", s->makespan_ns);
    json_integer(out, "predicted_ns", p->makespan_ns);
    json_real(out, "predicted_avg_jct_s", p->jct_mean_ns / 1e9);
    json_real(out, "predicted_p95_jct_s", (double)p->jct_p95_ns / 1e9);
    json_real(out, "predicted_weighted_jct_s", p->jct_weighted_ns / 1e9);
    json_count(out, "predicted_late", p->jobs_late);
    json_real(out, "prediction_error", error_of(s->jct_mean_ns, p->jct_mean_ns));
    json_real(out, "lower_bound_s", run->is_judged ? run->report.mean_completion_bound_ns / 1e9 : (double)NAN);
    json_real(out, "utilization", utilization(run));
    json_integer(out, "busy_ns", s->busy_ns);
}

static void json_counts(json *out, const stream_run *run)
{
    const run_sums *s = &run->sums;

    json_count(out, "completions", s->executed);
    json_count(out, "skipped", s->skipped);
    json_count(out, "duplicates_run", s->duplicates);
    json_count(out, "transfers", s->transfers);
    json_count(out, "transferred_bytes", s->transferred_bytes);
    json_count(out, "copied_bytes", s->copied_bytes);
    json_count(out, "missed_deadlines", s->late);
    json_count(out, "steals", s->steals);
    json_count(out, "parks", s->parks);
    json_count(out, "decisions", s->decisions);
    json_count(out, "refused", s->refused);
    json_count(out, "fallbacks", s->fallbacks);
    json_count(out, "partial", s->partial);
    json_count(out, "jobs_ended", s->ended);
    json_count(out, "jobs_refused", run->misfits);
    json_count(out, "jobs_failed", s->failed);
    json_count(out, "jobs_cancelled", s->cancelled);
    json_count(out, "jobs_late", s->late);
    json_count(out, "jobs_peak", s->peak);
    json_count(out, "jobs_held", s->held);
}

int run_workload_json(const stream_run *run)
{
    const run_sums *s = &run->sums;
    json out;

    json_begin(&out);
    json_what(&out, run);
    json_times(&out, run);
    json_counts(&out, run);
    json_open(&out, "submit_late_ns", '{');
    json_real(&out, "mean", late_ns(run));
    json_integer(&out, "max", s->submit_late_max_ns);
    json_close(&out, '}');
    json_decisions(&out, (int64_t[]){s->decision_p50_ns, -1, -1, s->decision_max_ns}, s->decisions);
    json_bool(&out, "interrupted", run->is_interrupted);
    if (run->is_judged)
        json_bool(&out, "valid", run->is_valid);
    else
        json_null(&out, "valid");
    return json_print(&out);
}

static void print_head(const stream_run *run)
{
    const run_options *o = run->options;
    const char *note = o->clock == CLO_CLOCK_PADDED    ? "  EMULATED: padded to the platform's speeds"
                       : o->clock == CLO_CLOCK_VIRTUAL ? "  EMULATED: virtual time"
                                                       : "";

    printf("workload     %s, %u job%s in the file; arrivals %s\n", show_name(clo_workload_name(run->sim.loaded)),
           clo_workload_jobs(run->sim.loaded), clo_workload_jobs(run->sim.loaded) == 1 ? "" : "s",
           run->sim.draws ? run->sim.arrivals_text : "as in the file");
    printf("platform     %s, %u executors\n", show_name(clo_platform_name(run->sim.platform)),
           clo_platform_executors(run->sim.platform));
    printf("dispatch     %s %s%s%s\n", run->is_steal ? "work stealing," : "policy", run->sim.policy_name,
           run->sim.policy_text != NULL ? ":" : "",
           run->sim.policy_text != NULL ? show_name(run->sim.policy_text) : "");
    printf("clock        %s%s\n", o->clock_name, note);
    if (o->dilate > 1)
        printf("dilated      %u times\n", o->dilate);
}

static void print_times(const stream_run *run)
{
    const run_sums *s = &run->sums;
    const clo_stream_result *p = &run->predicted;
    const char *label = run->options->clock == CLO_CLOCK_REAL ? "measured" : "emulated";

    printf("\n%-28s %12s %12s\n", "", "predicted", label);
    printf("%-28s %12s %12s\n", "mean completion time", show_ns((int64_t)p->jct_mean_ns),
           show_ns((int64_t)s->jct_mean_ns));
    printf("%-28s %12s %12s\n", "95 % of jobs within", show_ns(p->jct_p95_ns), show_ns(s->jct_p95_ns));
    printf("%-28s %12s %12s\n", "mean by weight", show_ns((int64_t)p->jct_weighted_ns),
           show_ns((int64_t)s->jct_weighted_ns));
    printf("%-28s %12s %12s\n", "makespan", show_ns(p->makespan_ns), show_ns(s->makespan_ns));
    printf("%-28s %12s %12s\n", "executors in use", show_percent(p->utilization), show_percent(utilization(run)));
    printf("%-28s %12" PRIu64 " %12" PRIu64 "\n", "jobs that missed a deadline", p->jobs_late, s->late);
    printf("%-28s %12" PRIu64 " %12" PRIu64 "\n\n", "jobs at once, at most", p->jobs_peak, s->peak);
}

void run_workload_text(const stream_run *run)
{
    const run_sums *s = &run->sums;

    print_head(run);
    print_times(run);
    printf("jobs         %" PRIu64 " ended, %" PRIu64 " refused, %" PRIu64 " failed, %" PRIu64
           " cancelled; seed %" PRIu64 "\n",
           s->ended, run->misfits, s->failed, s->cancelled, run->options->seed);
    if (s->held > 0)
        printf("held back    %" PRIu64 " jobs waited for room: %" PRIu64 " lived at once (--live N)\n", s->held,
               s->peak);
    if (run->options->clock != CLO_CLOCK_VIRTUAL)
        printf("submitted    %s after the arrival on average, %s at most\n", show_ns((int64_t)late_ns(run)),
               show_ns(s->submit_late_max_ns));
    printf("executions   %" PRIu64 ", of these %" PRIu64 " replicas\n", s->executed, s->duplicates);
    if (s->skipped > 0)
        printf("skipped      %" PRIu64 ", because branches went on with other arms\n", s->skipped);
    printf("transfers    %" PRIu64 " inputs, %s, of these %s copied\n", s->transfers, show_bytes(s->transferred_bytes),
           show_bytes(s->copied_bytes));
    printf("workers      %" PRIu64 " steals, %" PRIu64 " parks\n", s->steals, s->parks);
    if (!run->is_steal)
        printf("decisions    %" PRIu64 ", %s each (median), %s at most; %" PRIu64 " choices refused, %" PRIu64
               " by the scheduler's own rule\n",
               s->decisions, show_ns(s->decision_p50_ns), show_ns(s->decision_max_ns), s->refused, s->fallbacks);
    if (s->partial > 0)
        printf("partial      %" PRIu64 " choices without a look at all jobs: the policy has no room for them\n",
               s->partial);
    printf("check        %s\n", run->is_steal     ? "not made: work stealing decides nothing"
                                : !run->is_judged ? "not made: the log is too long (--log F keeps it)"
                                : run->is_valid   ? "valid"
                                                  : "NOT VALID");
    if (s->refusal[0] != '\0')
        printf("refused      %s\n", show_name(s->refusal));
}
