/* plan/registry.c - the planners by name. A new planner is one file and one row here. */
#include "plan/planners.h"

#include <string.h>

static const clo_planner_row rows[] = {
    {"heft", "earliest finish time in order of rank_u, filling gaps (Topcuoglu, Hariri, Wu 2002)", 1, clo_heft_fill},
    {"deft", "HEFT that duplicates the critical parent where that helps (LACHESIS)", 2, clo_deft_fill},
    {"best", "the shortest of heft, deft and serial", 2, clo_best_fill},
    {"serial", "one task after another on the best single executor: the baseline of speedup", 1, clo_serial_fill},
};

const clo_planner_row *clo_planner_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool clo_planner(uint32_t index, const char **name, const char **summary)
{
    if (index >= sizeof rows / sizeof rows[0])
        return false;
    if (name != NULL)
        *name = rows[index].name;
    if (summary != NULL)
        *summary = rows[index].summary;
    return true;
}
