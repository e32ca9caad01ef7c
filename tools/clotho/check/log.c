/* log.c - see log.h. The case is made again from the workload and the header of the log: the platform, and
 * how the arrivals were drawn. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/check/log.h"

#include "clotho/common/json.h"
#include "clotho/simulate/hash.h"
#include "clotho/stream/arrivals.h"
#include "clotho/stream/stream_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FAULTS_SHOWN = 20, BACKLOG_SAMPLES = 60 };

typedef struct judged {
    const char *workload_path, *log_path;
    clo_log *log;
    clo_workload *loaded, *drawn; /* drawn NULL: the jobs are those of the file */
    const clo_workload *workload;
    clo_platform *opened; /* NULL: the workload's own is used */
    const clo_platform *platform;
    stream_case stream;
    clo_stream_fault faults[FAULTS_SHOWN];
    uint32_t backlog[BACKLOG_SAMPLES];
    clo_stream_report report;
} judged;

/* --platform, else what the log names, else the workload's own, else this machine. */
static int choose_platform(judged *j, const input_config *config)
{
    const char *spec = config->spec != NULL ? config->spec : clo_log_about(j->log)->platform;
    const clo_platform *own = clo_workload_platform(j->loaded);

    if (spec == NULL)
        spec = own != NULL ? "own" : "native";
    if (strcmp(spec, "own") != 0) {
        int code = platform_open(spec, &j->opened);
        j->platform = j->opened;
        return code;
    }
    j->platform = own;
    return own != NULL ? EXIT_GOOD : complain(j->workload_path, "carries no platform; name one with --platform SPEC");
}

/* Draws the arrivals as the run did. */
static int draw(judged *j)
{
    const clo_log_header *about = clo_log_about(j->log);
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;

    j->workload = j->loaded;
    if (about->arrivals == NULL)
        return EXIT_GOOD;
    if (arrivals_parse("arrivals", about->arrivals, &config) != EXIT_GOOD) /* which has said what is wrong */
        return EXIT_BAD_INPUT;
    config.seed = about->arrivals_seed;
    config.jobs = about->jobs;
    config.shuffled = about->shuffled;
    clo_status status = clo_workload_arrivals(j->loaded, &config, &j->drawn);
    j->workload = j->drawn;
    return status == CLO_OK ? EXIT_GOOD : complain_status(j->workload_path, status);
}

/* The jobs as the run should have had them. */
static int make_case(judged *j)
{
    clo_status status = stream_case_open_log(&j->stream, j->workload, j->platform, j->log);

    if (status == CLO_ERR_MEMORY)
        return complain(j->workload_path, "out of memory");
    return status == CLO_OK ? EXIT_GOOD : complain_status(j->workload_path, status);
}

static void print_figures(json *out, const clo_stream_report *r)
{
    json_count(out, "jobs", r->arrived);
    json_count(out, "finished", r->finished);
    json_count(out, "cancelled", r->cancelled);
    json_count(out, "failed", r->failed);
    json_count(out, "absent", r->absent);
    json_count(out, "missed_deadlines", r->missed_deadlines);
    json_count(out, "completions", r->executions);
    json_count(out, "replicas", r->replicas);
    json_count(out, "decisions", r->decisions);
    json_count(out, "refused", r->refused);
    json_real(out, "avg_jct_s", r->mean_completion_ns / 1e9);
    json_real(out, "p95_jct_s", (double)r->p95_completion_ns / 1e9);
    json_real(out, "weighted_jct_s", r->weighted_completion_ns / 1e9);
    json_real(out, "lower_bound_s", r->mean_completion_bound_ns / 1e9);
    json_real(out, "makespan_s", (double)r->makespan_ns / 1e9);
    json_real(out, "utilization", r->utilization);
}

static int print_json(const judged *j)
{
    const clo_stream_report *r = &j->report;
    json out;

    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(j->workload));
    json_text(&out, "log", j->log_path);
    json_text(&out, "platform", clo_platform_name(j->platform));
    json_bool(&out, "valid", r->faults == 0);
    json_count(&out, "faults", r->faults);
    json_open(&out, "by_kind", '{');
    for (uint32_t k = 0; k < CLO_STREAM_FAULTS_COUNT; k++)
        if (r->by_kind[k] > 0)
            json_count(&out, clo_stream_fault_name(k), r->by_kind[k]);
    json_close(&out, '}');
    json_open(&out, "first_faults", '[');
    for (size_t i = 0; i < r->faults_told; i++)
        json_text(&out, NULL, j->faults[i].text);
    json_close(&out, ']');
    print_figures(&out, r);
    json_open(&out, "backlog", '[');
    for (size_t i = 0; i < BACKLOG_SAMPLES; i++)
        json_count(&out, NULL, j->backlog[i]);
    json_close(&out, ']');
    return json_print(&out);
}

