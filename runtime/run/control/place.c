/* place.c - see place.h. */
#define _GNU_SOURCE /* CPU sets */
#include "run/control/place.h"

#include "base/status.h"
#include "run/state/runtime.h"

#include <assert.h>
#include <sched.h>

/* CPUs this process may use, in order, into cpus[max]; returns their number. */
static uint32_t allowed_cpus(int32_t *cpus, uint32_t max)
{
    cpu_set_t set;
    uint32_t count = 0;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &set)) {
            if (count < max)
                cpus[count] = cpu;
            count++;
        }
    return count;
}

static_assert(sizeof(((clo_runtime *)0)->cpus) == sizeof(cpu_set_t), "runtime.h names no type of the system");

/* For the watchdog. */
static void note_cpus(clo_runtime *runtime, const int32_t *allowed, uint32_t count)
{
    cpu_set_t *set = (cpu_set_t *)runtime->cpus;

    for (uint32_t i = 0; i < count; i++)
        CPU_SET((size_t)allowed[i], set);
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (runtime->workers[w].cpu >= 0)
            CPU_SET((size_t)runtime->workers[w].cpu, set);
}

clo_status clo_runtime_place(clo_runtime *runtime)
{
    int32_t cpus[CPU_SETSIZE];
    uint32_t allowed = allowed_cpus(cpus, CPU_SETSIZE);
    bool is_real = runtime->clock == CLO_CLOCK_REAL;

    runtime->is_oversubscribed = runtime->first_slot > allowed;
    if (runtime->is_oversubscribed)
        runtime->spin_ns = 0; /* an idle worker would spin on the CPU that a busy one needs */
    if (is_real && runtime->pins && runtime->is_oversubscribed)
        return clo_fail(CLO_ERR_PLATFORM,
                        "platform '%s' has %u executors but this process may use %u CPU%s; "
                        "choose the padded or virtual clock, or a smaller platform",
                        runtime->platform->name, runtime->first_slot, allowed, allowed == 1 ? "" : "s");
    for (uint32_t w = 0; w < runtime->first_slot; w++) {
        int32_t own = runtime->platform->executors[w].os_index;
        bool can_pin = runtime->pins && !runtime->is_oversubscribed && runtime->clock != CLO_CLOCK_VIRTUAL;
        runtime->workers[w].cpu = !can_pin ? -1 : is_real && own >= 0 ? own : cpus[w];
    }
    note_cpus(runtime, cpus, allowed);
    return CLO_OK;
}

int clo_worker_pin(const clo_worker *worker)
{
    cpu_set_t set;

    if (worker->cpu < 0)
        return 0;
    CPU_ZERO(&set);
    CPU_SET((size_t)worker->cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}
