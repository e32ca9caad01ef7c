/* decima_case.c - see decima_case.h. */
#include "policy/decima/decima_case.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "learn/infer/features.h"

enum { STAGE_NUMBERS_MAX = CLO_CASE_WORK + CLO_WORK_PARTS };

typedef struct places {
    size_t child_begin, children, job_of_stage, stage_of_row, slots, inputs, stage_raw, job_raw, learned, bytes;
} places;

static places place(const clo_learned_argument *with, const clo_infer_sizes *sizes)
{
    clo_layout layout = {0};
    places at = {0};

    at.child_begin = clo_layout_add(&layout, sizes->stages + 1, sizeof(uint32_t));
    at.children = clo_layout_add(&layout, sizes->edges, sizeof(uint32_t));
    at.job_of_stage = clo_layout_add(&layout, sizes->stages, sizeof(uint32_t));
    at.stage_of_row = clo_layout_add(&layout, sizes->stages, sizeof(uint32_t));
    at.slots = clo_layout_add(&layout, sizes->jobs, sizeof(uint32_t));
    at.inputs = clo_layout_add(&layout, STAGE_NUMBERS_MAX * sizes->stages + CLO_CASE_JOB_FEATURES * sizes->jobs,
                               sizeof(int16_t));
    at.stage_raw = clo_layout_add(&layout, sizes->stages, CLO_CASE_STAGE_FEATURES * sizeof(int64_t));
    at.job_raw = clo_layout_add(&layout, sizes->jobs, CLO_CASE_JOB_FEATURES * sizeof(int64_t));
    at.learned = clo_layout_add(&layout, clo_learned_bytes(with, sizes) + CLO_CACHE_LINE_BYTES, 1);
    at.learned = (at.learned + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    at.bytes = layout.bytes;
    return at;
}

size_t clo_decima_case_bytes(const clo_limits *limits, const clo_learned_argument *with)
{
    const clo_infer_sizes sizes = clo_learned_sizes(with, limits->executors);

    return place(with, &sizes).bytes;
}

clo_status clo_decima_case_init(clo_decima_case *c, const clo_limits *limits, const clo_learned_argument *with,
                                const clo_decima_facts *facts, void *memory)
{
    const clo_infer_sizes sizes = clo_learned_sizes(with, limits->executors);
    const places at = place(with, &sizes);
    unsigned char *bytes = memory;

    *c = (clo_decima_case){.facts = facts,
                           .child_begin = (void *)(bytes + at.child_begin),
                           .children = (void *)(bytes + at.children),
                           .job_of_stage = (void *)(bytes + at.job_of_stage),
                           .stage_of_row = (void *)(bytes + at.stage_of_row),
                           .slots = (void *)(bytes + at.slots),
                           .inputs = (void *)(bytes + at.inputs),
                           .stage_raw = (void *)(bytes + at.stage_raw),
                           .job_raw = (void *)(bytes + at.job_raw)};
    c->seen.job_of_stage = c->job_of_stage;
    c->seen.child_begin = c->child_begin;
    c->seen.children = c->children;
    c->seen.inputs = c->inputs;
    clo_status status = clo_learned_init(&c->learned, with, &sizes, bytes + at.learned);
    if (status == CLO_OK)
        c->work_parts = c->learned.model->header->feature_set == CLO_FEATURES_DECIMA_FINE ? CLO_WORK_PARTS : 1;
    for (uint32_t k = 0; k < limits->executors && status == CLO_OK; k++)
        c->learned.limit_inputs[k] =
            clo_learned_feature(&c->learned, CLO_CASE_WORK + c->work_parts + CLO_CASE_JOB_FEATURES, k);
    return status;
}

/* The rows of a job that fits. */
static void add_stages(clo_decima_case *c, const clo_view *view, uint32_t slot, const clo_graph *graph, uint32_t *rows)
{
    uint32_t first = c->seen.stages, edges = c->child_begin[first];

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t s = graph->task_order[i];
        if (clo_view_stage(view, slot, s)->unfinished == 0)
            continue;
        rows[s] = c->seen.stages;
        c->job_of_stage[c->seen.stages] = c->seen.jobs;
        c->stage_of_row[c->seen.stages++] = s;
    }
    for (uint32_t row = first; row < c->seen.stages; row++) { /* children of what is unfinished are, too */
        uint32_t s = c->stage_of_row[row];
        for (uint32_t k = graph->out_first[s]; k < graph->out_first[s + 1]; k++)
            c->children[edges++] = rows[graph->out[k]];
        c->child_begin[row + 1] = edges;
    }
}

