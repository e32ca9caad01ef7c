/* raw.h - what the machine itself takes to wake a thread and to hand over a cache line: the floor under a latency. */
#ifndef CLO_BENCH_RAW_H
#define CLO_BENCH_RAW_H

#include <stdbool.h>
#include <stdint.h>

/* A second thread, pinned to a CPU, that sleeps on a futex. */
typedef struct raw_sleeper raw_sleeper;

/* NULL if the thread cannot be made or pinned. */
raw_sleeper *raw_sleeper_open(int cpu);
/* Wakes it and waits until it has run: ns from before the wake-up until the thread read the clock. It must have had
 * time to fall asleep. */
int64_t raw_sleeper_wake(raw_sleeper *sleeper);
void raw_sleeper_close(raw_sleeper *sleeper);

/* Hands a cache line to and fro between this thread and one on `cpu`, both polling it: samples_ns[count] become the
 * times from a clock reading before the write until one after it was seen on the other side. False if the thread cannot
 * be made or pinned. */
bool raw_hand_over(int cpu, double *samples_ns, uint32_t count);

/* Pins the calling thread. False if refused. */
bool raw_pin(int cpu);

#endif
