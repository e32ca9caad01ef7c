/* hash.c - see hash.h. Times of tasks on single kinds are not in it. */
#include "clotho/simulate/hash.h"

#include "clotho/common/report.h"
#include "train/numbers/fnv.h"

#include <string.h>

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return fnv_number(fnv_bytes(hash, text, strlen(text)), 0);
}

static uint64_t mix_graph(uint64_t hash, const clo_graph *graph)
{
    clo_task task;

    hash = fnv_number(hash, clo_graph_tasks(graph));
    hash = fnv_number(hash, clo_graph_edges(graph));
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
        if (clo_graph_task(graph, t, &task) != CLO_OK)
            continue;
        hash = fnv_number(fnv_number(hash, (uint64_t)task.work_ns), task.instances);
        for (int r = 0; r < CLO_RESOURCES_MAX; r++)
            hash = fnv_number(hash, (uint64_t)task.demand[r]);
    }
    return hash;
}

uint64_t workload_hash(const clo_workload *workload)
{
    uint64_t hash = fnv_number(FNV_BEGIN, clo_workload_jobs(workload)), of_graph = 0;
    const clo_graph *before = NULL;

    for (uint32_t i = 0; i < clo_workload_jobs(workload); i++) {
        const clo_workload_job *job = clo_workload_get(workload, i);
        if (job->graph != before)
            of_graph = mix_graph(FNV_BEGIN, job->graph);
        before = job->graph;
        hash = fnv_number(fnv_number(hash, of_graph), (uint64_t)job->arrival_ns);
        hash = fnv_number(fnv_number(hash, (uint64_t)job->deadline_ns), (uint64_t)job->period_ns);
        hash = fnv_number(fnv_number(hash, job->releases), job->weight);
        hash = fnv_number(fnv_number(fnv_number(hash, job->band), job->group), job->limit);
    }
    return hash != 0 ? hash : 1;
}

uint64_t platform_hash(const clo_platform *platform)
{
    uint64_t hash = fnv_number(FNV_BEGIN, clo_platform_executors(platform));

    for (uint32_t e = 0; e < clo_platform_executors(platform); e++) {
        const clo_executor *executor = clo_platform_executor(platform, e);
        hash = mix_text(hash, clo_platform_kind_name(platform, executor->kind));
        hash = fnv_number(fnv_number(hash, executor->machine), executor->memory);
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            hash = fnv_number(hash, executor->speed_q16[c]);
    }
    for (uint32_t m = 0; m < clo_platform_machines(platform); m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            hash = fnv_number(hash, (uint64_t)clo_platform_capacity(platform, m, r));
    return hash != 0 ? hash : 1;
}

int refuse_other_run(const char *log_path, const clo_log *log, const clo_workload *workload,
                     const clo_platform *platform, const char *spec)
{
    const clo_log_header *about = clo_log_about(log);

    if (about->executors != 0 && about->executors != clo_platform_executors(platform))
        return complain(log_path,
                        "the log is of a platform with %u executors, this one has %u; name the platform of the run",
                        about->executors, clo_platform_executors(platform));
    if (about->platform_hash != 0 && about->platform_hash != platform_hash(platform))
        return complain(log_path, "the log is of another platform than '%s'; name that of the run", spec);
    if (about->workload_hash != 0 && about->workload_hash != workload_hash(workload))
        return complain(log_path, "the log is of another workload; name that of the run%s%.200s",
                        about->workload != NULL ? ", " : "", about->workload != NULL ? about->workload : "");
    return EXIT_GOOD;
}
