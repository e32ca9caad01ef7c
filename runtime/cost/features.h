/* cost/features.h - the figures of a job's stages for a network (learn/infer/lachesis_features.h). */
#ifndef CLO_COST_FEATURES_H
#define CLO_COST_FEATURES_H

#include "library.h"

#include <clotho/cost.h>

/* Fills clo_stage_figures whose arrays follow each other: those of times in `times`, [5][tasks], the others in
 * `counts`, [2][tasks]. O(tasks + edges). */
CLO_INTERNAL void clo_cost_figures(const clo_cost *cost, int64_t *times, uint32_t *counts);

#endif
