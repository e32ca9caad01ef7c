/* round.c - from shares to whole tasks (Shmoys and Tardos 1993, as SynchPack-2 uses it).
 *
 * The whole part of each share is taken as it is. What is left of a group's interval is sorted by load and filled into
 * copies of one task each; a kind is joined to the copies that it is in. A matching that gives every kind as many
 * copies as it has left exists, because the shares are one with fractions; augmenting paths find it. All sums are
 * exact. */
#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/synch_lp/intervals.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A fraction below one task, and the one or two copies that it is in. */
typedef struct fraction {
    uint32_t kind, group, interval, next; /* next fraction of the kind + 1; 0: last */
    int64_t amount, load;
    uint32_t copy[2];
} fraction;

typedef struct matching {
    fraction *fractions;
    uint32_t fractions_count, copies, kinds;
    uint32_t *first;                    /* [kinds] fraction + 1; 0: none */
    uint32_t *holder;                   /* [copies] fraction whose kind has the copy; CLO_NONE */
    uint32_t *from;                     /* [copies] the fraction by which a search reached it */
    uint32_t *round_of;                 /* [copies] search that reached it */
    uint32_t *kind_round, *via, *queue; /* [kinds] search that reached it, the copy it came by, those reached */
    int64_t *rest;                      /* [kinds] fractions in all */
} matching;

static int by_place(const void *left, const void *right)
{
    const fraction *a = left, *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->interval != b->interval)
        return a->interval < b->interval ? -1 : 1;
    if (a->load != b->load)
        return a->load > b->load ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Splits every share into whole tasks, which go to `out`, and a fraction. */
static void split(const clo_synch_scope *scope, const clo_synch_shares *shares, bool is_sped_up, matching *m,
                  clo_synch_share *out, size_t *count)
{
    int64_t rest = 0;
    uint32_t kind = CLO_NONE;

    for (size_t i = 0; i < shares->count; i++) {
        clo_synch_share s = shares->share[i];
        if (s.kind != kind)
            rest = (int64_t)scope->left[kind = s.kind] * CLO_LP_ONE;
        if (is_sped_up)
            s.amount = s.amount > rest / 2 ? rest : 2 * s.amount;
        rest -= s.amount;
        int64_t amount = s.amount % CLO_LP_ONE;
        s.amount /= CLO_LP_ONE;
        if (s.amount > 0)
            out[(*count)++] = s;
        if (amount > 0) {
            m->fractions[m->fractions_count++] = (fraction){s.kind,
                                                            s.group,
                                                            s.interval,
                                                            0,
                                                            amount,
                                                            clo_synch_largest_load(scope->problem, s.kind, s.group),
                                                            {CLO_NONE, CLO_NONE}};
            m->rest[s.kind] += amount;
        }
    }
}

static void fill_copies(matching *m)
{
    int64_t filled = 0;
    uint32_t base = 0;

    qsort(m->fractions, m->fractions_count, sizeof *m->fractions, by_place);
    for (uint32_t i = 0; i < m->fractions_count; i++) {
        fraction *f = &m->fractions[i];
        if (i > 0 && (f->group != f[-1].group || f->interval != f[-1].interval)) {
            base = m->copies;
            filled = 0;
        }
        f->copy[0] = base + (uint32_t)(filled / CLO_LP_ONE);
        filled += f->amount;
        f->copy[1] = base + (uint32_t)((filled - 1) / CLO_LP_ONE);
        m->copies = f->copy[1] + 1;
        f->next = m->first[f->kind];
        m->first[f->kind] = i + 1;
    }
}

/* The copy is free: everybody on the way to it moves on by one. */
static void shift(matching *m, uint32_t copy)
{
    while (copy != CLO_NONE) { /* a search reaches each copy once */
        uint32_t f = m->from[copy];
        m->holder[copy] = f;
        copy = m->via[m->fractions[f].kind];
    }
}

/* Finds one copy more for the kind: search `round`. */
static bool augment(matching *m, uint32_t kind, uint32_t round)
{
    uint32_t head = 0, tail = 0;

    m->queue[tail++] = kind;
    m->kind_round[kind] = round;
    m->via[kind] = CLO_NONE;
    while (head < tail) { /* each kind once */
        uint32_t k = m->queue[head++];
        for (uint32_t i = m->first[k]; i != 0; i = m->fractions[i - 1].next)
            for (int c = 0; c < 2; c++) {
                uint32_t copy = m->fractions[i - 1].copy[c];
                if (m->round_of[copy] == round)
                    continue;
                m->round_of[copy] = round;
                m->from[copy] = i - 1;
                if (m->holder[copy] == CLO_NONE) {
                    shift(m, copy);
                    return true;
                }
                uint32_t other = m->fractions[m->holder[copy]].kind;
                if (m->kind_round[other] != round) {
                    m->kind_round[other] = round;
                    m->via[other] = copy;
                    m->queue[tail++] = other;
                }
            }
    }
    return false;
}

static void match(matching *m, clo_synch_share *out, size_t *count)
{
    uint32_t round = 0;

    for (uint32_t k = 0; k < m->kinds; k++)
        for (int64_t unit = 0; unit < m->rest[k] / CLO_LP_ONE; unit++) {
            bool is_found = augment(m, k, ++round);
            assert(is_found);
            (void)is_found;
        }
    for (uint32_t c = 0; c < m->copies; c++)
        if (m->holder[c] != CLO_NONE) {
            const fraction *f = &m->fractions[m->holder[c]];
            out[(*count)++] = (clo_synch_share){f->kind, f->group, f->interval, 1};
        }
}

clo_status clo_synch_round(const clo_synch_scope *scope, const clo_synch_shares *shares, bool is_sped_up,
                           clo_synch_share **out, size_t *count)
{
    matching m = {.kinds = scope->problem->kinds};
    clo_block block = {0};
    size_t most = shares->count;
    clo_synch_share *found = clo_allocate(3 * most, sizeof *found);

    clo_carve(&block, &m.fractions, most);
    clo_carve(&block, &m.first, m.kinds);
    clo_carve(&block, &m.holder, most + 1);
    clo_carve(&block, &m.from, most + 1);
    clo_carve(&block, &m.round_of, most + 1);
    clo_carve(&block, &m.kind_round, m.kinds);
    clo_carve(&block, &m.via, m.kinds);
    clo_carve(&block, &m.queue, m.kinds);
    clo_carve(&block, &m.rest, m.kinds);
    void *memory = clo_block_allocate(&block);
    if (found == NULL || memory == NULL) {
        clo_free(found);
        clo_free(memory);
        return clo_fail_memory("the rounding of an LP");
    }
    *count = 0;
    split(scope, shares, is_sped_up, &m, found, count);
    fill_copies(&m);
    for (uint32_t c = 0; c < m.copies; c++)
        m.holder[c] = CLO_NONE;
    match(&m, found, count);
    clo_free(memory);
    *out = found;
    return CLO_OK;
}
