/* In which order the executions of a plan take capacities (engine/program/capacity_order.c). */
#include "capacity_scene.h"

#include "engine/program/capacity_order.h"

/* Whom the execution lets ask, as digits. */
static void lets(const clo_program *program, uint32_t execution, const char *wanted)
{
    char found[CAPACITY_TASKS + 1] = "";
    size_t count = 0;

    for (uint32_t k = program->taken_first[execution]; k < program->taken_first[execution + 1]; k++)
        found[count++] = (char)('0' + program->taken[k]);
    assert_string_equal(found, wanted);
}

static void a_task_asks_for_what_it_demands_and_the_machine_limits(void **state)
{
    capacity_scene s = capacity_open(true);

    (void)state;
    assert_int_equal(clo_capacity_order_demanded(s.program, 0, 0), 1);
    assert_int_equal(clo_capacity_order_demanded(s.program, 1, 1), 3);
    assert_int_equal(clo_capacity_order_demanded(s.program, 1, 2), 1); /* there is any amount of resource 1 */
    assert_int_equal(clo_capacity_order_demanded(s.program, 2, 3), 0);
    assert_int_equal(clo_capacity_order_demanded(s.program, 4, 0), 0);
    capacity_close(&s);
}

static void each_resource_of_each_machine_is_a_queue_in_the_order_of_starts(void **state)
{
    capacity_scene s = capacity_open(true);

    (void)state;
    lets(s.program, 0, "1");  /* resource 0 of machine 0: 0, 1, 3 */
    lets(s.program, 1, "23"); /* resource 1 of machine 0: 1, 2 */
    lets(s.program, 2, "");
    lets(s.program, 3, "");
    lets(s.program, 4, "");
    lets(s.program, 5, "6"); /* machine 1 */
    lets(s.program, 6, "");
    capacity_close(&s);
}

static void an_execution_waits_for_its_turn_in_each_queue_and_for_its_executor(void **state)
{
    static const uint32_t needs[CAPACITY_TASKS] = {0, 1, 2, 2, 1, 0, 1};
    capacity_scene s = capacity_open(true);

    (void)state;
    for (uint32_t i = 0; i < CAPACITY_TASKS; i++)
        assert_int_equal(clo_program_needs(s.program, i), needs[i]);
    capacity_close(&s);
}

static void where_nobody_demands_anything_there_are_no_queues(void **state)
{
    capacity_scene s = capacity_open(false);

    (void)state;
    assert_null(s.program->taken_first);
    assert_int_equal(clo_program_needs(s.program, 1), 0);
    assert_int_equal(clo_program_needs(s.program, 2), 1); /* its executor */
    capacity_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_asks_for_what_it_demands_and_the_machine_limits),
        cmocka_unit_test(each_resource_of_each_machine_is_a_queue_in_the_order_of_starts),
        cmocka_unit_test(an_execution_waits_for_its_turn_in_each_queue_and_for_its_executor),
        cmocka_unit_test(where_nobody_demands_anything_there_are_no_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
