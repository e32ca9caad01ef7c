/* report.c - the report of `clotho run`, as text and as JSON. See run.h. */
#include "clotho/common/report.h"
#include "clotho/common/json.h"
#include "clotho/run/commands.h"
#include "clotho/run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t missed(const run_outcome *out)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < out->runs; i++)
        count += out->results[i].missed_deadline != 0;
    return count;
}

int run_check_deadline(const run_outcome *out)
{
    if (out->options->deadline_ns == 0 || missed(out) == 0)
        return EXIT_GOOD;
    return complain(out->in->path, "%" PRIu64 " of %u runs have missed the deadline of %s", missed(out), out->runs,
                    show_ns(out->options->deadline_ns));
}

/* Serial time by the cost model over measured time; NAN where it means nothing, as where not all tasks ran. */
static double speedup(const run_outcome *out)
{
    int64_t median = run_median_ns(out);

    if (out->runs == 0 || !out->speedup_means_something || median <= 0 || run_median(out)->skipped > 0)
        return NAN;
    return out->metrics.speedup * (double)out->metrics.makespan_ns / (double)median;
}

/* Share of the executors' time that was spent on tasks, in the median run; NAN if nothing ran. */
static double utilization(const run_outcome *out)
{
    const clo_job_result *r = run_median(out);
    double room = (double)clo_platform_executors(out->in->platform) * (double)r->makespan_ns;

    return out->runs > 0 && room > 0 ? (double)r->busy_ns / room : NAN;
}

static bool emulated(const run_outcome *out)
{
    return out->options->clock != CLO_CLOCK_REAL;
}

static void json_what(json *j, const run_outcome *out)
{
    const run_options *o = out->options;
    const clo_graph *graph = clo_document_graph(out->in->document);

    json_text(j, "graph", clo_graph_name(graph));
    json_text(j, "file", out->in->path);
    json_count(j, "tasks", clo_graph_tasks(graph));
    json_count(j, "edges", clo_graph_edges(graph));
    json_count(j, "instances", clo_graph_instances(graph));
    json_text(j, "platform", clo_platform_name(out->in->platform));
    json_count(j, "executors", clo_platform_executors(out->in->platform));
    json_text(j, "mode", run_mode(out));
    json_text(j, "planner", o->policy == NULL && o->plan == NULL ? o->planner : NULL);
    json_text(j, "policy", o->policy);
    json_text(j, "clock", o->clock_name);
    json_bool(j, "emulated", emulated(out));
    json_real(j, "scale", o->input.scale);
    json_count(j, "seed", o->seed);
}

static void json_times(json *j, const run_outcome *out)
{
    json_text(j, "status", status_name(out->last.status));
    json_integer(j, "makespan_ns", run_median_ns(out));
    json_integer(j, "predicted_ns", out->predicted_ns);
    input_add_prediction(&out->prediction, j);
    json_real(j, "prediction_error", run_prediction_error(out));
    json_count(j, "repeat", out->options->repeat);
    if (out->options->repeat > 1) {
        json_open(j, "measured_ns", '[');
        for (uint32_t i = 0; i < out->runs; i++)
            json_integer(j, NULL, out->measured_ns[i]);
        json_close(j, ']');
    }
    if (out->options->clock == CLO_CLOCK_PADDED) {
        json_real(j, "emulation_error", run_median(out)->emulation_error);
        json_count(j, "dilate", out->options->dilate);
    }
    json_real(j, "speedup", speedup(out));
    json_real(j, "utilization", utilization(out));
}

static void json_commands(json *j, const run_outcome *out)
{
    uint32_t first, skipped, failed;

    if (out->commands == NULL)
        return;
    failed = commands_failed(out->commands, &first, &skipped);
    json_count(j, "commands_failed", failed);
    json_count(j, "commands_skipped", skipped);
    json_text(j, "failed_output", failed > 0 ? commands_output(out->commands) : NULL);
}

int run_print_json(const run_outcome *out)
{
    const clo_job_result *r = run_median(out);
    char hash[17], scratch[16];
    json j;

    snprintf(hash, sizeof hash, "%016" PRIx64, out->output_hash);
    json_begin(&j);
    json_what(&j, out);
    json_times(&j, out);
    json_integer(&j, "busy_ns", r->busy_ns);
    json_count(&j, "executed", r->executed);
    json_count(&j, "skipped", r->skipped);
    json_count(&j, "duplicates_run", r->duplicates_run);
    json_count(&j, "transfers", r->transfers);
    json_count(&j, "transferred_bytes", r->transferred_bytes);
    json_count(&j, "copied_bytes", r->copied_bytes);
    json_count(&j, "missed_deadlines", missed(out));
    json_count(&j, "steals", r->steals);
    json_count(&j, "parks", r->parks);
    json_decisions(&j, (int64_t[]){r->decision_p50_ns, r->decision_p99_ns, r->decision_p999_ns, r->decision_max_ns},
                   r->decisions);
    json_text(&j, "output_hash", out->runs > 0 ? hash : NULL);
    if (out->last.status == CLO_ERR_TASK) {
        json_text(&j, "failed_task",
                  clo_graph_task_name(clo_document_graph(out->in->document), out->last.failed_task, scratch));
        json_integer(&j, "failed_code", out->last.failed_code);
    }
    json_commands(&j, out);
    if (out->replay == REPLAY_NOT_CHECKED)
        json_null(&j, "replay_equal");
    else
        json_bool(&j, "replay_equal", out->replay == REPLAY_EQUAL);
    json_bool(&j, "valid", out->valid);
    return json_print(&j);
}

