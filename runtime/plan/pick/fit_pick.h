/* plan/pick/fit_pick.h - of all ready tasks with demands, the one with the least key: ETF, DLS and min-min.
 *
 * The key of a task is its earliest start, or its earliest end and an offset of the task, on any executor, appended.
 * Whatever begins at a time fits into what is free then. So the steps of each machine's profile are passed in the order
 * of time; in each one, those tasks are looked at that fit (fits.h), those with the least keys first, until what is
 * left cannot win.
 *
 * A start only moves back. So what the last look found of a task is a bound for ever; and a task that cannot begin in a
 * step never will. Time is divided into spans, each with the first position whose task may begin in it: what lies in
 * the past, and in holes that are too short, is one span for most of the time, and is passed at once. */
#ifndef CLO_PLAN_PICK_FIT_PICK_H
#define CLO_PLAN_PICK_FIT_PICK_H

#include "plan/pick/fits.h"
#include "plan/schedule/ready.h"

/* Nothing that is ready and stands before position `first` begins in [begin_ns, end_ns). */
typedef struct clo_fit_span {
    int64_t begin_ns, end_ns;
    uint32_t first;
} clo_fit_span;

/* Spans that follow on each other, from 0 to INT64_MAX. */
typedef struct clo_fit_spans {
    void *list; /* clo_fit_span [count] */
    size_t count, capacity;
} clo_fit_spans;

typedef struct clo_fit_pick {
    clo_ready *ready;
    bool by_start;            /* the key is the start; else the end and the offset */
    const int64_t *offset_ns; /* [tasks] */
    const uint32_t *place;    /* [tasks] of equal keys the lowest first */
    uint32_t *task_at;        /* [tasks] by position: by least_ns, then by place */
    uint32_t *position;       /* [tasks] */
    int64_t *least_ns;        /* [tasks] by position: the key is at least the start and this */
    int64_t *tails_ns;        /* [columns][tasks] the least time there and offset from a position on; by end only */
    int64_t *times_ns;        /* [tasks] the least time of all from a position on */
    int64_t *begins_ns;       /* [columns] scratch: when an executor of a column may begin in a step */
    uint32_t *able; /* [able_count] scratch: the executors of its machine that may begin something in a step */
    uint32_t able_count;
    int64_t *known_ns;    /* [tasks] the start, or the end, that was found last; it only rises */
    int64_t *least_known; /* [tasks / 64] of those that are ready, the least key by known_ns; INT64_MAX: none */
    clo_fit_spans *spans; /* [machines] */
    clo_fit_spans spare;  /* in which new ones are made */
    clo_fits fits;
    void *block;
} clo_fit_pick;

/* Nothing is ready. All is borrowed; offset_ns NULL: by start. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_fit_pick_open(clo_fit_pick *pick, clo_ready *ready, const int64_t *offset_ns, const uint32_t *place);
void clo_fit_pick_close(clo_fit_pick *pick);

/* The task's producers are placed. */
void clo_fit_pick_add(clo_fit_pick *pick, uint32_t task);

/* Places an instance of the best task; one is ready. Returns CLO_OK or what clo_schedule_place does. */
clo_status clo_fit_pick_place(clo_fit_pick *pick);

#endif
