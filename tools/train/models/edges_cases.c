/* edges_cases.c - see edges_cases.h. */
#include "train/models/edges_cases.h"

#include "train/models/edges_network.h"
#include "train/numbers/losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOLDEN = 4 };

/* A copy of the view. False: no memory. */
static bool keep(const train_view *view, edges_case *out)
{
    const clo_model_case *from = view->input->shape;
    uint32_t n = from->stages, edges = from->child_begin[n];
    size_t numbers = (size_t)n * CLO_EDGES_FEATURES;
    size_t bytes = view->stages.count * (sizeof(double) + sizeof(uint32_t)) +
                   (2 * (size_t)n + 1 + edges) * sizeof(uint32_t) + numbers * sizeof(int16_t);
    char *memory = calloc(1, bytes + 1);

    if (memory == NULL)
        return false;
    *out = (edges_case){.memory = memory, .count = view->stages.count, .prior = (void *)memory};
    out->rows = (void *)(out->prior + out->count);
    uint32_t *job_of = out->rows + out->count, *child_begin = job_of + n, *children = child_begin + n + 1;
    int16_t *inputs = (void *)(children + edges);
    memcpy(out->prior, view->stages.prior, out->count * sizeof *out->prior);
    memcpy(out->rows, view->stages.rows, out->count * sizeof *out->rows);
    memcpy(job_of, from->job_of_stage, n * sizeof *job_of);
    memcpy(child_begin, from->child_begin, (n + 1) * sizeof *child_begin);
    memcpy(children, from->children, edges * sizeof *children);
    for (size_t i = 0; i < numbers; i++)
        inputs[i] = (int16_t)lround(ldexp(view->input->inputs[i], EDGES_EXPONENT));
    out->shape = (clo_model_case){.stages = n,
                                  .jobs = 1,
                                  .job_of_stage = job_of,
                                  .child_begin = child_begin,
                                  .children = children,
                                  .inputs = inputs};
    return true;
}

/* By the prior, drawn. */
static train_choice choose(const train_view *view, double *log_p, draws *d)
{
    choice_log_softmax(view->stages.prior, view->stages.count, log_p);
    return (train_choice){choice_sample(log_p, view->stages.count, d), CLO_MODEL_NONE};
}

uint32_t edges_cases_collect(const edges_world *world, const uint64_t *seeds, uint32_t seeds_count, uint32_t every,
                             edges_case *out, uint32_t count)
{
    const train_environment *e = &edges_environment;
    void *self = e->create(world);
    double log_p[CLO_MODEL_GOLDEN_ROWS_MAX];
    uint32_t kept = 0, met = 0;
    train_view view;

    for (uint32_t i = 0; i < seeds_count && kept < count && self != NULL; i++) {
        draws d = {draws_key(seeds[i], 17, 0)};
        if (!e->reset(self, seeds[i]))
            break;
        while (kept < count && e->look(self, &view) && view.input->shape->stages <= CLO_MODEL_GOLDEN_ROWS_MAX &&
               view.input->shape->child_begin[view.input->shape->stages] <= CLO_MODEL_GOLDEN_EDGES_MAX) {
            const bool is_wanted = met++ % every == 0;
            if (is_wanted && !keep(&view, &out[kept]))
                break;
            kept += is_wanted;
            const train_choice choice = choose(&view, log_p, &d);
            (void)e->step(self, &choice);
        }
    }
    if (self != NULL)
        e->destroy(self);
    return kept;
}

void edges_cases_free(edges_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(cases[i].memory);
}

clo_status edges_quantize(network *net, const char *name, const edges_case *cases, uint32_t count, void **out,
                          size_t *bytes, const char **why)
{
    clo_model_case *list = malloc((count + 1) * sizeof *list);
    const quantize_config config = {.name = name,
                                    .kind = CLO_MODEL_HEAD,
                                    .feature_set = CLO_FEATURES_EDGES,
                                    .features = edges_features,
                                    .features_count = CLO_EDGES_FEATURES,
                                    .has_room_before_slope = true};

    *why = NULL;
    if (list == NULL)
        return CLO_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        list[i] = cases[i].shape;
    clo_status status = quantize_on(net, &config, &(quantize_cases){list, count, GOLDEN}, out, bytes, why);
    free(list);
    return status;
}

static void compare_one(const edges_case *one, const double *reals, const double *integers, quantize_agreement *found)
{
    double best = -INFINITY, chosen = -INFINITY;
    uint32_t best_at = 0, chosen_at = 0;
    bool is_tie = false;

    for (uint32_t i = 0; i < one->count; i++) {
        double real = reals[one->rows[i]] + one->prior[i], integer = integers[one->rows[i]] + one->prior[i];
        is_tie = real == best || (is_tie && real < best);
        best_at = real > best ? i : best_at;
        best = fmax(real, best);
        chosen_at = integer > chosen ? i : chosen_at;
        chosen = fmax(integer, chosen);
    }
    if (one->count < 4 || is_tie)
        return;
    found->choices++;
    found->same += best_at == chosen_at;
}

