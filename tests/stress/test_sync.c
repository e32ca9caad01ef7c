/* The lock-free parts under several threads. mutations.py builds this program from weakened copies of runtime/sync/ and
 * expects it to fail. */
#include "support.h"

#include "base/numbers/rng.h"
#include "sync/protocol/countdown.h"
#include "sync/protocol/once.h"
#include "sync/sleep/park.h"
#include "sync/structure/combining.h"
#include "sync/structure/semaphore.h"
#include "sync/structure/stack.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ITEMS 40000u

static uint64_t payload[ITEMS]; /* plain memory that must travel with each item */
static uint64_t links[ITEMS];
static _Atomic uint32_t taken[ITEMS];
static _Atomic uint32_t taken_count;

static void reset(void)
{
    memset(payload, 0, sizeof payload);
    for (uint32_t i = 0; i < ITEMS; i++)
        atomic_store(&taken[i], 0);
    atomic_store(&taken_count, 0);
}

static void take(uint64_t item)
{
    if (payload[item] != item * 3 + 1)
        fail_msg("item %llu came without its data", (unsigned long long)item);
    atomic_fetch_add_explicit(&taken[item], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&taken_count, 1, memory_order_relaxed);
}

static void each_item_was_taken_once(void)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(atomic_load(&taken[i]), 1);
}

static void run_threads(void *(*main_of)(void *), size_t count)
{
    pthread_t threads[2 * THREADS];

    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, main_of, (void *)i), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static clo_stack stack;

static void *stack_main(void *argument)
{
    size_t me = (size_t)argument;

    for (uint64_t i = me; i < ITEMS; i += THREADS) {
        payload[i] = i * 3 + 1;
        clo_stack_push(&stack, i, &links[i]);
        if (i % 7 == 0)
            for (uint64_t item = clo_stack_take(&stack), next; item != CLO_ITEM_NONE; item = next) {
                next = links[item];
                take(item);
            }
    }
    return NULL;
}

static void every_item_of_a_stack_is_taken_exactly_once(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        reset();
        clo_stack_init(&stack);
        run_threads(stack_main, THREADS);
        for (uint64_t item = clo_stack_take(&stack), next; item != CLO_ITEM_NONE; item = next) {
            next = links[item];
            take(item);
        }
        each_item_was_taken_once();
    }
}

static clo_countdown countdowns[ITEMS];
static uint64_t parts[THREADS][ITEMS];

static void *countdown_main(void *argument)
{
    size_t me = (size_t)argument;

    for (uint64_t i = 0; i < ITEMS; i++) {
        parts[me][i] = i + me;
        if (!clo_countdown_hit(&countdowns[i]))
            continue;
        for (size_t other = 0; other < THREADS; other++)
            if (parts[other][i] != i + other)
                fail_msg("the last hitter does not see what thread %zu wrote", other);
        atomic_fetch_add_explicit(&taken[i], 1, memory_order_relaxed);
    }
    return NULL;
}

static void exactly_the_last_hit_of_a_countdown_gets_true_and_sees_all_that_came_before(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < ITEMS; i++)
        clo_countdown_arm(&countdowns[i], THREADS);
    run_threads(countdown_main, THREADS);
    each_item_was_taken_once();
    for (uint32_t i = 0; i < ITEMS; i++) /* ready for the next run */
        assert_int_equal(atomic_load(&countdowns[i].left), THREADS);
}

static clo_combining combining;
static clo_combining_slot combining_slots[THREADS];
static _Atomic uint32_t holders;
static uint32_t state_of_holders; /* plain: travels from holder to holder */
static _Atomic uint32_t answered[THREADS];

static void combine(void)
{
    uint32_t handled = 0;
    bool has_left = false;

    while (!has_left) {
        if (atomic_fetch_add_explicit(&holders, 1, memory_order_relaxed) != 0)
            fail_msg("two hold the turn");
        for (uint32_t s = 0; s < THREADS; s++) {
            uint32_t news = clo_combining_read(&combining, s);
            if (news == CLO_COMBINING_EMPTY)
                continue;
            if (payload[news] != (uint64_t)news * 3 + 1)
                fail_msg("news %u came without its data", news);
            handled++;
            state_of_holders++;
            atomic_store_explicit(&answered[s], news + 1, memory_order_release);
        }
        atomic_fetch_sub_explicit(&holders, 1, memory_order_relaxed);
        has_left = clo_combining_leave(&combining, handled);
    }
}

