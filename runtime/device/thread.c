/* thread.c - see thread.h. */
#include "device/thread.h"

#include "base/clock.h"
#include "base/status.h"
#include "device/kernel.h"
#include "device/places.h"
#include "device/queue.h"

#include <stdio.h>
#include <string.h>

#define SLEEP_NS 100000000   /* at most, while something is open: a driver may forget its fd */
#define TURNS_NS 1000000     /* the same of a driver without an fd, */
#define TURNS_FIRST_NS 50000 /* and at first */
#define SYNCHRONOUS_NS 20000 /* a launch below that is not looked at */

static char *host_of(const clo_place *place, uint32_t operand)
{
    return (char *)place->arena.host + place->offsets[operand];
}

static clo_status put_all(clo_device *device, const clo_place *place)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < place->operands && status == CLO_OK; i++) {
        const clo_operand_view *view = &place->views[i];
        if (!(view->mode & CLO_ACCESS_READ) || view->bytes == 0 || place->is_kept[i])
            continue;
        if (view->address != NULL)
            memcpy(host_of(place, i), view->address, view->bytes);
        else /* a trial */
            memset(host_of(place, i), 0, view->bytes);
        if (device->driver->put != NULL)
            status = device->driver->put(device->opened, place->arena.arena, place->offsets[i], view->bytes, CLO_NONE);
    }
    return status;
}

static bool is_got(const clo_device *device, const clo_operand_view *view)
{
    return device->driver->get != NULL && (view->mode & CLO_ACCESS_WRITE) && view->bytes > 0;
}

static clo_status get_all(const clo_device *device, const clo_place *place, uint32_t last, uint32_t token)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i <= last && last < place->operands && status == CLO_OK; i++)
        if (is_got(device, &place->views[i]))
            status = device->driver->get(device->opened, place->arena.arena, place->offsets[i], place->views[i].bytes,
                                         i == last ? token : CLO_NONE);
    return status;
}

clo_status clo_device_give(clo_device *device, uint32_t index, const clo_kernel *kernel)
{
    const clo_place *place = &device->places[index];
    clo_device_call call = {.function = kernel->function,
                            .operands_count = place->operands,
                            .scalars_count = kernel->scalars_count,
                            .arena = place->arena.arena,
                            .scalars = kernel->scalars};
    uint32_t last = CLO_NONE;

    for (uint32_t i = 0; i < place->operands; i++) {
        call.offsets[i] = place->offsets[i];
        call.bytes[i] = place->views[i].bytes;
        if (is_got(device, &place->views[i]))
            last = i;
    }
    for (int d = 0; d < 3; d++) {
        call.global[d] = kernel->global[d] > 0 ? kernel->global[d] : 1;
        call.local[d] = kernel->local[0] > 0 && kernel->local[d] == 0 ? 1 : kernel->local[d];
    }
    clo_status status = put_all(device, place);
    if (status != CLO_OK)
        return status;
    int64_t before_ns = clo_clock_ns();
    status = device->driver->launch(device->opened, &call, last == CLO_NONE ? index : CLO_NONE);
    if (status == CLO_OK)
        status = get_all(device, place, last, index);
    device->launch_ns[index] = clo_clock_ns() - before_ns;
    return status;
}

/* Ends an execution: first it is free, so that whoever waits for its job may go on with the device. */
static void end(clo_device *device, clo_request *request, int code)
{
    clo_token token = request->token;

    clo_device_free_request(device, request);
    (void)!clo_token_complete(token, code); /* stale: the process was forked */
}

static void fall_back(clo_device *device, clo_request *request)
{
    int code = clo_kernel_fallback(request->kernel, &request->call);

    pthread_mutex_lock(&device->lock);
    device->stats.fallbacks++;
    pthread_mutex_unlock(&device->lock);
    end(device, request, code == CLO_PENDING ? CLO_FAILED_DEVICE : code);
}

/* The place that was given to the driver first; NULL: none is open. */
static clo_place *oldest(clo_device *device)
{
    clo_place *found = NULL;

    for (uint32_t i = 0; i < device->facts.depth; i++) {
        clo_place *place = &device->places[i];
        if (place->request != NULL && (found == NULL || place->given_ns < found->given_ns))
            found = place;
    }
    return found;
}

static void lose(clo_device *device, const char *reason)
{
    clo_place *place;

    clo_device_give_up(device, reason);
    device->is_gone = true;
    if (device->config.on_lost != NULL)
        device->config.on_lost(device->config.argument, device->stats.reason);
    while ((place = oldest(device)) != NULL) { /* at most depth */
        clo_request *request = place->request;
        place->request = NULL;
        device->open--;
        fall_back(device, request);
    }
}

