/* Chained by bucket; `ring` is the order in which keys came. */
#include "keys.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    struct entry *next;
    applied is;
    unsigned char output[];
} entry;

struct keys {
    entry *buckets[KEYS_MAX];
    entry *ring[KEYS_MAX];
    size_t added;
};

keys *keys_create(void)
{
    return calloc(1, sizeof(keys));
}

void keys_destroy(keys *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < KEYS_MAX; i++)
        free(k->ring[i]);
    free(k);
}

const applied *keys_find(const keys *k, uint64_t key)
{
    const entry *e = k->buckets[answer_mix(key) % KEYS_MAX];

    while (e != NULL && e->is.key != key)
        e = e->next;
    return e != NULL ? &e->is : NULL;
}

static void forget(keys *k, size_t place)
{
    entry *old = k->ring[place];

    if (old == NULL)
        return;
    entry **link = &k->buckets[answer_mix(old->is.key) % KEYS_MAX];
    while (*link != old)
        link = &(*link)->next;
    *link = old->next;
    k->ring[place] = NULL;
    free(old);
}

int keys_add(keys *k, const applied *a)
{
    entry *e = malloc(sizeof *e + a->output_bytes), **bucket = &k->buckets[answer_mix(a->key) % KEYS_MAX];
    size_t place = k->added % KEYS_MAX;

    if (e == NULL)
        return -1;
    forget(k, place);
    e->next = *bucket;
    e->is = *a;
    e->is.output = e->output;
    if (a->output_bytes > 0)
        memcpy(e->output, a->output, a->output_bytes);
    *bucket = k->ring[place] = e;
    k->added++;
    return 0;
}

void keys_take_back(keys *k, size_t count)
{
    while (count-- > 0 && k->added > 0)
        forget(k, --k->added % KEYS_MAX);
}
