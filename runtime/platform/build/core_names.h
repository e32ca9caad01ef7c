/* platform/build/core_names.h - what the cores of a machine are called, from what the kernel says of each CPU. */
#ifndef CLO_PLATFORM_BUILD_CORE_NAMES_H
#define CLO_PLATFORM_BUILD_CORE_NAMES_H

#include "library.h"
#include <clotho/status.h>
#include <stdint.h>

#define CLO_CORE_NAME_BYTES 32

/* Calls found(of, cpu, name) for each CPU in the text of /proc/cpuinfo whose core has a name there: by implementer and
 * part on ARM ("cortex-a76"; "arm-41-fff" for one that is not in our list), by uarch on RISC-V ("u74-mc"). Other
 * architectures: never. Stops at the first status that is not CLO_OK, and returns it. */
clo_status clo_core_names_read(const char *cpuinfo, clo_status (*found)(void *of, uint32_t cpu, const char *name),
                               void *of);

#endif
