/* learn/infer/head.h - a model of stages, jobs and the system, taken apart by what changes when.
 *
 *   stages   what depends on the graph of a job alone: computed once, when the job is made (jobs/head_job.c)
 *   jobs     sums over the stages of a job that are not finished, and what follows: when the job changes
 *   system   sums over the live jobs, and what follows: for each decision
 *   head     begins with a join of a part of each, then goes on in a chain to the score: for all candidates at once,
 *            in lanes, for each decision (jobs/ready.c). It may end with a join of the chain and of what stages add to
 *            their scores directly. A model whose scores are of the graph alone has no head: what is direct is the score
 *
 * int32 sums commute, so all of it gives the very scores of learn/infer/run.c on a case of the stages that are not
 * finished, with every variant of the kernels. Arrays only; no allocation; nothing fails but clo_head_open. */
#ifndef CLO_LEARN_INFER_HEAD_H
#define CLO_LEARN_INFER_HEAD_H

#include "learn/format/opened.h"
#include "learn/infer/lachesis_features.h"

enum {
    CLO_HEAD_SUMS_MAX = 8,
    CLO_HEAD_CHAIN_MAX = 16,
    /* Sums of int16 over more rows could leave 32 bits. */
    CLO_HEAD_STAGES_MAX = 65535,
    CLO_HEAD_JOBS_MAX = 65535
};

/* Where the numbers of a value lie. */
typedef enum clo_head_place {
    /* nowhere: of the head */
    CLO_HEAD_LANES,
    /* in the record of a stage, for good */
    CLO_HEAD_KEPT,
    /* one row of the job's; is overwritten by the next stage */
    CLO_HEAD_SCRATCH,
    /* one row of the ready set's; is overwritten by the next job */
    CLO_HEAD_OF_JOB,
    CLO_HEAD_OF_SYSTEM
} clo_head_place;

/* A sum over the stages of a job, or over jobs. */
typedef struct clo_head_sum {
    /* the value that is summed up */
    uint16_t value;
    /* of its int32 numbers, among those of all sums of the domain */
    uint32_t at;
} clo_head_sum;

typedef struct clo_head_sums {
    uint32_t count, numbers;
    clo_head_sum list[CLO_HEAD_SUMS_MAX];
} clo_head_sums;

typedef struct clo_head {
    const clo_model *model;
    clo_kernels kernels;
    /* Operations of the domains, in order: [0] stages, [1] jobs, [2] system. */
    uint16_t ops[3][CLO_MODEL_OPS_MAX];
    uint32_t ops_count[3];
    /* The join, then the chain; none: `direct` is the score. */
    uint16_t chain[CLO_HEAD_CHAIN_MAX];
    uint32_t chain_count;
    /* Inputs of the join; CLO_MODEL_NONE: there is no part of jobs, or of the system. */
    uint32_t stage_part, job_part, system_part;
    /* The operation behind the chain that adds `direct`, of stages, to its sums: the score. CLO_MODEL_NONE: the chain
     * is the score. */
    uint32_t last_join, direct;
    /* Over stages, over jobs. */
    clo_head_sums sums[2];
    uint8_t place[CLO_MODEL_VALUES_MAX];
    uint32_t offset[CLO_MODEL_VALUES_MAX];
    /* The first feature of each input value, within the features of its domain. */
    uint32_t feature[CLO_MODEL_VALUES_MAX];
    /* Bytes: of a stage's record, of the job's scratch, of a job's and of the system's rows. Multiples of 64. */
    uint32_t record_bytes, scratch_bytes, job_bytes, system_bytes;
    /* Multiplications for each job, for the system, for each candidate. */
    uint64_t multiplications[3];
} clo_head;

/* Takes the model apart. The kernels are those of `isa` (CLO_ISA_...).
 * Returns CLO_OK, or CLO_ERR_UNSUPPORTED with the line why the model cannot be run so. O(operations). */
clo_status clo_head_open(const clo_model *model, uint32_t isa, clo_head *out);

/* A job of the head: in memory of the caller. */
typedef struct clo_head_job {
    uint32_t stages;
    int32_t scale;
    /* Features that were out of their range when the job was made. */
    uint64_t clamped;
    /* [stages][record_bytes] */
    unsigned char *records;
    /* [stages][CLO_FEATURES_STAGE], as the network sees them before scaling */
    int32_t *features;
    /* [stages] of clo_scored: the place among candidates, or one of the marks below */
    uint32_t *place;
    /* [sums over stages], of all stages and of those that are left */
    int32_t *all, *left;
    /* [sums over jobs] what the job has added to them; [outputs of the join] its part of the head */
    int32_t *given, *part;
    unsigned char *scratch;
} clo_head_job;

/* The graph of a job. */
typedef struct clo_head_graph {
    uint32_t stages;
    /* [stages] parents before children; NULL: 0, 1 ... */
    const uint32_t *order;
    /* [stages + 1], into children */
    const uint32_t *child_begin, *children;
} clo_head_graph;

/* Outputs of the join; 0: there is no head. */
static inline uint32_t clo_head_joined(const clo_head *head)
{
    return head->chain_count == 0 ? 0 : head->model->dense[head->model->ops[head->chain[0]].argument].outputs;
}

/* Bytes of a job, the struct included; 0: more than a size_t counts. At a multiple of 64. */
size_t clo_head_job_bytes(const clo_head *head, uint32_t stages);
clo_head_job *clo_head_job_open(const clo_head *head, uint32_t stages, void *memory);

/* Arrays for clo_cost_figures, in memory of the job's that clo_head_job_prepare overwrites. */
clo_stage_figures clo_head_job_figures(const clo_head *head, clo_head_job *job);

/* From job->features and job->scale: embeddings, the parts of all stages, their sums. O(stages and edges, times
 * layers). */
void clo_head_job_prepare(const clo_head *head, clo_head_job *job, const clo_head_graph *graph);

/* Shared by jobs/head_job.c and jobs/ready.c. */

/* Row `out` of one operation that needs no other rows (all but sums). */
void clo_head_apply(const clo_head *head, const clo_format_op *op, const void *const in[CLO_MODEL_OP_INPUTS],
                    void *out);

/* The clamp behind a sum, for the numbers of op->out. */
void clo_head_clamp(const clo_head *head, const clo_format_op *op, const int32_t *sums, void *out);

/* Fills the row of an input value from `raw`, the features of its domain; returns how many were clamped. */
uint64_t clo_head_input(const clo_head *head, uint32_t value, const int32_t *raw, void *row);

/* sums += sign * row, modulo 2^32. */
void clo_head_add(const clo_head *head, uint32_t value, const void *row, int32_t sign, int32_t *sums);

static inline void *clo_head_record(const clo_head *head, const clo_head_job *job, uint32_t value, uint32_t stage)
{
    return job->records + (size_t)stage * head->record_bytes + head->offset[value];
}

#endif
