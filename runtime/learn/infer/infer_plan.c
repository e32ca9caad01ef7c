/* infer_plan.c - which operations belong to the encoder and which to the heads, segments, and places in a tile.
 *
 * An operation on stages belongs to the head if nothing but the head needs what it gives: then it is run for the stages
 * alone that are asked for. So does one on jobs that only the limits need: it is run for their job. Found backwards
 * from the scores. What nothing needs is left out. */
#include "learn/infer/infer_plan.h"

#include <assert.h>
#include <string.h>

enum { NOWHERE = UINT16_MAX, TILE_GOAL_BYTES = 26 << 10, ALIGN = 64 };

typedef enum role { DEAD, ENCODER, HEAD } role;

/* Where a value lives within a segment: from its first step to its last, in the tile at `at`. */
typedef struct life {
    uint16_t value, first, last;
    bool is_loaded, is_stored;
    uint32_t at, bytes;
} life;

typedef struct maker {
    clo_infer_plan *plan;
    const clo_model *model;
    uint8_t roles[CLO_MODEL_OPS_MAX];
    bool is_in_loop[CLO_MODEL_OPS_MAX];
    /* Lives of the segment that is being made. */
    life lives[CLO_MODEL_VALUES_MAX];
    uint32_t lives_count;
} maker;

static const clo_format_op *op_at(const maker *m, uint32_t i)
{
    return &m->model->ops[i];
}

static uint32_t domain_of(const maker *m, const clo_format_op *op)
{
    return m->model->values[op->out].domain;
}

static bool reads(const clo_format_op *op, uint32_t value)
{
    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
        if (op->in[k] == value)
            return true;
    return false;
}

static bool is_elementwise(const clo_format_op *op)
{
    return op->op == CLO_MODEL_DENSE || op->op == CLO_MODEL_JOIN || op->op == CLO_MODEL_ADD ||
           op->op == CLO_MODEL_TANH || op->op == CLO_MODEL_LOOKUP;
}

/* Whether `reader`, which belongs to a head, leaves an operation to the heads: on the same domain, or on jobs for
 * limits, which are those of one job. */
static bool leaves_to_head(const maker *m, const clo_format_op *op, const clo_format_op *reader)
{
    return domain_of(m, reader) == domain_of(m, op) ||
           (domain_of(m, op) == CLO_MODEL_JOB && domain_of(m, reader) == CLO_MODEL_LIMIT);
}

/* What reads it decides. Only values that all rows have, and that one operation writes, can be left to a head. */
static role role_of(const maker *m, uint32_t i)
{
    const clo_format_op *op = op_at(m, i);
    bool is_head =
        is_elementwise(op) && op->on == CLO_MODEL_ALL && !m->is_in_loop[i] && domain_of(m, op) != CLO_MODEL_GLOBAL;
    bool is_needed = op->out == m->model->header->score || op->out == m->model->header->limit;

    for (uint32_t j = i + 1; j < m->model->counts[CLO_PART_OPS]; j++)
        if (m->roles[j] != DEAD && reads(op_at(m, j), op->out)) {
            is_needed = true;
            is_head = is_head && m->roles[j] == HEAD && leaves_to_head(m, op, op_at(m, j));
        }
    return !is_needed ? DEAD : is_head ? HEAD : ENCODER;
}

static void choose_roles(maker *m)
{
    uint32_t ops = m->model->counts[CLO_PART_OPS];
    bool in_loop = false;

    for (uint32_t i = 0; i < ops; i++) {
        in_loop = (in_loop || op_at(m, i)->op == CLO_MODEL_LOOP) && op_at(m, i)->op != CLO_MODEL_END;
        m->is_in_loop[i] = in_loop;
    }
    for (uint32_t i = ops; i-- > 0;)
        m->roles[i] = (uint8_t)(m->is_in_loop[i] || op_at(m, i)->op == CLO_MODEL_END ? ENCODER : role_of(m, i));
}

