/* run/state/pair.h - an execution and its hedge (engine/program/hedges.h), as those see it who run one of them.
 *
 * The first that ends well wins (sync/protocol/first_wins.h): it releases whom the instance releases, and its output is
 * the instance's. The other one loses: if it has not begun it is skipped, if its body is pending it is cancelled, and
 * else it runs on to no effect. Whoever of the two is over last ends the pair; the job waits for that, so the loser
 * keeps its memory. hedge.h has what is done about it. */
#ifndef CLO_RUN_STATE_PAIR_H
#define CLO_RUN_STATE_PAIR_H

#include "run/state/job.h"
#include "sync/protocol/first_wins.h"

/* 0: the first; 1: its hedge. */
typedef struct clo_pair {
    clo_first_wins first_wins;
    /* Where each runs: written before it begins. */
    uint32_t executor[2];
    /* What its body returned; written before it is over. */
    int code[2];
} clo_pair;

static inline bool clo_pair_has(const clo_job *job, uint32_t execution)
{
    return job->has_extras && job->hedges.pairs != NULL && job->program->twin[execution] != CLO_NONE;
}

static inline bool clo_pair_is_hedge(const clo_job *job, uint32_t execution)
{
    return execution >= job->program->first_hedge;
}

/* Of an execution that clo_pair_has. */
static inline clo_pair *clo_pair_of(const clo_job *job, uint32_t execution)
{
    const clo_program *program = job->program;
    uint32_t hedge = clo_pair_is_hedge(job, execution) ? execution : program->twin[execution];

    return &job->hedges.pairs[hedge - program->first_hedge];
}

/* The other one of its pair has won. False for any other execution. */
static inline bool clo_pair_is_lost(const clo_job *job, uint32_t execution)
{
    return clo_pair_has(job, execution) &&
           clo_first_wins_is_lost(&clo_pair_of(job, execution)->first_wins, clo_pair_is_hedge(job, execution));
}

/* Before a run. Returns how many pairs there are. */
static inline uint32_t clo_pairs_begin(clo_job *job)
{
    uint32_t pairs = job->hedges.pairs == NULL ? 0 : job->program->executions - job->program->first_hedge;

    for (uint32_t i = 0; i < pairs; i++) {
        clo_first_wins_arm(&job->hedges.pairs[i].first_wins);
        job->hedges.pairs[i].code[0] = job->hedges.pairs[i].code[1] = 0;
    }
    return pairs;
}

#endif
