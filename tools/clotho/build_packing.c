/* build_packing.c - see build_packing.h. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "build_packing.h"
#include "build_rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Between two improvements: while they think, nothing begins. */
static const int64_t IMPROVE_NS = 50000000;
/* How long one thinks: where a CPU is idle, and where that takes a CPU from the steps. */
static const int64_t THINK_FREE_NS = 160000000, THINK_BUSY_NS = 2000000;

typedef struct packing_job {
    build_rest rest; /* first; what it needs lies behind this struct */
    bool has_changed, is_improved, improves;
    int64_t improved_ns;
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

    job->improves = argument != NULL && *(const bool *)argument;
    return rest_open(&job->rest, job + 1, cost);
}

static void packing_event(void *state, const clo_view *view, const clo_event *event)
{
    packing_job *job = clo_view_job(view, event->job)->state;

    (void)state;
    switch (event->kind) {
    case CLO_EVENT_ARRIVE:
        rest_begin(&job->rest);
        job->improved_ns = clo_view_now_ns(view);
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

static void schedule(packing_job *job, int64_t now_ns)
{
    uint32_t at = 0, task;

    rest_schedule(&job->rest, now_ns);
    job->begin_count = job->begun = 0;
    while ((task = rest_next(&job->rest, &at)) != CLO_NONE)
        job->begin[job->begin_count++] = task;
    job->has_changed = job->is_improved = false;
}

/* Whether some CPU would be idle if this thread were. */
static bool is_cpu_free(void)
{
    FILE *file = fopen("/proc/loadavg", "re"); /* three loads, then RUNNING/ALL; this thread is among the running */
    char line[128] = "", *at = line, *end;

    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    for (int i = 0; at != NULL && i < 3; i++)
        at = strchr(at + (i > 0), ' ');
    long running = at != NULL ? strtol(at, &end, 10) : 0;
    return running > 0 && running <= sysconf(_SC_NPROCESSORS_ONLN);
}

static bool packing_decide(void *state, const clo_view *view, clo_choice *choice)
{
    uint32_t slot = clo_view_first_job(view);
    packing_job *job = slot != CLO_NONE ? clo_view_job(view, slot)->state : NULL;
    int64_t now_ns = clo_view_now_ns(view);

    (void)state;
    if (job == NULL)
        return false;
    if (job->has_changed)
        schedule(job, now_ns);
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
    if (job->improves && !job->is_improved && now_ns - job->improved_ns >= IMPROVE_NS) {
        rest_improve(&job->rest, now_ns, is_cpu_free() ? THINK_FREE_NS : THINK_BUSY_NS);
        job->improved_ns = now_ns;
    }
    job->is_improved = true;
    return false;
}

const bool build_packing_improves = true;

const clo_policy build_packing = {
    .size = sizeof(clo_policy),
    .name = "packing",
    .summary = "the rest planned anew at each end, room kept for large steps (clotho build --memory alone)",
    .job_bytes = packing_job_bytes,
    .prepare = packing_prepare,
    .event = packing_event,
    .decide = packing_decide,
};
