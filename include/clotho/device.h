/* device.h - accelerators: on the executors of a device, tasks run *kernels* in place of bodies.
 *
 * A *driver* is a table of functions that opens a device, moves data and launches kernels. Two are here: "opencl", and
 * "null", a device of the memory and the times that you say, for tests and models. Your own is such a table with five
 * functions or more (examples/15_device.c). The executors of a device are *slots* of the platform (clotho.slots of a
 * platform file; native+FILE adds them to this machine), of a kind of its own:
 *
 *     clo_device_open(clo_driver_find("opencl"), "0", &config, &device);       config.program: the source of kernels
 *     clo_device_find(device, "detect", &function);
 *     clo_kernel kernel = CLO_KERNEL_INIT;                   kernel.device, function, operands, ...
 *     clo_graph_set_kernel(graph, task, kind, &kernel);
 *     clo_graph_set_body(graph, task, cpu, detect_here);     where it may run on CPUs, too
 *     clo_graph_seal(graph);
 *     clo_device_prepare(device, graph);                     memory is reserved, each function is launched once
 *     ... cost, plan, runtime, job as always ...
 *     clo_device_close(device);                              after the jobs
 *
 * Each device has a thread, which alone calls the driver while jobs run: no worker waits for a device. It inherits the
 * CPUs and the scheduling of the thread that opens the device, so open it from one that is not pinned. For one
 * execution the thread copies what the kernel reads into memory of the device's driver, has it moved (put), launches
 * the kernel, has what it wrote moved back (get), copies that into place, and completes the execution (token.h). The
 * host has all results (write-through): what a device loses is time, never data. What the device has from the execution
 * before in the same memory, of the same operand with the same bytes, is not moved there again: so no kernel may write an
 * operand that it only reads.
 *
 * A device works on as many executions at once as it has depth, in the order in which they came: with two, the data of one
 * execution move while the kernel of the other runs. Give its kind one slot of that depth or one more
 * (CLO_OS_SLOT_DEEP, clotho.depth of a platform file): plans and predictions take it for one executor.
 *
 * A driver that refuses a command, a command that fails, or one that takes longer than clo_device_config.limit_ns: the
 * device is *lost*. It gets no further command, on_lost is called, and what it had open, and all that comes later, is
 * done by clo_kernel.fallback on the device's thread, so the results are right, but slow: give later runs a plan
 * without the device (clo_job_swap_plan). Without a fallback the task fails with CLO_FAILED_DEVICE. Nothing is tried
 * again in silence.
 *
 * A run that is cut short waits for what the device has of it.
 *
 * Library: libclotho-device. */
#ifndef CLOTHO_DEVICE_H
#define CLOTHO_DEVICE_H

#include <clotho/graph.h>
#include <clotho/handle.h>
#include <clotho/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clo_job_result.failed_code of a kernel that could not be run, and has no fallback. */
#define CLO_FAILED_DEVICE (INT32_MIN + 5)

enum { CLO_KERNEL_OPERANDS_MAX = 16, CLO_KERNEL_SCALARS_MAX = 16, CLO_DEVICE_DEPTH_MAX = 16 };

typedef struct clo_device clo_device; /* opaque: owns memory and a thread */

/* ---- what a driver is ---- */

/* What a driver says of a device. Plain values, filled by the driver; zeros at first. */
typedef struct clo_device_facts {
    /* For people: "pthread-cpu", "NPU core 0". */
    char name[96];

    /* What can be reserved in total; 0: unknown. */
    uint64_t memory_bytes;

    /* Executions that it has open at once, 1 to CLO_DEVICE_DEPTH_MAX; 0: 1. And the most that it can have, if
     * clo_device_config.depth asks for more; 0: not more. */
    uint32_t depth, depth_max;

    /* 1: `fd` becomes readable when poll may have something; poll makes it unreadable. 0: poll is called in turns. */
    uint32_t has_fd;
    int fd;
} clo_device_facts;

/* Memory of a device, with the memory of the host from which and to which its content moves. */
typedef struct clo_device_arena {
    /* The driver's number for it. */
    uint64_t arena;

    /* [bytes]; at least 64-byte aligned. May be the same memory. */
    void *host;
} clo_device_arena;

/* A value that a kernel gets directly. */
typedef struct clo_scalar {
    /* Owned by the caller. */
    const void *value;
    size_t bytes;
} clo_scalar;

