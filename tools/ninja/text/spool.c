/* spool.c - see spool.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/text/spool.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool write_whole(int file, const char *bytes, size_t count, off_t at)
{
    while (count > 0) {
        ssize_t written = pwrite(file, bytes, count, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        at += written;
        count -= (size_t)written;
    }
    return true;
}

/* Moves what is in memory into the file. Where that fails half-way nothing is lost: the file counts up to
 * file_bytes. */
static bool spill(spool *s)
{
    if (s->beside == NULL)
        return false;
    int file = s->file_bytes > 0 ? s->file : disk_open_nameless(s->beside);
    if (file < 0)
        return false;
    bool is_good = write_whole(file, s->text.at, s->text.bytes, (off_t)s->file_bytes);
    if (is_good) {
        s->file = file;
        s->file_bytes += s->text.bytes;
        buffer_clear(&s->text);
    } else if (s->file_bytes == 0) {
        close(file);
    }
    return is_good;
}

void spool_add(spool *s, const char *bytes, size_t count)
{
    buffer_add(&s->text, bytes, count);
    if (s->text.bytes >= SPOOL_MEMORY_MAX && s->text.bytes >= s->again)
        s->again = spill(s) ? 0 : 2 * s->text.bytes;
}

uint64_t spool_bytes(const spool *s)
{
    return s->file_bytes + s->text.bytes;
}

size_t spool_read(const spool *s, uint64_t at, char *bytes, size_t count)
{
    if (at >= spool_bytes(s))
        return 0;
    if (at >= s->file_bytes) {
        size_t first = (size_t)(at - s->file_bytes), left = s->text.bytes - first;
        count = count < left ? count : left;
        memcpy(bytes, s->text.at + first, count);
        return count;
    }
    if (count > s->file_bytes - at)
        count = (size_t)(s->file_bytes - at);
    ssize_t got = pread(s->file, bytes, count, (off_t)at);
    while (got < 0 && errno == EINTR)
        got = pread(s->file, bytes, count, (off_t)at);
    return got > 0 ? (size_t)got : 0;
}

void spool_clear(spool *s)
{
    if (s->file_bytes > 0) {
        close(s->file);
        buffer_free(&s->text); /* floods are rare */
    }
    s->file_bytes = 0;
    s->again = 0;
    buffer_clear(&s->text);
}

void spool_free(spool *s)
{
    spool_clear(s);
    buffer_free(&s->text);
}
