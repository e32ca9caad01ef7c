/* run_remote.c - see run_remote.h. Each rank reads and plans for itself; the library compares. */
#include "run_remote.h"

#include "clotho/common/json.h"

#include <clotho/planner.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What there is to run, and what came of it. */
typedef struct work {
    const remote_options *options;
    clo_remote *remote;
    const char *path;
    clo_document *document;
    clo_cluster *cluster;
    clo_cost *cost;
    clo_plan *plan;
    clo_remote_result result; /* of the run with the median makespan */
    int64_t *makespans_ns;    /* [repeat] */
    clo_trace *trace;         /* of the last run, on rank 0 */
    uint32_t different;       /* runs with other outputs than the first */
    bool is_valid;
} work;

static int make_plan(work *w)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    const remote_options *o = w->options;

    if (o->plan != NULL) {
        clo_status status = clo_plan_load(o->plan, w->cost, &w->plan);
        return status == CLO_OK ? EXIT_GOOD : complain_status(o->plan, status);
    }
    config.planner = o->planner != NULL ? clo_planner_find(o->planner) : &clo_planner_heft;
    if (config.planner == NULL)
        return complain("--planner", "%s", clo_last_error());
    config.seed = o->seed;
    config.schedules_max = o->schedules;
    config.no_duplicates = o->no_duplicates;
    clo_status status = clo_plan_create(w->cost, &config, &w->plan);
    return status == CLO_OK ? EXIT_GOOD : complain_status("--planner", status);
}

static int open_work(work *w)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    const remote_options *o = w->options;

    load.scale = o->scale;
    load.body = o->body;
    load.instance = o->instance;
    clo_status status = clo_document_load(w->path, &load, &w->document);
    if (status != CLO_OK)
        return complain_status(w->path, status);
    status = clo_cluster_load(o->hosts, &w->cluster);
    if (status != CLO_OK)
        return complain_status(o->hosts, status);
    status = clo_cost_create(clo_document_graph(w->document), clo_cluster_platform(w->cluster), &w->cost);
    if (status != CLO_OK)
        return complain_status(w->path, status);
    w->makespans_ns = calloc(o->repeat, sizeof *w->makespans_ns);
    return w->makespans_ns != NULL ? make_plan(w) : complain(NULL, "no memory for %u runs", o->repeat);
}

static void close_work(work *w)
{
    clo_trace_destroy(w->trace);
    clo_plan_destroy(w->plan);
    clo_cost_destroy(w->cost);
    clo_cluster_destroy(w->cluster);
    clo_document_destroy(w->document);
    free(w->makespans_ns);
}

static int compare_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* What happened must pass the checker, but for what the comparison of clocks leaves open. */
static int check_trace(work *w)
{
    clo_plan *happened;
    clo_status status = clo_trace_to_plan(w->trace, w->cost, &happened);

    if (status != CLO_OK)
        return complain_status(NULL, status);
    bool is_unclear = w->result.effects_before_causes > 0 && w->result.worst_effect_ns <= 2 * w->result.clock_error_ns;
    status = clo_plan_check(happened, w->cost, CLO_CHECK_MEASURED);
    clo_plan_destroy(happened);
    if (status == CLO_OK || is_unclear)
        return EXIT_GOOD;
    w->is_valid = false;
    return complain_status("the joined trace", status);
}

static int run_all(work *w)
{
    const remote_options *o = w->options;
    uint64_t first_hash = 0;

    w->is_valid = true;
    for (uint32_t i = 0; i < o->repeat; i++) {
        clo_remote_result result = CLO_REMOTE_RESULT_INIT;
        clo_trace_destroy(w->trace);
        w->trace = NULL;
        clo_status status = clo_remote_run(w->remote, w->cluster, w->cost, w->plan, &o->run, &result, &w->trace);
        if (status != CLO_OK)
            return complain_status(NULL, status);
        w->makespans_ns[i] = result.makespan_ns;
        w->result = result;
        if (i == 0)
            first_hash = result.output_hash;
        w->different += result.output_hash != first_hash;
        int code = w->trace != NULL ? check_trace(w) : EXIT_GOOD;
        if (code != EXIT_GOOD)
            return code;
    }
    qsort(w->makespans_ns, o->repeat, sizeof *w->makespans_ns, compare_ns);
    w->is_valid &= w->different == 0;
    return EXIT_GOOD;
}

static int write_files(const work *w)
{
    const remote_options *o = w->options;
    clo_plan *happened;
    clo_status status = CLO_OK;

    if (o->trace != NULL)
        status = clo_trace_write_chrome(w->trace, w->cost, NULL, o->trace);
    if (status != CLO_OK)
        return complain_status(o->trace, status);
    if (o->gantt == NULL)
        return EXIT_GOOD;
    status = clo_trace_to_plan(w->trace, w->cost, &happened);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    status = clo_plan_gantt_svg(happened, w->cost, NULL, o->gantt);
    clo_plan_destroy(happened);
    return status == CLO_OK ? EXIT_GOOD : complain_status(o->gantt, status);
}

