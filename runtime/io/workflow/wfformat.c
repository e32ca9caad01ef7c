/* wfformat.c - reads WfFormat 1.0 to 1.5, the JSON of WfCommons (wfcommons/WfFormat, wfcommons-schema.json): recorded
 * runs of scientific workflows.
 *
 * A task's work is its run time; an edge's bytes are the sizes of the files that are output of the parent and
 * input of the child. 1.5 keeps structure and run apart (specification, execution); before, both stood in one list,
 * "tasks" or up to 1.2 "jobs", whose parents are names. Edges are the union of all "parents" and "children". Keys that
 * do not matter here are ignored, as the format is not ours. Deviations: a file that is not in "files" counts 0 bytes;
 * sizes of files are bytes in all versions, as in the published files (the schemas up to 1.3 say KB). */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/names.h"
#include "io/workflow/edge_list.h"

#include <string.h>

/* A task reads or writes a file. */
typedef struct wf_use {
    uint32_t task, file;
    bool is_output;
    uint32_t next; /* outputs: next producer of the file, CLO_NONE at the end */
} wf_use;

typedef struct wf {
    clo_reader *reader;
    const clo_json *json;
    bool old;                /* before 1.5                                */
    const char *runtime_key; /* of a task's run time, for messages        */
    uint32_t tasks_count;
    const cJSON **specs;  /* [tasks] structure                         */
    const cJSON **runs;   /* [tasks] run; the same as specs before 1.5 */
    clo_names ids, names; /* of tasks                                  */
    clo_names files;      /* of files                                  */
    uint64_t *sizes;      /* [files]                                   */
    uint32_t *producers;  /* [files] first output use, CLO_NONE        */
    uint32_t *seen;       /* [files] stamp: task + 1 that used it last */
    size_t sizes_capacity;
    uint32_t files_count;
    wf_use *uses;
    size_t uses_count, uses_capacity;
    clo_edge_list edges;
} wf;

static void free_wf(wf *w)
{
    clo_free(w->specs);
    clo_free(w->runs);
    clo_free(w->sizes);
    clo_free(w->producers);
    clo_free(w->seen);
    clo_free(w->uses);
    clo_edge_list_free(&w->edges);
    clo_names_free(&w->ids);
    clo_names_free(&w->names);
    clo_names_free(&w->files);
}

static clo_status no_memory(const wf *w)
{
    return clo_fail_memory(w->json->file);
}

/* The tasks by id and, before 1.5, by name. */
static clo_status read_specs(wf *w, const cJSON *tasks)
{
    const cJSON *item;
    const char *id = "";

    w->specs = clo_allocate((size_t)cJSON_GetArraySize(tasks), sizeof *w->specs);
    w->runs = clo_allocate((size_t)cJSON_GetArraySize(tasks), sizeof *w->runs);
    if (w->specs == NULL || w->runs == NULL)
        return no_memory(w);
    cJSON_ArrayForEach (item, tasks) {
        const cJSON *name;
        uint32_t t = w->tasks_count++;
        clo_status status = clo_json_get(w->json, item, "name", w->old, &name);
        if (status == CLO_OK && name != NULL)
            status = clo_json_string(w->json, name, &id);
        if (status == CLO_OK && w->old && clo_names_add(&w->names, id, t) != 0)
            return no_memory(w);
        const cJSON *given;
        if (status == CLO_OK)
            status = clo_json_get(w->json, item, "id", !w->old, &given);
        if (status == CLO_OK && given != NULL)
            status = clo_json_string(w->json, given, &id);
        if (status != CLO_OK)
            return status;
        if (clo_names_find(&w->ids, id) != CLO_NONE)
            return clo_json_want(w->json, given != NULL ? given : name, "an id of its own; another task has this one");
        if (clo_names_add(&w->ids, id, t) != 0)
            return no_memory(w);
        w->specs[t] = item;
        w->runs[t] = w->old ? item : NULL;
    }
    return CLO_OK;
}

