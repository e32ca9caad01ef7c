/* profile_file.c - profile files, "clotho.profile/1" (docs/FORMATS.md): the machine, the build, and an entry a line, in
 * order of their keys. The same entries give the same bytes. */
#include "io/text/json_read.h"
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/clotho/machine.h"
#include "io/text/json_scan.h"
#include "io/text/parse.h"

#include <clotho/memory.h>

#include <string.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif
#define PROFILE_BYTES_MAX ((size_t)256 << 20)

static void write_word(clo_text *text, const char *name, uint64_t word)
{
    clo_text_add(text, word <= CLO_JSON_INTEGER_MAX ? ", \"%s\": %llu" : ", \"%s\": \"%llx\"", name,
                 (unsigned long long)word);
}

static void write_entry(const clo_profile_entry *e, clo_memory_part part, bool is_first, clo_text *text)
{
    clo_text_add(text, is_first ? "\n    {\"codelet\": " : ",\n    {\"codelet\": ");
    clo_text_add_json(text, e->codelet);
    if (e->version > 0)
        clo_text_add(text, ", \"version\": %u", (unsigned)e->version);
    clo_text_add(text, ", \"kind\": ");
    clo_text_add_json(text, e->kind);
    write_word(text, "footprint", e->footprint);
    write_word(text, "bytes", e->bytes);
    write_word(text, "samples", e->samples);
    clo_text_add(text, ", \"location_ns\": %lld, \"spread_ns\": %lld, \"p90_ns\": %lld, \"max_ns\": %lld",
                 (long long)e->location_ns, (long long)e->spread_ns, (long long)e->high_ns, (long long)e->most_ns);
    if (e->mean_ns > 0)
        clo_text_add(text, ", \"mean_ns\": %lld", (long long)e->mean_ns);
    if (e->level_changes > 0)
        clo_text_add(text, ", \"level_changes\": %u", (unsigned)e->level_changes);
    if (e->is_assumed)
        clo_text_add(text, ", \"assumed\": true");
    if (part.share_q16 > 0)
        clo_text_add(text, ", \"memory_share_q16\": %u, \"memory_MBps\": %u", (unsigned)part.share_q16,
                     (unsigned)part.mbps);
    clo_text_add(text, ", \"newest\": %lld}", (long long)e->newest_s);
}

static clo_status write_head(clo_text *text)
{
    char program[2 * 64 + 1];
    clo_machine machine;
    clo_status status = clo_machine_read("", &machine);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, "{\n  \"format\": \"clotho.profile/1\",\n  \"machine\": {\"architecture\": ");
    clo_text_add_json(text, machine.architecture);
    clo_text_add(text, ", \"cpus\": ");
    clo_text_add_json(text, machine.cpus.data != NULL ? machine.cpus.data : "");
    clo_machine_describe("", text);
    clo_text_free(&machine.cpus);
    clo_machine_program(program, sizeof program);
    clo_text_add(text, "},\n  \"build\": {\"compiler\": ");
    clo_text_add_json(text, COMPILER);
    clo_text_add(text, ", \"program\": \"%s\"},\n", program);
    return CLO_OK;
}

static void write_runs(const clo_run_spread *runs, clo_text *text)
{
    if (runs->runs == 0)
        return;
    clo_text_add(text, "  \"runs\": {");
    clo_text_add(text, "\"location_q16\": %lld, \"spread_q16\": %lld, \"p90_q16\": %lld, \"max_q16\": %lld",
                 (long long)runs->location_q16, (long long)runs->spread_q16, (long long)runs->high_q16,
                 (long long)runs->most_q16);
    write_word(text, "samples", runs->runs);
    clo_text_add(text, ", \"newest\": %lld},\n", (long long)runs->newest_s);
}

