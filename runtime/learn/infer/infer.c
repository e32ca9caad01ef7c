/* infer.c - runs the plan of infer_plan.c.
 *
 * Rows lie as run.c has them, in the order of the case. Within a loop the stages go by levels: those without children
 * first, then those whose children are all done. All stages of a level are independent, so they share tiles. */
#include "learn/infer/infer.h"

#include "base/memory.h"
#include "learn/infer/infer_tile.h"

#include <string.h>

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Rows, and the job of each: that of the case's arrays, or one for all. */
typedef struct work {
    const clo_infer_segment *segment;
    const uint32_t *rows;
    uint32_t count, on;
    const uint32_t *job_of;
    uint32_t job;
    bool skips_loop;
} work;

/* Runs the next tile of the work, from row `begin` on. */
static void run_tile(const clo_infer *f, const work *w, uint32_t begin, clo_infer_tile *t)
{
    t->segment = w->segment;
    t->rows = w->rows + begin;
    t->count = smaller(w->count - begin, (uint32_t)w->segment->blocks * CLO_LANES);
    t->blocks = (t->count + CLO_LANES - 1) / CLO_LANES;
    t->on = w->on;
    for (uint32_t i = 0; w->segment->needs_jobs && i < t->count; i++)
        t->jobs[i] = w->job_of != NULL ? w->job_of[t->rows[i]] : w->job;
    t->skips_loop = w->skips_loop;
    clo_infer_run_tile(f, t);
}

static void run_rows(const clo_infer *f, const work *w)
{
    clo_infer_tile t;

    for (uint32_t begin = 0; begin < w->count; begin += t.count)
        run_tile(f, w, begin, &t);
}

static uint32_t rows_of(const clo_infer *f, uint32_t domain)
{
    return domain == CLO_MODEL_STAGE ? f->input->stages : domain == CLO_MODEL_JOB ? f->input->jobs : 1;
}

static void run_tiles(const clo_infer *f, const clo_infer_segment *segment)
{
    work w = {.segment = segment,
              .rows = f->identity,
              .count = rows_of(f, segment->domain),
              .on = segment->on,
              .job_of = segment->domain == CLO_MODEL_STAGE ? f->input->job_of_stage : NULL};

    if (segment->on == CLO_MODEL_LEAVES) {
        w.rows = f->by_level;
        w.count = f->level_begin[1];
    } else if (segment->on == CLO_MODEL_INNER) {
        w.rows = f->by_level + f->level_begin[1];
        w.count -= f->level_begin[1];
    }
    run_rows(f, &w);
}

static void run_sum(const clo_infer *f, const clo_infer_segment *segment)
{
    const clo_format_op *op = &f->model->ops[segment->op];

    if (segment->domain == CLO_MODEL_GLOBAL) {
        clo_infer_sum_rows(f, op, f->identity, f->input->jobs, clo_infer_kept_row(f, op->out, 0));
        return;
    }
    for (uint32_t j = 0; j < f->input->jobs; j++)
        clo_infer_sum_rows(f, op, f->members + f->member_begin[j], f->member_begin[j + 1] - f->member_begin[j],
                           clo_infer_kept_row(f, op->out, j));
}

static void run_loop(const clo_infer *f, const clo_infer_segment *segment)
{
    const clo_format_op *op = &f->model->ops[segment->op];

    bool skips = op->in[0] != CLO_MODEL_NONE && f->input->child_begin[f->input->stages] == 0;

    for (uint32_t level = 0; level < f->levels; level++) {
        const work w = {.segment = segment,
                        .rows = f->by_level + f->level_begin[level],
                        .count = f->level_begin[level + 1] - f->level_begin[level],
                        .on = level == 0 ? CLO_MODEL_LEAVES : CLO_MODEL_INNER,
                        .job_of = f->input->job_of_stage,
                        .skips_loop = skips};
        run_rows(f, &w);
    }
}

/* Stages in the order of keys[stage] < count, by counting (Knuth, vol. 3, 5.2); begin is [count + 1]. */
static void sort_stages(uint32_t stages, const uint32_t *keys, uint32_t count, uint32_t *begin, uint32_t *sorted)
{
    memset(begin, 0, (count + 1) * sizeof *begin);
    for (uint32_t s = 0; s < stages; s++)
        begin[keys[s]]++;
    for (uint32_t k = 1; k <= count; k++)
        begin[k] += begin[k - 1];
    for (uint32_t s = stages; s-- > 0;) /* begin[k] goes from the end of k down to its begin */
        sorted[--begin[keys[s]]] = s;
}

