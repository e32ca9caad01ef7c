/* build_log.c - see build_log.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/logs/build_log.h"
#include "ninja/manifest/bindings.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOG_VERSION = 5 /* of a new log */,
    LOG_OLDEST = 4,
    LOG_STARTS = 6,
    LOG_RAPID = 7,
    LOG_NEWEST = 7,
    LINES_BEFORE_REWRITE = 100,
    LINES_PER_ENTRY = 3
};

static const char HEADER[] = "# ninja log v";

uint64_t build_log_hash(const build_log *log, piece command)
{
    return (log->version >= LOG_RAPID ? rapid64 : murmur64)(command.at, command.bytes);
}

bool build_log_has_starts(const build_log *log)
{
    return log->version >= LOG_STARTS;
}

const log_entry *build_log_find(const build_log *log, piece output)
{
    uint32_t entry = path_list_find(&log->outputs, output);

    return entry != NINJA_NONE ? &log->entries[entry] : NULL;
}

/* The entry of an output, a new one where there is none; NULL: no memory. */
static log_entry *take_entry(build_log *log, piece output)
{
    log_entry *grown = array_grow(log->entries, &log->capacity, log->count + 1, sizeof *grown);
    if (grown == NULL)
        return NULL;
    log->entries = grown;
    uint32_t at = path_list_take(&log->outputs, output);
    if (at == NINJA_NONE)
        return NULL;
    if (at == log->count)
        log->entries[log->count++] = (log_entry){.output = log->outputs.paths[at]};
    return &log->entries[at];
}

/* The next field of a line that ends at `end`, without its tab; false: there is none. */
static bool next_field(const char **at, const char *end, piece *field)
{
    if (*at > end)
        return false;
    const char *tab = memchr(*at, '\t', (size_t)(end - *at));
    const char *stop = tab != NULL ? tab : end;
    *field = (piece){*at, (size_t)(stop - *at)};
    *at = stop + 1;
    return true;
}

/* The field alone, without what follows it: an empty one is 0, as ninja has it. */
static uint64_t number(piece field, int base)
{
    char text[64];
    size_t bytes = field.bytes < sizeof text ? field.bytes : sizeof text - 1;

    memcpy(text, field.at, bytes);
    text[bytes] = '\0';
    return base == 16 ? strtoull(text, NULL, base) : (uint64_t)strtoll(text, NULL, base);
}

/* A line that does not have five fields is passed over, as ninja does. False: no memory. */
static bool read_line(build_log *log, const char *at, const char *end, bool has_hash)
{
    piece start, stop, mtime, output, command;

    if (!next_field(&at, end, &start) || !next_field(&at, end, &stop) || !next_field(&at, end, &mtime) ||
        !next_field(&at, end, &output) || at > end)
        return true;
    command = (piece){at, (size_t)(end - at)}; /* of version 4: a command may hold tabs */
    log_entry *entry = take_entry(log, output);
    if (entry == NULL)
        return false;
    log->lines++;
    entry->start_ms = (int64_t)number(start, 10);
    entry->end_ms = (int64_t)number(stop, 10);
    entry->mtime_ns = (int64_t)number(mtime, 10);
    entry->hash = has_hash ? number(command, 16) : build_log_hash(log, command);
    return true;
}

bool build_log_parse(build_log *log, ninja_manifest *m, const char *name, const char *text, size_t bytes)
{
    const char *at = text, *stop = text + bytes;
    const char *end = memchr(at, '\n', bytes);
    int version;

    *log = (build_log){.version = LOG_VERSION};
    if (end == NULL || strncmp(at, HEADER, sizeof HEADER - 1) != 0)
        return true; /* cut off, or no log: it is written anew */
    version = (int)strtol(at + sizeof HEADER - 1, NULL, 10);
    if (version > LOG_NEWEST)
        return ninja_fail(
            m, "%.256s: version %d, of a newer ninja; build with that one, or remove the file to build all anew", name,
            version);
    if (version < LOG_OLDEST)
        return true;
    log->is_old = version < LOG_VERSION;
    log->version = version < LOG_VERSION ? LOG_VERSION : version;
    for (at = end + 1; (end = memchr(at, '\n', (size_t)(stop - at))) != NULL; at = end + 1)
        if (!read_line(log, at, end, version >= LOG_VERSION))
            return ninja_no_memory(m);
    log->good_bytes = (size_t)(at - text);
    log->is_old |= log->lines > LINES_BEFORE_REWRITE && log->lines > LINES_PER_ENTRY * log->count;
    return true;
}

bool build_log_load(build_log *log, ninja_manifest *m, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;

    *log = (build_log){.version = LOG_VERSION};
    bool is_good =
        log_file_read(m, path, &text, &bytes) && (text == NULL || build_log_parse(log, m, path, text, bytes));
    free(text);
    return is_good;
}

