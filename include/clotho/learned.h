/* learned.h - policies in which a neural network decides: the arguments of the policies "decima", "lachesis",
 * "residual", "easy-residual".
 *
 *     clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
 *     argument.model = model;
 *     config.policy = clo_policy_find("decima");
 *     config.argument = &argument;
 *
 * Without an argument (NULL) the built-in model of that name decides and takes the best choice. A model for "lachesis"
 * is of the kind CLO_MODEL_LACHESIS or CLO_MODEL_HEAD with list 2 of features (docs/MODELS.md); stages_max limits
 * its candidates; jobs_max, watch and choose are refused. A network decides in integers: the same inputs give the same
 * decisions on every machine. */
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
    /* All unfinished stages of the jobs that the network looked at; jobs in order of arrival. `inputs` holds the
     * features of stages and jobs, as many as the model's feature list has. The limits are those of the job of the
     * chosen stage; limit k stands for k + 1 executors. */
    clo_model_case input;

    /* [input.limits] */
    const int16_t *limit_inputs;

    /* The same inputs before they were scaled and rounded (clo_model_feature): counts, and ns of `work`. [stages][5],
     * [jobs][3]; those of limits are 0, 1 ... */
    const int64_t *stage_raw, *job_raw;

    /* [candidates_count] stages that could be chosen, as indices of stages of `input`, and their scores; [input.limits]
     * scores of the limits. */
    const uint32_t *candidates;
    const int32_t *scores, *limit_scores;
    uint32_t candidates_count;

    /* Chosen: index into `candidates`, and the limit. */
    uint32_t candidate, limit;

    /* The scheduler's time. */
    int64_t now_ns;
} clo_learned_decision;

/* Called on the thread that the policy is called on, for each choice of the network. */
typedef void (*clo_learned_watch_fn)(void *context, const clo_learned_decision *decision);

/* Chooses in place of the network, on the thread that the policy is called on; for trainers and comparisons. `decision`
 * shows all but scores, limits and the choice. The callee sets
 *   candidate  below candidates_count
 *   limit      one less than the executors; below the first number of the job in job_raw
 * Larger ones count as the largest. */
typedef void (*clo_learned_choose_fn)(void *context, const clo_learned_decision *decision, uint32_t *candidate,
                                      uint32_t *limit);

typedef struct clo_learned_argument {
    /* Set by CLO_LEARNED_ARGUMENT_INIT. */
    size_t size;

    /* The network; for "decima" of the kind CLO_MODEL_DECIMA. Borrowed while the policy is in use: it may be destroyed
     * when nothing uses this argument any more, or when clo_runtime_swap_policy has replaced the policy and returned.
     * NULL: the built-in one. */
    const clo_model *model;

    /* 1: choices are drawn with the probabilities that the network gives them (softmax); the exponents of its scores
     * must then be 2 to 32 (else CLO_ERR_ARGUMENT). 0: the best one is taken. */
    uint32_t is_sampled;

    /* Fixes every draw. */
    uint64_t seed;

    /* Most stages and jobs that a decision looks at; 0: 1024 and 256. Jobs are taken in order of arrival as long as
     * there is room for all their unfinished stages and for four edges for each stage; if the next job does not fit,
     * smaller jobs behind it are taken. Memory grows with both (clo_policy.state_bytes). If no job that was looked at
     * can use an executor, the first other job that can use one gets what it wants. At most CLO_LEARNED_ROWS_MAX. */
    uint32_t stages_max, jobs_max;

    /* For recorders and comparisons; NULL: no calls. Real time: as clo_policy.decide. */
    clo_learned_watch_fn watch;
    void *watch_context;

    /* Set by clo_policy.parse, destroyed by clo_policy.release. Leave it NULL. */
    clo_model *owned;

    /* Policy "decima" only. The model is still needed, for the ranges of the features; it is not run. NULL: the model
     * chooses. Real time: as clo_policy.decide. */
    clo_learned_choose_fn choose;
    void *choose_context;
} clo_learned_argument;

#define CLO_LEARNED_ARGUMENT_INIT CLO_SIZED_INIT(clo_learned_argument)

/* Called on the thread that the policy is called on, for each question to the network.
 *   row         of "residual" the 15 features of list 5 (docs/MODELS.md), of "easy-residual" the 18 of list 6
 *   value, limit  the answer, in Q16 of an octave; no limit was asked for if a row of list 5 stays or waits, and the
 *               limit of a row of list 6 is not told here: 0 */
typedef void (*clo_residual_watch_fn)(void *context, const int16_t *row, int32_t value, int32_t limit);

/* Answers in place of the model, on the thread that the policy is called on. Must be a function of the row alone:
 * answers are kept, and a row that was met before may not be asked again.
 *   row         the features as above, within the ranges of the model's features
 *   value, limit  receive the answer, in Q16 of an octave; more than 8 octaves either way are cut off. The limit is not
 *                 used if a row of list 5 stays or waits. */
typedef void (*clo_residual_answer_fn)(void *context, const int16_t *row, int32_t *value, int32_t *limit);

/* The argument of the policies "residual" and "easy-residual". NULL: the built-in model, of "residual" that for batches. */
typedef struct clo_residual_argument {
    /* Set by CLO_RESIDUAL_ARGUMENT_INIT. */
    size_t size;

    /* A model with feature list 5, of "easy-residual" 6, and scores of stages and limits. Borrowed, as in
     * clo_learned_argument. NULL: the built-in one; of "residual" that for `parametric`, which must then be batch or
     * stream. */
    const clo_model *model;

    /* The argument of "parametric" as text; "": batch. Of "easy-residual" that of "easy-parametric"; "": as built in. */
    char parametric[192];

    /* For recorders and trainers; NULL: no calls. Real time: as clo_policy.decide. */
    clo_residual_watch_fn watch;
    void *watch_context;

    /* Set by clo_policy.parse, destroyed by clo_policy.release. Leave it NULL. */
    clo_model *owned;

    /* For trainers: answers of another network, such as the same one in floating point. The model is still needed, for
     * the ranges of the features. NULL: the model answers. Real time: as clo_policy.decide. */
    clo_residual_answer_fn answer;
    void *answer_context;
} clo_residual_argument;

#define CLO_RESIDUAL_ARGUMENT_INIT CLO_SIZED_INIT(clo_residual_argument)

#ifdef __cplusplus
}
#endif
#endif
