/* io/text/reader.h - what the readers and writers of the formats share.
 *
 * A reader function fills clo_reader.graph (open) and, where the file has one, clo_reader.platform;
 * io/clotho/document.c seals the graph, hands everything over, or frees it on failure. A writer function appends to a
 * text. */
#ifndef CLO_IO_TEXT_READER_H
#define CLO_IO_TEXT_READER_H

#include "base/text.h"
#include "io/text/json_read.h"

#include <clotho/body.h>
#include <clotho/io.h>
#include <clotho/platform.h>

#define CLO_COMMAND_OUTPUT_BYTES 65536 /* kept of what a command prints */

/* Owned arguments of command bodies: one block each, so that their addresses are stable. */
typedef struct clo_bodies {
    void **blocks; /* [count] */
    size_t count, capacity;
} clo_bodies;

#define CLO_REFERENCES_MAX 8 /* of one instance: numbers of executors for which a best makespan is published */

struct clo_document {
    clo_graph *graph;       /* owned, sealed                      */
    clo_platform *platform; /* owned; NULL: the file carries none */
    clo_bodies *bodies;     /* owned; NULL: none                  */
    const char *format;     /* static                             */
    double unit_ns;
    size_t line;        /* as clo_reader.line       */
    int64_t arrival_ns; /* as clo_reader.arrival_ns */
    char *note;         /* as clo_reader.note       */
    uint32_t references_count;
    clo_reference references[CLO_REFERENCES_MAX];
};

typedef struct clo_reader {
    const char *file; /* for messages                                        */
    double scale;     /* > 0                                                 */
    clo_task_fn body; /* for tasks that name none; clo_body_command: from argv */
    bool no_platform; /* data sets: leave out the platform that is the same for all instances */
    clo_graph *graph;
    clo_platform *platform;
    clo_bodies *bodies;
    const char *format; /* static                                              */
    double unit_ns;
    size_t line;        /* where the instance stands in its file; 0: no one line does */
    int64_t arrival_ns; /* of the job, in a data set that says so; else 0 */
    char *note;         /* owned; what clo_document_note says, NULL: nothing */
    uint32_t references_count;
    clo_reference references[CLO_REFERENCES_MAX];
} clo_reader;

/* Readers: json->root is known to be of the format. */
clo_status clo_clotho_read(clo_reader *reader, const clo_json *json);
clo_status clo_wfformat_read(clo_reader *reader, const clo_json *json);
clo_status clo_saga_read(clo_reader *reader, const clo_json *json); /* tasks, edges, nodes, links */
clo_status clo_node_link_read(clo_reader *reader, const clo_json *json);
clo_status clo_cost_table_read(clo_reader *reader, const clo_json *json); /* computation_cost[task][processor] */
clo_status clo_dot_read(clo_reader *reader, const char *text, size_t bytes);
clo_status clo_psplib_read(clo_reader *reader, const clo_json *json);
clo_status clo_psplib_read_text(clo_reader *reader, const clo_source *source);
clo_status clo_stg_read(clo_reader *reader, const clo_json *json);
clo_status clo_stg_read_text(clo_reader *reader, const clo_source *source);
clo_status clo_tpch_packing_read(clo_reader *reader, const clo_json *json);
clo_status clo_alibaba_read(clo_reader *reader, const clo_json *json);
clo_status clo_tpch_read(clo_reader *reader, const clo_json *json);
clo_status clo_rpc_read(clo_reader *reader, const clo_json *json);

/* DOT begins with one of three words, after comments. */
bool clo_text_is_dot(const char *text, size_t bytes);

/* Checks `config` (may be NULL) and stores what readers need of it. */
clo_status clo_reader_config(const clo_load_config *config, clo_reader *reader);
/* Reads one instance; `base` is what clo_reader_config made. */
clo_status clo_document_read(const clo_reader *base, const clo_source *source, clo_document **out);
/* Reads the graph of the own format that json->root is. */
clo_status clo_document_read_object(const clo_reader *base, const clo_json *json, clo_document **out);
/* What the instances that come next are read with; may be changed between them. */
clo_reader *clo_documents_reader(clo_documents *documents);

