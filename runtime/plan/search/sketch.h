/* plan/search/sketch.h - a partial schedule for searches, which build thousands: the same times as plan/schedule to the
 * nanosecond, with tables in place of calls. For graphs of single instances without demands. (An execution of length 0
 * may stand on a seam of two others here, where plan/schedule/timeline.h sees one block.)
 *
 *     clo_sketch_fits(schedule) --> clo_sketch_open --> { clo_sketch_clear, place.. } --> clo_sketch_keep
 *
 * Transfers are looked up in rows of (edge, from); a row is filled when it is first read. The executions of an executor
 * are a list in order of start: nearly all searches for a gap end at its tail. */
#ifndef CLO_PLAN_SEARCH_SKETCH_H
#define CLO_PLAN_SEARCH_SKETCH_H

#include "plan/schedule/schedule.h"

/* Neighbours of an execution on its executor; CLO_NONE: none. */
typedef struct clo_sketch_link {
    uint32_t before, behind;
} clo_sketch_link;

typedef struct clo_sketch {
    const clo_schedule *schedule; /* whose graph and platform it is for; nothing is placed there */
    const clo_graph *graph;
    uint32_t executors, capacity, count;
    bool may_copy;             /* false: DEFT's duplicates are left out                      */
    int64_t *time_ns;          /* [tasks][executors]; CLO_TIME_NEVER: not allowed there      */
    int64_t *transfer_ns;      /* [edges][from][to]                                          */
    uint8_t *is_row_known;     /* [edges][from]                                              */
    int64_t *behind_ns;        /* [tasks] clo_find_behind                                    */
    clo_execution *executions; /* [count] of [capacity]                                  */
    clo_sketch_link *links;    /* [count]                                                */
    uint32_t *first;           /* [tasks] the original; CLO_NONE: not placed             */
    uint32_t *tail;            /* [executors] the last execution                         */
    int64_t *available_ns;     /* [executors] the finish of that                        */
    int64_t *inputs_ns;        /* [tasks][executors] when all inputs of a task are there */
    uint8_t *is_inputs_known;  /* [tasks] inputs_ns is right: no input was copied since */
    /* [executors] of the task that is placed: latest (its inputs_ns) and second latest arrival, and whose the latest is */
    int64_t *ready_ns, *second_ns;
    uint32_t *critical;
    int64_t makespan_ns;
    void *block;
} clo_sketch;

/* behind_ns[tasks]: the shortest way from the end of each task to the end of all: fastest times, transfers for nothing. */
void clo_find_behind(const clo_cost *cost, int64_t *behind_ns);

/* True if a sketch can stand for the schedule: single instances, no demands, tables of moderate size, few tasks. */
bool clo_sketch_fits(const clo_schedule *schedule);

/* Returns CLO_OK or CLO_ERR_MEMORY. O(tasks * executors + edges), besides zeroing tables. */
clo_status clo_sketch_open(clo_sketch *sketch, const clo_schedule *schedule);
void clo_sketch_close(clo_sketch *sketch); /* a zeroed one is allowed */

/* Forgets all executions. */
void clo_sketch_clear(clo_sketch *sketch);

/* Places a task whose producers are placed as DEFT does, where finish + later_ns[executor] is least. Returns its
 * finish. */
int64_t clo_sketch_place(clo_sketch *sketch, uint32_t task, const int64_t *later_ns);

/* Fills a row of the table of transfers. */
const int64_t *clo_sketch_fill_row(clo_sketch *sketch, uint32_t edge, uint32_t from);

/* Of data over `edge` (index into the graph's `in`) from an executor to each: a row of that table. */
static inline const int64_t *clo_sketch_row(clo_sketch *s, uint32_t edge, uint32_t from)
{
    size_t at = (size_t)edge * s->executors + from;

    return s->is_row_known[at] ? &s->transfer_ns[at * s->executors] : clo_sketch_fill_row(s, edge, from);
}

/* True if what was just placed to end at finish_ns lets the whole end by limit_ns, as far as can be told. */
static inline bool clo_sketch_may_end(const clo_sketch *sketch, uint32_t task, int64_t finish_ns, int64_t limit_ns)
{
    return finish_ns <= limit_ns - sketch->behind_ns[task];
}

/* Keeps a whole schedule if it is shorter than what is kept; true if it is. */
bool clo_sketch_keep(clo_snapshot *snapshot, const clo_sketch *sketch);

#endif
