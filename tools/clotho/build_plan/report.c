/* report.c - see report.h.
 *
 * The summary judges what was measured, not what was expected: the same graph gets the measured times, and from it come
 * the critical path and the bound that no order of these steps on so many jobs goes below. */
#define _DEFAULT_SOURCE /* fchdir */
#include "clotho/build_plan/report.h"
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"
#include "ninja/step/cpus.h"

#include <clotho/report.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONGEST = 3 /* steps of the critical path that are named */ };

/* CPU time of all children that have ended. */
static int64_t children_ns(void)
{
    struct rusage used;

    if (getrusage(RUSAGE_CHILDREN, &used) != 0)
        return 0;
    return ((int64_t)used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
           ((int64_t)used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

/* Of all CPUs together: clock ticks since boot, and those of them without work. Zeros where nobody says. */
static void machine_ticks(int64_t ticks[2])
{
    FILE *file = fopen("/proc/stat", "re");
    char line[256] = "", *at = line + 4; /* "cpu ", then numbers */

    ticks[0] = ticks[1] = 0;
    if (file == NULL)
        return;
    bool is_good = fgets(line, sizeof line, file) != NULL && strncmp(line, "cpu ", 4) == 0;
    for (int i = 0; is_good && i < 8; i++) {
        int64_t count = strtoll(at, &at, 10);
        ticks[0] += count;
        ticks[1] += i == 3 || i == 4 ? count : 0; /* idle, and waiting for a disk */
    }
    fclose(file);
}

bool build_report_needs_trace(const build_report_options *options)
{
    return options->trace != NULL || options->gantt != NULL || options->page != NULL;
}

int build_report_begin(build_report *r, const build_report_options *options, const build_graph *graph,
                       const clo_policy *policy, uint32_t jobs)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;

    *r = (build_report){.options = options, .graph = graph, .jobs = jobs, .predicted_ns = -1};
    if (!options->summarizes && options->gantt == NULL && options->page == NULL)
        return EXIT_GOOD;
    r->time_ns = calloc(graph->folder->manifest.edges_count + 1, sizeof *r->time_ns);
    if (r->time_ns == NULL)
        return complain(NULL, "out of memory for the summary; leave --summary, --gantt and --report out");
    r->cpu_ns = children_ns();
    machine_ticks(r->ticks);
    config.policy = policy;
    if (options->summarizes && graph->weights.known > 0 &&
        clo_simulate(graph->cost, &config, &result, NULL, NULL) == CLO_OK)
        r->predicted_ns = result.makespan_ns;
    return EXIT_GOOD;
}

void build_report_step(build_report *r, uint32_t edge, int64_t time_ns)
{
    r->steps_run++;
    if (r->time_ns != NULL)
        r->time_ns[edge] = time_ns > 0 ? time_ns : 1;
}

typedef struct measured {
    build_graph graph; /* with the times that were measured */
    clo_bound bound;
    uint32_t *path, path_count;
    uint32_t steps; /* of the path that ran */
    int64_t work_ns, cpu_ns;
} measured;

static const char *name_of(const build_graph *g, uint32_t edge)
{
    const ninja_manifest *m = &g->folder->manifest;

    return show_name(m->nodes[m->edges[edge].outputs[0]].path);
}

static int measure(const build_report *r, measured *m)
{
    int code = build_graph_again(&m->graph, r->graph, r->time_ns, r->jobs);

    if (code != EXIT_GOOD)
        return code;
    m->bound = (clo_bound)CLO_BOUND_INIT;
    clo_status status = clo_cost_bound(m->graph.cost, &m->bound);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    m->path = calloc(clo_graph_tasks(m->graph.graph), sizeof *m->path);
    m->path_count = m->path != NULL ? clo_cost_critical_path(m->graph.cost, m->path) : 0;
    if (m->path_count == 0)
        return complain(NULL, "out of memory for the summary; leave --summary out");
    for (uint32_t i = 0; i < m->path_count; i++) {
        m->path[i] = m->graph.edges[m->path[i]];
        m->steps += r->time_ns[m->path[i]] > 0;
    }
    for (size_t e = 0; e < m->graph.folder->manifest.edges_count; e++)
        m->work_ns += r->time_ns[e];
    m->cpu_ns = children_ns() - r->cpu_ns;
    return EXIT_GOOD;
}

/* The tasks whose steps have failed; [*count], to be freed. NULL: there is no memory to mark them. */
static uint32_t *failed_tasks(const build_graph *g, uint32_t *count)
{
    uint32_t tasks = clo_graph_tasks(g->graph), *failed = calloc((size_t)tasks + 1, sizeof *failed);

    *count = 0;
    for (uint32_t t = 0; t < tasks && failed != NULL; t++)
        if (g->folder->manifest.edges[g->edges[t]].has_failed)
            failed[(*count)++] = t;
    return failed;
}

/* What ran as a plan, without the steps that did nothing: spared by restat, or behind one that has failed. */
static clo_status plan_of_steps(const build_report *r, clo_plan **out)
{
    clo_plan *all = NULL;
    size_t count = 0, kept = 0;
    clo_status status = clo_trace_to_plan(r->trace, r->graph->cost, &all);

    if (status != CLO_OK)
        return status;
    const clo_placement *placements = clo_plan_placements(all, &count);
    clo_placement *ran = calloc(count + 1, sizeof *ran);
    for (size_t i = 0; i < count && ran != NULL; i++)
        if (r->time_ns[r->graph->edges[placements[i].task]] > 0)
            ran[kept++] = placements[i];
    if (kept == 0) { /* or there is no memory: as it is */
        free(ran);
        *out = all;
        return CLO_OK;
    }
    status = clo_plan_from_placements(r->graph->cost, clo_plan_planner(all), ran, kept, out);
    clo_plan_destroy(all);
    free(ran);
    return status;
}

/* The picture has the bound of the summary: what was measured, not what was expected. */
static int draw(const build_report *r, const measured *m)
{
    clo_plan *ran = NULL;
    const clo_cost *cost = m->graph.cost != NULL ? m->graph.cost : r->graph->cost;
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    clo_status status = plan_of_steps(r, &ran);
    int code = status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
    uint32_t *failed = failed_tasks(r->graph, &config.failed_count);

    config.title = "build, as it ran";
    config.failed = failed;
    if (ran != NULL && r->options->gantt != NULL) {
        outputs_begin_file(r->options->gantt);
        status = outputs_end_file(r->options->gantt, clo_report_svg(cost, ran, &config, r->options->gantt));
        code = status == CLO_OK ? code : complain_status(r->options->gantt, status);
    }
    if (ran != NULL && r->options->page != NULL) {
        const clo_report_schedule happened = {.plan = ran, .trace = r->trace};
        outputs_begin_file(r->options->page);
        status = outputs_end_file(r->options->page, clo_report_plans(cost, &happened, 1, &config, r->options->page));
        code = status == CLO_OK ? code : complain_status(r->options->page, status);
    }
    clo_plan_destroy(ran);
    free(failed);
    return code;
}

static int write_files(const build_report *r, const measured *m)
{
    const build_report_options *o = r->options;
    clo_status status = CLO_OK;
    int code = EXIT_GOOD;

    if (o->trace != NULL) {
        outputs_begin_file(o->trace);
        status = outputs_end_file(o->trace, clo_trace_write_chrome(r->trace, r->graph->cost, "build", o->trace));
        if (status != CLO_OK)
            code = complain_status(o->trace, status);
    }
    int drawn = o->gantt != NULL || o->page != NULL ? draw(r, m) : EXIT_GOOD;
    return code != EXIT_GOOD ? code : drawn;
}

/* Paths of the command line are those of the folder that it was called in; the build goes on in its own. */
static int write_at_home(const build_report *r, const measured *m)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (here < 0 || fchdir(r->options->home) != 0) {
        if (here >= 0)
            close(here);
        return complain(NULL, "the folder of the call is gone; call from another one");
    }
    int code = write_files(r, m);
    if (fchdir(here) != 0)
        code = complain(NULL, "the folder of the build is gone; call again");
    close(here);
    return code;
}

static double share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? (double)part_ns / (double)whole_ns : 0;
}

