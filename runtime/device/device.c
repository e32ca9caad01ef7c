/* device.c - opening, preparing and closing a device. */
#define _GNU_SOURCE /* eventfd, pthread_setname_np */
#include "device/places.h"
#include "device/queue.h"
#include "device/thread.h"

#include "base/memory.h"
#include "base/status.h"
#include "sync/sleep/lock.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define REQUESTS_DEFAULT 64u
#define REQUESTS_MAX 65536u
#define LIMIT_DEFAULT_NS 60000000000
#define SPIN_DEFAULT_NS 20000

clo_status clo_device_fail(clo_status status, const char *text)
{
    return clo_fail(status, "%s", text != NULL ? text : clo_status_text(status));
}

static clo_status check_driver(const clo_driver *driver)
{
    if (driver->size < offsetof(clo_driver, keeps) || driver->size > sizeof *driver || driver->name == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "a driver needs a name, and size is sizeof(clo_driver)");
    if (driver->open == NULL || driver->reserve == NULL || driver->launch == NULL || driver->poll == NULL ||
        driver->close == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "driver '%.60s' needs open, reserve, launch, poll and close", driver->name);
    return CLO_OK;
}

static clo_status read_config(const clo_device_config *given, clo_device_config *out)
{
    *out = (clo_device_config)CLO_DEVICE_CONFIG_INIT;
    clo_status status = clo_config_read(out, sizeof *out, given, "clo_device_config");

    if (status != CLO_OK)
        return status;
    if (out->depth > CLO_DEVICE_DEPTH_MAX || out->requests_max > REQUESTS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_device_config has depth %u and requests_max %u; they are at most %d and %u", out->depth,
                        out->requests_max, CLO_DEVICE_DEPTH_MAX, REQUESTS_MAX);
    if (out->limit_ns < 0 || out->spin_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_device_config has limit_ns %lld and spin_ns %lld; give times >= 0",
                        (long long)out->limit_ns, (long long)out->spin_ns);
    if (out->host_kernels_count > 0 && out->host_kernels == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_device_config.host_kernels is NULL, their count %u; set both",
                        out->host_kernels_count);
    out->requests_max = out->requests_max > 0 ? out->requests_max : REQUESTS_DEFAULT;
    out->limit_ns = out->limit_ns > 0 ? out->limit_ns : LIMIT_DEFAULT_NS;
    out->spin_ns = out->spin_ns > 0 ? out->spin_ns : SPIN_DEFAULT_NS;
    return CLO_OK;
}

static clo_status read_facts(clo_device *device)
{
    clo_device_facts *facts = &device->facts;

    if (device->driver->describe != NULL)
        device->driver->describe(device->opened, facts);
    facts->name[sizeof facts->name - 1] = 0;
    facts->depth = facts->depth > 0 ? facts->depth : 1;
    facts->depth_max = facts->depth_max > facts->depth ? facts->depth_max : facts->depth;
    if (device->config.depth > facts->depth_max || facts->depth > CLO_DEVICE_DEPTH_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "device '%s' can have %u executions open, not %u", facts->name,
                        facts->depth_max, device->config.depth);
    facts->depth = device->config.depth > 0 ? device->config.depth : facts->depth;
    device->stats.facts = *facts;
    return CLO_OK;
}

static int start_thread(clo_device *device)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the program's */
    int error = pthread_create(&device->thread, NULL, clo_device_serve, device);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        (void)pthread_setname_np(device->thread, "clo-device");
    return error;
}

/* Without its thread and what the driver has. */
static void free_device(clo_device *device)
{
    if (device == NULL)
        return;
    if (device->wake_fd >= 0)
        close(device->wake_fd);
    pthread_mutex_destroy(&device->lock);
    clo_free(device->arrays);
    clo_free(device->requests);
    clo_free(device);
}

