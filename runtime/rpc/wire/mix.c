/* mix.c - see mix.h. */
#include "rpc/wire/mix.h"

uint64_t clo_rpc_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t clo_rpc_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t clo_rpc_key(uint64_t run, uint32_t task, uint32_t instance)
{
    uint64_t key = clo_rpc_mix(clo_rpc_mix(run) ^ ((uint64_t)task << 32 | instance));

    return key != 0 ? key : 1;
}
