/* plan/search/sequence.h - a plan as one sequence of executions, copies included: each is appended to its executor, where
 * it starts as soon as that is free and its inputs are there. Any plan without needless waits is such a sequence, so a
 * search that moves executions in it reaches all of them, and times take one pass of a few nanoseconds an edge.
 *
 *     clo_sequence_read(snapshot) --> { change wishes --> clo_sequence_try --> clo_sequence_accept } --> clo_sequence_keep
 *
 * What is accepted is sorted by start, without copies that nobody reads, and with what follows each execution. */
#ifndef CLO_PLAN_SEARCH_SEQUENCE_H
#define CLO_PLAN_SEARCH_SEQUENCE_H

#include "plan/budget/budget.h"
#include "plan/search/sketch.h"

#define CLO_SEQUENCE_FREE UINT16_MAX

typedef struct clo_element {
    int64_t start_ns, finish_ns;
    uint32_t next; /* another execution of the task, ahead of this one; CLO_NONE: the first */
    uint16_t task, executor;
} clo_element;

/* What is to be appended. executor: CLO_SEQUENCE_FREE: where finish + free_later_ns is least, with a copy of the producer
 * whose data come last where that helps. */
typedef struct clo_wish {
    uint16_t task, executor;
} clo_wish;

/* Elements as they were appended. */
typedef struct clo_sequence_part {
    clo_element *elements; /* [count]                                     */
    uint32_t *newest;      /* [tasks] the last element of each; CLO_NONE  */
    uint32_t count;
    int64_t makespan_ns;
} clo_sequence_part;

typedef struct clo_sequence {
    clo_sketch *sketch; /* its tables; what is placed there is not touched */
    const clo_graph *graph;
    uint32_t tasks, executors, capacity; /* capacity: of elements */
    clo_sequence_part now, trial;
    clo_wish *wishes; /* [wishes_count] */
    uint32_t wishes_count;
    int64_t *free_later_ns;           /* [tasks][executors] of free wishes                                     */
    int64_t *available_ns;            /* [executors] scratch                                                   */
    int64_t *tail_ns;                 /* [now.count] from its finish to the end of all; < 0: nobody reads it   */
    uint32_t *before, *behind, *last; /* [now.count] neighbours on the executor; [executors]                   */
    uint32_t *readers, *reader;       /* [now.count] how many read it; the first of them                       */
    uint32_t *critical;               /* [critical_count] on a longest path                                    */
    uint32_t critical_count;
    void *block;
} clo_sequence;

/* Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_sequence_open(clo_sequence *sequence, clo_sketch *sketch);
void clo_sequence_close(clo_sequence *sequence); /* a zeroed one is allowed */

/* now: the plan that is kept, at most as long. */
void clo_sequence_read(clo_sequence *sequence, const clo_snapshot *snapshot);

/* trial: of the wishes. False: it would end behind limit_ns, or time is up. */
bool clo_sequence_try(clo_sequence *sequence, int64_t limit_ns, const clo_budget *budget);

/* now: the trial. */
void clo_sequence_accept(clo_sequence *sequence);

/* Keeps it if it is shorter than what is kept. Executions of a task are not linked there (clo_snapshot_restore). */
void clo_sequence_keep(const clo_sequence *sequence, clo_snapshot *snapshot);

/* When data over `edge` (index into the graph's `in`) can be on an executor; *source: from which element. */
int64_t clo_sequence_arrival_ns(const clo_sequence *sequence, uint32_t edge, uint32_t executor, uint32_t *source);

/* What follows the end of a task through those that read this element, if it were on `executor`. *first: the first reader
 * that has no other copy in time; unchanged if there is none. */
int64_t clo_sequence_later_ns(const clo_sequence *sequence, uint32_t element, uint32_t executor, uint32_t *first);

static inline int64_t clo_sequence_time_ns(const clo_sequence *s, uint32_t task, uint32_t executor)
{
    return s->sketch->time_ns[(size_t)task * s->executors + executor];
}

/* True if one of the executions from `at` on is on the executor. */
static inline bool clo_sequence_is_on(const clo_element *elements, uint32_t at, uint32_t executor)
{
    for (; at != CLO_NONE; at = elements[at].next)
        if (elements[at].executor == executor)
            return true;
    return false;
}

static inline bool clo_sequence_has_copies(const clo_sequence *s, uint32_t task)
{
    return s->now.elements[s->now.newest[task]].next != CLO_NONE;
}

#endif
