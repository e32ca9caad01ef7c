/* scheduler_job.c - see scheduler_job.h. */
#include "engine/state/scheduler_job.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <string.h>

/* Places that a stage may need: one for each source of data that its executions can lie in. */
static uint32_t places_of(const clo_cost *cost, uint32_t task)
{
    const clo_graph_task_row *row = &cost->graph->rows[task];
    uint32_t sources = cost->platform->sources_count;
    uint32_t executions = row->duplicable ? sources : row->instances;

    return executions < sources ? executions : sources;
}

static void read_demands(clo_scheduler_job *job)
{
    const clo_cost *cost = job->live.cost;

    for (uint32_t t = 0; job->demands != NULL && t < job->tasks; t++) {
        const int64_t *own = clo_graph_demand(cost->graph, t);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            if (cost->resource_of[r] != CLO_NONE) {
                int64_t *held = &job->demands[t][cost->resource_of[r]];
                *held = clo_time_add(*held, own[r]);
            }
    }
}

size_t clo_policy_job_bytes(const clo_policy_use *use, const clo_cost *cost)
{
    return use->policy->job_bytes != NULL ? use->policy->job_bytes(cost, use->argument) : 0;
}

clo_status clo_policy_returned(const clo_policy *policy, const char *function, size_t texts, clo_status status)
{
    if (status == CLO_OK || clo_fail_texts() != texts)
        return status;
    return clo_fail(status, "%s of the policy '%.60s' has failed: %s", function,
                    policy->name != NULL ? policy->name : "without a name", clo_status_text(status));
}

clo_status clo_policy_job_state(const clo_policy_use *use, const clo_cost *cost, clo_arena *arena, void **out)
{
    const clo_policy *policy = use->policy;
    void *state = clo_arena_take(arena, clo_policy_job_bytes(use, cost), 1);

    if (state == NULL)
        return clo_fail_memory("the policy's state for a job");
    *out = state;
    if (policy->prepare == NULL)
        return CLO_OK;
    size_t texts = clo_fail_texts();
    return clo_policy_returned(policy, "prepare", texts, policy->prepare(state, cost, use->argument));
}

clo_status clo_scheduler_job_create(const clo_cost *cost, const clo_scheduler_job_config *config,
                                    const clo_policy_use *use, clo_arena *arena, clo_scheduler_job **out)
{
    const clo_graph *graph = cost->graph;
    clo_scheduler_job *job = clo_arena_take(arena, 1, sizeof *job);
    clo_block block = {0};
    size_t places = 0, roots = 0;

    if (job == NULL)
        return clo_fail_memory("a job of the scheduler");
    for (uint32_t t = 0; t < graph->tasks; t++) {
        places += places_of(cost, t);
        roots += graph->in_first[t] == graph->in_first[t + 1];
    }
    clo_carve(&block, &job->stages, graph->tasks);
    clo_carve(&block, &job->place_first, (size_t)graph->tasks + 1);
    clo_carve(&block, &job->places, places);
    clo_carve(&block, &job->roots, roots);
    if (graph->has_demands)
        clo_carve(&block, &job->demands, graph->tasks);
    clo_least_carve(&job->least, cost, &block);
    if (places >= CLO_NONE || !clo_block_take(&block, arena))
        return clo_fail_memory("the stages of a job");

    job->tasks = graph->tasks;
    job->tag = -1;
    job->live = (clo_live_job){.cost = cost,
                               .deadline_ns = config->deadline_ns,
                               .weight = config->weight,
                               .band = config->band,
                               .group = config->group,
                               .limit = config->limit};
    for (uint32_t t = 0; t < graph->tasks; t++) {
        job->place_first[t + 1] = job->place_first[t] + places_of(cost, t);
        if (graph->in_first[t] == graph->in_first[t + 1])
            job->roots[job->roots_count++] = t;
    }
    for (uint32_t t = 0; t < graph->tasks; t++)
        job->work_ns = clo_time_add(job->work_ns, clo_time_mul(graph->rows[t].instances, cost->mean_ns[t]));
    read_demands(job);
    job->slot = CLO_NONE;
    clo_scheduler_job_arm(job);
    clo_status status = clo_policy_job_state(use, cost, arena, &job->live.state);
    if (status == CLO_OK)
        *out = job;
    return status;
}

clo_status clo_scheduler_job_prepare(clo_scheduler_job *job, const clo_policy_use *use, uint32_t version,
                                     clo_arena *arena)
{
    clo_status status = clo_policy_job_state(use, job->live.cost, arena, &job->next_state);

    job->next_version = version;
    return status;
}

void clo_scheduler_job_exchange(clo_scheduler_job *job)
{
    void *state = job->live.state;
    uint32_t version = job->version;

    job->live.state = job->next_state;
    job->version = job->next_version;
    job->next_state = state;
    job->next_version = version;
}

void clo_scheduler_job_arm(clo_scheduler_job *job)
{
    const clo_graph *graph = job->live.cost->graph;

    memset(job->places, 0, job->place_first[job->tasks] * sizeof *job->places);
    job->is_cancelled = job->has_failed = false;
    job->next_ended = NULL;
    job->live.running = job->live.committed = job->live.startable = job->entered = 0;
    job->live.unfinished = job->unbegun = graph->instances;
    job->live.remaining_ns = job->work_ns;
    job->live.first_ready = job->live.last_ready = job->leaving = CLO_NONE;
    job->live.previous = job->live.next = CLO_NONE;
    job->listed = 0;
    clo_least_clear(&job->least);
    if (job->demands != NULL && graph->control_flow != NULL) { /* of what was skipped they are gone */
        memset(job->demands, 0, job->tasks * sizeof *job->demands);
        read_demands(job);
    }
    for (uint32_t t = 0; t < job->tasks; t++) {
        uint32_t instances = graph->rows[t].instances, parents = graph->in_first[t + 1] - graph->in_first[t];
        job->stages[t] = (clo_stage_row){
            .live = {.parents_left = parents,
                     .parents_unassigned = parents,
                     .unstarted = instances,
                     .unfinished = instances,
                     .next_ready = CLO_NONE,
                     .previous_ready = CLO_NONE},
            .next = {CLO_NONE, CLO_NONE},
            .previous = {CLO_NONE, CLO_NONE},
        };
    }
}
