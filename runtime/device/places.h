/* device/places.h - the memory of executions that are open at the device. */
#ifndef CLO_DEVICE_PLACES_H
#define CLO_DEVICE_PLACES_H

#include "device/state.h"

/* Places of at least `bytes` each; those that are large enough stay. The caller holds the device. */
clo_status clo_places_make(clo_device *device, uint64_t bytes);

/* The free place for a request that has the most of what it reads; there is one. Sets its views, offsets and is_kept.
 * CLO_NONE: places are too small, or the call lacks an operand. */
uint32_t clo_places_choose(clo_device *device, const clo_request *request);

/* Gives them back to the driver. */
void clo_places_drop(clo_device *device);

#endif
