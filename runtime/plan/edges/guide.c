/* guide.c - see guide.h. */
#include "plan/edges/guide.h"

#include "base/carve.h"
#include "base/numbers/noise.h"
#include "base/status.h"
#include "learn/infer/lachesis_features.h"
#include "learn/model/builtin.h"

#include <string.h>

static clo_status check_model(const clo_model *model)
{
    if (model->header->feature_set == CLO_FEATURES_EDGES && model->header->score != CLO_MODEL_NONE &&
        model->header->limit == CLO_MODEL_NONE && model->counts[CLO_PART_FEATURES] == CLO_EDGES_FEATURES)
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT,
                    "the model '%.32s' does not score tasks by list %d of features; make one with clotho train edges",
                    model->header->name, CLO_FEATURES_EDGES);
}

/* Opens the built-in model in memory of the guide. */
static clo_status open_builtin(clo_edges_guided *guided)
{
    guided->own_model = clo_allocate_aligned(1, clo_builtin_model_bytes(&clo_builtin_edges));
    if (guided->own_model == NULL)
        return clo_fail_memory("a plan");
    return clo_builtin_model_open(&clo_builtin_edges, guided->own_model, &guided->model);
}

static clo_status open_network(clo_edges_guided *guided, const clo_edges_room *room)
{
    uint32_t n = room->problem.tasks;
    const clo_infer_sizes sizes = {.stages = n, .jobs = 1, .edges = room->problem.graph->edges + CLO_EDGES_MAX};
    clo_block block = {0};

    guided->score_exponent = guided->model->values[guided->model->header->score].exponent;
    for (uint32_t i = 0; i < CLO_EDGES_FEATURES; i++) {
        clo_status status = clo_model_feature_at(guided->model, i, &guided->features[i]);
        if (status != CLO_OK)
            return status;
    }
    size_t bytes = clo_infer_bytes(guided->model, &sizes);
    if (bytes == 0)
        return clo_fail_memory("a plan");
    clo_carve(&block, &guided->inputs, (size_t)n * CLO_EDGES_FEATURES);
    clo_carve(&block, &guided->scores, n);
    clo_carve(&block, &guided->stages, n);
    guided->block = clo_block_allocate(&block);
    guided->memory = clo_allocate_aligned(1, bytes);
    if (guided->block == NULL || guided->memory == NULL)
        return clo_fail_memory("a plan");
    clo_kernels_select(&guided->kernels, clo_cpu_isa());
    guided->infer = clo_infer_init(guided->model, &guided->kernels, &sizes, guided->memory);
    return CLO_OK;
}

clo_status clo_edges_guided_open(clo_edges_guided *guided, const clo_edges_room *room, clo_edges_guide by,
                                 const clo_model *model, uint64_t seed)
{
    clo_status status = CLO_OK;

    *guided = (clo_edges_guided){.by = by, .model = model, .rng = clo_rng_seed(seed)};
    guided->values = clo_allocate(room->problem.tasks, sizeof *guided->values);
    if (guided->values == NULL)
        status = clo_fail_memory("a plan");
    if (status == CLO_OK && by == CLO_EDGES_BY_MODEL && model == NULL)
        status = open_builtin(guided);
    if (status == CLO_OK && guided->by == CLO_EDGES_BY_MODEL)
        status = check_model(guided->model);
    if (status == CLO_OK && guided->by == CLO_EDGES_BY_MODEL)
        status = open_network(guided, room);
    if (status != CLO_OK)
        clo_edges_guided_close(guided);
    return status;
}

void clo_edges_guided_close(clo_edges_guided *guided)
{
    clo_free(guided->memory);
    clo_free(guided->own_model);
    clo_free(guided->block);
    clo_free(guided->values);
    guided->memory = guided->own_model = guided->block = NULL;
    guided->values = NULL;
}

/* From units of 2^-exponent to Q16. */
static int64_t to_q16(int64_t value, int32_t exponent)
{
    return exponent <= 16 ? value * (INT64_C(1) << (16 - exponent)) : value >> (exponent - 16);
}

static void add_scores(clo_edges_guided *guided, const clo_edges_view *view)
{
    clo_model_case input = view->shape;

    for (size_t row = 0; row < view->shape.stages; row++)
        (void)clo_features_scale(guided->features, CLO_EDGES_FEATURES, view->features + row * CLO_EDGES_FEATURES,
                                 guided->inputs + row * CLO_EDGES_FEATURES);
    input.inputs = guided->inputs;
    clo_infer_encode(guided->infer, &input);
    clo_infer_score(guided->infer, view->rows, view->count, guided->scores);
    for (uint32_t i = 0; i < view->count; i++)
        guided->values[i] += to_q16(guided->scores[i], guided->score_exponent);
}

uint32_t clo_edges_guided_choose(clo_edges_guided *guided, const clo_edges_view *view, uint32_t most, uint32_t *out)
{
    bool is_random = guided->by == CLO_EDGES_BY_CHANCE || guided->is_drawn;
    uint32_t chosen = 0;

    for (uint32_t i = 0; i < view->count; i++)
        guided->values[i] = guided->by == CLO_EDGES_BY_CHANCE ? 0 : to_q16(view->prior[i], 8);
    if (guided->by == CLO_EDGES_BY_MODEL && view->count > 0)
        add_scores(guided, view);
    for (uint32_t i = 0; i < view->count && is_random; i++)
        guided->values[i] += clo_gumbel_q16(&guided->rng);
    for (; chosen < most && chosen < view->count; chosen++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < view->count; i++)
            best = guided->values[i] > guided->values[best] ? i : best;
        out[chosen] = view->rows[best];
        guided->values[best] = INT64_MIN;
    }
    return chosen;
}
