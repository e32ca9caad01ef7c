#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"

#include <time.h>

int64_t clo_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
