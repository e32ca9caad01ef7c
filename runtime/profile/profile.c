/* profile.c - makes profiles, and adds to them. Invariant: `published` is never NULL, and what it points to never
 * changes; all else is under the lock. */
#define _POSIX_C_SOURCE 200809L
#include "profile/state.h"

#include "base/memory.h"
#include "base/status.h"
#include "profile/memory.h"
#include "profile/merge.h"
#include "profile/table.h"

#include <string.h>
#include <time.h>

enum { ENTRIES_DEFAULT = 4096, NAME_BYTES_MAX = 255 };

static clo_status open_tables(clo_profile *profile, uint32_t entries_max)
{
    uint32_t slots = 4;

    while (slots < 2 * entries_max) /* at most half of them are taken; ends at 2^17 */
        slots *= 2;
    clo_profile_view *empty = clo_allocate(1, sizeof *empty);
    profile->rows = clo_allocate_lazy(entries_max * sizeof *profile->rows);
    profile->slots = clo_allocate(slots, sizeof *profile->slots);
    profile->rows_max = entries_max;
    profile->slots_count = slots;
    profile->hash_key = clo_hash_key_random();
    clo_rcu_publish(&profile->published, empty);
    if (empty == NULL || profile->rows == NULL || profile->slots == NULL ||
        pthread_mutex_init(&profile->lock, NULL) != 0)
        return clo_fail_memory("a profile");
    return CLO_OK;
}

static void free_tables(clo_profile *profile)
{
    clo_free((void *)(uintptr_t)clo_rcu_read(&profile->published)); /* nobody else has the profile */
    clo_free(profile->rows);
    clo_free(profile->slots);
    for (size_t i = 0; i < profile->texts_count; i++)
        clo_free(profile->texts[i]);
    clo_free(profile->texts);
    clo_names_free(&profile->names);
    clo_free(profile);
}

clo_status clo_profile_create(uint32_t entries_max, clo_profile **out)
{
    if (out == NULL)
        return clo_fail_null("clo_profile_create", "out");
    if (entries_max > CLO_PROFILE_ENTRIES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_profile_create: entries_max is %u; give at most %u", entries_max,
                        CLO_PROFILE_ENTRIES_MAX);
    clo_profile *profile = clo_allocate(1, sizeof *profile);
    if (profile == NULL)
        return clo_fail_memory("a profile");
    clo_status status = open_tables(profile, entries_max > 0 ? entries_max : ENTRIES_DEFAULT);
    if (status != CLO_OK) {
        free_tables(profile);
        return status;
    }
    *out = profile;
    return CLO_OK;
}

void clo_profile_destroy(clo_profile *profile)
{
    if (profile == NULL)
        return;
    pthread_mutex_destroy(&profile->lock);
    free_tables(profile);
}

static bool is_name(const char *name)
{
    size_t length = name != NULL ? strnlen(name, NAME_BYTES_MAX + 1) : 0;

    return length > 0 && length <= NAME_BYTES_MAX;
}

static clo_status check_names(const clo_profile_entry *entry)
{
    if (is_name(entry->codelet) && is_name(entry->kind))
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT, "an entry of a profile needs a codelet and a kind of 1 to %d bytes each",
                    NAME_BYTES_MAX);
}

clo_status clo_profile_learn(clo_profile *profile, const clo_codelet *codelet, uint64_t bytes, const char *kind,
                             int64_t sample_ns)
{
    if (profile == NULL || codelet == NULL)
        return clo_fail_null("clo_profile_learn", "profile or codelet");
    const clo_profile_entry key = {.codelet = codelet->name,
                                   .kind = kind,
                                   .version = codelet->version,
                                   .footprint = codelet->footprint > 0 ? codelet->footprint : bytes,
                                   .bytes = bytes};
    clo_status status = check_names(&key);

    if (status != CLO_OK)
        return status;
    if (sample_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "codelet \"%.60s\": a sample of %lld ns; give a number >= 0", codelet->name,
                        (long long)sample_ns);
    pthread_mutex_lock(&profile->lock);
    clo_profile_row *row = clo_profile_row_of(profile, &key);
    if (row != NULL)
        clo_profile_row_learn(row, sample_ns, (int64_t)time(NULL));
    pthread_mutex_unlock(&profile->lock);
    return row != NULL ? CLO_OK : clo_fail_memory("an entry of a profile");
}

