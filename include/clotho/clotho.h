/* clotho.h - all headers of the library, and the words they use. Every word has one meaning everywhere.
 *
 *   graph      tasks and edges. Immutable once sealed.
 *   task       a function with a cost. May have several instances.
 *   instance   one of the n equal parts of a task (a stage, a parallel loop).
 *   edge       makes a task run after another one, and carries bytes. Each instance of one waits for all of the other.
 *   job        one submitted run of a graph.
 *   release    one run of a periodic job.
 *   workload   a list of jobs that arrive over time.
 *   platform   machines, executors, memories and links.
 *   machine    owns executors and shared capacities: memory, memory bandwidth, power, network ...
 *   cluster    several machines as one platform, with the links between them.
 *   executor   a processing element. Runs one task at a time; has a kind, a memory and speeds.
 *   kind       a class of equal executors, by name: "a53", "gpu" ...
 *   memory     where an executor keeps outputs. Executors that share one exchange data for free.
 *   link       connects the memories of two executors: latency and bandwidth.
 *   resource   something that machines have a capacity of and tasks demand: memory, power ...
 *   cost       execution and transfer times of one graph on one platform.
 *   planner    makes a plan before the run (offline).
 *   plan       says which executor runs which instance when.
 *   policy     decides during the run (online): a table of functions.
 *   view       what a policy may see.
 *   runtime    owns the workers of a platform.
 *   worker     the thread that drives one executor.
 *   execution  one run of the body of an instance: the original or a replica.
 *   replica    an execution of an instance beside the original. Its task must be duplicable.
 *   range      the instances that one call of a body serves, where the task has a grain; planned like one instance.
 *   handle     named data that tasks use in place; edges follow from how they use it.
 *   branch     a task with arms. While the graph runs, one arm is chosen to go on; the others are skipped.
 *   arm        edges of a branch that go on together, or are dead together.
 *   merge      a task that runs if any edge into it is alive.
 *   token      the right to complete an execution whose body has returned before its work was done.
 *   trace      the executions of a run, with their times.
 *   log        the inputs and the decisions of a scheduler, in order. Its inputs repeat the run.
 *   makespan   the time from the start of a run to its last finish.
 *   emulated   with times that are not measured on this machine: see clo_clock.
 *   codelet    what a task runs: equal codelets take equal times on executors of one kind.
 *   profile    what codelets take on which kinds of executors, as measured.
 *   document   a graph from a file, with what else the file carries.
 *   registry   a list of names that the library knows: planners, policies, platforms, formats, families.
 *
 * Most programs need twelve headers first: status.h (what every call returns), graph.h (tasks and edges), platform.h
 * (executors and links), cost.h (times of a graph on a platform), planner.h and plan.h (decisions before the run),
 * policy.h (decisions during the run), runtime.h and job.h (runs), trace.h (what happened), sim.h (runs in virtual
 * time), and io.h (files). The other headers:
 *
 *   releases in flight     pipeline.h
 *   tasks and their data   branch.h, handle.h, token.h, body.h, generate.h
 *   jobs over time         workload.h, stream.h, stream_check.h, log.h, admission.h, synch.h, follow.h
 *   accelerators           device.h
 *   measured times         profile.h, memory.h
 *   times of simulations   environment.h, waves.h
 *   another's cluster      service.h, session.h
 *   learned decisions      model.h, learned.h, edges.h
 *   several machines       cluster.h
 *   pictures               report.h
 *   names and files        registry.h, file.h
 *
 * Units: time is int64_t nanoseconds (`_ns`), data is bytes (`_bytes`), speed is Q16 (65536 is the reference executor).
 * The unit is the last word of a name. How the comments name threads and real time: see status.h. */
#ifndef CLOTHO_CLOTHO_H
#define CLOTHO_CLOTHO_H

#include <clotho/admission.h>
#include <clotho/body.h>
#include <clotho/branch.h>
#include <clotho/cluster.h>
#include <clotho/cost.h>
#include <clotho/device.h>
#include <clotho/edges.h>
#include <clotho/environment.h>
#include <clotho/file.h>
#include <clotho/flight.h>
#include <clotho/follow.h>
#include <clotho/generate.h>
#include <clotho/graph.h>
#include <clotho/handle.h>
#include <clotho/io.h>
#include <clotho/job.h>
#include <clotho/learned.h>
#include <clotho/log.h>
#include <clotho/memory.h>
#include <clotho/model.h>
#include <clotho/pipeline.h>
#include <clotho/plan.h>
#include <clotho/planner.h>
#include <clotho/platform.h>
#include <clotho/policy.h>
#include <clotho/profile.h>
#include <clotho/registry.h>
#include <clotho/report.h>
#include <clotho/runtime.h>
#include <clotho/service.h>
#include <clotho/session.h>
#include <clotho/sim.h>
#include <clotho/status.h>
#include <clotho/stream.h>
#include <clotho/stream_check.h>
#include <clotho/synch.h>
#include <clotho/token.h>
#include <clotho/trace.h>
#include <clotho/waves.h>
#include <clotho/workload.h>

#endif
