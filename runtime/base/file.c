/* file.c - files are read whole and written whole. A regular file is written to a neighbour and renamed, so a full disk
 * or a killed process leaves the old content; devices and pipes are written directly.
 *
 * A file that is there keeps its rights, and its owner where the system allows it; behind a symbolic link it is the
 * target that is replaced. The kernel applies the umask to a new file: to ask for the mask means to change it, which
 * other threads would see. The neighbour has a short name of its own, so every name that the file system takes
 * works.
 *
 * The writer holds a lock (flock) on the neighbour while it writes. Whoever gets the lock of another one's knows that
 * its writer was killed, and removes it: a neighbour is alive as long as it is locked. A process looks for such files
 * at its first write to a folder. */
#define _GNU_SOURCE
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as Linux */
#define FOLDERS_KEPT 16
#define NAMES_TRIED 100
#define NEIGHBOUR_BYTES 32
#define NEIGHBOUR_PREFIX ".clotho-"
#define NEIGHBOUR_DIGITS 16

static clo_status read_all(FILE *file, const char *path, size_t max_bytes, char **data, size_t *bytes)
{
    void *buffer = NULL;
    size_t capacity = 0, used = 0, got;

    do { /* ends: each round reads at least one byte or stops */
        if (clo_grow(&buffer, &capacity, used + 65536, 1) != 0) {
            clo_free(buffer);
            return clo_fail_memory(path);
        }
        got = fread((char *)buffer + used, 1, capacity - used - 1, file);
        used += got;
    } while (got > 0 && used <= max_bytes);

    if (ferror(file)) {
        clo_free(buffer);
        return clo_fail(CLO_ERR_IO, "%s: %s", path, strerror(errno));
    }
    if (used > max_bytes) {
        clo_free(buffer);
        return clo_fail(CLO_ERR_LIMIT, "%s: longer than %zu bytes; split it", path, max_bytes);
    }
    ((char *)buffer)[used] = '\0';
    *data = buffer;
    *bytes = used;
    return CLO_OK;
}

/* Devices other than a terminal, and the one that is empty: /dev/zero has no end. */
static clo_status check_kind(FILE *file, const char *path)
{
    struct stat about;
    bool is_known = fstat(fileno(file), &about) == 0;

    if (is_known && (S_ISBLK(about.st_mode) ||
                     (S_ISCHR(about.st_mode) && about.st_rdev != makedev(1, 3) && isatty(fileno(file)) == 0)))
        return clo_fail(CLO_ERR_IO, "%s: is a device; name a file or a pipe", path);
    return CLO_OK;
}

clo_status clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes)
{
    clo_status status;

    if (strcmp(path, "-") == 0) {
        status = check_kind(stdin, "standard input");
        return status == CLO_OK ? read_all(stdin, "standard input", max_bytes, data, bytes) : status;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return clo_fail(CLO_ERR_IO, "%s: %s", path, strerror(errno));
    status = check_kind(file, path);
    if (status == CLO_OK)
        status = read_all(file, path, max_bytes, data, bytes);
    fclose(file);
    return status;
}

static int write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) { /* each round writes at least one byte or stops */
        ssize_t wrote = write(fd, data, bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        data += wrote;
        bytes -= (size_t)wrote;
    }
    return 0;
}

static int sync_all(int fd)
{
    while (fsync(fd) != 0) /* ends: whatever interrupts does */
        if (errno != EINTR)
            return -1;
    return 0;
}

static clo_status write_direct(const char *path, const char *data, size_t bytes)
{
    int fd = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    int failed = fd < 0 || write_all(fd, data, bytes) != 0;
    int reason = errno;

    if (fd > STDERR_FILENO)
        failed |= close(fd) != 0;
    if (failed)
        return clo_fail(CLO_ERR_IO, "%s: %s%s", strcmp(path, "-") == 0 ? "standard output" : path, strerror(reason),
                        reason == ENOSPC ? "; what was written is not complete" : "");
    return CLO_OK;
}

/* Follows the symbolic links at the end of `path` [PATH_MAX], to a file that need not be there yet. Returns 0, or -1
 * with errno. */
static int follow_links(char *path)
{
    char target[PATH_MAX];

    for (int links = 0; links < LINKS_MAX; links++) {
        ssize_t got = readlink(path, target, sizeof target);
        if (got < 0)
            return errno == EINVAL || errno == ENOENT ? 0 : -1; /* not a link, or not there */
        const char *slash = strrchr(path, '/');
        size_t length = (size_t)got, kept = target[0] == '/' || slash == NULL ? 0 : (size_t)(slash - path) + 1;
        if (kept + length >= PATH_MAX)
            return errno = ENAMETOOLONG, -1;
        memcpy(path + kept, target, length);
        path[kept + length] = '\0';
    }
    return errno = ELOOP, -1;
}

/* Whether the open file is still the one of that name. */
static bool is_named(int folder, const char *name, int fd)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* A file of the folder that nobody else has, locked where the file system knows locks; the mode as for open. Returns -1
 * with errno. */
static int create_neighbour(int folder, mode_t mode, char *name)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        snprintf(name, NEIGHBOUR_BYTES, NEIGHBOUR_PREFIX "%016llx", (unsigned long long)clo_entropy());
        int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return -1;
        bool is_swept = flock(fd, LOCK_EX | LOCK_NB) != 0 ? errno == EWOULDBLOCK : !is_named(folder, name, fd);
        if (!is_swept)
            return fd;
        unlinkat(folder, name, 0); /* most likely gone: somebody took it for one whose writer is dead before it was */
        close(fd);                 /* locked; nobody else makes one of this name */
    }
    return errno = EAGAIN, -1;
}

