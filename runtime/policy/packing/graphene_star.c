/* graphene_star.c - Graphene*, the comparator of Decima's appendix F: executors are shared among jobs as by wfair;
 * inside a job the troublesome stages (Graphene, OSDI 2016, section 4) are held back until all of them can run
 * together, and then packed; a stage goes to the machine that it leaves least room on (best fit).
 *
 * Readings, where the appendix is silent. Troublesome is a stage whose mean time is at least `threshold` (0.8) of the
 * job's longest, or that demands at least that share of some resource of the largest machine. "All of them": all that
 * have no troublesome ancestor, since the others cannot run at the same time. Held back is a stage behind all other
 * ready stages of its job, as long as there are any; alone it waits, and other jobs use the executors. graphene-
 * star:EXPONENT,THRESHOLD; both are to be tuned (the appendix searches a grid). O(log jobs) an event, O(executors) a
 * decision; waiting for the others costs O(stages) once a job. */
#include "policy/packing/packing.h"
#include "policy/queue/wfair.h"
#include "policy/select/by_job.h"
#include "policy/select/policies.h"
#include "policy/select/share.h"

#include <string.h>

typedef struct star_argument {
    int32_t alpha_q16, threshold_q16;
} star_argument;

static const star_argument defaults = {CLO_WFAIR_DEFAULT_Q16, 65536 * 8 / 10};

/* Of a stage. */
enum { IS_TROUBLESOME = 1, IS_FIRST = 2 /* and no ancestor of it is */, IS_BELOW = 4 /* some ancestor is */ };

typedef struct star_job {
    int64_t share_q16;
    uint32_t looked; /* stages before this one that are IS_FIRST have become ready */
    uint8_t what[];  /* [tasks] */
} star_job;

static clo_status star_parse(const char *text, void *argument)
{
    clo_fixed_range range = {0, 65536};
    star_argument read = defaults;
    clo_status status = clo_wfair_read(&text, "graphene-star", &read.alpha_q16);

    if (status == CLO_OK && *text == ',') {
        text++;
        status = clo_fixed_read(&text, "graphene-star", "the threshold", range, &read.threshold_q16);
    }
    if (status == CLO_OK)
        status = clo_argument_end(text, "graphene-star");
    if (status == CLO_OK)
        *(star_argument *)argument = read;
    return status;
}

static size_t star_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(star_job) + cost->graph->tasks;
}

/* The largest share of a resource that an instance demands of the machine that has most of it, in Q16. */
static int64_t largest_share_q16(const clo_cost *cost, uint32_t task)
{
    const int64_t *demand = clo_graph_demand(cost->graph, task);
    int64_t most = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = 0;
        for (uint32_t m = 0; m < cost->platform->machines_count && demand[r] > 0; m++)
            capacity = clo_cost_capacity(cost, m, r) > capacity ? clo_cost_capacity(cost, m, r) : capacity;
        int64_t share = clo_share(demand[r], capacity) >> 16;
        most = share > most ? share : most;
    }
    return most;
}

static clo_status star_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    const star_argument *a = argument != NULL ? argument : &defaults;
    const clo_graph *graph = cost->graph;
    star_job *job = job_state;
    int64_t longest_ns = 0;

    job->share_q16 = clo_wfair_share_q16(cost, a->alpha_q16);
    for (uint32_t t = 0; t < graph->tasks; t++)
        longest_ns = cost->mean_ns[t] > longest_ns ? cost->mean_ns[t] : longest_ns;
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t t = graph->task_order[i], is_below = 0;
        for (uint32_t k = graph->in_first[t]; k < graph->in_first[t + 1]; k++)
            is_below |= job->what[clo_graph_source(graph, k)] & (IS_TROUBLESOME | IS_BELOW);
        bool is_long = clo_share(cost->mean_ns[t], longest_ns) >> 16 >= a->threshold_q16;
        bool is_troublesome = is_long || largest_share_q16(cost, t) >= a->threshold_q16;
        job->what[t] = (uint8_t)((is_troublesome ? IS_TROUBLESOME : 0) | (is_below != 0 ? IS_BELOW : 0) |
                                 (is_troublesome && is_below == 0 ? IS_FIRST : 0));
    }
    return CLO_OK;
}

static int64_t key(const clo_live_job *job)
{
    return clo_wfair_key(job, ((const star_job *)job->state)->share_q16);
}

static void star_event(void *state, const clo_view *view, const clo_event *event)
{
    if (event->kind == CLO_EVENT_ARRIVE)
        ((star_job *)clo_view_job(view, event->job)->state)->looked = 0;
    clo_by_job_event(state, view, event, key);
}

/* All troublesome stages that can run together are ready, or were. What was seen once holds. */
static bool are_together(const clo_view *view, uint32_t slot, bool *is_cut)
{
    const clo_live_job *live = clo_view_job(view, slot);
    star_job *job = live->state;
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(live->cost));

    for (; job->looked < tasks; job->looked++) {
        if ((job->what[job->looked] & IS_FIRST) == 0)
            continue;
        if (clo_view_stage(view, slot, job->looked)->parents_left > 0 || (*is_cut = !clo_view_step(view)))
            return false;
    }
    return true;
}

static uint32_t pick(const clo_view *view, uint32_t slot, clo_may_select may, bool *is_cut)
{
    const clo_live_job *live = clo_view_job(view, slot);
    const star_job *job = live->state;
    uint32_t held = CLO_NONE;

    for (uint32_t stage = live->first_ready; stage != CLO_NONE; stage = clo_view_stage(view, slot, stage)->next_ready) {
        bool is_troublesome = (job->what[stage] & IS_TROUBLESOME) != 0;
        if ((*is_cut = !clo_view_step(view)))
            return CLO_NONE;
        if ((is_troublesome && held != CLO_NONE) || !may(view, slot, stage))
            continue;
        if (!is_troublesome)
            return stage;
        held = stage;
    }
    return held != CLO_NONE && are_together(view, slot, is_cut) ? held : CLO_NONE;
}

static const clo_job_order by_share = {
    .first = clo_job_queue_order_first,
    .pass = clo_job_queue_order_pass,
    .restore = clo_job_queue_order_restore,
    .pick = pick,
};

static bool star_decide(void *state, const clo_view *view, clo_choice *choice)
{
    if (!clo_select_by(&by_share, state, view, clo_select_startable, choice))
        return false;
    choice->count = 1; /* with each the share changes */
    choice->executor = clo_packing_best_fit(view, choice->job, choice->stage);
    return true;
}

const clo_policy clo_policy_graphene_star = {
    .size = sizeof(clo_policy),
    .name = "graphene-star",
    .summary = "wfair, inside a job troublesome stages held back until all can run, best fit; graphene-star:-1,0.8",
    .state_bytes = clo_by_job_bytes,
    .job_bytes = star_job_bytes,
    .prepare = star_prepare,
    .init = clo_by_job_init,
    .event = star_event,
    .decide = star_decide,
    .argument_bytes = sizeof(star_argument),
    .parse = star_parse,
};
