/* json_read.c - see json_read.h. A value is found again by its ordinal in document order, which tree and text share. */
#include "io/text/json_read.h"

#include "base/status.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 160
#define VALUE_BYTES 80

clo_status clo_json_open(clo_json *json, const clo_source *source)
{
    const char *text = source->text;
    size_t bytes = source->bytes;

    *json = (clo_json){.source = *source, .file = source->name};
    clo_status status = clo_json_scan(source);
    if (status != CLO_OK)
        return status;
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* cJSON misses it in short texts */
    json->root = json->tree = cJSON_ParseWithLength(text + mark, bytes - mark);
    return json->root != NULL ? CLO_OK : clo_fail_memory(source->name); /* the text is known to be JSON */
}

void clo_json_close(clo_json *json)
{
    cJSON_Delete(json->tree);
    json->root = json->tree = NULL;
}

/* Where an item is: its containers from the root down, and how many values stand before it. */
typedef struct place {
    const cJSON *path[CLO_JSON_DEPTH_MAX + 1];
    size_t index[CLO_JSON_DEPTH_MAX + 1]; /* position of path[d] among its siblings */
    size_t depth, ordinal;
} place;

/* Pre-order walk without recursion, until `item` is met. Bounded by the size of the tree. */
static void find_place(const cJSON *root, const cJSON *item, place *p)
{
    *p = (place){.path = {root}};
    while (p->path[p->depth] != item) {
        const cJSON *here = p->path[p->depth];

        p->ordinal++;
        if (here->child != NULL) {
            p->depth++;
            assert(p->depth <= CLO_JSON_DEPTH_MAX);
            p->path[p->depth] = here->child;
            p->index[p->depth] = 0;
            continue;
        }
        while (p->depth > 0 && p->path[p->depth]->next == NULL)
            p->depth--;
        assert(p->depth > 0); /* else `item` is not in the tree */
        p->path[p->depth] = p->path[p->depth]->next;
        p->index[p->depth]++;
    }
}

