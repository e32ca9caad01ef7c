/* search.c - see search.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/plan/search.h"

#include "clotho/common/report.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction before[SIGNALS];
static atomic_bool was_interrupted; /* the signal may come to any thread */

static void interrupt(int number)
{
    (void)number;
    was_interrupted = true;
}

/* What is ignored, as behind nohup, stays so. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

static void let_go(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
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
    catch_signals();
    config->progress = show;
}

void search_over(void)
{
    static bool is_told;

    if (takes_escapes(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    let_go();
    if (was_interrupted && !is_told)
        warn("interrupted: this is the best plan so far");
    is_told |= was_interrupted;
}

bool search_is_interrupted(void)
{
    return was_interrupted;
}
