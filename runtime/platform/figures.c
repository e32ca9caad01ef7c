/* figures.c - numbers as people read them, in integers only: no locale, the same text on every machine. */
#include "platform/describe.h"

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
