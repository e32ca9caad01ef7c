/* The semaphore of capacities with one thread, against rules written down a second time. */
#include "support.h"

#include "base/numbers/rng.h"
#include "sync/structure/semaphore.h"

#define TAKERS 40

static clo_semaphore semaphore;
static clo_semaphore_page pages[3];

static void open_semaphore(const int64_t *capacities, uint32_t resources)
{
    clo_semaphore_init(&semaphore, capacities, resources, pages, 2);
}

static bool take(const int64_t *demand)
{
    return clo_semaphore_acquire(&semaphore, demand, 0);
}

static void a_demand_is_taken_whole_or_not_at_all(void **state)
{
    (void)state;
    const int64_t capacities[8] = {4, -1, 3, -1, -1, -1, -1, -1};
    const int64_t both[8] = {2, 1000, 2}, first[8] = {2}, second[8] = {0, 0, 2}, little[8] = {0, 5, 1};

    open_semaphore(capacities, 8);
    assert_true(take(both));
    assert_false(take(both));
    assert_false(take(second));
    assert_true(take(first));
    assert_true(take(little));
    assert_false(clo_semaphore_release(&semaphore, both, 1));
    assert_true(take(second));
    assert_false(take(little));
}

static void what_is_unlimited_is_not_counted(void **state)
{
    (void)state;
    const int64_t capacities[8] = {-1, -1, -1, -1, -1, -1, -1, -1},
                  demand[8] = {INT64_MAX, 1, 1, 1, 1, 1, 1, INT64_MAX};
    uint64_t ticket = CLO_SEMAPHORE_NEW;

    open_semaphore(capacities, 8);
    for (int i = 0; i < 3; i++) {
        assert_true(take(demand));
        assert_true(clo_semaphore_acquire_or_watch(&semaphore, demand, &ticket, 0));
    }
    assert_true(ticket == CLO_SEMAPHORE_NEW);
    assert_false(clo_semaphore_release(&semaphore, demand, 0));
    assert_false(clo_semaphore_forget(&semaphore, 0, 0));
}

/* Of the second resource all would be kept, if it was counted. */
static void what_is_unlimited_is_not_kept(void **state)
{
    (void)state;
    const int64_t capacities[8] = {10, -1, 10, -1, -1, -1, -1, -1};
    const int64_t big[8] = {10, INT64_MAX}, small[8] = {1, 0}, other[8] = {0, INT64_MAX, 1};
    uint64_t ticket = CLO_SEMAPHORE_NEW;

    open_semaphore(capacities, 8);
    assert_true(take(small));
    assert_false(clo_semaphore_acquire_or_watch(&semaphore, big, &ticket, 0));
    for (uint32_t i = 0; i < CLO_OVERTAKES_MAX; i++) {
        assert_true(take(small));
        (void)clo_semaphore_release(&semaphore, small, 1);
    }
    assert_false(take(small));
    assert_true(take(other));
}

static void a_capacity_of_nothing_lets_in_who_demands_nothing_of_it(void **state)
{
    (void)state;
    const int64_t capacities[8] = {0, 1, -1, -1, -1, -1, -1, -1}, none[8] = {0, 1}, some[8] = {1};

    open_semaphore(capacities, 8);
    assert_false(take(some));
    assert_true(take(none));
}

static void the_oldest_is_overtaken_so_often_and_no_more(void **state)
{
    (void)state;
    const int64_t capacities[8] = {10, 2, -1, -1, -1, -1, -1, -1};
    const int64_t big[8] = {9}, small[8] = {1}, other[8] = {0, 1}, two[8] = {2};
    uint64_t ticket = CLO_SEMAPHORE_NEW, younger = CLO_SEMAPHORE_NEW;

    open_semaphore(capacities, 8);
    assert_true(take(two));
    assert_false(clo_semaphore_acquire_or_watch(&semaphore, big, &ticket, 0));
    assert_true(clo_semaphore_acquire_or_watch(&semaphore, small, &younger, 1));
    for (uint32_t i = 1; i < CLO_OVERTAKES_MAX; i++) {
        assert_true(take(small));
        assert_false(clo_semaphore_release(&semaphore, small, 1));
    }
    assert_true(take(other)); /* what it does not want is free for all */
    assert_false(take(small));
    assert_true(clo_semaphore_release(&semaphore, two, 0)); /* 9 are free, for the oldest alone */
    assert_false(clo_semaphore_watch(&semaphore, small, &younger, 1));
    assert_true(clo_semaphore_watch(&semaphore, big, &ticket, 0));
    assert_true(clo_semaphore_acquire_or_watch(&semaphore, big, &ticket, 0));
    assert_false(take(small));
    assert_true(clo_semaphore_release(&semaphore, big, 0)); /* the younger one watches */
    assert_true(clo_semaphore_acquire_or_watch(&semaphore, small, &younger, 1));
}

