/* plan/ports/insert.h - list scheduling that also schedules the messages: Sinnen and Sousa, "Communication contention
 * in task scheduling", IEEE TPDS 16(6), 2005, section 5, with ports for the edges of their topology graph. */
#ifndef CLO_PLAN_PORTS_INSERT_H
#define CLO_PLAN_PORTS_INSERT_H

#include "plan/schedule/schedule.h"

/* Fills an empty schedule, of a platform with ports. Each instance, by falling rank_u, goes where it ends first, if its
 * messages are inserted where both ports have room: a message holds what it leaves and what it enters for as long as
 * either moves it (bounded multi-port), and one that a machine has is not sent again. Its times are an estimate,
 * without fair shares; clo_ports_count gives those of the plan.
 *
 * Returns CLO_OK, CLO_ERR_MEMORY, or without a text CLO_ERR_LIMIT: too large for this, nothing is placed. O(pairs of
 * instances * (machines * blocks of a port + executors)). */
clo_status clo_ports_insert(clo_schedule *schedule);

#endif
