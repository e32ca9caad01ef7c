#define _GNU_SOURCE /* syscall */
#include "generate/child.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAPED_ROUNDS 100 /* of a millisecond: whoever reaps the child is not done with it yet */

#define BY_DESCRIPTOR ((idtype_t)3) /* P_PIDFD, which older headers lack */

/* linux/pidfd.h since 6.13, first version of the struct; older headers lack it. */
struct process_info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code; /* as of waitpid; since 6.15 */
};
#define PROCESS_INFO_EXIT (1ull << 3)
#define PROCESS_INFO _IOWR(0xff, 11, struct process_info)

void clo_child_watch(clo_child *child, pid_t pid)
{
    *child = (clo_child){.pid = pid, .descriptor = -1};
#ifdef SYS_pidfd_open
    child->descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
}

void clo_child_close(clo_child *child)
{
    if (child->descriptor >= 0)
        close(child->descriptor);
    child->descriptor = -1;
}

/* Somebody else has reaped it: the descriptor may know. Ends: REAPED_ROUNDS. */
static void read_lost_status(clo_child *child)
{
    child->has_ended = child->is_lost = true;
    for (int round = 0; child->descriptor >= 0 && round < REAPED_ROUNDS; round++) {
        struct process_info info = {.mask = PROCESS_INFO_EXIT};
        int error = ioctl(child->descriptor, PROCESS_INFO, &info) == 0 ? 0 : errno;
        if (error != 0 && error != ESRCH)
            return; /* an older kernel */
        if (error == 0 && (info.mask & PROCESS_INFO_EXIT) != 0) {
            child->wait_status = info.exit_code;
            child->is_lost = false;
            return;
        }
        (void)poll(NULL, 0, 1);
    }
}

static void wait_for_pid(clo_child *child, bool waits)
{
    pid_t ended;

    do /* ends: EINTR is a signal each time */
        ended = waitpid(child->pid, &child->wait_status, waits ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    child->has_ended = ended != 0;
    child->is_lost = ended < 0;
}

static void wait_for_descriptor(clo_child *child, bool waits)
{
    struct pollfd end = {.fd = child->descriptor, .events = POLLIN};
    siginfo_t info = {0};
    int ready;

    do /* ends: likewise */
        ready = poll(&end, 1, waits ? -1 : 0);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return;
    if (waitid(BY_DESCRIPTOR, (id_t)child->descriptor, &info, WEXITED) == 0) {
        child->has_ended = true;
        child->wait_status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
    } else if (errno == ECHILD) {
        read_lost_status(child);
    } else {
        wait_for_pid(child, true); /* Linux 5.3 has the descriptor, but cannot wait for it */
    }
}

bool clo_child_has_ended(clo_child *child, bool waits)
{
    if (!child->has_ended && child->descriptor >= 0)
        wait_for_descriptor(child, waits);
    else if (!child->has_ended)
        wait_for_pid(child, waits);
    return child->has_ended;
}
