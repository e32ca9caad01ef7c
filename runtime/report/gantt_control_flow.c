/* gantt_control_flow.c - see gantt_control_flow.h. Marks of a row stand apart from each other, so there are at most as
 * many as have room, whatever the number of executions. */
#include "report/gantt_control_flow.h"

#include "plan/plan.h"

#include <clotho/branch.h>

enum { APART = 50 /* tenths of a pixel between two marks */ };

static int at(const clo_gantt_row *row, int64_t ns)
{
    double span = row->chart->makespan_ns > 0 ? (double)row->chart->makespan_ns : 1;

    return row->left + (int)((double)ns / span * row->width + 0.5);
}

static void add_cross(int x, int y, clo_text *out)
{
    clo_text_add(out, "<path stroke=\"#a00\" stroke-width=\"1.5\" d=\"M%d.%d %dl6 6m0 -6l-6 6\">", (x - 30) / 10,
                 (x - 30) % 10, y - 3);
}

static void add_diamond(int x, int y, clo_text *out)
{
    clo_text_add(out, "<path fill=\"#111\" stroke=\"#fff\" stroke-width=\".8\" d=\"M%d.%d %dl5 5l-5 5l-5 -5z\">",
                 x / 10, x % 10, y - 5);
}

/* The text of a mark. */
static void add_title(const clo_gantt_row *row, uint32_t task, bool is_skipped, clo_text *out)
{
    const clo_graph *graph = clo_cost_graph(row->chart->cost);
    const clo_plan *plan = row->chart->plan;
    char scratch[16];

    clo_text_add(out, "<title>");
    clo_text_add_xml(out, clo_graph_task_name(graph, task, scratch));
    if (is_skipped)
        clo_text_add(out, ": skipped");
    else if (plan != NULL && plan->outcome != NULL)
        clo_text_add(out, ": chose arm %u of %u", plan->outcome[task].arm, clo_graph_arms(graph, task));
    else
        clo_text_add(out, ": branch of %u arms", clo_graph_arms(graph, task));
    clo_text_add(out, "</title></path>\n");
}

void clo_gantt_add_control_flow(const clo_gantt_row *row, clo_text *out)
{
    const clo_graph *graph = clo_cost_graph(row->chart->cost);
    int middle = row->top + row->height / 2, last[2] = {-APART, -APART};

    if (clo_graph_branches(graph) == 0)
        return;
    for (size_t m = row->rows->first[row->executor]; m < row->rows->first[row->executor + 1]; m++) {
        const clo_placement *p = &row->chart->placements[row->rows->members[m]];
        bool is_skipped = clo_plan_is_skipped(row->chart->plan, p->task);
        int x = at(row, is_skipped ? p->start_ns : p->finish_ns);
        if ((!is_skipped && clo_graph_arms(graph, p->task) == 0) || x - last[is_skipped] < APART)
            continue;
        last[is_skipped] = x;
        if (is_skipped)
            add_cross(x, row->top + row->height - 7, out);
        else
            add_diamond(x, middle, out);
        add_title(row, p->task, is_skipped, out);
    }
}

void clo_gantt_add_control_flow_legend(const clo_gantt *chart, int x, int y, clo_text *out)
{
    if (clo_graph_branches(clo_cost_graph(chart->cost)) == 0)
        return;
    add_diamond(10 * (x + 7), y + 6, out);
    clo_text_add(out, "</path><text x=\"%d\" y=\"%d\">branch</text>", x + 20, y + 10);
    if (clo_gantt_skipped(chart) == 0)
        return;
    add_cross(10 * (x + 93), y + 6, out);
    clo_text_add(out, "</path><text x=\"%d\" y=\"%d\">skipped</text>", x + 106, y + 10);
}
