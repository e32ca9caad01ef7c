#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

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

void *clo_allocate(size_t count, size_t size)
{
    if (product_overflows(count, size))
        return NULL;
    size_t bytes = count * size;
    void *memory = calloc(bytes > 0 ? bytes : 1, 1);
    expect_touch(memory, bytes);
    return memory;
}

void *clo_allocate_aligned(size_t count, size_t size)
{
    if (product_overflows(count, size))
        return NULL;
    size_t bytes = count * size;
    size_t whole = (bytes + CLO_CACHE_LINE_BYTES) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    void *memory = aligned_alloc(CLO_CACHE_LINE_BYTES, whole);

    if (memory != NULL)
        memset(memory, 0, whole);
    return memory;
}

void *clo_allocate_raw(size_t bytes)
{
    return malloc(bytes);
}

void *clo_allocate_lazy(size_t bytes)
{
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
    if (need <= *capacity)
        return 0;
    size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    if (wanted < need)
        wanted = need;
    if (product_overflows(wanted, item_bytes))
        return -1;
    void *grown = realloc(*array, wanted * item_bytes);
    if (grown == NULL)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}

void clo_shrink(void **memory, size_t bytes)
{
    void *shrunk = realloc(*memory, bytes);

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
