#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define LARGE_BYTES (1u << 22)

/* Large fresh blocks are touched page by page, and a fault for each 4 KiB can cost more than filling it: ask for huge
 * pages. Only advice: where it is refused nothing changes. Not for arrays that grow: moving those got dearer. */
static void expect_touch(void *memory, size_t bytes)
{
    if (memory == NULL || bytes < LARGE_BYTES)
        return;
    uintptr_t start = ((uintptr_t)memory + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    uintptr_t end = ((uintptr_t)memory + bytes) / PAGE_BYTES * PAGE_BYTES;
    (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

static int product_overflows(size_t count, size_t size)
{
    return size != 0 && count > (SIZE_MAX / 2) / size;
}

/* NULL: none is open. */
static _Thread_local clo_scratch *scratch;

/* Fills the line before each part of a scratch. */
typedef struct clo_scratch_head {
    struct clo_scratch_head *below;
    size_t bytes, from; /* what was asked for, and where the line begins */
    int is_free;
} head;

void clo_scratch_open(clo_scratch *opened)
{
    assert(scratch == NULL);
    scratch = opened;
}

void clo_scratch_close(void)
{
    assert(scratch != NULL);
    assert(scratch->top == NULL);
    scratch = NULL;
}

static void *take_scratch(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t whole = (bytes + 2 * CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    head *part = NULL;

    if (scratch->memory == NULL)
        part = aligned_alloc(CLO_CACHE_LINE_BYTES, whole);
    else if (whole <= scratch->bytes - scratch->used)
        part = (head *)(void *)(scratch->memory + scratch->used);
    if (part == NULL)
        return NULL;
    *part = (head){scratch->top, bytes, scratch->used, 0};
    scratch->top = part;
    scratch->used += whole;
    if (scratch->used > scratch->peak)
        scratch->peak = scratch->used;
    return memset((char *)part + CLO_CACHE_LINE_BYTES, 0, bytes);
}

static head *head_of(void *memory)
{
    return (head *)(void *)((char *)memory - CLO_CACHE_LINE_BYTES);
}

/* What lies below something in use is given back together with that. */
static void give_scratch(void *memory)
{
    if (memory == NULL)
        return;
    head_of(memory)->is_free = 1;
    while (scratch->top != NULL && scratch->top->is_free) {
        head *part = scratch->top;
        scratch->top = part->below;
        scratch->used = part->from;
        if (scratch->memory == NULL)
            free(part);
    }
}

static void *grow_scratch(void *memory, size_t bytes)
{
    void *grown = take_scratch(bytes);

    if (grown != NULL && memory != NULL)
        memcpy(grown, memory, head_of(memory)->bytes < bytes ? head_of(memory)->bytes : bytes);
    if (grown != NULL)
        give_scratch(memory);
    return grown;
}

void *clo_allocate(size_t count, size_t size)
{
    if (product_overflows(count, size))
        return NULL;
    size_t bytes = count * size;
    if (scratch != NULL)
        return take_scratch(bytes);
    void *memory = calloc(bytes > 0 ? bytes : 1, 1);
    expect_touch(memory, bytes);
    return memory;
}

void *clo_allocate_aligned(size_t count, size_t size)
{
    if (product_overflows(count, size))
        return NULL;
    size_t bytes = count * size;
    if (scratch != NULL)
        return take_scratch(bytes);
    size_t whole = (bytes + CLO_CACHE_LINE_BYTES) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    void *memory = aligned_alloc(CLO_CACHE_LINE_BYTES, whole);

    if (memory != NULL)
        memset(memory, 0, whole);
    return memory;
}

void *clo_allocate_raw(size_t bytes)
{
    return scratch != NULL ? take_scratch(bytes) : malloc(bytes);
}

void *clo_allocate_lazy(size_t bytes)
{
    if (scratch != NULL)
        return take_scratch(bytes);
    /* The C library takes fresh pages for what is large, and does not clear them. */
    return calloc(bytes > 0 ? bytes : 1, 1);
}

size_t clo_memory_limit_default(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    if (pages <= 0 || bytes <= 0 || (size_t)pages > SIZE_MAX / (size_t)bytes)
        return 0;
    return (size_t)pages * (size_t)bytes / 4 * 3;
}

int clo_grow(void **array, size_t *capacity, size_t need, size_t item_bytes)
{
    assert(item_bytes > 0);
    if (need <= *capacity)
        return 0;
    size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    if (wanted < need)
        wanted = need;
    if (product_overflows(wanted, item_bytes))
        return -1;
    size_t bytes = wanted * item_bytes;
    void *grown = scratch != NULL ? grow_scratch(*array, bytes) : realloc(*array, bytes);
    if (grown == NULL)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}

void clo_shrink(void **memory, size_t bytes)
{
    void *shrunk = scratch != NULL ? NULL : realloc(*memory, bytes);

    if (shrunk != NULL)
        *memory = shrunk;
}

char *clo_duplicate(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = clo_allocate(bytes, 1);

    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void clo_free(void *memory)
{
    if (scratch != NULL)
        give_scratch(memory);
    else
        free(memory);
}

size_t clo_layout_add(clo_layout *layout, size_t count, size_t size)
{
    if (product_overflows(count, size)) {
        layout->overflow = 1;
        return 0;
    }
    size_t part = count * size;
    size_t align = part >= CLO_CACHE_LINE_BYTES ? CLO_CACHE_LINE_BYTES : 16;
    size_t offset = (layout->bytes + align - 1) / align * align;

    if (offset > SIZE_MAX / 2 - part) {
        layout->overflow = 1;
        return 0;
    }
    layout->bytes = offset + part;
    return offset;
}
