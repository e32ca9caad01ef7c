/* profile.c - see profile.h. */
#include "policy/synch/profile.h"

#include "base/numbers/saturate.h"

#include <string.h>

enum { STEPS_ALL = 16384, STEPS_LEAST = 128, STEPS_MOST = 2048 };

static uint32_t steps_for(const clo_synch_places *places)
{
    uint32_t steps = STEPS_ALL / places->domains;

    return steps < STEPS_LEAST ? STEPS_LEAST : steps > STEPS_MOST ? STEPS_MOST : steps;
}

static void find_columns(clo_synch_profile *profile, const clo_synch_places *places)
{
    uint32_t counts[CLO_SYNCH_PLACES_MAX] = {0};

    profile->width = 0;
    for (uint32_t p = 0; p < places->count; p++) {
        profile->column_of[p] = counts[places->domain_of[p]]++;
        profile->width = profile->column_of[p] >= profile->width ? profile->column_of[p] + 1 : profile->width;
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        bool is_limited = false;
        for (uint32_t d = 0; d < places->domains; d++)
            is_limited = is_limited || places->capacity[d][r] >= 0;
        profile->resource_column[r] = is_limited ? profile->width++ : CLO_NONE;
    }
}

size_t clo_synch_profile_bytes(const clo_synch_places *places)
{
    size_t rows = (size_t)places->domains * steps_for(places);
    clo_synch_profile columns;

    find_columns(&columns, places);
    return (rows * (columns.width + 1) + places->domains + places->count) * sizeof(int64_t);
}

void *clo_synch_profile_open(clo_synch_profile *profile, const clo_synch_places *places, void *memory)
{
    size_t rows = (size_t)places->domains * steps_for(places);

    profile->steps_max = steps_for(places);
    find_columns(profile, places);
    profile->time_ns = memory;
    profile->used = profile->time_ns + rows;
    profile->open_ns = profile->used + rows * profile->width;
    profile->steps = (uint32_t *)(void *)(profile->open_ns + places->count);
    return (char *)memory + clo_synch_profile_bytes(places);
}

static int64_t *times_of(const clo_synch_profile *profile, uint32_t domain)
{
    return profile->time_ns + (size_t)domain * profile->steps_max;
}

static int64_t *used_of(const clo_synch_profile *profile, uint32_t domain, uint32_t step)
{
    return profile->used + ((size_t)domain * profile->steps_max + step) * profile->width;
}

void clo_synch_profile_clear(clo_synch_profile *profile, const clo_synch_places *places, int64_t now_ns)
{
    for (uint32_t p = 0; p < places->count; p++)
        profile->open_ns[p] = now_ns;
    for (uint32_t d = 0; d < places->domains; d++) {
        profile->steps[d] = 1;
        times_of(profile, d)[0] = now_ns;
        memset(used_of(profile, d, 0), 0, profile->width * sizeof(int64_t));
    }
}

void clo_synch_profile_copy(clo_synch_profile *profile, const clo_synch_places *places, const clo_synch_profile *from)
{
    memcpy(profile->open_ns, from->open_ns, places->count * sizeof *profile->open_ns);
    for (uint32_t d = 0; d < places->domains; d++) {
        profile->steps[d] = from->steps[d];
        memcpy(times_of(profile, d), times_of(from, d), from->steps[d] * sizeof(int64_t));
        memcpy(used_of(profile, d, 0), used_of(from, d, 0), (size_t)from->steps[d] * from->width * sizeof(int64_t));
    }
}

