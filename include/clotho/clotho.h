/* clotho.h - everything, and the words.
 *
 *   graph      tasks and edges; immutable once sealed.
 *   task       one function call with a cost; may have several instances.
 *   instance   one of the n identical executions of a task (a stage, a parallel loop).
 *   edge       "after", with the bytes that travel.
 *   job        one submitted run of a graph.
 *   platform   machines, executors, memories and links.
 *   machine    shared capacities: memory, bandwidth, power, network ...
 *   executor   a processing element: runs one task at a time, has a kind, a memory and speeds.
 *   link       the way between the memories of two executors: latency and bandwidth.
 *   cost       execution and transfer times of one graph on one platform.
 *   planner    makes a plan before the run (offline).
 *   plan       which executor runs which instance when.
 *   policy     decides during the run (online).
 *   view       what a policy may see.
 *   worker     the thread that drives an executor.
 *   replica    a duplicated execution of a task.
 *   trace      what happened, with times.
 *
 * Units: time is int64_t nanoseconds (`_ns`), data is bytes, speed is Q16
 * (65536 is the reference executor). The unit is the last word of a name. */
#ifndef CLOTHO_CLOTHO_H
#define CLOTHO_CLOTHO_H

#include <clotho/body.h>
#include <clotho/cost.h>
#include <clotho/generate.h>
#include <clotho/graph.h>
#include <clotho/io.h>
#include <clotho/job.h>
#include <clotho/plan.h>
#include <clotho/platform.h>
#include <clotho/policy.h>
#include <clotho/registry.h>
#include <clotho/runtime.h>
#include <clotho/sim.h>
#include <clotho/status.h>
#include <clotho/trace.h>

#endif
