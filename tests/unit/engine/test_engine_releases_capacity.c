/* When executions of releases in flight can begin in virtual time, for the capacities of machines
 * (engine/releases/capacity.c). */
#include "capacity_scene.h"

#include "engine/releases/capacity.h"

/* The asks of all executions, in the rows of their queues. */
static clo_releases_capacity open_room(capacity_scene *s)
{
    clo_releases_capacity room = {0};

    *s = capacity_open(true);
    ok(clo_releases_capacity_create(s->program, true, &s->arena, &room));
    for (uint32_t t = 0; t < CAPACITY_TASKS; t++)
        for (uint32_t r = 0; r < 2; r++) {
            uint32_t machine = capacity_tasks[t].executor / 2;
            if (capacity_tasks[t].demand[r] > 0 && (machine == 0 || r == 0))
                clo_releases_capacity_fill(&room, t, CAPACITY_EXECUTORS + machine * CLO_RESOURCES_MAX + r, 0,
                                           capacity_tasks[t].demand[r]);
        }
    clo_releases_capacity_begin(&room);
    return room;
}

static int64_t take(const clo_releases_capacity *room, uint32_t task, int64_t start_ns, int64_t length_ns)
{
    return clo_releases_capacity_take(room, task, start_ns, length_ns);
}

static void asks_are_what_is_demanded_and_limited(void **state)
{
    capacity_scene s;
    clo_releases_capacity room = open_room(&s);

    (void)state;
    assert_int_equal(clo_releases_capacity_asks(&room, CAPACITY_TASKS), 7);
    assert_true(clo_releases_capacity_has(&room, 2));
    assert_false(clo_releases_capacity_has(&room, 4));
    assert_int_equal(room.first_row, CAPACITY_EXECUTORS);
    assert_int_equal(room.queues_count, 2 * CLO_RESOURCES_MAX);
    assert_int_equal(room.asks[room.first[1]].row, CAPACITY_EXECUTORS);
    assert_int_equal(room.asks[room.first[1] + 1].row, CAPACITY_EXECUTORS + 1);
    capacity_close(&s);
}

/* Resource 0 of machine 0 has 5; tasks 0 and 1 demand 2 each, task 3 demands 3. */
static void what_fits_begins_when_it_is_ready_and_what_does_not_when_enough_is_given_back(void **state)
{
    capacity_scene s;
    clo_releases_capacity room = open_room(&s);

    (void)state;
    assert_int_equal(take(&room, 0, 0, 100), 0);
    assert_int_equal(take(&room, 1, 10, 100), 10);
    assert_int_equal(take(&room, 3, 20, 50), 100); /* task 0 ends */
    capacity_close(&s);
}

static void nobody_begins_before_those_in_front_of_it(void **state)
{
    capacity_scene s;
    clo_releases_capacity room = open_room(&s);

    (void)state;
    assert_int_equal(take(&room, 0, 0, 100), 0);
    assert_int_equal(take(&room, 1, 10, 100), 10);
    assert_int_equal(take(&room, 3, 20, 50), 100);
    /* The next release: 2 would fit now, but not with what task 3 holds from 100 to 150. */
    assert_int_equal(take(&room, 0, 30, 10), 110);
    assert_int_equal(take(&room, 0, 0, 10), 120); /* and the one behind it when its 2 are given back */
    capacity_close(&s);
}

static void both_resources_must_be_free_at_once(void **state)
{
    capacity_scene s;
    clo_releases_capacity room = open_room(&s);

    (void)state;
    assert_int_equal(take(&room, 2, 0, 40), 0);  /* all of resource 1 */
    assert_int_equal(take(&room, 1, 5, 10), 40); /* resource 0 is free, resource 1 is not */
    assert_int_equal(take(&room, 0, 0, 10), 40); /* behind task 1 in the queue of resource 0 */
    capacity_close(&s);
}

static void machines_have_capacities_of_their_own(void **state)
{
    capacity_scene s;
    clo_releases_capacity room = open_room(&s);

    (void)state;
    assert_int_equal(take(&room, 3, 50, 100), 50);
    assert_int_equal(take(&room, 5, 0, 100), 0);
    assert_int_equal(take(&room, 6, 1, 100), 1);
    assert_int_equal(take(&room, 4, 0, 100), 0); /* demands nothing */
    capacity_close(&s);
}

static void what_takes_no_time_holds_nothing_and_a_new_run_begins_with_nothing_held(void **state)
{
    capacity_scene s;
    clo_releases_capacity room = open_room(&s);

    (void)state;
    assert_int_equal(take(&room, 3, 0, 0), 0);
    assert_int_equal(take(&room, 3, 0, 100), 0);
    assert_int_equal(take(&room, 3, 0, 100), 100);
    clo_releases_capacity_begin(&room);
    assert_int_equal(take(&room, 3, 0, 100), 0);
    capacity_close(&s);
}

static void where_nobody_demands_anything_there_is_nothing_to_ask(void **state)
{
    capacity_scene s = capacity_open(false);
    clo_releases_capacity room = {0};

    (void)state;
    ok(clo_releases_capacity_create(s.program, true, &s.arena, &room));
    assert_null(room.first);
    assert_int_equal(clo_releases_capacity_asks(&room, CAPACITY_TASKS), 0);
    assert_false(clo_releases_capacity_has(&room, 0));
    capacity_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_are_what_is_demanded_and_limited),
        cmocka_unit_test(what_fits_begins_when_it_is_ready_and_what_does_not_when_enough_is_given_back),
        cmocka_unit_test(nobody_begins_before_those_in_front_of_it),
        cmocka_unit_test(both_resources_must_be_free_at_once),
        cmocka_unit_test(machines_have_capacities_of_their_own),
        cmocka_unit_test(what_takes_no_time_holds_nothing_and_a_new_run_begins_with_nothing_held),
        cmocka_unit_test(where_nobody_demands_anything_there_is_nothing_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
