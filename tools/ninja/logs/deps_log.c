/* deps_log.c - see deps_log.h. Numbers are as this machine has them, little-endian on all that ninja is built for. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/logs/deps_log.h"
#include "ninja/manifest/bindings.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPS_VERSION = 4, RECORDS_BEFORE_REWRITE = 1000, RECORDS_PER_OUTPUT = 3 };

#define RECORD_MAX (((uint32_t)1 << 19) - 1)
#define RECORD_IS_DEPS ((uint32_t)1 << 31)

static const char SIGNATURE[] = "# ninjadeps\n";

static uint32_t read_u32(const char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* The number of a node's path, a new one if need be; false: no memory. */
static bool take_id(deps_log *log, ninja_manifest *m, uint32_t node)
{
    uint32_t *nodes = array_grow(log->nodes, &log->nodes_capacity, log->count + 1, sizeof *nodes);
    log->nodes = nodes != NULL ? nodes : log->nodes;
    deps_record *records = array_grow(log->records, &log->records_capacity, log->count + 1, sizeof *records);
    log->records = records != NULL ? records : log->records;

    if (nodes == NULL || records == NULL)
        return ninja_no_memory(m);
    m->nodes[node].deps_id = (uint32_t)log->count;
    log->nodes[log->count] = node;
    log->records[log->count] = (deps_record){0};
    log->count++;
    return true;
}

/* Sets what is known of an output; the inputs are copied. */
static bool set_record(deps_log *log, ninja_manifest *m, uint32_t id, int64_t mtime_ns, const uint32_t *inputs,
                       uint32_t count)
{
    uint32_t *copy = store_take(&log->store, count * sizeof *copy);

    if (copy == NULL)
        return ninja_no_memory(m);
    if (count > 0)
        memcpy(copy, inputs, count * sizeof *copy);
    log->unique += !log->records[id].is_set;
    log->lines++;
    log->records[id] = (deps_record){.mtime_ns = mtime_ns, .inputs = copy, .count = count, .is_set = true};
    return true;
}

enum { RECORD_GOOD, RECORD_BROKEN, RECORD_NO_MEMORY };

static int read_path(deps_log *log, ninja_manifest *m, const char *at, uint32_t size)
{
    if (size < 8 || size % 4 != 0 || read_u32(at + size - 4) != ~(uint32_t)log->count)
        return RECORD_BROKEN;
    size_t bytes = size - 4;
    for (int i = 0; i < 3 && bytes > 1 && at[bytes - 1] == '\0'; i++)
        bytes--;
    if (memchr(at, '\0', bytes) != NULL)
        return RECORD_BROKEN;
    uint32_t node = ninja_add_node(m, (piece){at, bytes});
    if (node == NINJA_NONE)
        return RECORD_NO_MEMORY;
    if (m->nodes[node].deps_id != NINJA_NONE)
        return RECORD_BROKEN;
    return take_id(log, m, node) ? RECORD_GOOD : RECORD_NO_MEMORY;
}

static int read_deps(deps_log *log, ninja_manifest *m, const char *at, uint32_t size)
{
    if (size < 12 || size % 4 != 0 || read_u32(at) >= log->count)
        return RECORD_BROKEN;
    uint32_t count = size / 4 - 3, id = read_u32(at);
    uint64_t mtime = (uint64_t)read_u32(at + 8) << 32 | read_u32(at + 4);
    uint32_t *inputs = store_take(&log->store, count * sizeof *inputs);
    if (inputs == NULL) {
        ninja_no_memory(m);
        return RECORD_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t input = read_u32(at + 12 + 4 * (size_t)i);
        if (input >= log->count)
            return RECORD_BROKEN;
        inputs[i] = log->nodes[input];
    }
    log->unique += !log->records[id].is_set;
    log->lines++;
    log->records[id] = (deps_record){.mtime_ns = (int64_t)mtime, .inputs = inputs, .count = count, .is_set = true};
    return RECORD_GOOD;
}

bool deps_log_parse(deps_log *log, ninja_manifest *m, const char *text, size_t bytes)
{
    size_t at = sizeof SIGNATURE - 1 + 4;

    *log = (deps_log){0};
    if (bytes < at || memcmp(text, SIGNATURE, sizeof SIGNATURE - 1) != 0 || read_u32(text + at - 4) != DEPS_VERSION)
        return true; /* of another version: it is written anew */
    while (bytes - at >= 4) {
        uint32_t head = read_u32(text + at), size = head & ~RECORD_IS_DEPS;
        if (size > RECORD_MAX || size > bytes - at - 4)
            break;
        int read = (head & RECORD_IS_DEPS) != 0 ? read_deps(log, m, text + at + 4, size)
                                                : read_path(log, m, text + at + 4, size);
        if (read == RECORD_NO_MEMORY)
            return false;
        if (read == RECORD_BROKEN)
            break;
        at += 4 + (size_t)size;
    }
    log->good_bytes = at;
    return true;
}

bool deps_log_load(deps_log *log, ninja_manifest *m, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;

    *log = (deps_log){0};
    bool is_good = log_file_read(m, path, &text, &bytes) && (text == NULL || deps_log_parse(log, m, text, bytes));
    free(text);
    return is_good;
}

const deps_record *deps_log_find(const deps_log *log, const ninja_manifest *m, uint32_t node)
{
    uint32_t id = m->nodes[node].deps_id;

    return id != NINJA_NONE && log->records[id].is_set ? &log->records[id] : NULL;
}

static void write_u32(FILE *file, uint32_t value)
{
    fwrite(&value, sizeof value, 1, file);
}

