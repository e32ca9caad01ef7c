/* bell.c - see bell.h. */
#include "device/drivers/bell.h"

#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct clo_bell {
    pthread_mutex_t lock;
    uint32_t users;
    int fd;
};

clo_bell *clo_bell_make(void)
{
    clo_bell *made = clo_allocate(1, sizeof *made);
    int fd = made != NULL ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;

    if (fd < 0 || pthread_mutex_init(&made->lock, NULL) != 0) {
        if (fd >= 0)
            close(fd);
        clo_free(made);
        return NULL;
    }
    made->users = 1;
    made->fd = fd;
    return made;
}

void clo_bell_use(clo_bell *bell)
{
    pthread_mutex_lock(&bell->lock);
    bell->users++;
    pthread_mutex_unlock(&bell->lock);
}

void clo_bell_leave(clo_bell *bell)
{
    pthread_mutex_lock(&bell->lock);
    bool is_last = --bell->users == 0;
    pthread_mutex_unlock(&bell->lock);
    if (!is_last)
        return;
    close(bell->fd);
    pthread_mutex_destroy(&bell->lock);
    clo_free(bell);
}

int clo_bell_fd(const clo_bell *bell)
{
    return bell->fd;
}

void clo_bell_ring(clo_bell *bell)
{
    const uint64_t one = 1;

    (void)!write(bell->fd, &one, sizeof one); /* full: it is readable already */
}

void clo_bell_silence(clo_bell *bell)
{
    uint64_t rings;

    while (read(bell->fd, &rings, sizeof rings) < 0 && errno == EINTR)
        continue;
}
