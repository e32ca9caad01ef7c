/* pack.c - SynchPack-2 online: when a job has come, or a stage is ready, all that is ready is planned anew (insert.h) in
 * the order of live.h, and then carried out as an enforced plan (placement/enforced.h): instances start in the plan's
 * order at the plan's places, and what should have started by then may overtake what cannot. Nothing that runs is moved.
 *
 * Of the paper's parts, LP2 and its rounding are not there (no solver runs in a turn; live.h says why), and it plans at
 * every arrival instead of at the ends of growing intervals, which wait while machines are idle (bench/synch). Stages that
 * are not ready are not planned. The plan ignores transfers, limits of jobs and, where there are more than 64 places,
 * which machine has the room. What is beyond 2048 batches or the memory of instances (4096, or twice the executors) is
 * planned when the plan has come to its end; meanwhile jobs go in their order.
 *
 * A plan costs (instances that start apart) * places * steps of a domain (128 to 2048) for each of `tries` orders, or less:
 * jobs in front of a change are not planned again, nor the rest of an order that is worse already. Each 16 looks are a step
 * of the decision; a decision else as clo_enforced_choose. */
#include "policy/placement/enforced.h"
#include "policy/select/policies.h"
#include "policy/synch/insert.h"

#include "base/numbers/saturate.h"
#include "base/status.h"

#include <string.h>

enum { TRIES_DEFAULT = 16, TRIES_MAX = 4096, INSTANCES_LEAST = 4096, ASIDE_MAX = 16, OTHERS_MAX = 64 };

typedef struct pack_argument {
    uint32_t tries;
} pack_argument;

/* Behind the live jobs. */
typedef struct pack {
    clo_synch_inserter in;
    clo_enforced plan;
    uint32_t tries;
    clo_heap by_start;   /* [batches] */
    clo_heap_item *free; /* [executors] those of a place are a heap */
    bool is_stale, is_whole;
    bool has_started; /* something has started since the plan was made */
} pack;

static clo_status pack_parse(const char *text, void *argument)
{
    const char *at = text;
    uint32_t tries = 0;

    for (; *at >= '0' && *at <= '9' && tries <= TRIES_MAX; at++)
        tries = tries * 10 + (uint32_t)(*at - '0');
    if (at == text || *at != '\0' || tries == 0 || tries > TRIES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy 'synchpack-2': '%.40s' is no number of plans from 1 to %d; write synchpack-2:%d", text,
                        TRIES_MAX, TRIES_DEFAULT);
    ((pack_argument *)argument)->tries = tries;
    return CLO_OK;
}

static uint32_t instances_of(const clo_limits *limits)
{
    return limits->executors > INSTANCES_LEAST / 2 ? 2 * limits->executors : INSTANCES_LEAST;
}

static size_t pack_bytes(const clo_limits *limits, const void *argument)
{
    clo_synch_places places;

    (void)argument;
    clo_synch_places_open(&places, limits->platform);
    return clo_synch_live_bytes(limits) + sizeof(pack) + clo_synch_inserter_bytes(&places, limits->jobs) +
           (CLO_SYNCH_BATCHES_MAX + limits->executors) * sizeof(clo_heap_item) +
           clo_enforced_bytes(limits->platform, limits->jobs, instances_of(limits));
}

static pack *pack_of(clo_synch_live *live, const clo_view *view)
{
    return (pack *)(void *)((char *)live + clo_synch_live_bytes(clo_view_limits(view)));
}

static clo_status pack_init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    const pack_argument *argument = clo_view_argument(view);

    clo_synch_live_open(state, view);
    pack *p = pack_of(state, view);
    p->tries = argument != NULL ? argument->tries : TRIES_DEFAULT;
    p->by_start.items = clo_synch_inserter_open(&p->in, state, instances_of(limits), p + 1);
    p->by_start.capacity = CLO_SYNCH_BATCHES_MAX;
    p->free = p->by_start.items + CLO_SYNCH_BATCHES_MAX;
    clo_enforced_open(&p->plan, p->free + limits->executors, limits->platform, limits->jobs, instances_of(limits));
    p->plan.is_patient = p->plan.is_quiet = true;
    clo_enforced_begin(&p->plan, limits->platform, limits->jobs);
    return CLO_OK;
}

