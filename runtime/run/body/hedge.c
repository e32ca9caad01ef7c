/* hedge.c - see hedge.h. */
#include "run/body/hedge.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "run/extras/capacity.h"
#include "run/extras/pending.h"
#include "run/job/cut.h"
#include "run/job/end.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"

#define LOOK_NS 20000 /* the watchdog does not look for new timeouts more often: it would do nothing else */

static clo_status check_task(const clo_graph *graph, uint32_t task, int64_t after_ns)
{
    char scratch[16];

    if (after_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.hedge_after_ns of task '%s' is negative; use 0 for no hedge",
                        clo_graph_task_name(graph, task, scratch));
    if (after_ns > 0 && !graph->rows[task].duplicable)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_job_config.hedge_after_ns of task '%s', which may not be executed twice; make it "
                        "duplicable if it is pure, or use 0",
                        clo_graph_task_name(graph, task, scratch));
    return CLO_OK;
}

clo_status clo_hedges_create(clo_job *job, const clo_job_config *config, clo_arena *arena)
{
    const clo_graph *graph = clo_cost_graph(job->cost);

    if (config->hedge_after_ns == NULL)
        return CLO_OK;
    if (graph->control_flow != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "clo_job_config.hedge_after_ns in a graph with branches or merges; leave "
                                             "it NULL there");
    if (config->policy != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "clo_job_config.hedge_after_ns is for plans and work stealing; a policy "
                                             "asks for replicas itself");
    for (uint32_t t = 0; t < graph->tasks; t++) {
        clo_status status = check_task(graph, t, config->hedge_after_ns[t]);
        if (status != CLO_OK)
            return status;
    }
    job->hedges.after_ns = clo_arena_take(arena, graph->tasks, sizeof *job->hedges.after_ns);
    if (job->hedges.after_ns == NULL)
        return clo_fail_memory("a job");
    for (uint32_t t = 0; t < graph->tasks; t++) {
        job->hedges.after_ns[t] = config->hedge_after_ns[t];
        if (config->hedge_after_ns[t] > 0)
            clo_timeouts_expect(&job->runtime->watchdog.timeouts, config->hedge_after_ns[t]);
    }
    return CLO_OK;
}

/* It will not begin. Returns false. */
static bool skip(clo_worker *worker, clo_job *job)
{
    job->stats[worker->index].hedges_skipped++;
    worker->pair.is_cut = true;
    return false;
}

bool clo_hedge_begin(clo_worker *worker, clo_job *job, uint32_t execution, bool *holds)
{
    bool has_demands = job->program->graph->has_demands;

    worker->pair.code = 0;
    worker->pair.is_cut = false;
    if (!clo_pair_is_hedge(job, execution))
        return true;
    job->stats[worker->index].hedged++;
    job->engine->ran_on[execution] = worker->index;
    if (clo_stop_is_set(&job->stop) || (has_demands && !clo_capacity_try(worker, job, execution)))
        return skip(worker, job);
    *holds = has_demands;
    return clo_first_wins_begin(&clo_pair_of(job, execution)->first_wins) || skip(worker, job);
}

void clo_hedge_arm(clo_worker *worker, const clo_job *job, uint32_t execution)
{
    clo_runtime *runtime = worker->runtime;
    int64_t after_ns = job->hedges.after_ns[clo_program_task(job->program, execution)];
    int64_t at_ns = clo_time_add(clo_clock_ns(), after_ns);

    clo_pair_of(job, execution)->executor[0] = worker->index;
    job->engine->ran_on[execution] = worker->index; /* now: once the hedge has won, others may read it */
    if (at_ns < INT64_MAX &&
        clo_timeout_arm(&worker->timeout, &runtime->watchdog.timeouts, clo_item(job, execution), at_ns))
        clo_eventcount_ring(&runtime->watchdog.eventcount);
}

