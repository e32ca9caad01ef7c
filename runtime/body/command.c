/* command.c - the body "command": a process without a shell, its stdout and stderr kept.
 *
 * Invariant: whatever happens, the child has been waited for and the pipe is closed before the body returns. A
 * grandchild may keep the pipe open for ever, so the end of the child ends the reading, not the end of the
 * pipe alone. The child gets an empty signal mask (workers block signals) and no standard input. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np, pipe2 */
#include "body/body.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 127    /* as a shell says it                                 */
#define LOOK_EVERY_MS 20    /* how often a silent child's end is looked for      */
#define LEFT_BEHIND_MAX 256 /* reads after the child's end: 1 MiB, the largest pipe */

extern char **environ;

/* The spawn attributes and actions; returns 0 or an errno. */
static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const clo_command *command,
                   int sink)
{
    sigset_t none, standard;

    sigemptyset(&none);
    sigemptyset(&standard);
    sigaddset(&standard, SIGPIPE);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    error = error != 0 ? error : posix_spawnattr_setsigdefault(attributes, &standard);
    error = error != 0 ? error : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = error != 0 ? error : posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(actions, sink, STDOUT_FILENO);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(actions, sink, STDERR_FILENO);
    if (error == 0 && command->directory != NULL)
        error = posix_spawn_file_actions_addchdir_np(actions, command->directory);
    return error;
}

static int spawn(const clo_command *command, int sink, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    int error = prepare(&actions, &attributes, command, sink);
    if (error == 0)
        error = posix_spawnp(child, command->argv[0], &actions, &attributes, command->argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? 0 : -1;
}

/* Keeps what fits, drops the rest. Returns 0 at the end of the pipe, < 0 if it has nothing to give now. */
static ssize_t read_some(clo_command *command, int source, size_t *used)
{
    char piece[4096];
    ssize_t got = read(source, piece, sizeof piece);

    if (got <= 0)
        return got;
    size_t room = command->output != NULL && command->output_bytes > 0 ? command->output_bytes - 1 - *used : 0;
    size_t kept = (size_t)got < room ? (size_t)got : room;
    if (kept > 0)
        memcpy(command->output + *used, piece, kept);
    *used += kept;
    return got;
}

/* Reads until the child has ended; returns its wait status. */
static int collect(clo_command *command, int source, pid_t child)
{
    struct pollfd waiting = {.fd = source, .events = POLLIN};
    size_t used = 0;
    int wait_status = 0;
    bool open = true;
    pid_t ended = 0;

    while (ended == 0 && open) { /* ends with the child, or with its side of the pipe */
        if (poll(&waiting, 1, LOOK_EVERY_MS) > 0)
            open = read_some(command, source, &used) != 0;
        ended = waitpid(child, &wait_status, WNOHANG);
    }
    for (int round = 0; open && round < LEFT_BEHIND_MAX && read_some(command, source, &used) > 0; round++)
        ; /* what the child left behind; the pipe does not block */
    while (ended == 0 && waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ; /* ends: the child closed its output, so it is about to end or works in silence */
    if (command->output != NULL && command->output_bytes > 0)
        command->output[used] = '\0';
    return wait_status;
}

static int run(clo_command *command)
{
    int ends[2];
    pid_t child;

    if (command->output != NULL && command->output_bytes > 0)
        command->output[0] = '\0';
    if (command->argv == NULL || command->argv[0] == NULL || pipe2(ends, O_CLOEXEC) != 0)
        return CANNOT_START;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || spawn(command, ends[1], &child) != 0) {
        close(ends[0]);
        close(ends[1]);
        return CANNOT_START;
    }
    close(ends[1]);
    int wait_status = collect(command, ends[0], child);
    close(ends[0]);
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int clo_body_command(const clo_call *call)
{
    clo_command *command = call->argument;

    if (command == NULL)
        return CANNOT_START;
    command->exit_status = run(command);
    clo_body_fill(call);
    return command->exit_status;
}
