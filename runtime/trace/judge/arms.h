/* trace/judge/arms.h - branches (clotho/branch.h) in a log: what they chose, and who had to be skipped for that. It is
 * worked out from the ARM records and the graph alone, before anybody looks at what ran. */
#ifndef CLO_TRACE_JUDGE_ARMS_H
#define CLO_TRACE_JUDGE_ARMS_H

#include "trace/judge/judge.h"

/* Fills judge->arms and judge->skipped. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_judge_read_arms(clo_judge *judge);

/* The executions are known: each branch of a job that is done has chosen. Returns CLO_OK. */
clo_status clo_judge_arms(clo_judge *judge);

void clo_judge_free_arms(clo_judge *judge);

static inline bool clo_judge_is_skipped(const clo_judge *judge, uint32_t job, uint32_t stage)
{
    return clo_judge_shape_of(judge, job)->arms != NULL && judge->skipped[judge->jobs[job].stages_first + stage] != 0;
}

/* Nothing comes over the edge. */
static inline bool clo_judge_is_dead(const clo_judge *judge, uint32_t job, const clo_judge_edge *edge)
{
    if (clo_judge_shape_of(judge, job)->arms == NULL)
        return false;
    uint32_t chosen = judge->arms[judge->jobs[job].stages_first + edge->from];
    return clo_judge_is_skipped(judge, job, edge->from) ||
           (edge->arm != CLO_NONE && chosen != CLO_NONE && edge->arm != chosen);
}

#endif
