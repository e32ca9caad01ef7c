/* The fast path (run/dispatch/fast_path.c): graphs without data, costs or clocks, whose bodies check that their
 * predecessors have run. */
#include "support.h"

#include "graph/graph.h"
#include "random.h"
#include "scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* seen[i] counts the visits of instance i: plain memory, so that a missing order is also a data race. */
typedef struct visits {
    clo_graph *graph;
    uint32_t *seen;
    _Atomic uint32_t violations, calls;
    uint32_t fail_task; /* CLO_NONE: none */
} visits;

static int visit(const clo_call *call)
{
    visits *v = call->argument;
    const clo_graph *graph = v->graph;
    uint32_t i = graph->first_instance[call->task] + call->instance;
    uint32_t count = ++v->seen[i];

    for (uint32_t e = graph->in_first[call->task]; e < graph->in_first[call->task + 1]; e++)
        for (uint32_t k = graph->first_instance[clo_graph_source(graph, e)];
             k < graph->first_instance[clo_graph_source(graph, e) + 1]; k++)
            if (v->seen[k] != count)
                atomic_fetch_add_explicit(&v->violations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&v->calls, 1, memory_order_relaxed);
    return call->task == v->fail_task ? 7 : 0;
}

/* chain, fan of `size`, join tree, no edges at all, wave, two stages of many instances. */
enum { CHAIN, FAN, INDEPENDENT, WAVE, STAGES, SHAPES };

static clo_graph *shape(int which, uint32_t size, visits *v, int64_t work_ns)
{
    clo_task task = {.body = visit, .argument = v, .work_ns = work_ns};
    uint32_t side = 30;

    ok(clo_graph_create("shape", &v->graph));
    if (which == STAGES)
        task.instances = size / 2;
    for (uint32_t t = 0; t < (which == STAGES ? 2 : which == WAVE ? side * side : size); t++)
        ok(clo_graph_add_task(v->graph, &task, NULL));
    for (uint32_t t = 1; t < size && which == CHAIN; t++)
        ok(clo_graph_add_edge(v->graph, t - 1, t, 0));
    for (uint32_t t = 1; t + 1 < size && which == FAN; t++) {
        ok(clo_graph_add_edge(v->graph, 0, t, 0));
        ok(clo_graph_add_edge(v->graph, t, size - 1, 0));
    }
    for (uint32_t t = 0; t < side * side && which == WAVE; t++) {
        if (t >= side)
            ok(clo_graph_add_edge(v->graph, t - side, t, 0));
        if (t % side != 0)
            ok(clo_graph_add_edge(v->graph, t - 1, t, 0));
    }
    if (which == STAGES)
        ok(clo_graph_add_edge(v->graph, 0, 1, 0));
    ok(clo_graph_seal(v->graph));
    v->seen = calloc(clo_graph_instances(v->graph), sizeof *v->seen);
    v->fail_task = CLO_NONE;
    return v->graph;
}

typedef struct plain {
    visits v;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} plain;

static void open_job(plain *p, uint32_t workers, bool is_replay)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;

    runtime.unpinned = 1;
    p->platform = scene_platform(workers, 0);
    ok(clo_cost_create(p->v.graph, p->platform, &p->cost));
    if (is_replay)
        ok(clo_plan_create(p->cost, NULL, &p->plan));
    job.plan = p->plan;
    ok(clo_runtime_create(p->platform, &runtime, &p->runtime));
    ok(clo_job_create(p->runtime, p->cost, &job, &p->job));
}

static void close_job(plain *p)
{
    clo_job_destroy(p->job);
    clo_runtime_destroy(p->runtime);
    clo_plan_destroy(p->plan);
    clo_cost_destroy(p->cost);
    clo_platform_destroy(p->platform);
    clo_graph_destroy(p->v.graph);
    free(p->v.seen);
}

static void every_task_ran(const plain *p, uint32_t times)
{
    assert_int_equal(atomic_load(&p->v.violations), 0);
    for (uint32_t i = 0; i < clo_graph_instances(p->v.graph); i++)
        assert_int_equal(p->v.seen[i], times);
}

/* Long, short and unknown bodies take different ways to the shared pool. */
static const int64_t works_ns[] = {0, 1000, 1000000};

static void every_shape_runs_in_order_again_and_again_with_any_number_of_workers(void **state)
{
    (void)state;
    for (int which = 0; which < SHAPES; which++)
        for (uint32_t workers = 1; workers <= 8; workers = workers == 1 ? 2 : workers * 4)
            for (int is_replay = 0; is_replay <= 1; is_replay++) {
                plain p = {0};
                clo_job_result result = CLO_JOB_RESULT_INIT;

                shape(which, 900, &p.v, works_ns[((uint32_t)which + workers) % 3]);
                open_job(&p, workers, is_replay);
                for (uint32_t run = 1; run <= 20; run++) {
                    ok(clo_job_submit(p.job));
                    ok(clo_job_wait(p.job, &result));
                    assert_int_equal(result.executed, clo_graph_instances(p.v.graph));
                    every_task_ran(&p, run);
                }
                close_job(&p);
            }
}

