/* learn/infer/infer_plan.h - the order in which infer.c runs a model, made once.
 *
 * Operations that follow each other on one domain are a segment. A segment works through its rows in tiles of at most
 * CLO_TILE_BLOCKS blocks: it loads what it reads from rows into lanes, runs all its operations on the tile, and stores
 * what later segments read. What only the segment knows lies in the tile's scratch, which fits the first cache.
 * A loop takes the operations on stages right before and behind it into its tiles: they look at one row alone.
 * A few rows are run as they lie, without lanes. */
#ifndef CLO_LEARN_INFER_INFER_PLAN_H
#define CLO_LEARN_INFER_INFER_PLAN_H

#include "learn/format/opened.h"

#include <stdbool.h>

enum {
    CLO_TILE_BLOCKS = 4,
    CLO_TILE_ROWS = CLO_TILE_BLOCKS * CLO_LANES,
    /* A tile of so many rows at most is run row by row. */
    CLO_NODE_ROWS = 5,
    CLO_SEGMENTS_MAX = CLO_MODEL_OPS_MAX + 2
};

typedef struct clo_infer_value {
    /* From the begin of the memory; of row 0. `is_kept`: it has rows. */
    size_t rows;
    /* A row: rounded up to 16 numbers; and words of 32 bits that stand in lanes. */
    uint32_t row_bytes, words;
    bool is_kept;
} clo_infer_value;

/* An operation, and where its values lie in the tile. What the model says of it stands here too: a pass asks often. */
typedef struct clo_infer_step {
    uint16_t op, argument;
    uint8_t operation, on, inputs;
    /* Numbers of the first input, of the output. */
    uint8_t in_number, out_number;
    uint32_t out, in[CLO_MODEL_OP_INPUTS];
    /* Of the output: numbers in a row; bytes in a block. */
    uint32_t width, block_bytes;
} clo_infer_step;

/* A value that a tile loads or stores. */
typedef struct clo_infer_move {
    uint16_t value;
    uint32_t at;
} clo_infer_move;

/* Indices into the plan's arrays: [begin, end). */
typedef struct clo_infer_range {
    uint16_t begin, end;
} clo_infer_range;

typedef enum clo_infer_kind { CLO_INFER_TILES, CLO_INFER_SUM, CLO_INFER_LOOP } clo_infer_kind;

typedef struct clo_infer_segment {
    clo_infer_range steps, loads, stores;
    uint16_t kind, domain, on, blocks;
    /* A join reads values of jobs. */
    bool needs_jobs;
    /* SUM: the operation. LOOP: its begin. */
    uint16_t op;
    /* LOOP: the steps between its begin and its end; where its `in` and `out` lie in the tile, if it has an `in`. */
    clo_infer_range loop;
    uint32_t loop_in, loop_out;
} clo_infer_segment;

typedef struct clo_infer_plan {
    clo_infer_value values[CLO_MODEL_VALUES_MAX];
    clo_infer_step steps[CLO_MODEL_OPS_MAX];
    clo_infer_move moves[CLO_MODEL_OPS_MAX * (CLO_MODEL_OP_INPUTS + 1)];
    /* The encoder in order, then the heads of stages and of limits. */
    clo_infer_segment segments[CLO_SEGMENTS_MAX];
    uint32_t encoder_count, steps_count, moves_count;
    clo_infer_segment stage_head, job_head, limit_head;
    /* Where the scores lie in a head's tile; the values, if they are kept. */
    uint32_t stage_score, limit_score;
    bool needs_members, needs_levels;
    /* Layers that read int16; bytes of their weights as words. */
    bool is_wide[CLO_MODEL_LAYERS_MAX];
    size_t wide_bytes;
    /* int32 lanes of the widest join, for one of its inputs, in a tile. */
    size_t join_bytes;
    size_t tile_bytes;
    /* Multiplications for each row, by domain: of the encoder, of the heads. */
    uint64_t encoder_cost[4], head_cost[4];
} clo_infer_plan;

void clo_infer_plan_make(clo_infer_plan *plan, const clo_model *model);

#endif
