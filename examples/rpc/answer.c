/* answer.c - see answer.h. */
#include "answer.h"

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

double answer_chance(uint64_t x)
{
    return (double)(x >> 11) / 9007199254740992.0;
}

static void fill(const clo_rpc_request *r, const void *inputs, size_t inputs_bytes, clo_rpc_answer *answer)
{
    uint64_t hash = answer_hash(ANSWER_BEGIN, inputs, inputs_bytes);
    uint64_t word = answer_mix(hash ^ ((uint64_t)r->task << 32 | r->instance));
    unsigned char *out = answer->bytes;

    for (size_t i = 0; i < answer->room; i++) {
        if (i % 8 == 0)
            word = answer_mix(word);
        out[i] = (unsigned char)(word >> i % 8 * 8);
    }
    answer->count = answer->room;
}

clo_status answer_request(void *argument, const clo_rpc_request *request, clo_rpc_answer *answer)
{
    (void)argument;
    fill(request, request->body, request->body_bytes, answer);
    return CLO_OK;
}

clo_status answer_route(void *argument, const clo_rpc_request *request, clo_rpc_answer *answer)
{
    uint32_t hops = *(const uint32_t *)argument;

    fill(request, request->body, request->body_bytes, answer);
    for (uint32_t hop = 0; hop < hops; hop++)
        fill(request, answer->bytes, answer->room, answer);
    return CLO_OK;
}
