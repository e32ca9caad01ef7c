/* base/clock.h - wall time. */
#ifndef CLO_BASE_CLOCK_H
#define CLO_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic time in ns. About 27 ns a call. */
int64_t clo_clock_ns(void);

#endif
