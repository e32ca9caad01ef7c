/* report.c - what a simulated workload came to: as JSON, as text, and job by job as CSV. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/simulate/simulate.h"

#include "clotho/common/csv.h"
#include "clotho/common/json.h"
#include "clotho/common/output_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bound is of the costs: it says nothing about times that were drawn. */
static bool has_bound(const simulation *sim, const simulated_run *run)
{
    return run->is_judged && sim->options->environment == NULL;
}

int simulated_json(const simulation *sim, const simulated_run *run)
{
    const clo_stream_result *r = &run->result;
    json out;

    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(sim->loaded));
    json_text(&out, "file", sim->path);
    json_count(&out, "jobs", r->jobs);
    json_text(&out, "policy", sim->policy_name);
    json_text(&out, "argument", sim->policy_text);
    json_text(&out, "platform", clo_platform_name(sim->platform));
    json_count(&out, "executors", clo_platform_executors(sim->platform));
    json_text(&out, "arrivals", sim->draws ? sim->arrivals_text : NULL);
    json_text(&out, "environment", sim->options->environment);
    json_real(&out, "avg_jct_s", r->jct_mean_ns / 1e9);
    json_real(&out, "p95_jct_s", (double)r->jct_p95_ns / 1e9);
    json_real(&out, "weighted_jct_s", r->jct_weighted_ns / 1e9);
    json_real(&out, "makespan_s", (double)r->makespan_ns / 1e9);
    json_integer(&out, "makespan_ns", r->makespan_ns);
    json_real(&out, "lower_bound_s", has_bound(sim, run) ? run->report.mean_completion_bound_ns / 1e9 : (double)NAN);
    json_real(&out, "utilization", r->utilization);
    json_count(&out, "completions", r->completions);
    json_count(&out, "duplicates", r->duplicates);
    json_count(&out, "skipped", r->skipped);
    json_count(&out, "moves", r->moves);
    json_count(&out, "decisions", r->decisions);
    json_count(&out, "refused", r->refused);
    json_count(&out, "fallbacks", r->fallbacks);
    json_count(&out, "partial", r->partial);
    json_count(&out, "jobs_ended", r->jobs_ended);
    json_count(&out, "jobs_refused", r->jobs_refused);
    json_count(&out, "jobs_late", r->jobs_late);
    json_real(&out, "tardiness_s", r->tardiness_mean_ns / 1e9);
    json_count(&out, "jobs_peak", r->jobs_peak);
    json_decisions(&out, (int64_t[]){r->decision_p50_ns, r->decision_p99_ns, r->decision_p999_ns, r->decision_max_ns},
                   r->decisions);
    if (run->is_judged)
        json_bool(&out, "valid", run->is_valid);
    else
        json_null(&out, "valid");
    json_count(&out, "seed", run->seed);
    return json_print(&out);
}

void simulated_head(const simulation *sim)
{
    const char *name = clo_workload_name(sim->loaded);

    printf("workload     %s, %u job%s in the file; arrivals %s; nothing is executed\n", show_name(name),
           clo_workload_jobs(sim->loaded), clo_workload_jobs(sim->loaded) == 1 ? "" : "s",
           sim->draws ? sim->arrivals_text : "as in the file");
    printf("platform     %s, %u executors\n", show_name(clo_platform_name(sim->platform)),
           clo_platform_executors(sim->platform));
    printf("policy       %s%s%s\n", sim->policy_name, sim->policy_text != NULL ? ":" : "",
           sim->policy_text != NULL ? show_name(sim->policy_text) : "");
    if (sim->options->environment != NULL)
        printf("environment  %s\n", show_name(sim->options->environment));
    putchar('\n');
}

/* A line of bars, eight heights; a value > 0 is never blank. */
static void print_bars(const char *name, const double *values, double most, const char *what)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    printf("%-12s ", name);
    for (int k = 0; k < SIMULATE_SAMPLES; k++) {
        int height = most > 0 ? (int)(values[k] / most * 8 + 0.5) : 0;
        height = height > 8 ? 8 : height < 1 && values[k] > 0 ? 1 : height;
        print_drawing(bars[height]);
    }
    printf(" %s\n", what);
}

static void print_over_time(const simulated_run *run)
{
    double backlog[SIMULATE_SAMPLES], most = 0, mean = 0;
    char text[64];

    for (int k = 0; k < SIMULATE_SAMPLES; k++) {
        backlog[k] = (double)run->backlog[k];
        most = backlog[k] > most ? backlog[k] : most;
        mean += backlog[k] / (double)SIMULATE_SAMPLES;
    }
    printf("\nover time    from 0 to %s\n", show_ns(run->result.makespan_ns));
    if (run->is_judged)
        print_bars("in use", run->use, 1, "full: every executor");
    snprintf(text, sizeof text, "full: %.0f jobs; mean %.1f", most, mean);
    print_bars("live jobs", backlog, most, text);
}

