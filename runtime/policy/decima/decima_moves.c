/* decima_moves.c - what an executor does next: it starts an instance, moves, waits in a pool, or looks for a stage.
 * Acts are kept in order, and handed out by clo_decima_decide. See decima_state.h. */
#include "policy/decima/decima_state.h"

#include <assert.h>

static const clo_decima_place nowhere = {CLO_NONE, CLO_NONE};

static void act(clo_decima *d, uint32_t executor, clo_decima_act act, clo_decima_place place)
{
    clo_decima_executor *row = &d->executors[executor];
    uint32_t at = (d->acts_first + d->acts_count++) % d->executors_count;

    assert(d->acts_count <= d->executors_count && row->act == CLO_DECIMA_NOTHING);
    row->act = act;
    row->target = place;
    d->acts[at] = executor;
}

void clo_decima_start(clo_decima *d, uint32_t executor, clo_decima_place place)
{
    clo_decima_job *job = clo_decima_job_of(d, place.job);
    clo_decima_stage *stage = &job->stages[place.stage];

    clo_decima_pool_remove(d, executor);
    clo_decima_bind(d, executor, place.job);
    d->executors[executor].node = place;
    stage->left--;
    job->left--;
    clo_decima_weigh(d, job, stage);
    act(d, executor, CLO_DECIMA_START, place);
}

void clo_decima_move(clo_decima *d, uint32_t executor, clo_decima_place place)
{
    clo_decima_job *job = clo_decima_job_of(d, place.job);
    clo_decima_stage *stage = &job->stages[place.stage];

    clo_decima_pool_remove(d, executor);
    clo_decima_bind(d, executor, CLO_NONE);
    d->executors[executor].node = nowhere;
    d->executors[executor].leaves = false;
    stage->moving++;
    job->coming++;
    clo_decima_weigh(d, job, stage);
    act(d, executor, CLO_DECIMA_MOVE, place);
}

void clo_decima_free(clo_decima *d, uint32_t executor, uint32_t slot)
{
    clo_decima_bind(d, executor, slot);
    d->executors[executor].node = nowhere;
    d->executors[executor].leaves = true;
    clo_decima_pool_add(d, slot, executor);
}

void clo_decima_take_act(clo_decima *d, uint32_t k)
{
    uint32_t capacity = d->executors_count;

    for (; k > 0; k--)
        d->acts[(d->acts_first + k) % capacity] = d->acts[(d->acts_first + k - 1) % capacity];
    d->acts_first = (d->acts_first + 1) % capacity;
    d->acts_count--;
}

void clo_decima_undo(clo_decima *d, uint32_t executor)
{
    clo_decima_executor *row = &d->executors[executor];
    clo_decima_job *job = row->target.job != CLO_NONE ? clo_decima_job_of(d, row->target.job) : NULL;
    clo_decima_stage *stage = job != NULL ? &job->stages[row->target.stage] : NULL;

    if (stage != NULL && row->act == CLO_DECIMA_START) {
        stage->left++;
        job->left++;
    } else if (stage != NULL && row->act == CLO_DECIMA_MOVE) {
        stage->moving--;
        job->coming--;
    }
    if (stage != NULL)
        clo_decima_weigh(d, job, stage);
    for (uint32_t k = 0; k < d->acts_count && row->act != CLO_DECIMA_NOTHING; k++)
        if (d->acts[(d->acts_first + k) % d->executors_count] == executor) {
            clo_decima_take_act(d, k);
            break;
        }
    row->act = CLO_DECIMA_NOTHING;
    row->target = nowhere;
}

void clo_decima_search(clo_decima *d, uint32_t executor)
{
    uint32_t slot = d->executors[executor].job;
    const clo_live_job *live = slot != CLO_NONE ? clo_view_job(d->view, slot) : NULL;

    for (uint32_t s = live != NULL ? live->first_ready : CLO_NONE; s != CLO_NONE;
         s = clo_view_stage(d->view, slot, s)->next_ready) {
        const clo_decima_stage *stage = clo_decima_stage_of(d, (clo_decima_place){slot, s});
        if (stage->is_ready && !stage->is_saturated) {
            clo_decima_start(d, executor, (clo_decima_place){slot, s});
            return;
        }
    }
    clo_decima_place any = clo_decima_any_stage(d);
    if (any.job != CLO_NONE)
        clo_decima_move(d, executor, any);
    else
        clo_decima_free(d, executor, slot);
}

/* The executor goes where it was committed to. */
static void go(clo_decima *d, uint32_t executor, clo_decima_place to)
{
    uint32_t own = d->executors[executor].job;

    clo_decima_pool_remove(d, executor);
    if (to.job == CLO_NONE) {
        clo_decima_free(d, executor, own != CLO_NONE && clo_decima_job_of(d, own)->left > 0 ? own : CLO_NONE);
        return;
    }
    const clo_decima_stage *stage = clo_decima_stage_of(d, to);
    if (stage->left == 0)
        clo_decima_search(d, executor);
    else if (own != to.job)
        clo_decima_move(d, executor, to);
    else if (stage->is_ready)
        clo_decima_start(d, executor, to);
    else
        clo_decima_free(d, executor, own);
}

void clo_decima_schedule(clo_decima *d)
{
    const clo_decima_pool *pool = d->single == CLO_NONE ? clo_decima_pool_of(d, d->asked_pool) : NULL;
    uint32_t left = pool != NULL ? pool->count : 1; /* who comes back into the pool is not asked again */

    if (left == 0)
        return;
    uint32_t executor = pool != NULL ? pool->first : d->single, from_job = d->executors[executor].job;
    clo_decima_source *source = clo_decima_source_of(d, executor);
    for (; left > 0 && clo_decima_has_commitments(d, source); left--) {
        clo_decima_place to = clo_decima_fulfil(d, source, from_job);
        go(d, pool != NULL ? pool->first : executor, to);
    }
}
