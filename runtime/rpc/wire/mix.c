/* mix.c - see mix.h. */
#include "rpc/wire/mix.h"
#include "base/numbers/rng.h"

uint64_t clo_rpc_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t clo_rpc_key(uint64_t run, uint32_t task, uint32_t instance)
{
    uint64_t key = clo_mix64(clo_mix64(run) ^ ((uint64_t)task << 32 | instance));

    return key != 0 ? key : 1;
}
