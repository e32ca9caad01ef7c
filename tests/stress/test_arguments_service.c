/* Public calls on services and sessions with NULL, with numbers out of range and in the wrong order; see
 * test_arguments.c. */
#include "support.h"

#include "scene.h"

#include <string.h>

/* The call must refuse, and say who it is. */
#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))
/* The same where an earlier check words it. */
#define refuses_somehow(call, ...) fails(CLO_ERR_ARGUMENT, "", call(__VA_ARGS__))

enum { UNKNOWN = 99 };

/* A cluster of two executors, and a job of two tasks that run side by side. */
typedef struct scene {
    clo_graph *graph;
    clo_platform *platform, *other;
    clo_cost *cost, *elsewhere;
    clo_log *log;
    clo_service *service;
} scene;

static scene open_scene(void)
{
    const clo_task task = {.work_ns = 1000};
    scene s = {.graph = scene_layers(1, 2, &task), .platform = scene_platform(2, 0), .other = scene_platform(2, 0)};
    const clo_log_policy policy = {.name = "fifo"};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_service_config config = CLO_SERVICE_CONFIG_INIT;

    header.policies = &policy;
    header.policies_count = 1;
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_cost_create(s.graph, s.other, &s.elsewhere));
    ok(clo_log_create(&header, 0, &s.log));
    config.log = s.log;
    config.policy = clo_policy_find("fifo");
    config.jobs_max = 2;
    ok(clo_service_create(s.platform, &config, &s.service));
    return s;
}

static void close_scene(scene *s)
{
    clo_service_destroy(s->service);
    clo_log_destroy(s->log);
    clo_cost_destroy(s->cost);
    clo_cost_destroy(s->elsewhere);
    clo_platform_destroy(s->platform);
    clo_platform_destroy(s->other);
    clo_graph_destroy(s->graph);
}

static uint32_t drain(clo_service *service)
{
    clo_service_choice choice;
    clo_service_end end;
    uint32_t choices = 0;

    while (clo_service_next(service, &choice))
        choices++;
    while (clo_service_ended(service, &end))
        ;
    return choices;
}

static void services_that_are_not(void **state)
{
    (void)state;
    clo_service_job job = CLO_SERVICE_JOB_INIT;
    clo_service_report report = CLO_SERVICE_REPORT_INIT;
    clo_service_choice choice;
    clo_service_end end;
    clo_service *none = NULL;
    clo_log *log;

    refuses(clo_service_create, NULL, NULL, &none);
    refuses(clo_service_arrive, NULL, &job, 0, NULL);
    refuses(clo_service_finish, NULL, &report, 0);
    refuses(clo_service_cancel, NULL, 0, 0);
    refuses(clo_service_lose, NULL, 0, 0);
    refuses(clo_service_restore, NULL, 0, 0);
    refuses(clo_service_advance, NULL, 0);
    ok(clo_log_create(NULL, 0, &log));
    refuses(clo_service_restart, NULL, log, NULL, 0);
    clo_log_destroy(log);
    assert_false(clo_service_next(NULL, &choice));
    assert_false(clo_service_ended(NULL, &end));
    clo_service_end_log(NULL);
    clo_service_destroy(NULL);
    assert_int_equal(clo_service_executor(NULL, 0, NULL, NULL), CLO_SERVICE_IDLE);
    assert_int_equal(clo_service_jobs(NULL), 0);
    assert_false(clo_service_is_live(NULL, 0));
    assert_int_equal(clo_service_now_ns(NULL), 0);
    assert_true(clo_service_wake_ns(NULL) == CLO_TIME_NEVER);
    assert_null(none);
}

