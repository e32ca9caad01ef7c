/* stream_replay.c - the run of a log once more: a scheduler is told the inputs of the log, at the log's times.
 *
 * The scheduler writes a second log meanwhile. Invariant: what it has written is equal to the beginning of the first
 * one, so that its length says where the first one is to be read on. That holds inside an input too, where the answers
 * of semaphores are looked up (CLO_LOG_ROOM). */
#include <clotho/branch.h>
#include <clotho/stream.h>

#include "base/carve.h"
#include "base/status.h"
#include "engine/scheduler/scheduler.h"
#include "trace/log.h"
#include "trace/log_kinds.h"

#include <string.h>

/* A live job, in its own arena. */
typedef struct live_job {
    clo_scheduler_job *job;
    clo_arena arena;
    clo_control_flow control_flow; /* in use if the graph has branches */
} live_job;

typedef struct replay {
    const clo_replay_config *config;
    const clo_log_header *about;
    const clo_log_record *records; /* [count] of the log */
    size_t count;
    const clo_log *log;
    clo_log *again;
    clo_scheduler *scheduler;
    clo_scheduler_script script;
    clo_arena arena;
    clo_replay_policy *policies; /* [about->policies_count] */
    uint32_t swaps;
    uint64_t inputs;
} replay;

/* Records that are written, and so read. */
static size_t position(const replay *r)
{
    size_t count;

    (void)clo_log_records(r->again, &count);
    return count;
}

static uint32_t answer(void *driver, uint32_t machine, uint32_t question, uint32_t expected)
{
    const replay *r = driver;
    size_t at = position(r);

    if (at >= r->count)
        return expected;
    const clo_log_record *record = &r->records[at];
    return record->what == CLO_LOG_ROOM && record->executor == machine && record->instance == question
               ? (uint32_t)record->value
               : expected;
}

static clo_status differs(const replay *r)
{
    char text[400];
    size_t at = clo_log_first_difference(r->log, r->again, text, sizeof text);

    (void)at;
    return clo_fail(CLO_ERR_INVALID, "the replay (second) is another run than the log: %s", text);
}

/* The record at `at` cannot have been written by this scheduler in this state. */
static clo_status impossible(size_t at, const clo_log_record *record, const char *why)
{
    char text[160];

    return clo_fail(CLO_ERR_INVALID, "the replay is another run than the log: record %zu: %s: %s", at,
                    clo_log_describe(record, text, sizeof text), why);
}

/* Compares what was written since `from`. */
static clo_status compare(const replay *r, size_t from)
{
    size_t count;
    const clo_log_record *mine = clo_log_records(r->again, &count);

    if (clo_log_dropped(r->again) > 0)
        return clo_fail_memory("the replay of a log");
    if (count > r->count || memcmp(&mine[from], &r->records[from], (count - from) * sizeof *mine) != 0)
        return differs(r);
    return CLO_OK;
}

static clo_policy_use use_of(const replay *r, uint32_t place)
{
    const clo_replay_policy *policy = &r->policies[place];

    return (clo_policy_use){.policy = policy->policy, .argument = policy->argument, .place = place};
}

static void close_job(clo_scheduler_job *job)
{
    clo_arena arena = ((live_job *)job->owner)->arena;

    clo_arena_close(&arena);
}

static clo_scheduler_job *job_in(const replay *r, uint32_t slot)
{
    return (clo_scheduler_job *)(uintptr_t)clo_view_job(r->scheduler, slot); /* its first member */
}

/* NULL: no such job lives. */
static clo_scheduler_job *find_job(const replay *r, uint64_t id)
{
    uint32_t slot = clo_view_first_job(r->scheduler);

    while (slot != CLO_NONE && clo_view_job(r->scheduler, slot)->id != id)
        slot = clo_view_job(r->scheduler, slot)->next;
    return slot != CLO_NONE ? job_in(r, slot) : NULL;
}

