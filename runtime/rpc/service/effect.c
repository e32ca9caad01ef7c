/* effect.c - an effect happens once for each key. The key goes into the table with the answer, and the answer leaves
 * when that is durable: group commit, once before and once after each wait of the loop. */
#include "rpc/service/work.h"
#include "rpc/wire/mix.h"

#include <string.h>

static void show_effect(const clo_rpc_work *w)
{
    const clo_rpc_service_config *c = &w->owner->config;

    if (c->applied != NULL) {
        clo_rpc_request request = clo_rpc_work_request(w);
        c->applied(c->argument, &request);
    }
}

/* Another request with the same key is an error. */
static uint64_t hash_of(const clo_rpc_work *w)
{
    uint32_t numbers[3] = {w->head.task, w->head.instance, w->what.output_bytes};
    uint64_t hash = clo_rpc_hash(w->inputs_hash, numbers, sizeof numbers);

    hash = clo_rpc_hash(hash, &w->head.run, sizeof w->head.run);
    return clo_rpc_hash(hash, w->what.method, strlen(w->what.method));
}

static void keep_later(clo_rpc_work *w)
{
    w->next_kept = w->owner->keeping;
    w->owner->keeping = w;
}

/* Now, or when what is written is durable. */
static void proceed(clo_rpc_work *w)
{
    if (!w->owner->effects.d.is_dirty) {
        clo_rpc_route_proceed(w);
        return;
    }
    w->owner->running--;
    w->state = CLO_RPC_WORK_KEEPING;
    keep_later(w);
}

int clo_rpc_effect_known(clo_rpc_work *w)
{
    const clo_rpc_applied *before = clo_rpc_keys_find(w->owner->applied, w->head.key);

    if (before == NULL)
        return 0;
    if (before->what != hash_of(w) || before->output_bytes > w->what.output_bytes) {
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_INVALID, 0, "the key is that of another request");
        return 1;
    }
    if (before->output_bytes > 0)
        memcpy(w->output, before->output, before->output_bytes);
    w->output_bytes = (uint32_t)before->output_bytes;
    clo_rpc_work_note(w, "again", 0);
    proceed(w);
    return 1;
}

/* Returns 0, or -1: no memory. */
static int apply(clo_rpc_work *w)
{
    clo_rpc_service *s = w->owner;
    int is_keyed = w->what.effect == CLO_RPC_KEYED;
    clo_rpc_applied a = {.key = w->head.key, .what = hash_of(w), .output = w->output, .output_bytes = w->output_bytes};

    if (is_keyed && clo_rpc_keys_add(s->applied, &a) != 0)
        return -1;
    w->is_fresh = 1;
    if (s->keys == NULL) {
        clo_rpc_keys_settle(s->applied, (size_t)is_keyed);
        show_effect(w);
    } else {
        s->fresh += (size_t)is_keyed;
        (void)clo_rpc_effects_add(&s->effects, &w->head, is_keyed ? &a : NULL); /* no: the commit fails too */
    }
    return 0;
}

void clo_rpc_effect_have(clo_rpc_work *w)
{
    if (apply(w) == 0) {
        proceed(w);
        return;
    }
    clo_rpc_effects_spoil(&w->owner->effects,
                          "no memory for the key"); /* what its handler has written must not stay without its key */
    clo_rpc_finish_refuse(w, CLO_RPC_REPLY_UNAVAILABLE, 0, "no memory for the key");
}

void clo_rpc_effect_left(clo_rpc_work *w)
{
    if (apply(w) == 0 && w->owner->effects.d.is_dirty)
        keep_later(w);
}

void clo_rpc_effect_keep(clo_rpc_service *s)
{
    clo_rpc_work *list = s->keeping;

    if (list == NULL && !s->effects.d.is_dirty)
        return;
    int is_bad = clo_rpc_effects_commit(&s->effects) != 0;
    if (is_bad)
        clo_rpc_keys_take_back(s->applied, s->fresh);
    else
        clo_rpc_keys_settle(s->applied, s->fresh);
    s->fresh = 0;
    s->keeping = NULL;
    while (list != NULL) {
        clo_rpc_work *w = list;
        list = w->next_kept;
        if (!is_bad && w->is_fresh)
            show_effect(w);
        if (w->state != CLO_RPC_WORK_KEEPING) /* cancelled: its memory goes after this turn of the loop */
            continue;
        if (is_bad)
            clo_rpc_finish_refuse(w, CLO_RPC_REPLY_UNAVAILABLE, 0, s->effects.d.error);
        else
            clo_rpc_route_proceed(w);
    }
}
