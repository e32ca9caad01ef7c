/* Jobs enter the scheduler in pieces (engine/enter.c): what happens between two pieces, and that a run with such a job
 * is repeated by its log. Driven by hand, so that every order of inputs can be had.
 * Mutation: let enter_piece of engine/enter.c list all stages at once, take is_outside out of list_anew or
 * clo_enter_drop out of clo_scheduler_cancel (engine/scheduler.c). */
#include "support.h"

#include "base/rng.h"
#include "engine/scheduler.h"
#include "scene.h"
#include "trace/log.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <string.h>

enum { EXECUTORS = 4, JOBS_MAX = 8, POLICIES = 2, PIECE = CLO_LOG_PIECE };

/* What a policy was told. */
static uint32_t told_ready, told_arrived;

static void listen(void *state, const clo_view *view, const clo_event *event)
{
    (void)state, (void)view;
    told_ready += event->kind == CLO_EVENT_READY;
    told_arrived += event->kind == CLO_EVENT_ARRIVE;
}

/* The oldest ready stage. */
static bool choose_oldest(void *state, const clo_view *view, clo_choice *choice)
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
static void open_with(setting *s, const clo_policy *policy, const void *argument, const clo_policy *other)
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

static void open_setting(setting *s, const clo_policy *policy, const clo_policy *other)
{
    open_with(s, policy, NULL, other);
}

static void take_orders(setting *s)
{
    clo_order order;

    for (; clo_scheduler_next(s->scheduler, &order); s->orders++) {
        assert_true(s->start_ns[order.executor] < 0);
        s->start_ns[order.executor] = order.arrival_ns > s->now_ns ? order.arrival_ns : s->now_ns;
    }
}

static void take_ended(setting *s)
{
    clo_scheduler_job *job;

    while ((job = clo_scheduler_ended(s->scheduler)) != NULL) {
        ((entry *)job->owner)->has_ended = true;
        s->ended++;
    }
}

