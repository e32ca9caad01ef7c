#include "base/arena.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdbool.h>
#include <string.h>

#define SLAB_BYTES 4032u /* with what the C library adds, a page */
#if defined __SANITIZE_ADDRESS__ /* gcc */
#define SMALL_BYTES 0u           /* each part in a block of its own, whose ends are watched */
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SMALL_BYTES 0u
#endif
#endif
#ifndef SMALL_BYTES
#define SMALL_BYTES 704u /* up to so many come out of a slab */
#endif
#define UNLIMITED_BYTES (1u << 20) /* so much is had without asking how much memory there is, which is a system call */
#define LAZY_BYTES (4u << 20)      /* less is touched at once, so that the first use is as fast as the next */
#define MIB (1u << 20)

/* Stands before each part that came from the heap. */
typedef struct chunk {
    struct chunk *older;
    size_t used_before;
    void *block; /* what was allocated; NULL: it lies in a slab */
} chunk;

void clo_arena_open(clo_arena *arena, void *memory, size_t bytes)
{
    *arena = (clo_arena){.memory = memory, .bytes = bytes};
}

void clo_arena_limit(clo_arena *arena, uint64_t bytes)
{
    arena->has_default = bytes == 0;
    arena->limit = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
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

/* A part that stands on a line, behind its head. block: NULL: of a slab. */
static char *put_head(clo_arena *arena, char *memory, void *block)
{
    chunk *head = (chunk *)(void *)memory;

    *head = (chunk){arena->chunks, arena->used, block};
    arena->chunks = head;
    return memory + CLO_CACHE_LINE_BYTES;
}

static char *align(char *block)
{
    size_t past = (uintptr_t)block % CLO_CACHE_LINE_BYTES;

    return past == 0 ? block : block + (CLO_CACHE_LINE_BYTES - past);
}

/* A chunk of its own for the slab: what lies in it goes before it does. */
static bool open_slab(clo_arena *arena)
{
    char *block = clo_allocate_raw(SLAB_BYTES);

    if (block == NULL)
        return false;
    arena->slab = put_head(arena, align(block), block);
    arena->slab_bytes = SLAB_BYTES - (size_t)(arena->slab - block);
    return true;
}

static char *take_slab(clo_arena *arena, size_t whole)
{
    size_t bytes = whole + CLO_CACHE_LINE_BYTES;

    if (arena->slab_bytes < bytes && !open_slab(arena))
        return NULL;
    char *part = put_head(arena, arena->slab, NULL);
    arena->slab += bytes;
    arena->slab_bytes -= bytes;
    return memset(part, 0, whole);
}

static bool exceeds_limit(clo_arena *arena, size_t whole)
{
    if (arena->has_default && arena->limit == 0 && (whole > UNLIMITED_BYTES || arena->used > UNLIMITED_BYTES - whole))
        arena->limit = clo_memory_limit_default();
    return arena->limit > 0 && whole > arena->limit - arena->used;
}

static char *take_heap(clo_arena *arena, size_t whole, bool is_lazy)
{
    size_t bytes = whole + 2 * CLO_CACHE_LINE_BYTES; /* the head, and up to a line to align it */

    if (exceeds_limit(arena, whole)) {
        arena->refused = arena->used + whole;
        return NULL;
    }
    if (whole <= SMALL_BYTES)
        return take_slab(arena, whole);
    char *block = is_lazy ? clo_allocate_lazy(bytes) : clo_allocate_raw(bytes);
    if (block == NULL)
        return NULL;
    char *part = put_head(arena, align(block), block);
    return is_lazy ? part : memset(part, 0, whole);
}

/* The newest chunk goes. */
static void give_back(clo_arena *arena)
{
    chunk *head = arena->chunks;

    arena->used = head->used_before;
    arena->chunks = head->older;
    if (head->block == NULL && arena->slab != NULL) { /* the end of what is taken of this slab */
        arena->slab_bytes += (size_t)(arena->slab - (char *)head);
        arena->slab = (char *)head;
    } else if ((char *)head + CLO_CACHE_LINE_BYTES == arena->slab) { /* the slab, empty now; older ones stay as they
                                                                        are */
        arena->slab = NULL;
        arena->slab_bytes = 0;
    }
    clo_free(head->block);
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
    while (arena->chunks != NULL && arena->used > mark) /* each turn frees one chunk */
        give_back(arena);
    while (arena->chunks != NULL && mark == 0) /* slabs, which count for nothing themselves */
        give_back(arena);
    if (arena->memory != NULL)
        arena->used = mark;
}

void clo_arena_close(const clo_arena *arena)
{
    clo_arena copy = *arena;

    clo_arena_back_to(&copy, 0);
}

static _Thread_local clo_arena *offered;

clo_arena *clo_arena_offer(clo_arena *arena)
{
    clo_arena *before = offered;

    offered = arena;
    return before;
}

void clo_arena_scratch_open(clo_scratch *scratch)
{
    *scratch = (clo_scratch){0};
    if (offered == NULL)
        return;
    if (offered->memory != NULL) {
        scratch->memory = offered->memory + offered->used;
        scratch->bytes = offered->bytes - offered->used;
    }
    clo_scratch_open(scratch);
}

void clo_arena_scratch_close(const clo_scratch *scratch)
{
    if (offered == NULL)
        return;
    clo_scratch_close();
    if (offered->used + scratch->peak > offered->peak)
        offered->peak = offered->used + scratch->peak;
}
