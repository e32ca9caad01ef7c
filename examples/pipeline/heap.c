/* heap.c - the linker's --wrap sends every call of malloc and its kin, from this program and the static library,
 * through here. */
#include "heap.h"

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);

static _Atomic uint64_t calls;

void heap_count_start(void)
{
    atomic_store(&calls, 0);
}

uint64_t heap_count_stop(void)
{
    return atomic_load(&calls);
}

void *__wrap_malloc(size_t bytes)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return __real_aligned_alloc(align, bytes);
}