static void write_entry(FILE *file, const log_entry *e)
{
    fprintf(file, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t", e->start_ms, e->end_ms, e->mtime_ns);
    fwrite(e->output.at, 1, e->output.bytes, file);
    fprintf(file, "\t%" PRIx64 "\n", e->hash);
}

/* Whether an entry is worth keeping: a statement makes the output, or it is there. */
static bool is_alive(const ninja_manifest *m, const log_entry *e)
{
    uint32_t node = ninja_find_node(m, e->output);

    return (node != NINJA_NONE && m->nodes[node].producer != NINJA_NONE) || disk_mtime_ns(e->output.at) != 0;
}

static bool write_anew(void *self, ninja_manifest *m, FILE *file)
{
    const build_log *log = self;

    fprintf(file, "%s%d\n", HEADER, log->version);
    for (size_t i = 0; i < log->count; i++)
        if (is_alive(m, &log->entries[i]))
            write_entry(file, &log->entries[i]);
    return fflush(file) == 0 && !ferror(file);
}

bool build_log_open(build_log *log, ninja_manifest *m, const char *path)
{
    if (log->file != NULL)
        return true;
    log->file = log_file_open(m, path, log->is_old ? 0 : log->good_bytes, write_anew, log);
    log->is_old = log->is_old && log->file == NULL;
    log->path = path;
    return log->file != NULL;
}

static bool flush(build_log *log, ninja_manifest *m)
{
    return (fflush(log->file) == 0 && !ferror(log->file)) ||
           ninja_fail(m, ".ninja_log: cannot be written: %s; look at the disk", strerror(errno));
}

static void write_begun(FILE *file, const log_entry *entry)
{
    log_entry begun = {.output = entry->output, .start_ms = entry->start_ms, .end_ms = entry->end_ms};

    write_entry(file, &begun);
}

/* Appends what the log of a tool lacks: the tool had read the old one before this process wrote into it. A line of this
 * process with another age is the tool's work. A tool of another version of ninja has another hash; then the steps are
 * to be made again, as that ninja has it. */
static void write_missing(const build_log *log, const build_log *found, bool has_hash)
{
    for (size_t i = 0; i < log->count; i++) {
        const log_entry *mine = &log->entries[i], *theirs = build_log_find(found, mine->output);
        bool is_begun = theirs != NULL && log_entry_is_begun(theirs);
        if (mine->written == LOG_BEGUN && !is_begun)
            write_begun(log->file, mine);
        else if (mine->written == LOG_ENDED && has_hash &&
                 (theirs == NULL || theirs->hash != mine->hash || theirs->start_ms != mine->start_ms ||
                  theirs->end_ms != mine->end_ms))
            write_entry(log->file, mine);
    }
}

bool build_log_follow(build_log *log, ninja_manifest *m)
{
    build_log found;

    if (!disk_is_replaced(fileno(log->file), log->path))
        return true;
    bool is_good = build_log_load(&found, m, log->path);
    if (is_good && found.good_bytes == 0)
        found.version = log->version; /* it was removed */
    is_good = is_good && build_log_open(&found, m, log->path);
    if (is_good) {
        bool has_hash = found.version == log->version;
        fclose(log->file);
        log->file = found.file;
        found.file = NULL;
        log->version = found.version;
        write_missing(log, &found, has_hash);
        is_good = flush(log, m);
    }
    build_log_close(&found);
    return is_good;
}

/* Without an entry an output is out of date anyway, but not that of a generator. The times stay, for --plan. */
bool build_log_begin(build_log *log, ninja_manifest *m, uint32_t edge)
{
    bool is_generator = ninja_edge_flag(m, edge, SYMBOL_GENERATOR);

    if (!build_log_follow(log, m))
        return false;
    for (uint32_t i = 0; i < m->edges[edge].outputs_count; i++) {
        const ninja_node *node = &m->nodes[m->edges[edge].outputs[i]];
        const piece output = {node->path, node->bytes};
        const log_entry *old = build_log_find(log, output);
        if (old != NULL ? log_entry_is_begun(old) : !is_generator)
            continue;
        log_entry *entry = take_entry(log, output);
        if (entry == NULL)
            return ninja_no_memory(m);
        entry->written = LOG_BEGUN;
        write_begun(log->file, entry);
    }
    return flush(log, m);
}

bool build_log_add(build_log *log, ninja_manifest *m, uint32_t edge, int64_t start_ms, int64_t end_ms, int64_t mtime_ns)
{
    buffer command = {0};
    bool is_good = build_log_follow(log, m) && ninja_edge_command(m, edge, true, &command);
    uint64_t hash = build_log_hash(log, buffer_piece(&command));

    buffer_free(&command);
    for (uint32_t i = 0; is_good && i < m->edges[edge].outputs_count; i++) {
        const ninja_node *node = &m->nodes[m->edges[edge].outputs[i]];
        log_entry *entry = take_entry(log, (piece){node->path, node->bytes});
        if (entry == NULL)
            return ninja_no_memory(m);
        entry->start_ms = start_ms;
        entry->end_ms = end_ms;
        entry->mtime_ns = mtime_ns;
        entry->hash = hash;
        entry->written = LOG_ENDED;
        write_entry(log->file, entry);
    }
    return is_good && flush(log, m);
}

void build_log_close(build_log *log)
{
    if (log->file != NULL)
        fclose(log->file);
    free(log->entries);
    path_list_free(&log->outputs);
    *log = (build_log){0};
}
