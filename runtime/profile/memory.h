/* profile/memory.h - how far memory parts are stretched (clotho/memory.h). */
#ifndef CLO_PROFILE_MEMORY_H
#define CLO_PROFILE_MEMORY_H

#include "library.h"

#include <clotho/memory.h>

/* A stretch, in 2^-32; and the largest one, so that all products fit: a memory that is 32768 times too slow. */
#define CLO_STRETCH_ONE (UINT64_C(1) << 32)
#define CLO_STRETCH_MOST (UINT64_C(1) << 47)

/* CLO_OK or CLO_ERR_ARGUMENT; `of` names the owner in the message. */
CLO_NODISCARD clo_status clo_memory_check_part(const clo_memory_part *part, const char *of);

/* The least stretch at which what the parts move is at most the capacity, which is > 0. */
uint64_t clo_memory_stretch_q32(const clo_memory_part *parts, size_t count, int64_t capacity_mbps);

/* What an execution takes at that stretch for each ns that it takes alone, in 2^-48 ns. */
static inline uint64_t clo_memory_slowdown_q48(clo_memory_part part, uint64_t stretch_q32)
{
    return ((uint64_t)(CLO_MEMORY_SHARE_ONE - part.share_q16) << 32) + part.share_q16 * stretch_q32;
}

#endif
