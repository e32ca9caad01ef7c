/* What the planners hrrn and tetris choose from: beside a scan of everything, and how little they look at. */
#include "base/memory.h"
#include "base/rng.h"
#include "cost/cost.h"
#include "fixture.h"
#include "plan/list/response.h"
#include "plan/rcpsp/alike.h"

enum { TASKS = 60, KINDS = 4, STAR = 5000 };

/* The scan that the tournament replaces. */
static uint32_t first_of_all(const clo_cost *cost, const int64_t *since_ns, int64_t now_ns)
{
    uint32_t best = CLO_NONE;

    for (uint32_t t = 0; t < TASKS; t++) {
        if (since_ns[t] < 0)
            continue;
        if (best == CLO_NONE ||
            (now_ns - since_ns[t]) * cost->mean_ns[best] > (now_ns - since_ns[best]) * cost->mean_ns[t])
            best = t;
    }
    return best;
}

static void the_tournament_finds_the_highest_response_ratio(void **state)
{
    uint32_t found = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        fixture f = fixture_new();
        int64_t since_ns[TASKS], now_ns = 0;
        clo_response response;
        for (uint32_t t = 0; t < TASKS; t++) {
            fixture_task(&f, NULL, 1 + clo_rng_below(&rng, seed % 2 ? 8 : 1000));
            since_ns[t] = -1;
        }
        fixture_seal(&f, 1, NULL, -1);
        ok(clo_response_open(&response, f.cost));
        for (uint32_t step = 0; step < 400; step++) {
            uint32_t t = clo_rng_below(&rng, TASKS);
            now_ns += clo_rng_below(&rng, 3) > 0 ? clo_rng_below(&rng, 50) : 0;
            if (since_ns[t] < 0)
                clo_response_add(&response, t, since_ns[t] = now_ns - clo_rng_below(&rng, (uint32_t)now_ns + 1),
                                 now_ns);
            uint32_t first = clo_response_first(&response, now_ns);
            assert_int_equal(first, first_of_all(f.cost, since_ns, now_ns));
            if (first == CLO_NONE || clo_rng_below(&rng, 2) == 0)
                continue;
            clo_response_remove(&response, first, now_ns);
            since_ns[first] = -1;
            found++;
        }
        clo_response_close(&response);
        fixture_free(&f);
    }
    assert_true(found > 1000);
}

static bool is_of_one_kind(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a % KINDS == b % KINDS;
}

static void groups_give_the_lowest_of_those_that_are_alike(void **state)
{
    clo_rng rng = clo_rng_seed(3);
    clo_alike alike = {.is_alike = is_of_one_kind};
    clo_block block = {0};
    bool is_ready[STAR] = {false};

    (void)state;
    clo_alike_carve(&alike, &block, STAR);
    void *memory = clo_block_allocate(&block);
    assert_non_null(memory);
    clo_alike_begin(&alike);
    for (uint32_t step = 0, left = STAR; left > 0 || alike.filled_count > 0; step++) {
        uint32_t t = clo_rng_below(&rng, STAR);
        while (left > 0 && is_ready[t])
            t = (t + 1) % STAR;
        if (left > 0 && step % 3 > 0) {
            is_ready[t] = true;
            clo_alike_add(&alike, t, t % KINDS % 2); /* two kinds share each hash */
            left--;
            continue;
        }
        if (alike.filled_count == 0)
            continue;
        uint32_t at = clo_rng_below(&rng, alike.filled_count), first = alike.groups[alike.filled[at]].first;
        static bool is_taken[STAR];
        for (uint32_t low = first % KINDS; low < first; low += KINDS)
            assert_true(!is_ready[low] || is_taken[low]);
        assert_false(is_taken[first]);
        is_taken[first] = true;
        clo_alike_take(&alike, at);
    }
    assert_int_equal(alike.groups_count, KINDS); /* what a decision looks at, of any number of tasks */
    clo_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tournament_finds_the_highest_response_ratio),
        cmocka_unit_test(groups_give_the_lowest_of_those_that_are_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
