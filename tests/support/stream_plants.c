/* stream_plants.c - see stream_plants.h. */
#include "stream_plants.h"

#include <string.h>

/* A random record for which `is_good` holds; SIZE_MAX: there is none. */
typedef bool (*record_test)(const stream_run *run, size_t at);

static size_t pick(const stream_run *run, clo_rng *rng, record_test is_good)
{
    size_t chosen = SIZE_MAX;
    uint32_t found = 0;

    for (size_t i = 0; i < run->count; i++)
        if (is_good(run, i) && clo_rng_below(rng, ++found) == 0)
            chosen = i;
    return chosen;
}

static bool is_execution(const clo_log_record *a, const clo_log_record *b)
{
    return a->job == b->job && a->stage == b->stage && a->instance == b->instance && a->executor == b->executor;
}

static size_t finish_of(const stream_run *run, size_t at)
{
    for (size_t i = at + 1; i < run->count; i++)
        if (run->records[i].what == CLO_LOG_FINISH && is_execution(&run->records[i], &run->records[at]))
            return i;
    return SIZE_MAX;
}

static size_t start_of(const stream_run *run, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if ((run->records[i].what == CLO_LOG_START || run->records[i].what == CLO_LOG_COMMIT) &&
            is_execution(&run->records[i], &run->records[at]))
            return i;
    return SIZE_MAX;
}

static uint32_t job_of(const stream_run *run, size_t at)
{
    return (uint32_t)((run->records[at].job - 3) / 7); /* as stream_run.c numbers them */
}

static bool is_any(const stream_run *run, size_t at)
{
    return at > 0 && at + 1 < run->count;
}

static bool is_start(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_START;
}

static bool is_original(const stream_run *run, size_t at)
{
    return (is_start(run, at) || run->records[at].what == CLO_LOG_COMMIT) && run->records[at].value == 0;
}

static bool is_replica(const stream_run *run, size_t at)
{
    return is_start(run, at) && run->records[at].value == 1;
}

static bool is_commit(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_COMMIT;
}

static bool is_finish(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_FINISH;
}

static bool is_arrive(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_ARRIVE;
}

static bool is_done(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_DONE;
}

static bool is_done_ok(const stream_run *run, size_t at)
{
    return is_done(run, at) && run->records[at].value == CLO_LOG_DONE_OK;
}

static clo_log_record other(const stream_run *run, size_t at, uint32_t what, int64_t value)
{
    return (clo_log_record){run->records[at].now_ns, CLO_LOG_NO_JOB, what, CLO_NONE, CLO_NONE, CLO_NONE, value};
}

/* A record that stays valid in all but what is planted goes in front of record `at`, with the time of the one before. */
static bool insert(stream_run *run, size_t at, clo_log_record record)
{
    if (at == SIZE_MAX || at == 0)
        return false;
    for (size_t i = 0; i < at; i++) /* the latest time: FINISH may go back */
        record.now_ns = i == 0 || run->records[i].now_ns > record.now_ns ? run->records[i].now_ns : record.now_ns;
    stream_insert(run, at, record);
    return true;
}

static bool remove_one(stream_run *run, size_t at)
{
    if (at == SIZE_MAX)
        return false;
    stream_remove(run, at);
    return true;
}

/* Moves record `from` in front of `to` < from. */
static bool move_up(stream_run *run, size_t from, size_t to)
{
    if (from == SIZE_MAX || to == SIZE_MAX || to >= from)
        return false;
    clo_log_record record = run->records[from];
    stream_remove(run, from);
    return insert(run, to, record);
}

static bool no_begin(stream_run *run, clo_rng *rng)
{
    (void)rng;
    return remove_one(run, 0);
}

static bool no_end(stream_run *run, clo_rng *rng)
{
    (void)rng;
    return remove_one(run, run->count - 1);
}

static bool begin_again(stream_run *run, clo_rng *rng)
{
    return insert(run, pick(run, rng, is_any), other(run, 0, CLO_LOG_BEGIN, 0));
}

static bool goes_back(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_any);

    if (at == SIZE_MAX || !insert(run, at, other(run, at, CLO_LOG_TIMER, 0)))
        return false;
    run->records[at].now_ns--;
    return true;
}

static bool finish_goes_back(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL)
        return false;
    run->records[at].now_ns = run->records[at - 1].now_ns - 1;
    return true;
}

static bool unknown_kind(stream_run *run, clo_rng *rng)
{
    return insert(run, pick(run, rng, is_any), other(run, 0, 99, 0));
}

