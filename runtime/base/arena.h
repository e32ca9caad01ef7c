/* base/arena.h - where the parts of one object come from: the heap, or memory that the caller has given.
 *
 * Both count alike, so what an object takes of the heap is exactly what it needs of a caller's memory. Parts are zeroed,
 * stand on cache lines and are freed together; scratch is given back to a mark, last taken first. */
#ifndef CLO_BASE_ARENA_H
#define CLO_BASE_ARENA_H

#include <stddef.h>

typedef struct clo_arena {
    char *memory; /* NULL: the heap */
    size_t bytes; /* of `memory`    */
    size_t used, peak;
    void *chunks; /* heap: those taken, newest first */
} clo_arena;

/* memory NULL: the heap. Else it must be aligned to CLO_CACHE_LINE_BYTES and outlive the arena. */
void clo_arena_open(clo_arena *arena, void *memory, size_t bytes);

/* count * size bytes; NULL: no memory, or the product overflows. A count of 0 gives a line. */
void *clo_arena_take(clo_arena *arena, size_t count, size_t size);

/* Gives back all that was taken since clo_arena_mark returned `mark`. */
size_t clo_arena_mark(const clo_arena *arena);
void clo_arena_back_to(clo_arena *arena, size_t mark);

/* Gives back everything. The arena may lie in its own memory: it is copied first. */
void clo_arena_close(const clo_arena *arena);

#endif