/* What JOB and BAND behind the ARRIVE record say. False: they say nothing that can be. */
static bool read_terms(const replay *r, size_t at, clo_scheduler_job_config *terms)
{
    const clo_log_record *arrive = &r->records[at], *job = arrive + 1, *band = arrive + 2;

    if (at + 1 >= r->count || job->what != CLO_LOG_JOB || job->job != arrive->job || job->stage == 0)
        return false;
    *terms = (clo_scheduler_job_config){
        .deadline_ns = job->value, .weight = job->stage, .group = job->executor, .limit = job->instance};
    if (at + 2 < r->count && band->what == CLO_LOG_BAND)
        terms->band = band->value >= 0 && band->value < CLO_BANDS_MAX ? (uint32_t)band->value : CLO_BANDS_MAX;
    return terms->band < CLO_BANDS_MAX;
}

static clo_status make_job(const replay *r, const clo_log_record *record, const clo_scheduler_job_config *terms,
                           clo_arena *arena, clo_scheduler_job **out)
{
    clo_policy_use use = {.policy = NULL};
    live_job *live = clo_arena_take(arena, 1, sizeof *live);

    if (live == NULL)
        return clo_fail_memory("a job of a replay");
    use.policy = clo_scheduler_policy(r->scheduler, &use.argument);
    clo_status status = clo_scheduler_job_create(r->config->costs[record->value], terms, &use, arena, &live->job);
    if (status == CLO_OK)
        status =
            clo_control_flow_create(&live->control_flow, clo_cost_graph(r->config->costs[record->value]), 0, arena);
    if (status != CLO_OK)
        return status;
    if (live->control_flow.graph != NULL)
        live->job->control_flow = &live->control_flow;
    live->job->tag = record->value;
    live->job->version = r->swaps;
    live->job->owner = live;
    live->arena = *arena;
    *out = live->job;
    return CLO_OK;
}

static clo_status arrive(const replay *r, size_t at)
{
    const clo_log_record *record = &r->records[at];
    clo_scheduler_job_config terms;
    clo_scheduler_job *job = NULL;
    clo_arena arena;

    if (!read_terms(r, at, &terms))
        return impossible(at, record, "no JOB record behind it says what arrives");
    if (record->value < 0 || (uint64_t)record->value >= r->config->costs_count ||
        r->config->costs[record->value] == NULL)
        return impossible(at, record, "there is no such job; give the workload of the run");
    if (!clo_scheduler_has_room(r->scheduler))
        return impossible(at, record, "more jobs live than the run had room for");
    clo_arena_open(&arena, NULL, 0);
    clo_status status = make_job(r, record, &terms, &arena, &job);
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    return clo_scheduler_arrive(r->scheduler, job, record->now_ns);
}

/* What the ARM record before this FINISH says that the branch chose; nothing, where there is none: its body failed. */
static void take_arm(const replay *r, size_t at, uint32_t executor)
{
    const clo_live_executor *row = clo_view_executor(r->scheduler, executor);
    const clo_log_record *arm = at > 0 ? &r->records[at - 1] : NULL;
    live_job *live = job_in(r, row->job)->owner;

    if (!clo_control_flow_has_branch(&live->control_flow, row->stage) ||
        clo_control_flow_skips(&live->control_flow, row->stage))
        return;
    bool is_there = arm != NULL && arm->what == CLO_LOG_ARM && arm->job == live->job->live.id &&
                    arm->stage == row->stage && arm->value >= 0 &&
                    arm->value < (int64_t)clo_graph_arms(live->control_flow.graph, row->stage);
    live->control_flow.arm[row->stage] = is_there ? (uint32_t)arm->value : CLO_NONE;
}

static clo_status finish(const replay *r, size_t at)
{
    const clo_log_record *record = &r->records[at];
    const clo_live_executor *executor = clo_view_executor(r->scheduler, record->executor);

    if (executor == NULL || executor->job == CLO_NONE || executor->is_moving)
        return impossible(at, record, "nothing runs there");
    take_arm(r, at, record->executor);
    clo_scheduler_finish(r->scheduler, record->executor, record->value, record->now_ns);
    return CLO_OK;
}

static clo_status moved(const replay *r, size_t at)
{
    const clo_log_record *record = &r->records[at];
    const clo_live_executor *executor = clo_view_executor(r->scheduler, record->executor);

    if (executor == NULL || !executor->is_moving)
        return impossible(at, record, "no such executor is on its way");
    clo_scheduler_moved(r->scheduler, record->executor, record->value, record->now_ns);
    return CLO_OK;
}

