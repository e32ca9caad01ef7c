/* plan/list/response.h - of the tasks that wait, the one with the highest response ratio, (wait + time) / time.
 *
 * The ratios grow at different speeds, so the order changes while nothing happens. The tasks are the leaves of a
 * tournament; each match knows until when its result holds, and the matches above know the earliest of these. What does
 * not hold any more is played again (a kinetic tournament: Basch, Guibas, Hershberger 1999). Exact, in integers. */
#ifndef CLO_PLAN_LIST_RESPONSE_H
#define CLO_PLAN_LIST_RESPONSE_H

#include "cost/cost.h"

/* A result, and until when it and those below it hold. winner CLO_NONE: nobody waits there. */
typedef struct clo_match {
    int64_t until_ns;
    uint32_t winner;
} clo_match;

typedef struct clo_response {
    const clo_cost *cost;
    uint32_t leaves;    /* a power of two */
    clo_match *matches; /* [2 * leaves] the final at 1, task t at leaves + t */
    int64_t *since_ns;  /* [tasks] since when it waits */
    void *block;
} clo_response;

/* Nobody waits. Returns CLO_OK or CLO_ERR_MEMORY; close it in any case. */
clo_status clo_response_open(clo_response *response, const clo_cost *cost);
void clo_response_close(clo_response *response);

/* now_ns never falls from call to call. O(log tasks). */
void clo_response_add(clo_response *response, uint32_t task, int64_t since_ns, int64_t now_ns);
void clo_response_remove(clo_response *response, uint32_t task, int64_t now_ns);

/* Ties: the lowest task; CLO_NONE: nobody waits. O(log tasks) for each result that has changed. */
uint32_t clo_response_first(clo_response *response, int64_t now_ns);

#endif
