/* tetris.c - Tetris online: Grandl, Ananthanarayanan, Kandula, Rao, Akella, "Multi-resource packing for cluster
 * schedulers", SIGCOMM 2014. The next instance is the one with the highest a - (mean a / mean p) p: `a` is how well
 * it fits (packing.h), a tenth less where its inputs are elsewhere (section 3.2); `p` the remaining work of its job
 * (section 3.3.2, whose p also weighs demands).
 *
 * Deviations: the candidates are the ready stages, 4 each, of the 16 jobs with the least remaining work, so that a
 * decision costs the same whatever the number of jobs; where none of them may start, the oldest ready stage that may.
 * No barrier hint, no fairness knob (see graphene). O(log jobs) an event, O(candidates * executors) a decision. */
#include "policy/packing/packing.h"
#include "policy/select/by_job.h"
#include "policy/select/policies.h"

#define REMOTE_Q16 (65536 * 9 / 10)

enum { JOBS = 16, STAGES_EACH = 4, CANDIDATES_MAX = JOBS * STAGES_EACH };
_Static_assert((int)JOBS <= (int)CLO_JOB_WALK_MAX, "a walk goes so far");

static int64_t key(const clo_live_job *job)
{
    return job->remaining_ns;
}

static void tetris_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

/* The ready stages of a job that may start; returns their number with those before. */
static uint32_t add_job(const clo_view *view, uint32_t slot, clo_candidate *candidates, uint32_t count, bool *is_cut)
{
    const clo_live_job *job = clo_view_job(view, slot);
    uint32_t stage = job->running + job->committed < job->limit ? job->first_ready : CLO_NONE;

    *is_cut = stage == CLO_NONE && !clo_view_step(view);
    for (uint32_t i = 0; i < STAGES_EACH && stage != CLO_NONE && !(*is_cut = !clo_view_step(view)); i++) {
        candidates[count] = (clo_candidate){.job = slot, .stage = stage, .priority_q16 = 65536};
        count += clo_packing_place(view, &candidates[count], REMOTE_Q16);
        stage = clo_view_stage(view, slot, stage)->next_ready;
    }
    return count;
}

static bool tetris_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_candidate candidates[CANDIDATES_MAX];
    uint32_t count = 0, slot;
    bool is_cut = false;
    clo_job_walk walk;

    clo_job_walk_open(&walk, state, clo_view_band(view));
    for (uint32_t i = 0; i < JOBS && !is_cut && (slot = clo_job_walk_next(&walk)) != CLO_NONE; i++)
        count = add_job(view, slot, candidates, count, &is_cut);
    if (count == 0)
        return clo_packing_oldest(view, choice);
    clo_packing_weight by = {65536, clo_packing_mean_ns(candidates, count)};
    const clo_candidate *best = &candidates[clo_packing_best(candidates, count, by, CLO_NONE)];
    *choice = (clo_choice){best->job, best->stage, 1, best->executor, CLO_NONE, 0, 0};
    return true;
}

const clo_policy clo_policy_tetris = {
    .size = sizeof(clo_policy),
    .name = "tetris",
    .summary = "the instance that fits best into what is free, of jobs with little remaining work",
    .state_bytes = clo_by_job_bytes,
    .init = clo_by_job_init,
    .event = tetris_event,
    .decide = tetris_decide,
};
