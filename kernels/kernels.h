/* kernels/kernels.h - integer kernels for small networks: the same bits on every machine.
 *
 * One table of functions. clo_kernels_select fills it for the instruction sets it is given. kernels/scalar/ is the
 * specification: every other variant gives the same bytes, for all inputs (tests/check/ proves it). Sums are taken
 * modulo 2^32, so they are defined even where a caller breaks the limits below; within the limits they never wrap.
 * Nothing here allocates, fails, locks, keeps state or uses floating point. All functions may run on several threads at
 * once, on outputs of their own, and take a time that depends on the shapes alone (argmax_s32: and on the ties).
 * This folder includes nothing of the runtime. README.md shows the layouts in a picture.
 *
 * Numbers    weights int8; activations int8 or int16, as the model says for each tensor; sums and biases int32.
 * The rule   t = sat16(acc >> pre);  r = (t * m + 0x4000) >> 15;  r = leaky(r);  y = clamp(r, lo, hi).
 *            m > 0, shifts round down. leaky(r) = r for r >= 0, else (r * num + 128) >> 8.
 * Lanes      16 candidates are a block. A tensor of R rows (features) over B blocks is, block after block:
 *              int8   quads   [R / 4][16 lanes][4 rows]
 *              int16  pairs   [R / 2][16 lanes][2 rows]
 *              int32  rows    [R][16 lanes]
 *            int8 and int16 tensors have R rounded up to a multiple of 4. What the last block holds behind the last
 *            candidate is computed like the rest and means nothing.
 * Node       one candidate: a plain array, its length rounded up to a multiple of 16, all of it written.
 * Padding    where lengths are rounded up, biases, weights and multipliers hold zeros. Activations there are only
 *            multiplied by zero weights, but must be readable.
 * Alignment  that of the element type. Multiples of 64 bytes are faster.
 * Overlap    outputs must not overlap inputs. */
#ifndef CLO_KERNELS_KERNELS_H
#define CLO_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLO_LANES = 16,
    /* clo_rule.leaky: no activation. */
    CLO_LEAKY_NONE = 256,
    CLO_TANH_POINTS = 257
};

/* What argmax_s32 returns if no candidate may be taken. */
#define CLO_CANDIDATE_NONE UINT32_MAX

typedef enum clo_number { CLO_S8, CLO_S16, CLO_S32 } clo_number;

/* From int32 sums to activations, for each output of a layer. */
typedef struct clo_rule {
    /* [outputs rounded up to 16]: 0 .. 31 */
    const int32_t *pre;
    /* [outputs rounded up to 16]: 1 .. 32767 */
    const int16_t *m;
    /* lo <= hi; with CLO_S8 within -128 .. 127 */
    int16_t lo, hi;
    /* Slope for negative numbers: leaky / 256, 0 .. 255; or CLO_LEAKY_NONE */
    int16_t leaky;
    /* Type of the outputs. CLO_S32: the sums as they are; the rest of the rule is not read. */
    clo_number out;
} clo_rule;

/* A dense layer. Limit: |bias| + sum of |weight| * |activation| <= INT32_MAX for each output, which holds for all
 * inputs where clo_dense_is_safe says so. Without looking at weights: with bias 0, 131 071 inputs int8, 511 inputs
 * int16. */
typedef struct clo_dense {
    /* at least 1 */
    uint32_t inputs, outputs;
    /* As clo_weights_pack lays them out: [outputs / 16][inputs / 4][16 outputs][4 inputs]. */
    const int8_t *weights;
    /* [outputs rounded up to 16] */
    const int32_t *bias;
    /* Likewise; from clo_dense_fold. Used where the hardware wants unsigned activations. */
    const int32_t *folded;
    clo_rule rule;
    /* NULL, or the weights as clo_weights_widen lays them out: then int16 is faster on x86. */
    const int16_t *wide;
} clo_dense;

/* The sums of a first layer in parts, which add up before the rule: int32 sums commute, so the result is exactly that
 * of the layer over all inputs. job and global may be NULL. Limit: as for clo_dense, over all parts. */
typedef struct clo_partials {
    uint32_t outputs;
    /* Lanes: int32 rows. Node: arrays. */
    const int32_t *stage, *job;
    /* [outputs rounded up to 16], the same for all candidates; the bias belongs here */
    const int32_t *global;
} clo_partials;

