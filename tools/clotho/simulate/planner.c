/* planner.c - `clotho simulate WORKLOAD --planner NAME`: the whole workload is planned for the weighted sum of
 * completion times (synch.h); nothing decides while it runs. */
#include "clotho/common/json.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/stream_case.h"

#include <clotho/synch.h>

#include <stdio.h>
#include <string.h>

typedef struct planned {
    clo_workload *loaded;
    clo_platform *opened;
    const clo_platform *platform;
    clo_synch *plan;
    clo_log *log;
    clo_synch_figures figures;
} planned;

static const char *const methods[] = {"synchpack-1", "synchpack-2",     "synchpack-3",
                                      "psrs",        "tetris-weighted", "jsq-maxweight"};

static const char *method_at(uint32_t index)
{
    return index < sizeof methods / sizeof methods[0] ? methods[index] : NULL;
}

static int check_planner(const char *name)
{
    const char *near = nearest_name(name, method_at);
    const char *what = clo_planner_find(name) != NULL ? " but of one graph ('clotho plan', 'clotho run')" : "";

    for (uint32_t i = 0; method_at(i) != NULL; i++)
        if (strcmp(name, method_at(i)) == 0)
            return EXIT_GOOD;
    if (near != NULL && what[0] == '\0')
        return misuse("'%s' is no planner of workloads; did you mean '%s'?", show_name(name), near);
    return misuse("'%s' is no planner of workloads%s%s; take %s, %s, %s, %s, %s or %s", show_name(name),
                  what[0] != '\0' ? "," : "", what, methods[0], methods[1], methods[2], methods[3], methods[4],
                  methods[5]);
}

static int open_inputs(planned *p, const char *path, const simulate_options *o)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;

    load.scale = o->input.scale;
    clo_status status = workload_load(path, &load, &p->loaded);
    if (status == CLO_OK)
        status = clo_workload_sort(p->loaded); /* the log numbers jobs in order of arrival */
    if (status != CLO_OK)
        return complain_status(path, status);
    p->platform = clo_workload_platform(p->loaded);
    if (o->input.spec != NULL) {
        int code = platform_open(o->input.spec, &p->opened);
        if (code != EXIT_GOOD)
            return code;
        p->platform = p->opened;
    }
    return p->platform != NULL ? EXIT_GOOD : complain(path, "carries no platform; name one with --platform SPEC");
}

/* Whether no task of any job takes time. Mostly the first job says so. */
static bool are_untimed(const planned *p)
{
    for (uint32_t i = 0; i < clo_workload_jobs(p->loaded); i++) {
        const clo_graph *graph = clo_workload_get(p->loaded, i)->graph;
        clo_cost *cost;
        if (clo_cost_create(graph, p->platform, &cost) != CLO_OK)
            return false; /* no memory: nothing is said */
        bool is_next_untimed = is_untimed(graph, cost);
        clo_cost_destroy(cost);
        if (!is_next_untimed)
            return false;
    }
    return true;
}

static clo_status judge(planned *p)
{
    stream_case jobs;
    clo_status status = clo_synch_log(p->plan, &p->log);

    if (status != CLO_OK)
        return status;
    status = stream_case_open(&jobs, p->loaded, p->platform, NULL);
    if (status == CLO_OK) {
        const clo_stream_case stream = {
            .size = sizeof stream, .platform = p->platform, .jobs = jobs.jobs, .jobs_count = jobs.jobs_count};
        status = clo_stream_check(&stream, p->log, NULL);
    }
    stream_case_close(&jobs);
    return status;
}

static int print_json(const planned *p, const char *path, const simulate_options *o)
{
    const clo_synch_figures *f = &p->figures;
    json out;

    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(p->loaded));
    json_text(&out, "file", path);
    json_integer(&out, "jobs", clo_workload_jobs(p->loaded));
    json_text(&out, "planner", o->planner);
    json_text(&out, "platform", clo_platform_name(p->platform));
    json_integer(&out, "weighted_completion", f->weighted_completion);
    json_integer(&out, "free_bound", f->free_bound);
    json_integer(&out, "lp_bound", f->lp_bound);
    json_real(&out, "makespan_s", (double)f->makespan_ns / 1e9);
    json_integer(&out, "makespan_ns", f->makespan_ns);
    json_bool(&out, "preemptive", f->is_preemptive);
    json_count(&out, "lp_elements", f->lp_elements);
    return json_print(&out);
}

static void print_text(const planned *p, const simulate_options *o)
{
    const clo_synch_figures *f = &p->figures;
    int64_t bound = f->lp_bound > f->free_bound ? f->lp_bound : f->free_bound;

    printf("workload     %s, %u jobs, planned as a whole; nothing is executed\n", clo_workload_name(p->loaded),
           clo_workload_jobs(p->loaded));
    printf("platform     %s, %u machines\n", clo_platform_name(p->platform), clo_platform_machines(p->platform));
    printf("planner      %s%s\n\n", o->planner, f->is_preemptive ? ", preemptive" : "");
    printf("completion   %.6g s, the sum of weight * completion time\n", (double)f->weighted_completion / 1e9);
    printf("lower bound  %.6g s%s, ratio %.3f\n", (double)bound / 1e9,
           f->lp_bound > f->free_bound ? " (of the LP)" : "",
           bound > 0 ? (double)f->weighted_completion / (double)bound : 1.0);
    printf("makespan     %s\n", show_ns(f->makespan_ns));
    printf("check        valid\n");
}

int simulate_planner(const char *path, const simulate_options *o)
{
    const clo_synch_config config = {.size = sizeof config, .planner = o->planner};
    planned p = {.figures = CLO_SYNCH_FIGURES_INIT};
    clo_status status = CLO_OK;
    int code = check_planner(o->planner);

    if (code == EXIT_GOOD)
        code = open_inputs(&p, path, o);
    if (code == EXIT_GOOD) {
        status = clo_synch_create(p.loaded, p.platform, &config, &p.plan);
        if (status == CLO_OK)
            status = clo_synch_measure(p.plan, &p.figures);
        if (status == CLO_OK)
            status = judge(&p);
        if (status == CLO_OK && o->log != NULL)
            status = clo_log_save(p.log, o->log);
        code = status == CLO_OK ? EXIT_GOOD : complain_status(path, status);
    }
    if (code == EXIT_GOOD && are_untimed(&p))
        warn_untimed(path);
    if (code == EXIT_GOOD && o->as_json)
        code = print_json(&p, path, o);
    else if (code == EXIT_GOOD && simulate_to_output(o) == 0)
        print_text(&p, o);
    clo_log_destroy(p.log);
    clo_synch_destroy(p.plan);
    clo_platform_destroy(p.opened);
    clo_workload_destroy(p.loaded);
    return code;
}
