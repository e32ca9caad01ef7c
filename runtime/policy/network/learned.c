/* learned.c - a model in a policy's state. Sampling is arg-max over scores with Gumbel noise (Gumbel-max trick): a
 * choice has the probability that softmax gives it. The noise of a choice depends on the seed, on the number of the
 * decision and on the key of the candidate alone. */
#include "policy/network/learned.h"

#include "base/memory.h"
#include "base/status.h"
#include "learn/infer/draw.h"
#include "learn/infer/features.h"
#include "learn/model/builtin.h"

/* Enough for an open built-in model. */
enum { ROOM_BYTES = 8192 };

enum { STAGES_DEFAULT = 1024, JOBS_DEFAULT = 256, EDGES_EACH = 4 };

clo_status clo_learned_read(const void *argument, const clo_limits *limits, clo_learned_argument *out)
{
    *out = (clo_learned_argument)CLO_LEARNED_ARGUMENT_INIT;
    clo_status status = clo_config_read(out, sizeof *out, argument, "clo_learned_argument");
    if (status != CLO_OK)
        return status;
    if (out->stages_max > CLO_LEARNED_ROWS_MAX || out->jobs_max > CLO_LEARNED_ROWS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_learned_argument: stages_max is %u and jobs_max %u; at most %d each",
                        out->stages_max, out->jobs_max, CLO_LEARNED_ROWS_MAX);
    out->stages_max = out->stages_max > 0 ? out->stages_max : STAGES_DEFAULT;
    out->jobs_max = out->jobs_max > 0 ? out->jobs_max : JOBS_DEFAULT;
    out->jobs_max = out->jobs_max < limits->jobs ? out->jobs_max : limits->jobs;
    return CLO_OK;
}

clo_infer_sizes clo_learned_sizes(const clo_learned_argument *argument, uint32_t executors)
{
    return (clo_infer_sizes){.stages = argument->stages_max,
                             .jobs = argument->jobs_max,
                             .limits = executors,
                             .edges = EDGES_EACH * argument->stages_max};
}

typedef struct places {
    size_t model, candidates, keys, scores, limit_scores, noise, noisy, limit_inputs, infer, bytes;
} places;

static size_t most_candidates(const clo_infer_sizes *sizes)
{
    return clo_up(sizes->stages > sizes->limits ? sizes->stages : sizes->limits, CLO_LANES);
}

