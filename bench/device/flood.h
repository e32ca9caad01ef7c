/* flood.h - many equal kernels without an order, through a job or by hand. */
#ifndef CLO_BENCH_DEVICE_FLOOD_H
#define CLO_BENCH_DEVICE_FLOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct flood_config {
    const char *driver, *selector;
    const char *program; /* with a kernel `nothing`; NULL: the driver needs none */
    uint32_t depth, kernels;
    size_t put_bytes; /* of one operand that is read; 0: none */
} flood_config;

/* ns a kernel: of a run of a plan on `depth` slots, the second one; and of a loop over the driver. Print what fails. */
bool flood_through(const flood_config *config, double *ns);
bool flood_by_hand(const flood_config *config, double *ns);

/* CPU time of this process. */
int64_t flood_cpu_ns(void);

#endif
