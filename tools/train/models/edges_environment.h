/* edges_environment.h - adding edges as decisions: a start, then an end behind it. */
#ifndef CLO_TOOLS_TRAIN_MODELS_EDGES_ENVIRONMENT_H
#define CLO_TOOLS_TRAIN_MODELS_EDGES_ENVIRONMENT_H

#include "plan/edges/steps.h"
#include "train/rollout/environment.h"

enum { EDGES_JOBS_MAX = 100, EDGES_GRAPHS_MAX = 4096 };

/* What instances are made of. A seed draws how many jobs, with replacement which ones, how much of the machine's one
 * resource each task holds (up to a share that is drawn too), and whether times are those of the graphs or even
 * ones. */
typedef struct edges_world {
    /* Sealed; the first instance of each task alone counts. [graphs_count] */
    const clo_graph *graphs[EDGES_GRAPHS_MAX];
    uint32_t graphs_count;
    uint32_t jobs_least, jobs_most;
    /* That are tried in an episode. */
    uint32_t edges;
    clo_edges_rule rule;
    /* The seed draws the rule instead. */
    bool has_any_rule;
} edges_world;

/* Copy it and set its argument to an edges_world, which lives as long; the reward of an edge is what the makespan falls
 * by, in percent of that without edges. An edge that makes it no shorter is taken away again, is worth 0 and cannot be
 * chosen from then on: so a search goes about it. The first choice of an edge, its start, has the reward 0. */
extern const train_environment edges_environment;

/* The instance of a seed, sealed, on its machine; NULL with clo_last_error: it cannot be made. */
clo_cost *edges_world_draw(const edges_world *world, uint64_t seed, clo_graph **graph, clo_platform **platform);

clo_edges_rule edges_world_rule(const edges_world *world, uint64_t seed);

#endif