/* Rows of a matrix to be added up: the embeddings of a task's children, or the tasks of a job.
 * Limit: 16 777 215 rows of int8, 65 535 rows of int16. */
typedef struct clo_rows {
    const uint32_t *rows;
    uint32_t count;
    /* width: numbers in a row; stride: from row to row, at least width rounded up to 16, all readable */
    uint32_t width, stride;
} clo_rows;

typedef struct clo_candidates {
    /* [count rounded up to 16] */
    const int32_t *scores;
    /* [count rounded up to 16]: 0 means "not this one"; NULL: all may be taken */
    const uint8_t *mask;
    /* [count]: job << 32 | stage. Of equal scores the smallest key wins, wherever it lies. */
    const uint64_t *keys;
    uint32_t count;
} clo_candidates;

typedef struct clo_kernels {
    /* The bits CLO_ISA_... that this table uses. */
    uint32_t isa;

    /* Many candidates: y = rule(weights * x + bias), x of `inputs` rows, y of `outputs` rows. */
    void (*dense_lanes_s8)(const clo_dense *layer, const int8_t *x, uint32_t blocks, void *y);
    void (*dense_lanes_s16)(const clo_dense *layer, const int16_t *x, uint32_t blocks, void *y);
    /* One candidate, or the inputs that all share. x is readable up to `inputs` rounded up to 4. */
    void (*dense_node_s8)(const clo_dense *layer, const int8_t *x, void *y);
    void (*dense_node_s16)(const clo_dense *layer, const int16_t *x, void *y);

    /* y = rule(stage + job + global). With stage alone: the rule on sums of any origin. */
    void (*split_lanes)(const clo_rule *rule, const clo_partials *partials, uint32_t blocks, void *y);
    void (*split_node)(const clo_rule *rule, const clo_partials *partials, void *y);

    /* sums[width rounded up to 16] = sum of the rows; zeros if there are none. */
    void (*sum_rows_s8)(const clo_rows *rows, const int8_t *values, int32_t *sums);
    void (*sum_rows_s16)(const clo_rows *rows, const int16_t *values, int32_t *sums);
    /* The one clamp behind 32-bit sums: y = min(max(x, lo), hi), exactly `count` numbers; lo <= hi in y's range. */
    void (*clamp_s8)(const int32_t *x, uint32_t count, int8_t lo, int8_t hi, int8_t *y);
    void (*clamp_s16)(const int32_t *x, uint32_t count, int16_t lo, int16_t hi, int16_t *y);

    /* y = clamp(a + b + c) to y's numbers, exactly `count`; c may be NULL. */
    void (*add_s8)(const int8_t *a, const int8_t *b, const int8_t *c, uint32_t count, int8_t *y);
    void (*add_s16)(const int16_t *a, const int16_t *b, const int16_t *c, uint32_t count, int16_t *y);
    /* Rows to lanes and back, in words of 32 bits: a quad of int8, a pair of int16, an int32. `width` and `stride`
     * count words here and are not rounded up; lanes is [blocks][width][16]. Lanes behind the last row become 0. */
    void (*rows_to_lanes)(const clo_rows *rows, const void *values, void *lanes);
    void (*lanes_to_rows)(const clo_rows *rows, const void *lanes, void *values);

    /* y = table[x + 128], exactly `count` numbers: any function of an int8, e.g. tanh with the model's scales. */
    void (*lookup_s8)(const int8_t table[256], const int8_t *x, uint32_t count, int8_t *y);
    /* Between two points of the table in proportion: i = (x >> 8) + 128, f = x & 255,
     * y = (table[i] * (256 - f) + table[i + 1] * f + 128) >> 8. With clo_tanh_table: x in Q12, y = tanh(x) in Q15. */
    void (*tanh_s16)(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y);

    /* Gumbel noise (location 0, scale 1) in Q16 for each key; -210 000 .. 730 000. It depends on seed and key alone,
     * never on the position. The formula is that of base/numbers/noise.h on the bits splitmix64(seed + key * golden
     * ratio). Each decision needs a random seed of its own. */
    void (*gumbel)(uint64_t seed, const uint64_t *keys, uint32_t count, int32_t *noise);
    /* y = clamp(score * scale >> 16, -2^30, 2^30) + noise, exactly `count` numbers. scale > 0 is the Q32 value of one
     * unit of score, divided by the temperature. Limit: |noise| < 2^30. The arg-max of y is a sample of softmax. */
    void (*perturb)(const int32_t *scores, int32_t scale, const int32_t *noise, uint32_t count, int32_t *y);
    /* Index of the best candidate that may be taken, or CLO_CANDIDATE_NONE. */
    uint32_t (*argmax_s32)(const clo_candidates *candidates);
} clo_kernels;

