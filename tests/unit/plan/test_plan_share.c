/* Rates of messages at once: what a second, slow way to find them says, message for message, and none can get more
 * without another one, no faster, getting less. Thousands at once take milliseconds. */
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/ports/share.h"

#include <string.h>
#include <time.h>

enum { MESSAGES_MAX = 16000, MACHINES_MAX = 300, SEEDS = 300 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED false
#endif

static clo_message list[MESSAGES_MAX];
static uint64_t port_q32[MACHINES_MAX];
static clo_platform platform;
static clo_messages messages;

static uint64_t draw_rate(clo_rng *rng)
{
    static const uint64_t odd[] = {1, 2, 7, 1000, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63};

    if (clo_rng_below(rng, 8) == 0)
        return odd[clo_rng_below(rng, 7)];
    return 1 + ((uint64_t)clo_rng_below(rng, UINT32_MAX) << clo_rng_below(rng, 20));
}

static void draw(uint64_t seed, uint32_t machines, uint32_t count)
{
    clo_rng rng = clo_rng_seed(seed);
    uint64_t usual = draw_rate(&rng);

    for (uint32_t m = 0; m < machines; m++)
        port_q32[m] = clo_rng_below(&rng, 4) == 0 ? 0 : clo_rng_below(&rng, 2) == 0 ? usual : draw_rate(&rng);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = clo_rng_below(&rng, machines), to = clo_rng_below(&rng, machines - 1);
        list[i] = (clo_message){.from_machine = from,
                                .to_machine = to < from ? to : to + 1,
                                .bytes = 1 + clo_rng_below(&rng, 100000),
                                .rate_q32 = clo_rng_below(&rng, 2) == 0 ? usual : draw_rate(&rng)};
    }
    platform = (clo_platform){.machines_count = machines, .port_q32 = port_q32};
    messages = (clo_messages){.platform = &platform, .list = list, .messages_count = count};
}

/* ---- the slow way: every flow, against all others, again and again ---- */

typedef struct slow {
    uint64_t left[2 * MACHINES_MAX + MESSAGES_MAX]; /* ports out, ports in, the link of the flow that is the first */
    uint32_t open[2 * MACHINES_MAX + MESSAGES_MAX]; /* of its flows without a rate */
    uint64_t rate[MESSAGES_MAX];
} slow;

static void limits_of(const clo_share *share, uint32_t f, uint32_t at[3])
{
    const clo_message *m = &list[share->flows[f].message];
    uint32_t first = 0;

    for (;; first++) {
        const clo_message *other = &list[share->flows[first].message];
        if (other->from_machine == m->from_machine && other->to_machine == m->to_machine)
            break;
    }
    at[0] = m->from_machine;
    at[1] = MACHINES_MAX + m->to_machine;
    at[2] = 2 * MACHINES_MAX + first;
}

static uint64_t left_for(const slow *s, const clo_share *share, uint32_t f)
{
    uint64_t least = list[share->flows[f].message].rate_q32;
    uint32_t at[3];

    limits_of(share, f, at);
    for (int k = 0; k < 3; k++) {
        uint64_t mine = s->left[at[k]] == UINT64_MAX ? UINT64_MAX : s->left[at[k]] / s->open[at[k]];
        least = mine < least ? mine : least;
    }
    return least > 0 ? least : 1;
}

static void give(slow *s, const clo_share *share, uint32_t f, uint64_t rate)
{
    uint32_t at[3];

    limits_of(share, f, at);
    s->rate[f] = rate;
    for (int k = 0; k < 3; k++) {
        s->open[at[k]]--;
        if (s->left[at[k]] != UINT64_MAX)
            s->left[at[k]] -= rate < s->left[at[k]] ? rate : s->left[at[k]];
    }
}

static void find_slowly(slow *s, const clo_share *share)
{
    uint32_t at[3];

    memset(s, 0, sizeof *s);
    for (uint32_t m = 0; m < 2 * MACHINES_MAX; m++)
        s->left[m] = port_q32[m % MACHINES_MAX] > 0 ? port_q32[m % MACHINES_MAX] : UINT64_MAX;
    for (uint32_t f = 0; f < share->flows_count; f++) {
        limits_of(share, f, at);
        uint64_t rate = list[share->flows[f].message].rate_q32;
        s->left[at[2]] = rate > s->left[at[2]] ? rate : s->left[at[2]];
        for (int k = 0; k < 3; k++)
            s->open[at[k]]++;
    }
    for (uint32_t left = share->flows_count; left > 0;) {
        uint64_t least = UINT64_MAX;
        for (uint32_t f = 0; f < share->flows_count; f++)
            if (s->rate[f] == 0 && left_for(s, share, f) < least)
                least = left_for(s, share, f);
        for (uint32_t f = 0; f < share->flows_count; f++)
            if (s->rate[f] == 0 && left_for(s, share, f) <= least) {
                give(s, share, f, least);
                left--;
            }
    }
}

static void rates_are_those_of_the_slow_way(void **state)
{
    static slow s;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_rng rng = clo_rng_seed(seed + 1000000);
        uint32_t count = 1 + clo_rng_below(&rng, 150);
        clo_share share;
        draw(seed, 2 + clo_rng_below(&rng, 12), count);
        ok(clo_share_open(&share, &messages));
        for (uint32_t next = 0; next < count || share.flows_count > 0;) { /* some come, some go */
            for (uint32_t some = clo_rng_below(&rng, 40); some > 0 && next < count; some--)
                clo_share_add(&share, next++);
            clo_share_rates(&share);
            find_slowly(&s, &share);
            for (uint32_t f = 0; f < share.flows_count; f++)
                assert_true(share.flows[f].rate_q32 == s.rate[f]);
            int64_t ns = clo_share_next_ns(&share), first_ns = INT64_MAX;
            for (uint32_t f = 0; f < share.flows_count; f++) {
                clo_u128 one_ns = (share.flows[f].left_q32 + s.rate[f] - 1) / s.rate[f];
                first_ns = one_ns < (clo_u128)first_ns ? (int64_t)one_ns : first_ns;
            }
            assert_int_equal(ns, first_ns);
            clo_share_move(&share, ns);
            while (clo_share_take(&share) != CLO_NONE) {
            }
        }
        clo_share_close(&share);
    }
}

/* The slow way takes seconds for these. */
static void thousands_at_once_take_milliseconds(void **state)
{
    int64_t least_us = INT64_MAX;
    clo_share share;

    (void)state;
    draw(1, MACHINES_MAX, MESSAGES_MAX);
    ok(clo_share_open(&share, &messages));
    for (uint32_t m = 0; m < MESSAGES_MAX; m++)
        clo_share_add(&share, m);
    for (int round = 0; round < 5; round++) {
        clock_t began = clock(); /* of this process: what others take does not count */
        share.has_changed = true;
        clo_share_rates(&share);
        int64_t us = (int64_t)(clock() - began) * 1000000 / CLOCKS_PER_SEC;
        least_us = us < least_us ? us : least_us;
    }
    clo_share_close(&share);
    print_message("%d messages at once: %.1f ms\n", MESSAGES_MAX, (double)least_us / 1000);
    assert_true(IS_SANITIZED || least_us < 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_the_slow_way),
        cmocka_unit_test(thousands_at_once_take_milliseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