/* Its output is the instance's; the other one, if it runs, is to end soon. */
static void win(clo_worker *worker, clo_job *job, uint32_t execution, bool has_rival)
{
    const clo_pair *pair = clo_pair_of(job, execution);
    bool is_hedge = clo_pair_is_hedge(job, execution);

    if (is_hedge) {
        job->engine->data.winner[job->program->twin[execution]] = execution;
        job->stats[worker->index].hedges_won++;
    }
    if (has_rival && clo_pending_may(job, execution))
        clo_pending_call(worker->runtime, pair->executor[1 - is_hedge]);
}

/* Neither has ended well. */
static void give_up(clo_job *job, uint32_t execution)
{
    const clo_pair *pair = clo_pair_of(job, execution);
    int code = pair->code[0] != 0 ? pair->code[0] : pair->code[1];

    if (code != 0)
        clo_job_fail(job, execution, code);
    else
        clo_job_cut(job);
}

/* A hedge that lies in a mailbox and is not wanted any more. True: it was taken back, and is over. The caller keeps the
 * pair: its own part in that is not over, or it has won and not yet released anybody. */
static bool take_back(clo_runtime *runtime, const clo_job *job, uint32_t hedge)
{
    clo_pair *pair = clo_pair_of(job, hedge);

    if (!clo_mailbox_retract(&runtime->workers[pair->executor[1]].hedge, clo_item(job, hedge)))
        return false;
    (void)clo_first_wins_finish(&pair->first_wins, 1, false);
    return true;
}

/* The same for the first of a pair. */
static bool drop_hedge(clo_worker *worker, clo_job *job, uint32_t first)
{
    if (!clo_first_wins_is_held_out(&clo_pair_of(job, first)->first_wins) ||
        !take_back(worker->runtime, job, job->program->twin[first]))
        return false;
    job->stats[worker->index].hedged++;
    job->stats[worker->index].hedges_skipped++;
    return true;
}

clo_hedge_end clo_hedge_finish(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_pair *pair = clo_pair_of(job, execution);
    bool is_hedge = clo_pair_is_hedge(job, execution), is_good = !worker->pair.is_cut && worker->pair.code == 0;
    bool is_alone = !is_hedge && !clo_timeout_end(&worker->timeout);
    uint32_t first = is_hedge ? job->program->twin[execution] : execution;

    pair->code[is_hedge] = worker->pair.is_cut ? 0 : worker->pair.code;
    if (!is_hedge && !is_alone && !is_good && clo_stop_is_set(&job->stop))
        (void)drop_hedge(worker, job, execution); /* nobody waits for it any more */
    clo_first_wins_end end = clo_first_wins_finish(&pair->first_wins, is_hedge, is_good);
    if (is_alone || (!is_hedge && end.has_won && !end.is_second && drop_hedge(worker, job, execution)))
        end.is_second = end.is_last = true;
    if (end.has_won)
        win(worker, job, execution, !end.is_second && end.has_rival);
    else if (!end.is_decided && end.is_second)
        give_up(job, execution);
    return (clo_hedge_end){
        .releases = end.has_won || (end.is_second && !end.is_decided), .is_last = end.is_last, .first = first};
}

/* Where a hedge would run. */
typedef struct place {
    /* 0: it idles; 1: it is busy; 2: with a body that has a hedge, so takes long; 3: a hedge lies in its mailbox. */
    uint32_t load;
    int64_t time_ns;
    bool is_same_machine;
} place;

static bool is_better(const place *x, const place *y)
{
    if (x->load != y->load)
        return x->load < y->load;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns;
    return !x->is_same_machine && y->is_same_machine;
}

static uint32_t load_of(const clo_worker *worker)
{
    if (!clo_mailbox_is_empty(&worker->hedge))
        return 3;
    if (clo_timeout_is_claimed(&worker->timeout))
        return 2;
    return atomic_load_explicit(&worker->current, memory_order_relaxed) != CLO_ITEM_NONE;
}

