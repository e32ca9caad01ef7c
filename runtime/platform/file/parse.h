/* platform/file/parse.h - strict readers for the numbers and sets in an hwloc XML file. */
#ifndef CLO_PLATFORM_FILE_PARSE_H
#define CLO_PLATFORM_FILE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLO_SET_BITS 65536u

/* A set of CPU or node numbers. */
typedef struct clo_set {
    uint64_t words[CLO_SET_BITS / 64];
    bool infinite; /* written "0xf...f,": all numbers above are in it */
} clo_set;

/* Decimal digits only, no sign, no blanks, at most `max`. */
bool clo_parse_u64(const char *text, uint64_t max, uint64_t *out);

/* "-1" or as above: hwloc writes -1 for "unknown". */
bool clo_parse_int(const char *text, int64_t max, int64_t *out);

/* Next of several blank-separated decimal numbers; advances *text. 1: read, 0: no more, -1: malformed. */
int clo_parse_next_u64(const char **text, uint64_t *out);

/* hwloc's bitmap: comma-separated 32-bit words in hexadecimal, highest first, zero words may be empty. */
bool clo_parse_set(const char *text, clo_set *out);

static inline bool clo_set_has(const clo_set *set, uint32_t bit)
{
    return (set->words[bit / 64] >> (bit % 64) & 1) != 0;
}

uint32_t clo_set_count(const clo_set *set);

#endif
