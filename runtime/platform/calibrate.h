/* platform/calibrate.h - the two parts of calibration: calibrate.c (speeds, and the file), links.c (links). */
#ifndef CLO_PLATFORM_CALIBRATE_H
#define CLO_PLATFORM_CALIBRATE_H

#include "platform/discover.h"
#include "platform/platform.h"

/* What both parts need; borrowed. */
typedef struct clo_calibration {
    clo_progress_fn progress; /* may be NULL */
    void *context;
    clo_native *native;
    uint32_t count;       /* CPUs    */
    const uint32_t *cpus; /* [count] */
} clo_calibration;

void clo_calibration_say(const clo_calibration *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An info attribute of the machine (cpu -1) or a CPU, cut at 600 bytes. */
CLO_NODISCARD clo_status clo_calibration_add(const clo_calibration *c, int32_t cpu, const char *name,
                                             const char *format, ...) __attribute__((format(printf, 4, 5)));

typedef struct clo_links clo_links; /* opaque: what was measured of every pair of CPUs */

/* Measures all pairs (two CPUs or more), fits the pieces and judges them at the sizes that were held aside; says all
 * that. Returns CLO_OK, CLO_ERR_SYSTEM, CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_links_measure(const clo_calibration *c, int64_t budget_ns, clo_links **out);
void clo_links_free(clo_links *links); /* NULL is allowed */

/* Adds matrices, errors and sources to the native topology. */
CLO_NODISCARD clo_status clo_links_add(const clo_links *links);

#endif
