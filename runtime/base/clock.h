/* base/clock.h - wall time, and the CPU's own counter for where a clock reading is too dear. */
#ifndef CLO_BASE_CLOCK_H
#define CLO_BASE_CLOCK_H

#include "library.h"
#include <stdbool.h>
#include <stdint.h>

/* Monotonic time in ns. About 27 ns a call. */
CLO_INTERNAL int64_t clo_clock_ns(void);

/* True if clo_ticks counts at one rate on all CPUs, whatever their frequency. */
bool clo_ticks_are_steady(void);

/* The counter: about half the price of clo_clock_ns. Without one it is clo_clock_ns itself. */
static inline int64_t clo_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    int64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clo_clock_ns();
#endif
}

/* This moment in both counts; as near as can be, also if the thread is preempted in between. */
void clo_clock_pair(int64_t *ticks, int64_t *ns);

/* Two moments known in both counts; ticks between and about them turn into ns along the straight line. */
typedef struct clo_tick_line {
    int64_t ticks, ns;   /* the first moment              */
    int64_t ticks2, ns2; /* the second, later than it     */
} clo_tick_line;

int64_t clo_tick_line_ns(const clo_tick_line *line, int64_t ticks);

/* The same of many ticks: the slope in ns * 2^48 a tick, worked out once. Off by 1 ns after 2^48 ticks, more than a day. */
__extension__ typedef __int128 clo_tick_wide;
int64_t clo_tick_line_slope(const clo_tick_line *line);
static inline int64_t clo_tick_line_at(const clo_tick_line *line, int64_t slope, int64_t ticks)
{
    return line->ns + (int64_t)(((clo_tick_wide)(ticks - line->ticks) * slope) >> 48);
}

#endif