static void who_is_forgotten_is_kept_nothing(void **state)
{
    (void)state;
    const int64_t capacities[8] = {2, -1, -1, -1, -1, -1, -1, -1}, big[8] = {2}, small[8] = {1};
    uint64_t first = CLO_SEMAPHORE_NEW, second = CLO_SEMAPHORE_NEW;

    open_semaphore(capacities, 8);
    assert_true(take(small));
    assert_false(clo_semaphore_acquire_or_watch(&semaphore, big, &first, 0));
    assert_false(clo_semaphore_acquire_or_watch(&semaphore, big, &second, 1));
    for (uint32_t i = 0; i < CLO_OVERTAKES_MAX; i++) {
        assert_true(take(small));
        assert_false(clo_semaphore_release(&semaphore, small, 0));
    }
    assert_false(take(small));
    assert_false(clo_semaphore_forget(&semaphore, second, 0)); /* nothing was kept for that one */
    assert_true(clo_semaphore_forget(&semaphore, first, 0));
    assert_true(take(small));
}

/* What the semaphore is to do, with a list of all who wait. */
typedef struct oracle {
    int64_t available[3];
    const int64_t *oldest;
    uint32_t overtakes;
} oracle;

static bool may_take(const oracle *o, const int64_t *demand)
{
    bool keeps = o->oldest != NULL && o->oldest != demand && o->overtakes >= CLO_OVERTAKES_MAX;

    for (int r = 0; r < 3; r++)
        if (demand[r] > 0 && demand[r] > o->available[r] - (keeps ? o->oldest[r] : 0))
            return false;
    return true;
}

static void count_start(oracle *o, const int64_t *demand)
{
    for (int r = 0; r < 3; r++)
        o->available[r] -= demand[r];
    if (o->oldest == demand) {
        o->oldest = NULL;
        o->overtakes = 0;
    } else if (o->oldest != NULL) {
        o->overtakes += o->overtakes < CLO_OVERTAKES_MAX;
    }
}

/* All takers in every state at once; whoever waits asks again only when a give reports. */
static void random_operations_do_what_the_rules_say(void **state)
{
    (void)state;
    const int64_t capacities[8] = {12, 7, 100, -1, -1, -1, -1, -1};
    int64_t demands[TAKERS][8] = {{0}};
    uint64_t tickets[TAKERS], waits = 0, reports = 0;
    enum { OUT, WAITS, IN } states[TAKERS] = {OUT};
    oracle o = {{12, 7, 100}, NULL, 0};
    clo_rng rng = clo_rng_seed(7);

    open_semaphore(capacities, 8);
    for (int i = 0; i < TAKERS; i++)
        tickets[i] = CLO_SEMAPHORE_NEW;
    for (int step = 0; step < 200000; step++) {
        uint32_t i = clo_rng_below(&rng, TAKERS);
        if (states[i] == OUT) {
            for (uint32_t r = 0; r < 3; r++)
                demands[i][r] = clo_rng_below(&rng, (uint32_t)capacities[r] / (i % 8 == 0 ? 1 : 4) + 1);
            bool fits = may_take(&o, demands[i]);
            assert_int_equal(clo_semaphore_acquire_or_watch(&semaphore, demands[i], &tickets[i], i % 2), fits);
            if (fits)
                count_start(&o, demands[i]);
            else if (o.oldest == NULL)
                o.oldest = demands[i];
            states[i] = fits ? IN : WAITS;
            waits += !fits;
        } else if (states[i] == IN) {
            states[i] = OUT;
            for (int r = 0; r < 3; r++)
                o.available[r] += demands[i][r];
            bool reported = clo_semaphore_release(&semaphore, demands[i], i % 2);
            reports += reported;
            for (uint64_t again = 0; reported; again++) { /* oldest first */
                uint32_t next = TAKERS;
                for (uint32_t k = 0; k < TAKERS; k++)
                    if (states[k] == WAITS && tickets[k] >= again && (next == TAKERS || tickets[k] < tickets[next]))
                        next = k;
                if (next == TAKERS)
                    break;
                again = tickets[next];
                bool fits = may_take(&o, demands[next]);
                assert_int_equal(clo_semaphore_acquire_or_watch(&semaphore, demands[next], &tickets[next], next % 2),
                                 fits);
                if (fits) {
                    count_start(&o, demands[next]);
                    states[next] = IN;
                    tickets[next] = CLO_SEMAPHORE_NEW;
                } else if (o.oldest == NULL) {
                    o.oldest = demands[next];
                }
            }
            for (int k = 0; k < TAKERS; k++) /* no lost wake-up: nobody waits who would fit */
                assert_false(states[k] == WAITS && may_take(&o, demands[k]));
        }
    }
    assert_true(waits > 10000 && reports > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_demand_is_taken_whole_or_not_at_all),
        cmocka_unit_test(what_is_unlimited_is_not_counted),
        cmocka_unit_test(what_is_unlimited_is_not_kept),
        cmocka_unit_test(a_capacity_of_nothing_lets_in_who_demands_nothing_of_it),
        cmocka_unit_test(the_oldest_is_overtaken_so_often_and_no_more),
        cmocka_unit_test(who_is_forgotten_is_kept_nothing),
        cmocka_unit_test(random_operations_do_what_the_rules_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
