/* interrupt.c - see interrupt.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction before[SIGNALS];
static atomic_bool has_come; /* to any thread */

static void note(int number)
{
    (void)number;
    has_come = true;
}

void interrupts_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void interrupts_let_go(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

bool is_interrupted(void)
{
    return has_come;
}
