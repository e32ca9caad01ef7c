/* speed.c - see speed.h. */
#define _GNU_SOURCE
#include "speed.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/* Work that fills the units of a core: else a neighbour on the other half of it would not show. */
enum { ITERATIONS = 300000, LANES = 16 };

/* 2 MiB, more than most caches that a core has to itself, so many times. */
enum { NUMBERS = 1 << 18, READINGS = 30 };

/* What the threads wait for. */
enum { WAIT, RUN, LEAVE };

typedef struct runner {
    pthread_t thread;
    _Atomic int *signal;
    pthread_barrier_t *all;
    int cpu;
    bool is_pinned;
    double compute_ns, read_ns;
} runner;

static double numbers[NUMBERS];

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double compute(void)
{
    double lane[LANES], sum = 0;

    for (int i = 0; i < LANES; i++)
        lane[i] = 0.5 + 0.01 * i;
    for (int n = 0; n < ITERATIONS; n++)
        for (int i = 0; i < LANES; i++)
            lane[i] = lane[i] * 0.75 + 0.25; /* goes to 1, so never into slow numbers */
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

static double read_all(void)
{
    double lane[LANES] = {0}, sum = 0;

    for (int n = 0; n < NUMBERS; n += LANES)
        for (int i = 0; i < LANES; i++)
            lane[i] += numbers[n + i];
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

static void *run(void *argument)
{
    runner *r = argument;
    cpu_set_t own;

    CPU_ZERO(&own);
    if (r->cpu >= 0 && r->cpu < CPU_SETSIZE)
        CPU_SET((size_t)r->cpu, &own);
    r->is_pinned = pthread_setaffinity_np(pthread_self(), sizeof own, &own) == 0;
    while (atomic_load(r->signal) == WAIT) /* until all are made, or one could not be */
        sched_yield();
    if (atomic_load(r->signal) == LEAVE)
        return NULL;
    pthread_barrier_wait(r->all);
    double start_ns = now_ns();
    volatile double kept = compute();
    r->compute_ns = now_ns() - start_ns;
    pthread_barrier_wait(r->all);
    kept = read_all() + kept; /* brings them here */
    start_ns = now_ns();
    for (int i = 0; i < READINGS; i++)
        kept = read_all() + kept;
    r->read_ns = now_ns() - start_ns;
    return NULL;
}

/* The CPUs that this process may use, up to the most. */
static uint32_t list_own(int32_t *cpus)
{
    uint32_t count = 0;
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < SPEED_CPUS_MAX; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed))
            cpus[count++] = cpu;
    return count;
}

/* True if all of them ran, each on its CPU. */
static bool run_all(runner *runners, uint32_t count)
{
    _Atomic int signal = WAIT;
    pthread_barrier_t all;
    uint32_t made = 0, pinned = 0;

    if (pthread_barrier_init(&all, NULL, count) != 0)
        return false;
    for (; made < count; made++) {
        runners[made].signal = &signal;
        runners[made].all = &all;
        if (pthread_create(&runners[made].thread, NULL, run, &runners[made]) != 0)
            break;
    }
    atomic_store(&signal, made == count ? RUN : LEAVE);
    for (uint32_t i = 0; i < made; i++) {
        pthread_join(runners[i].thread, NULL);
        pinned += runners[i].is_pinned;
    }
    pthread_barrier_destroy(&all);
    return pinned == count;
}

bool speeds_read(const int32_t *cpus, uint32_t count, speeds *out)
{
    runner runners[SPEED_CPUS_MAX] = {{0}};
    int32_t own[SPEED_CPUS_MAX];

    if (cpus == NULL) {
        count = list_own(own);
        cpus = own;
    }
    count = count < SPEED_CPUS_MAX ? count : SPEED_CPUS_MAX;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    for (uint32_t i = 0; i < count; i++)
        runners[i].cpu = cpus[i];
    *out = (speeds){.count = count};
    if (count == 0 || !run_all(runners, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        out->compute_ns[i] = runners[i].compute_ns;
        out->read_ns[i] = runners[i].read_ns;
    }
    return true;
}

static bool is_off(double a, double b, double tolerance)
{
    return a > tolerance * b || b > tolerance * a;
}

bool speeds_differ(const speeds *a, const speeds *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (is_off(a->compute_ns[i], b->compute_ns[i], 1.1) || is_off(a->read_ns[i], b->read_ns[i], 1.2))
            return true;
    return a->count != b->count;
}
