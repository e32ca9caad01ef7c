/* borrow.c - see borrow.h. */
#define _GNU_SOURCE /* sched_getcpu */
#include "run/sharing/borrow.h"

#include "platform/model/platform.h"

#include <sched.h>
#include <string.h>

bool clo_borrow_is_on(const clo_runtime_config *config)
{
    bool is_real_time = config->real_time != CLO_REAL_TIME_OFF || config->fifo_priority > 0;

    return config->help > 0 || (config->help == 0 && !is_real_time);
}

bool clo_borrow_is_uniform(const clo_platform *platform)
{
    const clo_executor *first = &platform->executors[0];

    for (uint32_t e = 1; e < platform->executors_count; e++)
        if (platform->executors[e].kind != first->kind ||
            memcmp(platform->executors[e].speed_q16, first->speed_q16, sizeof first->speed_q16) != 0)
            return false;
    return true;
}

int32_t clo_borrow_cpu(void)
{
    return sched_getcpu();
}

bool clo_borrow_suits(const clo_runtime *runtime, const clo_worker *worker)
{
    return runtime->is_uniform || worker->cpu < 0 || worker->cpu == sched_getcpu();
}

uint32_t clo_borrow_place(const clo_runtime *runtime, uint32_t lately)
{
    uint32_t workers = runtime->first_slot, place = CLO_NONE;

    if (lately < workers && clo_parker_sleeps_free(&runtime->workers[lately].parker) &&
        clo_borrow_suits(runtime, &runtime->workers[lately]))
        return lately;
    for (uint32_t w = workers; w-- > 0;) { /* a sleeper, else the last one that looks for work */
        const clo_worker *worker = &runtime->workers[w];
        if (!clo_parker_may_lend(&worker->parker) || !clo_borrow_suits(runtime, worker))
            continue;
        if (clo_parker_sleeps_free(&worker->parker))
            return w;
        if (place == CLO_NONE)
            place = w;
    }
    return place != CLO_NONE ? place : 0;
}

clo_worker *clo_borrow_take(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    uint32_t place = clo_borrow_place(runtime, atomic_load_explicit(&job->waiting.deferred_at, memory_order_relaxed));
    clo_worker *worker = &runtime->workers[place];

    if (!clo_borrow_suits(runtime, worker) || !clo_parker_borrow(&worker->parker))
        return NULL;
    atomic_store_explicit(&job->waiting.deferred_at, place, memory_order_relaxed);
    return worker;
}