/* Stages of a job mostly stand together, the jobs in order: then there is nothing to sort. */
static void find_members(clo_infer *f)
{
    const uint32_t *job_of = f->input->job_of_stage;
    uint32_t stages = f->input->stages, next = 0;
    bool is_sorted = true;

    for (uint32_t s = 1; s < stages; s++)
        is_sorted = is_sorted && job_of[s - 1] <= job_of[s];
    f->members = is_sorted ? f->identity : f->sorted_members;
    if (!is_sorted) {
        sort_stages(stages, job_of, f->input->jobs, f->member_begin, f->sorted_members);
        return;
    }
    for (uint32_t s = 0; s < stages; s++)
        while (next <= job_of[s])
            f->member_begin[next++] = s;
    while (next <= f->input->jobs)
        f->member_begin[next++] = stages;
}

/* Sets level_of of each stage to twice its level, and one more for stages without a parent. Children stand behind their
 * parents. */
static void find_keys(clo_infer *f)
{
    const clo_model_case *input = f->input;
    uint32_t *keys = f->level_of;

    f->levels = 1;
    for (uint32_t s = 0; s < input->stages; s++)
        keys[s] = 1;
    for (uint32_t s = input->stages; s-- > 0;) {
        uint32_t level = 0;
        for (uint32_t e = input->child_begin[s]; e < input->child_begin[s + 1]; e++) {
            uint32_t child = input->children[e];
            level = keys[child] / 2 >= level ? keys[child] / 2 + 1 : level;
            keys[child] &= ~1u;
        }
        keys[s] = level * 2 + 1;
        f->levels = level >= f->levels ? level + 1 : f->levels;
    }
}

/* Nobody waits for stages without a parent: where a level does not fill its last block, as many of them go over to the
 * next level as stand in that block. They are the last of their level. Leaves stay among themselves. */
static void find_levels(clo_infer *f)
{
    uint32_t *begin = f->level_begin;

    find_keys(f);
    sort_stages(f->input->stages, f->level_of, 2 * f->levels, begin, f->by_level);
    for (uint32_t level = 1; level <= f->levels; level++) { /* begin[level] of keys becomes that of levels, in place */
        uint32_t roots = begin[2 * level] - begin[2 * level - 1], over;
        begin[level] = begin[2 * level];
        over = (begin[level] - begin[level - 1]) % CLO_LANES;
        if (level > 1 && level < f->levels && over <= roots)
            begin[level] -= over;
    }
}

/* Rows of inputs of one domain (or all but limits, CLO_MODEL_NONE), from arrays one after the other. */
static void put_rows(const clo_infer *f, uint32_t value, const int16_t *from, uint32_t count)
{
    uint32_t width = clo_infer_value_at(f, value)->width;
    uint32_t row_bytes = f->plan.values[value].row_bytes;
    unsigned char *to = clo_infer_kept_row(f, value, 0);

    for (uint32_t row = 0; row < count; row++, from += width, to += row_bytes) {
        if (clo_infer_value_at(f, value)->number == CLO_S8)
            for (uint32_t i = 0; i < width; i++)
                ((int8_t *)to)[i] = (int8_t)from[i];
        else if (width <= CLO_LANES && (count - row) * width >= CLO_LANES) /* what is behind the row means nothing */
            memcpy(to, from, CLO_LANES * sizeof *from);
        else
            memcpy(to, from, width * sizeof *from);
    }
}

static void put_inputs(const clo_infer *f)
{
    const uint32_t rows[] = {f->input->stages, f->input->jobs, 1, f->input->limits};
    const int16_t *from = f->input->inputs;

    for (uint32_t v = 0; v < f->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = clo_infer_value_at(f, v);
        if (!value->is_input)
            continue;
        if (value->domain != CLO_MODEL_LIMIT)
            put_rows(f, v, from, rows[value->domain]);
        from += (size_t)rows[value->domain] * value->width;
    }
}

typedef struct places {
    size_t dense, wide, tile, joins, identity, by_level, level_begin, level_of, members, member_begin;
} places;

