/* plan/list/flb.h - what the two rules of FLB share: flb.c (the paper's) and flb_saga.c (SAGA's).
 *
 * A message counts over a mean link here; where and when inputs really are is the schedule's. */
#ifndef CLO_PLAN_FLB_H
#define CLO_PLAN_FLB_H

#include "plan/schedule/ready.h"

typedef struct clo_flb_message {
    int64_t last_ns; /* when the last message arrives, over a mean link */
    int64_t here_ns; /* when all inputs are on the enabling executor     */
} clo_flb_message;

typedef struct clo_flb {
    clo_ready ready;                                    /* its heap: what is not of type EP, by last_ns        */
    clo_flb_message *messages;                          /* [instances]                                        */
    int64_t *listed_ns;                                 /* [executors] when idle, for the choice of the idle one */
    uint64_t mean_ns_per_byte_q32[CLO_LINK_PIECES_MAX]; /* by piece of the links; the rest is 0 */
    int64_t mean_latency_ns[CLO_LINK_PIECES_MAX];       /* where the piece begins */
    void *block;
} clo_flb;

/* Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_flb_open(clo_flb *flb, clo_schedule *schedule);
void clo_flb_close(clo_flb *flb);

/* The next ready instance of type EP and its enabling executor; those that are not go into the heap. False: none. */
bool clo_flb_next(clo_flb *flb, uint32_t *instance, uint32_t *enabling);

void clo_flb_push_other(clo_flb *flb, uint32_t instance);

/* An instance of type EP on its enabling executor; CLO_NONE: no place. */
clo_slot clo_flb_append(const clo_flb *flb, uint32_t instance, uint32_t enabling);

/* The first of those not of type EP on the executor that is idle first; its executor is CLO_NONE if there is none. */
clo_slot clo_flb_choose_other(const clo_flb *flb);

/* FLB with SAGA's rules, on platforms that follow its conventions. */
clo_status clo_flb_saga_fill(clo_schedule *schedule);

#endif
