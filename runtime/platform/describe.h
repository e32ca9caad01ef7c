/* platform/describe.h - pieces of the text that describes a platform. */
#ifndef CLO_PLATFORM_DESCRIBE_H
#define CLO_PLATFORM_DESCRIBE_H

#include "base/text.h"
#include "platform/platform.h"

/* How close two executors are, closest first. */
typedef enum clo_closeness {
    CLO_SAME_CORE,
    CLO_SAME_CLUSTER,
    CLO_SAME_PACKAGE,
    CLO_ACROSS_PACKAGES,
    CLO_TO_ACCELERATOR,
    CLO_UNPLACED, /* a platform made from arrays */
    CLO_CLOSENESS_COUNT
} clo_closeness;

/* One piece of all links of one closeness between executors that do not share a memory. */
typedef struct clo_link_class {
    uint64_t pairs;                         /* ordered; 0: none, and nothing below is set */
    int64_t latency_min_ns, latency_max_ns; /* what the bytes below the piece take */
    uint64_t q32_min, q32_max;              /* ns per byte; 0: unlimited bandwidth */
} clo_link_class;

clo_closeness clo_closeness_of(const clo_platform *platform, uint32_t a, uint32_t b);
const char *clo_closeness_name(clo_closeness closeness);
void clo_link_classes(const clo_platform *platform, uint32_t piece, clo_link_class classes[CLO_CLOSENESS_COUNT]);

/* Speed, size, time and rate for people; `out` of CLO_FIGURE_BYTES. */
#define CLO_FIGURE_BYTES 32
void clo_figure_bytes(uint64_t bytes, char *out);          /* "512K", "3M"                 */
void clo_figure_ns(int64_t ns, char *out);                 /* "38 ns", "171.5 us"          */
void clo_figure_rate(uint64_t ns_per_byte_q32, char *out); /* "6.11 GB/s", "unlimited" */
uint64_t clo_rate_mbps(uint64_t ns_per_byte_q32);          /* 0: unlimited                 */

/* Names from outside: characters up to U+FFFF, anything that is not printable becomes '?'; each takes one column. */
uint32_t clo_text_next(const char **text); /* the next character; not at the end */
uint32_t clo_text_width(const char *text);
void clo_text_put(clo_text *out, uint32_t code);
void clo_text_put_clean(clo_text *out, const char *text, size_t bytes);

/* Boxes for packages, clusters and cores, at most `columns` wide. */
void clo_picture_draw(const clo_platform *platform, uint32_t columns, clo_text *out);

#endif