/* The "platform" object of the own format. */
clo_status clo_platform_read(const clo_json *json, const cJSON *object, clo_platform **out);
clo_status clo_platform_write(const clo_platform *platform, clo_text *text);

/* Writers return CLO_OK or CLO_ERR_UNSUPPORTED (the format cannot hold the graph); lack of memory latches in `text`. */
clo_status clo_clotho_write(const clo_document *document, clo_text *text);
clo_status clo_wfformat_write(const clo_document *document, clo_text *text);
clo_status clo_saga_write(const clo_document *document, clo_text *text);
clo_status clo_dot_write(const clo_document *document, clo_text *text);

/* The same document as text, released with clo_free: what clo_document_save writes. */
clo_status clo_document_print(const clo_document *document, const char *name, char **out);
clo_status clo_plan_print(const clo_plan *plan, const clo_cost *cost, char **out);
clo_status clo_workload_print(const clo_workload *workload, char **out);

/* The nearest integer, halves up; 0 <= value < 2^62. Not llround: the library shall not need libm. */
static inline int64_t clo_round(double value)
{
    int64_t whole = (int64_t)value;

    return whole + (value - (double)whole >= 0.5);
}

/* value * factor rounded to the nearest integer; false from 2^62 on (146 years in ns). */
bool clo_scaled(double value, double factor, int64_t *out);

/* A time of the file (a number >= 0 of `unit_ns` each), scaled; CLO_ERR_LIMIT where it overflows. */
clo_status clo_reader_time(const clo_reader *reader, const clo_json *json, const cJSON *item, double unit_ns,
                           int64_t *out);
/* Bytes likewise, `unit` bytes each. */
clo_status clo_reader_bytes(const clo_reader *reader, const clo_json *json, const cJSON *item, double unit,
                            uint64_t *out);

/* Begins a data set: format, unit, the line for what is wrong with the whole instance. CLO_ERR_ARGUMENT where commands
 * are asked for. */
clo_status clo_reader_begin(clo_reader *reader, const char *format, double unit_ns, size_t line);
/* The file's name without folders and ending, for graphs that have no other: at most `bytes` - 1 bytes. */
void clo_reader_stem(const clo_reader *reader, char *stem, size_t bytes);

/* Notes that `count` > 0 edges were added to one before them with the same ends; the first one stands at `line`. */
clo_status clo_reader_note_parallel(clo_reader *reader, size_t line, size_t count);

/* CLO_ERR_ARGUMENT where commands are asked for, which reader->format has not. */
clo_status clo_reader_refuse_commands(const clo_reader *reader);

/* Copies argv (an array of `count` strings) and directory (may be NULL) and keeps them until the document is destroyed.
 * Returns NULL without memory. */
clo_command *clo_bodies_add(clo_bodies *bodies, const char *const *argv, size_t count, const char *directory);
void clo_bodies_free(clo_bodies *bodies);

/* A number that reads back as the same double, with a point whatever the locale is. */
void clo_text_add_double(clo_text *text, double value);
/* value / 10^9 with nine decimals, exactly: ns as s. */
void clo_text_add_seconds(clo_text *text, int64_t ns);

/* CLO_ERR_UNSUPPORTED where a task has instances, which `format` cannot hold. */
clo_status clo_writer_refuse_instances(const clo_graph *graph, const char *format);
/* True if all tasks have names of their own, and these consist of letters, digits and `extra` (NULL: any character). */
bool clo_writer_names_are_ids(const clo_graph *graph, const char *extra, clo_status *status);
/* The task's name, or "t<ID>" where names are no ids; quoted for JSON. */
void clo_writer_add_id(clo_text *text, const clo_graph *graph, uint32_t task, bool named);

#endif
