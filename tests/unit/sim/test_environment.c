/* Environments: the rules of Decima's one, time drawn by time; executors that are bound to jobs and move. */
#include "support.h"

#include "fault.h"
#include "scene.h"

#include <clotho/stream_check.h>

#include <string.h>

#define MS INT64_C(1000000)

/* Random numbers by a script: the same one for all levels, and for all times. */
typedef struct script {
    uint32_t level, time;             /* drawn, if below the bound */
    uint32_t level_bound, time_bound; /* of the last draws; 0: none was made */
} script;

static uint32_t below(void *source, uint32_t stream, uint32_t bound)
{
    script *s = source;
    uint32_t want = stream == 0 ? s->level : s->time;

    *(stream == 0 ? &s->level_bound : &s->time_bound) = bound;
    return want < bound ? want : bound - 1;
}

/* Levels 5, 10 and 20; the time says wave and level. Task 1 has no measurements. */
static clo_graph *new_graph(void)
{
    static const clo_task tasks[2] = {{.work_ns = 77, .instances = 4}, {.work_ns = 99}};
    clo_graph *graph;

    ok(clo_graph_create("waves", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 2, NULL));
    for (uint32_t level = 5; level <= 20; level *= 2)
        for (int wave = CLO_WAVE_FRESH; wave <= CLO_WAVE_REST; wave++) {
            int64_t time_ns = 100 * (wave + 1) + (int64_t)level;
            const int64_t times_ns[2] = {time_ns, 1000 + time_ns};
            size_t count = level == 20 && wave != CLO_WAVE_FIRST ? 0 : 2; /* at 20 only first waves */
            ok(clo_graph_add_wave(graph, 0, (clo_wave)wave, level, times_ns, count));
        }
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_environment open_decima(script *s, uint32_t faithful)
{
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;
    clo_environment environment = CLO_ENVIRONMENT_INIT;

    config.faithful = faithful;
    config.warmup_ns = 10000;
    config.below = below;
    config.source = s;
    ok(clo_decima_open(&config, &environment));
    return environment;
}

static int64_t drawn(const clo_environment *e, const clo_graph *graph, uint32_t stage, uint32_t last, uint32_t bound)
{
    clo_environment_execution x = {.graph = graph, .stage = stage, .bound = bound, .last_stage = last, .cost_ns = 5};

    return e->time_ns(e->state, &x);
}

static void the_wave_follows_from_what_the_executor_did_last(void **state)
{
    script s = {0};
    clo_graph *graph = new_graph();
    clo_environment e = open_decima(&s, 0);

    (void)state;
    assert_int_equal(drawn(&e, graph, 0, CLO_NONE, 5), 105);    /* fresh */
    assert_int_equal(drawn(&e, graph, 0, 1, 5), 205);           /* first */
    assert_int_equal(drawn(&e, graph, 0, 0, 5), 305);           /* rest */
    assert_int_equal(drawn(&e, graph, 0, CLO_NONE, 20), 10220); /* no fresh one: first, and the warm-up */
    assert_int_equal(drawn(&e, graph, 0, 0, 20), 220);          /* no rest: first */
    assert_int_equal(drawn(&e, graph, 1, 0, 5), 5);             /* not measured: the cost */
    s.time = 1;
    assert_int_equal(drawn(&e, graph, 0, 0, 5), 1305);
    assert_int_equal(s.time_bound, 2);
    clo_environment_close(&e);
    clo_graph_destroy(graph);
}

static void the_level_follows_from_the_executors_of_the_job(void **state)
{
    script s = {0};
    clo_graph *graph = new_graph();
    clo_environment e = open_decima(&s, 0);

    (void)state;
    assert_int_equal(drawn(&e, graph, 0, 0, 1), 305); /* the least */
    assert_int_equal(drawn(&e, graph, 0, 0, 10), 310);
    assert_int_equal(drawn(&e, graph, 0, 1, 1000), 220); /* not measured there: the largest that was */
    assert_int_equal(s.level_bound, 0);                  /* nothing to draw so far */
    assert_int_equal(drawn(&e, graph, 0, 0, 7), 310);    /* 7 of 5 .. 10: two of five numbers say 10 */
    assert_int_equal(s.level_bound, 5);
    s.level = 1;
    assert_int_equal(drawn(&e, graph, 0, 0, 7), 310);
    s.level = 2;
    assert_int_equal(drawn(&e, graph, 0, 0, 7), 305);
    clo_environment_close(&e);
    e = open_decima(&s, 1);
    assert_int_equal(drawn(&e, graph, 0, 0, 7), 310); /* the faithful option: the other way round */
    s.level = 1;
    assert_int_equal(drawn(&e, graph, 0, 0, 7), 305);
    clo_environment_close(&e);
    clo_graph_destroy(graph);
}

static void environments_have_names(void **state)
{
    clo_environment e = CLO_ENVIRONMENT_INIT;
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;

    (void)state;
    ok(clo_environment_open("decima:faithful", 3, &e));
    assert_string_equal(e.name, "decima:faithful");
    assert_int_equal(e.moving_ns, 2000 * MS);
    assert_int_equal(e.keeps_stages, 1);
    clo_environment_close(&e);
    clo_environment_close(&e);
    ok(clo_environment_open("decima", 3, &e));
    assert_string_equal(e.name, "decima");
    clo_environment_close(&e);
    fails(CLO_ERR_ARGUMENT, "there is no environment 'spark'", clo_environment_open("spark", 3, &e));
    config.faithful = 2;
    fails(CLO_ERR_ARGUMENT, "faithful is 2", clo_decima_open(&config, &e));
    config.faithful = 0;
    config.moving_ns = -1;
    fails(CLO_ERR_ARGUMENT, "moving_ns -1", clo_decima_open(&config, &e));
}

/* What a name says is what its environment does, and its name is the shortest that says it. */
static void the_time_of_a_move_is_a_part_of_the_name(void **state)
{
    static const struct {
        const char *text, *name;
        int64_t moving_ns;
    } good[] = {
        {"decima:moving=500ms", "decima:moving=500ms", 500 * MS},
        {"decima:moving=0", "decima:moving=0s", 0},
        {"decima:moving=0s", "decima:moving=0s", 0},
        {"decima:moving=2s", "decima", 2000 * MS},
        {"decima:moving=2000ms,faithful", "decima:faithful", 2000 * MS},
        {"decima:faithful,moving=1500us", "decima:faithful,moving=1500us", 3 * MS / 2},
        {"decima:moving=1001ns", "decima:moving=1001ns", 1001},
        {"decima:moving=1000000s", "decima:moving=1000000s", 1000000000 * MS},
    };
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"decima:", "'' is none of its parts"},
        {"decima:fast", "'fast' is none of its parts"},
        {"decima:faithful,", "'' is none of its parts"},
        {"decima:faithfully", "is none of its parts"},
        {"decima:moving", "is none of its parts"},
        {"decima:moving=", "'moving=' is no time"},
        {"decima:moving=500", "is no time; write moving=500ms"},
        {"decima:moving=ms", "is no time"},
        {"decima:moving=-1s", "is no time"},
        {"decima:moving=1.5s", "is no time"},
        {"decima:moving=1 s", "is no time"},
        {"decima:moving=1h", "is no time"},
        {"decima:moving=1000001s", "is no time"},
        {"decima:moving=18446744073709551617s", "is no time"},
        {"decima:moving=1s2", "is no time"},
        {"decimal", "there is no environment 'decimal'"},
        {"", "there is no environment ''"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        for (int again = 0; again < 2; again++) {
            clo_environment e = CLO_ENVIRONMENT_INIT;
            ok(clo_environment_open(again ? good[i].name : good[i].text, 3, &e));
            assert_string_equal(e.name, good[i].name);
            assert_true(e.moving_ns == good[i].moving_ns);
            clo_environment_close(&e);
        }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clo_environment e = CLO_ENVIRONMENT_INIT;
        fails(CLO_ERR_ARGUMENT, bad[i].says, clo_environment_open(bad[i].text, 3, &e));
    }
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;
    clo_environment e = CLO_ENVIRONMENT_INIT;
    config.moving_ns = INT64_MAX;
    config.faithful = 1;
    ok(clo_decima_open(&config, &e));
    assert_string_equal(e.name, "decima:faithful,moving=9223372036854775807ns");
    clo_environment_close(&e);
}