/* A graph of `roots` tasks that are ready at once. */
static clo_graph *free_graph(uint32_t roots)
{
    clo_task task = {.work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("free", &graph));
    for (uint32_t t = 0; t < roots; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    return graph;
}

static uint32_t arrive(setting *s, clo_graph *graph, uint32_t band, uint32_t limit)
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
static void finish(setting *s, uint32_t executor)
{
    int64_t start_ns = s->start_ns[executor];

    assert_true(start_ns >= 0);
    s->now_ns = (start_ns > s->now_ns ? start_ns : s->now_ns) + 10;
    s->start_ns[executor] = -1;
    clo_scheduler_finish(s->scheduler, executor, start_ns, s->now_ns);
}

static void swap(setting *s)
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
static void drain(setting *s)
{
    for (bool goes_on = true; goes_on;) { /* ends when nothing runs and nothing enters */
        goes_on = clo_scheduler_is_entering(s->scheduler);
        clo_scheduler_enter_all(s->scheduler);
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

static void check_replay(const setting *s)
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

static void check_log(const setting *s)
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
static void close_setting(setting *s)
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

static void an_arrival_lists_a_piece_and_each_entry_another(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest);
    arrive(&s, free_graph(3 * PIECE + 7), 0, CLO_NONE);
    for (uint32_t piece = 1; piece <= 3; piece++) {
        assert_int_equal(told_arrived, 1);
        assert_int_equal(told_ready, piece * PIECE);
        assert_true(clo_scheduler_is_entering(s.scheduler));
        assert_true(clo_scheduler_enter(s.scheduler) == (piece == 3));
    }
    assert_false(clo_scheduler_is_entering(s.scheduler));
    assert_int_equal(told_ready, 3 * PIECE + 7);
    assert_true(clo_scheduler_counts_of(s.scheduler)->most_turn_steps < 3 * PIECE);
    close_setting(&s); /* it is the last job */
    assert_int_equal(s.orders, 3 * PIECE + 7);

    open_setting(&s, &oldest, &oldest);
    arrive(&s, free_graph(PIECE), 0, CLO_NONE); /* just one piece */
    assert_false(clo_scheduler_is_entering(s.scheduler));
    close_setting(&s);
}

static void others_go_on_between_two_pieces(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest);
    arrive(&s, free_graph(EXECUTORS + 1), 0, CLO_NONE);
    take_orders(&s);
    assert_int_equal(s.orders, EXECUTORS);
    arrive(&s, free_graph(2 * PIECE), 1, CLO_NONE);
    finish(&s, 2); /* the last task of the first job goes there */
    take_orders(&s);
    assert_int_equal(s.orders, EXECUTORS + 1);
    for (uint32_t e = 0; e < EXECUTORS; e++)
        finish(&s, e);
    take_ended(&s);
    assert_int_equal(s.ended, 1);
    take_orders(&s); /* of what has entered */
    assert_int_equal(s.orders, 2 * EXECUTORS + 1);
    assert_true(clo_scheduler_is_entering(s.scheduler));
    close_setting(&s);
}

static void what_has_not_entered_of_a_cancelled_job_never_does(void **state)
{
    setting s;

    (void)state;
    for (uint32_t cancelled = 0; cancelled < 3; cancelled++) { /* the first, the middle and the last of the list */
        open_setting(&s, &oldest, &oldest);
        for (uint32_t j = 0; j < 3; j++)
            arrive(&s, free_graph(2 * PIECE), 0, CLO_NONE);
        assert_int_equal(told_ready, 3 * PIECE);
        clo_scheduler_cancel(s.scheduler, s.jobs[cancelled].job, false, s.now_ns);
        take_ended(&s);
        assert_true(s.jobs[cancelled].has_ended);
        clo_scheduler_enter_all(s.scheduler);
        assert_int_equal(told_ready, 5 * PIECE);
        close_setting(&s);
        assert_int_equal(s.orders, 4 * PIECE);
    }
    open_setting(&s, &oldest, &oldest); /* alone, with bodies that run */
    arrive(&s, free_graph(2 * PIECE), 0, CLO_NONE);
    take_orders(&s);
    clo_scheduler_cancel(s.scheduler, s.jobs[0].job, true, s.now_ns);
    assert_false(clo_scheduler_is_entering(s.scheduler));
    take_ended(&s);
    assert_int_equal(s.ended, 0); /* not before they end */
    close_setting(&s);
    assert_int_equal(s.orders, EXECUTORS);
}

static void a_new_policy_sees_what_has_entered_and_then_the_rest(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest_assigned);
    arrive(&s, free_graph(2 * PIECE + 1), 0, CLO_NONE);
    take_orders(&s);
    told_ready = told_arrived = 0;
    swap(&s);
    assert_int_equal(told_arrived, 1);
    assert_int_equal(told_ready, PIECE - EXECUTORS);
    (void)clo_scheduler_enter(s.scheduler);
    assert_int_equal(told_ready, 2 * PIECE - EXECUTORS);
    told_ready = 0;
    swap(&s);
    assert_int_equal(told_ready, 2 * PIECE - EXECUTORS);
    close_setting(&s);
    assert_int_equal(s.orders, 2 * PIECE + 1);
}

static void of_jobs_that_arrive_together_the_oldest_of_the_highest_band_enters_first(void **state)
{
    static const uint32_t bands[] = {1, 1, 0}, order[] = {2, 0, 1};
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest);
    for (uint32_t j = 0; j < 3; j++)
        arrive(&s, free_graph(2 * PIECE), bands[j], CLO_NONE);
    for (uint32_t j = 0; j < 3; j++) {
        assert_int_equal(s.jobs[order[j]].job->live.startable, PIECE);
        assert_true(clo_scheduler_enter(s.scheduler));
        assert_int_equal(s.jobs[order[j]].job->live.startable, 2 * PIECE);
    }
    assert_false(clo_scheduler_is_entering(s.scheduler));
    close_setting(&s);
}

