/* orphans.c - see orphans.h. */
#define _GNU_SOURCE /* gettid */
#include "clotho/build/orphans.h"
#include "ninja/step/pids.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool end_listed(const char *list, const step_owner *owner, orphan_helper is_helper, const void *argument)
{
    FILE *file = fopen(list, "re");
    bool was_any = false;

    if (file == NULL)
        return false;
    for (pid_t pid = pids_next(file); pid > 1; pid = pids_next(file)) {
        if (is_helper(argument, pid))
            continue;
        bool is_killed = owner != NULL && owner_has(owner, pid) && kill(pid, SIGKILL) == 0;
        was_any |= waitpid(pid, NULL, is_killed ? 0 : WNOHANG) > 0;
    }
    fclose(file);
    return was_any;
}

/* What has lost its parent becomes a child of the thread that has begun its helper, or of the first one. */
void orphans_end(const step_owner *owner, orphan_helper is_helper, const void *argument)
{
    char first[64], mine[64];
    bool was_any;

    snprintf(first, sizeof first, "/proc/self/task/%d/children", (int)getpid());
    snprintf(mine, sizeof mine, "/proc/self/task/%d/children", (int)gettid());
    do { /* a generation a round */
        was_any = end_listed(first, owner, is_helper, argument);
        was_any |= end_listed(mine, owner, is_helper, argument);
    } while (was_any);
}
