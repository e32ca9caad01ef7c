/* run.h - `clotho build`: runs what is wanted. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_RUN_H
#define CLO_TOOLS_CLOTHO_BUILD_RUN_H

#include "clotho/build_plan/hosts.h"
#include "clotho/build_plan/report.h"
#include "ninja/state/build.h"
#include "ninja/step/jobserver.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct build_run_options {
    const char *policy;     /* who says which ready step is next; NULL: rank, and packing with a budget of memory */
    uint32_t jobs;          /* steps at once, those on other hosts included */
    build_hosts *hosts;     /* count 0: none but this machine */
    uint32_t failures_most; /* no step begins after so many have failed; 0: no limit */
    uint32_t *failed;       /* how many did so far; counts on */
    bool is_phase;          /* others follow if failures are left */
    const char *remakes;    /* the manifest, for which these steps run; NULL: for the targets */
    int64_t
        memory_kib; /* what all steps together may take; also MEMORY_NONE, MEMORY_AUTO (clotho/build_plan/memory.h) */
    int lock;       /* the open folder that is locked, which commands hold, too; -1: none */
    bool ends_servers; /* servers that steps have started end with them */
    bool is_verbose, is_quiet;
    const char *status_format; /* as NINJA_STATUS; NULL: ninja's */
    double load_most;          /* no step begins at this load or above; 0: no limit */
    jobserver *tokens;         /* one for each step at once; a step has one while it runs */
    build_report_options report;
} build_run_options;

/* As ninja's. */
enum { EXIT_INTERRUPTED = 2 };

/* The error line and the exit code of a build in which steps failed, of `most` (0: any number) that may. manifest: as
 * `remakes` of build_run_options. */
int build_say_failed(const char *manifest, uint32_t failed, uint32_t most);

/* Runs the steps that build_want has found. Returns an exit code: EXIT_BAD_INPUT after an error line where a step
 * failed (not in a phase that others may follow), EXIT_INTERRUPTED after one where the build was interrupted. Ends this
 * process by SIGPIPE, once no command runs, where nobody reads its output. */
int build_run(build_folder *folder, const build_run_options *options);

#endif
