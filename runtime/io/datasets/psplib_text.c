/* psplib_text.c - PSPLIB's own .sm files: a header with counts, then three tables, each under its title. Jobs count
 * from 1 there and from 0 here. The capacities stand last but are read first: every demand is held against them. */
#include "io/datasets/psplib.h"

#include "base/status.h"
#include "io/text/foreign.h"
#include "io/text/words.h"

#include <stdio.h>

typedef struct project {
    clo_reader *reader;
    clo_words words;
    clo_packing packing;
    int64_t jobs;
} project;

/* The number behind the colon of a header's line. */
static clo_status header_number(project *p, const char *title, int64_t max, int64_t *out)
{
    clo_status status = clo_words_find(&p->words, title);

    if (status == CLO_OK)
        status = clo_words_find(&p->words, ":");
    return status == CLO_OK ? clo_words_integer(&p->words, title, max, out) : status;
}

static clo_status read_header(project *p)
{
    int64_t resources = 0, other[2] = {0, 0};
    clo_status status = header_number(p, "jobs (incl.", INT32_MAX, &p->jobs);

    if (status == CLO_OK && p->jobs == 0)
        return clo_words_fail(&p->words, CLO_ERR_FORMAT, "the project has no jobs; write at least one");
    if (status == CLO_OK)
        status = header_number(p, "- renewable", CLO_RESOURCES_MAX, &resources);
    if (status == CLO_OK)
        status = header_number(p, "- nonrenewable", INT32_MAX, &other[0]);
    if (status == CLO_OK)
        status = header_number(p, "- doubly constrained", INT32_MAX, &other[1]);
    if (status == CLO_OK && (other[0] > 0 || other[1] > 0))
        return clo_foreign_refuse_modes(p->words.source, p->words.at);
    p->packing.resources = (uint32_t)resources;
    return status;
}

/* To the first row under a title, behind `lines` lines of headings. */
static clo_status find_table(project *p, const char *title, uint32_t lines)
{
    clo_status status = clo_words_find(&p->words, title);

    for (uint32_t i = 0; i <= lines && status == CLO_OK; i++)
        clo_words_skip_line(&p->words);
    return status;
}

static clo_status read_capacities(project *p)
{
    clo_words here = p->words;
    clo_status status = find_table(p, "RESOURCEAVAILABILITIES", 1);

    for (uint32_t r = 0; r < p->packing.resources && status == CLO_OK; r++)
        status = clo_words_integer(&p->words, "a capacity", CLO_JSON_INTEGER_MAX, &p->packing.capacity[r]);
    p->words = here;
    return status;
}

/* The two numbers that a row of both tables has: the job, which must be the next one, and `what`, which must be 1. */
static clo_status row_begin(project *p, int64_t job, const char *what)
{
    int64_t number = 0, mode = 0;
    clo_words here = p->words;
    clo_status status = clo_words_integer(&p->words, "a job's number", INT32_MAX, &number);

    if (status == CLO_OK && number != job + 1)
        return clo_words_fail(&here, CLO_ERR_FORMAT, "job %lld, not %lld; write each of the %lld jobs once, in order",
                              (long long)number, (long long)job + 1, (long long)p->jobs);
    here = p->words;
    if (status == CLO_OK)
        status = clo_words_integer(&p->words, what, INT32_MAX, &mode);
    if (status == CLO_OK && mode != 1)
        return mode > 1
                   ? clo_foreign_refuse_modes(here.source, here.at)
                   : clo_words_fail(&here, CLO_ERR_FORMAT, "%s of job %lld is 0; write 1", what, (long long)number);
    return status;
}

/* A table ends with a line of stars. */
static clo_status table_end(project *p)
{
    char next = clo_words_peek(&p->words);

    if (next == '*')
        return CLO_OK;
    return clo_words_fail(&p->words, CLO_ERR_FORMAT,
                          next == '\0' ? "the file ends within a table; it is truncated"
                                       : "more than %lld rows; the header counts so many jobs",
                          (long long)p->jobs);
}

