#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"

#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

int64_t clo_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool clo_ticks_are_steady(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;

    /* "Invariant TSC", bit 8 of EDX (Intel SDM volume 3, 18.17.1; AMD likewise). */
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#else
    return true; /* the generic timer of aarch64, or the clock itself */
#endif
}

#define PAIR_TRIES 4

void clo_clock_pair(int64_t *ticks, int64_t *ns)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < PAIR_TRIES; i++) {
        int64_t before = clo_ticks(), now_ns = clo_clock_ns(), took = clo_ticks() - before;
        if (took >= least)
            continue;
        least = took;
        *ticks = before + took / 2;
        *ns = now_ns;
    }
}

int64_t clo_tick_line_slope(const clo_tick_line *line)
{
    int64_t span = line->ticks2 - line->ticks;

    return span > 0 ? (int64_t)(((clo_tick_wide)(line->ns2 - line->ns) << 48) / span) : INT64_C(1) << 48;
}

int64_t clo_tick_line_ns(const clo_tick_line *line, int64_t ticks)
{
    return clo_tick_line_at(line, clo_tick_line_slope(line), ticks);
}
