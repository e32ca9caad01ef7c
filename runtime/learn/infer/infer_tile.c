/* infer_tile.c - each operation in two forms: on a row as it lies, and on 16 rows a block in lanes. */
#include "learn/infer/infer_tile.h"

#include <assert.h>
#include <string.h>

/* The row of an input of any domain. */
static const void *node_input(const clo_infer *f, const clo_infer_tile *t, uint32_t value, uint32_t at, uint32_t i)
{
    uint32_t domain = clo_infer_value_at(f, value)->domain;

    if (domain == t->segment->domain)
        return clo_infer_node_row(f, t, value, at, i);
    return clo_infer_kept_row(f, value, domain == CLO_MODEL_GLOBAL ? 0 : t->jobs[i]);
}

static const void *table_of(const clo_infer *f, const clo_infer_step *step)
{
    return f->model->data + f->model->tables[step->argument].offset;
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

void clo_infer_sum_rows(const clo_infer *f, const clo_format_op *op, const uint32_t *rows, uint32_t count, void *out)
{
    const clo_format_value *in = clo_infer_value_at(f, op->in[0]);
    const clo_rows from = {rows, count, in->width, clo_up(in->width, CLO_LANES)};
    int32_t sums[CLO_MODEL_WIDTH_MAX];

    if (in->number == CLO_S8)
        f->kernels.sum_rows_s8(&from, clo_infer_kept_row(f, op->in[0], 0), sums);
    else
        f->kernels.sum_rows_s16(&from, clo_infer_kept_row(f, op->in[0], 0), sums);
    put_clamped(f, sums, clo_infer_value_at(f, op->out)->number, in->width, out);
}

static void sum_children(const clo_infer *f, const clo_format_op *op, uint32_t row, void *out)
{
    const uint32_t *begin = f->input->child_begin;

    clo_infer_sum_rows(f, op, f->input->children + begin[row], begin[row + 1] - begin[row], out);
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

static void join_node(const clo_infer *f, const clo_infer_tile *t, const clo_infer_step *step, uint32_t i, void *out)
{
    const clo_format_op *op = &f->model->ops[step->op];
    const clo_dense *layer = &f->dense[op->argument];
    const int32_t *parts[CLO_MODEL_OP_INPUTS] = {NULL};

    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
        parts[k] = node_input(f, t, op->in[k], step->in[k], i);
    const clo_partials partials = {layer->outputs, parts[0], parts[1], parts[2]};
    f->kernels.split_node(&layer->rule, &partials, out);
}

static void step_node(const clo_infer *f, const clo_infer_tile *t, const clo_infer_step *step, uint32_t i)
{
    const clo_format_op *op = &f->model->ops[step->op];
    const void *in[CLO_MODEL_OP_INPUTS] = {NULL};
    void *out = clo_infer_node_row(f, t, op->out, step->out, i);

    for (uint32_t k = 0; step->operation != CLO_MODEL_JOIN && k < step->inputs; k++)
        in[k] = clo_infer_node_row(f, t, op->in[k], step->in[k], i);
    switch ((clo_model_operation)step->operation) {
    case CLO_MODEL_DENSE:
        if (step->in_number == CLO_S8)
            f->kernels.dense_node_s8(&f->dense[step->argument], in[0], out);
        else
            f->kernels.dense_node_s16(&f->dense[step->argument], in[0], out);
        break;
    case CLO_MODEL_JOIN:
        join_node(f, t, step, i, out);
        break;
    case CLO_MODEL_SUM_CHILDREN:
        sum_children(f, op, t->rows[i], out);
        break;
    case CLO_MODEL_ADD:
        add(f, step->out_number, in, step->width, out);
        break;
    case CLO_MODEL_TANH:
        f->kernels.tanh_s16(table_of(f, step), in[0], step->width, out);
        break;
    case CLO_MODEL_LOOKUP:
        f->kernels.lookup_s8(table_of(f, step), in[0], step->width, out);
        break;
    case CLO_MODEL_SUM:
    case CLO_MODEL_LOOP:
    case CLO_MODEL_END:
        assert(false); /* in no tile */
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
static void join_lanes(const clo_infer *f, const clo_infer_tile *t, const clo_infer_step *step)
{
    const clo_format_op *op = &f->model->ops[step->op];
    const clo_dense *layer = &f->dense[op->argument];
    size_t numbers = (size_t)t->blocks * layer->outputs * CLO_LANES;
    const int32_t *lanes[CLO_MODEL_OP_INPUTS] = {NULL}, *global = NULL;
    int32_t globals[CLO_MODEL_WIDTH_MAX];
    uint32_t lanes_count = 0;

    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++) {
        uint32_t v = op->in[k], domain = clo_infer_value_at(f, v)->domain;
        void *room = f->joins + k * f->plan.join_bytes;
        if (domain == t->segment->domain) {
            lanes[lanes_count++] = (const void *)(f->tile + step->in[k]);
        } else if (domain == CLO_MODEL_JOB) {
            const clo_rows rows = words_of(f, v, t->jobs, t->count);
            f->kernels.rows_to_lanes(&rows, clo_infer_kept_row(f, v, 0), room);
            lanes[lanes_count++] = room;
        } else if (global == NULL) {
            global = clo_infer_kept_row(f, v, 0);
        } else {
            add_lanes(globals, global, clo_infer_kept_row(f, v, 0), clo_up(layer->outputs, CLO_LANES));
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
static void sum_children_lanes(const clo_infer *f, const clo_infer_tile *t, const clo_infer_step *step)
{
    const clo_format_op *op = &f->model->ops[step->op];
    uint32_t row_bytes = f->plan.values[op->out].row_bytes;
    unsigned char *room = f->joins + CLO_MODEL_OP_INPUTS * f->plan.join_bytes;
    const clo_rows rows = words_of(f, op->out, f->identity, t->count);

    for (uint32_t i = 0; i < t->count; i++)
        sum_children(f, op, t->rows[i], room + (size_t)i * row_bytes);
    f->kernels.rows_to_lanes(&rows, room, f->tile + step->out);
}

static void step_lanes(const clo_infer *f, const clo_infer_tile *t, const clo_infer_step *step)
{
    const void *in[CLO_MODEL_OP_INPUTS] = {f->tile + step->in[0], f->tile + step->in[1],
                                           step->inputs > 2 ? f->tile + step->in[2] : NULL};
    uint32_t bytes = step->block_bytes * t->blocks;
    void *out = f->tile + step->out;

    switch ((clo_model_operation)step->operation) {
    case CLO_MODEL_DENSE:
        if (step->in_number == CLO_S8)
            f->kernels.dense_lanes_s8(&f->dense[step->argument], in[0], t->blocks, out);
        else
            f->kernels.dense_lanes_s16(&f->dense[step->argument], in[0], t->blocks, out);
        break;
    case CLO_MODEL_JOIN:
        join_lanes(f, t, step);
        break;
    case CLO_MODEL_SUM_CHILDREN:
        sum_children_lanes(f, t, step);
        break;
    case CLO_MODEL_ADD:
        add(f, step->out_number, in, bytes / clo_number_bytes(step->out_number), out);
        break;
    case CLO_MODEL_TANH:
        f->kernels.tanh_s16(table_of(f, step), in[0], bytes / (uint32_t)sizeof(int16_t), out);
        break;
    case CLO_MODEL_LOOKUP:
        f->kernels.lookup_s8(table_of(f, step), in[0], bytes, out);
        break;
    case CLO_MODEL_SUM:
    case CLO_MODEL_LOOP:
    case CLO_MODEL_END:
        assert(false); /* in no tile */
    }
}

static bool is_on(const clo_infer_step *step, uint32_t on)
{
    return step->on == CLO_MODEL_ALL || step->on == on;
}

static void skip_loop_node(const clo_infer *f, const clo_infer_tile *t, uint32_t i)
{
    const clo_format_op *loop = &f->model->ops[t->segment->op];

    memcpy(clo_infer_node_row(f, t, loop->out, t->segment->loop_out, i),
           clo_infer_node_row(f, t, loop->in[0], t->segment->loop_in, i), f->plan.values[loop->out].row_bytes);
}

static void run_row(const clo_infer *f, const clo_infer_tile *t, uint32_t i)
{
    const clo_infer_segment *segment = t->segment;

    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        if (t->skips_loop && s == segment->loop.begin) {
            skip_loop_node(f, t, i);
            s = segment->loop.end;
            if (s == segment->steps.end)
                break;
        }
        if (is_on(&f->plan.steps[s], t->on))
            step_node(f, t, &f->plan.steps[s], i);
    }
}

static void skip_loop_lanes(const clo_infer *f, const clo_infer_tile *t)
{
    const clo_format_op *loop = &f->model->ops[t->segment->op];

    memcpy(f->tile + t->segment->loop_out, f->tile + t->segment->loop_in,
           (size_t)t->blocks * f->plan.values[loop->out].words * CLO_LANES * sizeof(int32_t));
}

static void run_lanes(const clo_infer *f, const clo_infer_tile *t)
{
    const clo_infer_segment *segment = t->segment;

    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        if (t->skips_loop && s == segment->loop.begin) {
            skip_loop_lanes(f, t);
            s = segment->loop.end;
            if (s == segment->steps.end)
                break;
        }
        if (is_on(&f->plan.steps[s], t->on))
            step_lanes(f, t, &f->plan.steps[s]);
    }
}

static void run_tile_lanes(const clo_infer *f, const clo_infer_tile *t)
{
    const clo_infer_segment *segment = t->segment;

    for (uint32_t i = segment->loads.begin; i < segment->loads.end; i++) {
        const clo_infer_move *move = &f->plan.moves[i];
        const clo_rows rows = words_of(f, move->value, t->rows, t->count);
        f->kernels.rows_to_lanes(&rows, clo_infer_kept_row(f, move->value, 0), f->tile + move->at);
    }
    run_lanes(f, t);
    for (uint32_t i = segment->stores.begin; i < segment->stores.end; i++) {
        const clo_infer_move *move = &f->plan.moves[i];
        const clo_rows rows = words_of(f, move->value, t->rows, t->count);
        f->kernels.lanes_to_rows(&rows, f->tile + move->at, clo_infer_kept_row(f, move->value, 0));
    }
}

void clo_infer_run_tile(const clo_infer *f, const clo_infer_tile *t)
{
    if (t->count > CLO_NODE_ROWS)
        run_tile_lanes(f, t);
    else
        for (uint32_t i = 0; i < t->count; i++)
            run_row(f, t, i);
}
