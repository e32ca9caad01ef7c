/* disk.c - see disk.h. */
#define _GNU_SOURCE /* mkostemp */
#include "ninja/text/disk.h"
#include "ninja/text/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int64_t disk_mtime_ns(const char *path)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    if (about.st_mtim.tv_sec <= 0)
        return 1; /* of 1970 or before: there, and older than all else */
    if (about.st_mtim.tv_sec >= INT64_MAX / 1000000000)
        return INT64_MAX;
    return (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
}

int64_t disk_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int disk_open_nameless(const char *path)
{
    char name[4096];
    const char *slash = strrchr(path, '/');
    int bytes = slash != NULL ? (int)(slash - path) + 1 : 0;

    if (snprintf(name, sizeof name, "%.*s.clotho-XXXXXX", bytes, path) >= (int)sizeof name)
        return -1;
    int file = mkostemp(name, O_CLOEXEC);
    if (file >= 0)
        unlink(name);
    return file;
}

int64_t disk_clock_ns(int file)
{
    struct stat about;

    if (file < 0 || futimens(file, NULL) != 0 || fstat(file, &about) != 0)
        return disk_now_ns();
    return (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
}

bool disk_is_newer(const char *path, int64_t ns)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return true;
    return S_ISREG(about.st_mode) &&
           (about.st_ctim.tv_sec > ns / 1000000000 ||
            (about.st_ctim.tv_sec == ns / 1000000000 && about.st_ctim.tv_nsec >= ns % 1000000000));
}

bool disk_is_replaced(int file, const char *path)
{
    struct stat mine, there;

    if (fstat(file, &mine) != 0)
        return false;
    if (stat(path, &there) == 0)
        return mine.st_ino != there.st_ino || mine.st_dev != there.st_dev;
    int other = disk_open_nameless(path);
    if (other < 0)
        return false; /* the folder is gone as well: nobody will look for what is in the file */
    close(other);
    return true;
}

bool disk_make_folders(const char *path)
{
    size_t bytes = path_folder(piece_of(path));
    char *folder = malloc(bytes + 1);
    bool is_good = folder != NULL;

    if (folder == NULL) {
        errno = ENOMEM;
        return false;
    }
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    for (size_t at = 1; is_good && at <= bytes; at++) {
        if (folder[at] != '/' && folder[at] != '\0')
            continue;
        char kept = folder[at];
        folder[at] = '\0';
        is_good = mkdir(folder, 0777) == 0 || errno == EEXIST;
        folder[at] = kept;
    }
    free(folder);
    return is_good;
}
