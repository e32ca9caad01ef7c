/* io/workload/graphs.h - the graphs that a workload names by file and instance: each file is read once, each instance
 * at most once, and only as far as it is needed. */
#ifndef CLO_IO_WORKLOAD_GRAPHS_H
#define CLO_IO_WORKLOAD_GRAPHS_H

#include "io/text/reader.h"

#include <clotho/workload.h>

typedef struct clo_workload_graphs clo_workload_graphs;

/* `file` is that of the workload, whose folder paths are relative to. NULL: without memory. */
clo_workload_graphs *clo_workload_graphs_open(const clo_load_config *config, const char *file);

/* The graph `instance` (NULL: the only one) of the file `path`. The workload owns it from now on. Fails as
 * clo_document_load does. */
clo_status clo_workload_graphs_find(clo_workload_graphs *graphs, const char *path, const char *instance,
                                    clo_workload *workload, const clo_graph **out);

/* Frees what no job uses. NULL is allowed. */
void clo_workload_graphs_close(clo_workload_graphs *graphs);

/* Gives a document to the workload; its platform is destroyed. On a failure the document is destroyed too. */
clo_status clo_workload_take(clo_workload *workload, clo_document *document);

#endif