static void print_prediction(const build_report *r)
{
    const build_weights *w = &r->graph->weights;

    if (r->predicted_ns < 0)
        printf("predicted     nothing: no step has run here yet\n");
    else if (r->steps_run < r->graph->steps) /* the build has stopped, or restat has spared some */
        printf("predicted     %s for all %u steps, of which %u ran\n", show_ns(r->predicted_ns), r->graph->steps,
               r->steps_run);
    else
        printf("predicted     %s, from the times of %u of %u steps; %s off\n", show_ns(r->predicted_ns), w->known,
               r->graph->steps, show_percent(share(llabs(r->makespan_ns - r->predicted_ns), r->makespan_ns)));
}

/* The longest steps of the path. */
static void print_path(const build_report *r, const measured *m)
{
    bool is_said[LONGEST] = {false};
    uint32_t said[LONGEST];

    printf("critical path %s in %u step%s, %s of the time; the longest of them:\n", show_ns(m->bound.critical_path_ns),
           m->steps, m->steps == 1 ? "" : "s", show_percent(share(m->bound.critical_path_ns, r->makespan_ns)));
    for (uint32_t n = 0; n < LONGEST && n < m->steps; n++) {
        for (uint32_t i = 0; i < m->path_count; i++) {
            bool is_known = r->time_ns[m->path[i]] == 0;
            for (uint32_t k = 0; k < n; k++)
                is_known |= said[k] == m->path[i];
            if (!is_known && (!is_said[n] || r->time_ns[m->path[i]] > r->time_ns[said[n]])) {
                said[n] = m->path[i];
                is_said[n] = true;
            }
        }
        if (is_said[n])
            printf("  %11s  %s\n", show_ns(r->time_ns[said[n]]), name_of(r->graph, said[n]));
    }
}

