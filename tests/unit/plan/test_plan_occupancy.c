/* The occupancy of a machine's capacities beside a plain list of what was taken: the same earliest starts, whatever it
 * remembers of earlier searches. */
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/schedule/occupancy.h"

enum { TAKEN_MAX = 1500, SEEDS = 12, QUERIES = 6 };

typedef struct taken {
    int64_t start_ns, finish_ns, demand[CLO_RESOURCES_MAX];
} taken;

static taken list[TAKEN_MAX];
static uint32_t list_count;

/* What is in use changes only where something begins or ends. */
static bool fits_at(const clo_occupancy *occupancy, int64_t time_ns, const int64_t *demand)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t used = demand[r];
        for (uint32_t i = 0; i < list_count && occupancy->limits[r] >= 0; i++)
            used += list[i].start_ns <= time_ns && time_ns < list[i].finish_ns ? list[i].demand[r] : 0;
        if (occupancy->limits[r] >= 0 && used > occupancy->limits[r])
            return false;
    }
    return true;
}

/* True if the demand fits during all of [start_ns, start_ns + duration_ns). */
static bool fits(const clo_occupancy *occupancy, int64_t start_ns, int64_t duration_ns, const int64_t *demand)
{
    if (!fits_at(occupancy, start_ns, demand))
        return false;
    for (uint32_t i = 0; i < list_count; i++)
        if (list[i].start_ns > start_ns && list[i].start_ns < start_ns + duration_ns &&
            !fits_at(occupancy, list[i].start_ns, demand))
            return false;
    return true;
}

/* Room begins at start_ns, or where something ends. */
static int64_t look_at_all(const clo_occupancy *occupancy, int64_t start_ns, int64_t duration_ns, const int64_t *demand)
{
    int64_t best_ns = INT64_MAX;

    if (duration_ns == 0 || fits(occupancy, start_ns, duration_ns, demand))
        return start_ns;
    for (uint32_t i = 0; i < list_count; i++)
        if (list[i].finish_ns > start_ns && list[i].finish_ns < best_ns &&
            fits(occupancy, list[i].finish_ns, duration_ns, demand))
            best_ns = list[i].finish_ns;
    return best_ns;
}

static void draw(clo_rng *rng, const clo_occupancy *occupancy, taken *t, uint32_t spread)
{
    uint32_t octaves = clo_rng_below(rng, 6);

    t->start_ns = clo_rng_below(rng, spread);
    t->finish_ns = t->start_ns + (clo_rng_below(rng, 40) == 0 ? 0 : clo_rng_below(rng, UINT32_C(40) << octaves));
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        t->demand[r] = occupancy->limits[r] < 0
                           ? clo_rng_below(rng, 9)
                           : (int64_t)(clo_rng_below(rng, 1000) * (uint64_t)occupancy->limits[r] / 1700);
}

static void check_queries(clo_rng *rng, const clo_occupancy *occupancy, uint32_t spread)
{
    for (int q = 0; q < QUERIES; q++) {
        taken t;
        draw(rng, occupancy, &t, spread);
        int64_t duration_ns = t.finish_ns - t.start_ns;
        int64_t want_ns = look_at_all(occupancy, t.start_ns, duration_ns, t.demand);
        assert_int_equal(clo_occupancy_earliest_ns(occupancy, t.start_ns, duration_ns, INT64_MAX, t.demand), want_ns);
        int64_t latest_ns = t.start_ns + clo_rng_below(rng, 2000);
        int64_t found_ns = clo_occupancy_earliest_ns(occupancy, t.start_ns, duration_ns, latest_ns, t.demand);
        assert_true(found_ns == want_ns || (want_ns >= latest_ns && found_ns >= latest_ns));
    }
}

/* Takes each as early as it fits, so that holes are left, and asks in between. */
static void fill(clo_occupancy *occupancy, uint64_t seed, uint32_t count)
{
    clo_rng rng = clo_rng_seed(seed);

    list_count = 0;
    while (list_count < count) {
        taken t;
        uint32_t spread = 100 + 20 * list_count;
        draw(&rng, occupancy, &t, spread);
        int64_t duration_ns = t.finish_ns - t.start_ns;
        t.start_ns = clo_occupancy_earliest_ns(occupancy, t.start_ns, duration_ns, INT64_MAX, t.demand);
        t.finish_ns = t.start_ns + duration_ns;
        assert_int_equal(clo_occupancy_take(occupancy, t.start_ns, t.finish_ns, t.demand), 0);
        list[list_count++] = t;
        if (list_count % 25 == 0)
            check_queries(&rng, occupancy, 2 * spread);
    }
}

static void the_earliest_start_is_that_of_a_look_at_all(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_occupancy occupancy = {0};
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) /* 1 .. 8 limited ones, of few units up to 2^48 */
            occupancy.limits[r] = r <= seed % CLO_RESOURCES_MAX ? INT64_C(3) << (r * 5 * (seed % 2) + seed) : -1;
        clo_occupancy_open(&occupancy);
        fill(&occupancy, seed, seed == 0 ? TAKEN_MAX : 300);
        clo_occupancy_clear(&occupancy); /* what was remembered is forgotten */
        fill(&occupancy, seed + 100, 300);
        clo_occupancy_free(&occupancy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_earliest_start_is_that_of_a_look_at_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
