/* stream_plants.h - faults to plant into runs of stream_run.h: at least one for each kind that the stream checker
 * knows. */
#ifndef CLO_TEST_STREAM_PLANTS_H
#define CLO_TEST_STREAM_PLANTS_H

#include "base/numbers/rng.h"
#include "stream_run.h"

typedef struct stream_plant {
    const char *name;

    /* CLO_STREAM_..., which must be found. */
    uint32_t kind;

    /* Changes a valid run so that one rule is broken, and returns false where this run offers no place. NULL: the run
     * itself breaks the rule `breaks`. */
    bool (*plant)(stream_run *run, clo_rng *rng);

    /* STREAM_BREAKS_... */
    int breaks;

    /* Other faults that may follow: bit k for kind k. */
    uint64_t beside;
} stream_plant;

/* Ends with a row without a name. */
extern const stream_plant stream_plants[];

#endif
