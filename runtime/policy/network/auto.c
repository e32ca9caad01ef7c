/* auto.c - the policy for those who name none: it measures what it costs to send executors from job to job, and decides
 * by `parametric:any` where that is dear, else by shortest remaining work.
 *
 * What is dear: an instance on an executor that came from another job takes longer than its cost says, by a factor that
 * those on executors that stayed do not have (Decima, SIGCOMM 2019, section 2: JVMs to be started, caches to be filled;
 * and the time on the way). The factor is of the sums of the last instances of both kinds, SAMPLES to 2 * SAMPLES_MOST;
 * from a factor of 1.15 on, limits and bonuses of `parametric:any` hold. Before there are that many they do, too, among
 * jobs on equal executors: they lose little where moving is free, while shortest job first doubles completion times
 * where it is not (bench/online).
 *
 * Where moving is free, the job with the least remaining work / weight goes first (Smith 1956; Schrage 1968):
 *   some machine has limited resources        room is kept for it, as easy-residual does
 *   executors differ, or links cost time      its oldest ready stage, placed as deft does (LACHESIS, section 4.3), on at
 *                                             most 1024 executors
 *   else                                      its oldest ready stage, on any executor
 *
 * A job that can still meet its deadline counts for its time left on all executors in place of its work, where that is
 * more (mdd), in each of these and in `parametric`.
 *
 * `auto:p95` and `auto:late` are for the 95 % quantile of the completion times and for the number of jobs that end after
 * their deadlines. Deadlines do not count in the one; in the other what will be late whatever is done goes last
 * (policy/packing/due.h), and where moving is dear it decides by `parametric:late`, numbers that were trained for that.
 * (`parametric:p95` is no part of it: 3 to 5 % less on jobs like those of its training, up to 7 % more on mixtures.)
 *
 * All that it measures are events, so a log replays. O(log jobs) an event; a decision as the policy that makes it. */
#include "policy/network/easy_parametric.h"
#include "policy/network/parametric.h"
#include "policy/placement/two_phase.h"
#include "policy/select/by_rank.h"
#include "policy/select/job_queue.h"
#include "policy/select/policies.h"

#include "platform/model/platform.h"

#include "base/numbers/log2.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <string.h>

/* A placement looks at all executors: not of more than PLACED_MAX. */
enum { SAMPLES = 16, SAMPLES_MOST = 1024, PLACED_MAX = 1024 };

/* log2 1.15, in Q16. */
#define DEAR_Q16 13214

typedef enum way { WAY_SHORTEST, WAY_PACK, WAY_PLACE } way;

/* Times of instances on executors that came from another job, or stayed. */
typedef struct sums {
    int64_t took_ns, cost_ns;
    uint32_t count;
} sums;

/* What an executor runs. */
typedef struct running {
    uint64_t job;              /* clo_live_job.id of what it ran last */
    int64_t start_ns, cost_ns; /* cost_ns 0: what runs is not timed */
    bool has_come;
} running;

typedef struct auto_state {
    clo_job_queue *shortest; /* the state of mdd */
    clo_easy easy;           /* of WAY_PACK */
    void *parametric;
    running *running; /* [executors] */
    sums came, stayed;
    way way;
    bool is_measured, is_dear;
} auto_state;

static size_t up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

typedef struct auto_argument {
    clo_goal goal;
} auto_argument;

static clo_status auto_parse(const char *text, void *argument)
{
    if (clo_goal_find(text, strlen(text), &((auto_argument *)argument)->goal))
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT,
                    "policy 'auto': '%.40s' is nothing that it can make small; write mean, p95 or late", text);
}

/* Some machine has limited resources; a calibrated rate of memory is rarely demanded. */
static bool has_capacities(const clo_platform *platform)
{
    for (uint32_t i = 0; i < platform->machines_count * CLO_RESOURCES_MAX; i++)
        if (platform->capacities[i] >= 0 && !clo_is_memory_rate(platform->resource_names[i % CLO_RESOURCES_MAX]))
            return true;
    return false;
}