static bool unknown_job(stream_run *run, clo_rng *rng)
{
    clo_log_record record = other(run, 0, CLO_LOG_CANCEL, 0);

    record.job = 1u << 20;
    return insert(run, pick(run, rng, is_any), record);
}

/* A START and its FINISH that name what does not exist. */
static bool insert_start(stream_run *run, clo_rng *rng, uint32_t stage, uint32_t instance, uint32_t executor)
{
    size_t at = pick(run, rng, is_start);

    if (at == SIZE_MAX)
        return false;
    clo_log_record record = run->records[at];
    record.stage = stage != 0 ? stage : record.stage;
    record.instance = instance != 0 ? instance : record.instance;
    record.executor = executor != 0 ? executor : record.executor;
    return insert(run, at, record);
}

static bool unknown_stage(stream_run *run, clo_rng *rng)
{
    return insert_start(run, rng, 100, 0, 0);
}

static bool unknown_instance(stream_run *run, clo_rng *rng)
{
    return insert_start(run, rng, 0, 100, 0);
}

static bool unknown_executor(stream_run *run, clo_rng *rng)
{
    return insert_start(run, rng, 0, 0, 100);
}

static bool unknown_machine(stream_run *run, clo_rng *rng)
{
    clo_log_record record = other(run, 0, CLO_LOG_CAPACITY, 0);

    record.executor = 9;
    return insert(run, pick(run, rng, is_any), record);
}

static bool unknown_policy(stream_run *run, clo_rng *rng)
{
    return insert(run, pick(run, rng, is_any), other(run, 0, CLO_LOG_SWAP, 2));
}

static bool bad_value(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_original);

    if (at != SIZE_MAX)
        run->records[at].value = 2;
    return at != SIZE_MAX;
}

static bool cancelled_by_nobody(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_done_ok);

    for (size_t i = 0; i < at && at != SIZE_MAX; i++)
        if (run->records[i].what == CLO_LOG_CANCEL && run->records[i].job == run->records[at].job)
            return false;
    if (at != SIZE_MAX)
        run->records[at].value = CLO_LOG_DONE_CANCELLED;
    return at != SIZE_MAX;
}

static bool arrives_twice(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_arrive);

    return at != SIZE_MAX && insert(run, at + 1, run->records[at]);
}

static bool arrives_early(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_arrive);

    run->jobs[job_of(run, at)].arrival_ns = run->records[at].now_ns + 1;
    return true;
}

static bool never_arrives(stream_run *run, clo_rng *rng)
{
    return remove_one(run, pick(run, rng, is_arrive));
}

static bool starts_before_arrival(stream_run *run, clo_rng *rng)
{
    size_t start = pick(run, rng, is_start), arrive = 0;

    while (start != SIZE_MAX && !(is_arrive(run, arrive) && run->records[arrive].job == run->records[start].job))
        arrive++;
    return move_up(run, start, arrive);
}

static bool starts_after_cancel(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_start);
    clo_log_record record = other(run, 0, CLO_LOG_CANCEL, 0);

    record.job = at != SIZE_MAX ? run->records[at].job : 0;
    return insert(run, at, record);
}

/* DONE moves in front of a START of its job. */
static bool starts_after_done(stream_run *run, clo_rng *rng)
{
    size_t done = pick(run, rng, is_done_ok), start = SIZE_MAX;

    for (size_t i = 0; done != SIZE_MAX && i < done; i++)
        if (is_original(run, i) && run->records[i].job == run->records[done].job)
            start = i;
    return move_up(run, done, start);
}

static bool limit_after_done(stream_run *run, clo_rng *rng)
{
    size_t done = pick(run, rng, is_done);
    clo_log_record record = other(run, 0, CLO_LOG_LIMIT, 0);

    record.job = done != SIZE_MAX ? run->records[done].job : 0;
    return done != SIZE_MAX && insert(run, done + 1, record);
}

/* DONE moves in front of the last FINISH of its job. */
static bool done_early(stream_run *run, clo_rng *rng)
{
    size_t done = pick(run, rng, is_done_ok), finish = SIZE_MAX;

    for (size_t i = 0; done != SIZE_MAX && i < done; i++)
        if (is_finish(run, i) && run->records[i].job == run->records[done].job)
            finish = i;
    return move_up(run, done, finish);
}

static bool done_twice(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_done);

    return at != SIZE_MAX && insert(run, at + 1, run->records[at]);
}

static bool never_done(stream_run *run, clo_rng *rng)
{
    return remove_one(run, pick(run, rng, is_done_ok));
}

static bool end_miscounts(stream_run *run, clo_rng *rng)
{
    (void)rng;
    run->records[run->count - 1].value = 1;
    return true;
}

