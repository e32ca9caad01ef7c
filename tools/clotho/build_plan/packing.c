/* packing.c - see packing.h. */
#include "clotho/build_plan/packing.h"
#include "clotho/build_plan/rest.h"

typedef struct packing_job {
    build_rest rest; /* first; what it needs lies behind this struct */
    bool has_changed;
    build_think *think;          /* NULL: a simulation */
    uint32_t version;            /* of think->live */
    uint32_t begin[REST_WINDOW]; /* what is to begin now */
    uint32_t begin_count, begun;
} packing_job;

static size_t packing_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(packing_job) + rest_bytes(cost);
}

static clo_status packing_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    packing_job *job = job_state;

    job->think = (build_think *)(uintptr_t)argument; /* its lock is written to */
    job->version = 0;
    return rest_open(&job->rest, job + 1, cost);
}

static void take_event(packing_job *job, const clo_view *view, const clo_event *event)
{
    switch (event->kind) {
    case CLO_EVENT_ARRIVE:
        rest_begin(&job->rest);
        job->has_changed = true;
        break;
    case CLO_EVENT_START:
        rest_started(&job->rest, event->stage, clo_view_now_ns(view));
        break;
    case CLO_EVENT_FINISH:
        rest_ended(&job->rest, event->stage);
        job->has_changed = true;
        break;
    default:
        break;
    }
}

static void lock(packing_job *job)
{
    if (job->think != NULL)
        pthread_mutex_lock(&job->think->lock);
}

static void unlock(packing_job *job)
{
    if (job->think != NULL)
        pthread_mutex_unlock(&job->think->lock);
}

static void packing_event(void *state, const clo_view *view, const clo_event *event)
{
    packing_job *job = clo_view_job(view, event->job)->state;

    (void)state;
    lock(job);
    take_event(job, view, event);
    if (job->think != NULL)
        think_again(job->think, &job->rest, clo_view_now_ns(view));
    unlock(job);
}

static void take_guess(void *of, uint32_t task, const live_guess *guess)
{
    rest_expect(of, task, guess->time_ns, REST_MEMORY, guess->need_kib);
}

static void schedule(packing_job *job, int64_t now_ns)
{
    uint32_t at = 0, task;

    if (job->think != NULL)
        live_read(job->think->live, &job->version, take_guess, &job->rest);
    rest_schedule(&job->rest, now_ns);
    job->begin_count = job->begun = 0;
    while ((task = rest_next(&job->rest, &at)) != CLO_NONE)
        job->begin[job->begin_count++] = task;
    job->has_changed = false;
}

/* The next step of those that are to begin now. */
static bool choose(packing_job *job, uint32_t slot, const clo_view *view, clo_choice *choice)
{
    if (job->has_changed)
        schedule(job, clo_view_now_ns(view));
    while (job->begun < job->begin_count) {
        uint32_t task = job->begin[job->begun++];
        const clo_live_stage *stage = clo_view_stage(view, slot, task);
        if (stage->parents_left > 0 || stage->unstarted == 0)
            continue;
        uint32_t executor = clo_view_free_for(view, slot, task);
        if (executor == CLO_NONE)
            continue;
        choice->job = slot;
        choice->stage = task;
        choice->count = 1;
        choice->executor = executor;
        return true;
    }
    return false;
}

static bool packing_decide(void *state, const clo_view *view, clo_choice *choice)
{
    uint32_t slot = clo_view_first_job(view);
    packing_job *job = slot != CLO_NONE ? clo_view_job(view, slot)->state : NULL;

    (void)state;
    if (job == NULL)
        return false;
    lock(job);
    bool is_chosen = choose(job, slot, view, choice);
    unlock(job);
    return is_chosen;
}

const clo_policy build_packing = {
    .size = sizeof(clo_policy),
    .name = "packing",
    .summary = "the rest planned anew at each end, room kept for large steps (clotho build --memory alone)",
    .job_bytes = packing_job_bytes,
    .prepare = packing_prepare,
    .event = packing_event,
    .decide = packing_decide,
};
