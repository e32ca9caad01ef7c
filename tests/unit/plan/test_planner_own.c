/* A program's own planner: its plan is placed, justified and judged as any other, and what is no plan of the graph is
 * refused with the planner's name. clo_planner_register adds names, once each, from several threads at once. */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>

/* What `place` does with a serial plan on executor 0, so that each wrong one differs in one thing. */
typedef enum wrong { RIGHT, LATE, SHORT, TWICE, LESS, MORE, ALIEN, NEGATIVE, NOTHING, FAILS, FAILS_MUTE } wrong;

static clo_status place(const clo_planner *planner, const clo_cost *cost, const clo_plan_config *config,
                        clo_placement *placed, size_t *count)
{
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(cost));
    wrong how = config->argument != NULL ? *(const wrong *)config->argument : RIGHT;
    uint32_t levels[64], n = 0;
    int64_t now_ns = how == LATE ? 1000 : 0;

    assert_non_null(planner->name);
    assert_true(*count >= tasks && tasks <= 64);
    if (how == FAILS)
        return clo_planner_register(NULL) == CLO_OK ? CLO_OK : CLO_ERR_UNSUPPORTED;
    if (how == FAILS_MUTE || how == NOTHING)
        return how == NOTHING ? CLO_OK : CLO_ERR_LIMIT;
    clo_graph_levels(clo_cost_graph(cost), levels);
    for (uint32_t level = 0; n < tasks; level++)
        for (uint32_t t = 0; t < tasks; t++) {
            if (levels[t] != level)
                continue;
            int64_t end_ns = now_ns + clo_cost_execution_ns(cost, t, 0);
            placed[n++] = (clo_placement){.task = t, .start_ns = now_ns, .finish_ns = end_ns};
            now_ns = end_ns;
        }
    *count = how == MORE ? *count + 1 : how == LESS ? n - 1 : n;
    if (how == SHORT)
        placed[0].finish_ns--;
    if (how == TWICE)
        placed[n - 1] = placed[0];
    if (how == ALIEN)
        placed[0].task = tasks;
    if (how == NEGATIVE)
        placed[0].start_ns = -1;
    return CLO_OK;
}

static clo_status place_replicas(const clo_planner *planner, const clo_cost *cost, const clo_plan_config *config,
                                 clo_placement *placed, size_t *count)
{
    clo_status status = place(planner, cost, config, placed, count);
    size_t n = *count;

    for (size_t i = 0; i < n; i++) {
        placed[n + i] = placed[i];
        placed[n + i].executor = 1;
        placed[n + i].is_replica = 1;
    }
    *count = 2 * n;
    return status;
}

static const clo_planner own = {
    .name = "own-serial", .summary = "a test's", .size = sizeof own, .takes = CLO_PLANNER_OWN, .plan = place};

static fixture three_tasks(void)
{
    fixture f = fixture_new();

    for (int i = 0; i < 3; i++)
        (void)fixture_task(&f, NULL, 10 * (i + 1));
    ok(clo_graph_add_edge(f.graph, 2, 0, 0));
    fixture_seal(&f, 2, NULL, -1);
    return f;
}

