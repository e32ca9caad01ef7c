#include "base/arena.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdbool.h>
#include <string.h>

#define LAZY_BYTES (4u << 20) /* less is touched at once, so that the first use is as fast as the next */
#define MIB (1u << 20)

/* Stands before each part that came from the heap. */
typedef struct chunk {
    struct chunk *older;
    size_t used_before;
    void *block; /* what was allocated */
} chunk;

void clo_arena_open(clo_arena *arena, void *memory, size_t bytes)
{
    *arena = (clo_arena){.memory = memory, .bytes = bytes};
}

void clo_arena_limit(clo_arena *arena, uint64_t bytes)
{
    arena->limit = bytes == 0 ? clo_memory_limit_default() : bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

clo_status clo_arena_fail_limit(const clo_arena *arena)
{
    return clo_fail(
        CLO_ERR_LIMIT,
        "it would take %zu MiB of memory or more, the limit is %zu MiB; lower the outputs, the instances or "
        "the number of memories, or raise memory_limit_bytes (clotho run --memory-limit MIB)",
        arena->refused / MIB + 1, arena->limit / MIB);
}

static char *take_fixed(const clo_arena *arena, size_t whole, size_t cleared)
{
    if (whole > arena->bytes - arena->used)
        return NULL;
    char *part = arena->memory + arena->used;
    memset(part, 0, cleared);
    return part;
}

static char *take_heap(clo_arena *arena, size_t whole, bool is_lazy)
{
    size_t bytes = whole + 2 * CLO_CACHE_LINE_BYTES; /* the head, and up to a line to align it */

    if (arena->limit > 0 && whole > arena->limit - arena->used) {
        arena->refused = arena->used + whole;
        return NULL;
    }
    char *block = is_lazy ? clo_allocate_lazy(bytes) : clo_allocate_aligned(bytes, 1);
    if (block == NULL)
        return NULL;
    size_t past = (uintptr_t)block % CLO_CACHE_LINE_BYTES;
    char *memory = past == 0 ? block : block + (CLO_CACHE_LINE_BYTES - past);
    chunk *head = (chunk *)(void *)memory;
    *head = (chunk){arena->chunks, arena->used, block};
    arena->chunks = head;
    return memory + CLO_CACHE_LINE_BYTES;
}

size_t clo_arena_need(size_t bytes)
{
    bytes = bytes > 0 ? bytes : 1;
    return bytes > SIZE_MAX / 4 ? SIZE_MAX
                                : (bytes + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
}

static void *take(clo_arena *arena, size_t bytes, bool is_lazy, size_t cleared)
{
    size_t whole = clo_arena_need(bytes);
    is_lazy = is_lazy && whole >= LAZY_BYTES;
    char *part =
        arena->memory != NULL ? take_fixed(arena, whole, is_lazy ? cleared : whole) : take_heap(arena, whole, is_lazy);

    if (part == NULL)
        return NULL;
    arena->used += whole;
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    return part;
}

void *clo_arena_take(clo_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 4) / size)
        return NULL;
    return take(arena, count * size, false, 0);
}

void *clo_arena_take_lazy(clo_arena *arena, size_t bytes, size_t cleared)
{
    return bytes > SIZE_MAX / 4 ? NULL : take(arena, bytes, true, cleared);
}

size_t clo_arena_mark(const clo_arena *arena)
{
    return arena->used;
}

void clo_arena_back_to(clo_arena *arena, size_t mark)
{
    while (arena->chunks != NULL && arena->used > mark) { /* each turn frees one chunk */
        chunk *head = arena->chunks;
        arena->used = head->used_before;
        arena->chunks = head->older;
        clo_free(head->block);
    }
    if (arena->memory != NULL)
        arena->used = mark;
}

void clo_arena_close(const clo_arena *arena)
{
    clo_arena copy = *arena;

    clo_arena_back_to(&copy, 0);
}
