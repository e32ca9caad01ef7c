/* policy/network/residual_network.h - a small network beside the policy "parametric": from what that policy does not
 * see of a job to a number that is added to what it decides by. List 5 of features, docs/MODELS.md.
 *
 * The numbers are coarse (a sixteenth of an octave), so that most rows were met before: answers are kept in a table. */
#ifndef CLO_POLICY_NETWORK_RESIDUAL_NETWORK_H
#define CLO_POLICY_NETWORK_RESIDUAL_NETWORK_H

#include "policy/network/answers.h"
#include "policy/select/select.h"

/* What the answer is added to. */
typedef enum clo_residual_kind {
    /* the value of a job, and the logarithm of its limit */
    CLO_RESIDUAL_JOB,
    /* the bonus of an executor that stays with its job, and of one that waits for what its job will have ready */
    CLO_RESIDUAL_OWN,
    CLO_RESIDUAL_WAIT
} clo_residual_kind;

/* In Q16 of an octave. The limit is 0 where another kind was asked for. */
typedef struct clo_residual_answer {
    int32_t value, limit;
} clo_residual_answer;

typedef struct clo_residual_job {
    uint32_t slot;
    /* executors that it has, or would have */
    uint32_t used;
    uint32_t jobs, executors;
    int64_t unit_ns;
} clo_residual_job;

/* Lies in memory of the policy's state; nothing is to be freed. */
typedef struct clo_residual clo_residual;

/* What its model is checked for. */
extern const clo_answers_kind clo_residual_answers;

/* Of a model that was checked. `memory`: so many bytes of zeros, anywhere. */
size_t clo_residual_bytes(const clo_model *model, uint32_t jobs);
clo_residual *clo_residual_open(const clo_residual_argument *argument, uint32_t jobs, void *memory);

/* Keeps the sums over live jobs. Before any question about the job. */
void clo_residual_event(clo_residual *residual, const clo_view *view, const clo_event *event);

/* The job's state begins with a clo_ranked. O(1). */
clo_residual_answer clo_residual_ask(clo_residual *residual, const clo_view *view, const clo_residual_job *job,
                                     clo_residual_kind kind);

#endif