static way find_way(const clo_platform *platform)
{
    bool is_unlike = false;

    if (has_capacities(platform))
        return WAY_PACK;
    for (uint32_t p = 0; p < platform->pieces_count; p++)
        is_unlike = is_unlike || platform->spans[p].latency_most_ns > 0 || platform->spans[p].ns_per_byte_most_q32 > 0;
    for (uint32_t e = 1; e < platform->executors_count && !is_unlike; e++)
        is_unlike = platform->executors[e].kind != platform->executors[0].kind ||
                    memcmp(platform->executors[e].speed_q16, platform->executors[0].speed_q16,
                           sizeof platform->executors[0].speed_q16) != 0;
    return is_unlike && platform->executors_count <= PLACED_MAX ? WAY_PLACE : WAY_SHORTEST;
}

static clo_goal goal_of(const void *argument)
{
    return argument != NULL ? ((const auto_argument *)argument)->goal : CLO_GOAL_MEAN;
}

/* Of easy-residual. */
static size_t network_bytes(const clo_limits *limits)
{
    return find_way(limits->platform) == WAY_PACK ? up(clo_easy_network_built_in_bytes()) : 0;
}

static size_t auto_bytes(const clo_limits *limits, const void *argument)
{
    return up(sizeof(auto_state)) + up(clo_policy_mdd.state_bytes(limits, argument)) +
           up(clo_parametric_bytes(limits, argument)) + network_bytes(limits) +
           limits->executors * sizeof(running);
}

/* What is kept of a job: its stages by rank_u, and of WAY_PACK what easy-parametric keeps. */
static size_t auto_job_bytes(const clo_cost *cost, const void *argument)
{
    size_t easy = has_capacities(clo_cost_platform(cost)) ? clo_easy_job_bytes(cost) : 0;

    return clo_by_rank_job_bytes(cost, argument) + easy;
}

static clo_status auto_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    if (has_capacities(clo_cost_platform(cost)))
        clo_easy_prepare((char *)job_state + clo_by_rank_job_bytes(cost, argument), cost);
    return clo_by_rank_prepare(job_state, cost, argument);
}

static clo_status auto_init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    clo_goal goal = goal_of(clo_view_argument(view));
    size_t network = network_bytes(limits);
    auto_state *s = state;
    char *at = (char *)state + up(sizeof *s);

    s->shortest = (clo_job_queue *)(void *)at;
    at += up(clo_policy_mdd.state_bytes(limits, NULL));
    s->parametric = at;
    at += up(clo_parametric_bytes(limits, NULL));
    s->running = (running *)(void *)(at + network);
    for (uint32_t e = 0; e < limits->executors; e++)
        s->running[e] = (running){.job = UINT64_MAX};
    s->way = find_way(limits->platform);
    s->is_dear = s->way == WAY_SHORTEST;
    clo_parametric with = goal == CLO_GOAL_LATE ? clo_parametric_late : clo_parametric_any;
    with.goal = goal;
    clo_parametric_open(s->parametric, view, &with, NULL);
    clo_easy_open(&s->easy, NULL, network > 0 ? clo_easy_network_built_in(at) : NULL, true);
    clo_due_open(s->shortest, view, goal);
    return CLO_OK;
}

/* Halved where there are enough, so that what is long past counts little. */
static void add(sums *to, int64_t took_ns, int64_t cost_ns)
{
    if (to->count >= 2 * SAMPLES_MOST || to->took_ns > INT64_MAX / 4 || to->cost_ns > INT64_MAX / 4)
        *to = (sums){to->took_ns / 2, to->cost_ns / 2, to->count / 2};
    to->took_ns += took_ns < INT64_MAX / 4 ? took_ns : INT64_MAX / 4;
    to->cost_ns += cost_ns < INT64_MAX / 4 ? cost_ns : INT64_MAX / 4;
    to->count++;
}