static void *combining_main(void *argument)
{
    uint32_t me = (uint32_t)(size_t)argument;

    for (uint32_t i = me; i < ITEMS; i += THREADS) {
        payload[i] = (uint64_t)i * 3 + 1;
        if (clo_combining_post(&combining, me, i))
            combine();
        while (atomic_load_explicit(&answered[me], memory_order_acquire) != i + 1)
            sched_yield();
    }
    return NULL;
}

static void news_are_read_once_by_one_combiner_at_a_time(void **state)
{
    (void)state;
    reset();
    clo_combining_init(&combining, combining_slots, THREADS);
    run_threads(combining_main, THREADS);
    assert_int_equal(state_of_holders, ITEMS);
    assert_int_equal(atomic_load(&combining.posts), 0);
}

static clo_once onces[ITEMS];

static void *once_main(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < ITEMS; i++) {
        if (clo_once_begin(&onces[i], 1)) {
            payload[i] = i * 3 + 1;
            atomic_fetch_add_explicit(&taken[i], 1, memory_order_relaxed);
            clo_once_end(&onces[i], 1);
        }
        if (payload[i] != i * 3 + 1)
            fail_msg("once %llu is not done", (unsigned long long)i);
    }
    return NULL;
}

static void work_that_several_need_is_done_once_and_seen_by_all(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < ITEMS; i++)
        atomic_store(&onces[i].state, 0);
    run_threads(once_main, THREADS);
    each_item_was_taken_once();
}

/* The protocol of worker.c in small: the sleeper must never sleep with an item waiting. A lost wake hangs (ctest's
 * time-out catches it). */
static clo_fence fence;
static clo_parker parker;
static _Atomic uint32_t produced, consumed;
#define WAKES 20000u

static void *park_main(void *argument)
{
    uint32_t seen = 0;

    if ((size_t)argument != 0) {
        for (uint32_t i = 1; i <= WAKES; i++) {
            while (atomic_load_explicit(&consumed, memory_order_relaxed) != i - 1)
                clo_relax();
            for (uint32_t k = 0; k < i % 24; k++) /* hit the sleeper at every step of its way to bed */
                clo_relax();
            atomic_store_explicit(&produced, i, memory_order_release); /* no locked instruction: only the fence helps */
            clo_fence_light(&fence);
            if (clo_parker_is_away(&parker))
                (void)clo_parker_wake(&parker);
        }
        return NULL;
    }
    while (seen < WAKES) {
        uint32_t now = atomic_load_explicit(&produced, memory_order_acquire);
        if (now != seen) {
            seen = now;
            atomic_store_explicit(&consumed, now, memory_order_relaxed);
            continue;
        }
        clo_parker_prepare(&parker);
        clo_fence_heavy(&fence);
        if (atomic_load_explicit(&produced, memory_order_acquire) == seen)
            clo_parker_sleep(&parker);
        else
            (void)clo_parker_cancel(&parker);
    }
    return NULL;
}

static void no_wake_is_lost_between_the_last_look_and_the_sleep(void **state)
{
    (void)state;
    for (int with = 1; with >= 0; with--) {
        clo_fence_init(&fence);
        if (with == 0)
            fence.has_membarrier = false; /* the way of kernels that refuse membarrier */
        atomic_store(&produced, 0);
        atomic_store(&consumed, 0);
        run_threads(park_main, 2);
        assert_int_equal(atomic_load(&produced), WAKES);
    }
}

#define SEMAPHORE_THREADS 8
#define SEMAPHORE_ROUNDS 6000u

/* What a thread holds in the middle, counted by other means. */
static const int64_t semaphore_capacities[3] = {9, 5, 7};
static clo_semaphore semaphore;
static clo_semaphore_page semaphore_pages[SEMAPHORE_THREADS + 1];
static _Atomic int64_t in_use[3];
static _Atomic uint32_t has_line[SEMAPHORE_THREADS], is_called[SEMAPHORE_THREADS];
/* Ticket of thread 0, which wants everything; CLO_SEMAPHORE_NEW: it does not wait. Starts that have passed it. */
static _Atomic uint64_t first_ticket, passed;
/* Thread 0 was called and has not come yet: until it has registered again the semaphore may not know that it waits. */
static _Atomic uint32_t first_is_away;
/* Threads between giving back and calling: one that is preempted there has not called thread 0 yet. */
static _Atomic uint32_t givers;
/* Threads that have not begun yet; threads but the first that have not ended. */
static _Atomic uint32_t waited_for, others;
static uint64_t most_passed;
static uint64_t rounds_of[SEMAPHORE_THREADS]; /* plain: what travels with the semaphore's head */

