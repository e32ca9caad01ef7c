/* log_read.c - reads log files: see log_file.h. */
#include "io/workload/log_file.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/json_read.h"
#include "io/text/parse.h"
#include "trace/log.h"

#include <clotho/graph.h>

#include <math.h>
#include <string.h>

#define LOG_BYTES_MAX ((size_t)1 << 32)

static const char *const clocks[] = CLO_LOG_CLOCK_NAMES;
static const char *const runs[] = CLO_LOG_RUN_NAMES;

typedef struct reader {
    const char *name, *text;
    size_t bytes, at; /* at: where the line begins */
    size_t line;      /* number of the line, from 1 */
    size_t end;       /* of the line, without its break */
    clo_log *log;
} reader;

static clo_status wrong(const reader *in, const char *what)
{
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s", in->name, in->line, what);
}

/* Goes to the next line; false: there is none. */
static bool next_line(reader *in)
{
    if (in->line > 0)
        in->at = in->end + 1;
    if (in->at >= in->bytes)
        return false;
    const char *found = memchr(in->text + in->at, '\n', in->bytes - in->at);
    in->end = found != NULL ? (size_t)(found - in->text) : in->bytes;
    in->line++;
    return true;
}

static clo_source line_source(const reader *in)
{
    return (clo_source){.name = in->name,
                        .text = in->text + in->at,
                        .bytes = in->end - in->at,
                        .lines_before = in->line - 1,
                        .is_line = true};
}

static clo_status open_line(const reader *in, clo_json *json)
{
    clo_source source = line_source(in);
    clo_status status = clo_text_check(&source);

    return status == CLO_OK ? clo_json_open(json, &source) : status;
}

/* 64 bits as a string, of digits or of 16 hexadecimal ones: JSON numbers are exact up to 2^53 only. */
static clo_status get_number(const clo_json *json, const cJSON *object, const char *key, bool is_hash, uint64_t *out)
{
    const cJSON *item;
    const char *wanted = is_hash ? "16 hexadecimal digits in quotes" : "a whole number of 64 bits in quotes";
    uint64_t base = is_hash ? 16 : 10, value = 0;
    clo_status status = clo_json_get(json, object, key, false, &item);

    if (status != CLO_OK || item == NULL)
        return status;
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0' || (is_hash && strlen(item->valuestring) != 16))
        return clo_json_want(json, item, wanted);
    for (const char *c = item->valuestring; *c != '\0'; c++) {
        uint64_t digit = *c >= '0' && *c <= '9'   ? (uint64_t)(*c - '0')
                         : *c >= 'a' && *c <= 'f' ? (uint64_t)(*c - 'a') + 10
                                                  : 99;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return clo_json_want(json, item, wanted);
    }
    *out = value;
    return CLO_OK;
}

static clo_status get_text(const clo_json *json, const cJSON *object, const char *key, const char **out)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, object, key, false, &item);

    return status == CLO_OK && item != NULL ? clo_json_text(json, item, out) : status;
}

static clo_status read_clock(const clo_json *json, uint32_t *out)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, json->root, "clock", true, &item);

    for (uint32_t c = 0; status == CLO_OK && c < sizeof clocks / sizeof clocks[0]; c++)
        if (cJSON_IsString(item) && strcmp(item->valuestring, clocks[c]) == 0) {
            *out = c;
            return CLO_OK;
        }
    return status == CLO_OK ? clo_json_want(json, item, "\"real\", \"padded\" or \"virtual\"") : status;
}

static clo_status read_run(const clo_json *json, uint32_t *out)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, json->root, "run", false, &item);

    if (status != CLO_OK || item == NULL)
        return status;
    for (uint32_t r = 1; r < sizeof runs / sizeof runs[0]; r++)
        if (cJSON_IsString(item) && strcmp(item->valuestring, runs[r]) == 0) {
            *out = r;
            return CLO_OK;
        }
    return clo_json_want(json, item, "\"simulated\" or \"real\"");
}

