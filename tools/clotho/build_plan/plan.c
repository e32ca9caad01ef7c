/* plan.c - a build as a graph of Clotho: a step is a task, a pool a resource, -j N a platform of N equal
 * executors.
 *
 * Phony statements stay as tasks of no time, so that n outputs behind one name cost n edges and not n * m. */
#define _DEFAULT_SOURCE /* fchdir */
#include "clotho/build_plan/plan.h"
#include "clotho/build_plan/graph.h"
#include "clotho/common/json.h"
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"

#include <clotho/planner.h>
#include <clotho/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct planning {
    build_graph graph;
    const build_plan_options *options;
    clo_plan *plan;
    clo_plan_metrics metrics;
    clo_bound bound;
    uint32_t *path, path_count; /* the critical one */
} planning;

static int make_plan(planning *p)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_status status;

    config.planner = clo_planner_find(p->options->planner);
    p->metrics = (clo_plan_metrics)CLO_PLAN_METRICS_INIT;
    p->bound = (clo_bound)CLO_BOUND_INIT;
    status = clo_plan_create(p->graph.cost, &config, &p->plan);
    if (status == CLO_OK)
        status = clo_plan_measure(p->plan, p->graph.cost, &p->metrics);
    if (status == CLO_OK)
        status = clo_cost_bound(p->graph.cost, &p->bound);
    if (status == CLO_OK)
        status = clo_plan_check(p->plan, p->graph.cost, CLO_CHECK_FULL);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    p->path = calloc(clo_graph_tasks(p->graph.graph), sizeof *p->path);
    p->path_count = p->path != NULL ? clo_cost_critical_path(p->graph.cost, p->path) : 0;
    return p->path_count > 0 ? EXIT_GOOD : complain(NULL, "out of memory");
}

static int64_t work_ns(const planning *p)
{
    int64_t sum = 0;

    for (size_t e = 0; e < p->graph.folder->manifest.edges_count; e++)
        if (p->graph.is_in[e])
            sum += p->graph.weights.time_ns[e];
    return sum;
}

static int print_json(const planning *p)
{
    json out;

    json_begin(&out);
    json_count(&out, "steps", p->graph.steps);
    json_count(&out, "tasks", clo_graph_tasks(p->graph.graph));
    json_count(&out, "edges", clo_graph_edges(p->graph.graph));
    json_count(&out, "known", p->graph.weights.known);
    json_count(&out, "jobs", p->options->jobs);
    json_text(&out, "planner", clo_plan_planner(p->plan));
    json_integer(&out, "work_ns", work_ns(p));
    json_integer(&out, "critical_path_ns", p->bound.critical_path_ns);
    json_integer(&out, "lower_bound_ns", p->metrics.lower_bound_ns);
    json_integer(&out, "makespan_ns", p->metrics.makespan_ns);
    json_real(&out, "gap", p->metrics.gap);
    json_open(&out, "critical_path", '[');
    for (uint32_t i = 0; i < p->path_count; i++)
        if (!ninja_is_phony(&p->graph.folder->manifest, p->graph.edges[p->path[i]]))
            json_text(&out, NULL, clo_graph_task_name(p->graph.graph, p->path[i], (char[16]){0}));
    json_close(&out, ']');
    return json_print(&out);
}

static void print_path(const planning *p)
{
    uint32_t steps = 0;

    for (uint32_t i = 0; i < p->path_count; i++)
        steps += !ninja_is_phony(&p->graph.folder->manifest, p->graph.edges[p->path[i]]);
    printf("critical path %s in %u step%s, from the first to the last:\n", show_ns(p->bound.critical_path_ns), steps,
           steps == 1 ? "" : "s");
    for (uint32_t i = 0; i < p->path_count; i++) {
        uint32_t edge = p->graph.edges[p->path[i]];
        if (!ninja_is_phony(&p->graph.folder->manifest, edge))
            printf("  %11s  %s\n", show_ns(p->graph.weights.time_ns[edge]),
                   show_name(p->graph.folder->manifest.nodes[p->graph.folder->manifest.edges[edge].outputs[0]].path));
    }
}

static void print_text(const planning *p)
{
    printf("steps         %u, the times of %u from .ninja_log; work %s\n", p->graph.steps, p->graph.weights.known,
           show_ns(work_ns(p)));
    print_path(p);
    printf("makespan      %s with -j %u, planned by %s; lower bound %s\n", show_ns(p->metrics.makespan_ns),
           p->options->jobs, clo_plan_planner(p->plan), show_ns(p->metrics.lower_bound_ns));
}

/* Paths of the command line are those of the folder that it was called in. */
static int write_files(planning *p)
{
    const build_plan_options *o = p->options;
    clo_document *document = NULL;
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    clo_status status = CLO_OK;
    int code = EXIT_GOOD;

    config.title = "build, planned";
    if (fchdir(o->home) != 0)
        return complain(NULL, "the folder of the call is gone; call from another one");
    if (o->gantt != NULL) {
        outputs_begin_file(o->gantt);
        status = outputs_end_file(o->gantt, clo_plan_gantt_svg(p->plan, p->graph.cost, config.title, o->gantt));
        if (status != CLO_OK)
            code = complain_status(o->gantt, status);
    }
    if (o->page != NULL) {
        const clo_report_schedule planned = {.plan = p->plan};
        outputs_begin_file(o->page);
        status = outputs_end_file(o->page, clo_report_plans(p->graph.cost, &planned, 1, &config, o->page));
        if (status != CLO_OK)
            code = complain_status(o->page, status);
    }
    if (o->out == NULL)
        return code;
    clo_plan_destroy(p->plan); /* the document takes the graph and the platform */
    clo_cost_destroy(p->graph.cost);
    p->plan = NULL;
    p->graph.cost = NULL;
    status = clo_document_create(p->graph.graph, p->graph.platform, &document);
    if (status == CLO_OK) {
        p->graph.graph = NULL;
        p->graph.platform = NULL;
        outputs_begin_file(o->out);
        status = outputs_end_file(o->out, clo_document_save(document, "clotho", o->out));
    }
    clo_document_destroy(document);
    return status == CLO_OK ? code : complain_status(o->out, status);
}

int build_plan(build_folder *folder, const uint32_t *targets, size_t count, const build_plan_options *options)
{
    planning p = {.graph.folder = folder, .options = options};
    int code = build_graph_make(&p.graph, targets, count, options->only_wanted, options->jobs);

    if (code == EXIT_GOOD)
        code = make_plan(&p);
    if (code == EXIT_GOOD) {
        if (!options->as_json)
            print_text(&p);
        code = options->as_json ? print_json(&p) : EXIT_GOOD;
    }
    if (code == EXIT_GOOD)
        code = write_files(&p);
    clo_plan_destroy(p.plan);
    build_graph_end(&p.graph);
    free(p.path);
    return code;
}
