/* policy_swap.c - another policy for the runtime's scheduler, in the middle of whatever runs. Its states for the jobs
 * that exist are made here, off the turn; the turn itself exchanges pointers and shows the new policy what lives. */
#include "base/status.h"
#include "run/combining.h"
#include "run/open.h"
#include "run/real_time.h"
#include "run/runtime.h"

#include <string.h>

/* States of the scheduler and of every job, in `arena`. With `control` held: no job comes or goes. */
static clo_status make_states(const clo_runtime *runtime, clo_policy_use *use, clo_arena *arena)
{
    const clo_limits *limits = clo_view_limits(runtime->scheduling.scheduler);
    clo_status status = CLO_OK;

    use->bytes = use->policy->state_bytes != NULL ? use->policy->state_bytes(limits, use->argument) : 0;
    use->state = clo_arena_take(arena, use->bytes, 1);
    if (use->state == NULL)
        return clo_fail_memory("a policy");
    for (uint32_t j = 0; j < runtime->jobs_max && status == CLO_OK; j++) {
        clo_job *job = runtime->jobs[j];
        if (job != NULL && job->scheduled != NULL)
            status = clo_scheduler_job_prepare(job->scheduled, use, runtime->scheduling.swaps + 1, arena);
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
    clo_arena_open(&arena, NULL, 0);
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
    clo_arena_close(&scheduling->policy_arena); /* of the one that is out */
    scheduling->policy_arena = arena;
    scheduling->policy = use.policy;
    scheduling->argument = use.argument;
    return CLO_OK;
}

clo_status clo_runtime_swap_policy(clo_runtime *runtime, const clo_policy *policy, const void *argument)
{
    clo_swap swap = {.use = {.policy = policy, .argument = argument}};

    if (runtime == NULL || policy == NULL)
        return clo_fail_null("clo_runtime_swap_policy", "runtime or policy");
    if (policy->decide == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no decide function");
    if (clo_thread_is_watchdog(runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not swap policies");
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (clo_thread_is_worker(runtime))
        return clo_fail(CLO_ERR_STATE, "a task body may not swap policies: the combiner may be its own worker");
    pthread_mutex_lock(&runtime->control);
    clo_status status = runtime->scheduling.jobs > 0
                            ? exchange(runtime, &swap)
                            : clo_fail(CLO_ERR_STATE, "the runtime has no job with a policy; name the policy in "
                                                      "clo_job_config");
    pthread_mutex_unlock(&runtime->control);
    return status;
}
