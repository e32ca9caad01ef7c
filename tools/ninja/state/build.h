/* build.h - a build folder that is open: its manifest, its two logs, and what is to do. */
#ifndef CLO_TOOLS_NINJA_STATE_BUILD_H
#define CLO_TOOLS_NINJA_STATE_BUILD_H

#include "ninja/state/order.h"

typedef struct build_folder {
    ninja_manifest manifest;
    build_log log;
    deps_log deps;
    dirty_scan scan;
    build_order order;
    char log_path[1024], deps_path[1024];
    int clock; /* disk_open_nameless, with has_clock: the log says when commands began */
    bool has_clock;
    const ran_steps *ran;                 /* of earlier phases, the caller's; NULL: there are none */
    bool keeps_depfiles, keeps_responses; /* of steps that succeeded, for debugging */
} build_folder;

/* Reads the manifest `file` in the current folder. Returns false with folder->manifest.error set. build_close in every
 * case, for this and for all below. */
bool build_open(build_folder *f, const char *file);
/* Sets log_path and deps_path: in `builddir`, if the manifest names one. */
bool build_name_logs(build_folder *f);
/* Sets those, and reads the logs. */
bool build_read_logs(build_folder *f);
typedef struct build_wish {
    const char *explains;    /* who says why on standard error; NULL: nobody */
    bool leaves_validations; /* wants none */
} build_wish;

/* Wants what is dirty of the targets. Reads the dyndep files behind them that are up to date; dyndep_next names those
 * that must be made first. */
bool build_want(build_folder *f, const uint32_t *targets, size_t count, build_wish wish);
/* Forgets what was wanted and what was looked at, so that build_want can begin anew. */
void build_forget(build_folder *f);
void build_close(build_folder *f);

/* The commands that a build would run, as `ninja -n` prints them to a file: descriptions, or commands with is_verbose.
 * *steps: their number. Uses the order up. */
bool build_dry_run(build_folder *f, bool is_verbose, buffer *out, uint32_t *steps);

/* The line of a step: its description, or its command. */
bool build_describe(build_folder *f, uint32_t edge, bool is_verbose, buffer *out);

#endif
