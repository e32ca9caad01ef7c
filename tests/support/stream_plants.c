/* stream_plants.c - see stream_plants.h. */
#include "stream_plants.h"

#include "stream_edit.h"
#include "trace/log_kinds.h"

static bool no_begin(stream_run *run, clo_rng *rng)
{
    (void)rng;
    return stream_remove_one(run, 0);
}

static bool no_end(stream_run *run, clo_rng *rng)
{
    (void)rng;
    return stream_remove_one(run, run->count - 1);
}

static bool begin_again(stream_run *run, clo_rng *rng)
{
    return stream_insert_timed(run, stream_pick(run, rng, stream_is_any),
                               stream_other_record(run, 0, CLO_LOG_BEGIN, 0));
}

static bool goes_back(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_any);

    if (at == SIZE_MAX || !stream_insert_timed(run, at, stream_other_record(run, at, CLO_LOG_TIMER, 0)))
        return false;
    run->records[at].now_ns--;
    return true;
}

static bool finish_goes_back(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL)
        return false;
    run->records[at].now_ns = run->records[at - 1].now_ns - 1;
    return true;
}

static bool unknown_kind(stream_run *run, clo_rng *rng)
{
    return stream_insert_timed(run, stream_pick(run, rng, stream_is_any), stream_other_record(run, 0, 99, 0));
}

static bool unknown_job(stream_run *run, clo_rng *rng)
{
    clo_log_record record = stream_other_record(run, 0, CLO_LOG_CANCEL, 0);

    record.job = 1u << 20;
    return stream_insert_timed(run, stream_pick(run, rng, stream_is_any), record);
}

/* A START and its FINISH that name what does not exist. */
static bool insert_start(stream_run *run, clo_rng *rng, uint32_t stage, uint32_t instance, uint32_t executor)
{
    size_t at = stream_pick(run, rng, stream_is_start);

    if (at == SIZE_MAX)
        return false;
    clo_log_record record = run->records[at];
    record.stage = stage != 0 ? stage : record.stage;
    record.instance = instance != 0 ? instance : record.instance;
    record.executor = executor != 0 ? executor : record.executor;
    return stream_insert_timed(run, at, record);
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
    clo_log_record record = stream_other_record(run, 0, CLO_LOG_CAPACITY, 0);

    record.executor = 9;
    return stream_insert_timed(run, stream_pick(run, rng, stream_is_any), record);
}

static bool unknown_policy(stream_run *run, clo_rng *rng)
{
    return stream_insert_timed(run, stream_pick(run, rng, stream_is_any), stream_other_record(run, 0, CLO_LOG_SWAP, 2));
}

static bool bad_value(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_original);

    if (at != SIZE_MAX)
        run->records[at].value = 2;
    return at != SIZE_MAX;
}

static bool cancelled_by_nobody(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_done_ok);

    for (size_t i = 0; i < at && at != SIZE_MAX; i++)
        if (run->records[i].what == CLO_LOG_CANCEL && run->records[i].job == run->records[at].job)
            return false;
    if (at != SIZE_MAX)
        run->records[at].value = CLO_LOG_DONE_CANCELLED;
    return at != SIZE_MAX;
}

static bool is_done_cancelled(const stream_run *run, size_t at)
{
    return stream_is_done(run, at) && run->records[at].value == CLO_LOG_DONE_CANCELLED;
}

static bool cancelled_as_failed(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, is_done_cancelled);

    if (at != SIZE_MAX)
        run->records[at].value = CLO_LOG_DONE_FAILED;
    return at != SIZE_MAX;
}

static bool arrives_twice(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_arrive);

    return at != SIZE_MAX && stream_insert_timed(run, at + 1, run->records[at]);
}

static bool arrives_early(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_arrive);

    run->jobs[stream_job_of(run, at)].arrival_ns = run->records[at].now_ns + 1;
    return true;
}