static clo_status check_entry(const clo_profile_entry *entry)
{
    clo_status status = check_names(entry);

    if (status != CLO_OK)
        return status;
    if (entry->samples == 0 || entry->samples > INT64_MAX || entry->location_ns < 0 || entry->spread_ns < 0 ||
        entry->high_ns < 0 || entry->most_ns < 0 || entry->mean_ns < 0 || entry->mean_ns > CLO_ESTIMATOR_MOST_NS ||
        entry->is_assumed > 1 || entry->location_ns > CLO_ESTIMATOR_MOST_NS ||
        entry->spread_ns > CLO_ESTIMATOR_MOST_NS || entry->high_ns > CLO_ESTIMATOR_MOST_NS ||
        entry->most_ns > CLO_ESTIMATOR_MOST_NS)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "codelet \"%.60s\" on \"%.60s\": an entry needs samples, and times from 0 to 2^52 ns",
                        entry->codelet, entry->kind);
    return CLO_OK;
}

/* Under the lock. */
static void add(clo_profile_row *row, const clo_profile_entry *entry)
{
    row->before = clo_profile_merge(&row->before, entry);
    row->before.codelet = row->before.kind = NULL; /* the caller's */
    row->newest_s = row->newest_s > entry->newest_s ? row->newest_s : entry->newest_s;
    row->bytes = row->bytes > entry->bytes ? row->bytes : entry->bytes;
}

clo_status clo_profile_add(clo_profile *profile, const clo_profile_entry *entry)
{
    if (profile == NULL || entry == NULL)
        return clo_fail_null("clo_profile_add", "profile or entry");
    clo_status status = check_entry(entry);

    if (status != CLO_OK)
        return status;
    pthread_mutex_lock(&profile->lock);
    clo_profile_row *row = clo_profile_row_of(profile, entry);
    if (row != NULL)
        add(row, entry);
    pthread_mutex_unlock(&profile->lock);
    return row != NULL ? CLO_OK : clo_fail_memory("an entry of a profile");
}

static uint32_t rank_of(const clo_profile_entry *entry)
{
    return entry->is_assumed ? 1 : 2;
}

/* One that was measured here, or later, or is larger, is there already. */
static bool is_better(const clo_profile_row *row, const clo_profile_entry *entry, const clo_memory_part *part)
{
    int64_t newest_s = entry->newest_s;

    if (row->memory_rank != rank_of(entry))
        return row->memory_rank > rank_of(entry);
    if (row->memory_s != newest_s)
        return row->memory_s > newest_s;
    if (row->memory.share_q16 != part->share_q16)
        return row->memory.share_q16 > part->share_q16;
    return row->memory.mbps > part->mbps;
}

clo_status clo_profile_add_memory_part(clo_profile *profile, const clo_profile_entry *entry,
                                       const clo_memory_part *part)
{
    if (profile == NULL || entry == NULL || part == NULL)
        return clo_fail_null("clo_profile_add_memory_part", "profile, entry or part");
    clo_status status = check_names(entry);

    if (status == CLO_OK)
        status = clo_memory_check_part(part, entry->codelet);
    if (status != CLO_OK)
        return status;
    pthread_mutex_lock(&profile->lock);
    clo_profile_row *row = clo_profile_row_find(profile, entry);
    if (row != NULL && !is_better(row, entry, part)) {
        row->memory = *part;
        row->memory_rank = rank_of(entry);
        row->memory_s = entry->newest_s;
    }
    pthread_mutex_unlock(&profile->lock);
    return row != NULL ? CLO_OK
                       : clo_fail(CLO_ERR_ARGUMENT, "codelet \"%.60s\" on \"%.60s\": the profile has no such entry",
                                  entry->codelet, entry->kind);
}

clo_status clo_profile_add_run_spread(clo_profile *profile, const clo_run_spread *spread)
{
    if (profile == NULL || spread == NULL)
        return clo_fail_null("clo_profile_add_run_spread", "profile or spread");
    const clo_profile_entry entry = {.codelet = "all tasks of a run",
                                     .kind = "-",
                                     .samples = spread->runs,
                                     .location_ns = spread->location_q16,
                                     .spread_ns = spread->spread_q16,
                                     .high_ns = spread->high_q16,
                                     .most_ns = spread->most_q16,
                                     .newest_s = spread->newest_s};
    clo_status status = check_entry(&entry);

    if (status != CLO_OK)
        return status;
    pthread_mutex_lock(&profile->lock);
    add(&profile->runs, &entry);
    pthread_mutex_unlock(&profile->lock);
    return CLO_OK;
}

uint64_t clo_profile_evicted(const clo_profile *profile)
{
    if (profile == NULL)
        return 0;
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&profile->lock; /* nothing that the caller sees changes */
    pthread_mutex_lock(lock);
    uint64_t evicted = profile->evicted;
    pthread_mutex_unlock(lock);
    return evicted;
}
