/* learned.h - policies that a network decides for: the arguments of the policies "decima", "lachesis", "residual".
 *
 *     clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
 *     argument.model = model;
 *     config.policy = clo_policy_find("decima");
 *     config.argument = &argument;
 *
 * Without an argument (NULL) the built-in model of that name decides and takes the best choice. A model for "lachesis"
 * is of the kind CLO_MODEL_LACHESIS or CLO_MODEL_HEAD with list 2 of features (clotho/features.h); stages_max are its
 * candidates, jobs_max and watch are refused. A network decides in integers: the same inputs give the same decisions on
 * every machine. */
#ifndef CLOTHO_LEARNED_H
#define CLOTHO_LEARNED_H

#include <clotho/model.h>
#include <clotho/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most stages and jobs that a decision may look at. */
enum { CLO_LEARNED_ROWS_MAX = 65536 };

/* What a network saw, and what it chose. Made by the library, which appends fields. Valid during the call only. */
typedef struct clo_learned_decision {
    /* All stages that are not finished, of the jobs that were looked at; jobs in order of arrival. `inputs` are those
     * of stages and jobs, as many as the model's list of features has. Its limits are those of the job of the chosen
     * stage; limit k stands for k + 1 executors. */
    clo_model_case input;

    /* [input.limits] */
    const int16_t *limit_inputs;

    /* The same inputs before they were scaled and rounded (clo_model_feature): counts, and ns of `work`. [stages][5],
     * [jobs][3]; those of limits are 0, 1 ... */
    const int64_t *stage_raw, *job_raw;

    /* [candidates_count] stages that could be chosen, as indices into those of `input`, with their scores; [limits]. */
    const uint32_t *candidates;
    const int32_t *scores, *limit_scores;
    uint32_t candidates_count;

    /* Chosen: index into `candidates`, and the limit. */
    uint32_t candidate, limit;
} clo_learned_decision;

/* Called on the thread that the policy is called on, for each choice of the network. */
typedef void (*clo_learned_watch_fn)(void *context, const clo_learned_decision *decision);

typedef struct clo_learned_argument {
    /* Set by CLO_LEARNED_ARGUMENT_INIT. */
    size_t size;

    /* The network; for "decima" of the kind CLO_MODEL_DECIMA. Borrowed while the policy is in use: it may be destroyed
     * when nothing that uses this argument is left, or when clo_runtime_swap_policy has put another one in its place
     * and has returned. NULL: the built-in one. */
    const clo_model *model;

    /* 1: choices are drawn with the probabilities that the network gives them (softmax), for which the exponents of its
     * scores must be 2 to 32 (else CLO_ERR_ARGUMENT); 0: the best one is taken. */
    uint32_t is_sampled;

    /* Fixes every draw. */
    uint64_t seed;

    /* Stages and jobs that a decision looks at, at most; 0: 1024 and 256. Jobs are taken in order of arrival as long as
     * there is room for all their unfinished stages and for four edges for each stage; where the next one does not
     * fit, smaller ones behind it are. Memory grows with both (clo_policy.state_bytes). If no job that was looked at
     * can use an executor, the first job that was not, and can, gets what it wants. At most CLO_LEARNED_ROWS_MAX. */
    uint32_t stages_max, jobs_max;

    /* For recorders and comparisons; NULL: nobody is told. Real time: as clo_policy.decide. */
    clo_learned_watch_fn watch;
    void *watch_context;

    /* Of `parse`: what release destroys. Leave it NULL. */
    clo_model *owned;
} clo_learned_argument;

#define CLO_LEARNED_ARGUMENT_INIT CLO_SIZED_INIT(clo_learned_argument)

/* Number of the list of features of the policy "residual" (clo_model_desc.feature_set). */
#define CLO_FEATURES_RESIDUAL 5

/* What its network sees of a job, in order: of a stage value all of them, of a limit value those before "stays". Logs
 * are to the base 2, in sixteenths, of times over the unit of "parametric" and of counts + 1. */
enum {
    /* "work": of the unfinished instances; "path": rank_u of the first ready stage */
    CLO_RESIDUAL_WORK = 0,
    CLO_RESIDUAL_PATH = 1,
    /* "executors": that it has; "startable", "unfinished": instances */
    CLO_RESIDUAL_EXECUTORS = 2,
    CLO_RESIDUAL_STARTABLE = 3,
    CLO_RESIDUAL_UNFINISHED = 4,
    /* "time": of an instance of the ready stage with the highest rank_u; of one that began last where none is ready */
    CLO_RESIDUAL_TIME = 5,
    /* "drain": of what is ready, shared by its executors and one more */
    CLO_RESIDUAL_DRAIN = 6,
    /* "spare": executors that are bound to it and run nothing */
    CLO_RESIDUAL_SPARE = 7,
    /* "jobs": that live */
    CLO_RESIDUAL_JOBS = 8,
    /* "relative": work over the mean work of the live jobs */
    CLO_RESIDUAL_RELATIVE = 9,
    /* "load": startable instances of all jobs over the executors */
    CLO_RESIDUAL_LOAD = 10,
    /* "ready": share of the work that is ready */
    CLO_RESIDUAL_READY = 11,
    /* "idle": executors that run nothing */
    CLO_RESIDUAL_IDLE = 12,
    /* "stays", "waits": 256 where the question is what an executor that stays, or waits, is worth; else 0 */
    CLO_RESIDUAL_STAYS = 13,
    CLO_RESIDUAL_WAITS = 14,
    CLO_RESIDUAL_FEATURES = 15,
    CLO_RESIDUAL_LIMIT_FEATURES = 13
};

/* Called on the thread that the policy is called on, for each question to the network.
 *   row         [CLO_RESIDUAL_FEATURES]
 *   value, limit  the answer, in Q16 of an octave; no limit was asked for where the row stays or waits */
typedef void (*clo_residual_watch_fn)(void *context, const int16_t *row, int32_t value, int32_t limit);

/* Answers in place of the model, on the thread that the policy is called on. Must be a function of the row alone:
 * answers are kept, and a row that was met before may not be asked again.
 *   row         [CLO_RESIDUAL_FEATURES], within the ranges of the model's features
 *   value, limit  receive the answer, in Q16 of an octave; more than 8 octaves either way are cut off. The limit is not
 *               looked at where the row stays or waits. */
typedef void (*clo_residual_answer_fn)(void *context, const int16_t *row, int32_t *value, int32_t *limit);

/* The argument of the policy "residual". NULL: the built-in model for batches, if there is one. */
typedef struct clo_residual_argument {
    /* Set by CLO_RESIDUAL_ARGUMENT_INIT. */
    size_t size;

    /* With list 5 of features and scores of stages and limits. Borrowed, as in clo_learned_argument. NULL: the built-in
     * one for `parametric`, which is batch or stream then. */
    const clo_model *model;

    /* The argument of "parametric" as text; "": batch. */
    char parametric[192];

    /* For recorders and trainers; NULL: nobody is told. Real time: as clo_policy.decide. */
    clo_residual_watch_fn watch;
    void *watch_context;

    /* Of `parse`: what release destroys. Leave it NULL. */
    clo_model *owned;

    /* For trainers: what another network, say the same one in floating point, would do. The model is still needed, for
     * the ranges of the features. NULL: the model answers. Real time: as clo_policy.decide. */
    clo_residual_answer_fn answer;
    void *answer_context;
} clo_residual_argument;

#define CLO_RESIDUAL_ARGUMENT_INIT CLO_SIZED_INIT(clo_residual_argument)

#ifdef __cplusplus
}
#endif
#endif
