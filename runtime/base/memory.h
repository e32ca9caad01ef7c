/* base/memory.h - the library's only way to malloc, so that a test can fail each allocation in turn.
 *
 * Everything is zeroed, but what clo_allocate_raw gives. Blocks that belong together are laid out first and
 * allocated once (clo_layout), so that an object is one allocation and one free. */
#ifndef CLO_BASE_MEMORY_H
#define CLO_BASE_MEMORY_H

#include "library.h"
#include <stddef.h>

#define CLO_CACHE_LINE_BYTES 64

/* count * size zeroed bytes, aligned for any type; NULL if there are none or the product overflows. A count of 0
 * gives one byte, so NULL always means failure. */
CLO_INTERNAL void *clo_allocate(size_t count, size_t size);

/* The same on a cache line boundary. */
CLO_INTERNAL void *clo_allocate_aligned(size_t count, size_t size);

/* `bytes` > 0 that hold anything. */
void *clo_allocate_raw(size_t bytes);

/* `bytes` zeroed bytes whose pages, where there are many, take no memory before they are used. */
CLO_INTERNAL void *clo_allocate_lazy(size_t bytes);

/* What one object may take where nobody says otherwise: three quarters of this machine's memory; 0: unknown. */
size_t clo_memory_limit_default(void);

/* Grows `*array` of items to hold at least `need` (doubling); keeps the content, new items are not cleared.
 * Returns 0, or -1 with everything unchanged. */
CLO_INTERNAL int clo_grow(void **array, size_t *capacity, size_t need, size_t item_bytes);

/* Gives back what lies beyond `bytes` > 0 of `*memory`, which may move. Cannot fail. */
void clo_shrink(void **memory, size_t bytes);

CLO_INTERNAL char *clo_duplicate(const char *text); /* NULL if there is no memory */

CLO_INTERNAL void clo_free(void *memory); /* NULL is allowed */

/* While a scratch is open on a thread, all that this thread allocates comes from there: of `memory`, or, where that is
 * NULL, of the heap, counted as if it had memory. All of it must be freed before it is closed, and nothing else may be.
 * What was taken last and is freed first is used again. See clo_arena_scratch_open. */
typedef struct clo_scratch {
    char *memory; /* on a cache line */
    size_t bytes, used, peak;
    struct clo_scratch_head *top; /* of the part that was taken last and is in use */
} clo_scratch;

void clo_scratch_open(clo_scratch *opened);
void clo_scratch_close(void);

/* Layout of one block: add each part, then allocate `bytes` with clo_allocate_aligned. Offsets are multiples of a
 * cache line for parts of that size and more, of 16 otherwise. `overflow` latches. */
typedef struct clo_layout {
    size_t bytes;
    int overflow;
} clo_layout;

CLO_INTERNAL size_t clo_layout_add(clo_layout *layout, size_t count, size_t size); /* returns the offset */

#endif
