/* by_hand.h - a scheduler that is driven by hand, so that every order of inputs can be had: inputs are calls, and
 * what is started ends when the test says. Its log is judged and repeated at the end. */
#ifndef CLO_TEST_BY_HAND_H
#define CLO_TEST_BY_HAND_H

#include "support.h"

#include "engine/scheduler/scheduler.h"
#include "scene.h"
#include "trace/log.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <string.h>

enum { EXECUTORS = 4, JOBS_MAX = 8, POLICIES = 2, PIECE = CLO_LOG_PIECE };

/* What a policy was told. */
static uint32_t told_ready, told_arrived;

static inline void listen(void *state, const clo_view *view, const clo_event *event)
{
    (void)state, (void)view;
    told_ready += event->kind == CLO_EVENT_READY;
    told_arrived += event->kind == CLO_EVENT_ARRIVE;
}

/* The oldest ready stage. */
static inline bool choose_oldest(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage ready = clo_view_first_ready(view);

    (void)state;
    if (ready.job == CLO_NONE || clo_view_next_free(view, CLO_NONE) == CLO_NONE)
        return false;
    choice->job = ready.job;
    choice->stage = ready.stage;
    choice->executor = clo_view_next_free(view, CLO_NONE);
    return true;
}

static const clo_policy oldest = {
    .size = sizeof(clo_policy), .name = "oldest", .event = listen, .decide = choose_oldest};
static const clo_policy oldest_assigned = {.size = sizeof(clo_policy),
                                           .name = "oldest assigned",
                                           .readiness = CLO_READY_ASSIGNED,
                                           .event = listen,
                                           .decide = choose_oldest};

/* A job of the test. */
typedef struct entry {
    clo_graph *graph;
    clo_cost *cost;
    clo_scheduler_job *job;
    bool has_ended;
} entry;

typedef struct setting {
    clo_platform *platform;
    clo_arena arena;
    clo_scheduler *scheduler;
    clo_log *log;
    const clo_policy *policies[POLICIES];
    const void *arguments[POLICIES];
    uint32_t policy, swaps; /* in use; how many there were */
    entry jobs[JOBS_MAX];
    uint32_t jobs_count, ended;
    uint64_t orders;
    int64_t start_ns[EXECUTORS]; /* of what runs there; -1: nothing does */
    int64_t now_ns;
} setting;

/* `argument`: of the first policy. */
static inline void open_with(setting *s, const clo_policy *policy, const void *argument, const clo_policy *other)
{
    clo_log_policy names[POLICIES] = {{policy->name, NULL}, {other->name, NULL}};
    clo_log_header header = CLO_LOG_HEADER_INIT;

    *s =
        (setting){.platform = scene_platform(EXECUTORS, 1), .policies = {policy, other}, .arguments = {argument, NULL}};
    clo_arena_open(&s->arena, NULL, 0);
    told_ready = told_arrived = 0;
    header.policies = names;
    header.policies_count = POLICIES;
    ok(clo_log_create(&header, 0, &s->log));
    clo_log_set_run(s->log, &(clo_log_run){CLO_LOG_RUN_SIMULATED, CLO_CLOCK_REAL, EXECUTORS, JOBS_MAX, 0});
    const clo_scheduler_config config = {
        .platform = s->platform, .policy = policy, .argument = argument, .jobs_max = JOBS_MAX, .log = s->log};
    ok(clo_scheduler_create(&config, &s->arena, &s->scheduler));
    clo_scheduler_begin_log(s->scheduler);
    for (uint32_t e = 0; e < EXECUTORS; e++)
        s->start_ns[e] = -1;
}

static inline void open_setting(setting *s, const clo_policy *policy, const clo_policy *other)
{
    open_with(s, policy, NULL, other);
}

static inline void take_orders(setting *s)
{
    clo_order order;

    for (; clo_scheduler_next(s->scheduler, &order); s->orders++) {
        assert_true(s->start_ns[order.executor] < 0);
        s->start_ns[order.executor] = order.arrival_ns > s->now_ns ? order.arrival_ns : s->now_ns;
    }
}

static inline void take_ended(setting *s)
{
    clo_scheduler_job *job;

    while ((job = clo_scheduler_ended(s->scheduler)) != NULL) {
        ((entry *)job->owner)->has_ended = true;
        s->ended++;
    }
}

