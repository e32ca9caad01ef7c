/* open.c - from files to a manifest, and its end. */
#include "ninja/manifest/manifest.h"
#include "ninja/manifest/scope.h"

#include <stdlib.h>

enum { FILE_BYTES_MAX = 1 << 30 };

static int read_disk(void *argument, const char *path, char **text, size_t *bytes)
{
    (void)argument;
    return file_read(path, FILE_BYTES_MAX, text, bytes);
}

bool ninja_open(ninja_manifest *m, const char *path, const ninja_options *options)
{
    *m = (ninja_manifest){0};
    if (options != NULL)
        m->options = *options;
    if (m->options.read == NULL)
        m->options.read = read_disk;
    if (m->options.memory_max == 0)
        m->options.memory_max = (size_t)8 << 30;
    if (m->options.value_max == 0)
        m->options.value_max = (size_t)16 << 20;
    if (m->options.includes_max == 0)
        m->options.includes_max = 10000;
    m->store.most = m->options.memory_max;
    return scope_begin(m) && ninja_parse(m, path);
}

void ninja_close(ninja_manifest *m)
{
    scope_end(m);
    for (size_t i = 0; i < m->files_count; i++)
        free(m->texts[i]);
    free(m->texts);
    free(m->files);
    free(m->nodes);
    free(m->node_slots);
    free(m->edges);
    free(m->rules);
    free(m->pools);
    free(m->defaults);
    store_free(&m->store);
    *m = (ninja_manifest){0};
}
