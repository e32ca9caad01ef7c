/* pipeline.c - the turns of a job with several releases in flight. */
#include "run/dispatch/pipeline.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/releases/of_plan.h"
#include "run/job/cut.h"
#include "run/job/end.h"
#include "run/records/record.h"
#include "run/sharing/owner.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/series.h"

#include <string.h>

#define ONE_END (1ull << 32)
#define ONE_KICK 1ull

static clo_status refuse(const char *what)
{
    return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.releases_in_flight does not go together with %s", what);
}

clo_status clo_job_pipeline_check(const clo_runtime *runtime, const clo_job_config *config)
{
    if (config->releases_in_flight > CLO_IN_FLIGHT_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.releases_in_flight is %u; use 0 to %u",
                        config->releases_in_flight, CLO_IN_FLIGHT_MAX);
    if (config->policy != NULL)
        return refuse("a policy; give a plan, or neither");
    if (runtime->clock == CLO_CLOCK_PADDED)
        return refuse("the padded clock; use the real or the virtual one");
    if (config->done != NULL || config->hedge_after_ns != NULL)
        return refuse("`done` or hedge_after_ns; leave both NULL");
    if (config->on_miss != CLO_MISS_RUN_LATE)
        return refuse("skipped or aborted releases; use CLO_MISS_RUN_LATE");
    if (config->deadline_ns > 0 && config->period_ns == 0)
        return refuse("a deadline without a period; set period_ns too, or neither");
    if (config->traced_releases > 1 && !runtime->traces)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.traced_releases needs clo_runtime_config.trace");
    if (config->miss != NULL && runtime->clock == CLO_CLOCK_VIRTUAL)
        return refuse("a handler of misses under the virtual clock; leave `miss` NULL");
    return CLO_OK;
}

clo_status clo_job_pipeline_create(clo_job *job, const clo_job_config *config, clo_arena *arena)
{
    size_t threads = job->runtime->first_slot + (size_t)job->runtime->slot_threads_count;
    size_t inputs = clo_releases_inputs_max(job->program), slots = config->releases_in_flight;

    job->pipeline = clo_arena_take(arena, 1, sizeof *job->pipeline);
    if (job->pipeline == NULL)
        return clo_fail_memory("a job");
    clo_job_pipeline *pipeline = job->pipeline;
    const clo_releases_use use = {.plan = config->plan,
                                  .cost = job->cost,
                                  .slots = config->releases_in_flight,
                                  .period_ns = config->period_ns,
                                  .has_data = true,
                                  .copies = job->runtime->copies,
                                  .is_timed = job->runtime->clock == CLO_CLOCK_VIRTUAL};
    clo_status status = clo_releases_of_plan(job->program, &use, arena, &pipeline->releases);
    if (status != CLO_OK)
        return status;
    pipeline->slots = clo_arena_take(arena, slots, sizeof *pipeline->slots);
    pipeline->scratch = clo_arena_take(arena, threads, sizeof *pipeline->scratch);
    const void **list = clo_arena_take(arena, threads * inputs, sizeof *list);
    size_t *bytes = clo_arena_take(arena, threads * inputs, sizeof *bytes);
    if (pipeline->slots == NULL || pipeline->scratch == NULL || list == NULL || bytes == NULL)
        return clo_fail_memory("a job");
    for (size_t t = 0; t < threads; t++)
        pipeline->scratch[t] = (clo_engine_scratch){list + t * inputs, bytes + t * inputs};
    pipeline->tail = pipeline->releases->stages - 1;
    pipeline->deadline_ns = config->deadline_ns > 0 ? config->deadline_ns : config->period_ns;
    return CLO_OK;
}

/* Plain and relaxed stores: the first post publishes them all. */
void clo_job_pipeline_arm(clo_job *job)
{
    clo_job_pipeline *pipeline = job->pipeline;
    const clo_series *series = job->series;
    bool is_periodic = series->period_ns > 0;

    clo_releases_begin(pipeline->releases);
    for (uint32_t slot = 0; slot < pipeline->releases->slots; slot++)
        atomic_store_explicit(&pipeline->slots[slot].ended, 0, memory_order_relaxed);
    for (size_t i = 0, count = clo_job_events(job); i < count; i++)
        job->events[i].executor = CLO_NONE;
    clo_outcome_open(&job->outcome);
    atomic_store_explicit(&job->series->is_first, 0, memory_order_relaxed);
    atomic_store_explicit(&job->series->current, 0, memory_order_relaxed);
    clo_stop_begin(&job->stop, job->submit.first_run);
    job->times.run_ns = atomic_load_explicit(&job->times.submitted, memory_order_relaxed);
    job->times.end_ns = job->times.run_ns;
    pipeline->opened = pipeline->posted = pipeline->ended = 0;
    atomic_store_explicit(&pipeline->released, is_periodic ? 0 : UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&pipeline->final, is_periodic || series->releases == 0 ? UINT64_MAX : series->releases,
                          memory_order_relaxed);
    atomic_store_explicit(&pipeline->posts, 0, memory_order_relaxed);
    atomic_store_explicit(&pipeline->live, 1, memory_order_relaxed);
}

