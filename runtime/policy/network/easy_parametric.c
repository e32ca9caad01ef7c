/* easy_parametric.c - easy-sjf (policy/packing/backfill.c) with learned numbers: which instance goes first, and when
 * room is kept for the job with the least remaining work. Found by `clotho train parametric --policy easy-parametric`
 * (bench/learned/TRAINING.md, four resources).
 *
 * Candidates are the ready stages that have room, 4 each, of the 16 jobs with the least remaining work / weight. The one
 * with the highest score starts:
 *
 *   fit a / mean a + work w / typical w + area log A + time log t + behind log b + ready log n
 *
 * with a   the fit of the instance into what is free (packing.h)
 *      w   the remaining work of its job / weight; typical is the geometric mean of the candidates, w at most 64 of it
 *      A   what the job's unfinished instances demand, summed over resources as shares of the largest machine, times
 *          their times, / weight
 *      t   the time of the instance
 *      b   the largest sum of such areas along a path of the graph that begins at the stage: a message that runs from
 *          children to parents when the job is submitted
 *      n   the instances of the job that are ready.
 *
 * If nothing of the first job fits, a reservation is made for its oldest ready stage (packing.h). An instance that
 * would delay it may pass nevertheless if
 *
 *   pass + wait log(time until then / U) + first log(w of the first job / U) + length log(t / U) + left log(w / U) > 0
 *
 * with U the mean work of the jobs that came (from the 128th on of about the last 128). easy-sjf, which lets everyone
 * pass as soon as the wait is longer than the first job's work, has wait=1,first=-1 there. Logarithms are to the base 2.
 *
 * A network (easy_network.h) adds to the score, and to the sum that must be above 0; for who delays nobody that is 2. It
 * is not asked while jobs of a lower band wait; where it holds all back, the policy is asked again when what they wait for
 * would be late.
 *
 * A job that is alone has no reservation, and where nothing of its first stages fits the oldest that does. O(log jobs)
 * an event, and the stages of a job that arrives; a decision as in easy-sjf. */
#include "policy/network/easy_parametric.h"

#include "policy/packing/reservation.h"
#include "policy/select/argument.h"
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"
#include "policy/select/share.h"

#include "base/numbers/log2.h"
#include "base/numbers/saturate.h"

#include <assert.h>
#include <stddef.h>

enum { MEAN_OF = 128 };
enum { REMOTE_Q16 = 65536 * 9 / 10, WORK_MOST_LOG2 = 6 * 65536 };
_Static_assert((int)CLO_EASY_LOOKED_JOBS <= (int)CLO_JOB_WALK_MAX, "a walk goes so far");

/* What a network must say against who delays nobody, to hold it back: more than 2. */
#define MAY (INT64_C(2) << 32)

const clo_easy_numbers clo_easy_built_in = {
    .fit = 185591,
    .work = -70373,
    .area = -42094,
    .time = -10020,
    .behind = 19903,
    .ready = -18468,
    .pass = 240629,
    .wait = 89745,
    .first = -5531,
    .length = -59454,
    .left = -75130,
};

#define RANGE                     \
    {                             \
        -999 * 65536, 999 * 65536 \
    }
static const clo_fixed_key keys[] = {
    {"fit=", offsetof(clo_easy_numbers, fit), RANGE},       {"work=", offsetof(clo_easy_numbers, work), RANGE},
    {"area=", offsetof(clo_easy_numbers, area), RANGE},     {"time=", offsetof(clo_easy_numbers, time), RANGE},
    {"behind=", offsetof(clo_easy_numbers, behind), RANGE}, {"ready=", offsetof(clo_easy_numbers, ready), RANGE},
    {"pass=", offsetof(clo_easy_numbers, pass), RANGE},     {"wait=", offsetof(clo_easy_numbers, wait), RANGE},
    {"first=", offsetof(clo_easy_numbers, first), RANGE},   {"length=", offsetof(clo_easy_numbers, length), RANGE},
    {"left=", offsetof(clo_easy_numbers, left), RANGE},
};
static const clo_fixed_keys argument_keys = {"easy-parametric", "fit=3,wait=1.2", keys, sizeof keys / sizeof keys[0]};

clo_status clo_easy_parse(const char *text, void *numbers)
{
    clo_easy_numbers read = clo_easy_built_in;
    clo_status status = clo_fixed_read_keys(text, &argument_keys, &read);

    if (status == CLO_OK)
        *(clo_easy_numbers *)numbers = read;
    return status;
}

typedef struct easy_state {
    clo_job_queue queue;
    clo_easy easy;
} easy_state;

