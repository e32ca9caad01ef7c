/* file.c - files are read whole and written whole. A regular file is written to a neighbour and renamed, so a full disk
 * or a killed process leaves the old content; devices and pipes are written directly. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

clo_status clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes)
{
    if (strcmp(path, "-") == 0)
        return read_all(stdin, "standard input", max_bytes, data, bytes);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return clo_fail(CLO_ERR_IO, "%s: %s", path, strerror(errno));
    clo_status status = read_all(file, path, max_bytes, data, bytes);
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

static clo_status write_direct(const char *path, const char *data, size_t bytes)
{
    int fd = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    int failed = fd < 0 || write_all(fd, data, bytes) != 0;
    int reason = errno;

    if (fd > STDERR_FILENO)
        failed |= close(fd) != 0;
    return failed ? clo_fail(CLO_ERR_IO, "%s: %s", path, strerror(reason)) : CLO_OK;
}

static clo_status write_neighbour(const char *path, const char *data, size_t bytes, char *temporary)
{
    int fd = mkstemp(temporary);
    if (fd < 0)
        return clo_fail(CLO_ERR_IO, "%s: %s", path, strerror(errno));

    mode_t mask = umask(0);
    umask(mask);
    int failed = fchmod(fd, 0666 & ~mask) != 0 || write_all(fd, data, bytes) != 0 || fsync(fd) != 0;
    int reason = errno;
    if (close(fd) != 0 && !failed)
        failed = 1, reason = errno;
    if (!failed && rename(temporary, path) != 0)
        failed = 1, reason = errno;
    if (!failed)
        return CLO_OK;
    unlink(temporary);
    return clo_fail(CLO_ERR_IO, "%s: %s; nothing was written", path, strerror(reason));
}

clo_status clo_file_write(const char *path, const char *data, size_t bytes)
{
    struct stat about;

    if (strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode)))
        return write_direct(path, data, bytes);

    size_t length = strlen(path);
    char *temporary = clo_allocate(length + 8, 1);
    if (temporary == NULL)
        return clo_fail_memory(path);
    memcpy(temporary, path, length);
    memcpy(temporary + length, ".XXXXXX", 8);
    clo_status status = write_neighbour(path, data, bytes, temporary);
    clo_free(temporary);
    return status;
}
