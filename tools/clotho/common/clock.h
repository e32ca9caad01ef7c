/* clock.h - the clock that never goes back. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_CLOCK_H
#define CLO_TOOLS_CLOTHO_COMMON_CLOCK_H

#include <stdint.h>

int64_t monotonic_ns(void);

/* Since a moment of monotonic_ns. */
double seconds_since(int64_t begin_ns);

#endif
