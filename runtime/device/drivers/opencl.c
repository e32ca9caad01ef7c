/* opencl.c - the driver "opencl".
 *
 * Three queues, each in order: data to the device, kernels, data back; the commands of one execution wait for each other
 * by events, which also pass failures on, so data move beside the kernels of others. A callback of the event behind a
 * token rings a bell, which is all that it does: it may run on any thread, at once, and (PoCL 3.1, pocl#1430) never if a
 * command before it has failed. So poll asks each open event, and the device's thread polls now and then also without a
 * ring. CL_COMPLETE is no synchronisation point: clWaitForEvents follows (pocl#2294). What was abandoned stays
 * allocated: the device may still write to it. */
#include "device/drivers/drivers.h"

#include "base/memory.h"
#include "base/status.h"
#include "device/drivers/bell.h"
#include "device/drivers/opencl_loader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64u
#define KERNELS_MAX 256u
#define LOG_BYTES 65536u
#define DEPTH 2u
#define ALIGN 512u /* of offsets (clo_device_call) */

enum { QUEUE_PUT, QUEUE_RUN, QUEUE_GET, QUEUES };

typedef struct arena {
    cl_mem buffer; /* NULL: free */
    char *host;
    cl_event put, run, get; /* the last of each, of the execution that is open; NULL: none */
} arena;

typedef struct opencl_device {
    clo_opencl cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queues[QUEUES];
    cl_program program;
    cl_kernel kernels[KERNELS_MAX];
    char *names[KERNELS_MAX];
    uint32_t kernels_count;
    clo_bell *bell;
    arena arenas[CLO_DEVICE_DEPTH_MAX];
    uint64_t memory_bytes;
    char name[96];

    /* By token: what is awaited, NULL: nothing; and the kernel before it. */
    cl_event ends[CLO_DEVICE_DEPTH_MAX], runs[CLO_DEVICE_DEPTH_MAX];

    bool is_abandoned;
    struct opencl_device *next_abandoned;
} opencl_device;

/* What abandoned devices may still write to, for ever. */
static pthread_mutex_t abandoned_lock = PTHREAD_MUTEX_INITIALIZER;
static opencl_device *abandoned;

static clo_status failed(const char *what, cl_int code)
{
    clo_status status = code == CL_OUT_OF_HOST_MEMORY ? CLO_ERR_MEMORY : CLO_ERR_SYSTEM;

    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE || code == CL_OUT_OF_RESOURCES)
        status = CLO_ERR_LIMIT;
    return clo_fail(status, "driver opencl: %s failed with code %d", what, (int)code);
}

static clo_status select_device(opencl_device *device, const char *selector)
{
    cl_device_id ids[DEVICES_MAX];
    uint32_t count = clo_opencl_devices(&device->cl, ids, DEVICES_MAX);
    char *end;
    unsigned long wanted = strtoul(selector, &end, 10);
    bool is_number = *selector == 0 || *end == 0;

    if (count == 0)
        return clo_opencl_missing("no platform has a device");
    for (uint32_t d = 0; d < count; d++) {
        char name[sizeof device->name] = "";
        (void)device->cl.clGetDeviceInfo(ids[d], CL_DEVICE_NAME, sizeof name, name, NULL);
        name[sizeof name - 1] = 0;
        if (is_number ? d != wanted : strstr(name, selector) == NULL)
            continue;
        device->id = ids[d];
        memcpy(device->name, name, sizeof name);
        return CLO_OK;
    }
    return clo_fail(CLO_ERR_ARGUMENT,
                    "driver opencl: no device '%.60s'; there are %u: give a number or a part of its name", selector,
                    count);
}

/* The first line of the compiler that says what is wrong. */
static clo_status explain_build(opencl_device *device, cl_int code)
{
    char *log = clo_allocate(1, LOG_BYTES);

    if (log == NULL)
        return clo_fail_memory("a program's messages");
    (void)device->cl.clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG, LOG_BYTES - 1, log, NULL);
    char *line = strstr(log, "error");
    while (line != NULL && line > log && line[-1] != '\n')
        line--;
    line = line != NULL ? line : log;
    line[strcspn(line, "\n")] = 0;
    clo_status status =
        clo_fail(CLO_ERR_FORMAT, "driver opencl: the program does not compile (code %d): %.300s", (int)code, line);
    clo_free(log);
    return status;
}

static clo_status build(opencl_device *device, const char *source, const char *options)
{
    cl_int code;

    if (source == NULL)
        return CLO_OK;
    device->program = device->cl.clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
    if (device->program == NULL)
        return failed("clCreateProgramWithSource", code);
    code = device->cl.clBuildProgram(device->program, 1, &device->id, options, NULL, NULL);
    return code == CL_SUCCESS ? CLO_OK : explain_build(device, code);
}