/* One launch. Valid during the call. */
typedef struct clo_device_call {
    /* From `find`. */
    uint32_t function;

    /* The arguments are the operands, each at an offset of the arena that is a multiple of 512, then the scalars. */
    uint32_t operands_count, scalars_count;
    uint64_t arena;
    size_t offsets[CLO_KERNEL_OPERANDS_MAX];
    size_t bytes[CLO_KERNEL_OPERANDS_MAX];
    const clo_scalar *scalars;

    /* Work items, and those of a group; local[0] is 0: the driver chooses. */
    size_t global[3], local[3];
} clo_device_call;

/* A command that has ended. */
typedef struct clo_device_completion {
    /* As it was given. */
    uint32_t token;

    /* CLO_OK, or why it failed. */
    clo_status status;

    /* What the kernel took on the device; 0: unknown. */
    int64_t busy_ns;
} clo_device_completion;

struct clo_device_config;

/* A driver. Static; the same table may serve any number of devices. `device` is what `open` made. Calls for one device
 * are made by one thread at a time. A call that fails says why with clo_device_fail. NULL is allowed where said.
 *
 * Commands (put, launch, get) take effect in the order in which they are given, as far as they use the same arena; a
 * command that fails makes all later ones with the same token fail. They return at once. A command with a token is
 * reported by `poll`, exactly once; one with CLO_NONE is not, but the next one of its arena with a token has failed if
 * it has. */
typedef struct clo_driver {
    const char *name;

    /* One line for a reader. */
    const char *summary;

    /* sizeof(clo_driver). */
    size_t size;

    /* Opens the device that `selector` names ("": any), compiles config->program. */
    clo_status (*open)(const char *selector, const struct clo_device_config *config, void **out);

    /* NULL: no name, depth 1, no fd. */
    void (*describe)(const void *device, clo_device_facts *out);

    /* The number of a kernel. NULL: 0, whatever its name. */
    clo_status (*find)(void *device, const char *name, uint32_t *function);

    clo_status (*reserve)(void *device, size_t bytes, clo_device_arena *out);

    /* NULL: arenas go with the device. */
    void (*release)(void *device, uint64_t arena);

    /* Makes bytes [offset, offset + bytes) of the arena's host memory visible to the device, or the other way round.
     * NULL: both see the same memory. */
    clo_status (*put)(void *device, uint64_t arena, size_t offset, size_t bytes, uint32_t token);
    clo_status (*get)(void *device, uint64_t arena, size_t offset, size_t bytes, uint32_t token);

    clo_status (*launch)(void *device, const clo_device_call *call, uint32_t token);

    /* Writes at most `max` completions; returns their number. Never blocks. */
    uint32_t (*poll)(void *device, clo_device_completion *out, uint32_t max);

    /* The device is lost: what is open is not awaited any more. Memory that it may still use stays until the process
     * ends. Only `close` is called afterwards. NULL: nothing to do. */
    void (*abandon)(void *device);

    void (*close)(void *device);

    /* True: the driver can open a device here. NULL: it can. */
    bool (*is_usable)(void);

    /* 1: an arena keeps its content, on the device and in the memory of the host, until a command or the library writes
     * there. Then what a kernel reads is not put again while the device has it. 0: it may be gone once a command has
     * ended. */
    uint32_t keeps;
} clo_driver;

/* Stores the text that clo_last_error returns on this thread, for a driver's own functions.
 *
 *   status  what is returned.
 *   text    "npu0: the firmware is too old; install 1.2"
 *
 * Threads: any. Real time: no. */
CLO_API clo_status clo_device_fail(clo_status status, const char *text);

/* A driver of this library by name: "null", "opencl". They are listed in the registry "drivers". NULL, with a text in
 * clo_last_error: there is none of this name.
 * Threads: any. Real time: yes, O(drivers). */
CLO_API const clo_driver *clo_driver_find(const char *name);

/* ---- devices ---- */

/* A function of the host that the driver "null" calls as a kernel, on the device's memory. */
typedef struct clo_host_kernel {
    const char *name;

    /* operands[i] of `count` has bytes[i]. NULL: it does nothing. */
    void (*run)(void *const *operands, const size_t *bytes, uint32_t count, const clo_scalar *scalars);

    /* What it takes on the device. */
    int64_t takes_ns;
} clo_host_kernel;