/* One instance of a finished job vanishes. */
static bool never_runs(stream_run *run, clo_rng *rng)
{
    size_t done = pick(run, rng, is_done_ok), start = SIZE_MAX;

    for (size_t i = 0; done != SIZE_MAX && i < done; i++)
        if (is_original(run, i) && run->records[i].job == run->records[done].job)
            start = i;
    return start != SIZE_MAX && remove_one(run, finish_of(run, start)) && remove_one(run, start);
}

static bool replica_as_original(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_replica);

    if (at != SIZE_MAX)
        run->records[at].value = 0;
    return at != SIZE_MAX;
}

/* The only execution becomes a replica. */
static bool original_as_replica(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_original);
    clo_task task;

    if (at == SIZE_MAX)
        return false;
    ok(clo_graph_task(run->graphs[job_of(run, at)], run->records[at].stage, &task));
    run->records[at].value = 1;
    return !task.duplicable;
}

/* After all has ended, one execution comes once more, as a replica. */
static bool replica_on_same_executor(stream_run *run, clo_rng *rng)
{
    size_t start = pick(run, rng, is_original), finish = start != SIZE_MAX ? finish_of(run, start) : 0, done = 0;
    clo_task task;

    if (start == SIZE_MAX)
        return false;
    ok(clo_graph_task(run->graphs[job_of(run, start)], run->records[start].stage, &task));
    while (!(is_done(run, done) && run->records[done].job == run->records[start].job))
        done++;
    clo_log_record again = run->records[start], ends = run->records[finish];
    for (size_t i = 0; i < done; i++) /* idle since long: nobody is given anything later */
        if (is_start(run, i) || is_commit(run, i))
            if (run->records[i].executor == again.executor && finish_of(run, i) > done)
                return false;
    for (size_t i = 0; i < run->count; i++)
        if (run->records[i].what == CLO_LOG_CANCEL && run->records[i].job == again.job)
            return false;
    again.what = CLO_LOG_START;
    again.value = 1;
    if (!task.duplicable || run->jobs[job_of(run, start)].band > 0 || !insert(run, done, again))
        return false;
    ends.value = run->records[done].now_ns;
    bool is_there = insert(run, done + 1, ends);
    run->records[done + 1].now_ns = ends.value;
    return is_there;
}

static bool never_finishes(stream_run *run, clo_rng *rng)
{
    return remove_one(run, pick(run, rng, is_finish));
}

static bool never_starts(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    return at != SIZE_MAX && remove_one(run, start_of(run, at));
}

static bool finishes_twice(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    return at != SIZE_MAX && insert(run, at + 1, run->records[at]);
}

static bool begins_before_decision(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    if (at != SIZE_MAX)
        run->records[at].value = run->records[start_of(run, at)].now_ns - 1;
    return at != SIZE_MAX;
}

static bool ends_before_it_begins(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    if (at != SIZE_MAX)
        run->records[at].value = run->records[at].now_ns + 1;
    return at != SIZE_MAX;
}

static bool too_short(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL || run->records[at].value == run->records[at].now_ns)
        return false;
    run->records[at].value++;
    return true;
}

/* A body that waited for its input begins a moment earlier. */
static bool before_its_input(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_finish);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL)
        return false;
    size_t start = start_of(run, at);
    if (!is_start(run, start) || run->records[at].value == run->records[start].now_ns)
        return false;
    run->records[at].value--;
    return true;
}

static bool commit_as_start(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_commit);

    if (at != SIZE_MAX)
        run->records[at].what = CLO_LOG_START;
    return at != SIZE_MAX;
}

/* A committed body begins before the one in front of it has ended. */
static bool commit_overlaps(stream_run *run, clo_rng *rng)
{
    size_t commit = pick(run, rng, is_commit), finish = commit != SIZE_MAX ? finish_of(run, commit) : 0;

    if (commit == SIZE_MAX || run->records[commit].now_ns >= run->records[finish].value)
        return false;
    for (size_t i = 0; i < run->count; i++)
        if (is_finish(run, i) && run->records[i].executor == run->records[commit].executor &&
            run->records[i].now_ns == run->records[finish].value && run->records[i].value < run->records[i].now_ns) {
            run->records[finish].value--;
            return true;
        }
    return false;
}

static bool is_kept(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_KEEP && run->records[at].value > 0;
}

static bool is_waiting(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_KEEP && run->records[at].value == 0 &&
           run->records[at].job != CLO_LOG_NO_JOB;
}

