/* camera.h - a camera's pipeline with a network on an NPU. */
#ifndef CLO_BENCH_DEVICE_CAMERA_H
#define CLO_BENCH_DEVICE_CAMERA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct camera_result {
    int64_t bound_ns, planned_ns; /* of the interval: lower bound, plan */
    double interval_ns;           /* as it was */
} camera_result;

/* Runs so many frames, three in flight, as fast as they go. Prints what fails. */
bool camera_run(uint32_t frames, camera_result *out);

#endif
