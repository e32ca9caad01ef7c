/* queues.c - see queues.h. */
#include "policy/synch/queues.h"

#include "base/numbers/saturate.h"

enum { PARTS = 64 };

/* `count` instances come to the queue, or leave it (is_gone). */
static void change(clo_synch_queues *queues, const clo_synch_places *places, clo_synch_job *job, clo_ready_stage at,
                   uint32_t queue, uint32_t count, bool is_gone)
{
    uint32_t *queued = &job->queued[(size_t)at.stage * (places->count + 1) + queue];

    *queued = is_gone ? *queued - count : *queued + count;
    queues->length[queue] = is_gone ? queues->length[queue] - count : queues->length[queue] + count;
    if (queue == places->count)
        return;
    int64_t time_ns = job->time_ns[(size_t)at.stage * places->count + queue];
    int64_t load_ns = time_ns == CLO_TIME_NEVER ? 0 : clo_time_mul(time_ns, count) / places->size[queue];
    int64_t *sum = &queues->load_ns[queue];
    *sum = is_gone ? clo_time_sub(*sum, load_ns) : clo_time_add(*sum, load_ns);
    *sum = *sum < 0 ? 0 : *sum;
}

static void join_all(clo_synch_queues *queues, const clo_synch_places *places, clo_synch_job *job,
                     const clo_event *event, clo_synch_join join)
{
    clo_ready_stage at = {event->job, event->stage};
    uint32_t part = event->count / PARTS + 1;

    for (uint32_t left = event->count; left > 0;) { /* falls */
        uint32_t count = part < left ? part : left;
        change(queues, places, job, at, join(queues, places, job, event->stage), count, false);
        left -= count;
    }
}

/* `count` of the stage leave the queue, or as many as are in it. Returns how many. */
static uint32_t leave(clo_synch_queues *queues, const clo_synch_places *places, clo_synch_job *job, clo_ready_stage at,
                      uint32_t queue, uint32_t count)
{
    uint32_t queued = clo_synch_queued(places, job, at.stage, queue);
    uint32_t gone = queued < count ? queued : count;

    if (gone > 0)
        change(queues, places, job, at, queue, gone, true);
    return gone;
}

/* Those that have started: of their executor's queue, then of the common one, then of the longest ones. */
static void start(clo_synch_queues *queues, const clo_synch_live *live, clo_synch_job *job, const clo_event *event)
{
    const clo_synch_places *places = &live->places;
    clo_ready_stage at = {event->job, event->stage};
    uint32_t left = event->count;

    if (event->executor != CLO_NONE)
        left -= leave(queues, places, job, at, live->place_of[event->executor], left);
    left -= leave(queues, places, job, at, places->count, left);
    while (left > 0) { /* falls */
        uint32_t longest = 0;
        for (uint32_t q = 1; q < places->count; q++)
            if (clo_synch_queued(places, job, at.stage, q) > clo_synch_queued(places, job, at.stage, longest))
                longest = q;
        uint32_t gone = leave(queues, places, job, at, longest, left);
        if (gone == 0)
            break;
        left -= gone;
    }
}

static void clear(clo_synch_queues *queues, const clo_synch_places *places, clo_synch_job *job, uint32_t slot,
                  uint32_t tasks)
{
    for (uint32_t t = 0; t < tasks; t++)
        for (uint32_t q = 0; q <= places->count; q++)
            (void)leave(queues, places, job, (clo_ready_stage){slot, t}, q, UINT32_MAX);
}

void clo_synch_queues_event(clo_synch_queues *queues, const clo_synch_live *live, const clo_view *view,
                            const clo_event *event, clo_synch_join join)
{
    if (event->job == CLO_NONE)
        return;
    clo_synch_job *job = clo_synch_job_of(view, event->job);
    uint32_t tasks = clo_view_job(view, event->job)->cost->graph->tasks;

    if (event->kind == CLO_EVENT_ARRIVE)
        for (size_t i = 0; i < (size_t)tasks * (live->places.count + 1); i++)
            job->queued[i] = 0; /* of an earlier run */
    else if (event->kind == CLO_EVENT_READY)
        join_all(queues, &live->places, job, event, join);
    else if (event->kind == CLO_EVENT_START)
        start(queues, live, job, event);
    else if (event->kind == CLO_EVENT_CANCEL)
        clear(queues, &live->places, job, event->job, tasks);
}
