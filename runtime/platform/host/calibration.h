/* platform/host/calibration.h - what both parts of calibration need: calibrate.c (speeds, and the file), links.c. */
#ifndef CLO_PLATFORM_HOST_CALIBRATION_H
#define CLO_PLATFORM_HOST_CALIBRATION_H

#include "platform/build/discover.h"
#include "platform/model/platform.h"

/* Borrowed. */
typedef struct clo_calibration {
    /* may be NULL */
    clo_progress_fn progress;
    void *context;
    clo_native *native;
    /* CPUs */
    uint32_t count;
    /* [count] */
    const uint32_t *cpus;
} clo_calibration;

void clo_calibration_say(const clo_calibration *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An info attribute of the machine (cpu -1) or a CPU, cut at 600 bytes. */
CLO_NODISCARD clo_status clo_calibration_add(const clo_calibration *c, int32_t cpu, const char *name,
                                             const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
