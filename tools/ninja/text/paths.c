/* paths.c - see paths.h. */
#include "ninja/text/paths.h"

#include <string.h>

/* Start of the last component in path[from .. end), which ends with a slash. */
static size_t last_component(const char *path, size_t from, size_t end)
{
    size_t at = end - 1;

    while (at > from && path[at - 1] != '/')
        at--;
    return at;
}

size_t path_canonical(char *path, size_t bytes)
{
    size_t from = bytes > 0 && path[0] == '/' ? 1 : 0; /* behind what is never dropped: the root, and leading ".." */
    size_t in = from, out = from;

    if (bytes == 0)
        return 0;
    while (in < bytes) {
        const char *slash = memchr(path + in, '/', bytes - in);
        size_t length = slash != NULL ? (size_t)(slash - (path + in)) : bytes - in;
        bool is_up = length == 2 && path[in] == '.' && path[in + 1] == '.';
        if (length == 0 || (length == 1 && path[in] == '.')) {
            in += length + 1;
            continue;
        }
        if (is_up && out > from) {
            out = last_component(path, from, out);
            in += length + 1;
            continue;
        }
        memmove(path + out, path + in, length);
        out += length;
        in += length + 1;
        if (out < bytes)
            path[out] = '/'; /* what stood here has been read */
        out++;
        if (is_up)
            from = out;
    }
    if (out == 0) {
        path[0] = '.';
        return 1;
    }
    return out - 1;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_+-./", c) != NULL);
}

void path_quote(buffer *out, piece path)
{
    size_t at = 0;

    while (at < path.bytes && is_plain(path.at[at]))
        at++;
    if (at == path.bytes) {
        buffer_add(out, path.at, path.bytes);
        return;
    }
    buffer_add(out, "'", 1);
    for (at = 0; at < path.bytes; at++)
        if (path.at[at] == '\'')
            buffer_add(out, "'\\''", 4);
        else
            buffer_add(out, path.at + at, 1);
    buffer_add(out, "'", 1);
}

size_t path_folder(piece path)
{
    size_t at = path.bytes;

    while (at > 0 && path.at[at - 1] != '/')
        at--;
    while (at > 0 && path.at[at - 1] == '/')
        at--;
    return at;
}