clo_status clo_profile_save(const clo_profile *profile, const char *path)
{
    if (profile == NULL || path == NULL)
        return clo_fail_null("clo_profile_save", "profile or path");
    clo_text text = {0};
    clo_profile_entry entry;
    bool is_first = true;
    char *data = NULL;
    const clo_run_spread runs = clo_profile_run_spread(profile);
    clo_status status = write_head(&text);

    write_runs(&runs, &text);
    clo_text_add(&text, "  \"entries\": [");
    for (uint32_t i = 0; status == CLO_OK && i < clo_profile_entries(profile); i++)
        if (clo_profile_entry_at(profile, i, &entry) == CLO_OK && entry.codelet[0] != CLO_CODELET_ADDRESS) {
            write_entry(&entry, clo_profile_memory_part(profile, i), is_first, &text);
            is_first = false;
        }
    clo_text_add(&text, is_first ? "]\n}\n" : "\n  ]\n}\n");
    if (status != CLO_OK) {
        clo_text_free(&text);
        return status;
    }
    status = clo_text_take(&text, &data);
    if (status == CLO_OK)
        status = clo_file_write(path, data, strlen(data));
    clo_free(data);
    return status;
}

/* "x86_64, AuthenticAMD 25 17 1". */
static clo_status read_machine(const clo_json *json, bool *is_here)
{
    const cJSON *object;
    const char *architecture = NULL, *cpus = NULL;
    clo_machine machine;
    clo_status status = clo_json_get(json, json->root, "machine", true, &object);

    if (status == CLO_OK)
        status = clo_json_get_string(json, object, "architecture", &architecture);
    if (status == CLO_OK)
        status = clo_json_get(json, object, "cpus", true, &object);
    if (status == CLO_OK)
        status = clo_json_text(json, object, &cpus);
    if (status == CLO_OK)
        status = clo_machine_read("", &machine);
    if (status != CLO_OK)
        return status;
    const char *here = machine.cpus.data != NULL ? machine.cpus.data : "";
    *is_here = strcmp(machine.architecture, architecture) == 0 && strcmp(here, cpus) == 0;
    if (!*is_here) /* for the caller who minds */
        (void)clo_fail(
            CLO_ERR_PLATFORM,
            "%s: measured on another machine (%.20s, %.60s; here: %.20s, %.60s); measure here, or take it as "
            "assumed (--foreign)",
            json->file, architecture, cpus, machine.architecture, here);
    clo_text_free(&machine.cpus);
    return CLO_OK;
}

static clo_status read_time(const clo_json *json, const cJSON *object, const char *key, int64_t *ns)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, object, key, true, &item);

    return status == CLO_OK ? clo_json_integer(json, item, INT64_C(1) << 52, ns) : status;
}

/* Zeros where the file has none. */
static clo_status read_runs(const clo_json *json, clo_run_spread *runs)
{
    static const char *const known[] = {"location_q16", "spread_q16", "p90_q16", "max_q16", "samples", "newest", NULL};
    const cJSON *object = NULL;
    clo_status status = clo_json_get(json, json->root, "runs", false, &object);

    *runs = (clo_run_spread){0};
    if (status != CLO_OK || object == NULL)
        return status;
    status = clo_json_keys(json, object, known);
    if (status == CLO_OK)
        status = read_time(json, object, "location_q16", &runs->location_q16);
    if (status == CLO_OK)
        status = read_time(json, object, "spread_q16", &runs->spread_q16);
    if (status == CLO_OK)
        status = read_time(json, object, "p90_q16", &runs->high_q16);
    if (status == CLO_OK)
        status = read_time(json, object, "max_q16", &runs->most_q16);
    if (status == CLO_OK)
        status = clo_json_get_word(json, object, "samples", &runs->runs);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "newest", CLO_JSON_INTEGER_MAX, &runs->newest_s);
    if (status == CLO_OK && (runs->runs == 0 || runs->runs > INT64_MAX))
        return clo_json_fail(json, CLO_ERR_FORMAT, object, "has no samples; remove it");
    return status;
}