static void print_head(const run_outcome *out)
{
    const char *note = out->options->clock == CLO_CLOCK_PADDED    ? "  EMULATED: padded to the platform's speeds"
                       : out->options->clock == CLO_CLOCK_VIRTUAL ? "  EMULATED: virtual time"
                                                                  : "";

    input_print(out->in);
    printf("dispatch     %s, %s\n", run_mode(out), run_dispatch(out->options));
    printf("clock        %s%s\n", out->options->clock_name, note);
    if (out->options->dilate > 1)
        printf("dilated      %u times: %s in real time\n", out->options->dilate,
               show_ns(run_median_ns(out) * (int64_t)out->options->dilate));
    printf("\n");
}

static void print_times(const run_outcome *out)
{
    const char *label = emulated(out) ? "emulated" : "measured";

    if (commands_without_time(out->commands) > 0)
        printf("predicted    nothing: %u commands have no time; planned as if they took as long as the rest\n",
               commands_without_time(out->commands));
    else
        printf("predicted    %s\n", show_ns(out->predicted_ns));
    input_print_prediction(&out->prediction);
    if (out->runs > 1) {
        int64_t low = out->measured_ns[0], high = low;
        for (uint32_t i = 1; i < out->runs; i++) {
            low = out->measured_ns[i] < low ? out->measured_ns[i] : low;
            high = out->measured_ns[i] > high ? out->measured_ns[i] : high;
        }
        printf("%s     %s median of %u runs (%s .. %s)\n", label, show_ns(run_median_ns(out)), out->runs, show_ns(low),
               show_ns(high));
    } else {
        printf("%s     %s\n", label, show_ns(run_median_ns(out)));
    }
    double error = run_prediction_error(out);
    if (isfinite(error))
        printf("error        %s of predicted%s\n", show_percent(error), out->runs > 1 ? " (median)" : "");
    if (out->options->clock == CLO_CLOCK_PADDED)
        printf("padding      %s off the wanted execution times%s\n", show_percent(run_median(out)->emulation_error),
               out->options->dilate > 1 ? ", on average" : "");
    if (isfinite(speedup(out)))
        printf("speedup      %.2f over one core (serial time by the cost model)%s\n", speedup(out),
               emulated(out) ? ", emulated" : "");
    else if (!out->speedup_means_something && out->options->clock == CLO_CLOCK_PADDED)
        printf("speedup      not printed: more padded workers than CPUs\n");
}

static bool has_outputs(const clo_graph *graph)
{
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK && task.output_bytes > 0)
            return true;
    return false;
}

static void print_counts(const run_outcome *out, const clo_job_result *r)
{
    printf("executions   %" PRIu64 ", of these %" PRIu64 " replicas\n", r->executed, r->duplicates_run);
    if (r->skipped > 0)
        printf("skipped      %" PRIu64 ", because branches went on with other arms\n", r->skipped);
    printf("transfers    %" PRIu64 " inputs, %s, of these %s copied\n", r->transfers, show_bytes(r->transferred_bytes),
           show_bytes(r->copied_bytes));
    printf("workers      %" PRIu64 " steals, %" PRIu64 " parks, %s in use\n", r->steals, r->parks,
           show_percent(utilization(out)));
    if (r->decisions > 0)
        printf("decisions    %" PRIu64 "; %s median, %s p99, %s at most\n", r->decisions, show_ns(r->decision_p50_ns),
               show_ns(r->decision_p99_ns), show_ns(r->decision_max_ns));
    if (out->options->deadline_ns > 0)
        printf("deadline     %s, missed %" PRIu64 " of %u times\n", show_ns(out->options->deadline_ns), missed(out),
               out->runs);
    const clo_graph *graph = clo_document_graph(out->in->document);
    bool is_same = out->runs > 1 && clo_graph_branches(graph) == 0;
    if (has_outputs(graph))
        printf("outputs      %016" PRIx64 "%s\n", out->output_hash, is_same ? ", the same in every run" : "");
    printf("check        %s%s\n\n", out->valid ? "valid" : "NOT VALID",
           out->replay == REPLAY_EQUAL     ? "; replayed in the simulator with every decision equal"
           : out->replay == REPLAY_DIFFERS ? "; the simulator decided OTHERWISE"
                                           : "");
}

int run_print_text(const run_outcome *out)
{
    char *gantt = NULL;

    if (out->runs == 0 || out->happened == NULL)
        return EXIT_GOOD; /* the error line has said it */
    print_head(out);
    print_times(out);
    print_counts(out, run_median(out));
    int code = report_executors(out->happened, out->in->platform);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_plan_gantt_text(out->happened, out->in->cost, terminal_columns(), &gantt);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    printf("\n%s%s\n",
           out->runs == 1               ? "the run"
           : out->last.status == CLO_OK ? "the run with the median time"
                                        : "the run that failed",
           emulated(out) ? ", emulated" : "");
    print_drawing(gantt);
    free(gantt);
    return EXIT_GOOD;
}