static void complete(clo_device *device, uint32_t index, const clo_device_completion *completion)
{
    clo_place *place = &device->places[index];
    clo_request *request = place->request;
    int64_t launch_ns = device->launch_ns[index];
    uint64_t put = 0, got = 0, kept = 0;

    for (uint32_t i = 0; i < place->operands; i++) {
        const clo_operand_view *view = &place->views[i];
        put += (view->mode & CLO_ACCESS_READ) && !place->is_kept[i] ? view->bytes : 0;
        kept += place->is_kept[i] ? view->bytes : 0;
        if (!(view->mode & CLO_ACCESS_WRITE) || view->bytes == 0)
            continue;
        memcpy(view->address, host_of(place, i), view->bytes);
        got += view->bytes;
    }
    place->request = NULL;
    place->is_full = device->keeps;
    device->open--;
    pthread_mutex_lock(&device->lock);
    device->stats.launched++;
    device->stats.kept_bytes += kept;
    device->stats.put_bytes += put;
    device->stats.get_bytes += got;
    device->stats.busy_ns += completion->busy_ns;
    device->stats.launch_max_ns = launch_ns > device->stats.launch_max_ns ? launch_ns : device->stats.launch_max_ns;
    device->stats.synchronous +=
        completion->busy_ns > 0 && launch_ns > SYNCHRONOUS_NS && launch_ns > completion->busy_ns / 2;
    pthread_mutex_unlock(&device->lock);
    end(device, request, 0);
}

/* What the driver has done. */
static bool poll_driver(clo_device *device)
{
    clo_device_completion done[CLO_DEVICE_DEPTH_MAX];
    char reason[sizeof device->stats.reason];
    uint32_t count = device->driver->poll(device->opened, done, CLO_DEVICE_DEPTH_MAX);

    for (uint32_t i = 0; i < count && i < CLO_DEVICE_DEPTH_MAX && !device->is_gone; i++) {
        uint32_t token = done[i].token;
        bool is_open = token < device->facts.depth && device->places[token].request != NULL;
        if (is_open && done[i].status == CLO_OK) {
            complete(device, token, &done[i]);
            continue;
        }
        if (is_open)
            snprintf(reason, sizeof reason, "a kernel failed: %s", clo_status_text(done[i].status));
        else
            snprintf(reason, sizeof reason, "its driver reported command %u, which is not open", token);
        lose(device, reason);
    }
    return count > 0;
}

/* One step; false: there was nothing to do. */
static bool step(clo_device *device)
{
    char reason[sizeof device->stats.reason];
    bool did = false;

    while (device->is_gone || device->open < device->facts.depth) { /* until the queue is empty, or after a fallback */
        clo_request *request = clo_device_dequeue(device);
        if (request == NULL)
            break;
        did = true;
        uint32_t index = device->is_gone ? CLO_NONE : clo_places_choose(device, request);
        if (index == CLO_NONE) {
            fall_back(device, request);
            break;
        }
        device->places[index].request = request;
        device->places[index].given_ns = clo_clock_ns();
        device->open++;
        size_t texts = clo_fail_texts();
        clo_status status = clo_device_give(device, index, request->kernel);
        if (status != CLO_OK) {
            snprintf(reason, sizeof reason, "%.150s",
                     clo_fail_texts() > texts ? clo_last_error() : clo_status_text(status));
            lose(device, reason);
        }
    }
    if (device->open > 0 && poll_driver(device))
        did = true;
    const clo_place *first = oldest(device);
    if (first != NULL && clo_clock_ns() - first->given_ns > device->config.limit_ns) {
        snprintf(reason, sizeof reason, "an execution has taken more than %lld ms",
                 (long long)(device->config.limit_ns / 1000000));
        lose(device, reason);
        did = true;
    }
    return did;
}

/* How long nothing can happen but what wakes us; < 0: for ever. */
static int64_t patience(clo_device *device, uint32_t idle_turns)
{
    const clo_place *first = oldest(device);

    if (first == NULL)
        return -1;
    int64_t left_ns = device->config.limit_ns - (clo_clock_ns() - first->given_ns);
    int64_t most_ns = SLEEP_NS;
    if (!device->facts.has_fd)
        most_ns = idle_turns < 5 ? (int64_t)TURNS_FIRST_NS << idle_turns : TURNS_NS;
    return left_ns < 0 ? 0 : left_ns < most_ns ? left_ns + 1 : most_ns;
}

static bool is_over(clo_device *device)
{
    pthread_mutex_lock(&device->lock);
    bool over = device->is_closing && device->first == NULL && device->open == 0;
    pthread_mutex_unlock(&device->lock);
    return over;
}

void *clo_device_serve(void *argument)
{
    clo_device *device = argument;
    int64_t since_ns = clo_clock_ns(); /* nothing has happened */
    uint32_t idle_turns = 0;

    while (!is_over(device)) {
        if (step(device)) {
            since_ns = clo_clock_ns();
            idle_turns = 0;
        } else if (clo_clock_ns() - since_ns >= device->config.spin_ns) {
            clo_device_sleep(device, patience(device, idle_turns));
            idle_turns++;
        }
    }
    return NULL;
}
