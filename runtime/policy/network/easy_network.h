/* policy/network/easy_network.h - a small network beside "easy-parametric": what it sees of the instances that may start,
 * and what it adds: to the score of each, and to whether it may start now. So it can let an instance wait that has room,
 * for one that has not come or fits better. List 6 of features, docs/MODELS.md. */
#ifndef CLO_POLICY_NETWORK_EASY_NETWORK_H
#define CLO_POLICY_NETWORK_EASY_NETWORK_H

#include "policy/network/answers.h"
#include "policy/packing/packing.h"

/* Looked at are so many ready stages of each of so many jobs. */
enum {
    CLO_EASY_LOOKED_JOBS = 16,
    CLO_EASY_LOOKED_STAGES = 4,
    CLO_EASY_CANDIDATES_MAX = CLO_EASY_LOOKED_JOBS * CLO_EASY_LOOKED_STAGES
};

/* An instance that may start. Logarithms are to base 2, in Q16, of ns or counts (areas: of ns times shares). */
typedef struct clo_easy_candidate {
    clo_candidate at;
    int32_t work_log, area_log, time_log, behind_log, ready_log;
    int64_t score;  /* Q32: what the numbers say */
    int64_t may;    /* Q32: it may start if that and what a network says are above 0 */
    uint32_t place; /* of its job in the order, from 1 */
    bool delays;    /* the job that room is kept for */
    bool is_held;   /* set while one is chosen */
} clo_easy_candidate;

/* Lies in memory of the policy's state; nothing is to be freed. */
typedef struct clo_easy_network clo_easy_network;

/* What a decision knows. */
typedef struct clo_easy_choice {
    clo_easy_network *network; /* NULL: the rule decides alone */
    clo_easy_candidate list[CLO_EASY_CANDIDATES_MAX];
    uint32_t count, jobs; /* jobs: that were looked at */
    int32_t unit_log;     /* the mean work of the jobs that came */
    int32_t wait_log, first_log;
    bool has_kept;        /* room: the two before say for how long, and the work of its job */
    int32_t typical_log;  /* of the candidates: work_log */
    int64_t mean_fit_q16; /* and fit */
} clo_easy_choice;

/* What its model is checked for. */
extern const clo_answers_kind clo_easy_answers;

/* Of a model that was checked. `memory`: so many bytes of zeros, anywhere. */
size_t clo_easy_network_bytes(const clo_model *model);
clo_easy_network *clo_easy_network_open(const clo_residual_argument *argument, void *memory);

/* The same with the built-in model. `memory`: so many bytes of zeros, at a multiple of 16. */
size_t clo_easy_network_built_in_bytes(void);
clo_easy_network *clo_easy_network_built_in(void *memory);

/* What is added to the score of each candidate, in Q16 of an octave; scores[] are 0 before. Nothing is added where a
 * feature of one is beyond the ranges of training: then the rule decides alone. O(candidates), and the executors once for
 * each change of machine from one to the next. */
void clo_easy_network_scores(clo_easy_network *network, const clo_view *view, const clo_easy_choice *choice,
                             int32_t *scores);

/* Candidate i of the choice that scores were asked for may start now: by the rule and the network together; or it delays
 * nobody, and ends before anything else does that could be waited for; or there is nothing to wait for, and the rule lets
 * it. */
bool clo_easy_network_lets(clo_easy_network *network, const clo_easy_choice *choice, uint32_t i);

/* Where all were held back, when to ask again at the latest (clo_choice.wake_ns): what they wait for would be late. */
int64_t clo_easy_network_wake_ns(const clo_easy_network *network, const clo_view *view);

#endif