static int is_neighbour(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t prefix = sizeof NEIGHBOUR_PREFIX - 1;

    return strncmp(name, NEIGHBOUR_PREFIX, prefix) == 0 && strlen(name) == prefix + NEIGHBOUR_DIGITS &&
           strspn(name + prefix, "0123456789abcdef") == NEIGHBOUR_DIGITS;
}

/* Folders that this process has swept lately. */
static pthread_mutex_t swept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct statx swept[FOLDERS_KEPT];
static size_t swept_count;

/* Numbers are given again: of another folder since it was made at another time, where the file system tells. */
static bool is_same_folder(const struct statx *a, const struct statx *b)
{
    return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor && a->stx_ino == b->stx_ino &&
           a->stx_btime.tv_sec == b->stx_btime.tv_sec && a->stx_btime.tv_nsec == b->stx_btime.tv_nsec;
}

/* Whether this process has swept the folder; from here on it has. False also while another thread asks: to sweep twice
 * does no harm, and in the child of a fork that thread may be missing. */
static bool was_swept(int folder)
{
    struct statx about;
    size_t i = 0, kept;

    if (statx(folder, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &about) != 0 ||
        pthread_mutex_trylock(&swept_lock) != 0)
        return false;
    kept = swept_count < FOLDERS_KEPT ? swept_count : FOLDERS_KEPT;
    while (i < kept && !is_same_folder(&swept[i], &about))
        i++;
    if (i == kept)
        swept[swept_count++ % FOLDERS_KEPT] = about;
    pthread_mutex_unlock(&swept_lock);
    return i < kept;
}

/* Removes the neighbours of writers that were killed. What cannot be removed stays. Once for each folder, since all its
 * names are read. */
static void sweep(int folder)
{
    if (was_swept(folder))
        return;
    struct dirent **names;
    int count = scandirat(folder, ".", &names, is_neighbour, NULL);

    for (int i = 0; i < count; i++) {
        int old = openat(folder, names[i]->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (old >= 0 && flock(old, LOCK_EX | LOCK_NB) == 0 && is_named(folder, names[i]->d_name, old))
            unlinkat(folder, names[i]->d_name, 0);
        if (old >= 0)
            close(old);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* The rights of the file that is replaced. Its owner first: a change of owner takes the set-id rights away. Returns 0,
 * or -1 with errno. */
static int take_over(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 07777;

    if (fchown(fd, old->st_uid, old->st_gid) != 0)
        mode &= 0777;
    return fchmod(fd, mode);
}

/* `old` is NULL where no file is there. Returns 0, or the reason. */
static int replace(int folder, const char *name, const struct stat *old, const char *data, size_t bytes)
{
    char neighbour[NEIGHBOUR_BYTES];
    int reason = 0, fd = create_neighbour(folder, old == NULL ? 0666 : old->st_mode & 0600, neighbour);

    if (fd < 0)
        return errno;
    if ((old != NULL && take_over(fd, old) != 0) || write_all(fd, data, bytes) != 0 || sync_all(fd) != 0)
        reason = errno;
    if (reason == 0 && renameat(folder, neighbour, folder, name) != 0) /* while it is locked */
        reason = errno;
    if (reason != 0)
        unlinkat(folder, neighbour, 0);
    close(fd); /* what it could say, fsync has said */
    if (reason == 0)
        sweep(folder);
    return reason;
}

/* Returns 0, or the reason. */
static int write_regular(const char *path, const struct stat *old, const char *data, size_t bytes)
{
    char target[PATH_MAX];
    size_t length = strlen(path);

    if (length >= sizeof target)
        return ENAMETOOLONG;
    if (old != NULL && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return errno; /* a rename would ask for the folder's rights only */
    memcpy(target, path, length + 1);
    if (follow_links(target) != 0)
        return errno;
    char *slash = strrchr(target, '/');
    const char *name = slash == NULL ? target : slash + 1;
    int folder;
    if (slash == NULL)
        folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    else if (slash == target)
        folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    else {
        *slash = '\0';
        folder = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (folder < 0)
        return errno;
    int reason = replace(folder, name, old, data, bytes);
    close(folder);
    return reason;
}

/* The links of /proc and /dev to open files are no names that could be given to another file. */
static bool is_open_file(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

clo_status clo_file_write(const char *path, const void *data, size_t bytes)
{
    struct stat old;

    if (path == NULL || (data == NULL && bytes > 0))
        return clo_fail_null("clo_file_write", "path or data");
    if (path[0] == '\0')
        return clo_fail(CLO_ERR_ARGUMENT, "a file to write needs a name");
    if (strcmp(path, "-") == 0 || is_open_file(path))
        return write_direct(path, data, bytes);
    bool is_there = stat(path, &old) == 0;
    if (is_there && !S_ISREG(old.st_mode))
        return write_direct(path, data, bytes);
    int reason = write_regular(path, is_there ? &old : NULL, data, bytes);
    if (reason != 0)
        return clo_fail(CLO_ERR_IO, "%s: %s; nothing was written", path, strerror(reason));
    return CLO_OK;
}
