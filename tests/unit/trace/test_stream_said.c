/* What a log says of its run, of the jobs and of wake-ups is refused where it contradicts itself or the workload, each
 * under its name. Where a sum would tell already, the forger mends the sums, too. */
#include "scene.h"

#include "trace/log_kinds.h"

#include <clotho/policy.h>
#include <clotho/stream.h>
#include <clotho/stream_check.h>
#include <string.h>

enum { JOBS = 12, WIDE = 600, RECORDS_MAX = 1 << 14 };

/* ---- a run ---- */

/* The first that is ready to the first that is free; asks to be woken now and then. */
static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage ready = clo_view_first_ready(view);
    uint32_t executor = clo_view_next_free(view, CLO_NONE);

    (void)state;
    if (clo_view_now_ns(view) % 3 == 0)
        choice->wake_ns = clo_view_now_ns(view) + 77;
    if (ready.job == CLO_NONE || executor == CLO_NONE)
        return false;
    *choice = (clo_choice){.job = ready.job,
                           .stage = ready.stage,
                           .count = 1,
                           .executor = executor,
                           .duplicate = CLO_NONE,
                           .wake_ns = choice->wake_ns};
    return true;
}

static const clo_policy waking = {.size = sizeof(clo_policy), .name = "waking", .decide = decide};
static const clo_log_policy named[] = {{.name = "waking"}, {.name = "other"}};

typedef struct run {
    clo_platform *platform;
    clo_graph *graphs[2];
    clo_cost *costs[2];
    clo_stream_job jobs[JOBS];
    clo_log_header header;
    /* A copy of its log, to be changed. */
    clo_log_record records[RECORDS_MAX];
    size_t count;
} run;

static void add_jobs(run *r, clo_workload *workload)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        job.graph = r->graphs[j == 5];
        job.arrival_ns = j * 400;
        job.weight = 1 + j % 3;
        job.limit = j % 4 == 1 ? 2 : 0;
        job.band = j % 3 == 2;
        job.deadline_ns = j % 2 == 0 ? 5000 + j : 0;
        ok(clo_workload_add(workload, &job));
        r->jobs[j] =
            (clo_stream_job){j, r->costs[j == 5], job.arrival_ns, job.deadline_ns, job.weight, job.limit, job.band};
    }
}

static void open_run(run *r)
{
    clo_task task = {.name = "t", .work_ns = 100};
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_workload *workload;
    clo_log *log;

    r->platform = scene_platform(3, 0);
    r->graphs[0] = scene_layers(4, 3, &task);
    r->graphs[1] = scene_layers(1, WIDE, &task);
    for (uint32_t g = 0; g < 2; g++)
        ok(clo_cost_create(r->graphs[g], r->platform, &r->costs[g]));
    ok(clo_workload_create("said", &workload));
    add_jobs(r, workload);
    header.executors = 3;
    header.policies = named;
    header.policies_count = 1;
    header.clock = CLO_CLOCK_VIRTUAL;
    ok(clo_log_create(&header, 0, &log));
    config.policy = &waking;
    config.log = log;
    ok(clo_stream_simulate(workload, r->platform, &config, &result));
    assert_int_equal(result.jobs_ended, JOBS);
    r->header = *clo_log_about(log);
    r->header.policies = named;
    (void)clo_log_records(log, &r->count);
    assert_true(r->count < RECORDS_MAX - 8);
    memcpy(r->records, clo_log_records(log, NULL), r->count * sizeof r->records[0]);
    clo_log_destroy(log);
    clo_workload_destroy(workload);
}

static void close_run(run *r)
{
    for (uint32_t g = 0; g < 2; g++) {
        clo_cost_destroy(r->costs[g]);
        clo_graph_destroy(r->graphs[g]);
    }
    clo_platform_destroy(r->platform);
}

/* ---- forging ---- */

static void remove_at(run *r, size_t at)
{
    memmove(&r->records[at], &r->records[at + 1], (--r->count - at) * sizeof r->records[0]);
}

static void insert_at(run *r, size_t at, clo_log_record record)
{
    memmove(&r->records[at + 1], &r->records[at], (r->count++ - at) * sizeof r->records[0]);
    r->records[at] = record;
}

/* The n-th record of the kind from `from` on. */
static size_t find(const run *r, uint32_t what, uint32_t n)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->records[i].what == what && n-- == 0)
            return i;
    fail_msg("the log has too few records of kind %u", what);
    return 0;
}

