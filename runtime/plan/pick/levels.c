/* plan/pick/levels.c - see levels.h. */
#include "plan/pick/levels.h"

#include "base/order/sort.h"

#include <assert.h>
#include <string.h>

enum { SAMPLES = 1024 };

static int by_amount(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static uint64_t *set_of(const clo_levels *levels, uint32_t amount)
{
    return levels->sets + (size_t)amount * levels->words;
}

/* How many amounts are below `value`. */
static uint32_t below(const clo_levels *levels, int64_t value)
{
    uint32_t low = 0, high = levels->amounts_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (levels->amounts[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Amounts at which a sample of the values is divided in equal parts. */
static void choose_amounts(clo_levels *levels, const int64_t *values, size_t stride, uint32_t count)
{
    int64_t sample[SAMPLES], most = values[0];
    uint32_t step = (count - 1) / SAMPLES + 1, samples = 0;

    for (uint32_t p = 0; p < count; p++) {
        int64_t value = values[p * stride];
        most = value > most ? value : most;
        if (p % step == 0)
            sample[samples++] = value;
    }
    clo_sort(sample, samples, sizeof *sample, by_amount);
    for (uint32_t i = 0; i < levels->amounts_count; i++)
        levels->amounts[i] = sample[(size_t)samples * (i + 1) / (levels->amounts_count + 1)];
    levels->amounts[levels->amounts_count - 1] = most;
}

void clo_levels_fill(clo_levels *levels, const int64_t *values, size_t stride, uint32_t count)
{
    assert(count > 0 && count <= levels->words * 64);
    choose_amounts(levels, values, stride, count);
    memset(levels->sets, 0, (size_t)levels->amounts_count * levels->words * sizeof *levels->sets);
    for (uint32_t p = 0; p < count; p++)
        set_of(levels, below(levels, values[p * stride]))[p / 64] |= UINT64_C(1) << p % 64;
    for (uint32_t i = 1; i < levels->amounts_count; i++)
        for (uint32_t w = 0; w < levels->words; w++)
            set_of(levels, i)[w] |= set_of(levels, i - 1)[w];
}

const uint64_t *clo_levels_within(const clo_levels *levels, int64_t value)
{
    uint32_t at = value < INT64_MAX ? below(levels, value + 1) : levels->amounts_count;

    return at > 0 ? set_of(levels, at - 1) : NULL;
}

const uint64_t *clo_levels_around(const clo_levels *levels, int64_t value)
{
    uint32_t at = below(levels, value);

    return at + 1 < levels->amounts_count ? set_of(levels, at) : NULL;
}
