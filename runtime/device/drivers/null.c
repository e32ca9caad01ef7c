/* null.c - the driver "null": a device that exists in this process only, with memory of its own, the times that its user
 * gives, and faults on request.
 *
 * It has three lanes: data to the device, kernels, data back. A command starts when its lane is free and the command
 * before it on the same arena has ended, so data of one execution move beside the kernel of another. The time of its end
 * is reckoned at once; its effect comes when poll is called after that. So nothing depends on a thread, and a timer
 * (timerfd) wakes whoever waits. Memory of the host and of the device is overwritten (0xA5) where no right program reads
 * it: the host's side when its data are on the device, and the device's when its data are back; with keep=1 both stay. */
#define _POSIX_C_SOURCE 200809L
#include "device/drivers/drivers.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NEVER_NS INT64_MAX
#define POISON 0xA5
#define COMMANDS_MAX (CLO_DEVICE_DEPTH_MAX * (2 * CLO_KERNEL_OPERANDS_MAX + 1))
#define SCALAR_BYTES (16u * CLO_KERNEL_SCALARS_MAX) /* of one launch, each on a multiple of 16 */

enum { LANE_PUT, LANE_RUN, LANE_GET, LANES };

typedef struct arena {
    char *device, *host; /* [bytes]; NULL: free */
    size_t bytes;
    int64_t ready_ns; /* its last command ends */
    bool has_failed;  /* until a token says so */
} arena;

typedef struct command {
    uint32_t lane, token;
    uint64_t arena;
    size_t offset, bytes; /* put and get */
    int64_t end_ns, takes_ns;
    bool fails;
    clo_device_call call; /* launch; its scalars are below */
    _Alignas(16) char values[SCALAR_BYTES];
    size_t scalar_bytes[CLO_KERNEL_SCALARS_MAX];
} command;

/* The numbers of the selector. */
typedef struct numbers {
    int64_t launch_ns, copy_ns, mbps, depth, memory, keep;
    int64_t fail, refuse, lose, hang, late;
} numbers;

typedef struct null_device {
    numbers say;
    const clo_host_kernel *kernels;
    uint32_t kernels_count;
    int timer;
    uint64_t launches;
    int64_t lane_free_ns[LANES];
    int64_t busy_ns[CLO_DEVICE_DEPTH_MAX]; /* of the last kernel in each arena */
    arena arenas[CLO_DEVICE_DEPTH_MAX];
    uint64_t reserved;
    command *commands; /* [COMMANDS_MAX], in the order in which they came */
    uint32_t count;
    int64_t next_ns; /* when the first of them ends, and the timer rings; NEVER_NS: none does */
} null_device;

static clo_status read_number(numbers *say, const char *key, size_t length, const char *text)
{
    static const struct {
        const char *name;
        size_t at;
    } keys[] = {{"launch_ns", offsetof(numbers, launch_ns)},
                {"copy_ns", offsetof(numbers, copy_ns)},
                {"MBps", offsetof(numbers, mbps)},
                {"depth", offsetof(numbers, depth)},
                {"memory", offsetof(numbers, memory)},
                {"keep", offsetof(numbers, keep)},
                {"fail", offsetof(numbers, fail)},
                {"refuse", offsetof(numbers, refuse)},
                {"lose", offsetof(numbers, lose)},
                {"hang", offsetof(numbers, hang)},
                {"late", offsetof(numbers, late)}};
    char *end;

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        if (strlen(keys[k].name) != length || strncmp(keys[k].name, key, length) != 0)
            continue;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (end == text || (*end != 0 && *end != ',') || errno != 0 || value < 0 || value > 1000000000000)
            break;
        memcpy((char *)say + keys[k].at, &(int64_t){value}, sizeof(int64_t));
        return CLO_OK;
    }
    return clo_fail(CLO_ERR_ARGUMENT,
                    "driver null: '%.40s' is no KEY=NUMBER; keys are launch_ns, copy_ns, MBps, depth, memory, keep, "
                    "fail, refuse, lose, hang, late",
                    key);
}

