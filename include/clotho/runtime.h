/* runtime.h - worker threads on a platform.
 *
 * A runtime owns one worker for each executor, pinned where the clock is real.
 * Jobs (job.h) of any number of graphs run on it at once. */
#ifndef CLOTHO_RUNTIME_H
#define CLOTHO_RUNTIME_H

#include <clotho/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_runtime clo_runtime; /* opaque */

typedef enum clo_clock {
    CLO_CLOCK_REAL = 0,   /* bodies run at the machine's own speed                                   */
    CLO_CLOCK_PADDED = 1, /* emulated: a worker of speed s spins after each body until its cost-model time
                              has passed, and before it for the transfers                           */
    CLO_CLOCK_VIRTUAL = 2 /* emulated: bodies run for their effect, time is computed from the cost model */
} clo_clock;

typedef struct clo_runtime_config {
    size_t size; /* CLO_RUNTIME_CONFIG_INIT                                              */
    clo_clock clock;
    uint32_t jobs_max;     /* jobs that may exist at once; 0: 256                                  */
    uint32_t trace;        /* 1: keep a record of each execution, for clo_job_trace (two clock readings a task) */
    int64_t spin_ns;       /* how long an idle worker spins before it sleeps; 0: 20 000; -1: not at all. With
                               more workers than CPUs nobody spins */
    int32_t fifo_priority; /* 1..99: SCHED_FIFO for the workers; 0: leave                          */
    uint32_t unpinned;     /* 1: do not pin workers                                                */
    uint32_t copy_always;  /* 1: copy data between memories even where they are coherent           */
} clo_runtime_config;

#define CLO_RUNTIME_CONFIG_INIT            \
    {                                      \
        .size = sizeof(clo_runtime_config) \
    }

/* Starts the workers.
 *   platform  borrowed until clo_runtime_destroy.
 *   config    NULL means all defaults.
 *   out       owned by the caller; untouched on failure.
 * Returns CLO_OK, or
 *   CLO_ERR_PLATFORM  the real clock with an executor that is not a CPU of this machine
 *   CLO_ERR_SYSTEM    a thread cannot be created, pinned, or given its priority
 *   CLO_ERR_ARGUMENT, CLO_ERR_LIMIT, CLO_ERR_MEMORY */
CLO_API CLO_NODISCARD clo_status clo_runtime_create(const clo_platform *platform, const clo_runtime_config *config,
                                                    clo_runtime **out);

/* Stops the workers and frees the runtime. Running jobs are cancelled and waited for; all jobs must have been
 * destroyed by the caller before or the memory they own is released here. NULL is allowed. */
CLO_API void clo_runtime_destroy(clo_runtime *runtime);

CLO_API const clo_platform *clo_runtime_platform(const clo_runtime *runtime);
CLO_API uint32_t clo_runtime_workers(const clo_runtime *runtime);
CLO_API bool clo_runtime_is_emulated(const clo_runtime *runtime); /* the clock is not real */

#ifdef __cplusplus
}
#endif
#endif
