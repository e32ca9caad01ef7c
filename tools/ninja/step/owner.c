/* owner.c - see owner.h. */
#define _GNU_SOURCE /* getsid */
#include "ninja/step/owner.h"
#include "ninja/step/pids.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void owner_add_output(step_owner *o, int file)
{
    struct stat about;

    if (file < 0 || o->count == 2 || fstat(file, &about) != 0 ||
        !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || isatty(file)))
        return;
    o->outputs[o->count].device = about.st_dev;
    o->outputs[o->count++].number = about.st_ino;
}

static bool is_output(const step_owner *o, const struct stat *about)
{
    for (int i = 0; i < o->count; i++)
        if (about->st_dev == o->outputs[i].device && about->st_ino == o->outputs[i].number)
            return true;
    return false;
}

static int is_number(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool has_output(const step_owner *o, pid_t pid)
{
    char path[64];
    struct stat about;
    struct dirent **files = NULL;
    bool is_found = false;

    if (o->count == 0)
        return false;
    int length = snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    int count = scandir(path, &files, is_number, alphasort);
    if (count < 0)
        return errno != ENOENT && errno != ESRCH; /* then it has ended */
    for (int i = 0; i < count; i++) {
        snprintf(path + length, sizeof path - (size_t)length, "/%.20s", files[i]->d_name);
        is_found |= stat(path, &about) == 0 && is_output(o, &about);
        free(files[i]);
    }
    free(files);
    return is_found;
}

static bool is_server(const step_owner *o, pid_t session)
{
    for (int i = 0; i < o->servers_count; i++)
        if (o->servers[i] == session)
            return true;
    return !o->is_settled;
}

bool owner_has(const step_owner *o, pid_t pid)
{
    pid_t session = getsid(pid);

    return o->owns_all || session == o->session || !is_server(o, session) || has_output(o, pid);
}

void owner_settle(step_owner *o, const char *list)
{
    FILE *file = o->is_settled ? NULL : fopen(list, "re");

    if (file == NULL)
        return;
    for (pid_t pid = pids_next(file); pid > 1 && o->servers_count < OWNER_SERVERS_MAX; pid = pids_next(file))
        if (!owner_has(o, pid))
            o->servers[o->servers_count++] = getsid(pid);
    fclose(file);
    o->is_settled = true;
}

int owner_kill(const step_owner *o, const char *list)
{
    FILE *file = fopen(list, "re");
    int count = 0;

    if (file == NULL)
        return -1;
    for (pid_t pid = pids_next(file); pid > 1; pid = pids_next(file))
        if (owner_has(o, pid))
            count += kill(pid, SIGKILL) == 0;
    fclose(file);
    return count;
}