/* Some of three resources; thread 0 wants all there is, now and then. */
static void draw_demand(clo_rng *rng, size_t me, int64_t *demand)
{
    memset(demand, 0, CLO_SEMAPHORE_RESOURCES * sizeof *demand);
    for (int r = 0; r < 3; r++)
        demand[r] = me == 0 ? semaphore_capacities[r] : clo_rng_below(rng, (uint32_t)semaphore_capacities[r] / 2 + 1);
}

static uint64_t oldest_waiter(void)
{
    clo_semaphore_state state;

    (void)clo_semaphore_read(&semaphore, &state);
    return state.oldest;
}

/* Has somebody else's start passed thread 0, as far as the semaphore has promised that few do? All is known of the time
 * between two looks at the oldest waiter that say the same:
 * - It is thread 0. What is kept for it is kept until it starts, however long it is preempted after it was called.
 * - Nobody is known: the next give calls all. Who is called and has not come counts for nothing, nor does a give that
 *   has not called yet.
 * While somebody is the oldest who came before thread 0, nothing is promised: that one may be preempted too, and others
 * start beside what is kept for it. */
static void count_passing(uint64_t first, uint64_t oldest_before, const int64_t *demand)
{
    bool wants = demand[0] > 0 || demand[1] > 0 || demand[2] > 0;

    if (!wants || first == CLO_SEMAPHORE_NEW || oldest_waiter() != oldest_before)
        return;
    if (oldest_before == first ||
        (oldest_before == CLO_SEMAPHORE_NEW && atomic_load_explicit(&first_is_away, memory_order_relaxed) == 0 &&
         atomic_load_explicit(&givers, memory_order_relaxed) == 0))
        atomic_fetch_add_explicit(&passed, 1, memory_order_relaxed);
}

/* What thread 0 does once it is refused, and once it has started. */
static void first_waits(uint64_t ticket)
{
    atomic_store_explicit(&first_is_away, 0, memory_order_relaxed);
    if (atomic_load_explicit(&first_ticket, memory_order_relaxed) == ticket)
        return;
    atomic_store_explicit(&passed, 0, memory_order_relaxed);
    atomic_store_explicit(&first_ticket, ticket, memory_order_relaxed);
}

static void first_starts(void)
{
    uint64_t count = atomic_load_explicit(&passed, memory_order_relaxed);

    if (atomic_exchange_explicit(&first_ticket, CLO_SEMAPHORE_NEW, memory_order_relaxed) != CLO_SEMAPHORE_NEW &&
        count > most_passed)
        most_passed = count;
}

/* As run/extras/capacity.c does: says first that it may wait, then comes again whenever it is called. */
static void take_from_semaphore(size_t me, const int64_t *demand)
{
    uint64_t ticket = CLO_SEMAPHORE_NEW, first, oldest;

    atomic_store_explicit(&has_line[me], 1, memory_order_relaxed);
    for (;;) { /* another turn whenever it is called, and does not fit */
        first = atomic_load_explicit(&first_ticket, memory_order_relaxed);
        oldest = oldest_waiter();
        if (clo_semaphore_acquire_or_watch(&semaphore, demand, &ticket, (uint32_t)me))
            break;
        if (me == 0)
            first_waits(ticket);
        while (atomic_load_explicit(&is_called[me], memory_order_relaxed) == 0)
            sched_yield();
        atomic_exchange_explicit(&is_called[me], 0, memory_order_acquire);
    }
    if (me == 0)
        first_starts();
    else
        count_passing(first, oldest, demand);
    for (int r = 0; r < 3; r++)
        if (atomic_fetch_add_explicit(&in_use[r], demand[r], memory_order_relaxed) + demand[r] >
            semaphore_capacities[r])
            fail_msg("the semaphore let in too much");
}

static void give_to_semaphore(size_t me, const int64_t *demand)
{
    for (int r = 0; r < 3; r++)
        atomic_fetch_sub_explicit(&in_use[r], demand[r], memory_order_relaxed);
    atomic_fetch_add_explicit(&givers, 1, memory_order_relaxed);
    if (clo_semaphore_release(&semaphore, demand, (uint32_t)me)) {
        atomic_store_explicit(&first_is_away, 1, memory_order_relaxed);
        for (size_t t = 0; t < SEMAPHORE_THREADS; t++)
            if (atomic_load_explicit(&has_line[t], memory_order_relaxed) != 0)
                atomic_store_explicit(&is_called[t], 1, memory_order_release);
    }
    atomic_fetch_sub_explicit(&givers, 1, memory_order_relaxed);
}

