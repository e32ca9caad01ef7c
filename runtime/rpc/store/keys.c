/* Chained by bucket; `ring` is the order in which keys came. A key that is forgotten for a new one stays beside it
 * until keys_settle: it comes back where the new one is taken back. */
#include "rpc/store/keys.h"
#include "base/memory.h"
#include "base/numbers/rng.h"

#include <string.h>

typedef struct entry {
    struct entry *next;
    struct entry *replaced; /* what stood in its place of the ring, until it is settled */
    clo_rpc_applied is;
    unsigned char output[];
} entry;

struct clo_rpc_keys {
    entry *buckets[CLO_RPC_KEYS_MAX];
    entry *ring[CLO_RPC_KEYS_MAX];
    size_t added;
};

clo_rpc_keys *clo_rpc_keys_create(void)
{
    return clo_allocate(1, sizeof(clo_rpc_keys));
}

/* The entry and all that it has replaced. */
static void free_chain(entry *e)
{
    while (e != NULL) {
        entry *replaced = e->replaced;
        clo_free(e);
        e = replaced;
    }
}

void clo_rpc_keys_destroy(clo_rpc_keys *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < CLO_RPC_KEYS_MAX; i++)
        free_chain(k->ring[i]);
    clo_free(k);
}

const clo_rpc_applied *clo_rpc_keys_find(const clo_rpc_keys *k, uint64_t key)
{
    const entry *e = k->buckets[clo_mix64(key) % CLO_RPC_KEYS_MAX];

    while (e != NULL && e->is.key != key)
        e = e->next;
    return e != NULL ? &e->is : NULL;
}

static entry **bucket_of(clo_rpc_keys *k, const entry *e)
{
    return &k->buckets[clo_mix64(e->is.key) % CLO_RPC_KEYS_MAX];
}

/* keys_find sees it. */
static void show(clo_rpc_keys *k, entry *e)
{
    entry **bucket = bucket_of(k, e);

    e->next = *bucket;
    *bucket = e;
}

static void hide(clo_rpc_keys *k, const entry *e)
{
    entry **link = bucket_of(k, e);

    while (*link != e)
        link = &(*link)->next;
    *link = e->next;
}

int clo_rpc_keys_add(clo_rpc_keys *k, const clo_rpc_applied *a)
{
    entry *e = clo_allocate(1, sizeof *e + a->output_bytes), **place = &k->ring[k->added % CLO_RPC_KEYS_MAX];

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

void clo_rpc_keys_settle(clo_rpc_keys *k, size_t count)
{
    for (size_t i = 1; i <= count && i <= CLO_RPC_KEYS_MAX && i <= k->added; i++) {
        entry *e = k->ring[(k->added - i) % CLO_RPC_KEYS_MAX];
        free_chain(e->replaced);
        e->replaced = NULL;
    }
}

void clo_rpc_keys_take_back(clo_rpc_keys *k, size_t count)
{
    for (; count > 0 && k->added > 0; count--) {
        entry **place = &k->ring[--k->added % CLO_RPC_KEYS_MAX], *e = *place;
        hide(k, e);
        *place = e->replaced;
        if (*place != NULL)
            show(k, *place);
        clo_free(e);
    }
}