static int64_t log_factor(const sums *of)
{
    return (int64_t)clo_log2_q16((uint64_t)of->took_ns + 1) - clo_log2_q16((uint64_t)of->cost_ns + 1);
}

/* What the instance needs from now on by its costs, inputs included; 0: not known. */
static int64_t expect_ns(const auto_state *s, const clo_view *view, const clo_event *e)
{
    int64_t cost_ns = clo_view_execution_ns(view, e->job, e->stage, e->executor);

    if (cost_ns == CLO_TIME_NEVER || cost_ns <= 0 || s->way != WAY_PLACE)
        return cost_ns == CLO_TIME_NEVER ? 0 : cost_ns;
    return clo_time_add(cost_ns, clo_view_arrival_ns(view, e->job, e->stage, e->executor) - clo_view_now_ns(view));
}

/* Times what starts on an executor with an empty queue: what waits in one begins at a time that nobody is told. A job
 * that is alone says nothing of moving; so what is decided of it does not depend on times, and a trace of it replays. */
static void measure(auto_state *s, const clo_view *view, const clo_event *e)
{
    running *r = &s->running[e->executor];

    if (e->kind == CLO_EVENT_START && clo_view_executor(view, e->executor)->committed == 0) {
        uint64_t id = clo_view_job(view, e->job)->id;
        int64_t cost_ns = clo_view_jobs(view) > 1 && r->job != UINT64_MAX ? expect_ns(s, view, e) : 0;
        *r = (running){id, clo_view_now_ns(view), cost_ns, r->job != id};
    } else if (e->kind == CLO_EVENT_FINISH) {
        if (r->cost_ns > 0 && clo_view_now_ns(view) > r->start_ns) /* what is skipped takes no time */
            add(r->has_come ? &s->came : &s->stayed, clo_view_now_ns(view) - r->start_ns, r->cost_ns);
        r->job = clo_view_job(view, e->job)->id;
        r->cost_ns = 0;
    }
}

static void auto_event(void *state, const clo_view *view, const clo_event *event)
{
    auto_state *s = state;

    if (event->executor != CLO_NONE)
        measure(s, view, event);
    if (event->kind == CLO_EVENT_FINISH && s->came.count >= SAMPLES && s->stayed.count >= SAMPLES) {
        s->is_measured = true;
        s->is_dear = log_factor(&s->came) - log_factor(&s->stayed) >= DEAR_Q16;
    }
    if (s->way == WAY_PACK)
        clo_easy_event(&s->easy, view, event);
    clo_parametric_event(s->parametric, view, event);
    clo_policy_mdd.event(s->shortest, view, event);
}

static bool auto_decide(void *state, const clo_view *view, clo_choice *choice)
{
    auto_state *s = state;

    if (s->is_dear && (s->is_measured || clo_view_jobs(view) > 1))
        return clo_parametric_decide(s->parametric, view, choice);
    if (s->way == WAY_PACK)
        return clo_easy_decide(&s->easy, s->shortest, view, choice);
    if (s->way == WAY_SHORTEST)
        return clo_policy_mdd.decide(s->shortest, view, choice);
    return clo_view_steps(view, clo_view_limits(view)->executors) &&
           clo_two_phase_choose(&clo_selector_mdd, s->shortest, view, clo_place_by_deft, choice);
}

const clo_policy clo_policy_auto = {
    .size = sizeof(clo_policy),
    .name = "auto",
    .summary = "measures what it costs to send executors from job to job: parametric:any where that is dear, else "
               "least remaining work first (with packing or deft's placement, as the platform needs); auto:p95 and "
               "auto:late for the 95 % quantile and for fewer jobs after their deadlines",
    .state_bytes = auto_bytes,
    .job_bytes = auto_job_bytes,
    .prepare = auto_prepare,
    .init = auto_init,
    .event = auto_event,
    .decide = auto_decide,
    .argument_bytes = sizeof(auto_argument),
    .parse = auto_parse,
};
