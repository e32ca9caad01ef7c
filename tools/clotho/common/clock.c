/* clock.c - see clock.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/clock.h"

#include <time.h>

int64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double seconds_since(int64_t begin_ns)
{
    return (double)(monotonic_ns() - begin_ns) * 1e-9;
}
