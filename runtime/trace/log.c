/* log.c - the log of a scheduler: an array of records in order, and the header, copied.
 *
 * Invariant: the records are always the beginning of the run. Once one is dropped, no later one is kept. */
#include "trace/log.h"

#include "base/memory.h"
#include "base/status.h"
#include "trace/log_kinds.h"

#include <clotho/graph.h>

#include <assert.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(clo_log_record) == 40, "records have no padding: they are compared and hashed as bytes");

enum { CLOCKS = 3, CAPACITY_MIN = 1024 };

struct clo_log {
    clo_log_header header;    /* texts and policies lie in `texts` and `policies` */
    clo_log_policy *policies; /* [CLO_LOG_POLICIES_MAX] */
    char *texts;
    char **more_texts; /* [CLO_LOG_POLICIES_MAX] of policies that were added; NULL: none */
    clo_log_record *records;
    size_t count, capacity;
    bool grows;
    uint64_t dropped;
};

static size_t text_bytes(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static clo_status check_header(const clo_log_header *header)
{
    if (header->clock >= CLOCKS)
        return clo_fail(CLO_ERR_ARGUMENT, "a log's clock is %u; use CLO_CLOCK_...", header->clock);
    if (header->policies_count > CLO_LOG_POLICIES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "a log names %u policies; at most %d can be named", header->policies_count,
                        CLO_LOG_POLICIES_MAX);
    if (header->policies_count > 0 && header->policies == NULL)
        return clo_fail_null("clo_log_create", "header->policies");
    if (header->run > CLO_LOG_RUN_REAL)
        return clo_fail(CLO_ERR_ARGUMENT, "a log's run is %u; use CLO_LOG_RUN_...", header->run);
    if (!(header->scale >= 0 && header->scale <= DBL_MAX))
        return clo_fail(CLO_ERR_ARGUMENT, "a log's scale is %g; use a number >= 0", header->scale);
    for (uint32_t p = 0; p < header->policies_count; p++)
        if (header->policies[p].name == NULL)
            return clo_fail(CLO_ERR_ARGUMENT, "policy %u of a log has no name", p);
    return CLO_OK;
}

/* Moves *text to `at` and returns where the next one goes. */
static char *move_text(const char **text, char *at)
{
    size_t bytes = text_bytes(*text);

    if (bytes > 0) {
        memcpy(at, *text, bytes);
        *text = at;
    }
    return at + bytes;
}

/* Copies what the header points to. On a failure clo_log_destroy frees the rest. */
static clo_status own_header(clo_log *log)
{
    clo_log_header *header = &log->header;
    size_t bytes = text_bytes(header->platform) + text_bytes(header->workload) + text_bytes(header->arrivals) +
                   text_bytes(header->instance) + text_bytes(header->environment);

    for (uint32_t p = 0; p < header->policies_count; p++)
        bytes += text_bytes(header->policies[p].name) + text_bytes(header->policies[p].argument);
    log->policies = clo_allocate(CLO_LOG_POLICIES_MAX, sizeof log->policies[0]);
    log->more_texts = clo_allocate(CLO_LOG_POLICIES_MAX, sizeof log->more_texts[0]);
    log->texts = clo_allocate(bytes, 1);
    if (log->policies == NULL || log->more_texts == NULL || log->texts == NULL)
        return clo_fail_memory("a log");
    if (header->policies_count > 0)
        memcpy(log->policies, header->policies, header->policies_count * sizeof log->policies[0]);
    header->policies = log->policies;
    char *at = move_text(&header->platform, log->texts);
    at = move_text(&header->workload, at);
    at = move_text(&header->arrivals, at);
    at = move_text(&header->instance, at);
    at = move_text(&header->environment, at);
    for (uint32_t p = 0; p < header->policies_count; p++) {
        at = move_text(&log->policies[p].name, at);
        at = move_text(&log->policies[p].argument, at);
    }
    assert(at == log->texts + bytes);
    return CLO_OK;
}

clo_status clo_log_create(const clo_log_header *header, size_t capacity, clo_log **out)
{
    clo_log_header mine = CLO_LOG_HEADER_INIT;

    if (out == NULL)
        return clo_fail_null("clo_log_create", "out");
    clo_status status = clo_config_read(&mine, sizeof mine, header, "clo_log_header");
    if (status == CLO_OK)
        status = check_header(&mine);
    if (status != CLO_OK)
        return status;
    clo_log *log = clo_allocate(1, sizeof *log);
    if (log == NULL)
        return clo_fail_memory("a log");
    *log = (clo_log){.header = mine, .capacity = capacity, .grows = capacity == 0};
    status = own_header(log);
    if (status == CLO_OK && capacity > 0) {
        log->records = clo_allocate_aligned(capacity, sizeof log->records[0]);
        status = log->records != NULL ? CLO_OK : clo_fail_memory("a log");
    }
    if (status != CLO_OK) {
        clo_log_destroy(log);
        return status;
    }
    *out = log;
    return CLO_OK;
}

void clo_log_destroy(clo_log *log)
{
    if (log == NULL)
        return;
    for (uint32_t p = 0; log->more_texts != NULL && p < CLO_LOG_POLICIES_MAX; p++)
        clo_free(log->more_texts[p]);
    clo_free(log->more_texts);
    clo_free(log->policies);
    clo_free(log->texts);
    clo_free(log->records);
    clo_free(log);
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

clo_status clo_log_add_policy(clo_log *log, const char *name, const char *argument, uint32_t *index)
{
    clo_log_header *header = &log->header;
    uint32_t at = 0;
    while (at < header->policies_count &&
           (!is_same(log->policies[at].name, name) || !is_same(log->policies[at].argument, argument)))
        at++;
    if (at == CLO_LOG_POLICIES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "a log names %d policies; it can name no more", CLO_LOG_POLICIES_MAX);
    if (at == header->policies_count) {
        clo_log_policy policy = {name, argument};
        log->more_texts[at] = clo_allocate(text_bytes(name) + text_bytes(argument), 1);
        if (log->more_texts[at] == NULL)
            return clo_fail_memory("a log");
        (void)move_text(&policy.argument, move_text(&policy.name, log->more_texts[at]));
        log->policies[at] = policy;
        header->policies_count++;
    }
    if (index != NULL)
        *index = at;
    return CLO_OK;
}

void clo_log_set_run(clo_log *log, const clo_log_run *run)
{
    log->header.run = run->run;
    log->header.clock = run->clock;
    log->header.executors = run->executors;
    log->header.jobs_max = run->jobs_max;
    log->header.steps_max = run->steps_max;
}

bool clo_log_is_bounded(const clo_log *log)
{
    return !log->grows;
}

/* Makes room in a log that grows; false: it stays as it is. */
static bool has_grown(clo_log *log)
{
    void *records = log->records;
    size_t need = log->count < CAPACITY_MIN ? CAPACITY_MIN : log->count + 1;

    if (!log->grows || log->dropped > 0 || clo_grow(&records, &log->capacity, need, sizeof log->records[0]) != 0)
        return false;
    log->records = records;
    return true;
}

bool clo_log_append(clo_log *log, const clo_log_record *record)
{
    if (log == NULL || record == NULL)
        return false;
    if (log->count == log->capacity && !has_grown(log)) {
        log->dropped++;
        return false;
    }
    log->records[log->count++] = *record;
    return true;
}

void clo_log_set_dropped(clo_log *log, uint64_t dropped)
{
    log->dropped = dropped;
}

const clo_log_record *clo_log_records(const clo_log *log, size_t *count)
{
    if (count != NULL)
        *count = log != NULL ? log->count : 0;
    return log != NULL ? log->records : NULL;
}

uint64_t clo_log_dropped(const clo_log *log)
{
    return log != NULL ? log->dropped : 0;
}

const clo_log_header *clo_log_about(const clo_log *log)
{
    return log != NULL ? &log->header : NULL;
}

static const struct {
    uint32_t what;
    const char *name;
} kinds[] = {
#define X(name, value, text) {CLO_LOG_##name, text},
    CLO_LOG_KINDS(X) CLO_LOG_PROTOCOL_KINDS(X)
#undef X
};

const char *clo_log_kind_name(uint32_t what)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (kinds[k].what == what)
            return kinds[k].name;
    return "?";
}

bool clo_log_kind_find(const char *name, size_t bytes, uint32_t *what)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strlen(kinds[k].name) == bytes && memcmp(kinds[k].name, name, bytes) == 0) {
            *what = kinds[k].what;
            return true;
        }
    return false;
}

