/* rules.c - which calls may run at once on one object, in one table, and how the fuzzer keeps to it.
 *
 * The thread sanitizer must see no order but the one that the headers ask the caller for. So the guard of an object
 * is made of relaxed operations with fences, which the sanitizer does not take for an order, and a call acquires only
 * what calls released that exclude it. */
#include "fuzz_api.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

bool rules_allow_unstated;

/* T: together, any threads.  X: one at a time, the caller's duty.  ?: the headers do not say; X unless asked. Two
 * submits at once are allowed too, but here each is counted: stress.test_run_threads does that. */
static const char job_rules[USES_OF_JOB][USES_OF_JOB + 1] = {
    /* clang-format off */
    /*             submit wait swap timing id cancel output trace destroy */
    /* submit  */  "X"   "T"  "T"   "T"  "T"  "T"    "X"   "T"   "X",
    /* wait    */  "T"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* swap    */  "T"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* timing  */  "T"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* id      */  "T"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* cancel  */  "T"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* output  */  "X"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* trace   */  "T"   "T"  "T"   "T"  "T"  "T"    "T"   "T"   "X",
    /* destroy */  "X"   "X"  "X"   "X"  "X"  "X"    "X"   "X"   "X",
    /* clang-format on */
};

static bool is_excluded(use_kind a, use_kind b)
{
    if (a < USES_OF_JOB && b < USES_OF_JOB)
        return job_rules[a][b] == 'X' || (job_rules[a][b] == '?' && !rules_allow_unstated);
    if ((a == USE_RUNTIME && b == USE_RUNTIME) || (a == USE_SHARED && b == USE_SHARED))
        return false;
    return true; /* close, free, one reader for one worker */
}

void rules_check(void)
{
    for (use_kind a = 0; a < USES_OF_JOB; a++)
        for (use_kind b = 0; b < USES_OF_JOB; b++)
            if (job_rules[a][b] != job_rules[b][a])
                broken("the table of rules is not symmetric at %d, %d", a, b);
}

void rules_print(void)
{
    static const char *const names[] = {"submit", "wait",   "swap",  "timing", "id",
                                        "cancel", "output", "trace", "destroy"};

    printf("%-8s", "");
    for (use_kind b = 0; b < USES_OF_JOB; b++)
        printf(" %-7s", names[b]);
    for (use_kind a = 0; a < USES_OF_JOB; a++) {
        printf("\n%-8s", names[a]);
        for (use_kind b = 0; b < USES_OF_JOB; b++)
            printf(" %-7c", job_rules[a][b]);
    }
    printf("\nT together, X one at a time (the caller's duty), ? not stated (--unstated: together)\n");
}

static void guard(object_slot *object)
{
    while (atomic_exchange_explicit(&object->guard, 1, memory_order_relaxed) != 0)
        sched_yield();
    atomic_thread_fence(memory_order_seq_cst);
}

static void unguard(object_slot *object)
{
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&object->guard, 0, memory_order_relaxed);
}

static bool begin(object_slot *object, use_kind wanted)
{
    bool is_free = true;

    guard(object);
    for (use_kind other = 0; other < USES && is_free; other++)
        if (is_excluded(wanted, other))
            is_free = atomic_load_explicit(&object->active[other], memory_order_acquire) == 0;
    if (is_free)
        atomic_fetch_add_explicit(&object->active[wanted], 1, memory_order_relaxed);
    unguard(object);
    return is_free;
}

bool use_begin(object_slot *object, use_kind use)
{
    return atomic_load_explicit(&object->closing, memory_order_relaxed) == 0 && begin(object, use);
}

/* By a thread that holds the same use already, for something that lives longer than the call. */
void use_again(object_slot *object, use_kind use)
{
    atomic_fetch_add_explicit(&object->active[use], 1, memory_order_relaxed);
}

void use_end(object_slot *object, use_kind use)
{
    atomic_fetch_sub_explicit(&object->active[use], 1, memory_order_release);
}

bool use_alone(object_slot *object, use_kind use)
{
    uint32_t open = 0;
    bool is_free = false;

    if (!atomic_compare_exchange_strong_explicit(&object->closing, &open, 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return false;
    for (int64_t end_ns = now_ns() + 200000000; !is_free && now_ns() < end_ns; sched_yield())
        is_free = begin(object, use);
    atomic_store_explicit(&object->closing, 0, memory_order_relaxed);
    return is_free;
}
