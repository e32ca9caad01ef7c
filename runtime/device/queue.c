/* queue.c - see queue.h. */
#define _GNU_SOURCE /* ppoll */
#include "device/queue.h"

#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

clo_status clo_device_make_requests(clo_device *device, uint32_t inputs, uint32_t data)
{
    size_t count = device->config.requests_max, ins = inputs * count, handles = data * count;
    clo_layout layout = {0};
    size_t at_inputs = clo_layout_add(&layout, ins, sizeof(void *));
    size_t at_bytes = clo_layout_add(&layout, ins, sizeof(size_t));
    size_t at_data = clo_layout_add(&layout, handles, sizeof(void *));
    size_t at_data_bytes = clo_layout_add(&layout, handles, sizeof(size_t));
    size_t at_modes = clo_layout_add(&layout, handles, sizeof(uint32_t));
    char *arrays = layout.overflow ? NULL : clo_allocate_aligned(1, layout.bytes + 1);

    if (arrays == NULL)
        return clo_fail_memory("the requests of a device");
    pthread_mutex_lock(&device->lock);
    if (device->outstanding > 0) { /* since the device is held: bodies go on */
        pthread_mutex_unlock(&device->lock);
        clo_free(arrays);
        return clo_fail(CLO_ERR_STATE, "the device is in use; prepare it before jobs run");
    }
    char *before = device->arrays;
    device->arrays = arrays;
    device->inputs_max = inputs;
    device->data_max = data;
    device->free = NULL;
    for (size_t i = count; i-- > 0;) {
        clo_request *request = &device->requests[i];
        request->inputs = (const void **)(void *)(arrays + at_inputs) + i * inputs;
        request->inputs_bytes = (size_t *)(void *)(arrays + at_bytes) + i * inputs;
        request->data = (void **)(void *)(arrays + at_data) + i * data;
        request->data_bytes = (size_t *)(void *)(arrays + at_data_bytes) + i * data;
        request->data_modes = (uint32_t *)(void *)(arrays + at_modes) + i * data;
        request->next = device->free;
        device->free = request;
    }
    pthread_mutex_unlock(&device->lock);
    clo_free(before);
    return CLO_OK;
}

bool clo_device_is_forked(const clo_device *device)
{
    return getpid() != device->process;
}

clo_request *clo_device_take_request(clo_device *device, const clo_call *call)
{
    pthread_mutex_lock(&device->lock);
    clo_request *request = device->free;
    if (call->inputs_count > device->inputs_max || call->data_count > device->data_max)
        request = NULL;
    if (request != NULL) {
        device->free = request->next;
        device->outstanding++;
    } else {
        device->stats.crowded++;
    }
    pthread_mutex_unlock(&device->lock);
    if (request == NULL)
        return NULL;
    request->next = NULL;
    request->call = *call;
    request->call.arm = NULL;
    request->call.inputs = request->inputs;
    request->call.inputs_bytes = request->inputs_bytes;
    request->call.data = request->data;
    request->call.data_bytes = request->data_bytes;
    request->call.data_modes = request->data_modes;
    for (uint32_t i = 0; i < call->inputs_count; i++) {
        request->inputs[i] = call->inputs[i];
        request->inputs_bytes[i] = call->inputs_bytes[i];
    }
    for (uint32_t i = 0; i < call->data_count; i++) {
        request->data[i] = call->data[i];
        request->data_bytes[i] = call->data_bytes[i];
        request->data_modes[i] = call->data_modes[i];
    }
    return request;
}

void clo_device_free_request(clo_device *device, clo_request *request)
{
    pthread_mutex_lock(&device->lock);
    request->next = device->free;
    device->free = request;
    device->outstanding--;
    pthread_mutex_unlock(&device->lock);
}

static void write_wake(const clo_device *device)
{
    const uint64_t one = 1;

    while (write(device->wake_fd, &one, sizeof one) < 0 && errno == EINTR) /* never full: each wake is read */
        continue;
}

void clo_device_enqueue(clo_device *device, clo_request *request)
{
    pthread_mutex_lock(&device->lock);
    if (device->last != NULL)
        device->last->next = request;
    else
        device->first = request;
    device->last = request;
    bool is_asleep = device->is_asleep;
    device->is_asleep = false;
    pthread_mutex_unlock(&device->lock);
    if (is_asleep)
        write_wake(device);
}

clo_request *clo_device_dequeue(clo_device *device)
{
    pthread_mutex_lock(&device->lock);
    clo_request *request = device->is_held ? NULL : device->first;
    device->is_gone = device->is_lost;
    if (request != NULL) {
        device->first = request->next;
        if (device->first == NULL)
            device->last = NULL;
        request->next = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    return request;
}

clo_status clo_device_hold(clo_device *device, const char *what)
{
    if (clo_device_is_forked(device))
        return clo_fail(CLO_ERR_STATE, "%s: another process has opened the device", what);
    pthread_mutex_lock(&device->lock);
    bool is_lost = device->is_lost, is_free = device->outstanding == 0 && !device->is_held;
    if (!is_lost && is_free)
        device->is_held = true;
    pthread_mutex_unlock(&device->lock);
    if (is_lost)
        return clo_fail(CLO_ERR_STATE, "%s: the device is lost: %s", what, device->stats.reason);
    return is_free ? CLO_OK : clo_fail(CLO_ERR_STATE, "%s: the device is in use; do it before jobs run", what);
}

void clo_device_give_up(clo_device *device, const char *reason)
{
    pthread_mutex_lock(&device->lock);
    snprintf(device->stats.reason, sizeof device->stats.reason, "%.150s", reason);
    device->is_lost = true;
    device->stats.is_lost = 1;
    pthread_mutex_unlock(&device->lock);
    if (device->driver->abandon != NULL)
        device->driver->abandon(device->opened);
}

void clo_device_wake(clo_device *device)
{
    pthread_mutex_lock(&device->lock);
    bool is_asleep = device->is_asleep;
    device->is_asleep = false;
    pthread_mutex_unlock(&device->lock);
    if (is_asleep)
        write_wake(device);
}

void clo_device_let_go(clo_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->is_held = false;
    pthread_mutex_unlock(&device->lock);
    clo_device_wake(device);
}

void clo_device_sleep(clo_device *device, int64_t timeout_ns)
{
    struct pollfd fds[2] = {{.fd = device->wake_fd, .events = POLLIN}, {.fd = device->facts.fd, .events = POLLIN}};
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                                     .tv_nsec = (long)(timeout_ns % 1000000000)};
    bool has_fd = device->facts.has_fd && device->open > 0;
    uint64_t wakes;

    pthread_mutex_lock(&device->lock);
    bool has_room = device->open < device->facts.depth || device->is_lost;
    bool is_due = (device->first != NULL && has_room && !device->is_held) || (device->is_closing && device->open == 0);
    device->is_asleep = !is_due;
    pthread_mutex_unlock(&device->lock);
    if (is_due)
        return;
    (void)ppoll(fds, has_fd ? 2 : 1, timeout_ns < 0 ? NULL : &timeout, NULL);
    pthread_mutex_lock(&device->lock);
    bool was_woken = !device->is_asleep;
    device->is_asleep = false;
    pthread_mutex_unlock(&device->lock);
    if (was_woken) /* the write has come, or comes */
        while (read(device->wake_fd, &wakes, sizeof wakes) < 0 && errno == EINTR)
            continue;
}