static bool never_arrives(stream_run *run, clo_rng *rng)
{
    return stream_remove_one(run, stream_pick(run, rng, stream_is_arrive));
}

static bool starts_before_arrival(stream_run *run, clo_rng *rng)
{
    size_t start = stream_pick(run, rng, stream_is_start), arrive = 0;

    while (start != SIZE_MAX && !(stream_is_arrive(run, arrive) && run->records[arrive].job == run->records[start].job))
        arrive++;
    return stream_move_up(run, start, arrive);
}

static bool starts_after_cancel(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_start);
    clo_log_record record = stream_other_record(run, 0, CLO_LOG_CANCEL, 0);

    record.job = at != SIZE_MAX ? run->records[at].job : 0;
    return stream_insert_timed(run, at, record);
}

/* DONE moves in front of a START of its job. */
static bool starts_after_done(stream_run *run, clo_rng *rng)
{
    size_t done = stream_pick(run, rng, stream_is_done_ok), start = SIZE_MAX;

    for (size_t i = 0; done != SIZE_MAX && i < done; i++)
        if (stream_is_original(run, i) && run->records[i].job == run->records[done].job)
            start = i;
    return stream_move_up(run, done, start);
}

static bool limit_after_done(stream_run *run, clo_rng *rng)
{
    size_t done = stream_pick(run, rng, stream_is_done);
    clo_log_record record = stream_other_record(run, 0, CLO_LOG_LIMIT, 0);

    record.job = done != SIZE_MAX ? run->records[done].job : 0;
    return done != SIZE_MAX && stream_insert_timed(run, done + 1, record);
}

/* DONE moves in front of the last FINISH of its job. */
static bool done_early(stream_run *run, clo_rng *rng)
{
    size_t done = stream_pick(run, rng, stream_is_done_ok), finish = SIZE_MAX;

    for (size_t i = 0; done != SIZE_MAX && i < done; i++)
        if (stream_is_finish(run, i) && run->records[i].job == run->records[done].job)
            finish = i;
    return stream_move_up(run, done, finish);
}

static bool done_twice(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_done);

    return at != SIZE_MAX && stream_insert_timed(run, at + 1, run->records[at]);
}

static bool never_done(stream_run *run, clo_rng *rng)
{
    return stream_remove_one(run, stream_pick(run, rng, stream_is_done_ok));
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
    size_t done = stream_pick(run, rng, stream_is_done_ok), start = SIZE_MAX;

    for (size_t i = 0; done != SIZE_MAX && i < done; i++)
        if (stream_is_original(run, i) && run->records[i].job == run->records[done].job)
            start = i;
    return start != SIZE_MAX && stream_remove_one(run, stream_finish_of(run, start)) && stream_remove_one(run, start);
}

static bool replica_as_original(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_replica);

    if (at != SIZE_MAX)
        run->records[at].value = 0;
    return at != SIZE_MAX;
}

/* The only execution becomes a replica. */
static bool original_as_replica(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_original);
    clo_task task;

    if (at == SIZE_MAX)
        return false;
    ok(clo_graph_task(run->graphs[stream_job_of(run, at)], run->records[at].stage, &task));
    run->records[at].value = 1;
    return !task.duplicable;
}

