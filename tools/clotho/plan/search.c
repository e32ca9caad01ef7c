/* search.c - see search.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/plan/search.h"

#include "clotho/common/report.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t was_interrupted;

static void interrupt(int number)
{
    (void)number;
    was_interrupted = 1;
}

static void catch_signals(bool is_on)
{
    struct sigaction action = {.sa_handler = is_on ? interrupt : SIG_DFL, .sa_flags = is_on ? (int)SA_RESETHAND : 0};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* A line that is written over, from the first second on. */
static void show(void *context, const clo_plan_progress *now)
{
    (void)context;
    if (now->elapsed_ns >= 1000000000 && takes_escapes(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s: %llu schedules, makespan %s, bound %s", show_ns(now->elapsed_ns),
                (unsigned long long)now->schedules, show_ns(now->makespan_ns), show_ns(now->bound_ns));
    if (was_interrupted)
        *now->stop = 1;
}

void search_watch(clo_plan_config *config)
{
    if (!was_interrupted)
        catch_signals(true);
    config->progress = show;
}

void search_over(void)
{
    static bool is_told;

    if (takes_escapes(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    catch_signals(false);
    if (was_interrupted && !is_told)
        warn("interrupted: this is the best plan so far");
    is_told |= was_interrupted != 0;
}

bool search_is_interrupted(void)
{
    return was_interrupted != 0;
}
