/* plan/pick/fits.h - which of many tasks demand no more than what is free.
 *
 * Tasks stand at positions, in an order of the caller's. For each resource there are some amounts, and for each of
 * those a set of the positions that demand no more, a bit each. What fits is in one set of each resource: so 64 tasks
 * are left out by a few words, and the first task in the order that fits is found without a look at those before it.
 * O(tasks / 64) a question in the worst case, but with a small factor: 1000 words of 64 000 tasks. An exact answer in
 * O(log tasks) is not to be had for several resources: it is a search for dominance. */
#ifndef CLO_PLAN_PICK_FITS_H
#define CLO_PLAN_PICK_FITS_H

#include "cost/cost.h"
#include "plan/pick/levels.h"

/* Amounts of each resource; few tasks are compared one by one. */
#define CLO_FITS_AMOUNTS 32u
#define CLO_FITS_FEW 256u

typedef struct clo_fits {
    uint32_t count, words;
    uint32_t resources;                   /* that some task demands */
    uint32_t of[CLO_RESOURCES_MAX];       /* [resources] in the graph's order */
    clo_levels levels[CLO_RESOURCES_MAX]; /* [resources] of the demands; none for few tasks */
    bool has_levels;
    uint64_t *present; /* [words] positions that are asked about */
    uint64_t *filled;  /* [words / 64] words of `present` that are not 0 */
    int64_t *demands;  /* [count][resources] */
    void *block;
} clo_fits;

/* A question: what demands no more than `room`? */
typedef struct clo_fits_question {
    int64_t room[CLO_RESOURCES_MAX];         /* [resources] */
    const uint64_t *sets[CLO_RESOURCES_MAX]; /* [sets_count]: what may fit is in all of them */
    uint32_t sets_count;
} clo_fits_question;

/* Nothing is present. task_at [tasks]: the tasks in the order of their positions. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_fits_open(clo_fits *fits, const clo_cost *cost, const uint32_t *task_at);
void clo_fits_close(clo_fits *fits);

void clo_fits_add(clo_fits *fits, uint32_t position);
void clo_fits_remove(clo_fits *fits, uint32_t position);

/* Completes a question whose room is set. */
void clo_fits_ask(const clo_fits *fits, clo_fits_question *question);

/* The first position in [from, end) that is present and fits; `end`: there is none. */
uint32_t clo_fits_next(const clo_fits *fits, const clo_fits_question *question, uint32_t from, uint32_t end);

/* The first position from `from` on that is present; `count`: there is none. */
uint32_t clo_fits_first(const clo_fits *fits, uint32_t from);

#endif
