/* body.c - the bodies "spin" and "memory", and the output that all three bodies write.
 *
 * Invariant: the output is a function of (task, instance, contents of the inputs). The inputs are hashed in four
 * independent lanes of 8 bytes (multiply and rotate, as in xxHash64; Collet 2012), then the buffer is filled by
 * splitmix64 over a counter: both run near memory speed, so a body of microseconds can carry kilobytes.
 * Neither body allocates: the private block of "memory" is on the stack. */
#include "generate/body.h"

#include "base/clock.h"
#include "base/rng.h"
#include "base/saturate.h"

#include <string.h>

#define NO_CALL (-1)
#define BLOCK_STEPS 64u  /* hash steps between two looks at the clock near the end: about 0.1 us */
#define LONG_STEPS 2048u /* the same while the end is far away: fewer looks disturb others less  */
#define FAR_NS 50000
#define PRIVATE_WORDS (64u * 1024 / 8) /* larger than an L1 cache, small enough for any stack */

static uint64_t rotate(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

static uint64_t lane(uint64_t state, uint64_t word)
{
    return rotate(state + word * 0xc2b2ae3d27d4eb4fu, 31) * 0x9e3779b185ebca87u;
}

static uint64_t load_word(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;

    memcpy(&word, bytes, count);
    return word;
}

static uint64_t hash_bytes(uint64_t seed, const unsigned char *bytes, size_t count)
{
    uint64_t state[4] = {seed, seed ^ 1, seed ^ 2, seed ^ 3};
    size_t at = 0;

    for (; at + 32 <= count; at += 32)
        for (size_t k = 0; k < 4; k++)
            state[k] = lane(state[k], load_word(bytes + at + 8 * k, 8));
    for (; at < count; at += 8)
        state[0] = lane(state[0], load_word(bytes + at, count - at < 8 ? count - at : 8));
    return clo_mix64(state[0] ^ rotate(state[1], 7) ^ rotate(state[2], 12) ^ rotate(state[3], 18) ^ count);
}

void clo_body_fill(const clo_call *call)
{
    uint64_t seed = clo_mix64(((uint64_t)call->task << 32) | call->instance);
    unsigned char *out = call->output;
    size_t at = 0;

    if (out == NULL || call->output_bytes == 0)
        return;
    for (uint32_t i = 0; call->inputs != NULL && i < call->inputs_count; i++)
        seed = hash_bytes(seed, call->inputs[i], call->inputs[i] != NULL ? call->inputs_bytes[i] : 0);
    for (uint64_t counter = 0; at < call->output_bytes; at += 8, counter++) {
        uint64_t word = clo_mix64(seed + counter * 0x9e3779b97f4a7c15u);
        size_t left = call->output_bytes - at;
        memcpy(out + at, &word, left < 8 ? left : 8);
    }
}

int clo_body_spin(const clo_call *call)
{
    if (call == NULL)
        return NO_CALL;
    int64_t end_ns = clo_time_add(clo_clock_ns(), call->expected_ns);
    volatile uint64_t sink; /* keeps the computation alive */
    uint64_t chain = call->task;

    clo_body_fill(call);
    for (int64_t left_ns = end_ns - clo_clock_ns(); call->expected_ns > 0 && left_ns > 0;
         left_ns = end_ns - clo_clock_ns()) { /* ends: time passes */
        uint32_t steps = left_ns > FAR_NS ? LONG_STEPS : BLOCK_STEPS;
        for (uint32_t i = 0; i < steps; i++)
            chain = rotate(chain ^ i, 23) * 0x9e3779b185ebca87u;
    }
    sink = chain;
    (void)sink;
    return 0;
}

/* One pass over the private block: reads and writes every word. */
static uint64_t stream_block(uint64_t *block, uint64_t value)
{
    for (size_t i = 0; i < PRIVATE_WORDS; i++) {
        block[i] += value;
        value ^= block[i];
    }
    return value;
}

int clo_body_memory(const clo_call *call)
{
    if (call == NULL)
        return NO_CALL;
    int64_t end_ns = clo_time_add(clo_clock_ns(), call->expected_ns);
    volatile uint64_t sink;
    uint64_t value = call->task;

    clo_body_fill(call); /* streams over the inputs and the output */
    if (call->expected_ns > 0 && clo_clock_ns() < end_ns) {
        uint64_t block[PRIVATE_WORDS];
        memset(block, 0, sizeof block);
        while (clo_clock_ns() < end_ns) /* ends: time passes */
            value = stream_block(block, value);
    }
    sink = value;
    (void)sink;
    return 0;
}

const char *clo_body_name(clo_task_fn body)
{
    static const struct {
        clo_task_fn body;
        const char *name;
    } rows[] = {{clo_body_spin, "spin"}, {clo_body_memory, "memory"}, {clo_body_command, "command"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].body == body)
            return rows[i].name;
    return NULL;
}
