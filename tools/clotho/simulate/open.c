/* open.c - what the path and the options of `clotho simulate` (and of `clotho run` on a workload) name:
 * policy, workload, platform and how the jobs arrive. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/policy_option.h"
#include "clotho/simulate/hash.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/arrivals.h"
#include "clotho/stream/misfits.h"
#include "clotho/stream/stream_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Jobs up to which a kind that the platform lacks is looked for unasked: that makes a cost for each graph. */
#define WARNED_JOBS_MAX 4096u

bool is_workload_file(const char *path)
{
    size_t length = strlen(path);
    clo_documents *documents;

    if (is_read_once(path) || (length > 4 && strcmp(path + length - 4, ".csv") == 0) || names_workload(path))
        return true;
    if (clo_documents_open(path, NULL, &documents) != CLO_OK)
        return false;
    bool has_many = clo_documents_count(documents) > 1;
    clo_documents_close(documents);
    return has_many;
}

/* --platform, else the workload's own, else this machine. */
static int choose_platform(simulation *sim)
{
    const clo_platform *own = clo_workload_platform(sim->loaded);

    sim->spec = sim->options->input.spec;
    if (sim->spec == NULL)
        sim->spec = own != NULL ? "own" : "native";
    if (strcmp(sim->spec, "own") != 0) {
        int code = platform_open(sim->spec, &sim->opened);
        sim->platform = sim->opened;
        return code;
    }
    sim->platform = own;
    return own != NULL ? EXIT_GOOD : complain(sim->path, "carries no platform; name one with --platform SPEC");
}

/* Jobs that --jobs draws are random ones, those of a trace stand in their order. */
static int choose_arrivals(simulation *sim)
{
    const simulate_options *o = sim->options;

    sim->arrivals = (clo_arrivals_config)CLO_ARRIVALS_CONFIG_INIT;
    sim->arrivals_text = o->arrivals != NULL ? o->arrivals : "trace";
    sim->draws = o->jobs > 0 || o->arrivals != NULL;
    int code = arrivals_parse("arrivals", sim->arrivals_text, &sim->arrivals);
    sim->arrivals.jobs = o->jobs;
    sim->arrivals.shuffled = o->jobs > 0 && sim->arrivals.kind != CLO_ARRIVALS_TRACE;
    return code;
}

/* Jobs that fit nowhere: the first one is an error, unless the caller or --skip-misfits goes on without them. */
static int check_misfits(const simulation *sim)
{
    bool skips = sim->options->skips_misfits;
    uint64_t count = 0;
    misfits found;

    if (sim->drops_misfits)
        return EXIT_GOOD;
    clo_status status = misfits_find(&found, sim->loaded, sim->platform);
    for (uint32_t i = 0; i < clo_workload_jobs(sim->loaded) && status == CLO_OK && (skips || count == 0); i++) {
        const clo_workload_job *job = clo_workload_get(sim->loaded, i);
        const char *why = misfits_why(&found, job);
        if (why != NULL && count++ < MISFITS_NAMED_MAX)
            misfits_name(sim->path, job, why, skips ? NULL : "--skip-misfits simulates the others");
    }
    misfits_close(&found);
    if (count > MISFITS_NAMED_MAX)
        complain(sim->path, "%" PRIu64 " more jobs are refused for the like", count - MISFITS_NAMED_MAX);
    if (status != CLO_OK)
        return status == CLO_ERR_MEMORY ? complain(sim->path, "out of memory") : complain_status(sim->path, status);
    return count > 0 && !skips ? EXIT_BAD_INPUT : EXIT_GOOD;
}

/* Kinds that the platform lacks: a warning, or an error if wanted. */
static int check_kinds(const simulation *sim)
{
    bool is_strict = sim->options->input.strict;
    stream_case jobs;
    int code = EXIT_GOOD;

    if (!is_strict && clo_workload_jobs(sim->loaded) > WARNED_JOBS_MAX)
        return EXIT_GOOD;
    clo_status status = stream_case_open_costs(&jobs, sim->loaded, sim->platform);
    const char *kind = status == CLO_OK ? stream_case_unmatched_kind(&jobs) : NULL;
    const char *platform = clo_platform_name(sim->platform);
    if (status != CLO_OK)
        code = status == CLO_ERR_MEMORY ? complain(sim->path, "out of memory") : complain_status(sim->path, status);
    else if (kind != NULL && is_strict)
        code = complain(sim->path,
                        "platform '%s' has no executor of kind '%.60s'; correct the names or leave --strict out",
                        platform, kind);
    else if (kind != NULL)
        warn("%s: platform '%s' has no executor of kind '%.60s'; what the graphs say for that is not used", sim->path,
             platform, kind);
    stream_case_close(&jobs);
    return code;
}

/* A periodic job whose releases are not counted runs until the end of the workload. Where that is before its second
 * release its user may have meant something else. */
static void warn_of_single_release(const simulation *sim)
{
    for (uint32_t i = 0; i < clo_workload_jobs(sim->loaded) && !sim->draws; i++) {
        const clo_workload_job *job = clo_workload_get(sim->loaded, i);
        if (job->period_ns == 0 || job->releases > 0 || clo_workload_releases(sim->loaded, i) > 1)
            continue;
        warn("%s: the periodic job '%.100s' runs once, as nothing arrives later; say how often with \"releases\"",
             show_name(sim->path), job->name);
        return;
    }
}

int simulation_choose_policy(simulation *sim, const char *name)
{
    policy_close(sim->policy, sim->argument);
    sim->policy = NULL;
    sim->argument = NULL;
    int code = policy_open(name, &sim->policy, &sim->policy_text, &sim->argument);
    sim->policy_name = code == EXIT_GOOD ? sim->policy->name : NULL;
    return code;
}

int simulation_open(simulation *sim)
{
    const simulate_options *o = sim->options;
    clo_load_config load = CLO_LOAD_CONFIG_INIT;

    int code = refuse_log(sim->path);
    if (code == EXIT_GOOD)
        code = simulation_choose_policy(sim, o->policy);
    if (code == EXIT_GOOD)
        code = choose_arrivals(sim);
    if (code != EXIT_GOOD)
        return code;
    load.scale = o->input.scale;
    load.body = o->input.body;
    clo_status status = workload_load(sim->path, &load, &sim->loaded);
    if (status != CLO_OK)
        return complain_status(sim->path, status);
    code = choose_platform(sim);
    if (code == EXIT_GOOD)
        code = check_misfits(sim);
    if (code == EXIT_GOOD)
        code = check_kinds(sim);
    if (code == EXIT_GOOD) {
        warn_of_single_release(sim);
        sim->workload_hash = workload_hash(sim->loaded);
        sim->platform_hash = platform_hash(sim->platform);
    }
    return code;
}

void simulation_close(simulation *sim)
{
    clo_platform_destroy(sim->opened);
    clo_workload_destroy(sim->loaded);
    policy_close(sim->policy, sim->argument);
}
