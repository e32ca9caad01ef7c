/* files.c - the files of a manifest: read once, kept as long as it. */
#include "ninja/manifest/manifest.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30 };

bool ninja_keep_file(ninja_manifest *m, const char *path, char **text)
{
    size_t bytes = 0;
    int error = m->options.read(m->options.argument, path, text, &bytes);

    if (error != 0)
        return ninja_fail(m, "%.256s: cannot be read: %s; look at the path", path, strerror(error));
    char **texts = array_grow(m->texts, &m->texts_capacity, m->files_count + 1, sizeof *texts);
    m->texts = texts != NULL ? texts : m->texts;
    const char **files = array_grow(m->files, &m->files_capacity, m->files_count + 1, sizeof *files);
    m->files = files != NULL ? files : m->files;
    if (texts == NULL || files == NULL) {
        free(*text);
        return ninja_no_memory(m);
    }
    m->texts[m->files_count] = *text;
    m->files[m->files_count] = path;
    m->files_count++;
    m->texts_bytes += bytes;
    if (bytes >= FILE_BYTES_MAX || m->texts_bytes > m->options.memory_max)
        return ninja_fail(m, "%.256s: too large, alone or with the other files; split it", path);
    if (memchr(*text, '\0', bytes) != NULL)
        return ninja_fail(m, "%.256s: holds a zero byte; this is no text file", path);
    return true;
}