/* All that lies behind the struct. `own_bytes`: of a model that is opened there. */
static places place(const clo_model *model, size_t own_bytes, const clo_infer_sizes *sizes)
{
    size_t most = most_candidates(sizes);
    clo_layout layout = {0};
    places at = {0};

    at.model = clo_layout_add(&layout, own_bytes, 1);
    at.candidates = clo_layout_add(&layout, most, sizeof(uint32_t));
    at.keys = clo_layout_add(&layout, most, sizeof(uint64_t));
    at.scores = clo_layout_add(&layout, most, sizeof(int32_t));
    at.limit_scores = clo_layout_add(&layout, most, sizeof(int32_t));
    at.noise = clo_layout_add(&layout, most, sizeof(int32_t));
    at.noisy = clo_layout_add(&layout, most, sizeof(int32_t));
    at.limit_inputs = clo_layout_add(&layout, most, sizeof(int16_t));
    at.infer = clo_layout_add(&layout, clo_infer_bytes(model, sizes) + CLO_CACHE_LINE_BYTES, 1);
    at.infer = (at.infer + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    at.bytes = layout.bytes;
    return at;
}

/* The model of the argument, or the built-in one, opened in `room`. */
static clo_status open_model(const clo_learned_argument *argument, void *room, const clo_model **out)
{
    if (argument->model == NULL)
        return clo_builtin_model_open(&clo_builtin_decima, room, out);
    *out = argument->model;
    return CLO_OK;
}

static size_t own_bytes(const clo_learned_argument *argument)
{
    return argument->model == NULL ? clo_builtin_model_bytes(&clo_builtin_decima) : 0;
}

size_t clo_learned_bytes(const clo_learned_argument *argument, const clo_infer_sizes *sizes)
{
    _Alignas(16) unsigned char room[ROOM_BYTES];
    const clo_model *model;
    size_t own = own_bytes(argument);

    if (own > sizeof room || open_model(argument, room, &model) != CLO_OK)
        return 0; /* init will say so */
    return place(model, own, sizes).bytes;
}

static bool has_decima_features(const clo_model *model)
{
    uint32_t set = model->header->feature_set;

    return set == CLO_FEATURES_DECIMA || set == CLO_FEATURES_DECIMA_FINE;
}

clo_status clo_learned_init(clo_learned *learned, const clo_learned_argument *argument, const clo_infer_sizes *sizes,
                            void *memory)
{
    unsigned char *bytes = memory;
    const clo_model *model;
    clo_status status = open_model(argument, memory, &model);

    if (status != CLO_OK)
        return status;
    if (model->header->kind != CLO_MODEL_DECIMA || !has_decima_features(model) ||
        model->header->score == CLO_MODEL_NONE || model->header->limit == CLO_MODEL_NONE)
        return clo_fail(
            CLO_ERR_ARGUMENT,
            "policy 'decima': the model '%.32s' is not of the kind Decima with list 1 or 4 of features, or lacks "
            "scores of stages or limits; make one with clotho model quantize",
            model->header->name);
    const places at = place(model, own_bytes(argument), sizes);
    *learned = (clo_learned){.model = model,
                             .sizes = *sizes,
                             .is_sampled = argument->is_sampled != 0,
                             .seed = argument->seed,
                             .candidates = (void *)(bytes + at.candidates),
                             .keys = (void *)(bytes + at.keys),
                             .scores = (void *)(bytes + at.scores),
                             .limit_scores = (void *)(bytes + at.limit_scores),
                             .noise = (void *)(bytes + at.noise),
                             .noisy = (void *)(bytes + at.noisy),
                             .limit_inputs = (void *)(bytes + at.limit_inputs)};
    clo_kernels_select(&learned->kernels, clo_cpu_isa());
    learned->infer = clo_infer_init(model, &learned->kernels, sizes, bytes + at.infer);
    if (learned->is_sampled)
        status = clo_draw_scale(model, model->header->score, &learned->stage_scale);
    if (learned->is_sampled && status == CLO_OK)
        status = clo_draw_scale(model, model->header->limit, &learned->limit_scale);
    return status;
}

static int64_t scaled(const clo_format_feature *as, int64_t raw)
{
    int64_t most = (INT64_C(1) << 62) / as->mult;

    return (raw > most ? most : raw < -most ? -most : raw) * as->mult;
}

int16_t clo_learned_feature(const clo_learned *learned, uint32_t feature, int64_t raw)
{
    const clo_format_feature *as = &learned->model->features[feature];
    bool is_clamped;

    return clo_feature_round(scaled(as, raw), as->shift, as->lo, as->hi, &is_clamped);
}

int16_t clo_learned_part(const clo_learned *learned, uint32_t feature, uint32_t i, int64_t raw)
{
    const clo_format_feature *as = &learned->model->features[feature];
    bool is_clamped;

    return clo_feature_part(scaled(as, raw), as->shift, i, as->lo, as->hi, &is_clamped);
}

/* `scores` has room for a multiple of CLO_LANES. */
static uint32_t pick(clo_learned *learned, const int32_t *scores, int32_t scale, uint32_t count)
{
    if (learned->is_sampled) {
        uint64_t seed = clo_draw_seed(learned->seed, ++learned->decisions);
        learned->kernels.gumbel(seed, learned->keys, count, learned->noise);
        learned->kernels.perturb(scores, scale, learned->noise, count, learned->noisy);
        scores = learned->noisy;
    }
    const clo_candidates candidates = {scores, NULL, learned->keys, count};
    return learned->kernels.argmax_s32(&candidates);
}

uint32_t clo_learned_stage(clo_learned *learned, const clo_view *view, const clo_model_case *input, uint32_t count)
{
    uint64_t steps = clo_infer_steps_encode(learned->infer, input->stages, input->jobs) +
                     clo_infer_steps_heads(learned->infer, count, 0);

    if (!clo_view_steps(view, steps))
        return CLO_NONE;
    clo_infer_encode(learned->infer, input);
    clo_infer_score(learned->infer, learned->candidates, count, learned->scores);
    return pick(learned, learned->scores, learned->stage_scale, count);
}

uint32_t clo_learned_limit(clo_learned *learned, const clo_view *view, uint32_t job, uint32_t count)
{
    if (!clo_view_steps(view, clo_infer_steps_heads(learned->infer, 0, count)))
        return CLO_NONE;
    for (uint32_t k = 0; k < count; k++)
        learned->keys[k] = k;
    clo_infer_limits(learned->infer, job, learned->limit_inputs, count, learned->limit_scores);
    return pick(learned, learned->limit_scores, learned->limit_scale, count);
}
