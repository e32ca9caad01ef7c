/* weigh.h - how long each step took when it ran last. */
#ifndef CLO_TOOLS_NINJA_STATE_WEIGH_H
#define CLO_TOOLS_NINJA_STATE_WEIGH_H

#include "ninja/state/build.h"

/* Times of steps in ns. A step that neither the log nor .clotho_steps knows takes the mean of its rule, else of all,
 * else 1 s. */
typedef struct build_weights {
    int64_t *time_ns; /* [edges]; 0 for phony ones */
    uint32_t known;   /* steps whose time one of the two has */
} build_weights;

/* Times of the edges that `is_in` marks. learned_ns: [edges] what .clotho_steps says, for steps that the log does not
 * know; 0: nothing; NULL: nothing of any. Returns false with the manifest's error set. */
bool build_weigh(build_folder *f, const bool *is_in, const int64_t *learned_ns, build_weights *out);
void build_weights_free(build_weights *w);

/* Marks what is behind the targets: with only_wanted those edges that build_want wants or waits for, else all. is_in:
 * [edges]. */
bool build_mark(build_folder *f, const uint32_t *targets, size_t count, bool only_wanted, bool *is_in);

#endif