static clo_log_record plain(const run *r, size_t at, uint32_t what, int64_t value)
{
    return (clo_log_record){r->records[at].now_ns, CLO_LOG_NO_JOB, what, CLO_NONE, CLO_NONE, CLO_NONE, value};
}

/* docs/FORMATS.md says how. */
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static void mend_sums(run *r)
{
    uint64_t sum = 0;

    for (const char *c = r->header.policies_count > 0 ? r->header.policies[0].name : ""; *c != '\0'; c++)
        sum = mix(sum, (unsigned char)*c);
    for (size_t i = 0; i < r->count; i++) {
        clo_log_record *record = &r->records[i];
        if (record->what == CLO_LOG_SUM)
            record->value = (int64_t)sum;
        if (record->what >= CLO_LOG_OUTPUTS)
            continue;
        sum = mix(sum, (uint64_t)record->now_ns);
        sum = mix(sum, record->job);
        sum = mix(sum, (uint64_t)record->what << 32 | record->stage);
        sum = mix(sum, (uint64_t)record->instance << 32 | record->executor);
        sum = mix(sum, (uint64_t)record->value);
    }
}

static uint32_t is_strict = 1;

static clo_status check(const run *r, clo_stream_report *report)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_log *log;

    stream.platform = r->platform;
    stream.jobs = r->jobs;
    stream.jobs_count = JOBS;
    stream.strict = is_strict;
    ok(clo_log_create(&r->header, r->count, &log));
    for (size_t i = 0; i < r->count; i++)
        assert_true(clo_log_append(log, &r->records[i]));
    clo_status status = clo_stream_check(&stream, log, report);
    clo_log_destroy(log);
    return status;
}

/* ---- what is planted ---- */

static run *now; /* in which it is planted */

#define JOB_AT(n) (&now->records[find(now, CLO_LOG_JOB, n)])

