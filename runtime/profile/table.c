/* table.c - the rows of a profile, found by their keys in an open-addressed hash table. */
#include "profile/table.h"

#include "base/memory.h"
#include "profile/merge.h"

#include <assert.h>
#include <string.h>

enum { RUNS_MIN = 3 };

/* The number of a name, which is kept; CLO_NONE without memory. */
static uint32_t number_of(clo_profile *profile, const char *name)
{
    uint32_t number = clo_names_find(&profile->names, name);
    void *texts = profile->texts;

    if (number != CLO_NONE)
        return number;
    if (clo_grow(&texts, &profile->texts_capacity, profile->texts_count + 1, sizeof *profile->texts) != 0)
        return CLO_NONE;
    profile->texts = texts;
    char *copy = clo_duplicate(name);
    if (copy == NULL || clo_names_add(&profile->names, copy, (uint32_t)profile->texts_count) != 0) {
        clo_free(copy);
        return CLO_NONE;
    }
    profile->texts[profile->texts_count] = copy;
    return (uint32_t)profile->texts_count++;
}

/* The slot of the key, or the free one where it would stand. */
static uint32_t find_slot(const clo_profile *profile, const clo_profile_key *key)
{
    uint32_t mask = profile->slots_count - 1;
    uint32_t at = (uint32_t)clo_hash(profile->hash_key, key, sizeof *key) & mask;

    while (profile->slots[at] != 0 &&
           memcmp(&profile->rows[profile->slots[at] - 1].key, key, sizeof *key) != 0) /* at most half are taken */
        at = (at + 1) & mask;
    return at;
}

/* All slots anew: after a row has changed its key. */
static void hash_again(clo_profile *profile)
{
    memset(profile->slots, 0, profile->slots_count * sizeof *profile->slots);
    for (uint32_t r = 0; r < profile->rows_count; r++)
        profile->slots[find_slot(profile, &profile->rows[r].key)] = r + 1;
}

/* The row that nobody has added to for the longest time. */
static uint32_t oldest_row(const clo_profile *profile)
{
    uint32_t oldest = 0;

    for (uint32_t r = 1; r < profile->rows_count; r++)
        if (profile->rows[r].newest_s < profile->rows[oldest].newest_s)
            oldest = r;
    return oldest;
}

clo_profile_row *clo_profile_row_of(clo_profile *profile, const clo_profile_entry *entry)
{
    clo_profile_key key = {.version = entry->version, .is_used = 1, .footprint = entry->footprint};

    key.codelet = number_of(profile, entry->codelet);
    key.kind = number_of(profile, entry->kind);
    if (key.codelet == CLO_NONE || key.kind == CLO_NONE)
        return NULL;
    uint32_t slot = find_slot(profile, &key);
    if (profile->slots[slot] != 0)
        return &profile->rows[profile->slots[slot] - 1];
    bool is_full = profile->rows_count == profile->rows_max;
    uint32_t row = is_full ? oldest_row(profile) : profile->rows_count++;
    profile->rows[row] = (clo_profile_row){.key = key, .bytes = entry->bytes};
    profile->evicted += is_full;
    if (is_full)
        hash_again(profile);
    else
        profile->slots[slot] = row + 1;
    return &profile->rows[row];
}

clo_profile_row *clo_profile_row_find(clo_profile *profile, const clo_profile_entry *entry)
{
    clo_profile_key key = {.version = entry->version, .is_used = 1, .footprint = entry->footprint};

    key.codelet = clo_names_find(&profile->names, entry->codelet);
    key.kind = clo_names_find(&profile->names, entry->kind);
    uint32_t slot = find_slot(profile, &key);
    clo_profile_row *row = profile->slots[slot] != 0 ? &profile->rows[profile->slots[slot] - 1] : NULL;
    return row != NULL && (row->own.samples > 0 || row->before.samples > 0) ? row : NULL;
}

void clo_profile_row_learn(clo_profile_row *row, int64_t sample_ns, int64_t now_s)
{
    if (row->own.samples == 1 && row->is_cold) {
        int64_t most_ns = row->own.most_ns;
        row->own = (clo_estimator){.most_ns = most_ns};
        row->is_cold = false;
    } else if (row->own.samples == 0) {
        row->is_cold = true;
    }
    clo_estimator_add(&row->own, sample_ns);
    row->newest_s = now_s;
}

void clo_profile_row_learn_run(clo_profile_row *row, int64_t mean_ns)
{
    clo_estimator *whole = &row->whole;
    int64_t location_ns = clo_estimator_location_ns(whole), apart_ns = mean_ns - location_ns;
    bool is_other = (apart_ns < 0 ? -apart_ns : apart_ns) > 3 * clo_estimator_spread_ns(whole);
    bool has_changed = row->whole_level != row->own.level_changes;

    if ((has_changed || row->is_settling) && is_other)
        *whole = (clo_estimator){0};
    row->is_settling = has_changed;
    row->whole_level = row->own.level_changes;
    clo_estimator_add(whole, mean_ns);
}

clo_profile_entry clo_profile_row_times(const clo_profile_row *row)
{
    clo_profile_entry own = {.samples = row->own.samples,
                             .location_ns = clo_estimator_location_ns(&row->own),
                             .spread_ns = clo_estimator_spread_ns(&row->own),
                             .high_ns = clo_estimator_high_ns(&row->own),
                             .mean_ns = row->whole.samples >= RUNS_MIN ? clo_estimator_location_ns(&row->whole) : 0,
                             .most_ns = row->own.most_ns,
                             .level_changes = row->own.level_changes,
                             .newest_s = row->newest_s};
    return clo_profile_merge(&own, &row->before);
}

clo_profile_entry clo_profile_row_read(const clo_profile *profile, const clo_profile_row *row)
{
    clo_profile_entry merged = clo_profile_row_times(row);

    assert(row->key.is_used);
    merged.codelet = profile->texts[row->key.codelet];
    merged.kind = profile->texts[row->key.kind];
    merged.version = row->key.version;
    merged.footprint = row->key.footprint;
    merged.bytes = row->bytes;
    merged.newest_s = row->newest_s;
    return merged;
}
