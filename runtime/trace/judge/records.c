/* records.c - see records.h. Each record is looked at once; a FINISH finds its START in a table of what is open. */
#include "trace/judge/records.h"

#include "trace/judge/arms.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "trace/log_kinds.h"

#include <clotho/runtime.h>

#include <assert.h>

/* Open executions of an executor: started at once; committed; committed, with demands. And its open move: 1. */
typedef struct given {
    uint32_t started, committed, demanding;
    uint32_t moving;
} given;

typedef struct pass {
    clo_judge *judge;
    uint32_t at; /* the record */
    const clo_log_record *record;
    int64_t latest_ns; /* of the records before */
    uint32_t live;     /* jobs that have arrived and are not done */
    bool has_swap;
    uint32_t *open; /* [open_mask + 1] lists of executions without FINISH, through `next`; index + 1, 0: empty */
    uint32_t open_mask;
    given *held; /* [executors] executions that it was given and that are open */
    bool has_end;
    int64_t end_value;
} pass;

static void fault(pass *p, uint32_t kind, const char *what)
{
    clo_judge_fault(p->judge, kind, p->at, "job %llu: %s", (unsigned long long)p->record->job, what);
}

static bool is_of_a_job(const clo_log_record *record)
{
    uint32_t what = record->what;

    if (what == CLO_LOG_KEEP || what == CLO_LOG_MORE)
        return record->job != CLO_LOG_NO_JOB;
    return what == CLO_LOG_ARRIVE || what == CLO_LOG_FINISH || what == CLO_LOG_CANCEL || what == CLO_LOG_START ||
           what == CLO_LOG_COMMIT || what == CLO_LOG_LIMIT || what == CLO_LOG_DONE || what == CLO_LOG_DROP ||
           what == CLO_LOG_MOVE || what == CLO_LOG_MOVED || what == CLO_LOG_LEAVE || what == CLO_LOG_ENTER ||
           what == CLO_LOG_PREEMPT;
}

static void check_frame(pass *p)
{
    clo_judge *judge = p->judge;
    uint32_t what = p->record->what;
    bool is_first = p->at == 0, is_last = p->at == judge->records_count - 1;

    if (is_first != (what == CLO_LOG_BEGIN))
        clo_judge_fault(judge, CLO_STREAM_FRAME, p->at,
                        is_first ? "the first record is no BEGIN" : "BEGIN in the middle of the log");
    if (is_last != (what == CLO_LOG_END))
        clo_judge_fault(judge, CLO_STREAM_FRAME, p->at,
                        is_last ? "the last record is no END" : "END in the middle of the log");
}

static void check_time(pass *p)
{
    int64_t now = p->record->now_ns;
    bool may_go_back = p->record->what == CLO_LOG_FINISH && p->judge->about->clock != CLO_CLOCK_VIRTUAL;

    if (p->at > 0 && now < p->latest_ns && !may_go_back)
        clo_judge_fault(p->judge, CLO_STREAM_TIME_ORDER, p->at, "%s at %lld ns stands behind a record of %lld ns",
                        clo_log_kind_name(p->record->what), (long long)now, (long long)p->latest_ns);
    if (p->at == 0 || now > p->latest_ns)
        p->latest_ns = now;
}

static bool has_known_ids(pass *p, const clo_judge_shape *shape)
{
    const clo_log_record *r = p->record;
    unsigned long long job = (unsigned long long)r->job;

    if (r->stage >= shape->stages)
        clo_judge_fault(p->judge, CLO_STREAM_UNKNOWN_STAGE, p->at, "job %llu: stage %u; its graph has %u tasks", job,
                        r->stage, shape->stages);
    else if (r->instance >= shape->first_instance[r->stage + 1] - shape->first_instance[r->stage])
        clo_judge_fault(p->judge, CLO_STREAM_UNKNOWN_INSTANCE, p->at, "job %llu: stage %u has no instance %u", job,
                        r->stage, r->instance);
    else if (r->executor >= p->judge->executors)
        clo_judge_fault(p->judge, CLO_STREAM_UNKNOWN_EXECUTOR, p->at, "job %llu: executor %u; the platform has %u", job,
                        r->executor, p->judge->executors);
    else
        return true;
    return false;
}

/* The place of an open execution in the table. */
static uint32_t *open_list(pass *p, uint32_t job, const clo_log_record *r)
{
    const uint32_t name[4] = {job, r->stage, r->instance, r->executor};
    clo_hash_key key = {p->judge->key[0], p->judge->key[1]};

    return &p->open[(uint32_t)clo_hash(key, name, sizeof name) & p->open_mask];
}

