/* device/drivers/opencl_loader.h - the functions of OpenCL 1.2, from libOpenCL.so.1, which is opened when it is needed. */
#ifndef CLO_DEVICE_DRIVERS_OPENCL_LOADER_H
#define CLO_DEVICE_DRIVERS_OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clotho/status.h>
#include <stdint.h>

/* Of the loader: X(name). Their types are those of CL/cl.h. */
#define CL_FUNCTIONS(X)                                                                               \
    X(clGetPlatformIDs)                                                                               \
    X(clGetDeviceIDs)                                                                                 \
    X(clGetDeviceInfo)                                                                                \
    X(clCreateContext)                                                                                \
    X(clReleaseContext)                                                                               \
    X(clCreateCommandQueue)                                                                           \
    X(clReleaseCommandQueue) X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo)  \
        X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clCreateBuffer)  \
            X(clCreateSubBuffer) X(clReleaseMemObject) X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer) \
                X(clEnqueueNDRangeKernel) X(clFlush) X(clSetEventCallback) X(clGetEventInfo)          \
                    X(clGetEventProfilingInfo) X(clWaitForEvents) X(clRetainEvent) X(clReleaseEvent)

typedef struct clo_opencl {
    void *library; /* stays open: its devices have threads */
#define X(name) __typeof__(&name) name;
    CL_FUNCTIONS(X)
#undef X
} clo_opencl;

/* CLO_ERR_UNSUPPORTED: there is no loader, or it lacks a function. */
clo_status clo_opencl_load(clo_opencl *cl);

/* CLO_ERR_UNSUPPORTED, with `what` is missing and what to install. */
clo_status clo_opencl_missing(const char *what);

/* All devices of all platforms, at most `max`; their number. */
uint32_t clo_opencl_devices(const clo_opencl *cl, cl_device_id *out, uint32_t max);

#endif
