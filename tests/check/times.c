/* times.c - medians; nothing is asserted on them. */
#define _POSIX_C_SOURCE 200809L
#include "times.h"

#include "draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMED_CALLS = 200 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The layer 32 -> 32, int8 to int8, which is most of a head's work; and the choice. */
typedef struct timed {
    clo_dense layer;
    clo_candidates candidates;
    const int8_t *x8;
    const int16_t *x16;
    const int32_t *sums;
    int8_t *y;
} timed;

static timed timed_prepare(void)
{
    timed t;
    uint64_t *keys = draw_room(64, sizeof *keys);

    draw_seed(1);
    t.layer = draw_dense(STYLE_SMALL, CLO_S8, 32, 32);
    t.layer.rule.leaky = 51;
    t.x8 = draw_s8(STYLE_ANY, (size_t)32 * 64);
    t.x16 = draw_s16(STYLE_ANY, (size_t)32 * 64);
    t.sums = draw_s32(STYLE_SMALL, (size_t)32 * 64);
    t.y = draw_room((size_t)32 * 64, 1);
    for (uint64_t i = 0; i < 64; i++)
        keys[i] = i;
    t.candidates = (clo_candidates){t.sums, NULL, keys, 64};
    return t;
}

static void timed_call(const timed *t, const clo_kernels *table, int what)
{
    const clo_partials parts = {32, t->sums, t->sums, t->layer.bias};

    if (what == 0)
        table->dense_lanes_s8(&t->layer, t->x8, 4, t->y);
    else if (what == 1)
        table->dense_lanes_s16(&t->layer, t->x16, 4, t->y);
    else if (what == 2)
        table->dense_node_s8(&t->layer, t->x8, t->y);
    else if (what == 3)
        table->dense_node_s16(&t->layer, t->x16, t->y);
    else if (what == 4)
        table->split_lanes(&t->layer.rule, &parts, 4, t->y);
    else
        t->y[0] = (int8_t)table->argmax_s32(&t->candidates);
}

void times_print(const clo_kernels *table, const char *name)
{
    static const char *const names[] = {
        "dense_lanes_s8, 64 candidates", "dense_lanes_s16, 64 candidates", "dense_node_s8", "dense_node_s16",
        "split_lanes, 64 candidates",    "argmax_s32, 64 candidates"};
    const timed t = timed_prepare();

    for (int what = 0; what < (int)(sizeof names / sizeof names[0]); what++) {
        int64_t times[TIMED_CALLS];

        for (int i = 0; i < TIMED_CALLS; i++) {
            int64_t begin = now_ns();

            for (int again = 0; again < 8; again++)
                timed_call(&t, table, what);
            times[i] = now_ns() - begin;
        }
        qsort(times, TIMED_CALLS, sizeof times[0], by_value);
        printf("%-11s %-31s 32 -> 32: %7" PRId64 " ns\n", name, names[what], times[TIMED_CALLS / 2] / 8);
    }
    draw_free_all();
}
