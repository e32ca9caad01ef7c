/* test_synch_faults.c - plans of workloads when memory, the LP solver, or the solver's answer is missing. The linker
 * puts the __wrap_ functions in place of dlopen and dlsym, so each of these happens on any machine with CLP. A
 * sanitizer in the program calls them too, before it is ready for anything else: until a test wants something they
 * only pass on. */
#include "fault.h"
#include "synch_case.h"

#include "plan/synch_lp/lp.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *__real_dlopen(const char *name, int flags);
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *library, const char *name);

#define BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))

static struct {
    bool is_wanted;        /* by a test, by now */
    bool is_missing;       /* CLP cannot be loaded */
    const char *lacks;     /* a function that CLP lacks; NULL */
    int says;              /* what CLP's status is; < 0: what it says itself */
    int (*status)(void *); /* the real one */
} solver = {.says = -1};

BEFORE_SANITIZERS void *__wrap_dlopen(const char *name, int flags)
{
    if (!solver.is_wanted)
        return __real_dlopen(name, flags);
    return solver.is_missing && name != NULL && strstr(name, "Clp") != NULL ? NULL : __real_dlopen(name, flags);
}

static int status_in_its_place(void *model)
{
    return solver.says >= 0 ? solver.says : solver.status(model);
}

BEFORE_SANITIZERS void *__wrap_dlsym(void *library, const char *name)
{
    if (!solver.is_wanted)
        return __real_dlsym(library, name);
    void *address = solver.lacks != NULL && strcmp(name, solver.lacks) == 0 ? NULL : __real_dlsym(library, name);
    int (*mine)(void *) = status_in_its_place;

    if (address != NULL && strcmp(name, "Clp_status") == 0) {
        memcpy(&solver.status, &address, sizeof address);
        memcpy(&address, &mine, sizeof address);
    }
    return address;
}

static void need_solver(void)
{
    solver.is_wanted = true;
    solver.is_missing = false;
    solver.lacks = NULL;
    solver.says = -1;
    if (!clo_synch_has_lp())
        skip_unless_ci("no LP solver here", "apt-get install coinor-libclp-dev, then configure anew");
}

static void open_case(synch_case *c)
{
    static const int64_t bound[2] = {7, -1}, free_one[2] = {10, 20};

    synch_case_open(c, 2, 2, 10);
    synch_case_add(c, 3, 6, bound, 0, 2);
    synch_case_add(c, 2, 4, free_one, 3, 5);
    synch_case_add(c, 1, 0, free_one, 40, 1);
}

/* As above, but every task has one machine. */
static void open_bound_case(synch_case *c)
{
    static const int64_t first[2] = {7, -1}, second[2] = {-1, 9};

    synch_case_open(c, 2, 2, 10);
    synch_case_add(c, 2, 6, first, 0, 2);
    synch_case_add(c, 2, 4, second, 3, 5);
}

typedef struct wish {
    const synch_case *c;
    clo_synch_config config;
} wish;

static clo_status plan_and_drop(void *context)
{
    const wish *w = context;
    clo_synch *plan = NULL;
    clo_log *log = NULL;
    clo_status status = clo_synch_create(w->c->workload, w->c->platform, &w->config, &plan);

    if (status != CLO_OK) {
        assert_null(plan);
        return status;
    }
    status = clo_synch_log(plan, &log);
    clo_log_destroy(log);
    clo_synch_destroy(plan);
    return status;
}

static void fail_each(const synch_case *c, const char *planner, uint32_t lp, int64_t replan_ns)
{
    wish w = {c, {.size = sizeof w.config, .planner = planner, .lp = lp, .replan_ns = replan_ns}};

    assert_true(fault_each(plan_and_drop, &w) > 8);
}

static void test_every_allocation_of_a_form_without_lp_may_fail(void **state)
{
    static const char *const names[] = {"synchpack-2", "psrs", "tetris-weighted", "jsq-maxweight"};
    synch_case c;

    (void)state;
    open_case(&c);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fail_each(&c, names[i], CLO_SYNCH_LP_NEVER, 0);
    fail_each(&c, "synchpack-2", CLO_SYNCH_LP_NEVER, 5);
    synch_case_close(&c);
    open_bound_case(&c);
    fail_each(&c, "synchpack-3", CLO_SYNCH_LP_NEVER, 0);
    synch_case_close(&c);
}

