/* beside_compare.c - what the integers of a model of the policy "residual" change against real numbers: how often
 * they choose otherwise, and what that is worth on streams that training has not met. The policy is the same but for
 * who answers (clo_residual_argument.answer). */
#include "clotho/train/beside_compare.h"

#include "clotho/common/report.h"
#include "train/search/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Octaves to Q16; the policy cuts off far less. */
static int32_t to_q16(double octaves)
{
    return (int32_t)lrint(65536 * fmax(-16384, fmin(16384, octaves)));
}

/* The real numbers that answer in place of the model. */
typedef struct reals {
    const residual_shape *shape;
    const double *numbers;
} real_network;

static void answer(void *context, const int16_t *row, int32_t *value, int32_t *limit)
{
    const real_network *r = context;

    *value = to_q16(residual_answer(r->shape, r->numbers, row, false));
    *limit = to_q16(residual_answer(r->shape, r->numbers, row, true));
}

/* Adds the choice among BESIDE_GROUP rows, if the real numbers see no tie. */
static void add_choice(const int16_t *rows, const int32_t *scores, const real_network *r, beside_comparison *out,
                       uint64_t *same)
{
    uint32_t best = 0, real = 0;
    double most = -INFINITY, second = -INFINITY;

    for (uint32_t i = 0; i < BESIDE_GROUP; i++) {
        double said = residual_answer(r->shape, r->numbers, rows + (size_t)i * r->shape->features, false);
        best = scores[i] > scores[best] ? i : best;
        second = said > most ? most : said > second ? said : second;
        real = said > most ? i : real;
        most = said > most ? said : most;
    }
    out->choices += most > second;
    *same += most > second && (best == real || scores[best] == scores[real]);
}

static clo_status compare_choices(beside_training *t, const clo_model *model, const double *numbers,
                                  beside_comparison *out)
{
    const real_network real = {t->kind->shape, numbers};
    const uint32_t features = t->kind->shape->features;
    int32_t scores[BESIDE_GOLDEN];
    uint64_t same = 0;
    clo_status status = CLO_OK;

    for (uint32_t at = 0; at + BESIDE_GOLDEN <= t->rows_count && status == CLO_OK; at += BESIDE_GOLDEN) {
        const uint32_t zeros[BESIDE_GOLDEN + 1] = {0};
        const int16_t *rows = t->rows + (size_t)at * features;
        const clo_model_case shown = {.stages = BESIDE_GOLDEN,
                                      .jobs = 1,
                                      .job_of_stage = zeros,
                                      .child_begin = zeros,
                                      .children = zeros,
                                      .inputs = rows};
        status = clo_model_scores(model, &shown, scores, NULL);
        for (uint32_t g = 0; g + BESIDE_GROUP <= BESIDE_GOLDEN && status == CLO_OK; g += BESIDE_GROUP)
            add_choice(rows + (size_t)g * features, scores + g, &real, out, &same);
    }
    out->agreement = out->choices > 0 ? (double)same / (double)out->choices : 1;
    return status;
}

/* integers[count], reals[count]: completion times on the same streams. */
static void summarise(const train_stream *integers, const train_stream *reals, uint32_t count, beside_comparison *out)
{
    paired change = {0};

    for (uint32_t i = 0; i < count; i++)
        paired_add(&change, integers[i].reached, reals[i].reached);
    out->change = paired_mean(&change);
    out->change_error = paired_error(&change);
}

/* On streams: the rule, the integers, and both kinds of real numbers. Those with an environment draw times by job,
 * stage and instance, so that all meet the same ones. */
static int compare_streams(beside_training *t, const clo_model *model)
{
    enum { BASE, INTEGERS, REALS, ALL = REALS + BESIDE_REALS };
    const uint32_t count = t->o.compared.count;
    clo_residual_argument with = CLO_RESIDUAL_ARGUMENT_INIT, real[BESIDE_REALS];
    train_stream *list = calloc((size_t)ALL * count, sizeof *list);
    train_streams streams = t->streams;
    real_network said[BESIDE_REALS];

    if (list == NULL)
        return complain(NULL, "out of memory");
    streams.is_common = streams.environment != NULL;
    with.model = model;
    snprintf(with.parametric, sizeof with.parametric, "%s", t->o.numbers);
    for (uint32_t k = 0; k < BESIDE_REALS; k++) {
        real[k] = with;
        real[k].answer = answer;
        said[k] = (real_network){t->kind->shape, t->best[k]};
        real[k].answer_context = &said[k];
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t way = 0; way < ALL; way++)
            list[way * count + i] = (train_stream){
                .policy = way == BASE ? clo_policy_find(t->kind->rule) : t->policy,
                .argument = way == BASE ? t->base_argument : (void *)(way == INTEGERS ? &with : &real[way - REALS]),
                .seed = t->o.compared.first + i};
    int code = train_streams_run(&streams, NULL, list, ALL * count);
    t->compared_score = 0;
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++)
        t->compared_score += list[INTEGERS * count + i].reached / list[i].reached / count;
    for (uint32_t k = 0; k < BESIDE_REALS && code == EXIT_GOOD; k++)
        summarise(list + (size_t)INTEGERS * count, list + (size_t)(REALS + k) * count, count, &t->real[k]);
    free(list);
    return code;
}

int beside_compare(beside_training *t)
{
    clo_model *model = NULL;
    clo_status status = clo_model_open(t->o.name, t->model, t->model_bytes, &model);
    int code = EXIT_GOOD;

    for (uint32_t k = 0; k < BESIDE_REALS && status == CLO_OK; k++) {
        t->real[k] = (beside_comparison){0};
        status = compare_choices(t, model, t->best[k], &t->real[k]);
    }
    if (status != CLO_OK)
        code = complain_status(NULL, status);
    else if (t->o.compared.count > 0)
        code = compare_streams(t, model);
    clo_model_destroy(model);
    return code;
}
