/* decision/parts.h - the policy `lachesis` with a drawn network: as contenders of bench-decision, one for each variant
 * of the kernels that this machine has, and what its parts cost alone. */
#ifndef CLO_BENCH_DECISION_PARTS_H
#define CLO_BENCH_DECISION_PARTS_H

#include "common/bench.h"

#include <clotho/clotho.h>

enum { PARTS_VARIANTS_MAX = 8, PARTS_CANDIDATES = 7, PARTS_KINDS = 5 };

/* A network, and the variants that run it: the best first. */
typedef struct parts_network {
    void *data;
    clo_model *model;
    clo_learned_argument argument;
    uint32_t variants;
    uint32_t isa[PARTS_VARIANTS_MAX];
    const char *names[PARTS_VARIANTS_MAX];
} parts_network;

/* False, after a line why, on failure. Close it also then. */
bool parts_open(parts_network *network, uint64_t seed);
void parts_close(parts_network *network);

/* Makes the state of a scheduler's policy use a variant. */
void parts_use(void *policy_state, uint32_t isa);

typedef struct parts_row {
    double p50, p99, p999, max; /* ns */
} parts_row;

extern const char *const parts_kinds[PARTS_KINDS];
extern const uint32_t parts_candidates[PARTS_CANDIDATES];

/* rows[kind][candidates] of one variant, over `jobs` live jobs, `samples` each. */
bool parts_measure(const parts_network *network, uint32_t isa, uint32_t jobs, uint32_t samples,
                   parts_row rows[PARTS_KINDS][PARTS_CANDIDATES]);

/* The same head in floating point, as a compiler makes it: three parts added up, 32 -> 16 -> 8 -> 1, and the best
 * candidate. rows[candidates], `samples` each. False: no memory. */
bool parts_measure_float(uint64_t seed, uint32_t samples, parts_row rows[PARTS_CANDIDATES]);

#endif
