/* combining.c - the scheduler's turn: whoever posts while nobody decides becomes the combiner
 * (sync/structure/combining.h), feeds the scheduler what has happened, and hands out what it says. Arrivals of jobs,
 * cancellations, the timer and a new policy are news like a completion, so all that concerns the scheduler happens in
 * the combiner, whosever thread that is. */
#include "run/scheduler/combining.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "run/job/cut.h"
#include "run/job/end.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"

#include <stdio.h>

/* What one turn has to remember. */
typedef struct turn_state {
    clo_worker *worker; /* NULL: a thread that is no worker */
    clo_runtime *runtime;
    uint64_t mine; /* what our own worker shall run */
    clo_scheduler_job *first_ended, *last_ended;
    uint32_t handled; /* posts */
    uint32_t own;     /* of these, by us */
} turn_state;

#define OWN_MAX 64u /* posts that a thread that is no worker handles, while workers are there to do so */
#define VACANT_MAX_NS INT64_C(100000) /* then the watchdog takes the turn */

int64_t clo_scheduling_now_ns(const clo_runtime *runtime)
{
    if (runtime->scheduling.is_virtual)
        return runtime->scheduling.time.now_ns;
    return (clo_clock_ns() - runtime->scheduling.origin_ns) / (int64_t)runtime->dilate;
}

/* Virtual clock: when the execution will have run. */
static void set_times(const clo_job *job, const clo_order *order, uint32_t execution)
{
    clo_scheduling *scheduling = &job->runtime->scheduling;
    int64_t now_ns = scheduling->time.now_ns, start_ns = order->arrival_ns > now_ns ? order->arrival_ns : now_ns;
    int64_t time_ns = order->is_skipped ? 0 : clo_cost_time(job->cost, order->stage, order->executor);
    int64_t finish_ns = clo_time_add(start_ns, time_ns);

    clo_tournament_put(&scheduling->time.ends, order->executor, finish_ns, order->executor);
    job->runtime->workers[order->executor].policy.has_run = false;
    job->emulated.start_ns[execution] = clo_time_sub(start_ns, job->policy.arrival_ns);
    job->engine->finish_ns[execution] = clo_time_sub(finish_ns, job->policy.arrival_ns);
}

/* Gives out orders until there are none; the one for our own worker stays in turn->mine. */
static void hand_out(turn_state *turn)
{
    clo_runtime *runtime = turn->runtime;
    clo_order order;

    for (int64_t before_ns = clo_clock_ns(), now_ns; clo_scheduler_next(runtime->scheduling.scheduler, &order);
         before_ns = now_ns) {
        clo_job *job = order.job->owner;
        uint32_t execution = clo_engine_ordered(job->engine, &order, job->policy.arrival_ns);
        now_ns = clo_clock_ns();
        clo_histogram_record(job->policy.decision_ns, now_ns - before_ns);
        job->policy.decisions++;
        if (runtime->scheduling.is_virtual)
            set_times(job, &order, execution);
        if (turn->worker != NULL && order.executor == turn->worker->index)
            turn->mine = clo_item(job, execution); /* at most one: from then on the scheduler sees us busy */
        else
            clo_worker_send(runtime, order.executor, clo_item(job, execution), &job->links[execution]);
    }
}

/* Takes the jobs that have ended aside: they are told when the turn is over. */
static void take_ended(turn_state *turn)
{
    clo_scheduler *scheduler = turn->runtime->scheduling.scheduler;
    clo_scheduler_job *ended;

    while ((ended = clo_scheduler_ended(scheduler)) != NULL) {
        clo_job *job = ended->owner;
        const clo_scheduler_counts *counts = clo_scheduler_counts_of(scheduler);
        job->policy.fallbacks = counts->fallbacks - job->policy.fallbacks;
        job->policy.refused = counts->refused - job->policy.refused;
        job->policy.partial = counts->partial - job->policy.partial;
        job->policy.refusal = job->policy.refused > 0 ? clo_scheduler_refusal(scheduler) : "";
        job->policy.most_steps = counts->most_steps;
        job->policy.most_turn_steps = counts->most_turn_steps;
        if (turn->last_ended != NULL)
            turn->last_ended->next_ended = ended;
        else
            turn->first_ended = ended;
        turn->last_ended = ended;
    }
}

