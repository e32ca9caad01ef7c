/* build_orphans.c - see build_orphans.h. */
#define _GNU_SOURCE /* gettid */
#include "build_orphans.h"
#include "../ninja/owner.h"
#include "../ninja/pids.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_helper(const build_driver *d, pid_t pid)
{
    for (uint32_t i = 0; i < d->jobs; i++)
        if (d->slots[i].state == SLOT_RUNS && d->slots[i].child.pid == pid)
            return true;
    return false;
}

/* The children of this process that are no helpers: kills those that are `owner`'s (NULL: none), and takes leave of those
 * that have ended. False: there was none of either. */
static bool end_listed(const build_driver *d, const char *list, const step_owner *owner)
{
    FILE *file = fopen(list, "re");
    bool was_any = false;

    if (file == NULL)
        return false;
    for (pid_t pid = pids_next(file); pid > 1; pid = pids_next(file)) {
        if (is_helper(d, pid))
            continue;
        bool is_killed = owner != NULL && owner_has(owner, pid) && kill(pid, SIGKILL) == 0;
        was_any |= waitpid(pid, NULL, is_killed ? 0 : WNOHANG) > 0;
    }
    fclose(file);
    return was_any;
}

/* What has lost its parent becomes a child of the thread that has begun its helper, or of the first one. */
static bool end_children(const build_driver *d, const step_owner *owner)
{
    char first[64], mine[64];

    snprintf(first, sizeof first, "/proc/self/task/%d/children", (int)getpid());
    snprintf(mine, sizeof mine, "/proc/self/task/%d/children", (int)gettid());
    bool was_any = end_listed(d, first, owner);
    return end_listed(d, mine, owner) || was_any;
}

void orphans_kill(const build_driver *d, const build_slot *s)
{
    step_owner owner = {.session = s->has_console ? getsid(0) : s->child.pid, .owns_all = d->ends_servers};

    owner_add_output(&owner, s->has_console ? STDOUT_FILENO : s->child.output);
    while (end_children(d, &owner)) /* a generation a round */
        continue;
}

void orphans_reap(const build_driver *d)
{
    end_children(d, NULL);
}
