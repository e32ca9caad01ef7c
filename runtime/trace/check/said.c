/* said.c - what the log says of the run itself: header, descriptions of jobs, wake-ups, sums. None of it changes what
 * may run where; a log that contradicts itself, or the workload, in any of it was not written by this run. What a log
 * leaves out is judged only if its header names the kind of run, as those of schedulers do. */
#include "trace/check/check.h"

#include "base/numbers/saturate.h"
#include "trace/log_kinds.h"

#include <clotho/runtime.h>

#include <math.h>

enum { SUM_EVERY = 64 };

typedef struct saying {
    clo_judge *judge;
    bool is_scheduled; /* a scheduler has written it */
    uint32_t at;       /* the record */
    const clo_log_record *record;
    bool knows_sum; /* false: the names of policies in it are unknown */
    uint64_t sum;
    uint32_t inputs;    /* since the last SUM */
    uint32_t live;      /* jobs that have arrived and are not done */
    bool is_over_full;  /* said once */
    bool knows_wake;    /* false: a scheduler may have been asked to wake before the log began */
    int64_t wake_ns;    /* asked for; CLO_TIME_NEVER: nothing is */
    uint32_t described; /* job of the ARRIVE before; CLO_NONE: another record stands before this one */
    uint32_t banded;    /* job of the JOB before, likewise */
} saying;

/* docs/FORMATS.md, "sum". */
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static void add_policy(saying *s, int64_t index)
{
    const clo_log_header *about = s->judge->about;

    for (const char *c = index >= 0 && index < (int64_t)about->policies_count ? about->policies[index].name : NULL;
         c != NULL && *c != '\0'; c++)
        s->sum = mix(s->sum, (unsigned char)*c);
}

static void add_input(saying *s)
{
    const clo_log_record *r = s->record;

    if (r->what == CLO_LOG_BEGIN)
        add_policy(s, 0);
    if (r->what == CLO_LOG_SWAP) {
        add_policy(s, r->value);
        s->knows_sum &= s->judge->stream->strict != 0;
    }
    const uint64_t words[] = {(uint64_t)r->now_ns, r->job, (uint64_t)r->what << 32 | r->stage,
                              (uint64_t)r->instance << 32 | r->executor, (uint64_t)r->value};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        s->sum = mix(s->sum, words[i]);
    s->inputs++;
}

static void check_sum(saying *s)
{
    if (s->knows_sum && (uint64_t)s->record->value != s->sum)
        clo_judge_fault(s->judge, CLO_STREAM_WRONG_SUM, s->at,
                        "the inputs and policies up to here have another sum (%lld) than it says (%lld)",
                        (long long)s->sum, (long long)s->record->value);
    s->sum = (uint64_t)s->record->value; /* what follows is judged by itself */
    s->knows_sum = true;
    s->inputs = 0;
}

/* Once nothing is left to be decided, SUM follows so many inputs. An input that comes before that stands behind TOGETHER;
 * a FINISH begins with its ARM. */
static void check_sum_missing(saying *s)
{
    uint32_t what = s->record->what;
    uint32_t before = s->at > 0 ? s->judge->records[s->at - 1].what : CLO_LOG_BEGIN;
    bool begins = what == CLO_LOG_ARRIVE || what == CLO_LOG_ARM || what == CLO_LOG_TIMER || what == CLO_LOG_CANCEL ||
                  what == CLO_LOG_SWAP || what == CLO_LOG_CAPACITY || (what == CLO_LOG_FINISH && before != CLO_LOG_ARM);

    if (!s->is_scheduled || !begins || before == CLO_LOG_TOGETHER || s->inputs < SUM_EVERY)
        return;
    clo_judge_fault(s->judge, CLO_STREAM_WRONG_SUM, s->at, "%u inputs stand without a SUM behind them", s->inputs);
    s->inputs = 0;
}

static void check_end(saying *s)
{
    if (s->is_scheduled && s->judge->records[s->at > 0 ? s->at - 1 : 0].what != CLO_LOG_SUM)
        clo_judge_fault(s->judge, CLO_STREAM_WRONG_SUM, s->at, "no SUM stands in front of END");
}