static void lower_final(clo_job_pipeline *pipeline, uint64_t count)
{
    uint64_t final = atomic_load_explicit(&pipeline->final, memory_order_relaxed);

    /* Relaxed: whoever lowers it posts, or has the turn. */
    while (final > count && !atomic_compare_exchange_weak_explicit(&pipeline->final, &final, count,
                                                                   memory_order_relaxed, memory_order_relaxed))
        ;
}

/* What a release leaves in its series. */
static void account(clo_job *job, uint64_t release, const clo_job_pipeline_slot *slot)
{
    clo_series *series = job->series;
    const clo_releases *releases = job->pipeline->releases;
    bool is_periodic = series->period_ns > 0, is_emulated = releases->finish_ns != NULL && releases->period_ns > 0;
    int64_t due_ns = is_periodic ? clo_series_due_ns(series, release) : slot->opened_ns, ended_ns = slot->end_ns;
    int64_t end_ns = ended_ns;
    int64_t deadline_ns = is_emulated ? job->pipeline->deadline_ns : series->deadline_ns;

    if (is_emulated) { /* nobody has its slot yet */
        due_ns = clo_releases_due_ns(releases, release);
        end_ns = clo_releases_end_ns(releases, (uint32_t)(release % releases->slots));
    }
    int64_t response_ns = clo_time_sub(end_ns, due_ns);
    bool is_late = response_ns > deadline_ns;
    if (deadline_ns > 0 && clo_series_judge(series, release, is_late) && !is_late) {
        ended_ns = clo_clock_ns(); /* the watchdog was first, as in end.c */
        response_ns = clo_time_sub(ended_ns, due_ns);
    }
    clo_histogram_record(&series->response_ns, response_ns);
    atomic_fetch_add_explicit(&series->finished, 1, memory_order_relaxed);
    if (clo_outcome_is_failure(clo_outcome_read(&job->outcome)))
        atomic_store_explicit(&series->stopped, 1, memory_order_release);
    atomic_store_explicit(&series->ended, release + 1, memory_order_release); /* `late` before it */
    job->times.end_ns = ended_ns;
}

static void see_ends(clo_job *job)
{
    clo_job_pipeline *pipeline = job->pipeline;

    for (; pipeline->ended < pipeline->opened; pipeline->ended++) { /* ends at the first that has not ended */
        const clo_job_pipeline_slot *slot = &pipeline->slots[pipeline->ended % pipeline->releases->slots];
        /* [B] acquire, pairs with [A]: the end's time. */
        if (atomic_load_explicit(&slot->ended, memory_order_acquire) != pipeline->ended + 1)
            return;
        account(job, pipeline->ended, slot);
    }
}

/* Without a plan: anybody may run the first items of the release. They are on one shared pool in one piece. */
static void offer_opened(clo_job *job, uint64_t release)
{
    clo_runtime *runtime = job->runtime;
    clo_job_pipeline *pipeline = job->pipeline;
    uint64_t chain = CLO_ITEM_NONE, *last = NULL;
    uint32_t cursor = 0, item, count = 0;

    while ((item = clo_releases_opened(pipeline->releases, release, &cursor)) != CLO_NONE) {
        clo_job_pipeline_ready(pipeline, item);
        last = last == NULL ? &job->links[item] : last;
        job->links[item] = chain;
        chain = clo_item(job, item);
        count++;
    }
    if (count == 0)
        return;
    clo_stack_push(&runtime->workers[release % runtime->workers_count].shared_pool, chain, last);
    (void)clo_runtime_call(runtime, count, 0);
}

