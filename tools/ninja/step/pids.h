/* pids.h - lists of processes as the kernel writes them: numbers with spaces or line ends between. */
#ifndef CLO_TOOLS_NINJA_STEP_PIDS_H
#define CLO_TOOLS_NINJA_STEP_PIDS_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

/* The next number of the list; 0: its end. */
static inline pid_t pids_next(FILE *list)
{
    long number = 0;
    int c = getc(list);

    while (c != EOF && (c < '0' || c > '9'))
        c = getc(list);
    for (; c >= '0' && c <= '9' && number < INT_MAX / 10; c = getc(list))
        number = number * 10 + (c - '0');
    return (pid_t)number;
}

#endif
