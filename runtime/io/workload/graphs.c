/* graphs.c - see graphs.h. An instance is read when a job first names one at or behind it; those in
 * front of it are kept for jobs that name them later. */
#define _POSIX_C_SOURCE 200809L
#include "io/workload/graphs.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/status.h"
#include "workload/workload.h"

#include <assert.h>
#include <string.h>

/* An instance that was read. */
typedef struct kept {
    clo_document *document;
    bool is_used; /* a job uses it: the workload owns it */
} kept;

typedef struct graph_file {
    char *path; /* as the workload writes it */
    clo_documents *documents;
    kept *list; /* [count] the good instances so far */
    size_t count, capacity;
    size_t bad;      /* lines that are none */
    clo_names names; /* -> index in list    */
} graph_file;

struct clo_workload_graphs {
    clo_load_config config;
    char *folder; /* with its slash; "": the current one */
    graph_file *files;
    size_t count, capacity;
    clo_names paths; /* -> index in files; borrows graph_file.path */
};

clo_workload_graphs *clo_workload_graphs_open(const clo_load_config *config, const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t bytes = slash != NULL ? (size_t)(slash - file) + 1 : 0;
    clo_workload_graphs *made = clo_allocate(1, sizeof *made);
    char *folder = clo_allocate(bytes + 1, 1);

    if (made == NULL || folder == NULL) {
        clo_free(made);
        clo_free(folder);
        return NULL;
    }
    memcpy(folder, file, bytes);
    *made = (clo_workload_graphs){.config = *config, .folder = folder};
    return made;
}

static void destroy_document(void *document)
{
    clo_document_destroy(document);
}

clo_status clo_workload_take(clo_workload *workload, clo_document *document)
{
    clo_platform_destroy(document->platform);
    document->platform = NULL;
    clo_status status = clo_workload_own(workload, document, destroy_document);
    if (status != CLO_OK)
        clo_document_destroy(document);
    else if (workload->note == NULL)
        workload->note = document->note;
    return status;
}

const char *clo_workload_note(const clo_workload *workload)
{
    return workload != NULL ? workload->note : NULL;
}

static void close_file(graph_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        if (!file->list[i].is_used)
            clo_document_destroy(file->list[i].document);
    clo_free(file->list);
    clo_names_free(&file->names);
    clo_documents_close(file->documents);
    clo_free(file->path);
}

static clo_status open_file(clo_workload_graphs *graphs, const char *path, graph_file *file)
{
    size_t folder = path[0] == '/' ? 0 : strlen(graphs->folder), bytes = strlen(path) + 1;
    char *whole = clo_allocate(folder + bytes, 1);

    *file = (graph_file){.path = clo_duplicate(path)};
    if (whole == NULL || file->path == NULL) {
        clo_free(whole);
        clo_free(file->path);
        return clo_fail_memory(path);
    }
    memcpy(whole, graphs->folder, folder);
    memcpy(whole + folder, path, bytes);
    clo_status status = clo_documents_open(whole, &graphs->config, &file->documents);
    clo_free(whole);
    if (status != CLO_OK)
        clo_free(file->path);
    else
        clo_documents_reader(file->documents)->no_platform = true;
    return status;
}

/* The file `path`, opened where it is new. */
static clo_status find_file(clo_workload_graphs *graphs, const char *path, graph_file **out)
{
    uint32_t index = clo_names_find(&graphs->paths, path);
    void *files = graphs->files;
    graph_file file;

    if (index != CLO_NAMES_NONE) {
        *out = &graphs->files[index];
        return CLO_OK;
    }
    clo_status status = open_file(graphs, path, &file);
    if (status != CLO_OK)
        return status;
    if (clo_grow(&files, &graphs->capacity, graphs->count + 1, sizeof *graphs->files) != 0) {
        close_file(&file);
        return clo_fail_memory(path);
    }
    graphs->files = files;
    *out = &graphs->files[graphs->count];
    **out = file;
    if (clo_names_add(&graphs->paths, file.path, (uint32_t)graphs->count++) != 0)
        return clo_fail_memory(path);
    return CLO_OK;
}

/* Reads the next instance; *status is left alone where it is a bad one of many. */
static clo_status read_next(graph_file *file, bool is_alone)
{
    clo_document *document = NULL;
    void *list = file->list;
    clo_status status = clo_documents_next(file->documents, &document);

    if (status != CLO_OK) {
        file->bad++;
        return is_alone || status == CLO_ERR_MEMORY ? status : CLO_OK;
    }
    if (clo_grow(&list, &file->capacity, file->count + 1, sizeof *file->list) != 0) {
        clo_document_destroy(document);
        return clo_fail_memory(file->path);
    }
    file->list = list;
    file->list[file->count] = (kept){.document = document};
    const char *name = clo_graph_name(clo_document_graph(document));
    uint32_t index = (uint32_t)file->count++;
    if (clo_names_find(&file->names, name) != CLO_NAMES_NONE) /* the first of a name counts */
        return CLO_OK;
    return clo_names_add(&file->names, name, index) == 0 ? CLO_OK : clo_fail_memory(file->path);
}

static clo_status find_instance(graph_file *file, const char *instance, kept **out)
{
    size_t total = clo_documents_count(file->documents);
    uint32_t index = 0;

    if (instance == NULL && total > 1)
        return clo_fail(CLO_ERR_FORMAT, "holds %zu instances, one a line; name the one to take by \"instance\"", total);
    for (;;) { /* every round reads one instance */
        if (instance != NULL)
            index = clo_names_find(&file->names, instance);
        if (index < file->count)
            break;
        if (file->count + file->bad == total)
            return clo_fail(CLO_ERR_FORMAT,
                            "has no instance \"%.100s\", of %zu that can be read; name one that is there",
                            instance != NULL ? instance : "", file->count);
        clo_status status = read_next(file, total == 1);
        if (status != CLO_OK)
            return status;
    }
    *out = &file->list[index];
    return CLO_OK;
}

clo_status clo_workload_graphs_find(clo_workload_graphs *graphs, const char *path, const char *instance,
                                    clo_workload *workload, const clo_graph **out)
{
    graph_file *file = NULL;
    kept *found = NULL;
    clo_status status = find_file(graphs, path, &file);

    if (status == CLO_OK)
        status = find_instance(file, instance, &found);
    if (status != CLO_OK)
        return status;
    assert(found->document != NULL);
    if (!found->is_used) {
        found->is_used = true; /* clo_workload_take keeps it or destroys it */
        status = clo_workload_take(workload, found->document);
        if (status != CLO_OK)
            return status;
    }
    *out = clo_document_graph(found->document);
    return CLO_OK;
}

void clo_workload_graphs_close(clo_workload_graphs *graphs)
{
    if (graphs == NULL)
        return;
    for (size_t f = 0; f < graphs->count; f++)
        close_file(&graphs->files[f]);
    clo_names_free(&graphs->paths);
    clo_free(graphs->files);
    clo_free(graphs->folder);
    clo_free(graphs);
}
