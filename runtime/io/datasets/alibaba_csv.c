/* alibaba_csv.c - batch jobs of the Alibaba cluster trace v2017: "job_id,task_id,submit_s,span_s,instances,cpu_cores,
 * mem_norm", one task a line, the lines of a job together. The tasks of a job do not wait for each other.
 *
 * A job arrives when its first task is submitted, or at 0 where that was before the trace began. Every instance takes
 * the whole span of its task: the trace says no more, and it is right where all of them ran at once. Demands have the
 * units of the trace v2018 (alibaba.c); the platform is one machine of the trace: 64 cores, an executor each, all
 * memory. */
#include "io/datasets/alibaba_csv.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/datasets/packing.h"
#include "io/text/lines.h"
#include "workload/workload.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_NS 1e9
#define CORES 64
#define THOUSANDTHS 1000
#define FIELD_BYTES 64
#define CELL_MAX 9007199254740992.0 /* 2^53 */

static const char head[] = "job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm";
static const char *const columns[] = {"job_id", "task_id", "submit_s", "span_s", "instances", "cpu_cores", "mem_norm"};
enum { JOB, TASK, SUBMIT, SPAN, INSTANCES, CPU, MEMORY, COLUMNS };

static const clo_packing machine = {.name = "alibaba-v2017",
                                    .resources = 2,
                                    .capacity = {CORES * THOUSANDTHS, 100 * THOUSANDTHS},
                                    .names = {"cpu", "memory"}};

/* A job that is being read. */
typedef struct open_job {
    clo_graph *graph; /* NULL: none yet */
    int64_t id;
    int64_t arrival_ns;
    size_t line;
} open_job;

typedef struct known_job {
    int64_t id;
    size_t line;
} known_job;

typedef struct csv {
    const clo_reader *base;
    clo_workload *workload;
    const char *file;
    open_job job;
    known_job *known; /* [known_count] jobs so far */
    size_t known_count, known_capacity;
} csv;

bool clo_text_is_alibaba_csv(const char *text, size_t bytes)
{
    clo_lines lines = {.text = text, .bytes = bytes};
    clo_source first;

    return clo_lines_next(&lines, &first) && first.bytes == sizeof head - 1 &&
           memcmp(first.text, head, sizeof head - 1) == 0;
}

/* A number that is the whole of text[0 .. bytes). */
static bool read_number(const char *text, size_t bytes, double *out)
{
    char digits[FIELD_BYTES];
    char *end;

    if (bytes == 0 || bytes >= sizeof digits)
        return false;
    memcpy(digits, text, bytes);
    digits[bytes] = '\0';
    if (strspn(digits, "0123456789.eE+-") < bytes) /* neither words nor hexadecimals */
        return false;
    *out = clo_number_read(digits, &end);
    return *end == '\0' && fabs(*out) <= CELL_MAX;
}

static clo_status fail_cell(const csv *c, const clo_source *line, int column, const char *text, size_t bytes)
{
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is \"%.*s\"; write a %s", c->file, clo_source_line(line, 0),
                    columns[column], (int)(bytes < 40 ? bytes : 40), text,
                    column == SPAN || column >= CPU ? "number >= 0"
                    : column == INSTANCES           ? "whole number from 1 to 2147483647"
                    : column == SUBMIT              ? "whole number"
                                                    : "whole number >= 0");
}

/* Is the number one that may stand in this column? */
static bool suits(int column, double cell)
{
    bool is_whole = column < SPAN || column == INSTANCES;

    if (is_whole && cell != (double)(int64_t)cell)
        return false;
    return column == SUBMIT || (column == INSTANCES ? cell >= 1 && cell <= INT32_MAX : cell >= 0);
}

static clo_status read_cells(const csv *c, const clo_source *line, double cells[COLUMNS])
{
    const char *at = line->text, *end = line->text + line->bytes;

    for (int column = 0; column < COLUMNS; column++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma != NULL ? comma : end;
        if ((comma == NULL) != (column == COLUMNS - 1))
            return clo_fail(CLO_ERR_FORMAT, "%s:%zu: has too %s columns; write %s", c->file, clo_source_line(line, 0),
                            comma == NULL ? "few" : "many", head);
        if (!read_number(at, (size_t)(stop - at), &cells[column]) || !suits(column, cells[column]))
            return fail_cell(c, line, column, at, (size_t)(stop - at));
        at = stop + (comma != NULL);
    }
    cells[SUBMIT] = cells[SUBMIT] > 0 ? cells[SUBMIT] : 0;
    return CLO_OK;
}

/* Puts "FILE:LINE: " of the job before the error of a call that knows no files. */
static clo_status place(const csv *c, clo_status status)
{
    char prefix[300];

    if (status == CLO_OK || status == CLO_ERR_MEMORY)
        return status;
    clo_print(prefix, sizeof prefix, "%.256s:%zu: ", c->file, c->job.line);
    return clo_fail_prefix(status, prefix);
}

