/* insert.c - see insert.h. */
#include "policy/synch/insert.h"

#include "base/numbers/saturate.h"
#include "base/order/sort.h"

#include <string.h>

enum { STAGES_EACH = 64, CELLS_A_STEP = 16, RUNNING_PART = 4 };

size_t clo_synch_inserter_bytes(const clo_synch_places *places, uint32_t jobs)
{
    return 2 * clo_synch_profile_bytes(places) + 2 * (size_t)CLO_SYNCH_BATCHES_MAX * sizeof(clo_synch_batch) +
           (jobs + 1) / 2 * sizeof(int64_t);
}

void *clo_synch_inserter_open(clo_synch_inserter *in, const clo_synch_live *live, uint32_t instances_max, void *memory)
{
    in->live = live;
    in->instances_max = instances_max;
    memory = clo_synch_profile_open(&in->base, &live->places, memory);
    in->plans[0].batches = clo_synch_profile_open(&in->work, &live->places, memory);
    in->plans[1].batches = in->plans[0].batches + CLO_SYNCH_BATCHES_MAX;
    in->tried = (uint32_t *)(void *)(in->plans[1].batches + CLO_SYNCH_BATCHES_MAX);
    return in->tried + (live->jobs + 1) / 2 * 2;
}

/* What runs, until it is expected to end. Ends are rounded up where there are more of them than steps. False: the
 * decision has reached its bound. */
static bool hold_running(clo_synch_inserter *in, const clo_view *view)
{
    const clo_synch_places *places = &in->live->places;
    uint32_t executors = clo_view_limits(view)->executors, parts = in->base.steps_max / RUNNING_PART;
    int64_t now_ns = clo_view_now_ns(view), longest_ns = 1;

    if (!clo_view_steps(view, executors / CELLS_A_STEP + 1))
        return false;
    clo_synch_profile_clear(&in->base, places, now_ns);
    for (uint32_t e = 0; e < executors; e++) {
        int64_t left_ns = clo_time_sub(clo_view_executor(view, e)->free_ns, now_ns);
        longest_ns = left_ns > longest_ns ? left_ns : longest_ns;
    }
    int64_t round_ns = parts > 0 && executors > parts ? longest_ns / parts + 1 : 1;
    for (uint32_t e = 0; e < executors; e++) {
        const clo_live_executor *row = clo_view_executor(view, e);
        const clo_live_job *job = row->job != CLO_NONE && row->is_moving == 0 ? clo_view_job(view, row->job) : NULL;
        if (job == NULL)
            continue;
        int64_t left_ns = row->free_ns > now_ns ? row->free_ns - now_ns : 1;
        clo_synch_batch batch = {row->job, row->stage, in->live->place_of[e],
                                 1,        now_ns,     (left_ns - 1) / round_ns * round_ns + round_ns};
        (void)clo_synch_profile_place(&in->base, places, job->cost, &batch);
    }
    return true;
}

/* The jobs of the order, those of higher bands first. Returns their number. */
static uint32_t list_jobs(clo_synch_inserter *in, const clo_view *view)
{
    uint32_t count = 0;

    for (uint32_t band = 0; band < CLO_BANDS_MAX; band++)
        for (uint32_t i = 0; i < in->live->count; i++) {
            const clo_live_job *job = clo_synch_live_job(in->live, view, i);
            if (job != NULL && job->band == band && job->first_ready != CLO_NONE)
                in->tried[count++] = in->live->order[i];
        }
    return count;
}

/* Of a plan that is being made. */
typedef struct making {
    clo_synch_inserter *in;
    const clo_view *view;
    clo_synch_inserted *plan;
    int64_t done_ns; /* of the job */
    bool is_cut;
} making;

static bool add(making *m, const clo_cost *cost, const clo_synch_batch *batch)
{
    clo_synch_inserted *plan = m->plan;

    if (plan->count == CLO_SYNCH_BATCHES_MAX || batch->count > m->in->instances_max - plan->instances ||
        !clo_synch_profile_place(&m->in->work, &m->in->live->places, cost, batch))
        return false;
    plan->batches[plan->count++] = *batch;
    plan->instances += batch->count;
    int64_t end_ns = clo_time_add(batch->start_ns, batch->time_ns);
    m->done_ns = end_ns > m->done_ns ? end_ns : m->done_ns;
    return true;
}