static uint32_t multiplications(const maker *m, const clo_format_op *op)
{
    return op->op == CLO_MODEL_DENSE ? m->model->dense[op->argument].inputs * m->model->dense[op->argument].outputs : 0;
}

static void add_costs(maker *m)
{
    for (uint32_t i = 0; i < m->model->counts[CLO_PART_OPS]; i++) {
        const clo_format_op *op = op_at(m, i);
        uint64_t *costs = m->roles[i] == HEAD ? m->plan->head_cost : m->plan->encoder_cost;
        /* A layer that leaves and inner stages share is run once for each stage. */
        if (op->op == CLO_MODEL_DENSE && m->roles[i] != DEAD && op->on != CLO_MODEL_LEAVES)
            costs[domain_of(m, op)] += multiplications(m, op);
    }
}

static uint32_t up(size_t bytes)
{
    return (uint32_t)((bytes + ALIGN - 1) / ALIGN * ALIGN);
}

static void measure_values(maker *m)
{
    for (uint32_t v = 0; v < m->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = &m->model->values[v];
        uint32_t bytes = clo_number_bytes(value->number);
        uint32_t lanes = value->number == CLO_S32 ? value->width : clo_up(value->width, 4);
        m->plan->values[v] = (clo_infer_value){.row_bytes = clo_up(value->width, CLO_LANES) * bytes,
                                               .words = lanes * bytes / (uint32_t)sizeof(int32_t),
                                               .is_kept = value->is_input != 0};
    }
}

/* Bytes of a value in a tile: in lanes, or as rows. */
static uint32_t tile_bytes(const maker *m, uint32_t value, uint32_t blocks)
{
    const clo_infer_value *v = &m->plan->values[value];
    uint32_t lanes = v->words * CLO_LANES * (uint32_t)sizeof(int32_t) * blocks, rows = CLO_NODE_ROWS * v->row_bytes;

    return up(lanes > rows ? lanes : rows);
}

static bool is_tiled(const clo_format_op *op)
{
    return is_elementwise(op) || op->op == CLO_MODEL_SUM_CHILDREN;
}

static bool writes(const maker *m, const clo_infer_segment *segment, uint32_t value)
{
    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++)
        if (op_at(m, m->plan->steps[s].op)->out == value)
            return true;
    return false;
}

/* Whether an operation can go on in the segment. */
static bool joins(const maker *m, const clo_infer_segment *segment, const clo_format_op *op)
{
    if (segment->kind == CLO_INFER_SUM || segment->domain != domain_of(m, op) || segment->on != op->on || !is_tiled(op))
        return false;
    /* In a loop's tiles the children were done before. */
    return op->op != CLO_MODEL_SUM_CHILDREN || segment->kind == CLO_INFER_LOOP || !writes(m, segment, op->in[0]);
}

static void add_step(maker *m, clo_infer_segment *segment, uint32_t i)
{
    const clo_format_op *op = op_at(m, i);
    const clo_format_value *out = &m->model->values[op->out];
    clo_infer_step step = {.op = (uint16_t)i,
                           .argument = op->argument,
                           .operation = (uint8_t)op->op,
                           .on = (uint8_t)op->on,
                           .in_number = m->model->values[op->in[0]].number,
                           .out_number = out->number,
                           .width = out->width,
                           .block_bytes = m->plan->values[op->out].words * CLO_LANES * (uint32_t)sizeof(int32_t)};

    while (step.inputs < CLO_MODEL_OP_INPUTS && op->in[step.inputs] != CLO_MODEL_NONE)
        step.inputs++;
    assert(segment->steps.end == m->plan->steps_count);
    m->plan->steps[m->plan->steps_count++] = step;
    segment->steps.end++;
}

static clo_infer_segment begin_segment(const maker *m, clo_infer_kind kind, uint32_t domain, uint32_t on, uint32_t op)
{
    uint16_t at = (uint16_t)m->plan->steps_count;

    return (clo_infer_segment){
        .steps = {at, at}, .kind = (uint16_t)kind, .domain = (uint16_t)domain, .on = (uint16_t)on, .op = (uint16_t)op};
}