/* After all has ended, one execution comes once more, as a replica. */
static bool replica_on_same_executor(stream_run *run, clo_rng *rng)
{
    size_t start = stream_pick(run, rng, stream_is_original),
           finish = start != SIZE_MAX ? stream_finish_of(run, start) : 0, done = 0;
    clo_task task;

    if (start == SIZE_MAX)
        return false;
    ok(clo_graph_task(run->graphs[stream_job_of(run, start)], run->records[start].stage, &task));
    while (!(stream_is_done(run, done) && run->records[done].job == run->records[start].job))
        done++;
    clo_log_record again = run->records[start], ends = run->records[finish];
    for (size_t i = 0; i < done; i++) /* idle since long: nobody is given anything later */
        if (stream_is_start(run, i) || stream_is_commit(run, i))
            if (run->records[i].executor == again.executor && stream_finish_of(run, i) > done)
                return false;
    for (size_t i = 0; i < run->count; i++)
        if (run->records[i].what == CLO_LOG_CANCEL && run->records[i].job == again.job)
            return false;
    again.what = CLO_LOG_START;
    again.value = 1;
    if (!task.duplicable || run->jobs[stream_job_of(run, start)].band > 0 || !stream_insert_timed(run, done, again))
        return false;
    ends.value = run->records[done].now_ns;
    bool is_there = stream_insert_timed(run, done + 1, ends);
    run->records[done + 1].now_ns = ends.value;
    return is_there;
}

static bool never_finishes(stream_run *run, clo_rng *rng)
{
    return stream_remove_one(run, stream_pick(run, rng, stream_is_finish));
}

static bool never_starts(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    return at != SIZE_MAX && stream_remove_one(run, stream_start_of(run, at));
}

static bool finishes_twice(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    return at != SIZE_MAX && stream_insert_timed(run, at + 1, run->records[at]);
}

static bool begins_before_decision(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    if (at != SIZE_MAX)
        run->records[at].value = run->records[stream_start_of(run, at)].now_ns - 1;
    return at != SIZE_MAX;
}

static bool ends_before_it_begins(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    if (at != SIZE_MAX)
        run->records[at].value = run->records[at].now_ns + 1;
    return at != SIZE_MAX;
}

static bool too_short(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL || run->records[at].value == run->records[at].now_ns)
        return false;
    run->records[at].value++;
    return true;
}

/* A body that waited for its input begins a moment earlier. A replica of whom it waits for might have sent it by
 * then. */
static bool before_its_input(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_finish);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL)
        return false;
    for (size_t i = 0; i < run->count; i++)
        if (stream_is_replica(run, i) && run->records[i].job == run->records[at].job)
            return false;
    size_t start = stream_start_of(run, at);
    if (!stream_is_start(run, start) || run->records[at].value == run->records[start].now_ns)
        return false;
    run->records[at].value--;
    return true;
}

static bool commit_as_start(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_commit);

    if (at != SIZE_MAX)
        run->records[at].what = CLO_LOG_START;
    return at != SIZE_MAX;
}

/* A committed body begins before the one in front of it has ended. */
static bool commit_overlaps(stream_run *run, clo_rng *rng)
{
    size_t commit = stream_pick(run, rng, stream_is_commit),
           finish = commit != SIZE_MAX ? stream_finish_of(run, commit) : 0;

    if (commit == SIZE_MAX || run->records[commit].now_ns >= run->records[finish].value)
        return false;
    for (size_t i = 0; i < run->count; i++)
        if (stream_is_finish(run, i) && run->records[i].executor == run->records[commit].executor &&
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
    size_t at = stream_pick(run, rng, is_kept);
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
        ok(clo_graph_task(run->graphs[stream_job_of(run, i)], r->stage, &task));
        passed += task.demand[0] + task.demand[1] > 0;
    }
    return passed > 0;
}

/* It is kept when nobody has passed yet. */
static bool kept_early(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, is_waiting);

    if (at == SIZE_MAX || run->header.clock != CLO_CLOCK_VIRTUAL)
        return false;
    for (size_t i = 0; i < run->count; i++)
        if (stream_is_commit(run, i))
            return false;
    clo_log_record keep = run->records[at];
    keep.value = STREAM_OVERTAKES;
    return stream_insert_timed(run, at + 1, keep);
}

static bool kept_after_one(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, is_kept);

    if (at != SIZE_MAX)
        run->records[at].value = STREAM_OVERTAKES + 1;
    return at != SIZE_MAX;
}

