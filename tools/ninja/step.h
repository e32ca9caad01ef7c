/* step.h - one command of a build: begun, read to its end, waited for. */
#ifndef CLOTHO_NINJA_STEP_H
#define CLOTHO_NINJA_STEP_H

#include "text.h"

#include <signal.h>
#include <sys/types.h>

typedef struct step {
    pid_t pid;
    int output; /* the reading end of its output; -1: it has the terminal */
} step;

/* Begins `/bin/sh -c command` with `mask` as its signal mask. Without the console: in a process group of its own, its
 * input /dev/null, its output and errors one pipe. Returns 0 or an error number. */
int step_begin(step *s, const char *command, bool has_console, const sigset_t *mask);
/* Appends what it says until everyone who could has closed the pipe, then waits for its end. Returns its wait
 * status. */
int step_end(step *s, buffer *output);

#endif
