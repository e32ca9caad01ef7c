/* common_times.h - Decima's environment with common random numbers: what is drawn for an instance depends on the seed,
 * its job, its stage and its number, not on what was started before it. So policies that are compared on one seed meet
 * the same times, however differently they go about it, and differ by what they do (antithetic pairs of samples too:
 * es.h). For training, and for the search of bench-online --oracle; tables are made with the library's own draws. */
#ifndef CLO_TOOLS_TRAIN_SEARCH_COMMON_TIMES_H
#define CLO_TOOLS_TRAIN_SEARCH_COMMON_TIMES_H

#include <clotho/clotho.h>

/* As clo_environment_open: out is given to clo_environment_close. CLO_ERR_ARGUMENT, CLO_ERR_MEMORY. */
clo_status common_times_open(const char *name, uint64_t seed, clo_environment *out);

#endif
