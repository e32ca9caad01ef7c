/* cmd_simulate.c - `clotho simulate WORKLOAD --policy NAME`: one job in virtual time, bodies not executed. */
#include "commands.h"
#include "input.h"
#include "json.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct simulate_options {
    input_config input;
    const char *policy, *arrivals, *gantt, *trace;
    uint64_t jobs, seed;
    bool as_json;
} simulate_options;

typedef struct simulated {
    clo_job_result result;
    clo_trace *trace;
    clo_plan *happened;
    clo_plan_metrics metrics;
    bool measured; /* all of the above is there */
    bool valid;
} simulated;

static clo_status simulate(const input *in, const simulate_options *o, simulated *s)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    char label[128];

    if (strcmp(o->policy, "steal") != 0)
        config.policy = clo_policy_find(o->policy);
    clo_status status = clo_simulate(in->cost, &config, &s->result, &s->trace, NULL);
    if (status == CLO_OK)
        status = clo_trace_to_plan(s->trace, in->cost, &s->happened);
    if (status == CLO_OK)
        status = clo_plan_measure(s->happened, in->cost, &s->metrics);
    if (status == CLO_OK) {
        snprintf(label, sizeof label, "%s, simulated", o->policy);
        status = relabel_plan(&s->happened, in->cost, label);
    }
    if (status == CLO_OK) {
        status = clo_plan_check(s->happened, in->cost, CLO_CHECK_FULL);
        s->valid = status == CLO_OK;
        s->measured = status == CLO_OK || status == CLO_ERR_INVALID;
    }
    return status;
}

static int print_json(const input *in, const simulate_options *o, const simulated *s)
{
    double seconds = (double)s->result.makespan_ns / 1e9;
    json out;

    json_begin(&out);
    json_text(&out, "workload", clo_graph_name(clo_document_graph(in->document)));
    json_text(&out, "file", in->path);
    json_integer(&out, "jobs", 1);
    json_count(&out, "tasks", clo_graph_tasks(clo_document_graph(in->document)));
    json_text(&out, "policy", o->policy);
    json_text(&out, "platform", clo_platform_name(in->platform));
    json_count(&out, "executors", clo_platform_executors(in->platform));
    json_real(&out, "avg_jct_s", seconds);
    json_real(&out, "p95_jct_s", seconds);
    json_real(&out, "weighted_jct_s", seconds);
    json_real(&out, "makespan_s", seconds);
    json_integer(&out, "makespan_ns", s->result.makespan_ns);
    json_integer(&out, "lower_bound_ns", s->metrics.lower_bound_ns);
    json_real(&out, "gap", s->metrics.gap);
    json_real(&out, "utilization", s->metrics.utilization);
    json_count(&out, "transfers", s->result.transfers);
    json_count(&out, "transferred_bytes", s->result.transferred_bytes);
    json_count(&out, "decisions", s->result.decisions);
    json_open(&out, "decision_ns", '{');
    json_integer(&out, "p50", s->result.decision_p50_ns);
    json_integer(&out, "p99", s->result.decision_p99_ns);
    json_integer(&out, "p999", s->result.decision_p999_ns);
    json_integer(&out, "max", s->result.decision_max_ns);
    json_count(&out, "count", s->result.decisions);
    json_close(&out, '}');
    json_bool(&out, "valid", s->valid);
    json_count(&out, "seed", o->seed);
    return json_print(&out);
}

static int print_text(const input *in, const simulate_options *o, const simulated *s)
{
    input_print(in);
    printf("workload     1 job in virtual time; nothing is executed\n");
    printf("policy       %s, %llu decisions, %s each (median), %s at most\n\n", o->policy,
           (unsigned long long)s->result.decisions, show_ns(s->result.decision_p50_ns),
           show_ns(s->result.decision_max_ns));
    printf("makespan     %s, the completion time of the one job\n", show_ns(s->result.makespan_ns));
    printf("lower bound  %s, gap %s\n", show_ns(s->metrics.lower_bound_ns), show_percent(s->metrics.gap));
    printf("speedup      %.2f over the best single executor\n", s->metrics.speedup);
    printf("executors    %s in use\n", show_percent(s->metrics.utilization));
    printf("check        %s\n\n", s->valid ? "valid" : "NOT VALID");
    return report_executors(s->happened, in->platform);
}

