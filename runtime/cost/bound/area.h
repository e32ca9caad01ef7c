/* cost/bound/area.h - how long the executors need for all the work, from below. */
#ifndef CLO_COST_BOUND_AREA_H
#define CLO_COST_BOUND_AREA_H

#include "cost/bound/work.h"

/* Fills work->weight for prices; returns their sum. */
uint64_t clo_bound_price(clo_bound_work *work, const clo_prices *prices);

/* Every executor costs the same. */
void clo_bound_equal_prices(const clo_bound_work *work, clo_prices *prices);

/* Finds good prices: work->best. Returns the area in Q<shift>; weights are left undefined. */
uint64_t clo_bound_best_prices(clo_bound_work *work);

#endif
