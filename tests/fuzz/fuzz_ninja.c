/* fuzz_ninja.c - build.ninja: the input is a manifest, and behind each byte 1 a file that it may include as f1, f2 ...
 * What is read is evaluated, listed and asked for. Limits are low, so that memory and time stay small. */
#include "fuzz.h"
#include "ninja/listing/listing.h"
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/dyndep.h"
#include "ninja/manifest/manifest.h"
#include "ninja/text/paths.h"

#include <errno.h>
#include <string.h>

enum { READS_MAX = 50, FILES_MAX = 9 };

typedef struct inputs {
    const char *data;
    size_t bytes;
    int reads;
} inputs;

/* "f3" is the part behind the third byte 1; "f0" is the manifest. */
static int read_part(void *argument, const char *path, char **text, size_t *bytes)
{
    inputs *in = argument;
    const char *at = in->data, *end = in->data + in->bytes;

    if (path[0] != 'f' || path[1] < '0' || path[1] > '0' + FILES_MAX || path[2] != '\0' || ++in->reads > READS_MAX)
        return ENOENT;
    for (int i = path[1] - '0'; i > 0; i--) {
        const char *next = memchr(at, 1, (size_t)(end - at));
        if (next == NULL)
            return ENOENT;
        at = next + 1;
    }
    const char *stop = memchr(at, 1, (size_t)(end - at));
    *bytes = (size_t)((stop != NULL ? stop : end) - at);
    *text = malloc(*bytes + 1); /* of the exact size: the address sanitizer sees a read behind it */
    PROMISE(*text != NULL);
    memcpy(*text, at, *bytes);
    (*text)[*bytes] = '\0';
    return 0;
}

static void paths_are_canonical(const ninja_manifest *m)
{
    for (uint32_t i = 0; i < m->nodes_count; i++) {
        const ninja_node *node = &m->nodes[i];
        PROMISE(ninja_find_node(m, (piece){node->path, node->bytes}) == i);
        if (node->bytes == 0)
            continue;
        char *copy = malloc(node->bytes);
        PROMISE(copy != NULL);
        memcpy(copy, node->path, node->bytes);
        PROMISE(path_canonical(copy, node->bytes) == node->bytes && memcmp(copy, node->path, node->bytes) == 0);
        free(copy);
    }
}

static void edges_are_whole(ninja_manifest *m)
{
    buffer text = {0};

    for (uint32_t e = 0; e < m->edges_count; e++) {
        const ninja_edge *edge = &m->edges[e];
        PROMISE(edge->outputs_count > 0 && edge->implicit_outputs <= edge->outputs_count);
        PROMISE(edge->implicit_count + edge->order_only_count <= edge->inputs_count);
        for (uint32_t i = 0; i < edge->outputs_count; i++)
            PROMISE(m->nodes[edge->outputs[i]].producer == e);
        for (uint32_t s = 0; s <= SYMBOL_RULE_LAST; s++) {
            buffer_clear(&text);
            m->error[0] = '\0';
            PROMISE(ninja_edge_value(m, e, s, s % 2 == 0, &text) == (m->error[0] == '\0'));
        }
    }
    buffer_free(&text);
}

/* Dyndep files are parts of the input too; each is read once. */
static void dyndeps_are_read(ninja_manifest *m, const uint32_t *targets, size_t count)
{
    uint32_t *files = NULL;
    size_t files_count = 1;

    m->error[0] = '\0';
    while (files_count > 0) {
        if (!dyndep_next(m, targets, count, &files, &files_count)) {
            PROMISE(m->error[0] != '\0');
            return;
        }
        for (size_t i = 0; i < files_count; i++) {
            PROMISE(dyndep_read(m, files[i]) == (m->error[0] == '\0'));
            if (m->error[0] == '\0')
                continue;
            free(files);
            return;
        }
        free(files);
    }
    edges_are_whole(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    inputs in = {(const char *)data, bytes, 0};
    ninja_options options = {read_part, &in, 1 << 22, 1 << 14, 8};
    ninja_manifest m;
    uint32_t *targets = NULL;
    size_t count = 0;
    buffer out = {.most = 1 << 22};

    if (!ninja_open(&m, "f0", &options)) {
        PROMISE(m.error[0] != '\0');
        ninja_close(&m);
        return 0;
    }
    paths_are_canonical(&m);
    edges_are_whole(&m);
    if (ninja_default_targets(&m, &targets, &count)) {
        (void)list_query(&m, targets, count, &out);
        buffer_clear(&out);
        (void)list_commands(&m, targets, count, false, &out);
        buffer_clear(&out);
        (void)list_compdb(&m, &(compdb_options){.directory = "/", .expands = false}, &out);
        buffer_clear(&out);
        (void)list_graph(&m, targets, count, &out);
        dyndeps_are_read(&m, targets, count);
    }
    free(targets);
    buffer_free(&out);
    ninja_close(&m);
    return 0;
}
