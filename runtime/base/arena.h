/* base/arena.h - where the parts of one object come from: the heap, or memory that the caller has given.
 *
 * Both count alike, so what an object takes of the heap is exactly what it needs of a caller's memory. Parts are
 * zeroed, stand on cache lines and are freed together; scratch is given back to a mark, last taken first. */
#ifndef CLO_BASE_ARENA_H
#define CLO_BASE_ARENA_H

#include "base/memory.h"
#include "library.h"

#include <clotho/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clo_arena {
    char *memory; /* NULL: the heap */
    size_t bytes; /* of `memory`    */
    size_t used, peak;
    size_t limit;      /* heap: most bytes; 0: none                                     */
    size_t refused;    /* heap: what it would have come to when the limit was hit; 0: it was not */
    void *chunks;      /* heap: those taken, newest first */
    char *slab;        /* heap: small parts come from here; NULL: there is none */
    size_t slab_bytes; /* left of it */
    bool has_default;  /* the limit is the default one, which is looked up where much is taken: limit is 0 till then */
} clo_arena;

/* memory NULL: the heap. Else it must be aligned to CLO_CACHE_LINE_BYTES and outlive the arena. */
CLO_INTERNAL void clo_arena_open(clo_arena *arena, void *memory, size_t bytes);

/* Of the heap, no more than `bytes` are taken (0: clo_memory_limit_default): clo_arena_take gives NULL, before
 * anything is allocated, and clo_arena_explain says why. */
CLO_INTERNAL void clo_arena_limit(clo_arena *arena, uint64_t bytes);

/* Writes the line of a hit limit; returns CLO_ERR_LIMIT. */
CLO_INTERNAL clo_status clo_arena_fail_limit(const clo_arena *arena);

/* A CLO_ERR_MEMORY that came from the limit becomes CLO_ERR_LIMIT with the figures; any other status stays. */
static inline clo_status clo_arena_explain(const clo_arena *arena, clo_status status)
{
    if (status != CLO_ERR_MEMORY || arena->refused == 0)
        return status;
    (void)clo_arena_fail_limit(arena);
    return CLO_ERR_LIMIT;
}

/* What taking `bytes` in one piece uses up; SIZE_MAX: more than there can be. */
size_t clo_arena_need(size_t bytes);

/* count * size bytes; NULL: no memory, or the product overflows. A count of 0 gives a line. */
CLO_INTERNAL void *clo_arena_take(clo_arena *arena, size_t count, size_t size);

/* `bytes` that may never be used in full. Where they are many, those of the heap take no memory before they are used,
 * and of a caller's memory only the first `cleared` are zeroed, the others not touched. */
void *clo_arena_take_lazy(clo_arena *arena, size_t bytes, size_t cleared);

/* Gives back all that was taken since clo_arena_mark returned `mark`. */
size_t clo_arena_mark(const clo_arena *arena);
void clo_arena_back_to(clo_arena *arena, size_t mark);

/* Offers to the functions that this thread calls what the arena has left, as scratch; NULL: no more. Returns what was
 * offered before (NULL: nothing), which whoever ends the offer offers again: what is made within an offer, such as the
 * jobs that a policy's prepare makes, may offer an arena of its own. */
clo_arena *clo_arena_offer(clo_arena *arena);

/* Opens the scratch that is offered, which counts for the peak of its arena; without one the heap serves as ever. All
 * that is taken then must be freed before it is closed. Not while one is open. */
CLO_INTERNAL void clo_arena_scratch_open(clo_scratch *scratch);
CLO_INTERNAL void clo_arena_scratch_close(const clo_scratch *scratch);

/* Gives back everything. The arena may lie in its own memory: it is copied first. */
CLO_INTERNAL void clo_arena_close(const clo_arena *arena);

#endif