/* Bodies are left out if nothing more of the job is started. Where it has branches a task that is ready and not skipped
 * says so; what waits for others may yet be skipped, and a worker leaves it out if not. O(tasks) there. */
static bool leaves_out(const clo_scheduler_job *job)
{
    if (job->control_flow == NULL || job->unbegun == 0)
        return job->unbegun > 0;
    for (uint32_t t = 0; t < job->tasks; t++) {
        const clo_stage_row *row = &job->stages[t];
        if (row->live.parents_left == 0 && !row->is_skipped && row->live.unstarted + row->live.committed > 0)
            return true;
    }
    return false;
}

/* Of a stopped job nothing more is started. Where everything has begun the stop has done nothing yet, and the job may
 * still end well: whether it does is known with its last completion. */
static void cancel_if_stopped(const turn_state *turn, clo_job *job)
{
    if (job->policy.scheduled->slot == CLO_NONE || !clo_stop_is_set(&job->stop))
        return;
    if (clo_outcome_is_open(&job->outcome) && leaves_out(job->policy.scheduled))
        clo_job_cut(job);
    uint64_t outcome = clo_outcome_read(&job->outcome); /* the scheduler's log and the job's status say this */
    if (outcome == CLO_OUTCOME_OPEN)
        return;
    clo_scheduler_cancel(turn->runtime->scheduling.scheduler, job->policy.scheduled, clo_outcome_is_failure(outcome),
                         clo_scheduling_now_ns(turn->runtime));
    if (turn->runtime->scheduling.is_virtual) /* at one instant, whatever comes from other threads */
        clo_scheduler_go_on_to_end(turn->runtime->scheduling.scheduler);
}

static void handle_completion(turn_state *turn, const clo_worker *worker)
{
    clo_job *job = worker->policy.job;

    if (job->events != NULL)
        job->events[worker->policy.execution].sequence = job->policy.completions;
    job->policy.completions++;
    clo_replicas_note(&job->engine->replicas, worker->policy.execution);
    job->emulated.last_ns = worker->policy.finish_ns;
    cancel_if_stopped(turn, job); /* first: with this completion the job may end, and then it is too late */
    clo_scheduler_finish(turn->runtime->scheduling.scheduler, worker->index, worker->policy.start_ns,
                         worker->policy.finish_ns);
}

static void arrive(turn_state *turn, clo_job *job)
{
    clo_scheduler *scheduler = turn->runtime->scheduling.scheduler;

    job->policy.fallbacks = clo_scheduler_counts_of(scheduler)->fallbacks;
    job->policy.refused = clo_scheduler_counts_of(scheduler)->refused;
    job->policy.partial = clo_scheduler_counts_of(scheduler)->partial;
    clo_status status = clo_scheduler_arrive(scheduler, job->policy.scheduled, job->policy.arrival_ns);
    (void)status; /* there is room: as many jobs as the runtime can hold */
    cancel_if_stopped(turn, job);
}

/* Virtual clock: it will, at its time. */
static void submit(const turn_state *turn, clo_job *job)
{
    clo_scheduling *scheduling = &turn->runtime->scheduling;
    int64_t now_ns = scheduling->time.now_ns;

    job->policy.arrival_ns = job->emulated.last_ns = job->policy.due_ns > now_ns ? job->policy.due_ns : now_ns;
    job->policy.scheduled->live.deadline_ns =
        job->deadline_ns > 0 ? clo_time_add(job->policy.arrival_ns, job->deadline_ns) : CLO_TIME_NEVER;
    clo_heap_push(&scheduling->arrivals, job->policy.arrival_ns, (uint64_t)scheduling->submitted++ << 32 | job->slot);
}

