/* engine/program/replicas.h - replicas that a policy asks for: room for them, and whose output a consumer reads.
 *
 * Sizes are known before a policy has chosen anything: each duplicable task of one instance that has successors may
 * have one replica in each source of data (clo_platform.source_of: a memory, or a part of its executors with links of
 * their own). So each of these has an execution, and an output, of its own; those that are never asked for cost memory
 * only.
 *
 * The thread that drives the scheduler notes who has ended, and when it hands out an execution it chooses for each
 * input the execution whose output is there first (LACHESIS, eq. 9), of those that have ended. What has not ended is
 * not waited for: when it will, nobody knows. */
#ifndef CLO_ENGINE_PROGRAM_REPLICAS_H
#define CLO_ENGINE_PROGRAM_REPLICAS_H

#include "base/arena.h"
#include "engine/program/program.h"
#include "library.h"

/* Who has ended; runs are numbered from 1. */
typedef struct clo_replicas {
    const clo_program *program;
    /* [executions] the last run in which it has ended; NULL: the program has no room for replicas. */
    uint64_t *ended;
    /* [tasks] the last run in which a replica of it has ended. */
    uint64_t *replicated;
    uint64_t run;
} clo_replicas;

/* Sets replica_first, replica_of, has_replica, `executions` and `sources` of a program without a plan, whose rows are
 * not there yet. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_replicas_reserve(clo_program *program, clo_arena *arena);

/* The table of chosen sources: originals, to begin with. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_replicas_table(clo_program *program, clo_arena *arena);

/* Begins the first run. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_replicas_create(clo_replicas *replicas, const clo_program *program, clo_arena *arena);

/* The execution has ended. Before whoever reads it is handed out; by one thread at a time. */
CLO_INTERNAL void clo_replicas_note(clo_replicas *replicas, uint32_t execution);

/* Chooses the sources of `execution`, which is to run on `executor`; transfers begin no earlier than decided_ns. By the
 * thread that notes. O(inputs), and for inputs with replicas O(sources) each. */
void clo_replicas_choose(const clo_replicas *replicas, uint32_t execution, uint32_t executor, const uint32_t *ran_on,
                         const int64_t *finish_ns, int64_t decided_ns);

#endif
