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
extern const unsigned char clo_decima_own_model[67952];
/* edges_model.c */
extern const unsigned char clo_edges_model[13856];
/* easy_residual_model.c */
extern const unsigned char clo_easy_residual_model[10528];
/* lachesis_model.c */
extern const unsigned char clo_lachesis_model[5456];

/* Each an object of its own: who names one links no other. */
const clo_builtin_model clo_builtin_decima = {
    "decima", "the published weights of Decima (spark-sched-sim) in int8, for 50 executors and TPC-H queries",
    clo_decima_model, sizeof clo_decima_model};
const clo_builtin_model clo_builtin_decima_batch = {
    "decima-batch", "what the policy residual adds to parametric: trained on batches of TPC-H queries, 50 executors",
    clo_decima_batch_model, sizeof clo_decima_batch_model};
const clo_builtin_model clo_builtin_decima_stream = {
    "decima-stream", "what the policy residual adds to parametric:stream: trained on streams of TPC-H queries",
    clo_decima_stream_model, sizeof clo_decima_stream_model};
const clo_builtin_model clo_builtin_edges = {
    "edges", "which edges make a list schedule shorter (Hua et al.): the network of the planners edges",
    clo_edges_model, sizeof clo_edges_model};
const clo_builtin_model clo_builtin_lachesis = {
    "lachesis",
    "a rule of six features that orders tasks for DEFT: tuned on TPC-H queries, 50 executors of unlike speeds",
    clo_lachesis_model, sizeof clo_lachesis_model};
const clo_builtin_model clo_builtin_decima_own = {
    "decima-own", "Decima's network, trained here on batches and streams of TPC-H queries, 50 executors: decima:own",
    clo_decima_own_model, sizeof clo_decima_own_model};
const clo_builtin_model clo_builtin_easy_residual = {
    "easy-residual",
    "what the policy easy-residual adds to easy-parametric: trained on streams of TPC-H queries with four resources",
    clo_easy_residual_model, sizeof clo_easy_residual_model};

static const clo_builtin_model *const models[] = {
    &clo_builtin_decima,   &clo_builtin_decima_batch, &clo_builtin_decima_stream, &clo_builtin_edges,
    &clo_builtin_lachesis, &clo_builtin_decima_own,   &clo_builtin_easy_residual, NULL,
};

CLO_REGISTRY_ROW(clo_builtin_model);
const clo_registry clo_models = {.name = "models", .rows = models};

static bool is_used(const void *row)
{
    const clo_variant *variant = row;

    return (variant->needs & clo_cpu_isa()) == variant->needs;
}

CLO_REGISTRY_ROW(clo_variant);
const clo_registry clo_kernel_variants = {
    .name = "kernels", .rows = clo_kernels_built, .row_bytes = sizeof clo_kernels_built[0], .is_used = is_used};

const void *clo_model_builtin(const char *name, size_t *bytes)
{
    const clo_builtin_model *found = NULL;

    for (size_t i = 0; name != NULL && models[i] != NULL && found == NULL; i++)
        if (strcmp(models[i]->name, name) == 0)
            found = models[i];
    if (bytes != NULL)
        *bytes = found != NULL ? found->bytes : 0;
    return found != NULL ? found->data : NULL;
}
