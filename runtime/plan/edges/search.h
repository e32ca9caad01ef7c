/* plan/edges/search.h - beam search over added edges. */
#ifndef CLO_PLAN_EDGES_SEARCH_H
#define CLO_PLAN_EDGES_SEARCH_H

#include "plan/budget/budget.h"
#include "plan/edges/guide.h"

enum { CLO_EDGES_BEAM_MAX = 16 };

/* Searches until the budget is spent and leaves the best in `best`, which is open and clear. The config's seed and
 * limits are not looked at: those of the budget count. Returns CLO_OK, or as clo_edges_guided_open. */
clo_status clo_edges_search(clo_edges_room *room, const clo_edges_config *config, clo_budget *budget,
                            clo_edges_state *best);

#endif
