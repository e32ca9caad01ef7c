/* parametric.c - the tuned parametric policy: nine numbers say which job an executor goes to, and how many executors a
 * job may have. Found by the cross-entropy method (`clotho train parametric`), it keeps what Decima (Mao et al.,
 * SIGCOMM 2019) gains over tuned weighted fair sharing: limits of parallelism, and executors that stay where they are.
 *
 * With rem the remaining work of a job, cp the longest path behind its ready stages (rank_u), n the live jobs, ex the
 * executors that the job has, M those of the platform and U the unit of time:
 *
 *   value  -w_rem ln(rem / U + 0.02) + w_own [it is the executor's own job] + w_ex ln((ex + 1) / M) - w_cp ln(cp / U +
 *   0.01) + w_rem ln(weight of the job)
 *   limit  ceil(l_scale (rem / U + 0.05)^l_rem (8 / n)^l_jobs (M / 50)^l_size)
 *
 * For `value` a job that can meet its deadline has the work that M executors can do until then, if that is more than rem;
 * with `for=late` one that cannot goes behind all others (policy/packing/due.h); bench/online/README.md, deadlines.
 *
 * A free executor goes to the job of the highest value among those below their limits, there to the stage that it ran
 * last, or else to the ready stage of the highest rank_u. If its own job has nothing ready, but will have, it waits for
 * that where the own job's value, with w_wait in place of w_own, is the highest: to go and come back costs more. Where
 * all are at their limits it goes on with its own job; else it stays idle if `share` is negative, and goes to the job
 * of the highest value if not. An executor's own job is the one that it ran last.
 *
 * `fit`, a tenth number (0 unless said), is for machines of several sizes. Above 0 a choice is made of pairs: each free
 * executor that does not wait, with its own job and the first jobs of the queue, in each with the stages of the highest
 * rank_u. The pair of the highest value goes first, less `fit` times what the stage would leave free on the machine, as
 * a share of the largest machine's capacity: large machines are kept for what needs them.
 *
 * `l_size` (0 unless said; the built-in sets have it) makes limits those of the platform: numbers found with 50 executors
 * then serve 4 and 30 000, as a limit goes with about the 0.6th power of the executors for each live job. The unit of
 * time may be `auto`: a share of the mean work of the jobs that came, so that the numbers serve jobs of any length. The
 * mean is of all of them, from the 128th on of about the last 128; U follows it where it is an eighth off.
 *
 * Logarithms and powers are those of base/numbers/log2.h, constants of the values, which change no order, are left out.
 * Keys of jobs are kept in a heap. Where n changes, the limits of 64 jobs are looked over again, in turn, so that an
 * event costs no more the more jobs live. O(log jobs) an event; a decision O(free executors) beyond that. Logarithms are
 * kept until what they are of changes. */
#include "policy/network/parametric.h"

#include "policy/packing/due.h"
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"
#include "policy/select/share.h"

#include "base/numbers/log2.h"
#include "base/numbers/saturate.h"

#include <string.h>

enum {
    REFRESHED = 64,
    LOGS = 64,
    SIZE_OF_SETS = 50, /* executors of the platform on which limits are l_scale */
    MEAN_OF = 128      /* jobs, of which the unit is learnt */
};

/* What `fit` compares: executors, jobs of the queue, stages of each job. */
enum { FIT_EXECUTORS = 32, FIT_JOBS = 8, FIT_STAGES = 4 };
_Static_assert((int)FIT_JOBS <= (int)CLO_JOB_WALK_MAX, "a walk goes so far");

/* The unit in the mean work of a job, in 1 / 1024: UNIT_DEFAULT_NS is that of TPC-H queries of 2 to 100 GB. */
#define UNIT_OF_MEAN 141

/* 1 / ln 2: weights are of natural logarithms. */
#define PER_LN2_Q16 94548

/* Above every value: what is added to the key of a job at its limit. */
#define AT_LIMIT (INT64_C(1) << 56)

/* Of the job in a slot: logarithms that were taken last, and of what; and how many free executors whose last job it is
 * one look at the executors has met. */
typedef struct job_known {
    int64_t remaining_ns, due_ns, path_ns; /* due_ns: clo_due.work_ns */
    uint32_t version;
    int64_t due_log, limit_log, path_log;
    uint64_t look;
    uint32_t met;
} job_known;

