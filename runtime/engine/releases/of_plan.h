/* engine/releases/of_plan.h - releases in flight of a plan: what run/ and sim/ both make of it. */
#ifndef CLO_ENGINE_RELEASES_OF_PLAN_H
#define CLO_ENGINE_RELEASES_OF_PLAN_H

#include "engine/releases/releases.h"
#include "library.h"

typedef struct clo_releases_use {
    /* Borrowed during the call. plan NULL: there is none. */
    const clo_plan *plan;
    const clo_cost *cost;
    /* Releases in flight. */
    uint32_t slots;
    /* As in clo_releases_config. */
    int64_t period_ns;
    /* As in clo_releases_config. */
    bool has_data, copies, is_timed;
} clo_releases_use;

/* program: of that plan, or of none (work stealing). A plan without an interval counts as if its makespan were the
 * interval. Returns as clo_releases_create and clo_plan_check. */
CLO_INTERNAL clo_status clo_releases_of_plan(const clo_program *program, const clo_releases_use *use, clo_arena *arena,
                                             clo_releases **out);

#endif