/* Who has some of the first resource is never here together with thread 0, which has all of it. */
static void touch_rounds(size_t me)
{
    rounds_of[me]++;
    for (size_t t = 1; t < SEMAPHORE_THREADS && me == 0; t++)
        if (rounds_of[t] > SEMAPHORE_ROUNDS)
            fail_msg("what others wrote has not come along");
}

/* Begins together with all others; the first goes on as long as any of them. */
static void *semaphore_main(void *argument)
{
    size_t me = (size_t)argument;
    clo_rng rng = clo_rng_seed(me);
    int64_t demand[CLO_SEMAPHORE_RESOURCES];

    atomic_fetch_sub_explicit(&waited_for, 1, memory_order_relaxed);
    while (atomic_load_explicit(&waited_for, memory_order_relaxed) > 0)
        sched_yield();
    for (uint32_t round = 0;
         me > 0 ? round < SEMAPHORE_ROUNDS : atomic_load_explicit(&others, memory_order_relaxed) > 0; round++) {
        draw_demand(&rng, me, demand);
        take_from_semaphore(me, demand);
        if (demand[0] > 0)
            touch_rounds(me);
        if (round % 16 == 0 || me == 0)
            sched_yield();
        give_to_semaphore(me, demand);
    }
    atomic_fetch_sub_explicit(&others, me > 0, memory_order_relaxed);
    return NULL;
}

/* Thread 0 may become the oldest waiter once for each that came before it and registers late, and is passed so often
 * each time; some starts more are counted late, or come between a start of the oldest and the next give. */
static void a_semaphore_never_exceeds_its_capacity_forgets_nobody_and_lets_nobody_starve(void **state)
{
    const uint64_t most = SEMAPHORE_THREADS * (CLO_OVERTAKES_MAX + SEMAPHORE_THREADS);
    clo_semaphore_state left;

    (void)state;
    most_passed = 0;
    atomic_store(&first_ticket, CLO_SEMAPHORE_NEW);
    atomic_store(&waited_for, SEMAPHORE_THREADS);
    atomic_store(&others, SEMAPHORE_THREADS - 1);
    memset(rounds_of, 0, sizeof rounds_of);
    clo_semaphore_init(&semaphore, semaphore_capacities, 3, semaphore_pages, SEMAPHORE_THREADS);
    run_threads(semaphore_main, SEMAPHORE_THREADS);
    (void)clo_semaphore_read(&semaphore, &left);
    for (int r = 0; r < 3; r++)
        assert_int_equal(left.available[r], semaphore_capacities[r]);
    assert_true(left.oldest == CLO_SEMAPHORE_NEW);
    print_message("starts that passed the one that wants everything: %llu at most, of %llu\n",
                  (unsigned long long)most_passed, (unsigned long long)most);
    assert_true(most_passed <= most);
}

/* A thread alone, which plays the owner and the others in turn. */
static void who_is_woken_keeps_its_note_and_a_call_is_heard(void **state)
{
    clo_parker asleep = {.state = CLO_PARK_ASLEEP}, idle = {.state = CLO_PARK_AWAKE};

    (void)state;
    assert_true(clo_parker_leave(&asleep, 5));
    assert_true(clo_parker_wake(&asleep));
    assert_int_equal(clo_parker_lift(&asleep), 0); /* its owner has been woken with it */
    assert_int_equal(clo_parker_note(&asleep), 5);

    clo_parker_idle(&idle);
    assert_true(clo_parker_leave(&idle, 7));
    assert_int_equal(clo_parker_lift(&idle), 7);
    assert_int_equal(clo_parker_lift(&idle), 0);
    assert_true(clo_parker_borrow(&idle));
    assert_false(clo_parker_is_called(&idle));
    clo_parker_call(&idle);
    assert_true(clo_parker_is_called(&idle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_of_a_stack_is_taken_exactly_once),
        cmocka_unit_test(exactly_the_last_hit_of_a_countdown_gets_true_and_sees_all_that_came_before),
        cmocka_unit_test(news_are_read_once_by_one_combiner_at_a_time),
        cmocka_unit_test(work_that_several_need_is_done_once_and_seen_by_all),
        cmocka_unit_test(no_wake_is_lost_between_the_last_look_and_the_sleep),
        cmocka_unit_test(a_semaphore_never_exceeds_its_capacity_forgets_nobody_and_lets_nobody_starve),
        cmocka_unit_test(who_is_woken_keeps_its_note_and_a_call_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