static clo_status open_and_close(void *argument)
{
    clo_environment e = CLO_ENVIRONMENT_INIT;
    clo_status status = clo_environment_open("decima", 1, &e);

    (void)argument;
    clo_environment_close(&e);
    return status;
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(fault_each(open_and_close, NULL), 1);
}

/* Each execution takes 10 ms and is noted. */
typedef struct diary {
    clo_environment_execution seen[32];
    uint32_t count;
} diary;

static int64_t ten_ms(void *state, const clo_environment_execution *x)
{
    diary *d = state;

    if (d->count < 32)
        d->seen[d->count] = *x;
    d->count++;
    return 10 * MS;
}

typedef struct stage {
    clo_platform *platform;
    clo_graph *graph;
    clo_workload *workload;
    clo_log *log;
    diary diary;
    clo_environment environment;
    clo_stream_outcome outcomes[8];
} stage;

/* `jobs` jobs of two stages in a row, of 2 and 1 instances, that arrive 1 ms apart. */
static void open_stage(stage *s, uint32_t executors, uint32_t jobs)
{
    const clo_task tasks[2] = {{.work_ns = MS, .instances = 2}, {.work_ns = MS}};
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_log_header header = CLO_LOG_HEADER_INIT;

    memset(s, 0, sizeof *s);
    s->platform = scene_platform(executors, 0);
    ok(clo_graph_create("two", &s->graph));
    ok(clo_graph_add_tasks(s->graph, tasks, 2, NULL));
    ok(clo_graph_add_edge(s->graph, 0, 1, 0));
    ok(clo_graph_seal(s->graph));
    ok(clo_workload_create("stage", &s->workload));
    job.graph = s->graph;
    for (uint32_t j = 0; j < jobs; j++) {
        job.arrival_ns = j * MS;
        job.deadline_ns = j > 0 ? MS : 0;
        ok(clo_workload_add(s->workload, &job));
    }
    header.clock = CLO_CLOCK_VIRTUAL;
    header.environment = "test";
    header.executors = executors;
    ok(clo_log_create(&header, 0, &s->log));
    s->environment = (clo_environment){
        .size = sizeof s->environment, .name = "test", .moving_ns = 50 * MS, .time_ns = ten_ms, .state = &s->diary};
}