/* All requests of one job: those that come while we are at it, too. False: nothing is to be decided before more of the
 * job has entered. */
static bool handle_job(turn_state *turn, clo_job *job)
{
    bool is_whole = true;

    for (uint32_t asks = 0, expected;;) { /* each time somebody has asked for more */
        /* acq_rel, here and in clo_job_ask: carries what the asker has prepared. */
        asks = atomic_exchange_explicit(&job->policy.asks, CLO_ASK_BUSY, memory_order_acq_rel);
        if ((asks & CLO_ASK_ARRIVE) && turn->runtime->scheduling.is_virtual)
            submit(turn, job);
        else if (asks & CLO_ASK_ARRIVE)
            arrive(turn, job);
        if (asks & CLO_ASK_CANCEL)
            cancel_if_stopped(turn, job);
        is_whole = job->policy.scheduled->slot == CLO_NONE ||
                   job->policy.scheduled->entered == job->policy.scheduled->roots_count;
        expected = CLO_ASK_BUSY;
        if (atomic_compare_exchange_strong_explicit(&job->policy.asks, &expected, 0, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return is_whole;
    }
}

/* The workers that have news, earliest finish first, into scheduling->news; returns their number. Insertion: there are
 * at most as many as workers, and mostly one. */
static uint32_t read_records(const clo_runtime *runtime)
{
    const clo_worker *workers = runtime->workers;
    uint32_t *news = runtime->scheduling.news, count = 0;
    clo_combining *combining = (clo_combining *)(uintptr_t)&runtime->scheduling.combining;

    for (uint32_t w = 0; w < runtime->workers_count; w++) {
        if (clo_combining_read(combining, w) == CLO_COMBINING_EMPTY)
            continue;
        uint32_t at = count++;
        for (; at > 0 && workers[news[at - 1]].policy.finish_ns > workers[w].policy.finish_ns; at--)
            news[at] = news[at - 1];
        news[at] = w;
    }
    return count;
}

/* What has ended meanwhile goes before whatever else is waiting; returns the posts handled. */
static uint32_t handle_completions(turn_state *turn)
{
    const clo_scheduling *scheduling = &turn->runtime->scheduling;
    uint32_t count = read_records(turn->runtime);

    for (uint32_t i = 0; i < count; i++) {
        if (scheduling->is_virtual) {
            turn->runtime->workers[scheduling->news[i]].policy.has_run = true;
            continue;
        }
        handle_completion(turn, &turn->runtime->workers[scheduling->news[i]]);
        hand_out(turn);
    }
    return count;
}

static void handle_requests(turn_state *turn)
{
    clo_runtime *runtime = turn->runtime;
    uint64_t chain = clo_stack_take(&runtime->scheduling.requests), ordered = CLO_ITEM_NONE;

    while (chain != CLO_ITEM_NONE) { /* oldest first */
        clo_job *job = clo_item_job(runtime, chain);
        uint64_t next = job->policy.request_link;
        job->policy.request_link = ordered;
        ordered = chain;
        chain = next;
    }
    while (ordered != CLO_ITEM_NONE) {
        clo_job *job = clo_item_job(runtime, ordered);
        ordered = job->policy.request_link;
        if (handle_job(turn, job)) /* from its end on the job may ask anew, and its link be used */
            hand_out(turn);
        turn->handled += handle_completions(turn); /* not behind all the arrivals that there may be */
    }
}

/* Jobs that do not run get their states for the new policy too: later, at their arrivals, the next swap may be
 * preparing theirs. The thread that swaps holds `coming`, so none comes or goes. */
static void exchange_idle(const clo_runtime *runtime, uint32_t version)
{
    for (uint32_t j = 0; j < runtime->jobs_max; j++) {
        const clo_job *job = runtime->scheduling.followers[j];
        if (job != NULL && job->policy.scheduled->version != version)
            clo_scheduler_job_exchange(job->policy.scheduled);
    }
}

/* The policy of a swap is in place and knows all that lives, so that the next one may come. */
static void end_swap(clo_runtime *runtime)
{
    clo_swap *swap = runtime->scheduling.shown;

    if (swap == NULL || clo_scheduler_is_showing(runtime->scheduling.scheduler))
        return;
    runtime->scheduling.shown = NULL;
    atomic_store_explicit(&swap->is_done, 1, memory_order_release); /* pairs with the acquire in policy_swap.c */
    clo_futex_wake_all(&swap->is_done);
}

static void swap_policy(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_swap *swap = atomic_load_explicit(&scheduling->swap, memory_order_relaxed); /* came with the post */

    swap->status =
        clo_scheduler_swap(scheduling->scheduler, &swap->use, scheduling->swaps + 1, clo_scheduling_now_ns(runtime));
    if (swap->status == CLO_OK)
        exchange_idle(runtime, ++scheduling->swaps);
    else
        snprintf(swap->error, sizeof swap->error, "%s", clo_last_error());
    if (scheduling->is_virtual)
        clo_scheduler_go_on_to_end(scheduling->scheduler);
    scheduling->shown = swap;
    end_swap(runtime);
}

/* Semaphores of machines have reported: what waits there is looked at again. */
static void handle_capacity(const turn_state *turn)
{
    clo_runtime *runtime = turn->runtime;

    for (uint32_t m = 0; m < runtime->platform->machines_count; m++)
        if (atomic_exchange_explicit(&runtime->machines[m].has_reported, 0, memory_order_relaxed) != 0)
            clo_scheduler_capacity(runtime->scheduling.scheduler, m, clo_scheduling_now_ns(runtime));
}

static void end_log(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    clo_scheduler_end_log(scheduling->scheduler, clo_scheduling_now_ns(runtime));
    atomic_store_explicit(&scheduling->log_is_over, 1, memory_order_release); /* pairs with runtime_log.c's acquire */
    clo_futex_wake_all(&scheduling->log_is_over);
}

static void handle_asks(turn_state *turn)
{
    clo_runtime *runtime = turn->runtime;
    uint32_t asks = atomic_exchange_explicit(&runtime->scheduling.asks, 0, memory_order_acq_rel);

    if (asks & CLO_ASK_SWAP)
        swap_policy(runtime);
    if (asks & CLO_ASK_TIMER)
        clo_scheduler_timer(runtime->scheduling.scheduler, clo_scheduling_now_ns(runtime));
    if (asks & CLO_ASK_CAPACITY)
        handle_capacity(turn);
    hand_out(turn);
    handle_requests(turn);
    if (asks & CLO_ASK_END_LOG)
        end_log(runtime);
}

/* One round over the records; returns the posts handled. */
static uint32_t handle_records(turn_state *turn)
{
    clo_scheduling *scheduling = &turn->runtime->scheduling;
    uint32_t before = turn->handled;

    turn->handled += handle_completions(turn);
    if (clo_combining_read(&scheduling->combining, turn->runtime->workers_count) != CLO_COMBINING_EMPTY) {
        turn->handled++;
        handle_asks(turn);
    }
    take_ended(turn);
    return turn->handled - before;
}

/* Virtual clock: handles the next event. False: there is none before the end of a body that still runs. */
static bool handle_event(turn_state *turn)
{
    clo_runtime *runtime = turn->runtime;
    clo_scheduling *scheduling = &runtime->scheduling;
    clo_heap *arrivals = &scheduling->arrivals;
    clo_stream_time *time = &scheduling->time;
    int64_t wake_ns = clo_scheduler_wake_ns(scheduling->scheduler), at_ns;
    bool has_jobs = clo_view_jobs(scheduling->scheduler) > 0 || arrivals->count > 0;

    if (!has_jobs || (time->ends.count == 0 && arrivals->count == 0 && wake_ns == CLO_TIME_NEVER))
        return false; /* without jobs a timer could fire for ever */
    int64_t arrival_ns = arrivals->count > 0 ? arrivals->items[0].key : CLO_TIME_NEVER;
    clo_stream_event event = clo_stream_time_next(time, arrival_ns, wake_ns, false, &at_ns);
    if (event == CLO_STREAM_END && !runtime->workers[clo_tournament_first(&time->ends)].policy.has_run)
        return false;
    time->now_ns = at_ns;
    if (event == CLO_STREAM_END) {
        handle_completion(turn, &runtime->workers[clo_stream_time_take(time)]);
    } else if (event == CLO_STREAM_ARRIVAL) {
        arrive(turn, runtime->jobs[(uint32_t)clo_heap_pop(arrivals).id]);
        clo_scheduler_go_on_to_end(scheduling->scheduler);
    } else {
        clo_scheduler_timer(scheduling->scheduler, at_ns);
    }
    return true;
}

/* Virtual clock: handles events, as long as time does not stand still. */
static void advance(turn_state *turn)
{
    const _Atomic uint32_t *is_held = &turn->runtime->scheduling.is_held;

    while (atomic_load_explicit(is_held, memory_order_relaxed) == 0 && handle_event(turn)) { /* each takes one off */
        hand_out(turn);
        take_ended(turn);
    }
}

/* Tells the watchdog of a timer that comes sooner than the one that it knows. */
static void set_timer(clo_runtime *runtime)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    int64_t wake_ns = clo_scheduler_wake_ns(scheduling->scheduler);

    if (wake_ns == atomic_load_explicit(&scheduling->wake_ns, memory_order_relaxed))
        return;
    atomic_store_explicit(&scheduling->wake_ns, wake_ns, memory_order_relaxed); /* travels with the ring */
    if (wake_ns != CLO_TIME_NEVER)
        clo_eventcount_ring(&runtime->watchdog.eventcount);
}

/* The jobs that have ended are told, and may be gone. */
static void tell_ended(turn_state *turn)
{
    while (turn->first_ended != NULL) {
        clo_job *job = turn->first_ended->owner;
        turn->first_ended = turn->first_ended->next_ended;
        clo_job_run_ended(job);
    }
    turn->last_ended = NULL;
}

/* One piece of what is done in pieces, between two looks at what is posted. Nobody who has ended waits for the
 * others. */
static void go_on(turn_state *turn)
{
    if (clo_scheduler_go_on(turn->runtime->scheduling.scheduler)) {
        end_swap(turn->runtime);
        hand_out(turn);
    }
    tell_ended(turn);
}

/* The turn goes to a worker or a slot thread: to the next one that posts, or that finds nothing to do. One that sleeps
 * is woken; those that do not will look before they do. Should all have gone to long bodies meanwhile, the watchdog
 * takes it. */
static void hand_over(turn_state *turn)
{
    clo_runtime *runtime = turn->runtime;

    tell_ended(turn);
    clo_combining_hand_over(&runtime->scheduling.combining, turn->handled);
    clo_runtime_wake_one(runtime);
    clo_runtime_call_slot_threads(runtime);
    clo_eventcount_ring(&runtime->watchdog.eventcount);
}

/* Until nothing is posted any more, and nothing is left to be done in pieces; a thread that is no worker not longer
 * than it must: a submit would last as long as its job. `handled`: posts of the turn, by those who had it before. */
static uint64_t combine(clo_worker *worker, clo_runtime *runtime, uint32_t handled)
{
    turn_state turn = {.worker = worker, .runtime = runtime, .mine = CLO_ITEM_NONE, .handled = handled};

    for (;;) { /* ends once all posts are handled; each has its add on the way, and each job its pieces */
        uint32_t now = handle_records(&turn);
        turn.own += now;
        if (runtime->scheduling.is_virtual)
            advance(&turn);
        else
            set_timer(runtime);
        if (clo_scheduler_has_more(runtime->scheduling.scheduler))
            go_on(&turn);
        else if (clo_combining_leave(&runtime->scheduling.combining, turn.handled))
            break;
        else if (now == 0)
            clo_relax();
        if (worker == NULL && turn.own >= OWN_MAX)
            return hand_over(&turn), CLO_ITEM_NONE;
    }
    tell_ended(&turn);
    return turn.mine;
}

/* After a post, the first of a turn or not. */
static uint64_t combine_if_mine(clo_worker *worker, clo_runtime *runtime, bool is_first)
{
    uint32_t handled = 0;

    if (!is_first && !clo_combining_take(&runtime->scheduling.combining, &handled))
        return CLO_ITEM_NONE;
    return combine(worker, runtime, handled);
}

uint64_t clo_worker_take_turn(clo_worker *worker)
{
    return combine_if_mine(worker, worker->runtime, false);
}

bool clo_scheduling_take_turn(clo_runtime *runtime)
{
    uint32_t handled;

    if (!clo_combining_take(&runtime->scheduling.combining, &handled))
        return false;
    (void)combine(NULL, runtime, handled);
    return true;
}

uint64_t clo_worker_complete(clo_worker *worker, clo_job *job, uint32_t execution, const clo_span *span)
{
    clo_engine_complete(job->engine, execution);
    worker->policy.job = job;
    worker->policy.execution = execution;
    worker->policy.start_ns = clo_time_add(job->policy.arrival_ns, span->start_ns);
    worker->policy.finish_ns = clo_time_add(job->policy.arrival_ns, span->finish_ns);
    clo_runtime *runtime = worker->runtime;
    return combine_if_mine(worker, runtime, clo_combining_post(&runtime->scheduling.combining, worker->index, 0));
}

void clo_scheduling_ask(clo_runtime *runtime, uint32_t what)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    if (atomic_fetch_or_explicit(&scheduling->asks, what, memory_order_acq_rel) == 0)
        (void)combine_if_mine(NULL, runtime, clo_combining_post(&scheduling->combining, runtime->workers_count, 0));
}