/* Copies at most `bytes` - 1 bytes, without cutting a UTF-8 sequence. */
static void copy_short(char *to, const char *from, size_t bytes)
{
    size_t length = strlen(from);

    if (length >= bytes) {
        length = bytes - 1;
        while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(to, from, length);
    to[length] = '\0';
}

/* "tasks[7].work_ns"; a path too long for the line keeps its beginning. */
static void write_path(const clo_json *json, const place *p, char *path)
{
    size_t used = 0;

    copy_short(path, json->source.is_line ? "the line" : "the file", PATH_BYTES);
    for (size_t d = 1; d <= p->depth && used < PATH_BYTES - 64; d++) {
        int wrote;
        if (cJSON_IsArray(p->path[d - 1])) {
            wrote = snprintf(path + used, PATH_BYTES - used, "[%zu]", p->index[d]);
        } else {
            char key[48];
            copy_short(key, p->path[d]->string, sizeof key);
            wrote = snprintf(path + used, PATH_BYTES - used, "%s%s", d > 1 ? "." : "", key);
        }
        used += (size_t)wrote;
    }
}

static void write_value(const cJSON *item, char *value)
{
    char text[48];

    if (cJSON_IsNumber(item)) {
        clo_print(value, VALUE_BYTES, "%.15g", item->valuedouble);
    } else if (cJSON_IsString(item)) {
        copy_short(text, item->valuestring, sizeof text);
        snprintf(value, VALUE_BYTES, "\"%s\"", text);
    } else {
        copy_short(value,
                   cJSON_IsArray(item)    ? "an array"
                   : cJSON_IsObject(item) ? "an object"
                   : cJSON_IsTrue(item)   ? "true"
                   : cJSON_IsFalse(item)  ? "false"
                                          : "null",
                   VALUE_BYTES);
    }
}

size_t clo_json_line_of(const clo_json *json, const cJSON *item)
{
    place p;

    find_place(json->tree, item, &p);
    return clo_json_line(&json->source, p.ordinal);
}

clo_status clo_json_fail(const clo_json *json, clo_status status, const cJSON *item, const char *format, ...)
{
    char path[PATH_BYTES], text[512];
    place p;
    va_list arguments;

    va_start(arguments, format);
    clo_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    find_place(json->tree, item, &p);
    write_path(json, &p, path);
    return clo_fail(status, "%s:%zu: %s %s", json->file, clo_json_line(&json->source, p.ordinal), path, text);
}

clo_status clo_json_want(const clo_json *json, const cJSON *item, const char *wanted)
{
    char value[VALUE_BYTES];

    write_value(item, value);
    return clo_json_fail(json, CLO_ERR_FORMAT, item, "is %s; write %s", value, wanted);
}

clo_status clo_json_place(const clo_json *json, const cJSON *item, clo_status status)
{
    char path[PATH_BYTES], prefix[PATH_BYTES + 512];
    place p;

    if (status == CLO_OK || status == CLO_ERR_MEMORY)
        return status;
    find_place(json->tree, item, &p);
    write_path(json, &p, path);
    bool is_whole = p.depth == 0; /* that it is the file is said already */
    snprintf(prefix, sizeof prefix, "%.256s:%zu: %s%s", json->file, clo_json_line(&json->source, p.ordinal),
             is_whole ? "" : path, is_whole ? "" : ": ");
    return clo_fail_prefix(status == CLO_ERR_ARGUMENT ? CLO_ERR_FORMAT : status, prefix);
}

static bool is_known(const char *key, const char *const known[])
{
    for (size_t k = 0; known[k] != NULL; k++)
        if (strcmp(known[k], key) == 0)
            return true;
    return false;
}

/* All but two letters of the longer word are the same, from the left and from the right: a slip. */
static bool is_slip(const char *a, const char *b)
{
    size_t bytes_a = strlen(a), bytes_b = strlen(b), left = 0, right = 0;
    size_t shorter = bytes_a < bytes_b ? bytes_a : bytes_b, longer = bytes_a + bytes_b - shorter;

    while (left < shorter && a[left] == b[left])
        left++;
    while (right < shorter - left && a[bytes_a - 1 - right] == b[bytes_b - 1 - right])
        right++;
    return longer > 3 && left + right + 2 >= longer;
}

static const char *key_near(const char *word, const char *const known[])
{
    for (size_t k = 0; known[k] != NULL; k++)
        if (is_slip(word, known[k]))
            return known[k];
    for (size_t k = 0; known[k] != NULL; k++) /* "work" */
        if (strlen(word) > 2 && strncmp(known[k], word, strlen(word)) == 0)
            return known[k];
    return NULL;
}

/* "from" for "source": what other formats and programs write for our keys. */
static const char *key_meant(const char *word, const char *const known[])
{
    static const char *const pairs[][2] = {{"src", "from"},
                                           {"source", "from"},
                                           {"start", "from"},
                                           {"dst", "to"},
                                           {"dest", "to"},
                                           {"target", "to"},
                                           {"end", "to"},
                                           {"data", "bytes"},
                                           {"size", "bytes"},
                                           {"weight", "bytes"},
                                           {"cost", "work_ns"},
                                           {"runtime", "work_ns"},
                                           {"id", "name"},
                                           {"duration", "work_ns"},
                                           {"time", "work_ns"},
                                           {"nodes", "tasks"},
                                           {"vertices", "tasks"},
                                           {"links", "edges"},
                                           {"dependencies", "edges"}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(pairs[i][0], word) == 0 && is_known(pairs[i][1], known))
            return pairs[i][1];
    return key_near(word, known);
}

clo_status clo_json_keys(const clo_json *json, const cJSON *object, const char *const known[])
{
    if (!cJSON_IsObject(object))
        return clo_json_want(json, object, "an object {...}");
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        if (!is_known(item->string, known)) {
            const char *meant = key_meant(item->string, known);
            if (meant != NULL)
                return clo_json_fail(json, CLO_ERR_FORMAT, item, "is not a known key; did you mean \"%s\"?", meant);
            return clo_json_fail(json, CLO_ERR_FORMAT, item, "is not a known key; correct or remove it");
        }
    return CLO_OK;
}

clo_status clo_json_get(const clo_json *json, const cJSON *object, const char *key, bool required, const cJSON **item)
{
    const cJSON *found = NULL;

    if (!cJSON_IsObject(object))
        return clo_json_want(json, object, "an object {...}");
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        if (strcmp(member->string, key) != 0)
            continue;
        if (found != NULL)
            return clo_json_fail(json, CLO_ERR_FORMAT, member, "is there twice; remove one");
        found = member;
    }
    if (found == NULL && required)
        return clo_json_fail(json, CLO_ERR_FORMAT, object, "has no \"%s\"; add it", key);
    *item = found;
    return CLO_OK;
}

clo_status clo_json_get_array(const clo_json *json, const cJSON *object, const char *key, bool required,
                              const cJSON **item)
{
    const cJSON *found;
    clo_status status = clo_json_get(json, object, key, required, &found);

    if (status != CLO_OK)
        return status;
    if (found != NULL && !cJSON_IsArray(found))
        return clo_json_want(json, found, "an array [...]");
    *item = found;
    return CLO_OK;
}

