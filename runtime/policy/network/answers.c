/* answers.c - see answers.h. */
#include "policy/network/answers.h"

#include "base/status.h"
#include "learn/infer/features.h"
#include "learn/infer/infer.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

struct clo_answers {
    const clo_answers_kind *kind;
    clo_residual_watch_fn watch;
    void *watch_context;
    /* NULL: the model answers. */
    clo_residual_answer_fn answer;
    void *answer_context;
    clo_infer *infer;
    int32_t score_shift, limit_shift;
    int16_t least[2 * CLO_ANSWERS_FEATURES_MAX], most[2 * CLO_ANSWERS_FEATURES_MAX];
};

static clo_infer_sizes sizes_of(uint32_t rows)
{
    return (clo_infer_sizes){.stages = rows, .jobs = 1, .limits = 1, .edges = 1};
}

clo_status clo_answers_check(const clo_answers_kind *kind, const clo_model *model)
{
    if (model == NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy '%s' needs a model, and none is built in for these numbers; name one: %s:FILE",
                        kind->policy, kind->policy);
    const clo_format_header *header = model->header;
    if (header->feature_set != kind->feature_set || header->score == CLO_MODEL_NONE || header->limit == CLO_MODEL_NONE)
        return clo_fail(
            CLO_ERR_ARGUMENT,
            "policy '%s': the model '%.32s' has not list %u of features, or lacks scores of stages or limits; make one "
            "with clotho train %s",
            kind->policy, header->name, kind->feature_set, kind->command);
    for (uint32_t f = 0; f < kind->features + kind->limit_features; f++)
        if (model->features[f].mult != 1 || model->features[f].shift != 0)
            return clo_fail(CLO_ERR_ARGUMENT, "policy '%s': the model '%.32s' scales feature %u; it must not",
                            kind->policy, header->name, f);
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        if ((v == header->score || v == header->limit) &&
            (model->values[v].exponent < 0 || model->values[v].exponent > 30))
            return clo_fail(CLO_ERR_ARGUMENT, "policy '%s': the model '%.32s' has scores of exponent %d; 0 to 30",
                            kind->policy, header->name, model->values[v].exponent);
    return CLO_OK;
}

clo_status clo_answers_read(const clo_answers_kind *kind, const void *argument, clo_residual_argument *out)
{
    *out = (clo_residual_argument)CLO_RESIDUAL_ARGUMENT_INIT;
    clo_status status = clo_config_read(out, sizeof *out, argument, "clo_residual_argument");
    if (status == CLO_OK && memchr(out->parametric, '\0', sizeof out->parametric) == NULL)
        status = clo_fail(CLO_ERR_ARGUMENT, "clo_residual_argument: the numbers of '%s' have no end", kind->rule);
    return status;
}

clo_status clo_answers_put_model(const clo_answers_kind *kind, const clo_builtin_model *builtin, void *room,
                                 size_t *room_bytes, clo_residual_argument *with)
{
    size_t has_bytes = *room_bytes;
    clo_status status = CLO_OK;

    *room_bytes = 0;
    if (with->model == NULL && builtin != NULL) {
        *room_bytes = clo_builtin_model_bytes(builtin);
        status = *room_bytes <= has_bytes ? clo_builtin_model_open(builtin, room, &with->model) : CLO_ERR_LIMIT;
    }
    return status == CLO_OK ? clo_answers_check(kind, with->model) : status;
}

static clo_status refuse(const clo_answers_kind *kind, const char *why)
{
    return clo_fail(CLO_ERR_ARGUMENT, "policy '%s': the argument %s; write %s, or FILE,ARGUMENT as '%s' takes it",
                    kind->policy, why, kind->argument, kind->rule);
}

clo_status clo_answers_parse(const clo_answers_kind *kind, const char *text, const char **numbers,
                             clo_residual_argument *out)
{
    size_t length = strcspn(text, ",");
    char path[PATH_BYTES];

    *out = (clo_residual_argument)CLO_RESIDUAL_ARGUMENT_INIT;
    *numbers = text[length] == ',' ? text + length + 1 : NULL;
    if (length == 0)
        return refuse(kind, "begins with no file");
    if (length >= sizeof path || strlen(text + length) > sizeof out->parametric)
        return refuse(kind, "is too long");
    snprintf(path, sizeof path, "%.*s", (int)length, text);
    snprintf(out->parametric, sizeof out->parametric, "%s", *numbers != NULL ? *numbers : "");
    clo_status status = clo_model_load(path, &out->owned);
    out->model = out->owned;
    if (status == CLO_OK)
        status = clo_answers_check(kind, out->model);
    if (status != CLO_OK) {
        clo_model_destroy(out->owned);
        out->model = out->owned = NULL;
    }
    return status;
}

