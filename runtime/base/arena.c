#include "base/arena.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

/* Stands before each part that came from the heap. */
typedef struct chunk {
    struct chunk *older;
    size_t used_before;
} chunk;

void clo_arena_open(clo_arena *arena, void *memory, size_t bytes)
{
    *arena = (clo_arena){.memory = memory, .bytes = bytes};
}

static char *take_fixed(clo_arena *arena, size_t whole)
{
    if (whole > arena->bytes - arena->used)
        return NULL;
    char *part = arena->memory + arena->used;
    memset(part, 0, whole);
    return part;
}

static char *take_heap(clo_arena *arena, size_t whole)
{
    char *memory = clo_allocate_aligned(whole + CLO_CACHE_LINE_BYTES, 1);

    if (memory == NULL)
        return NULL;
    chunk *head = (chunk *)(void *)memory;
    *head = (chunk){arena->chunks, arena->used};
    arena->chunks = head;
    return memory + CLO_CACHE_LINE_BYTES;
}

void *clo_arena_take(clo_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 4) / size)
        return NULL;
    size_t bytes = count * size > 0 ? count * size : 1;
    size_t whole = (bytes + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    char *part = arena->memory != NULL ? take_fixed(arena, whole) : take_heap(arena, whole);

    if (part == NULL)
        return NULL;
    arena->used += whole;
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    return part;
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
        clo_free(head);
    }
    if (arena->memory != NULL)
        arena->used = mark;
}

void clo_arena_close(const clo_arena *arena)
{
    clo_arena copy = *arena;

    clo_arena_back_to(&copy, 0);
}
