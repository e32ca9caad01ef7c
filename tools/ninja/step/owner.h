/* owner.h - which processes are a step's own, and which are servers that it has started.
 *
 * A process is the step's own while it is in the session of the step, or has an output of the step open. A server, such
 * as sccache, watchman or the Gradle daemon start, has left both, as daemon(7) says: other steps and builds use it.
 * What a step that is interrupted still waits for is no server, whatever it has left.
 *
 * Also for the helper program, so this needs nothing but the C library. */
#ifndef CLO_TOOLS_NINJA_STEP_OWNER_H
#define CLO_TOOLS_NINJA_STEP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

enum { OWNER_SERVERS_MAX = 64 };

/* Exit status of a helper: servers of its step run on. */
enum { STEP_HAS_SERVERS = 3 };

typedef struct step_owner {
    pid_t session;
    bool owns_all; /* no process is taken for a server */

    /* After owner_settle: the sessions of the servers. */
    bool is_settled;
    pid_t servers[OWNER_SERVERS_MAX];
    int servers_count;

    int count; /* of the outputs */
    struct {
        dev_t device;
        ino_t number;
    } outputs[2];
} step_owner;

/* Adds an open file of this process to the outputs, where it is a pipe, a socket or a terminal; what else there is,
 * such as /dev/null, servers have open too. */
void owner_add_output(step_owner *o, int file);
/* Whether a process is the step's own. One whose files cannot be looked at is. */
bool owner_has(const step_owner *o, pid_t pid);

/* The step is about to be interrupted: of the processes of a kernel's list, those that have lost their parent, the
 * servers are noted (OWNER_SERVERS_MAX sessions). All else is the step's own from now on. Again: does nothing. */
void owner_settle(step_owner *o, const char *list);

/* SIGKILL for each process of a kernel's list, such as cgroup.procs, that is the step's own. Returns how many; -1:
 * there is no such list. */
int owner_kill(const step_owner *o, const char *list);

#endif
