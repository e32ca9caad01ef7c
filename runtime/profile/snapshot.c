/* snapshot.c - the state of a profile that costs read: made whole, published, and freed when its last reader has left
 * (liburcu). */
#include "profile/snapshot.h"

#include "base/memory.h"
#include "base/status.h"
#include "profile/table.h"

#include <stdlib.h>
#include <string.h>

static int by_group(const clo_profile_entry *x, const clo_profile_entry *y)
{
    int order = strcmp(x->codelet, y->codelet);

    if (order == 0)
        order = (x->version > y->version) - (x->version < y->version);
    return order != 0 ? order : strcmp(x->kind, y->kind);
}

static int by_key(const void *a, const void *b)
{
    const clo_profile_entry *x = a, *y = b;
    int order = by_group(x, y);

    return order != 0 ? order : (x->footprint > y->footprint) - (x->footprint < y->footprint);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = hash_number(hash, (unsigned char)*text);
    return hash_number(hash, 256);
}

/* Of what costs see; the same in every process. */
static uint64_t hash_of(const clo_profile_view *view)
{
    uint64_t hash = view->count;

    for (uint32_t i = 0; i < view->count; i++) {
        const clo_profile_entry *entry = &view->entries[i];
        const uint64_t numbers[] = {
            entry->version,   entry->footprint, entry->bytes, (uint64_t)entry->location_ns, (uint64_t)entry->spread_ns,
            entry->is_assumed};
        hash = hash_text(hash_text(hash, entry->codelet), entry->kind);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            hash = hash_number(hash, numbers[k]);
    }
    return hash != 0 || view->count == 0 ? hash : 1;
}

/* The memory parts of the entries, which are there and in order. */
static void add_parts(const clo_profile *profile, clo_profile_view *view)
{
    view->memory = (clo_memory_part *)(void *)(view->entries + view->count);
    for (uint32_t r = 0; r < profile->rows_count; r++) {
        if (profile->rows[r].memory.share_q16 == 0)
            continue;
        const clo_profile_entry key = clo_profile_row_read(profile, &profile->rows[r]);
        const clo_profile_entry *entry = clo_profile_view_find(view, &key);
        if (entry != NULL && (entry->is_assumed || profile->rows[r].memory_rank > 1)) /* its times are of there, too */
            view->memory[entry - view->entries] = profile->rows[r].memory;
    }
}

/* Rows that have samples, in order; the lock is held. NULL without memory. */
static clo_profile_view *make_view(const clo_profile *profile)
{
    size_t each = sizeof(clo_profile_entry) + sizeof(clo_memory_part);
    clo_profile_view *view = clo_allocate(1, sizeof *view + profile->rows_count * each);

    if (view == NULL)
        return NULL;
    for (uint32_t r = 0; r < profile->rows_count; r++)
        if (profile->rows[r].own.samples > 0 || profile->rows[r].before.samples > 0)
            view->entries[view->count++] = clo_profile_row_read(profile, &profile->rows[r]);
    qsort(view->entries, view->count, sizeof view->entries[0], by_key);
    view->hash = hash_of(view);
    add_parts(profile, view);
    clo_profile_entry runs = clo_profile_row_times(&profile->runs);
    view->runs = (clo_run_spread){.runs = runs.samples,
                                  .location_q16 = runs.location_ns,
                                  .spread_q16 = runs.spread_ns,
                                  .high_q16 = runs.high_ns,
                                  .most_q16 = runs.most_ns,
                                  .newest_s = runs.newest_s};
    return view;
}

clo_status clo_profile_publish(clo_profile *profile)
{
    if (profile == NULL)
        return clo_fail_null("clo_profile_publish", "profile");
    pthread_mutex_lock(&profile->lock);
    clo_profile_view *view = make_view(profile);
    const clo_profile_view *old = view != NULL ? clo_rcu_read(&profile->published) : NULL; /* we alone publish */
    if (view != NULL)
        clo_rcu_publish(&profile->published, view);
    pthread_mutex_unlock(&profile->lock);
    if (view == NULL)
        return clo_fail_memory("a snapshot of a profile");
    clo_rcu_wait();
    clo_free((void *)(uintptr_t)old);
    return CLO_OK;
}

const clo_profile_entry *clo_profile_view_find(const clo_profile_view *view, const clo_profile_entry *key)
{
    return bsearch(key, view->entries, view->count, sizeof view->entries[0], by_key);
}

/* The first entry that is not before the key's group, or (`after`) behind it. */
static uint32_t search_group(const clo_profile_view *view, const clo_profile_entry *key, bool after)
{
    uint32_t low = 0, high = view->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = by_group(&view->entries[middle], key);
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t clo_profile_view_range(const clo_profile_view *view, const clo_profile_entry *key, uint32_t *first)
{
    *first = search_group(view, key, false);
    return search_group(view, key, true);
}

uint32_t clo_profile_view_codelet(const clo_profile_view *view, const clo_profile_entry *key)
{
    const clo_profile_entry first = {.codelet = key->codelet, .version = key->version, .kind = ""}; /* before any */

    return search_group(view, &first, false);
}

uint32_t clo_profile_entries(const clo_profile *profile)
{
    if (profile == NULL)
        return 0;
    clo_rcu_enter();
    uint32_t count = ((const clo_profile_view *)clo_rcu_read(&profile->published))->count;
    clo_rcu_leave();
    return count;
}

uint64_t clo_profile_snapshot(const clo_profile *profile)
{
    if (profile == NULL)
        return 0;
    clo_rcu_enter();
    uint64_t hash = ((const clo_profile_view *)clo_rcu_read(&profile->published))->hash;
    clo_rcu_leave();
    return hash;
}

clo_run_spread clo_profile_run_spread(const clo_profile *profile)
{
    if (profile == NULL)
        return (clo_run_spread){0};
    clo_rcu_enter();
    clo_run_spread runs = ((const clo_profile_view *)clo_rcu_read(&profile->published))->runs;
    clo_rcu_leave();
    return runs;
}

clo_status clo_profile_entry_at(const clo_profile *profile, uint32_t index, clo_profile_entry *out)
{
    if (profile == NULL || out == NULL)
        return clo_fail_null("clo_profile_entry_at", "profile or out");
    clo_rcu_enter();
    const clo_profile_view *view = clo_rcu_read(&profile->published);
    uint32_t count = view->count;
    if (index < count)
        *out = view->entries[index];
    clo_rcu_leave();
    return index < count ? CLO_OK
                         : clo_fail(CLO_ERR_ARGUMENT, "entry %u does not exist; the snapshot has %u", index, count);
}

clo_memory_part clo_profile_memory_part(const clo_profile *profile, uint32_t index)
{
    clo_memory_part part = {0};

    if (profile == NULL)
        return part;
    clo_rcu_enter();
    const clo_profile_view *view = clo_rcu_read(&profile->published);
    if (index < view->count)
        part = view->memory[index];
    clo_rcu_leave();
    return part;
}