static clo_status swap(replay *r, size_t at)
{
    const clo_log_record *record = &r->records[at];

    if (record->value < 0 || record->value >= (int64_t)r->about->policies_count)
        return impossible(at, record, "the log's header has no such policy");
    if (clo_scheduler_is_showing(r->scheduler))
        return impossible(at, record, "the policy before has not been told of all that lives");
    clo_policy_use use = use_of(r, (uint32_t)record->value);
    const clo_limits *limits = clo_view_limits(r->scheduler);
    use.bytes = use.policy->state_bytes != NULL ? use.policy->state_bytes(limits, use.argument) : 0;
    use.state = clo_arena_take(&r->arena, use.bytes, 1);
    if (use.state == NULL)
        return clo_fail_memory("a policy");
    for (uint32_t slot = clo_view_first_job(r->scheduler); slot != CLO_NONE;) {
        clo_scheduler_job *job = job_in(r, slot);
        clo_status status = clo_scheduler_job_prepare(job, &use, r->swaps + 1, &((live_job *)job->owner)->arena);
        if (status != CLO_OK)
            return status;
        slot = job->live.next;
    }
    return clo_scheduler_swap(r->scheduler, &use, ++r->swaps, record->now_ns);
}

static clo_status cancel(const replay *r, size_t at)
{
    const clo_log_record *record = &r->records[at];
    clo_scheduler_job *job = find_job(r, record->job);

    if (job == NULL)
        return impossible(at, record, "no such job lives");
    clo_scheduler_cancel(r->scheduler, job, record->value != 0, record->now_ns);
    return CLO_OK;
}

static clo_status go_on(const replay *r, size_t at)
{
    if (!clo_scheduler_has_more(r->scheduler))
        return impossible(at, &r->records[at], "every job has entered or left as a whole, and the policy knows them");
    (void)clo_scheduler_go_on(r->scheduler);
    return CLO_OK;
}

static clo_status tell(replay *r, size_t at)
{
    const clo_log_record *record = &r->records[at];

    switch (record->what) {
    case CLO_LOG_ARRIVE:
        return arrive(r, at);
    case CLO_LOG_ENTER:
    case CLO_LOG_MORE:
        return go_on(r, at);
    case CLO_LOG_FINISH:
        return finish(r, at);
    case CLO_LOG_MOVED:
        return moved(r, at);
    case CLO_LOG_TIMER:
        clo_scheduler_timer(r->scheduler, record->now_ns);
        return CLO_OK;
    case CLO_LOG_CANCEL:
        return cancel(r, at);
    case CLO_LOG_SWAP:
        return swap(r, at);
    case CLO_LOG_CAPACITY:
        if (record->executor >= clo_platform_machines(r->config->platform))
            return impossible(at, record, "there is no such machine");
        clo_scheduler_capacity(r->scheduler, record->executor, record->now_ns);
        return CLO_OK;
    case CLO_LOG_END:
        clo_scheduler_end_log(r->scheduler, record->now_ns);
        return CLO_OK;
    default:
        return impossible(at, record, "the replay decides nothing here");
    }
}

/* Where the next input's own record stands: behind what is said of it. */
static size_t read_on(const replay *r)
{
    size_t at = position(r);

    while (at < r->count && (r->records[at].what == CLO_LOG_TOGETHER || r->records[at].what == CLO_LOG_ROOM))
        at++;
    if (at + 1 < r->count && r->records[at].what == CLO_LOG_ARM && r->records[at + 1].what == CLO_LOG_FINISH)
        at++;
    if (at + 1 < r->count && r->records[at].what == CLO_LOG_SUM && r->records[at + 1].what == CLO_LOG_END)
        at++;
    return at;
}

/* The next input was told before decisions were asked for. */
static bool is_together(const replay *r)
{
    size_t at = position(r);

    return at < r->count && r->records[at].what == CLO_LOG_TOGETHER;
}

static void take_ended(const replay *r)
{
    clo_scheduler_job *job;

    while ((job = clo_scheduler_ended(r->scheduler)) != NULL)
        close_job(job);
}

