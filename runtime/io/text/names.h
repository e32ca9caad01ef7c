/* io/text/names.h - the names of a graph's tasks as a table (base/names.h). */
#ifndef CLO_IO_TEXT_NAMES_H
#define CLO_IO_TEXT_NAMES_H

#include "base/names.h"

#include <clotho/graph.h>

/* All task names of a graph (unnamed tasks are left out). Returns 0, or -1 without memory. */
int clo_names_of_tasks(clo_names *names, const clo_graph *graph);

#endif
