/* registry.h - lists of the names that the library knows: planners, policies, platforms, formats, graph families,
 * models, drivers of devices, kernels.
 *
 * Library: libclotho-io. */
#ifndef CLOTHO_REGISTRY_H
#define CLOTHO_REGISTRY_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One entry of a registry. The texts are static. */
typedef struct clo_entry {
    /* Set by CLO_ENTRY_INIT; see CLO_SIZED_INIT in status.h. */
    size_t size;

    /* What other calls take. */
    const char *name;

    /* One line for a reader. */
    const char *summary;

    /* Formats: "rw" (read and written) or "r" (read only). NULL in every other registry. */
    const char *directions;

    /* Kernels: 1: this CPU has their instruction set, so networks use them; a later entry wins where both are used.
     * Drivers: 1: they can open a device here. 0 in every other registry. */
    uint32_t is_used;
} clo_entry;

#define CLO_ENTRY_INIT CLO_SIZED_INIT(clo_entry)

/* Reads one entry of a registry:
 *
 *     clo_entry entry = CLO_ENTRY_INIT;
 *     for (uint32_t i = 0; clo_registry_entry("planners", i, &entry); i++)
 *         puts(entry.name);
 *
 *   registry  "planners", "policies", "learned" (policies, too, whose decisions take the longer the more candidates
 *             there are), "platforms", "formats", "families", "models", "drivers" (of devices) or "kernels"
 *             (instruction sets that the integer kernels of networks are built for). NULL: the registries themselves.
 *   index     from 0.
 *   out       untouched if the call returns false.
 *
 * Returns true, or false past the end. Returns false too, with a text in clo_last_error, for an unknown registry, for
 * `out` NULL, and for an `out->size` that is wrong. In a library without files "formats" is empty.
 *
 * Not promised: the order of entries in the next release; the first entry is the default.
 *
 * Threads: any, at any time.
 * Real time: yes, where it returns true or the end is reached; of "drivers" no: they look for devices. O(entries). */
CLO_API bool clo_registry_entry(const char *registry, uint32_t index, clo_entry *out);

#ifdef __cplusplus
}
#endif
#endif
