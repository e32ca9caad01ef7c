/* Grace periods: what readers look at stays until they have left. mutations.py builds this program from weakened copies
 * of sync/rcu and expects it to fail. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "sync/protocol/rcu.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is published: all words alike, until it is taken out and overwritten. */
#define PUBLISHED_WORDS 16
#define SECTIONS 20000

typedef struct published {
    uint64_t words[PUBLISHED_WORDS];
} published;

static clo_rcu_pointer newest;
static _Atomic uint32_t rcu_is_over, sections;

static void *rcu_reader_main(void *argument)
{
    (void)argument;
    while (atomic_load_explicit(&rcu_is_over, memory_order_relaxed) == 0) {
        clo_rcu_enter();
        const published *p = clo_rcu_read(&newest);
        for (uint32_t i = 1; p != NULL && i < PUBLISHED_WORDS; i++) {
            if (i == PUBLISHED_WORDS / 2)
                sched_yield(); /* the writer comes in between */
            if (*(volatile const uint64_t *)&p->words[i] != *(volatile const uint64_t *)&p->words[0])
                fail_msg("what a reader looks at was taken away");
        }
        clo_rcu_leave();
        atomic_fetch_add_explicit(&sections, 1, memory_order_relaxed);
    }
    return NULL;
}

static void what_was_published_stays_until_its_readers_have_left(void **state)
{
    published *parts = calloc(2, sizeof *parts);
    pthread_t readers[2];

    (void)state;
    assert_non_null(parts);
    atomic_store(&rcu_is_over, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, rcu_reader_main, NULL), 0);
    for (uint64_t round = 1; atomic_load_explicit(&sections, memory_order_relaxed) < SECTIONS; round++) {
        published *next = &parts[round % 2]; /* what was taken out before the last */
        for (uint32_t i = 0; i < PUBLISHED_WORDS; i++)
            next->words[i] = round;
        clo_rcu_publish(&newest, next);
        clo_rcu_wait();
    }
    clo_rcu_publish(&newest, NULL);
    clo_rcu_wait();
    memset(parts, 0xdd, 2 * sizeof *parts);
    atomic_store(&rcu_is_over, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    free(parts);
}

static _Atomic uint32_t is_inside, is_about_to_wait, has_waited;

static void *wait_main(void *argument)
{
    (void)argument;
    while (atomic_load(&is_inside) == 0)
        sched_yield();
    clo_rcu_publish(&newest, NULL);
    atomic_store(&is_about_to_wait, 1);
    clo_rcu_wait();
    atomic_store(&has_waited, 1);
    return NULL;
}

/* By hand, so that a wait that does not wait is seen each time. */
static void a_wait_does_not_end_before_the_sections_that_were_open(void **state)
{
    enum { LOOKS = 100 };
    const struct timespec ms = {0, 1000000};
    published one = {{0}};
    pthread_t waiter;

    (void)state;
    clo_rcu_publish(&newest, &one);
    assert_int_equal(pthread_create(&waiter, NULL, wait_main, NULL), 0);
    clo_rcu_enter();
    assert_ptr_equal(clo_rcu_read(&newest), &one);
    atomic_store(&is_inside, 1);
    while (atomic_load(&is_about_to_wait) == 0)
        sched_yield();
    for (uint32_t i = 0; i < LOOKS && atomic_load(&has_waited) == 0; i++)
        nanosleep(&ms, NULL);
    bool is_early = atomic_load(&has_waited) != 0;
    clo_rcu_leave();
    pthread_join(waiter, NULL);
    assert_false(is_early);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_does_not_end_before_the_sections_that_were_open),
        cmocka_unit_test(what_was_published_stays_until_its_readers_have_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
