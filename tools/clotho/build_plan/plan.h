/* plan.h - `clotho build --plan`. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_PLAN_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_PLAN_H

#include "ninja/state/build.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct build_plan_options {
    const char *planner, *gantt, *page, *out;
    uint32_t jobs;
    bool only_wanted; /* the steps that would run now; else all behind the targets */
    bool as_json;
    int home; /* the folder that paths on the command line begin at */
} build_plan_options;

/* Plans the steps behind the targets with the times of the log. Returns an exit code. */
int build_plan(build_folder *folder, const uint32_t *targets, size_t count, const build_plan_options *options);

#endif
