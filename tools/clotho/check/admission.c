/* admission.c - see admission.h. What the answers mean: clotho/admission.h. */
#include "clotho/check/admission.h"

#include "clotho/common/json.h"
#include "clotho/common/policy_option.h"

#include <clotho/admission.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 40 };

typedef struct admission {
    const char *path;
    const admission_options *options;
    clo_workload *workload;
    clo_platform *opened; /* NULL: the workload's own is used */
    const clo_platform *platform;
    clo_admission_job *jobs; /* [jobs of the workload] */
    clo_admission_result result;
} admission;

static const char *verdict_name(clo_admission verdict)
{
    return verdict == CLO_ADMISSION_ADMITTED ? "admitted" : verdict == CLO_ADMISSION_REFUSED ? "refused" : "unknown";
}

/* What is known of the order of a policy. */
static int read_order(const char *name, clo_admission_config *config)
{
    static const char *const greedy[] = {"fifo", "fair", "rank", "steal"};
    const clo_policy *policy;
    const char *text;
    void *argument;

    if (name == NULL)
        return EXIT_GOOD;
    int code = policy_open(name, &policy, &text, &argument);
    if (code != EXIT_GOOD)
        return code;
    policy_close(policy, argument);
    if (strcmp(policy->name, "edf") == 0) {
        config->order = CLO_ADMISSION_EDF;
        return EXIT_GOOD;
    }
    for (size_t i = 0; i < sizeof greedy / sizeof greedy[0]; i++)
        if (strcmp(policy->name, greedy[i]) == 0)
            return EXIT_GOOD;
    return misuse(
        "'%s' may leave executors idle with work to do, which the test does not cover; write edf, fifo, fair, "
        "rank or steal",
        policy->name);
}

/* --platform, else the workload's own, else this machine. */
static int choose_platform(admission *a)
{
    const char *spec = a->options->input->spec;

    a->platform = clo_workload_platform(a->workload);
    if (a->platform != NULL && (spec == NULL || strcmp(spec, "own") == 0))
        return EXIT_GOOD;
    if (spec != NULL && strcmp(spec, "own") == 0)
        return complain(a->path, "carries no platform; name one with --platform SPEC");
    int code = platform_open(spec != NULL ? spec : "native", &a->opened);
    a->platform = a->opened;
    return code;
}

static void put_time(json *out, const char *key, int64_t ns)
{
    if (ns == CLO_TIME_NEVER)
        json_null(out, key);
    else
        json_integer(out, key, ns);
}

static void put_job(json *out, uint32_t index, const char *name, const clo_admission_job *job)
{
    json_open(out, NULL, '{');
    json_count(out, "job", index);
    json_text(out, "name", name);
    json_text(out, "verdict", verdict_name(job->verdict));
    json_text(out, "reason", job->reason[0] != '\0' ? job->reason : NULL);
    put_time(out, "deadline_ns", job->deadline_ns);
    put_time(out, "response_ns", job->response_ns);
    json_integer(out, "blocking_ns", job->blocking_ns);
    json_integer(out, "fastest_ns", job->fastest_ns);
    json_real(out, "utilization", job->utilization);
    json_close(out, '}');
}

static int print_json(const admission *a, const clo_admission_config *config)
{
    const clo_admission_result *r = &a->result;
    json out;

    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(a->workload));
    json_text(&out, "file", a->path);
    json_text(&out, "platform", clo_platform_name(a->platform));
    json_count(&out, "executors", clo_platform_executors(a->platform));
    json_text(&out, "order", config->order == CLO_ADMISSION_EDF ? "edf" : "greedy");
    json_text(&out, "verdict", verdict_name(r->verdict));
    json_count(&out, "admitted", r->admitted);
    json_count(&out, "unknown", r->unknown);
    json_count(&out, "refused", r->refused);
    if (r->overloaded_band == CLO_NONE)
        json_null(&out, "overloaded_band");
    else
        json_count(&out, "overloaded_band", r->overloaded_band);
    json_open(&out, "utilization", '[');
    for (int b = 0; b < CLO_BANDS_MAX; b++)
        json_real(&out, NULL, r->utilization_most[b]);
    json_close(&out, ']');
    json_open(&out, "tested", '[');
    for (uint32_t i = 0; i < clo_workload_jobs(a->workload); i++)
        put_job(&out, i, clo_workload_get(a->workload, i)->name, &a->jobs[i]);
    json_close(&out, ']');
    return json_print(&out);
}

