/* driver.h - what the applications share: options, measuring, planning, running, reporting.
 *
 * An application describes itself with a struct application and hands it to application_main, which
 *   1. builds its graph and runs it on one core, for the time to compare with, and on all cores of this machine with
 *      a trace, from which it takes the median time of each kernel,
 *   2. builds it again with those times and plans it,
 *   3. --repeat times: measures as in 1, predicts the makespan with these fresh times, runs, checks the result; turns
 *      within which a CPU changed its speed (speed.h) do not count, and up to four are tried for one that does,
 *   4. prints predicted beside measured. */
#ifndef EXAMPLES_DRIVER_H
#define EXAMPLES_DRIVER_H

#include "application.h"

/* The whole program. Returns the exit status: 0, 1 (a wrong result or bad input), 2 (bad usage). */
int application_main(application *app, int argc, char **argv);

#endif
