/* finish.h - what stands around a command: folders and the response file before it; restat, discovered inputs and the
 * logs after it. The caller lets no two threads in at once. */
#ifndef CLO_TOOLS_NINJA_STEP_FINISH_H
#define CLO_TOOLS_NINJA_STEP_FINISH_H

#include "ninja/logs/discover.h"
#include "ninja/state/build.h"
#include "ninja/text/spool.h"

/* Opens both logs for writing, in their folder, unless they are open. Returns false with the manifest's error set, as
 * do all of these. */
bool finish_open_logs(build_folder *f);

/* The time by the clock of files, for step_times. */
int64_t finish_now_ns(const build_folder *f);

/* Makes the folders of the outputs and of the depfile, writes the response file, and says in the log that the command
 * begins. */
bool finish_prepare(build_folder *f, uint32_t edge);

/* When a command ran. */
typedef struct step_times {
    int64_t start_ms, end_ms; /* since the build began, for the log */
    int64_t start_disk_ns;    /* finish_now_ns before it began */
} step_times;

/* The command of an edge with `deps` has ended, well or not: takes the inputs that the compiler found from its depfile,
 * which is removed, or for `deps = msvc` from its output, which loses the lines that say them. *is_bad: they cannot be
 * read; the manifest's error says why. found->nodes: of the caller, for free(). */
bool finish_discover(build_folder *f, uint32_t edge, spool *output, discovered *found, bool *is_bad);

/* The edge succeeded: takes back what restat shows to be needless, writes the logs with what was found, and releases
 * what waited. */
bool finish_succeeded(build_folder *f, uint32_t edge, const step_times *times, const discovered *found);

/* After the last step: the logs hold what this build has written, whatever the tools did that its steps called. */
bool finish_logs(build_folder *f);

/* The edge was interrupted: removes its depfile and those outputs that it may have half written. */
bool finish_interrupted(build_folder *f, uint32_t edge);

#endif
