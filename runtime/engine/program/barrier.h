/* engine/program/barrier.h - which edges of a program go through barriers (program.h says what those are). */
#ifndef CLO_ENGINE_PROGRAM_BARRIER_H
#define CLO_ENGINE_PROGRAM_BARRIER_H

#include "base/arena.h"
#include "engine/program/program.h"

/* Sets barriers, barrier_of and barrier_task, from the graph and has_replica. Returns CLO_OK or CLO_ERR_MEMORY.
 * O(tasks + edges). */
clo_status clo_barriers_choose(clo_program *program, clo_arena *arena);

#endif
