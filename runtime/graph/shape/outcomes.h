/* graph/shape/outcomes.h - which tasks run in outcomes that are drawn with the chances of the branches
 * (clotho/branch.h).
 *
 * CLO_OUTCOMES of them, one in each bit: so the rule of clotho/branch.h is worked out for 64 at a time, and what goes
 * together is known: of two tasks behind the same arm either both run or none. Of each branch as many outcomes as its
 * chances say go on with each arm, to the nearest one. The same outcomes each time, and on every machine. */
#ifndef CLO_GRAPH_SHAPE_OUTCOMES_H
#define CLO_GRAPH_SHAPE_OUTCOMES_H

#include "graph/graph.h"
#include "library.h"

enum { CLO_OUTCOMES = 1024, CLO_OUTCOME_WORDS = CLO_OUTCOMES / 64 };

typedef struct clo_outcomes {
    uint64_t *runs; /* [tasks * CLO_OUTCOME_WORDS] bit o % 64 of word o / 64: the task runs in outcome o */
    void *block;
} clo_outcomes;

/* Of a sealed graph. Returns CLO_OK or CLO_ERR_MEMORY. O(CLO_OUTCOME_WORDS * edges + CLO_OUTCOMES * branches). */
CLO_INTERNAL clo_status clo_outcomes_open(clo_outcomes *outcomes, const clo_graph *graph);
CLO_INTERNAL void clo_outcomes_close(clo_outcomes *outcomes);

/* In how many of them the task runs: 0 .. CLO_OUTCOMES. */
CLO_INTERNAL uint32_t clo_outcomes_count(const clo_outcomes *outcomes, uint32_t task);

static inline bool clo_outcomes_has(const clo_outcomes *outcomes, uint32_t task, uint32_t outcome)
{
    return (outcomes->runs[(size_t)task * CLO_OUTCOME_WORDS + outcome / 64] >> (outcome % 64) & 1) != 0;
}

#endif