static void an_own_plan_is_taken_as_it_is(void **state)
{
    fixture f = three_tasks();
    const wrong late = LATE;
    clo_plan_config config = {.size = sizeof config, .planner = &own};
    clo_plan *plan;

    (void)state;
    ok(clo_plan_create(f.cost, &config, &plan));
    assert_string_equal(clo_plan_planner(plan), "own-serial");
    assert_int_equal(clo_plan_makespan_ns(plan), 60);
    expect_placement(plan, 2, (clo_placement){.task = 0, .start_ns = 50, .finish_ns = 60});
    clo_plan_destroy(plan);
    config.argument = &late; /* gaps are the planner's business, unless it is to be justified */
    ok(clo_plan_create(f.cost, &config, &plan));
    assert_int_equal(clo_plan_makespan_ns(plan), 1060);
    clo_plan_destroy(plan);
    config.justify = 1;
    ok(clo_plan_create(f.cost, &config, &plan));
    ok(clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
    assert_true(clo_plan_makespan_ns(plan) <= 60);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void replicas_are_taken_where_they_are_allowed(void **state)
{
    fixture f = three_tasks();
    const clo_planner twice = {
        .name = "twice", .summary = "a test's", .size = sizeof twice, .executions_each = 2, .plan = place_replicas};
    clo_plan_config config = {.size = sizeof config, .planner = &twice};
    clo_plan *plan = NULL;
    size_t count;

    (void)state;
    ok(clo_plan_create(f.cost, &config, &plan));
    (void)clo_plan_placements(plan, &count);
    assert_int_equal(count, 6);
    clo_plan_destroy(plan);
    plan = NULL;
    config.no_duplicates = 1;
    fails(CLO_ERR_INVALID, "planner 'twice': it plans replicas", clo_plan_create(f.cost, &config, &plan));
    assert_null(plan);
    fixture_free(&f);
}

static void what_is_no_plan_is_refused_with_the_name(void **state)
{
    static const struct {
        wrong how;
        clo_status status;
        const char *text;
    } rows[] = {{SHORT, CLO_ERR_INVALID, "planner 'own-serial': "},
                {TWICE, CLO_ERR_INVALID, "planner 'own-serial': "},
                {LESS, CLO_ERR_INVALID, "planner 'own-serial': "},
                {MORE, CLO_ERR_INVALID, "it has written 4 placements, where there is room for 3"},
                {ALIEN, CLO_ERR_INVALID, "planner 'own-serial': placement 0: task 3 is unknown"},
                {NEGATIVE, CLO_ERR_INVALID, "planner 'own-serial': placement 0: from -1"},
                {NOTHING, CLO_ERR_INVALID, "planner 'own-serial': "},
                {FAILS, CLO_ERR_UNSUPPORTED, "planner 'own-serial': clo_planner_register: planner is NULL"},
                {FAILS_MUTE, CLO_ERR_LIMIT, "planner 'own-serial': it has failed without a text"}};
    fixture f = three_tasks();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_plan_config config = {.size = sizeof config, .planner = &own, .argument = &rows[i].how};
        clo_plan *plan = NULL;
        fails(rows[i].status, rows[i].text, clo_plan_create(f.cost, &config, &plan));
        assert_null(plan);
    }
    fixture_free(&f);
}

static void what_is_no_planner_is_refused(void **state)
{
    fixture f = three_tasks();
    clo_plan_config config = {.size = sizeof config};
    clo_plan *plan = NULL;

    (void)state;
    for (int i = 0; i < 7; i++) {
        clo_planner bad = own;
        bad.name = i == 0 ? NULL : i == 1 ? "" : bad.name;
        bad.summary = i == 2 ? NULL : bad.summary;
        bad.size = i == 3 ? sizeof bad - 1 : bad.size;
        bad.plan = i == 4 ? NULL : bad.plan;
        bad.fill = i == 5 ? clo_planner_heft.fill : NULL;
        bad.plan_without_budget = i == 6 ? clo_planner_best.plan_without_budget : NULL;
        config.planner = &bad;
        fails(CLO_ERR_ARGUMENT, i == 3 ? "sizeof(clo_planner)" : "a planner has a name",
              clo_plan_create(f.cost, &config, &plan));
        fails(CLO_ERR_ARGUMENT, "clo_planner_register: ", clo_planner_register(&bad));
    }
    fixture_free(&f);
}

static void names_are_registered_once(void **state)
{
    static clo_planner good, other;
    static const char *const wrong_names[] = {"a b", "a/b", "-", "caf\xc3\xa9"};
    fixture f = three_tasks();
    clo_entry entry = CLO_ENTRY_INIT;
    bool is_listed = false;

    (void)state;
    good = own;
    good.name = "registered-1";
    assert_null(clo_planner_find("registered-1"));
    ok(clo_planner_register(&good));
    assert_ptr_equal(clo_planner_find("Registered_1"), &good);
    fails(CLO_ERR_ARGUMENT, "there is a planner 'registered-1' already", clo_planner_register(&good));
    other = own;
    other.name = "HEFT";
    fails(CLO_ERR_ARGUMENT, "there is a planner 'HEFT' already", clo_planner_register(&other));
    for (size_t i = 0; i < sizeof wrong_names / sizeof wrong_names[0]; i++) {
        other.name = wrong_names[i];
        fails(CLO_ERR_ARGUMENT, "is no name", clo_planner_register(&other));
    }
    assert_null(clo_planner_find(NULL));
    for (uint32_t i = 0; clo_registry_entry("planners", i, &entry); i++)
        is_listed |= strcmp(entry.name, "registered-1") == 0;
    assert_true(is_listed);
    clo_plan_destroy(fixture_plan(&f, "registered-1"));
    fixture_free(&f);
}

enum { THREADS = 4, EACH = 20 };
static clo_planner many[THREADS][EACH];
static char names[THREADS][EACH][16];

static void *register_many(void *argument)
{
    uint32_t *registered = argument, me = *registered;

    *registered = 0;
    for (uint32_t i = 0; i < EACH; i++) {
        (void)snprintf(names[me][i], sizeof names[me][i], "t%u-%u", me, i);
        many[me][i] = own;
        many[me][i].name = names[me][i];
        *registered += clo_planner_register(&many[me][i]) == CLO_OK;
    }
    return NULL;
}

static void at_most_64_are_registered_by_any_threads(void **state)
{
    pthread_t threads[THREADS];
    uint32_t counts[THREADS], all = 0, found = 0;
    clo_planner more = own;

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++) {
        counts[t] = t;
        assert_int_equal(pthread_create(&threads[t], NULL, register_many, &counts[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        all += counts[t];
    }
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < EACH; i++)
            found += clo_planner_find(names[t][i]) == &many[t][i];
    assert_int_equal(found, all);
    assert_int_equal(all, 63); /* and the one of the test before */
    more.name = "one-more";
    fails(CLO_ERR_LIMIT, "64 planners are registered", clo_planner_register(&more));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_own_plan_is_taken_as_it_is),
        cmocka_unit_test(replicas_are_taken_where_they_are_allowed),
        cmocka_unit_test(what_is_no_plan_is_refused_with_the_name),
        cmocka_unit_test(what_is_no_planner_is_refused),
        cmocka_unit_test(names_are_registered_once),
        cmocka_unit_test(at_most_64_are_registered_by_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
