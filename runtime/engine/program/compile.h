/* engine/program/compile.h - makes a program of a graph, with a plan or without. */
#ifndef CLO_ENGINE_PROGRAM_COMPILE_H
#define CLO_ENGINE_PROGRAM_COMPILE_H

#include "base/arena.h"
#include "engine/program/program.h"
#include "library.h"

#include <clotho/plan.h>

/* placements NULL: steal. hedge_after_ns: [tasks], as in clo_job_config; NULL: nothing is hedged. Everything lies in
 * `arena`, which the caller closes, also after a failure. O(instances + edges), and under replay sorting; but where a
 * plan has replicas, the edges of tasks that have some cost n * m. Returns CLO_OK, CLO_ERR_INVALID, CLO_ERR_LIMIT,
 * CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_program_create(const clo_cost *cost, const clo_placement *placements, size_t count,
                                           const int64_t *hedge_after_ns, clo_arena *arena, clo_program **out);

/* The same for the real clock, where deep slots use their depth. */
CLO_INTERNAL clo_status clo_program_create_real(const clo_cost *cost, const clo_placement *placements, size_t count,
                                                const int64_t *hedge_after_ns, clo_arena *arena, clo_program **out);

/* The same for a policy, with room for the replicas that it may ask for. */
CLO_INTERNAL clo_status clo_program_create_policy(const clo_cost *cost, clo_arena *arena, clo_program **out);

#endif