/* Both keys or none; zeros: none. */
static clo_status read_part(const clo_json *json, const cJSON *object, clo_memory_part *part)
{
    int64_t share_q16 = 0, mbps = 0;
    clo_status status = clo_json_get_integer(json, object, "memory_share_q16", CLO_MEMORY_SHARE_ONE, &share_q16);

    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "memory_MBps", CLO_MEMORY_MBPS_MAX, &mbps);
    if (status == CLO_OK && (share_q16 == 0) != (mbps == 0))
        return clo_json_fail(json, CLO_ERR_FORMAT, object,
                             "has one of memory_share_q16 and memory_MBps; give both, above 0, or none");
    *part = (clo_memory_part){(uint32_t)share_q16, (uint32_t)mbps};
    return status;
}

static clo_status read_entry(const clo_json *json, const cJSON *object, clo_profile_entry *e)
{
    static const char *const known[] = {"codelet", "version",     "kind",          "footprint",        "bytes",
                                        "samples", "location_ns", "spread_ns",     "p90_ns",           "max_ns",
                                        "newest",  "assumed",     "level_changes", "memory_share_q16", "memory_MBps",
                                        "mean_ns", NULL};
    int64_t version = 0, changes = 0;
    bool is_assumed = false;
    clo_status status = clo_json_keys(json, object, known);

    *e = (clo_profile_entry){0};
    if (status == CLO_OK)
        status = clo_json_get_string(json, object, "codelet", &e->codelet);
    if (status == CLO_OK)
        status = clo_json_get_string(json, object, "kind", &e->kind);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "version", UINT32_MAX, &version);
    if (status == CLO_OK)
        status = clo_json_get_word(json, object, "footprint", &e->footprint);
    if (status == CLO_OK)
        status = clo_json_get_word(json, object, "bytes", &e->bytes);
    if (status == CLO_OK)
        status = clo_json_get_word(json, object, "samples", &e->samples);
    if (status == CLO_OK)
        status = read_time(json, object, "location_ns", &e->location_ns);
    if (status == CLO_OK)
        status = read_time(json, object, "spread_ns", &e->spread_ns);
    if (status == CLO_OK)
        status = read_time(json, object, "p90_ns", &e->high_ns);
    if (status == CLO_OK)
        status = read_time(json, object, "max_ns", &e->most_ns);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "mean_ns", INT64_C(1) << 52, &e->mean_ns);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "level_changes", UINT32_MAX, &changes);
    if (status == CLO_OK)
        status = clo_json_get_boolean(json, object, "assumed", &is_assumed);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "newest", CLO_JSON_INTEGER_MAX, &e->newest_s);
    if (status == CLO_OK && (strlen(e->codelet) > 255 || strlen(e->kind) > 255))
        status = clo_json_fail(json, CLO_ERR_FORMAT, object, "has a codelet or a kind of more than 255 bytes");
    e->version = (uint32_t)version;
    e->level_changes = (uint32_t)changes;
    e->is_assumed = is_assumed;
    if (status == CLO_OK && e->codelet[0] == CLO_CODELET_ADDRESS)
        return clo_json_fail(json, CLO_ERR_FORMAT, object, "is an address of a process that has ended; remove it");
    return status;
}

typedef struct entry {
    clo_profile_entry times;
    clo_memory_part memory;
} entry;

