/* attach.c - see attach.h. */
#include "run/control/attach.h"

#include "base/carve.h"
#include "base/clock.h"
#include "base/status.h"
#include "run/control/runtime_log.h"
#include "run/dispatch/dispatches.h"
#include "run/extras/capacity.h"
#include "run/scheduler/combining.h"
#include "run/state/features.h"
#include "run/state/runtime.h"
#include "run/threads/watchdog_loop.h"
#include "sync/sleep/lock.h"
#include "trace/log.h"

#include <assert.h>
#include <string.h>

void clo_scheduling_init(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    clo_stack_init(&scheduling->requests);
    (void)clo_lock_init(&scheduling->swapping); /* where that cannot be, clo_watchdog_init says so */
    (void)clo_lock_init(&scheduling->coming);
    atomic_init(&scheduling->wake_ns, CLO_TIME_NEVER);
    atomic_init(&scheduling->is_held, 0);
}

/* Something of the scheduler was refused. */
static void want(void *driver, uint32_t machine)
{
    clo_runtime *runtime = driver;

    /* Relaxed: comes with the swing of the semaphore's head, by which it registers. */
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

/* The semaphores of the machines, with the number behind those of the workers: one combiner at a time uses it. */
static void share_room(clo_runtime *runtime)
{
    clo_scheduler_room *room = &runtime->scheduling.room;

    for (uint32_t m = 0; m < runtime->platform->machines_count; m++)
        room->semaphores[m] = &runtime->machines[m].semaphore;
    *room = (clo_scheduler_room){room->semaphores, runtime->workers_count, runtime, want, report};
    runtime->scheduling.call = call;
}

/* Nobody tells a scheduler without jobs of capacities any more. */
static void wait_for_callers(clo_runtime *runtime)
{
    for (uint32_t m = 0; m < runtime->platform->machines_count; m++) /* acq_rel: as in tell_scheduler of capacity.c */
        atomic_exchange_explicit(&runtime->machines[m].is_wanted, 0, memory_order_acq_rel);
    for (uint32_t callers; (callers = atomic_load_explicit(&runtime->scheduling.callers, memory_order_acquire)) != 0;)
        clo_futex_doze(&runtime->scheduling.callers, callers);
}

/* The last job may have gone while the combiner that let go of it still has the turn. Without jobs nobody posts any
 * more but the watchdog, for a timer: there is none afterwards. It is kept out by its lock meanwhile, and not while the
 * policy is made. */
static void wait_for_turn(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    wait_for_callers(runtime);
    pthread_mutex_lock(&runtime->watchdog.lock);
    /* acquire: pairs with the end of the last turn (sync/structure/combining.h, [D]). */
    for (uint32_t posts; scheduling->scheduler != NULL &&
                         (posts = atomic_load_explicit(&scheduling->combining.posts, memory_order_acquire)) != 0;)
        if (!clo_scheduling_take_turn(runtime))
            clo_futex_doze(&scheduling->combining.posts, posts);
    atomic_store_explicit(&scheduling->wake_ns, CLO_TIME_NEVER, memory_order_relaxed);
    pthread_mutex_unlock(&runtime->watchdog.lock);
}

/* What belongs to the runtime's scheduler lies in one piece before it. */
static void carve(const clo_platform *platform, uint32_t jobs_max, clo_clock clock, clo_scheduling *at,
                  clo_block *block)
{
    clo_carve(block, &at->combining.slots, (size_t)platform->executors_count + 1);
    clo_carve(block, &at->room.semaphores, platform->machines_count);
    clo_carve(block, &at->news, platform->executors_count);
    if (clock != CLO_CLOCK_VIRTUAL)
        return;
    at->arrivals = (clo_heap){.capacity = jobs_max};
    clo_carve(block, &at->arrivals.items, jobs_max);
    clo_stream_time_carve(&at->time, platform->executors_count, block);
}

/* room: not used in virtual time, where replays have capacities of their own. */
static clo_scheduler_config config_of(const clo_platform *platform, uint32_t jobs_max, clo_clock clock,
                                      const clo_scheduler_room *room)
{
    return (clo_scheduler_config){
        .platform = platform, .jobs_max = jobs_max, .room = clock == CLO_CLOCK_VIRTUAL ? NULL : room};
}

size_t clo_scheduling_bytes(const clo_platform *platform, uint32_t jobs_max, clo_clock clock)
{
    clo_scheduler_room shared = {0};
    clo_scheduler_config config = config_of(platform, jobs_max, clock, &shared);
    clo_block block = {0};
    clo_scheduling at;

    carve(platform, jobs_max, clock, &at, &block);
    size_t own = clo_arena_need(block.bytes), rest = clo_arena_need(clo_scheduler_bytes(&config));
    return block.is_refused || rest == SIZE_MAX ? SIZE_MAX : own + rest;
}

void clo_scheduling_open_states(const clo_runtime *runtime, clo_arena *arena)
{
    const clo_scheduling *scheduling = &runtime->scheduling;
    char *places = scheduling->places;

    if (places != NULL)
        places += scheduling->place == 0 ? scheduling->policy_bytes : 0;
    clo_arena_open(arena, places, scheduling->policy_bytes);
}

clo_status clo_scheduling_check_states(const clo_runtime *runtime, const clo_policy *policy, size_t bytes)
{
    const clo_scheduling *scheduling = &runtime->scheduling;

    if (scheduling->places == NULL || bytes <= scheduling->policy_bytes)
        return CLO_OK;
    return clo_fail(CLO_ERR_LIMIT,
                    "the states of the policy '%s' need %zu bytes, the runtime has %zu for them; raise "
                    "clo_runtime_config.policy_bytes",
                    policy->name != NULL ? policy->name : "?", bytes, scheduling->policy_bytes);
}

void clo_scheduling_keep_states(clo_runtime *runtime, const clo_arena *arena)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    clo_arena_close(&scheduling->policy_arena);
    scheduling->policy_arena = *arena;
    scheduling->place = 1 - scheduling->place;
}

