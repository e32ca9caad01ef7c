/* arrivals.c - draws a workload from another: which job comes next, and when.
 *
 * Invariant: job k and its arrival depend on the config and on k, never on how many jobs follow. Integers only. */
#include "workload/workload.h"

#include "base/memory.h"
#include "base/numbers/noise.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>

#define GAPS_SEED 0x6761707321ull /* so that gaps and jobs come from two generators */

typedef struct draw {
    clo_arrivals_config config;
    const clo_workload_job *jobs; /* [count], in the order of arrivals */
    uint32_t count;
    clo_rng picks, gaps;
    int64_t now_ns;    /* Poisson: the last arrival                        */
    int64_t repeat_ns; /* trace: from one repetition to the next           */
} draw;

static clo_status check(const clo_arrivals_config *config)
{
    bool is_poisson = config->kind == CLO_ARRIVALS_POISSON;

    if (config->kind != CLO_ARRIVALS_BATCH && !is_poisson && config->kind != CLO_ARRIVALS_TRACE)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_workload_arrivals: kind is %d; use a CLO_ARRIVALS_...",
                        (int)config->kind);
    if (is_poisson && config->mean_ns <= 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_workload_arrivals: mean_ns is %lld; give a number > 0",
                        (long long)config->mean_ns);
    if (!is_poisson && config->mean_ns != 0)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_workload_arrivals: mean_ns is %lld, but kind is not "
                        "CLO_ARRIVALS_POISSON; give 0",
                        (long long)config->mean_ns);
    if (config->shuffled > 1 || (config->shuffled == 1 && config->kind == CLO_ARRIVALS_TRACE))
        return clo_fail(CLO_ERR_ARGUMENT, "clo_workload_arrivals: shuffled is %u; give 0 or 1, with a trace 0",
                        config->shuffled);
    if (config->jobs > CLO_WORKLOAD_JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_workload_arrivals: jobs is %u; use at most %u", config->jobs,
                        (unsigned)CLO_WORKLOAD_JOBS_MAX);
    return CLO_OK;
}

static clo_status fail_late(uint64_t job)
{
    return clo_fail(
        CLO_ERR_LIMIT,
        "clo_workload_arrivals: job %llu would arrive, be released, or miss its deadline, after more than 146 years; "
        "use fewer jobs or a smaller mean",
        (unsigned long long)job);
}

/* mean * exponential, rounded down to whole ns: false where that is beyond CLO_WORKLOAD_TIME_MAX. */
static bool draw_gap(clo_rng *rng, int64_t mean_ns, int64_t *gap_ns)
{
    uint64_t drawn = clo_exponential_q32(rng), mean = (uint64_t)mean_ns;
    uint64_t whole = drawn >> 32, fraction = drawn & UINT32_MAX;
    uint64_t part = (mean >> 32) * fraction + ((mean & UINT32_MAX) * fraction >> 32); /* below mean < 2^62 */

    if (whole > 0 && mean > (uint64_t)CLO_WORKLOAD_TIME_MAX / whole)
        return false;
    *gap_ns = (int64_t)(mean * whole + part); /* below 2^63 */
    return *gap_ns <= CLO_WORKLOAD_TIME_MAX;
}

/* Arrival of job `k`, a copy of job `index`; false: too late. */
static bool draw_arrival(draw *d, uint32_t k, uint32_t index, int64_t *arrival_ns)
{
    int64_t gap_ns = 0, repeats = k / d->count, shift_ns = 0;

    switch (d->config.kind) {
    case CLO_ARRIVALS_BATCH:
        *arrival_ns = 0;
        return true;
    case CLO_ARRIVALS_POISSON:
        if (!draw_gap(&d->gaps, d->config.mean_ns, &gap_ns) || gap_ns > CLO_WORKLOAD_TIME_MAX - d->now_ns)
            return false;
        *arrival_ns = d->now_ns += gap_ns;
        return true;
    case CLO_ARRIVALS_TRACE:
        if (__builtin_mul_overflow(repeats, d->repeat_ns, &shift_ns) ||
            shift_ns > CLO_WORKLOAD_TIME_MAX - d->jobs[index].arrival_ns)
            return false;
        *arrival_ns = d->jobs[index].arrival_ns + shift_ns;
        return true;
    }
    return false; /* check() has refused every other kind */
}