static clo_status end_job(csv *c)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_graph *graph = c->job.graph;
    void *known = c->known;

    if (graph == NULL)
        return CLO_OK;
    if (clo_grow(&known, &c->known_capacity, c->known_count + 1, sizeof *c->known) != 0)
        return clo_fail_memory(c->file);
    c->known = known;
    c->known[c->known_count++] = (known_job){.id = c->job.id, .line = c->job.line};
    clo_status status = place(c, clo_graph_seal(graph));
    if (status == CLO_OK)
        status = clo_workload_adopt(c->workload, graph);
    if (status != CLO_OK)
        return status;
    c->job.graph = NULL; /* the workload's from here on */
    job.graph = graph;
    job.arrival_ns = c->job.arrival_ns;
    job.line = c->job.line;
    return place(c, clo_workload_add(c->workload, &job));
}

static clo_status begin_job(csv *c, int64_t id, int64_t arrival_ns, size_t line)
{
    char name[32];
    clo_status status = end_job(c);

    if (status != CLO_OK)
        return status;
    clo_print(name, sizeof name, "%lld", (long long)id);
    c->job = (open_job){.id = id, .arrival_ns = arrival_ns, .line = line};
    status = clo_graph_create(name, &c->job.graph);
    for (uint32_t r = 0; r < machine.resources && status == CLO_OK; r++)
        status = clo_graph_set_resource(c->job.graph, r, machine.names[r]);
    return status;
}

static clo_status read_line(csv *c, const clo_source *line)
{
    double cells[COLUMNS], scale = c->base->scale;
    clo_task task = {.body = c->base->body};
    int64_t submit_ns = 0;
    char name[32];
    clo_status status = read_cells(c, line, cells);

    if (status != CLO_OK)
        return status;
    if (!clo_scaled(cells[SUBMIT], UNIT_NS * scale, &submit_ns) ||
        !clo_scaled(cells[SPAN], UNIT_NS * scale, &task.work_ns) ||
        !clo_scaled(cells[CPU], THOUSANDTHS, &task.demand[0]) ||
        !clo_scaled(cells[MEMORY], 100 * THOUSANDTHS, &task.demand[1]))
        return clo_fail(CLO_ERR_LIMIT, "%s:%zu: holds a number that is, with scale %g, too large; write a smaller one",
                        c->file, clo_source_line(line, 0), scale);
    if (c->job.graph == NULL || c->job.id != (int64_t)cells[JOB])
        status = begin_job(c, (int64_t)cells[JOB], submit_ns, line->lines_before + 1);
    if (status != CLO_OK)
        return status;
    c->job.arrival_ns = submit_ns < c->job.arrival_ns ? submit_ns : c->job.arrival_ns;
    clo_print(name, sizeof name, "%lld", (long long)cells[TASK]);
    task.name = name;
    task.instances = (uint32_t)cells[INSTANCES];
    return place(c, clo_graph_add_task(c->job.graph, &task, NULL));
}

static int by_id(const void *left, const void *right)
{
    const known_job *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* A job in two pieces would be two jobs. */
static clo_status check_pieces(const csv *c)
{
    if (c->known_count > 0)
        qsort(c->known, c->known_count, sizeof *c->known, by_id);
    for (size_t i = 1; i < c->known_count; i++)
        if (c->known[i].id == c->known[i - 1].id)
            return clo_fail(CLO_ERR_FORMAT, "%s:%zu: job %lld has lines from %zu on too; put its lines together",
                            c->file, c->known[i].line, (long long)c->known[i].id, c->known[i - 1].line);
    return CLO_OK;
}

static clo_status read_lines(csv *c, const clo_source *source)
{
    clo_lines lines = {.name = source->name, .text = source->text, .bytes = source->bytes};
    clo_source line;
    bool is_head = clo_lines_next(&lines, &line);
    clo_status status = CLO_OK;

    assert(is_head); /* or the text would not have been recognised */
    (void)is_head;
    while (status == CLO_OK && clo_lines_next(&lines, &line)) {
        status = clo_text_check(&line);
        if (status == CLO_OK)
            status = read_line(c, &line);
    }
    if (status == CLO_OK)
        status = end_job(c);
    if (status == CLO_OK)
        status = check_pieces(c);
    if (status == CLO_OK && c->known_count == 0)
        status = clo_fail(CLO_ERR_FORMAT, "%s:%zu: holds no jobs; write one task a line below the first line", c->file,
                          clo_source_line(&line, 0));
    return status;
}

clo_status clo_alibaba_csv_read(const clo_reader *base, const clo_source *source, clo_workload *workload)
{
    clo_reader reader = *base;
    csv c = {.base = base, .workload = workload, .file = source->name};

    reader.file = source->name;
    clo_status status = clo_reader_begin(&reader, "alibaba-2017", UNIT_NS, 0);
    if (status == CLO_OK)
        status = read_lines(&c, source);
    clo_graph_destroy(c.job.graph);
    clo_free(c.known);
    if (status != CLO_OK)
        return status;
    status = clo_packing_platform(&machine, &reader, CORES);
    if (status == CLO_OK)
        clo_workload_set_platform(workload, reader.platform);
    return status;
}