static bool fits(const clo_decima_case *c, const clo_view *view, uint32_t slot, const clo_graph *graph)
{
    uint32_t stages = c->seen.stages, edges = c->child_begin[stages];

    for (uint32_t s = 0; s < graph->tasks; s++) {
        if (clo_view_stage(view, slot, s)->unfinished == 0)
            continue;
        stages++;
        edges += graph->out_first[s + 1] - graph->out_first[s];
        if (stages > c->learned.sizes.stages || edges > c->learned.sizes.edges)
            return false;
    }
    return true;
}

static bool find_rows(clo_decima_case *c, const clo_view *view)
{
    const clo_infer_sizes *sizes = &c->learned.sizes;
    const clo_live_job *live;

    c->seen.stages = c->seen.jobs = 0;
    c->child_begin[0] = 0;
    c->has_others = false;
    for (uint32_t slot = clo_view_first_job(view); slot != CLO_NONE; slot = live->next) {
        live = clo_view_job(view, slot);
        const clo_graph *graph = live->cost->graph;
        uint32_t *rows = c->facts->rows(live);
        if (rows == NULL)
            continue;
        bool is_huge = graph->tasks > sizes->stages || graph->edges > sizes->edges;
        if (!clo_view_steps(view, is_huge ? 1 : graph->tasks))
            return false;
        c->has_others = c->has_others || is_huge;
        if (is_huge)
            continue;
        if (c->seen.jobs == sizes->jobs || !fits(c, view, slot, graph)) {
            c->has_others = true;
            break;
        }
        add_stages(c, view, slot, graph, rows);
        c->slots[c->seen.jobs++] = slot;
    }
    return true;
}

/* What the network sees of a stage; of its job it is the same for all of them. Returns the end. */
static int16_t *put_stage(const clo_decima_case *c, const int64_t raw[CLO_CASE_STAGE_FEATURES], int16_t *to)
{
    for (uint32_t i = 0; i < CLO_CASE_WORK; i++)
        *to++ = clo_learned_feature(&c->learned, i, raw[i]);
    if (c->work_parts == 1)
        *to++ = clo_learned_feature(&c->learned, CLO_CASE_WORK, raw[CLO_CASE_WORK]);
    for (uint32_t i = 0; c->work_parts > 1 && i < c->work_parts; i++)
        *to++ = clo_learned_part(&c->learned, CLO_CASE_WORK, i, raw[CLO_CASE_WORK]);
    return to;
}

static void put_inputs(clo_decima_case *c, const clo_view *view, const void *context)
{
    const uint32_t of_job = CLO_CASE_WORK + c->work_parts;
    int16_t *to = c->inputs + of_job * (size_t)c->seen.stages;

    for (uint32_t j = 0; j < c->seen.jobs; j++) {
        int64_t *raw = &c->job_raw[CLO_CASE_JOB_FEATURES * (size_t)j];
        c->facts->job(context, c->slots[j], clo_view_job(view, c->slots[j]), raw);
        for (uint32_t i = 0; i < CLO_CASE_JOB_FEATURES; i++)
            *to++ = clo_learned_feature(&c->learned, of_job + i, raw[i]);
    }
    to = c->inputs;
    for (uint32_t row = 0; row < c->seen.stages; row++) {
        uint32_t j = c->job_of_stage[row];
        int64_t *raw = &c->stage_raw[CLO_CASE_STAGE_FEATURES * (size_t)row], time_ns = 0;
        uint32_t tasks = c->facts->stage(view, c->slots[j], c->stage_of_row[row], &time_ns);
        for (uint32_t i = 0; i < CLO_CASE_JOB_FEATURES; i++)
            raw[i] = c->job_raw[CLO_CASE_JOB_FEATURES * (size_t)j + i];
        raw[CLO_CASE_TASKS] = tasks;
        raw[CLO_CASE_WORK] = clo_time_mul(tasks, time_ns);
        to = put_stage(c, raw, to);
    }
}

bool clo_decima_case_look(clo_decima_case *c, const clo_view *view, const void *context)
{
    if (!find_rows(c, view))
        return false;
    if (c->has_others)
        clo_view_partial(view);
    put_inputs(c, view, context);
    return true;
}
