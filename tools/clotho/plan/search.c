/* search.c - see search.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/plan/search.h"

#include "clotho/common/interrupt.h"
#include "clotho/common/report.h"

/* A line that is written over, from the first second on. */
static void show(void *context, const clo_plan_progress *now)
{
    (void)context;
    if (now->elapsed_ns >= 1000000000)
        progress_over("%s: %llu schedules, makespan %s, bound %s", show_ns(now->elapsed_ns),
                      (unsigned long long)now->schedules, show_ns(now->makespan_ns), show_ns(now->bound_ns));
    if (is_interrupted())
        *now->stop = 1;
}

void search_watch(clo_plan_config *config)
{
    interrupts_catch();
    config->progress = show;
}

void search_over(void)
{
    static bool is_told;

    interrupts_let_go();
    if (!interrupts_are_caught())
        progress_clear();
    if (is_interrupted() && !interrupts_are_caught() && !is_told) {
        warn("interrupted: this is the best plan so far");
        is_told = true;
    }
}
