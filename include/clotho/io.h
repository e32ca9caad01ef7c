/* io.h - graphs, plans and workloads in files. Formats are recognised by content: see docs/FORMATS.md.
 *
 * Library: libclotho-io. */
#ifndef CLOTHO_IO_H
#define CLOTHO_IO_H

#include <clotho/plan.h>
#include <clotho/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_load_config {
    /* Set by CLO_LOAD_CONFIG_INIT. */
    size_t size;

    /* Multiplies times and bytes; 0 means 1. */
    double scale;

    /* "spin", "memory" or "command" for tasks that name none; NULL: "spin". */
    const char *body;

    /* Name of the graph to take; NULL: the file must hold one. */
    const char *instance;
} clo_load_config;

#define CLO_LOAD_CONFIG_INIT CLO_SIZED_INIT(clo_load_config)

/* What a data set publishes about the best makespan, in the unit of the file (multiplied by clo_load_config.scale). The
 * figures are as published; nothing checks them. Plain values; without a size field: references come in an array. */
typedef struct clo_reference {
    /* Equal executors of speed 1; 0: the file's own platform. */
    uint32_t executors;

    /* No schedule is shorter. */
    double lower;

    /* The best that is known; equal to `lower`: the optimum. */
    double upper;
} clo_reference;

/* A graph from a file, with what else the file carries. Opaque: owns the graph, the platform and the arguments of the
 * bodies. */
typedef struct clo_document clo_document;

/* Reads the graph in a file. From a file with many instances (see below) it reads the first graph that is called
 * config->instance; without that name such a file is an error.
 *
 *   path    "-": standard input; at most 1 GiB.
 *   config  NULL: all defaults. Read during the call only.
 *   out     the document, owned by the caller, who keeps it while a job uses its graph.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  also: many instances and none named, or none of that name; unknown config fields
 *   CLO_ERR_IO        the file cannot be read
 *   CLO_ERR_FORMAT    one line in clo_last_error: "FILE:LINE: what is wrong; what to do"
 *   CLO_ERR_CYCLE     the graph has a cycle
 *   CLO_ERR_LIMIT     a number of the file, or their sum, is too large
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(bytes of the file). */
CLO_API CLO_NODISCARD clo_status clo_document_load(const char *path, const clo_load_config *config, clo_document **out);

/* The same from memory.
 *
 *   name  stands for the file in error messages.
 *   text  [text_bytes]; borrowed during the call.
 *   out   as in clo_document_load.
 *
 * Returns as clo_document_load, but not CLO_ERR_IO.
 * Threads: any. Real time: no. O(text_bytes). */
CLO_API CLO_NODISCARD clo_status clo_document_parse(const char *name, const char *text, size_t text_bytes,
                                                    const clo_load_config *config, clo_document **out);

/* Makes a document of a graph that did not come from a file, to save it. Its format is "clotho.graph/1", its unit 1 ns.
 *
 *   graph     sealed. The document owns it from now on; on a failure the caller still does.
 *   platform  saved with the graph; owned likewise. NULL: none.
 *   out       the document, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (the graph is not sealed) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_document_create(clo_graph *graph, clo_platform *platform, clo_document **out);

/* Frees a document with its graph, its platform and the arguments of its bodies. NULL is allowed.
 * Threads: one; nobody may use the graph or the platform any more. Real time: no. O(tasks). */
CLO_API void clo_document_destroy(clo_document *document);

/* Reading a document. All calls up to clo_document_note:
 * Threads: any. Real time: yes, O(1). */

/* The graph, sealed; owned by the document. */
CLO_API const clo_graph *clo_document_graph(const clo_document *document);

/* The file's own platform, owned by the document; NULL: the file carries none. */
CLO_API const clo_platform *clo_document_platform(const clo_document *document);

/* "clotho.graph/1", "wfformat-1.5", "saga", "dot" ... Static; NULL without a document. */
CLO_API const char *clo_document_format(const clo_document *document);

/* Nanoseconds in one time unit of the file (1e9: seconds); 0 without a document. */
CLO_API double clo_document_unit_ns(const clo_document *document);

/* For a file with many instances: the line of this one, from 1; else 0. */
CLO_API size_t clo_document_line(const clo_document *document);

/* What the file publishes about the best makespan; owned by the document.
 *   count  receives the number of references; may be NULL.
 * Returns NULL if there are none. */
CLO_API const clo_reference *clo_document_references(const clo_document *document, uint32_t *count);

/* What the reader had to change to make a graph of a file that is valid in its own format: one line for the user,
 * "FILE:LINE: ...". Only parallel edges are changed: they become one with the sum of their bytes (DOT and node-link).
 * Owned by the document; NULL: nothing was changed. */
CLO_API const char *clo_document_note(const clo_document *document);

/* Files with many instances: JSON Lines, where each line is one object of a format that is read from JSON. Empty lines
 * do not count. Any other file counts as one instance, so that these calls read every file. The text is kept until
 * clo_documents_close, and instances are read one at a time. */
