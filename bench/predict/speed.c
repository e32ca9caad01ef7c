/* speed.c - see speed.h. */
#define _GNU_SOURCE
#include "speed.h"

#include "common/graphs.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* Work that fills the units of a core: else a neighbour on the other half of it would not show. */
enum { ITERATIONS = 400000 };

/* What the threads wait for. */
enum { WAIT, RUN, LEAVE };

typedef struct runner {
    pthread_t thread;
    _Atomic int *signal;
    int cpu;
    double ns;
} runner;

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
    int64_t start_ns = bench_now_ns();
    volatile double kept = bench_compute(ITERATIONS);
    (void)kept;
    r->ns = (double)(bench_now_ns() - start_ns);
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

    for (; made < count; made++) {
        runners[made].signal = &signal;
        if (pthread_create(&runners[made].thread, NULL, run, &runners[made]) != 0)
            break;
    }
    atomic_store(&signal, made == count ? RUN : LEAVE);
    *out = (speeds){.count = count};
    for (uint32_t i = 0; i < made; i++) {
        pthread_join(runners[i].thread, NULL);
        out->ns[i] = runners[i].ns;
    }
    return made == count && count > 0;
}

bool speeds_differ(const speeds *a, const speeds *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (a->ns[i] > 1.1 * b->ns[i] || b->ns[i] > 1.1 * a->ns[i])
            return true;
    return a->count != b->count;
}