static double share_waited(const work *w)
{
    uint32_t executors = clo_platform_executors(clo_cluster_platform(w->cluster));

    return (double)w->result.wait_ns / ((double)executors * (double)(w->result.makespan_ns + 1));
}

static int print_json(const work *w)
{
    const clo_remote_result *r = &w->result;
    const clo_graph *graph = clo_document_graph(w->document);
    char hash[24];
    json out;

    snprintf(hash, sizeof hash, "%016" PRIx64, r->output_hash);
    json_begin(&out);
    json_text(&out, "graph", clo_graph_name(graph));
    json_count(&out, "tasks", clo_graph_tasks(graph));
    json_count(&out, "executors", clo_platform_executors(clo_cluster_platform(w->cluster)));
    json_count(&out, "machines", clo_cluster_machines(w->cluster));
    json_text(&out, "engine", clo_remote_engine());
    json_text(&out, "mode", "replay");
    json_text(&out, "dispatch", clo_plan_planner(w->plan));
    json_text(&out, "clock", "real");
    json_bool(&out, "emulated", false);
    json_count(&out, "runs", w->options->repeat);
    json_integer(&out, "makespan_ns", w->makespans_ns[w->options->repeat / 2]);
    json_integer(&out, "makespan_min_ns", w->makespans_ns[0]);
    json_integer(&out, "predicted_ns", r->predicted_ns);
    json_integer(&out, "busy_ns", r->busy_ns);
    json_count(&out, "executed", r->executed);
    json_count(&out, "duplicates_run", r->duplicates_run);
    json_count(&out, "transfers", r->transfers);
    json_count(&out, "transferred_bytes", r->transferred_bytes);
    json_count(&out, "sent", r->sent);
    json_count(&out, "sent_bytes", r->sent_bytes);
    json_integer(&out, "wait_ns", r->wait_ns);
    json_real(&out, "wait_share", share_waited(w));
    json_integer(&out, "communication_cpu_ns", r->communication_cpu_ns);
    json_integer(&out, "clock_error_ns", r->clock_error_ns);
    json_count(&out, "effects_before_causes", r->effects_before_causes);
    json_integer(&out, "worst_effect_ns", r->worst_effect_ns);
    json_text(&out, "output_hash", hash);
    json_count(&out, "different_outputs", w->different);
    json_bool(&out, "valid", w->is_valid);
    return json_print(&out);
}

static int print_text(const work *w)
{
    const clo_remote_result *r = &w->result;

    printf("graph        %s: %u tasks\n", show_name(clo_graph_name(clo_document_graph(w->document))),
           clo_graph_tasks(clo_document_graph(w->document)));
    printf("cluster      %s: %u machines, %u executors, %s\n",
           show_name(clo_platform_name(clo_cluster_platform(w->cluster))), clo_cluster_machines(w->cluster),
           clo_platform_executors(clo_cluster_platform(w->cluster)), clo_remote_engine());
    printf("dispatch     replay, %s\n\n", clo_plan_planner(w->plan));
    printf("predicted    %s\n", show_ns(r->predicted_ns));
    printf("measured     %s%s\n", show_ns(w->makespans_ns[w->options->repeat / 2]),
           w->options->repeat > 1 ? " (median)" : "");
    printf("executions   %" PRIu64 ", of these %" PRIu64 " replicas\n", r->executed, r->duplicates_run);
    printf("transfers    %" PRIu64 ", %s\n", r->transfers, show_bytes(r->transferred_bytes));
    printf("waits        %s of the executors' time for other machines\n", show_percent(share_waited(w)));
    printf("messages     took %s of CPU time\n", show_ns(r->communication_cpu_ns));
    printf("clocks       joined within %s; %" PRIu64 " effects before their cause\n", show_ns(r->clock_error_ns),
           r->effects_before_causes);
    printf("outputs      hash %016" PRIx64 "%s\n", r->output_hash,
           w->different > 0 ? ", NOT the same in all runs" : "");
    return EXIT_GOOD;
}

int run_remote(clo_remote *remote, const char *path, const remote_options *options)
{
    work w = {.options = options, .remote = remote, .path = path};
    int code = open_work(&w);

    if (code == EXIT_GOOD)
        code = run_all(&w);
    if (code != EXIT_GOOD) { /* the process ends: what runs may use the rest */
        free(w.makespans_ns);
        return code;
    }
    if (clo_remote_rank(remote) == 0) {
        code = options->as_json ? print_json(&w) : print_text(&w);
        if (code == EXIT_GOOD)
            code = write_files(&w);
    }
    if (code == EXIT_GOOD && !w.is_valid)
        code = complain(path, "outputs differ from run to run; are the bodies pure?");
    close_work(&w);
    return code;
}