/* All entries, before the first one is merged: all or nothing. */
static clo_status read_entries(const clo_json *json, bool is_foreign, entry **out, uint32_t *count)
{
    const cJSON *list, *item;
    clo_status status = clo_json_get_array(json, json->root, "entries", true, &list);

    if (status != CLO_OK)
        return status;
    size_t size = (size_t)cJSON_GetArraySize(list);
    if (size > CLO_PROFILE_ENTRIES_MAX)
        return clo_json_fail(json, CLO_ERR_LIMIT, list, "has %zu entries; a profile holds at most %u", size,
                             CLO_PROFILE_ENTRIES_MAX);
    entry *entries = clo_allocate(size, sizeof *entries);
    if (entries == NULL)
        return clo_fail_memory("the entries of a profile");
    *count = 0;
    cJSON_ArrayForEach (item, list) {
        status = read_entry(json, item, &entries[*count].times);
        if (status == CLO_OK)
            status = read_part(json, item, &entries[*count].memory);
        if (status == CLO_OK && entries[*count].times.samples == 0)
            status = clo_json_fail(json, CLO_ERR_FORMAT, item, "has no samples; remove it");
        if (status != CLO_OK)
            break;
        entries[(*count)++].times.is_assumed |= is_foreign;
    }
    if (status != CLO_OK)
        clo_free(entries);
    else
        *out = entries;
    return status;
}

static clo_status merge_entries(clo_profile *profile, const clo_json *json, bool is_foreign)
{
    entry *entries = NULL;
    clo_run_spread runs;
    uint32_t count = 0;
    clo_status status = read_runs(json, &runs);

    if (status == CLO_OK)
        status = read_entries(json, is_foreign, &entries, &count);
    for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
        status = clo_profile_add(profile, &entries[i].times);
        if (status == CLO_OK && entries[i].memory.share_q16 > 0)
            status = clo_profile_add_memory_part(profile, &entries[i].times, &entries[i].memory);
    }
    clo_free(entries);
    if (status == CLO_OK && runs.runs > 0 && !is_foreign)
        status = clo_profile_add_run_spread(profile, &runs);
    return status == CLO_OK ? clo_profile_publish(profile) : status;
}

static clo_status read_file(clo_profile *profile, const clo_json *json, uint32_t flags)
{
    static const char *const known[] = {"format", "machine", "build", "runs", "entries", NULL};
    const cJSON *format;
    const char *name = NULL;
    bool is_here = false;
    clo_status status = clo_json_get(json, json->root, "format", true, &format);

    if (status == CLO_OK)
        status = clo_json_text(json, format, &name);
    if (status == CLO_OK && strcmp(name, "clotho.profile/1") != 0)
        return clo_json_fail(json, CLO_ERR_FORMAT, format,
                             "is \"%.60s\", no file of measured times (\"clotho.profile/1\"); make one with 'clotho "
                             "calibrate' or 'clotho run --learn'",
                             name);
    if (status == CLO_OK)
        status = clo_json_keys(json, json->root, known);
    if (status == CLO_OK)
        status = read_machine(json, &is_here);
    if (status == CLO_OK && !is_here && (flags & CLO_PROFILE_FOREIGN) == 0)
        return CLO_ERR_PLATFORM;
    return status == CLO_OK ? merge_entries(profile, json, !is_here) : status;
}

clo_status clo_profile_parse(clo_profile *profile, const char *name, const char *text, size_t text_bytes,
                             uint32_t flags)
{
    clo_source source = {.name = name, .text = text, .bytes = text_bytes};
    clo_json json;
    clo_status status = clo_text_check(&source);

    if (status == CLO_OK)
        status = clo_json_open(&json, &source);
    if (status != CLO_OK)
        return status;
    status = read_file(profile, &json, flags);
    clo_json_close(&json);
    return status;
}

clo_status clo_profile_load(clo_profile *profile, const char *path, uint32_t flags)
{
    char *text;
    size_t bytes;

    if (profile == NULL || path == NULL)
        return clo_fail_null("clo_profile_load", "profile or path");
    if ((flags & ~CLO_PROFILE_FOREIGN) != 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_profile_load: flags 0x%x; give 0 or CLO_PROFILE_FOREIGN", flags);
    clo_status status = clo_file_read(path, PROFILE_BYTES_MAX, &text, &bytes);
    if (status != CLO_OK)
        return status;
    status = clo_profile_parse(profile, path, text, bytes, flags);
    clo_free(text);
    return status;
}
