/* plan/rcpsp/rules.c - orders in which packings are built: rules, samples, and another schedule from its other end.
 *
 * The rules are the portfolio of the packing literature: critical path (bottom level), largest demand, largest volume
 * (demand * time), and critical path * 2^a + demand or volume for several a, each scaled to its maximum. */
#include "plan/rcpsp/problem.h"

#include "base/numbers/noise.h"

#define SCALE_BITS 24 /* of a key that equals its maximum */

static uint64_t scaled(uint64_t value, uint64_t largest)
{
    return largest == 0 ? 0 : (uint64_t)(((clo_u128)value << SCALE_BITS) / largest);
}

/* Share * time, saturated. */
static uint64_t volume(const clo_rcpsp *problem, uint32_t v)
{
    uint64_t result;
    int64_t time = INT64_MAX;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t there = problem->time_ns[(size_t)m * problem->tasks + v];
        time = there < time ? there : time;
    }
    return __builtin_mul_overflow((uint64_t)time, problem->weight[v], &result) ? UINT64_MAX : result;
}

void clo_rcpsp_rule(const clo_rcpsp *problem, uint32_t rule, int64_t *keys)
{
    /* factor_q4 of the critical path; 0: not at all. The second column: demand or volume beside it. */
    static const struct {
        uint16_t path_q4;
        enum { NOTHING, DEMAND, VOLUME } beside;
    } rules[CLO_RCPSP_RULES] = {{16, NOTHING}, {16, DEMAND},  {16, VOLUME},  {4, DEMAND},   {64, DEMAND},
                                {4, VOLUME},   {0, DEMAND},   {64, VOLUME},  {8, DEMAND},   {8, VOLUME},
                                {32, VOLUME},  {2, DEMAND},   {128, DEMAND}, {1, DEMAND},   {32, DEMAND},
                                {0, VOLUME},   {256, DEMAND}, {2, VOLUME},   {128, VOLUME}, {1, VOLUME}};
    uint64_t longest = 0, heaviest = 0, largest = 0;

    for (uint32_t v = 0; v < problem->tasks; v++) {
        uint64_t tail = (uint64_t)problem->tail_ns[v], all = volume(problem, v);
        longest = tail > longest ? tail : longest;
        heaviest = problem->weight[v] > heaviest ? problem->weight[v] : heaviest;
        largest = all > largest ? all : largest;
    }
    for (uint32_t v = 0; v < problem->tasks; v++) {
        uint64_t key = scaled((uint64_t)problem->tail_ns[v], longest) * rules[rule].path_q4 / 16;
        if (rules[rule].beside == DEMAND)
            key += scaled(problem->weight[v], heaviest);
        else if (rules[rule].beside == VOLUME)
            key += scaled(volume(problem, v), largest);
        keys[v] = -(int64_t)key;
    }
}

void clo_rcpsp_sample(const clo_rcpsp *problem, int direction, uint32_t noise_q16, clo_rng *rng, int64_t *keys)
{
    const int64_t *tail = &problem->tail_ns[direction == CLO_RCPSP_FORWARD ? 0 : problem->tasks];
    uint64_t longest = 0;

    for (uint32_t v = 0; v < problem->tasks; v++)
        longest = (uint64_t)tail[v] > longest ? (uint64_t)tail[v] : longest;
    for (uint32_t v = 0; v < problem->tasks; v++) {
        int64_t noise = (int64_t)noise_q16 * clo_gumbel_q16(rng) >> 16;
        keys[v] = -(int64_t)scaled((uint64_t)tail[v], longest) - noise * (1 << (SCALE_BITS - 16));
    }
}

void clo_rcpsp_turn(const clo_rcpsp *problem, const clo_packing *packing, int64_t *keys)
{
    for (uint32_t v = 0; v < problem->tasks; v++)
        keys[v] = -clo_rcpsp_finish_ns(problem, packing, v);
}
