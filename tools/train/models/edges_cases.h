/* edges_cases.h - decisions about edges, kept: for scales, golden vectors, and how often the integers choose alike. */
#ifndef CLO_TOOLS_TRAIN_MODELS_EDGES_CASES_H
#define CLO_TOOLS_TRAIN_MODELS_EDGES_CASES_H

#include "train/models/edges_environment.h"
#include "train/models/quantize.h"
#include "train/search/paired.h"

/* A decision: jobs for the network, and the rows that may be chosen. */
typedef struct edges_case {
    clo_model_case shape;
    uint32_t *rows;
    double *prior;
    uint32_t count;
    void *memory;
} edges_case;

/* Plays the episodes of `seeds` by the prior with noise, and keeps `count` decisions about tasks that a golden vector
 * has room for, in out[count]: one of `every`. Returns how many; fewer: out of memory, or the seeds have no more. */
uint32_t edges_cases_collect(const edges_world *world, const uint64_t *seeds, uint32_t seeds_count, uint32_t every,
                             edges_case *out, uint32_t count);
void edges_cases_free(edges_case *cases, uint32_t count);

/* The model of a trained network: scales from all cases, and the first ones as golden vectors. Returns as quantize. */
clo_status edges_quantize(network *net, const char *name, const edges_case *cases, uint32_t count, void **out,
                          size_t *bytes, const char **why);

/* Decisions with four candidates or more and no tie, and those where the model chooses as the network does. Returns
 * CLO_OK, or as clo_model_scores. */
clo_status edges_compare(network *net, const clo_model *model, const edges_case *cases, uint32_t count,
                         quantize_agreement *found);

/* What the model's greedy choices make the schedules of `seeds` shorter by, in percent, on average: the same that a
 * validation measures of the network. Returns CLO_OK, CLO_ERR_MEMORY, or as clo_model_scores: CLO_ERR_LIMIT for more
 * tasks than a golden vector may have. */
clo_status edges_validate(const edges_world *world, const clo_model *model, const uint64_t *seeds, uint32_t count,
                          double *percent);

/* Adds for each seed the makespan after the model's greedy choices to that after the network's in real numbers. Returns
 * as edges_validate. */
clo_status edges_compare_schedules(const edges_world *world, network *net, const clo_model *model,
                                   const uint64_t *seeds, uint32_t count, paired *out);

#endif