/* Begins as the state of a policy by job. */
typedef struct parametric_state {
    clo_job_queue queue;
    clo_parametric with;
    clo_residual *residual;        /* adds to keys, limits and bonuses; NULL: nothing does */
    int32_t unit_log2, scale_log2; /* of unit_ns, of l_scale */
    uint32_t executors;
    uint32_t live;   /* jobs */
    uint32_t cursor; /* the slot that is looked over next; CLO_NONE: the first job */
    clo_due_turn turn;
    uint32_t version; /* of the unit; 1 at first */
    uint32_t *own;    /* [executors] slot of the job that it ran last; CLO_NONE: none */
    job_known *known; /* [jobs] */
    uint64_t look;    /* the number of the look at the executors */
    int64_t jobs_log; /* what the numbers of live jobs and executors add to the logarithm of a limit */
    uint32_t came;    /* jobs, up to MEAN_OF */
    int64_t mean_ns;  /* their work, if the unit is learnt */
    bool learns;
    int32_t count_log2[LOGS];           /* of small numbers */
    int64_t largest[CLO_RESOURCES_MAX]; /* the largest capacity of a machine, of each resource; 0: not limited */
} parametric_state;

size_t clo_parametric_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(parametric_state) + limits->jobs * sizeof(job_known) + clo_job_queue_bytes(limits->jobs) +
           limits->executors * sizeof(uint32_t);
}

static int32_t count_log2(const parametric_state *s, uint32_t count)
{
    return count < LOGS ? s->count_log2[count] : clo_log2_q16(count);
}

static void count_live(parametric_state *s, uint32_t live)
{
    int64_t size_log = (int64_t)count_log2(s, s->executors) - count_log2(s, SIZE_OF_SETS);

    s->live = live;
    s->jobs_log = (s->with.q16[CLO_L_JOBS] * (3 * INT64_C(65536) - count_log2(s, live > 0 ? live : 1)) +
                   s->with.size_q16 * size_log) /
                  65536;
}

static void set_unit(parametric_state *s, int64_t unit_ns)
{
    s->version++;
    s->with.unit_ns = unit_ns > 0 ? unit_ns : 1;
    s->unit_log2 = clo_log2_q16((uint64_t)s->with.unit_ns);
}

/* A job has come whose work is `ns`. */
static void learn_unit(parametric_state *s, int64_t ns)
{
    s->came += s->came < MEAN_OF;
    s->mean_ns += (ns - s->mean_ns) / s->came;
    int64_t unit_ns = s->mean_ns / 1024 * UNIT_OF_MEAN + s->mean_ns % 1024 * UNIT_OF_MEAN / 1024;
    int64_t off_ns = unit_ns > s->with.unit_ns ? unit_ns - s->with.unit_ns : s->with.unit_ns - unit_ns;
    if (s->came == 1 || off_ns > s->with.unit_ns / 8)
        set_unit(s, unit_ns);
}

void clo_parametric_open(void *state, const clo_view *view, const clo_parametric *given, clo_residual *residual)
{
    const clo_limits *limits = clo_view_limits(view);
    parametric_state *s = state;

    s->known = (job_known *)(s + 1);
    clo_job_queue_open(&s->queue, s->known + limits->jobs, limits->jobs);
    s->own = (uint32_t *)(void *)((char *)(s->known + limits->jobs) + clo_job_queue_bytes(limits->jobs));
    memset(s->own, 0xff, limits->executors * sizeof *s->own);
    s->residual = residual;
    s->executors = limits->executors;
    s->cursor = CLO_NONE;
    s->turn = (clo_due_turn){CLO_NONE, false};
    for (uint32_t i = 0; i < LOGS; i++)
        s->count_log2[i] = clo_log2_q16(i);
    s->with = given != NULL ? *given : clo_parametric_default;
    s->learns = s->with.unit_ns == CLO_UNIT_LEARNT;
    s->scale_log2 = clo_log2_q16((uint64_t)s->with.q16[CLO_L_SCALE]) - 16 * 65536;
    set_unit(s, s->with.unit_ns);
    count_live(s, 0);
    for (uint32_t m = 0; m < limits->platform->machines_count; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t capacity = limits->platform->capacities[(size_t)m * CLO_RESOURCES_MAX + r];
            s->largest[r] = capacity > s->largest[r] ? capacity : s->largest[r];
        }
}