/* Of thousands of slots not all are looked at: these many that can run the task, and more only where none idles. */
#define CANDIDATES 128u
#define CANDIDATES_MAX 1024u

static bool is_enough(uint32_t seen, const place *best)
{
    return seen >= CANDIDATES_MAX || (seen >= CANDIDATES && best->load == 0);
}

/* Another executor than `from`: the least loaded, of these the fastest for the task, of these one on another machine;
 * of equal ones each in turn. There is one that can: clo_hedges_want. */
static uint32_t choose(const clo_runtime *runtime, const clo_job *job, uint32_t hedge, uint32_t from)
{
    uint32_t workers = runtime->workers_count, task = clo_program_task(job->program, hedge), best = CLO_NONE;
    place best_place = {0};

    for (uint32_t i = 0, seen = 0; i < workers && !is_enough(seen, &best_place); i++) {
        uint32_t w = (uint32_t)(((uint64_t)hedge + i) % workers);
        place here = {.load = load_of(&runtime->workers[w]),
                      .time_ns = clo_cost_execution_ns(job->cost, task, w),
                      .is_same_machine = runtime->workers[w].machine == runtime->workers[from].machine};
        bool can = w != from && here.time_ns != CLO_TIME_NEVER;
        seen += can;
        if (can && (best == CLO_NONE || is_better(&here, &best_place))) {
            best = w;
            best_place = here;
        }
    }
    return best;
}

/* The watchdog has claimed the timeout of the first. */
static void hand_out(clo_runtime *runtime, uint64_t first, uint32_t from)
{
    clo_job *job = clo_item_job(runtime, first);
    uint32_t hedge = job->program->twin[(uint32_t)first], to = choose(runtime, job, hedge, from);
    clo_worker *worker = &runtime->workers[to];
    clo_pair *pair = clo_pair_of(job, hedge);

    pair->executor[1] = to;
    if (clo_mailbox_send(&worker->hedge, clo_item(job, hedge))) {
        /* Release, pairs with the acquire in clo_capacity_next. */
        atomic_store_explicit(&worker->is_called, 1, memory_order_release);
        clo_runtime_wake_for(runtime, to);
    } else {
        clo_worker_send(runtime, to, clo_item(job, hedge), &job->links[hedge]);
    }
    bool is_last;
    if (!clo_first_wins_post_in_time(&pair->first_wins, &is_last)) {
        if (take_back(runtime, job, hedge)) /* before the end of the run: */
            atomic_fetch_add_explicit(&job->hedges.dropped, 1, memory_order_relaxed);
        is_last = clo_first_wins_post(&pair->first_wins);
    }
    if (is_last)
        clo_job_count_end(job);
}

int64_t clo_hedges_look(clo_runtime *runtime, int64_t now_ns)
{
    clo_timeouts *timeouts = &runtime->watchdog.timeouts;
    int64_t next_ns = INT64_MAX;
    uint64_t armings = 0;

    clo_timeouts_look(timeouts);
    for (uint32_t w = 0; w < runtime->workers_count; w++) {
        clo_timeout *timeout = &runtime->workers[w].timeout;
        uint64_t word, first;
        armings += clo_timeout_armings(timeout);
        int64_t at_ns = clo_timeout_see(timeout, &word);
        if (at_ns > now_ns)
            next_ns = at_ns < next_ns ? at_ns : next_ns;
        else if (clo_timeout_claim(timeout, word, &first))
            hand_out(runtime, first, w);
    }
    if (armings != timeouts->seen) { /* more will come */
        int64_t least_ns = atomic_load_explicit(&timeouts->least_ns, memory_order_relaxed);
        int64_t soon_ns = clo_time_add(now_ns, least_ns > LOOK_NS ? least_ns : LOOK_NS);
        next_ns = soon_ns < next_ns ? soon_ns : next_ns;
    }
    timeouts->seen = armings;
    clo_timeouts_looked(timeouts, next_ns);
    return next_ns;
}