/* 1.5: matches execution.tasks to the specification. */
static clo_status read_runs(wf *w, const cJSON *workflow)
{
    const cJSON *execution, *tasks, *item;
    const char *id;
    clo_status status = clo_json_get(w->json, workflow, "execution", true, &execution);

    if (status == CLO_OK)
        status = clo_json_get_array(w->json, execution, "tasks", true, &tasks);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, tasks) {
        if ((status = clo_json_get_string(w->json, item, "id", &id)) != CLO_OK)
            return status;
        uint32_t t = clo_names_find(&w->ids, id);
        if (t == CLO_NONE)
            continue; /* ran, but is not part of the workflow */
        if (w->runs[t] != NULL)
            return clo_json_fail(w->json, CLO_ERR_FORMAT, item, "is the second run of task \"%.60s\"; keep one", id);
        w->runs[t] = item;
    }
    for (uint32_t t = 0; t < w->tasks_count; t++)
        if (w->runs[t] == NULL)
            return clo_json_fail(w->json, CLO_ERR_FORMAT, w->specs[t],
                                 "has no run time; add it to workflow.execution.tasks");
    return CLO_OK;
}

/* ---- edges ---- */

static clo_status sort_edges(wf *w)
{
    clo_edge_list_sort(&w->edges);
    for (size_t e = 1; e < w->edges.count; e++)
        if (w->edges.edges[e].ends == w->edges.edges[e - 1].ends)
            return clo_json_want(w->json, w->edges.edges[e].item, "each task once; it is there twice");
    return CLO_OK;
}

/* A reference to a task: before 1.5 by name, else by id. */
static clo_status find_task(const wf *w, const cJSON *item, uint32_t *task)
{
    const char *text;
    clo_status status = clo_json_string(w->json, item, &text);

    if (status != CLO_OK)
        return status;
    *task = w->old ? clo_names_find(&w->names, text) : CLO_NONE;
    if (*task == CLO_NONE)
        *task = clo_names_find(&w->ids, text);
    if (*task == CLO_NONE || *task == CLO_NAMES_TWICE)
        return clo_json_want(w->json, item,
                             *task == CLO_NONE ? "the id of a task of this workflow; there is none like this"
                                               : "the id of the task; several tasks have this name");
    return CLO_OK;
}

/* Edges of one list of every task; those among the first `known` edges (sorted) are skipped. */
static clo_status read_relatives(wf *w, const char *key, bool parents, size_t known)
{
    const cJSON *list, *item;
    uint32_t other;

    for (uint32_t t = 0; t < w->tasks_count; t++) {
        clo_status status = clo_json_get_array(w->json, w->specs[t], key, false, &list);
        if (status != CLO_OK)
            return status;
        cJSON_ArrayForEach (item, list) {
            if ((status = find_task(w, item, &other)) != CLO_OK)
                return status;
            uint64_t ends = parents ? clo_edge_ends(other, t) : clo_edge_ends(t, other);
            if (clo_edge_list_find(&w->edges, known, ends) != NULL)
                continue;
            if ((status = clo_edge_list_add(&w->edges, w->json, ends, item)) != CLO_OK)
                return status;
        }
    }
    return CLO_OK;
}

static clo_status read_edges(wf *w)
{
    clo_status status = read_relatives(w, "parents", true, 0);

    if (status == CLO_OK)
        status = sort_edges(w);
    if (status == CLO_OK)
        status = read_relatives(w, "children", false, w->edges.count);
    return status == CLO_OK ? sort_edges(w) : status;
}

/* ---- files ---- */

/* Number of the file `name`, added with 0 bytes when new. */
static clo_status file_of(wf *w, const char *name, uint32_t *file)
{
    void *sizes = w->sizes;

    *file = clo_names_find(&w->files, name);
    if (*file != CLO_NONE)
        return CLO_OK;
    if (clo_names_add(&w->files, name, w->files_count) != 0 ||
        clo_grow(&sizes, &w->sizes_capacity, (size_t)w->files_count + 1, sizeof *w->sizes) != 0)
        return no_memory(w);
    w->sizes = sizes;
    *file = w->files_count++;
    w->sizes[*file] = 0;
    return CLO_OK;
}

static clo_status add_use(wf *w, uint32_t task, uint32_t file, bool is_output)
{
    void *uses = w->uses;

    if (w->uses_count >= CLO_NAMES_TWICE || clo_grow(&uses, &w->uses_capacity, w->uses_count + 1, sizeof *w->uses) != 0)
        return no_memory(w);
    w->uses = uses;
    w->uses[w->uses_count++] = (wf_use){.task = task, .file = file, .is_output = is_output, .next = CLO_NONE};
    return CLO_OK;
}