/* What a scheduler was told of its run; all may be absent. */
static clo_status read_settings(const clo_json *json, clo_log_header *header)
{
    const cJSON *root = json->root, *item;
    int64_t jobs_max = 0, steps_max = 0;
    clo_status status = read_run(json, &header->run);

    if (status == CLO_OK)
        status = clo_json_get_integer(json, root, "jobs_max", UINT32_MAX - 1, &jobs_max);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, root, "steps_max", UINT32_MAX, &steps_max);
    if (status == CLO_OK)
        status = get_text(json, root, "instance", &header->instance);
    if (status == CLO_OK)
        status = clo_json_get(json, root, "scale", false, &item);
    if (status == CLO_OK && item != NULL &&
        !(cJSON_IsNumber(item) && item->valuedouble > 0 && isfinite(item->valuedouble)))
        return clo_json_want(json, item, "a number > 0");
    if (status == CLO_OK && item != NULL)
        header->scale = item->valuedouble;
    header->jobs_max = (uint32_t)jobs_max;
    header->steps_max = (uint32_t)steps_max;
    return status;
}

static clo_status read_policies(const clo_json *json, clo_log_policy *policies, clo_log_header *header)
{
    static const char *const keys[] = {"name", "argument", NULL};
    const cJSON *array, *item;
    clo_status status = clo_json_get_array(json, json->root, "policies", true, &array);

    if (status != CLO_OK)
        return status;
    if (cJSON_GetArraySize(array) > CLO_LOG_POLICIES_MAX)
        return clo_json_fail(json, CLO_ERR_LIMIT, array, "has %d items; at most %d are read", cJSON_GetArraySize(array),
                             CLO_LOG_POLICIES_MAX);
    cJSON_ArrayForEach (item, array) {
        clo_log_policy *policy = &policies[header->policies_count++];
        status = clo_json_keys(json, item, keys);
        if (status == CLO_OK)
            status = clo_json_get_string(json, item, "name", &policy->name);
        if (status == CLO_OK)
            status = get_text(json, item, "argument", &policy->argument);
        if (status != CLO_OK)
            return status;
    }
    header->policies = policies;
    return CLO_OK;
}

/* Texts and numbers of what the run was made of; all may be absent. */
static clo_status read_origins(const clo_json *json, clo_log_header *header)
{
    const cJSON *root = json->root;
    int64_t jobs = 0;
    bool is_shuffled = false;
    clo_status status = get_text(json, root, "platform", &header->platform);

    if (status == CLO_OK)
        status = get_number(json, root, "platform_hash", true, &header->platform_hash);
    if (status == CLO_OK)
        status = get_text(json, root, "workload", &header->workload);
    if (status == CLO_OK)
        status = get_number(json, root, "workload_hash", true, &header->workload_hash);
    if (status == CLO_OK)
        status = get_number(json, root, "seed", false, &header->seed);
    if (status == CLO_OK)
        status = get_number(json, root, "arrivals_seed", false, &header->arrivals_seed);
    if (status == CLO_OK)
        status = get_text(json, root, "arrivals", &header->arrivals);
    if (status == CLO_OK)
        status = get_text(json, root, "environment", &header->environment);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, root, "jobs", UINT32_MAX - 1, &jobs);
    if (status == CLO_OK)
        status = clo_json_get_boolean(json, root, "shuffled", &is_shuffled);
    header->jobs = (uint32_t)jobs;
    header->shuffled = is_shuffled;
    return status;
}

static clo_status read_header_keys(const clo_json *json, clo_log_policy *policies, clo_log_header *header)
{
    static const char *const keys[] = {"format",    "platform",  "platform_hash", "workload",    "workload_hash",
                                       "seed",      "arrivals",  "arrivals_seed", "jobs",        "shuffled",
                                       "clock",     "executors", "policies",      "run",         "jobs_max",
                                       "steps_max", "scale",     "instance",      "environment", NULL};
    const cJSON *executors;
    int64_t count = 0;
    clo_status status = clo_json_keys(json, json->root, keys);

    if (status == CLO_OK)
        status = read_origins(json, header);
    if (status == CLO_OK)
        status = read_settings(json, header);
    if (status == CLO_OK)
        status = read_clock(json, &header->clock);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "executors", true, &executors);
    if (status == CLO_OK)
        status = clo_json_integer(json, executors, UINT32_MAX - 1, &count);
    header->executors = (uint32_t)count;
    return status == CLO_OK ? read_policies(json, policies, header) : status;
}

