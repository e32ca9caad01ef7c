/* select.c - see select.h. */
#include "policy/select/select.h"

bool clo_select_startable(const clo_view *view, uint32_t job, uint32_t stage)
{
    return clo_view_free_for(view, job, stage) != CLO_NONE;
}
