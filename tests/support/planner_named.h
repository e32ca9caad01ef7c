/* planner_named.h - a planner by its name; NULL: NULL, which clo_plan_create takes for HEFT. A name that is wrong ends
 * the test. */
#ifndef CLO_TEST_PLANNER_NAMED_H
#define CLO_TEST_PLANNER_NAMED_H

#include <clotho/planner.h>
#include <stdio.h>
#include <stdlib.h>

static inline const clo_planner *planner_named(const char *name)
{
    const clo_planner *planner = clo_planner_find(name);

    if (planner == NULL && name != NULL) {
        fprintf(stderr, "no planner is called '%s'\n", name);
        abort();
    }
    return planner;
}

#endif
