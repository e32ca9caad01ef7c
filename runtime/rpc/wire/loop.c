/* loop.c - see loop.h. */
#include "rpc/wire/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LOOP_DESCRIPTORS 8

int clo_rpc_loop_init(uv_loop_t *loop, clo_rpc_peers *all, size_t unsent_max)
{
    int spare[LOOP_DESCRIPTORS], count = 0, status = 0;

    while (count < LOOP_DESCRIPTORS && (spare[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
        count++;
    if (count < LOOP_DESCRIPTORS)
        status = -errno;
    while (count > 0)
        close(spare[--count]);
    if (status == 0)
        status = uv_loop_init(loop);
    *all = (clo_rpc_peers){.unsent_max = unsent_max};
    loop->data = all;
    return status;
}

/* A signal that a write of this loop has raised is taken here: it must not end the process afterwards. */
void clo_rpc_loop_run(uv_loop_t *loop)
{
    sigset_t pipe, before, pending;
    struct timespec none = {.tv_sec = 0};

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    uv_run(loop, UV_RUN_DEFAULT);
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) && !sigismember(&before, SIGPIPE))
        (void)sigtimedwait(&pipe, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
