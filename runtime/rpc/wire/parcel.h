/* parcel.h - an answer in the output of a task, which has one size for good: how long the answer is, the answer, zeros.
 * So an answer may have any size up to clo_rpc_call.answer_bytes, at most CLO_RPC_BYTES_MAX: a frame of 16 MiB holds it
 * and what is around it. */
#ifndef CLO_RPC_WIRE_PARCEL_H
#define CLO_RPC_WIRE_PARCEL_H

#include <stdint.h>
#include <string.h>

/* Of a task's output, for answers of at most `room` bytes. */
static inline uint32_t clo_rpc_parcel_size(uint32_t room)
{
    return (uint32_t)sizeof(uint32_t) + room;
}

static inline uint32_t clo_rpc_parcel_bytes(const void *parcel)
{
    uint32_t bytes;

    memcpy(&bytes, parcel, sizeof bytes);
    return bytes;
}

static inline void *clo_rpc_parcel_answer(void *parcel)
{
    return (unsigned char *)parcel + sizeof(uint32_t);
}

/* Says that the first `bytes` of the answer count, and clears the others. */
static inline void clo_rpc_parcel_close(void *parcel, uint32_t room, uint32_t bytes)
{
    memcpy(parcel, &bytes, sizeof bytes);
    memset((unsigned char *)clo_rpc_parcel_answer(parcel) + bytes, 0, room - bytes);
}

#endif
