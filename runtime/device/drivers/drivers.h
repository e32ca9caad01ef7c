/* device/drivers/drivers.h - the drivers of the library. */
#ifndef CLO_DEVICE_DRIVERS_DRIVERS_H
#define CLO_DEVICE_DRIVERS_DRIVERS_H

#include <clotho/device.h>

/* null.c: the driver "null": a device of this process, with times and faults as its user says. */

extern const clo_driver clo_driver_null;

/* opencl.c: the driver "opencl". */

extern const clo_driver clo_driver_opencl;

#endif