static clo_status init(void *state, const clo_view *view)
{
    clo_parametric_open(state, view, clo_view_argument(view), NULL);
    return CLO_OK;
}

/* log2 of (ns + unit / part), in Q16. */
static int64_t log_of(const parametric_state *s, int64_t ns, int64_t part)
{
    return clo_log2_q16((uint64_t)clo_time_add(ns, s->with.unit_ns / part + 1));
}

static uint32_t executors_of(const clo_live_job *job)
{
    return job->running + job->committed;
}

/* The logarithms of the job's remaining work, and of the path behind its ready stages. */
static const job_known *know(const parametric_state *s, const clo_live_job *job, uint32_t slot, int64_t due_ns,
                             int64_t path_ns)
{
    job_known *known = &s->known[slot];

    if (known->version != s->version)
        *known = (job_known){INT64_MIN, INT64_MIN, INT64_MIN, s->version, 0, 0, 0, known->look, known->met};
    if (known->remaining_ns != job->remaining_ns) {
        known->remaining_ns = job->remaining_ns;
        known->limit_log = s->with.q16[CLO_L_REM] * (log_of(s, job->remaining_ns, 20) - s->unit_log2) / 65536;
    }
    if (known->due_ns != due_ns) {
        known->due_ns = due_ns;
        known->due_log = log_of(s, due_ns, 50);
    }
    if (known->path_ns != path_ns) {
        known->path_ns = path_ns;
        known->path_log = log_of(s, path_ns, 100);
    }
    return known;
}

/* `used` executors are as many as the limit, or more. The logarithms of both say so, unless they are as close as they
 * are wrong (base/numbers/log2.h). */
static bool is_at_limit(const parametric_state *s, int64_t limit_log, uint32_t used)
{
    int64_t exponent = s->scale_log2 + limit_log + s->jobs_log;

    if (used == 0 || used >= s->executors)
        return used > 0;
    if (exponent <= 0 || exponent >= 31 * INT64_C(65536))
        return exponent <= 0;
    int64_t above = exponent - count_log2(s, used);
    if (above >= 3 || above <= -3)
        return above < 0;
    return used >= (clo_exp2_q16((int32_t)exponent) + 65535) / 65536;
}

/* What the network adds. */
static clo_residual_answer residual_of(const parametric_state *s, const clo_view *view, uint32_t slot, uint32_t used,
                                       clo_residual_kind kind)
{
    const clo_residual_job job = {slot, used, s->live, s->executors, s->with.unit_ns};

    return s->residual != NULL ? clo_residual_ask(s->residual, view, &job, kind) : (clo_residual_answer){0, 0};
}

/* The value, negated: the smallest goes first. Of a job with `used` executors. */
static int64_t compute_key(const parametric_state *s, const clo_view *view, uint32_t slot, uint32_t used)
{
    const clo_live_job *job = clo_view_job(view, slot);
    const int32_t *q16 = s->with.q16;
    int64_t rank = clo_ranked_key(job->state, view, slot);
    int64_t path_ns = rank == INT64_MAX ? 0 : -rank;
    const clo_due due = clo_due_of(job, clo_view_now_ns(view), s->executors, s->with.goal, path_ns);
    const job_known *known = know(s, job, slot, due.work_ns, path_ns);
    int64_t key = q16[CLO_W_REM] * known->due_log - (int64_t)q16[CLO_W_EX] * count_log2(s, used + 1);

    key += q16[CLO_W_CP] * known->path_log;
    if (due.weight > 1)
        key -= (int64_t)q16[CLO_W_REM] * clo_log2_q16(due.weight);
    const clo_residual_answer more = residual_of(s, view, slot, used, CLO_RESIDUAL_JOB);
    return key / 65536 - more.value + (is_at_limit(s, known->limit_log + more.limit, used) ? AT_LIMIT : 0);
}