void clo_job_ask(clo_job *job, uint32_t what)
{
    clo_runtime *runtime = job->runtime;

    if (atomic_fetch_or_explicit(&job->policy.asks, what, memory_order_acq_rel) != 0)
        return; /* it stands among the requests already, and the combiner will see this one too */
    clo_stack_push(&runtime->scheduling.requests, clo_item(job, 0), &job->policy.request_link);
    clo_scheduling_ask(runtime, CLO_ASK_REQUESTS);
}

/* Returns when a turn that nobody has taken is ours; INT64_MAX: there is none. */
static int64_t look_at_turn(clo_runtime *runtime, int64_t now_ns)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    if (!clo_combining_is_vacant(&scheduling->combining)) {
        scheduling->vacant_ns = 0;
        return INT64_MAX;
    }
    if (scheduling->vacant_ns == 0)
        scheduling->vacant_ns = now_ns;
    if (now_ns - scheduling->vacant_ns < VACANT_MAX_NS)
        return scheduling->vacant_ns + VACANT_MAX_NS;
    scheduling->vacant_ns = 0;
    (void)clo_scheduling_take_turn(runtime);
    return INT64_MAX; /* if we have handed it over, the eventcount was rung */
}

static int64_t look_at_timer(clo_runtime *runtime, int64_t now_ns)
{
    clo_scheduling *scheduling = &runtime->scheduling;
    int64_t wake_ns = atomic_load_explicit(&scheduling->wake_ns, memory_order_relaxed);

    if (wake_ns == CLO_TIME_NEVER)
        return INT64_MAX;
    int64_t when_ns = clo_time_add(scheduling->origin_ns, clo_time_mul(wake_ns, runtime->dilate));
    if (when_ns > now_ns)
        return when_ns;
    clo_scheduling_ask(runtime, CLO_ASK_TIMER);
    return INT64_MAX; /* the next wish rings the eventcount */
}

int64_t clo_scheduling_look(clo_runtime *runtime, int64_t now_ns)
{
    int64_t turn_ns = look_at_turn(runtime, now_ns), timer_ns = look_at_timer(runtime, now_ns);

    return turn_ns < timer_ns ? turn_ns : timer_ns;
}
