/* fnv.h - FNV-1a (Fowler, Noll, Vo): hashes of options, workloads and files. Each step is one to one, so two texts of one
 * length that differ in one byte have different hashes. FNV_BEGIN begins one; each function folds more in. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_FNV_H
#define CLO_TOOLS_TRAIN_NUMBERS_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FNV_BEGIN UINT64_C(14695981039346656037)

static inline uint64_t fnv_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Eight bytes, the lowest first. */
static inline uint64_t fnv_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 8; i++, number >>= 8)
        hash = fnv_bytes(hash, &(unsigned char){(unsigned char)number}, 1);
    return hash;
}

/* With the zero behind it; NULL: "". */
static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
    text = text != NULL ? text : "";
    return fnv_bytes(hash, text, strlen(text) + 1);
}

#endif
