/* jobserver.c - see jobserver.h. */
#define _GNU_SOURCE /* mkdtemp, F_DUPFD_CLOEXEC */
#include "ninja/step/jobserver.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char token = '+';

/* Two descriptions of one FIFO, which has no name any more. Returns 0 or an error number. */
static int open_pipe(jobserver *j)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX], name[PATH_MAX + 8];
    int error = 0;

    int written =
        snprintf(path, sizeof path, "%s/clotho-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    if (written < 0 || (size_t)written >= sizeof path)
        return ENAMETOOLONG;
    if (mkdtemp(path) == NULL)
        return errno;
    snprintf(name, sizeof name, "%s/tokens", path);
    if (mkfifo(name, 0600) == 0) {
        j->inherited = open(name, O_RDWR);
        j->own = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    if (j->inherited < 0 || j->own < 0)
        error = errno;
    unlink(name);
    rmdir(path);
    return error;
}

static bool is_about_jobs(const char *word, size_t bytes)
{
    return strncmp(word, "--jobserver", 11) == 0 || (bytes >= 2 && strncmp(word, "-j", 2) == 0);
}

/* The caller's MAKEFLAGS without its own jobs, and ours. Variables behind "--" stay last. */
static int name_in_environment(const jobserver *j)
{
    const char *old = getenv("MAKEFLAGS"), *at = old != NULL ? old : "";
    size_t room = strlen(at) + 100, used = 0;
    char *flags = malloc(room);
    size_t first = strcspn(at, " ");
    bool is_single = first > 0 && at[0] != '-' && memchr(at, '=', first) == NULL; /* "kw": flags of one letter */

    if (flags == NULL)
        return ENOMEM;
    if (is_single) {
        used += (size_t)snprintf(flags, room, "%.*s", (int)first, at);
        at += first;
    }
    used += (size_t)snprintf(flags + used, room - used, " -j%u --jobserver-auth=%d,%d", j->tokens, j->inherited,
                             j->inherited);
    while (*(at += strspn(at, " ")) != '\0') {
        size_t bytes = strcspn(at, " ");
        if (!is_about_jobs(at, bytes))
            used += (size_t)snprintf(flags + used, room - used, " %.*s", (int)bytes, at);
        at += bytes;
    }
    int error = setenv("MAKEFLAGS", flags, 1) == 0 ? 0 : errno;
    free(flags);
    return error;
}

int jobserver_open(jobserver *j, uint32_t tokens)
{
    assert(tokens > 0);
    *j = (jobserver){.inherited = -1, .own = -1, .tokens = tokens};
    if (tokens > JOBSERVER_TOKENS_MAX)
        return EINVAL;
    int error = open_pipe(j);
    for (uint32_t i = 0; error == 0 && i < tokens; i++)
        error = write(j->own, &token, 1) == 1 ? 0 : errno;
    if (error == 0)
        error = name_in_environment(j);
    if (error != 0)
        jobserver_close(j);
    return error;
}

/* What follows the last `option` in MAKEFLAGS; NULL: it is not there. */
static const char *value_of(const char *flags, const char *option)
{
    const char *found = NULL;

    for (const char *at = flags; *(at += strspn(at, " ")) != '\0'; at += strcspn(at, " "))
        if (strncmp(at, option, strlen(option)) == 0)
            found = at + strlen(option);
    return found;
}

/* A second description of somebody's pipe. Linux opens either end of a pipe for both. */
static int reopen(int end)
{
    char path[40];
    struct stat about;

    if (fstat(end, &about) != 0 || !S_ISFIFO(about.st_mode))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", end);
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

bool jobserver_join(jobserver *j, uint32_t *tokens)
{
    const char *flags = getenv("MAKEFLAGS"), *pipe = NULL, *jobs = NULL;

    *j = (jobserver){.inherited = -1, .own = -1, .is_client = true};
    *tokens = 0;
    if (flags == NULL || (pipe = value_of(flags, "--jobserver-auth=")) == NULL)
        return false;
    if (strncmp(pipe, "fifo:", 5) == 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(pipe + 5, " "), pipe + 5);
        j->own = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    } else {
        char *end = NULL;
        long reading = strtol(pipe, &end, 10);
        if (end != pipe && *end == ',' && reading >= 0 && reading <= INT_MAX)
            j->own = reopen((int)reading); /* the other end is the same pipe */
    }
    if (j->own < 0)
        return false;
    jobs = value_of(flags, "-j");
    long count = jobs != NULL ? strtol(jobs, NULL, 10) : 0;
    *tokens = count > 0 && count <= JOBSERVER_TOKENS_MAX ? (uint32_t)count : 0;
    return true;
}

bool jobserver_take(jobserver *j)
{
    char byte;

    if (j->own < 0)
        return true;
    if (j->is_client && !j->has_implicit) {
        j->has_implicit = true;
    } else {
        ssize_t got = read(j->own, &byte, 1);
        while (got < 0 && errno == EINTR)
            got = read(j->own, &byte, 1);
        if (got != 1)
            return false;
    }
    j->held++;
    return true;
}

/* All bytes of GNU make's pipe are alike, so one is as good as the one that was read. The pipe has room: what is
 * written was read before. */
static void put(const jobserver *j)
{
    while (write(j->own, &token, 1) < 0 && errno == EINTR)
        continue;
}

void jobserver_give(jobserver *j)
{
    if (j->own < 0)
        return;
    assert(j->held > 0);
    if (--j->held == 0 && j->is_client)
        j->has_implicit = false;
    else
        put(j);
}

void jobserver_wait(const jobserver *j, int wait_ms)
{
    struct pollfd pipe = {.fd = j->own, .events = POLLIN};

    poll(&pipe, 1, wait_ms); /* too early is no harm: who waits looks again */
}

void jobserver_mend(jobserver *j)
{
    int there = 0;
    char byte;

    if (j->own < 0 || j->is_client || j->held > 0 || ioctl(j->own, FIONREAD, &there) != 0)
        return;
    for (; there < (int)j->tokens; there++, j->mended++)
        put(j);
    for (; there > (int)j->tokens; there--, j->mended++)
        if (read(j->own, &byte, 1) != 1)
            return;
}

void jobserver_close(jobserver *j)
{
    if (j->inherited >= 0)
        close(j->inherited);
    if (j->own >= 0)
        close(j->own);
    j->inherited = j->own = -1;
}