static clo_status draw_job(draw *d, uint32_t k, clo_workload *into)
{
    uint32_t index = d->config.shuffled ? clo_rng_below(&d->picks, d->count) : k % d->count;
    clo_workload_job job = d->jobs[index];

    assert(index < d->count);
    if (!draw_arrival(d, k, index, &job.arrival_ns) ||
        clo_time_add(clo_workload_last_release_ns(&job), job.deadline_ns) > CLO_WORKLOAD_TIME_MAX)
        return fail_late(k);
    return clo_workload_append(into, &job);
}

/* The trace repeats one mean gap after its last arrival. Fits: both summands are below 2^62. */
static int64_t repeat_after(const clo_workload_job *jobs, uint32_t count)
{
    int64_t span_ns = jobs[count - 1].arrival_ns - jobs[0].arrival_ns;

    assert(span_ns >= 0);
    return count > 1 ? span_ns + span_ns / (count - 1) : jobs[0].arrival_ns;
}

static clo_status draw_jobs(const clo_workload *sorted, const clo_arrivals_config *config, clo_workload *into)
{
    draw d = {.config = *config,
              .jobs = sorted->jobs,
              .count = (uint32_t)sorted->jobs_count,
              .picks = clo_rng_seed(config->seed),
              .gaps = clo_rng_seed(clo_mix64(config->seed ^ GAPS_SEED)),
              .repeat_ns = repeat_after(sorted->jobs, (uint32_t)sorted->jobs_count)};
    uint32_t jobs = config->jobs > 0 ? config->jobs : d.count;
    clo_status status = CLO_OK;

    for (uint32_t k = 0; k < jobs && status == CLO_OK; k++)
        status = draw_job(&d, k, into);
    return status;
}

/* A sorted copy of the rows of `workload` in `copy`, which owns nothing else. */
static clo_status sort_copy(const clo_workload *workload, clo_workload *copy)
{
    *copy = (clo_workload){.jobs = clo_allocate(workload->jobs_count, sizeof *workload->jobs),
                           .jobs_count = workload->jobs_count,
                           .jobs_capacity = workload->jobs_count};
    if (copy->jobs == NULL)
        return clo_fail_memory("the order of a workload");
    for (size_t i = 0; i < workload->jobs_count; i++)
        copy->jobs[i] = workload->jobs[i];
    return clo_workload_sort(copy);
}

clo_status clo_workload_arrivals(const clo_workload *workload, const clo_arrivals_config *config, clo_workload **out)
{
    clo_arrivals_config mine = CLO_ARRIVALS_CONFIG_INIT;
    clo_workload *made = NULL, copy = {0};

    if (workload == NULL || out == NULL)
        return clo_fail_null("clo_workload_arrivals", workload == NULL ? "workload" : "out");
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_arrivals_config");
    if (status == CLO_OK)
        status = check(&mine);
    if (status == CLO_OK && workload->jobs_count == 0)
        status = clo_fail(CLO_ERR_ARGUMENT, "clo_workload_arrivals: workload \"%.60s\" has no jobs; add one",
                          workload->name);
    if (status == CLO_OK)
        status = clo_workload_create(workload->name, &made);
    if (status == CLO_OK && workload->file != NULL)
        status = clo_workload_set_file(made, workload->file);
    if (status == CLO_OK && !workload->is_sorted)
        status = sort_copy(workload, &copy);
    if (status == CLO_OK)
        status = draw_jobs(workload->is_sorted ? workload : &copy, &mine, made);
    clo_free(copy.jobs);
    if (status != CLO_OK)
        return clo_workload_destroy(made), status;
    *out = made;
    return CLO_OK;
}
