/* options.h - what `clotho build` is asked for, and whether that makes sense. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_OPTIONS_H
#define CLO_TOOLS_CLOTHO_BUILD_OPTIONS_H

#include "clotho/build/tool.h"
#include "clotho/common/options.h"

#define NO_JOBS UINT32_MAX /* -j was not given */

typedef struct build_options {
    const char *file, *directory, *planner, *gantt, *page, *out, *policy;
    const char *trace, *load, *memory;
    build_tool tool;
    uint32_t jobs, failures;
    bool is_unlimited; /* -j0 */
    option_list debug, warnings;
    bool keeps_depfiles, keeps_responses, is_quiet;
    double load_most;
    int64_t memory_kib;
    bool is_dry, is_verbose, explains, plans, as_json, summarizes, leaves_makes, distributes, ends_servers;
    bool tells_version, counts;
} build_options;

/* For --help: what the command does; folder, examples, tools and keys. */
extern const char build_about[], build_notes[];
/* Checks what was read, and takes over what is text: modes, sizes, -j. Returns EXIT_GOOD, or EXIT_BAD_USAGE after an
 * error line. */
int build_options_check(build_options *o);

#endif