static bool kept_on_no_machine(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, is_waiting);
    clo_log_record keep = at != SIZE_MAX ? run->records[at] : (clo_log_record){0};

    keep.executor = 9;
    return at != SIZE_MAX && stream_insert_timed(run, at, keep);
}

static bool kept_for_no_stage(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, is_waiting);

    if (at != SIZE_MAX)
        run->records[at].stage = 100;
    return at != SIZE_MAX;
}

static bool kept_after_done(stream_run *run, clo_rng *rng)
{
    size_t at = stream_pick(run, rng, stream_is_done_ok);
    clo_log_record keep = at != SIZE_MAX ? run->records[at] : (clo_log_record){0};

    keep.what = CLO_LOG_KEEP;
    keep.stage = keep.executor = 0;
    return at != SIZE_MAX && at + 1 < run->count && stream_insert_timed(run, at + 1, keep);
}

#define BIT(name) (UINT64_C(1) << CLO_STREAM_##name)
/* What may follow where starts come or go: others pass who waits for capacity. */
#define PASSES (BIT(STARVED) | BIT(BAD_VALUE))
/* What may follow where an execution is gone: if it has a replica, that one's output comes later. */
#define GONE (BIT(PRECEDENCE) | BIT(TRANSFER) | BIT(BAND) | PASSES)
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
    {"a job cancelled by nobody", CLO_STREAM_WRONG_END, cancelled_by_nobody, 0, 0},
    {"a cancelled job that failed", CLO_STREAM_WRONG_END, cancelled_as_failed, 0, 0},
    {"a job arrives twice", CLO_STREAM_ARRIVED_TWICE, arrives_twice, 0, 0},
    {"a job arrives early", CLO_STREAM_ARRIVED_EARLY, arrives_early, 0, 0},
    {"a job never arrives", CLO_STREAM_NOT_ARRIVED, never_arrives, 0, 0},
    {"a start before the arrival", CLO_STREAM_NOT_ARRIVED, starts_before_arrival, 0, TIMES | BIT(PRECEDENCE)},
    {"a start after the cancellation", CLO_STREAM_AFTER_CANCEL, starts_after_cancel, 0, BIT(WRONG_END)},
    {"a start after the job is done", CLO_STREAM_AFTER_DONE, starts_after_done, 0, BIT(DONE_EARLY)},
    {"a limit after the job is done", CLO_STREAM_AFTER_DONE, limit_after_done, 0, 0},
    {"a job is done while it runs", CLO_STREAM_DONE_EARLY, done_early, 0, BIT(AFTER_DONE)},
    {"a job is done twice", CLO_STREAM_DONE_TWICE, done_twice, 0, 0},
    {"a job is never done", CLO_STREAM_DONE_MISSING, never_done, 0, 0},
    {"END counts a job too many", CLO_STREAM_DONE_MISSING, end_miscounts, 0, 0},
    {"an instance never runs", CLO_STREAM_NO_ORIGINAL, never_runs, 0, GONE},
    {"an original comes twice", CLO_STREAM_SECOND_ORIGINAL, replica_as_original, 0, BIT(BAND)},
    {"a replica of what is not duplicable", CLO_STREAM_NOT_DUPLICABLE, original_as_replica, 0,
     BIT(NO_ORIGINAL) | BIT(BAND)},
    {"a replica beside its original", CLO_STREAM_TWICE_ON_EXECUTOR, replica_on_same_executor, 0,
     BIT(DURATION) | PASSES},
    {"a start without a finish", CLO_STREAM_START_UNFINISHED, never_finishes, 0, BIT(BUSY) | GONE},
    {"a finish without a start", CLO_STREAM_FINISH_UNSTARTED, never_starts, 0, BIT(NO_ORIGINAL) | GONE},
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
    {"more than the machine has", CLO_STREAM_CAPACITY, NULL, STREAM_BREAKS_CAPACITY,
     BIT(STARVED)}, /* what is kept too */
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