static clo_status build(clo_runtime *runtime, const clo_scheduler_config *config)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_limits limits = clo_scheduler_limits(config);
    clo_policy_use use = {.policy = config->policy, .argument = config->argument};
    clo_arena arena;
    clo_block block = {0};
    clo_status status =
        clo_scheduling_check_states(runtime, config->policy, clo_arena_need(clo_policy_state_bytes(&use, &limits)));

    if (status != CLO_OK)
        return status;
    clo_arena_open(&arena, scheduling->memory, scheduling->memory_bytes);
    carve(runtime->platform, runtime->jobs_max, runtime->clock, scheduling, &block);
    bool has_memory = clo_block_take(&block, &arena);
    assert(has_memory); /* clo_scheduling_bytes says so */
    (void)has_memory;
    share_room(runtime);
    return clo_scheduler_create(config, &arena, &scheduling->scheduler);
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

/* In the place of the one of before, which no job uses any more. */
static clo_status make_scheduler(clo_runtime *runtime, const clo_policy_use *use, uint32_t steps_max)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_scheduler_config config = config_of(runtime->platform, runtime->jobs_max, runtime->clock, &scheduling->room);
    clo_arena states;

    config.policy = use->policy;
    config.argument = use->argument;
    config.steps_max = steps_max;
    config.states = &states;
    config.log = scheduling->log_waits ? scheduling->log : NULL;
    clo_status status = config.log != NULL ? open_log(runtime, use, steps_max) : CLO_OK;

    if (status != CLO_OK)
        return status;
    wait_for_turn(runtime);
    if (config.log == NULL)
        clo_runtime_end_log(runtime); /* of the scheduler that goes */
    clo_scheduling_open_states(runtime, &states);
    scheduling->scheduler = NULL;
    status = build(runtime, &config);
    if (status != CLO_OK) {
        scheduling->scheduler = NULL;
        return clo_arena_close(&states), status;
    }
    clo_scheduling_keep_states(runtime, &states);
    if (scheduling->is_virtual)
        clo_stream_time_begin(&scheduling->time);
    scheduling->policy = use->policy;
    scheduling->argument = use->argument;
    clo_rcu_publish(&scheduling->monitored, use->policy); /* without jobs nobody reads the old one */
    scheduling->origin_ns = clo_clock_ns();
    scheduling->swaps = 0;
    clo_combining_init(&scheduling->combining, scheduling->combining.slots, runtime->workers_count + 1);
    scheduling->log_waits = false;
    clo_scheduler_begin_log(scheduling->scheduler);
    return CLO_OK;
}

