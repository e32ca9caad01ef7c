/* infer.c - runs the plan of infer_plan.c.
 *
 * Rows lie as run.c has them, in the order of the case. Within a loop the stages go by levels: those without children
 * first, then those whose children are all done. All stages of a level are independent, so they share tiles. */
#include "learn/infer.h"

#include "base/memory.h"
#include "learn/infer_plan.h"

#include <assert.h>
#include <string.h>

struct clo_infer {
    const clo_model *model;
    clo_kernels kernels;
    clo_infer_plan plan;
    /* The model's layers, with their weights as words where int16 comes in. */
    clo_dense *dense;
    const clo_model_case *input;
    unsigned char *memory, *tile, *joins;
    /* 0, 1, 2, ...; stages by level, and where each level begins; level of each stage. */
    uint32_t *identity, *by_level, *level_begin, *level_of;
    /* Stages by job, and where each job begins: identity or sorted. */
    const uint32_t *members;
    uint32_t *sorted_members, *member_begin;
    uint32_t levels;
};

/* Some rows of one domain. */
typedef struct tile {
    const clo_infer_segment *segment;
    const uint32_t *rows;
    uint32_t count, blocks;
    /* CLO_MODEL_LEAVES or CLO_MODEL_INNER: only operations on these and on all; CLO_MODEL_ALL: all of them */
    uint32_t on;
    /* No job has an edge, and the loop can be skipped. */
    bool skips_loop;
    /* Job of each row, of stages and limits. */
    uint32_t jobs[CLO_TILE_ROWS];
} tile;

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static const clo_format_value *value_at(const clo_infer *f, uint32_t value)
{
    return &f->model->values[value];
}

static void *kept_row(const clo_infer *f, uint32_t value, uint32_t row)
{
    return f->memory + f->plan.values[value].rows + (size_t)row * f->plan.values[value].row_bytes;
}

/* Row i of the tile, where it is run row by row: where it is kept, or in the tile's scratch. */
static void *node_row(const clo_infer *f, const tile *t, uint32_t value, uint32_t at, uint32_t i)
{
    const clo_infer_value *v = &f->plan.values[value];

    return v->is_kept ? kept_row(f, value, t->rows[i]) : f->tile + at + (size_t)i * v->row_bytes;
}

/* The row of an input of any domain. */
static const void *node_input(const clo_infer *f, const tile *t, uint32_t value, uint32_t at, uint32_t i)
{
    uint32_t domain = value_at(f, value)->domain;

    if (domain == t->segment->domain)
        return node_row(f, t, value, at, i);
    return kept_row(f, value, domain == CLO_MODEL_GLOBAL ? 0 : t->jobs[i]);
}

static const void *table_of(const clo_infer *f, const clo_format_op *op)
{
    return f->model->data + f->model->tables[op->argument].offset;
}

static void put_clamped(const clo_infer *f, const int32_t *sums, uint32_t number, uint32_t count, void *out)
{
    if (number == CLO_S8)
        f->kernels.clamp_s8(sums, count, INT8_MIN, INT8_MAX, out);
    else if (number == CLO_S16)
        f->kernels.clamp_s16(sums, count, INT16_MIN, INT16_MAX, out);
    else
        memcpy(out, sums, count * sizeof *sums);
}

static void sum_rows(const clo_infer *f, const clo_format_op *op, const uint32_t *rows, uint32_t count, void *out)
{
    const clo_format_value *in = value_at(f, op->in[0]);
    const clo_rows from = {rows, count, in->width, clo_up(in->width, CLO_LANES)};
    int32_t sums[CLO_MODEL_WIDTH_MAX];

    if (in->number == CLO_S8)
        f->kernels.sum_rows_s8(&from, kept_row(f, op->in[0], 0), sums);
    else
        f->kernels.sum_rows_s16(&from, kept_row(f, op->in[0], 0), sums);
    put_clamped(f, sums, value_at(f, op->out)->number, in->width, out);
}

static void sum_children(const clo_infer *f, const clo_format_op *op, uint32_t row, void *out)
{
    const uint32_t *begin = f->input->child_begin;

    sum_rows(f, op, f->input->children + begin[row], begin[row + 1] - begin[row], out);
}

/* `count` numbers that lie in a row, of rows or of lanes. */
static void add(const clo_infer *f, uint32_t number, const void *const in[CLO_MODEL_OP_INPUTS], uint32_t count,
                void *out)
{
    if (number == CLO_S8)
        f->kernels.add_s8(in[0], in[1], in[2], count, out);
    else
        f->kernels.add_s16(in[0], in[1], in[2], count, out);
}

