/* lachesis_model.h - a network of the shape of LACHESIS (section 4.2) with drawn weights: embeddings of 16 numbers,
 * three layers with shared weights, summaries of jobs and of the system, a head of 32, 16, 8 and 1. It knows nothing:
 * it is there to be timed, and to be compared with itself. */
#ifndef CLO_BENCH_LACHESIS_MODEL_H
#define CLO_BENCH_LACHESIS_MODEL_H

#include <clotho/clotho.h>

/* Deviations from the plain network. */
enum {
    /* The head's layers give int16 and one of them goes through tanh; else int8, and one of them through a table. */
    LACHESIS_MODEL_WIDE = 1,
    LACHESIS_MODEL_BENT = 2,
    /* The head has no part of jobs, or of the system. */
    LACHESIS_MODEL_NO_JOB = 4,
    LACHESIS_MODEL_NO_SYSTEM = 8,
    /* The encoder is a loop; it is left out where no job has an edge. */
    LACHESIS_MODEL_LOOP = 16,
    LACHESIS_MODEL_SKIP = 32,
    /* Stages add to their scores directly, behind the head. */
    LACHESIS_MODEL_DIRECT = 64,
    /* The head's sums are added to themselves. */
    LACHESIS_MODEL_TWICE = 128
};

/* The bytes of the model, for clo_model_open; free() them. NULL: see clo_last_error. */
void *lachesis_model_draw(uint64_t seed, unsigned shape, size_t *bytes);

#endif