static void pack_event(void *state, const clo_view *view, const clo_event *event)
{
    pack *p = pack_of(state, view);

    clo_synch_live_event(state, view, event);
    if (event->kind == CLO_EVENT_FINISH && event->executor != CLO_NONE)
        clo_enforced_finish(&p->plan, event->executor);
    p->is_stale = p->is_stale || event->kind == CLO_EVENT_ARRIVE || event->kind == CLO_EVENT_READY;
    p->has_started = p->has_started || event->kind == CLO_EVENT_START;
    if (event->kind == CLO_EVENT_ARRIVE)
        p->plan.slots[event->job] = event->job;
    else if (event->kind == CLO_EVENT_CANCEL || event->kind == CLO_EVENT_END)
        p->plan.slots[event->job] = CLO_ENFORCED_GONE;
}

/* Executors of each place by when they are free; first [places + 1] of each in `free`. */
static void fill_free(pack *p, const clo_synch_live *live, const clo_view *view, clo_heap *heaps)
{
    int64_t now_ns = clo_view_now_ns(view);
    clo_heap_item *at = p->free;

    for (uint32_t i = 0; i < live->places.count; i++) {
        heaps[i] = (clo_heap){.items = at, .capacity = live->places.size[i]};
        at += live->places.size[i];
    }
    for (uint32_t e = 0; e < clo_view_limits(view)->executors; e++) {
        int64_t free_ns = clo_view_executor(view, e)->free_ns;
        clo_heap_push(&heaps[live->place_of[e]], free_ns > now_ns ? free_ns : now_ns, e);
    }
}

/* Rows for the instances of the batch, each on the executor of its place that is free first and may run it. */
static void add_rows(pack *p, const clo_view *view, const clo_synch_batch *batch, clo_heap *heap, bool is_count)
{
    const clo_platform *platform = clo_view_limits(view)->platform;
    const clo_cost *cost = clo_view_job(view, batch->job)->cost;

    for (uint32_t i = 0; i < batch->count; i++) {
        clo_heap_item aside[ASIDE_MAX], item = clo_heap_pop(heap);
        uint32_t passed = 0;
        while (clo_cost_time(cost, batch->stage, (uint32_t)item.id) == CLO_TIME_NEVER && passed < ASIDE_MAX &&
               heap->count > 0) { /* falls */
            aside[passed++] = item;
            item = clo_heap_pop(heap);
        }
        while (passed > 0) { /* falls */
            passed--;
            clo_heap_push(heap, aside[passed].key, aside[passed].id);
        }
        clo_heap_push(heap, clo_time_add(batch->start_ns, batch->time_ns), item.id);
        if (is_count)
            clo_enforced_count(&p->plan, platform, (uint32_t)item.id);
        else
            clo_enforced_add(&p->plan, platform,
                             (clo_enforced_row){.start_ns = batch->start_ns,
                                                .time_ns = batch->time_ns,
                                                .stage = batch->stage,
                                                .executor = (uint32_t)item.id,
                                                .job = batch->job});
    }
}