static clo_status make_device(const clo_driver *driver, const clo_device_config *config, clo_device **out)
{
    clo_device *device = clo_allocate_aligned(1, sizeof *device);

    if (device == NULL)
        return clo_fail_memory("a device");
    device->driver = driver;
    device->keeps = driver->size > offsetof(clo_driver, keeps) && driver->keeps != 0;
    device->process = getpid();
    device->config = *config;
    device->stats.size = sizeof device->stats;
    device->wake_fd = eventfd(0, EFD_CLOEXEC);
    int error = clo_lock_init(&device->lock);
    device->requests = clo_allocate(config->requests_max, sizeof *device->requests);
    clo_status status = CLO_OK;
    if (device->wake_fd < 0 || error != 0)
        status = clo_fail(CLO_ERR_SYSTEM, "a device: no eventfd or lock: %s", strerror(error != 0 ? error : errno));
    else if (device->requests == NULL)
        status = clo_fail_memory("a device");
    else
        status = clo_device_make_requests(device, 0, 0);
    if (status == CLO_OK)
        *out = device;
    else
        free_device(device);
    return status;
}

clo_status clo_device_open(const clo_driver *driver, const char *selector, const clo_device_config *config,
                           clo_device **out)
{
    clo_device_config mine;
    clo_device *device = NULL;

    if (driver == NULL || out == NULL)
        return clo_fail_null("clo_device_open", "driver or out");
    clo_status status = check_driver(driver);
    if (status == CLO_OK)
        status = read_config(config, &mine);
    if (status == CLO_OK)
        status = make_device(driver, &mine, &device);
    if (status != CLO_OK)
        return status;
    status = driver->open(selector != NULL ? selector : "", &device->config, &device->opened);
    if (status != CLO_OK) {
        free_device(device);
        return status;
    }
    device->config.program = device->config.options = NULL; /* borrowed until here */
    status = read_facts(device);
    int error = status == CLO_OK ? start_thread(device) : 0;
    if (error != 0)
        status = clo_fail(CLO_ERR_SYSTEM, "no thread for a device: %s", strerror(error));
    if (status != CLO_OK) {
        driver->close(device->opened);
        free_device(device);
        return status;
    }
    *out = device;
    return CLO_OK;
}

clo_status clo_device_open_at(const clo_platform *platform, uint32_t executor, const clo_driver *own,
                              const clo_device_config *config, clo_device **out)
{
    const char *name = clo_platform_driver(platform, executor);

    if (platform == NULL || out == NULL)
        return clo_fail_null("clo_device_open_at", "platform or out");
    if (clo_platform_executor(platform, executor) == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_device_open_at: there is no executor %u; the platform has 0 to %u",
                        executor, clo_platform_executors(platform) - 1);
    if (name == NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "platform %s names no driver for executor %s; give its accelerator clotho.driver",
                        clo_platform_name(platform), clo_platform_executor_name(platform, executor));
    bool is_own = own != NULL && own->name != NULL && strcmp(own->name, name) == 0;
    const clo_driver *driver = is_own ? own : clo_driver_find(name);
    if (driver == NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "the driver '%s' of executor %s is not built in; see clotho list drivers",
                        name, clo_platform_executor_name(platform, executor));
    return clo_device_open(driver, clo_platform_device(platform, executor), config, out);
}

void clo_device_close(clo_device *device)
{
    if (device == NULL || clo_device_is_forked(device)) /* what a child has of it, its driver cannot close */
        return;
    pthread_mutex_lock(&device->lock);
    device->is_closing = true;
    pthread_mutex_unlock(&device->lock);
    clo_device_wake(device);
    pthread_join(device->thread, NULL);
    if (!device->is_lost)
        clo_places_drop(device);
    device->driver->close(device->opened);
    free_device(device);
}

clo_status clo_device_find(clo_device *device, const char *name, uint32_t *function)
{
    if (device == NULL || name == NULL || function == NULL)
        return clo_fail_null("clo_device_find", "device, name or function");
    if (device->driver->find == NULL)
        return *function = 0, CLO_OK;
    clo_status status = clo_device_hold(device, "clo_device_find");
    if (status != CLO_OK)
        return status;
    uint32_t found;
    status = device->driver->find(device->opened, name, &found);
    clo_device_let_go(device);
    if (status == CLO_OK)
        *function = found;
    return status;
}

clo_status clo_device_get_stats(clo_device *device, clo_device_stats *out)
{
    if (device == NULL || out == NULL)
        return clo_fail_null("clo_device_get_stats", "device or out");
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_device_stats, reason), "clo_device_stats");
    if (status != CLO_OK)
        return status;
    pthread_mutex_lock(&device->lock);
    clo_device_stats stats = device->stats;
    pthread_mutex_unlock(&device->lock);
    clo_result_write(out, &stats, sizeof stats);
    return CLO_OK;
}
