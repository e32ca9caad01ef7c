/* policy_swap.c - another policy for the runtime's scheduler, in the middle of whatever runs; its time, held. Its
 * states for the jobs that exist are made here, off the turn; the turn itself exchanges pointers and shows the new
 * policy what lives.
 *
 * Two kinds of threads may have found the old policy before the exchange and still use it: makers of jobs, which
 * prepare states with its argument, and monitors, which read its name. Makers are counted (their work is long, and code
 * of the application); for monitors there is a grace period of RCU. */
#include "base/status.h"
#include "run/control/attach.h"
#include "run/scheduler/combining.h"
#include "run/state/runtime.h"
#include "run/system/open.h"
#include "run/system/real_time.h"
#include "sync/protocol/rcu.h"
#include "trace/log.h"

#include <string.h>

/* Of the scheduler and of every job. With `coming` held: no job with a policy comes or goes. */
static size_t states_bytes(const clo_runtime *runtime, const clo_policy_use *use)
{
    size_t bytes = clo_arena_need(use->bytes);

    for (uint32_t j = 0; j < runtime->jobs_max; j++) {
        const clo_job *job = runtime->scheduling.followers[j];
        size_t of_job = job != NULL ? clo_arena_need(clo_policy_job_bytes(use, job->cost)) : 0;
        bytes = of_job > SIZE_MAX - bytes ? SIZE_MAX : bytes + of_job;
    }
    return bytes;
}

/* All of these states, in `arena`. With `coming` held. */
static clo_status make_states(const clo_runtime *runtime, clo_policy_use *use, clo_arena *arena)
{
    use->bytes = clo_policy_state_bytes(use, clo_view_limits(runtime->scheduling.scheduler));
    clo_status status = clo_scheduling_check_states(runtime, use->policy, states_bytes(runtime, use));
    if (status != CLO_OK)
        return status;
    use->state = clo_arena_take(arena, use->bytes, 1);
    if (use->state == NULL)
        return clo_fail_memory("a policy");
    for (uint32_t j = 0; j < runtime->jobs_max && status == CLO_OK; j++) {
        clo_job *job = runtime->scheduling.followers[j];
        if (job != NULL)
            status = clo_scheduler_job_prepare(job->policy.scheduled, use, runtime->scheduling.swaps + 1, arena);
    }
    return status;
}

/* Its place in the header of the log. What the caller has named last, with the text of its argument, is taken. */
static clo_status name_policy(const clo_scheduling *scheduling, clo_policy_use *use)
{
    const clo_log_header *about = clo_log_about(scheduling->log_waits ? NULL : scheduling->log);
    const char *name = use->policy->name != NULL ? use->policy->name : "?";

    if (about == NULL)
        return CLO_OK;
    const clo_log_policy *last = &about->policies[about->policies_count - 1];
    use->place = about->policies_count - 1;
    if (use->argument != NULL && last->argument != NULL && strcmp(last->name, name) == 0)
        return CLO_OK;
    return clo_log_add_policy(scheduling->log, name, use->argument != NULL ? CLO_LOG_ARGUMENT_UNKNOWN : NULL,
                              &use->place);
}

static clo_status exchange(clo_runtime *runtime, clo_swap *swap)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_policy_use use = swap->use;
    clo_arena arena;

    clo_status status = name_policy(scheduling, &swap->use);
    if (status != CLO_OK)
        return status;
    clo_scheduling_open_states(runtime, &arena);
    status = make_states(runtime, &swap->use, &arena);
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    atomic_store_explicit(&scheduling->swap, swap, memory_order_relaxed); /* travels with the ask */
    clo_scheduling_ask(runtime, CLO_ASK_SWAP);
    while (atomic_load_explicit(&swap->is_done, memory_order_acquire) == 0) /* the combiner will come to it */
        clo_futex_wait(&swap->is_done, 0);
    if (swap->status != CLO_OK)
        return clo_arena_close(&arena),
               clo_fail(swap->status, "the policy '%s' could not be initialised: %s",
                        use.policy->name != NULL ? use.policy->name : "without a name", swap->error);
    clo_scheduling_keep_states(runtime, &arena);
    scheduling->policy = use.policy;
    scheduling->argument = use.argument;
    clo_rcu_publish(&scheduling->monitored, use.policy);
    return CLO_OK;
}

clo_status clo_runtime_swap_policy(clo_runtime *runtime, const clo_policy *policy, const void *argument)
{
    clo_swap swap = {.use = {.policy = policy, .argument = argument}};

    if (runtime == NULL || policy == NULL)
        return clo_fail_null("clo_runtime_swap_policy", "runtime or policy");
    if (policy->decide == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no decide function");
    if (runtime->features.policies == NULL)
        return clo_runtime_fail_lacks("policies");
    if (clo_thread_is_watchdog(runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not swap policies");
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (clo_thread_is_worker(runtime))
        return clo_fail(CLO_ERR_STATE, "a task body may not swap policies: the combiner may be its own worker");
    clo_scheduling *scheduling = &runtime->scheduling;
    pthread_mutex_lock(&scheduling->swapping);
    pthread_mutex_lock(&scheduling->coming);
    uint32_t version = scheduling->swaps;
    clo_status status = scheduling->jobs > 0
                            ? exchange(runtime, &swap)
                            : clo_fail(CLO_ERR_STATE, "the runtime has no job with a policy; name the policy in "
                                                      "clo_job_config");
    pthread_mutex_unlock(&scheduling->coming);
    if (status ==
        CLO_OK) { /* who has found the old policy, or its argument, is done with it before the caller frees it */
        clo_rcu_wait();
        clo_scheduling_wait_for_makers(runtime, version);
    }
    pthread_mutex_unlock(&scheduling->swapping);
    return status;
}

clo_status clo_runtime_hold_time(clo_runtime *runtime, uint32_t is_held)
{
    if (runtime == NULL)
        return clo_fail_null("clo_runtime_hold_time", "runtime");
    if (!runtime->scheduling.is_virtual)
        return clo_fail(CLO_ERR_UNSUPPORTED, "time can be held under the virtual clock only");
    if (clo_thread_is_watchdog(runtime) || clo_thread_is_worker(runtime))
        return clo_fail(CLO_ERR_STATE, "a task body or a handler of misses may not hold the time");
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    pthread_mutex_lock(&runtime->scheduling.coming);
    atomic_store_explicit(&runtime->scheduling.is_held, is_held != 0, memory_order_relaxed); /* travels with the ask */
    if (runtime->scheduling.jobs > 0)
        clo_scheduling_ask(runtime, CLO_ASK_TIME);
    pthread_mutex_unlock(&runtime->scheduling.coming);
    return CLO_OK;
}
