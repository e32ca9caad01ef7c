/* The rule of the hand-over (run/sharing/share_rule.h) in the model of bench/hand_over, in virtual time: no task is
 * lost or begins early, none waits for long beside an idle worker, and makespans stay near those of greedy list
 * scheduling without costs. Nothing here depends on the machine. */
#include "support.h"

#include "hand_over/play.h"
#include "run/sharing/share_rule.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const shapes[] = {"pipe2", "pipe3", "pipe8", "chain", "fan", "wave", "rand", "none"};
enum { SHAPES = sizeof shapes / sizeof *shapes, TASKS = 6000 };

typedef struct scene {
    bench_graph graph;
    int64_t *body_ns;
} scene;

/* length_ns 0: mixed. */
static void open_scene(scene *s, const char *shape, uint32_t tasks, int64_t length_ns, uint64_t seed)
{
    assert_true(bench_graph_open(&s->graph, shape, tasks, seed));
    s->body_ns = calloc(s->graph.tasks, sizeof *s->body_ns);
    assert_non_null(s->body_ns);
    for (uint32_t t = 0; t < s->graph.tasks; t++)
        s->body_ns[t] = length_ns > 0 ? length_ns : play_mixed_ns(&seed);
}

static void close_scene(scene *s)
{
    free(s->body_ns);
    bench_graph_close(&s->graph);
}

static play_result play_scene(const scene *s, uint32_t workers)
{
    play_result result;

    assert_true(play(&s->graph, s->body_ns, workers, &play_costs_default, &result));
    assert_int_equal(result.ran, s->graph.tasks);
    assert_true(result.is_ordered);
    return result;
}