/* Many roots, some of several instances, and a few tasks behind some of them. */
static clo_graph *random_roots(clo_rng *rng)
{
    uint32_t roots = clo_rng_below(rng, 3) == 0 ? 5 : PIECE / 2 + clo_rng_below(rng, 2 * PIECE);
    clo_graph *graph;

    ok(clo_graph_create("roots", &graph));
    for (uint32_t t = 0, inner = 0; t < roots + 40; t++) {
        bool is_inner = t > 4 && inner < 40 && (t >= roots + inner || clo_rng_below(rng, 12) == 0);
        clo_task task = {.work_ns = 1000 + (int64_t)clo_rng_below(rng, 5000)};
        task.instances = clo_rng_below(rng, 20) == 0 ? 3 : 1;
        ok(clo_graph_add_task(graph, &task, NULL));
        inner += is_inner;
        if (is_inner)
            ok(clo_graph_add_edge(graph, clo_rng_below(rng, t), t, 64));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

/* One input, whichever; then decisions, but not always. */
static void step(setting *s, clo_rng *rng)
{
    uint32_t what = clo_rng_below(rng, 100), e = clo_rng_below(rng, EXECUTORS), j = clo_rng_below(rng, JOBS_MAX);

    s->now_ns += clo_rng_below(rng, 100);
    if (what < 2 && s->jobs_count < JOBS_MAX)
        arrive(s, random_roots(rng), clo_rng_below(rng, 3), clo_rng_below(rng, 4) == 0 ? 2 : CLO_NONE);
    else if (what < 6 && clo_scheduler_is_entering(s->scheduler))
        (void)clo_scheduler_enter(s->scheduler);
    else if (what == 6 && clo_rng_below(rng, 8) == 0 && j < s->jobs_count && !s->jobs[j].has_ended)
        clo_scheduler_cancel(s->scheduler, s->jobs[j].job, clo_rng_below(rng, 2) == 0, s->now_ns);
    else if (what == 7 && clo_rng_below(rng, 4) == 0)
        swap(s);
    else if (s->start_ns[e] >= 0)
        finish(s, e);
    if (clo_rng_below(rng, 4) > 0)
        take_orders(s);
    take_ended(s);
}

/* Counts the swaps and the pieces. */
static void run_random(const clo_policy *policy, const void *argument, const clo_policy *other, uint64_t seed,
                       uint64_t counts[2])
{
    enum { STEPS = SANITIZED ? 500 : 1500 };
    clo_rng rng = clo_rng_seed(seed);
    setting s;
    size_t count;

    open_with(&s, policy, argument, other);
    arrive(&s, free_graph(2 * PIECE), 2, CLO_NONE);
    for (uint32_t i = 0; i < STEPS; i++)
        step(&s, &rng);
    counts[0] += s.swaps;
    const clo_log_record *records = clo_log_records(s.log, &count);
    for (size_t i = 0; i < count; i++)
        counts[1] += records[i].what == CLO_LOG_ENTER;
    close_setting(&s);
}

static void any_order_of_inputs_is_valid_and_repeated_under_every_policy(void **state)
{
    uint64_t counts[2] = {0, 0};

    (void)state;
    for (uint32_t p = 0; policy_at(p) != NULL; p++)
        run_random(policy_at(p), NULL, policy_at((p + 5) % policies_count()), p + 1, counts);
    assert_true(counts[0] > 0 && counts[1] > 20);
}

/* What replan plans at an arrival has not entered yet. */
static void a_plan_of_all_live_jobs_is_repeated_too(void **state)
{
    const clo_policy *replan = clo_policy_find("replan");
    _Alignas(16) unsigned char argument[64];
    uint64_t counts[2] = {0, 0};

    (void)state;
    assert_true(replan->argument_bytes <= sizeof argument);
    ok(replan->parse("2,joint=2000,tries=3", argument));
    for (uint64_t seed = 100; seed < 103; seed++)
        run_random(replan, argument, clo_policy_find("fair"), seed, counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_lists_a_piece_and_each_entry_another),
        cmocka_unit_test(others_go_on_between_two_pieces),
        cmocka_unit_test(what_has_not_entered_of_a_cancelled_job_never_does),
        cmocka_unit_test(a_new_policy_sees_what_has_entered_and_then_the_rest),
        cmocka_unit_test(of_jobs_that_arrive_together_the_oldest_of_the_highest_band_enters_first),
        cmocka_unit_test(any_order_of_inputs_is_valid_and_repeated_under_every_policy),
        cmocka_unit_test(a_plan_of_all_live_jobs_is_repeated_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