static bool is_busy(const given *of)
{
    return of->started > 0 || of->moving > 0 || (of->committed > 0 && of->demanding == 0);
}

static void check_start(pass *p, const clo_judge_shape *shape, const clo_judge_execution *x)
{
    clo_judge *judge = p->judge;
    const clo_judge_job *job = &judge->jobs[x->job];
    bool is_replica = clo_judge_is_replica(judge, x);
    char text[CLO_JUDGE_LABEL_BYTES];

    bool is_start = p->record->what == CLO_LOG_START, says_skipped = (p->record->value & CLO_LOG_SKIPPED) != 0;
    bool may_skip = is_start && shape->arms != NULL;

    if ((p->record->value & ~(int64_t)(CLO_LOG_REPLICA | (may_skip ? CLO_LOG_SKIPPED : 0))) != 0)
        fault(p, CLO_STREAM_BAD_VALUE, "the value of START and COMMIT is 0 or 1, 2 only for what a branch skips");
    if (may_skip && says_skipped != x->is_skipped)
        clo_judge_fault(judge, CLO_STREAM_SKIPPED, p->at, "%s; %s", clo_judge_label(judge, x, text),
                        says_skipped ? "it is skipped, and no branch chose that" : "it runs, and had to be skipped");
    if (job->arrive_record == CLO_NONE)
        clo_judge_fault(judge, CLO_STREAM_NOT_ARRIVED, p->at, "%s; the job has not arrived",
                        clo_judge_label(judge, x, text));
    if (job->cancel_record != CLO_NONE)
        clo_judge_fault(judge, CLO_STREAM_AFTER_CANCEL, p->at, "%s; record %u cancelled the job",
                        clo_judge_label(judge, x, text), job->cancel_record);
    if (job->done_record != CLO_NONE)
        clo_judge_fault(judge, CLO_STREAM_AFTER_DONE, p->at, "%s; the job was done at record %u",
                        clo_judge_label(judge, x, text), job->done_record);
    if (is_replica && !shape->duplicable[x->stage])
        clo_judge_fault(judge, CLO_STREAM_NOT_DUPLICABLE, p->at, "%s; the task is not duplicable",
                        clo_judge_label(judge, x, text));
    if (clo_cost_execution_ns(shape->cost, x->stage, x->executor) == CLO_TIME_NEVER)
        clo_judge_fault(judge, CLO_STREAM_PLACEMENT, p->at, "%s; the task cannot run there",
                        clo_judge_label(judge, x, text));
    if (p->record->what == CLO_LOG_START && is_busy(&p->held[x->executor]))
        clo_judge_fault(judge, CLO_STREAM_BUSY, p->at, "%s; the executor has not finished what it was given before",
                        clo_judge_label(judge, x, text));
}

/* Where the executor's open executions are counted. What was committed and demands something may wait for capacity, and
 * then it and those behind it hold no executor: that they do not run beside another one is judged by their bodies. */
static uint32_t *count_of(pass *p, const clo_judge_execution *x)
{
    const int64_t *demand = clo_judge_demand_of(p->judge, x);
    given *of = &p->held[x->executor];

    if (p->judge->records[x->record].what == CLO_LOG_START)
        return &of->started;
    for (int r = 0; demand != NULL && r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0)
            return &of->demanding;
    return &of->committed;
}

/* START and COMMIT. */
static void read_start(pass *p, uint32_t j)
{
    clo_judge *judge = p->judge;
    const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
    const clo_log_record *r = p->record;

    if (!has_known_ids(p, shape))
        return;
    uint32_t index = judge->executions_count++;
    clo_judge_execution *x = &judge->executions[index];
    uint32_t *list = open_list(p, j, r);
    *x = (clo_judge_execution){.job = j,
                               .stage = r->stage,
                               .instance = r->instance,
                               .executor = r->executor,
                               .record = p->at,
                               .finish_record = CLO_NONE,
                               .is_skipped = clo_judge_is_skipped(judge, j, r->stage),
                               .limit = judge->jobs[j].limit,
                               .next = *list};
    *list = index + 1;
    judge->execution_of[p->at] = index;
    judge->jobs[j].count++;
    check_start(p, shape, x);
    ++*count_of(p, x);
}

