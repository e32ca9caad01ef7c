/* step.c - see step.h. */
#define _GNU_SOURCE /* pipe2 */
#include "ninja/step/step.h"
#include "ninja/step/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Signals that a shell would give a command in its usual state. */
static int set_attributes(posix_spawnattr_t *attributes, const sigset_t *mask)
{
    sigset_t usual;
    int error = posix_spawnattr_setsigmask(attributes, mask);

    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    sigaddset(&usual, SIGHUP);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGCHLD);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    return error != 0 ? error : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int set_files(posix_spawn_file_actions_t *files, int output, int control, int kept)
{
    int error = posix_spawn_file_actions_adddup2(files, control, control); /* it is inherited */

    if (error == 0 && kept >= 0)
        error = posix_spawn_file_actions_adddup2(files, kept, kept);
    if (error != 0 || output < 0)
        return error;
    error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, output, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, output, 2);
    return error;
}

static char *writable(const char *text)
{
    return (char *)(uintptr_t)text; /* posix_spawn does not write there */
}

/* The caller's environment with one variable set: an array of the caller's; NULL: no memory. */
static char **environment_with(char *variable)
{
    size_t count = 0, kept = 0, name = strcspn(variable, "=") + 1;

    while (environ[count] != NULL)
        count++;
    char **all = malloc((count + 2) * sizeof *all);
    for (size_t i = 0; all != NULL && i < count; i++)
        if (strncmp(environ[i], variable, name) != 0)
            all[kept++] = environ[i];
    if (all != NULL) {
        all[kept] = variable;
        all[kept + 1] = NULL;
    }
    return all;
}

static int spawn(step *s, const step_options *options, const char *command, int output, int control)
{
    char number[16], kept[16], limit[24];
    char how[] = {options->has_console ? 'c' : 'p', options->ends_servers ? 'e' : 'k', '\0'};
    char *arguments[] = {
        writable(options->helper), number, kept, how, limit, writable(options->group != NULL ? options->group : ""),
        writable(command),         NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char **own = options->variable != NULL ? environment_with(options->variable) : NULL;
    int error = posix_spawn_file_actions_init(&files);

    if (error == 0 && options->variable != NULL && own == NULL) {
        posix_spawn_file_actions_destroy(&files);
        error = ENOMEM;
    }
    if (error != 0) {
        free(own);
        return error;
    }
    snprintf(number, sizeof number, "%d", control);
    snprintf(kept, sizeof kept, "%d", options->kept);
    snprintf(limit, sizeof limit, "%lu", options->files);
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_attributes(&attributes, options->mask);
        if (error == 0)
            error = set_files(&files, output, control, options->kept);
        if (error == 0)
            error = posix_spawn(&s->pid, options->helper, &files, &attributes, arguments, own != NULL ? own : environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    free(own);
    return error;
}

static void close_if_open(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

static int make_ends(const step_options *options, int output[2], int control[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0)
        return errno;
    if (options->has_console)
        return 0;
    if (pipe2(output, O_CLOEXEC) != 0 || fcntl(output[0], F_SETFL, O_NONBLOCK) != 0)
        return errno;
    return 0;
}

int step_begin(step *s, const step_options *options, const char *command)
{
    int output[2] = {-1, -1}, control[2] = {-1, -1};
    int error = make_ends(options, output, control);

    *s = (step){0};
    if (error == 0)
        error = spawn(s, options, command, output[1], control[1]);
    close_if_open(&output[1]);
    close_if_open(&control[1]);
    if (error != 0) {
        close_if_open(&output[0]);
        close_if_open(&control[0]);
    }
    s->output = output[0];
    s->control = control[0];
    return error;
}

void step_read_output(step *s, spool *output)
{
    char chunk[1 << 14];
    ssize_t got;

    while (s->output >= 0) {
        got = read(s->output, chunk, sizeof chunk);
        if (got > 0)
            spool_add(output, chunk, (size_t)got);
        else if (got < 0 && errno == EAGAIN)
            return;
        else if (got == 0 || errno != EINTR)
            close_if_open(&s->output);
    }
}

static void take_report(step *s)
{
    step_usage *u = &s->usage;
    char *at = s->line;

    s->has_report = true;
    u->status = (int)strtol(at, &at, 10);
    u->wall_us = strtoll(at, &at, 10);
    u->user_us = strtoll(at, &at, 10);
    u->system_us = strtoll(at, &at, 10);
    u->peak_kib = strtoll(at, &at, 10);
}

void step_read_report(step *s)
{
    ssize_t got;

    while (!s->has_ended) {
        got = recv(s->control, s->line + s->line_bytes, sizeof s->line - 1 - s->line_bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        s->has_ended = got <= 0; /* also by ECONNRESET, where it has not read all that was sent */
        s->line_bytes += got > 0 ? (size_t)got : 0;
        s->line[s->line_bytes] = '\0';
        if (!s->has_report && strchr(s->line, '\n') != NULL)
            take_report(s);
    }
}

void step_signal(const step *s, int number)
{
    unsigned char byte = (unsigned char)number;

    send(s->control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    kill(s->pid, SIGCONT);
}

void step_kill_helper(const step *s)
{
    kill(s->pid, SIGKILL);
}

bool step_wait(const step *s)
{
    siginfo_t about = {0};

    while (waitid(P_PID, (id_t)s->pid, &about, WEXITED | WNOWAIT) != 0 && errno == EINTR) /* a signal each time */
        continue;
    return about.si_code == CLD_EXITED;
}

void step_close_output(step *s)
{
    close_if_open(&s->output);
}

void step_close(step *s)
{
    int status = SIGKILL;

    step_read_report(s);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR) /* a signal each time */
        continue;
    s->has_servers = WIFEXITED(status) && WEXITSTATUS(status) == STEP_HAS_SERVERS;
    if (!s->has_report) /* the helper says by its own status that it could not begin the command */
        s->usage = (step_usage){.status = WIFEXITED(status) && status != 0 && !s->has_servers ? status : SIGKILL};
    close_if_open(&s->output);
    close_if_open(&s->control);
}