clo_status clo_json_count(const clo_json *json, const cJSON *item, uint32_t count, const char *what)
{
    if (!cJSON_IsArray(item))
        return clo_json_want(json, item, "an array [...]");
    if ((uint32_t)cJSON_GetArraySize(item) == count)
        return CLO_OK;
    return clo_json_fail(json, CLO_ERR_FORMAT, item, "has %d entries; write %u, one for each %s",
                         cJSON_GetArraySize(item), (unsigned)count, what);
}

clo_status clo_json_get_string(const clo_json *json, const cJSON *object, const char *key, const char **out)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, object, key, true, &item);

    return status == CLO_OK ? clo_json_string(json, item, out) : status;
}

clo_status clo_json_string(const clo_json *json, const cJSON *item, const char **out)
{
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
        return clo_json_want(json, item, "a string in double quotes");
    *out = item->valuestring;
    return CLO_OK;
}

clo_status clo_json_text(const clo_json *json, const cJSON *item, const char **out)
{
    if (!cJSON_IsString(item))
        return clo_json_want(json, item, "a string in double quotes");
    *out = item->valuestring;
    return CLO_OK;
}

clo_status clo_json_boolean(const clo_json *json, const cJSON *item, bool *out)
{
    if (!cJSON_IsBool(item))
        return clo_json_want(json, item, "true or false");
    *out = cJSON_IsTrue(item) != 0;
    return CLO_OK;
}

clo_status clo_json_number(const clo_json *json, const cJSON *item, double *out)
{
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0))
        return clo_json_want(json, item, "a number >= 0");
    if (!isfinite(item->valuedouble))
        return clo_json_fail(json, CLO_ERR_LIMIT, item, "is too large for a number; write a smaller one");
    *out = item->valuedouble;
    return CLO_OK;
}

clo_status clo_json_integer(const clo_json *json, const cJSON *item, int64_t max, int64_t *out)
{
    char value[VALUE_BYTES];

    assert(max <= CLO_JSON_INTEGER_MAX);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0))
        return clo_json_want(json, item, "a whole number >= 0");
    if (item->valuedouble > (double)max) {
        write_value(item, value);
        return clo_json_fail(json, CLO_ERR_LIMIT, item, "is %s; the largest possible is %lld", value, (long long)max);
    }
    if (item->valuedouble != (double)(int64_t)item->valuedouble)
        return clo_json_want(json, item, "a whole number >= 0");
    *out = (int64_t)item->valuedouble;
    return CLO_OK;
}

clo_status clo_json_get_boolean(const clo_json *json, const cJSON *object, const char *key, bool *out)
{
    const cJSON *item = NULL;
    clo_status status = clo_json_get(json, object, key, false, &item);

    return status != CLO_OK || item == NULL ? status : clo_json_boolean(json, item, out);
}

clo_status clo_json_get_integer(const clo_json *json, const cJSON *object, const char *key, int64_t max, int64_t *out)
{
    const cJSON *item = NULL;
    clo_status status = clo_json_get(json, object, key, false, &item);

    return status != CLO_OK || item == NULL ? status : clo_json_integer(json, item, max, out);
}

clo_status clo_json_get_u32(const clo_json *json, const cJSON *object, const char *key, uint32_t *out)
{
    int64_t number = *out;
    clo_status status = clo_json_get_integer(json, object, key, UINT32_MAX, &number);

    if (status == CLO_OK)
        *out = (uint32_t)number;
    return status;
}

clo_status clo_json_get_word(const clo_json *json, const cJSON *object, const char *key, uint64_t *out)
{
    const cJSON *item = NULL;
    int64_t number = 0;
    clo_status status = clo_json_get(json, object, key, false, &item);

    if (status != CLO_OK || item == NULL)
        return status;
    if (cJSON_IsString(item)) {
        size_t digits = strspn(item->valuestring, "0123456789abcdef");
        if (digits == 0 || digits > 16 || item->valuestring[digits] != '\0')
            return clo_json_want(json, item, "1 to 16 digits 0-9, a-f, or a whole number");
        *out = strtoull(item->valuestring, NULL, 16);
        return CLO_OK;
    }
    status = clo_json_integer(json, item, CLO_JSON_INTEGER_MAX, &number);
    if (status == CLO_OK)
        *out = (uint64_t)number;
    return status;
}
