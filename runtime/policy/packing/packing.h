/* policy/packing/packing.h - how well an instance fits into what is free: what tetris, graphene, graphene-star,
 * easy-sjf and easy-parametric share.
 *
 * The fit is Tetris's alignment score (Grandl et al., "Multi-resource packing for cluster schedulers", SIGCOMM 2014,
 * section 3.2): the dot product of the demand and what is free on the machine, each as a share of the machine's
 * capacity. An executor is a demand too, of a resource of which all is free, so that the score is above 0 where nothing
 * is demanded. All in Q16 integers. */
#ifndef CLO_POLICY_PACKING_PACKING_H
#define CLO_POLICY_PACKING_PACKING_H

#include <clotho/policy.h>

/* An instance that may start now, and where. */
typedef struct clo_candidate {
    uint32_t job, stage, executor;
    uint32_t group;       /* the policy's */
    int64_t fit_q16;      /* above 0; less the penalty where inputs are elsewhere */
    int64_t remaining_ns; /* of the job */
    int64_t priority_q16; /* the policy's; at most 65536 */
    /* Machines where what is left is too little are passed over without asking them. Who asks and is refused may
     * become the one that waits there: for him the machine keeps room after some starts of others. */
    bool is_quiet;
    const int64_t *weights_q16; /* [CLO_RESOURCES_MAX] of the platform's resources, up to 128 each; NULL: all count 1 */
} clo_candidate;

/* What is left on the machine is enough for an instance of the stage. Asked before clo_view_fits, which lets who is refused
 * wait there. */
bool clo_packing_has_room(const clo_view *view, const clo_cost *cost, uint32_t stage, uint32_t machine);

/* The best place of the stage now: of the first executors of each machine that are free and have room, the one where it
 * fits best. Where it takes longer than it might, the fit is less by as much. `remote_q16`: the factor of the fit where its
 * inputs are not there yet. Sets executor, fit and remaining work. False: there is none. O(executors + 16 * inputs): 16 free
 * executors are compared, and 512 that are like the one before are passed over; no further ones are looked at then. */
bool clo_packing_place(const clo_view *view, clo_candidate *candidate, int64_t remote_q16);

/* How large the candidate is on its executor's machine: the weighted square of its demand as shares of the capacities,
 * in Q16. */
int64_t clo_packing_bulk(const clo_cost *cost, const clo_candidate *candidate);

/* The executor on whose machine the stage leaves least free (best fit); CLO_NONE: there is none. O(executors). */
uint32_t clo_packing_best_fit(const clo_view *view, uint32_t job, uint32_t stage);

/* The mean remaining work of the candidates, and their geometric mean, which one huge job does not move; at least 1.
 * `count` > 0. */
int64_t clo_packing_mean_ns(const clo_candidate *candidates, uint32_t count);
int64_t clo_packing_typical_ns(const clo_candidate *candidates, uint32_t count);

/* How much remaining work counts against the fit. */
typedef struct clo_packing_weight {
    int64_t weight_q16;
    int64_t typical_ns; /* the remaining work that counts as much as the mean fit, times the weight; > 0 */
} clo_packing_weight;

/* The candidate with the highest fit * priority - weight * (mean fit / typical remaining work) * remaining work, of
 * those of `group` (CLO_NONE: of all); the first of several. `count` > 0, and one at least is of the group. */
uint32_t clo_packing_best(const clo_candidate *candidates, uint32_t count, clo_packing_weight by, uint32_t group);

/* Where no candidate is known: the oldest ready stage of the band that may start. False: there is none, or the decision
 * has reached its bound. */
bool clo_packing_oldest(const clo_view *view, clo_choice *choice);

#endif