static clo_status start(opencl_device *device)
{
    cl_ulong memory = 0;
    cl_uint align_bits = 0;
    cl_int code;

    (void)device->cl.clGetDeviceInfo(device->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    (void)device->cl.clGetDeviceInfo(device->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits, NULL);
    device->memory_bytes = memory;
    if (align_bits / 8 > ALIGN)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "driver opencl: device '%s' wants operands on multiples of %u bytes; "
                        "at most %u",
                        device->name, align_bits / 8, ALIGN);
    device->bell = clo_bell_make();
    if (device->bell == NULL)
        return clo_fail(CLO_ERR_SYSTEM, "driver opencl: no eventfd");
    device->context = device->cl.clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    if (device->context == NULL)
        return failed("clCreateContext", code);
    for (int q = 0; q < QUEUES; q++) {
        device->queues[q] =
            device->cl.clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
        if (device->queues[q] == NULL)
            return failed("clCreateCommandQueue", code);
    }
    return CLO_OK;
}

static void drop(const opencl_device *device, cl_event *event)
{
    if (*event != NULL)
        (void)device->cl.clReleaseEvent(*event);
    *event = NULL;
}

static void opencl_release(void *opened, uint64_t number)
{
    opencl_device *device = opened;
    arena *of = &device->arenas[number];

    drop(device, &of->put);
    drop(device, &of->run);
    drop(device, &of->get);
    if (of->buffer != NULL)
        (void)device->cl.clReleaseMemObject(of->buffer);
    clo_free(of->host);
    *of = (arena){0};
}

static void keep_for_ever(opencl_device *device)
{
    pthread_mutex_lock(&abandoned_lock);
    device->next_abandoned = abandoned;
    abandoned = device;
    pthread_mutex_unlock(&abandoned_lock);
}

static void opencl_close(void *opened)
{
    opencl_device *device = opened;

    if (device->is_abandoned) {
        keep_for_ever(device);
        return;
    }
    for (uint32_t a = 0; a < CLO_DEVICE_DEPTH_MAX; a++) {
        drop(device, &device->ends[a]);
        drop(device, &device->runs[a]);
        opencl_release(device, a);
    }
    for (uint32_t k = 0; k < device->kernels_count; k++) {
        (void)device->cl.clReleaseKernel(device->kernels[k]);
        clo_free(device->names[k]);
    }
    if (device->program != NULL)
        (void)device->cl.clReleaseProgram(device->program);
    for (int q = 0; q < QUEUES; q++)
        if (device->queues[q] != NULL)
            (void)device->cl.clReleaseCommandQueue(device->queues[q]);
    if (device->context != NULL)
        (void)device->cl.clReleaseContext(device->context);
    if (device->bell != NULL)
        clo_bell_leave(device->bell);
    clo_free(device);
}

static clo_status opencl_open(const char *selector, const clo_device_config *config, void **out)
{
    opencl_device *device = clo_allocate(1, sizeof *device);

    if (device == NULL)
        return clo_fail_memory("an OpenCL device");
    clo_status status = clo_opencl_load(&device->cl);
    if (status == CLO_OK)
        status = select_device(device, selector);
    if (status != CLO_OK) {
        clo_free(device);
        return status;
    }
    status = start(device);
    if (status == CLO_OK)
        status = build(device, config->program, config->options);
    if (status == CLO_OK)
        *out = device;
    else
        opencl_close(device);
    return status;
}

static void opencl_describe(const void *opened, clo_device_facts *out)
{
    const opencl_device *device = opened;

    memcpy(out->name, device->name, sizeof out->name);
    out->memory_bytes = device->memory_bytes;
    out->depth = DEPTH;
    out->depth_max = CLO_DEVICE_DEPTH_MAX;
    out->has_fd = 1;
    out->fd = clo_bell_fd(device->bell);
}

static clo_status opencl_find(void *opened, const char *name, uint32_t *function)
{
    opencl_device *device = opened;
    uint32_t k = 0;
    cl_int code;

    while (k < device->kernels_count && strcmp(device->names[k], name) != 0)
        k++;
    if (k == KERNELS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "driver opencl: more than %u kernels", KERNELS_MAX);
    if (k == device->kernels_count) {
        if (device->program == NULL)
            return clo_fail(CLO_ERR_ARGUMENT, "driver opencl: no kernel '%.60s': clo_device_config.program is NULL",
                            name);
        device->names[k] = clo_duplicate(name);
        if (device->names[k] == NULL)
            return clo_fail_memory("a kernel");
        device->kernels[k] = device->cl.clCreateKernel(device->program, name, &code);
        if (device->kernels[k] == NULL) {
            clo_free(device->names[k]);
            return clo_fail(CLO_ERR_ARGUMENT, "driver opencl: the program has no kernel '%.60s' (code %d)", name,
                            (int)code);
        }
        device->kernels_count++;
    }
    *function = k;
    return CLO_OK;
}

