/* model.c - the model of a training: quantized, compared with the real numbers, written. */
#include "clotho/train/model.h"
#include "clotho/common/json.h"
#include "clotho/common/report.h"
#include "clotho/model/model.h"
#include "clotho/train/train.h"
#include "train/batch/batch_model.h"
#include "train/numbers/fnv.h"
#include "train/search/paired.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a set of parameters became. */
typedef struct outcome {
    batch_model model;
    /* On validation, and on the batches held aside, with what makespans change by on each of these. */
    batch_agreement found, aside;
    paired change;
    /* The network adds nothing to the prior. */
    bool is_prior_alone;
} outcome;

static double share_in(const batch_agreement *found)
{
    return found->decisions > 0 ? (double)found->same / (double)found->decisions : 1;
}

static double share_of(const outcome *out)
{
    return share_in(&out->found);
}

static double change_of(const outcome *out)
{
    return out->found.reals > 0 ? out->found.integers / out->found.reals - 1 : 0;
}

static bool is_faithful(const lachesis_options *o, const outcome *out)
{
    return 100 * share_of(out) >= o->agree && (change_of(out) <= TRAIN_CHANGE_MOST || o->agree <= 0);
}

/* The batches of --compare, which nothing was chosen by. */
static clo_status compare_aside(const lachesis_options *o, const batch_set *set, const double *parameters,
                                const clo_model *model, outcome *out)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < o->compared.count && status == CLO_OK; i++) {
        const batch_agreement before = out->aside;
        batch *b = batch_create(&o->law, o->compared.first + i);
        status = b != NULL ? batch_compare(b, set, &o->shape, parameters, model, &out->aside) : CLO_ERR_ARGUMENT;
        if (status == CLO_OK && out->aside.batches > before.batches)
            paired_add(&out->change, out->aside.integers - before.integers, out->aside.reals - before.reals);
        batch_destroy(b);
    }
    return status;
}

/* parameters: NULL: of the prior alone. */
static int quantize_and_compare(const lachesis_options *o, const batch_set *set, const double *parameters, outcome *out)
{
    clo_model *model = NULL;
    const char *why = NULL;
    clo_status status = batch_quantize(set, &o->shape, parameters, o->name, &out->model, &why);

    if (status == CLO_OK)
        status = clo_model_open(o->name, out->model.data, out->model.bytes, &model);
    for (uint32_t i = o->seeds.count; i < set->count && status == CLO_OK; i++)
        status = batch_compare(set->list[i], set, &o->shape, parameters, model, &out->found);
    if (status == CLO_OK)
        status = compare_aside(o, set, parameters, model, out);
    clo_model_destroy(model);
    if (status == CLO_OK)
        return EXIT_GOOD;
    return why != NULL ? complain("the model", "%s", why) : complain_status("the model", status);
}

static void print_aside(const lachesis_options *o, const outcome *made)
{
    const batch_agreement *aside = &made->aside;

    if (o->compared.count > 0)
        printf("held aside   %u batches (list %016llx): alike in %.2f %% of %llu decisions, makespans %+.4f (+- %.4f) "
               "%%\n",
               aside->batches, (unsigned long long)seeds_hash(o->compared), 100 * share_in(aside),
               (unsigned long long)aside->decisions, 100 * paired_mean(&made->change),
               100 * paired_error(&made->change));
}

static void json_aside(const lachesis_options *o, const outcome *made, json *out)
{
    if (o->compared.count == 0)
        return;
    json_count(out, "compared_hash", seeds_hash(o->compared));
    json_count(out, "compared", made->aside.batches);
    json_count(out, "compared_decisions", made->aside.decisions);
    json_real(out, "compared_agreement", share_in(&made->aside));
    json_real(out, "compared_change", paired_mean(&made->change));
    json_real(out, "compared_change_error", paired_error(&made->change));
}