static void simulate(stage *s, const clo_policy *policy, clo_stream_result *result)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;

    config.policy = policy;
    config.environment = &s->environment;
    config.log = s->log;
    config.outcomes = s->outcomes;
    ok(clo_stream_simulate(s->workload, s->platform, &config, result));
}

static void close_stage(stage *s)
{
    clo_log_destroy(s->log);
    clo_workload_destroy(s->workload);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static void an_executor_that_goes_to_another_job_begins_later(void **state)
{
    stage s;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    (void)state;
    open_stage(&s, 1, 2);
    simulate(&s, clo_policy_find("fifo"), &result);
    assert_int_equal(s.outcomes[0].start_ns, 50 * MS); /* it was nobody's: it goes there first */
    assert_int_equal(s.outcomes[0].finish_ns, 80 * MS);
    assert_int_equal(s.outcomes[1].start_ns, 130 * MS);
    assert_int_equal(result.moves, 2);
    assert_int_equal(s.diary.count, 6);
    assert_int_equal(s.diary.seen[0].last_stage, CLO_NONE);
    assert_int_equal(s.diary.seen[0].bound, 1);
    assert_int_equal(s.diary.seen[1].last_stage, 0);
    assert_int_equal(s.diary.seen[2].stage, 1);
    assert_int_equal(s.diary.seen[2].last_stage, 0);
    assert_int_equal(s.diary.seen[3].last_stage, CLO_NONE); /* the other job */
    assert_int_equal(s.diary.seen[3].job, 1);
    close_stage(&s);
}

static void arrivals_of_one_instant_are_known_together(void **state)
{
    stage s;
    clo_arrivals_config batch = CLO_ARRIVALS_CONFIG_INIT;
    clo_workload *together;
    size_t count;

    (void)state;
    open_stage(&s, 2, 3);
    ok(clo_workload_arrivals(s.workload, &batch, &together));
    clo_workload *kept = s.workload;
    s.workload = together;
    simulate(&s, clo_policy_find("fair"), NULL);
    s.workload = kept;
    clo_workload_destroy(together);
    const clo_log_record *records = clo_log_records(s.log, &count);
    uint32_t arrived = 0;
    for (size_t i = 0; i < count && records[i].what != CLO_LOG_START; i++)
        arrived += records[i].what == CLO_LOG_ARRIVE;
    assert_int_equal(arrived, 3);
    close_stage(&s);
}

static void an_executor_keeps_its_stage_where_the_environment_says_so(void **state)
{
    stage s;

    (void)state;
    for (uint32_t keeps = 0; keeps < 2; keeps++) {
        open_stage(&s, 1, 2);
        s.environment.keeps_stages = keeps;
        simulate(&s, clo_policy_find("edf"), NULL); /* which gives it to the second job, if it is asked */
        assert_int_equal(s.diary.seen[1].job, keeps ? 0 : 1);
        close_stage(&s);
    }
}

/* Sends executors to the first job, and starts what is ready once they are there. */
typedef struct sender {
    uint32_t to_move; /* executors still to be sent */
    uint32_t moved;
    bool leaves, left, wrong;
} sender;

static sender sent;

static void sender_event(void *state, const clo_view *view, const clo_event *event)
{
    (void)state;
    if (event->kind == CLO_EVENT_MOVED) {
        sent.moved++;
        assert_int_equal(clo_view_executor(view, event->executor)->is_moving, 0);
        if (event->job != CLO_NONE)
            assert_int_equal(clo_view_executor(view, event->executor)->home, clo_view_job(view, event->job)->id);
    }
}

static bool sender_decide(void *state, const clo_view *view, clo_choice *choice)
{
    uint32_t executor = clo_view_next_free(view, CLO_NONE), job = clo_view_first_job(view);

    (void)state;
    if (executor == CLO_NONE || job == CLO_NONE)
        return false;
    choice->job = job;
    choice->executor = executor;
    const clo_live_executor *row = clo_view_executor(view, executor);
    if (sent.wrong) {
        sent.wrong = false;
        choice->stage = CLO_STAGE_LEAVE; /* it has no stage yet */
        return true;
    }
    if (sent.to_move > 0) {
        sent.to_move--;
        choice->stage = CLO_STAGE_MOVE;
        return true;
    }
    if (sent.leaves && !sent.left && row->last_stage != CLO_NONE && row->home == clo_view_job(view, job)->id) {
        sent.left = true;
        choice->stage = CLO_STAGE_LEAVE;
        return true;
    }
    choice->stage = clo_view_job(view, job)->first_ready;
    return choice->stage != CLO_NONE && row->home == clo_view_job(view, job)->id;
}

static const clo_policy sender_policy = {
    .name = "sender", .size = sizeof(clo_policy), .event = sender_event, .decide = sender_decide, .moves = 1};

static uint32_t count_records(const clo_log *log, uint32_t what)
{
    uint32_t found = 0;
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);

    for (size_t i = 0; i < count; i++)
        found += records[i].what == what;
    return found;
}

