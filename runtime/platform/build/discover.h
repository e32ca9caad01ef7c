/* platform/build/discover.h - this machine, through hwloc. discover.c is the only file that includes hwloc. */
#ifndef CLO_PLATFORM_BUILD_DISCOVER_H
#define CLO_PLATFORM_BUILD_DISCOVER_H

#include "library.h"
#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clo_native clo_native; /* opaque: an hwloc topology of the CPUs this thread may use */

/* Returns CLO_OK, CLO_ERR_PLATFORM (hwloc is told to describe another machine), CLO_ERR_SYSTEM, CLO_ERR_MEMORY. */
CLO_INTERNAL CLO_NODISCARD clo_status clo_native_open(clo_native **out);
CLO_INTERNAL void clo_native_close(clo_native *native);

/* Adds an info attribute to the PU of CPU number `cpu`, or with cpu = -1 to the machine. */
CLO_INTERNAL CLO_NODISCARD clo_status clo_native_add_info(clo_native *native, int32_t cpu, const char *name,
                                                          const char *value);

/* Adds a matrix between CPUs: cpus [count], values [count * count], row = from. count >= 2. */
CLO_INTERNAL CLO_NODISCARD clo_status clo_native_add_matrix(clo_native *native, const char *name, bool is_bandwidth,
                                                            const uint32_t *cpus, uint32_t count,
                                                            const uint64_t *values);

/* The topology as XML; release with clo_free. */
CLO_INTERNAL CLO_NODISCARD clo_status clo_native_export(clo_native *native, char **xml, size_t *bytes);

/* What tells machines apart: architecture, CPU model, number of CPUs; one line, always terminated. */
CLO_INTERNAL void clo_native_describe(char *out, size_t bytes);

/* Whether the calling thread may run on all of cpus[count]. Returns CLO_OK, CLO_ERR_SYSTEM, CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_native_may_use(const uint32_t *cpus, uint32_t count, bool *out);

#endif
