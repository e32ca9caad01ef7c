/* log.c - a plan without preemption as the log of a simulated run. At one time: what ends, who arrives, what starts,
 * and what ends that took no time. A job is done right behind its last task. */
#include "base/memory.h"
#include "base/status.h"
#include "plan/synch/synch.h"

#include <clotho/runtime.h>

#include <stdlib.h>

enum { RANK_FINISH, RANK_ARRIVE, RANK_START, RANK_FINISH_AT_ONCE };

typedef struct event {
    int64_t now_ns;
    uint32_t rank, index; /* of the piece; of the job */
} event;

static int by_time(const void *left, const void *right)
{
    const event *a = left, *b = right;

    if (a->now_ns != b->now_ns)
        return a->now_ns < b->now_ns ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void fill_events(const clo_synch *synch, event *events)
{
    const clo_workload *workload = clo_synch_workload(synch);
    size_t pieces;
    const clo_synch_piece *piece = clo_synch_pieces(synch, &pieces);

    for (uint32_t j = 0; j < clo_workload_jobs(workload); j++)
        *events++ = (event){clo_workload_get(workload, j)->arrival_ns, RANK_ARRIVE, j};
    for (uint32_t i = 0; i < pieces; i++) {
        bool is_at_once = piece[i].finish_ns == piece[i].start_ns;
        *events++ = (event){piece[i].start_ns, RANK_START, i};
        *events++ = (event){piece[i].finish_ns, is_at_once ? RANK_FINISH_AT_ONCE : RANK_FINISH, i};
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

static void append_piece(clo_log *log, const event *e, const clo_synch_piece *piece, bool is_done)
{
    bool is_start = e->rank == RANK_START;
    const clo_log_record record = {.now_ns = e->now_ns,
                                   .job = piece->job,
                                   .what = is_start ? CLO_LOG_START : CLO_LOG_FINISH,
                                   .stage = piece->task,
                                   .instance = piece->instance,
                                   .executor = piece->executor,
                                   .value = is_start ? 0 : piece->start_ns};

    clo_log_append(log, &record);
    if (is_done)
        append(log, e->now_ns, CLO_LOG_DONE, piece->job, CLO_LOG_DONE_OK);
}

/* rest [jobs]: tasks that have not ended. */
static void write_events(const clo_synch *synch, const event *events, size_t count, uint32_t *rest, clo_log *log)
{
    const clo_synch_piece *piece = clo_synch_pieces(synch, NULL);
    uint32_t arrived = 0;

    for (size_t i = 0; i < count; i++)
        if (events[i].rank == RANK_START)
            rest[piece[events[i].index].job]++;
    append(log, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    for (size_t i = 0; i < count; i++) {
        const event *e = &events[i];
        if (e->rank == RANK_ARRIVE)
            append(log, e->now_ns, CLO_LOG_ARRIVE, e->index, arrived++);
        else
            append_piece(log, e, &piece[e->index], e->rank != RANK_START && --rest[piece[e->index].job] == 0);
    }
    append(log, count > 0 ? events[count - 1].now_ns : 0, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
}

clo_status clo_synch_log(const clo_synch *synch, clo_log **out)
{
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
    clo_log *log = NULL;
    size_t pieces;

    if (synch == NULL || out == NULL)
        return clo_fail_null("clo_synch_log", "synch or out");
    clo_status status = clo_synch_measure(synch, &figures);
    if (status == CLO_OK && figures.is_preemptive)
        return clo_fail(CLO_ERR_STATE, "the plan preempts tasks: a log has no records for that");
    (void)clo_synch_pieces(synch, &pieces);
    uint32_t jobs = clo_workload_jobs(clo_synch_workload(synch));
    size_t count = jobs + 2 * pieces;
    event *events = clo_allocate(count, sizeof *events);
    uint32_t *rest = clo_allocate(jobs, sizeof *rest);
    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = clo_synch_executors(synch);
    if (status == CLO_OK)
        status =
            events == NULL || rest == NULL ? clo_fail_memory("a log") : clo_log_create(&header, count + jobs + 2, &log);
    if (status == CLO_OK) {
        fill_events(synch, events);
        qsort(events, count, sizeof *events, by_time);
        write_events(synch, events, count, rest, log);
        *out = log;
    }
    clo_free(events);
    clo_free(rest);
    return status;
}
