/* application.c - adds tasks to the graph of an application, with the times that are known. */
#include "application.h"

#include <stdbool.h>
#include <stdlib.h>

/* Before anything is measured every task takes this long: any number will do for stealing. */
enum { UNKNOWN_NS = 1000 };

static void remember_kernel(application_graph *graph, uint32_t task, uint32_t kernel)
{
    if (task >= graph->capacity) {
        uint32_t capacity = 2 * task + 64;
        uint8_t *grown = realloc(graph->kernel_of, capacity);

        if (grown == NULL) {
            graph->status = CLO_ERR_MEMORY;
            return;
        }
        graph->kernel_of = grown;
        graph->capacity = capacity;
    }
    graph->kernel_of[task] = (uint8_t)kernel;
    graph->tasks = task + 1;
}

/* Times of one problem are not those of another: the options are the size. FNV-1a. */
static uint64_t footprint_of(const application *app)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (uint32_t o = 0; o < app->options_count; o++)
        hash = (hash ^ (uint64_t)app->options[o].value) * 0x100000001b3u;
    return hash;
}

static bool has_device(const application_graph *graph)
{
    return graph->app != NULL && graph->app->device != NULL;
}

static bool is_on_device(const application_graph *graph, uint32_t kernel)
{
    uint32_t function;

    return has_device(graph) && clo_device_find(graph->app->device, graph->app->kernels[kernel], &function) == CLO_OK;
}

uint32_t application_add_task(application_graph *graph, uint32_t kernel, const clo_task *task)
{
    const application_times *times = graph->times;
    clo_task timed = *task;
    uint32_t id = 0;

    if (graph->status != CLO_OK)
        return 0;
    timed.work_ns = times != NULL ? times->reference_ns[kernel] : UNKNOWN_NS;
    timed.may_pend = is_on_device(graph, kernel);
    graph->status = clo_graph_add_task(graph->graph, &timed, &id);
    if (graph->status == CLO_OK)
        remember_kernel(graph, id, kernel);
    if (graph->status == CLO_OK && graph->app != NULL)
        graph->status = clo_graph_set_codelet(
            graph->graph, id,
            &(clo_codelet){.name = graph->app->kernels[kernel], .version = 1, .footprint = footprint_of(graph->app)});
    for (uint32_t k = 0; times != NULL && k < times->kinds; k++)
        if (graph->status == CLO_OK && times->ns[kernel][k] > 0)
            graph->status = clo_graph_set_time(graph->graph, id, k, times->ns[kernel][k]);
    return id;
}

void application_set_kernel(application_graph *graph, uint32_t kernel, clo_kernel *of_device)
{
    const application *app = graph->app;
    uint32_t task = graph->tasks - 1;

    if (graph->status != CLO_OK || !has_device(graph))
        return;
    if (!is_on_device(graph, kernel)) {
        graph->status = clo_graph_set_time(graph->graph, task, graph->device_kind, CLO_TIME_NEVER);
        return;
    }
    of_device->device = app->device;
    graph->status = clo_device_find(app->device, app->kernels[kernel], &of_device->function);
    if (graph->status == CLO_OK)
        graph->status = clo_graph_set_kernel(graph->graph, task, graph->device_kind, of_device);
}

void application_add_edge(application_graph *graph, uint32_t from, uint32_t to, uint64_t bytes)
{
    if (graph->status == CLO_OK)
        graph->status = clo_graph_add_edge(graph->graph, from, to, bytes);
}

void application_graph_free(application_graph *graph)
{
    clo_graph_destroy(graph->graph);
    free(graph->kernel_of);
    *graph = (application_graph){0};
}
