/* device/drivers/null.h - the driver "null": a device of this process, with times and faults as its user says. */
#ifndef CLO_DEVICE_DRIVERS_NULL_H
#define CLO_DEVICE_DRIVERS_NULL_H

#include <clotho/device.h>

extern const clo_driver clo_driver_null;

#endif