static void put(parametric_state *s, const clo_view *view, uint32_t slot)
{
    const clo_live_job *job = clo_view_job(view, slot);

    clo_job_queue_put(&s->queue, job, slot, compute_key(s, view, slot, executors_of(job)));
}

/* The number of live jobs has changed. By the list of jobs, so that it does not matter how many there may be. */
static void refresh(parametric_state *s, const clo_view *view)
{
    uint32_t jobs = clo_view_jobs(view), count = jobs < REFRESHED ? jobs : REFRESHED;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = s->cursor != CLO_NONE ? s->cursor : clo_view_first_job(view);
        if (clo_job_queue_has(&s->queue, slot))
            put(s, view, slot);
        s->cursor = clo_view_job(view, slot)->next;
    }
}

void clo_parametric_event(void *state, const clo_view *view, const clo_event *e)
{
    parametric_state *s = state;
    uint32_t slot;

    if (s->residual != NULL)
        clo_residual_event(s->residual, view, e);
    if (e->kind == CLO_EVENT_FINISH && e->executor != CLO_NONE)
        s->own[e->executor] = e->job;
    if (e->kind == CLO_EVENT_ARRIVE && s->learns)
        learn_unit(s, clo_view_job(view, e->job)->remaining_ns);
    if (e->kind == CLO_EVENT_ARRIVE || e->kind == CLO_EVENT_END) /* the job that ends is counted still */
        count_live(s, clo_view_jobs(view) - (e->kind == CLO_EVENT_END));
    if (clo_by_rank_event(state, view, e))
        put(s, view, e->job);
    if (e->kind == CLO_EVENT_ARRIVE || e->kind == CLO_EVENT_END)
        refresh(s, view);
    for (uint32_t k = clo_due_looks(view); k > 0 && (slot = clo_due_next(&s->turn, view, e)) != CLO_NONE; k--)
        if (clo_job_queue_has(&s->queue, slot))
            put(s, view, slot);
    if (e->kind == CLO_EVENT_END && s->cursor == e->job)
        s->cursor = clo_view_job(view, e->job)->next;
}

/* The live job of the band that the executor ran last; else CLO_NONE. */
static uint32_t home_job(const parametric_state *s, const clo_view *view, uint32_t executor)
{
    uint32_t slot = s->own[executor];
    const clo_live_job *job = slot != CLO_NONE ? clo_view_job(view, slot) : NULL;

    return job != NULL && job->id == clo_view_executor(view, executor)->last_job && job->band == clo_view_band(view)
               ? slot
               : CLO_NONE;
}

/* The same if it may have more of it now. */
static uint32_t own_job(const parametric_state *s, const clo_view *view, uint32_t executor)
{
    uint32_t slot = home_job(s, view, executor);

    return slot != CLO_NONE && clo_job_queue_has(&s->queue, slot) ? slot : CLO_NONE;
}

static int64_t key_of(const parametric_state *s, uint32_t slot)
{
    return clo_job_queue_key(&s->queue, slot);
}

/* The stage of the job that `executor`, or else another free one, can take now. */
static bool take(const clo_view *view, uint32_t slot, uint32_t executor, bool *is_cut, clo_choice *choice)
{
    const clo_live_job *job = clo_view_job(view, slot);
    const clo_live_executor *row = clo_view_executor(view, executor);
    uint32_t stage = row->home == job->id ? row->last_stage : CLO_NONE;

    if (executors_of(job) >= job->limit)
        return false;
    if (stage == CLO_NONE || clo_view_stage(view, slot, stage)->unstarted == 0 ||
        !clo_select_startable(view, slot, stage))
        stage = clo_ranked_pick(view, slot, clo_select_startable, is_cut);
    if (stage == CLO_NONE)
        return false;
    bool is_fit = clo_view_execution_ns(view, slot, stage, executor) != CLO_TIME_NEVER &&
                  clo_view_fits(view, slot, stage, executor);
    *choice = (clo_choice){slot, stage, 1, is_fit ? executor : CLO_NONE, CLO_NONE, 0, 0};
    return true;
}

