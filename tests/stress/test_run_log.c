/* The log of a real run is the run: what 10 000 decisions of every policy on workers have written is repeated by
 * clo_stream_replay, record by record, and the stream checker finds it valid. Jobs arrive from several threads, are
 * cancelled and fail; policies are swapped and wait; work stealing takes part of the capacities. A log whose inputs
 * were changed is not repeated. When a log begins and ends: test_run_log_life.c. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "base/numbers/rng.h"
#include "running.h"
#include "trace/log.h"
#include "trace/log_kinds.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DECISIONS (SANITIZED ? 3000 : 10000)
enum { RECORDS = 2000000, SUBMITTERS = 3, JOBS_EACH = 3, GRAPHS = 3, STEALS = GRAPHS, EXECUTORS = 4 };

static _Atomic uint32_t bodies, timers, is_over;

static void rest_us(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

/* Every fifth one that may fail does. */
static int work(const clo_call *call)
{
    uint32_t before = atomic_fetch_add(&bodies, 1);

    for (volatile int i = 0; i < 200; i++)
        ;
    return call->argument != NULL && before % 5 == 0 ? 1 : 0;
}

/* Now and then it gives its CPU away while it holds what it has taken. */
static int spin(const clo_call *call)
{
    static _Atomic uint32_t spins;

    (void)call;
    for (volatile int i = 0; i < 2000; i++)
        ;
    if (atomic_fetch_add(&spins, 1) % 16 == 0)
        rest_us(50);
    return 0;
}

/* Oldest first; every third time it waits a little instead. */
typedef struct patient {
    uint32_t asked;
    int64_t until_ns;
} patient;

static size_t patient_bytes(const clo_limits *limits, const void *argument)
{
    (void)limits;
    (void)argument;
    return sizeof(patient);
}

static bool patient_decide(void *state, const clo_view *view, clo_choice *choice)
{
    patient *p = state;
    int64_t now_ns = clo_view_now_ns(view);

    if (p->until_ns > now_ns) {
        choice->wake_ns = p->until_ns;
        return true;
    }
    if (++p->asked % 3 == 0) {
        choice->wake_ns = p->until_ns = now_ns + 20000;
        return true;
    }
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        const clo_live_job *job = clo_view_job(view, at.job);
        if (job->running + job->committed < job->limit && clo_view_free_for(view, at.job, at.stage) != CLO_NONE) {
            choice->job = at.job;
            choice->stage = at.stage;
            choice->count = 2;
            return true;
        }
    }
    return false;
}

static void patient_event(void *state, const clo_view *view, const clo_event *event)
{
    (void)state;
    (void)view;
    if (event->kind == CLO_EVENT_TIMER)
        atomic_fetch_add(&timers, 1);
}

static const clo_policy patient_policy = {.size = sizeof(clo_policy),
                                          .name = "patient",
                                          .state_bytes = patient_bytes,
                                          .event = patient_event,
                                          .decide = patient_decide};

static const clo_policy *policy_named(const char *name)
{
    return strcmp(name, patient_policy.name) == 0 ? &patient_policy : clo_policy_find(name);
}

/* One runtime, its log, and who uses it. */
typedef struct stage {
    clo_platform *platform;
    clo_graph *graphs[GRAPHS + 1]; /* the last one for work stealing */
    clo_cost *costs[GRAPHS + 1];
    clo_runtime *runtime;
    clo_log *log;
    const clo_policy *policy;
    bool has_demands;
} stage;

typedef struct submitter {
    stage *stage;
    uint32_t number;
    clo_job *jobs[JOBS_EACH];
    pthread_t thread;
} submitter;

