/* think.h - a thread that looks for a better order of a build's rest while the steps run.
 *
 * It copies the rest (rest.h), searches in the copy for a short while, and hands the order back: what has begun
 * meanwhile is left out, and the order is taken where it is still better than the other one. So nothing waits for the
 * search. It goes on as long as that is of use where the steps leave a CPU (live.h), else it is very short.
 *
 * Where CPUs are short, not memory, there is no such thread: the time of a step then depends on what runs beside it,
 * which the rest's schedule knows nothing of, and the orders that look best leave CPUs idle. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_THINK_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_THINK_H

#include "clotho/build_plan/live.h"
#include "clotho/build_plan/rest.h"

#include <pthread.h>

typedef struct build_think {
    build_live *live; /* borrowed */
    int64_t opened_ns;
    pthread_mutex_t lock; /* of all below, and of what `rest` points to */
    pthread_cond_t changed;
    uint32_t cpus;     /* that steps and searches share */
    build_rest *rest;  /* NULL: nothing to think about yet */
    int64_t behind_ns; /* the rest's clock, behind CLOCK_MONOTONIC */
    uint64_t changes;  /* steps have begun or ended */
    bool is_over;
    pthread_t thread;
    bool has_thread;
} build_think;

/* Begins the thread; where there can or shall be none nothing is improved. think_close before `rest` ends. */
void think_open(build_think *t, build_live *live);
void think_close(build_think *t);

/* The rest has changed, at a time of its clock. With the lock. */
void think_again(build_think *t, build_rest *rest, int64_t now_ns);

#endif
