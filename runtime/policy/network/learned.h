/* policy/network/learned.h - the one bridge from policies to learn/: a model in a policy's state, and what it chooses.
 *
 * A policy gives the inputs as numbers (clo_learned.input, filled in its own arrays) and asks for a stage, then for a
 * limit of its job. Steps are charged before the work that they stand for. */
#ifndef CLO_POLICY_NETWORK_LEARNED_H
#define CLO_POLICY_NETWORK_LEARNED_H

#include "learn/infer/infer.h"

#include <clotho/learned.h>

/* Lies in the policy's state; nothing is to be freed. */
typedef struct clo_learned {
    const clo_model *model;
    clo_infer *infer;
    clo_kernels kernels;
    clo_infer_sizes sizes;
    bool is_sampled;
    uint64_t seed, decisions;
    /* Q32 of one unit of the scores of stages and of limits. */
    int32_t stage_scale, limit_scale;
    /* [most candidates]: stages or limits that may be chosen, what ties are broken by, scores as the network gives
     * them and with noise. */
    uint32_t *candidates;
    uint64_t *keys;
    int32_t *scores, *limit_scores, *noise, *noisy;
    /* [limits] */
    int16_t *limit_inputs;
} clo_learned;

/* The argument of a policy as it was given, or its defaults; see clo_learned_argument. Returns CLO_OK or
 * CLO_ERR_ARGUMENT. */
clo_status clo_learned_read(const void *argument, const clo_limits *limits, clo_learned_argument *out);

/* Of an argument that was read: the most rows of a decision. */
clo_infer_sizes clo_learned_sizes(const clo_learned_argument *argument, uint32_t executors);

/* Bytes behind the struct for an argument that was read. `memory` has so many, at a multiple of 64.
 * Init returns CLO_OK, CLO_ERR_ARGUMENT (a model of another kind) or CLO_ERR_UNSUPPORTED. */
size_t clo_learned_bytes(const clo_learned_argument *argument, const clo_infer_sizes *sizes);
clo_status clo_learned_init(clo_learned *learned, const clo_learned_argument *argument, const clo_infer_sizes *sizes,
                            void *memory);

/* What the network sees of the raw number of feature `feature`. */
int16_t clo_learned_feature(const clo_learned *learned, uint32_t feature, int64_t raw);
/* Part i of a feature that stands as several numbers: clo_feature_part. */
int16_t clo_learned_part(const clo_learned *learned, uint32_t feature, uint32_t i, int64_t raw);

/* Index of the best (or drawn) one of learned->candidates [count], whose keys are filled in. CLO_NONE: the bound of the
 * decision is reached. */
uint32_t clo_learned_stage(clo_learned *learned, const clo_view *view, const clo_model_case *input, uint32_t count);

/* The best (or drawn) limit 0 .. count - 1 of a job of the case; learned->limit_inputs is filled in. CLO_NONE: as
 * above. */
uint32_t clo_learned_limit(clo_learned *learned, const clo_view *view, uint32_t job, uint32_t count);

/* parse and release of a policy with a clo_learned_argument. */
clo_status clo_learned_parse(const char *text, void *argument);
/* parse for another policy, which messages name. */
clo_status clo_learned_read_text(const char *policy, const char *text, void *argument);
void clo_learned_release(const void *argument);

#endif