static clo_status read_header(reader *in)
{
    clo_log_policy policies[CLO_LOG_POLICIES_MAX] = {{0}};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_json json;

    if (!next_line(in) || !clo_log_is_log(in->text, in->bytes))
        return clo_fail(CLO_ERR_FORMAT,
                        "%s:1: this is no log: its first line must begin with {\"format\":\"" CLO_LOG_FORMAT
                        "\"; give a file that --log wrote",
                        in->name);
    clo_status status = open_line(in, &json);
    if (status != CLO_OK)
        return status;
    status = read_header_keys(&json, policies, &header);
    if (status == CLO_OK)
        status = clo_log_create(&header, 0, &in->log);
    clo_json_close(&json);
    return status;
}

/* A place in the line of a record. `what` is what is missing there, once something is. */
typedef struct cursor {
    const char *at, *end;
    const char *what;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static bool miss(cursor *c, const char *what)
{
    c->what = c->what == NULL ? what : c->what;
    return false;
}

static bool take_char(cursor *c, char wanted, const char *what)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted)
        return miss(c, what);
    c->at++;
    skip_blanks(c);
    return true;
}

static bool take_number(cursor *c, uint64_t max, uint64_t *out, const char *what)
{
    const char *first = c->at;
    uint64_t value = 0;

    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c->at - '0'), &value) || value > max)
            return miss(c, what);
    if (c->at == first || (*first == '0' && c->at - first > 1))
        return miss(c, what);
    *out = value;
    return true;
}

static bool take_signed(cursor *c, int64_t *out, const char *what)
{
    bool is_negative = c->at < c->end && *c->at == '-';
    uint64_t value;

    c->at += is_negative;
    if (!take_number(c, is_negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX, &value, what))
        return false;
    *out = (int64_t)(is_negative ? 0 - value : value);
    return true;
}

/* A number below `none`, or null for `none`, with the comma behind it. */
static bool take_id(cursor *c, uint64_t none, uint64_t *out, const char *what)
{
    if (c->end - c->at >= 4 && memcmp(c->at, "null", 4) == 0) {
        c->at += 4;
        *out = none;
    } else if (!take_number(c, none - 1, out, what)) {
        return false;
    }
    return take_char(c, ',', "a comma");
}

static bool take_kind(cursor *c, uint32_t *what)
{
    if (!take_char(c, '"', "the kind in quotes"))
        return false;
    const char *close = memchr(c->at, '"', (size_t)(c->end - c->at));
    if (close == NULL || !clo_log_kind_find(c->at, (size_t)(close - c->at), what))
        return miss(c, "a known kind of record: docs/FORMATS.md lists them");
    c->at = close + 1;
    return take_char(c, ',', "a comma");
}

static bool take_record(cursor *c, clo_log_record *record)
{
    uint64_t stage, instance, executor;
    bool good = take_char(c, '[', "a record, [now,\"kind\",job,stage,instance,executor,value]") &&
                take_signed(c, &record->now_ns, "the time, a whole number of ns") && take_char(c, ',', "a comma") &&
                take_kind(c, &record->what) && take_id(c, CLO_LOG_NO_JOB, &record->job, "the job's number, or null") &&
                take_id(c, CLO_NONE, &stage, "the stage's number, or null") &&
                take_id(c, CLO_NONE, &instance, "the instance's number, or null") &&
                take_id(c, CLO_NONE, &executor, "the executor's number, or null") &&
                take_signed(c, &record->value, "the value, a whole number") && take_char(c, ']', "]");

    if (!good)
        return false;
    record->stage = (uint32_t)stage;
    record->instance = (uint32_t)instance;
    record->executor = (uint32_t)executor;
    return c->at == c->end || miss(c, "nothing");
}

static clo_status read_record(reader *in)
{
    cursor c = {.at = in->text + in->at, .end = in->text + in->end};
    clo_log_record record = {0};

    if (!take_record(&c, &record))
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: column %zu should be %s; the log was cut or changed, write it again",
                        in->name, in->line, (size_t)(c.at - (in->text + in->at)) + 1, c.what);
    return clo_log_append(in->log, &record) ? CLO_OK : clo_fail_memory("a log");
}