static void join_node(const clo_infer *f, const tile *t, const clo_infer_step *step, uint32_t i, void *out)
{
    const clo_format_op *op = &f->model->ops[step->op];
    const clo_dense *layer = &f->dense[op->argument];
    const int32_t *parts[CLO_MODEL_OP_INPUTS] = {NULL};

    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
        parts[k] = node_input(f, t, op->in[k], step->in[k], i);
    const clo_partials partials = {layer->outputs, parts[0], parts[1], parts[2]};
    f->kernels.split_node(&layer->rule, &partials, out);
}

static void step_node(const clo_infer *f, const tile *t, const clo_infer_step *step, uint32_t i)
{
    const clo_format_op *op = &f->model->ops[step->op];
    const clo_format_value *out_value = value_at(f, op->out);
    const void *in[CLO_MODEL_OP_INPUTS] = {NULL};
    void *out = node_row(f, t, op->out, step->out, i);

    for (uint32_t k = 0; op->op != CLO_MODEL_JOIN && k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
        in[k] = node_row(f, t, op->in[k], step->in[k], i);
    switch ((clo_model_operation)op->op) {
    case CLO_MODEL_DENSE:
        if (value_at(f, op->in[0])->number == CLO_S8)
            f->kernels.dense_node_s8(&f->dense[op->argument], in[0], out);
        else
            f->kernels.dense_node_s16(&f->dense[op->argument], in[0], out);
        break;
    case CLO_MODEL_JOIN:
        join_node(f, t, step, i, out);
        break;
    case CLO_MODEL_SUM_CHILDREN:
        sum_children(f, op, t->rows[i], out);
        break;
    case CLO_MODEL_ADD:
        add(f, out_value->number, in, out_value->width, out);
        break;
    case CLO_MODEL_TANH:
        f->kernels.tanh_s16(table_of(f, op), in[0], out_value->width, out);
        break;
    case CLO_MODEL_LOOKUP:
        f->kernels.lookup_s8(table_of(f, op), in[0], out_value->width, out);
        break;
    case CLO_MODEL_SUM:
    case CLO_MODEL_LOOP:
    case CLO_MODEL_END:
        assert(!"in no tile");
    }
}

static clo_rows words_of(const clo_infer *f, uint32_t value, const uint32_t *rows, uint32_t count)
{
    const clo_infer_value *v = &f->plan.values[value];

    return (clo_rows){rows, count, v->words, v->row_bytes / (uint32_t)sizeof(int32_t)};
}

/* Sums lanes of an input that is no partial of its own into the first one's copy. */
static void add_lanes(int32_t *to, const int32_t *a, const int32_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (int32_t)((uint32_t)a[i] + (uint32_t)(b != NULL ? b[i] : 0));
}

/* Inputs of the row's own domain and of its job as lanes, global ones as one array: two of the first and one of the
 * second kind is what the kernel takes; more are added up before. */
static void join_lanes(const clo_infer *f, const tile *t, const clo_infer_step *step)
{
    const clo_format_op *op = &f->model->ops[step->op];
    const clo_dense *layer = &f->dense[op->argument];
    size_t numbers = (size_t)t->blocks * layer->outputs * CLO_LANES;
    const int32_t *lanes[CLO_MODEL_OP_INPUTS] = {NULL}, *global = NULL;
    int32_t globals[CLO_MODEL_WIDTH_MAX];
    uint32_t lanes_count = 0;

    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++) {
        uint32_t v = op->in[k], domain = value_at(f, v)->domain;
        void *room = f->joins + k * f->plan.join_bytes;
        if (domain == t->segment->domain) {
            lanes[lanes_count++] = (const void *)(f->tile + step->in[k]);
        } else if (domain == CLO_MODEL_JOB) {
            const clo_rows rows = words_of(f, v, t->jobs, t->count);
            f->kernels.rows_to_lanes(&rows, kept_row(f, v, 0), room);
            lanes[lanes_count++] = room;
        } else if (global == NULL) {
            global = kept_row(f, v, 0);
        } else {
            add_lanes(globals, global, kept_row(f, v, 0), clo_up(layer->outputs, CLO_LANES));
            global = globals;
        }
    }
    if (lanes_count == 0) {
        lanes[0] = memset(f->joins, 0, numbers * sizeof(int32_t));
    } else if (lanes_count == CLO_MODEL_OP_INPUTS) {
        add_lanes((void *)f->joins, lanes[0], lanes[2], numbers);
        lanes[0] = (const void *)f->joins;
    }
    const clo_partials partials = {layer->outputs, lanes[0], lanes[1], global};
    f->kernels.split_lanes(&layer->rule, &partials, t->blocks, f->tile + step->out);
}

