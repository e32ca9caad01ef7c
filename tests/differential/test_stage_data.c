/* Real jobs with stages: every job of the Alibaba sample, and a plan for the one with the most pairs of instances. */
#include "support.h"

#include <unistd.h>

#define SAMPLE CLO_DATA "/alibaba/v2018_dag_sample6600.jsonl"

static uint64_t pairs_in(const clo_graph *graph)
{
    uint64_t pairs = 0;

    for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
        clo_edge edge = {0};
        clo_task from = CLO_TASK_INIT, to = CLO_TASK_INIT;
        ok(clo_graph_edge(graph, e, &edge));
        ok(clo_graph_task(graph, edge.from, &from));
        ok(clo_graph_task(graph, edge.to, &to));
        pairs += (uint64_t)from.instances * to.instances;
    }
    return pairs;
}

/* The job with the most pairs; the caller destroys it. */
static clo_document *find_widest(uint64_t *pairs)
{
    clo_documents *documents;
    clo_document *widest = NULL, *next;

    *pairs = 0;
    ok(clo_documents_open(SAMPLE, NULL, &documents));
    for (size_t left = clo_documents_count(documents); left > 0; left--) {
        ok(clo_documents_next(documents, &next));
        uint64_t here = pairs_in(clo_document_graph(next));
        if (widest == NULL || here > *pairs) {
            clo_document_destroy(widest);
            widest = next;
            *pairs = here;
        } else {
            clo_document_destroy(next);
        }
    }
    clo_documents_close(documents);
    return widest;
}

static void the_widest_job_of_the_sample_is_planned(void **state)
{
    uint64_t pairs;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    (void)state;
    if (access(SAMPLE, R_OK) != 0)
        skip_because("no workloads at " CLO_DATA, "cmake -DCLOTHO_DATA=FOLDER");
    clo_document *widest = find_widest(&pairs);
    assert_true(pairs > 200000000);
    ok(clo_platform_open("uniform:50", &platform));
    ok(clo_cost_create(clo_document_graph(widest), platform, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    ok(clo_plan_measure(plan, cost, &metrics));
    print_message("%u instances, %llu pairs: makespan %.3f s, bound %.3f s\n",
                  clo_graph_instances(clo_document_graph(widest)), (unsigned long long)pairs,
                  (double)metrics.makespan_ns * 1e-9, (double)metrics.lower_bound_ns * 1e-9);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_document_destroy(widest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_widest_job_of_the_sample_is_planned)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
