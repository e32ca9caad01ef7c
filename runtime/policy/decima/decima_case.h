/* policy/decima/decima_case.h - what Decima's network sees of the live jobs, and what it chooses; for the policy
 * "decima", and for the selection of that name (decima_selector.c).
 *
 * The network sees all unfinished stages of the live jobs, each time anew, as spark-sched-sim shows them
 * (DecimaObsWrapper). Of a stage: how many executors its job may get now, whether they come from this job, how many the
 * job has (with those that are to come), tasks that were not started, and these times the time of a task. Of a job the
 * first three. Choices: a stage of the candidates; then how many executors, 1 to what its job may get. */
#ifndef CLO_POLICY_DECIMA_DECIMA_CASE_H
#define CLO_POLICY_DECIMA_DECIMA_CASE_H

#include "policy/network/learned.h"

/* In the order of lists 1 and 4 of the features. Then those of a job, the first three again, and that of limits. List 4
 * has work as several numbers. */
enum {
    CLO_CASE_CAP,
    CLO_CASE_OWN,
    CLO_CASE_EXECUTORS,
    CLO_CASE_TASKS,
    CLO_CASE_WORK,
    CLO_CASE_STAGE_FEATURES = 5,
    CLO_CASE_JOB_FEATURES = 3
};

/* What tells the two users apart. */
typedef struct clo_decima_facts {
    /* Room for a number of each stage of the job, which is the case's; NULL: the job is not known yet. */
    uint32_t *(*rows)(const clo_live_job *live);
    /* The three numbers of a job. */
    void (*job)(const void *context, uint32_t slot, const clo_live_job *live, int64_t raw[CLO_CASE_JOB_FEATURES]);
    /* Tasks of a stage that were not started; *time_ns: of one of them. */
    uint32_t (*stage)(const clo_view *view, uint32_t slot, uint32_t stage, int64_t *time_ns);
} clo_decima_facts;

/* Lies in a policy's state; nothing is to be freed. */
typedef struct clo_decima_case {
    clo_learned learned;
    const clo_decima_facts *facts;
    clo_model_case seen;
    uint32_t work_parts; /* 1, or CLO_WORK_PARTS */
    bool has_others;     /* jobs that live and were not looked at */

    /* [stages + 1], [edges], [stages] */
    uint32_t *child_begin, *children, *job_of_stage, *stage_of_row;
    uint32_t *slots; /* [jobs] */
    int16_t *inputs; /* of stages, then of jobs */
    int64_t *stage_raw, *job_raw;
} clo_decima_case;

/* Bytes behind the struct for an argument that was read. `memory` has so many, at a multiple of 64. Returns as
 * clo_learned_init. */
size_t clo_decima_case_bytes(const clo_limits *limits, const clo_learned_argument *with);
clo_status clo_decima_case_init(clo_decima_case *c, const clo_limits *limits, const clo_learned_argument *with,
                                const clo_decima_facts *facts, void *memory);

/* Looks at jobs in order of arrival up to the first that does not fit; those that never could are passed over. Both
 * are counted (clo_view_partial). False: the bound of the decision is reached. */
bool clo_decima_case_look(clo_decima_case *c, const clo_view *view, const void *context);

/* Row `row` of what was seen is the k-th candidate. */
static inline void clo_decima_case_offer(clo_decima_case *c, uint32_t k, uint32_t row)
{
    c->learned.candidates[k] = row;
    c->learned.keys[k] = (uint64_t)c->job_of_stage[row] << 32 | c->stage_of_row[row];
}

#endif