typedef struct clo_device_config {
    /* Set by CLO_DEVICE_CONFIG_INIT. */
    size_t size;

    /* Source of the kernels ("opencl"), 0-terminated, and options for its compiler. Borrowed during clo_device_open. */
    const char *program, *options;

    /* [host_kernels_count] for the driver "null"; borrowed until clo_device_close. */
    const clo_host_kernel *host_kernels;
    uint32_t host_kernels_count;

    /* Executions open at once; 0: what the driver says (clo_device_facts.depth). */
    uint32_t depth;

    /* Executions that may wait for the device, 0: 64. One that comes while all are taken is done by its fallback on the
     * thread of its slot, and counted. So give it as many as the slots of all runtimes that use the device. */
    uint32_t requests_max;

    /* An execution that takes longer loses the device; 0: 60 s, INT64_MAX: none. It counts from when the execution was
     * given to the driver. */
    int64_t limit_ns;

    /* How long the thread looks for completions and requests before it sleeps; 0: 20 us. 1: it does not. */
    int64_t spin_ns;

    /* 1: clo_device_prepare does not launch kernels. Else it launches each, with zeros as its operands. */
    uint32_t no_trial;

    /* Called once, on the device's thread, when the device is lost. `reason` is valid during the call. It may call
     * clo_job_swap_plan. NULL: nothing. */
    void (*on_lost)(void *argument, const char *reason);
    void *argument;
} clo_device_config;

#define CLO_DEVICE_CONFIG_INIT CLO_SIZED_INIT(clo_device_config)

/* Opens a device and starts its thread.
 *
 *   driver    clo_driver_find, or a table of your own; static.
 *   selector  which device, in the words of the driver; NULL: "".
 *               opencl  "": the first; a number: of all devices of all OpenCL platforms, from 0; else a part of its name
 *               null    "KEY=NUMBER,...": launch_ns (of kernels without takes_ns), copy_ns, MBps (of each direction),
 *                       depth, memory (bytes), keep (1: memory that nobody should read is not overwritten); faults at
 *                       the N-th launch, from 1: fail, refuse, lose (it does not come back), hang (nor does any later
 *                       one), late (as hang, and its results arrive after the device was given up)
 *   config    copied, but for what it points to; NULL: defaults.
 *   out       the device, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     a driver without a function that it needs, an unknown selector, a number out of range
 *   CLO_ERR_UNSUPPORTED  the driver cannot open a device here; the text says what is missing
 *   CLO_ERR_SYSTEM       no thread, or the driver says so
 *   CLO_ERR_FORMAT       the program does not compile; the text has the compiler's first line
 *   CLO_ERR_LIMIT        the driver has a limit; the text says which
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_device_open(const clo_driver *driver, const char *selector,
                                                 const clo_device_config *config, clo_device **out);

/* As clo_device_open, with the driver and the device that the platform file names for an executor (clotho.driver and
 * clotho.device of its accelerator): the program does not change with the board.
 *
 *   platform  only read; may be destroyed afterwards.
 *   executor  a slot of the accelerator; all its slots are of the same device, so open one device for them.
 *   own       a driver of your own, taken if the file names it; else clo_driver_find looks for the name. NULL: none.
 *   config    as above.
 *   out       the device, owned by the caller.
 *
 * Returns what clo_device_open does, or
 *   CLO_ERR_ARGUMENT     there is no such executor, or the file names no driver for it
 *   CLO_ERR_UNSUPPORTED  no driver of that name is built in, and `own` is another
 *
 * Threads, real time: as clo_device_open. */
CLO_API CLO_NODISCARD clo_status clo_device_open_at(const clo_platform *platform, uint32_t executor,
                                                    const clo_driver *own, const clo_device_config *config,
                                                    clo_device **out);

/* Waits for what is open, then closes the device. Jobs that use it have ended, and no simulation calls its kernels any
 * more. In a process that was forked from the one that has opened it, it does nothing. NULL is allowed.
 * Threads: one. Real time: no. */
CLO_API void clo_device_close(clo_device *device);

/* The number of a kernel of the device's program.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL, or no such kernel), CLO_ERR_STATE (the device is in use or lost, or another
 * process has opened it), CLO_ERR_LIMIT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_device_find(clo_device *device, const char *name, uint32_t *function);

/* Where an operand of a kernel comes from. */
enum {
    /* clo_call.inputs[index], read. */
    CLO_OPERAND_INPUT = 1,

    /* clo_call.output, written. */
    CLO_OPERAND_OUTPUT = 2,

    /* clo_call.data[index] (handle.h), used as the task has declared. */
    CLO_OPERAND_HANDLE = 3,

    /* `address`, used as `mode` says. What orders its uses are the edges of the graph. */
    CLO_OPERAND_MEMORY = 4
};