static clo_infer_segment *next_segment(maker *m, clo_infer_kind kind, uint32_t op)
{
    clo_infer_segment *segment = &m->plan->segments[m->plan->encoder_count++];

    *segment = begin_segment(m, kind, domain_of(m, op_at(m, op)), op_at(m, op)->on, op);
    return segment;
}

/* A loop goes on with the segment before it, if that works on all stages. */
static clo_infer_segment *open_loop(maker *m, clo_infer_segment *open, uint32_t op)
{
    if (open == NULL || open->kind != CLO_INFER_TILES || open->domain != CLO_MODEL_STAGE || open->on != CLO_MODEL_ALL)
        open = next_segment(m, CLO_INFER_LOOP, op);
    open->kind = CLO_INFER_LOOP;
    open->op = (uint16_t)op;
    open->loop.begin = (uint16_t)m->plan->steps_count;
    return open;
}

static void cut_encoder(maker *m)
{
    clo_infer_segment *open = NULL;

    for (uint32_t i = 0; i < m->model->counts[CLO_PART_OPS]; i++) {
        const clo_format_op *op = op_at(m, i);
        if (m->roles[i] != ENCODER)
            continue;
        if (op->op == CLO_MODEL_LOOP) {
            open = open_loop(m, open, i);
        } else if (op->op == CLO_MODEL_END) {
            if (open != NULL) /* clo_check_ops: no end without a loop */
                open->loop.end = (uint16_t)m->plan->steps_count;
        } else if (op->op == CLO_MODEL_SUM) {
            open = next_segment(m, CLO_INFER_SUM, i);
        } else {
            if (open == NULL || (!m->is_in_loop[i] && !joins(m, open, op)))
                open = next_segment(m, CLO_INFER_TILES, i);
            add_step(m, open, i);
        }
    }
}

static void cut_head(maker *m, clo_infer_segment *head, uint32_t domain)
{
    *head = begin_segment(m, CLO_INFER_TILES, domain, CLO_MODEL_ALL, NOWHERE);
    for (uint32_t i = 0; i < m->model->counts[CLO_PART_OPS]; i++)
        if (m->roles[i] == HEAD && domain_of(m, op_at(m, i)) == domain)
            add_step(m, head, i);
}

static bool step_reads(const maker *m, const clo_infer_segment *segment, uint32_t value)
{
    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++)
        if (reads(op_at(m, m->plan->steps[s].op), value))
            return true;
    return false;
}

/* The loop of the segment, if it can be skipped. */
static const clo_format_op *loop_with_way_around(const maker *m, const clo_infer_segment *segment)
{
    const clo_format_op *loop = segment->kind == CLO_INFER_LOOP ? op_at(m, segment->op) : NULL;

    return loop != NULL && loop->in[0] != CLO_MODEL_NONE ? loop : NULL;
}

/* Values that anything but the segment itself reads, or that are read by row, have rows. */
static void keep_values(maker *m, const clo_infer_segment *segment)
{
    const clo_format_op *loop = loop_with_way_around(m, segment);

    for (uint32_t v = 0; v < m->model->counts[CLO_PART_VALUES]; v++)
        if (segment->kind != CLO_INFER_SUM && step_reads(m, segment, v) && !writes(m, segment, v))
            m->plan->values[v].is_kept = true;
    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        const clo_format_op *op = op_at(m, m->plan->steps[s].op);
        if (op->op == CLO_MODEL_SUM_CHILDREN)
            m->plan->values[op->in[0]].is_kept = true;
    }
    if (segment->kind == CLO_INFER_SUM) {
        m->plan->values[op_at(m, segment->op)->in[0]].is_kept = true;
        m->plan->values[op_at(m, segment->op)->out].is_kept = true;
    }
    if (loop != NULL && !writes(m, segment, loop->in[0]))
        m->plan->values[loop->in[0]].is_kept = true;
}