/* In the state of each job. */
typedef struct easy_job {
    int64_t left_ns;    /* the area of its unfinished instances */
    int64_t *area_ns;   /* [tasks] of an instance */
    int64_t *behind_ns; /* [tasks] */
} easy_job;

static size_t easy_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(easy_state) + clo_job_queue_bytes(limits->jobs);
}

size_t clo_easy_job_bytes(const clo_cost *cost)
{
    return sizeof(easy_job) + 2 * cost->graph->tasks * sizeof(int64_t);
}

static size_t easy_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_easy_job_bytes(cost);
}

static easy_job *job_of(const clo_easy *s, const clo_live_job *job)
{
    size_t before = s->is_behind_ranks ? clo_by_rank_job_bytes(job->cost, NULL) : 0;

    return (easy_job *)(void *)((char *)job->state + before);
}

/* The largest capacity of a machine, of each resource of the platform; 0: not limited. And executors of a machine. */
static void find_largest(const clo_platform *platform, int64_t largest[CLO_SHARE_AMOUNTS])
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        largest[r] = 0;
        for (uint32_t m = 0; m < platform->machines_count; m++) {
            int64_t capacity = platform->capacities[(size_t)m * CLO_RESOURCES_MAX + r];
            largest[r] = capacity > largest[r] ? capacity : largest[r];
        }
    }
    largest[CLO_SHARE_EXECUTORS] =
        (platform->executors_count + platform->machines_count - 1) / platform->machines_count;
}

/* A share is at most 1: what no machine with a limit can hold may still fit where there is none. */
static int64_t area_of(const clo_cost *cost, uint32_t stage, const int64_t largest[CLO_SHARE_AMOUNTS])
{
    const int64_t *demand = clo_graph_demand(cost->graph, stage);
    int64_t sum_q16 = clo_share(1, largest[CLO_SHARE_EXECUTORS]) >> 16, time_ns = cost->mean_ns[stage];

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t most = demand[r] > 0 && cost->resource_of[r] != CLO_NONE ? largest[cost->resource_of[r]] : 0;
        sum_q16 += most > 0 && demand[r] >= most ? 65536 : clo_share(demand[r], most) >> 16;
    }
    return clo_time_add(clo_time_mul(time_ns >> 16, sum_q16), (time_ns & 65535) * sum_q16 >> 16);
}

void clo_easy_prepare(void *memory, const clo_cost *cost)
{
    const clo_graph *graph = cost->graph;
    int64_t largest[CLO_SHARE_AMOUNTS];
    easy_job *mine = memory;

    mine->area_ns = (int64_t *)(mine + 1);
    mine->behind_ns = mine->area_ns + graph->tasks;
    find_largest(cost->platform, largest);
    for (uint32_t t = 0; t < graph->tasks; t++)
        mine->behind_ns[t] = 0;
    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t u = graph->task_order[i];
        mine->area_ns[u] = area_of(cost, u, largest);
        int64_t whole_ns = clo_time_mul(mine->area_ns[u], clo_graph_instances_of(graph, u));
        mine->behind_ns[u] = clo_time_add(mine->behind_ns[u], whole_ns); /* all that follow have been seen */
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            int64_t *to = &mine->behind_ns[clo_graph_source(graph, e)];
            *to = mine->behind_ns[u] > *to ? mine->behind_ns[u] : *to;
        }
    }
}

static clo_status easy_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    (void)argument;
    clo_easy_prepare(job_state, cost);
    return CLO_OK;
}

void clo_easy_open(clo_easy *easy, const clo_easy_numbers *numbers, clo_easy_network *network, bool is_behind_ranks)
{
    *easy = (clo_easy){
        .with = numbers != NULL ? *numbers : clo_easy_built_in, .network = network, .is_behind_ranks = is_behind_ranks};
}

static clo_status easy_init(void *state, const clo_view *view)
{
    easy_state *s = state;

    clo_job_queue_open(&s->queue, s + 1, clo_view_limits(view)->jobs);
    clo_easy_open(&s->easy, clo_view_argument(view), NULL, false);
    return CLO_OK;
}

/* A policy that comes in by a swap meets jobs that have begun. */
static void meet(clo_easy *s, const clo_view *view, const clo_live_job *job, uint32_t slot)
{
    easy_job *mine = job_of(s, job);

    mine->left_ns = 0;
    for (uint32_t t = 0; t < job->cost->graph->tasks; t++)
        mine->left_ns =
            clo_time_add(mine->left_ns, clo_time_mul(mine->area_ns[t], clo_view_stage(view, slot, t)->unfinished));
    s->came += s->came < MEAN_OF;
    s->mean_ns += (job->remaining_ns - s->mean_ns) / s->came;
}