static void test_every_allocation_of_a_form_with_lp_may_fail(void **state)
{
    synch_case c;

    (void)state;
    need_solver();
    open_case(&c);
    fail_each(&c, "synchpack-1", CLO_SYNCH_LP_ALWAYS, 0);
    fail_each(&c, "synchpack-2", CLO_SYNCH_LP_AUTO, 0);
    fail_each(&c, "synchpack-2", CLO_SYNCH_LP_ALWAYS, 5);
    synch_case_close(&c);
    open_bound_case(&c);
    fail_each(&c, "synchpack-3", CLO_SYNCH_LP_AUTO, 0);
    synch_case_close(&c);
}

/* A plan with synchpack-2 in the form; its line must hold `text`. */
static void want(uint32_t lp, clo_status status, const char *text)
{
    synch_case c;
    wish w = {&c, {.size = sizeof w.config, .lp = lp}};

    open_case(&c);
    if (status == CLO_OK)
        ok(plan_and_drop(&w));
    else
        fails(status, text, plan_and_drop(&w));
    synch_case_close(&c);
}

static void test_without_clp_the_forms_without_lp_stay_and_asking_for_an_lp_says_what_lacks(void **state)
{
    (void)state;
    need_solver();
    solver.is_missing = true;
    assert_false(clo_synch_has_lp());
    want(CLO_SYNCH_LP_ALWAYS, CLO_ERR_UNSUPPORTED, "libClp.so.1 cannot be loaded; install coinor-libclp1");
    want(CLO_SYNCH_LP_AUTO, CLO_OK, "");
    want(CLO_SYNCH_LP_NEVER, CLO_OK, "");
    solver.is_missing = false;
    solver.lacks = "Clp_getRowPrice";
    assert_false(clo_synch_has_lp());
    want(CLO_SYNCH_LP_ALWAYS, CLO_ERR_UNSUPPORTED, "lacks a function");
    want(CLO_SYNCH_LP_AUTO, CLO_OK, "");
    solver.lacks = NULL;
    want(CLO_SYNCH_LP_ALWAYS, CLO_OK, "");
}

static void test_a_solver_that_fails_or_gives_up_is_not_hidden(void **state)
{
    (void)state;
    need_solver();
    for (uint32_t lp = CLO_SYNCH_LP_AUTO; lp <= CLO_SYNCH_LP_ALWAYS; lp++) {
        solver.says = 1;
        want(lp, CLO_ERR_INVALID, "LP2 is infeasible");
        solver.says = 2;
        want(lp, CLO_ERR_INVALID, "LP2 is unbounded");
        solver.says = 3;
        want(lp, CLO_ERR_TIMEOUT, "the solver gave up LP2 after 60 s");
        solver.says = 4;
        want(lp, CLO_ERR_INVALID, "the solver cannot solve LP2 (CLP status 4)");
    }
    want(CLO_SYNCH_LP_NEVER, CLO_OK, "");
    solver.says = -1;
}

/* One that takes the solver some rounds: the sum of x, each at least half its neighbours' sum + 1. */
static void test_the_solver_gives_up_when_its_time_is_over(void **state)
{
    int64_t value[200], bound = -1;

    (void)state;
    need_solver();
    clo_lp *lp = clo_lp_create();
    assert_non_null(lp);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(clo_lp_column(lp, 1, 1, 1 + i % 7), i);
    for (uint32_t i = 0; i < 200; i++) {
        clo_lp_row(lp, CLO_LP_AT_LEAST, 0.01);
        for (uint32_t k = 0; k < 10; k++)
            clo_lp_entry(lp, (i + k * k) % 200, k % 3 == 1 ? -0.1 : 0.5);
    }
    ok(clo_lp_solve(lp, "this LP", 60, 1000, 0, value, &bound));
    assert_true(bound > 0);
    bound = -1;
    fails(CLO_ERR_TIMEOUT, "the solver gave up this LP after 0 s",
          clo_lp_solve(lp, "this LP", 0, 1000, 0, value, &bound));
    assert_int_equal(bound, -1);
    clo_lp_destroy(lp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_of_a_form_without_lp_may_fail),
        cmocka_unit_test(test_every_allocation_of_a_form_with_lp_may_fail),
        cmocka_unit_test(test_without_clp_the_forms_without_lp_stay_and_asking_for_an_lp_says_what_lacks),
        cmocka_unit_test(test_a_solver_that_fails_or_gives_up_is_not_hidden),
        cmocka_unit_test(test_the_solver_gives_up_when_its_time_is_over)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
