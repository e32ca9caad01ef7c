/* tool.h - `clotho build -t NAME`: what ninja's tools print and do. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_TOOL_H
#define CLO_TOOLS_CLOTHO_BUILD_TOOL_H

#include "ninja/state/build.h"

#include <stdbool.h>

typedef struct build_tool {
    const char *name;
    char **words; /* operands, and options of the tool's own such as "-g" */
    int count;
    bool is_dry, is_verbose;
} build_tool;

/* `-t list`: prints the names of all tools. Returns EXIT_GOOD. */
int tool_list(void);
/* EXIT_GOOD, or the exit code after an error line: there is no such tool, or it has no such option. */
int tool_check(const build_tool *t);
/* Whether it changes files of the folder, so that no build may run there meanwhile. */
bool tool_writes(const build_tool *t);
/* Runs it in an open folder whose logs were not read yet. Returns an exit code; errors have been printed. */
int tool_run(build_folder *f, const build_tool *t);

#endif
