/* figures.c - numbers as people read them, in integers only: no locale, the same text on every machine; and names
 * from outside as a terminal may see them: printable characters, one column each. */
#include "platform/model/figures.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void clo_figure_bytes(uint64_t bytes, char *out)
{
    static const char units[] = "BKMGTPE";
    size_t unit = 0;

    while (bytes >= 1024 && bytes % 1024 == 0 && unit + 2 < sizeof units) {
        bytes /= 1024;
        unit++;
    }
    while (bytes >= 10000 && unit + 2 < sizeof units) { /* not a whole number of the next unit: round */
        bytes = (bytes + 512) / 1024;
        unit++;
    }
    snprintf(out, CLO_FIGURE_BYTES, "%llu%c", (unsigned long long)bytes, units[unit]);
}

/* Thousandths of a unit with three significant figures; whole numbers without a point. */
static void put_scaled(uint64_t thousandths, const char *unit, char *out)
{
    unsigned long long value = thousandths;

    if (value % 1000 == 0)
        snprintf(out, CLO_FIGURE_BYTES, "%llu %s", value / 1000, unit);
    else if (value >= 99950)
        snprintf(out, CLO_FIGURE_BYTES, "%llu %s", (value + 500) / 1000, unit);
    else if (value >= 9995)
        snprintf(out, CLO_FIGURE_BYTES, "%llu.%llu %s", (value + 50) / 1000, (value + 50) % 1000 / 100, unit);
    else
        snprintf(out, CLO_FIGURE_BYTES, "%llu.%02llu %s", (value + 5) / 1000, (value + 5) % 1000 / 10, unit);
}

void clo_figure_ns(int64_t ns, char *out)
{
    uint64_t value = (uint64_t)ns;

    if (value < 1000)
        snprintf(out, CLO_FIGURE_BYTES, "%llu ns", (unsigned long long)value);
    else if (value < 1000000)
        put_scaled(value, "us", out);
    else if (value < 1000000000)
        put_scaled(value / 1000, "ms", out);
    else
        put_scaled(value / 1000000, "s", out);
}

uint64_t clo_rate_mbps(uint64_t ns_per_byte_q32)
{
    if (ns_per_byte_q32 == 0)
        return 0;
    uint64_t mbps = ((1000ull << 32) + ns_per_byte_q32 / 2) / ns_per_byte_q32;
    return mbps == 0 ? 1 : mbps;
}

void clo_figure_rate(uint64_t ns_per_byte_q32, char *out)
{
    uint64_t mbps = clo_rate_mbps(ns_per_byte_q32);

    if (mbps == 0)
        snprintf(out, CLO_FIGURE_BYTES, "unlimited");
    else if (mbps < 1000)
        snprintf(out, CLO_FIGURE_BYTES, "%llu MB/s", (unsigned long long)mbps);
    else
        put_scaled(mbps, "GB/s", out);
}

static uint32_t continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80 ? byte & 0x3fu : UINT32_MAX;
}

uint32_t clo_text_next(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : 0;
    uint32_t code = length == 1 ? s[0] : length == 2 ? s[0] & 0x1fu : s[0] & 0x0fu;

    for (uint32_t i = 1; i < length; i++) { /* a 0 at the end is no continuation: never reads past it */
        uint32_t bits = continuation(s[i]);
        if (bits == UINT32_MAX) {
            length = 0;
            break;
        }
        code = code << 6 | bits;
    }
    *text += length == 0 ? 1 : length;
    bool printable = length > 0 && code >= 0x20 && (code < 0x7f || code >= 0xa0) && (length < 3 || code >= 0x800) &&
                     (code < 0xd800 || code > 0xdfff);
    return printable ? code : '?';
}

uint32_t clo_text_width(const char *text)
{
    uint32_t width = 0;

    for (; *text != '\0'; width++)
        clo_text_next(&text);
    return width;
}

void clo_text_put(clo_text *out, uint32_t code)
{
    char bytes[3];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;

    if (length == 1)
        bytes[0] = (char)code;
    if (length == 2)
        bytes[0] = (char)(0xc0 | code >> 6);
    if (length == 3) {
        bytes[0] = (char)(0xe0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (length > 1)
        bytes[length - 1] = (char)(0x80 | (code & 0x3f));
    clo_text_add_bytes(out, bytes, length);
}

void clo_text_put_clean(clo_text *out, const char *text, size_t bytes)
{
    const char *end = text + bytes;

    while (text < end && *text != '\0')
        clo_text_put(out, clo_text_next(&text));
}
