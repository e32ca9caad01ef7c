/* opencl_loader.c - see opencl_loader.h. Nothing links with the loader. */
#include "device/drivers/opencl_loader.h"

#include "base/status.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define PLATFORMS_MAX 16u

clo_status clo_opencl_missing(const char *what)
{
    return clo_fail(CLO_ERR_UNSUPPORTED,
                    "driver opencl: %s; install ocl-icd-libopencl1 and a driver, such as pocl-opencl-icd", what);
}

clo_status clo_opencl_load(clo_opencl *cl)
{
    cl->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (cl->library == NULL)
        return clo_opencl_missing("libOpenCL.so.1 cannot be opened");
#define X(name)                                  \
    {                                            \
        void *found = dlsym(cl->library, #name); \
        memcpy(&cl->name, &found, sizeof found); \
    }
    CL_FUNCTIONS(X)
#undef X
#define X(name) cl->name != NULL &&
    if (CL_FUNCTIONS(X) true)
        return CLO_OK;
#undef X
    return clo_opencl_missing("libOpenCL.so.1 lacks functions of version 1.2");
}

uint32_t clo_opencl_devices(const clo_opencl *cl, cl_device_id *out, uint32_t max)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint platforms_count = 0, count = 0;

    if (cl->clGetPlatformIDs(PLATFORMS_MAX, platforms, &platforms_count) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < platforms_count && p < PLATFORMS_MAX; p++) {
        cl_uint here = 0;
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, max - count, out + count, &here) == CL_SUCCESS)
            count += here < max - count ? here : max - count;
    }
    return count;
}