/* The batches by their starts, as rows. Twice: first the rows of each machine are counted. */
static void enforce(pack *p, const clo_synch_live *live, const clo_view *view, const clo_synch_inserted *plan)
{
    const clo_limits *limits = clo_view_limits(view);
    clo_heap heaps[CLO_SYNCH_PLACES_MAX];

    memset(p->plan.end, 0, limits->platform->machines_count * sizeof *p->plan.end);
    for (int pass = 0; pass < 2; pass++) {
        fill_free(p, live, view, heaps);
        p->by_start.count = 0;
        for (uint32_t i = 0; i < plan->count; i++)
            clo_heap_push(&p->by_start, plan->batches[i].start_ns, i);
        while (p->by_start.count > 0) {
            const clo_synch_batch *batch = &plan->batches[clo_heap_pop(&p->by_start).id];
            add_rows(p, view, batch, &heaps[batch->place], pass == 0);
        }
        if (pass == 0)
            clo_enforced_counted(&p->plan, limits->platform);
    }
    clo_enforced_begin(&p->plan, limits->platform, limits->jobs);
    p->plan.passed_ns = clo_view_now_ns(view);
    for (uint32_t j = clo_view_first_job(view); j != CLO_NONE; j = clo_view_job(view, j)->next)
        p->plan.slots[j] = j;
    for (uint32_t e = 0; e < limits->executors; e++) {
        const clo_live_executor *row = clo_view_executor(view, e);
        if (row->job != CLO_NONE)
            p->plan.ends_ns[e] = clo_time_add(row->free_ns > p->plan.passed_ns ? row->free_ns : p->plan.passed_ns, 1);
    }
}

/* False: the decision has reached its bound before anything was planned. */
static bool plan_anew(pack *p, clo_synch_live *live, const clo_view *view)
{
    p->is_stale = false;
    p->has_started = false;
    p->is_whole = false;
    if (!clo_synch_live_sort(live, view))
        return false;
    const clo_synch_inserted *plan = clo_synch_insert(&p->in, view, p->tries);
    if (plan == NULL)
        return false;
    p->is_whole = plan->is_whole;
    enforce(p, live, view, plan);
    return true;
}

/* What is not planned: the oldest ready stage of the first job that may start. */
static bool choose_other(const clo_synch_live *live, const clo_view *view, clo_choice *choice)
{
    for (uint32_t i = 0, looks = 0; i < live->count && looks < OTHERS_MAX && clo_view_step(view); i++) {
        const clo_live_job *job = clo_synch_live_job(live, view, i);
        if (job == NULL || !clo_synch_may_grow(view, job))
            continue;
        clo_ready_stage at = {live->order[i], job->first_ready};
        uint32_t executor = clo_synch_executor(view, &live->places, live->place_of, at, CLO_NONE, NULL);
        looks++;
        if (executor != CLO_NONE) {
            *choice = (clo_choice){at.job, at.stage, 1, executor, CLO_NONE, 0, 0};
            return true;
        }
    }
    return false;
}

static bool pack_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_synch_live *live = state;
    pack *p = pack_of(live, view);
    bool is_cut = false;

    if (clo_view_next_free(view, CLO_NONE) == CLO_NONE || (p->is_stale && !plan_anew(p, live, view)))
        return false;
    if (clo_enforced_choose(&p->plan, view, choice, &is_cut))
        return true;
    if (!is_cut && !p->is_whole && p->has_started) {
        if (!plan_anew(p, live, view))
            return false;
        if (clo_enforced_choose(&p->plan, view, choice, &is_cut))
            return true;
    }
    if (is_cut || (!p->is_whole && choose_other(live, view, choice)))
        return !is_cut;
    if (!clo_enforced_is_idle(view))
        return false;
    if (clo_enforced_go_on(&p->plan, view) && clo_enforced_choose(&p->plan, view, choice, &is_cut))
        return true;
    return !is_cut && choose_other(live, view, choice);
}

const clo_policy clo_policy_synchpack_2 = {
    .size = sizeof(clo_policy),
    .name = "synchpack-2",
    .summary = "follows a plan for weighted completion, made anew when a job has come; synchpack-2:N tries N orders",
    .state_bytes = pack_bytes,
    .job_bytes = clo_synch_job_bytes,
    .prepare = clo_synch_prepare,
    .init = pack_init,
    .event = pack_event,
    .decide = pack_decide,
    .argument_bytes = sizeof(pack_argument),
    .parse = pack_parse,
};