/* Takes the execution that this record ends out of the table; CLO_NONE: there is none. */
static uint32_t take_open(pass *p, uint32_t j)
{
    const clo_log_record *r = p->record;

    for (uint32_t *link = open_list(p, j, r); *link != 0;) { /* at most one list of executions that are open */
        clo_judge_execution *x = &p->judge->executions[*link - 1];
        if (x->job == j && x->stage == r->stage && x->instance == r->instance && x->executor == r->executor) {
            uint32_t index = *link - 1;
            *link = x->next;
            return index;
        }
        link = &x->next;
    }
    return CLO_NONE;
}

/* stretches.c judges the times of these. */
static bool may_be_stopped(const clo_judge *judge, const clo_judge_execution *x)
{
    return !clo_judge_is_replica(judge, x) && !x->is_skipped && judge->records[x->record].what == CLO_LOG_START;
}

static void check_body(pass *p, const clo_judge_execution *x)
{
    clo_judge *judge = p->judge;
    const clo_judge_shape *shape = clo_judge_shape_of(judge, x->job);
    int64_t decided_ns = judge->records[x->record].now_ns;
    int64_t cost_ns = x->is_skipped ? 0 : clo_cost_execution_ns(shape->cost, x->stage, x->executor);
    char text[CLO_JUDGE_LABEL_BYTES];

    if (x->finish_ns < x->start_ns)
        clo_judge_fault(judge, CLO_STREAM_BODY_EARLY, p->at, "%s: it ends before it begins",
                        clo_judge_label_times(judge, x, text));
    else if (x->start_ns < decided_ns)
        clo_judge_fault(judge, CLO_STREAM_BODY_EARLY, p->at, "%s: it was decided at %lld ns",
                        clo_judge_label_times(judge, x, text), (long long)decided_ns);
    else if (judge->has_exact_times && !x->is_preempted && (!judge->has_stretches || !may_be_stopped(judge, x)) &&
             cost_ns != CLO_TIME_NEVER && clo_time_sub(x->finish_ns, x->start_ns) != cost_ns)
        clo_judge_fault(judge, CLO_STREAM_DURATION, p->at, "%s: its cost is %lld ns",
                        clo_judge_label_times(judge, x, text), (long long)cost_ns);
}

/* FINISH and PREEMPT. */
static void read_finish(pass *p, uint32_t j)
{
    clo_judge *judge = p->judge;
    clo_judge_job *job = &judge->jobs[j];
    const clo_log_record *r = p->record;
    char text[CLO_JUDGE_LABEL_BYTES];

    if (r->what == CLO_LOG_PREEMPT && (judge->about->policies_count > 0 || judge->about->run != CLO_LOG_RUN_UNKNOWN))
        fault(p, CLO_STREAM_PREEMPTED, "a policy decided, and no policy stops what runs");
    if (!has_known_ids(p, clo_judge_shape_of(judge, j)))
        return;
    uint32_t index = take_open(p, j);
    if (index == CLO_NONE) {
        clo_judge_fault(judge, CLO_STREAM_FINISH_UNSTARTED, p->at,
                        "job %llu: stage %u instance %u on executor %u was not started, or has finished before",
                        (unsigned long long)r->job, r->stage, r->instance, r->executor);
        return;
    }
    clo_judge_execution *x = &judge->executions[index];
    x->finish_record = p->at;
    x->start_ns = r->value;
    x->finish_ns = r->now_ns;
    x->is_preempted = r->what == CLO_LOG_PREEMPT;
    judge->execution_of[p->at] = index;
    --*count_of(p, x);
    if (r->now_ns > job->last_finish_ns)
        job->last_finish_ns = r->now_ns;
    check_body(p, x);
    if (job->done_record != CLO_NONE && !job->is_early) {
        job->is_early = 1;
        clo_judge_fault(judge, CLO_STREAM_DONE_EARLY, job->done_record, "%s: it ends after the job is done",
                        clo_judge_label_times(judge, x, text));
    }
}

