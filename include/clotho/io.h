/* io.h - graphs and plans in files. Every call returns CLO_ERR_UNSUPPORTED in a library built with
 * -DCLOTHO_IO=OFF. Formats are recognised by content: see docs/FORMATS.md. */
#ifndef CLOTHO_IO_H
#define CLOTHO_IO_H

#include <clotho/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_load_config {
    size_t size;          /* CLO_LOAD_CONFIG_INIT                                               */
    double scale;         /* multiplies times and bytes; 0 means 1                              */
    const char *body;     /* "spin", "memory", "command" for tasks that name none; NULL: "spin" */
    const char *instance; /* name of the graph to take; NULL: the file must hold one */
} clo_load_config;

#define CLO_LOAD_CONFIG_INIT CLO_SIZED_INIT(clo_load_config)

/* What a data set publishes about the best makespan, in the unit of the file (multiplied by clo_load_config.scale). As
 * published: nothing of it is checked. */
typedef struct clo_reference {
    uint32_t executors; /* equal ones of speed 1; 0: the file's own platform  */
    double lower;       /* no schedule is shorter                             */
    double upper;       /* the best that is known; equal to `lower`: the optimum */
} clo_reference;

/* A graph from a file, with what else the file carries. */
typedef struct clo_document clo_document; /* opaque */

/* Reads the graph in `path` ("-": standard input; at most 1 GiB). Of a file with many instances (below) it is the
 * first whose graph has the name config->instance; without that name such a file is an error.
 *   out  filled on success; give it to clo_document_destroy when no job uses its graph any more.
 * Returns CLO_OK, CLO_ERR_IO, CLO_ERR_FORMAT (one line: "FILE:LINE: what; mend"), CLO_ERR_CYCLE, CLO_ERR_LIMIT,
 * CLO_ERR_ARGUMENT (also: many instances and none named, or none of that name), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_document_load(const char *path, const clo_load_config *config, clo_document **out);
/* The same from memory; `name` stands for the file in error messages. */
CLO_API CLO_NODISCARD clo_status clo_document_parse(const char *name, const char *text, size_t text_bytes,
                                                    const clo_load_config *config, clo_document **out);
CLO_API void clo_document_destroy(clo_document *document); /* NULL is allowed */

/* A document around a graph that did not come from a file, to be saved. */
CLO_API CLO_NODISCARD clo_status clo_document_create(clo_graph *graph, clo_platform *platform, clo_document **out);

CLO_API const clo_graph *clo_document_graph(const clo_document *document);
CLO_API const clo_platform *clo_document_platform(const clo_document *document);
CLO_API const char *clo_document_format(const clo_document *document);
CLO_API double clo_document_unit_ns(const clo_document *document);
CLO_API size_t clo_document_line(const clo_document *document);
CLO_API const clo_reference *clo_document_references(const clo_document *document, uint32_t *count);

/* Files with many instances: JSON Lines, each line one object of a format that is read from JSON. Empty lines do not
 * count. Any other file counts as one instance, so that these calls read every file. The text is kept until close, the
 * instances are read one at a time. */
typedef struct clo_documents clo_documents; /* opaque: a text and the place in it */

/* Opens `path` ("-": standard input; at most 1 GiB) in front of its first instance; nothing of it is judged yet.
 *   config  copied; NULL means all defaults. `instance` is not looked at.
 *   out     give it to clo_documents_close; untouched on failure.
 * Returns CLO_OK, CLO_ERR_IO, CLO_ERR_LIMIT, CLO_ERR_ARGUMENT, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_documents_open(const char *path, const clo_load_config *config,
                                                    clo_documents **out);
/* The same from memory: `name` is copied, `text` borrowed until clo_documents_close. */
CLO_API CLO_NODISCARD clo_status clo_documents_parse(const char *name, const char *text, size_t text_bytes,
                                                     const clo_load_config *config, clo_documents **out);
/* Number of instances, good and bad; at least 1. */
CLO_API size_t clo_documents_count(const clo_documents *documents);
/* Reads the next instance, and goes on behind it whether it is good or not.
 *   out  as in clo_document_load; lives on after clo_documents_close.
 * Returns what clo_document_load does, with the line in the error text, or CLO_ERR_STATE after the last one.
 * Threads: one at a time for one `documents`. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_documents_next(clo_documents *documents, clo_document **out);
CLO_API void clo_documents_close(clo_documents *documents); /* NULL is allowed */

/* Writes the graph (and platform, where the format can) in `format`: "clotho" (own JSON), "dot", "wfformat", "saga".
 * NULL: by the ending of `path` (.dot, .gv: dot; else own JSON). "-": standard output. Whole or not at all.
 * Returns CLO_OK, CLO_ERR_IO, CLO_ERR_ARGUMENT (unknown format), CLO_ERR_UNSUPPORTED, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_document_save(const clo_document *document, const char *format, const char *path);

/* Plan files (JSON, "clotho.plan/1"). Loading checks ids against `cost`, nothing more; saving wants a plan of `cost`
 * (clo_plan_matches). They return CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_FORMAT, CLO_ERR_UNSUPPORTED (a time
 * beyond 2^53 ns), CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_plan_save(const clo_plan *plan, const clo_cost *cost, const char *path);
CLO_API CLO_NODISCARD clo_status clo_plan_load(const char *path, const clo_cost *cost, clo_plan **out);
CLO_API CLO_NODISCARD clo_status clo_plan_parse(const char *name, const char *text, size_t text_bytes,
                                                const clo_cost *cost, clo_plan **out);

#ifdef __cplusplus
}
#endif
#endif