/* The job's part of the scheduler. */
static clo_status make(clo_job *job, const clo_job_config *config, clo_arena *arena)
{
    clo_policy_use use = {.policy = config->policy, .argument = config->argument};
    clo_scheduler_job_config of_job = {
        .deadline_ns = CLO_TIME_NEVER,
        .weight = config->weight > 0 ? config->weight : 1,
        .band = config->band,
        .group = config->group,
        .limit = config->limit > 0 ? config->limit : CLO_NONE,
    };
    clo_status status = clo_scheduler_job_create(job->cost, &of_job, &use, arena, &job->policy.scheduled);

    if (status != CLO_OK)
        return status;
    job->policy.scheduled->owner = job;
    job->policy.scheduled->tag = (int64_t)config->tag;
    return CLO_OK;
}

static bool is_logging(const clo_scheduling *scheduling)
{
    return scheduling->log != NULL && !scheduling->log_waits;
}

static clo_status attach(clo_runtime *runtime, const clo_policy_use *use, uint32_t steps_max, uint32_t *version)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_status status = clo_watchdog_need(&runtime->watchdog); /* it keeps the timer */

    if (status != CLO_OK)
        return status;
    pthread_mutex_lock(&scheduling->coming);
    bool is_same =
        scheduling->scheduler != NULL && scheduling->policy == use->policy && scheduling->argument == use->argument;
    if (scheduling->jobs > 0 && !is_same) {
        status =
            clo_fail(CLO_ERR_STATE,
                     "the runtime's scheduler follows the policy '%s' for %u other job%s; swap its policy, destroy "
                     "what has it, or use another runtime",
                     scheduling->policy->name != NULL ? scheduling->policy->name : "?", scheduling->jobs,
                     scheduling->jobs == 1 ? "" : "s");
    } else if (scheduling->jobs == 0 && !(is_same && is_logging(scheduling))) { /* a log goes on with its scheduler */
        status = make_scheduler(runtime, use, steps_max);
    }
    *version = scheduling->swaps;
    if (status == CLO_OK) {
        scheduling->jobs++;
        /* Relaxed: the swap that will wait for us takes `coming` after us. */
        atomic_fetch_add_explicit(&scheduling->makers[*version % 2], 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&scheduling->coming);
    return status;
}

void clo_scheduling_made(clo_runtime *runtime, uint32_t version)
{
    _Atomic uint32_t *makers = &runtime->scheduling.makers[version % 2];

    /* Release, pairs with the acquire in clo_scheduling_wait_for_makers: whoever frees the argument comes after us. */
    if (atomic_fetch_sub_explicit(makers, 1, memory_order_release) == 1)
        clo_futex_wake_all(makers);
}

void clo_scheduling_wait_for_makers(clo_runtime *runtime, uint32_t version)
{
    _Atomic uint32_t *makers = &runtime->scheduling.makers[version % 2];

    for (uint32_t left; (left = atomic_load_explicit(makers, memory_order_acquire)) != 0;) /* none comes any more */
        clo_futex_wait(makers, left);
}

void clo_scheduling_detach(clo_runtime *runtime)
{
    runtime->scheduling.jobs--;
}

void clo_scheduling_free(clo_runtime *runtime)
{
    if (runtime->features.policies != NULL)
        runtime->features.policies->end_log(runtime);
    clo_arena_close(&runtime->scheduling.policy_arena);
    pthread_mutex_destroy(&runtime->scheduling.swapping);
    pthread_mutex_destroy(&runtime->scheduling.coming);
}

static const struct clo_policy_functions functions = {
    .dispatch = &clo_dispatch_policy,
    .attach = attach,
    .make = make,
    .end_log = clo_runtime_end_log,
    .take_turn = clo_worker_take_turn,
    .look = clo_scheduling_look,
};

const clo_policy_feature clo_with_policies = {&functions};