/* Its first items go to their workers. While we have the turn the job cannot end. */
static void open_next(clo_job *job, uint64_t final)
{
    clo_job_pipeline *pipeline = job->pipeline;
    uint64_t release = pipeline->opened++;
    clo_job_pipeline_slot *slot = &pipeline->slots[release % pipeline->releases->slots];
    uint32_t cursor = 0, item;

    slot->is_empty = release >= final;
    slot->opened_ns = clo_clock_ns();
    atomic_store_explicit(&slot->is_first, !slot->is_empty, memory_order_relaxed);
    if (!slot->is_empty) {
        atomic_store_explicit(&job->series->current, release, memory_order_relaxed);
        atomic_fetch_add_explicit(&job->series->released, 1, memory_order_relaxed);
    }
    clo_releases_open(pipeline->releases, release);
    if (!job->is_pinned) {
        offer_opened(job, release);
        return;
    }
    while ((item = clo_releases_opened(pipeline->releases, release, &cursor)) != CLO_NONE) {
        clo_job_pipeline_ready(pipeline, item);
        clo_worker_send(job->runtime, clo_job_owner(job, clo_releases_execution(pipeline->releases, item)),
                        clo_item(job, item), &job->links[item]);
    }
}

/* True: nothing is left to be opened, and every release has ended. */
static bool act(clo_job *job)
{
    clo_job_pipeline *pipeline = job->pipeline;

    see_ends(job);
    if (clo_stop_is_set(&job->stop))
        lower_final(pipeline, pipeline->opened);
    uint64_t final = atomic_load_explicit(&pipeline->final, memory_order_relaxed);
    bool has_none = final == 0 && pipeline->opened == 0;
    uint64_t all =
        has_none ? 0 : clo_amount_add(final, pipeline->tail); /* where it is not known it is UINT64_MAX, too */
    uint64_t due = final == UINT64_MAX ? atomic_load_explicit(&pipeline->released, memory_order_relaxed) : all;
    while (pipeline->opened < due && pipeline->opened - pipeline->ended < pipeline->releases->slots)
        open_next(job, final);
    return pipeline->posted >= final && pipeline->opened >= all;
}

/* When the last executor was done, in emulated time; else 0. */
static int64_t find_last_ns(const clo_job *job)
{
    const clo_releases *releases = job->pipeline->releases;
    int64_t last_ns = 0;

    for (uint32_t w = 0; releases->finish_ns != NULL && w < job->runtime->workers_count; w++)
        if (releases->free_ns[w] > last_ns)
            last_ns = releases->free_ns[w];
    return last_ns;
}

void clo_job_pipeline_drop(clo_job *job)
{
    /* [E] acq_rel, pairs with itself: the last one sees all that the others have done. */
    if (atomic_fetch_sub_explicit(&job->pipeline->live, 1, memory_order_acq_rel) != 1)
        return;
    clo_watchdog *watchdog = &job->runtime->watchdog;
    bool rings = job->series->miss != NULL || clo_job_is_stopped(job);

    job->emulated.last_ns = find_last_ns(job);
    clo_job_series_ended(job);
    if (rings)
        clo_eventcount_ring(&watchdog->eventcount);
}

/* Whoever finds nothing posted takes the turn. */
static void post(clo_job *job, uint64_t what)
{
    clo_job_pipeline *pipeline = job->pipeline;

    /* [C] acq_rel, pairs with itself and [D]: hands over what the last turn left, and what the posters have done. */
    uint64_t before = atomic_fetch_add_explicit(&pipeline->posts, what, memory_order_acq_rel), seen;
    if (before != 0)
        return;
    do { /* each round sees new posts; a worker posts once for each release that was opened */
        seen = atomic_load_explicit(&pipeline->posts, memory_order_acquire);
        pipeline->posted += seen / ONE_END - (before / ONE_END);
        before = 0;
        if (act(job)) {
            clo_job_pipeline_drop(job);
            return;
        }
        /* [D] */
    } while (atomic_fetch_sub_explicit(&pipeline->posts, seen, memory_order_acq_rel) != seen);
}

void clo_job_pipeline_start(clo_job *job)
{
    post(job, ONE_KICK);
}

void clo_job_pipeline_release(clo_job *job, uint64_t number, int64_t late_ns)
{
    (void)late_ns;                                                                     /* it is due all the same */
    atomic_store_explicit(&job->pipeline->released, number + 1, memory_order_relaxed); /* the post publishes it */
    post(job, ONE_KICK);
}

void clo_job_pipeline_close(clo_job *job, uint64_t count)
{
    lower_final(job->pipeline, count);
    post(job, ONE_KICK);
}

void clo_job_pipeline_end(clo_job *job, uint32_t slot)
{
    clo_job_pipeline_slot *ended = &job->pipeline->slots[slot];

    ended->end_ns = clo_clock_ns();
    /* [A] release */
    atomic_store_explicit(&ended->ended, job->pipeline->releases->number[slot] + 1, memory_order_release);
    post(job, ONE_END);
}

uint64_t clo_job_pipeline_last(const clo_job_pipeline *pipeline)
{
    uint64_t final = atomic_load_explicit(&pipeline->final, memory_order_relaxed);

    return final == 0 ? 0 : final - 1;
}
