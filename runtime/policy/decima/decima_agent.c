/* decima_agent.c - where the executors that are asked about shall go. First to their own job: a ready stage, then one
 * that is not ready yet. Then to the first job, in order of arrival, that may have more (clo_decima.room) and has such
 * a stage. Else nowhere. See decima_state.h. */
#include "policy/decima/decima_state.h"

#include "cost/cost.h"

bool clo_decima_is_open(const clo_decima *d, const clo_live_job *live, const clo_decima_job *job, uint32_t stage)
{
    const clo_graph *graph = live->cost->graph;
    const clo_decima_stage *row = &job->stages[stage];

    if (row->is_saturated || row->round == d->round)
        return false;
    for (uint32_t k = graph->in_first[stage]; k < graph->in_first[stage + 1] && !row->is_ready; k++)
        if (!job->stages[clo_graph_source(graph, k)].is_saturated)
            return false;
    return true;
}

uint32_t clo_decima_open_stage(const clo_decima *d, const clo_live_job *live, uint32_t slot)
{
    const clo_decima_job *job = live->state;

    for (uint32_t s = live->first_ready; s != CLO_NONE; s = clo_view_stage(d->view, slot, s)->next_ready)
        if (clo_decima_is_open(d, live, job, s))
            return s;
    for (uint32_t s = 0; s < job->stages_count; s++)
        if (clo_decima_is_open(d, live, job, s))
            return s;
    return CLO_NONE;
}

/* *use: executors that may go there. */
static clo_decima_place choose(clo_decima *d, uint32_t *use)
{
    const clo_live_job *live = d->own != CLO_NONE ? clo_view_job(d->view, d->own) : NULL;
    uint32_t stage = live != NULL && ((clo_decima_job *)live->state)->unsaturated > 0
                         ? clo_decima_open_stage(d, live, d->own)
                         : CLO_NONE;

    *use = d->asked;
    if (stage != CLO_NONE)
        return (clo_decima_place){d->own, stage};
    if (d->weigh != NULL)
        d->weigh(d);
    for (uint32_t slot = d->unfinished > 0 ? clo_view_first_job(d->view) : CLO_NONE; slot != CLO_NONE;
         slot = live->next) {
        live = clo_view_job(d->view, slot);
        clo_decima_job *job = live->state;
        if (job->unsaturated == 0)
            continue;
        d->is_cut = d->is_bounded && !clo_view_step(d->view);
        uint32_t room = d->is_cut ? 0 : d->room(d, job);
        stage = room > 0 ? clo_decima_open_stage(d, live, slot) : CLO_NONE;
        if (stage != CLO_NONE) {
            const clo_decima_stage *row = &job->stages[stage];
            uint32_t wanted = row->left - row->committed - row->moving;
            *use = room < d->asked ? room : d->asked;
            job->given += wanted < *use ? wanted : *use;
            return (clo_decima_place){slot, stage};
        }
        if (d->is_cut)
            break;
    }
    return (clo_decima_place){CLO_NONE, CLO_NONE};
}

bool clo_decima_consult(clo_decima *d)
{
    while (d->asked > 0) {
        uint32_t executor = d->single != CLO_NONE ? d->single : clo_decima_pool_of(d, d->asked_pool)->first, use;
        d->is_cut = d->is_bounded && !clo_view_step(d->view);
        clo_decima_place to = {CLO_NONE, CLO_NONE};
        if (!d->is_cut)
            to = d->choose != NULL ? d->choose(d, &use) : choose(d, &use);
        if (d->is_cut)
            return false;
        if (to.job != CLO_NONE) {
            clo_decima_stage *stage = clo_decima_stage_of(d, to);
            uint32_t wanted = stage->left - stage->committed - stage->moving;
            use = use < wanted ? use : wanted;
            stage->round = d->round;
        }
        clo_decima_commit(d, clo_decima_source_of(d, executor), d->executors[executor].job, to, use);
        d->asked -= use;
    }
    return true;
}

clo_decima_place clo_decima_any_stage(clo_decima *d)
{
    uint32_t slot = d->unfinished > 0 ? clo_view_first_job(d->view) : CLO_NONE;

    while (slot != CLO_NONE) {
        const clo_live_job *live = clo_view_job(d->view, slot);
        const clo_decima_job *job = live->state;
        for (uint32_t s = 0; s < job->stages_count && job->unsaturated > 0; s++)
            if (clo_decima_is_open(d, live, job, s))
                return (clo_decima_place){slot, s};
        slot = live->next;
    }
    return (clo_decima_place){CLO_NONE, CLO_NONE};
}