static void check_header(clo_judge *judge)
{
    const clo_log_header *about = judge->about;

    if (about->run != CLO_LOG_RUN_UNKNOWN && about->policies_count == 0)
        clo_judge_fault(judge, CLO_STREAM_HEADER, CLO_NONE, "the header names no policy");
    if (about->run == CLO_LOG_RUN_SIMULATED && about->clock != CLO_CLOCK_VIRTUAL)
        clo_judge_fault(judge, CLO_STREAM_HEADER, CLO_NONE,
                        "the header says that the run was simulated, and by another clock than the virtual one");
    if (about->run == CLO_LOG_RUN_REAL && about->environment != NULL)
        clo_judge_fault(judge, CLO_STREAM_HEADER, CLO_NONE,
                        "the header says that the run was real, and names an environment");
}

/* ---- jobs ---- */

static void wrong_job(saying *s, uint32_t j, const char *what, long long said, long long due)
{
    clo_judge_fault(s->judge, CLO_STREAM_WRONG_JOB, s->at, "job %llu: its %s is %lld here, and %lld in the workload",
                    clo_judge_number(s->judge, j), what, said, due);
}

/* The deadline of a job that arrived late counts from the workload's arrival or from its own. */
static void check_deadline(saying *s, uint32_t j)
{
    const clo_stream_job *job = &s->judge->stream->jobs[j];
    int64_t said_ns = s->record->value;

    if ((said_ns == CLO_TIME_NEVER) != (job->deadline_ns == 0) ||
        (job->deadline_ns > 0 && (said_ns < clo_time_add(job->arrival_ns, job->deadline_ns) ||
                                  said_ns > clo_time_add(s->record->now_ns, job->deadline_ns))))
        wrong_job(
            s, j, "deadline", (long long)said_ns,
            (long long)(job->deadline_ns == 0 ? CLO_TIME_NEVER : clo_time_add(job->arrival_ns, job->deadline_ns)));
}

static void check_job(saying *s, uint32_t j)
{
    const clo_stream_job *job = &s->judge->stream->jobs[j];
    const clo_log_record *r = s->record;

    if (job->weight >= 1 && job->weight < (double)CLO_NONE && job->weight == floor(job->weight) &&
        r->stage != (uint32_t)job->weight)
        wrong_job(s, j, "weight", r->stage, (long long)job->weight);
    if (r->instance != (job->limit == 0 ? CLO_NONE : job->limit))
        wrong_job(s, j, "limit", r->instance, job->limit == 0 ? CLO_NONE : job->limit);
    check_deadline(s, j);
}

/* Each ARRIVE has its JOB behind it, and that its BAND, unless that is 0. */
static void check_order(saying *s)
{
    clo_judge *judge = s->judge;
    uint32_t what = s->record->what;
    uint32_t j = what == CLO_LOG_JOB || what == CLO_LOG_BAND ? clo_judge_find_job(judge, s->record->job) : CLO_NONE;

    if (s->is_scheduled && s->described != CLO_NONE && (what != CLO_LOG_JOB || j != s->described))
        clo_judge_fault(judge, CLO_STREAM_WRONG_JOB, s->at, "job %llu: no JOB stands behind its ARRIVE",
                        clo_judge_number(judge, s->described));
    else if (what == CLO_LOG_JOB && s->described == CLO_NONE)
        clo_judge_fault(judge, CLO_STREAM_WRONG_JOB, s->at, "job %llu: JOB without its ARRIVE",
                        (unsigned long long)s->record->job);
    if (judge->stream->strict && s->banded != CLO_NONE &&
        (what == CLO_LOG_BAND && j == s->banded ? s->record->value : 0) != (int64_t)judge->stream->jobs[s->banded].band)
        wrong_job(s, s->banded, "band", what == CLO_LOG_BAND && j == s->banded ? (long long)s->record->value : 0,
                  judge->stream->jobs[s->banded].band);
    else if (what == CLO_LOG_BAND && (j == CLO_NONE || j != s->banded))
        clo_judge_fault(judge, CLO_STREAM_WRONG_JOB, s->at, "job %llu: BAND without its JOB",
                        (unsigned long long)s->record->job);
    s->banded = what == CLO_LOG_JOB ? j : CLO_NONE;
    s->described = what == CLO_LOG_ARRIVE ? clo_judge_find_job(judge, s->record->job) : CLO_NONE;
    if (judge->stream->strict && what == CLO_LOG_JOB && j != CLO_NONE)
        check_job(s, j);
}