static void weight(void)
{
    JOB_AT(1)->stage++;
}
static void limit_set(void)
{
    JOB_AT(0)->instance = 3;
}
static void limit_gone(void)
{
    JOB_AT(1)->instance = CLO_NONE;
}
static void deadline_set(void)
{
    JOB_AT(1)->value = 1 << 20;
}
static void deadline_gone(void)
{
    JOB_AT(2)->value = CLO_TIME_NEVER;
}
static void deadline_late(void)
{
    JOB_AT(2)->value++;
}
static void deadline_early(void)
{
    JOB_AT(2)->value--;
}
static void job_gone(void)
{
    remove_at(now, find(now, CLO_LOG_JOB, 3));
}
static void job_twice(void)
{
    size_t at = find(now, CLO_LOG_JOB, 3);
    insert_at(now, at, now->records[at]);
}
static void job_of_another(void)
{
    JOB_AT(4)->job--;
}
static void job_later(void)
{
    size_t at = find(now, CLO_LOG_JOB, 4);
    clo_log_record record = now->records[at];
    remove_at(now, at);
    record.now_ns = now->records[at].now_ns;
    insert_at(now, at + 1, record);
}
static void band_gone(void)
{
    remove_at(now, find(now, CLO_LOG_BAND, 1));
}
static void band_value(void)
{
    now->records[find(now, CLO_LOG_BAND, 1)].value = 2;
}
static void band_more(void)
{
    size_t at = find(now, CLO_LOG_JOB, 3);
    clo_log_record record = plain(now, at, CLO_LOG_BAND, 1);
    record.job = now->records[at].job;
    insert_at(now, at + 1, record);
}
static void band_of_another(void)
{
    now->records[find(now, CLO_LOG_BAND, 1)].job--;
}
static void group(void)
{
    JOB_AT(3)->executor++;
}
static void tag(void)
{
    now->records[find(now, CLO_LOG_ARRIVE, 3)].value++;
}
static void sum_value(void)
{
    now->records[find(now, CLO_LOG_SUM, 1)].value ^= 1;
}
static void sum_gone(void)
{
    remove_at(now, find(now, CLO_LOG_SUM, 1));
}
static void last_sum_gone(void)
{
    remove_at(now, now->count - 2);
}
static void capacity(void)
{
    clo_log_record record = plain(now, 40, CLO_LOG_CAPACITY, 0);
    record.executor = 0;
    insert_at(now, 40, record);
}
static void together(void)
{
    insert_at(now, 40, plain(now, 40, CLO_LOG_TOGETHER, 0));
}
static void room(void)
{
    clo_log_record record = plain(now, 40, CLO_LOG_ROOM, 1);
    record.executor = record.instance = 0;
    insert_at(now, 40, record);
}
static void finishes_swapped(void)
{
    for (size_t i = 1; i + 1 < now->count; i++)
        if (now->records[i].what == CLO_LOG_FINISH && now->records[i + 1].what == CLO_LOG_FINISH &&
            now->records[i].now_ns == now->records[i + 1].now_ns) {
            clo_log_record record = now->records[i];
            now->records[i] = now->records[i + 1];
            now->records[i + 1] = record;
            return;
        }
    fail_msg("no two bodies end at one time");
}
static void policy_name(void)
{
    now->header.policies = named + 1;
}
static void swap_of_itself(void)
{
    insert_at(now, 40, plain(now, 40, CLO_LOG_SWAP, 0));
}
static void timer_more(void)
{
    size_t at = find(now, CLO_LOG_TIMER, 1);
    insert_at(now, at + 1, now->records[at]);
}
static void timer_gone(void)
{
    remove_at(now, find(now, CLO_LOG_TIMER, 1));
}
static void timer_value(void)
{
    now->records[find(now, CLO_LOG_TIMER, 1)].value--;
}
static void wake_more(void)
{
    size_t at = find(now, CLO_LOG_TIMER, 1) + 1; /* nothing is asked for here */
    while (now->records[at].what == CLO_LOG_WAKE)
        at++;
    insert_at(now, at, plain(now, at, CLO_LOG_WAKE, now->records[at].now_ns + 1));
}
static void wake_past(void)
{
    clo_log_record *wake = &now->records[find(now, CLO_LOG_WAKE, 1)];
    wake->value = wake->now_ns;
}
static void wake_gone(void)
{
    remove_at(now, find(now, CLO_LOG_WAKE, 1));
}
static void enter_value(void)
{
    now->records[find(now, CLO_LOG_ENTER, 0)].value--;
}
static void enter_more(void)
{
    size_t at = find(now, CLO_LOG_ENTER, 1);
    insert_at(now, at + 1, now->records[at]);
}
static void enter_of_another(void)
{
    now->records[find(now, CLO_LOG_ENTER, 0)].job = 4;
}
static void no_policy(void)
{
    now->header.policies_count = 0;
}
static void real_clock(void)
{
    now->header.clock = CLO_CLOCK_REAL;
}
static void few_jobs(void)
{
    now->header.jobs_max = 1;
}
static void environment(void)
{
    now->header.run = CLO_LOG_RUN_REAL;
    now->header.environment = "decima";
}

