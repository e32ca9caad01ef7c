/* fail_allocation.c - LD_PRELOADed in front of the C library: refuses the CLO_FAIL_NTH-th allocation of the program,
 * and leaves the file "refused" in the current folder when it did. Counting starts before main, when this file is
 * loaded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long left;

__attribute__((constructor)) static void start(void)
{
    const char *nth = getenv("CLO_FAIL_NTH");

    unsetenv("LD_PRELOAD"); /* children are not meant */
    atomic_store(&left, nth != NULL ? atol(nth) : 0);
}

static int refused(void)
{
    if (atomic_fetch_sub(&left, 1) != 1)
        return 0;
    int fd = open("refused", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return refused() ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refused() ? NULL : __libc_memalign(alignment, bytes);
}