/* Sets where the kept values of the plan lie, and the rest. 0: too much. */
static size_t place(clo_infer_plan *plan, const clo_model *model, const clo_infer_sizes *sizes, places *at)
{
    const uint32_t rows[] = {sizes->stages, sizes->jobs, 1, sizes->limits};
    size_t longest = sizes->stages > sizes->jobs ? sizes->stages : sizes->jobs;
    clo_layout layout = {0};
    size_t row_bytes = 0;

    clo_layout_add(&layout, 1, sizeof(clo_infer));
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++) {
        row_bytes = plan->values[v].row_bytes > row_bytes ? plan->values[v].row_bytes : row_bytes;
        if (plan->values[v].is_kept)
            plan->values[v].rows = clo_layout_add(&layout, rows[model->values[v].domain], plan->values[v].row_bytes);
    }
    longest = sizes->limits > longest ? sizes->limits : longest;
    longest = longest < CLO_TILE_ROWS ? CLO_TILE_ROWS : longest;
    at->dense = clo_layout_add(&layout, model->counts[CLO_PART_LAYERS], sizeof(clo_dense));
    at->wide = clo_layout_add(&layout, plan->wide_bytes, 1);
    at->tile = clo_layout_add(&layout, plan->tile_bytes, 1);
    at->joins = clo_layout_add(&layout, CLO_MODEL_OP_INPUTS * plan->join_bytes + CLO_TILE_ROWS * row_bytes, 1);
    at->identity = clo_layout_add(&layout, longest, sizeof(uint32_t));
    at->by_level = clo_layout_add(&layout, sizes->stages, sizeof(uint32_t));
    at->level_begin = clo_layout_add(&layout, 2 * (size_t)sizes->stages + 3, sizeof(uint32_t));
    at->level_of = clo_layout_add(&layout, sizes->stages, sizeof(uint32_t));
    at->members = clo_layout_add(&layout, sizes->stages, sizeof(uint32_t));
    at->member_begin = clo_layout_add(&layout, (size_t)sizes->jobs + 1, sizeof(uint32_t));
    return layout.overflow ? 0 : layout.bytes;
}

size_t clo_infer_bytes(const clo_model *model, const clo_infer_sizes *sizes)
{
    clo_infer_plan plan;
    places at;

    clo_infer_plan_make(&plan, model);
    return place(&plan, model, sizes, &at);
}

static void put_layers(clo_infer *f, int16_t *wide)
{
    memcpy(f->dense, f->model->dense, f->model->counts[CLO_PART_LAYERS] * sizeof *f->dense);
    for (uint32_t i = 0; i < f->model->counts[CLO_PART_LAYERS]; i++)
        if (f->plan.is_wide[i]) {
            clo_dense *layer = &f->dense[i];
            clo_weights_widen(layer->weights, layer->inputs, layer->outputs, wide);
            layer->wide = wide;
            wide += clo_weights_bytes(layer->inputs, layer->outputs);
        }
}

clo_infer *clo_infer_init(const clo_model *model, const clo_kernels *kernels, const clo_infer_sizes *sizes,
                          void *memory)
{
    unsigned char *bytes = memory;
    clo_infer *f = memory;
    places at;

    clo_infer_plan_make(&f->plan, model);
    memset(bytes + sizeof *f, 0, place(&f->plan, model, sizes, &at) - sizeof *f);
    f->model = model;
    f->kernels = *kernels;
    f->input = NULL;
    f->memory = bytes;
    f->dense = (void *)(bytes + at.dense);
    put_layers(f, (void *)(bytes + at.wide));
    f->tile = bytes + at.tile;
    f->joins = bytes + at.joins;
    f->identity = (void *)(bytes + at.identity);
    f->by_level = (void *)(bytes + at.by_level);
    f->level_begin = (void *)(bytes + at.level_begin);
    f->level_of = (void *)(bytes + at.level_of);
    f->members = f->sorted_members = (void *)(bytes + at.members);
    f->member_begin = (void *)(bytes + at.member_begin);
    f->levels = 0;
    size_t longest = (at.by_level - at.identity) / sizeof(uint32_t);
    for (uint32_t i = 0; i < longest; i++)
        f->identity[i] = i;
    return f;
}

void clo_infer_encode(clo_infer *infer, const clo_model_case *input)
{
    infer->input = input;
    put_inputs(infer);
    if (infer->plan.needs_levels)
        find_levels(infer);
    if (infer->plan.needs_members)
        find_members(infer);
    for (uint32_t i = 0; i < infer->plan.encoder_count; i++) {
        const clo_infer_segment *segment = &infer->plan.segments[i];
        if (segment->kind == CLO_INFER_LOOP)
            run_loop(infer, segment);
        else if (segment->kind == CLO_INFER_SUM)
            run_sum(infer, segment);
        else
            run_tiles(infer, segment);
    }
}