/* Writes the paths that have no number yet. */
static bool write_path(deps_log *log, ninja_manifest *m, uint32_t node)
{
    static const char zeros[3] = {0};
    uint32_t bytes = m->nodes[node].bytes, padding = (4 - bytes % 4) % 4;

    if (m->nodes[node].deps_id != NINJA_NONE)
        return true;
    if (bytes == 0 || bytes + padding + 4 > RECORD_MAX)
        return ninja_fail(m, ".ninja_deps cannot hold the path '%.200s'; shorten it", m->nodes[node].path);
    write_u32(log->file, bytes + padding + 4);
    fwrite(m->nodes[node].path, 1, bytes, log->file);
    fwrite(zeros, 1, padding, log->file);
    write_u32(log->file, ~(uint32_t)log->count);
    return take_id(log, m, node);
}

static bool is_same(const deps_record *record, int64_t mtime_ns, const uint32_t *inputs, uint32_t count)
{
    return record != NULL && record->mtime_ns == mtime_ns && record->count == count &&
           (count == 0 || memcmp(record->inputs, inputs, count * sizeof *inputs) == 0);
}

static bool write_record(deps_log *log, ninja_manifest *m, uint32_t node, int64_t mtime_ns, const uint32_t *inputs,
                         uint32_t count)
{
    bool is_good = write_path(log, m, node);

    for (uint32_t i = 0; is_good && i < count; i++)
        is_good = write_path(log, m, inputs[i]);
    if (is_good && count > RECORD_MAX / 4 - 3)
        return ninja_fail(m, ".ninja_deps cannot hold the %u inputs of '%.200s'; it has too many", count,
                          m->nodes[node].path);
    if (!is_good)
        return false;
    write_u32(log->file, (12 + 4 * count) | RECORD_IS_DEPS);
    write_u32(log->file, m->nodes[node].deps_id);
    write_u32(log->file, (uint32_t)((uint64_t)mtime_ns & UINT32_MAX));
    write_u32(log->file, (uint32_t)((uint64_t)mtime_ns >> 32));
    for (uint32_t i = 0; i < count; i++)
        write_u32(log->file, m->nodes[inputs[i]].deps_id);
    return true;
}

static bool append(deps_log *log, ninja_manifest *m, uint32_t node, int64_t mtime_ns, const uint32_t *inputs,
                   uint32_t count)
{
    if (is_same(deps_log_find(log, m, node), mtime_ns, inputs, count))
        return true;
    if (!write_record(log, m, node, mtime_ns, inputs, count) ||
        !set_record(log, m, m->nodes[node].deps_id, mtime_ns, inputs, count))
        return false;
    log->records[m->nodes[node].deps_id].is_added = true;
    if (fflush(log->file) != 0 || ferror(log->file))
        return ninja_fail(m, ".ninja_deps: cannot be written: %s; look at the disk", strerror(errno));
    return true;
}

bool deps_log_add(deps_log *log, ninja_manifest *m, uint32_t node, int64_t mtime_ns, const uint32_t *inputs,
                  uint32_t count)
{
    return deps_log_follow(log, m) && append(log, m, node, mtime_ns, inputs, count);
}

/* Writes all that is worth keeping, with new numbers. */
static bool write_anew(void *self, ninja_manifest *m, FILE *file)
{
    deps_log *log = self, old = *log;
    bool is_good = true;

    *log = (deps_log){.file = file};
    for (size_t i = 0; i < old.count; i++)
        m->nodes[old.nodes[i]].deps_id = NINJA_NONE;
    fwrite(SIGNATURE, 1, sizeof SIGNATURE - 1, log->file);
    write_u32(log->file, DEPS_VERSION);
    for (size_t i = 0; is_good && i < old.count; i++) {
        const deps_record *record = &old.records[i];
        uint32_t producer = m->nodes[old.nodes[i]].producer;
        if (!record->is_set || producer == NINJA_NONE || !ninja_edge_flag(m, producer, SYMBOL_DEPS))
            continue;
        is_good = write_record(log, m, old.nodes[i], record->mtime_ns, record->inputs, record->count) &&
                  set_record(log, m, m->nodes[old.nodes[i]].deps_id, record->mtime_ns, record->inputs, record->count);
    }
    log->file = NULL;
    deps_log_close(&old);
    if (is_good && (fflush(file) != 0 || ferror(file)))
        return ninja_fail(m, ".ninja_deps: cannot be written: %s; look at the disk", strerror(errno));
    return is_good;
}

bool deps_log_open(deps_log *log, ninja_manifest *m, const char *path)
{
    bool is_old = log->lines > RECORDS_BEFORE_REWRITE && log->lines > RECORDS_PER_OUTPUT * log->unique;

    if (log->file != NULL)
        return true;
    log->file = log_file_open(m, path, is_old ? 0 : log->good_bytes, write_anew, log);
    log->path = path;
    return log->file != NULL;
}

bool deps_log_follow(deps_log *log, ninja_manifest *m)
{
    deps_log old = *log;

    if (log->file == NULL || !disk_is_replaced(fileno(log->file), log->path))
        return log->file != NULL; /* else following it has failed before */
    for (size_t i = 0; i < old.count; i++)
        m->nodes[old.nodes[i]].deps_id = NINJA_NONE;
    bool is_good = deps_log_load(log, m, old.path) && deps_log_open(log, m, old.path);
    for (size_t i = 0; is_good && i < old.count; i++) {
        const deps_record *record = &old.records[i];
        is_good = !record->is_added || append(log, m, old.nodes[i], record->mtime_ns, record->inputs, record->count);
    }
    deps_log_close(&old);
    return is_good;
}

void deps_log_close(deps_log *log)
{
    if (log->file != NULL)
        fclose(log->file);
    free(log->nodes);
    free(log->records);
    store_free(&log->store);
    *log = (deps_log){0};
}
