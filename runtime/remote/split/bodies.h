/* remote/split/bodies.h - what the tasks of a machine's part run. */
#ifndef CLO_REMOTE_SPLIT_BODIES_H
#define CLO_REMOTE_SPLIT_BODIES_H

#include "remote/split/part.h"

/* clo_task.argument: clo_local_task. */
int clo_local_execute(const clo_call *call);

/* clo_task.argument: clo_receive. */
int clo_local_await(const clo_call *call);

/* The message of a receive is in its buffer. One thread. */
void clo_local_arrived(clo_receive *receive, int64_t now_ns);

#endif