static int write_files(const input *in, const simulate_options *o, const simulated *s)
{
    char title[512];
    int code = EXIT_GOOD;
    clo_status status;

    snprintf(title, sizeof title, "%s on %s, policy %s, simulated", clo_graph_name(clo_document_graph(in->document)),
             clo_platform_name(in->platform), o->policy);
    if (o->gantt != NULL && (status = clo_plan_gantt_svg(s->happened, in->cost, title, o->gantt)) != CLO_OK)
        code = complain_status(o->gantt, status);
    if (o->trace != NULL && (status = clo_trace_write_chrome(s->trace, in->cost, title, o->trace)) != CLO_OK)
        code = complain_status(o->trace, status);
    return code;
}

static int simulate_file(const char *path, const simulate_options *o)
{
    input in;
    simulated s = {.result = CLO_JOB_RESULT_INIT, .metrics = CLO_PLAN_METRICS_INIT};
    int code = input_open(&in, path, &o->input);

    if (code != EXIT_GOOD)
        return code;
    clo_status status = simulate(&in, o, &s);
    if (status != CLO_OK)
        code = complain_status(path, status);
    if (s.measured) {
        int printed = o->as_json ? print_json(&in, o, &s) : print_text(&in, o, &s);
        if (printed == EXIT_GOOD)
            printed = write_files(&in, o, &s);
        code = code != EXIT_GOOD ? code : printed;
    }
    clo_plan_destroy(s.happened);
    clo_trace_destroy(s.trace);
    input_close(&in);
    return code;
}

static int check_options(const simulate_options *o)
{
    if (o->policy == NULL)
        return misuse("'simulate' needs --policy NAME; see 'clotho list policies'");
    if (known_policy(o->policy) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    if (o->jobs != 1 || strcmp(o->arrivals, "batch") != 0)
        return misuse("streams of jobs are not built yet; leave --jobs at 1 and --arrivals at batch");
    if (!(o->input.scale > 0))
        return misuse("--scale is 0; write a number > 0");
    if (o->as_json &&
        ((o->gantt != NULL && strcmp(o->gantt, "-") == 0) || (o->trace != NULL && strcmp(o->trace, "-") == 0)))
        return misuse("--json and '-' both want standard output; name a file");
    return EXIT_GOOD;
}

int cmd_simulate(int argc, char **argv)
{
    static const command cmd = {
        "simulate",
        "WORKLOAD",
        1,
        1,
        "Runs one job in virtual time; a policy decides. Engine and policies are those of 'clotho run'; no body is "
        "called.",
        "Job completion times (jct) are those of this one job. Streams of jobs are not built yet."};
    simulate_options o = {.jobs = 1, .arrivals = "batch", .input.scale = 1};
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_TEXT, &o.input.spec, "as in 'clotho plan'"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o.input.instance,
         "take only the instance of this name, from a file with many"},
        {"policy", 0, "NAME", OPTION_TEXT, &o.policy, "the policy; see 'clotho list policies'"},
        {"jobs", 0, "N", OPTION_U64, &o.jobs, "number of jobs; only 1 so far"},
        {"arrivals", 0, "KIND", OPTION_TEXT, &o.arrivals, "how jobs arrive; only batch so far"},
        {"strict", 0, NULL, OPTION_FLAG, &o.input.strict, INPUT_STRICT_HELP},
        {"scale", 0, "X", OPTION_REAL, &o.input.scale, "multiply times and bytes by X"},
        {"seed", 0, "N", OPTION_U64, &o.seed, "fix every random choice (0); no policy makes any so far"},
        {"trace", 0, "F.json", OPTION_TEXT, &o.trace, "write a Chrome / Perfetto trace"},
        {"gantt", 'g', "F.svg", OPTION_TEXT, &o.gantt, "draw what happened"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&o);
    return code != EXIT_GOOD ? code : simulate_file(operands[0], &o);
}