/* of_network: what the integers of the best parameters did. */
static int print_report(const lachesis_options *o, const trainer *t, const outcome *made, const outcome *of_network,
                        double seconds)
{
    const batch_model *model = &made->model;
    double reward;
    uint32_t update, count;
    json out;

    (void)trainer_best(t, &reward, &update);
    bool is_unfaithful = made != of_network;
    if (made->is_prior_alone) {
        reward = trainer_curve(t, &count)[0].validation;
        update = 0;
    }
    if (!o->as_json) {
        if (made->is_prior_alone && !is_unfaithful)
            printf("\nnetwork      is left out, the prior alone is kept: no update was better on validation");
        if (is_unfaithful)
            printf("\nnetwork      is left out, the prior alone is kept: its integers choose as real numbers in %.2f "
                   "%% of %llu decisions",
                   100 * share_of(of_network), (unsigned long long)of_network->found.decisions);
        printf("\nbest         %.5f of DEFT's makespan on %u batches of validation, after %u updates; %.1f s\n",
               -reward, o->validation.count, update, seconds);
        printf("integers     choose as real numbers in %.2f %% of %llu decisions; makespans change by %+.3f %%\n",
               100 * share_of(made), (unsigned long long)made->found.decisions, 100 * change_of(made));
        print_aside(o, made);
        printf("model        %zu bytes, hash %016llx%s%s\n", model->bytes,
               (unsigned long long)fnv_bytes(FNV_BEGIN, model->data, model->bytes),
               o->output != NULL ? ", written to " : "", o->output != NULL ? o->output : "");
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "policy", "lachesis");
    json_real(&out, "validation", -reward);
    json_count(&out, "best_update", update);
    json_count(&out, "updates", trainer_updates_done(t));
    json_count(&out, "seeds_hash", seeds_hash(o->seeds));
    json_count(&out, "validation_hash", seeds_hash(o->validation));
    json_count(&out, "decisions", made->found.decisions);
    json_real(&out, "agreement", share_of(made));
    json_real(&out, "agreement_of_network", share_of(of_network));
    json_bool(&out, "prior_alone", made->is_prior_alone);
    json_real(&out, "objective_change", change_of(made));
    json_aside(o, made, &out);
    json_count(&out, "bytes", model->bytes);
    json_count(&out, "model_hash", fnv_bytes(FNV_BEGIN, model->data, model->bytes));
    json_real(&out, "seconds", seconds);
    return json_print(&out);
}

static int write_all(const lachesis_options *o, const trainer *t, const outcome *made)
{
    int code = o->output != NULL ? model_write(o->output, made->model.data, made->model.bytes) : EXIT_GOOD;

    uint32_t count;
    const train_point *points = trainer_curve(t, &count);
    return code == EXIT_GOOD && o->curve != NULL ? train_write_curve(points, count, "clotho train lachesis", o->curve)
                                                 : code;
}

int train_model_report(const lachesis_options *o, const trainer *t, const batch_set *set, double seconds)
{
    uint32_t update;
    const double *parameters = trainer_best(t, NULL, &update);
    outcome best = {.is_prior_alone = update == 0}, prior = {.is_prior_alone = true};
    const outcome *made = &best;
    int code = quantize_and_compare(o, set, update > 0 ? parameters : NULL, &best); /* it begins with nothing to add */

    if (code == EXIT_GOOD && !best.is_prior_alone && !is_faithful(o, &best)) {
        code = quantize_and_compare(o, set, NULL, &prior);
        made = &prior;
    }
    if (code == EXIT_GOOD && !is_faithful(o, made))
        code = complain("the model",
                        "its integers choose as real numbers in %.2f %% of %llu decisions, less than %g %%, and it is "
                        "not written; try another --seed, or --tune 0",
                        100 * share_of(made), (unsigned long long)made->found.decisions, o->agree);
    if (code == EXIT_GOOD)
        code = write_all(o, t, made);
    if (code == EXIT_GOOD)
        code = print_report(o, t, made, &best, seconds);
    free(best.model.data);
    free(prior.model.data);
    return code;
}