void clo_answers_release(const void *argument)
{
    clo_model_destroy(((const clo_residual_argument *)argument)->owned);
}

size_t clo_answers_bytes(const clo_model *model, uint32_t rows)
{
    const clo_infer_sizes sizes = sizes_of(rows);

    return CLO_CACHE_LINE_BYTES + clo_answers_up(sizeof(clo_answers)) + clo_infer_bytes(model, &sizes);
}

clo_answers *clo_answers_open(const clo_answers_kind *kind, const clo_residual_argument *argument, uint32_t rows,
                              void *memory)
{
    const clo_model *model = argument->model;
    const clo_infer_sizes sizes = sizes_of(rows);
    unsigned char *at = memory;
    clo_kernels kernels;

    at += clo_answers_up((uintptr_t)at) - (uintptr_t)at;
    clo_answers *a = (void *)at;
    clo_kernels_select(&kernels, clo_cpu_isa());
    a->kind = kind;
    a->watch = argument->watch;
    a->watch_context = argument->watch_context;
    a->answer = argument->answer;
    a->answer_context = argument->answer_context;
    a->infer = clo_infer_init(model, &kernels, &sizes, at + clo_answers_up(sizeof *a));
    a->score_shift = 16 - model->values[model->header->score].exponent;
    a->limit_shift = 16 - model->values[model->header->limit].exponent;
    for (uint32_t f = 0; f < kind->features + kind->limit_features; f++) {
        a->least[f] = model->features[f].lo;
        a->most[f] = model->features[f].hi;
    }
    return a;
}

static int16_t within(const clo_answers *a, uint32_t feature, int32_t raw)
{
    int16_t least = a->least[feature], most = a->most[feature];

    return (int16_t)(raw < least ? least : raw > most ? most : raw);
}

bool clo_answers_row(const clo_answers *a, const int32_t *raw, int16_t *row)
{
    bool is_within = true;

    for (uint32_t f = 0; f < a->kind->features; f++) {
        row[f] = within(a, f, raw[f]);
        is_within = is_within && row[f] == raw[f];
    }
    return is_within;
}

static int32_t octaves(int32_t score, int32_t shift)
{
    int64_t q16 = shift >= 0 ? (int64_t)score * (INT64_C(1) << shift) : score / (INT64_C(1) << -shift);

    return (int32_t)(q16 > CLO_ANSWERS_MOST ? CLO_ANSWERS_MOST : q16 < -CLO_ANSWERS_MOST ? -CLO_ANSWERS_MOST : q16);
}

void clo_answers_values(clo_answers *a, const int16_t *rows, uint32_t count, int32_t *values)
{
    static const uint32_t zeros[CLO_ANSWERS_ROWS_MAX + 1] = {0};
    uint32_t all[CLO_ANSWERS_ROWS_MAX];
    int32_t limit = 0;

    if (a->answer == NULL) {
        const clo_model_case input = {
            .stages = count, .jobs = 1, .job_of_stage = zeros, .child_begin = zeros, .children = zeros, .inputs = rows};
        for (uint32_t i = 0; i < count; i++)
            all[i] = i;
        clo_infer_encode(a->infer, &input);
        clo_infer_score(a->infer, all, count, values);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (a->answer != NULL) {
            values[i] = 0;
            a->answer(a->answer_context, rows + (size_t)i * a->kind->features, &values[i], &limit);
        }
        values[i] = octaves(values[i], a->answer != NULL ? 0 : a->score_shift);
    }
}

int32_t clo_answers_limit(clo_answers *a, const int16_t *row)
{
    int16_t of_limit[CLO_ANSWERS_FEATURES_MAX];
    int32_t value = 0, limit = 0;

    if (a->answer != NULL) {
        a->answer(a->answer_context, row, &value, &limit);
        return octaves(limit, 0);
    }
    for (uint32_t f = 0; f < a->kind->limit_features; f++)
        of_limit[f] = within(a, a->kind->features + f, row[f]);
    clo_infer_limits(a->infer, 0, of_limit, 1, &limit);
    return octaves(limit, a->limit_shift);
}

void clo_answers_tell(const clo_answers *a, const int16_t *row, int32_t value, int32_t limit)
{
    if (a->watch != NULL)
        a->watch(a->watch_context, row, value, limit);
}