void clo_easy_event(clo_easy *easy, const clo_view *view, const clo_event *event)
{
    if (event->kind == CLO_EVENT_ARRIVE) {
        meet(easy, view, clo_view_job(view, event->job), event->job);
    } else if (event->kind == CLO_EVENT_FINISH && event->job != CLO_NONE) {
        easy_job *mine = job_of(easy, clo_view_job(view, event->job));
        int64_t left_ns = mine->left_ns - mine->area_ns[event->stage];
        mine->left_ns = left_ns > 0 ? left_ns : 0; /* an instance may have been repeated */
    }
}

void clo_easy_queue_event(clo_easy *easy, clo_job_queue *queue, const clo_view *view, const clo_event *event)
{
    const clo_live_job *job = clo_job_queue_event(queue, view, event);

    clo_easy_event(easy, view, event);
    if (job != NULL)
        clo_job_queue_put(queue, job, event->job, job->remaining_ns / job->weight);
}

static void easy_event(void *state, const clo_view *view, const clo_event *event)
{
    easy_state *s = state;

    clo_easy_queue_event(&s->easy, &s->queue, view, event);
}

static int32_t log_of(int64_t ns)
{
    return clo_log2_q16((uint64_t)(ns > 0 ? ns : 1));
}

/* Q32: above 0, the candidate may start although it delays what room is kept for. */
static int64_t pass_of(const clo_easy *s, const clo_easy_choice *c, const clo_easy_candidate *of)
{
    int64_t unit_log = c->unit_log;

    return 65536 * (int64_t)s->with.pass + s->with.wait * (c->wait_log - unit_log) +
           s->with.first * (c->first_log - unit_log) + s->with.length * (of->time_log - unit_log) +
           s->with.left * (of->work_log - unit_log);
}

static void find_logs(const clo_easy *s, const clo_view *view, clo_easy_candidate *c)
{
    const clo_live_job *job = clo_view_job(view, c->at.job);
    const easy_job *mine = job_of(s, job);

    c->work_log = log_of(job->remaining_ns / job->weight);
    c->area_log = log_of(mine->left_ns) - log_of(job->weight);
    c->time_log = log_of(clo_cost_time(job->cost, c->at.stage, c->at.executor));
    c->behind_log = log_of(mine->behind_ns[c->at.stage]);
    c->ready_log = log_of(job->startable);
    c->score = (int64_t)s->with.area * c->area_log + (int64_t)s->with.time * c->time_log +
               (int64_t)s->with.behind * c->behind_log + (int64_t)s->with.ready * c->ready_log;
}

/* The ready stages of a job that may start. True: one at least has room. */
static bool add_job(const clo_easy *s, const clo_view *view, uint32_t slot, const clo_reservations *kept,
                    clo_easy_choice *c, bool *is_cut)
{
    const clo_live_job *job = clo_view_job(view, slot);
    uint32_t stage = job->running + job->committed < job->limit ? job->first_ready : CLO_NONE;
    bool has_room = false;

    for (uint32_t i = 0; i < CLO_EASY_LOOKED_STAGES && stage != CLO_NONE && !(*is_cut = !clo_view_step(view)); i++) {
        clo_easy_candidate *to = &c->list[c->count];
        to->at = (clo_candidate){.job = slot, .stage = stage, .priority_q16 = 65536, .is_quiet = true};
        if (clo_packing_place(view, &to->at, REMOTE_Q16)) {
            has_room = true;
            find_logs(s, view, to);
            to->place = c->jobs;
            to->is_held = false;
            to->delays = !clo_reservations_let_pass(view, kept, &to->at);
            to->may = to->delays ? pass_of(s, c, to) : MAY;
            c->count += to->may > 0 || c->network != NULL;
        }
        stage = clo_view_stage(view, slot, stage)->next_ready;
    }
    return has_room;
}