static void a_policy_sends_executors_before_it_has_work_for_them(void **state)
{
    stage s;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    (void)state;
    open_stage(&s, 2, 1);
    sent = (sender){.to_move = 2, .leaves = true};
    simulate(&s, &sender_policy, &result);
    assert_int_equal(sent.moved, 2);
    assert_int_equal(result.moves, 2);
    assert_int_equal(result.refused, 0);
    assert_int_equal(s.outcomes[0].start_ns, 50 * MS);
    assert_int_equal(s.outcomes[0].finish_ns, 70 * MS);     /* both instances at once, then the second stage */
    assert_int_equal(s.diary.seen[0].bound, 1);             /* the first that came */
    assert_int_equal(s.diary.seen[2].last_stage, CLO_NONE); /* it left its stage */
    assert_int_equal(count_records(s.log, CLO_LOG_MOVE), 2);
    assert_int_equal(count_records(s.log, CLO_LOG_MOVED), 2);
    assert_int_equal(count_records(s.log, CLO_LOG_LEAVE), 1);
    close_stage(&s);
}

/* Judges the log without its records of one kind. Returns the faults of a kind. */
static uint64_t judge_without(const stage *s, uint32_t what, uint32_t fault)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_job job = {.weight = 1};
    clo_cost *cost;
    clo_log *log;
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);

    ok(clo_log_create(clo_log_about(s->log), 0, &log));
    for (size_t i = 0; i < count; i++)
        assert_true(records[i].what == what || clo_log_append(log, &records[i]));
    ok(clo_cost_create(s->graph, s->platform, &cost));
    job.cost = cost;
    stream.platform = s->platform;
    stream.jobs = &job;
    stream.jobs_count = 1;
    clo_status status = clo_stream_check(&stream, log, &report);
    assert_int_equal(status, report.faults == 0 ? CLO_OK : CLO_ERR_INVALID);
    clo_cost_destroy(cost);
    clo_log_destroy(log);
    return fault == UINT32_MAX ? report.faults : report.by_kind[fault];
}