static void jobs_that_cannot_arrive(void **state)
{
    (void)state;
    scene s = open_scene();
    clo_service_job job = CLO_SERVICE_JOB_INIT;
    const clo_service_job small = {.size = 1};
    const clo_policy empty = {.size = sizeof empty};
    clo_service_config config = CLO_SERVICE_CONFIG_INIT;
    clo_service *none = NULL;

    refuses(clo_service_create, s.platform, NULL, NULL);
    config.policy = &empty;
    refuses_somehow(clo_service_create, s.platform, &config, &none);
    refuses(clo_service_arrive, s.service, NULL, 0, NULL);
    refuses_somehow(clo_service_arrive, s.service, &small, 0, NULL);
    refuses(clo_service_arrive, s.service, &job, 0, NULL); /* without a cost */
    job.cost = s.elsewhere;
    refuses_somehow(clo_service_arrive, s.service, &job, 0, NULL);
    job.cost = s.cost;
    job.band = CLO_BANDS_MAX;
    refuses_somehow(clo_service_arrive, s.service, &job, 0, NULL);
    job.band = 0;
    job.deadline_ns = -1;
    refuses_somehow(clo_service_arrive, s.service, &job, 0, NULL);
    job.deadline_ns = 0;
    job.limit = 3;
    fails(CLO_ERR_PLATFORM, "limit", clo_service_arrive(s.service, &job, 0, NULL));
    job.limit = 0;
    refuses_somehow(clo_service_arrive, s.service, &job, -1, NULL);
    fails(CLO_ERR_LIMIT, "146 years", clo_service_arrive(s.service, &job, INT64_MAX, NULL));
    assert_int_equal(clo_service_jobs(s.service), 0);
    ok(clo_service_arrive(s.service, &job, 5, NULL));
    fails(CLO_ERR_STATE, "choices", clo_service_arrive(s.service, &job, 5, NULL));
    assert_int_equal(drain(s.service), 2);
    ok(clo_service_arrive(s.service, &job, 5, NULL));
    assert_int_equal(drain(s.service), 0);
    fails(CLO_ERR_LIMIT, "2 jobs live", clo_service_arrive(s.service, &job, 5, NULL));
    fails(CLO_ERR_STATE, "events", clo_service_restart(s.service, s.log, NULL, 0));
    clo_service_end_log(s.service);
    clo_service_end_log(s.service);
    fails(CLO_ERR_STATE, "over", clo_service_advance(s.service, 6));
    close_scene(&s);
}

static void events_that_did_not_happen(void **state)
{
    (void)state;
    scene s = open_scene();
    clo_service_job job = CLO_SERVICE_JOB_INIT;
    clo_service_report report = CLO_SERVICE_REPORT_INIT;
    clo_service_choice choice;
    bool is_lost = true;
    uint64_t number = UNKNOWN;

    job.cost = s.cost;
    ok(clo_service_arrive(s.service, &job, 5, &number));
    assert_int_equal(number, 0);
    assert_false(clo_service_next(s.service, NULL));
    assert_false(clo_service_ended(s.service, NULL));
    assert_true(clo_service_next(s.service, &choice));
    (void)drain(s.service);
    refuses(clo_service_finish, s.service, NULL, 5);
    report.executor = UNKNOWN;
    refuses_somehow(clo_service_finish, s.service, &report, 5);
    report.executor = choice.executor;
    report.stage = choice.stage;
    report.job = 1;
    refuses_somehow(clo_service_finish, s.service, &report, 5);
    report.job = 0;
    refuses_somehow(clo_service_finish, s.service, &report, 4);
    report.arm = 1;
    refuses_somehow(clo_service_finish, s.service, &report, 5);
    report.arm = 0;
    report.has_start = 1;
    report.start_ns = 4;
    refuses_somehow(clo_service_finish, s.service, &report, 5);
    report.has_start = 0;
    refuses_somehow(clo_service_cancel, s.service, 1, 5);
    refuses_somehow(clo_service_lose, s.service, UNKNOWN, 5);
    refuses_somehow(clo_service_restore, s.service, UNKNOWN, 5);
    refuses_somehow(clo_service_restore, s.service, 0, 5);
    refuses_somehow(clo_service_advance, s.service, 4);
    assert_int_equal(clo_service_executor(s.service, choice.executor, NULL, &is_lost), CLO_SERVICE_RUNS);
    assert_false(is_lost);
    assert_true(clo_service_is_live(s.service, 0));
    assert_false(clo_service_is_live(s.service, 1));
    ok(clo_service_finish(s.service, &report, 9));
    assert_int_equal(clo_service_now_ns(s.service), 9);
    close_scene(&s);
}