/* The bytes of the file in front of the key "hash" of this line; where there is none, of the whole line. */
static size_t hashed_bytes(const reader *in)
{
    static const char key[] = "\"hash\"";

    for (size_t at = in->at; at + sizeof key - 1 <= in->end; at++)
        if (memcmp(in->text + at, key, sizeof key - 1) == 0)
            return at;
    return in->end;
}

static clo_status read_end(const reader *in, const clo_json *json)
{
    static const char *const keys[] = {"end", "records", "dropped", "hash", NULL};
    uint64_t hash = 0, dropped = 0;
    int64_t records = -1;
    size_t count;
    bool is_end = false;
    clo_status status = clo_json_keys(json, json->root, keys);

    if (status == CLO_OK)
        status = clo_json_get_boolean(json, json->root, "end", &is_end);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, json->root, "records", CLO_JSON_INTEGER_MAX, &records);
    if (status == CLO_OK)
        status = get_number(json, json->root, "dropped", false, &dropped);
    if (status == CLO_OK)
        status = get_number(json, json->root, "hash", true, &hash);
    if (status != CLO_OK)
        return status;
    (void)clo_log_records(in->log, &count);
    if (!is_end || records < 0)
        return wrong(in, "the last line must be {\"end\":true,\"records\":N,...}; the log was changed, write it again");
    if ((uint64_t)records != count)
        return clo_fail(CLO_ERR_FORMAT,
                        "%s:%zu: the last line counts %lld records, %zu stand before it; the log was "
                        "cut or changed, write it again",
                        in->name, in->line, (long long)records, count);
    if (hash != clo_log_hash(in->text, hashed_bytes(in)))
        return wrong(in, "the hash does not agree with the lines before; the log was changed, write it again");
    clo_log_set_dropped(in->log, dropped);
    return CLO_OK;
}

/* The line at the end, and nothing behind it. */
static clo_status close_file(reader *in)
{
    clo_json json;
    clo_status status = open_line(in, &json);

    if (status != CLO_OK)
        return status;
    status = read_end(in, &json);
    clo_json_close(&json);
    while (status == CLO_OK && next_line(in)) {
        cursor c = {.at = in->text + in->at, .end = in->text + in->end};
        skip_blanks(&c);
        if (c.at < c.end)
            return wrong(in, "something stands behind the last line of the log; remove it");
    }
    return status;
}

static clo_status read_log(reader *in)
{
    clo_status status = read_header(in);

    while (status == CLO_OK) {
        if (!next_line(in))
            return clo_fail(CLO_ERR_FORMAT,
                            "%s:%zu: the log ends without its last line; the file was cut, write it again", in->name,
                            in->line);
        cursor c = {.at = in->text + in->at, .end = in->text + in->end};
        skip_blanks(&c);
        if (c.at < c.end && *c.at == '{')
            return close_file(in);
        status = read_record(in);
    }
    return status;
}

clo_status clo_log_parse(const char *name, const char *text, size_t text_bytes, clo_log **out)
{
    reader in = {.name = name, .text = text, .bytes = text_bytes};
    clo_status status = read_log(&in);
    if (status == CLO_OK)
        *out = in.log;
    else
        clo_log_destroy(in.log);
    return status;
}

clo_status clo_log_load(const char *path, clo_log **out)
{
    char *data;
    size_t bytes;

    if (path == NULL || out == NULL)
        return clo_fail_null("clo_log_load", "path or out");
    clo_status status = clo_file_read(path, LOG_BYTES_MAX, &data, &bytes);
    if (status != CLO_OK)
        return status;
    status = clo_log_parse(strcmp(path, "-") == 0 ? "standard input" : path, data, bytes, out);
    clo_free(data);
    return status;
}

bool clo_log_is_log(const char *text, size_t text_bytes)
{
    static const char *const parts[] = {"{", "\"format\"", ":", "\"" CLO_LOG_FORMAT "\""};
    cursor c = {.at = text, .end = text != NULL ? text + text_bytes : NULL};

    for (size_t p = 0; text != NULL && p < sizeof parts / sizeof parts[0]; p++) {
        size_t bytes = strlen(parts[p]);
        skip_blanks(&c);
        if ((size_t)(c.end - c.at) < bytes || memcmp(c.at, parts[p], bytes) != 0)
            return false;
        c.at += bytes;
    }
    return text != NULL;
}