static void count_live(saying *s)
{
    uint32_t most = s->judge->about->jobs_max;

    s->live += s->record->what == CLO_LOG_ARRIVE;
    if (s->record->what == CLO_LOG_DONE && s->live > 0)
        s->live--;
    if (!s->judge->stream->strict || most == 0 || s->live <= most || s->is_over_full)
        return;
    s->is_over_full = true;
    clo_judge_fault(s->judge, CLO_STREAM_HEADER, s->at, "%u jobs live at once; the header says that %u can", s->live,
                    most);
}

/* Stages enter by pieces, in order. */
static void check_enter(saying *s)
{
    clo_judge *judge = s->judge;
    bool enters = s->record->what == CLO_LOG_ARRIVE || s->record->what == CLO_LOG_ENTER;
    uint32_t j = enters ? clo_judge_find_job(judge, s->record->job) : CLO_NONE;

    if (j == CLO_NONE)
        return;
    uint32_t left = clo_judge_shape_of(judge, j)->roots - judge->jobs[j].entered;
    uint32_t piece = left < CLO_LOG_PIECE ? left : CLO_LOG_PIECE;
    judge->jobs[j].entered += piece;
    if (s->is_scheduled && s->record->what == CLO_LOG_ENTER &&
        (piece == 0 || s->record->value != (int64_t)left - piece))
        clo_judge_fault(judge, CLO_STREAM_WRONG_ENTER, s->at,
                        "job %llu: %lld of its tasks without predecessors are said to be outside; %u are to enter, and "
                        "%u stay outside",
                        (unsigned long long)s->record->job, (long long)s->record->value, piece, left - piece);
}

/* ---- wake-ups ---- */

static void check_wake(saying *s)
{
    const clo_log_record *r = s->record;
    bool is_simulated = s->judge->about->run == CLO_LOG_RUN_SIMULATED;

    if (is_simulated && s->live > 0 && r->now_ns > s->wake_ns)
        clo_judge_fault(s->judge, CLO_STREAM_WRONG_TIMER, s->at, "a wake-up was asked for at %lld ns, and none came",
                        (long long)s->wake_ns);
    if (r->what == CLO_LOG_TIMER && s->knows_wake && (r->value != s->wake_ns || r->now_ns < r->value))
        clo_judge_fault(s->judge, CLO_STREAM_WRONG_TIMER, s->at,
                        s->wake_ns == CLO_TIME_NEVER ? "a wake-up for %lld ns, and none was asked for"
                                                     : "a wake-up for %lld ns; it was asked for at %lld ns",
                        (long long)r->value, (long long)s->wake_ns);
    if (r->what == CLO_LOG_WAKE && (r->value <= r->now_ns || (s->knows_wake && r->value >= s->wake_ns)))
        clo_judge_fault(s->judge, CLO_STREAM_WRONG_TIMER, s->at,
                        "a wake-up is asked for at %lld ns, which is past, or not earlier than the one before",
                        (long long)r->value);
    if (r->what == CLO_LOG_TIMER || r->what == CLO_LOG_SWAP || r->what == CLO_LOG_WAKE ||
        (is_simulated && r->now_ns > s->wake_ns)) { /* told once */
        s->knows_wake = true;
        s->wake_ns = r->what == CLO_LOG_WAKE ? r->value : CLO_TIME_NEVER;
    }
}

clo_status clo_judge_said(clo_judge *judge)
{
    saying s = {.judge = judge,
                .is_scheduled = judge->about->run != CLO_LOG_RUN_UNKNOWN,
                .knows_sum = judge->stream->strict && judge->about->policies_count > 0,
                .knows_wake = judge->about->run == CLO_LOG_RUN_SIMULATED,
                .wake_ns = CLO_TIME_NEVER,
                .described = CLO_NONE,
                .banded = CLO_NONE};

    if (judge->stream->strict)
        check_header(judge);
    for (s.at = 0; s.at < judge->records_count; s.at++) {
        s.record = &judge->records[s.at];
        check_order(&s);
        if (s.is_scheduled)
            check_wake(&s);
        check_enter(&s);
        check_sum_missing(&s);
        count_live(&s);
        if (s.record->what == CLO_LOG_SUM)
            check_sum(&s);
        else if (s.record->what == CLO_LOG_END)
            check_end(&s);
        if (s.record->what < CLO_LOG_OUTPUTS)
            add_input(&s);
    }
    return CLO_OK;
}
