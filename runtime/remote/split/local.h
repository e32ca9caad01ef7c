/* remote/split/local.h - one machine's part of a split plan, as a graph, a platform and a plan of its own, which run as
 * any other job:
 *
 *   - each execution that the plan gives to the machine is a task of one instance, on the same executor and in the same
 *     order. Its body hands the original body what it would have got on one machine.
 *   - each transfer to the machine is a task without work on a *slot* (platform.h): its body is pending until the
 *     message is there (clo_local_arrived), or returns at once where it came before. Messages go straight into the
 *     buffers that the consumers read. Slots take the transfers in turn, in the order in which the plan first uses
 *     them: one that is late holds up another only if a whole round of slots is between them. What a transfer waits for
 *     has an earlier place (clo_split.place) than its first use, so this cannot end in a circle.
 *   - sending is no task: when a body has returned, its transfers are put on a list (clo_local_take_ready) for the
 *     thread that sends. Outputs stay where they are until the next submit. */
#ifndef CLO_REMOTE_SPLIT_LOCAL_H
#define CLO_REMOTE_SPLIT_LOCAL_H

#include "remote/split/part.h"

/* slots_max: most transfers that are waited for at once. eventcount: borrowed. Returns CLO_OK, CLO_ERR_UNSUPPORTED (a
 * task may pend, the machine is not coherent), CLO_ERR_LIMIT, CLO_ERR_MEMORY; on a failure nothing is to be closed. */
clo_status clo_local_open(const clo_split *split, uint32_t machine, uint32_t slots_max, clo_eventcount *eventcount,
                          clo_local **out);
/* No job may use it any more. */
void clo_local_close(clo_local *local);

#endif
