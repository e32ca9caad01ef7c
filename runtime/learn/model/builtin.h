/* learn/model/builtin.h - models that the library brings along, as arrays. */
#ifndef CLO_LEARN_MODEL_BUILTIN_H
#define CLO_LEARN_MODEL_BUILTIN_H

#include "base/registry.h"
#include "library.h"

#include <clotho/model.h>

typedef struct clo_builtin_model {
    const char *name, *summary;
    /* At a multiple of 16 bytes. */
    const unsigned char *data;
    size_t bytes;
} clo_builtin_model;

/* By name; the default, decima, is first. */
extern CLO_INTERNAL const clo_registry clo_models;

/* The variants of the kernels; used are those whose instruction set this CPU has. */
extern CLO_INTERNAL const clo_registry clo_kernel_variants;

extern CLO_INTERNAL const clo_builtin_model clo_builtin_decima, clo_builtin_decima_batch, clo_builtin_decima_stream,
    clo_builtin_edges, clo_builtin_lachesis, clo_builtin_decima_own, clo_builtin_easy_residual;

/* Opens the model in `memory`, which has clo_builtin_model_bytes at a multiple of 16: there is nothing to be freed.
 * Returns CLO_OK or CLO_ERR_UNSUPPORTED (a big-endian machine). */
size_t clo_builtin_model_bytes(const clo_builtin_model *builtin);
clo_status clo_builtin_model_open(const clo_builtin_model *builtin, void *memory, const clo_model **out);

#endif
