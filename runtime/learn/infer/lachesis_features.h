/* learn/infer/lachesis_features.h - the integer inputs of a network of the kind CLO_MODEL_LACHESIS: feature list 2 of
 * docs/MODELS.md.
 *
 * Arrays in, arrays out: a policy and a trainer that make the same calls see the very same numbers. The numbers of a
 * stage never change while its job lives, those of a job change with that job alone, those of the system with each
 * decision. No number of a job depends on other jobs.
 *
 *     clo_cost_figures(cost, times, counts);                 once, when a job is made
 *     clo_features_stages(&figures, stages, &scale, rows);
 *     clo_features_job(&job, row);                           when the job changes
 *     clo_features_system(&system, row);                     for each decision
 *     clo_features_scale(features, count, row, inputs);      scales each number as the model says
 *
 * Times are normalised for each job separately: 4096 units are 2^scale ns, the power of two above the longest path of
 * the job (the largest rank_u). Counts are log2(1 + count) in Q8, shares Q12 (4096 is all). A number out of its range
 * is clamped, and the call returns how many were: 0 for what clo_cost_figures gives.
 *
 * If a pointer is NULL, nothing is written, and calls that return a count return 0.
 *
 * O(numbers written); none fails on numbers. */
#ifndef CLO_LEARN_INFER_LACHESIS_FEATURES_H
#define CLO_LEARN_INFER_LACHESIS_FEATURES_H

#include <clotho/model.h>

/* Number of the list (clo_model_desc.feature_set). */
#define CLO_FEATURES_LACHESIS 2

/* Features of a stage, in order. */
enum {
    /* "time": mean time of one instance (LACHESIS, table 1, uses that of the job; the stage's own time helps more) */
    CLO_FEATURE_TIME = 0,
    /* "input", "output": mean transfer time of the stage's incoming and outgoing edges, for one pair of instances */
    CLO_FEATURE_INPUT = 1,
    CLO_FEATURE_OUTPUT = 2,
    /* "rank-up", "rank-down": clo_cost_rank_u, clo_cost_rank_d */
    CLO_FEATURE_RANK_UP = 3,
    CLO_FEATURE_RANK_DOWN = 4,
    /* "children", "instances": log2 */
    CLO_FEATURE_CHILDREN = 5,
    CLO_FEATURE_INSTANCES = 6,
    CLO_FEATURES_STAGE = 7
};

/* Features of a job, in order. */
enum {
    /* "tasks-left": log2 of the instances that have not finished */
    CLO_FEATURE_TASKS_LEFT = 0,
    /* "work-left": sum of their mean times, in the job's units; "work-left-log": log2 of that */
    CLO_FEATURE_WORK_LEFT = 1,
    CLO_FEATURE_WORK_LEFT_LOG = 2,
    /* "scale": the job's scale, 0 .. 63 */
    CLO_FEATURE_SCALE = 3,
    /* "executors": share of the executors that run or wait for instances of it */
    CLO_FEATURE_EXECUTORS = 4,
    CLO_FEATURES_JOB = 5
};

/* Features of the system, in order. */
enum {
    /* "jobs": log2 of the live jobs */
    CLO_FEATURE_JOBS = 0,
    /* "free": share of the executors that are free */
    CLO_FEATURE_FREE = 1,
    CLO_FEATURES_SYSTEM = 2
};

/* Ranges: times of stages 0 .. TIME_MAX, work 0 .. WORK_MAX, logarithms 0 .. LOG_MAX, shares 0 .. SHARE_ONE. */
enum {
    CLO_FEATURE_TIME_UNITS = 4096,
    CLO_FEATURE_TIME_MAX = 65535,
    CLO_FEATURE_WORK_MAX = (1 << 30) - 1,
    CLO_FEATURE_LOG_MAX = 64 * 256,
    CLO_FEATURE_SHARE_ONE = 4096
};

/* The input of the stage features. The caller owns the arrays, each of [stages] entries, none NULL. */
typedef struct clo_stage_figures {
    /* Negative times count as 0, and as clamped. */
    int64_t *time_ns, *input_ns, *output_ns, *rank_u_ns, *rank_d_ns;
    uint32_t *children, *instances;
} clo_stage_figures;

typedef struct clo_job_figures {
    /* The scale that clo_features_stages gave. */
    int32_t scale;
    /* clo_live_job.running + committed; all executors of the platform */
    uint32_t executors_used, executors;
    /* clo_live_job.unfinished */
    uint64_t tasks_left;
    /* clo_live_job.remaining_ns */
    int64_t work_left_ns;
} clo_job_figures;

typedef struct clo_system_figures {
    uint32_t jobs, executors_free, executors;
} clo_system_figures;

/* The numbers of a job's stages, and the job's scale.
 *   figures  the arrays are read only.
 *   scale    receives 0 (no time at all) .. 63.
 *   out      [stages][CLO_FEATURES_STAGE]
 * Returns how many numbers were clamped. */
uint64_t clo_features_stages(const clo_stage_figures *figures, uint32_t stages, int32_t *scale, int32_t *out);

/* The numbers of a job, [CLO_FEATURES_JOB]. Returns how many were clamped. */
uint64_t clo_features_job(const clo_job_figures *figures, int32_t *out);

/* The numbers of the system, [CLO_FEATURES_SYSTEM]. Returns how many were clamped. */
uint64_t clo_features_system(const clo_system_figures *figures, int32_t *out);

/* Scales `count` numbers for the network, each by its clo_model_feature. Returns how many were clamped to lo or hi. */
uint64_t clo_features_scale(const clo_model_feature *features, uint32_t count, const int32_t *raw, int16_t *out);

#endif