/* A free executor of the job's own, so that no other one has to come; else `executor`. */
static uint32_t nearest(const parametric_state *s, const clo_view *view, uint32_t slot, uint32_t executor)
{
    const clo_live_job *job = clo_view_job(view, slot);

    if (job->bound <= job->running) /* an executor of its own is bound to it; none of those is free */
        return executor;
    for (uint32_t e = executor; e != CLO_NONE; e = clo_view_next_free(view, e))
        if (!clo_view_step(view) || own_job(s, view, e) == slot)
            return own_job(s, view, e) == slot ? e : executor;
    return executor;
}

/* What the executor does; false: it stays idle. The first job of the queue was not passed, if that can be served. */
static bool decide_for(parametric_state *s, const clo_view *view, uint32_t executor, uint32_t first, bool *is_cut,
                       clo_choice *choice)
{
    int64_t bonus = (int64_t)s->with.q16[CLO_W_OWN] * PER_LN2_Q16 / 65536;
    uint32_t own = own_job(s, view, executor);
    bool is_over = key_of(s, first) >= AT_LIMIT / 2;

    if (own != CLO_NONE)
        bonus += residual_of(s, view, own, executors_of(clo_view_job(view, own)), CLO_RESIDUAL_OWN).value;

    if (own != CLO_NONE && (is_over || (key_of(s, own) < AT_LIMIT / 2 && key_of(s, own) - bonus <= key_of(s, first))) &&
        take(view, own, executor, is_cut, choice))
        return true;
    if (*is_cut || (is_over && s->with.q16[CLO_SHARE] < 0))
        return false;
    return take(view, first, nearest(s, view, first, executor), is_cut, choice);
}

/* How many free executors of the job have been met before, in this look at the executors. */
static uint32_t meet(const parametric_state *s, uint32_t home)
{
    job_known *known = &s->known[home];

    if (known->look != s->look)
        known->met = 0;
    known->look = s->look;
    return known->met++;
}

/* Better than to serve `first`: to wait for what the executor's own job will have ready. It runs, so that comes. Asked
 * once of each free executor, in their order. */
static bool waits(const parametric_state *s, const clo_view *view, uint32_t executor, uint32_t first)
{
    int64_t bonus = (int64_t)s->with.q16[CLO_W_WAIT] * PER_LN2_Q16 / 65536;
    uint32_t home = home_job(s, view, executor);

    if (home == CLO_NONE || clo_job_queue_has(&s->queue, home))
        return false;
    const clo_live_job *job = clo_view_job(view, home);
    uint32_t waiting = meet(s, home);
    if (job->running == 0 || job->unfinished <= job->running + waiting)
        return false;
    bonus += residual_of(s, view, home, executors_of(job) + waiting, CLO_RESIDUAL_WAIT).value;
    return compute_key(s, view, home, executors_of(job) + waiting) - bonus <= key_of(s, first);
}

/* What the stage would leave free on the machine, over its demands, as shares of the largest capacities, in Q16;
 * negative: there is no room. */
static int64_t rest_q16(const parametric_state *s, const clo_view *view, const clo_cost *cost, uint32_t stage,
                        uint32_t machine)
{
    const int64_t *demand = clo_graph_demand(cost->graph, stage);
    int64_t sum = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        if (demand[r] <= 0 || clo_cost_capacity(cost, machine, r) < 0)
            continue;
        int64_t left = clo_view_capacity_left(view, machine, cost->resource_of[r]);
        if (left < demand[r])
            return -1;
        sum += clo_share(left - demand[r], s->largest[cost->resource_of[r]]) >> 16;
    }
    return sum;
}

/* The best pair so far. */
typedef struct pair {
    uint32_t job, stage, executor;
    int64_t key;
} pair;