static life *life_of(maker *m, uint32_t value)
{
    for (uint32_t i = 0; i < m->lives_count; i++)
        if (m->lives[i].value == value)
            return &m->lives[i];
    return NULL;
}

static life *touch(maker *m, uint32_t value, uint32_t step)
{
    life *found = life_of(m, value);

    if (found == NULL) {
        found = &m->lives[m->lives_count++];
        *found = (life){.value = (uint16_t)value, .first = (uint16_t)step};
    }
    found->last = (uint16_t)step;
    return found;
}

static bool is_score(const maker *m, uint32_t value)
{
    return value == m->model->header->score || value == m->model->header->limit;
}

static void touch_input(maker *m, const clo_infer_segment *segment, uint32_t value, uint32_t step)
{
    bool is_new = life_of(m, value) == NULL;
    life *l = touch(m, value, step);

    if (is_new) {
        l->is_loaded = true;
        l->first = segment->steps.begin;
    }
}

/* Coarser inputs and those that are summed by row are read from their rows, not from the tile. Where a loop begins, its
 * `in` may become its `out`. */
static void find_lives(maker *m, clo_infer_segment *segment)
{
    const clo_format_op *loop = loop_with_way_around(m, segment);

    m->lives_count = 0;
    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        const clo_format_op *op = op_at(m, m->plan->steps[s].op);
        if (loop != NULL && s == segment->loop.begin) {
            touch_input(m, segment, loop->in[0], s);
            touch(m, loop->out, s);
        }
        for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++) {
            uint32_t v = op->in[k];
            if (m->model->values[v].domain != segment->domain || op->op == CLO_MODEL_SUM_CHILDREN) {
                segment->needs_jobs = segment->needs_jobs || m->model->values[v].domain == CLO_MODEL_JOB;
                continue;
            }
            touch_input(m, segment, v, s);
        }
        life *out = touch(m, op->out, s);
        out->is_stored = m->plan->values[op->out].is_kept;
    }
    for (uint32_t i = 0; i < m->lives_count; i++)
        if (is_score(m, m->lives[i].value) || m->lives[i].is_stored)
            m->lives[i].last = segment->steps.end;
    /* Scores are read when all rows are done, one after the other: nothing of a later row may lie where they are. */
    for (uint32_t i = 0; i < m->lives_count; i++)
        if (is_score(m, m->lives[i].value))
            m->lives[i].first = segment->steps.begin;
}

/* Lives that touch get places that do not. Returns the bytes of the tile. */
static size_t place_lives(maker *m, uint32_t blocks)
{
    size_t most = 0;

    for (uint32_t i = 0; i < m->lives_count; i++) {
        life *l = &m->lives[i];
        l->at = 0;
        l->bytes = tile_bytes(m, l->value, blocks);
        for (uint32_t j = 0; j < i; j++) { /* begins again behind whatever is in the way: at most i times */
            const life *other = &m->lives[j];
            bool meets = other->first <= l->last && l->first <= other->last;
            if (meets && other->at < l->at + l->bytes && l->at < other->at + other->bytes) {
                l->at = other->at + other->bytes;
                j = UINT32_MAX; /* j++ makes 0 */
            }
        }
        most = l->at + l->bytes > most ? l->at + l->bytes : most;
    }
    return most;
}

static clo_infer_range put_moves(maker *m, bool is_load)
{
    clo_infer_plan *plan = m->plan;
    clo_infer_range range = {(uint16_t)plan->moves_count, (uint16_t)plan->moves_count};

    for (uint32_t i = 0; i < m->lives_count; i++)
        if (is_load ? m->lives[i].is_loaded : m->lives[i].is_stored) {
            plan->moves[plan->moves_count++] = (clo_infer_move){m->lives[i].value, m->lives[i].at};
            range.end++;
        }
    return range;
}

