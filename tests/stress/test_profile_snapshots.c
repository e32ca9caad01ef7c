/* Costs are made of a profile while other threads learn and publish: each sees one whole snapshot. mutations.py builds
 * this program with the grace period left out and expects it to fail. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <clotho/cost.h>
#include <clotho/profile.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { TASKS = 200, LEARNERS = 2, READERS = 2, COSTS = SANITIZED ? 150 : 1500 };

typedef struct scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_profile *profile;
    const char *kind;
} scene;

static _Atomic uint32_t made, is_over;

/* Cmocka can fail on the thread of a test only. */
static _Atomic(const char *) wrong;

static void check(bool holds, const char *what)
{
    if (!holds)
        atomic_store(&wrong, what);
}

/* All footprints get the same time in a round, so in a snapshot times differ by one round at most. */
static void *learn_all(void *argument)
{
    const scene *s = argument;

    for (int64_t round = 1; atomic_load(&is_over) == 0; round++) {
        for (uint64_t t = 1; t <= TASKS; t++)
            check(clo_profile_learn(s->profile, &(clo_codelet){"body", 0, t}, t, s->kind, 1000 + round) == CLO_OK,
                  "clo_profile_learn");
        check(clo_profile_publish(s->profile) == CLO_OK, "clo_profile_publish");
    }
    return NULL;
}

static void *make_costs(void *argument)
{
    const scene *s = argument;

    while (atomic_fetch_add(&made, 1) < COSTS && atomic_load(&wrong) == NULL) {
        clo_measured measured = CLO_MEASURED_INIT;
        clo_profile_entry entry;
        clo_cost *cost = NULL;
        clo_status status = clo_cost_create_measured(s->graph, s->platform, s->profile, &measured, &cost);
        check(status == CLO_OK, "clo_cost_create_measured");
        uint32_t known = measured.tasks_by[CLO_TIME_MEASURED];
        check(known == 0 || known == TASKS, "a part of a snapshot");
        for (uint32_t t = 0; status == CLO_OK && t < TASKS; t++)
            check(clo_cost_execution_ns(cost, t, 0) == 5 || clo_cost_execution_ns(cost, t, 0) >= 1000, "a time");
        if (clo_profile_entry_at(s->profile, 0, &entry) == CLO_OK)
            check(entry.footprint == 1 && entry.codelet[0] == 'b', "an entry");
        clo_cost_destroy(cost);
    }
    atomic_store(&is_over, 1);
    return NULL;
}

static void costs_see_whole_snapshots_while_others_learn(void **state)
{
    scene s;
    pthread_t threads[LEARNERS + READERS];

    (void)state;
    ok(clo_platform_open("uniform:2", &s.platform));
    s.kind = clo_platform_kind_name(s.platform, 0);
    ok(clo_graph_create("snapshots", &s.graph));
    for (uint32_t t = 0; t < TASKS; t++) {
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 5}, NULL));
        ok(clo_graph_set_codelet(s.graph, t, &(clo_codelet){"body", 0, t + 1}));
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_profile_create(0, &s.profile));
    for (uint64_t t = 1; t <= TASKS; t++)
        ok(clo_profile_learn(s.profile, &(clo_codelet){"body", 0, t}, t, s.kind, 1000));
    ok(clo_profile_publish(s.profile));
    for (int i = 0; i < LEARNERS + READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < LEARNERS ? learn_all : make_costs, &s), 0);
    for (int i = 0; i < LEARNERS + READERS; i++)
        pthread_join(threads[i], NULL);
    if (atomic_load(&wrong) != NULL)
        fail_msg("%s", atomic_load(&wrong));
    clo_profile_destroy(s.profile);
    clo_graph_destroy(s.graph);
    clo_platform_destroy(s.platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs_see_whole_snapshots_while_others_learn)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
