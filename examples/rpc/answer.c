#include "answer.h"

#include <string.h>

uint64_t answer_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t answer_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t answer_key(uint64_t run, uint32_t task, uint32_t instance)
{
    uint64_t key = answer_mix(answer_mix(run) ^ ((uint64_t)task << 32 | instance));

    return key != 0 ? key : 1;
}

void answer_fill(uint32_t task, uint32_t instance, uint64_t inputs_hash, void *output, size_t output_bytes)
{
    uint64_t word = answer_mix(inputs_hash ^ ((uint64_t)task << 32 | instance));
    unsigned char *out = output;

    for (size_t i = 0; i < output_bytes; i++) {
        if (i % 8 == 0)
            word = answer_mix(word);
        out[i] = (unsigned char)(word >> i % 8 * 8);
    }
}
