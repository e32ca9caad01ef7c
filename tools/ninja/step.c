/* step.c - see step.h. */
#define _GNU_SOURCE /* pipe2 */
#include "step.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Signals that a shell would give a command in its usual state. */
static int set_attributes(posix_spawnattr_t *attributes, bool has_console, const sigset_t *mask)
{
    sigset_t usual;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    int error = posix_spawnattr_setsigmask(attributes, mask);

    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    sigaddset(&usual, SIGHUP);
    sigaddset(&usual, SIGPIPE);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!has_console)
        flags |= POSIX_SPAWN_SETPGROUP; /* of its own: it can be ended with all that it started */
    return error != 0 ? error : posix_spawnattr_setflags(attributes, flags);
}

static int set_files(posix_spawn_file_actions_t *files, int output)
{
    int error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);

    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, output, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, output, 2);
    return error;
}

static int spawn(step *s, const char *command, bool has_console, const sigset_t *mask, int output)
{
    char *arguments[] = {"/bin/sh", "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);

    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_attributes(&attributes, has_console, mask);
        if (error == 0 && !has_console)
            error = set_files(&files, output);
        if (error == 0)
            error = posix_spawn(&s->pid, "/bin/sh", &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int step_begin(step *s, const char *command, bool has_console, const sigset_t *mask)
{
    int ends[2] = {-1, -1};

    if (!has_console && pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int error = spawn(s, command, has_console, mask, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    if (error != 0 && ends[0] >= 0)
        close(ends[0]);
    s->output = ends[0];
    return error;
}

int step_end(step *s, buffer *output)
{
    char chunk[1 << 12];
    ssize_t got = 0;
    int status = 0;

    while (s->output >= 0 && ((got = read(s->output, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            buffer_add(output, chunk, (size_t)got);
    if (s->output >= 0)
        close(s->output);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR) /* a signal each time */
        continue;
    return status;
}
