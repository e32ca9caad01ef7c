/* learn/infer/infer_tile.h - runs the operations of a segment on some rows: in lanes, or row by row where there are
 * few. */
#ifndef CLO_LEARN_INFER_INFER_TILE_H
#define CLO_LEARN_INFER_INFER_TILE_H

#include "learn/infer/infer_plan.h"

/* As infer.h has it, which is above this header. */
typedef struct clo_infer clo_infer;

struct clo_infer {
    const clo_model *model;
    clo_kernels kernels;
    clo_infer_plan plan;
    /* The model's layers, with their weights as words where int16 comes in. */
    clo_dense *dense;
    const clo_model_case *input;
    unsigned char *memory, *tile, *joins;
    /* 0, 1, 2, ...; stages by level, and where each level begins; what they are sorted by. */
    uint32_t *identity, *by_level, *level_begin, *level_of;
    /* Stages by job, and where each job begins: identity or sorted. */
    const uint32_t *members;
    uint32_t *sorted_members, *member_begin;
    uint32_t levels;
};

/* Some rows of one domain. */
typedef struct clo_infer_tile {
    const clo_infer_segment *segment;
    const uint32_t *rows;
    uint32_t count, blocks;
    /* CLO_MODEL_LEAVES or CLO_MODEL_INNER: only operations on these and on all; CLO_MODEL_ALL: all of them */
    uint32_t on;
    /* No job has an edge, and the loop can be skipped. */
    bool skips_loop;
    /* Job of each row, of stages and limits. */
    uint32_t jobs[CLO_TILE_ROWS];
} clo_infer_tile;

static inline const clo_format_value *clo_infer_value_at(const clo_infer *f, uint32_t value)
{
    return &f->model->values[value];
}

static inline void *clo_infer_kept_row(const clo_infer *f, uint32_t value, uint32_t row)
{
    return f->memory + f->plan.values[value].rows + (size_t)row * f->plan.values[value].row_bytes;
}

/* Row i of the tile, where it is run row by row: where it is kept, or in the tile's scratch. */
static inline void *clo_infer_node_row(const clo_infer *f, const clo_infer_tile *t, uint32_t value, uint32_t at,
                                       uint32_t i)
{
    const clo_infer_value *v = &f->plan.values[value];

    return v->is_kept ? clo_infer_kept_row(f, value, t->rows[i]) : f->tile + at + (size_t)i * v->row_bytes;
}

void clo_infer_run_tile(const clo_infer *f, const clo_infer_tile *t);

/* The sum of rows of the operation's input, clamped to its output's numbers. */
void clo_infer_sum_rows(const clo_infer *f, const clo_format_op *op, const uint32_t *rows, uint32_t count, void *out);

#endif
