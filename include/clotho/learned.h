/* learned.h - policies that a network decides for: the argument of the policies "decima" and "lachesis".
 *
 *     clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
 *     argument.model = model;
 *     config.policy = clo_policy_find("decima");
 *     config.argument = &argument;
 *
 * Without an argument (NULL) the built-in model of "decima" decides and takes the best choice; "lachesis" has none and
 * refuses to begin. Its model is of the kind CLO_MODEL_LACHESIS or CLO_MODEL_HEAD with list 2 of features
 * (clotho/features.h); stages_max are its candidates, jobs_max and watch are refused. A network decides in integers:
 * the same inputs give the same decisions on every machine. */
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

    /* The network, of the kind CLO_MODEL_DECIMA. Borrowed while the policy is in use: it may be destroyed when nothing
     * that uses this argument is left, or when clo_runtime_swap_policy has put another one in its place and has
     * returned. NULL: the built-in one. */
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

#ifdef __cplusplus
}
#endif
#endif
