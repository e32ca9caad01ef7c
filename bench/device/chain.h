/* chain.h - kernels that change the same memory one after the other. */
#ifndef CLO_BENCH_DEVICE_CHAIN_H
#define CLO_BENCH_DEVICE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct chain_result {
    double ns;            /* a kernel */
    uint64_t moved_bytes; /* a kernel, to the device and back */
} chain_result;

/* The second run of such a chain; `keeps`: what the device has is not moved there again (clo_driver.keeps). Prints what
 * fails, also a wrong result. */
bool chain_run(const char *driver, bool keeps, uint32_t kernels, chain_result *out);

#endif
