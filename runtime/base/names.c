/* names.c - linear probing under a keyed hash (base/hash.h): the names come from files. POSIX hsearch was rejected: one
 * table a process; tsearch: a node a name. */
#include "base/names.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

static uint64_t hash_of(const clo_names *names, const char *name)
{
    return clo_hash(names->key, name, strlen(name));
}

/* The slot of the name, or the free one where it belongs. Ends: the table is at most half full. */
static clo_names_slot *slot_of(clo_names_slot *slots, size_t capacity, const char *name, uint64_t hash)
{
    size_t i = (size_t)hash & (capacity - 1);

    while (slots[i].name != NULL && (slots[i].hash != hash || strcmp(slots[i].name, name) != 0))
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static int grow(clo_names *names)
{
    size_t capacity = names->capacity == 0 ? 64 : names->capacity * 2;
    clo_names_slot *slots = clo_allocate(capacity, sizeof *slots);

    if (slots == NULL)
        return -1;
    if (names->capacity == 0)
        names->key = clo_hash_key_random();
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].name != NULL)
            *slot_of(slots, capacity, names->slots[i].name, names->slots[i].hash) = names->slots[i];
    clo_free(names->slots);
    names->slots = slots;
    names->capacity = capacity;
    return 0;
}

int clo_names_add(clo_names *names, const char *name, uint32_t id)
{
    assert(id < CLO_NAMES_TWICE);
    if (names->count * 2 >= names->capacity && grow(names) != 0)
        return -1;
    uint64_t hash = hash_of(names, name);
    clo_names_slot *slot = slot_of(names->slots, names->capacity, name, hash);

    if (slot->name != NULL) {
        slot->id = CLO_NAMES_TWICE;
        return 0;
    }
    *slot = (clo_names_slot){.name = name, .hash = hash, .id = id};
    names->count++;
    return 0;
}

uint32_t clo_names_find(const clo_names *names, const char *name)
{
    if (names->capacity == 0)
        return CLO_NAMES_NONE;
    const clo_names_slot *slot = slot_of(names->slots, names->capacity, name, hash_of(names, name));

    return slot->name != NULL ? slot->id : CLO_NAMES_NONE;
}

void clo_names_free(clo_names *names)
{
    clo_free(names->slots);
    memset(names, 0, sizeof *names);
}
