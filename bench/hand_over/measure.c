/* measure.c - see measure.h. Two threads pass an item to and fro: what a round takes is two of each step. */
#include "hand_over/measure.h"

#include "sync/protocol/countdown.h"
#include "sync/sleep/mailbox.h"
#include "sync/sleep/park.h"
#include "sync/structure/stack.h"

#include <pthread.h>
#include <sched.h>

enum { PASSES = 2000, WAKES = 20 };

typedef struct bed {
    clo_mailbox mailboxes[2][CLO_CACHE_LINE_BYTES / sizeof(clo_mailbox)]; /* the first of each is used */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack stacks[2][CLO_CACHE_LINE_BYTES / sizeof(clo_stack)];
    alignas(CLO_CACHE_LINE_BYTES) clo_parker parker;
    _Atomic int64_t awake_ns; /* when the sleeper ran; 0: it has not */
    uint64_t link;
    clo_fence fence;
} bed;

/* The other one may be on the same CPU. */
static void wait_a_little(uint32_t *turns)
{
    if (++*turns % 1024 == 0)
        sched_yield();
    clo_relax();
}

static void pass_hands(bed *b, uint32_t me)
{
    uint32_t turns = 0;

    for (uint32_t i = 0; i < PASSES; i++) {
        if (me == 0)
            (void)clo_mailbox_send(&b->mailboxes[1][0], i);
        while (clo_mailbox_take(&b->mailboxes[me][0]) == CLO_MAILBOX_EMPTY) /* until the other one gives */
            wait_a_little(&turns);
        if (me == 1)
            (void)clo_mailbox_send(&b->mailboxes[0][0], i);
    }
}

static void pass_stacks(bed *b, uint32_t me)
{
    uint32_t turns = 0;

    for (uint32_t i = 0; i < PASSES; i++) {
        if (me == 0)
            clo_stack_push(&b->stacks[1][0], i, &b->link);
        while (clo_stack_take(&b->stacks[me][0]) == CLO_ITEM_NONE) /* until the other one pushes */
            wait_a_little(&turns);
        if (me == 1)
            clo_stack_push(&b->stacks[0][0], i, &b->link);
    }
}

static void sleep_and_tell(bed *b)
{
    for (uint32_t i = 0; i < WAKES; i++) {
        clo_parker_prepare(&b->parker);
        clo_fence_heavy(&b->fence);
        (void)clo_parker_sleep(&b->parker);
        atomic_store_explicit(&b->awake_ns, bench_now_ns(), memory_order_release);
    }
}

static void *partner(void *argument)
{
    bed *b = argument;

    pass_hands(b, 1);
    pass_stacks(b, 1);
    sleep_and_tell(b);
    return NULL;
}

/* Wakes the partner, each time once it sleeps; the lowest of both times. */
static void measure_wakes(bed *b, play_costs *costs)
{
    uint32_t turns = 0;

    costs->call = costs->wake = INT64_MAX;
    for (uint32_t i = 0; i < WAKES; i++) {
        while (!clo_parker_sleeps_free(&b->parker)) /* the partner is about to */
            wait_a_little(&turns);
        bench_rest();
        atomic_store_explicit(&b->awake_ns, 0, memory_order_relaxed);
        int64_t from_ns = bench_now_ns(), awake_ns;
        (void)clo_parker_wake(&b->parker);
        int64_t called_ns = bench_now_ns() - from_ns;
        while ((awake_ns = atomic_load_explicit(&b->awake_ns, memory_order_acquire)) == 0) /* it was woken */
            wait_a_little(&turns);
        if (called_ns < costs->call)
            costs->call = called_ns;
        if (awake_ns - from_ns < costs->wake)
            costs->wake = awake_ns - from_ns;
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What one thread measures by itself. */
static void measure_alone(bed *b, play_costs *costs)
{
    clo_countdown countdown;
    int64_t at_ns[4] = {bench_now_ns()};
    uint32_t found = 0;

    clo_countdown_arm(&countdown, 2);
    for (uint32_t i = 0; i < PASSES; i++)
        found += clo_countdown_hit(&countdown);
    at_ns[1] = bench_now_ns();
    for (uint32_t i = 0; i < PASSES; i++)
        found += clo_mailbox_take(&b->mailboxes[0][0]) != CLO_MAILBOX_EMPTY ||
                 clo_stack_take(&b->stacks[0][0]) != CLO_ITEM_NONE;
    at_ns[2] = bench_now_ns();
    for (uint32_t i = 0; i < PASSES + found % 2; i++)
        clo_relax();
    at_ns[3] = bench_now_ns();
    costs->hit = least(costs->hit, (at_ns[1] - at_ns[0]) / PASSES + 1);
    costs->look = least(costs->look, (at_ns[2] - at_ns[1]) / PASSES + 1);
    costs->pause = least(costs->pause, (at_ns[3] - at_ns[2]) / PASSES + 1);
}

static bool measure_once(play_costs *costs)
{
    static bed b; /* larger than a stack likes, and aligned */
    pthread_t thread;
    int64_t at_ns[3];

    for (uint32_t i = 0; i < 2; i++) {
        clo_mailbox_init(&b.mailboxes[i][0]);
        atomic_init(&b.stacks[i][0].head, CLO_ITEM_NONE);
    }
    atomic_init(&b.parker.state, CLO_PARK_AWAKE);
    clo_fence_init(&b.fence);
    measure_alone(&b, costs);
    if (pthread_create(&thread, NULL, partner, &b) != 0)
        return false;
    at_ns[0] = bench_now_ns();
    pass_hands(&b, 0);
    at_ns[1] = bench_now_ns();
    pass_stacks(&b, 0);
    at_ns[2] = bench_now_ns();
    play_costs wakes;
    measure_wakes(&b, &wakes);
    pthread_join(thread, NULL);
    int64_t step_ns = (at_ns[1] - at_ns[0]) / PASSES / 4, list_ns = (at_ns[2] - at_ns[1]) / PASSES / 4;
    costs->line = costs->give = costs->take = least(costs->give, step_ns);
    costs->push = costs->steal = least(costs->push, list_ns);
    costs->call = least(costs->call, wakes.call);
    costs->wake = least(costs->wake, wakes.wake);
    return true;
}

bool measure_costs(uint32_t rounds, play_costs *costs)
{
    bool is_good = true;

    costs->hit = costs->look = costs->pause = costs->give = costs->push = costs->call = costs->wake = INT64_MAX;
    for (uint32_t i = 0; i < rounds && is_good; i++)
        is_good = measure_once(costs);
    return is_good;
}