/* One input, and what is decided after it. */
static clo_status step(replay *r)
{
    size_t from = position(r), at = read_on(r);
    clo_order order;

    if (at == r->count)
        return clo_fail(CLO_ERR_STATE, "the log has no END record: it was cut; write it again");
    clo_status status = tell(r, at);
    if (status == CLO_OK)
        status = compare(r, from);
    if (status == CLO_OK && position(r) == from)
        status = impossible(at, &r->records[at], "to the replay this is no input");
    if (status != CLO_OK)
        return status;
    r->inputs++;
    from = position(r);
    while (r->records[at].what != CLO_LOG_END && !is_together(r) && clo_scheduler_next(r->scheduler, &order))
        ;
    take_ended(r);
    return compare(r, from);
}

static clo_status run(replay *r)
{
    clo_status status;

    clo_scheduler_begin_log(r->scheduler);
    status = compare(r, 0);
    while (status == CLO_OK && r->records[position(r) - 1].what != CLO_LOG_END)
        status = step(r);
    if (status == CLO_OK && position(r) < r->count)
        status = impossible(position(r), &r->records[position(r)], "it stands behind END");
    return status;
}

static void read_result(const replay *r, clo_replay_result *out)
{
    size_t count;
    const clo_log_record *mine = clo_log_records(r->again, &count);
    clo_replay_result result = CLO_REPLAY_RESULT_INIT;

    while (result.records < count && result.records < r->count &&
           memcmp(&mine[result.records], &r->records[result.records], sizeof *mine) == 0) {
        uint32_t what = mine[result.records++].what;
        result.decisions += what == CLO_LOG_START || what == CLO_LOG_COMMIT;
    }
    result.inputs = r->inputs;
    clo_result_write(out, &result, sizeof result);
}

/* By the name and the argument that the header says. */
static clo_status find_policy(replay *r, uint32_t place)
{
    const clo_log_policy *named = &r->about->policies[place];
    const clo_policy *policy = clo_policy_find(named->name);

    if (policy == NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the log's policy '%.60s' is none of the built-in ones; replay it with "
                        "clo_replay_config.policies",
                        named->name);
    r->policies[place].policy = policy;
    if (named->argument == NULL)
        return CLO_OK;
    if (policy->parse == NULL || strcmp(named->argument, CLO_LOG_ARGUMENT_UNKNOWN) == 0)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the log does not say the argument of policy %u, '%.60s'; replay it with "
                        "clo_replay_config.policies",
                        place, named->name);
    void *argument = clo_arena_take(&r->arena, policy->argument_bytes, 1);
    if (argument == NULL)
        return clo_fail_memory("the argument of a policy");
    clo_status status = policy->parse(named->argument, argument);
    r->policies[place].argument = status == CLO_OK ? argument : NULL;
    return status;
}

