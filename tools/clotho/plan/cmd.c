/* cmd.c - `clotho plan GRAPH...`: plan, check with the independent checker, report.
 *
 * A bad file among several, or a bad instance in a file of many, hides none of the others: it gets its error line, the
 * rest goes on, and the exit status is 1 at the end. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/commands.h"
#include "clotho/common/interrupt.h"
#include "clotho/common/json.h"
#include "clotho/common/outputs.h"
#include "clotho/common/paths.h"
#include "clotho/common/schedules.h"
#include "clotho/plan/compare.h"
#include "clotho/plan/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_reference(json *out, const clo_reference *reference)
{
    if (reference == NULL) {
        json_null(out, "reference");
        return;
    }
    json_open(out, "reference", '{');
    json_real(out, "lower", reference->lower);
    json_real(out, "upper", reference->upper);
    json_close(out, '}');
}

static int print_json(const input *in, const plan_options *o, const planned *p)
{
    json out;

    json_begin(&out);
    json_text(&out, "graph", clo_graph_name(clo_document_graph(in->document)));
    json_text(&out, "file", in->path);
    json_text(&out, "format", clo_document_format(in->document));
    json_count(&out, "tasks", clo_graph_tasks(clo_document_graph(in->document)));
    json_count(&out, "edges", clo_graph_edges(clo_document_graph(in->document)));
    json_count(&out, "instances", clo_graph_instances(clo_document_graph(in->document)));
    json_text(&out, "platform", clo_platform_name(in->platform));
    json_count(&out, "executors", clo_platform_executors(in->platform));
    input_add_measured(in, &out);
    json_text(&out, "planner", clo_plan_planner(p->plan));
    json_real(&out, "makespan", (double)p->metrics.makespan_ns / clo_document_unit_ns(in->document));
    json_integer(&out, "makespan_ns", p->metrics.makespan_ns);
    input_add_prediction(&p->prediction, &out);
    json_integer(&out, "lower_bound_ns", p->metrics.lower_bound_ns);
    json_real(&out, "gap", p->metrics.gap);
    json_real(&out, "slr", p->metrics.slr);
    json_real(&out, "speedup", p->metrics.speedup);
    json_real(&out, "utilization", p->metrics.utilization);
    json_count(&out, "transfers", p->metrics.transfers);
    json_count(&out, "transferred_bytes", p->metrics.transferred_bytes);
    json_count(&out, "duplicates", p->metrics.duplicates);
    if (p->metrics.energy_nj >= 0)
        json_integer(&out, "energy_nj", p->metrics.energy_nj);
    json_count(&out, "schedules", clo_plan_schedules(p->plan));
    json_bool(&out, "optimal", plan_is_optimal(p));
    json_integer(&out, "plan_ns", p->plan_ns);
    json_open(&out, "bounds", '{');
    json_integer(&out, "critical_path_ns", p->bound.critical_path_ns);
    json_integer(&out, "area_ns", p->bound.area_ns);
    json_integer(&out, "resource_ns", p->bound.resource_ns);
    json_integer(&out, "combined_ns", p->bound.combined_ns);
    json_close(&out, '}');
    if (clo_plan_interval_ns(p->plan) > 0) {
        clo_status status = pipeline_print_json(p->plan, in->cost, &out);
        if (status != CLO_OK)
            return complain_status(in->place, status);
    }
    add_reference(&out, input_reference(in)); /* the published best, in the unit of "makespan" */
    json_bool(&out, "valid", p->valid);
    json_count(&out, "seed", o->seed);
    return json_print(&out);
}

static void print_makespan(const input *in, const planned *p)
{
    if (clo_document_unit_ns(in->document) != 1)
        printf("makespan     %s = %.10g in the file's unit\n", show_ns(p->metrics.makespan_ns),
               (double)p->metrics.makespan_ns / clo_document_unit_ns(in->document));
    else
        printf("makespan     %s\n", show_ns(p->metrics.makespan_ns));
    if (plan_is_optimal(p))
        printf("lower bound  %s; the plan is optimal, no other is shorter\n", show_ns(p->metrics.lower_bound_ns));
    else
        printf("lower bound  %s, so the plan is at most %s above the optimum\n", show_ns(p->metrics.lower_bound_ns),
               show_percent(p->metrics.gap));
}