static clo_platform *make_platform(void)
{
    clo_executor executors[EXECUTORS] = {{0}};
    int64_t capacities[2 * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    for (uint32_t e = 0; e < EXECUTORS; e++) {
        executors[e] = (clo_executor){.machine = e / 2, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            executors[e].speed_q16[c] = CLO_SPEED_ONE >> e % 2;
    }
    for (uint32_t i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < 2 ? 6 : -1;
    desc.executors_count = EXECUTORS;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 2;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static clo_graph *make_graph(uint32_t which, bool has_demands)
{
    static int fails;
    clo_graph *graph;

    ok(clo_graph_create("log", &graph));
    for (uint32_t t = 0; t < 10; t++) {
        clo_task task = {.body = which == STEALS ? spin : work,
                         .work_ns = 1000 + 700 * (t % 3),
                         .instances = which == 1 ? 1 + t % 4 * 3 : 1};
        task.argument = which == 2 && t == 4 ? &fails : NULL;
        task.demand[0] = has_demands ? t % 5 : 0;
        task.demand[1] = has_demands && t % 3 == 0 ? 3 : 0;
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t > 1)
            ok(clo_graph_add_edge(graph, t / 2, t, 8));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static stage begin(const clo_policy *policy, bool has_demands)
{
    stage s = {.platform = make_platform(), .policy = policy, .has_demands = has_demands};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    for (uint32_t g = 0; g <= STEALS; g++) {
        s.graphs[g] = make_graph(g, has_demands);
        ok(clo_cost_create(s.graphs[g], s.platform, &s.costs[g]));
    }
    ok(clo_runtime_create(s.platform, &config, &s.runtime));
    ok(clo_log_create(NULL, RECORDS, &s.log));
    ok(clo_runtime_log_start(s.runtime, s.log));
    return s;
}

static void end(stage *s)
{
    clo_runtime_destroy(s->runtime);
    clo_log_destroy(s->log);
    for (uint32_t g = 0; g <= STEALS; g++) {
        clo_cost_destroy(s->costs[g]);
        clo_graph_destroy(s->graphs[g]);
    }
    clo_platform_destroy(s->platform);
}

static void make_jobs(stage *s, submitter *who)
{
    for (uint32_t j = 0; j < JOBS_EACH; j++) {
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        config.policy = s->policy;
        config.weight = 1 + (j + who->number) % 3;
        config.group = who->number;
        config.limit = j == 1 ? 2 : 0;
        config.band = s->has_demands ? 0 : (j + who->number) % 3;
        config.deadline_ns = j != 0 ? 50000 * (int64_t)(j + who->number) : 0;
        config.tag = (j + who->number) % GRAPHS;
        ok(clo_job_create(s->runtime, s->costs[config.tag], &config, &who->jobs[j]));
    }
}

/* What a thread found wrong, in one line; "": nothing. cmocka can fail on the thread of a test only. */
static char wrong[320];
static pthread_mutex_t wrong_lock = PTHREAD_MUTEX_INITIALIZER;

/* False, and all threads end, if `holds` does not. */
static bool check(bool holds, const char *what, uint64_t value)
{
    if (holds)
        return true;
    pthread_mutex_lock(&wrong_lock);
    if (wrong[0] == 0)
        snprintf(wrong, sizeof wrong, "%s: %llu; last error: %s", what, (unsigned long long)value, clo_last_error());
    pthread_mutex_unlock(&wrong_lock);
    atomic_store(&is_over, 1);
    return false;
}

static bool submit_round(submitter *who, clo_rng *rng)
{
    for (uint32_t j = 0; j < JOBS_EACH; j++)
        if (!check(clo_job_submit(who->jobs[j]) == CLO_OK, "clo_job_submit of job", j))
            return false;
    if (clo_rng_below(rng, 3) == 0)
        clo_job_cancel(who->jobs[clo_rng_below(rng, JOBS_EACH)]);
    for (uint32_t j = 0; j < JOBS_EACH; j++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_status status = clo_job_wait(who->jobs[j], &result);
        bool is_right = status == CLO_OK || status == CLO_ERR_CANCELLED || status == CLO_ERR_TASK;
        if (!check(is_right, "clo_job_wait returned", (uint64_t)status) ||
            !check(result.refused == 0, result.refusal, result.refused))
            return false;
    }
    return true;
}

static void *submit_all(void *argument)
{
    submitter *who = argument;
    clo_rng rng;

    rng = clo_rng_seed(who->number);
    while (atomic_load(&is_over) == 0) {
        if (atomic_load(&bodies) >= DECISIONS + 100) /* whoever is to end this is late: the log must not fill up */
            rest_us(10000);
        if (!submit_round(who, &rng))
            break;
    }
    return NULL;
}

/* Work stealing beside the scheduler: it holds capacities that the scheduler does not know of. */
static void *steal_all(void *argument)
{
    stage *s = argument;
    clo_job *job;

    if (!check(clo_job_create(s->runtime, s->costs[STEALS], NULL, &job) == CLO_OK, "clo_job_create", 0))
        return NULL;
    while (atomic_load(&is_over) == 0) {
        check(clo_job_submit(job) == CLO_OK && clo_job_wait(job, NULL) == CLO_OK, "work stealing", 0);
        rest_us(200);
    }
    clo_job_destroy(job);
    return NULL;
}

static void *swap_all(void *argument)
{
    stage *s = argument;

    for (uint32_t i = 0; atomic_load(&is_over) == 0; i++) {
        clo_entry entry = CLO_ENTRY_INIT;
        rest_us(3000);
        check(clo_registry_entry("policies", i % 7, &entry), "clo_registry_entry", i);
        const clo_policy *other = i % 2 == 0 ? &patient_policy : clo_policy_find(entry.name);
        check(clo_runtime_swap_policy(s->runtime, other, NULL) == CLO_OK, "clo_runtime_swap_policy", i);
        rest_us(500);
        check(clo_runtime_swap_policy(s->runtime, s->policy, NULL) == CLO_OK, "clo_runtime_swap_policy back", i);
    }
    return NULL;
}

/* Until enough was decided; the log ends in the middle of it. */
static void run(stage *s)
{
    submitter submitters[SUBMITTERS];
    pthread_t stealer, swapper;

    atomic_store(&bodies, 0);
    atomic_store(&timers, 0);
    atomic_store(&is_over, 0);
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (submitter){.stage = s, .number = i};
        make_jobs(s, &submitters[i]);
    }
    assert_int_equal(pthread_create(&swapper, NULL, swap_all, s), 0);
    assert_int_equal(pthread_create(&stealer, NULL, steal_all, s), 0);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_all, &submitters[i]), 0);
    while ((atomic_load(&bodies) < DECISIONS + 100 || atomic_load(&timers) == 0) && /* each body was decided */
           atomic_load(&is_over) == 0)
        rest_us(1000);
    ok(clo_runtime_log_stop(s->runtime));
    atomic_store(&is_over, 1);
    pthread_join(swapper, NULL);
    pthread_join(stealer, NULL);
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        pthread_join(submitters[i].thread, NULL);
        for (uint32_t j = 0; j < JOBS_EACH; j++)
            clo_job_destroy(submitters[i].jobs[j]);
    }
    if (wrong[0] != 0)
        fail_msg("policy %s: %s", s->policy->name, wrong);
}

static clo_status replay(const stage *s, const clo_log *log, clo_replay_result *result)
{
    const clo_log_header *about = clo_log_about(log);
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_policy policies[CLO_LOG_POLICIES_MAX] = {{0}};

    for (uint32_t p = 0; p < about->policies_count; p++)
        policies[p].policy = policy_named(about->policies[p].name);
    config.platform = s->platform;
    config.costs = (const clo_cost *const *)s->costs;
    config.costs_count = GRAPHS;
    config.policies = policies;
    config.policies_count = about->policies_count;
    return clo_stream_replay(&config, log, result);
}

/* The jobs of the log, as its own records have them. */
static clo_stream_job *jobs_of(const stage *s, const clo_log *log, size_t *jobs)
{
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);
    clo_stream_job *list = calloc(count, sizeof *list);

    assert_non_null(list);
    *jobs = 0;
    for (size_t i = 0; i + 2 < count; i++) {
        if (records[i].what != CLO_LOG_ARRIVE)
            continue;
        assert_int_equal(records[i + 1].what, CLO_LOG_JOB);
        list[(*jobs)++] = (clo_stream_job){
            .job = records[i].job,
            .cost = s->costs[records[i].value],
            .weight = records[i + 1].stage,
            .limit = records[i + 1].instance != CLO_NONE ? records[i + 1].instance : 0,
            .band = records[i + 2].what == CLO_LOG_BAND ? (uint32_t)records[i + 2].value : 0,
        };
    }
    return list;
}

