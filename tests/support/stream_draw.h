/* stream_draw.h - the random platform and the random jobs of stream_run.h. */
#ifndef CLO_TEST_STREAM_DRAW_H
#define CLO_TEST_STREAM_DRAW_H

#include "base/numbers/rng.h"
#include "stream_run.h"

/* Draws run->platform. Executor e is on machine e % machines. */
void stream_draw_platform(stream_run *run, clo_rng *rng);

/* Draws job `j`, its graph and its cost. */
void stream_draw_job(stream_run *run, clo_rng *rng, uint32_t j, bool has_bands);

#endif