static void add_scores(const clo_easy *s, const clo_view *view, clo_easy_choice *c)
{
    int32_t said[CLO_EASY_CANDIDATES_MAX] = {0};
    int64_t fit = 0, logs = 0, count = 0;

    assert(c->count > 0);
    for (uint32_t i = 0; i < c->count; i++) /* of those that may start by the numbers alone, if there are any */
        count += c->list[i].may > 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->list[i].may > 0 || count == 0) {
            fit += c->list[i].at.fit_q16;
            logs += c->list[i].work_log;
        }
    count = count > 0 ? count : c->count;
    c->mean_fit_q16 = fit / count; /* a fit is above 0 */
    c->typical_log = (int32_t)(logs / count);
    if (c->network != NULL)
        clo_easy_network_scores(c->network, view, c, said);
    for (uint32_t i = 0; i < c->count; i++) {
        clo_easy_candidate *of = &c->list[i];
        int32_t above = of->work_log - c->typical_log;
        int64_t work_q16 = (int64_t)clo_exp2_q16(above < WORK_MOST_LOG2 ? above : WORK_MOST_LOG2);
        of->score += s->with.fit * (of->at.fit_q16 * 65536 / c->mean_fit_q16) + s->with.work * work_q16 +
                     (int64_t)said[i] * 65536;
    }
}

/* Jobs of a lower band have ready stages: executors are not left idle to them, so whom a network holds back the scheduler
 * would start by its own rule, the oldest first. */
static bool is_lower_waiting(const clo_job_queue *queue, uint32_t band)
{
    for (uint32_t b = band + 1; b < CLO_BANDS_MAX; b++)
        if (clo_job_queue_first(queue, b) != CLO_NONE)
            return true;
    return false;
}

/* The highest score of those that may start, of the first if several have it; NULL: all are held back. */
static const clo_candidate *best_of(clo_easy_choice *c)
{
    for (uint32_t left = c->count; left > 0; left--) {
        uint32_t best = CLO_NONE;
        for (uint32_t i = 0; i < c->count; i++)
            if (!c->list[i].is_held && (best == CLO_NONE || c->list[i].score > c->list[best].score))
                best = i;
        if (c->network == NULL || clo_easy_network_lets(c->network, c, best))
            return &c->list[best].at;
        c->list[best].is_held = true;
    }
    return NULL;
}

bool clo_easy_decide(const clo_easy *s, clo_job_queue *queue, const clo_view *view, clo_choice *choice)
{
    bool is_asked = s->network != NULL && !is_lower_waiting(queue, clo_view_band(view));
    clo_easy_choice c; /* large, as what is kept: no more of them is filled than is used */
    clo_reservations kept;
    bool is_cut = false, is_alone = clo_view_jobs(view) == 1;
    uint32_t slot;
    clo_job_walk walk;

    kept.count = c.count = c.jobs = 0;
    c.network = is_asked ? s->network : NULL;
    c.unit_log = log_of(s->mean_ns);
    c.wait_log = c.first_log = 0;
    c.has_kept = false;
    clo_job_walk_open(&walk, queue, clo_view_band(view));
    while (c.jobs < CLO_EASY_LOOKED_JOBS && !is_cut && (slot = clo_job_walk_next(&walk)) != CLO_NONE) {
        const clo_live_job *job = clo_view_job(view, slot);
        c.jobs++;
        if (add_job(s, view, slot, &kept, &c, &is_cut) || is_cut || c.jobs > 1 || is_alone ||
            job->running + job->committed >= job->limit)
            continue;
        is_cut = !clo_reservation_make(view, slot, job->first_ready, INT64_MAX, &kept);
        c.has_kept = kept.count > 0;
        c.wait_log = log_of(c.has_kept ? kept.list[0].from_ns - clo_view_now_ns(view) : 0);
        c.first_log = log_of(job->remaining_ns / job->weight);
    }
    if (c.count == 0)
        return is_alone && !is_cut && clo_packing_oldest(view, choice);
    add_scores(s, view, &c);
    const clo_candidate *best = best_of(&c);
    if (best != NULL)
        *choice = (clo_choice){best->job, best->stage, 1, best->executor, CLO_NONE, 0, 0};
    else if (!is_cut)
        choice->wake_ns = clo_easy_network_wake_ns(c.network, view); /* only a network holds all of them back */
    return best != NULL || choice->wake_ns != 0;
}

static bool easy_decide(void *state, const clo_view *view, clo_choice *choice)
{
    easy_state *s = state;

    return clo_easy_decide(&s->easy, &s->queue, view, choice);
}

const clo_policy clo_policy_easy_parametric = {
    .size = sizeof(clo_policy),
    .name = "easy-parametric",
    .summary = "as easy-sjf, with learned numbers: what goes first, and who may pass the job that room is kept for",
    .state_bytes = easy_bytes,
    .job_bytes = easy_job_bytes,
    .prepare = easy_prepare,
    .init = easy_init,
    .event = easy_event,
    .decide = easy_decide,
    .argument_bytes = sizeof(clo_easy_numbers),
    .parse = clo_easy_parse,
};