/* Pairs of the executor with stages of the job. False: the decision has reached its bound. */
static bool pair_job(const parametric_state *s, const clo_view *view, uint32_t slot, uint32_t executor, pair *best)
{
    const clo_live_job *job = clo_view_job(view, slot);
    const clo_ranked *ranked = job->state;
    int64_t fit = (int64_t)s->with.fit_q16 * PER_LN2_Q16 / 65536, base = key_of(s, slot);
    uint32_t machine = job->cost->platform->executors[executor].machine;

    if (executors_of(job) >= job->limit || base >= AT_LIMIT / 2)
        return true;
    if (own_job(s, view, executor) == slot)
        base -= (int64_t)s->with.q16[CLO_W_OWN] * PER_LN2_Q16 / 65536;
    for (uint32_t i = 0; i < FIT_STAGES && i < ranked->heap.count; i++) {
        uint32_t stage = (uint32_t)ranked->heap.items[i].id;
        if (!clo_view_step(view))
            return false;
        int64_t rest = rest_q16(s, view, job->cost, stage, machine), key = base + (fit * rest >> 16);
        if (rest < 0 || (best->job != CLO_NONE && key >= best->key) ||
            clo_view_stage(view, slot, stage)->unstarted == 0 ||
            clo_view_execution_ns(view, slot, stage, executor) == CLO_TIME_NEVER ||
            !clo_view_fits(view, slot, stage, executor))
            continue;
        *best = (pair){slot, stage, executor, key};
    }
    return true;
}

/* The pair of the highest value. False: there is none. */
static bool decide_fit(parametric_state *s, const clo_view *view, uint32_t first, clo_choice *choice)
{
    uint32_t jobs[FIT_JOBS], count = 0, slot;
    pair best = {CLO_NONE, CLO_NONE, CLO_NONE, 0};
    bool goes_on = true;
    clo_job_walk walk;

    clo_job_walk_open(&walk, &s->queue, clo_view_band(view));
    while (count < FIT_JOBS && (slot = clo_job_walk_next(&walk)) != CLO_NONE)
        jobs[count++] = slot;
    s->look++;
    uint32_t e = clo_view_next_free(view, CLO_NONE);
    for (uint32_t looks = 0; e != CLO_NONE && looks < FIT_EXECUTORS && goes_on; e = clo_view_next_free(view, e)) {
        uint32_t own = own_job(s, view, e);
        if (waits(s, view, e, first))
            continue;
        looks++;
        if (own != CLO_NONE)
            goes_on = pair_job(s, view, own, e, &best);
        for (uint32_t i = 0; i < count && goes_on; i++)
            goes_on = jobs[i] == own || pair_job(s, view, jobs[i], e, &best);
    }
    if (best.job == CLO_NONE)
        return false;
    *choice = (clo_choice){best.job, best.stage, 1, best.executor, CLO_NONE, 0, 0};
    return true;
}

bool clo_parametric_decide(void *state, const clo_view *view, clo_choice *choice)
{
    parametric_state *s = state;
    uint32_t band = clo_view_band(view), first;
    bool is_cut = false, is_found = false, has_passed = false;

    if (s->with.fit_q16 > 0 && (first = clo_job_queue_first(&s->queue, band)) != CLO_NONE &&
        decide_fit(s, view, first, choice))
        return true;
    while (!is_found && !is_cut && (first = clo_job_queue_first(&s->queue, band)) != CLO_NONE) {
        bool is_blocked = false; /* some executor would have served the job, and could not */
        s->look++;
        for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE && !is_found && !is_cut && !is_blocked;
             e = clo_view_next_free(view, e)) {
            is_cut = !clo_view_step(view);
            if (is_cut || waits(s, view, e, first))
                continue;
            is_found = decide_for(s, view, e, first, &is_cut, choice);
            is_blocked = key_of(s, first) < AT_LIMIT / 2 || s->with.q16[CLO_SHARE] >= 0;
        }
        if (is_found || is_cut || !is_blocked)
            break;
        clo_job_queue_pass(&s->queue, band); /* nothing of it can be started now */
        has_passed = true;
    }
    if (has_passed)
        clo_job_queue_restore(&s->queue);
    return is_found;
}

const clo_policy clo_policy_parametric = {
    .size = sizeof(clo_policy),
    .name = "parametric",
    .summary = "nine tuned numbers: which job next, how many executors each may have; parametric:batch, :stream, :any, "
               ":makespan, :deadlines, :p95, :late, "
               "parametric:N,N,N,N,N,N,N,N,N[,l_size=N][,fit=N][,for=late][,UNIT]",
    .state_bytes = clo_parametric_bytes,
    .job_bytes = clo_by_rank_job_bytes,
    .prepare = clo_by_rank_prepare,
    .init = init,
    .event = clo_parametric_event,
    .decide = clo_parametric_decide,
    .argument_bytes = sizeof(clo_parametric),
    .parse = clo_parametric_parse,
};