static void every_task_runs_once_after_its_predecessors_on_any_number_of_workers(void **state)
{
    static const int64_t lengths[] = {100, 299, 300, 1000, 2000, 2001, 50000, 0};

    (void)state;
    for (uint32_t g = 0; g < SHAPES; g++)
        for (uint32_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (uint32_t workers = 1; workers <= PLAY_WORKERS_MAX; workers++) {
                scene s;
                open_scene(&s, shapes[g], 1000, lengths[l], workers);
                play_result r = play_scene(&s, workers);
                assert_true(r.makespan_ns >= play_lower_ns(&r, workers));
                /* Graham's: what the reference is worth. */
                assert_true(r.greedy_ns <= r.work_ns / workers + r.critical_ns);
                close_scene(&s);
            }
}

static void the_same_run_gives_the_same_figures(void **state)
{
    scene s;

    (void)state;
    open_scene(&s, "rand", TASKS, 0, 1);
    play_result first = play_scene(&s, 5), second = play_scene(&s, 5);
    assert_int_equal(first.makespan_ns, second.makespan_ns);
    assert_int_equal(first.lost_ns, second.lost_ns);
    assert_int_equal(first.hand_overs + first.steals, second.hand_overs + second.steals);
    close_scene(&s);
}

/* A body is worth a wake once items have waited for CLO_WAKE_NS; then the sleeper must come, run what it got, and
 * share. */
static void no_task_waits_for_long_beside_an_idle_worker(void **state)
{
    static const int64_t lengths[] = {750, 2000, 10000, 50000, 0};

    (void)state;
    for (uint32_t g = 0; g < SHAPES; g++)
        for (uint32_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (uint32_t workers = 2; workers <= PLAY_WORKERS_MAX; workers++) {
                scene s;
                open_scene(&s, shapes[g], TASKS, lengths[l], 7);
                play_result r = play_scene(&s, workers);
                int64_t longest_ns = lengths[l] > 0 ? lengths[l] : 51200;
                /* The pace of short bodies is known after some of them. */
                int64_t bodies = lengths[l] > 0 && longest_ns <= CLO_SHORT_NS ? 66 : 2;
                int64_t limit_ns = play_costs_default.wake * workers + 2 * CLO_WAKE_NS + bodies * longest_ns;
                if (r.waited_ns > limit_ns)
                    print_error("%s %lld, %u workers: %lld of %lld\n", shapes[g], (long long)lengths[l], workers,
                                (long long)r.waited_ns, (long long)limit_ns);
                assert_true(r.waited_ns <= limit_ns);
                close_scene(&s);
            }
}

/* Makespan over greedy list scheduling that costs nothing: in percent, at most. The first wake is part of it. */
static void assert_ratio(const char *shape, int64_t length_ns, uint32_t workers, int64_t percent)
{
    scene s;

    open_scene(&s, shape, 20000, length_ns, 1);
    play_result r = play_scene(&s, workers);
    if (100 * r.makespan_ns > percent * r.greedy_ns)
        print_error("%s %lld, %u workers: %lld %%\n", shape, (long long)length_ns, workers,
                    (long long)(100 * r.makespan_ns / r.greedy_ns));
    assert_true(100 * r.makespan_ns <= percent * r.greedy_ns);
    close_scene(&s);
}

static void narrow_graphs_of_short_bodies_stay_near_greedy_list_scheduling(void **state)
{
    (void)state;
    assert_ratio("chain", 100, 2, 130); /* a task costs 12 ns and its hit 4, whoever runs it */
    assert_ratio("chain", 750, 8, 105);
    for (uint32_t workers = 2; workers <= 4; workers++) {
        assert_ratio("pipe2", 750, workers, 115);
        assert_ratio("pipe3", 750, workers, 118);
        assert_ratio("pipe8", 750, workers, 128);
    }
    assert_ratio("pipe2", 750, 8, 115);
    assert_ratio("pipe3", 750, 8, 118);
}

/* Longer ones may not lose to wakes and to items that change hands for nothing. */
static void narrow_graphs_of_long_and_of_mixed_bodies_stay_near_greedy_list_scheduling(void **state)
{
    (void)state;
    for (uint32_t workers = 2; workers <= PLAY_WORKERS_MAX; workers++) {
        assert_ratio("pipe2", 2000, workers, 108);
        assert_ratio("pipe2", 50000, workers, 110);
        assert_ratio("pipe3", 50000, workers, 110);
        assert_ratio("fan", 50000, workers, 110);
        assert_ratio("wave", 50000, workers, 110);
        assert_ratio("rand", 50000, workers, 110);
        assert_ratio("pipe2", 0, workers, 108); /* no wake for each item while some worker looks */
        assert_ratio("pipe3", 0, workers, 110);
        assert_ratio("pipe8", 0, workers, 110);
        assert_ratio("fan", 0, workers, 105);
    }
}

/* Two workers on two stages: each keeps one, so all but the first items stay where they are. */
static void each_worker_stays_with_its_stage(void **state)
{
    static const int64_t lengths[] = {750, 2000, 10000, 50000};

    (void)state;
    for (uint32_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        scene s;
        open_scene(&s, "pipe2", 20000, lengths[l], 1);
        play_result r = play_scene(&s, 2);
        if (r.hand_overs + r.steals > 1000)
            print_error("%lld: %u items changed hands\n", (long long)lengths[l], r.hand_overs + r.steals);
        assert_true(r.hand_overs + r.steals <= 1000);
        close_scene(&s);
    }
}

static void a_chain_never_changes_hands_and_wakes_nobody(void **state)
{
    scene s;

    (void)state;
    open_scene(&s, "chain", TASKS, 750, 1);
    play_result r = play_scene(&s, 4);
    assert_int_equal(r.hand_overs + r.steals + r.wakes, 0);
    close_scene(&s);
}

static void the_rule_shares_all_before_a_slow_body_and_nothing_that_is_too_little(void **state)
{
    clo_share_view slow = {.task_time_ns = CLO_SHORT_NS + 1, .count = 3};
    clo_share_view little = {.task_time_ns = 10, .count = 4, .is_asked = true};
    clo_share_view enough = {.task_time_ns = CLO_WORTH_NS - 1, .count = 5, .is_asked = true};
    clo_share_view narrow = {.task_time_ns = CLO_WORTH_NS, .count = 1, .is_asked = true};

    (void)state;
    clo_share_choice all = clo_share_choose(&slow), none = clo_share_choose(&little);
    clo_share_choice half = clo_share_choose(&enough), one = clo_share_choose(&narrow);
    assert_true(all.publish == 3 && all.wakes && all.stops_feeding && !all.holds_out);
    assert_true(none.publish == 0 && !none.wakes && !none.answers);
    assert_true(half.publish == 3 && half.answers && !half.wakes && !half.feeds);
    assert_true(one.publish == 0 && one.holds_out && one.feeds && one.answers && !one.wakes);
}

/* However little waits, somebody is woken for it in the end; short bodies are not worth that. */
static void what_waits_long_enough_wakes_somebody(void **state)
{
    clo_share_view view = {.task_time_ns = CLO_WORTH_NS, .count = 1};
    uint32_t turns = 0;

    (void)state;
    while (!clo_share_choose(&view).wakes)
        assert_true(++turns <= CLO_WAKE_NS / CLO_WORTH_NS + 1);
    assert_int_equal(view.declined_ns, 0);
    view = (clo_share_view){.task_time_ns = CLO_WORTH_NS - 1, .count = 1};
    for (turns = 0; turns < 1000; turns++)
        assert_false(clo_share_choose(&view).wakes);
    view = (clo_share_view){.task_time_ns = INT64_MAX, .count = UINT32_MAX, .declined_ns = INT64_MAX};
    assert_true(clo_share_choose(&view).wakes);
}

static void a_narrow_graph_is_known_by_what_waits_and_by_the_pace(void **state)
{
    clo_share_view narrow = {.task_time_ns = CLO_SHORT_NS + 1, .count = CLO_NARROW_ITEMS};
    clo_share_view wide = {.task_time_ns = CLO_SHORT_NS + 1, .count = CLO_NARROW_ITEMS + 1};
    clo_share_view empty = {.task_time_ns = CLO_WORTH_NS - 1, .count = 1};

    (void)state;
    assert_true(clo_share_choose(&narrow).has_affinity);
    assert_false(clo_share_choose(&wide).has_affinity);
    assert_false(clo_share_choose(&empty).has_affinity);
    assert_true(clo_share_stops_feeding(CLO_WORTH_NS - 1, false) && clo_share_stops_feeding(CLO_SHORT_NS, true));
    assert_false(clo_share_stops_feeding(CLO_WORTH_NS, false));
    assert_int_equal(clo_share_pace(100, 2000), 2000); /* long is believed at once */
    assert_int_equal(clo_share_pace(2000, 400), 1600);
    assert_false(clo_share_prefers(2, true, 10, 12, 11)); /* the kept one is at the distance */
    assert_true(clo_share_prefers(2, false, 10, 11, 12));
    assert_true(clo_share_prefers(7, true, 10, 11, 12) && !clo_share_prefers(7, false, 10, 11, 12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once_after_its_predecessors_on_any_number_of_workers),
        cmocka_unit_test(the_same_run_gives_the_same_figures),
        cmocka_unit_test(no_task_waits_for_long_beside_an_idle_worker),
        cmocka_unit_test(narrow_graphs_of_short_bodies_stay_near_greedy_list_scheduling),
        cmocka_unit_test(narrow_graphs_of_long_and_of_mixed_bodies_stay_near_greedy_list_scheduling),
        cmocka_unit_test(each_worker_stays_with_its_stage),
        cmocka_unit_test(a_chain_never_changes_hands_and_wakes_nobody),
        cmocka_unit_test(the_rule_shares_all_before_a_slow_body_and_nothing_that_is_too_little),
        cmocka_unit_test(what_waits_long_enough_wakes_somebody),
        cmocka_unit_test(a_narrow_graph_is_known_by_what_waits_and_by_the_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