/* Runs a head over the work; the scores lie at `at` of each tile. */
static void run_head(const clo_infer *f, const work *w, uint32_t value, uint32_t at, int32_t *scores)
{
    clo_infer_tile t;

    for (uint32_t begin = 0; begin < w->count; begin += t.count) {
        run_tile(f, w, begin, &t);
        if (t.count <= CLO_NODE_ROWS)
            for (uint32_t i = 0; i < t.count; i++)
                scores[begin + i] = *(const int32_t *)clo_infer_node_row(f, &t, value, at, i);
        else
            memcpy(scores + begin, f->tile + at, t.count * sizeof *scores);
    }
}

void clo_infer_score(clo_infer *infer, const uint32_t *stages, uint32_t count, int32_t *scores)
{
    const clo_infer_segment *head = &infer->plan.stage_head;
    uint32_t value = infer->model->header->score;
    const work w = {.segment = head, .rows = stages, .count = count, .job_of = infer->input->job_of_stage};

    if (head->steps.begin != head->steps.end)
        run_head(infer, &w, value, infer->plan.stage_score, scores);
    else
        for (uint32_t i = 0; i < count; i++)
            scores[i] = *(const int32_t *)clo_infer_kept_row(infer, value, stages[i]);
}

/* From the inputs of limits that begin at `from`, those of other domains between them where they stand in a case. */
static void put_limits(const clo_infer *f, const int16_t *from, const uint32_t rows[4])
{
    for (uint32_t v = 0; v < f->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = clo_infer_value_at(f, v);
        if (!value->is_input)
            continue;
        if (value->domain == CLO_MODEL_LIMIT)
            put_rows(f, v, from, rows[CLO_MODEL_LIMIT]);
        from += (size_t)rows[value->domain] * value->width;
    }
}

/* Limits 0 .. count - 1, whose inputs are put: of job_of[i], or of `job`. */
static void run_limits(const clo_infer *f, const uint32_t *job_of, uint32_t job, uint32_t count, int32_t *scores)
{
    const uint32_t jobs = job_of != NULL ? f->input->jobs : 1;
    const work of_jobs = {
        .segment = &f->plan.job_head, .rows = job_of != NULL ? f->identity : &job, .count = count > 0 ? jobs : 0};
    const work w = {.segment = &f->plan.limit_head, .rows = f->identity, .count = count, .job_of = job_of, .job = job};

    if (f->model->header->limit == CLO_MODEL_NONE) {
        memset(scores, 0, count * sizeof *scores);
        return;
    }
    if (f->plan.job_head.steps.begin != f->plan.job_head.steps.end)
        run_rows(f, &of_jobs);
    run_head(f, &w, f->model->header->limit, f->plan.limit_score, scores);
}

void clo_infer_limits(clo_infer *infer, uint32_t job, const int16_t *inputs, uint32_t count, int32_t *scores)
{
    const uint32_t rows[] = {0, 0, 0, count};

    put_limits(infer, inputs, rows);
    run_limits(infer, NULL, job, count, scores);
}

void clo_infer_run(clo_infer *infer, const clo_model_case *input, int32_t *scores, int32_t *limits)
{
    clo_infer_encode(infer, input);
    clo_infer_score(infer, infer->identity, input->stages, scores);
    if (limits == NULL)
        return;
    const uint32_t rows[] = {input->stages, input->jobs, 1, input->limits};
    put_limits(infer, input->inputs, rows);
    run_limits(infer, input->job_of_limit, 0, input->limits, limits);
}

uint64_t clo_infer_steps_encode(const clo_infer *infer, uint32_t stages, uint32_t jobs)
{
    const uint64_t *cost = infer->plan.encoder_cost;

    return (cost[CLO_MODEL_STAGE] * stages + cost[CLO_MODEL_JOB] * jobs + cost[CLO_MODEL_GLOBAL] + 63) / 64;
}

uint64_t clo_infer_steps_heads(const clo_infer *infer, uint32_t stages, uint32_t limits)
{
    const uint64_t *cost = infer->plan.head_cost;

    uint64_t job = limits > 0 ? cost[CLO_MODEL_JOB] : 0;

    return (cost[CLO_MODEL_STAGE] * stages + cost[CLO_MODEL_LIMIT] * limits + job + stages + limits + 63) / 64;
}