static clo_status opencl_reserve(void *opened, size_t bytes, clo_device_arena *out)
{
    opencl_device *device = opened;
    uint32_t a = 0;
    cl_int code;

    while (a < CLO_DEVICE_DEPTH_MAX && device->arenas[a].buffer != NULL)
        a++;
    if (a == CLO_DEVICE_DEPTH_MAX)
        return clo_fail(CLO_ERR_LIMIT, "driver opencl: at most %d arenas", CLO_DEVICE_DEPTH_MAX);
    char *host = clo_allocate_aligned(1, bytes);
    if (host == NULL)
        return clo_fail_memory("an arena");
    cl_mem buffer = device->cl.clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (buffer == NULL) {
        clo_free(host);
        return failed("clCreateBuffer", code);
    }
    device->arenas[a] = (arena){.buffer = buffer, .host = host};
    *out = (clo_device_arena){.arena = a, .host = host};
    return CLO_OK;
}

static void CL_CALLBACK ring(cl_event event, cl_int code, void *bell)
{
    (void)event;
    (void)code;
    clo_bell_ring(bell);
    clo_bell_leave(bell);
}

/* The command behind `event` is what `token` stands for. */
static clo_status await(opencl_device *device, uint64_t number, cl_event event, uint32_t token)
{
    if (token == CLO_NONE)
        return CLO_OK;
    (void)device->cl.clRetainEvent(event);
    device->ends[token] = event;
    device->runs[token] = device->arenas[number].run;
    (void)device->cl.clRetainEvent(device->runs[token]);
    clo_bell_use(device->bell);
    cl_int code = device->cl.clSetEventCallback(event, CL_COMPLETE, ring, device->bell);
    if (code == CL_SUCCESS)
        return CLO_OK;
    clo_bell_leave(device->bell);
    return failed("clSetEventCallback", code);
}

static clo_status opencl_put(void *opened, uint64_t number, size_t offset, size_t bytes, uint32_t token)
{
    opencl_device *device = opened;
    arena *of = &device->arenas[number];
    cl_event event;

    (void)token; /* nobody awaits a put */
    cl_int code =
        device->cl.clEnqueueWriteBuffer(device->queues[QUEUE_PUT], of->buffer, CL_FALSE, offset, bytes,
                                        of->host + offset, of->put != NULL, of->put != NULL ? &of->put : NULL, &event);
    if (code != CL_SUCCESS)
        return failed("clEnqueueWriteBuffer", code);
    drop(device, &of->put);
    of->put = event;
    return CLO_OK;
}

/* Each operand is a part of the arena; one without bytes is NULL. The parts are the caller's: a kernel does not keep its
 * arguments alive before it is enqueued. */
static clo_status set_arguments(const opencl_device *device, const clo_device_call *call, cl_mem *parts)
{
    cl_kernel kernel = device->kernels[call->function];
    cl_uint at = 0;

    for (uint32_t i = 0; i < call->operands_count; i++, at++) {
        const cl_buffer_region region = {call->offsets[i], call->bytes[i]};
        cl_int code = CL_SUCCESS;
        if (region.size > 0)
            parts[i] = device->cl.clCreateSubBuffer(device->arenas[call->arena].buffer, 0, CL_BUFFER_CREATE_TYPE_REGION,
                                                    &region, &code);
        if (code != CL_SUCCESS)
            return failed("clCreateSubBuffer", code);
        code =
            device->cl.clSetKernelArg(kernel, at, sizeof parts[i], parts[i] != NULL ? (const void *)&parts[i] : NULL);
        if (code != CL_SUCCESS)
            return failed("clSetKernelArg of an operand", code);
    }
    for (uint32_t s = 0; s < call->scalars_count; s++, at++) {
        cl_int code = device->cl.clSetKernelArg(kernel, at, call->scalars[s].bytes, call->scalars[s].value);
        if (code != CL_SUCCESS)
            return failed("clSetKernelArg of a scalar", code);
    }
    return CLO_OK;
}

static clo_status enqueue(const opencl_device *device, const clo_device_call *call, cl_event *event)
{
    const arena *of = &device->arenas[call->arena];
    cl_uint dimensions = call->global[2] > 1 ? 3 : call->global[1] > 1 ? 2 : 1;
    cl_mem parts[CLO_KERNEL_OPERANDS_MAX] = {NULL};
    clo_status status = set_arguments(device, call, parts);

    if (status == CLO_OK) {
        cl_int code = device->cl.clEnqueueNDRangeKernel(
            device->queues[QUEUE_RUN], device->kernels[call->function], dimensions, NULL, call->global,
            call->local[0] > 0 ? call->local : NULL, of->put != NULL, of->put != NULL ? &of->put : NULL, event);
        status = code == CL_SUCCESS ? CLO_OK : failed("clEnqueueNDRangeKernel", code);
    }
    for (uint32_t i = 0; i < call->operands_count; i++)
        if (parts[i] != NULL)
            (void)device->cl.clReleaseMemObject(parts[i]);
    return status;
}

