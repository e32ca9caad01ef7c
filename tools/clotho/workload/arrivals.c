/* arrivals.c - the list of jobs that a real run submits. A periodic job is one job for each release, as in the
 * simulator. So the n-th submission is the n-th job of the list, here and there. */
#include "clotho/workload/stream.h"

#include "clotho/stream/misfits.h"

#include <inttypes.h>

/* Jobs and releases of one run: each takes some hundred bytes while the command runs. */
#define RUN_JOBS_MAX (UINT32_C(1) << 22)

static clo_status add_releases(clo_workload *list, const clo_workload *from, uint32_t index)
{
    const clo_workload_job *job = clo_workload_get(from, index);
    uint64_t releases = clo_workload_releases(from, index);
    clo_workload_job one = *job;
    clo_status status = CLO_OK;

    one.period_ns = 0;
    one.releases = 0;
    for (uint64_t k = 0; k < releases && status == CLO_OK; k++) {
        if (clo_workload_jobs(list) == RUN_JOBS_MAX)
            return CLO_ERR_LIMIT;
        one.arrival_ns = job->arrival_ns + (int64_t)k * job->period_ns;
        status = clo_workload_add(list, &one);
    }
    return status;
}

static clo_status fill(stream_run *run, const clo_workload *from, clo_workload *list)
{
    misfits found;

    clo_status status = misfits_find(&found, from, run->sim.platform);
    for (uint32_t i = 0; i < clo_workload_jobs(from) && status == CLO_OK; i++) {
        const clo_workload_job *job = clo_workload_get(from, i);
        const char *why = misfits_why(&found, job);
        if (why == NULL)
            status = add_releases(list, from, i);
        else if (run->misfits++ < MISFITS_NAMED_MAX)
            misfits_name(run->sim.path, job, why, NULL);
    }
    misfits_close(&found);
    return status == CLO_OK ? clo_workload_sort(list) : status;
}

int run_arrivals(stream_run *run)
{
    const char *path = run->sim.path;

    clo_status status = simulation_draw(&run->sim, &run->run);
    if (status == CLO_OK)
        status = clo_workload_create(clo_workload_name(run->sim.loaded), &run->releases);
    if (status == CLO_OK)
        status = fill(run, run->run.workload, run->releases);
    if (status == CLO_OK && run->misfits > MISFITS_NAMED_MAX)
        complain(path, "%" PRIu64 " more jobs are refused for the like", run->misfits - MISFITS_NAMED_MAX);
    run->run.workload = run->releases;
    if (status == CLO_OK && clo_workload_jobs(run->releases) == 0)
        return run->misfits > 0 ? EXIT_BAD_INPUT : complain(path, "holds no jobs; nothing to run");
    if (status == CLO_OK)
        status = stream_case_open(&run->jobs, run->releases, run->sim.platform, NULL);
    if (status == CLO_OK)
        return EXIT_GOOD;
    if (status == CLO_ERR_MEMORY)
        return complain(path, "out of memory for the list of jobs");
    return status == CLO_ERR_LIMIT ? complain(path,
                                              "more than %u jobs and releases; "
                                              "lower \"releases\" or --jobs",
                                              RUN_JOBS_MAX)
                                   : complain_status(path, status);
}