static clo_status read_successors(project *p, int64_t job)
{
    int64_t count = 0, successor = 0;
    clo_status status = row_begin(p, job, "the number of modes");

    if (status == CLO_OK)
        status = clo_words_integer(&p->words, "the number of successors", p->jobs, &count);
    for (int64_t i = 0; i < count && status == CLO_OK; i++) {
        status = clo_words_integer(&p->words, "a successor", p->jobs, &successor);
        if (status == CLO_OK && successor == 0)
            status = clo_words_fail(&p->words, CLO_ERR_FORMAT, "a successor is 0; jobs count from 1");
        if (status == CLO_OK)
            status = clo_graph_add_edge(p->reader->graph, (uint32_t)job, (uint32_t)successor - 1, 0);
    }
    return status;
}

static clo_status read_precedence(project *p)
{
    clo_status status = find_table(p, "PRECEDENCE RELATIONS", 1);

    if (status == CLO_OK)
        p->reader->line = clo_words_line(&p->words);
    for (int64_t job = 0; job < p->jobs && status == CLO_OK; job++)
        status = read_successors(p, job);
    return status == CLO_OK ? table_end(p) : status;
}

static clo_status read_demands(project *p, clo_task *task)
{
    for (uint32_t r = 0; r < p->packing.resources; r++) {
        clo_words here = p->words;
        clo_status status = clo_words_integer(&p->words, "a demand", CLO_JSON_INTEGER_MAX, &task->demand[r]);
        if (status != CLO_OK)
            return status;
        if (task->demand[r] > p->packing.capacity[r])
            return clo_words_fail(&here, CLO_ERR_FORMAT, "a demand is %lld; write at most the capacity, %lld",
                                  (long long)task->demand[r], (long long)p->packing.capacity[r]);
    }
    return CLO_OK;
}

static clo_status read_job(project *p, int64_t job)
{
    clo_task task = {.body = p->reader->body};
    int64_t duration = 0;
    clo_status status = row_begin(p, job, "the mode");

    if (status == CLO_OK)
        status = clo_words_integer(&p->words, "a duration", CLO_JSON_INTEGER_MAX, &duration);
    if (status == CLO_OK && !clo_scaled((double)duration, CLO_PSPLIB_UNIT_NS * p->reader->scale, &task.work_ns))
        return clo_words_fail(&p->words, CLO_ERR_LIMIT, "a duration of more than 146 years; write a smaller one");
    if (status == CLO_OK)
        status = read_demands(p, &task);
    return status == CLO_OK ? clo_graph_add_task(p->reader->graph, &task, NULL) : status;
}

static clo_status read_jobs(project *p)
{
    clo_status status = find_table(p, "REQUESTS/DURATIONS", 2);

    for (int64_t job = 0; job < p->jobs && status == CLO_OK; job++)
        status = read_job(p, job);
    return status == CLO_OK ? table_end(p) : status;
}

static clo_status name_resources(project *p, clo_reader *reader)
{
    static const char *const names[CLO_RESOURCES_MAX] = {"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"};
    char stem[256];

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        p->packing.names[r] = names[r];
    clo_reader_stem(reader, stem, sizeof stem);
    return clo_packing_graph(&p->packing, reader, stem);
}

clo_status clo_psplib_read_text(clo_reader *reader, const clo_source *source)
{
    project p = {.reader = reader, .words = {.source = source}};
    uint32_t executors = 0;
    clo_status status = clo_reader_begin(reader, "psplib", CLO_PSPLIB_UNIT_NS, 1);

    if (status == CLO_OK)
        status = read_header(&p);
    if (status == CLO_OK)
        status = name_resources(&p, reader);
    if (status == CLO_OK)
        status = read_capacities(&p);
    if (status == CLO_OK)
        status = read_precedence(&p);
    if (status == CLO_OK)
        status = read_jobs(&p);
    if (status == CLO_OK)
        status = clo_packing_executors(&p.packing, reader, &executors);
    if (status != CLO_OK)
        return status;
    status = clo_packing_platform(&p.packing, reader, executors);
    return status == CLO_ERR_LIMIT
               ? clo_words_fail(&p.words, status, "%u jobs may run at once; 4096 are possible", (unsigned)executors)
               : status;
}