/* Inserts the stage. False: there is no room in memory, or the bound is reached. */
static bool insert_stage(making *m, uint32_t slot, uint32_t stage)
{
    const clo_synch_places *places = &m->in->live->places;
    const clo_cost *cost = clo_view_job(m->view, slot)->cost;
    const int64_t *time_ns = &clo_synch_job_of(m->view, slot)->time_ns[(size_t)stage * places->count];
    int64_t from_ns[CLO_SYNCH_PLACES_MAX];
    uint32_t left = clo_view_stage(m->view, slot, stage)->unstarted;

    for (uint32_t p = 0; p < places->count; p++)
        from_ns[p] = clo_view_now_ns(m->view);
    while (left > 0) { /* falls */
        clo_synch_batch best = {.count = 0};
        int64_t earliest_ns = INT64_MAX;
        for (uint32_t p = 0; p < places->count; p++) {
            clo_synch_batch batch = {slot, stage, p, left, 0, time_ns[p] > 0 ? time_ns[p] : 1};
            if (time_ns[p] == CLO_TIME_NEVER || clo_time_add(from_ns[p], batch.time_ns) >= earliest_ns)
                continue;
            uint32_t looks = clo_synch_profile_find(&m->in->work, places, cost, &batch, from_ns[p]);
            if ((m->is_cut = !clo_view_steps(m->view, looks / CELLS_A_STEP + 1)))
                return false;
            from_ns[p] = batch.start_ns;
            if (batch.count == 0 || clo_time_add(batch.start_ns, batch.time_ns) >= earliest_ns)
                continue;
            earliest_ns = clo_time_add(batch.start_ns, batch.time_ns);
            best = batch;
        }
        if (best.count == 0)
            return true; /* it fits nowhere, whatever ends */
        if (!add(m, cost, &best))
            return false;
        left -= best.count;
    }
    return true;
}

/* Its ready stages, the longest first. */
static bool insert_job(making *m, uint32_t slot)
{
    const clo_synch_job *job = clo_synch_job_of(m->view, slot);
    uint32_t places = m->in->live->places.count, stages[STAGES_EACH], count = 0;
    int64_t times_ns[STAGES_EACH];
    uint32_t stage = clo_view_job(m->view, slot)->first_ready;

    for (; stage != CLO_NONE && count < STAGES_EACH; stage = clo_view_stage(m->view, slot, stage)->next_ready) {
        uint32_t fastest = job->fastest[stage], at = count;
        int64_t time_ns = fastest == CLO_NONE ? 0 : job->time_ns[(size_t)stage * places + fastest];
        if ((m->is_cut = !clo_view_step(m->view)))
            return false;
        for (; at > 0 && times_ns[at - 1] < time_ns; at--) {
            times_ns[at] = times_ns[at - 1];
            stages[at] = stages[at - 1];
        }
        times_ns[at] = time_ns;
        stages[at] = stage;
        count++;
    }
    m->plan->is_whole = m->plan->is_whole && stage == CLO_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (!insert_stage(m, slot, stages[i]))
            return false;
    return true;
}

/* The jobs that the base holds beside what runs: the first ones of the order, as the best plan has them. */
typedef struct prefix {
    uint32_t jobs, batches, instances;
    int64_t weighted;
} prefix;

/* The best plan's batches of the next job go to the base. They fit, as they did in the plan. */
static void hold_next(clo_synch_inserter *in, const clo_view *view, prefix *held)
{
    const clo_synch_inserted *best = &in->plans[0];
    uint32_t slot = in->tried[held->jobs++];
    const clo_live_job *job = clo_view_job(view, slot);
    int64_t now_ns = clo_view_now_ns(view), done_ns = now_ns;

    for (; held->batches < best->count && best->batches[held->batches].job == slot; held->batches++) {
        const clo_synch_batch *batch = &best->batches[held->batches];
        int64_t end_ns = clo_time_add(batch->start_ns, batch->time_ns);
        (void)clo_synch_profile_place(&in->base, &in->live->places, job->cost, batch);
        held->instances += batch->count;
        done_ns = end_ns > done_ns ? end_ns : done_ns;
    }
    held->weighted = clo_time_add(held->weighted, clo_time_mul(job->weight, clo_time_sub(done_ns, now_ns)));
}