static void place_segment(maker *m, clo_infer_segment *segment)
{
    size_t bytes = 0;

    find_lives(m, segment);
    for (segment->blocks = CLO_TILE_BLOCKS; segment->blocks > 0; segment->blocks--) {
        bytes = place_lives(m, segment->blocks);
        if (bytes <= TILE_GOAL_BYTES || segment->blocks == 1)
            break;
    }
    m->plan->tile_bytes = bytes > m->plan->tile_bytes ? bytes : m->plan->tile_bytes;
    segment->loads = put_moves(m, true);
    segment->stores = put_moves(m, false);
    if (loop_with_way_around(m, segment) != NULL) {
        segment->loop_in = life_of(m, op_at(m, segment->op)->in[0])->at;
        segment->loop_out = life_of(m, op_at(m, segment->op)->out)->at;
    }
    for (uint32_t s = segment->steps.begin; s < segment->steps.end; s++) {
        clo_infer_step *step = &m->plan->steps[s];
        const clo_format_op *op = op_at(m, step->op);
        step->out = life_of(m, op->out)->at;
        for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++) {
            const life *l = life_of(m, op->in[k]);
            step->in[k] = l != NULL ? l->at : 0;
        }
    }
}

static void find_needs(maker *m)
{
    clo_infer_plan *plan = m->plan;

    for (uint32_t i = 0; i < m->model->counts[CLO_PART_OPS]; i++) {
        const clo_format_op *op = op_at(m, i);
        if (op->op == CLO_MODEL_SUM && domain_of(m, op) == CLO_MODEL_JOB)
            plan->needs_members = true;
        if (op->op == CLO_MODEL_LOOP || op->on != CLO_MODEL_ALL)
            plan->needs_levels = true;
        if (op->op == CLO_MODEL_DENSE && m->model->values[op->in[0]].number == CLO_S16 &&
            !plan->is_wide[op->argument]) {
            const clo_dense *layer = &m->model->dense[op->argument];
            plan->is_wide[op->argument] = true;
            plan->wide_bytes += clo_weights_bytes(layer->inputs, layer->outputs) * sizeof(int16_t);
        }
        if (op->op == CLO_MODEL_JOIN) {
            size_t bytes = up((size_t)m->model->values[op->out].width * CLO_TILE_ROWS * sizeof(int32_t));
            plan->join_bytes = bytes > plan->join_bytes ? bytes : plan->join_bytes;
        }
    }
}

static uint32_t score_in_tile(maker *m, clo_infer_segment *head, uint32_t value)
{
    place_segment(m, head);
    return value == CLO_MODEL_NONE || life_of(m, value) == NULL ? 0 : life_of(m, value)->at;
}

void clo_infer_plan_make(clo_infer_plan *plan, const clo_model *model)
{
    maker m = {.plan = plan, .model = model};

    memset(plan, 0, sizeof *plan);
    choose_roles(&m);
    add_costs(&m);
    measure_values(&m);
    cut_encoder(&m);
    cut_head(&m, &plan->stage_head, CLO_MODEL_STAGE);
    cut_head(&m, &plan->job_head, CLO_MODEL_JOB);
    cut_head(&m, &plan->limit_head, CLO_MODEL_LIMIT);
    for (uint32_t i = 0; i < plan->encoder_count; i++)
        keep_values(&m, &plan->segments[i]);
    keep_values(&m, &plan->stage_head);
    keep_values(&m, &plan->job_head);
    keep_values(&m, &plan->limit_head);
    if (plan->stage_head.steps.begin == plan->stage_head.steps.end) /* the encoder gives the scores */
        plan->values[model->header->score].is_kept = true;
    find_needs(&m);
    for (uint32_t i = 0; i < plan->encoder_count; i++)
        place_segment(&m, &plan->segments[i]);
    place_segment(&m, &plan->job_head);
    plan->stage_score = score_in_tile(&m, &plan->stage_head, model->header->score);
    plan->limit_score = score_in_tile(&m, &plan->limit_head, model->header->limit);
}
