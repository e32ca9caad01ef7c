/* report/page/page.h - what a page shows, from whichever source; made by plans.c, series.c and stream.c. */
#ifndef CLO_REPORT_PAGE_PAGE_H
#define CLO_REPORT_PAGE_PAGE_H

#include "base/text.h"
#include "report/kinds.h"
#include "report/page/bars.h"

#include <clotho/pipeline.h>
#include <clotho/report.h>

typedef struct clo_page_schedule {
    const char *name;
    clo_bars bars;            /* none where has_bars is false */
    struct clo_cause *causes; /* [bars.count]; NULL: not known */
    clo_plan_metrics metrics;
    clo_pipeline_metrics pipeline; /* where interval_ns > 0 */
    int64_t makespan_ns;           /* what is drawn ends there */
    int64_t bound_ns;              /* 0: none */
    int64_t interval_ns;           /* between releases; 0: none */
    int64_t planned_in_ns;
    bool has_bars, has_happened, is_emulated, is_invalid;
} clo_page_schedule;

typedef struct clo_page_job {
    uint64_t number;
    const char *name;
    uint32_t graph;                          /* of the page; CLO_NONE: not known */
    int64_t arrival_ns, start_ns, finish_ns; /* CLO_TIME_NEVER: not known, or never */
    int64_t deadline_ns;                     /* when it is late; CLO_TIME_NEVER: none */
    int64_t busy_ns;
    int64_t path_ns; /* its longest chain of executions and transfers; 0: not known */
    uint64_t executions;
    int end; /* CLO_LOG_DONE_...; -1: not known */
} clo_page_job;

typedef struct clo_page {
    const char *title, *note;
    const clo_platform *platform;
    const clo_graph **graphs; /* [graphs_count] tasks are numbered through all of them */
    uint32_t *first_task;     /* [graphs_count + 1] */
    uint32_t graphs_count;
    uint8_t *kind_of; /* [tasks] */
    clo_task_kinds kinds;
    clo_page_schedule *schedules; /* [schedules_count] */
    size_t schedules_count;
    size_t drawn, compared; /* of schedules; compared == drawn: none */
    clo_page_job *jobs;     /* [jobs_count]; of streams */
    size_t jobs_count;
    const char *job_word;      /* "job" or "release" */
    const uint32_t *responses; /* [CLO_LATENCY_BUCKETS] of all releases; NULL: not known */
    const uint32_t *failed;    /* [failed_count] tasks */
    size_t failed_count;
    int64_t deadline_ns;
    bool has_edges; /* they are kept */
} clo_page;

/* Fills graphs, kinds and has_edges. Returns CLO_OK or CLO_ERR_MEMORY; clo_page_close is safe in each case. */
clo_status clo_page_open(clo_page *page, const clo_graph *const *graphs, uint32_t count);

/* Frees what clo_page_open has made, and the schedules with their bars and causes. */
void clo_page_close(clo_page *page);

static inline uint32_t clo_page_tasks(const clo_page *page)
{
    return page->first_task[page->graphs_count];
}

/* The name of a task of the page; scratch[16]. */
const char *clo_page_task_name(const clo_page *page, uint32_t task, char *scratch);

/* frame.c: the whole page, written. */

/* Writes the page with the picture `svg`. Returns CLO_OK, CLO_ERR_IO or CLO_ERR_MEMORY. */
clo_status clo_page_write(const clo_page *page, const clo_text *svg, const char *path);

/* data.c: what the script of a page reads. */

/* Appends one JSON object, "clotho.report/1". */
void clo_page_add_data(const clo_page *page, clo_text *out);

/* facts.c: the figures below the title, and what tables have in common with them. */

void clo_page_add_facts(const clo_page *page, clo_text *out);

/* "planned", "emulated" or "measured". */
const char *clo_page_what_it_is(const clo_page_schedule *s);

/* Ratios to the times of tasks mean nothing where no task takes any. */
bool clo_page_has_times(const clo_page_schedule *s);

/* From the arrival to the end; CLO_TIME_NEVER where either is not known. */
int64_t clo_page_completion_ns(const clo_page_job *job);

/* How long after its deadline; CLO_TIME_NEVER: it has none, or no end. */
int64_t clo_page_tardiness_ns(const clo_page_job *job);

/* From the arrival to the first start. */
int64_t clo_page_wait_ns(const clo_page_job *job);

static inline double clo_page_ratio(double above, double below)
{
    return below > 0 ? above / below : 0;
}

/* tables.c: what a page shows without its script. */

/* The tables of the schedule that is drawn, and of all schedules or jobs. */
void clo_page_add_tables(const clo_page *page, clo_text *out);

#endif
