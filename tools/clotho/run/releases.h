/* releases.h - `clotho run --releases-in-flight N`: a series of releases of one graph, several of them at once. */
#ifndef CLO_TOOLS_CLOTHO_RUN_RELEASES_H
#define CLO_TOOLS_CLOTHO_RUN_RELEASES_H

#include "clotho/run/run.h"

/* Whether the options go together; EXIT_GOOD, or an exit code after an error line. */
int run_flight_check(const run_options *options);

/* Plans modulo an interval, runs o->releases releases and prints what was planned and what happened. Returns EXIT_GOOD,
 * or an exit code after an error line. */
int run_flight(const input *in, const run_options *options);

#endif
