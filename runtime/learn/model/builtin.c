/* builtin.c - the tables of what is built in for networks: models and kernels. */
#include "learn/model/builtin.h"

#include "kernels/kernels.h"

#include <string.h>

/* decima_model.c */
extern const unsigned char clo_decima_model[48128];
/* decima_batch_model.c */
extern const unsigned char clo_decima_batch_model[9376];
/* decima_stream_model.c */
extern const unsigned char clo_decima_stream_model[9376];
/* decima_own_model.c */
extern const unsigned char clo_decima_own_model[60976];
/* edges_model.c */
extern const unsigned char clo_edges_model[13856];
/* lachesis_model.c */
extern const unsigned char clo_lachesis_model[5456];

static const clo_builtin_model models[] = {
    {"decima", "the published weights of Decima (spark-sched-sim) in int8, for 50 executors and TPC-H queries",
     clo_decima_model, sizeof clo_decima_model},
    {"decima-batch", "what the policy residual adds to parametric: trained on batches of TPC-H queries, 50 executors",
     clo_decima_batch_model, sizeof clo_decima_batch_model},
    {"decima-stream", "what the policy residual adds to parametric:stream: trained on streams of TPC-H queries",
     clo_decima_stream_model, sizeof clo_decima_stream_model},
    {"edges", "which edges make a list schedule shorter (Hua et al.): the network of the planners edges",
     clo_edges_model, sizeof clo_edges_model},
    {"lachesis",
     "a rule of six features that orders tasks for DEFT: tuned on TPC-H queries, 50 executors of unlike speeds",
     clo_lachesis_model, sizeof clo_lachesis_model},
    {"decima-own", "Decima's network, trained here on batches and streams of TPC-H queries, 50 executors: decima:own",
     clo_decima_own_model, sizeof clo_decima_own_model},
    {NULL, NULL, NULL, 0},
};

CLO_REGISTRY_ROW(clo_builtin_model);
const clo_registry clo_models = {.name = "models", .rows = models, .row_bytes = sizeof models[0]};

static bool is_used(const void *row)
{
    const clo_variant *variant = row;

    return (variant->needs & clo_cpu_isa()) == variant->needs;
}

CLO_REGISTRY_ROW(clo_variant);
const clo_registry clo_kernel_variants = {
    .name = "kernels", .rows = clo_kernels_built, .row_bytes = sizeof clo_kernels_built[0], .is_used = is_used};

const clo_builtin_model *clo_builtin_model_find(const char *name)
{
    for (size_t i = 0; models[i].name != NULL; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

const void *clo_model_builtin(const char *name, size_t *bytes)
{
    const clo_builtin_model *builtin = name != NULL ? clo_builtin_model_find(name) : NULL;

    if (bytes != NULL)
        *bytes = builtin != NULL ? builtin->bytes : 0;
    return builtin != NULL ? builtin->data : NULL;
}
