/* fifo.c - first ready, first served: each free executor takes the oldest ready instance that it can run. The plainest
 * baseline, and what the runtime falls back to when a policy reaches its bound. */
#include "policy/policies.h"

static void fifo_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    (void)state; /* the view keeps the ready instances in this very order */
    (void)view;
    (void)instance;
    (void)by;
}

static uint32_t fifo_pick(void *state, const clo_view *view, uint32_t executor)
{
    (void)state;
    for (uint32_t i = clo_view_ready_first(view); i != CLO_NONE && clo_view_step(view);
         i = clo_view_ready_next(view, i))
        if (clo_view_execution_ns(view, i, executor) != CLO_TIME_NEVER)
            return i;
    return CLO_NONE;
}

const clo_policy clo_policy_fifo = {
    .name = "fifo",
    .summary = "oldest ready instance first, on whichever executor is free",
    .ready = fifo_ready,
    .pick = fifo_pick,
};
