/* running.c - which tasks run now, read from what the workers show. */
#include "run/records/running.h"

#include "run/state/runtime.h"
#include "run/state/worker.h"

#include <stdio.h>

void clo_runtime_name_running(const clo_runtime *runtime, const clo_job *only, char *text, size_t bytes)
{
    size_t used = 0;

    snprintf(text, bytes, "no task");
    for (uint32_t w = 0; w < runtime->workers_count && used < bytes; w++) {
        uint64_t current = atomic_load_explicit(&runtime->workers[w].current, memory_order_relaxed);
        char scratch[16];
        /* Only the closing thread looks at other jobs than its own, under the lock of their table. */
        if (current == CLO_ITEM_NONE || (only != NULL && current >> 32 != only->slot))
            continue;
        const clo_job *job = only != NULL ? only : runtime->jobs[current >> 32];
        if (job == NULL)
            continue;
        const char *name = clo_graph_task_name(clo_cost_graph(job->cost), (uint32_t)current, scratch);
        used +=
            (size_t)snprintf(text + used, bytes - used, "%stask '%.40s' on executor %u", used > 0 ? ", " : "", name, w);
    }
}