static clo_status read_selector(const char *selector, numbers *say)
{
    clo_status status = CLO_OK;

    while (*selector != 0 && status == CLO_OK) { /* a key a turn */
        size_t key = strcspn(selector, "=,");
        status = selector[key] == '=' ? read_number(say, selector, key, selector + key + 1)
                                      : read_number(say, selector, 0, "");
        selector += strcspn(selector, ",");
        selector += *selector == ',';
    }
    if (status == CLO_OK && say->depth > CLO_DEVICE_DEPTH_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "driver null: depth is at most %d", CLO_DEVICE_DEPTH_MAX);
    return status;
}

static clo_status null_open(const char *selector, const clo_device_config *config, void **out)
{
    numbers say = {0};
    clo_status status = read_selector(selector, &say);
    if (status != CLO_OK)
        return status;
    null_device *device = clo_allocate(1, sizeof *device);
    command *commands = clo_allocate(COMMANDS_MAX, sizeof *commands);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (device == NULL || commands == NULL || timer < 0) {
        status = timer < 0 ? clo_fail(CLO_ERR_SYSTEM, "driver null: no timer: %s", strerror(errno))
                           : clo_fail_memory("a null device");
        if (timer >= 0)
            close(timer);
        clo_free(device);
        clo_free(commands);
        return status;
    }
    *device = (null_device){.say = say,
                            .kernels = config->host_kernels,
                            .kernels_count = config->host_kernels_count,
                            .timer = timer,
                            .next_ns = NEVER_NS,
                            .commands = commands};
    *out = device;
    return CLO_OK;
}

static void null_describe(const void *opened, clo_device_facts *out)
{
    const null_device *device = opened;

    snprintf(out->name, sizeof out->name, "null");
    out->memory_bytes = (uint64_t)device->say.memory;
    out->depth = (uint32_t)device->say.depth;
    out->depth_max = CLO_DEVICE_DEPTH_MAX;
    out->has_fd = 1;
    out->fd = device->timer;
}

static clo_status null_find(void *opened, const char *name, uint32_t *function)
{
    const null_device *device = opened;

    for (uint32_t k = 0; k < device->kernels_count; k++)
        if (device->kernels[k].name != NULL && strcmp(device->kernels[k].name, name) == 0)
            return *function = k, CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT, "driver null: no kernel is called '%.60s'; add it to host_kernels", name);
}

static clo_status null_reserve(void *opened, size_t bytes, clo_device_arena *out)
{
    null_device *device = opened;
    uint32_t a = 0;

    while (a < CLO_DEVICE_DEPTH_MAX && device->arenas[a].host != NULL)
        a++;
    if (a == CLO_DEVICE_DEPTH_MAX)
        return clo_fail(CLO_ERR_LIMIT, "driver null: at most %d arenas", CLO_DEVICE_DEPTH_MAX);
    if (device->say.memory > 0 && bytes > (uint64_t)device->say.memory - device->reserved)
        return clo_fail(CLO_ERR_LIMIT, "driver null: %zu bytes do not fit into its %lld", bytes,
                        (long long)device->say.memory);
    char *memory = clo_allocate_aligned(2, bytes);
    if (memory == NULL)
        return clo_fail_memory("an arena");
    device->reserved += bytes;
    device->arenas[a] = (arena){.device = memory + bytes, .host = memory, .bytes = bytes};
    memset(memory, POISON, 2 * bytes);
    *out = (clo_device_arena){.arena = a, .host = memory};
    return CLO_OK;
}

static void null_release(void *opened, uint64_t number)
{
    null_device *device = opened;

    device->reserved -= device->arenas[number].bytes;
    clo_free(device->arenas[number].host);
    device->arenas[number] = (arena){0};
}

