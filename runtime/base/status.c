/* status.c - error texts and versioned structs. The only state is one thread-local line. */
#include "base/status.h"

#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#define ERROR_BYTES sizeof(clo_fail_text)
#define RESULT_BYTES_MAX 4096 /* no release has a result struct as large: a larger size was never set */

static _Thread_local char last_error[ERROR_BYTES];
static _Thread_local size_t texts;

const char *clo_status_text(clo_status status)
{
    switch (status) {
#define X(name, value, text) \
    case CLO_##name:         \
        return text;
        CLO_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *clo_last_error(void)
{
    return last_error;
}

const char *clo_version(void)
{
    return CLO_VERSION;
}

const char *clo_printable(const char *text, char *out, size_t bytes)
{
    char next[CLO_VISIBLE_BYTES];
    size_t used = 0, more;

    if (out == NULL)
        return "";
    for (; text != NULL && *text != '\0' && used + (more = clo_visible(&text, next)) < bytes; used += more)
        memcpy(out + used, next, more);
    if (bytes > 0)
        out[used] = '\0';
    return out;
}

clo_status clo_fail(clo_status status, const char *format, ...)
{
    char text[ERROR_BYTES]; /* the arguments may point into last_error */
    va_list arguments;

    va_start(arguments, format);
    clo_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    clo_printable(text, last_error, sizeof last_error); /* one line for a terminal, whatever names are in it */
    texts++;
    return status;
}

size_t clo_fail_texts(void)
{
    return texts;
}

void clo_fail_keep(clo_fail_text *kept)
{
    memcpy(kept->text, last_error, sizeof kept->text);
}

void clo_fail_put_back(const clo_fail_text *kept)
{
    memcpy(last_error, kept->text, sizeof last_error);
}

clo_status clo_fail_prefix(clo_status status, const char *prefix)
{
    char text[ERROR_BYTES];

    memcpy(text, last_error, sizeof text);
    return clo_fail(status, "%s%s", prefix, text);
}

clo_status clo_fail_memory(const char *what)
{
    return clo_fail(CLO_ERR_MEMORY, "out of memory for %s", what);
}

clo_status clo_fail_null(const char *call, const char *arguments)
{
    return clo_fail(CLO_ERR_ARGUMENT, "%s: %s is NULL", call, arguments);
}

clo_status clo_config_read(void *mine, size_t mine_bytes, const void *theirs, const char *name)
{
    if (theirs == NULL)
        return CLO_OK;

    size_t their_bytes;
    memcpy(&their_bytes, theirs, sizeof their_bytes);
    if (their_bytes < sizeof(size_t))
        return clo_fail(CLO_ERR_ARGUMENT, "%s.size is %zu; initialise it with its ..._INIT", name, their_bytes);

    const unsigned char *bytes = theirs;
    for (size_t i = mine_bytes; i < their_bytes; i++)
        if (bytes[i] != 0)
            return clo_fail(CLO_ERR_ARGUMENT, "%s uses a field that this library does not know", name);

    memcpy(mine, theirs, their_bytes < mine_bytes ? their_bytes : mine_bytes);
    memcpy(mine, &mine_bytes, sizeof mine_bytes);
    return CLO_OK;
}

clo_status clo_result_check(const void *theirs, size_t first_bytes, const char *name)
{
    size_t bytes;

    if (theirs == NULL)
        return CLO_OK;
    memcpy(&bytes, theirs, sizeof bytes);
    if (bytes < first_bytes || bytes > RESULT_BYTES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "%s.size is %zu; initialise it with its ..._INIT", name, bytes);
    return CLO_OK;
}

void clo_result_write(void *theirs, const void *mine, size_t mine_bytes)
{
    const size_t head = sizeof(size_t);
    size_t bytes;

    if (theirs == NULL)
        return;
    memcpy(&bytes, theirs, sizeof bytes);
    assert(bytes >= head && bytes <= RESULT_BYTES_MAX);
    assert(mine_bytes >= head);
    size_t known = bytes < mine_bytes ? bytes : mine_bytes;
    memcpy((char *)theirs + head, (const char *)mine + head, known - head);
    memset((char *)theirs + known, 0, bytes - known);
}