void simulated_text(const simulation *sim, const simulated_run *run)
{
    const clo_stream_result *r = &run->result;

    printf("jobs         %" PRIu64 ": %" PRIu64 " ended, %" PRIu64 " refused, %" PRIu64 " late; at most %" PRIu64
           " at once; seed %" PRIu64 "\n",
           r->jobs, r->jobs_ended, r->jobs_refused, r->jobs_late, r->jobs_peak, run->seed);
    printf("completion   %s mean, %s p95, %s by weight", show_ns((int64_t)r->jct_mean_ns), show_ns(r->jct_p95_ns),
           show_ns((int64_t)r->jct_weighted_ns));
    if (has_bound(sim, run))
        printf("; lower bound of the mean %s", show_ns((int64_t)run->report.mean_completion_bound_ns));
    if (r->jobs_late > 0)
        printf("; %s late in the mean of jobs with a deadline", show_ns((int64_t)r->tardiness_mean_ns));
    printf("\nmakespan     %s; %s of the executors in use\n", show_ns(r->makespan_ns), show_percent(r->utilization));
    printf("executions   %" PRIu64 ", of these %" PRIu64 " replicas\n", r->completions, r->duplicates);
    if (r->skipped > 0)
        printf("skipped      %" PRIu64 ", because branches went on with other arms\n", r->skipped);
    printf("decisions    %" PRIu64 ", %s each (median), %s at most; %" PRIu64 " choices refused, %" PRIu64
           " by the scheduler's own rule\n",
           r->decisions, show_ns(r->decision_p50_ns), show_ns(r->decision_max_ns), r->refused, r->fallbacks);
    if (r->partial > 0)
        printf("partial      %" PRIu64 " choices without a look at all jobs: the policy has no room for them\n",
               r->partial);
    if (r->refusal[0] != '\0')
        printf("refused      %s\n", show_name(r->refusal));
    printf("check        %s\n", !run->is_judged ? "not made: the log is too long (--log F keeps it)"
                                : run->is_valid ? "valid"
                                                : "NOT VALID");
    if (run->is_judged || r->jobs == clo_workload_jobs(run->workload)) /* of each release, only a log knows */
        print_over_time(run);
}

void simulated_row(const simulated_run *run, bool is_first)
{
    const clo_stream_result *r = &run->result;

    if (is_first)
        printf("%10s  %12s  %12s  %12s  %12s  %8s  %s\n", "seed", "mean jct", "p95 jct", "by weight", "makespan",
               "in use", "check");
    printf("%10" PRIu64 "  %12s  %12s  %12s  %12s  %8s  %s\n", run->seed, show_ns((int64_t)r->jct_mean_ns),
           show_ns(r->jct_p95_ns), show_ns((int64_t)r->jct_weighted_ns), show_ns(r->makespan_ns),
           show_percent(r->utilization),
           !run->is_judged ? "-"
           : run->is_valid ? "valid"
                           : "NOT VALID");
}

static void put_time(FILE *file, int64_t ns)
{
    if (ns == CLO_TIME_NEVER)
        fputc(',', file);
    else
        fprintf(file, ",%" PRId64, ns);
}

static const char *ending(const clo_stream_outcome *o)
{
    if (o->status == CLO_ERR_TASK)
        return "failed";
    if (o->status == CLO_ERR_CANCELLED)
        return "cancelled";
    return o->finish_ns != CLO_TIME_NEVER ? "ended" : "refused";
}

static void put_job(FILE *file, uint32_t index, const char *name, const clo_stream_outcome *o)
{
    bool has_ended = o->finish_ns != CLO_TIME_NEVER;

    fprintf(file, "%" PRIu32 ",", index);
    put_csv_text(file, name);
    put_time(file, o->arrival_ns);
    put_time(file, o->start_ns);
    put_time(file, o->finish_ns);
    put_time(file, has_ended ? o->finish_ns - o->arrival_ns : CLO_TIME_NEVER);
    fprintf(file, ",%" PRId64 ",%" PRIu64 ",%s\n", o->busy_ns, o->executions, ending(o));
}

static bool put_jobs(FILE *file, const void *content)
{
    const simulated_run *run = content;

    fputs("job,name,arrival_ns,start_ns,finish_ns,jct_ns,busy_ns,executions,status\n", file);
    for (uint32_t i = 0; i < clo_workload_jobs(run->workload); i++)
        put_job(file, i, clo_workload_get(run->workload, i)->name, &run->outcomes[i]);
    return fflush(file) == 0 && ferror(file) == 0;
}

int simulated_csv(const simulated_run *run, const char *path)
{
    csv_begin(path);
    return output_write(path, put_jobs, run);
}