static clo_status find_policies(replay *r)
{
    uint32_t count = r->about->policies_count;

    if (count == 0)
        return clo_fail(CLO_ERR_STATE, "the log names no policy; it cannot be replayed");
    if (r->config->policies != NULL && r->config->policies_count < count)
        return clo_fail(CLO_ERR_ARGUMENT, "the log is of %u policies, and %u are given", count,
                        r->config->policies_count);
    r->policies = clo_arena_take(&r->arena, count, sizeof *r->policies);
    if (r->policies == NULL)
        return clo_fail_memory("the policies of a log");
    for (uint32_t p = 0; p < count; p++) {
        clo_status status = CLO_OK;
        if (r->config->policies == NULL)
            status = find_policy(r, p);
        else
            r->policies[p] = r->config->policies[p];
        if (status == CLO_OK && (r->policies[p].policy == NULL || r->policies[p].policy->decide == NULL))
            status = clo_fail(CLO_ERR_ARGUMENT, "policy %u has no decide function", p);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status check_log(const replay *r)
{
    if (clo_log_dropped(r->log) > 0)
        return clo_fail(CLO_ERR_STATE, "the log was full and dropped %llu records; it cannot be replayed",
                        (unsigned long long)clo_log_dropped(r->log));
    if (r->count == 0 || r->records[0].what != CLO_LOG_BEGIN)
        return clo_fail(CLO_ERR_STATE, "the log does not begin with a BEGIN record; write it again");
    if (r->records[r->count - 1].what != CLO_LOG_END)
        return clo_fail(CLO_ERR_STATE, "the log has no END record: it was cut; write it again");
    if (r->about->run == CLO_LOG_RUN_UNKNOWN || r->about->jobs_max == 0)
        return clo_fail(CLO_ERR_STATE, "the log does not say what kind of run it is of, and how many jobs could live; "
                                       "an earlier version wrote it, write it again");
    return CLO_OK;
}

static clo_status check_costs(const replay *r)
{
    const clo_replay_config *config = r->config;
    uint32_t executors = clo_platform_executors(config->platform);

    if (r->about->executors != 0 && r->about->executors != executors)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the log is of a platform with %u executors, this one has %u; name the platform of the run",
                        r->about->executors, executors);
    for (size_t k = 0; k < config->costs_count; k++)
        if (config->costs[k] != NULL && clo_cost_platform(config->costs[k]) != config->platform)
            return clo_fail(CLO_ERR_ARGUMENT, "cost %zu is of another platform", k);
    return CLO_OK;
}

static clo_status open_scheduler(replay *r)
{
    bool is_real = r->about->run == CLO_LOG_RUN_REAL;
    clo_scheduler_config config = {
        .platform = r->config->platform,
        .policy = r->policies[0].policy,
        .argument = r->policies[0].argument,
        .jobs_max = r->about->jobs_max,
        .steps_max = r->about->steps_max,
        .script = is_real ? &r->script : NULL,
    };
    clo_environment environment = CLO_ENVIRONMENT_INIT; /* for its rules; the times are those of the log */
    clo_status status =
        r->about->environment != NULL ? clo_environment_open(r->about->environment, 0, &environment) : CLO_OK;

    config.passes_duplicates = r->about->environment != NULL;
    config.has_moves = r->about->environment != NULL;
    config.moving_ns = environment.moving_ns;
    config.keeps_stages = environment.keeps_stages != 0;
    clo_environment_close(&environment);
    if (status == CLO_OK)
        status = clo_log_create(NULL, 0, &r->again);
    config.log = r->again;
    r->script = (clo_scheduler_script){r, answer};
    return status == CLO_OK ? clo_scheduler_create(&config, &r->arena, &r->scheduler) : status;
}

static void close_replay(replay *r)
{
    if (r->scheduler != NULL) {
        take_ended(r);
        for (uint32_t slot = clo_view_first_job(r->scheduler); slot != CLO_NONE;) {
            clo_scheduler_job *job = job_in(r, slot);
            slot = job->live.next;
            close_job(job);
        }
    }
    clo_log_destroy(r->again);
    for (uint32_t p = 0; r->config->policies == NULL && r->policies != NULL && p < r->about->policies_count; p++)
        if (r->policies[p].argument != NULL && r->policies[p].policy->release != NULL)
            r->policies[p].policy->release(r->policies[p].argument);
    clo_arena_close(&r->arena);
}

clo_status clo_stream_replay(const clo_replay_config *theirs, const clo_log *log, clo_replay_result *result)
{
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_status status = clo_result_check(result, CLO_BYTES_UP_TO(clo_replay_result, decisions), "clo_replay_result");

    if (status == CLO_OK)
        status = clo_config_read(&config, sizeof config, theirs, "clo_replay_config");
    if (status != CLO_OK)
        return status;
    if (log == NULL || config.platform == NULL || (config.costs == NULL && config.costs_count > 0))
        return clo_fail_null("clo_stream_replay", "log, config->platform or config->costs");
    replay r = {.config = &config, .about = clo_log_about(log), .log = log};
    r.records = clo_log_records(log, &r.count);
    clo_arena_open(&r.arena, NULL, 0);
    status = check_log(&r);
    if (status == CLO_OK)
        status = check_costs(&r);
    if (status == CLO_OK)
        status = find_policies(&r);
    if (status == CLO_OK)
        status = open_scheduler(&r);
    if (status == CLO_OK) {
        status = run(&r);
        if (status == CLO_OK || status == CLO_ERR_INVALID)
            read_result(&r, result);
    }
    close_replay(&r);
    return status;
}
