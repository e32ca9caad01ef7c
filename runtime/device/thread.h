/* device/thread.h - the thread of a device: from the queue to the driver and back. */
#ifndef CLO_DEVICE_THREAD_H
#define CLO_DEVICE_THREAD_H

#include "device/state.h"

/* Serves the device until it is closed and nothing is open. For pthread_create; `argument` is the clo_device. */
void *clo_device_serve(void *argument);

/* Copies what the kernel reads to the place and gives put, launch and get to the driver. `views` of the place are set.
 * Token: `index` of the place. */
clo_status clo_device_give(clo_device *device, uint32_t index, const clo_kernel *kernel);

#endif
