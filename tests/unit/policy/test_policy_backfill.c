/* The least work first, and what others may take meanwhile: wspt all, strict-sjf nothing, easy-sjf what does not delay
 * the first job. Worked out by hand. */
#include "policy_scene.h"

/* A job of one stage that holds so much of the machine's 10. */
static void holder(policy_scene *s, int64_t arrival_ns, int64_t work_ns, int64_t demand)
{
    clo_task task = {.work_ns = work_ns, .demand = {demand}};

    scene_add(s, scene_graph(s, &task, 1), (clo_workload_job){.arrival_ns = arrival_ns});
}

enum { RUNS, FIRST, SHORT, LONG, SMALL };

/* 5 of 10 are held until 100. The first job needs 8 at time 1. Then come: 2 for 60 (ends before 100), 3 for 200 (would
 * delay the first one), and 2 for 300, which are left over beside the first one. */
static void open_waiting(policy_scene *s, int64_t first_ns)
{
    scene_open(s, 8);
    s->capacities[0] = 10;
    holder(s, 0, 100, 5);
    holder(s, 1, first_ns, 8);
    holder(s, 2, 60, 2);
    holder(s, 3, 200, 3);
    holder(s, 4, 300, 2);
}

static void wspt_starts_whatever_fits(void **state)
{
    policy_scene s;

    (void)state;
    open_waiting(&s, 120);
    scene_run(&s, "wspt");
    assert_int_equal(s.outcomes[SHORT].start_ns, 2);
    assert_int_equal(s.outcomes[LONG].start_ns, 3);
    assert_true(s.outcomes[FIRST].start_ns > 200);
    scene_close(&s);
}

static void strict_sjf_starts_nothing_meanwhile(void **state)
{
    policy_scene s;

    (void)state;
    open_waiting(&s, 120);
    scene_run(&s, "strict-sjf");
    assert_int_equal(s.outcomes[FIRST].start_ns, 100);
    assert_int_equal(s.outcomes[SHORT].start_ns, 2); /* has less work */
    assert_int_equal(s.outcomes[LONG].start_ns, 220);
    assert_int_equal(s.outcomes[SMALL].start_ns, 220); /* fits, but LONG comes before it */
    scene_close(&s);
}

static void easy_sjf_starts_what_does_not_delay_the_first_job(void **state)
{
    policy_scene s;

    (void)state;
    open_waiting(&s, 120);
    scene_run(&s, "easy-sjf");
    assert_int_equal(s.outcomes[FIRST].start_ns, 100);
    assert_int_equal(s.outcomes[SHORT].start_ns, 2); /* ends before */
    assert_int_equal(s.outcomes[SMALL].start_ns, 4); /* is left over */
    assert_int_equal(s.outcomes[LONG].start_ns, 220);
    scene_close(&s);
}

/* Room is kept for a second job behind the first one, at 220, and a third one, for which there is room beside the first,
 * would delay it. */
static void conservative_sjf_keeps_room_for_the_second_job_too(void **state)
{
    policy_scene s;

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        scene_open(&s, 4);
        s.capacities[0] = 10;
        holder(&s, 0, 100, 5);
        holder(&s, 1, 120, 8);
        holder(&s, 2, 250, 9);
        holder(&s, 3, 300, 2);
        holder(&s, 4, 320, 1);
        scene_run(&s, turn == 0 ? "easy-sjf" : "conservative-sjf");
        assert_int_equal(s.outcomes[1].start_ns, 100);
        assert_int_equal(s.outcomes[2].start_ns, turn == 0 ? 303 : 220);
        assert_int_equal(s.outcomes[3].start_ns, turn == 0 ? 3 : 470);
        assert_int_equal(s.outcomes[4].start_ns, turn == 0 ? 220 : 4); /* is left over beside both */
        scene_close(&s);
    }
}

/* It would wait for 99 with work of 20. */
static void room_is_not_kept_longer_than_the_job_is_worth(void **state)
{
    policy_scene s;

    (void)state;
    open_waiting(&s, 20);
    scene_run(&s, "easy-sjf");
    assert_int_equal(s.outcomes[LONG].start_ns, 3);
    assert_true(s.outcomes[FIRST].start_ns > 200);
    scene_close(&s);
}

/* With a second machine the first job has room there at once, or others may start there. */
static void room_is_kept_on_one_machine(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 8);
    s.desc.machines_count = 2;
    for (uint32_t e = 4; e < 8; e++)
        s.executors[e].machine = 1;
    s.capacities[0] = s.capacities[CLO_RESOURCES_MAX] = 10;
    holder(&s, 0, 100, 5);
    holder(&s, 0, 50, 6); /* on the other machine, and ends first: room is kept there */
    holder(&s, 1, 60, 8);
    holder(&s, 2, 200, 4);
    scene_run(&s, "easy-sjf");
    assert_int_equal(s.outcomes[2].start_ns, 50);
    assert_int_equal(s.outcomes[3].start_ns, 2);
    scene_run(&s, "strict-sjf");
    assert_int_equal(s.outcomes[2].start_ns, 50);
    assert_int_equal(s.outcomes[3].start_ns, 50);
    scene_close(&s);
}

