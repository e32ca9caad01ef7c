/* generate/child.h - the end of a child process, also where the host reaps children or ignores SIGCHLD.
 *
 * A host that calls wait() for any child may take the exit status away, and one that ignores SIGCHLD has the kernel
 * drop it. A process file descriptor still names the right process then, and since Linux 6.15 also keeps its status.
 * Where the status is lost, that is said; it never looks like success. */
#ifndef CLO_GENERATE_CHILD_H
#define CLO_GENERATE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct clo_child {
    pid_t pid;
    int descriptor; /* readable when it has ended; -1: the system has none, so ask clo_child_has_ended now and then */
    bool has_ended;
    bool is_lost;    /* it has ended, and how is not known */
    int wait_status; /* as of waitpid, once it has ended and is not lost */
} clo_child;

/* `pid` was started by this process a moment ago. */
void clo_child_watch(clo_child *child, pid_t pid);

/* Looks whether it has ended; with `waits`, returns when it has. */
bool clo_child_has_ended(clo_child *child, bool waits);

void clo_child_close(clo_child *child);

#endif
