/* codelet.c - under which name and size the times of a task are kept. */
#include "profile/codelet.h"

#include "generate/body.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

/* Inputs that are added up once more for each sample rather than once for each task. */
enum { NARROW = 16 };

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* Saturates. */
static uint64_t times(uint64_t bytes, uint32_t count)
{
    uint64_t all;

    return __builtin_mul_overflow(bytes, count, &all) ? UINT64_MAX : all;
}

uint64_t clo_profile_bytes_of(const clo_graph *graph, uint32_t task)
{
    uint64_t bytes = clo_graph_output(graph, task);

    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++)
        bytes =
            add(bytes, times(clo_graph_in_bytes(graph, e), clo_graph_instances_of(graph, clo_graph_source(graph, e))));
    const clo_graph_data *data = graph->data;
    for (uint32_t a = data == NULL ? 0 : data->first[task]; data != NULL && a < data->first[task + 1]; a++)
        bytes = add(bytes, data->handles[data->accesses[a].handle].bytes);
    return bytes;
}

/* What a task runs on a kind: its body, NULL: none. */
typedef struct body_on {
    clo_task_fn body;
    const void *argument;
    bool is_own; /* the argument is not that of the task, but of this body */
} body_on;

static body_on find_body(const clo_graph *graph, uint32_t task, const char *kind)
{
    const clo_graph_task_row *row = &graph->rows[task];

    for (uint32_t s = clo_graph_special_first(graph, task); s != CLO_NONE; s = graph->specials[s].next) {
        const clo_graph_special *special = &graph->specials[s];
        if (special->body != NULL && strcmp(graph->kind_names[special->kind], kind) == 0)
            return (body_on){special->body, special->argument, special->argument != row->argument};
    }
    return (body_on){row->body, row->argument, false};
}

/* "@" and the address, or the name of the program. A body with an argument of its own is what that says, such as a
 * kernel: then "." and the address of the argument follow. */
static bool name_body(const clo_graph *graph, uint32_t task, const char *kind, char *scratch, clo_profile_entry *key)
{
    body_on on = find_body(graph, task, kind);

    if (on.body == NULL || on.body == clo_body_spin || on.body == clo_body_memory)
        return false;
    if (on.body != clo_body_command) {
        int length = snprintf(scratch, CLO_PROFILE_SCRATCH, "%c%llx", CLO_CODELET_ADDRESS,
                              (unsigned long long)(uintptr_t)on.body);
        if (on.is_own)
            snprintf(scratch + length, CLO_PROFILE_SCRATCH - (size_t)length, ".%llx",
                     (unsigned long long)(uintptr_t)on.argument);
        key->codelet = scratch;
        key->footprint = key->bytes;
        return true;
    }
    clo_codelet codelet;
    if (!clo_body_command_codelet(on.argument, &codelet))
        return false;
    key->codelet = codelet.name;
    key->footprint = codelet.footprint;
    return true;
}

bool clo_profile_codelet_of(const clo_graph *graph, uint32_t task, const char *kind, char *scratch,
                            clo_profile_entry *key)
{
    clo_codelet codelet;

    key->kind = kind;
    key->version = 0;
    if (!clo_graph_codelet(graph, task, &codelet))
        return name_body(graph, task, kind, scratch, key);
    key->codelet = codelet.name;
    key->version = codelet.version;
    key->footprint = codelet.footprint > 0 ? codelet.footprint : key->bytes;
    return true;
}

uintptr_t clo_profile_same_of(const clo_graph *graph, uint32_t task, const char *kind, uint64_t *size)
{
    uint32_t index = clo_columns_get(&graph->columns, CLO_COLUMN_CODELET, task);
    const clo_graph_codelet_row *row = index != CLO_NONE ? &graph->codelets[index] : NULL;
    body_on on = row == NULL ? find_body(graph, task, kind) : (body_on){NULL, NULL, false};
    uintptr_t what = row != NULL ? (uintptr_t)row : (uintptr_t)on.body;

    *size = 0;
    if (what == 0 || on.body == clo_body_command || on.is_own)
        return 0;
    if (row != NULL && row->footprint > 0)
        return what;
    bool is_narrow = graph->in_first[task + 1] - graph->in_first[task] <= NARROW;
    *size = is_narrow ? clo_profile_bytes_of(graph, task) : task;
    return what + !is_narrow; /* rows and functions are further apart than that */
}
