/* device/places.h - the memory of executions that are open at the device. */
#ifndef CLO_DEVICE_PLACES_H
#define CLO_DEVICE_PLACES_H

#include "device/state.h"

/* Places of at least `bytes` each; those that are large enough stay. The caller holds the device. */
clo_status clo_places_make(clo_device *device, uint64_t bytes);

/* Gives them back to the driver. */
void clo_places_drop(clo_device *device);

#endif