/* mends: the forger mends the sums. */
static const struct {
    const char *name;
    void (*plant)(void);
    uint32_t kind;
    bool mends;
} plants[] = {{"another weight", weight, CLO_STREAM_WRONG_JOB, true},
              {"a limit that it has not", limit_set, CLO_STREAM_WRONG_JOB, true},
              {"no limit where it has one", limit_gone, CLO_STREAM_WRONG_JOB, true},
              {"a deadline that it has not", deadline_set, CLO_STREAM_WRONG_JOB, true},
              {"no deadline where it has one", deadline_gone, CLO_STREAM_WRONG_JOB, true},
              {"a later deadline", deadline_late, CLO_STREAM_WRONG_JOB, true},
              {"an earlier deadline", deadline_early, CLO_STREAM_WRONG_JOB, true},
              {"no JOB", job_gone, CLO_STREAM_WRONG_JOB, true},
              {"JOB twice", job_twice, CLO_STREAM_WRONG_JOB, true},
              {"JOB of another job", job_of_another, CLO_STREAM_WRONG_JOB, true},
              {"JOB later", job_later, CLO_STREAM_WRONG_JOB, true},
              {"no BAND", band_gone, CLO_STREAM_WRONG_JOB, true},
              {"another band", band_value, CLO_STREAM_WRONG_JOB, true},
              {"a band that it has not", band_more, CLO_STREAM_WRONG_JOB, true},
              {"BAND of another job", band_of_another, CLO_STREAM_WRONG_JOB, true},
              {"another group", group, CLO_STREAM_WRONG_SUM, false},
              {"another tag", tag, CLO_STREAM_WRONG_SUM, false},
              {"another sum", sum_value, CLO_STREAM_WRONG_SUM, false},
              {"a sum less", sum_gone, CLO_STREAM_WRONG_SUM, true},
              {"no sum in front of END", last_sum_gone, CLO_STREAM_WRONG_SUM, true},
              {"capacity comes back", capacity, CLO_STREAM_WRONG_SUM, false},
              {"inputs together", together, CLO_STREAM_WRONG_SUM, false},
              {"an answer about room", room, CLO_STREAM_WRONG_SUM, false},
              {"ends of one time in another order", finishes_swapped, CLO_STREAM_WRONG_SUM, false},
              {"another policy", policy_name, CLO_STREAM_WRONG_SUM, false},
              {"the policy comes again", swap_of_itself, CLO_STREAM_WRONG_SUM, false},
              {"a wake-up more", timer_more, CLO_STREAM_WRONG_TIMER, true},
              {"a wake-up less", timer_gone, CLO_STREAM_WRONG_TIMER, true},
              {"a wake-up for another time", timer_value, CLO_STREAM_WRONG_TIMER, true},
              {"a wake-up is asked for and never comes", wake_more, CLO_STREAM_WRONG_TIMER, true},
              {"a wake-up is asked for in the past", wake_past, CLO_STREAM_WRONG_TIMER, true},
              {"a wake-up that nobody asked for", wake_gone, CLO_STREAM_WRONG_TIMER, true},
              {"more tasks outside", enter_value, CLO_STREAM_WRONG_ENTER, true},
              {"a piece more", enter_more, CLO_STREAM_WRONG_ENTER, true},
              {"a piece of another job", enter_of_another, CLO_STREAM_WRONG_ENTER, true},
              {"no policy", no_policy, CLO_STREAM_HEADER, true},
              {"simulated by the real clock", real_clock, CLO_STREAM_HEADER, true},
              {"room for one job", few_jobs, CLO_STREAM_HEADER, true},
              {"a real run in an environment", environment, CLO_STREAM_HEADER, true}};

static void each_contradiction_is_refused_under_its_name(void **state)
{
    static run r, forged;

    (void)state;
    open_run(&r);
    now = &forged;
    forged = r;
    ok(check(&forged, NULL));
    mend_sums(&forged); /* there is nothing to mend */
    assert_memory_equal(forged.records, r.records, r.count * sizeof r.records[0]);
    for (size_t p = 0; p < sizeof plants / sizeof plants[0]; p++) {
        clo_stream_report report = CLO_STREAM_REPORT_INIT;
        forged = r;
        plants[p].plant();
        if (plants[p].mends)
            mend_sums(&forged);
        if (check(&forged, &report) != CLO_ERR_INVALID || report.by_kind[plants[p].kind] == 0)
            fail_msg("%s: not found; %s", plants[p].name, clo_last_error());
    }
    close_run(&r);
}

/* A caller may name policies as it likes, or not at all, and give jobs other weights to be counted by. */
static void a_check_that_is_not_strict_takes_names_and_weights_as_they_come(void **state)
{
    static run r, forged;

    (void)state;
    open_run(&r);
    is_strict = 0;
    now = &forged;
    for (uint32_t names = 0; names < 2; names++) {
        forged = r;
        forged.header.policies = named + 1;
        forged.header.policies_count = names;
        forged.jobs[3].weight = 7;
        forged.jobs[2].deadline_ns = 0;
        ok(check(&forged, NULL));
        sum_value(); /* the second one */
        assert_int_equal(check(&forged, NULL), CLO_ERR_INVALID);
    }
    is_strict = 1;
    close_run(&r);
}

/* What it does not know it does not judge. */
static void a_log_that_names_no_run_may_leave_out_what_a_scheduler_writes(void **state)
{
    static run r;

    (void)state;
    open_run(&r);
    r.header.run = CLO_LOG_RUN_UNKNOWN;
    r.header.policies_count = 0;
    for (size_t i = r.count; i-- > 0;) {
        uint32_t what = r.records[i].what;
        if (what == CLO_LOG_SUM || what == CLO_LOG_JOB || what == CLO_LOG_BAND || what == CLO_LOG_TIMER)
            remove_at(&r, i);
    }
    ok(check(&r, NULL));
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_contradiction_is_refused_under_its_name),
        cmocka_unit_test(a_check_that_is_not_strict_takes_names_and_weights_as_they_come),
        cmocka_unit_test(a_log_that_names_no_run_may_leave_out_what_a_scheduler_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