static const char *show_time(int64_t ns)
{
    return ns == CLO_TIME_NEVER ? "-" : show_ns(ns);
}

static void print_text(const admission *a, const clo_admission_config *config)
{
    uint32_t jobs = clo_workload_jobs(a->workload);

    printf("workload     %s, %u jobs\n", show_name(clo_workload_name(a->workload)), jobs);
    printf("platform     %s, %u executors\n", show_name(clo_platform_name(a->platform)),
           clo_platform_executors(a->platform));
    printf("policy       %s, not preemptive\n", config->order == CLO_ADMISSION_EDF ? "edf" : "any greedy one");
    for (int b = 0; b < CLO_BANDS_MAX; b++)
        if (a->result.utilization_most[b] > 0)
            printf("band %d       %.2f to %.2f executors for periodic jobs\n", b, a->result.utilization_least[b],
                   a->result.utilization_most[b]);
    printf("\n%-20s %4s %-9s %12s %12s %12s\n", "job", "band", "", "deadline", "bound", "of it blocked");
    for (uint32_t i = 0; i < jobs && i < ROWS_MAX; i++) {
        const clo_workload_job *row = clo_workload_get(a->workload, i);
        const clo_admission_job *job = &a->jobs[i];
        printf("%-20.60s %4u %-9s %12s %12s %12s%s%s\n", show_name(row->name), row->band, verdict_name(job->verdict),
               show_time(job->deadline_ns), show_time(job->response_ns),
               job->response_ns == CLO_TIME_NEVER ? "-" : show_ns(job->blocking_ns), job->reason[0] != '\0' ? "  " : "",
               job->reason);
    }
    if (jobs > ROWS_MAX)
        printf("... and %u more jobs\n", jobs - ROWS_MAX);
    printf("\nverdict      %s: %u admitted, %u unknown, %u refused\n", verdict_name(a->result.verdict),
           a->result.admitted, a->result.unknown, a->result.refused);
}

/* One line where not all is admitted. */
static int judge(const admission *a)
{
    const clo_admission_result *r = &a->result;
    uint32_t jobs = clo_workload_jobs(a->workload), first = 0;

    if (r->verdict == CLO_ADMISSION_ADMITTED)
        return EXIT_GOOD;
    while (first < jobs && (r->refused > 0 ? a->jobs[first].verdict != CLO_ADMISSION_REFUSED
                                           : a->jobs[first].verdict == CLO_ADMISSION_ADMITTED))
        first++;
    if (r->refused == 0 && r->overloaded_band != CLO_NONE)
        return complain(a->path, "not admitted: the deadlines up to band %u ask for more work than all executors do",
                        r->overloaded_band);
    return complain(a->path, "not admitted: job %u '%.100s' is %s: %s", first,
                    show_name(clo_workload_get(a->workload, first)->name), verdict_name(a->jobs[first].verdict),
                    a->jobs[first].reason);
}

static int open_files(admission *a)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;

    load.scale = a->options->input->scale;
    clo_status status = workload_load(a->path, &load, &a->workload);
    if (status != CLO_OK)
        return complain_status(a->path, status);
    if (clo_workload_jobs(a->workload) == 0)
        return complain(a->path, "holds no jobs; nothing to test");
    int code = choose_platform(a);
    if (code != EXIT_GOOD)
        return code;
    a->jobs = calloc(clo_workload_jobs(a->workload), sizeof a->jobs[0]);
    return a->jobs != NULL ? EXIT_GOOD : complain(a->path, "out of memory");
}

int check_admission(const char *path, const admission_options *options)
{
    admission a = {.path = path, .options = options, .result = CLO_ADMISSION_RESULT_INIT};
    clo_admission_config config = CLO_ADMISSION_CONFIG_INIT;

    config.overhead_ns = options->overhead_ns;
    int code = read_order(options->policy, &config);
    if (code == EXIT_GOOD)
        code = open_files(&a);
    if (code == EXIT_GOOD) {
        clo_status status = clo_admission_test(a.workload, a.platform, &config, a.jobs, &a.result);
        if (status != CLO_OK)
            code = complain_status(path, status);
        else if (options->as_json)
            code = print_json(&a, &config);
        else
            print_text(&a, &config);
        if (status == CLO_OK && code == EXIT_GOOD)
            code = judge(&a);
    }
    free(a.jobs);
    clo_platform_destroy(a.opened);
    clo_workload_destroy(a.workload);
    return code;
}
