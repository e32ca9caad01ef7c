/* earliest.c - see earliest.h. */
#include "policy/earliest.h"

#include "base/saturate.h"

void clo_place_eft(const clo_view *view, clo_choice *choice)
{
    int64_t best_ns = INT64_MAX;

    for (uint32_t e = 0; e < clo_view_limits(view)->executors; e++) {
        int64_t execution_ns = clo_view_execution_ns(view, choice->job, choice->stage, e);
        if (execution_ns == CLO_TIME_NEVER)
            continue;
        int64_t start_ns = clo_view_available_ns(view, e);
        int64_t arrival_ns = clo_view_arrival_ns(view, choice->job, choice->stage, e);
        int64_t finish_ns = clo_time_add(start_ns > arrival_ns ? start_ns : arrival_ns, execution_ns);
        if (choice->executor == CLO_NONE || finish_ns < best_ns) {
            best_ns = finish_ns;
            choice->executor = e;
        }
    }
}
