/* device/drivers/opencl.h - the driver "opencl". */
#ifndef CLO_DEVICE_DRIVERS_OPENCL_H
#define CLO_DEVICE_DRIVERS_OPENCL_H

#include <clotho/device.h>

extern const clo_driver clo_driver_opencl;

#endif