static clo_status opencl_launch(void *opened, const clo_device_call *call, uint32_t token)
{
    opencl_device *device = opened;
    arena *of = &device->arenas[call->arena];
    cl_event event;

    if (call->function >= device->kernels_count)
        return clo_fail(CLO_ERR_ARGUMENT, "driver opencl: function %u is none of clo_device_find", call->function);
    if (of->put != NULL)
        (void)device->cl.clFlush(device->queues[QUEUE_PUT]);
    clo_status status = enqueue(device, call, &event);
    if (status != CLO_OK)
        return status;
    drop(device, &of->put);
    drop(device, &of->run);
    drop(device, &of->get);
    of->run = event;
    status = await(device, call->arena, event, token);
    (void)device->cl.clFlush(device->queues[QUEUE_RUN]);
    return status;
}

static clo_status opencl_get(void *opened, uint64_t number, size_t offset, size_t bytes, uint32_t token)
{
    opencl_device *device = opened;
    arena *of = &device->arenas[number];
    cl_event event;
    cl_int code = device->cl.clEnqueueReadBuffer(device->queues[QUEUE_GET], of->buffer, CL_FALSE, offset, bytes,
                                                 of->host + offset, 1, of->get != NULL ? &of->get : &of->run, &event);

    if (code != CL_SUCCESS)
        return failed("clEnqueueReadBuffer", code);
    drop(device, &of->get);
    of->get = event;
    clo_status status = await(device, number, event, token);
    if (token != CLO_NONE)
        (void)device->cl.clFlush(device->queues[QUEUE_GET]);
    return status;
}

static int64_t busy_ns(const opencl_device *device, cl_event run)
{
    cl_ulong start_ns = 0, end_ns = 0;

    if (device->cl.clGetEventProfilingInfo(run, CL_PROFILING_COMMAND_START, sizeof start_ns, &start_ns, NULL) !=
            CL_SUCCESS ||
        device->cl.clGetEventProfilingInfo(run, CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, NULL) != CL_SUCCESS)
        return 0;
    return end_ns > start_ns ? (int64_t)(end_ns - start_ns) : 0;
}

static uint32_t opencl_poll(void *opened, clo_device_completion *out, uint32_t max)
{
    opencl_device *device = opened;
    uint32_t count = 0;

    clo_bell_silence(device->bell);
    for (uint32_t t = 0; t < CLO_DEVICE_DEPTH_MAX && count < max; t++) {
        cl_int state = CL_QUEUED;
        if (device->ends[t] == NULL)
            continue;
        cl_int code =
            device->cl.clGetEventInfo(device->ends[t], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (code == CL_SUCCESS && state > CL_COMPLETE)
            continue;
        if (code == CL_SUCCESS && state == CL_COMPLETE)
            code = device->cl.clWaitForEvents(1, &device->ends[t]);
        bool is_good = code == CL_SUCCESS && state == CL_COMPLETE;
        out[count++] = (clo_device_completion){.token = t,
                                               .status = is_good ? CLO_OK : CLO_ERR_SYSTEM,
                                               .busy_ns = is_good ? busy_ns(device, device->runs[t]) : 0};
        drop(device, &device->ends[t]);
        drop(device, &device->runs[t]);
    }
    return count;
}

static void opencl_abandon(void *opened)
{
    ((opencl_device *)opened)->is_abandoned = true;
}

static bool opencl_is_usable(void)
{
    clo_fail_text kept;
    cl_device_id ids[DEVICES_MAX];
    clo_opencl cl;

    clo_fail_keep(&kept);
    bool is_usable = clo_opencl_load(&cl) == CLO_OK && clo_opencl_devices(&cl, ids, DEVICES_MAX) > 0;
    clo_fail_put_back(&kept);
    return is_usable;
}

const clo_driver clo_driver_opencl = {
    .name = "opencl",
    .summary = "devices of OpenCL 1.2 or later, through the loader libOpenCL.so.1",
    .size = sizeof(clo_driver),
    .open = opencl_open,
    .describe = opencl_describe,
    .find = opencl_find,
    .reserve = opencl_reserve,
    .release = opencl_release,
    .put = opencl_put,
    .get = opencl_get,
    .launch = opencl_launch,
    .poll = opencl_poll,
    .abandon = opencl_abandon,
    .close = opencl_close,
    .is_usable = opencl_is_usable,
    .keeps = 1,
};
