/* off.c - in place of this module in a library built with -DCLOTHO_IO=OFF: every call says so. */
#include "base/status.h"
#include "io/registry.h"

#include <clotho/cluster.h>
#include <clotho/io.h>
#include <clotho/log.h>
#include <string.h>

static clo_status off(const char *call)
{
    return clo_fail(CLO_ERR_UNSUPPORTED, "%s: this library was built without files; build it with -DCLOTHO_IO=ON",
                    call);
}

clo_status clo_document_load(const char *path, const clo_load_config *config, clo_document **out)
{
    (void)path, (void)config, (void)out;
    return off("clo_document_load");
}

clo_status clo_document_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                              clo_document **out)
{
    (void)name, (void)text, (void)text_bytes, (void)config, (void)out;
    return off("clo_document_parse");
}

clo_status clo_documents_open(const char *path, const clo_load_config *config, clo_documents **out)
{
    (void)path, (void)config, (void)out;
    return off("clo_documents_open");
}

clo_status clo_documents_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                               clo_documents **out)
{
    (void)name, (void)text, (void)text_bytes, (void)config, (void)out;
    return off("clo_documents_parse");
}

size_t clo_documents_count(const clo_documents *documents)
{
    (void)documents;
    return 0;
}

clo_status clo_documents_next(clo_documents *documents, clo_document **out)
{
    (void)documents, (void)out;
    return off("clo_documents_next");
}

void clo_documents_close(clo_documents *documents)
{
    (void)documents; /* nothing can have been opened */
}

void clo_document_destroy(clo_document *document)
{
    (void)document; /* nothing can have been made */
}

clo_status clo_document_create(clo_graph *graph, clo_platform *platform, clo_document **out)
{
    (void)graph, (void)platform, (void)out;
    return off("clo_document_create");
}

const clo_graph *clo_document_graph(const clo_document *document)
{
    (void)document;
    return NULL;
}

const clo_platform *clo_document_platform(const clo_document *document)
{
    (void)document;
    return NULL;
}

const char *clo_document_format(const clo_document *document)
{
    (void)document;
    return NULL;
}

double clo_document_unit_ns(const clo_document *document)
{
    (void)document;
    return 0;
}

size_t clo_document_line(const clo_document *document)
{
    (void)document;
    return 0;
}

const clo_reference *clo_document_references(const clo_document *document, uint32_t *count)
{
    (void)document;
    if (count != NULL)
        *count = 0;
    return NULL;
}

const char *clo_document_note(const clo_document *document)
{
    (void)document;
    return NULL;
}

const char *clo_workload_note(const clo_workload *workload)
{
    (void)workload;
    return NULL;
}

clo_status clo_document_save(const clo_document *document, const char *format, const char *path)
{
    (void)document, (void)format, (void)path;
    return off("clo_document_save");
}

clo_status clo_plan_save(const clo_plan *plan, const clo_cost *cost, const char *path)
{
    (void)plan, (void)cost, (void)path;
    return off("clo_plan_save");
}

clo_status clo_plan_load(const char *path, const clo_cost *cost, clo_plan **out)
{
    (void)path, (void)cost, (void)out;
    return off("clo_plan_load");
}

clo_status clo_plan_parse(const char *name, const char *text, size_t text_bytes, const clo_cost *cost, clo_plan **out)
{
    (void)name, (void)text, (void)text_bytes, (void)cost, (void)out;
    return off("clo_plan_parse");
}

clo_status clo_log_save(const clo_log *log, const char *path)
{
    (void)log, (void)path;
    return off("clo_log_save");
}

clo_status clo_log_load(const char *path, clo_log **out)
{
    (void)path, (void)out;
    return off("clo_log_load");
}

clo_status clo_log_parse(const char *name, const char *text, size_t text_bytes, clo_log **out)
{
    (void)name, (void)text, (void)text_bytes, (void)out;
    return off("clo_log_parse");
}

bool clo_log_is_log(const char *text, size_t text_bytes)
{
    (void)text, (void)text_bytes;
    return false;
}

clo_status clo_workload_load(const char *path, const clo_load_config *config, clo_workload **out)
{
    (void)path, (void)config, (void)out;
    return off("clo_workload_load");
}

clo_status clo_workload_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                              clo_workload **out)
{
    (void)name, (void)text, (void)text_bytes, (void)config, (void)out;
    return off("clo_workload_parse");
}

clo_status clo_workload_save(const clo_workload *workload, const char *path)
{
    (void)workload, (void)path;
    return off("clo_workload_save");
}

static const clo_registry_head no_formats[] = {{NULL, NULL, NULL}};

const clo_registry clo_formats = {.name = "formats", .rows = no_formats, .row_bytes = sizeof no_formats[0]};

clo_status clo_cluster_load(const char *path, clo_cluster **out)
{
    (void)path, (void)out;
    return off("clo_cluster_load");
}

clo_status clo_cluster_parse(const char *name, const char *text, size_t text_bytes, clo_cluster **out)
{
    (void)name, (void)text, (void)text_bytes, (void)out;
    return off("clo_cluster_parse");
}

clo_status clo_cluster_save_links(const char *from, const uint64_t *cut_bytes, uint32_t cuts_count,
                                  const clo_cluster_link *links, size_t links_count, const char *to)
{
    (void)from, (void)cut_bytes, (void)cuts_count, (void)links, (void)links_count, (void)to;
    return off("clo_cluster_save_links");
}

clo_status clo_cluster_save_network(const char *from, const uint64_t *cut_bytes, uint32_t cuts_count,
                                    const clo_cluster_link *links, size_t links_count, const double *ports,
                                    uint32_t ports_count, const char *to)
{
    (void)from, (void)cut_bytes, (void)cuts_count, (void)links, (void)links_count, (void)ports, (void)ports_count;
    (void)to;
    return off("clo_cluster_save_network");
}

clo_status clo_cluster_open_platform(const char *spec, clo_platform **out)
{
    size_t length = spec != NULL ? strlen(spec) : 0;

    if (length >= 5 && strcmp(spec + length - 5, ".json") == 0)
        return off("clo_cluster_open_platform");
    return clo_platform_open(spec, out);
}

void clo_cluster_destroy(clo_cluster *cluster)
{
    (void)cluster; /* nothing can have been made */
}

const clo_platform *clo_cluster_platform(const clo_cluster *cluster)
{
    (void)cluster;
    return NULL;
}

uint32_t clo_cluster_machines(const clo_cluster *cluster)
{
    (void)cluster;
    return 0;
}

const char *clo_cluster_machine_name(const clo_cluster *cluster, uint32_t machine)
{
    (void)cluster, (void)machine;
    return NULL;
}

const clo_platform *clo_cluster_machine(const clo_cluster *cluster, uint32_t machine)
{
    (void)cluster, (void)machine;
    return NULL;
}

uint32_t clo_cluster_first_executor(const clo_cluster *cluster, uint32_t machine)
{
    (void)cluster, (void)machine;
    return CLO_NONE;
}