/* 1.5: sizes stand in specification.files. */
static clo_status read_sizes(wf *w, const cJSON *specification)
{
    const cJSON *files, *item, *size;
    const char *name;
    uint32_t file;
    clo_status status = clo_json_get_array(w->json, specification, "files", false, &files);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, files) {
        status = clo_json_get_string(w->json, item, "id", &name);
        if (status == CLO_OK)
            status = clo_json_get(w->json, item, "sizeInBytes", true, &size);
        if (status == CLO_OK)
            status = file_of(w, name, &file);
        if (status == CLO_OK)
            status = clo_reader_bytes(w->reader, w->json, size, 1, &w->sizes[file]);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_uses(wf *w, uint32_t task, const char *key, bool is_output)
{
    const cJSON *list, *item;
    const char *name;
    uint32_t file;
    clo_status status = clo_json_get_array(w->json, w->specs[task], key, false, &list);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, list) {
        status = clo_json_string(w->json, item, &name);
        if (status == CLO_OK)
            status = file_of(w, name, &file);
        if (status == CLO_OK)
            status = add_use(w, task, file, is_output);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* Before 1.5: {"name", "sizeInBytes" or "size", "link": "input" or "output"}. */
static clo_status read_old_file(wf *w, uint32_t task, const cJSON *item)
{
    const char *name, *link;
    const cJSON *size;
    uint32_t file;
    clo_status status = clo_json_get_string(w->json, item, "name", &name);

    if (status == CLO_OK)
        status = clo_json_get_string(w->json, item, "link", &link);
    if (status == CLO_OK)
        status = clo_json_get(w->json, item, "sizeInBytes", false, &size);
    if (status == CLO_OK && size == NULL)
        status = clo_json_get(w->json, item, "size", true, &size);
    if (status == CLO_OK)
        status = file_of(w, name, &file);
    if (status == CLO_OK)
        status = clo_reader_bytes(w->reader, w->json, size, 1, &w->sizes[file]);
    return status == CLO_OK ? add_use(w, task, file, strcmp(link, "output") == 0) : status;
}

static clo_status read_all_uses(wf *w)
{
    const cJSON *list, *item;
    clo_status status = CLO_OK;

    for (uint32_t t = 0; t < w->tasks_count && status == CLO_OK; t++) {
        if (!w->old) {
            status = read_uses(w, t, "inputFiles", false);
            if (status == CLO_OK)
                status = read_uses(w, t, "outputFiles", true);
            continue;
        }
        status = clo_json_get_array(w->json, w->specs[t], "files", false, &list);
        if (status != CLO_OK)
            return status;
        cJSON_ArrayForEach (item, list)
            if ((status = read_old_file(w, t, item)) != CLO_OK)
                return status;
    }
    return status;
}

/* Adds one input file to the edges from all its producers. */
static clo_status add_input(wf *w, const wf_use *input)
{
    for (uint32_t u = w->producers[input->file]; u != CLO_NONE; u = w->uses[u].next) {
        clo_listed_edge *edge =
            clo_edge_list_find(&w->edges, w->edges.count, clo_edge_ends(w->uses[u].task, input->task));
        if (edge == NULL)
            continue;
        edge->bytes += w->sizes[input->file];
        if (edge->bytes >= 1ull << 62)
            return clo_json_fail(w->json, CLO_ERR_LIMIT, edge->item,
                                 "carries more than 2^62 bytes; use a smaller scale");
    }
    return CLO_OK;
}

/* O(uses * log edges) as long as files have one producer. Repeated uses by one task count once. */
static clo_status sum_bytes(wf *w)
{
    w->producers = clo_allocate(w->files_count, sizeof *w->producers);
    w->seen = clo_allocate(w->files_count, sizeof *w->seen);
    if (w->producers == NULL || w->seen == NULL)
        return no_memory(w);
    for (uint32_t f = 0; f < w->files_count; f++)
        w->producers[f] = CLO_NONE;
    for (uint32_t u = 0; u < w->uses_count; u++) {
        wf_use *use = &w->uses[u];
        if (!use->is_output || w->seen[use->file] == use->task + 1)
            continue;
        w->seen[use->file] = use->task + 1;
        use->next = w->producers[use->file];
        w->producers[use->file] = u;
    }
    if (w->files_count > 0)
        memset(w->seen, 0, w->files_count * sizeof *w->seen);
    for (uint32_t u = 0; u < w->uses_count; u++) {
        const wf_use *use = &w->uses[u];
        if (use->is_output || w->seen[use->file] == use->task + 1)
            continue;
        w->seen[use->file] = use->task + 1;
        clo_status status = add_input(w, use);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* ---- tasks ---- */

/* From 1.2 on: {"program": "p", "arguments": ["a", ...]}. */
static clo_status read_command(const wf *w, const cJSON *run, clo_task *task)
{
    const cJSON *command, *arguments, *item;
    const char *program;
    size_t count = 1;
    clo_status status = clo_json_get(w->json, run, "command", true, &command);

    if (status == CLO_OK)
        status = clo_json_get_string(w->json, command, "program", &program);
    if (status == CLO_OK)
        status = clo_json_get_array(w->json, command, "arguments", false, &arguments);
    if (status != CLO_OK)
        return status;
    const char **argv = clo_allocate(arguments != NULL ? (size_t)cJSON_GetArraySize(arguments) + 1 : 1, sizeof *argv);
    if (argv == NULL)
        return no_memory(w);
    argv[0] = program;
    cJSON_ArrayForEach (item, arguments) {
        if (!cJSON_IsString(item)) {
            clo_free(argv);
            return clo_json_want(w->json, item, "a string");
        }
        argv[count++] = item->valuestring;
    }
    task->argument = clo_bodies_add(w->reader->bodies, argv, count, NULL);
    clo_free(argv);
    return task->argument != NULL ? CLO_OK : no_memory(w);
}

/* A demand that tasks state, under its names of the versions; memory was in KB once. */
static const struct {
    const char *resource;
    struct {
        const char *key;
        double unit;
    } spellings[2];
} demands[] = {
    {"memory", {{"memoryInBytes", 1}, {"memory", 1e3}}},
    {"cores", {{"coreCount", 1}, {"cores", 1}}},
};

enum { DEMANDS = sizeof demands / sizeof demands[0] };

/* The amount of demand `d` that a task states; negative: none that can be used. */
static double amount_of(const wf *w, uint32_t t, int d)
{
    for (int k = 0; k < (w->old ? 2 : 1); k++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(w->runs[t], demands[d].spellings[k].key);
        double amount = cJSON_IsNumber(item) ? item->valuedouble * demands[d].spellings[k].unit : -1;
        if (amount >= 0 && amount <= CLO_JSON_INTEGER_MAX)
            return amount;
    }
    return -1;
}

/* Demands are kept only if all tasks state them: a partial vector would favour the silent ones. */
static bool all_have(const wf *w, int d)
{
    for (uint32_t t = 0; t < w->tasks_count; t++)
        if (amount_of(w, t, d) < 0)
            return false;
    return true;
}

/* Returns in resources[d] the index of demand d, -1 where it is not kept. */
static clo_status name_demands(const wf *w, int resources[DEMANDS])
{
    uint32_t next = 0;

    for (int d = 0; d < DEMANDS; d++) {
        resources[d] = -1;
        if (!all_have(w, d))
            continue;
        clo_status status = clo_graph_set_resource(w->reader->graph, next, demands[d].resource);
        if (status != CLO_OK)
            return status;
        resources[d] = (int)next++;
    }
    return CLO_OK;
}

/* "runtimeInSeconds", before 1.4 and in early files of 1.4 "runtime". */
static clo_status get_runtime(const wf *w, const cJSON *run, const cJSON **runtime)
{
    clo_status status = clo_json_get(w->json, run, "runtimeInSeconds", !w->old, runtime);

    if (status == CLO_OK && *runtime == NULL)
        status = clo_json_get(w->json, run, "runtime", false, runtime);
    if (status == CLO_OK && *runtime == NULL)
        return clo_json_fail(w->json, CLO_ERR_FORMAT, run, "has no \"%s\"; add it", w->runtime_key);
    return status;
}

static clo_status add_task(const wf *w, uint32_t t, const int resources[DEMANDS])
{
    clo_task task = {.body = w->reader->body};
    const cJSON *run = w->runs[t], *runtime, *given;
    clo_status status = get_runtime(w, run, &runtime);

    if (status == CLO_OK)
        status = clo_reader_time(w->reader, w->json, runtime, 1e9, &task.work_ns);
    if (status == CLO_OK)
        status = clo_json_get(w->json, w->specs[t], w->old ? "name" : "id", true, &given);
    if (status != CLO_OK)
        return status;
    task.name = given->valuestring;
    for (int d = 0; d < DEMANDS; d++) {
        if (resources[d] < 0)
            continue;
        double amount = amount_of(w, t, d);
        task.demand[resources[d]] = (int64_t)amount + (amount > (double)(int64_t)amount); /* half a core is one */
    }
    if (task.body == clo_body_command)
        status = read_command(w, run, &task);
    return status == CLO_OK ? clo_json_place(w->json, run, clo_graph_add_task(w->reader->graph, &task, NULL)) : status;
}

static clo_status build(wf *w)
{
    int resources[DEMANDS];
    const cJSON *name;
    const char *text = NULL;
    clo_status status = clo_json_get(w->json, w->json->root, "name", false, &name);

    if (status == CLO_OK && name != NULL)
        status = clo_json_text(w->json, name, &text);
    if (status == CLO_OK)
        status = clo_graph_create(text, &w->reader->graph);
    if (status == CLO_OK)
        status = name_demands(w, resources);
    for (uint32_t t = 0; t < w->tasks_count && status == CLO_OK; t++)
        status = add_task(w, t, resources);
    return status == CLO_OK ? clo_edge_list_hand_over(&w->edges, w->json, w->reader->graph) : status;
}

/* "tasks"; up to 1.2 they were called "jobs". */
static clo_status get_tasks(const wf *w, const cJSON *specification, const cJSON **tasks)
{
    clo_status status = CLO_OK;

    *tasks = NULL;
    if (w->old)
        status = clo_json_get_array(w->json, specification, "jobs", false, tasks);
    if (status == CLO_OK && *tasks == NULL)
        status = clo_json_get_array(w->json, specification, "tasks", true, tasks);
    if (status == CLO_OK && (*tasks)->child == NULL)
        return clo_json_fail(w->json, CLO_ERR_FORMAT, *tasks, "is empty; a workflow needs at least one task");
    return status;
}

static clo_status read_all(wf *w)
{
    const cJSON *workflow, *specification, *tasks;
    clo_status status = clo_json_get(w->json, w->json->root, "workflow", true, &workflow);

    specification = workflow;
    if (status == CLO_OK && !w->old)
        status = clo_json_get(w->json, workflow, "specification", true, &specification);
    if (status == CLO_OK)
        status = get_tasks(w, specification, &tasks);
    if (status == CLO_OK)
        status = read_specs(w, tasks);
    if (status == CLO_OK && !w->old)
        status = read_runs(w, workflow);
    if (status == CLO_OK)
        status = read_edges(w);
    if (status == CLO_OK && !w->old)
        status = read_sizes(w, specification);
    if (status == CLO_OK)
        status = read_all_uses(w);
    if (status == CLO_OK)
        status = sum_bytes(w);
    return status == CLO_OK ? build(w) : status;
}

/* The versions, newest first. */
static const struct {
    const char *version, *format, *runtime_key;
} versions[] = {
    {"1.5", "wfformat-1.5", "runtimeInSeconds"}, {"1.4", "wfformat-1.4", "runtimeInSeconds"},
    {"1.3", "wfformat-1.3", "runtime"},          {"1.2", "wfformat-1.2", "runtime"},
    {"1.1", "wfformat-1.1", "runtime"},          {"1.0", "wfformat-1.0", "runtime"},
};

enum { VERSIONS = sizeof versions / sizeof versions[0] };

clo_status clo_wfformat_read(clo_reader *reader, const clo_json *json)
{
    wf w = {.reader = reader, .json = json};
    const cJSON *version;
    size_t v = 0;
    clo_status status = clo_json_get(json, json->root, "schemaVersion", true, &version);

    if (status != CLO_OK)
        return status;
    while (v < VERSIONS && !(cJSON_IsString(version) && strcmp(version->valuestring, versions[v].version) == 0))
        v++;
    if (v == VERSIONS)
        return clo_json_want(json, version, "\"1.0\" to \"1.5\", the versions of WfFormat that are known here");
    w.old = v > 0;
    w.runtime_key = versions[v].runtime_key;
    reader->format = versions[v].format;
    reader->unit_ns = 1e9;
    status = read_all(&w);
    free_wf(&w);
    return status;
}
