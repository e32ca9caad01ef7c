/* plan/list/flb_pairs.h - the two pairs of FLB, one of which is placed next: an instance of type EP on its enabling
 * executor, or another one on the executor that is idle first. Both rules choose between them: flb.c (the paper's) and
 * flb_saga.c (SAGA's).
 *
 * A message counts over a mean link here; where and when inputs really are is the schedule's. */
#ifndef CLO_PLAN_LIST_FLB_PAIRS_H
#define CLO_PLAN_LIST_FLB_PAIRS_H

#include "plan/schedule/ready.h"

typedef struct clo_flb_message {
    /* When the last message arrives, over a mean link. */
    int64_t last_ns;
    /* When all inputs are on the enabling executor. */
    int64_t here_ns;
} clo_flb_message;

typedef struct clo_flb {
    /* Its heap: what is not of type EP, by last_ns. */
    clo_ready ready;
    /* [instances] */
    clo_flb_message *messages;
    /* [executors] when idle, for the choice of the idle one */
    int64_t *listed_ns;
    /* By piece of the links; the rest is 0. */
    uint64_t mean_ns_per_byte_q32[CLO_LINK_PIECES_MAX];
    /* Where the piece begins. */
    int64_t mean_latency_ns[CLO_LINK_PIECES_MAX];
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

#endif
