/* interrupt.c - see interrupt.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/interrupt.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction before[SIGNALS];
static unsigned depth;       /* of calls of interrupts_catch */
static atomic_bool has_come; /* to any thread */

static void note(int number)
{
    (void)number;
    has_come = true;
}

void interrupts_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};

    if (depth++ > 0)
        return;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void interrupts_let_go(void)
{
    assert(depth > 0);
    if (--depth > 0)
        return;
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

bool interrupts_are_caught(void)
{
    return depth > 0;
}

bool is_interrupted(void)
{
    return has_come;
}
