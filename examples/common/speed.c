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
enum { NUMBERS = 1 << 18, READINGS = 5 };

/* What the threads wait for. */
enum { WAIT, RUN, LEAVE };

typedef struct runner {
    pthread_t thread;
    _Atomic int *signal;
    int cpu;
    double compute_ns, memory_ns;
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
    CPU_SET((size_t)r->cpu, &own);
    pthread_setaffinity_np(pthread_self(), sizeof own, &own);
    while (atomic_load(r->signal) == WAIT) /* until all are there, or one could not be made */
        sched_yield();
    if (atomic_load(r->signal) == LEAVE)
        return NULL;
    double start_ns = now_ns();
    volatile double kept = compute();
    r->compute_ns = now_ns() - start_ns;
    kept = read_all() + kept; /* brings them here */
    start_ns = now_ns();
    for (int i = 0; i < READINGS; i++)
        kept = read_all() + kept;
    r->memory_ns = now_ns() - start_ns;
    return NULL;
}

/* The CPUs that this process may use, up to the most. */
static uint32_t list_cpus(runner *runners)
{
    uint32_t count = 0;
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < SPEED_CPUS_MAX; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed))
            runners[count++] = (runner){.cpu = cpu};
    return count;
}

bool speeds_read(speeds *out)
{
    runner runners[SPEED_CPUS_MAX];
    uint32_t count = list_cpus(runners), made = 0;
    _Atomic int signal = WAIT;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    for (; made < count; made++) {
        runners[made].signal = &signal;
        if (pthread_create(&runners[made].thread, NULL, run, &runners[made]) != 0)
            break;
    }
    atomic_store(&signal, made == count ? RUN : LEAVE);
    *out = (speeds){.count = count};
    for (uint32_t i = 0; i < made; i++) {
        pthread_join(runners[i].thread, NULL);
        out->compute_ns[i] = runners[i].compute_ns;
        out->memory_ns[i] = runners[i].memory_ns;
    }
    return made == count && count > 0;
}

static bool is_off(double a, double b, double tolerance)
{
    return a > tolerance * b || b > tolerance * a;
}

bool speeds_differ(const speeds *a, const speeds *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (is_off(a->compute_ns[i], b->compute_ns[i], 1.1) || is_off(a->memory_ns[i], b->memory_ns[i], 1.2))
            return true;
    return a->count != b->count;
}
