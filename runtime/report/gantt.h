/* report/gantt.h - pictures of placements, planned or measured: as SVG and as text.
 *
 * All ids are in range for the cost; the placements of an executor stand in order of start. */
#ifndef CLO_REPORT_GANTT_H
#define CLO_REPORT_GANTT_H

#include "base/text.h"

#include <clotho/plan.h>

/* What the charts of a plan with an interval show beside the placements of several releases. */
typedef struct clo_gantt_cycle {
    int64_t interval_ns;
    int64_t bound_ns; /* no interval is shorter */
    int64_t latency_ns;
    uint32_t in_flight;
    uint32_t releases;       /* that are shown */
    const uint32_t *release; /* [count] of each placement */
} clo_gantt_cycle;

typedef struct clo_gantt {
    const clo_cost *cost;
    const clo_placement *placements;
    size_t count;
    int64_t makespan_ns;
    int64_t bound_ns;             /* lower bound to mark; 0: none */
    const char *title;            /* NULL: the graph's name       */
    const char *planner;          /* or whatever made it          */
    bool is_emulated;             /* the times are of an emulated run */
    const clo_gantt_cycle *cycle; /* NULL: one release */
    const clo_plan *plan;         /* says who was skipped; NULL: nobody */
    const uint32_t *failed;       /* [failed_count] tasks that failed   */
    size_t failed_count;
} clo_gantt;

/* Appends a whole SVG document. Returns CLO_OK or CLO_ERR_MEMORY (also latched in `out`). */
clo_status clo_gantt_svg(const clo_gantt *chart, clo_text *out);

/* Appends the picture for a terminal `columns` wide (0: 80; at least 40). Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_gantt_text(const clo_gantt *chart, uint32_t columns, clo_text *out);

/* What both share; it lives in gantt_text.c. */

/* Placements of executor e: members[first[e]] .. members[first[e + 1] - 1]; release both with clo_free. */
typedef struct clo_gantt_rows {
    size_t *first, *members;
} clo_gantt_rows;
clo_status clo_gantt_rows_open(const clo_gantt *chart, clo_gantt_rows *rows);
void clo_gantt_rows_close(clo_gantt_rows *rows);

/* "12.3 ms" into text[24], in the unit that suits `scale_ns`: the time itself, or the last one of an axis. Returns
 * text. */
const char *clo_gantt_time(int64_t ns, int64_t scale_ns, char *text);

/* "interval 2 ms (bound 1.9 ms, gap 1.2 %), latency 6 ms, 3 releases in flight" into text[160]. Returns text. */
const char *clo_gantt_cycle_text(const clo_gantt_cycle *cycle, char *text);

/* Distance of axis ticks: the smallest 1, 2 or 5 * 10^k ns that gives at most `ticks` of them. */
int64_t clo_gantt_step(int64_t makespan_ns, uint32_t ticks);

/* Bytes of a task name that tell its kind: "potrf" of "potrf(3,1)", "mProject" of "mProject_ID0000001". */
size_t clo_gantt_prefix(const char *name);

/* What follows the planner's name where the times are emulated and the name does not say so; else "". */
const char *clo_gantt_mark(const clo_gantt *chart);

/* Characters (code points) of a string. */
size_t clo_gantt_characters(const char *text);

/* Placements of tasks that were skipped. */
size_t clo_gantt_skipped(const clo_gantt *chart);

/* True if the task is one of chart->failed. */
bool clo_gantt_has_failed(const clo_gantt *chart, uint32_t task);

/* The chart of a plan, to be drawn. Release `kept` with clo_free, also after a failure. Returns CLO_OK,
 * CLO_ERR_ARGUMENT (the plan is of another graph or platform) or CLO_ERR_MEMORY. */
clo_status clo_gantt_of_plan(const clo_plan *plan, const clo_cost *cost, clo_gantt *chart, void **kept);

/* Share of the makespan that the row of executor e is busy, in percent. */
double clo_gantt_use(const clo_gantt *chart, const clo_gantt_rows *rows, uint32_t executor);

#endif
