/* registry.c - every registry of the library, in the order of `clotho list`, and the one call that reads them. */
#include "base/registry.h"

#include "base/status.h"
#include "device/registry.h"
#include "generate/registry.h"
#include "io/text/formats.h"
#include "learn/model/builtin.h"
#include "plan/all/registry.h"
#include "platform/build/registry.h"
#include "policy/registry.h"

#include <clotho/registry.h>
#include <string.h>

static const struct {
    const char *name, *summary;
    const clo_registry *registry; /* NULL: the table itself */
} registries[] = {
    {"planners", "decide before the run: clo_plan_config.planner", &clo_planners},
    {"policies", "decide during the run: clo_policy_find", &clo_policies},
    {"learned", "policies by networks that look at every candidate: clo_policy_find", &clo_learned_policies},
    {"platforms", "shipped with the library: clo_platform_open", &clo_platforms},
    {"formats", "of graph files: clo_document_load, clo_document_save", &clo_formats},
    {"families", "of generated graphs: clo_graph_generate", &clo_graph_families},
    {"models", "networks that are built in: clo_model_builtin", &clo_models},
    {"drivers", "of devices: clo_driver_find", &clo_drivers},
    {"kernels", "instruction sets that integer kernels are built for", &clo_kernel_variants},
    {NULL, NULL, NULL},
};

static const clo_registry all = {.name = "registries", .rows = registries, .row_bytes = sizeof registries[0]};

/* The head of row `index`, and the row; NULL past the end. Ends: every table has a last row without a name. */
static const void *head_at(const clo_registry *registry, uint32_t index, clo_registry_head *out)
{
    const char *row = registry->rows;
    const void *const *pointers = registry->rows;
    size_t bytes = registry->has_directions ? sizeof *out : offsetof(clo_registry_head, directions);

    *out = (clo_registry_head){0};
    for (uint32_t i = 0;; i++, row += registry->row_bytes) { /* ends: every table has a last row */
        const void *at = registry->row_bytes > 0 ? row : pointers[i];
        if (at == NULL && registry->more != NULL)
            at = registry->more(index - i);
        else if (i < index && at != NULL && *(const char *const *)at != NULL)
            continue;
        if (at != NULL)
            memcpy(out, at, bytes);
        return at != NULL && out->name != NULL ? at : NULL;
    }
}

static const clo_registry *find(const char *name)
{
    for (size_t i = 0; registries[i].name != NULL; i++)
        if (strcmp(registries[i].name, name) == 0)
            return registries[i].registry;
    return NULL;
}

bool clo_registry_entry(const char *registry, uint32_t index, clo_entry *out)
{
    const clo_registry *from = registry != NULL ? find(registry) : &all;
    clo_registry_head head;

    if (out == NULL)
        return (void)clo_fail_null("clo_registry_entry", "out"), false;
    if (clo_result_check(out, CLO_BYTES_UP_TO(clo_entry, directions), "clo_entry") != CLO_OK)
        return false;
    if (from == NULL)
        return (void)clo_fail(CLO_ERR_ARGUMENT, "clo_registry_entry: no registry is called '%.60s'; NULL lists them",
                              registry),
               false;
    const void *row = head_at(from, index, &head);
    if (row == NULL)
        return false;
    clo_entry entry = {.size = sizeof entry,
                       .name = head.name,
                       .summary = head.summary,
                       .directions = head.directions,
                       .is_used = from->is_used != NULL && from->is_used(row)};
    clo_result_write(out, &entry, sizeof entry);
    return true;
}
