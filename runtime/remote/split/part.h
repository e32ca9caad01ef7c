/* remote/split/part.h - one machine's part of a split plan, as local.h describes it and makes it. */
#ifndef CLO_REMOTE_SPLIT_PART_H
#define CLO_REMOTE_SPLIT_PART_H

#include "remote/split/split.h"
#include "sync/protocol/countdown.h"
#include "sync/sleep/eventcount.h"
#include "sync/structure/stack.h"

#include <clotho/job.h>
#include <clotho/token.h>

typedef struct clo_local clo_local;

/* One execution of the machine. */
typedef struct clo_local_task {
    clo_local *local;
    uint32_t placement; /* of the plan */
    clo_task_fn body;   /* the original one; may be NULL */
    void *argument;
    int64_t expected_ns;
    uint32_t instances;    /* of the task */
    uint32_t inputs_count; /* 0 where no task of the graph has outputs */
    size_t first_input;    /* in clo_local.inputs */
    uint32_t first_send, sends_count;
    void *output;                /* since the body has begun */
    int64_t start_ns, finish_ns; /* on this machine's clock */
} clo_local_task;

/* One transfer to the machine. */
typedef struct clo_receive {
    clo_local *local;
    uint32_t transfer;
    void *buffer; /* NULL: no bytes */
    clo_token token;
    clo_countdown both; /* the message and the body: who comes second completes the token */
    int64_t arrived_ns; /* on this machine's clock; 0: not yet */
} clo_receive;

struct clo_local {
    const clo_split *split;
    uint32_t machine, first_executor;
    clo_platform *platform;
    clo_graph *graph; /* the tasks, then the receives */
    clo_cost *cost;
    clo_plan *plan;
    clo_local_task *tasks;
    uint32_t tasks_count;
    clo_receive *receives; /* in the order of their first use */
    uint32_t receives_count;
    uint32_t *receive_of;    /* [transfers]; CLO_NONE: not to this machine */
    uint32_t *task_of;       /* [placements]; CLO_NONE: not of this machine */
    const void **inputs;     /* of all tasks */
    size_t *inputs_bytes;    /* the same */
    uint32_t *input_source;  /* the same: task that it comes from; CLO_NONE: from elsewhere */
    uint32_t *input_receive; /* the same: receive that it comes by */
    size_t inputs_count;     /* of all tasks */
    uint32_t *sends;         /* of all tasks: transfers */
    uint32_t sends_count;
    unsigned char *buffers;
    clo_stack ready;            /* transfers whose output is there */
    uint64_t *links;            /* [transfers], of `ready`  */
    clo_eventcount *eventcount; /* rung when `ready` is not empty any more */
    bool has_outputs;           /* of the whole graph */
};

/* The next chain of transfers that may be sent, linked by local->links; CLO_ITEM_NONE: none. One thread. */
static inline uint64_t clo_local_take_ready(clo_local *local)
{
    return clo_stack_take(&local->ready);
}

/* What a transfer of this machine sends. */
static inline const void *clo_local_output(const clo_local *local, uint32_t transfer)
{
    return local->tasks[local->task_of[local->split->transfers[transfer].source]].output;
}

#endif