/* A plan of the jobs that are listed: those that are held, as in the best plan, and the others behind them, as long as the
 * sum is below `most` (INT64_MAX: all, even where the sum stops there). False: the decision has reached its bound; it has
 * what was inserted until then. */
static bool make(clo_synch_inserter *in, const clo_view *view, const prefix *held, uint32_t count, int64_t most,
                 clo_synch_inserted *plan)
{
    making m = {.in = in, .view = view, .plan = plan};
    int64_t now_ns = clo_view_now_ns(view);

    if (held->batches > 0)
        memcpy(plan->batches, in->plans[0].batches, held->batches * sizeof *plan->batches);
    plan->count = held->batches;
    plan->instances = held->instances;
    plan->weighted = held->weighted;
    plan->is_whole = true;
    clo_synch_profile_copy(&in->work, &in->live->places, &in->base);
    for (uint32_t i = held->jobs; i < count && plan->is_whole && (most == INT64_MAX || plan->weighted < most); i++) {
        uint32_t weight = clo_view_job(view, in->tried[i])->weight;
        m.done_ns = now_ns;
        if (!insert_job(&m, in->tried[i]))
            plan->is_whole = false;
        plan->weighted = clo_time_add(plan->weighted, clo_time_mul(weight, clo_time_sub(m.done_ns, now_ns)));
    }
    return !m.is_cut;
}

static void keep(clo_synch_inserter *in)
{
    clo_synch_inserted better = in->plans[1];

    in->plans[1] = in->plans[0];
    in->plans[0] = better;
}

/* The order where the job at place `from` moves forward, behind those that are held. *is_better: it is kept. False: the
 * decision has reached its bound. */
static bool try_move(clo_synch_inserter *in, const clo_view *view, const prefix *held, uint32_t count, uint32_t from,
                     bool *is_better)
{
    clo_synch_inserted *plan = &in->plans[1];

    if (clo_view_job(view, in->tried[from])->band != clo_view_job(view, in->tried[held->jobs])->band)
        return true;
    clo_order_move(in->tried, from, held->jobs);
    if (!make(in, view, held, count, in->plans[0].weighted, plan))
        return false;
    if (plan->is_whole && plan->weighted < in->plans[0].weighted) {
        keep(in);
        *is_better = true;
    } else {
        clo_order_move(in->tried, held->jobs, from);
    }
    return true;
}

/* Orders where one job moves forward, as long as tries are left. What stands before its new place stays as it is, so it is
 * held and not inserted again. */
static void improve(clo_synch_inserter *in, const clo_view *view, uint32_t count, uint32_t tries)
{
    bool is_better = true;

    while (is_better) { /* the sum falls */
        is_better = false;
        for (uint32_t distance = 1; distance < count; distance *= 2) {
            prefix held = {0};
            if (!hold_running(in, view))
                return;
            for (uint32_t from = distance; from < count; from++) {
                if (tries-- == 0 || !try_move(in, view, &held, count, from, &is_better))
                    return;
                hold_next(in, view, &held);
            }
        }
    }
}

const clo_synch_inserted *clo_synch_insert(clo_synch_inserter *in, const clo_view *view, uint32_t tries)
{
    if (!clo_view_steps(view, in->live->count + 1) || !hold_running(in, view))
        return NULL;
    uint32_t count = list_jobs(in, view);
    bool is_done = make(in, view, &(prefix){0}, count, INT64_MAX, &in->plans[0]);
    if (is_done && in->plans[0].is_whole)
        improve(in, view, count, tries - 1);
    return &in->plans[0];
}
