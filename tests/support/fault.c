/* fault.c - the linker sends the calls here (--wrap); counters are atomic because workers may allocate too. */
#include "fault.h"

#include "support.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);

static atomic_uint_fast64_t count, failing;

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("CLO_TEST_FAIL_ALLOC");

    if (text != NULL)
        atomic_store(&failing, strtoull(text, NULL, 10));
}

static int fails_now(void)
{
    uint64_t nth = atomic_load(&failing);

    if (atomic_fetch_add(&count, 1) + 1 != nth)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t items, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(items, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    return fails_now() ? ENOMEM : __real_posix_memalign(out, alignment, bytes);
}

void fault_fail_nth(uint64_t n)
{
    atomic_store(&count, 0);
    atomic_store(&failing, n);
}

uint64_t fault_count(void)
{
    return atomic_load(&count);
}

int fault_happened(void)
{
    uint64_t nth = atomic_load(&failing);

    return nth != 0 && atomic_load(&count) >= nth;
}

uint64_t fault_each(clo_status (*fn)(void *context), void *context)
{
    for (uint64_t n = 1;; n++) { /* ends: each run gets one allocation further, or comes through */
        fault_fail_nth(n);
        clo_status status = fn(context);
        uint64_t used = fault_count();
        int happened = fault_happened();
        fault_fail_nth(0);
        if (!happened) {
            if (status != CLO_OK)
                fail_msg("without a fault: %s: %s", clo_status_text(status), clo_last_error());
            return used;
        }
        if (status != CLO_ERR_MEMORY)
            fail_msg("allocation %llu failed, the call says: %s (%s)", (unsigned long long)n, clo_status_text(status),
                     clo_last_error());
        assert_true(clo_last_error()[0] != '\0');
    }
}
