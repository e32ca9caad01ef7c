/* log.c - a plan as the log of a simulated run. At one time: what ends or is stopped, who arrives, what starts, and
 * right behind it its end if it takes no time. A job is done right behind its last task. A piece is stopped where its
 * task has a later one. */
#include "base/memory.h"
#include "base/status.h"
#include "plan/synch/synch.h"

#include <clotho/runtime.h>

#include <stdlib.h>

enum { RANK_FINISH, RANK_ARRIVE, RANK_START };

typedef struct event {
    int64_t now_ns;
    uint32_t rank, index; /* of the piece; of the job */
    bool is_end;
} event;

static int by_time(const void *left, const void *right)
{
    const event *a = left, *b = right;

    if (a->now_ns != b->now_ns)
        return a->now_ns < b->now_ns ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (int)a->is_end - (int)b->is_end;
}

static void fill_events(const clo_synch *synch, event *events)
{
    const clo_workload *workload = clo_synch_workload(synch);
    size_t pieces;
    const clo_synch_piece *piece = clo_synch_pieces(synch, &pieces);

    for (uint32_t j = 0; j < clo_workload_jobs(workload); j++)
        *events++ = (event){clo_workload_get(workload, j)->arrival_ns, RANK_ARRIVE, j, false};
    for (uint32_t i = 0; i < pieces; i++) {
        bool is_at_once = piece[i].finish_ns == piece[i].start_ns;
        *events++ = (event){piece[i].start_ns, RANK_START, i, false};
        *events++ = (event){piece[i].finish_ns, is_at_once ? RANK_START : RANK_FINISH, i, true};
    }
}

static void append(clo_log *log, int64_t now_ns, uint32_t what, uint64_t job, int64_t value)
{
    const clo_log_record record = {.now_ns = now_ns,
                                   .job = job,
                                   .what = what,
                                   .stage = CLO_NONE,
                                   .instance = CLO_NONE,
                                   .executor = CLO_NONE,
                                   .value = value};

    clo_log_append(log, &record);
}

static void append_piece(clo_log *log, const event *e, const clo_synch_piece *piece, bool is_last, bool is_done)
{
    bool is_start = !e->is_end;
    const clo_log_record record = {.now_ns = e->now_ns,
                                   .job = piece->job,
                                   .what = is_start  ? CLO_LOG_START
                                           : is_last ? CLO_LOG_FINISH
                                                     : CLO_LOG_PREEMPT,
                                   .stage = piece->task,
                                   .instance = piece->instance,
                                   .executor = piece->executor,
                                   .value = is_start ? 0 : piece->start_ns};

    clo_log_append(log, &record);
    if (is_done)
        append(log, e->now_ns, CLO_LOG_DONE, piece->job, CLO_LOG_DONE_OK);
}

static int by_task(const void *left, const void *right)
{
    const clo_synch_piece *a = *(const clo_synch_piece *const *)left, *b = *(const clo_synch_piece *const *)right;

    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->finish_ns < b->finish_ns ? -1 : a->finish_ns > b->finish_ns;
}

/* is_last [pieces]: their tasks have no later ones. False: no memory. */
static bool find_last(const clo_synch *synch, bool *is_last)
{
    size_t count;
    const clo_synch_piece *piece = clo_synch_pieces(synch, &count);
    const clo_synch_piece **sorted = clo_allocate(count, sizeof(clo_synch_piece *));

    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &piece[i];
    qsort(sorted, count, sizeof sorted[0], by_task);
    for (size_t i = 0; i < count; i++)
        is_last[sorted[i] - piece] = i + 1 == count || sorted[i + 1]->job != sorted[i]->job ||
                                     sorted[i + 1]->task != sorted[i]->task ||
                                     sorted[i + 1]->instance != sorted[i]->instance;
    clo_free(sorted);
    return true;
}

/* rest [jobs]: pieces that have not ended. is_last [pieces]. */
static void write_events(const clo_synch *synch, const event *events, size_t count, uint32_t *rest, const bool *is_last,
                         clo_log *log)
{
    const clo_synch_piece *piece = clo_synch_pieces(synch, NULL);
    uint32_t arrived = 0;

    for (size_t i = 0; i < count; i++)
        if (events[i].is_end)
            rest[piece[events[i].index].job]++;
    append(log, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    for (size_t i = 0; i < count; i++) {
        const event *e = &events[i];
        if (e->rank == RANK_ARRIVE)
            append(log, e->now_ns, CLO_LOG_ARRIVE, e->index, arrived++);
        else
            append_piece(log, e, &piece[e->index], is_last[e->index], e->is_end && --rest[piece[e->index].job] == 0);
    }
    append(log, count > 0 ? events[count - 1].now_ns : 0, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
}

clo_status clo_synch_log(const clo_synch *synch, clo_log **out)
{
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log = NULL;
    size_t pieces;

    if (synch == NULL || out == NULL)
        return clo_fail_null("clo_synch_log", "synch or out");
    (void)clo_synch_pieces(synch, &pieces);
    uint32_t jobs = clo_workload_jobs(clo_synch_workload(synch));
    size_t count = jobs + 2 * pieces;
    event *events = clo_allocate(count, sizeof *events);
    uint32_t *rest = clo_allocate(jobs, sizeof *rest);
    bool *is_last = clo_allocate(pieces, sizeof *is_last);
    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = clo_synch_executors(synch);
    bool has_memory = events != NULL && rest != NULL && is_last != NULL && find_last(synch, is_last);
    clo_status status = has_memory ? clo_log_create(&header, count + jobs + 2, &log) : clo_fail_memory("a log");
    if (status == CLO_OK) {
        fill_events(synch, events);
        qsort(events, count, sizeof *events, by_time);
        write_events(synch, events, count, rest, is_last, log);
        *out = log;
    }
    clo_free(events);
    clo_free(rest);
    clo_free(is_last);
    return status;
}
