/* base/carve.h - one block of memory that is carved into arrays.
 *
 *     clo_block block = {0};
 *     clo_carve(&block, &program->needs, entries);
 *     clo_carve(&block, &program->executor, entries);
 *     if (!clo_block_take(&block, arena))
 *         return clo_fail_memory("a program");
 *
 * clo_carve records where the pointer lies and how much it needs; clo_block_take or clo_block_allocate takes the memory
 * and sets all pointers. Arrays are zeroed and stand in the order of the calls, those of a cache line and more on cache
 * lines, others on multiples of 16 bytes. An array of no items gets a pointer too, which must not be followed. */
#ifndef CLO_BASE_CARVE_H
#define CLO_BASE_CARVE_H

#include "base/arena.h"
#include "library.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLO_CARVE_PARTS_MAX = 32 };

/* Of no use after its memory was taken. */
typedef struct clo_block {
    size_t bytes;    /* of all parts so far */
    bool is_refused; /* the sizes overflow, or there are too many parts: no memory will be had */
    unsigned parts_count;
    struct {
        void *pointer; /* to the caller's pointer */
        size_t offset;
    } parts[CLO_CARVE_PARTS_MAX];
} clo_block;

/* `pointer`: address of a pointer to the items, which must stay where it is until the memory is taken. Each is carved
 * once. */
#define clo_carve(block, pointer, count) clo_carve_bytes(block, pointer, count, sizeof **(pointer))
CLO_INTERNAL void clo_carve_bytes(clo_block *block, void *pointer, size_t count, size_t item_bytes);

/* Takes the memory from `arena` and sets the pointers. False, with all pointers untouched: there is no memory. */
CLO_INTERNAL bool clo_block_take(clo_block *block, clo_arena *arena);

/* The same from the heap. Returns what is to be given to clo_free, which may lie before the first array. */
CLO_INTERNAL void *clo_block_allocate(clo_block *block);

#endif
