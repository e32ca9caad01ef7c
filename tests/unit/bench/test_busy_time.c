/* The bound by mean busy times of bench-online, on jobs small enough to be worked out by hand. */
#include "online/busy_time.h"

#include "support.h"

#include <math.h>

static void near(double is, double want)
{
    if (fabs(is - want) > 1e-9)
        fail_msg("%.12f in place of %.12f", is, want);
}

/* One instance that needs all of the machine: half of it before the mean busy time, half behind. */
static void the_tail_of_a_task_alone_is_half_of_it(void **state)
{
    busy_task task = {.duration_s = 10, .need_s = 10};

    (void)state;
    near(busy_time_tail_s(&task, 1), 5);
    task.tail_s = 7; /* and what follows it elsewhere */
    near(busy_time_tail_s(&task, 1), 12);
    task = (busy_task){.duration_s = 10, .need_s = 2}; /* a fifth of the machine at most */
    near(busy_time_tail_s(&task, 1), 5);
    task = (busy_task){.duration_s = 1, .need_s = 10}; /* ten at a time */
    near(busy_time_tail_s(&task, 1), 5);
}

/* 10 s on all of the machine, then 4 s on half of it: by hand, 11/3 and 25/6. */
static void the_tail_of_a_chain_knows_what_its_end_keeps_back(void **state)
{
    busy_task tasks[2] = {{.duration_s = 10, .tail_s = 4, .need_s = 10}, {.head_s = 10, .duration_s = 4, .need_s = 2}};
    busy_job job = {.end_task = 2};

    (void)state;
    near(busy_time_tail_s(tasks, 2), 47 / 6.0);
    near(busy_time_sum_s(&job, 1, tasks), 6 + 47 / 6.0); /* the mean busy time is 6; it ends at 14 */
    job.alone_s = 14;
    near(busy_time_sum_s(&job, 1, tasks), 14);
}

/* Jobs that can use all of the machine: the bound is what shortest first reaches. */
static void jobs_that_pack_are_bounded_by_their_best_order(void **state)
{
    busy_task tasks[3] = {
        {.duration_s = 2, .need_s = 2}, {.duration_s = 1, .need_s = 1}, {.duration_s = 4, .need_s = 4}};
    busy_job jobs[3] = {{0, 2, 0, 1}, {0, 1, 1, 2}, {100, 4, 2, 3}};

    (void)state;
    near(busy_time_sum_s(jobs, 2, tasks), 1 + 3);
    near(busy_time_sum_s(jobs, 3, tasks), 1 + 3 + 4);
    near(busy_time_sum_s(jobs, 0, tasks), 0);
    jobs[2].end_task = 2; /* needs nothing of the machine: counts what it takes alone */
    near(busy_time_sum_s(jobs, 3, tasks), 1 + 3 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tail_of_a_task_alone_is_half_of_it),
        cmocka_unit_test(the_tail_of_a_chain_knows_what_its_end_keeps_back),
        cmocka_unit_test(jobs_that_pack_are_bounded_by_their_best_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
