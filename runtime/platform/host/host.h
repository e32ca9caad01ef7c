/* platform/host/host.h - the report of clo_platform_check_host, over any tree of /proc and /sys so that a test can
 * build one. */
#ifndef CLO_PLATFORM_HOST_HOST_H
#define CLO_PLATFORM_HOST_HOST_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* What only a system call can tell; errors are errno values, 0: it works. */
typedef struct clo_host_probe {
    uint32_t cpus_usable, cpus_online;
    int pin_error, fifo_error, lock_error;
    uint64_t lock_bytes; /* RLIMIT_MEMLOCK; UINT64_MAX: unlimited */
} clo_host_probe;

void clo_host_probe_run(clo_host_probe *out);

/* Appends one line a finding; returns the number of "lack" lines. `root` stands before "/proc" and "/sys". */
uint32_t clo_host_report(const char *root, const clo_host_probe *probe, clo_text *out);

#endif
