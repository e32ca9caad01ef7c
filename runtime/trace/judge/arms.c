/* arms.c - see arms.h. Shares no code with the engine: the rule of branch.h is written down here once more. */
#include "trace/judge/arms.h"

#include "base/memory.h"
#include "base/status.h"

/* Rows for the stages of the jobs whose graphs have branches. */
static clo_status take_memory(clo_judge *judge)
{
    size_t rows = 0;

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        judge->jobs[j].stages_first = rows;
        rows += clo_judge_shape_of(judge, j)->arms != NULL ? clo_judge_shape_of(judge, j)->stages : 0;
    }
    judge->arms = clo_allocate(rows, sizeof judge->arms[0]);
    judge->skipped = clo_allocate(rows, sizeof judge->skipped[0]);
    if (judge->arms == NULL || judge->skipped == NULL)
        return clo_fail_memory("the check of a log");
    for (size_t i = 0; i < rows; i++)
        judge->arms[i] = CLO_NONE;
    return CLO_OK;
}

/* The FINISH of the branch stands behind its ARM. */
static bool is_before_finish(const clo_judge *judge, uint32_t at)
{
    const clo_log_record *arm = &judge->records[at];

    return at + 1 < judge->records_count && arm[1].what == CLO_LOG_FINISH && arm[1].job == arm->job &&
           arm[1].stage == arm->stage;
}

static void read_arm(clo_judge *judge, uint32_t at)
{
    const clo_log_record *r = &judge->records[at];
    unsigned long long number = (unsigned long long)r->job;
    uint32_t j = clo_judge_find_job(judge, r->job);

    if (j == CLO_NONE) {
        clo_judge_fault(judge, CLO_STREAM_UNKNOWN_JOB, at, "job %llu: the workload has no such job", number);
        return;
    }
    const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
    if (r->stage >= shape->stages) {
        clo_judge_fault(judge, CLO_STREAM_UNKNOWN_STAGE, at, "job %llu: stage %u; its graph has %u tasks", number,
                        r->stage, shape->stages);
        return;
    }
    uint32_t arms = shape->arms != NULL ? shape->arms[r->stage] : 0;
    if (r->value < 0 || r->value >= (int64_t)arms) {
        clo_judge_fault(judge, CLO_STREAM_ARM, at, "job %llu: stage %u chose arm %lld; it has %u arms", number,
                        r->stage, (long long)r->value, arms);
        return;
    }
    uint32_t *chosen = &judge->arms[judge->jobs[j].stages_first + r->stage];
    if (*chosen != CLO_NONE)
        clo_judge_fault(judge, CLO_STREAM_ARM, at, "job %llu: stage %u chose an arm before", number, r->stage);
    if (!is_before_finish(judge, at))
        clo_judge_fault(judge, CLO_STREAM_ARM, at, "job %llu: stage %u chose an arm, and its FINISH is not next",
                        number, r->stage);
    *chosen = (uint32_t)r->value;
}

/* dead: [stages] scratch, 0 before and afterwards. */
static void find_skipped(clo_judge *judge, uint32_t j, uint32_t *dead)
{
    const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
    uint8_t *skipped = &judge->skipped[judge->jobs[j].stages_first];

    for (uint32_t i = 0; i < shape->stages; i++) {
        uint32_t t = shape->order[i];
        skipped[t] = shape->is_merge[t] ? dead[t] > 0 && dead[t] == shape->in_count[t] : dead[t] > 0;
        dead[t] = 0;
        for (uint32_t e = shape->edges_first[t]; e < shape->edges_first[t + 1]; e++)
            dead[shape->edge_rows[e].to] +=
                !shape->edge_rows[e].only_orders && clo_judge_is_dead(judge, j, &shape->edge_rows[e]);
    }
}

clo_status clo_judge_read_arms(clo_judge *judge)
{
    uint32_t most = 0;
    clo_status status = take_memory(judge);

    for (uint32_t s = 0; s < judge->shapes_count; s++)
        most = judge->shapes[s].stages > most ? judge->shapes[s].stages : most;
    uint32_t *dead = clo_allocate(most, sizeof *dead);
    if (status == CLO_OK && dead == NULL)
        status = clo_fail_memory("the check of a log");
    for (uint32_t i = 0; i < judge->records_count && status == CLO_OK; i++)
        if (judge->records[i].what == CLO_LOG_ARM)
            read_arm(judge, i);
    for (uint32_t j = 0; j < judge->jobs_count && status == CLO_OK; j++)
        if (clo_judge_shape_of(judge, j)->arms != NULL)
            find_skipped(judge, j, dead);
    clo_free(dead);
    return status;
}

clo_status clo_judge_arms(clo_judge *judge)
{
    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
        const clo_judge_job *job = &judge->jobs[j];
        if (shape->arms == NULL || job->done_record == CLO_NONE || job->done_value != CLO_LOG_DONE_OK)
            continue;
        for (uint32_t t = 0; t < shape->stages; t++)
            if (shape->arms[t] > 0 && !clo_judge_is_skipped(judge, j, t) &&
                judge->arms[job->stages_first + t] == CLO_NONE)
                clo_judge_fault(judge, CLO_STREAM_ARM, job->done_record,
                                "job %llu: it is done, and no record says which arm stage %u chose",
                                clo_judge_number(judge, j), t);
    }
    return CLO_OK;
}

void clo_judge_free_arms(clo_judge *judge)
{
    clo_free(judge->arms);
    clo_free(judge->skipped);
}