typedef struct clo_operand {
    /* CLO_OPERAND_... */
    uint32_t source;
    uint32_t index;

    /* MEMORY: CLO_ACCESS_READ, _WRITE or _UPDATE; [bytes] at address, owned by the caller. 0 and NULL otherwise. */
    uint32_t mode;
    void *address;
    size_t bytes;
} clo_operand;

/* What a task runs on a device. */
typedef struct clo_kernel {
    /* Set by CLO_KERNEL_INIT. */
    size_t size;

    clo_device *device;

    /* From clo_device_find. */
    uint32_t function;

    /* [operands_count] its first arguments; NULL and 0: all inputs, all handles, then the output. Borrowed. */
    uint32_t operands_count;
    const clo_operand *operands;

    /* [scalars_count] the arguments behind them. Borrowed. */
    const clo_scalar *scalars;
    uint32_t scalars_count;

    /* Work items in each dimension; 0: 1. local[0] is 0: the driver chooses the groups. */
    size_t global[3], local[3];

    /* The body that does the same on a CPU, and its argument (clo_call.argument). NULL: none. */
    clo_task_fn fallback;
    void *argument;
} clo_kernel;

#define CLO_KERNEL_INIT CLO_SIZED_INIT(clo_kernel)

/* Gives `task` a kernel on executors of `kind`, in place of a body (clo_graph_set_body). Its time there is that of the
 * whole: data there, kernel, results back (clo_graph_set_time, or measured).
 *
 *   kernel  borrowed until no job runs the graph.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  unknown task or kind; no device; operands that are none; a task without clo_task.may_pend, or with
 *                     several instances: give each a task of its own
 *   CLO_ERR_LIMIT     more than CLO_KERNEL_OPERANDS_MAX or CLO_KERNEL_SCALARS_MAX
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_graph_set_kernel(clo_graph *graph, uint32_t task, uint32_t kind,
                                                      const clo_kernel *kernel);

/* Reserves what the kernels of a graph need on the device, and launches each of its functions once, so that a run finds
 * compiled code and warm memory. Called for each graph before its first job. Later calls keep what is there, or take
 * more.
 *
 *   graph  sealed.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  an operand names an input or a handle that the task lacks; a task with a kernel is a branch
 *   CLO_ERR_STATE     not sealed; the device is in use or lost, or another process has opened it
 *   CLO_ERR_LIMIT     the device has too little memory; more than CLO_KERNEL_OPERANDS_MAX inputs, handles and outputs
 *   CLO_ERR_TIMEOUT   a trial took longer than limit_ns
 *   CLO_ERR_MEMORY, or what the driver says
 * After a failure earlier graphs are prepared as before, but a trial that fails loses the device (without on_lost),
 * since nobody knows what it left behind.
 *
 * Threads: any. Real time: no. O(tasks + edges). */
CLO_API CLO_NODISCARD clo_status clo_device_prepare(clo_device *device, const clo_graph *graph);

/* What a device has done. */
typedef struct clo_device_stats {
    /* Set by CLO_DEVICE_STATS_INIT. */
    size_t size;

    clo_device_facts facts;

    /* Executions that the device has done; that fallbacks have done on its thread; and on the threads of slots, because
     * no request was free or the graph was not prepared. */
    uint64_t launched, fallbacks, crowded;

    /* Of those: ones whose launch and gets returned after more than 20 us and half of the kernel. If they are many, the
     * driver runs kernels before it returns. */
    uint64_t synchronous;

    /* Moved to the device and back. */
    uint64_t put_bytes, get_bytes;

    /* What kernels took on the device, in total; 0 if the driver does not know. */
    int64_t busy_ns;

    /* The longest time that launch and gets took to return, of executions that have ended. */
    int64_t launch_max_ns;

    /* 1: the device is lost, and why. */
    uint32_t is_lost;
    char reason[160];

    /* Of operands that were read, not moved, since the device had them (clo_driver.keeps). */
    uint64_t kept_bytes;
} clo_device_stats;

#define CLO_DEVICE_STATS_INIT CLO_SIZED_INIT(clo_device_stats)

/* Reads them.
 * Returns CLO_OK or CLO_ERR_ARGUMENT.
 * Threads: any, also while jobs run. Real time: no (a lock). */
CLO_API CLO_NODISCARD clo_status clo_device_get_stats(clo_device *device, clo_device_stats *out);

#ifdef __cplusplus
}
#endif
#endif
