/* runtime_log.c - the log of a runtime's scheduler. The combiner writes it: it has the scheduler, and one thread at a
 * time is the combiner. So its beginning comes with the scheduler, and its end is asked for like a swap. */
#include "run/control/runtime_log.h"

#include "base/status.h"
#include "run/scheduler/combining.h"
#include "run/state/features.h"
#include "run/state/runtime.h"
#include "run/system/open.h"
#include "run/system/real_time.h"
#include "trace/log.h"

static clo_status check_thread(const clo_runtime *runtime)
{
    if (clo_thread_is_watchdog(runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not start or stop a log");
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (clo_thread_is_worker(runtime))
        return clo_fail(CLO_ERR_STATE, "a task body may not start or stop a log: the combiner may be its own worker");
    return CLO_OK;
}

clo_status clo_runtime_log_start(clo_runtime *runtime, clo_log *log)
{
    size_t count;

    if (runtime == NULL || log == NULL)
        return clo_fail_null("clo_runtime_log_start", "runtime or log");
    if (runtime->features.policies == NULL)
        return clo_runtime_fail_lacks("policies");
    if (!clo_log_is_bounded(log))
        return clo_fail(CLO_ERR_ARGUMENT, "a log that grows would allocate on workers; create it with a capacity");
    (void)clo_log_records(log, &count);
    if (count > 0 || clo_log_dropped(log) > 0)
        return clo_fail(CLO_ERR_ARGUMENT, "the log has %zu records already; take a new one for each run", count);
    clo_status status = check_thread(runtime);
    if (status != CLO_OK)
        return status;
    clo_scheduling *scheduling = &runtime->scheduling;
    pthread_mutex_lock(&scheduling->coming);
    if (scheduling->jobs > 0)
        status = clo_fail(CLO_ERR_STATE,
                          "%u jobs with a policy exist, and a log begins before the first of them; "
                          "start it before clo_job_create",
                          scheduling->jobs);
    else if (scheduling->log != NULL)
        status = clo_fail(CLO_ERR_STATE, "the runtime has a log already; stop that first");
    if (status == CLO_OK) {
        scheduling->log = log;
        scheduling->log_waits = true;
    }
    pthread_mutex_unlock(&scheduling->coming);
    return status;
}

clo_status clo_runtime_log_stop(clo_runtime *runtime)
{
    if (runtime == NULL)
        return clo_fail_null("clo_runtime_log_stop", "runtime");
    clo_status status = check_thread(runtime);
    if (status != CLO_OK)
        return status;
    clo_scheduling *scheduling = &runtime->scheduling;
    pthread_mutex_lock(&scheduling->coming);
    if (scheduling->log != NULL && !scheduling->log_waits) {
        atomic_store_explicit(&scheduling->log_is_over, 0, memory_order_relaxed); /* travels with the ask */
        clo_scheduling_ask(runtime, CLO_ASK_END_LOG);
        while (atomic_load_explicit(&scheduling->log_is_over, memory_order_acquire) == 0) /* the combiner comes to it */
            clo_futex_wait(&scheduling->log_is_over, 0);
    }
    scheduling->log = NULL;
    scheduling->log_waits = false;
    pthread_mutex_unlock(&scheduling->coming);
    return CLO_OK;
}

void clo_runtime_end_log(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    if (scheduling->log != NULL && !scheduling->log_waits)
        clo_scheduler_end_log(scheduling->scheduler, clo_scheduling_now_ns(runtime));
    scheduling->log = NULL;
    scheduling->log_waits = false;
}
