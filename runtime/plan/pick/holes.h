/* plan/pick/holes.h - what the values of a ready task with demands may be, told without a search of the capacities.
 *
 * No task begins before so much is free as it demands. That time only moves back, so it is kept, and moved over those
 * of the last steps of the machines' occupancies that are too full: a bound from below. For max-min and sufferage, the
 * task ends no later than in a hole, and its second end is no later than in two holes on two executors. Holes are times
 * in which a task was found before; all that demands no more and takes no longer has room there too. So most tasks are
 * left out by some comparisons each. */
#ifndef CLO_PLAN_PICK_HOLES_H
#define CLO_PLAN_PICK_HOLES_H

#include "plan/pick/entry.h"

#define CLO_HOLES_STEPS 128u
#define CLO_HOLES_MAX 32u

/* From begin_ns to end_ns so much is free, and from begin_ns on the executor too. */
typedef struct clo_hole {
    int64_t begin_ns, end_ns;        /* end_ns -1: nothing has room */
    int64_t room[CLO_RESOURCES_MAX]; /* of the machine's counted resources */
    uint32_t executor;
    uint32_t hits; /* tasks that it helped to leave out, in this pick */
} clo_hole;

/* The last steps of a machine's occupancy. */
typedef struct clo_holes_machine {
    clo_occupancy_step steps[CLO_HOLES_STEPS]; /* [count] */
    uint32_t count;
    uint32_t last;   /* of `steps`, the one that was needed last: most tasks begin where others do */
    int64_t from_ns; /* where the steps begin */
    uint64_t seen;   /* the step of the row at which they were read */
} clo_holes_machine;

typedef struct clo_holes {
    clo_hole list[CLO_HOLES_MAX];
    uint32_t order[CLO_HOLES_MAX]; /* [count] of `list`, those that left out most in the last pick first */
    uint32_t count;
    clo_holes_machine *machines; /* [machines] */
} clo_holes;

/* Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_holes_open(clo_holes *holes, const clo_schedule *schedule);
void clo_holes_close(clo_holes *holes);

/* Before each pick. */
void clo_holes_renew(clo_holes *holes, const clo_row *row);

/* base_ns of the entry, raised to what is known now, or to something behind enough_ns. */
int64_t clo_holes_base_ns(clo_holes *holes, const clo_row *row, clo_row_entry *entry, int64_t enough_ns);

/* No value of the task is before this one, by base_ns. */
int64_t clo_holes_least_ns(const clo_row *row, const clo_row_entry *entry);

/* True if the earliest end is no later than limit_ns; for sufferage, if the second one is no more than that behind it.
 * The entry was looked at before. */
bool clo_holes_have_place(clo_holes *holes, const clo_row *row, clo_row_entry *entry, int64_t limit_ns);

/* Takes in what a look at an entry has found. */
void clo_holes_learn(clo_holes *holes, const clo_row *row, const clo_row_entry *entry);

#endif
