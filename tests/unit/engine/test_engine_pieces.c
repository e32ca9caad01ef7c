/* Cancelled jobs leave the scheduler in pieces (engine/scheduler/enter.c), and a new policy is shown in pieces what
 * lives (engine/scheduler/show.c): what happens between two pieces; and any order of inputs, those of arrivals in
 * pieces too, is judged and repeated by its log. Mutation: let leave_piece of engine/scheduler/enter.c or show_piece of
 * engine/scheduler/show.c do all at once, take is_outside out of list_anew, what unlist and clo_lists_remove_job
 * (engine/state/lists.c) do with `showing` out of them, clo_note_known out of clo_view_tell (engine/state/note.h),
 * clo_show_stage out of clo_start (engine/scheduler/start.c), or `leaving` out of decided_bands
 * (engine/scheduler/choose.c) or of end_if_over (engine/scheduler/scheduler.c). */
#include "by_hand.h"

#include "base/numbers/rng.h"
#include "trace/log_kinds.h"

/* A policy that is told of everything in order: of a job before anything of it, of a stage, once, before it starts. Its
 * state: [JOBS_MAX] jobs that it knows; of a job: [tasks] stages. */
static size_t strict_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return limits->jobs;
}

static size_t strict_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_graph_tasks(clo_cost_graph(cost));
}

static void be_strict(void *state, const clo_view *view, const clo_event *event)
{
    unsigned char *jobs = state;

    listen(state, view, event);
    if (event->job == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    unsigned char *stages = job->state;
    assert_int_equal(jobs[event->job], event->kind != CLO_EVENT_ARRIVE);
    if (event->kind == CLO_EVENT_ARRIVE)
        memset(stages, 0, clo_graph_tasks(clo_cost_graph(job->cost)));
    jobs[event->job] = event->kind != CLO_EVENT_END;
    if (event->kind == CLO_EVENT_READY) {
        assert_int_equal(stages[event->stage]++, 0);
        assert_int_equal(event->count, clo_view_stage(view, event->job, event->stage)->unstarted);
    }
    if (event->kind == CLO_EVENT_START)
        assert_int_equal(stages[event->stage], 1);
}

/* All that is ready is known. */
static bool choose_strictly(void *state, const clo_view *view, clo_choice *choice)
{
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE; at = clo_view_next_ready(view, at)) {
        assert_int_equal(((const unsigned char *)state)[at.job], 1);
        assert_int_equal(((const unsigned char *)clo_view_job(view, at.job)->state)[at.stage], 1);
        assert_true(clo_view_job(view, at.job)->first_ready != CLO_NONE);
    }
    clo_ready_stage ready = clo_view_first_ready(view);
    const clo_live_job *job = clo_view_job(view, ready.job);
    return job != NULL && job->running + job->committed < job->limit && choose_oldest(state, view, choice);
}

static const clo_policy strict = {.size = sizeof(clo_policy),
                                  .name = "strict",
                                  .state_bytes = strict_bytes,
                                  .job_bytes = strict_job_bytes,
                                  .event = be_strict,
                                  .decide = choose_strictly};
static const clo_policy strict_assigned = {.size = sizeof(clo_policy),
                                           .name = "strict assigned",
                                           .readiness = CLO_READY_ASSIGNED,
                                           .state_bytes = strict_bytes,
                                           .job_bytes = strict_job_bytes,
                                           .event = be_strict,
                                           .decide = choose_strictly};

static void a_cancelled_job_leaves_in_pieces_and_higher_bands_go_on(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &strict, &strict);
    arrive(&s, free_graph(3 * PIECE + 7), 1, CLO_NONE);
    arrive(&s, free_graph(1), 2, CLO_NONE);
    clo_scheduler_go_on_to_end(s.scheduler);
    clo_scheduler_cancel(s.scheduler, s.jobs[0].job, false, s.now_ns);
    assert_int_equal(s.jobs[0].job->live.startable, 0); /* to a policy all of it is gone at once */
    assert_int_equal(s.jobs[0].job->live.first_ready, CLO_NONE);
    for (uint32_t piece = 1; piece <= 3; piece++) {
        take_orders(&s);
        take_ended(&s);
        assert_int_equal(s.orders, piece > 1); /* not of band 2 */
        assert_int_equal(s.ended, 0);
        assert_true(clo_scheduler_has_more(s.scheduler));
        if (piece == 1) {
            arrive(&s, free_graph(1), 0, CLO_NONE);
            take_orders(&s);
            assert_int_equal(s.orders, 1);
        }
        assert_true(clo_scheduler_go_on(s.scheduler) == (piece == 3));
    }
    assert_false(clo_scheduler_has_more(s.scheduler));
    take_ended(&s);
    assert_true(s.jobs[0].has_ended);
    take_orders(&s);
    assert_int_equal(s.orders, 2);
    assert_true(clo_scheduler_counts_of(s.scheduler)->most_turn_steps < 3 * PIECE);
    close_setting(&s);
    assert_int_equal(s.orders, 2);
}