/* Nothing is said of what is kept, however many starts pass. */
static bool never_kept(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_kept);
    uint32_t passed = 0;

    if (at == SIZE_MAX)
        return false;
    clo_log_record keep = run->records[at];
    stream_remove(run, at);
    for (size_t i = at; i < run->count; i++) { /* until somebody else waits there */
        const clo_log_record *r = &run->records[i];
        clo_task task;
        if (r->what == CLO_LOG_KEEP && r->executor == keep.executor)
            break;
        if (r->what != CLO_LOG_START || (r->job == keep.job && r->stage == keep.stage) ||
            clo_platform_executor(run->platform, r->executor)->machine != keep.executor)
            continue;
        ok(clo_graph_task(run->graphs[job_of(run, i)], r->stage, &task));
        passed += task.demand[0] + task.demand[1] > 0;
    }
    return passed > 0;
}

/* It is kept when nobody has passed yet. */
static bool kept_early(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_waiting);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL)
        return false;
    for (size_t i = 0; i < run->count; i++)
        if (is_commit(run, i))
            return false;
    clo_log_record keep = run->records[at];
    keep.value = STREAM_OVERTAKES;
    return insert(run, at + 1, keep);
}

static bool kept_after_one(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_kept);

    if (at != SIZE_MAX)
        run->records[at].value = STREAM_OVERTAKES + 1;
    return at != SIZE_MAX;
}

static bool kept_on_no_machine(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_waiting);
    clo_log_record keep = at != SIZE_MAX ? run->records[at] : (clo_log_record){0};

    keep.executor = 9;
    return at != SIZE_MAX && insert(run, at, keep);
}

static bool kept_for_no_stage(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_waiting);

    if (at != SIZE_MAX)
        run->records[at].stage = 100;
    return at != SIZE_MAX;
}

static bool kept_after_done(stream_run *run, clo_rng *rng)
{
    size_t at = pick(run, rng, is_done_ok);
    clo_log_record keep = at != SIZE_MAX ? run->records[at] : (clo_log_record){0};

    keep.what = CLO_LOG_KEEP;
    keep.stage = keep.executor = 0;
    return at != SIZE_MAX && at + 1 < run->count && insert(run, at + 1, keep);
}

#define BIT(name) (UINT64_C(1) << CLO_STREAM_##name)
/* What may follow where starts come or go: others pass who waits for capacity. */
#define PASSES (BIT(STARVED) | BIT(BAD_VALUE))
/* What follows from executions that run where or when they should not. */
#define TIMES \
    (BIT(DURATION) | BIT(TRANSFER) | BIT(OVERLAP) | BIT(BUSY) | BIT(CAPACITY) | BIT(LIMIT) | BIT(BAND) | PASSES)

