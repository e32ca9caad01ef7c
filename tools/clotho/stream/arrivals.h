/* arrivals.h - how the jobs of a workload arrive, and in which environment, as the command line says it. */
#ifndef CLO_TOOLS_CLOTHO_STREAM_ARRIVALS_H
#define CLO_TOOLS_CLOTHO_STREAM_ARRIVALS_H

#include <clotho/workload.h>

/* For help texts. */
#define ARRIVALS_ARGUMENT "batch|poisson:S|trace"
#define ARRIVALS_HELP "all at once, with a mean gap of S seconds (or 20ms ...), or as the workload says"

/* Reads kind and mean_ns. `option`: what the error line names. Returns EXIT_GOOD, or EXIT_BAD_USAGE after that line. */
int arrivals_parse(const char *option, const char *text, clo_arrivals_config *config);

/* Whether there is such an environment. NULL: none is wanted. Returns as arrivals_parse. */
int known_environment(const char *text);

#endif