static void while_a_policy_is_shown_what_lives_the_rule_decides(void **state)
{
    setting s;

    (void)state;
    for (uint32_t relists = 0; relists < 2; relists++) {
        open_setting(&s, &strict, relists ? &strict_assigned : &strict);
        arrive(&s, free_graph(3 * PIECE), 1, CLO_NONE);
        arrive(&s, free_graph(3 * PIECE), 0, CLO_NONE);
        clo_scheduler_go_on_to_end(s.scheduler);
        take_orders(&s);
        told_ready = told_arrived = 0;
        swap(&s);
        assert_true(clo_scheduler_is_showing(s.scheduler));
        assert_true(told_ready <= PIECE);
        uint64_t calls = clo_scheduler_counts_of(s.scheduler)->calls;
        finish(&s, 1);
        take_orders(&s);
        assert_int_equal(s.orders, EXECUTORS + 1);
        assert_int_equal(clo_scheduler_counts_of(s.scheduler)->calls, calls);
        assert_int_equal(clo_scheduler_counts_of(s.scheduler)->fallbacks, 1);
        assert_true(told_arrived >= 1); /* of the job that has started something */
        clo_policy_use use = {.policy = &oldest};
        fails(CLO_ERR_STATE, "still being shown", clo_scheduler_swap(s.scheduler, &use, s.swaps + 1, s.now_ns));
        while (clo_scheduler_is_showing(s.scheduler))
            (void)clo_scheduler_go_on(s.scheduler);
        assert_int_equal(told_arrived, 2);
        assert_int_equal(told_ready, 6 * PIECE - EXECUTORS); /* one of them has started meanwhile */
        assert_true(clo_scheduler_counts_of(s.scheduler)->most_turn_steps < 3 * PIECE);
        close_setting(&s);
        assert_int_equal(s.orders, 6 * PIECE);
    }
}

/* `tasks` of them, all but the first one behind that. */
static clo_graph *star_graph(uint32_t tasks)
{
    clo_task task = {.work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("star", &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(graph, 0, t, 0));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void a_job_may_end_while_a_policy_is_shown_what_lives(void **state)
{
    clo_order order;
    setting s;

    (void)state;
    open_setting(&s, &strict, &strict_assigned);
    arrive(&s, star_graph(2 * PIECE), 1, CLO_NONE);
    arrive(&s, star_graph(10), 0, CLO_NONE);
    assert_true(clo_scheduler_next(s.scheduler, &order)); /* the root of band 0 alone */
    s.start_ns[order.executor] = order.arrival_ns;
    s.orders++;
    told_ready = told_arrived = 0;
    swap(&s); /* as far as the middle of the first job */
    assert_true(clo_scheduler_is_showing(s.scheduler));
    clo_scheduler_cancel(s.scheduler, s.jobs[0].job, false, s.now_ns);
    take_ended(&s);
    assert_true(s.jobs[0].has_ended);
    clo_scheduler_go_on_to_end(s.scheduler);
    assert_int_equal(told_arrived, 2);
    assert_int_equal(told_ready, 9); /* of the other one, whose root is assigned */
    close_setting(&s);
    assert_int_equal(s.orders, 10);
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
    else if (what < 6 && clo_scheduler_has_more(s->scheduler))
        (void)clo_scheduler_go_on(s->scheduler);
    else if (what == 6 && clo_rng_below(rng, 8) == 0 && j < s->jobs_count && !s->jobs[j].has_ended)
        clo_scheduler_cancel(s->scheduler, s->jobs[j].job, clo_rng_below(rng, 2) == 0, s->now_ns);
    else if (what == 7 && clo_rng_below(rng, 4) == 0 && !clo_scheduler_is_showing(s->scheduler))
        swap(s);
    else if (s->start_ns[e] >= 0)
        finish(s, e);
    if (clo_rng_below(rng, 4) > 0)
        take_orders(s);
    take_ended(s);
}

/* Now and then a new policy while the last one is shown nothing any more, and a cancellation in the middle of that. */
static void disturb(setting *s, clo_rng *rng)
{
    uint32_t j = clo_rng_below(rng, JOBS_MAX);

    if (clo_rng_below(rng, 40) == 0 && !clo_scheduler_is_showing(s->scheduler))
        swap(s);
    if (clo_rng_below(rng, 150) == 0 && j < s->jobs_count && !s->jobs[j].has_ended)
        clo_scheduler_cancel(s->scheduler, s->jobs[j].job, false, s->now_ns);
}

enum { STEPS = SANITIZED ? 500 : 1500 };

/* Counts the swaps and the pieces. */
static void run_random(const clo_policy *policy, const void *argument, const clo_policy *other, uint64_t seed,
                       uint64_t counts[2])
{
    clo_rng rng = clo_rng_seed(seed);
    setting s;
    size_t count;

    open_with(&s, policy, argument, other);
    arrive(&s, free_graph(2 * PIECE), 2, CLO_NONE);
    for (uint32_t i = 0; i < STEPS; i++) {
        step(&s, &rng);
        if (policy->event == be_strict)
            disturb(&s, &rng);
    }
    counts[0] += s.swaps;
    const clo_log_record *records = clo_log_records(s.log, &count);
    for (size_t i = 0; i < count; i++)
        counts[1] += records[i].what == (policy->event == be_strict ? CLO_LOG_MORE : CLO_LOG_ENTER);
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

static void a_policy_hears_of_everything_in_order(void **state)
{
    enum { SEEDS = SANITIZED ? 6 : 30 };
    uint64_t counts[2] = {0, 0};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        run_random(&strict, NULL, seed % 3 > 0 ? &strict_assigned : &strict, 1000 + seed, counts);
    assert_true(counts[0] > SEEDS * STEPS / 300 && counts[1] > SEEDS * STEPS / 150);
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
    for (uint64_t seed = 100; seed < (SANITIZED ? 101 : 103); seed++)
        run_random(replan, argument, clo_policy_find("fair"), seed, counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_job_leaves_in_pieces_and_higher_bands_go_on),
        cmocka_unit_test(while_a_policy_is_shown_what_lives_the_rule_decides),
        cmocka_unit_test(a_job_may_end_while_a_policy_is_shown_what_lives),
        cmocka_unit_test(any_order_of_inputs_is_valid_and_repeated_under_every_policy),
        cmocka_unit_test(a_policy_hears_of_everything_in_order),
        cmocka_unit_test(a_plan_of_all_live_jobs_is_repeated_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
