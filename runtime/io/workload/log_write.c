/* log_write.c - writes log files: see log_file.h. */
#include "io/workload/log_file.h"

#include "base/memory.h"
#include "base/status.h"

#include <clotho/graph.h>

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char *const clocks[] = CLO_LOG_CLOCK_NAMES;
static const char *const runs[] = CLO_LOG_RUN_NAMES;

static void add_key_text(clo_text *text, const char *key, const char *value)
{
    if (value == NULL)
        return;
    clo_text_add(text, ",\"%s\":", key);
    clo_text_add_json(text, value);
}

static void add_key_number(clo_text *text, const char *key, uint64_t value, bool is_hash)
{
    if (value != 0)
        clo_text_add(text, is_hash ? ",\"%s\":\"%016" PRIx64 "\"" : ",\"%s\":\"%" PRIu64 "\"", key, value);
}

static void write_header(const clo_log_header *header, clo_text *text)
{
    assert(header->clock < sizeof clocks / sizeof clocks[0]);
    clo_text_add(text, "{\"format\":\"" CLO_LOG_FORMAT "\"");
    add_key_text(text, "platform", header->platform);
    add_key_number(text, "platform_hash", header->platform_hash, true);
    add_key_text(text, "workload", header->workload);
    add_key_number(text, "workload_hash", header->workload_hash, true);
    add_key_number(text, "seed", header->seed, false);
    add_key_number(text, "arrivals_seed", header->arrivals_seed, false);
    add_key_text(text, "arrivals", header->arrivals);
    if (header->jobs > 0)
        clo_text_add(text, ",\"jobs\":%" PRIu32, header->jobs);
    if (header->shuffled != 0)
        clo_text_add(text, ",\"shuffled\":true");
    if (header->run != CLO_LOG_RUN_UNKNOWN)
        clo_text_add(text, ",\"run\":\"%s\"", runs[header->run]);
    if (header->jobs_max > 0)
        clo_text_add(text, ",\"jobs_max\":%" PRIu32, header->jobs_max);
    if (header->steps_max > 0)
        clo_text_add(text, ",\"steps_max\":%" PRIu32, header->steps_max);
    if (header->scale > 0)
        clo_text_add(text, ",\"scale\":%.17g", header->scale);
    add_key_text(text, "instance", header->instance);
    add_key_text(text, "environment", header->environment);
    clo_text_add(text, ",\"clock\":\"%s\",\"executors\":%" PRIu32 ",\"policies\":[", clocks[header->clock],
                 header->executors);
    for (uint32_t p = 0; p < header->policies_count; p++) {
        clo_text_add(text, p > 0 ? ",{\"name\":" : "{\"name\":");
        clo_text_add_json(text, header->policies[p].name);
        add_key_text(text, "argument", header->policies[p].argument);
        clo_text_add(text, "}");
    }
    clo_text_add(text, "]}\n");
}

/* Digits of `value` at `at`; returns their end. */
static char *put_number(char *at, uint64_t value)
{
    char digits[20];
    size_t count = 0;

    do /* at most 20 digits */
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static char *put_signed(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return put_number(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *put_text(char *at, const char *text)
{
    size_t bytes = strlen(text);

    memcpy(at, text, bytes);
    return at + bytes;
}

static char *put_field(char *at, uint32_t value)
{
    *at++ = ',';
    return value == CLO_NONE ? put_text(at, "null") : put_number(at, value);
}

enum { LINE_BYTES = 160 };

/* [now,"kind",job,stage,instance,executor,value] */
static clo_status write_record(const clo_log_record *record, clo_text *text)
{
    char line[LINE_BYTES], *at = line;
    const char *kind = clo_log_kind_name(record->what);

    if (kind[0] == '?')
        return clo_fail(CLO_ERR_ARGUMENT, "clo_log_save: a record is of kind %u; use CLO_LOG_...", record->what);
    *at++ = '[';
    at = put_signed(at, record->now_ns);
    at = put_text(at, ",\"");
    at = put_text(at, kind);
    at = put_text(at, "\",");
    at = record->job == CLO_LOG_NO_JOB ? put_text(at, "null") : put_number(at, record->job);
    at = put_field(at, record->stage);
    at = put_field(at, record->instance);
    at = put_field(at, record->executor);
    *at++ = ',';
    at = put_signed(at, record->value);
    at = put_text(at, "]\n");
    assert(at <= line + sizeof line);
    clo_text_add_bytes(text, line, (size_t)(at - line));
    return CLO_OK;
}

clo_status clo_log_print(const clo_log *log, clo_text *text)
{
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);
    clo_status status = CLO_OK;

    write_header(clo_log_about(log), text);
    for (size_t i = 0; i < count && status == CLO_OK && !text->failed; i++)
        status = write_record(&records[i], text);
    if (status != CLO_OK)
        return status;
    clo_text_add(text, "{\"end\":true,\"records\":%zu,\"dropped\":\"%" PRIu64 "\",", count, clo_log_dropped(log));
    uint64_t hash = text->failed ? 0 : clo_log_hash(text->data, text->bytes);
    clo_text_add(text, "\"hash\":\"%016" PRIx64 "\"}\n", hash);
    return CLO_OK;
}

clo_status clo_log_save(const clo_log *log, const char *path)
{
    clo_text text = {0};
    char *data;

    if (log == NULL || path == NULL)
        return clo_fail_null("clo_log_save", "log or path");
    clo_status status = clo_log_print(log, &text);
    size_t bytes = text.bytes;
    if (status != CLO_OK) {
        clo_text_free(&text);
        return status;
    }
    status = clo_text_take(&text, &data);
    if (status != CLO_OK)
        return status;
    status = clo_file_write(path, data, bytes);
    clo_free(data);
    return status;
}
