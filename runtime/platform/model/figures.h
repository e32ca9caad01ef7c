/* platform/model/figures.h - numbers as people read them, and names from outside as a terminal may see them. */
#ifndef CLO_PLATFORM_MODEL_FIGURES_H
#define CLO_PLATFORM_MODEL_FIGURES_H

#include "base/text.h"
#include "library.h"

#include <stddef.h>
#include <stdint.h>

/* Speed, size, time and rate for people; `out` of CLO_FIGURE_BYTES. */
#define CLO_FIGURE_BYTES 32
CLO_INTERNAL void clo_figure_bytes(uint64_t bytes, char *out);          /* "512K", "3M"                 */
CLO_INTERNAL void clo_figure_ns(int64_t ns, char *out);                 /* "38 ns", "171.5 us"          */
CLO_INTERNAL void clo_figure_rate(uint64_t ns_per_byte_q32, char *out); /* "6.11 GB/s", "unlimited" */
CLO_INTERNAL uint64_t clo_rate_mbps(uint64_t ns_per_byte_q32);          /* 0: unlimited                 */

/* Names from outside: characters up to U+FFFF, anything that is not printable becomes '?'; each takes one column. */
CLO_INTERNAL uint32_t clo_text_next(const char **text); /* the next character; not at the end */
CLO_INTERNAL uint32_t clo_text_width(const char *text);
CLO_INTERNAL void clo_text_put(clo_text *out, uint32_t code);
CLO_INTERNAL void clo_text_put_clean(clo_text *out, const char *text, size_t bytes);

#endif
