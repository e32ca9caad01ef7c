#include "kernels/head.h"

#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = 29,
    ROWS = 32,
    MIDDLE = 16,
    BLOCKS = (HEAD_CANDIDATES_MAX + CLO_LANES - 1) / CLO_LANES,
    WIDTH_MAX = 32
};

const char *const head_form_names[HEAD_FORMS] = {"lanes", "node", "split"};

/* One layer with all that it points to; at most 32 inputs and outputs. */
typedef struct layer {
    _Alignas(64) int8_t weights[WIDTH_MAX * WIDTH_MAX];
    _Alignas(64) int32_t bias[WIDTH_MAX], folded[WIDTH_MAX], pre[WIDTH_MAX];
    _Alignas(64) int16_t m[WIDTH_MAX];
    clo_dense dense;
} layer;

struct head {
    layer layers[3];
    _Alignas(64) int8_t features[BLOCKS * CLO_LANES * ROWS]; /* in lanes */
    _Alignas(64) int8_t rows[BLOCKS * CLO_LANES * ROWS];     /* the same, candidate after candidate */
    _Alignas(64) int32_t stage[BLOCKS * CLO_LANES * ROWS], job[BLOCKS * CLO_LANES * ROWS];
    _Alignas(64) int8_t first[BLOCKS * CLO_LANES * ROWS], second[BLOCKS * CLO_LANES * MIDDLE];
    _Alignas(64) int32_t scores[BLOCKS * CLO_LANES + CLO_LANES]; /* the last 16: a node's padding */
    uint64_t keys[BLOCKS * CLO_LANES];
};

static int32_t between(uint64_t *state, int32_t lowest, int32_t highest)
{
    return lowest + (int32_t)bench_random_below(state, (uint32_t)(highest - lowest + 1));
}

static void layer_draw(layer *l, uint32_t inputs, uint32_t outputs, clo_number out, uint64_t *state)
{
    int8_t rows[WIDTH_MAX * WIDTH_MAX];

    for (uint32_t i = 0; i < inputs * outputs; i++)
        rows[i] = (int8_t)between(state, -127, 127);
    for (uint32_t n = 0; n < outputs; n++) {
        l->bias[n] = between(state, -20000, 20000);
        l->pre[n] = 3;
        l->m[n] = (int16_t)between(state, 300, 600);
    }
    clo_weights_pack(rows, inputs, outputs, l->weights);
    l->dense =
        (clo_dense){inputs, outputs, l->weights, l->bias, l->folded, {l->pre, l->m, INT8_MIN, INT8_MAX, 51, out}, NULL};
    clo_dense_fold(&l->dense, l->folded);
}

head *head_open(uint64_t seed)
{
    size_t bytes = (sizeof(head) + 63) / 64 * 64;
    head *h = aligned_alloc(64, bytes);
    uint64_t state = seed;

    if (h == NULL)
        return NULL;
    memset(h, 0, bytes);
    layer_draw(&h->layers[0], INPUTS, ROWS, CLO_S8, &state);
    layer_draw(&h->layers[1], ROWS, MIDDLE, CLO_S8, &state);
    layer_draw(&h->layers[2], MIDDLE, 1, CLO_S32, &state);
    for (uint32_t c = 0; c < BLOCKS * CLO_LANES; c++) {
        int8_t *row = h->rows + (size_t)c * ROWS;
        int32_t sums[ROWS];

        for (uint32_t i = 0; i < INPUTS; i++)
            row[i] = (int8_t)between(&state, INT8_MIN, INT8_MAX);
        for (uint32_t i = 0; i < ROWS; i++)
            sums[i] = between(&state, -200000, 200000);
        clo_lanes_put_s8(h->features, INPUTS, c, row);
        clo_lanes_put_s32(h->stage, ROWS, c, sums);
        clo_lanes_put_s32(h->job, ROWS, c, sums);
        h->keys[c] = c;
    }
    return h;
}

void head_close(head *h)
{
    free(h);
}

static void score_lanes(head *h, const clo_kernels *kernels, uint32_t blocks)
{
    kernels->dense_lanes_s8(&h->layers[1].dense, h->first, blocks, h->second);
    kernels->dense_lanes_s8(&h->layers[2].dense, h->second, blocks, h->scores);
}

uint32_t head_decide(head *h, const clo_kernels *kernels, head_form form, uint32_t count)
{
    const clo_candidates candidates = {h->scores, NULL, h->keys, count};
    const clo_partials partials = {ROWS, h->stage, h->job, h->layers[0].bias};
    uint32_t blocks = (count + CLO_LANES - 1) / CLO_LANES;

    if (form == HEAD_LANES) {
        kernels->dense_lanes_s8(&h->layers[0].dense, h->features, blocks, h->first);
        score_lanes(h, kernels, blocks);
    } else if (form == HEAD_SPLIT) {
        kernels->split_lanes(&h->layers[0].dense.rule, &partials, blocks, h->first);
        score_lanes(h, kernels, blocks);
    } else {
        for (uint32_t c = 0; c < count; c++) { /* the score, and 15 sums of padding that the next one overwrites */
            kernels->dense_node_s8(&h->layers[0].dense, h->rows + (size_t)c * ROWS, h->first);
            kernels->dense_node_s8(&h->layers[1].dense, h->first, h->second);
            kernels->dense_node_s8(&h->layers[2].dense, h->second, h->scores + c);
        }
    }
    return kernels->argmax_s32(&candidates);
}