static void judge(const stage *s)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_job *jobs = jobs_of(s, s->log, &stream.jobs_count);

    stream.platform = s->platform;
    stream.jobs = jobs;
    if (clo_stream_check(&stream, s->log, &report) != CLO_OK)
        fail_msg("policy %s: %s", s->policy->name, clo_last_error());
    assert_true(report.decisions >= DECISIONS);
    assert_true(report.cancelled > 0 && report.failed > 0 && report.finished > 0);
    free(jobs);
}

static uint32_t records_of_kind(const clo_log *log, uint32_t what)
{
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);
    uint32_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += records[i].what == what;
    return found;
}

/* The same records, `header` in place of the log's. */
static clo_log *copy(const clo_log *log, const clo_log_header *header, size_t count)
{
    const clo_log_record *records = clo_log_records(log, NULL);
    clo_log *out;

    ok(clo_log_create(header, 0, &out));
    for (size_t i = 0; i < count; i++)
        assert_true(clo_log_append(out, &records[i]));
    return out;
}

static size_t next_input(const clo_log_record *records, size_t count, size_t at, uint32_t kind)
{
    for (at++; at < count; at++)
        if (records[at].what == kind ||
            (kind == CLO_NONE && (records[at].what == CLO_LOG_ARRIVE || records[at].what == CLO_LOG_FINISH ||
                                  records[at].what == CLO_LOG_CANCEL || records[at].what == CLO_LOG_TIMER)))
            return at;
    return count;
}

