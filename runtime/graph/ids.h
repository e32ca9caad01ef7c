/* graph/ids.h - lists of task ids that many edges have: 3 bytes each where the ids fit, else 4.
 *
 * An edge stands in two lists, by target and by source. The one that runs follow (`out`) has 4 bytes; the other one,
 * which planners and data follow, has 3 in graphs of at most 2^24 tasks. So an edge takes 7 bytes. An id is read with
 * one load of 4 bytes at any address and a mask; behind the last one stands a byte more for that. */
#ifndef CLO_GRAPH_IDS_H
#define CLO_GRAPH_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ids.h needs a little-endian machine"
#endif

#define CLO_IDS_NARROW (1u << 24) /* ids below this fit 3 bytes */

typedef struct clo_ids {
    const unsigned char *bytes;
    uint32_t width, mask;
} clo_ids;

static inline uint32_t clo_ids_width(uint32_t tasks)
{
    return tasks <= CLO_IDS_NARROW ? 3 : 4;
}

/* Bytes of a list of `count` ids. */
static inline size_t clo_ids_bytes(uint32_t width, size_t count)
{
    return count * width + (sizeof(uint32_t) - width);
}

static inline clo_ids clo_ids_of(const unsigned char *bytes, uint32_t width)
{
    return (clo_ids){bytes, width, width == 3 ? CLO_IDS_NARROW - 1 : UINT32_MAX};
}

/* A list of 4 bytes each. */
static inline clo_ids clo_ids_wide(const uint32_t *list)
{
    return clo_ids_of((const unsigned char *)list, sizeof *list);
}

static inline uint32_t clo_ids_at(clo_ids ids, size_t index)
{
    uint32_t id;

    memcpy(&id, ids.bytes + index * ids.width, sizeof id);
    return id & ids.mask;
}

/* Writes no byte of its neighbours. */
static inline void clo_ids_put(unsigned char *bytes, uint32_t width, size_t index, uint32_t id)
{
    unsigned char *at = bytes + index * width;
    uint16_t low = (uint16_t)id;

    memcpy(at, &low, sizeof low);
    at[2] = (unsigned char)(id >> 16);
    if (width == sizeof id)
        at[3] = (unsigned char)(id >> 24);
}

#endif
