/* cost/columns.h - the columns of a cost (cost.h): which executors no task can tell apart. */
#ifndef CLO_COST_COLUMNS_H
#define CLO_COST_COLUMNS_H

#include "cost/cost.h"

/* columns, column_of, column_first and column_size, which have room for all executors; resources are matched. Columns
 * are numbered as they first come up. Returns CLO_OK or CLO_ERR_MEMORY. O(executors). */
CLO_NODISCARD clo_status clo_cost_find_columns(clo_cost *cost);

#endif
