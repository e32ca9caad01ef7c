/* attach.c - see attach.h. */
#include "run/attach.h"

#include "base/clock.h"
#include "base/status.h"
#include "run/capacity.h"
#include "run/combining.h"
#include "run/runtime.h"
#include "run/runtime_log.h"
#include "run/watchdog_loop.h"
#include "trace/log.h"

#include <sched.h>
#include <string.h>

void clo_scheduling_init(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    clo_stack_init(&scheduling->requests);
    atomic_init(&scheduling->wake_ns, CLO_TIME_NEVER);
}

/* Something of the scheduler was refused. */
static void want(void *driver, uint32_t machine)
{
    clo_runtime *runtime = driver;

    /* Relaxed: comes with the swing of the ledger's head, by which it registers. */
    atomic_store_explicit(&runtime->machines[machine].is_wanted, 1, memory_order_relaxed);
}

static void report(void *driver, uint32_t machine, bool again)
{
    clo_runtime *runtime = driver;

    clo_capacity_report(runtime, &runtime->machines[machine], again);
}

static void call(clo_runtime *runtime)
{
    clo_scheduling_ask(runtime, CLO_ASK_CAPACITY);
}

/* The ledgers of the machines, with the number behind those of the workers: one combiner at a time uses it. */
static void share_room(clo_runtime *runtime, clo_ledger **ledgers)
{
    for (uint32_t m = 0; m < runtime->platform->machines_count; m++)
        ledgers[m] = &runtime->machines[m].ledger;
    runtime->scheduling.room = (clo_scheduler_room){ledgers, runtime->workers_count, runtime, want, report};
    runtime->scheduling.call = call;
}

/* Nobody tells a scheduler without jobs of capacities any more. */
static void wait_for_callers(clo_runtime *runtime)
{
    for (uint32_t m = 0; m < runtime->platform->machines_count; m++) /* acq_rel: as in tell_scheduler of capacity.c */
        atomic_exchange_explicit(&runtime->machines[m].is_wanted, 0, memory_order_acq_rel);
    while (atomic_load_explicit(&runtime->scheduling.callers, memory_order_acquire) != 0)
        sched_yield();
}

/* The last job may have gone while the combiner that let go of it still has the turn. Without jobs nobody posts any
 * more: the watchdog, with its timer, is kept out by its lock. */
static void wait_for_turn(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    wait_for_callers(runtime);
    /* acquire: pairs with the end of the last turn (sync/combining.h, [D]). */
    while (scheduling->scheduler != NULL &&
           atomic_load_explicit(&scheduling->combining.posts, memory_order_acquire) != 0)
        sched_yield();
}

/* The scheduler that is made next writes the log that waits for it. */
static clo_status open_log(clo_runtime *runtime, const clo_policy_use *use, uint32_t steps_max)
{
    clo_log *log = runtime->scheduling.log;
    const clo_log_header *about = clo_log_about(log);
    const char *name = use->policy->name != NULL ? use->policy->name : "?";

    clo_log_set_run(
        log, &(clo_log_run){CLO_LOG_RUN_REAL, runtime->clock, runtime->workers_count, runtime->jobs_max, steps_max});
    if (about->policies_count == 0)
        return clo_log_add_policy(log, name, use->argument != NULL ? CLO_LOG_ARGUMENT_UNKNOWN : NULL, NULL);
    if (strcmp(about->policies[0].name, name) != 0)
        return clo_fail(CLO_ERR_ARGUMENT, "the log's header names the policy '%.60s', and the job's is '%.60s'",
                        about->policies[0].name, name);
    return CLO_OK;
}

static clo_status make_scheduler(clo_runtime *runtime, const clo_policy_use *use, uint32_t steps_max)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    uint32_t workers = runtime->workers_count;
    clo_scheduler_config config = {
        .platform = runtime->platform,
        .policy = use->policy,
        .argument = use->argument,
        .jobs_max = runtime->jobs_max,
        .steps_max = steps_max,
        .room = &scheduling->room,
        .log = scheduling->log_waits ? scheduling->log : NULL,
    };
    clo_scheduler *scheduler = NULL;
    clo_arena arena;
    clo_status status = config.log != NULL ? open_log(runtime, use, steps_max) : CLO_OK;

    if (status != CLO_OK)
        return status;
    wait_for_turn(runtime);
    clo_arena_open(&arena, NULL, 0);
    uint32_t *news = clo_arena_take(&arena, workers, sizeof *news);
    clo_combining_slot *slots = clo_arena_take(&arena, (size_t)workers + 1, sizeof *slots);
    clo_ledger **ledgers = clo_arena_take(&arena, runtime->platform->machines_count, sizeof(clo_ledger *));
    if (news == NULL || slots == NULL || ledgers == NULL)
        status = clo_fail_memory("a scheduler");
    else
        share_room(runtime, ledgers);
    if (status == CLO_OK)
        status = clo_scheduler_create(&config, &arena, &scheduler);
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    if (config.log == NULL)
        clo_runtime_end_log(runtime); /* of the scheduler that goes */
    clo_arena_close(&scheduling->arena);
    clo_arena_close(&scheduling->policy_arena);
    clo_arena_open(&scheduling->policy_arena, NULL, 0);
    scheduling->arena = arena;
    scheduling->news = news;
    scheduling->policy = use->policy;
    scheduling->argument = use->argument;
    scheduling->origin_ns = clo_clock_ns();
    scheduling->scheduler = scheduler;
    scheduling->swaps = 0;
    clo_combining_init(&scheduling->combining, slots, workers + 1);
    atomic_store_explicit(&scheduling->wake_ns, CLO_TIME_NEVER, memory_order_relaxed);
    scheduling->log_waits = false;
    clo_scheduler_begin_log(scheduler);
    return CLO_OK;
}

static bool is_logging(const clo_scheduling *scheduling)
{
    return scheduling->log != NULL && !scheduling->log_waits;
}

clo_status clo_scheduling_attach(clo_runtime *runtime, const clo_policy_use *use, uint32_t steps_max, uint32_t *version)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_status status = clo_watchdog_need(&runtime->watchdog); /* it keeps the timer */

    if (status != CLO_OK)
        return status;
    pthread_mutex_lock(&runtime->control);
    bool is_same =
        scheduling->scheduler != NULL && scheduling->policy == use->policy && scheduling->argument == use->argument;
    if (scheduling->jobs > 0 && !is_same) {
        status = clo_fail(CLO_ERR_STATE,
                          "the runtime's scheduler follows the policy '%s' for %u other jobs; destroy them, swap its "
                          "policy, or use another runtime",
                          scheduling->policy->name != NULL ? scheduling->policy->name : "?", scheduling->jobs);
    } else if (scheduling->jobs == 0 && !(is_same && is_logging(scheduling))) { /* a log goes on with its scheduler */
        pthread_mutex_lock(&runtime->watchdog.lock);                            /* it looks at the timer */
        status = make_scheduler(runtime, use, steps_max);
        pthread_mutex_unlock(&runtime->watchdog.lock);
    }
    scheduling->jobs += status == CLO_OK;
    *version = scheduling->swaps;
    pthread_mutex_unlock(&runtime->control);
    return status;
}

void clo_scheduling_detach(clo_runtime *runtime)
{
    runtime->scheduling.jobs--;
}

void clo_scheduling_free(clo_runtime *runtime)
{
    clo_runtime_end_log(runtime);
    clo_arena_close(&runtime->scheduling.arena);
    clo_arena_close(&runtime->scheduling.policy_arena);
}