/* Appends ", NAME 7" to `out`, unless the number stands for "none". */
static size_t add_field(char *out, size_t bytes, size_t used, const char *name, uint32_t number)
{
    if (number == CLO_NONE || used >= bytes)
        return used;
    int wrote = snprintf(out + used, bytes - used, ", %s %u", name, number);

    return wrote > 0 ? used + (size_t)wrote : used;
}

const char *clo_log_describe(const clo_log_record *record, char *out, size_t bytes)
{
    assert(record != NULL);
    if (bytes == 0)
        return out;
    const char *name = clo_log_kind_name(record->what);
    size_t used = name[0] == '?'
                      ? (size_t)snprintf(out, bytes, "kind %u at %lld ns", record->what, (long long)record->now_ns)
                      : (size_t)snprintf(out, bytes, "%s at %lld ns", name, (long long)record->now_ns);

    if (record->job != CLO_LOG_NO_JOB && used < bytes)
        used += (size_t)snprintf(out + used, bytes - used, ", job %llu", (unsigned long long)record->job);
    used = add_field(out, bytes, used, "stage", record->stage);
    used = add_field(out, bytes, used, "instance", record->instance);
    used = add_field(out, bytes, used, "executor", record->executor);
    if (used < bytes)
        snprintf(out + used, bytes - used, ", value %lld", (long long)record->value);
    return out;
}

enum { RECORD_TEXT_BYTES = 160 };

static void tell_difference(size_t at, const clo_log_record *a, const clo_log_record *b, char *text, size_t bytes)
{
    char first[RECORD_TEXT_BYTES], second[RECORD_TEXT_BYTES];

    if (text == NULL || bytes == 0)
        return;
    if (b == NULL)
        snprintf(text, bytes, "record %zu: only the first log goes on: %s", at,
                 clo_log_describe(a, first, sizeof first));
    else if (a == NULL)
        snprintf(text, bytes, "record %zu: only the second log goes on: %s", at,
                 clo_log_describe(b, first, sizeof first));
    else
        snprintf(text, bytes, "record %zu: %s; in the second log: %s", at, clo_log_describe(a, first, sizeof first),
                 clo_log_describe(b, second, sizeof second));
}

size_t clo_log_first_difference(const clo_log *a, const clo_log *b, char *text, size_t bytes)
{
    size_t a_count, b_count, at = 0;
    const clo_log_record *x = clo_log_records(a, &a_count), *y = clo_log_records(b, &b_count);
    size_t both = a_count < b_count ? a_count : b_count;

    if (text != NULL && bytes > 0)
        text[0] = '\0';
    while (at < both && memcmp(&x[at], &y[at], sizeof x[at]) == 0)
        at++;
    if (at == a_count && at == b_count)
        return CLO_LOG_EQUAL;
    tell_difference(at, at < a_count ? &x[at] : NULL, at < b_count ? &y[at] : NULL, text, bytes);
    return at;
}
