/* A policy takes over from another one that has committed what can no longer come: no executor is lost to it. */
#define _POSIX_C_SOURCE 200809L
#include "by_hand.h"

#include <clotho/registry.h>

/* A chain of two; `only`: where both may run, CLO_NONE: anywhere. */
static clo_graph *chain_on(uint32_t only)
{
    clo_task task = {.work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("chain", &graph));
    for (uint32_t t = 0; t < 2; t++) {
        ok(clo_graph_add_task(graph, &task, NULL));
        if (only != CLO_NONE)
            ok(clo_graph_set_executors(graph, t, &only, 1));
    }
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

/* Executor 1 waits for what its queue holds when `next` comes; then the job of that is cancelled, and another job needs
 * executor 1, which has had nothing to do in between: there is no event of it. */
static void succeed(const clo_policy *next)
{
    setting s;

    open_setting(&s, &oldest_assigned, next);
    uint32_t first = arrive(&s, chain_on(CLO_NONE), 0, CLO_NONE);
    clo_scheduler_go_on_to_end(s.scheduler);
    take_orders(&s);
    assert_int_equal(clo_view_executor(s.scheduler, 1)->committed, 1);
    swap(&s);
    clo_scheduler_go_on_to_end(s.scheduler);
    take_orders(&s);
    uint32_t second = arrive(&s, chain_on(1), 0, CLO_NONE);
    clo_scheduler_cancel(s.scheduler, s.jobs[first].job, false, s.now_ns);
    finish(&s, 0);
    clo_scheduler_go_on_to_end(s.scheduler);
    take_orders(&s);
    take_ended(&s);
    assert_true(s.jobs[first].has_ended && !s.jobs[second].has_ended);
    if (s.start_ns[1] < 0)
        fail_msg("policy %s: nothing is started on executor 1", next->name);
    const clo_scheduler_counts *counts = clo_scheduler_counts_of(s.scheduler);
    if (counts->refused != 0 || counts->fallbacks != 0)
        fail_msg("policy %s: %u refused, %u fallbacks", next->name, (unsigned)counts->refused,
                 (unsigned)counts->fallbacks);
    close_setting(&s);
}

static void every_policy_uses_an_executor_whose_commitments_are_gone(void **state)
{
    clo_entry at = CLO_ENTRY_INIT;

    (void)state;
    for (uint32_t p = 0; clo_registry_entry("policies", p, &at); p++)
        succeed(clo_policy_find(at.name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_policy_uses_an_executor_whose_commitments_are_gone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