/* The step that holds `time_ns`: the last one that begins no later. */
static uint32_t step_at(const clo_synch_profile *profile, uint32_t domain, int64_t time_ns)
{
    const int64_t *times = times_of(profile, domain);
    uint32_t low = 0, high = profile->steps[domain];

    while (high - low > 1) { /* halves */
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* What an instance takes: one executor, and demands by the platform's resources that the domain limits. */
typedef struct use {
    uint32_t count, at[CLO_RESOURCES_MAX + 1];
    int64_t each[CLO_RESOURCES_MAX + 1], capacity[CLO_RESOURCES_MAX + 1];
} use;

static use use_of(const clo_synch_profile *profile, const clo_synch_places *places, const clo_cost *cost,
                  const clo_synch_batch *batch)
{
    uint32_t domain = places->domain_of[batch->place];
    use u = {1, {profile->column_of[batch->place]}, {1}, {places->size[batch->place]}};

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t demand = places->capacity[domain][r] < 0 ? 0 : clo_synch_demand(cost, batch->stage, r);
        if (demand == 0)
            continue;
        u.at[u.count] = profile->resource_column[r];
        u.each[u.count] = demand;
        u.capacity[u.count++] = places->capacity[domain][r];
    }
    return u;
}

/* How many instances more fit in the step. */
static uint32_t room_in(const use *u, const int64_t *used, uint32_t most)
{
    for (uint32_t i = 0; i < u->count && most > 0; i++) {
        int64_t rest = u->capacity[i] - used[u->at[i]];
        if (rest < u->each[i] * (int64_t)most)
            most = rest > 0 ? (uint32_t)(rest / u->each[i]) : 0;
    }
    return most;
}

uint32_t clo_synch_profile_find(const clo_synch_profile *profile, const clo_synch_places *places, const clo_cost *cost,
                                clo_synch_batch *batch, int64_t from_ns)
{
    int64_t open_ns = profile->open_ns[batch->place], start_ns = open_ns > from_ns ? open_ns : from_ns;
    uint32_t domain = places->domain_of[batch->place], first = step_at(profile, domain, start_ns), i = first;
    uint32_t steps = profile->steps[domain], most = batch->count;
    const int64_t *times = times_of(profile, domain);
    use u = use_of(profile, places, cost, batch);

    for (; i < steps && times[i] < clo_time_add(start_ns, batch->time_ns); i++) {
        uint32_t room = room_in(&u, used_of(profile, domain, i), most);
        if (room > 0) {
            most = room;
        } else if (i + 1 < steps) { /* else something is held for ever: the caller's demand is more than all */
            start_ns = times[i + 1];
            most = batch->count;
        }
    }
    batch->start_ns = start_ns;
    batch->count = most;
    return i - first + 1;
}

/* Makes a step begin at time_ns; there is room for one. */
static void split(clo_synch_profile *profile, uint32_t domain, int64_t time_ns)
{
    uint32_t i = step_at(profile, domain, time_ns), rest = profile->steps[domain] - i;
    int64_t *times = times_of(profile, domain);

    if (times[i] == time_ns)
        return;
    memmove(&times[i + 1], &times[i], rest * sizeof *times);
    memmove(used_of(profile, domain, i + 1), used_of(profile, domain, i), rest * profile->width * sizeof(int64_t));
    times[i + 1] = time_ns;
    profile->steps[domain]++;
}

/* Something was placed: open_ns is at the first step with a free executor. */
static void move_open(clo_synch_profile *profile, const clo_synch_places *places, uint32_t place)
{
    uint32_t domain = places->domain_of[place], i = step_at(profile, domain, profile->open_ns[place]);

    while (i + 1 < profile->steps[domain] &&
           used_of(profile, domain, i)[profile->column_of[place]] >= places->size[place])
        profile->open_ns[place] = times_of(profile, domain)[++i];
}

bool clo_synch_profile_place(clo_synch_profile *profile, const clo_synch_places *places, const clo_cost *cost,
                             const clo_synch_batch *batch)
{
    uint32_t domain = places->domain_of[batch->place];
    int64_t end_ns = clo_time_add(batch->start_ns, batch->time_ns);
    const int64_t *times = times_of(profile, domain);
    use u = use_of(profile, places, cost, batch);

    if (profile->steps[domain] + 2 > profile->steps_max)
        return false;
    split(profile, domain, batch->start_ns);
    split(profile, domain, end_ns);
    for (uint32_t i = step_at(profile, domain, batch->start_ns); times[i] < end_ns; i++) /* a step begins at the end */
        for (uint32_t k = 0; k < u.count; k++)
            used_of(profile, domain, i)[u.at[k]] += u.each[k] * batch->count;
    move_open(profile, places, batch->place);
    return true;
}