/* What was committed for a job that is cancelled is not run. */
static void read_drop(pass *p, uint32_t j)
{
    clo_judge *judge = p->judge;
    char text[CLO_JUDGE_LABEL_BYTES];

    if (!has_known_ids(p, clo_judge_shape_of(judge, j)))
        return;
    uint32_t index = take_open(p, j);
    if (index == CLO_NONE) {
        fault(p, CLO_STREAM_FINISH_UNSTARTED, "it drops what was not committed, or has ended before");
        return;
    }
    clo_judge_execution *x = &judge->executions[index];
    x->is_dropped = true;
    --*count_of(p, x);
    if (judge->jobs[j].cancel_record == CLO_NONE || judge->records[x->record].what != CLO_LOG_COMMIT)
        clo_judge_fault(judge, CLO_STREAM_START_UNFINISHED, p->at,
                        "%s: it is dropped, and was started or its job not cancelled", clo_judge_label(judge, x, text));
}

static void read_arrive(pass *p, uint32_t j)
{
    clo_judge_job *job = &p->judge->jobs[j];
    int64_t arrival_ns = p->judge->stream->jobs[j].arrival_ns;

    if (job->arrive_record != CLO_NONE) {
        fault(p, CLO_STREAM_ARRIVED_TWICE, "it has arrived before");
        return;
    }
    if (p->record->now_ns < arrival_ns)
        clo_judge_fault(p->judge, CLO_STREAM_ARRIVED_EARLY, p->at,
                        "job %llu: it arrives at %lld ns; the workload says %lld ns",
                        (unsigned long long)p->record->job, (long long)p->record->now_ns, (long long)arrival_ns);
    if (p->record->value < 0)
        fault(p, CLO_STREAM_BAD_VALUE, "its place in the order of submission is negative");
    job->arrive_record = p->at;
    job->arrived_ns = p->record->now_ns;
    p->live += job->done_record == CLO_NONE;
}

static void read_done(pass *p, uint32_t j)
{
    clo_judge_job *job = &p->judge->jobs[j];
    int64_t value = p->record->value;

    if (job->done_record != CLO_NONE) {
        fault(p, CLO_STREAM_DONE_TWICE, "it was done before");
        return;
    }
    if (job->arrive_record == CLO_NONE)
        fault(p, CLO_STREAM_NOT_ARRIVED, "it is done and has not arrived");
    else
        p->live--;
    if (value < CLO_LOG_DONE_OK || value > CLO_LOG_DONE_FAILED)
        fault(p, CLO_STREAM_BAD_VALUE, "DONE has a value of 0, 1 or 2");
    job->done_record = p->at;
    job->done_ns = p->record->now_ns;
    job->done_value = value == CLO_LOG_DONE_CANCELLED || value == CLO_LOG_DONE_FAILED ? (uint32_t)value : 0;
}

static void read_limit(pass *p, uint32_t j)
{
    clo_judge_job *job = &p->judge->jobs[j];

    if (job->arrive_record == CLO_NONE)
        fault(p, CLO_STREAM_NOT_ARRIVED, "its limit changes before it arrives");
    if (job->done_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_DONE, "its limit changes after it is done");
    if (p->record->value < 0 || p->record->value >= (int64_t)CLO_NONE) {
        fault(p, CLO_STREAM_BAD_VALUE, "a limit is 0 .. 2^32 - 2");
        return;
    }
    job->limit = (uint32_t)p->record->value;
    if (job->limit == 0 || (job->highest > 0 && job->limit > job->highest))
        job->highest = job->limit;
    job->has_limit |= job->limit > 0;
}

/* MOVE, MOVED and LEAVE. */
static void read_move(pass *p, uint32_t j)
{
    const clo_judge_job *job = &p->judge->jobs[j];
    const clo_log_record *r = p->record;

    if (r->executor >= p->judge->executors) {
        fault(p, CLO_STREAM_UNKNOWN_EXECUTOR, "the platform has no such executor");
        return;
    }
    given *of = &p->held[r->executor];
    if (r->what == CLO_LOG_MOVED) {
        if (of->moving == 0)
            fault(p, CLO_STREAM_FINISH_UNSTARTED, "an executor has come and did not set out");
        of->moving = 0;
        return;
    }
    if (job->arrive_record == CLO_NONE)
        fault(p, CLO_STREAM_NOT_ARRIVED, "an executor is sent before the job arrives");
    if (job->done_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_DONE, "an executor is sent after the job is done");
    if (is_busy(of))
        fault(p, CLO_STREAM_BUSY, "an executor is sent that is not free");
    if (r->value != 0 && (r->value != 1 || r->what != CLO_LOG_MOVE))
        fault(p, CLO_STREAM_BAD_VALUE, "the value of MOVE is 0 or 1, that of LEAVE 0");
    of->moving = r->value == 1;
}