static void a_fan_wider_than_a_deque_goes_over_the_public_list_and_loses_nothing(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++) {
        plain p = {0};

        shape(FAN, 20000, &p.v, works_ns[w]);
        open_job(&p, 3, false);
        for (uint32_t run = 1; run <= 3; run++) {
            ok(clo_job_submit(p.job));
            ok(clo_job_wait(p.job, NULL));
            every_task_ran(&p, run);
        }
        close_job(&p);
    }
}

static void random_graphs_run_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        clo_graph *model = random_graph(seed, RANDOM_INSTANCES);
        plain p = {.v = {.fail_task = CLO_NONE}};
        clo_edge edge;

        ok(clo_graph_create("copy", &p.v.graph));
        for (uint32_t t = 0; t < clo_graph_tasks(model); t++) {
            clo_task task;
            ok(clo_graph_task(model, t, &task));
            task.body = visit;
            task.argument = &p.v;
            ok(clo_graph_add_task(p.v.graph, &task, NULL));
        }
        for (uint32_t e = 0; e < clo_graph_edges(model); e++) {
            ok(clo_graph_edge(model, e, &edge));
            ok(clo_graph_add_edge(p.v.graph, edge.from, edge.to, 0));
        }
        ok(clo_graph_seal(p.v.graph));
        p.v.seen = calloc(clo_graph_instances(p.v.graph), sizeof *p.v.seen);
        open_job(&p, 1 + (uint32_t)(seed % 5), seed % 3 == 0);
        for (uint32_t run = 1; run <= 5; run++) {
            ok(clo_job_submit(p.job));
            ok(clo_job_wait(p.job, NULL));
            every_task_ran(&p, run);
        }
        close_job(&p);
        clo_graph_destroy(model);
    }
}

static void after_a_failure_or_a_cancel_the_graph_runs_whole_again(void **state)
{
    (void)state;
    for (int which = 0; which < SHAPES; which++) {
        plain p = {0};
        clo_job_result result = CLO_JOB_RESULT_INIT;

        shape(which, 300, &p.v, 1000);
        open_job(&p, 3, false);
        for (uint32_t round = 0; round < 20; round++) {
            p.v.fail_task = clo_graph_tasks(p.v.graph) / 2;
            ok(clo_job_submit(p.job));
            fails(CLO_ERR_TASK, "failed with 7", clo_job_wait(p.job, &result));
            assert_int_equal(result.failed_task, p.v.fail_task);
            p.v.fail_task = CLO_NONE;
            ok(clo_job_submit(p.job));
            clo_job_cancel(p.job);
            if (clo_job_wait(p.job, &result) != CLO_OK)
                assert_int_equal(result.status, CLO_ERR_CANCELLED);
            for (uint32_t i = 0; i < clo_graph_instances(p.v.graph); i++)
                p.v.seen[i] = 0;
            atomic_store(&p.v.violations, 0);
            ok(clo_job_submit(p.job));
            ok(clo_job_wait(p.job, NULL));
            every_task_ran(&p, 1);
        }
        close_job(&p);
    }
}

#define CLIENTS 4

static clo_runtime *shared_runtime;
static clo_platform *shared_platform;

static void *client_main(void *argument)
{
    plain p = {0};
    clo_cost *cost;
    clo_job *job;

    shape((int)((size_t)argument % SHAPES), 400, &p.v, 1000);
    ok(clo_cost_create(p.v.graph, shared_platform, &cost));
    ok(clo_job_create(shared_runtime, cost, NULL, &job));
    for (uint32_t run = 1; run <= 100; run++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        every_task_ran(&p, run);
    }
    clo_job_destroy(job);
    clo_cost_destroy(cost);
    clo_graph_destroy(p.v.graph);
    free(p.v.seen);
    return NULL;
}

static void jobs_of_several_clients_mix_on_the_same_workers(void **state)
{
    pthread_t clients[CLIENTS];
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    (void)state;
    config.unpinned = 1;
    shared_platform = scene_platform(3, 0);
    ok(clo_runtime_create(shared_platform, &config, &shared_runtime));
    for (size_t c = 0; c < CLIENTS; c++)
        assert_int_equal(pthread_create(&clients[c], NULL, client_main, (void *)c), 0);
    for (size_t c = 0; c < CLIENTS; c++)
        pthread_join(clients[c], NULL);
    clo_runtime_destroy(shared_runtime);
    clo_platform_destroy(shared_platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_runs_in_order_again_and_again_with_any_number_of_workers),
        cmocka_unit_test(a_fan_wider_than_a_deque_goes_over_the_public_list_and_loses_nothing),
        cmocka_unit_test(random_graphs_run_in_order),
        cmocka_unit_test(after_a_failure_or_a_cancel_the_graph_runs_whole_again),
        cmocka_unit_test(jobs_of_several_clients_mix_on_the_same_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
