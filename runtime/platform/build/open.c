/* open.c - from a SPEC to a platform. A name is shipped, computed ("uniform:P", "slots:P"), this machine ("native", with
 * accelerators "native+FILE"), or a file: never one of them in place of another. */
#define _POSIX_C_SOURCE 200809L
#include "platform/build/build.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/build/boards.h"
#include "platform/build/extend.h"
#include "platform/build/registry.h"
#include "platform/file/parse.h"
#include "platform/file/shipped.h"
#include "platform/file/xml.h"
#include "platform/model/platform.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NATIVE "native"
#define UNIFORM "uniform"
#define SLOTS "slots"
#define COUNT_DEFAULT 4

/* The words in which the two families of equal executors differ. */
typedef struct family {
    const char *name, *kind;
    int32_t os_index;
} family;

static const family families[] = {{UNIFORM, "cpu", -1}, {SLOTS, "slot", CLO_OS_SLOT}};

static clo_status create_uniform(const family *of, uint32_t count, clo_platform **out)
{
    char name[32];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;
    clo_executor *executors = clo_allocate(count, sizeof *executors);

    if (executors == NULL)
        return clo_fail_memory("a uniform platform");
    for (uint32_t e = 0; e < count; e++)
        executors[e] = (clo_executor){.os_index = of->os_index,
                                      .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    snprintf(name, sizeof name, "%s:%u", of->name, count);
    desc.name = name;
    desc.executors_count = count;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.kind_names = &of->kind;
    desc.coherent = 1;
    clo_status status = clo_platform_create(&desc, &platform);
    clo_free(executors);
    if (status != CLO_OK)
        return status;
    status = clo_platform_add_fact(platform, "speed", "assumed", "by definition: all executors are equal");
    if (status == CLO_OK)
        status =
            clo_platform_add_fact(platform, "links", "assumed", "by definition: one memory, transfers take no time");
    if (status != CLO_OK)
        return clo_platform_destroy(platform), status;
    *out = platform;
    return CLO_OK;
}

static clo_status open_uniform(const family *of, const char *spec, clo_platform **out)
{
    uint64_t count = COUNT_DEFAULT;
    const char *number = spec + strlen(of->name);

    if (*number == ':' && (!clo_parse_u64(number + 1, CLO_EXECUTORS_MAX, &count) || count == 0))
        return clo_fail(CLO_ERR_ARGUMENT, "platform %s: P of %s:P is a number from 1 to %u", spec, of->name,
                        CLO_EXECUTORS_MAX);
    return create_uniform(of, (uint32_t)count, out);
}

/* NULL: none. */
static const family *family_of(const char *spec)
{
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        size_t length = strlen(families[f].name);
        if (strncmp(spec, families[f].name, length) == 0 && (spec[length] == '\0' || spec[length] == ':'))
            return &families[f];
    }
    return NULL;
}

static bool looks_like_a_file(const char *spec)
{
    return strchr(spec, '/') != NULL || strchr(spec, '.') != NULL || strcmp(spec, "-") == 0 || access(spec, F_OK) == 0;
}

static clo_status unknown_name(const char *spec)
{
    return clo_fail(CLO_ERR_ARGUMENT,
                    "no platform \"%.100s\"; use native, native+FILE, " UNIFORM ":P, " SLOTS ":P, a board (clotho "
                    "platform list), or an hwloc XML file",
                    spec);
}

static clo_status not_installed(const char *board)
{
    return clo_fail(CLO_ERR_ARGUMENT,
                    "platform %s: its file %s.xml is not installed; set CLOTHO_PLATFORMS to the folder where it is",
                    board, board);
}

/* NULL: no shipped board is called so. */
static const clo_shipped_file *find_shipped(const char *spec)
{
    for (uint32_t i = 0; i < clo_shipped_files_count; i++)
        if (strcmp(clo_shipped_files[i].name, spec) == 0)
            return &clo_shipped_files[i];
    return NULL;
}

/* What a name or a path stands for. */
typedef struct source {
    const char *name, *data; /* the name for error lines */
    size_t bytes;
    char *owned; /* NULL: the text is part of the library */
    char path[CLO_BOARD_PATH_BYTES];
} source;

static clo_status read_source(const char *spec, source *out)
{
    const clo_shipped_file *board = find_shipped(spec);

    *out = (source){.name = spec};
    if (board != NULL && board->data != NULL) {
        out->data = (const char *)board->data;
        out->bytes = board->bytes;
        return CLO_OK;
    }
    if (board != NULL || !looks_like_a_file(spec)) {
        if (!clo_board_find(spec, out->path))
            return board != NULL ? not_installed(spec) : unknown_name(spec);
        out->name = out->path;
    }
    clo_status status = clo_file_read(out->name, CLO_XML_BYTES_MAX, &out->owned, &out->bytes);
    out->data = out->owned;
    return status;
}

clo_status clo_platform_open(const char *spec, clo_platform **out)
{
    source read;

    if (spec == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_platform_open: spec or out is NULL");
    if (strcmp(spec, NATIVE) == 0)
        return clo_platform_native(out);
    const family *of = family_of(spec);
    if (of != NULL)
        return open_uniform(of, spec, out);
    bool is_extended = strncmp(spec, NATIVE "+", sizeof NATIVE) == 0;
    clo_status status = read_source(is_extended ? spec + sizeof NATIVE : spec, &read);
    if (status != CLO_OK)
        return status;
    status = is_extended ? clo_platform_extend_native(read.name, read.data, read.bytes, out)
                         : clo_platform_parse(read.name, read.data, read.bytes, out);
    clo_free(read.owned);
    return status;
}

CLO_REGISTRY_ROW(clo_shipped_file);
const clo_registry clo_platforms = {
    .name = "platforms", .rows = clo_shipped_files, .row_bytes = sizeof(clo_shipped_file)};
