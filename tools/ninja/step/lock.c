/* lock.c - see lock.h. The lock is flock's, of the folder itself: it leaves no file, and no crash leaves it behind. */
#define _DEFAULT_SOURCE /* flock */
#include "ninja/step/lock.h"
#include "ninja/text/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char VARIABLE[] = "CLOTHO_BUILDS"; /* " DEVICE:INODE" for each folder that a parent builds in */

static int open_folder_of(const char *path)
{
    size_t bytes = path_folder(piece_of(path));
    char *folder = bytes > 0 ? malloc(bytes + 1) : NULL;

    if (bytes == 0)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder == NULL)
        return -1;
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return file;
}

static bool is_of_parent(const char *name)
{
    const char *builds = getenv(VARIABLE);
    size_t bytes = strlen(name);

    for (const char *at = builds; at != NULL && (at = strstr(at, name)) != NULL; at += bytes)
        if (at[bytes] == ' ' || at[bytes] == '\0')
            return true;
    return false; /* none, or only folders whose numbers begin like this one's */
}

static void tell_children(const char *name)
{
    const char *builds = getenv(VARIABLE);
    size_t bytes = (builds != NULL ? strlen(builds) : 0) + strlen(name) + 1;
    char *text = malloc(bytes);

    if (text == NULL)
        return;
    snprintf(text, bytes, "%s%s", builds != NULL ? builds : "", name);
    setenv(VARIABLE, text, 1);
    free(text);
}

int lock_take(build_lock *lock, const char *log, bool waits)
{
    char name[64];
    struct stat about;
    int took, folder = open_folder_of(log);

    lock->folder = folder >= 0 ? fcntl(folder, F_DUPFD_CLOEXEC, 3) : -1; /* 0 to 2 are others in those who inherit it */
    if (folder >= 0)
        close(folder);
    if (lock->folder < 0 || fstat(lock->folder, &about) != 0) {
        lock_give_back(lock);
        return LOCK_NOT_POSSIBLE;
    }
    snprintf(name, sizeof name, " %" PRIxMAX ":%" PRIxMAX, (uintmax_t)about.st_dev, (uintmax_t)about.st_ino);
    if (is_of_parent(name)) {
        lock_give_back(lock);
        return LOCK_OF_PARENT;
    }
    do
        took = flock(lock->folder, waits ? LOCK_EX : LOCK_EX | LOCK_NB);
    while (took != 0 && errno == EINTR); /* a signal each time */
    if (took != 0) {
        int answer = errno == EWOULDBLOCK ? LOCK_BUSY : LOCK_NOT_POSSIBLE;
        lock_give_back(lock);
        return answer;
    }
    tell_children(name);
    return LOCK_TAKEN;
}

void lock_give_back(build_lock *lock)
{
    if (lock->folder >= 0)
        close(lock->folder);
    lock->folder = -1;
}
