/* slots.c - taking runtimes and jobs out of their slots for a call, and the call that bodies and threads share. */
#include "fuzz_api.h"

#include <stdlib.h>
#include <string.h>

bool runtime_use(uint32_t index, clo_runtime **out)
{
    runtime_slot *slot = &w.runtimes[index];

    if (!use_begin(&slot->object, USE_RUNTIME))
        return false;
    *out = atomic_load_explicit(&slot->runtime, memory_order_acquire);
    if (*out != NULL)
        return true;
    use_end(&slot->object, USE_RUNTIME);
    return false;
}

bool job_use(job_slot *slot, use_kind use, clo_job **out)
{
    clo_runtime *runtime;

    if (!runtime_use(slot->runtime, &runtime))
        return false;
    if (use_begin(&slot->object, use)) {
        *out = atomic_load_explicit(&slot->job, memory_order_acquire);
        if (*out != NULL)
            return true;
        use_end(&slot->object, use);
    }
    use_end(&w.runtimes[slot->runtime].object, USE_RUNTIME);
    return false;
}

void job_unuse(job_slot *slot, use_kind use)
{
    use_end(&slot->object, use);
    use_end(&w.runtimes[slot->runtime].object, USE_RUNTIME);
}

bool job_use_alone(job_slot *slot, clo_job **out)
{
    if (!job_use(slot, USE_OUTPUT, out))
        return false;
    if (!atomic_exchange_explicit(&slot->is_looked_at, true, memory_order_acquire))
        return true;
    job_unuse(slot, USE_OUTPUT);
    return false;
}

void job_unuse_alone(job_slot *slot)
{
    atomic_store_explicit(&slot->is_looked_at, false, memory_order_release);
    job_unuse(slot, USE_OUTPUT);
}

void job_gone(job_slot *slot)
{
    free(slot->memory);
    slot->memory = NULL;
    atomic_store_explicit(&slot->job, NULL, memory_order_relaxed);
    use_end(&w.models[slot->model].object, USE_SHARED);
}

/* With USE_SUBMIT held. */
clo_status job_submit(job_slot *slot, clo_job *job)
{
    uint64_t number = atomic_load_explicit(&slot->begun, memory_order_relaxed);
    bool was_waited = atomic_load_explicit(&slot->waited, memory_order_acquire) == number;

    /* If it is refused, the run before it goes on and its counts with it. */
    if (was_waited) {
        for (int i = 0; i < 3; i++)
            atomic_store_explicit(&slot->misses[i], 0, memory_order_relaxed);
        atomic_store_explicit(&slot->is_countable, true, memory_order_relaxed);
    }
    atomic_store_explicit(&slot->begun, number + 1, memory_order_relaxed);
    clo_status status = expect(clo_job_submit(job), CLO_OK, CLO_ERR_STATE);
    bool is_read = status != CLO_OK && strstr(clo_last_error(), "another thread reads") != NULL;
    if (status != CLO_OK && was_waited && !is_read)
        broken("clo_job_submit after clo_job_wait: %s", clo_last_error());
    if (is_read)
        atomic_store_explicit(&slot->is_countable, false, memory_order_relaxed);
    if (status != CLO_OK)
        atomic_store_explicit(&slot->begun, number, memory_order_relaxed);
    else if (!was_waited)
        atomic_store_explicit(&slot->is_countable, false, memory_order_relaxed);
    if (status == CLO_OK)
        atomic_store_explicit(&slot->done, number + 1, memory_order_release);
    return status;
}