/* Sums by row, behind the joins' room, then to lanes. */
static void sum_children_lanes(const clo_infer *f, const tile *t, const clo_infer_step *step)
{
    const clo_format_op *op = &f->model->ops[step->op];
    uint32_t row_bytes = f->plan.values[op->out].row_bytes;
    unsigned char *room = f->joins + CLO_MODEL_OP_INPUTS * f->plan.join_bytes;
    const clo_rows rows = words_of(f, op->out, f->identity, t->count);

    for (uint32_t i = 0; i < t->count; i++)
        sum_children(f, op, t->rows[i], room + (size_t)i * row_bytes);
    f->kernels.rows_to_lanes(&rows, room, f->tile + step->out);
}

static void step_lanes(const clo_infer *f, const tile *t, const clo_infer_step *step)
{
    const clo_format_op *op = &f->model->ops[step->op];
    uint32_t number = value_at(f, op->out)->number;
    uint32_t bytes = f->plan.values[op->out].words * (uint32_t)sizeof(int32_t) * CLO_LANES * t->blocks;
    const void *in[CLO_MODEL_OP_INPUTS] = {NULL};
    void *out = f->tile + step->out;

    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
        in[k] = f->tile + step->in[k];
    switch ((clo_model_operation)op->op) {
    case CLO_MODEL_DENSE:
        if (value_at(f, op->in[0])->number == CLO_S8)
            f->kernels.dense_lanes_s8(&f->dense[op->argument], in[0], t->blocks, out);
        else
            f->kernels.dense_lanes_s16(&f->dense[op->argument], in[0], t->blocks, out);
        break;
    case CLO_MODEL_JOIN:
        join_lanes(f, t, step);
        break;
    case CLO_MODEL_SUM_CHILDREN:
        sum_children_lanes(f, t, step);
        break;
    case CLO_MODEL_ADD:
        add(f, number, in, bytes / clo_number_bytes(number), out);
        break;
    case CLO_MODEL_TANH:
        f->kernels.tanh_s16(table_of(f, op), in[0], bytes / (uint32_t)sizeof(int16_t), out);
        break;
    case CLO_MODEL_LOOKUP:
        f->kernels.lookup_s8(table_of(f, op), in[0], bytes, out);
        break;
    case CLO_MODEL_SUM:
    case CLO_MODEL_LOOP:
    case CLO_MODEL_END:
        assert(!"in no tile");
    }
}

static bool is_on(const clo_infer *f, const clo_infer_step *step, uint32_t on)
{
    uint32_t mine = f->model->ops[step->op].on;

    return mine == CLO_MODEL_ALL || mine == on;
}

static void skip_loop_node(const clo_infer *f, const tile *t, uint32_t i)
{
    const clo_format_op *loop = &f->model->ops[t->segment->op];

    memcpy(node_row(f, t, loop->out, t->segment->loop_out, i), node_row(f, t, loop->in[0], t->segment->loop_in, i),
           f->plan.values[loop->out].row_bytes);
}

static void run_row(const clo_infer *f, const tile *t, uint32_t i)
{
    const clo_infer_segment *segment = t->segment;

    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        if (t->skips_loop && s == segment->loop.begin) {
            skip_loop_node(f, t, i);
            s = segment->loop.end;
            if (s == segment->steps.end)
                break;
        }
        if (is_on(f, &f->plan.steps[s], t->on))
            step_node(f, t, &f->plan.steps[s], i);
    }
}

static void skip_loop_lanes(const clo_infer *f, const tile *t)
{
    const clo_format_op *loop = &f->model->ops[t->segment->op];

    memcpy(f->tile + t->segment->loop_out, f->tile + t->segment->loop_in,
           (size_t)t->blocks * f->plan.values[loop->out].words * CLO_LANES * sizeof(int32_t));
}