enum {
    CLO_ISA_AVX2 = 1 << 0,
    /* AVX-512 F, BW, VL, DQ, CD */
    CLO_ISA_AVX512 = 1 << 1,
    CLO_ISA_VNNI512 = 1 << 2,
    CLO_ISA_NEON = 1 << 3,
    CLO_ISA_DOTPROD = 1 << 4,
    CLO_ISA_RVV = 1 << 5,
    CLO_ISA_VBMI = 1 << 6,
    CLO_ISA_AVXVNNI = 1 << 7
};

/* A variant, for tests, benchmarks and lists of names. */
typedef struct clo_variant {
    const char *name, *summary;
    /* All of these bits are needed. */
    uint32_t needs;
} clo_variant;

/* What this CPU and this operating system offer, as bits CLO_ISA_... */
uint32_t clo_cpu_isa(void);

/* Fills the whole table with the best variants among `isa`: clo_cpu_isa() in production, any subset of it in tests; 0
 * is scalar. A bit that the CPU lacks ends in an illegal instruction. Variants that were not built are passed over. */
void clo_kernels_select(clo_kernels *table, uint32_t isa);

/* The variants that were built, scalar first, each better than those before; behind them a row whose name is NULL. */
extern const clo_variant clo_kernels_built[];
const clo_variant *clo_kernels_variants(uint32_t *count);

/* round(32767 * tanh((i - 128) / 16)): for tanh_s16. */
extern const int16_t clo_tanh_table[CLO_TANH_POINTS];

/* rows is [outputs][inputs]. packed gets clo_weights_bytes bytes, zeros in the padding. */
size_t clo_weights_bytes(uint32_t inputs, uint32_t outputs);
void clo_weights_pack(const int8_t *rows, uint32_t inputs, uint32_t outputs, int8_t *packed);

/* The packed weights as words: wide[outputs / 16][inputs / 2][16 outputs][2 inputs], both rounded up, in
 * 2 * clo_weights_bytes bytes at most. */
void clo_weights_widen(const int8_t *packed, uint32_t inputs, uint32_t outputs, int16_t *wide);

/* folded[outputs rounded up to 16] = bias - 128 * sum of the weights, modulo 2^32: what makes unsigned activations
 * x + 128 give the same sums. Reads all of `layer` but folded and rule. */
void clo_dense_fold(const clo_dense *layer, int32_t *folded);

/* True if no sum can leave int32 while |x| <= x_max for every activation (x_max >= 0; 128 and 32768 are all of them).
 * False also if the shape is 0. A reader of model files asks this once for each layer. */
bool clo_dense_is_safe(const clo_dense *layer, int32_t x_max);

/* True if the rule's arrays keep what clo_rule says for the first `outputs` outputs. */
bool clo_rule_is_valid(const clo_rule *rule, uint32_t outputs);

/* Bytes of a tensor of `rows` rows over `blocks` blocks. */
size_t clo_lanes_bytes(clo_number number, uint32_t rows, uint32_t blocks);

/* One candidate's int32 row into its lane, and from lane to lane: a list of candidates stays dense when the last one
 * moves to the place of the one that left. */
void clo_lanes_put_s32(int32_t *lanes, uint32_t rows, uint32_t candidate, const int32_t *row);
void clo_lanes_move_s32(int32_t *lanes, uint32_t rows, uint32_t from, uint32_t to);
/* Likewise for activations. `row` has `rows` numbers; the rows behind them become 0. */
void clo_lanes_put_s8(int8_t *lanes, uint32_t rows, uint32_t candidate, const int8_t *row);
void clo_lanes_put_s16(int16_t *lanes, uint32_t rows, uint32_t candidate, const int16_t *row);

#endif