/* A graph of `roots` tasks that are ready at once. */
static inline clo_graph *free_graph(uint32_t roots)
{
    clo_task task = {.work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("free", &graph));
    for (uint32_t t = 0; t < roots; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    return graph;
}

static inline uint32_t arrive(setting *s, clo_graph *graph, uint32_t band, uint32_t limit)
{
    uint32_t number = s->jobs_count++;
    entry *e = &s->jobs[number];
    const clo_policy_use use = {.policy = s->policies[s->policy], .argument = s->arguments[s->policy]};
    const clo_scheduler_job_config config = {
        .deadline_ns = CLO_TIME_NEVER, .weight = 1 + number % 3, .band = band, .limit = limit};

    assert_true(number < JOBS_MAX);
    *e = (entry){.graph = graph};
    ok(clo_cost_create(graph, s->platform, &e->cost));
    ok(clo_scheduler_job_create(e->cost, &config, &use, &s->arena, &e->job));
    e->job->owner = e;
    e->job->version = s->swaps;
    e->job->tag = number;
    ok(clo_scheduler_arrive(s->scheduler, e->job, s->now_ns));
    return number;
}

/* What runs on the executor ends a moment later. */
static inline void finish(setting *s, uint32_t executor)
{
    int64_t start_ns = s->start_ns[executor];

    assert_true(start_ns >= 0);
    s->now_ns = (start_ns > s->now_ns ? start_ns : s->now_ns) + 10;
    s->start_ns[executor] = -1;
    clo_scheduler_finish(s->scheduler, executor, start_ns, s->now_ns);
}

static inline void swap(setting *s)
{
    uint32_t place = 1 - s->policy;
    clo_policy_use use = {.policy = s->policies[place], .argument = s->arguments[place], .place = place};

    use.bytes = clo_policy_state_bytes(&use, clo_view_limits(s->scheduler));
    use.state = clo_arena_take(&s->arena, use.bytes, 1);
    assert_non_null(use.state);
    for (uint32_t j = 0; j < s->jobs_count; j++)
        if (!s->jobs[j].has_ended)
            ok(clo_scheduler_job_prepare(s->jobs[j].job, &use, s->swaps + 1, &s->arena));
    ok(clo_scheduler_swap(s->scheduler, &use, ++s->swaps, s->now_ns));
    s->policy = place;
}

/* All that is left runs to its end. */
static inline void drain(setting *s)
{
    for (bool goes_on = true; goes_on;) { /* ends when nothing runs and nothing enters */
        goes_on = clo_scheduler_has_more(s->scheduler);
        clo_scheduler_go_on_to_end(s->scheduler);
        take_orders(s);
        for (uint32_t e = 0; e < EXECUTORS; e++)
            if (s->start_ns[e] >= 0) {
                finish(s, e);
                take_orders(s);
                goes_on = true;
            }
        take_ended(s);
    }
    assert_int_equal(s->ended, s->jobs_count);
}

static inline void check_replay(const setting *s)
{
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_policy policies[POLICIES] = {{s->policies[0], s->arguments[0]}, {s->policies[1], s->arguments[1]}};
    const clo_cost *costs[JOBS_MAX];

    for (uint32_t j = 0; j < s->jobs_count; j++)
        costs[j] = s->jobs[j].cost;
    config.platform = s->platform;
    config.costs = costs;
    config.costs_count = s->jobs_count;
    config.policies = policies;
    config.policies_count = POLICIES;
    ok(clo_stream_replay(&config, s->log, NULL));
}

static inline void check_log(const setting *s)
{
    clo_stream_job jobs[JOBS_MAX];
    clo_stream_case judged = CLO_STREAM_CASE_INIT;

    for (uint32_t j = 0; j < s->jobs_count; j++) {
        const clo_live_job *live = &s->jobs[j].job->live;
        jobs[j] = (clo_stream_job){.job = live->id,
                                   .cost = s->jobs[j].cost,
                                   .weight = live->weight,
                                   .limit = live->limit != CLO_NONE ? live->limit : 0,
                                   .band = live->band};
    }
    judged.platform = s->platform;
    judged.jobs = jobs;
    judged.jobs_count = s->jobs_count;
    ok(clo_stream_check(&judged, s->log, NULL));
}

/* Drains, judges and repeats what was logged. */
static inline void close_setting(setting *s)
{
    drain(s);
    clo_scheduler_end_log(s->scheduler, s->now_ns);
    check_log(s);
    check_replay(s);
    clo_log_destroy(s->log);
    clo_arena_close(&s->arena);
    for (uint32_t j = 0; j < s->jobs_count; j++) {
        clo_cost_destroy(s->jobs[j].cost);
        clo_graph_destroy(s->jobs[j].graph);
    }
    clo_platform_destroy(s->platform);
}

#endif
