/* remote/split/split.h - a plan over several machines, cut at their borders: which outputs must travel, and from where.
 *
 * A consumer takes each input from where the plan says it arrives first (LACHESIS eq. 9), a replica on its own machine
 * before one of the same moment elsewhere. An output that some consumer of a machine takes from elsewhere is sent to
 * that machine once, whatever the number of its consumers there. Each rank makes the same split. */
#ifndef CLO_REMOTE_SPLIT_SPLIT_H
#define CLO_REMOTE_SPLIT_SPLIT_H

#include <clotho/cluster.h>
#include <clotho/plan.h>

/* The output of an instance, sent to one machine. Its index is its tag. */
typedef struct clo_transfer {
    uint32_t instance;
    uint32_t from, to; /* machines */
    uint32_t source;   /* the placement that is sent */
    uint64_t bytes;
    int64_t arrival_ns; /* planned, at the first of its consumers */
    int64_t rank_u;     /* the largest of its consumers */
    uint32_t first_use; /* place (clo_split.place) of the first of its consumers */
} clo_transfer;

typedef struct clo_split {
    const clo_cluster *cluster;
    const clo_cost *cost;
    const clo_placement *placements; /* of the plan */
    uint32_t placements_count;
    uint32_t *machine_of;      /* [executors] */
    uint32_t *place;           /* [placements] in the order of start, finish and dependences: no place waits for a later
                                  one, on whatever machine */
    uint32_t *executions;      /* placements, instance by instance  */
    uint32_t *first_execution; /* [instances + 1]                   */
    clo_transfer *transfers;   /* by (instance, to)                 */
    uint32_t transfers_count;
    uint64_t bytes; /* of all */
} clo_split;

/* cost: on the platform of the cluster; plan: valid (clo_plan_check). All borrowed until close. Returns CLO_OK,
 * CLO_ERR_ARGUMENT, CLO_ERR_LIMIT or CLO_ERR_MEMORY; on a failure nothing is to be closed. */
clo_status clo_split_open(const clo_cluster *cluster, const clo_cost *cost, const clo_plan *plan, clo_split *split);
void clo_split_close(clo_split *split);

/* Where the placement takes the output of a predecessor's instance from: a placement, which is on another machine where
 * the output travels. bytes: of that pair of instances. */
uint32_t clo_split_source(const clo_split *split, uint32_t placement, uint32_t instance, uint64_t bytes);

/* The transfer of an instance to a machine; CLO_NONE: there is none. */
uint32_t clo_split_transfer(const clo_split *split, uint32_t instance, uint32_t machine);

static inline uint32_t clo_split_machine(const clo_split *split, uint32_t placement)
{
    return split->machine_of[split->placements[placement].executor];
}

#endif
