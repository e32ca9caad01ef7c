/* plan/rcpsp/rules.c - orders in which packings are built: rules, samples, and another schedule from its other end.
 *
 * The rules are the portfolio of the packing literature: critical path (bottom level), largest demand, largest volume
 * (demand * time), and critical path * 2^a + demand or volume for several a, each scaled to its maximum. */
#include "plan/rcpsp/problem.h"

#include "base/noise.h"

#define SCALE_BITS 24 /* of a key that equals its maximum */

static uint64_t scaled(uint64_t value, uint64_t largest)
{
    return largest == 0 ? 0 : (uint64_t)(((clo_u128)value << SCALE_BITS) / largest);
}

/* Share * time, saturated. */
static uint64_t volume(const clo_pool *pool, uint32_t v)
{
    uint64_t result;
    int64_t time = INT64_MAX;

    for (uint32_t m = 0; m < pool->machines; m++)
        time = pool->time_ns[(size_t)m * pool->tasks + v] < time ? pool->time_ns[(size_t)m * pool->tasks + v] : time;
    return __builtin_mul_overflow((uint64_t)time, pool->weight[v], &result) ? UINT64_MAX : result;
}

void clo_pool_rule(const clo_pool *pool, uint32_t rule, int64_t *keys)
{
    /* factor_q4 of the critical path; 0: not at all. The second column: demand or volume beside it. */
    static const struct {
        uint16_t path_q4;
        enum { NOTHING, DEMAND, VOLUME } beside;
    } rules[CLO_POOL_RULES] = {{16, NOTHING}, {16, DEMAND},  {16, VOLUME},  {4, DEMAND},   {64, DEMAND},
                               {4, VOLUME},   {0, DEMAND},   {64, VOLUME},  {8, DEMAND},   {8, VOLUME},
                               {32, VOLUME},  {2, DEMAND},   {128, DEMAND}, {1, DEMAND},   {32, DEMAND},
                               {0, VOLUME},   {256, DEMAND}, {2, VOLUME},   {128, VOLUME}, {1, VOLUME}};
    uint64_t longest = 0, heaviest = 0, largest = 0;

    for (uint32_t v = 0; v < pool->tasks; v++) {
        uint64_t tail = (uint64_t)pool->tail_ns[v], all = volume(pool, v);
        longest = tail > longest ? tail : longest;
        heaviest = pool->weight[v] > heaviest ? pool->weight[v] : heaviest;
        largest = all > largest ? all : largest;
    }
    for (uint32_t v = 0; v < pool->tasks; v++) {
        uint64_t key = scaled((uint64_t)pool->tail_ns[v], longest) * rules[rule].path_q4 / 16;
        if (rules[rule].beside == DEMAND)
            key += scaled(pool->weight[v], heaviest);
        else if (rules[rule].beside == VOLUME)
            key += scaled(volume(pool, v), largest);
        keys[v] = -(int64_t)key;
    }
}

void clo_pool_sample(const clo_pool *pool, int direction, uint32_t noise_q16, clo_rng *rng, int64_t *keys)
{
    const int64_t *tail = &pool->tail_ns[direction == CLO_POOL_FORWARD ? 0 : pool->tasks];
    uint64_t longest = 0;

    for (uint32_t v = 0; v < pool->tasks; v++)
        longest = (uint64_t)tail[v] > longest ? (uint64_t)tail[v] : longest;
    for (uint32_t v = 0; v < pool->tasks; v++) {
        int64_t noise = (int64_t)noise_q16 * clo_gumbel_q16(rng) >> 16;
        keys[v] = -(int64_t)scaled((uint64_t)tail[v], longest) - noise * (1 << (SCALE_BITS - 16));
    }
}

void clo_pool_turn(const clo_pool *pool, const clo_pool_schedule *schedule, int64_t *keys)
{
    for (uint32_t v = 0; v < pool->tasks; v++)
        keys[v] = -clo_pool_finish_ns(pool, schedule, v);
}
