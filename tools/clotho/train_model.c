/* train_model.c - the model of a training: quantized, compared with the real numbers, written. */
#include "train_model.h"
#include "../train/batch_model.h"
#include "../train/curve.h"
#include "json.h"
#include "model.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

static int write_curve(const lachesis_options *o, const trainer *t)
{
    uint32_t count;
    const train_point *points = trainer_curve(t, &count);
    FILE *file = fopen(o->curve, "w");
    bool is_good = file != NULL && curve_svg(points, count, "clotho train lachesis", file);

    if (file != NULL)
        is_good = fclose(file) == 0 && is_good;
    return is_good ? EXIT_GOOD : complain(o->curve, "cannot be written; check the folder and its rights");
}

/* FNV-1a of the bytes. */
static uint64_t hash_of(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static int print_report(const lachesis_options *o, const trainer *t, const batch_model *model,
                        const batch_agreement *found, double seconds)
{
    double reward, same = found->decisions > 0 ? (double)found->same / (double)found->decisions : 1;
    double change = found->reals > 0 ? found->integers / found->reals - 1 : 0;
    uint32_t update;
    json out;

    (void)trainer_best(t, &reward, &update);
    if (!o->as_json) {
        printf("\nbest         %.5f of DEFT's makespan on %u batches of validation, after %u updates; %.1f s\n",
               -reward, o->validation.count, update, seconds);
        printf("integers     choose as real numbers in %.2f %% of %llu decisions; makespans change by %+.3f %%\n",
               100 * same, (unsigned long long)found->decisions, 100 * change);
        printf("model        %zu bytes, hash %016llx%s%s\n", model->bytes,
               (unsigned long long)hash_of(model->data, model->bytes), o->output != NULL ? ", written to " : "",
               o->output != NULL ? o->output : "");
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "policy", "lachesis");
    json_real(&out, "validation", -reward);
    json_count(&out, "best_update", update);
    json_count(&out, "updates", trainer_updates_done(t));
    json_count(&out, "seeds_hash", seeds_hash(o->seeds));
    json_count(&out, "validation_hash", seeds_hash(o->validation));
    json_count(&out, "decisions", found->decisions);
    json_real(&out, "agreement", same);
    json_real(&out, "objective_change", change);
    json_count(&out, "bytes", model->bytes);
    json_count(&out, "model_hash", hash_of(model->data, model->bytes));
    json_real(&out, "seconds", seconds);
    return json_print(&out);
}

int train_model_report(const lachesis_options *o, const trainer *t, const batch_set *set, double seconds)
{
    const double *best = trainer_best(t, NULL, NULL);
    batch_model made = {0};
    batch_agreement found = {0};
    clo_model *model = NULL;
    const char *why = NULL;
    clo_status status = batch_quantize(set, &o->shape, best, o->name, &made, &why);

    if (status == CLO_OK)
        status = clo_model_open(o->name, made.data, made.bytes, &model);
    for (uint32_t i = o->seeds.count; i < set->count && status == CLO_OK; i++)
        status = batch_compare(set->list[i], set, &o->shape, best, model, &found);
    int code = status == CLO_OK ? EXIT_GOOD
               : why != NULL    ? complain("the model", "%s", why)
                                : complain_status("the model", status);
    if (code == EXIT_GOOD && o->output != NULL)
        code = model_write(o->output, made.data, made.bytes);
    if (code == EXIT_GOOD && o->curve != NULL)
        code = write_curve(o, t);
    if (code == EXIT_GOOD)
        code = print_report(o, t, &made, &found, seconds);
    clo_model_destroy(model);
    free(made.data);
    return code;
}