const stream_plant stream_plants[] = {
    {"no BEGIN", CLO_STREAM_FRAME, no_begin, 0, 0},
    {"no END", CLO_STREAM_FRAME, no_end, 0, 0},
    {"BEGIN in the middle", CLO_STREAM_FRAME, begin_again, 0, 0},
    {"a record goes back in time", CLO_STREAM_TIME_ORDER, goes_back, 0, 0},
    {"a finish goes back in time", CLO_STREAM_TIME_ORDER, finish_goes_back, 0, BIT(DURATION) | BIT(BODY_EARLY)},
    {"a record of no kind", CLO_STREAM_UNKNOWN_KIND, unknown_kind, 0, 0},
    {"a job that nobody knows", CLO_STREAM_UNKNOWN_JOB, unknown_job, 0, 0},
    {"a stage that is not there", CLO_STREAM_UNKNOWN_STAGE, unknown_stage, 0, 0},
    {"an instance that is not there", CLO_STREAM_UNKNOWN_INSTANCE, unknown_instance, 0, 0},
    {"an executor that is not there", CLO_STREAM_UNKNOWN_EXECUTOR, unknown_executor, 0, 0},
    {"a machine that is not there", CLO_STREAM_UNKNOWN_EXECUTOR, unknown_machine, 0, 0},
    {"a policy that is not there", CLO_STREAM_UNKNOWN_POLICY, unknown_policy, 0, 0},
    {"a start with a value of 2", CLO_STREAM_BAD_VALUE, bad_value, 0, 0},
    {"a job cancelled by nobody", CLO_STREAM_BAD_VALUE, cancelled_by_nobody, 0, 0},
    {"a job arrives twice", CLO_STREAM_ARRIVED_TWICE, arrives_twice, 0, 0},
    {"a job arrives early", CLO_STREAM_ARRIVED_EARLY, arrives_early, 0, 0},
    {"a job never arrives", CLO_STREAM_NOT_ARRIVED, never_arrives, 0, 0},
    {"a start before the arrival", CLO_STREAM_NOT_ARRIVED, starts_before_arrival, 0, TIMES | BIT(PRECEDENCE)},
    {"a start after the cancellation", CLO_STREAM_AFTER_CANCEL, starts_after_cancel, 0, 0},
    {"a start after the job is done", CLO_STREAM_AFTER_DONE, starts_after_done, 0, BIT(DONE_EARLY)},
    {"a limit after the job is done", CLO_STREAM_AFTER_DONE, limit_after_done, 0, 0},
    {"a job is done while it runs", CLO_STREAM_DONE_EARLY, done_early, 0, BIT(AFTER_DONE)},
    {"a job is done twice", CLO_STREAM_DONE_TWICE, done_twice, 0, 0},
    {"a job is never done", CLO_STREAM_DONE_MISSING, never_done, 0, 0},
    {"END counts a job too many", CLO_STREAM_DONE_MISSING, end_miscounts, 0, 0},
    {"an instance never runs", CLO_STREAM_NO_ORIGINAL, never_runs, 0, BIT(PRECEDENCE) | BIT(BAND) | PASSES},
    {"an original comes twice", CLO_STREAM_SECOND_ORIGINAL, replica_as_original, 0, BIT(BAND)},
    {"a replica of what is not duplicable", CLO_STREAM_NOT_DUPLICABLE, original_as_replica, 0,
     BIT(NO_ORIGINAL) | BIT(BAND)},
    {"a replica beside its original", CLO_STREAM_TWICE_ON_EXECUTOR, replica_on_same_executor, 0, BIT(DURATION)},
    {"a start without a finish", CLO_STREAM_START_UNFINISHED, never_finishes, 0,
     BIT(BUSY) | BIT(PRECEDENCE) | BIT(BAND) | PASSES},
    {"a finish without a start", CLO_STREAM_FINISH_UNSTARTED, never_starts, 0,
     BIT(NO_ORIGINAL) | BIT(PRECEDENCE) | BIT(BAND) | PASSES},
    {"a second finish", CLO_STREAM_FINISH_UNSTARTED, finishes_twice, 0, 0},
    {"a body begins before its decision", CLO_STREAM_BODY_EARLY, begins_before_decision, 0, TIMES | BIT(PRECEDENCE)},
    {"a body ends before it begins", CLO_STREAM_BODY_EARLY, ends_before_it_begins, 0, 0},
    {"an executor that cannot", CLO_STREAM_PLACEMENT, NULL, STREAM_BREAKS_PLACEMENT, 0},
    {"a body that is too short", CLO_STREAM_DURATION, too_short, 0, 0},
    {"a start before a predecessor", CLO_STREAM_PRECEDENCE, NULL, STREAM_BREAKS_PRECEDENCE, BIT(TRANSFER)},
    {"a start before its input", CLO_STREAM_TRANSFER, before_its_input, 0, BIT(DURATION)},
    {"a start on a busy executor", CLO_STREAM_BUSY, commit_as_start, 0, PASSES},
    {"two at one time on an executor", CLO_STREAM_OVERLAP, NULL, STREAM_BREAKS_BUSY, BIT(BUSY)},
    {"a commit that does not wait", CLO_STREAM_OVERLAP, commit_overlaps, 0,
     BIT(DURATION) | BIT(TRANSFER) | BIT(PRECEDENCE)},
    {"more than the machine has", CLO_STREAM_CAPACITY, NULL, STREAM_BREAKS_CAPACITY, 0},
    {"more than the limit", CLO_STREAM_LIMIT, NULL, STREAM_BREAKS_LIMIT, 0},
    {"a lower band first", CLO_STREAM_BAND, NULL, STREAM_BREAKS_BAND, 0},
    {"what is kept is taken", CLO_STREAM_STARVED, NULL, STREAM_BREAKS_KEPT, 0},
    {"nothing is kept, and many pass", CLO_STREAM_STARVED, never_kept, 0, BIT(BAND)},
    {"it is kept too early", CLO_STREAM_BAD_VALUE, kept_early, 0, PASSES | BIT(BAND)},
    {"it is kept after one start more", CLO_STREAM_BAD_VALUE, kept_after_one, 0, 0},
    {"it is kept on no machine", CLO_STREAM_UNKNOWN_EXECUTOR, kept_on_no_machine, 0, 0},
    {"it is kept for no stage", CLO_STREAM_UNKNOWN_STAGE, kept_for_no_stage, 0, PASSES | BIT(BAND)},
    {"it is kept after the job is done", CLO_STREAM_AFTER_DONE, kept_after_done, 0, PASSES | BIT(BAND)},
    {NULL, 0, NULL, 0, 0},
};
