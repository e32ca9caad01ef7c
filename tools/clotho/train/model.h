/* model.h - what `clotho train lachesis` is asked for, and what it makes of the trained network. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_MODEL_H
#define CLO_TOOLS_CLOTHO_TRAIN_MODEL_H

#include "train/batch/batch.h"
#include "train/models/lachesis.h"
#include "train/search/seeds.h"
#include "train/trainer/trainer.h"

typedef struct lachesis_options {
    const char *spec, *checkpoint, *output, *curve, *name;
    uint32_t updates, validate_every, threads, generations;
    train_phase phase;
    lachesis_shape shape;
    batch_law law;
    /* compared.count 0: no batches to compare integers with real numbers on but those of validation. */
    seed_list seeds, validation, compared;
    double prior, spread, agree;
    uint64_t seed;
    bool as_json;
} lachesis_options;

/* Quantizes trainer_best, compares it on the batches of validation and those held aside, writes the file and prints the
 * report. Where no update was better than none, or its integers choose otherwise too often, the network is left out and
 * the prior alone is the model; where that does not help either, there is an error line and no file. Returns an exit
 * code. */
int train_model_report(const lachesis_options *o, const trainer *t, const batch_set *set, double seconds);

#endif
