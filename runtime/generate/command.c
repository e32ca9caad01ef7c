/* command.c - the body "command": a process without a shell, its stdout and stderr kept.
 *
 * Invariant: whatever happens, the child has been waited for and the pipe is closed before the body returns. A
 * grandchild may keep the pipe open for ever, so the end of the child ends the reading, not the end of the
 * pipe alone. The child gets an empty signal mask (workers block signals) and no standard input. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np, pipe2 */
#include "generate/child.h"
#include "generate/output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 127    /* as a shell says it                                 */
#define STATUS_LOST 125     /* as env and timeout say it: not the command's own    */
#define LOOK_EVERY_MS 20    /* how often a silent child's end is looked for, where the system has no descriptor of it */
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
    sigaddset(&standard, SIGCHLD); /* ignored, it would stay so in the child */
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

/* Reads until the child has ended. */
static void collect(clo_command *command, int source, clo_child *child)
{
    struct pollfd waiting[] = {{.fd = source, .events = POLLIN}, {.fd = child->descriptor, .events = POLLIN}};
    size_t used = 0;
    bool open = true;

    while (!child->has_ended && open) { /* ends with the child, or with its side of the pipe */
        (void)poll(waiting, 2, child->descriptor >= 0 ? -1 : LOOK_EVERY_MS);
        if (waiting[0].revents != 0)
            open = read_some(command, source, &used) != 0;
        (void)clo_child_has_ended(child, false);
    }
    for (int round = 0; open && round < LEFT_BEHIND_MAX && read_some(command, source, &used) > 0; round++)
        ; /* what the child left behind; the pipe does not block */
    (void)clo_child_has_ended(child, true); /* it closed its output: it is about to end, or works in silence */
    if (command->output != NULL && command->output_bytes > 0)
        command->output[used] = '\0';
}

static int run(clo_command *command)
{
    int ends[2];
    pid_t pid;
    clo_child child;

    if (command->output != NULL && command->output_bytes > 0)
        command->output[0] = '\0';
    if (command->argv == NULL || command->argv[0] == NULL || pipe2(ends, O_CLOEXEC) != 0)
        return CANNOT_START;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || spawn(command, ends[1], &pid) != 0) {
        close(ends[0]);
        close(ends[1]);
        return CANNOT_START;
    }
    close(ends[1]);
    clo_child_watch(&child, pid);
    collect(command, ends[0], &child);
    clo_child_close(&child);
    close(ends[0]);
    if (child.is_lost)
        return STATUS_LOST;
    return WIFSIGNALED(child.wait_status) ? 128 + WTERMSIG(child.wait_status) : WEXITSTATUS(child.wait_status);
}

int clo_body_command(const clo_call *call)
{
    clo_command *command = call != NULL ? call->argument : NULL;

    if (command == NULL)
        return CANNOT_START;
    command->exit_status = run(command);
    clo_body_fill(call);
    return command->exit_status;
}

bool clo_body_command_codelet(const clo_command *command, clo_codelet *codelet)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    if (command == NULL || codelet == NULL || command->argv == NULL || command->argv[0] == NULL ||
        command->argv[0][0] == '\0' || strlen(command->argv[0]) > 255)
        return false;
    for (size_t i = 0; command->argv[i] != NULL; i++)
        for (const char *c = command->argv[i];; c++) { /* the 0 of each word, too */
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
            if (*c == '\0')
                break;
        }
    *codelet = (clo_codelet){command->argv[0], 0, hash != 0 ? hash : 1};
    return true;
}