static void print_text(const judged *j)
{
    const clo_stream_report *r = &j->report;

    if (r->faults == 0)
        printf("%s: valid\n", show_name(j->log_path));
    for (uint32_t k = 0; k < CLO_STREAM_FAULTS_COUNT; k++)
        if (r->by_kind[k] > 0)
            printf("%-18s %10llu  %s\n", clo_stream_fault_name(k), (unsigned long long)r->by_kind[k],
                   clo_stream_fault_meaning(k));
    for (size_t i = 0; i < r->faults_told; i++)
        printf("%s\n", show_name(j->faults[i].text));
    printf("jobs         %llu: %llu finished, %llu cancelled, %llu failed; %llu missed their deadline\n",
           (unsigned long long)r->arrived, (unsigned long long)r->finished, (unsigned long long)r->cancelled,
           (unsigned long long)r->failed, (unsigned long long)r->missed_deadlines);
    printf("executions   %llu, of these %llu replicas; %llu decisions, %llu refused\n",
           (unsigned long long)r->executions, (unsigned long long)r->replicas, (unsigned long long)r->decisions,
           (unsigned long long)r->refused);
    printf("completion   %s mean, %s p95, %s by weight; lower bound of the mean %s\n",
           show_ns((int64_t)r->mean_completion_ns), show_ns(r->p95_completion_ns),
           show_ns((int64_t)r->weighted_completion_ns), show_ns((int64_t)r->mean_completion_bound_ns));
    printf("makespan     %s, %s in use\n", show_ns(r->makespan_ns), show_percent(r->utilization));
}

static int judge(judged *j, bool as_json)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;

    j->report = (clo_stream_report)CLO_STREAM_REPORT_INIT;
    stream.platform = j->platform;
    stream.jobs = j->stream.jobs;
    stream.jobs_count = j->stream.jobs_count;
    stream.faults = j->faults;
    stream.faults_max = FAULTS_SHOWN;
    stream.backlog = j->backlog;
    stream.backlog_count = BACKLOG_SAMPLES;
    stream.strict = 1;
    clo_status status = clo_stream_check(&stream, j->log, &j->report);
    if (status != CLO_OK && status != CLO_ERR_INVALID)
        return complain_status(j->log_path, status);
    char first[CLO_STREAM_TEXT_BYTES] = "";
    if (status == CLO_ERR_INVALID)
        snprintf(first, sizeof first, "%s", clo_last_error());
    int code = EXIT_GOOD;
    if (as_json)
        code = print_json(j);
    else
        print_text(j);
    if (status == CLO_ERR_INVALID)
        code = complain(j->log_path, "%s (%llu fault%s in all)", first, (unsigned long long)j->report.faults,
                        j->report.faults == 1 ? "" : "s");
    return code;
}

static int open_files(judged *j, const input_config *config)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    clo_status status = clo_log_load(j->log_path, &j->log);

    if (status != CLO_OK)
        return complain_status(j->log_path, status);
    const clo_log_header *about = clo_log_about(j->log);
    load.scale = config->scale == 1 && about->scale > 0 ? about->scale : config->scale; /* that of the run */
    status = workload_load(j->workload_path, &load, &j->loaded);
    return status == CLO_OK ? EXIT_GOOD : complain_status(j->workload_path, status);
}

int check_log(const char *workload_path, const char *log_path, const input_config *config, bool as_json)
{
    judged *j = calloc(1, sizeof *j);

    if (j == NULL)
        return complain(log_path, "out of memory");
    j->workload_path = workload_path;
    j->log_path = log_path;
    int code = refuse_log(workload_path);
    if (code == EXIT_GOOD)
        code = open_files(j, config);
    if (code == EXIT_GOOD)
        code = choose_platform(j, config);
    if (code == EXIT_GOOD)
        code = refuse_other_run(log_path, j->log, j->loaded, j->platform, clo_platform_name(j->platform));
    if (code == EXIT_GOOD)
        code = draw(j);
    if (code == EXIT_GOOD)
        code = make_case(j);
    if (code == EXIT_GOOD)
        code = judge(j, as_json);
    stream_case_close(&j->stream);
    clo_platform_destroy(j->opened);
    clo_workload_destroy(j->drawn);
    clo_workload_destroy(j->loaded);
    clo_log_destroy(j->log);
    free(j);
    return code;
}
