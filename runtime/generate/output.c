/* output.c - the output that all ready-made bodies write.
 *
 * Invariant: it is a function of (task, instance, contents of the inputs and of the handles that it reads). These are
 * hashed in four independent lanes of 8 bytes (multiply and rotate, as in xxHash64; Collet 2012), then the buffer is
 * filled by splitmix64 over a counter: both run near memory speed, so a body of microseconds can carry kilobytes. */
#include "generate/output.h"

#include "base/numbers/rng.h"

#include <clotho/handle.h>
#include <string.h>

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

/* Of handle `d` of the call: what this execution may touch. */
static unsigned char *part_of(const clo_call *call, uint32_t d, size_t *bytes)
{
    size_t part = call->data_bytes[d] / (call->instances > 0 ? call->instances : 1);
    bool is_part = (call->data_modes[d] & CLO_ACCESS_PARTS) != 0;

    *bytes = is_part ? part * call->count : call->data_bytes[d];
    return (unsigned char *)call->data[d] + (is_part ? part * call->instance : 0);
}

static void fill(uint64_t seed, unsigned char *out, size_t bytes)
{
    size_t at = 0;

    for (uint64_t counter = 0; at < bytes; at += 8, counter++) {
        uint64_t word = clo_mix64(seed + counter * 0x9e3779b97f4a7c15u);
        memcpy(out + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

void clo_body_fill(const clo_call *call)
{
    uint64_t seed = clo_mix64(((uint64_t)call->task << 32) | call->instance);
    size_t bytes;

    if ((call->output == NULL || call->output_bytes == 0) && call->data_count == 0)
        return;
    for (uint32_t i = 0; call->inputs != NULL && i < call->inputs_count; i++)
        seed = hash_bytes(seed, call->inputs[i], call->inputs[i] != NULL ? call->inputs_bytes[i] : 0);
    for (uint32_t d = 0; d < call->data_count; d++)
        if ((call->data_modes[d] & CLO_ACCESS_READ) != 0) {
            const unsigned char *part = part_of(call, d, &bytes);
            seed = hash_bytes(seed, part, bytes);
        }
    for (uint32_t d = 0; d < call->data_count; d++)
        if ((call->data_modes[d] & CLO_ACCESS_WRITE) != 0) {
            unsigned char *part = part_of(call, d, &bytes);
            fill(seed + d + 1, part, bytes);
        }
    if (call->output != NULL)
        fill(seed, call->output, call->output_bytes);
}
