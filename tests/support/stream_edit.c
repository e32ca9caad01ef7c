/* stream_edit.c - see stream_edit.h. */
#include "stream_edit.h"

size_t stream_pick(const stream_run *run, clo_rng *rng, stream_record_test is_good)
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

size_t stream_finish_of(const stream_run *run, size_t at)
{
    for (size_t i = at + 1; i < run->count; i++)
        if (run->records[i].what == CLO_LOG_FINISH && is_execution(&run->records[i], &run->records[at]))
            return i;
    return SIZE_MAX;
}

size_t stream_start_of(const stream_run *run, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if ((run->records[i].what == CLO_LOG_START || run->records[i].what == CLO_LOG_COMMIT) &&
            is_execution(&run->records[i], &run->records[at]))
            return i;
    return SIZE_MAX;
}

uint32_t stream_job_of(const stream_run *run, size_t at)
{
    return (uint32_t)((run->records[at].job - 3) / 7); /* as stream_draw.c numbers them */
}

bool stream_is_any(const stream_run *run, size_t at)
{
    return at > 0 && at + 1 < run->count;
}

bool stream_is_start(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_START;
}

bool stream_is_original(const stream_run *run, size_t at)
{
    return (stream_is_start(run, at) || run->records[at].what == CLO_LOG_COMMIT) && run->records[at].value == 0;
}

bool stream_is_replica(const stream_run *run, size_t at)
{
    return stream_is_start(run, at) && run->records[at].value == 1;
}

bool stream_is_commit(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_COMMIT;
}

bool stream_is_finish(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_FINISH;
}

bool stream_is_arrive(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_ARRIVE;
}

bool stream_is_done(const stream_run *run, size_t at)
{
    return run->records[at].what == CLO_LOG_DONE;
}

bool stream_is_done_ok(const stream_run *run, size_t at)
{
    return stream_is_done(run, at) && run->records[at].value == CLO_LOG_DONE_OK;
}

clo_log_record stream_other_record(const stream_run *run, size_t at, uint32_t what, int64_t value)
{
    return (clo_log_record){run->records[at].now_ns, CLO_LOG_NO_JOB, what, CLO_NONE, CLO_NONE, CLO_NONE, value};
}

bool stream_insert_timed(stream_run *run, size_t at, clo_log_record record)
{
    if (at == SIZE_MAX || at == 0)
        return false;
    for (size_t i = 0; i < at; i++) /* the latest time: FINISH may go back */
        record.now_ns = i == 0 || run->records[i].now_ns > record.now_ns ? run->records[i].now_ns : record.now_ns;
    stream_insert(run, at, record);
    return true;
}

bool stream_remove_one(stream_run *run, size_t at)
{
    if (at == SIZE_MAX)
        return false;
    stream_remove(run, at);
    return true;
}

bool stream_move_up(stream_run *run, size_t from, size_t to)
{
    if (from == SIZE_MAX || to == SIZE_MAX || to >= from)
        return false;
    clo_log_record record = run->records[from];
    stream_remove(run, from);
    return stream_insert_timed(run, to, record);
}