static void run_lanes(const clo_infer *f, const tile *t)
{
    const clo_infer_segment *segment = t->segment;

    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        if (t->skips_loop && s == segment->loop.begin) {
            skip_loop_lanes(f, t);
            s = segment->loop.end;
            if (s == segment->steps.end)
                break;
        }
        if (is_on(f, &f->plan.steps[s], t->on))
            step_lanes(f, t, &f->plan.steps[s]);
    }
}

static void run_tile_lanes(const clo_infer *f, const tile *t)
{
    const clo_infer_segment *segment = t->segment;

    for (uint32_t i = segment->loads.begin; i < segment->loads.end; i++) {
        const clo_infer_move *move = &f->plan.moves[i];
        const clo_rows rows = words_of(f, move->value, t->rows, t->count);
        f->kernels.rows_to_lanes(&rows, kept_row(f, move->value, 0), f->tile + move->at);
    }
    run_lanes(f, t);
    for (uint32_t i = segment->stores.begin; i < segment->stores.end; i++) {
        const clo_infer_move *move = &f->plan.moves[i];
        const clo_rows rows = words_of(f, move->value, t->rows, t->count);
        f->kernels.lanes_to_rows(&rows, f->tile + move->at, kept_row(f, move->value, 0));
    }
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
static void run_tile(const clo_infer *f, const work *w, uint32_t begin, tile *t)
{
    t->segment = w->segment;
    t->rows = w->rows + begin;
    t->count = smaller(w->count - begin, (uint32_t)w->segment->blocks * CLO_LANES);
    t->blocks = (t->count + CLO_LANES - 1) / CLO_LANES;
    t->on = w->on;
    for (uint32_t i = 0; w->segment->needs_jobs && i < t->count; i++)
        t->jobs[i] = w->job_of != NULL ? w->job_of[t->rows[i]] : w->job;
    t->skips_loop = w->skips_loop;
    if (t->count > CLO_NODE_ROWS)
        run_tile_lanes(f, t);
    else
        for (uint32_t i = 0; i < t->count; i++)
            run_row(f, t, i);
}

static void run_rows(const clo_infer *f, const work *w)
{
    tile t;

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
        sum_rows(f, op, f->identity, f->input->jobs, kept_row(f, op->out, 0));
        return;
    }
    for (uint32_t j = 0; j < f->input->jobs; j++)
        sum_rows(f, op, f->members + f->member_begin[j], f->member_begin[j + 1] - f->member_begin[j],
                 kept_row(f, op->out, j));
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

/* Children stand behind their parents. */
static void find_levels(clo_infer *f)
{
    const clo_model_case *input = f->input;

    f->levels = 1;
    for (uint32_t s = input->stages; s-- > 0;) {
        uint32_t level = 0;
        for (uint32_t e = input->child_begin[s]; e < input->child_begin[s + 1]; e++)
            if (f->level_of[input->children[e]] >= level)
                level = f->level_of[input->children[e]] + 1;
        f->level_of[s] = level;
        f->levels = level >= f->levels ? level + 1 : f->levels;
    }
    sort_stages(input->stages, f->level_of, f->levels, f->level_begin, f->by_level);
}

/* Rows of inputs of one domain (or all but limits, CLO_MODEL_NONE), from arrays one after the other. */
static void put_rows(const clo_infer *f, uint32_t value, const int16_t *from, uint32_t count)
{
    uint32_t width = value_at(f, value)->width;
    uint32_t row_bytes = f->plan.values[value].row_bytes;
    unsigned char *to = kept_row(f, value, 0);

    for (uint32_t row = 0; row < count; row++, from += width, to += row_bytes) {
        if (value_at(f, value)->number == CLO_S8)
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
        const clo_format_value *value = value_at(f, v);
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
    at->level_begin = clo_layout_add(&layout, (size_t)sizes->stages + 2, sizeof(uint32_t));
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
    tile t;

    for (uint32_t begin = 0; begin < w->count; begin += t.count) {
        run_tile(f, w, begin, &t);
        if (t.count <= CLO_NODE_ROWS)
            for (uint32_t i = 0; i < t.count; i++)
                scores[begin + i] = *(const int32_t *)node_row(f, &t, value, at, i);
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
            scores[i] = *(const int32_t *)kept_row(infer, value, stages[i]);
}

/* From the inputs of limits that begin at `from`, those of other domains between them where they stand in a case. */
static void put_limits(const clo_infer *f, const int16_t *from, const uint32_t rows[4])
{
    for (uint32_t v = 0; v < f->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = value_at(f, v);
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