static void the_checker_sees_moves_that_cannot_be(void **state)
{
    stage s;

    (void)state;
    open_stage(&s, 2, 1);
    sent = (sender){.to_move = 2};
    simulate(&s, &sender_policy, NULL);
    assert_int_equal(judge_without(&s, UINT32_MAX, UINT32_MAX), 0); /* though the lengths are not those of the costs */
    assert_true(judge_without(&s, CLO_LOG_MOVED, CLO_STREAM_BUSY) >= 2);
    assert_int_equal(judge_without(&s, CLO_LOG_MOVE, CLO_STREAM_FINISH_UNSTARTED), 2);
    close_stage(&s);
}

static void without_an_environment_a_move_takes_no_time(void **state)
{
    stage s;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    (void)state;
    open_stage(&s, 2, 1);
    sent = (sender){.to_move = 2};
    config.policy = &sender_policy;
    config.outcomes = s.outcomes;
    ok(clo_stream_simulate(s.workload, s.platform, &config, &result));
    assert_int_equal(sent.moved, 2);
    assert_int_equal(result.refused, 0);
    assert_int_equal(result.moves, 0);
    close_stage(&s);
}

static void impossible_moves_are_refused(void **state)
{
    stage s;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    (void)state;
    open_stage(&s, 2, 1);
    sent = (sender){.to_move = 1000000}; /* again and again: they take no time */
    config.policy = &sender_policy;
    ok(clo_stream_simulate(s.workload, s.platform, &config, &result));
    assert_true(result.refused > 0);
    assert_non_null(strstr(result.refusal, "executors move again and again"));
    sent = (sender){.wrong = true, .to_move = 2};
    result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    simulate(&s, &sender_policy, &result);
    assert_int_equal(result.refused, 1);
    assert_non_null(strstr(result.refusal, "no stage of that job to leave"));
    close_stage(&s);
}

static void a_log_must_name_the_environment(void **state)
{
    stage s;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;

    (void)state;
    open_stage(&s, 1, 1);
    clo_log_destroy(s.log);
    ok(clo_log_create(NULL, 0, &s.log));
    config.environment = &s.environment;
    config.log = s.log;
    fails(CLO_ERR_ARGUMENT, "does not name the environment",
          clo_stream_simulate(s.workload, s.platform, &config, NULL));
    config.log = NULL;
    s.environment.moving_ns = -1;
    fails(CLO_ERR_ARGUMENT, "moving_ns is negative", clo_stream_simulate(s.workload, s.platform, &config, NULL));
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wave_follows_from_what_the_executor_did_last),
        cmocka_unit_test(the_level_follows_from_the_executors_of_the_job),
        cmocka_unit_test(environments_have_names),
        cmocka_unit_test(the_time_of_a_move_is_a_part_of_the_name),
        cmocka_unit_test(without_memory_there_is_none),
        cmocka_unit_test(an_executor_that_goes_to_another_job_begins_later),
        cmocka_unit_test(arrivals_of_one_instant_are_known_together),
        cmocka_unit_test(an_executor_keeps_its_stage_where_the_environment_says_so),
        cmocka_unit_test(a_policy_sends_executors_before_it_has_work_for_them),
        cmocka_unit_test(the_checker_sees_moves_that_cannot_be),
        cmocka_unit_test(without_an_environment_a_move_takes_no_time),
        cmocka_unit_test(impossible_moves_are_refused),
        cmocka_unit_test(a_log_must_name_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