/* Two inputs trade places, with their times or without. */
static void swapped_inputs_show(const stage *s, clo_rng *rng, uint32_t kind)
{
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);
    clo_log *changed;

    size_t a = next_input(records, count, clo_rng_below(rng, (uint32_t)count - 1), kind);
    size_t b = next_input(records, count, a, kind);
    if (b >= count)
        return;
    ok(clo_log_create(clo_log_about(s->log), 0, &changed));
    for (size_t i = 0; i < count; i++) {
        clo_log_record record = records[i == a ? b : i == b ? a : i];
        if (kind == CLO_LOG_FINISH) /* moved past the other: each keeps its place in time */
            record.now_ns = records[i].now_ns;
        assert_true(clo_log_append(changed, &record));
    }
    clo_status status = replay(s, changed, NULL);
    if (status != CLO_ERR_INVALID)
        fail_msg("policy %s, records %zu and %zu swapped: %d", s->policy->name, a, b, status);
    clo_log_destroy(changed);
}

static void another_policy_shows(const stage *s)
{
    clo_log_header header = *clo_log_about(s->log);
    clo_log_policy policies[CLO_LOG_POLICIES_MAX];
    size_t count;

    (void)clo_log_records(s->log, &count);
    memcpy(policies, header.policies, header.policies_count * sizeof policies[0]);
    policies[0].name = strcmp(policies[0].name, "fair") == 0 ? "fifo" : "fair";
    header.policies = policies;
    clo_log *changed = copy(s->log, &header, count);
    assert_int_equal(replay(s, changed, NULL), CLO_ERR_INVALID);
    clo_log_destroy(changed);
}

static void a_cut_log_shows(const stage *s, clo_rng *rng)
{
    size_t count;

    (void)clo_log_records(s->log, &count);
    clo_log *changed = copy(s->log, clo_log_about(s->log), clo_rng_below(rng, (uint32_t)count));
    assert_int_equal(replay(s, changed, NULL), CLO_ERR_STATE);
    clo_log_destroy(changed);
}

/* What chance brings: how often the semaphores said what did not follow from what the scheduler itself had given away, and
 * how often others gave capacity back while it waited. */
typedef struct chances {
    size_t surprises, returns;
} chances;

static void check_one(const clo_policy *policy, bool has_demands, chances *sums)
{
    stage s = begin(policy, has_demands);
    clo_replay_result result = CLO_REPLAY_RESULT_INIT;
    clo_rng rng;
    size_t count;

    rng = clo_rng_seed(7);
    run(&s);
    (void)clo_log_records(s.log, &count);
    assert_int_equal(clo_log_dropped(s.log), 0);
    assert_int_equal(clo_log_about(s.log)->run, CLO_LOG_RUN_REAL);
    if (replay(&s, s.log, &result) != CLO_OK)
        fail_msg("policy %s: %s", policy->name, clo_last_error());
    assert_int_equal(result.records, count);
    assert_true(result.decisions >= DECISIONS);
    judge(&s);
    assert_true(records_of_kind(s.log, CLO_LOG_TIMER) > 0);
    assert_true(records_of_kind(s.log, CLO_LOG_CANCEL) > 0);
    assert_true(records_of_kind(s.log, CLO_LOG_SWAP) > 0);
    sums->returns += records_of_kind(s.log, CLO_LOG_CAPACITY);
    sums->surprises += records_of_kind(s.log, CLO_LOG_ROOM);
    for (int i = 0; i < 4; i++) {
        swapped_inputs_show(&s, &rng, CLO_NONE);
        swapped_inputs_show(&s, &rng, CLO_LOG_FINISH);
        a_cut_log_shows(&s, &rng);
    }
    another_policy_shows(&s);
    end(&s);
}

static void check_all(bool has_demands)
{
    clo_entry entry = CLO_ENTRY_INIT;
    chances sums = {0, 0};

    for (uint32_t p = 0; clo_registry_entry("policies", p, &entry); p++)
        check_one(clo_policy_find(entry.name), has_demands, &sums);
    check_one(&patient_policy, has_demands, &sums);
    assert_true(!has_demands || (sums.surprises > 0 && sums.returns > 0)); /* of some policy: of each would be luck */
}

static void runs_of_every_policy_with_bands_and_limits_replay(void **state)
{
    (void)state;
    check_all(false);
}

static void runs_of_every_policy_with_demands_replay_though_others_use_the_capacities(void **state)
{
    (void)state;
    check_all(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_every_policy_with_bands_and_limits_replay),
        cmocka_unit_test(runs_of_every_policy_with_demands_replay_though_others_use_the_capacities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
