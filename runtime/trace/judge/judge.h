/* trace/judge/judge.h - what the passes of the stream checker share: the jobs, their shapes, the executions, and how a
 * fault is reported.
 *
 * Nothing here includes a header of the scheduler, the policies, the drivers or the planners, and the graph, the cost
 * and the platform are read through their public calls only.
 *
 * A pass reads what the passes before it made (trace/check/stream_check.c has the order). Faults do not stop a pass;
 * what makes a record senseless (ids that do not exist) takes it out of all later passes. */
#ifndef CLO_TRACE_JUDGE_JUDGE_H
#define CLO_TRACE_JUDGE_JUDGE_H

#include <clotho/stream_check.h>

typedef struct clo_judge_edge {
    uint32_t from, to;
    uint64_t pair_bytes; /* from one instance to one instance: a part of the edge's bytes, rounded up */
    uint32_t arm;        /* of the branch that it comes from; CLO_NONE: it is of none */
    bool only_orders;    /* it follows from the use of a handle, and skips nobody */
} clo_judge_edge;

/* What the jobs of one cost have in common. */
typedef struct clo_judge_shape {
    const clo_cost *cost;
    const clo_graph *graph;
    uint32_t stages, edges, instances;
    uint32_t *first_instance; /* [stages + 1] instances are numbered task by task   */
    uint8_t *duplicable;      /* [stages]                                           */
    int64_t *demand;          /* [stages * CLO_RESOURCES_MAX] by the platform's resources; NULL: nobody demands any */
    uint32_t roots;           /* stages without predecessors                        */
    uint32_t *edges_first;    /* [stages + 1] into edge_rows, by producer           */
    clo_judge_edge *edge_rows;

    /* Of a graph with branches; else all are NULL. [stages] arms of each, 0: it is no branch; edges into it that may
     * be dead; whether it is a merge; the stages so that producers stand first. */
    uint32_t *arms, *in_count, *order;
    uint8_t *is_merge;
} clo_judge_shape;

/* One job of the workload, and what became of it. Records are indices; CLO_NONE: there is none. */
typedef struct clo_judge_job {
    uint32_t shape;
    uint32_t arrive_record, cancel_record, done_record;
    uint32_t limit;        /* now                                                        */
    uint32_t has_limit;    /* 1: it had one at some time                                 */
    uint32_t highest;      /* of all limits that it had; 0: at some time it had none     */
    uint32_t is_early;     /* 1: something of it ended after its DONE                    */
    uint32_t done_value;   /* CLO_LOG_DONE_...                                           */
    uint32_t first, count; /* its executions: by_job[first] .. by_job[first + count - 1] */
    int64_t arrived_ns;
    int64_t done_ns;        /* of DONE                                                 */
    int64_t last_finish_ns; /* INT64_MIN: nothing finished                             */
    uint32_t entered;       /* stages without predecessors that are ready, as ARRIVE and ENTER say */
    size_t stages_first;    /* of its rows in `arms` and `skipped`, if its graph has branches */
} clo_judge_job;

/* One START or COMMIT, with its FINISH. */
typedef struct clo_judge_execution {
    uint32_t job; /* index into jobs */
    uint32_t stage, instance, executor;
    uint32_t record, finish_record; /* finish_record CLO_NONE: it does not finish */
    uint32_t limit;                 /* of the job when it was decided             */
    uint32_t next;                  /* scratch of the passes                      */
    bool is_dropped;                /* it was committed, and is not run           */
    bool is_skipped;                /* a branch went on with another arm          */
    bool is_preempted;              /* it ends with PREEMPT, and goes on with the next execution of the instance */
    int64_t start_ns, finish_ns;    /* of the body                                */
} clo_judge_execution;

typedef struct clo_judge {
    const clo_stream_case *stream;
    const clo_platform *platform;
    const clo_log_header *about;
    const clo_log_record *records;
    uint32_t records_count;
    uint32_t executors, machines;
    bool has_exact_times; /* bodies take the time of the cost      */
    bool has_transfers;   /* inputs take the time of the transfer  */
    bool has_stretches;   /* something is preempted                */

    clo_judge_shape *shapes;
    uint32_t shapes_count;
    clo_judge_job *jobs; /* [jobs_count], in the order of the case */
    uint32_t jobs_count;
    uint32_t *job_table; /* open addressing: index + 1; 0: free    */
    uint32_t job_mask;
    uint64_t key[2]; /* of the hashes */

    uint32_t *arms;   /* what branches chose; CLO_NONE: nothing (arms.h) */
    uint8_t *skipped; /* who had to be skipped                           */

    clo_judge_execution *executions;
    uint32_t executions_count;
    uint32_t *by_job;       /* [executions_count] in order of job, then of record  */
    uint32_t *execution_of; /* [records_count] of START, COMMIT and FINISH; CLO_NONE: none */

    clo_stream_report report;
    char first_fault[CLO_STREAM_TEXT_BYTES];
} clo_judge;

/* Counts a fault and keeps its text while there is room. record CLO_NONE: none. */
void clo_judge_fault(clo_judge *judge, uint32_t kind, uint32_t record, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

enum { CLO_JUDGE_LABEL_BYTES = 200 };

/* "job 7: task 'x' instance 2 on executor 'e0' (replica)"; returns `text` [CLO_JUDGE_LABEL_BYTES]. */
const char *clo_judge_label(const clo_judge *judge, const clo_judge_execution *execution, char *text);

/* The same with ", from 5 to 9 ns". */
const char *clo_judge_label_times(const clo_judge *judge, const clo_judge_execution *execution, char *text);

/* Index of the job with this number; CLO_NONE: there is none. */
uint32_t clo_judge_find_job(const clo_judge *judge, uint64_t number);

static inline bool clo_judge_is_replica(const clo_judge *judge, const clo_judge_execution *execution)
{
    return (judge->records[execution->record].value & CLO_LOG_REPLICA) != 0;
}

/* From when on an execution holds its demands and counts against its job's limit: what was started at once from then
 * on, what was committed from the beginning of its body. */
static inline int64_t clo_judge_held_from(const clo_judge *judge, const clo_judge_execution *execution)
{
    const clo_log_record *decided = &judge->records[execution->record];

    return decided->what == CLO_LOG_START && decided->now_ns < execution->start_ns ? decided->now_ns
                                                                                   : execution->start_ns;
}

static inline const clo_judge_shape *clo_judge_shape_of(const clo_judge *judge, uint32_t job)
{
    return &judge->shapes[judge->jobs[job].shape];
}

/* Demand of a stage by the platform's resources; NULL: none. */
static inline const int64_t *clo_judge_demand(const clo_judge_shape *shape, uint32_t stage)
{
    return shape->demand != NULL ? &shape->demand[(size_t)stage * CLO_RESOURCES_MAX] : NULL;
}

/* The same of an execution: what is skipped demands nothing. */
static inline const int64_t *clo_judge_demand_of(const clo_judge *judge, const clo_judge_execution *x)
{
    return x->is_skipped ? NULL : clo_judge_demand(clo_judge_shape_of(judge, x->job), x->stage);
}

/* The number of the job in the log. */
static inline unsigned long long clo_judge_number(const clo_judge *judge, uint32_t job)
{
    return (unsigned long long)judge->stream->jobs[job].job;
}

#endif
