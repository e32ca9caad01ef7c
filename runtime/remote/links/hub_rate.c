/* hub_rate.c - see hub_rate.h. */
#include "remote/links/hub_rate.h"

#include <assert.h>

/* Longer by so much than the slowest alone: they share something. */
#define SHARED_PERMILLE 1200
/* Over a long way the times of small messages differ by chance, by up to this part of the way of a byte. */
#define CHANCE_PART 4

static_assert(sizeof(clo_hub) == CLO_HUB_WORDS * sizeof(int64_t), "it travels as words");

double clo_hub_rate(const clo_hub *hub, const clo_hub_way *way)
{
    if (hub->count < 2 || (double)way->all_ns * 1000 < (double)way->alone_ns * SHARED_PERMILLE)
        return 0;
    if (way->all_ns - way->alone_ns < way->byte_ns / CHANCE_PART)
        return 0;
    return (double)(hub->count * hub->bytes) / (double)way->all_ns;
}
