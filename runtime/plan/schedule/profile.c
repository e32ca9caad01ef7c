#include "plan/schedule/profile.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

bool clo_profile_admits(const clo_profile *profile, const int64_t *demand)
{
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        if (profile->limits[r] >= 0 && demand[r] > profile->limits[r])
            return false;
    return true;
}

/* Written as a difference: used + demand could overflow. */
static bool step_admits(const clo_profile *profile, const clo_profile_step *step, const int64_t *demand)
{
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        if (profile->limits[r] >= 0 && demand[r] > profile->limits[r] - step->used[r])
            return false;
    return true;
}

/* The last step with time <= time_ns; the first stands at 0, so there is one. */
static size_t step_at(const clo_profile *profile, int64_t time_ns)
{
    size_t low = 0, high = profile->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (profile->steps[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t clo_profile_fits_from(const clo_profile *profile, int64_t start_ns, int64_t finish_ns, const int64_t *demand)
{
    int64_t from = start_ns;

    if (profile->count == 0 || start_ns >= finish_ns) /* length 0 holds nothing */
        return start_ns;
    for (size_t i = step_at(profile, start_ns); i < profile->count && profile->steps[i].time_ns < finish_ns; i++)
        if (!step_admits(profile, &profile->steps[i], demand)) {
            assert(i + 1 < profile->count); /* nothing is in use in the last step */
            from = profile->steps[i + 1].time_ns;
        }
    return from;
}

/* Makes a step begin at time_ns, with what is in use there, and gives its index. The memory is there. */
static size_t split(clo_profile *profile, int64_t time_ns)
{
    size_t at = step_at(profile, time_ns);

    if (profile->steps[at].time_ns == time_ns)
        return at;
    memmove(&profile->steps[at + 2], &profile->steps[at + 1], (profile->count - at - 1) * sizeof profile->steps[0]);
    profile->steps[at + 1] = profile->steps[at];
    profile->steps[at + 1].time_ns = time_ns;
    profile->count++;
    return at + 1;
}

int clo_profile_take(clo_profile *profile, int64_t start_ns, int64_t finish_ns, const int64_t *demand)
{
    void *steps = profile->steps;

    if (start_ns >= finish_ns)
        return 0;
    if (clo_grow(&steps, &profile->capacity, profile->count + 3, sizeof profile->steps[0]) != 0)
        return -1;
    profile->steps = steps;
    if (profile->count == 0)
        profile->steps[profile->count++] = (clo_profile_step){0};

    size_t first = split(profile, start_ns), end = split(profile, finish_ns);
    for (size_t i = first; i < end; i++)
        for (int r = 0; r < CLO_RESOURCES_MAX; r++)
            if (profile->limits[r] >= 0) /* an unlimited one is not counted: its sum might overflow */
                profile->steps[i].used[r] += demand[r];
    return 0;
}

void clo_profile_clear(clo_profile *profile)
{
    profile->count = 0;
}

void clo_profile_free(clo_profile *profile)
{
    clo_free(profile->steps);
    profile->steps = NULL;
    profile->count = profile->capacity = 0;
}
