/* fuzz_ninja_logs.c - .ninja_log, .ninja_deps, depfiles and outputs of cl: the first byte says which, the rest is the
 * file. */
#include "fuzz.h"
#include "ninja/logs/build_log.h"
#include "ninja/logs/depfile.h"
#include "ninja/logs/deps_log.h"
#include "ninja/logs/show_includes.h"
#include "ninja/manifest/manifest.h"

#include <errno.h>
#include <string.h>

static int read_manifest(void *argument, const char *path, char **text, size_t *bytes)
{
    static const char manifest[] = "rule r\n  command = x\n  deps = gcc\nbuild a.o: r a.c\nbuild b.o: r b.c\n";

    (void)argument;
    (void)path;
    *text = malloc(sizeof manifest);
    PROMISE(*text != NULL);
    memcpy(*text, manifest, sizeof manifest);
    *bytes = sizeof manifest - 1;
    return 0;
}

static void try_build_log(ninja_manifest *m, const char *text, size_t bytes)
{
    build_log log;

    if (build_log_parse(&log, m, "log", text, bytes)) {
        PROMISE(log.good_bytes <= bytes && log.count <= log.lines);
        for (size_t i = 0; i < log.count; i++)
            PROMISE(build_log_find(&log, log.entries[i].output) == &log.entries[i]);
    }
    build_log_close(&log);
}

static void try_deps_log(ninja_manifest *m, const char *text, size_t bytes)
{
    deps_log log;

    if (deps_log_parse(&log, m, text, bytes)) {
        PROMISE(log.good_bytes <= bytes && log.unique <= log.lines);
        for (size_t i = 0; i < log.count; i++)
            for (uint32_t k = 0; k < log.records[i].count; k++)
                PROMISE(log.records[i].inputs[k] < m->nodes_count);
    }
    deps_log_close(&log);
}

static void try_depfile(char *text, size_t bytes)
{
    depfile d;

    (void)depfile_parse(&d, text, bytes);
    for (size_t i = 0; i < d.inputs_count; i++)
        PROMISE(d.inputs[i].bytes > 0 && d.inputs[i].at >= text && d.inputs[i].at + d.inputs[i].bytes <= text + bytes);
    depfile_free(&d);
}

static void try_show_includes(ninja_manifest *m, const char *text, size_t bytes)
{
    spool output = {0};
    discovered found;

    spool_add(&output, text, bytes);
    PROMISE(show_includes_read(m, piece_of("P:"), &output, &found) && spool_bytes(&output) <= bytes + 1);
    for (uint32_t i = 0; i < found.count; i++)
        PROMISE(found.nodes[i] < m->nodes_count);
    spool_free(&output);
    free(found.nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ninja_options options = {.read = read_manifest, .memory_max = 1 << 24};
    ninja_manifest m;

    if (bytes == 0)
        return 0;
    char *text = malloc(bytes);
    PROMISE(text != NULL && ninja_open(&m, "m", &options));
    memcpy(text, data + 1, bytes - 1);
    text[bytes - 1] = '\0';
    if (data[0] % 4 == 0)
        try_build_log(&m, text, bytes - 1);
    else if (data[0] % 4 == 1)
        try_deps_log(&m, text, bytes - 1);
    else if (data[0] % 4 == 2)
        try_depfile(text, bytes - 1);
    else
        try_show_includes(&m, text, bytes - 1);
    free(text);
    ninja_close(&m);
    return 0;
}