/* A limit of the job's executors is no want of room: others go on. */
static void a_job_at_its_limit_does_not_wait_for_room(void **state)
{
    static const char *const policies[] = {"wspt", "strict-sjf", "easy-sjf", "conservative-sjf"};
    clo_task task = {.work_ns = 10, .instances = 3, .demand = {1}};
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    s.capacities[0] = 10;
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.limit = 1});
    holder(&s, 1, 1000, 5);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        scene_run(&s, policies[i]);
        assert_int_equal(s.outcomes[0].finish_ns, 30);
        assert_int_equal(s.outcomes[1].start_ns, 1);
    }
    scene_close(&s);
}

static void the_least_work_by_weight_goes_first(void **state)
{
    static const char *const policies[] = {"wspt", "strict-sjf", "easy-sjf", "conservative-sjf"};
    clo_task task = {.work_ns = 100};
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 10, 1);
    scene_job(&s, 1, 50, 1);
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 2, .weight = 5});
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        scene_run(&s, policies[i]);
        assert_int_equal(s.outcomes[2].start_ns, 10);
        assert_int_equal(s.outcomes[1].start_ns, 110);
    }
    scene_close(&s);
}

/* Twenty slow executors on the first machine, four fast ones on the second. */
static void what_packs_looks_at_every_machine_and_at_its_speed(void **state)
{
    static const char *const policies[] = {"tetris", "strict-sjf", "easy-sjf", "conservative-sjf", "auto"};
    clo_task task = {.work_ns = 100, .instances = 6, .demand = {1}};
    policy_scene s;

    (void)state;
    scene_open(&s, 24);
    s.desc.kinds_count = s.desc.machines_count = 2;
    for (uint32_t e = 20; e < 24; e++) {
        s.executors[e].machine = s.executors[e].kind = 1;
        for (uint32_t k = 0; k < 4; k++)
            s.executors[e].speed_q16[k] = 4 * CLO_SPEED_ONE;
    }
    s.capacities[0] = s.capacities[CLO_RESOURCES_MAX] = 10;
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){0});
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        scene_run(&s, policies[i]);
        assert_int_equal(s.outcomes[0].busy_ns, 4 * 25 + 2 * 100);
    }
    scene_close(&s);
}

/* 600 executors are free on a machine that has no room; the last one is on a machine that has. */
static void a_machine_without_room_hides_no_other(void **state)
{
    enum { EXECUTORS = 601 };
    static const char *const policies[] = {"tetris", "strict-sjf", "easy-sjf", "conservative-sjf", "auto"};
    static clo_executor executors[EXECUTORS];
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    for (uint32_t e = 0; e < EXECUTORS; e++) {
        executors[e] = s.executors[0];
        executors[e].machine = e == EXECUTORS - 1;
    }
    s.desc.executors = executors;
    s.desc.executors_count = EXECUTORS;
    s.desc.machines_count = 2;
    s.capacities[0] = 100;
    s.capacities[CLO_RESOURCES_MAX] = 60;
    holder(&s, 0, 100, 70); /* on the first machine: there is room for it nowhere else */
    holder(&s, 1, 100, 50);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        scene_run(&s, policies[i]);
        assert_int_equal(s.outcomes[1].start_ns, 1);
    }
    scene_close(&s);
}

/* More executors on a machine than ends that are looked at, and a second machine. */
static void room_is_kept_on_machines_of_hundreds_of_executors(void **state)
{
    enum { EXECUTORS = 600 };
    clo_task many = {.work_ns = 1000, .instances = EXECUTORS, .demand = {3}},
             large = {.work_ns = 5000, .demand = {999}};
    static clo_executor executors[EXECUTORS];
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    for (uint32_t e = 0; e < EXECUTORS; e++) {
        executors[e] = s.executors[0];
        executors[e].machine = e % 2;
    }
    s.desc.executors = executors;
    s.desc.executors_count = EXECUTORS;
    s.desc.machines_count = 2;
    s.capacities[0] = s.capacities[CLO_RESOURCES_MAX] = 1000;
    scene_add(&s, scene_graph(&s, &many, 1), (clo_workload_job){0});
    scene_add(&s, scene_graph(&s, &large, 1), (clo_workload_job){.arrival_ns = 100});
    scene_job(&s, 200, 100, 1);
    scene_run(&s, "easy-sjf");
    assert_int_equal(s.outcomes[1].start_ns, 1000);
    assert_int_equal(s.outcomes[2].start_ns, 1000); /* all executors run */
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wspt_starts_whatever_fits),
        cmocka_unit_test(strict_sjf_starts_nothing_meanwhile),
        cmocka_unit_test(easy_sjf_starts_what_does_not_delay_the_first_job),
        cmocka_unit_test(conservative_sjf_keeps_room_for_the_second_job_too),
        cmocka_unit_test(room_is_kept_on_one_machine),
        cmocka_unit_test(room_is_not_kept_longer_than_the_job_is_worth),
        cmocka_unit_test(room_is_kept_on_machines_of_hundreds_of_executors),
        cmocka_unit_test(a_job_at_its_limit_does_not_wait_for_room),
        cmocka_unit_test(the_least_work_by_weight_goes_first),
        cmocka_unit_test(what_packs_looks_at_every_machine_and_at_its_speed),
        cmocka_unit_test(a_machine_without_room_hides_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
