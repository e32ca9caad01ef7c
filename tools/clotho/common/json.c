/* json.c - see json.h. A latched stream error is looked at once, in json_print. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/json.h"
#include "clotho/common/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at `s` (RFC 3629: no overlong forms, no surrogates), 0 if there is none. */
static int utf8_length(const unsigned char *s)
{
    unsigned low = 0x80, high = 0xbf;
    int length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;

    if (length == 1)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (int i = 2; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static void put_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        int length = utf8_length(s);
        if (length == 0) { /* a stray byte: file names may hold anything */
            fputs("\\ufffd", stream);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(stream, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(stream, "\\u%04x", *s);
        else if (*s == 0xc2 && s[1] < 0xa0) /* control characters of two bytes */
            fprintf(stream, "\\u%04x", s[1]);
        else
            fwrite(s, 1, (size_t)length, stream);
        s += length;
    }
    fputc('"', stream);
}

static bool item(json *out, const char *key)
{
    if (out->stream == NULL)
        return false;
    if (out->comma)
        fputs(", ", out->stream);
    out->comma = true;
    if (key != NULL) {
        put_string(out->stream, key);
        fputs(": ", out->stream);
    }
    return true;
}

void json_begin(json *out)
{
    *out = (json){0};
    out->stream = open_memstream(&out->text, &out->bytes);
    if (out->stream != NULL)
        fputc('{', out->stream);
}

void json_text(json *out, const char *key, const char *value)
{
    if (value == NULL)
        json_null(out, key);
    else if (item(out, key))
        put_string(out->stream, value);
}

void json_integer(json *out, const char *key, int64_t value)
{
    if (item(out, key))
        fprintf(out->stream, "%" PRId64, value);
}

void json_count(json *out, const char *key, uint64_t value)
{
    if (item(out, key))
        fprintf(out->stream, "%" PRIu64, value);
}

void json_real(json *out, const char *key, double value)
{
    char shortest[40];

    if (!isfinite(value)) {
        json_null(out, key);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        if (strtod(shortest, NULL) == value)
            break;
    }
    if (item(out, key))
        fputs(shortest, out->stream);
}

void json_bool(json *out, const char *key, bool value)
{
    if (item(out, key))
        fputs(value ? "true" : "false", out->stream);
}

void json_null(json *out, const char *key)
{
    if (item(out, key))
        fputs("null", out->stream);
}

void json_open(json *out, const char *key, char bracket)
{
    if (item(out, key))
        fputc(bracket, out->stream);
    out->comma = false;
}

void json_close(json *out, char bracket)
{
    if (out->stream != NULL)
        fputc(bracket, out->stream);
    out->comma = true;
}

void json_decisions(json *out, const int64_t decision_ns[4], uint64_t count)
{
    static const char *const keys[] = {"p50", "p99", "p999", "max"};

    json_open(out, "decision_ns", '{');
    for (int i = 0; i < 4; i++)
        if (decision_ns[i] < 0)
            json_null(out, keys[i]);
        else
            json_integer(out, keys[i], decision_ns[i]);
    json_count(out, "count", count);
    json_close(out, '}');
}

void json_drop(json *out)
{
    if (out->stream != NULL)
        fclose(out->stream);
    free(out->text);
    *out = (json){0};
}

int json_print(json *out)
{
    bool failed = out->stream == NULL;

    if (!failed) {
        fputs("}\n", out->stream);
        failed = ferror(out->stream) != 0;
        failed |= fclose(out->stream) != 0;
        out->stream = NULL;
    }
    if (failed) {
        json_drop(out);
        return complain(NULL, "out of memory for the report; free some and try again");
    }
    fwrite(out->text, 1, out->bytes, stdout); /* a full disk is found by report_flush at the end */
    json_drop(out);
    return EXIT_GOOD;
}
