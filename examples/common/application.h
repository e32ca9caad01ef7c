/* application.h - how an application describes itself to the common driver, and how it adds tasks. */
#ifndef EXAMPLES_APPLICATION_H
#define EXAMPLES_APPLICATION_H

#include <clotho/clotho.h>

enum { APPLICATION_KERNELS_MAX = 20, APPLICATION_KINDS_MAX = 8 };

/* Measured times: of each kernel on each kind of executor of this machine. */
typedef struct application_times {
    uint32_t kinds; /* 0: nothing measured yet        */
    char kind_names[APPLICATION_KINDS_MAX][64];
    int64_t ns[APPLICATION_KERNELS_MAX][APPLICATION_KINDS_MAX]; /* 0: this kind was not measured  */
    int64_t reference_ns[APPLICATION_KERNELS_MAX];              /* the kind that ran it most      */
} application_times;

/* The graph being built. The first failure latches in `status`, so that code that builds reads as a list. */
typedef struct application_graph {
    clo_graph *graph;
    const struct application *app;  /* NULL: tasks get no codelets */
    const application_times *times; /* NULL: not known */
    uint32_t device_kind;           /* of the device of `app`, if it has one */
    uint8_t *kernel_of;             /* [tasks] */
    uint32_t tasks, capacity;
    clo_status status;
} application_graph;

/* Adds `task`, a codelet called as `kernel`, with its measured time; returns its id (0 after a failure). */
uint32_t application_add_task(application_graph *graph, uint32_t kernel, const clo_task *task);
/* The task that was added last may also run on the device of the application, if it has one: `of_device` gets the device
 * and the function; operands and scalars are in it. */
void application_set_kernel(application_graph *graph, uint32_t kernel, clo_kernel *of_device);
void application_add_edge(application_graph *graph, uint32_t from, uint32_t to, uint64_t bytes);
void application_graph_free(application_graph *graph);

/* A whole-number option of the application itself, e.g. --tile. */
typedef struct application_option {
    const char *name; /* without the dashes           */
    const char *help;
    int64_t value;       /* default, then what was given */
    int64_t quick_value; /* default under --quick        */
    int64_t low, high;
    int is_set;
} application_option;

typedef struct application application;
struct application {
    const char *name;
    const char *summary;
    const char *const *kernels; /* [kernels_count] names */
    uint32_t kernels_count;
    application_option *options;
    uint32_t options_count;
    uint64_t seed;
    void *data; /* of the application    */

    /* In OpenCL C, the functions called as `kernels` that a device can do. NULL: none. */
    const char *program;
    const char *program_options; /* for its compiler; NULL: none */
    clo_device *device;          /* NULL: none is used */

    /* Allocates and generates the problem from the options. Returns NULL, or what is wrong with them. */
    const char *(*open)(application *app);
    void (*close)(application *app);
    /* Adds tasks and edges, predecessors first. */
    void (*build)(application *app, application_graph *graph);
    /* Before every run: puts inputs back in place. May be NULL. */
    void (*prepare)(application *app);
    /* After a run: is the result right? Writes one line about it, and its JSON members ("\"residual\": 1e-16"). */
    bool (*check)(application *app, char *line, char *json, size_t bytes);
    /* Hash of a result kept in the application's own memory. NULL: the runtime's hash of the output buffers. */
    uint64_t (*hash)(application *app);
};

#endif
