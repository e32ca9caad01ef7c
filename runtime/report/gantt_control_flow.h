/* report/gantt_control_flow.h - branches and what was skipped (clotho/branch.h), as marks in the rows of an SVG
 * chart. */
#ifndef CLO_REPORT_GANTT_CONTROL_FLOW_H
#define CLO_REPORT_GANTT_CONTROL_FLOW_H

#include "report/gantt.h"

typedef struct clo_gantt_row {
    const clo_gantt *chart;
    const clo_gantt_rows *rows;
    uint32_t executor;
    int left, width; /* of the plot, tenths of a pixel */
    int top, height; /* of the row, pixels */
} clo_gantt_row;

/* A diamond where a branch ends, and a cross where a task was skipped. */
void clo_gantt_add_control_flow(const clo_gantt_row *row, clo_text *out);

/* What the marks mean, from the pixel x on; nothing for a graph without branches. */
void clo_gantt_add_control_flow_legend(const clo_gantt *chart, int x, int y, clo_text *out);

#endif
