/* planner_file.h - planners of the user's own, from shared objects: `--planner ./mine.so`. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_PLANNER_FILE_H
#define CLO_TOOLS_CLOTHO_COMMON_PLANNER_FILE_H

#include <stdbool.h>

/* What looks like a file: it has a '/' or ends in ".so". */
bool is_planner_file(const char *name);

/* Loads the object, registers the planner that it exports as `const clo_planner clotho_planner` (clotho/planner.h), and
 * makes *name that planner's name. The object stays loaded. Returns an exit code. */
int load_planner(const char **name);

#endif