/* Who says what tasks are worth: a model, or its network in real numbers. */
typedef struct judge {
    const clo_model *model;
    network *net;
    /* of the model's scores */
    double unit;
} judge;

static clo_status open_judge(const clo_model *model, judge *out)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;
    clo_model_value score;
    clo_status status = clo_model_inspect(model, &info);

    if (status == CLO_OK)
        status = clo_model_value_at(model, info.score, &score);
    if (status == CLO_OK)
        *out = (judge){.model = model, .unit = ldexp(1, -score.exponent)};
    return status;
}

static clo_status run_network(network *net, const edges_case *one, double *scores)
{
    double inputs[CLO_MODEL_GOLDEN_ROWS_MAX * CLO_EDGES_FEATURES], none[1];
    const clo_model_case *shape = &one->shape;

    for (size_t k = 0; k < (size_t)shape->stages * CLO_EDGES_FEATURES; k++)
        inputs[k] = ldexp(shape->inputs[k], -EDGES_EXPONENT);
    return network_run(net, &(network_case){shape, inputs}, scores, none) ? CLO_OK : CLO_ERR_MEMORY;
}

static clo_status run_model(const judge *by, const edges_case *one, double *scores)
{
    int32_t integers[CLO_MODEL_GOLDEN_ROWS_MAX];
    clo_status status = clo_model_scores(by->model, &one->shape, integers, NULL);

    for (uint32_t i = 0; i < one->shape.stages && status == CLO_OK; i++)
        scores[i] = integers[i] * by->unit;
    return status;
}

/* scores[stages], without the prior. */
static clo_status judge_case(const judge *by, const edges_case *one, double *scores)
{
    if (one->shape.stages > CLO_MODEL_GOLDEN_ROWS_MAX)
        return CLO_ERR_LIMIT;
    return by->net != NULL ? run_network(by->net, one, scores) : run_model(by, one, scores);
}

clo_status edges_compare(network *net, const clo_model *model, const edges_case *cases, uint32_t count,
                         quantize_agreement *found)
{
    double reals[CLO_MODEL_GOLDEN_ROWS_MAX], integers[CLO_MODEL_GOLDEN_ROWS_MAX];
    const judge real = {.net = net};
    judge integer;
    clo_status status = open_judge(model, &integer);

    for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
        status = judge_case(&real, &cases[i], reals);
        if (status == CLO_OK)
            status = judge_case(&integer, &cases[i], integers);
        if (status == CLO_OK)
            compare_one(&cases[i], reals, integers, found);
    }
    return status;
}

/* The candidate with the most, prior included. */
static clo_status choose_by(const judge *by, const train_view *view, uint32_t *chosen)
{
    edges_case one;
    double scores[CLO_MODEL_GOLDEN_ROWS_MAX], best = -INFINITY;

    if (!keep(view, &one))
        return CLO_ERR_MEMORY;
    clo_status status = judge_case(by, &one, scores);
    for (uint32_t i = 0; i < one.count && status == CLO_OK; i++) {
        double value = scores[one.rows[i]] + one.prior[i];
        *chosen = value > best ? i : *chosen;
        best = fmax(value, best);
    }
    free(one.memory);
    return status;
}

/* Plays the instance of a seed greedily. *percent: what its schedule gets shorter by. */
static clo_status play(void *self, const judge *by, uint64_t seed, double *percent)
{
    const train_environment *e = &edges_environment;
    clo_status status = e->reset(self, seed) ? CLO_OK : CLO_ERR_MEMORY;
    train_view view;

    *percent = 0;
    while (status == CLO_OK && e->look(self, &view)) {
        train_choice choice = {0, CLO_MODEL_NONE};
        status = choose_by(by, &view, &choice.stage);
        *percent += status == CLO_OK ? e->step(self, &choice) : 0;
    }
    return status;
}

clo_status edges_validate(const edges_world *world, const clo_model *model, const uint64_t *seeds, uint32_t count,
                          double *percent)
{
    void *self = edges_environment.create(world);
    judge by;
    clo_status status = self != NULL ? open_judge(model, &by) : CLO_ERR_MEMORY;

    *percent = 0;
    for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
        double one;
        status = play(self, &by, seeds[i], &one);
        *percent += one / count;
    }
    if (self != NULL)
        edges_environment.destroy(self);
    return status;
}

clo_status edges_compare_schedules(const edges_world *world, network *net, const clo_model *model,
                                   const uint64_t *seeds, uint32_t count, paired *out)
{
    void *self = edges_environment.create(world);
    const judge real = {.net = net};
    judge integer;
    clo_status status = self != NULL ? open_judge(model, &integer) : CLO_ERR_MEMORY;

    for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
        double reals, integers;
        status = play(self, &real, seeds[i], &reals);
        if (status == CLO_OK)
            status = play(self, &integer, seeds[i], &integers);
        if (status == CLO_OK)
            paired_add(out, 100 - integers, 100 - reals);
    }
    if (self != NULL)
        edges_environment.destroy(self);
    return status;
}
