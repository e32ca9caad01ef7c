/* plan/schedule/profile.h - how much of a machine's shared capacities is in use over time.
 *
 * A step function: steps are sorted by time, the first stands at 0, each holds until the next one, the last
 * for ever and with nothing in use. Kept only for graphs with demands. */
#ifndef CLO_PLAN_PROFILE_H
#define CLO_PLAN_PROFILE_H

#include <clotho/graph.h>

typedef struct clo_profile_step {
    int64_t time_ns;
    int64_t used[CLO_RESOURCES_MAX];
} clo_profile_step;

typedef struct clo_profile {
    int64_t limits[CLO_RESOURCES_MAX]; /* in the graph's order of resources; < 0: unlimited */
    clo_profile_step *steps;
    size_t count, capacity;
} clo_profile;

/* True if `demand` fits an empty machine. */
bool clo_profile_admits(const clo_profile *profile, const int64_t *demand);

/* start_ns if `demand` fits during all of [start_ns, finish_ns), else the end of the last step in the way:
 * no start before that can succeed. The demand must be admitted. */
int64_t clo_profile_fits_from(const clo_profile *profile, int64_t start_ns, int64_t finish_ns, const int64_t *demand);

/* Takes `demand` during [start_ns, finish_ns), where it fits. Returns 0, or -1 if there is no memory. */
int clo_profile_take(clo_profile *profile, int64_t start_ns, int64_t finish_ns, const int64_t *demand);

void clo_profile_clear(clo_profile *profile); /* forgets what is taken, keeps limits and memory */
void clo_profile_free(clo_profile *profile);

#endif
