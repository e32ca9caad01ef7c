/* plan/learned/scores.c - see scores.h. The parts of a decision of the policy "lachesis" (learn/jobs/ready.h), for all
 * tasks at once. */
#include "plan/learned/scores.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/features.h"
#include "learn/infer/draw.h"
#include "learn/jobs/ready.h"
#include "learn/model/builtin.h"

enum { LINE = CLO_CACHE_LINE_BYTES, MODEL_BYTES = 8192 };

/* The memory of a job and of a ready set of one job. */
typedef struct pass {
    const clo_cost *cost;
    const clo_model *model;
    clo_head head;
    clo_head_job *job;
    clo_scored set;
    void *memory;
} pass;

static clo_status open_pass(pass *p)
{
    uint32_t tasks = p->cost->graph->tasks;
    clo_status status = clo_head_open(p->model, clo_cpu_isa(), &p->head);

    if (status != CLO_OK)
        return status;
    size_t job_bytes = clo_head_job_bytes(&p->head, tasks), set_bytes = clo_scored_bytes(&p->head, tasks, 1);
    unsigned char *job = NULL, *set = NULL;
    clo_block block = {0};
    clo_carve(&block, &job, job_bytes + LINE); /* whole lines: each part begins with one */
    clo_carve(&block, &set, set_bytes + LINE);
    p->memory = job_bytes > 0 && set_bytes > 0 ? clo_block_allocate(&block) : NULL;
    if (p->memory == NULL)
        return clo_fail_memory("a network's pass");
    p->job = clo_head_job_open(&p->head, tasks, job);
    clo_scored_open(&p->set, &p->head, tasks, 1, set);
    return CLO_OK;
}

/* Embeddings, and what the network sees of the job before it has begun. */
static clo_status prepare(pass *p, clo_job_figures *figures)
{
    const clo_graph *graph = p->cost->graph;
    const clo_stage_figures stages = clo_head_job_figures(&p->head, p->job);

    clo_cost_figures(p->cost, stages.time_ns, stages.children);
    *figures =
        (clo_job_figures){.executors = clo_platform_executors(p->cost->platform), .tasks_left = graph->instances};
    for (uint32_t t = 0; t < graph->tasks; t++)
        figures->work_left_ns =
            clo_time_add(figures->work_left_ns, clo_time_mul(stages.time_ns[t], stages.instances[t]));
    p->job->clamped = clo_features_stages(&stages, graph->tasks, &p->job->scale, p->job->features);
    figures->scale = p->job->scale;
    const clo_head_graph edges = {graph->tasks, graph->task_order, graph->out_first, graph->out};
    clo_head_job_prepare(&p->head, p->job, &edges);
    return CLO_OK;
}

static clo_status run_pass(pass *p, int32_t *scores)
{
    uint32_t tasks = p->cost->graph->tasks;
    clo_scored_job row = {.job = p->job, .is_open = true};
    clo_status status = prepare(p, &row.figures);

    if (status != CLO_OK)
        return status;
    const clo_system_figures system = {1, row.figures.executors, row.figures.executors};
    clo_scored_arrive(&p->set, 0, &row);
    for (uint32_t t = 0; t < tasks; t++)
        (void)clo_scored_add(&p->set, 0, t);
    clo_scored_score(&p->set, &system);
    for (uint32_t t = 0; t < tasks; t++)
        scores[t] = p->set.scores[p->job->place[t]];
    return CLO_OK;
}

clo_status clo_score_tasks(const clo_cost *cost, const clo_model *model, clo_task_scores *out)
{
    _Alignas(16) unsigned char room[MODEL_BYTES];
    pass p = {.cost = cost, .model = model};
    clo_status status = CLO_OK;

    if (model == NULL)
        status = clo_builtin_model_open(&clo_builtin_lachesis, room, &p.model);
    if (status == CLO_OK)
        status = open_pass(&p);
    if (status == CLO_OK)
        status = run_pass(&p, out->scores);
    if (status == CLO_OK && clo_draw_scale(p.model, p.model->header->score, &out->drawn_scale) != CLO_OK)
        out->drawn_scale = 0;
    clo_free(p.memory);
    return status;
}
