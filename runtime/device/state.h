/* device/state.h - a device, its requests and its places.
 *
 *     body (a slot's thread)            device's thread                          driver
 *     free -> request -> queue   --->   place (arena, host side) -> put launch get -> poll -> token completed -> free
 *
 * A request is one execution. A place is the memory of one execution that is open at the device; there are as many as
 * the device has depth. `lock` guards the lists, the statistics, and who may call the driver; it is held for a few
 * stores. Places, and what says below "thread", are the thread's alone. */
#ifndef CLO_DEVICE_STATE_H
#define CLO_DEVICE_STATE_H

#include <clotho/device.h>
#include <clotho/token.h>

#include <pthread.h>
#include <sys/types.h>

#define CLO_OPERAND_ALIGN 512u /* offsets of operands: the most that a GPU is known to ask of a sub-buffer */

/* What an operand takes of an arena. At most 2^46 bytes. */
static inline size_t clo_operand_room(size_t bytes)
{
    return (bytes + CLO_OPERAND_ALIGN - 1) / CLO_OPERAND_ALIGN * CLO_OPERAND_ALIGN;
}

typedef struct clo_request {
    struct clo_request *next; /* in the queue, or of those that are free */
    const clo_kernel *kernel;
    clo_call call;
    clo_token token;

    /* What the call points to. [inputs_max] and [data_max] of the device. */
    const void **inputs;
    size_t *inputs_bytes;
    void **data;
    size_t *data_bytes;
    uint32_t *data_modes;
} clo_request;

/* An operand of a call, found. */
typedef struct clo_operand_view {
    void *address;
    size_t bytes;
    uint32_t mode; /* CLO_ACCESS_... */
} clo_operand_view;

typedef struct clo_place {
    clo_device_arena arena;
    clo_request *request; /* NULL: free */
    int64_t given_ns;
    uint32_t operands;
    bool is_full;                          /* free: what is below are operands that the device still has */
    bool is_kept[CLO_KERNEL_OPERANDS_MAX]; /* not put: the device has it */
    clo_operand_view views[CLO_KERNEL_OPERANDS_MAX];
    size_t offsets[CLO_KERNEL_OPERANDS_MAX];
} clo_place;

struct clo_device {
    const clo_driver *driver;
    void *opened;
    clo_device_config config;
    clo_device_facts facts;
    pthread_t thread;
    pid_t process; /* that has the thread: in a child of a fork nobody serves the queue */
    int wake_fd;

    pthread_mutex_t lock;
    clo_request *free;
    clo_request *first, *last; /* the queue */
    uint32_t outstanding;      /* requests that are not free */
    bool is_held;              /* find or prepare calls the driver: the thread does not */
    bool is_asleep, is_closing, is_lost;
    clo_device_stats stats;

    /* Change under `lock`, while nothing is outstanding. */
    clo_request *requests;
    char *arrays; /* what they point to */
    uint32_t inputs_max, data_max;
    size_t place_bytes;
    bool keeps; /* clo_driver.keeps */

    /* thread */
    clo_place places[CLO_DEVICE_DEPTH_MAX];
    uint32_t open;
    bool is_gone;                            /* is_lost, as the thread has seen it */
    int64_t launch_ns[CLO_DEVICE_DEPTH_MAX]; /* what the driver's launch and get took */
};

#endif