static void check_machine(pass *p)
{
    if (p->record->executor >= p->judge->machines)
        clo_judge_fault(p->judge, CLO_STREAM_UNKNOWN_EXECUTOR, p->at, "machine %u; the platform has %u",
                        p->record->executor, p->judge->machines);
}

static void read_keep(pass *p, uint32_t j)
{
    const clo_judge_job *job = &p->judge->jobs[j];

    check_machine(p);
    if (p->record->stage >= clo_judge_shape_of(p->judge, j)->stages)
        clo_judge_fault(p->judge, CLO_STREAM_UNKNOWN_STAGE, p->at, "job %llu: stage %u of %u waits",
                        (unsigned long long)p->record->job, p->record->stage, clo_judge_shape_of(p->judge, j)->stages);
    if (job->arrive_record == CLO_NONE)
        fault(p, CLO_STREAM_NOT_ARRIVED, "it waits for capacity before it arrives");
    if (job->cancel_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_CANCEL, "it waits for capacity after it was cancelled");
    if (job->done_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_DONE, "it waits for capacity after it is done");
}

static void read_enter(pass *p, uint32_t j)
{
    const clo_judge_job *job = &p->judge->jobs[j];

    if (job->arrive_record == CLO_NONE)
        fault(p, CLO_STREAM_NOT_ARRIVED, "it enters before it arrives");
    if (job->cancel_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_CANCEL, "it enters after it was cancelled");
    if (job->done_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_DONE, "it enters after it is done");
}

static void read_more(pass *p, uint32_t j)
{
    const clo_judge_job *job = &p->judge->jobs[j];

    if (job->arrive_record == CLO_NONE)
        fault(p, CLO_STREAM_NOT_ARRIVED, "it leaves before it arrives");
    else if (job->cancel_record == CLO_NONE)
        fault(p, CLO_STREAM_BAD_VALUE, "it leaves and was not cancelled");
    if (job->done_record != CLO_NONE)
        fault(p, CLO_STREAM_AFTER_DONE, "it leaves after it is done");
}

static void read_job_record(pass *p)
{
    uint32_t j = clo_judge_find_job(p->judge, p->record->job);

    if (j == CLO_NONE) {
        fault(p, CLO_STREAM_UNKNOWN_JOB, "the workload has no such job");
        return;
    }
    switch (p->record->what) {
    case CLO_LOG_ARRIVE:
        read_arrive(p, j);
        break;
    case CLO_LOG_FINISH:
    case CLO_LOG_PREEMPT:
        read_finish(p, j);
        break;
    case CLO_LOG_ENTER:
        read_enter(p, j);
        break;
    case CLO_LOG_MORE:
        read_more(p, j);
        break;
    case CLO_LOG_CANCEL:
        if (p->record->value < 0 || p->record->value > 1)
            fault(p, CLO_STREAM_BAD_VALUE, "CANCEL has a value of 0 or 1");
        if (p->judge->jobs[j].cancel_record == CLO_NONE)
            p->judge->jobs[j].cancel_record = p->at;
        break;
    case CLO_LOG_DROP:
        read_drop(p, j);
        break;
    case CLO_LOG_LIMIT:
        read_limit(p, j);
        break;
    case CLO_LOG_DONE:
        read_done(p, j);
        break;
    case CLO_LOG_MOVE:
    case CLO_LOG_MOVED:
    case CLO_LOG_LEAVE:
        read_move(p, j);
        break;
    case CLO_LOG_KEEP:
        read_keep(p, j);
        break;
    default:
        read_start(p, j);
        break;
    }
}

static void read_other_record(pass *p)
{
    clo_judge *judge = p->judge;
    const clo_log_record *r = p->record;

    if (clo_log_kind_name(r->what)[0] == '?')
        clo_judge_fault(judge, CLO_STREAM_UNKNOWN_KIND, p->at, "no record is of kind %u", r->what);
    if (r->what == CLO_LOG_SWAP && (r->value < 0 || r->value >= (int64_t)judge->about->policies_count))
        clo_judge_fault(judge, CLO_STREAM_UNKNOWN_POLICY, p->at, "policy %lld; the header names %u",
                        (long long)r->value, judge->about->policies_count);
    p->has_swap |= r->what == CLO_LOG_SWAP;
    if (r->what == CLO_LOG_MORE && !p->has_swap)
        clo_judge_fault(judge, CLO_STREAM_UNKNOWN_POLICY, p->at, "a policy is shown more, and none came by a SWAP");
    if (r->what == CLO_LOG_CAPACITY || r->what == CLO_LOG_KEEP)
        check_machine(p);
    judge->report.refused += r->what == CLO_LOG_REFUSED;
    if (r->what == CLO_LOG_END) {
        p->has_end = true;
        p->end_value = r->value;
    }
}

