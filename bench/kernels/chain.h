/* chain.h - the time of one dependent cache miss, so that runs on other machines compare. */
#ifndef BENCH_KERNELS_CHAIN_H
#define BENCH_KERNELS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct chain {
    uint32_t *next, lines, at; /* next[i * 16]: the line after line i */
} chain;

/* One cycle through all lines in random order (Sattolo 1986). False: no memory. */
bool chain_make(chain *c, bool is_quick, uint64_t seed);
void chain_free(chain *c);

/* ns of one miss, over some thousands. */
double chain_chase(chain *c);

#endif
