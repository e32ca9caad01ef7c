/* scenes.h - what numbers are tuned on: platforms with streams of jobs. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_SCENES_H
#define CLO_TOOLS_CLOTHO_TRAIN_SCENES_H

#include "clotho/room/dress.h"
#include "clotho/train/train.h"

#include <clotho/clotho.h>

enum { TRAIN_SCENES_MAX = 16 };

typedef struct train_scene {
    const clo_platform *platform;
    clo_platform *opened; /* `platform`, where the scene owns it; else NULL */
    /* Without a seed. */
    clo_arrivals_config arrivals;
    stream_deadlines deadlines;
} train_scene;

/* What --platform, --jobs and --arrivals say, or each --scene. `jobs` is borrowed. Returns EXIT_GOOD, or an exit code
 * after an error line; what was opened is closed by train_scenes_close in any case. */
int train_scenes_open(const train_options *o, const clo_workload *jobs, train_scene out[TRAIN_SCENES_MAX],
                      uint32_t *count);
void train_scenes_close(train_scene *scenes, uint32_t count);

#endif