static void logs_that_nothing_goes_on_from(void **state)
{
    (void)state;
    scene s = open_scene(), t = open_scene();
    clo_service_job job = CLO_SERVICE_JOB_INIT;
    const clo_cost *costs[] = {NULL};
    clo_service *without;

    job.cost = s.cost;
    ok(clo_service_arrive(s.service, &job, 0, NULL));
    refuses(clo_service_restart, t.service, NULL, costs, 1);
    refuses(clo_service_restart, t.service, s.log, NULL, 1);
    ok(clo_service_create(t.platform, NULL, &without));
    refuses(clo_service_restart, without, s.log, costs, 1);
    clo_service_destroy(without);
    fails(CLO_ERR_ARGUMENT, "workload", clo_service_restart(t.service, s.log, costs, 0));
    fails(CLO_ERR_ARGUMENT, "workload", clo_service_restart(t.service, s.log, costs, 1));
    costs[0] = s.cost;
    fails(CLO_ERR_ARGUMENT, "platform", clo_service_restart(t.service, s.log, costs, 1));
    costs[0] = t.cost;
    ok(clo_service_restart(t.service, s.log, costs, 1));
    assert_int_equal(clo_log_first_difference(s.log, t.log, NULL, 0), CLO_LOG_EQUAL);
    close_scene(&s);
    close_scene(&t);
}

static void sessions(void **state)
{
    (void)state;
    clo_platform *platform = scene_platform(2, 0);
    clo_session_config config = CLO_SESSION_CONFIG_INIT;
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT, small = {.size = 1};
    clo_session *session = NULL;
    clo_log *log;

    refuses(clo_session_create, NULL, NULL, &session);
    refuses(clo_session_create, platform, NULL, NULL);
    config.log_path = "f";
    refuses(clo_session_create, platform, &config, &session);
    config = (clo_session_config){.size = 1};
    refuses_somehow(clo_session_create, platform, &config, &session);
    assert_null(session);
    ok(clo_session_create(platform, NULL, &session));
    ok(clo_log_create(NULL, 0, &log));
    refuses(clo_session_greet, NULL, &answer);
    refuses(clo_session_greet, session, NULL);
    refuses_somehow(clo_session_greet, session, &small);
    refuses(clo_session_say, NULL, "", 0, 0, &answer);
    refuses(clo_session_say, session, NULL, 0, 0, &answer);
    refuses(clo_session_say, session, "", 0, 0, NULL);
    refuses(clo_session_advance, NULL, 0, &answer);
    refuses(clo_session_lose_all, session, 0, NULL);
    refuses(clo_session_save, NULL);
    refuses(clo_session_restart, session, NULL, log);
    refuses(clo_session_restart, NULL, NULL, log);
    assert_null(clo_session_service(NULL));
    assert_non_null(clo_session_service(session));
    fails(CLO_ERR_FORMAT, "", clo_session_say(session, "x", 1, 0, &answer));
    assert_non_null(strstr(answer.text, "\"error\""));
    ok(clo_session_lose_all(session, 0, &answer));
    ok(clo_session_save(session)); /* nothing is to be written */
    clo_session_destroy(session);
    clo_session_destroy(NULL);
    clo_log_destroy(log);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_that_are_not),
        cmocka_unit_test(jobs_that_cannot_arrive),
        cmocka_unit_test(events_that_did_not_happen),
        cmocka_unit_test(logs_that_nothing_goes_on_from),
        cmocka_unit_test(sessions),
    };
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
