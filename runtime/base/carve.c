/* carve.c - sums the sizes of arrays, then sets the pointers to them.
 *
 * Pointers are copied byte by byte: to write a `uint32_t *` through a `void **` is not allowed in C. */
#include "base/carve.h"

#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { SMALL_ALIGN = 16 };

void clo_carve_bytes(clo_block *block, void *pointer, size_t count, size_t item_bytes)
{
    size_t part, offset;

    assert(pointer != NULL);
    if (block->parts_count == CLO_CARVE_PARTS_MAX || __builtin_mul_overflow(count, item_bytes, &part) ||
        part > SIZE_MAX / 4 || block->bytes > SIZE_MAX / 4) {
        block->is_refused = true;
        return;
    }
    size_t align = part >= CLO_CACHE_LINE_BYTES ? CLO_CACHE_LINE_BYTES : SMALL_ALIGN;
    offset = (block->bytes + align - 1) / align * align;
    block->parts[block->parts_count].pointer = pointer;
    block->parts[block->parts_count].offset = offset;
    block->parts_count++;
    block->bytes = offset + part;
}

static void set_pointers(const clo_block *block, char *memory)
{
    assert((uintptr_t)memory % CLO_CACHE_LINE_BYTES == 0);
    for (unsigned i = 0; i < block->parts_count; i++) {
        char *part = memory + block->parts[i].offset;
        memcpy(block->parts[i].pointer, &part, sizeof part);
    }
}

bool clo_block_take(clo_block *block, clo_arena *arena)
{
    char *memory = block->is_refused ? NULL : clo_arena_take(arena, block->bytes, 1);

    if (memory != NULL)
        set_pointers(block, memory);
    return memory != NULL;
}

/* Aligned here: a plain allocation of many bytes comes as fresh zero pages, which nobody has to clear again. */
void *clo_block_allocate(clo_block *block)
{
    char *memory = block->is_refused ? NULL : clo_allocate(1, block->bytes + CLO_CACHE_LINE_BYTES);

    if (memory != NULL)
        set_pointers(block, memory + (CLO_CACHE_LINE_BYTES - (uintptr_t)memory % CLO_CACHE_LINE_BYTES));
    return memory;
}
