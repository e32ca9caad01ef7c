/* plan/search/exact_seen.c - partial plans that were searched, and when one of them makes another one needless.
 *
 * Let A be searched, B new, with the same instances placed. Nothing that follows B starts before B's last start, so it
 * can follow A too, with the same times, if by then A's executors are free and its data have arrived. Then B is
 * needless. For the argument of exact.c that nothing is lost, A's starts must sum up to less than B's; or to the same,
 * and A's last one stand before B's last one in the order. */
#include "base/memory.h"
#include "base/status.h"
#include "plan/search/exact_model.h"

#include <string.h>

enum { TOGETHER = 4, BYTES_MAX = 2 << 20 };

/* Followed by int64_t available_ns[executors], finish_ns[count]; uint8_t executor[count]. */
typedef struct entry {
    uint64_t placed; /* 0: empty */
    uint32_t last, unused;
    clo_u128 sum_ns;
    int64_t last_start_ns, last_finish_ns;
} entry;

static int64_t *available(entry *e)
{
    return (void *)(e + 1);
}

static int64_t *finishes(entry *e, const clo_exact_model *m)
{
    return available(e) + m->executors;
}

static uint8_t *executors(entry *e, const clo_exact_model *m)
{
    return (void *)(finishes(e, m) + m->count);
}

clo_status clo_exact_seen_open(clo_exact_seen *seen, const clo_exact_model *m)
{
    size_t bytes = sizeof(entry) + (m->executors + m->count) * sizeof(int64_t) + m->count;
    uint64_t sets = 1;

    *seen = (clo_exact_seen){.entry_bytes = (bytes + 15) / 16 * 16};
    while (2 * sets * TOGETHER * seen->entry_bytes <= BYTES_MAX && (m->count >= 63 || sets >> m->count == 0))
        sets *= 2;
    seen->sets = sets;
    seen->entries = clo_allocate_aligned(sets * TOGETHER, seen->entry_bytes);
    return seen->entries == NULL ? clo_fail_memory("an exact plan") : CLO_OK;
}

void clo_exact_seen_close(clo_exact_seen *seen)
{
    clo_free(seen->entries);
    memset(seen, 0, sizeof *seen);
}

/* A's `sum_ns`, and the last one placed where these are equal. */
static bool stands_before(const entry *a, const clo_exact_state *b)
{
    uint32_t last = b->order[b->depth - 1];

    if (a->sum_ns != b->sum_ns)
        return a->sum_ns < b->sum_ns;
    if (a->last_start_ns != b->start_ns[last])
        return a->last_start_ns < b->start_ns[last];
    if (a->last_finish_ns != b->finish_ns[last])
        return a->last_finish_ns < b->finish_ns[last];
    return a->last <= last;
}

/* The data of instance `at` arrive no later in A than in B, or than anything may start there. */
static bool arrives(entry *a, const clo_exact_state *b, uint32_t at)
{
    const clo_exact_model *m = b->model;
    uint32_t here = executors(a, m)[at], there = b->executor[at];
    int64_t finish_ns = finishes(a, m)[at], now_ns = clo_exact_now_ns(b);

    if (here == there && finish_ns <= b->finish_ns[at])
        return true;
    for (uint64_t rest = m->feeds[at] & ~b->placed; rest != 0; rest &= rest - 1) {
        uint32_t to = (uint32_t)__builtin_ctzll(rest);
        for (uint32_t arc = m->first[to]; arc < m->first[to + 1]; arc++)
            for (uint32_t e = 0; m->from[arc] == at && e < m->executors; e++) {
                int64_t mine = finish_ns + clo_exact_transfer_ns(m, arc, here, e);
                int64_t theirs = b->finish_ns[at] + clo_exact_transfer_ns(m, arc, there, e);
                if (mine > (theirs > now_ns ? theirs : now_ns))
                    return false;
            }
    }
    return true;
}

static bool makes_needless(entry *a, const clo_exact_state *b)
{
    const clo_exact_model *m = b->model;
    int64_t now_ns = clo_exact_now_ns(b);

    if (!stands_before(a, b))
        return false;
    for (uint32_t e = 0; e < m->executors; e++)
        if (available(a)[e] > (b->available_ns[e] > now_ns ? b->available_ns[e] : now_ns))
            return false;
    for (uint64_t rest = b->placed; rest != 0; rest &= rest - 1)
        if (!arrives(a, b, (uint32_t)__builtin_ctzll(rest)))
            return false;
    return true;
}

static void keep(entry *a, const clo_exact_state *b)
{
    const clo_exact_model *m = b->model;
    uint32_t last = b->order[b->depth - 1];

    *a = (entry){.placed = b->placed,
                 .last = last,
                 .sum_ns = b->sum_ns,
                 .last_start_ns = b->start_ns[last],
                 .last_finish_ns = b->finish_ns[last]};
    memcpy(available(a), b->available_ns, m->executors * sizeof(int64_t));
    memcpy(finishes(a, m), b->finish_ns, m->count * sizeof(int64_t));
    for (uint32_t at = 0; at < m->count; at++)
        executors(a, m)[at] = (uint8_t)b->executor[at];
}

bool clo_exact_seen_check(clo_exact_seen *seen, const clo_exact_state *state)
{
    uint64_t hash = (state->placed ^ state->placed >> 29) * 0xbf58476d1ce4e5b9u;
    char *set = seen->entries + ((hash ^ hash >> 32) & (seen->sets - 1)) * TOGETHER * seen->entry_bytes;

    for (uint32_t i = 0; i < TOGETHER; i++) {
        entry *a = (void *)(set + i * seen->entry_bytes);
        if (a->placed == state->placed && makes_needless(a, state))
            return true;
    }
    keep((void *)(set + seen->writes++ % TOGETHER * seen->entry_bytes), state);
    return false;
}
