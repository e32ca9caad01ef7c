/* episodes.h - episodes of the policy "decima" that are learned from. */
#ifndef CLO_TOOLS_CLOTHO_AGENT_EPISODES_H
#define CLO_TOOLS_CLOTHO_AGENT_EPISODES_H

#include "clotho/agent/training.h"

/* What episodes that are played together have in common. */
typedef struct train_law {
    uint32_t scene;
    /* Of an episode; 0: as many as the scene has. */
    uint32_t jobs;
    bool is_drawn;
} train_law;

typedef struct played {
    uint64_t seed;
    episode episode;
    /* [jobs]; NULL: not wanted */
    clo_stream_outcome *outcomes;
    double reached;
} played;

teacher network_teacher(const network_training *t, uint32_t scene);

/* Plays `count` episodes. Returns EXIT_GOOD, or an exit code after an error line. */
int network_play(const network_training *t, const clo_model *model, const train_law *law, played *list, uint32_t count);

#endif
