/* batch_model.c - see batch_model.h. */
#include "train/batch/batch_model.h"

#include "train/models/quantize.h"

#include <math.h>
#include <stdlib.h>

enum { GOLDEN = 4, GOLDEN_STAGES = 64, SCORE_UNITS = 1 << 24 };

/* Small batches first, for golden vectors; the network's inputs do not change. */
static clo_model_case *list_cases(const batch_set *set, uint32_t *golden)
{
    clo_model_case *list = calloc((size_t)set->count + 1, sizeof *list);
    uint32_t count = 0;

    for (int is_large = 0; is_large < 2 && list != NULL; is_large++) {
        for (uint32_t i = 0; i < set->count; i++)
            if ((set->list[i]->shape.stages > GOLDEN_STAGES) == is_large)
                list[count++] = set->list[i]->shape;
        if (!is_large)
            *golden = count < GOLDEN ? count : GOLDEN;
    }
    return list;
}

/* The parameters with the prior beside them, and the network on them; without parameters the prior alone. NULL: no
 * memory, or the shape is not possible. */
static double *add_prior(const lachesis_shape *shape, const double *parameters, const batch_set *set, network *net)
{
    lachesis_shape with = *shape;

    with.prior_times = lachesis_prior_times(set->prior, shape->exponent);
    with.rounds = parameters != NULL ? shape->rounds : 0;
    double *all = calloc(lachesis_parameters(&with), sizeof *all);
    if (all == NULL)
        return NULL;
    lachesis_with_prior(&with, parameters, set->weights, set->prior, all);
    if (lachesis_network(&with, all, net, NULL))
        return all;
    free(all);
    return NULL;
}

clo_status batch_quantize(const batch_set *set, const lachesis_shape *shape, const double *parameters, const char *name,
                          batch_model *out, const char **why)
{
    clo_model_feature features[BATCH_FEATURES];
    quantize_cases cases = {.count = set->count};
    network *net = calloc(1, sizeof *net);
    double *all = net != NULL ? add_prior(shape, parameters, set, net) : NULL;

    batch_features(features);
    cases.list = list_cases(set, &cases.golden);
    const quantize_config config = {.name = name,
                                    .kind = CLO_MODEL_LACHESIS,
                                    .feature_set = CLO_FEATURES_LACHESIS,
                                    .features = features,
                                    .features_count = BATCH_FEATURES,
                                    .margin = 1.5};
    *why = NULL;
    clo_status status = all != NULL && cases.list != NULL
                            ? quantize_on(net, &config, &cases, &out->data, &out->bytes, why)
                            : CLO_ERR_MEMORY;
    free((void *)(uintptr_t)cases.list);
    free(all);
    free(net);
    return status;
}

/* The order of a batch: tasks that may be next, as the environment has them. */
typedef struct order {
    const batch *b;
    uint32_t *rows, *waiting, count;
} order;

static void release(order *o, uint32_t task)
{
    const clo_model_case *shape = &o->b->shape;

    for (uint32_t c = shape->child_begin[task]; c < shape->child_begin[task + 1]; c++)
        if (--o->waiting[shape->children[c]] == 0)
            o->rows[o->count++] = shape->children[c];
}

/* The place in `rows` of the best candidate; of equal ones the one with the larger rank_u. is_tie: there are equal
 * ones. */
static uint32_t best_of(const order *o, const int64_t *scores, bool *is_tie)
{
    uint32_t best = 0;

    *is_tie = false;
    for (uint32_t i = 1; i < o->count; i++) {
        int64_t more = scores[o->rows[i]] - scores[o->rows[best]];
        if (more == 0)
            *is_tie = true;
        if (more > 0)
            *is_tie = false;
        if (more > 0 || (more == 0 && o->b->place[o->rows[i]] < o->b->place[o->rows[best]]))
            best = i;
    }
    return best;
}

static bool compare_orders(const batch *b, const int64_t *reals, const int64_t *integers, batch_agreement *found)
{
    uint32_t stages = b->shape.stages;
    order o = {.b = b, .rows = calloc(stages + 1, sizeof *o.rows), .waiting = calloc(stages + 1, sizeof *o.waiting)};
    bool is_good = o.rows != NULL && o.waiting != NULL, is_tie, is_other_tie;

    for (uint32_t t = 0; t < stages && is_good; t++) {
        o.waiting[t] = b->parents[t];
        if (o.waiting[t] == 0)
            o.rows[o.count++] = t;
    }
    while (is_good && o.count > 0) { /* ends: a task is a candidate once */
        uint32_t best = best_of(&o, reals, &is_tie), task = o.rows[best];
        if (o.count >= 4 && !is_tie) {
            found->decisions++;
            found->same += best_of(&o, integers, &is_other_tie) == best;
        }
        o.rows[best] = o.rows[--o.count];
        release(&o, task);
    }
    free(o.rows);
    free(o.waiting);
    return is_good;
}

/* Scores of both kinds as keys, [2][stages]. */
static clo_status make_keys(const batch *b, const network *net, const clo_model *model, int64_t *keys)
{
    uint32_t stages = b->shape.stages;
    int32_t *integers = calloc((size_t)stages + 1, sizeof *integers);
    network_tape tape = {0};
    clo_status status = CLO_ERR_MEMORY;

    if (integers != NULL && network_tape_fit(&tape, net, &b->shape)) {
        network_forward(net, &b->input, &tape);
        status = clo_model_scores(model, &b->shape, integers, NULL);
    }
    for (uint32_t t = 0; t < stages && status == CLO_OK; t++) {
        keys[t] = (int64_t)llround(tape.rows[net->score][t] * (double)SCORE_UNITS);
        keys[stages + t] = integers[t];
    }
    network_tape_free(&tape);
    free(integers);
    return status;
}

clo_status batch_compare(const batch *b, const batch_set *set, const lachesis_shape *shape, const double *parameters,
                         const clo_model *model, batch_agreement *found)
{
    uint32_t stages = b->shape.stages;
    network *net = calloc(1, sizeof *net);
    double *all = net != NULL ? add_prior(shape, parameters, set, net) : NULL;
    int64_t *keys = calloc(2 * (size_t)stages + 1, sizeof *keys);
    clo_status status = all != NULL && keys != NULL ? CLO_OK : CLO_ERR_MEMORY;

    if (status == CLO_OK && stages <= CLO_MODEL_GOLDEN_ROWS_MAX &&
        clo_graph_edges(b->graph) <= CLO_MODEL_GOLDEN_EDGES_MAX) {
        status = make_keys(b, net, model, keys);
        if (status == CLO_OK && !compare_orders(b, keys, keys + stages, found))
            status = CLO_ERR_MEMORY;
        if (status == CLO_OK) {
            found->batches++;
            found->reals += (double)batch_makespan_ns(b, keys) / (double)b->reference_ns;
            found->integers += (double)batch_makespan_ns(b, keys + stages) / (double)b->reference_ns;
        }
    }
    free(keys);
    free(all);
    free(net);
    return status;
}