/* Share of the CPUs that somebody used, and of them what others did. */
static double machine_use(const build_report *r, double cpu_use)
{
    int64_t now[2];

    machine_ticks(now);
    double use = 1 - share(now[1] - r->ticks[1], now[0] - r->ticks[0]);
    return now[0] > r->ticks[0] && use > cpu_use ? use : cpu_use;
}

/* What held the build, from the nearest limit on. */
static void print_advice(const build_report *r, const measured *m)
{
    int64_t cpus = cpus_usable();
    double cpu_use = share(m->cpu_ns, r->makespan_ns * cpus), in_use = machine_use(r, cpu_use);

    printf("CPUs          %s of %" PRId64 " used by steps, %s by others\nwhat helps    ", show_percent(cpu_use), cpus,
           show_percent(in_use - cpu_use));
    if (in_use > 0.85 && cpu_use < in_use / 2)
        printf("others use the CPUs; a quieter machine\n");
    else if (share(m->bound.critical_path_ns, r->makespan_ns) > 0.8)
        printf("the critical path is the build: make its longest steps shorter, or split them\n");
    else if (in_use > 0.85)
        printf("the CPUs are full: fewer or cheaper steps, a compiler cache, or more machines\n");
    else if (m->bound.resource_ns > m->bound.area_ns && share(m->bound.resource_ns, r->makespan_ns) > 0.8)
        printf("a pool is full all the time: a larger depth, if memory allows it\n");
    else if (share(m->bound.area_ns, r->makespan_ns) > 0.8)
        printf("all %u jobs are busy and CPUs are not: more jobs (-j), if memory allows it\n", r->jobs);
    else
        printf("no single limit: steps wait for each other in many places; the picture (--gantt) shows where\n");
}

static void print_summary(const build_report *r, const measured *m)
{
    printf("built         %u step%s in %s with -j %u; work %s\n", r->steps_run, r->steps_run == 1 ? "" : "s",
           show_ns(r->makespan_ns), r->jobs, show_ns(m->work_ns));
    print_prediction(r);
    printf("lower bound   %s: no order of these steps takes less\n", show_ns(m->bound.best_ns));
    print_path(r, m);
    print_advice(r, m);
}

int build_report_write(build_report *r, clo_trace *trace, int64_t makespan_ns)
{
    r->trace = trace;
    r->makespan_ns = makespan_ns;
    measured m = {0};
    int code = r->time_ns != NULL && r->steps_run > 0 ? measure(r, &m) : EXIT_GOOD;
    if (code == EXIT_GOOD && r->trace != NULL && build_report_needs_trace(r->options))
        code = write_at_home(r, &m);
    if (code == EXIT_GOOD && r->options->summarizes && r->steps_run > 0)
        print_summary(r, &m);
    build_graph_end(&m.graph);
    free(m.path);
    return code;
}

void build_report_end(build_report *r)
{
    clo_trace_destroy(r->trace);
    free(r->time_ns);
    *r = (build_report){0};
}