static void tell_live(pass *p)
{
    clo_judge *judge = p->judge;

    for (uint32_t j = 0; j < judge->jobs_count; j++)
        if (judge->jobs[j].arrive_record != CLO_NONE && judge->jobs[j].done_record == CLO_NONE) {
            clo_judge_fault(judge, CLO_STREAM_DONE_MISSING, CLO_NONE,
                            "END counts %lld jobs that are not done, and there are %u; the first is job %llu",
                            (long long)p->end_value, p->live, clo_judge_number(judge, j));
            return;
        }
    clo_judge_fault(judge, CLO_STREAM_DONE_MISSING, CLO_NONE, "END counts %lld jobs that are not done, and all are",
                    (long long)p->end_value);
}

/* What never finishes, unless END says that its job is not done. */
static void check_open(pass *p)
{
    clo_judge *judge = p->judge;
    char text[CLO_JUDGE_LABEL_BYTES];

    for (uint32_t i = 0; i < judge->executions_count; i++) {
        const clo_judge_execution *x = &judge->executions[i];
        bool is_cut = p->end_value > 0 && judge->jobs[x->job].done_record == CLO_NONE;
        if (x->finish_record == CLO_NONE && !is_cut && !x->is_dropped)
            clo_judge_fault(judge, CLO_STREAM_START_UNFINISHED, x->record, "%s: it never finishes",
                            clo_judge_label(judge, x, text));
    }
}

/* Counting sort of the executions by job; they stand in order of their records. */
static void group_by_job(clo_judge *judge)
{
    uint32_t first = 0;

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        judge->jobs[j].first = first;
        first += judge->jobs[j].count;
        judge->jobs[j].count = 0;
    }
    for (uint32_t i = 0; i < judge->executions_count; i++) {
        clo_judge_job *job = &judge->jobs[judge->executions[i].job];
        judge->by_job[job->first + job->count++] = i;
    }
}

static clo_status take_memory(pass *p)
{
    clo_judge *judge = p->judge;
    size_t starts = 0, places = 4;

    for (uint32_t i = 0; i < judge->records_count; i++) {
        starts += judge->records[i].what == CLO_LOG_START || judge->records[i].what == CLO_LOG_COMMIT;
        judge->has_stretches |= judge->records[i].what == CLO_LOG_PREEMPT;
    }
    while (places < starts)
        places *= 2;
    judge->report.decisions = starts;
    judge->executions = clo_allocate(starts, sizeof judge->executions[0]);
    judge->by_job = clo_allocate(starts, sizeof judge->by_job[0]);
    judge->execution_of = clo_allocate(judge->records_count, sizeof judge->execution_of[0]);
    p->open = clo_allocate(places, sizeof p->open[0]);
    p->open_mask = (uint32_t)(places - 1);
    p->held = clo_allocate(judge->executors, sizeof p->held[0]);
    if (judge->executions == NULL || judge->by_job == NULL || judge->execution_of == NULL || p->open == NULL ||
        p->held == NULL)
        return clo_fail_memory("the check of a log");
    return CLO_OK;
}

clo_status clo_judge_read_records(clo_judge *judge)
{
    pass p = {.judge = judge};
    clo_status status = take_memory(&p);

    if (judge->records_count == 0)
        clo_judge_fault(judge, CLO_STREAM_FRAME, CLO_NONE, "the log is empty");
    for (p.at = 0; status == CLO_OK && p.at < judge->records_count; p.at++) {
        p.record = &judge->records[p.at];
        judge->execution_of[p.at] = CLO_NONE;
        check_frame(&p);
        check_time(&p);
        if (is_of_a_job(p.record))
            read_job_record(&p);
        else
            read_other_record(&p);
    }
    if (status == CLO_OK) {
        if (p.has_end && p.end_value != (int64_t)p.live)
            tell_live(&p);
        check_open(&p);
        group_by_job(judge);
    }
    clo_free(p.open);
    clo_free(p.held);
    return status;
}

void clo_judge_free_records(clo_judge *judge)
{
    clo_free(judge->executions);
    clo_free(judge->by_job);
    clo_free(judge->execution_of);
}