/* Tasks that are duplicable but for handles: how many, and one of them. */
static void print_pinned(const clo_graph *graph)
{
    uint32_t count = 0, task = 0, by;
    char scratch[16];
    clo_handle handle = {0};

    for (uint32_t t = clo_graph_tasks(graph); t-- > 0;)
        if (clo_graph_pinned_by(graph, t) != CLO_NONE) {
            count++;
            task = t;
        }
    by = clo_graph_pinned_by(graph, task);
    if (count == 0 || clo_graph_handle(graph, by, &handle) != CLO_OK)
        return;
    printf("             %u duplicable task%s not duplicated, for handles that change: \"%s\" uses \"%s\"\n", count,
           count == 1 ? " is" : "s are", clo_graph_task_name(graph, task, scratch),
           handle.name != NULL ? handle.name : "(unnamed)");
}

static int print_pipeline(const input *in, const planned *p)
{
    input_print(in);
    printf("planner      %s, %llu schedule%s in %s\n\n", clo_plan_planner(p->plan),
           (unsigned long long)clo_plan_schedules(p->plan), clo_plan_schedules(p->plan) == 1 ? "" : "s",
           show_ns(p->plan_ns));
    clo_status status = pipeline_print(p->plan, in->cost);
    if (status != CLO_OK)
        return complain_status(in->place, status);
    printf("transfers    %llu inputs, %s\n", (unsigned long long)p->metrics.transfers,
           show_bytes(p->metrics.transferred_bytes));
    printf("check        %s\n", p->valid ? "valid" : "NOT VALID");
    return EXIT_GOOD;
}

static void print_one(const input *in, const planned *p)
{
    const clo_plan_metrics *m = &p->metrics;

    input_print(in);
    printf("planner      %s, %llu schedule%s in %s\n\n", clo_plan_planner(p->plan),
           (unsigned long long)clo_plan_schedules(p->plan), clo_plan_schedules(p->plan) == 1 ? "" : "s",
           show_ns(p->plan_ns));
    print_makespan(in, p);
    input_print_prediction(&p->prediction);
    printf("speedup      %.2f over the best single executor; SLR %.3f\n", m->speedup, m->slr);
    printf("replicas     %u\n", m->duplicates);
    print_pinned(clo_document_graph(in->document));
    printf("transfers    %llu inputs, %s\n", (unsigned long long)m->transfers, show_bytes(m->transferred_bytes));
    printf("executors    %s in use\n", show_percent(m->utilization));
    if (m->energy_nj >= 0)
        printf("energy       %s in cores that run tasks, at their highest clocks\n", show_energy(m->energy_nj));
    printf("check        %s\n", p->valid ? "valid" : "NOT VALID");
}

static void print_row(const planned *p, bool first)
{
    const clo_plan_metrics *m = &p->metrics;

    if (first)
        printf("\n%-16s %11s %9s %8s %8s %9s %8s %11s  %s\n", "planner", "makespan", "gap", "SLR", "speedup",
               "replicas", "use", "planned in", "check");
    printf("%-16s %11s %9s %8.3f %8.2f %9u %8s %11s  %s\n", clo_plan_planner(p->plan), show_ns(m->makespan_ns),
           show_percent(m->gap), m->slr, m->speedup, m->duplicates, show_percent(m->utilization), show_ns(p->plan_ns),
           p->valid ? "valid" : "NOT VALID");
}

/* A row of a table, or all that there is to say. */
static int print_text(const input *in, const planned *p, bool table, bool first)
{
    if (!table && clo_plan_interval_ns(p->plan) > 0)
        return print_pipeline(in, p);
    if (table)
        print_row(p, first);
    else
        print_one(in, p);
    return EXIT_GOOD;
}

static int to_output(const plan_options *o)
{
    const char *const files[] = {o->out, o->embed, o->gantt, o->csv, o->svg, o->report};

    return outputs_to_standard(files, sizeof files / sizeof files[0]);
}