static void set_timer(null_device *device, int64_t next_ns)
{
    struct itimerspec at = {0};

    device->next_ns = next_ns;
    if (next_ns < NEVER_NS)
        at.it_value =
            (struct timespec){.tv_sec = (time_t)(next_ns / 1000000000), .tv_nsec = (long)(next_ns % 1000000000)};
    (void)timerfd_settime(device->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Adds a command behind all others of its lane and arena; NULL: there are too many. */
static command *add(null_device *device, uint32_t lane, uint64_t number, int64_t takes_ns, uint32_t token)
{
    arena *of = &device->arenas[number];
    int64_t start_ns = clo_clock_ns();

    if (device->count == COMMANDS_MAX)
        return NULL;
    start_ns = device->lane_free_ns[lane] > start_ns ? device->lane_free_ns[lane] : start_ns;
    start_ns = of->ready_ns > start_ns ? of->ready_ns : start_ns;
    command *made = &device->commands[device->count++];
    *made = (command){.lane = lane, .token = token, .arena = number, .takes_ns = takes_ns};
    made->end_ns = start_ns == NEVER_NS || takes_ns == NEVER_NS ? NEVER_NS : start_ns + takes_ns;
    of->ready_ns = made->end_ns;
    if (made->end_ns != NEVER_NS)
        device->lane_free_ns[lane] = made->end_ns;
    if (made->end_ns < device->next_ns)
        set_timer(device, made->end_ns);
    return made;
}

static clo_status move(null_device *device, uint32_t lane, uint64_t number, size_t offset, size_t bytes, uint32_t token)
{
    int64_t takes_ns = device->say.copy_ns;

    if (device->say.mbps > 0)
        takes_ns += (int64_t)(bytes * 1000u / (uint64_t)device->say.mbps);
    command *made = add(device, lane, number, takes_ns, token);
    if (made == NULL)
        return clo_fail(CLO_ERR_LIMIT, "driver null: more than %d commands are open", COMMANDS_MAX);
    made->offset = offset;
    made->bytes = bytes;
    return CLO_OK;
}

static clo_status null_put(void *opened, uint64_t number, size_t offset, size_t bytes, uint32_t token)
{
    return move(opened, LANE_PUT, number, offset, bytes, token);
}

static clo_status null_get(void *opened, uint64_t number, size_t offset, size_t bytes, uint32_t token)
{
    return move(opened, LANE_GET, number, offset, bytes, token);
}

/* The values of scalars are the caller's. */
static clo_status keep_scalars(command *made, const clo_device_call *call)
{
    size_t at = 0;

    for (uint32_t s = 0; s < call->scalars_count; s++) {
        if (call->scalars[s].bytes > SCALAR_BYTES - at)
            return clo_fail(CLO_ERR_LIMIT,
                            "driver null: the scalars of a kernel have more than %u bytes, in units of 16",
                            SCALAR_BYTES);
        memcpy(made->values + at, call->scalars[s].value, call->scalars[s].bytes);
        made->scalar_bytes[s] = call->scalars[s].bytes;
        at += (call->scalars[s].bytes + 15) / 16 * 16; /* SCALAR_BYTES is a multiple */
    }
    return CLO_OK;
}

static clo_status null_launch(void *opened, const clo_device_call *call, uint32_t token)
{
    null_device *device = opened;
    int64_t takes_ns = device->say.launch_ns, number = (int64_t)++device->launches;

    if (number == device->say.refuse)
        return clo_fail(CLO_ERR_SYSTEM, "driver null: launch %lld is refused", (long long)number);
    if (call->function < device->kernels_count && device->kernels[call->function].takes_ns > 0)
        takes_ns = device->kernels[call->function].takes_ns;
    bool hangs =
        (device->say.hang > 0 && number >= device->say.hang) || (device->say.late > 0 && number >= device->say.late);
    if (hangs || number == device->say.lose)
        takes_ns = NEVER_NS;
    command *made = add(device, LANE_RUN, call->arena, takes_ns, token);
    if (made == NULL)
        return clo_fail(CLO_ERR_LIMIT, "driver null: more than %d commands are open", COMMANDS_MAX);
    made->fails = number == device->say.fail;
    made->call = *call;
    return keep_scalars(made, call);
}

static void run_kernel(const null_device *device, const command *done)
{
    const arena *of = &device->arenas[done->arena];
    void *operands[CLO_KERNEL_OPERANDS_MAX];
    clo_scalar scalars[CLO_KERNEL_SCALARS_MAX];
    const char *value = done->values;

    if (done->call.function >= device->kernels_count || device->kernels[done->call.function].run == NULL)
        return;
    for (uint32_t i = 0; i < done->call.operands_count; i++)
        operands[i] = of->device + done->call.offsets[i];
    for (uint32_t s = 0; s < done->call.scalars_count; s++) {
        scalars[s] = (clo_scalar){value, done->scalar_bytes[s]};
        value += (done->scalar_bytes[s] + 15) / 16 * 16;
    }
    device->kernels[done->call.function].run(operands, done->call.bytes, done->call.operands_count, scalars);
}

/* What a command that has ended does to memory. */
static void take_effect(null_device *device, const command *done)
{
    arena *of = &device->arenas[done->arena];

    if (done->fails)
        of->has_failed = true;
    if (of->has_failed)
        return;
    if (done->lane == LANE_RUN) {
        run_kernel(device, done);
        return;
    }
    char *from = (done->lane == LANE_PUT ? of->host : of->device) + done->offset;
    memcpy((done->lane == LANE_PUT ? of->device : of->host) + done->offset, from, done->bytes);
    if (device->say.keep == 0)
        memset(from, POISON, done->bytes);
}

static uint32_t null_poll(void *opened, clo_device_completion *out, uint32_t max)
{
    null_device *device = opened;
    int64_t now_ns = clo_clock_ns();
    uint32_t kept = 0, completions = 0;
    int64_t next_ns = NEVER_NS;
    bool is_full = false;
    uint64_t rings;

    if (now_ns < device->next_ns)
        return 0;
    while (read(device->timer, &rings, sizeof rings) > 0) /* at most one turn: it is read empty */
        continue;
    for (uint32_t c = 0; c < device->count; c++) {
        const command *at = &device->commands[c];
        is_full = is_full || (at->end_ns <= now_ns && at->token != CLO_NONE && completions == max);
        if (at->end_ns > now_ns || is_full) {
            next_ns = at->end_ns < next_ns ? at->end_ns : next_ns;
            device->commands[kept++] = *at;
            continue;
        }
        take_effect(device, at);
        arena *of = &device->arenas[at->arena];
        if (at->lane == LANE_RUN)
            device->busy_ns[at->arena] = at->takes_ns;
        if (at->token == CLO_NONE)
            continue;
        out[completions++] = (clo_device_completion){.token = at->token,
                                                     .status = of->has_failed ? CLO_ERR_SYSTEM : CLO_OK,
                                                     .busy_ns = device->busy_ns[at->arena]};
        of->has_failed = false;
    }
    device->count = kept;
    set_timer(device, next_ns);
    return completions;
}

/* With `late`, what hung arrives now: nobody may look at the memory any more. */
static void null_abandon(void *opened)
{
    null_device *device = opened;

    for (uint32_t a = 0; a < CLO_DEVICE_DEPTH_MAX && device->say.late > 0; a++)
        if (device->arenas[a].host != NULL)
            memset(device->arenas[a].host, 0x5A, device->arenas[a].bytes);
    device->count = 0;
}

static void null_close(void *opened)
{
    null_device *device = opened;

    for (uint32_t a = 0; a < CLO_DEVICE_DEPTH_MAX; a++)
        clo_free(device->arenas[a].host);
    close(device->timer);
    clo_free(device->commands);
    clo_free(device);
}

const clo_driver clo_driver_null = {
    .name = "null",
    .summary = "a device in this process, with the times and the faults that its user gives",
    .size = sizeof(clo_driver),
    .open = null_open,
    .describe = null_describe,
    .find = null_find,
    .reserve = null_reserve,
    .release = null_release,
    .put = null_put,
    .get = null_get,
    .launch = null_launch,
    .poll = null_poll,
    .abandon = null_abandon,
    .close = null_close,
};