typedef struct clo_documents clo_documents; /* opaque: a text and the place in it */

/* Opens a file, before its first instance. Nothing in it is checked yet.
 *
 *   path    "-": standard input; at most 1 GiB.
 *   config  copied; NULL: all defaults. `instance` is not used.
 *   out     owned by the caller, who gives it to clo_documents_close.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_LIMIT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(bytes of the file). */
CLO_API CLO_NODISCARD clo_status clo_documents_open(const char *path, const clo_load_config *config,
                                                    clo_documents **out);

/* Number of instances, valid or not; at least 1; 0 for NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API size_t clo_documents_count(const clo_documents *documents);

/* Reads the next instance, and moves past it whether it is valid or not.
 *
 *   out  as in clo_document_load. It may outlive `documents`.
 *
 * Returns what clo_document_load does, with the line in clo_last_error, or CLO_ERR_STATE after the last one.
 * Threads: one. Real time: no. O(bytes of the instance). */
CLO_API CLO_NODISCARD clo_status clo_documents_next(clo_documents *documents, clo_document **out);

/* Frees the text. NULL is allowed.
 * Threads: one. Real time: no. O(1). */
CLO_API void clo_documents_close(clo_documents *documents);

/* Writes a document, with its platform if the format can hold one. The file is written whole or not at all.
 *
 *   format  "clotho" (own JSON), "dot", "wfformat" or "saga". NULL: by the ending of `path` (.dot, .gv: dot; else own
 *           JSON).
 *   path    "-": standard output.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown format), CLO_ERR_IO, CLO_ERR_UNSUPPORTED (the format cannot hold this
 * graph, or can only be read) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(tasks + edges). */
CLO_API CLO_NODISCARD clo_status clo_document_save(const clo_document *document, const char *format, const char *path);

/* Writes a plan file (JSON, "clotho.plan/1"), whole or not at all.
 *
 *   plan  of the graph and the platform of `cost`.
 *   path  "-": standard output.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_UNSUPPORTED (a time beyond 2^53 ns) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(placements). */
CLO_API CLO_NODISCARD clo_status clo_plan_save(const clo_plan *plan, const clo_cost *cost, const char *path);

/* Reads a plan file. Checks ids against `cost`, nothing more: see clo_plan_check.
 *
 *   path  "-": standard input.
 *   out   the plan, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_FORMAT, CLO_ERR_LIMIT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(bytes of the file). */
CLO_API CLO_NODISCARD clo_status clo_plan_load(const char *path, const clo_cost *cost, clo_plan **out);

/* Reads a workload: a file "clotho.workload/1", or any file that clo_documents_open reads, and the batch jobs of the
 * Alibaba trace v2017 (CSV). Each instance of a file with graphs becomes a job; it arrives at 0 if the data set gives
 * no arrival. Jobs of "clotho.workload/1" must stand in the order of their arrivals; those of data sets are sorted.
 *
 * The workload owns all graphs. Jobs share a graph if the file says so: "graph": NUMBER, or the same file and instance.
 * The workload has a platform if the file carries one: a file "clotho.workload/1", a file with one instance, or a data
 * set with one platform for all jobs. Then no job may have a limit above its number of executors.
 *
 *   path    "-": standard input; at most 1 GiB. Files that the workload names are relative to its folder.
 *   config  NULL: all defaults. Read during the call only. `scale` multiplies arrivals, deadlines and periods too;
 *           `instance` is not used.
 *   out     the workload, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  also: unknown config fields
 *   CLO_ERR_IO        the file, or one that it names, cannot be read
 *   CLO_ERR_FORMAT    one line in clo_last_error: "FILE:LINE: what is wrong; what to do". One bad line is enough
 *   CLO_ERR_CYCLE     a graph has a cycle
 *   CLO_ERR_LIMIT     a number of the file, or their sum, is too large
 *   CLO_ERR_PLATFORM  a limit is larger than the number of executors of the file's own platform
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(bytes of all files), and of clo_workload_sort. */
CLO_API CLO_NODISCARD clo_status clo_workload_load(const char *path, const clo_load_config *config, clo_workload **out);

/* As clo_document_note: that of the first graph that has one. Owned by the workload; NULL: none has.
 * Threads: any. Real time: yes, O(1). */
CLO_API const char *clo_workload_note(const clo_workload *workload);

/* Writes a workload as "clotho.workload/1" with all graphs in it, each once, and with its platform. The file is written
 * whole or not at all. It reads back as the same workload, as far as the format can hold its graphs.
 *
 *   workload  in the order of arrivals (clo_workload_sort).
 *   path      "-": standard output.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (not sorted, or no jobs), CLO_ERR_IO, CLO_ERR_UNSUPPORTED (a number
 * beyond 2^53, a task with functions for single kinds) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(jobs log jobs + tasks + edges of all graphs). */
CLO_API CLO_NODISCARD clo_status clo_workload_save(const clo_workload *workload, const char *path);

#ifdef __cplusplus
}
#endif
#endif