static int write_files(const input *in, const plan_options *o, const planned *p)
{
    char *text = NULL, title[512];
    clo_status status = CLO_OK;
    int code = EXIT_GOOD;

    if (o->out != NULL && (status = clo_plan_save(p->plan, in->cost, o->out)) != CLO_OK)
        code = complain_status(o->out, status);
    snprintf(title, sizeof title, "%s on %s, planned by %s", clo_graph_name(clo_document_graph(in->document)),
             clo_platform_name(in->platform), clo_plan_planner(p->plan));
    if (o->gantt != NULL && (status = clo_plan_gantt_svg(p->plan, in->cost, title, o->gantt)) != CLO_OK)
        code = complain_status(o->gantt, status);
    if (o->embed != NULL && code == EXIT_GOOD)
        code = embed_plan(o->embed, in, p->plan);
    if (o->gantt_text && !o->as_json) {
        status = clo_plan_gantt_text(p->plan, in->cost, terminal_columns(), &text);
        if (status != CLO_OK)
            return complain_status(NULL, status);
        putchar('\n');
        print_drawing(text);
        free(text);
    }
    return code;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

/* Of plan_make, with its error line. */
static int make(const input *in, const plan_options *o, const char *planner, planned *p)
{
    clo_status status = plan_make(in, o, planner, p);

    return status == CLO_OK ? EXIT_GOOD : complain_status(in->place, status);
}

/* A signal came before all was planned. */
static int end_early(void)
{
    static bool is_told;

    if (!is_told)
        warn("interrupted: the rest is not planned");
    is_told = true;
    return EXIT_BAD_INPUT;
}

/* The one graph of a file. */
static int plan_one(const input *in, const plan_options *o)
{
    bool table = o->planners.count > 1;
    schedules all = {.count = 0};
    int code = EXIT_GOOD;
    uint32_t i;

    bool is_quiet = to_output(o) > 0;
    if (table && !o->as_json && !is_quiet)
        input_print(in);
    for (i = 0; i < o->planners.count && !is_interrupted(); i++) {
        planned p;
        int made = make(in, o, o->planners.items[i], &p);
        if (p.measured) {
            if (o->as_json)
                made = worse(made, print_json(in, o, &p));
            else if (!is_quiet)
                made = worse(made, print_text(in, &p, table, i == 0));
            made = worse(made, write_files(in, o, &p));
        }
        if (p.measured && o->report != NULL)
            schedules_keep(&all, p.plan, p.plan_ns, p.valid);
        else
            clo_plan_destroy(p.plan);
        code = worse(code, made);
    }
    code = worse(code, schedules_write(&all, in->cost, o->report));
    schedules_close(&all);
    return i < o->planners.count ? end_early() : code;
}

/* What one planner made of the instances of a file. */
typedef struct sums {
    uint32_t plans, valid, compared;
    double gap, above; /* sums: of gaps; of shares above the published makespans, over `compared` */
} sums;

static void add_to(sums *sum, const input *in, const planned *p)
{
    const clo_reference *reference = input_reference(in);

    sum->plans++;
    sum->valid += p->valid;
    sum->gap += p->metrics.gap;
    if (reference == NULL || !(reference->upper > 0))
        return;
    sum->compared++;
    sum->above += (double)p->metrics.makespan_ns / clo_document_unit_ns(in->document) / reference->upper - 1;
}

/* In the unit of the file where it has one of its own; else as a time. */
static const char *show_time(const input *in, int64_t ns, char text[32])
{
    if (clo_document_unit_ns(in->document) == 1)
        return show_ns(ns);
    snprintf(text, 32, "%.10g", (double)ns / clo_document_unit_ns(in->document));
    return text;
}

static void print_instance(const input *in, const planned *p)
{
    char makespan[32], bound[32], best[32] = "-";
    const clo_reference *reference = input_reference(in);

    if (reference != NULL)
        snprintf(best, sizeof best, "%.10g", reference->upper);
    printf("%-20s %7u %-14s %12s %12s %9s %10s  %s\n", show_name(clo_graph_name(clo_document_graph(in->document))),
           clo_graph_tasks(clo_document_graph(in->document)), clo_plan_planner(p->plan),
           show_time(in, p->metrics.makespan_ns, makespan), show_time(in, p->metrics.lower_bound_ns, bound),
           show_percent(p->metrics.gap), best, p->valid ? "valid" : "NOT VALID");
}

static int plan_instance(const input *in, const plan_options *o, sums *all)
{
    int code = EXIT_GOOD;
    uint32_t i;

    for (i = 0; i < o->planners.count && !is_interrupted(); i++) {
        planned p;
        int made = make(in, o, o->planners.items[i], &p);
        progress_clear();
        if (p.measured) {
            if (o->as_json)
                made = worse(made, print_json(in, o, &p));
            else
                print_instance(in, &p);
            add_to(&all[i], in, &p);
        }
        clo_plan_destroy(p.plan);
        code = worse(code, made);
    }
    return i < o->planners.count ? end_early() : code;
}

static void print_sums(const plan_options *o, const sums *all)
{
    printf("\n");
    for (uint32_t i = 0; i < o->planners.count; i++) {
        const sums *sum = &all[i];
        if (sum->plans == 0)
            continue;
        printf("%-14s %u instance%s, %u valid, mean gap %s", o->planners.items[i], sum->plans,
               sum->plans == 1 ? "" : "s", sum->valid, show_percent(sum->gap / sum->plans));
        if (sum->compared > 0)
            printf(", on average %s above the published makespan", show_percent(sum->above / sum->compared));
        printf("\n");
    }
}

/* All graphs of a file with many. */
static int plan_all(input *in, const plan_options *o)
{
    sums all[OPTION_LIST_MAX] = {{0}};
    int code = EXIT_GOOD;
    size_t i;

    if (!o->as_json)
        printf("%s: %zu instances\n\n%-20s %7s %-14s %12s %12s %9s %10s  %s\n", show_name(in->path), in->count,
               "instance", "tasks", "planner", "makespan", "lower bound", "gap", "published", "check");
    for (i = 0; i < in->count && !is_interrupted(); i++) {
        progress_over("instance %zu of %zu", i + 1, in->count);
        int one = input_next(in);
        if (one == EXIT_GOOD)
            input_warn_untimed(in);
        code = worse(code, one == EXIT_GOOD ? plan_instance(in, o, all) : one);
    }
    progress_clear();
    if (!o->as_json)
        print_sums(o, all);
    return i < in->count ? end_early() : code;
}

static int plan_file(const char *path, const plan_options *o, bool again)
{
    input in;
    int code = input_open_all(&in, path, &o->input);

    if (code != EXIT_GOOD)
        return code;
    if (in.count > 1 &&
        (o->gantt != NULL || o->out != NULL || o->embed != NULL || o->gantt_text || o->report != NULL)) {
        code =
            misuse("%s holds %zu instances; for --gantt, --gantt-text, --report, --out and --embed add --instance NAME",
                   path, in.count);
    } else if (in.count > 1 && o->planners.count > 1 && !o->as_json) {
        code = plan_compare_file(&in, o);
    } else if (in.count > 1) {
        if (again && !o->as_json)
            printf("\n");
        code = plan_all(&in, o);
    } else if ((code = input_next(&in)) == EXIT_GOOD) {
        if (again && !o->as_json)
            printf("\n");
        input_warn_untimed(&in);
        code = plan_one(&in, o);
    }
    input_close(&in);
    return code;
}

static bool has_planner(const option_list *planners, const char *name)
{
    for (uint32_t i = 0; i < planners->count; i++)
        if (strcmp(planners->items[i], name) == 0)
            return true;
    return false;
}

static void add_planner(option_list *planners, const char *name)
{
    if (planners->count < OPTION_LIST_MAX)
        planners->items[planners->count++] = name;
}

/* "all" becomes every planner; no name becomes "heft". */
static int expand_planners(option_list *planners)
{
    option_list named = *planners;
    const char *name;

    planners->count = 0;
    if (named.count == 0)
        named.items[named.count++] = "heft";
    for (uint32_t i = 0; i < named.count; i++) {
        if (strcmp(named.items[i], "all") != 0) {
            int code = known_planner(&named.items[i]);
            if (code != EXIT_GOOD)
                return code;
            add_planner(planners, named.items[i]);
            continue;
        }
        for (uint32_t k = 0; (name = planner_at(k)) != NULL; k++)
            if (!has_planner(planners, name)) /* of a file that was named before */
                add_planner(planners, name);
    }
    return EXIT_GOOD;
}

/* Several releases in flight are planned by one planner, which takes none of the other options. */
static int check_pipeline(const plan_options *o)
{
    if (!o->pipeline.is_wanted && (o->pipeline.in_flight > 0 || o->pipeline.interval_ns > 0))
        return misuse("--releases-in-flight and --interval are of a pipeline; add --pipeline");
    if (o->pipeline.is_wanted && (o->planners.count > 0 || o->budget != NULL || o->justify))
        return misuse("--pipeline plans by modulo scheduling; leave --planner, --budget and --justify out");
    if (o->pipeline.in_flight > CLO_IN_FLIGHT_MAX)
        return misuse("--releases-in-flight is %u; write 1 to %u", o->pipeline.in_flight, CLO_IN_FLIGHT_MAX);
    return EXIT_GOOD;
}

static bool is_comparison(const plan_options *o)
{
    return o->baseline != NULL || o->csv != NULL || o->svg != NULL;
}

static int check_comparison(const plan_options *o)
{
    int wanted = o->as_json + to_output(o);

    if (o->as_json && wanted > 1)
        return misuse("--json and '-' both want standard output; name a file");
    if (wanted > 1)
        return misuse("two files want standard output; name one");
    if (o->as_json && o->gantt_text)
        return misuse("--json and --gantt-text both want standard output; leave one out");
    if (o->gantt_text && wanted > 0)
        return misuse("--gantt-text and '-' both want standard output; name a file");
    if (is_comparison(o) && (o->pipeline.is_wanted || o->gantt != NULL || o->gantt_text || o->out != NULL ||
                             o->embed != NULL || o->report != NULL))
        return misuse(
            "--baseline, --csv and --svg compare planners; leave --pipeline, --gantt, --gantt-text, --report, "
            "--out and --embed out");
    return EXIT_GOOD;
}

static int check_options(plan_options *o)
{
    clo_plan_config unused = CLO_PLAN_CONFIG_INIT;
    uint32_t contention;

    if (check_pipeline(o) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    int code = expand_planners(&o->planners);
    if (code == EXIT_GOOD && o->baseline != NULL)
        code = known_planner(&o->baseline);
    if (code != EXIT_GOOD)
        return code;
    if (!plan_read_budget(o->budget, &unused))
        return misuse("--budget is '%s'; write a number of schedules or a time such as 500ms", o->budget);
    if (!plan_read_contention(o->contention, &contention))
        return misuse("--contention is '%s'; write choose or times", o->contention);
    return check_comparison(o);
}

/* A file of a folder is read, too: no output takes its place. */
static int check_outputs(const path_list *paths, const plan_options *o)
{
    const struct {
        const char *option, *path;
    } outputs[] = {{"csv", o->csv}, {"svg", o->svg},     {"gantt", o->gantt},
                   {"out", o->out}, {"embed", o->embed}, {"report", o->report}};

    for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; k++)
        for (size_t i = 0; i < paths->count && outputs[k].path != NULL; i++)
            if (access(paths->items[i], F_OK) == 0 && outputs_are_same(outputs[k].path, paths->items[i]))
                return misuse("--%s would replace %s, which is read; name another file", outputs[k].option,
                              show_name(outputs[k].path));
    return EXIT_GOOD;
}

/* What is asked for of each operand: all of them in one table, or one after the other. */
static int plan_paths(const path_list *paths, const plan_options *o)
{
    int code = EXIT_GOOD;
    size_t i;

    if ((o->gantt != NULL || o->out != NULL || o->embed != NULL) && (paths->count > 1 || o->planners.count > 1))
        return misuse("--gantt, --out and --embed take one GRAPH and one planner; run the command once for each");
    if (o->report != NULL && paths->count > 1)
        return misuse("--report takes one GRAPH, with any number of planners; run the command once for each");
    if (check_outputs(paths, o) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    bool is_one_table = is_comparison(o) || (paths->count > 1 && o->planners.count > 1 && !o->as_json);
    if (is_one_table && o->gantt_text)
        return misuse(
            "several planners on several graphs are one table; for --gantt-text name one GRAPH or one planner");
    if (is_one_table)
        return plan_compare(paths, o);
    for (i = 0; i < paths->count && !is_interrupted(); i++)
        code = worse(code, plan_file(paths->items[i], o, i > 0));
    return i < paths->count ? worse(code, end_early()) : code;
}

static const command cmd = {
    "plan",
    "GRAPH...",
    1,
    1 << 20,
    "Plans each task graph, checks the plan with the independent checker and prints it with its gap to a\n"
    "lower bound. With several planners (or 'all') it prints a table.",
    "SPEC is native (default), own (default if the file contains its platform), the name of a shipped platform,\n"
    "an hwloc XML file, a cluster file F.json, uniform:P, or slots:P. --json prints one object per line, one line\n"
    "per graph and planner.\n"
    "A file of JSON Lines holds many graphs: all are planned, one row each, unless --instance names one. A folder\n"
    "stands for the graph files in it, a pattern in quotes for the files that it matches.\n"
    "Several planners on several graphs are one table: for each planner the geometric mean of its makespans' "
    "ratios\n"
    "to those of the baseline, with its interval. It also comes with --baseline, --csv or --svg; then with --json "
    "as\n"
    "one object. Ctrl-C ends it with the graphs that are done.\n"
    "Example: clotho plan graphs/ --platform rk3588 --planner heft --planner deft --csv rows.csv --svg ratios.svg"};

int cmd_plan(int argc, char **argv)
{
    plan_options o = {.input.scale = 1};
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &o.input.spec, "the platform; see below"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o.input.instance,
         "take only the instance of this name, from a file with many"},
        {"planner", 0, "NAME", OPTION_LIST, &o.planners,
         "heft (default), deft, best ...; give several, or 'all', to compare"},
        {"budget", 0, "N|TIME", OPTION_TEXT, &o.budget,
         "for anytime planners: number of schedules, or wall time (500ms); Ctrl-C ends a search with the best plan so "
         "far"},
        {"no-duplicates", 0, NULL, OPTION_FLAG, &o.no_duplicates,
         "execute every task once, even if the graph allows duplicates"},
        {"justify", 0, NULL, OPTION_FLAG, &o.justify, "shift every plan right and left again while it gets shorter"},
        {"contention", 0, "choose|times", OPTION_TEXT, &o.contention,
         "where machines have ports: count them in the choice of the plan (default), or in its times alone"},
        {"pipeline", 0, NULL, OPTION_FLAG, &o.pipeline.is_wanted,
         "plan for throughput: several releases of the graph in flight, a fixed interval apart"},
        {"releases-in-flight", 0, "N", OPTION_COUNT, &o.pipeline.in_flight, "with --pipeline: at most N at once"},
        {"interval", 0, "TIME", OPTION_TIME, &o.pipeline.interval_ns,
         "with --pipeline: this interval, not the shortest"},
        {"threads", 0, "N", OPTION_COUNT, &o.threads,
         "threads for planners that use several (1); a time budget then searches more"},
        {"gantt", 'g', "F.svg", OPTION_OUTPUT, &o.gantt, "draw the plan"},
        {"gantt-text", 't', NULL, OPTION_FLAG, &o.gantt_text, "draw the plan in the terminal"},
        {"report", 0, "F.html", OPTION_OUTPUT, &o.report, "write a page with a chart and tables, of all planners"},
        {"out", 'o', "F.json", OPTION_OUTPUT, &o.out, "write the plan"},
        {"embed", 0, "F.c", OPTION_OUTPUT, &o.embed, "write the plan and its executors as C, for a program on a board"},
        {"baseline", 0, "NAME", OPTION_TEXT, &o.baseline,
         "compare the planners with this one, graph by graph (heft if it is among them, else the first)"},
        {"csv", 0, "F.csv", OPTION_OUTPUT, &o.csv, "compare the planners, and write a row for each graph and planner"},
        {"svg", 0, "F.svg", OPTION_OUTPUT, &o.svg, "compare the planners, and draw the ratios"},
        {"profile", 0, "F.json", OPTION_INPUT, &o.input.profile, INPUT_PROFILE_HELP},
        {"foreign", 0, NULL, OPTION_FLAG, &o.input.foreign, INPUT_FOREIGN_HELP},
        {"strict", 0, NULL, OPTION_FLAG, &o.input.strict, INPUT_STRICT_HELP},
        {"scale", 0, "X", OPTION_FACTOR, &o.input.scale, "multiply times and bytes by X"},
        {"seed", 0, "N", OPTION_U64, &o.seed, "fix every random choice (0)"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print one JSON object per line on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code == OPTIONS_GO_ON)
        code = check_options(&o);
    else
        return code;
    if (code != EXIT_GOOD)
        return code;
    path_list paths = {0};
    code = paths_expand(operands, count, &paths);
    code = worse(code, plan_paths(&paths, &o));
    paths_free(&paths);
    return code;
}
