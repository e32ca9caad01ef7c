/* plan/pick/late_pick.h - of all ready tasks with demands, the one whose least end is the latest: max-min.
 *
 * Whoever is to win must not end before the best task that is known, anywhere. So what has room in a *hole*, a time in
 * which an executor has nothing to do and so much of each resource is free, and may end there early enough, is left
 * out: by words of 64 tasks (levels.h), for each hole and each of the values that count: the time on that executor,
 * what it demands, and when its inputs are there. What no hole is known to have room for is looked at, and what is
 * found there is one hole more. Holes are kept from one pick to the next, as few of them change.
 *
 * The least end of a task only rises. So the latest of those that were found before is a good first choice.
 * O(tasks / 64 * holes) a pick, with the few tasks that lie between two amounts of a value; the positions are made
 * anew when half of them are empty. */
#ifndef CLO_PLAN_PICK_LATE_PICK_H
#define CLO_PLAN_PICK_LATE_PICK_H

#include "plan/pick/levels.h"
#include "plan/schedule/ready.h"

#define CLO_HOLES 24u
#define CLO_LATE_AMOUNTS 64u

/* From begin_ns to end_ns so much is free, and from begin_ns on the executor too. */
typedef struct clo_hole {
    int64_t begin_ns, end_ns;
    int64_t room[CLO_RESOURCES_MAX]; /* of the machine's counted resources */
    uint32_t executor;
    uint32_t hits; /* words in which it left out tasks, in this pick */
} clo_hole;

typedef struct clo_late_pick {
    clo_ready *ready;
    uint32_t *task_at;  /* [count] by position, rising */
    uint32_t count;     /* positions */
    uint32_t left;      /* of these, with a task that is not placed */
    uint64_t *present;  /* [count / 64] those positions */
    int64_t *known_ns;  /* [count] the end that was found last; it only rises. -1: not present */
    uint32_t *latest;   /* [2 * leaves] a tree: the position with the latest known end below each node */
    uint32_t leaves;    /* a power of two */
    int64_t *inputs_ns; /* [count] when all inputs are on every executor that may run it */
    int64_t *times_ns;  /* [count] scratch */
    clo_levels by_inputs, by_demand[CLO_RESOURCES_MAX];
    clo_levels *by_time; /* [columns] made when they are wanted; words 0: not made */
    clo_hole holes[CLO_HOLES];
    uint32_t holes_count;
    int64_t *amounts; /* memory of the levels */
    uint64_t *sets;
    uint32_t set_words; /* the most of a set */
    void *block;
} clo_late_pick;

/* Nothing is ready; `ready` is borrowed. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_late_pick_open(clo_late_pick *pick, clo_ready *ready);
void clo_late_pick_close(clo_late_pick *pick);

/* Adds all tasks that clo_ready_next has; nothing is left of those before. */
void clo_late_pick_fill(clo_late_pick *pick);

/* Places an instance of the best task; one is left. Returns CLO_OK or what clo_schedule_place does. */
clo_status clo_late_pick_place(clo_late_pick *pick);

#endif
