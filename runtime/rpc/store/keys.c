/* Chained by bucket; `ring` is the order in which keys came. A key that is forgotten for a new one stays beside it
 * until keys_settle: it comes back where the new one is taken back. */
#include "keys.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    struct entry *next;
    struct entry *replaced; /* what stood in its place of the ring, until it is settled */
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

/* The entry and all that it has replaced. */
static void free_chain(entry *e)
{
    while (e != NULL) {
        entry *replaced = e->replaced;
        free(e);
        e = replaced;
    }
}

void keys_destroy(keys *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < KEYS_MAX; i++)
        free_chain(k->ring[i]);
    free(k);
}

const applied *keys_find(const keys *k, uint64_t key)
{
    const entry *e = k->buckets[answer_mix(key) % KEYS_MAX];

    while (e != NULL && e->is.key != key)
        e = e->next;
    return e != NULL ? &e->is : NULL;
}

static entry **bucket_of(keys *k, const entry *e)
{
    return &k->buckets[answer_mix(e->is.key) % KEYS_MAX];
}

/* keys_find sees it. */
static void show(keys *k, entry *e)
{
    entry **bucket = bucket_of(k, e);

    e->next = *bucket;
    *bucket = e;
}

static void hide(keys *k, const entry *e)
{
    entry **link = bucket_of(k, e);

    while (*link != e)
        link = &(*link)->next;
    *link = e->next;
}

int keys_add(keys *k, const applied *a)
{
    entry *e = malloc(sizeof *e + a->output_bytes), **place = &k->ring[k->added % KEYS_MAX];

    if (e == NULL)
        return -1;
    *e = (entry){.replaced = *place, .is = *a};
    e->is.output = e->output;
    if (a->output_bytes > 0)
        memcpy(e->output, a->output, a->output_bytes);
    if (e->replaced != NULL)
        hide(k, e->replaced);
    show(k, e);
    *place = e;
    k->added++;
    return 0;
}

void keys_settle(keys *k, size_t count)
{
    for (size_t i = 1; i <= count && i <= KEYS_MAX && i <= k->added; i++) {
        entry *e = k->ring[(k->added - i) % KEYS_MAX];
        free_chain(e->replaced);
        e->replaced = NULL;
    }
}

void keys_take_back(keys *k, size_t count)
{
    for (; count > 0 && k->added > 0; count--) {
        entry **place = &k->ring[--k->added % KEYS_MAX], *e = *place;
        hide(k, e);
        *place = e->replaced;
        if (*place != NULL)
            show(k, *place);
        free(e);
    }
}
