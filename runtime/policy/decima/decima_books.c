/* decima_books.c - pools of executors, and commitments. See decima_state.h. */
#include "policy/decima/decima_state.h"

void clo_decima_weigh(clo_decima *d, clo_decima_job *job, clo_decima_stage *stage)
{
    bool is_saturated = stage->left <= stage->committed + stage->moving;

    if (is_saturated == stage->is_saturated)
        return;
    stage->is_saturated = is_saturated;
    uint32_t before = job->unsaturated;
    job->unsaturated = is_saturated ? before - 1 : before + 1;
    if (before == 0)
        d->unfinished++;
    else if (job->unsaturated == 0)
        d->unfinished--;
}

clo_decima_pool *clo_decima_pool_of(clo_decima *d, uint32_t slot)
{
    return slot != CLO_NONE ? &clo_decima_job_of(d, slot)->pool : &d->nobody;
}

void clo_decima_pool_remove(clo_decima *d, uint32_t executor)
{
    clo_decima_executor *row = &d->executors[executor];

    if (!row->is_pooled)
        return;
    clo_decima_pool *pool = clo_decima_pool_of(d, row->pool);
    if (row->previous != CLO_NONE)
        d->executors[row->previous].next = row->next;
    else
        pool->first = row->next;
    if (row->next != CLO_NONE)
        d->executors[row->next].previous = row->previous;
    else
        pool->last = row->previous;
    pool->count--;
    d->pooled--;
    row->is_pooled = false;
}

void clo_decima_pool_add(clo_decima *d, uint32_t slot, uint32_t executor)
{
    clo_decima_executor *row = &d->executors[executor];

    clo_decima_pool_remove(d, executor);
    clo_decima_pool *pool = clo_decima_pool_of(d, slot);
    row->pool = slot;
    row->is_pooled = true;
    row->next = CLO_NONE;
    row->previous = pool->count > 0 ? pool->last : CLO_NONE;
    if (pool->count > 0)
        d->executors[pool->last].next = executor;
    else
        pool->first = executor;
    pool->last = executor;
    pool->count++;
    d->pooled++;
}

void clo_decima_bind(clo_decima *d, uint32_t executor, uint32_t slot)
{
    clo_decima_executor *row = &d->executors[executor];

    if (row->job == slot)
        return;
    if (row->job != CLO_NONE)
        clo_decima_job_of(d, row->job)->executors--;
    row->job = slot;
    row->node = (clo_decima_place){CLO_NONE, CLO_NONE};
    if (slot != CLO_NONE)
        clo_decima_job_of(d, slot)->executors++;
}

clo_decima_source *clo_decima_source_of(clo_decima *d, uint32_t executor)
{
    const clo_decima_executor *row = &d->executors[executor];

    if (row->node.job != CLO_NONE)
        return &clo_decima_stage_of(d, row->node)->commitments;
    return row->job != CLO_NONE ? &clo_decima_job_of(d, row->job)->commitments : &d->from_nobody;
}

static bool is_void(const clo_decima *d, const clo_decima_commitment *c)
{
    const clo_live_job *job = c->to.job != CLO_NONE ? clo_view_job(d->view, c->to.job) : NULL;

    return c->to.job != CLO_NONE && (job == NULL || job->id != c->id);
}

static void drop_first(clo_decima *d, clo_decima_source *source)
{
    uint32_t first = source->first;

    source->first = d->commitments[first].next;
    if (source->first == CLO_NONE)
        source->last = CLO_NONE;
    d->commitments[first].next = d->free_commitment;
    d->free_commitment = first;
}

bool clo_decima_has_commitments(clo_decima *d, clo_decima_source *source)
{
    while (source->first != CLO_NONE && is_void(d, &d->commitments[source->first]))
        drop_first(d, source);
    return source->first != CLO_NONE;
}

/* `count` more (or, wrapped around, fewer) executors are to come to the stage. */
static void expect(clo_decima *d, clo_decima_place to, uint32_t from_job, uint32_t count)
{
    if (to.job == CLO_NONE)
        return;
    clo_decima_job *job = clo_decima_job_of(d, to.job);
    clo_decima_stage *stage = &job->stages[to.stage];

    stage->committed += count;
    if (from_job != to.job)
        job->coming += count;
    clo_decima_weigh(d, job, stage);
}

void clo_decima_commit(clo_decima *d, clo_decima_source *source, uint32_t from_job, clo_decima_place to, uint32_t count)
{
    uint64_t id = to.job != CLO_NONE ? clo_view_job(d->view, to.job)->id : 0;

    for (uint32_t i = source->first; i != CLO_NONE; i = d->commitments[i].next) {
        clo_decima_commitment *c = &d->commitments[i];
        if (c->to.job == to.job && c->to.stage == to.stage && c->id == id) {
            c->count += count;
            expect(d, to, from_job, count);
            return;
        }
    }
    uint32_t i = d->free_commitment;
    if (i == CLO_NONE) /* void ones fill the table: the executors will ask again */
        return;
    d->free_commitment = d->commitments[i].next;
    d->commitments[i] = (clo_decima_commitment){to, id, count, CLO_NONE};
    if (source->first == CLO_NONE)
        source->first = i;
    else
        d->commitments[source->last].next = i;
    source->last = i;
    expect(d, to, from_job, count);
}

clo_decima_place clo_decima_fulfil(clo_decima *d, clo_decima_source *source, uint32_t from_job)
{
    clo_decima_commitment *c = &d->commitments[source->first];
    clo_decima_place to = c->to;

    expect(d, to, from_job, UINT32_MAX);
    if (--c->count == 0)
        drop_first(d, source);
    return to;
}

void clo_decima_revoke(clo_decima *d, clo_decima_source *source, uint32_t from_job)
{
    while (clo_decima_has_commitments(d, source)) {
        const clo_decima_commitment *c = &d->commitments[source->first];
        expect(d, c->to, from_job, 0 - c->count);
        drop_first(d, source);
    }
}
