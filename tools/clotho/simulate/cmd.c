/* cmd.c - `clotho simulate WORKLOAD --policy NAME`: in virtual time, bodies not executed. A file of one graph
 * is a workload of one job: it is reported with what is known of a schedule. All else: workload.c. */
#include "clotho/common/commands.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/policy_option.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/arrivals.h"

#include <assert.h>
#include <clotho/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 100000 };

typedef struct simulated {
    clo_job_result result;
    clo_trace *trace;
    clo_plan *happened;
    clo_plan_metrics metrics;
    clo_prediction prediction; /* with a profile */
    bool measured;             /* all of the above is there */
    bool valid;
} simulated;

/* With the times as they vary. Of platforms with ports there is no such prediction. */
static clo_status predict(const input *in, const simulate_options *o, const clo_sim_config *config,
                          clo_prediction *prediction)
{
    if (o->samples > 0)
        prediction->samples = (uint32_t)o->samples;
    prediction->seed = o->seed;
    clo_status status = clo_profile_predict(in->profile, in->cost, config, prediction);
    return status == CLO_ERR_UNSUPPORTED ? CLO_OK : status;
}

static clo_status simulate(const input *in, const simulate_options *o, simulated *s)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    char label[128];

    assert(o->policy != NULL); /* check_options */
    if (strcmp(o->policy, "steal") != 0)
        config.policy = clo_policy_find(o->policy);
    clo_status status = clo_simulate(in->cost, &config, &s->result, &s->trace, NULL);
    if (status == CLO_OK)
        status = clo_trace_to_plan(s->trace, in->cost, &s->happened);
    if (status == CLO_OK)
        status = clo_plan_measure(s->happened, in->cost, &s->metrics);
    if (status == CLO_OK) {
        snprintf(label, sizeof label, "%s, simulated", o->policy);
        status = clo_plan_set_planner(s->happened, label);
    }
    if (status == CLO_OK) {
        status = clo_plan_check(s->happened, in->cost, CLO_CHECK_FULL);
        s->valid = status == CLO_OK;
        s->measured = status == CLO_OK || status == CLO_ERR_INVALID;
    }
    return status == CLO_OK && in->profile != NULL ? predict(in, o, &config, &s->prediction) : status;
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
    input_add_prediction(&s->prediction, &out);
    json_real(&out, "lower_bound_s", (double)s->metrics.lower_bound_ns / 1e9);
    json_integer(&out, "lower_bound_ns", s->metrics.lower_bound_ns);
    json_real(&out, "gap", s->metrics.gap);
    json_real(&out, "utilization", s->metrics.utilization);
    json_count(&out, "transfers", s->result.transfers);
    json_count(&out, "transferred_bytes", s->result.transferred_bytes);
    json_count(&out, "completions", s->result.executed);
    json_count(&out, "decisions", s->result.decisions);
    json_count(&out, "refused", s->result.refused);
    json_count(&out, "fallbacks", s->result.fallbacks);
    json_count(&out, "partial", s->result.partial);
    json_decisions(&out,
                   (int64_t[]){s->result.decision_p50_ns, s->result.decision_p99_ns, s->result.decision_p999_ns,
                               s->result.decision_max_ns},
                   s->result.decisions);
    json_bool(&out, "valid", s->valid);
    json_count(&out, "seed", o->seed);
    input_add_measured(in, &out);
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
    input_print_prediction(&s->prediction);
    printf("lower bound  %s, gap %s\n", show_ns(s->metrics.lower_bound_ns), show_percent(s->metrics.gap));
    printf("speedup      %.2f over the best single executor\n", s->metrics.speedup);
    printf("executors    %s in use\n", show_percent(s->metrics.utilization));
    printf("check        %s\n\n", s->valid ? "valid" : "NOT VALID");
    return report_executors(s->happened, in->platform);
}

static clo_status write_report(const input *in, const char *title, const char *path, const simulated *s)
{
    const clo_report_schedule schedule = {.plan = s->happened, .trace = s->trace, .is_invalid = !s->valid};
    clo_report_config config = CLO_REPORT_CONFIG_INIT;

    config.title = title;
    return clo_report_plans(in->cost, &schedule, 1, &config, path);
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
    if (o->report != NULL && (status = write_report(in, title, o->report, s)) != CLO_OK)
        code = complain_status(o->report, status);
    return code;
}

static int simulate_file(const char *path, const simulate_options *o)
{
    input in;
    simulated s = {.result = CLO_JOB_RESULT_INIT, .metrics = CLO_PLAN_METRICS_INIT, .prediction = CLO_PREDICTION_INIT};
    int code = input_open(&in, path, &o->input);

    if (code != EXIT_GOOD)
        return code;
    clo_status status = simulate(&in, o, &s);
    if (status != CLO_OK)
        code = complain_status(path, status);
    if (s.measured) {
        int printed = simulate_to_output(o) > 0 ? EXIT_GOOD
                      : o->as_json              ? print_json(&in, o, &s)
                                                : print_text(&in, o, &s);
        if (printed == EXIT_GOOD)
            printed = write_files(&in, o, &s);
        code = code != EXIT_GOOD ? code : printed;
    }
    clo_plan_destroy(s.happened);
    clo_trace_destroy(s.trace);
    input_close(&in);
    return code;
}

/* Options that speak of more than one job, or that only a whole workload has. */
static bool has_stream_options(const simulate_options *o)
{
    return o->jobs > 0 || o->arrivals != NULL || o->seeds != NULL || o->log != NULL || o->replay != NULL ||
           o->csv != NULL || o->live > 0 || o->skips_misfits || o->steps_max > 0 || o->environment != NULL;
}

static int check_comparison(const simulate_options *o)
{
    if (o->planner != NULL || o->replay != NULL || o->log != NULL || o->trace != NULL || o->report != NULL ||
        o->input.profile != NULL || o->releases_in_flight > 0 || o->input.instance != NULL)
        return misuse(
            "several policies are compared: leave --planner, --replay, --log, --trace, --report, --profile, --instance "
            "and --releases-in-flight out; --csv has a row for each run, --svg draws the ratios");
    if (o->svg != NULL && o->gantt != NULL)
        return misuse("of several policies --gantt draws what --svg draws; leave one out");
    return EXIT_GOOD;
}

static int check_output(const simulate_options *o)
{
    int wanted = o->as_json + simulate_to_output(o);

    if (o->as_json && wanted > 1)
        return misuse("--json and '-' both want standard output; name a file");
    return wanted > 1 ? misuse("two files want standard output; name one") : EXIT_GOOD;
}

static int check_files(const simulate_options *o)
{
    if (o->policies.count > 1)
        return check_comparison(o);
    if (o->baseline != NULL || o->svg != NULL)
        return misuse("--baseline and --svg are of several policies; add --policy NAME, or leave them out");
    if (o->seeds != NULL &&
        (o->log != NULL || o->csv != NULL || o->gantt != NULL || o->report != NULL || o->replay != NULL))
        return misuse(
            "--log, --csv, --gantt, --report and --replay are of one run; write --seed N in place of --seeds");
    if (o->replay != NULL && (o->jobs > 0 || o->arrivals != NULL || o->log != NULL || o->csv != NULL ||
                              o->gantt != NULL || o->report != NULL))
        return misuse("--replay takes jobs and arrivals from the log and writes no files; leave the other options out");
    return EXIT_GOOD;
}

static int check_options(const simulate_options *o)
{
    int code = simulate_flight_check(o);

    if (code == EXIT_GOOD)
        code = check_output(o);
    if (code != EXIT_GOOD || o->releases_in_flight > 0)
        return code;
    if (o->planner != NULL &&
        (o->policy != NULL || o->replay != NULL || o->jobs > 0 || o->arrivals != NULL || o->seeds != NULL ||
         o->csv != NULL || o->gantt != NULL || o->report != NULL || o->trace != NULL || o->skips_misfits))
        return misuse("--planner plans the jobs of the file; it goes with --platform, --scale, --log and --json only");
    if (o->planner != NULL && o->input.profile != NULL)
        return misuse("--planner takes the times of the file: leave --profile out");
    if (o->seeds != NULL && o->seed != 0)
        return misuse("--seeds names the seeds of all runs; leave --seed out");
    if (o->samples > 0 && (o->input.profile == NULL || o->planner != NULL))
        return misuse("--samples needs --profile F and a policy: durations are drawn as they were measured");
    if (o->samples > SAMPLES_MAX)
        return misuse("--samples is %llu; write a number from 1 to %d", (unsigned long long)o->samples, SAMPLES_MAX);
    code = known_environment(o->environment);
    return code == EXIT_GOOD ? check_files(o) : code;
}

/* A graph, or a whole workload. */
static int simulate_path(const char *path, const simulate_options *o)
{
    const clo_policy *policy;
    const char *text;
    void *argument = NULL;
    bool is_stream = has_stream_options(o);

    if (o->policies.count > 1)
        return simulate_compare(path, o);
    if (is_stream && o->input.instance != NULL)
        return misuse("--instance takes one graph: leave --jobs, --arrivals, --seeds, --log, --replay and --csv out");
    if (o->input.instance != NULL && names_workload(path))
        return complain(path, "this is a workload, and --instance takes one graph of a file; leave it out");
    if (o->policy != NULL) {
        int code = policy_open(o->policy, &policy, &text, &argument);
        policy_close(policy, argument);
        if (code != EXIT_GOOD)
            return code;
        is_stream = is_stream || text != NULL;
    }
    is_stream = is_stream || (o->input.instance == NULL && is_workload_file(path));
    if (is_stream && o->input.profile != NULL)
        return misuse("--profile predicts one graph that runs once: leave --jobs, --arrivals, --seeds, --live, "
                      "--environment, --steps-max, --log, --replay, --csv and the policy's argument out");
    if (is_stream && o->trace != NULL)
        return misuse("--trace is of one graph; see 'clotho simulate --help'");
    return is_stream ? simulate_workload(path, o) : simulate_file(path, o);
}

static int simulate_operand(const char *path, const simulate_options *o)
{
    if (o->releases_in_flight > 0 && names_workload(path))
        return complain(path,
                        "this is a workload, and --releases-in-flight runs one graph; name a graph, or leave it out");
    if (o->releases_in_flight > 0)
        return simulate_flight(path, o);
    return o->planner != NULL ? simulate_planner(path, o) : simulate_path(path, o);
}

static const command cmd = {
    "simulate",
    "WORKLOAD",
    1,
    1,
    "Runs the jobs of a workload in virtual time; one scheduler with a policy decides for all. Engine and "
    "policies\n"
    "are those of 'clotho run'; no body is called. A graph is a workload of one job. '-': standard input.",
    "The completion time (jct) of a job is its end minus its arrival. The stream checker, which shares no code "
    "with\n"
    "the engine, judges the log of every run that is short enough or written. --replay repeats the run of a log:\n"
    "a simulated one, or one of 'clotho run --log'. It exits 1 at the first record that differs.\n"
    "Example: clotho simulate tpch_2g.jsonl --jobs 1000 --arrivals poisson:25 --platform uniform:50"};

int cmd_simulate(int argc, char **argv)
{
    simulate_options o = {.input.scale = 1};
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &o.input.spec, "as in 'clotho plan'"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o.input.instance,
         "take only the instance of this name, from a file with many"},
        {"policy", 0, "NAME[:ARG]", OPTION_LIST, &o.policies,
         "the policy (auto), with its argument; see 'clotho list policies'. Several: all with the same seeds, in one "
         "table with their ratios, run by run, and intervals; Ctrl-C ends it with the runs that are done"},
        {"planner", 0, "NAME", OPTION_TEXT, &o.planner,
         "in place of a policy: plan all jobs for weighted completion time (synchpack-1, -2, -3, psrs, "
         "tetris-weighted, jsq-maxweight)"},
        {"jobs", 0, "N", OPTION_COUNT, &o.jobs,
         "simulate N jobs, drawn at random from the file's; with a trace, in its order (the file's, each once)"},
        {"arrivals", 0, ARRIVALS_ARGUMENT, OPTION_TEXT, &o.arrivals, ARRIVALS_HELP " (default)"},
        {"strict", 0, NULL, OPTION_FLAG, &o.input.strict, INPUT_STRICT_HELP},
        {"scale", 0, "X", OPTION_FACTOR, &o.input.scale, "multiply times and bytes by X"},
        {"seed", 0, "N", OPTION_U64, &o.seed, "fix every random choice (0)"},
        {"baseline", 0, "NAME", OPTION_TEXT, &o.baseline,
         "of several policies, the one that the others are compared with (the first), written as in --policy"},
        {"seeds", 0, "A-B", OPTION_TEXT, &o.seeds, "one run for each seed, in parallel; one line or object for each"},
        {"environment", 0, "NAME", OPTION_TEXT, &o.environment,
         "draw the times: decima, decima:faithful, decima:moving=500ms; see docs/ENVIRONMENTS.md (the costs give "
         "them)"},
        {"live", 0, "N", OPTION_COUNT, &o.live, "refuse jobs that arrive while N jobs live (no limit)"},
        {"skip-misfits", 0, NULL, OPTION_FLAG, &o.skips_misfits,
         "refuse jobs that fit nowhere on the platform, and simulate the others"},
        {"steps-max", 0, "N", OPTION_COUNT, &o.steps_max, "bound of the steps of a decision"},
        {"releases-in-flight", 0, "N", OPTION_COUNT, &o.releases_in_flight,
         "in place of a policy: a series of releases of one graph, up to N at once"},
        {"releases", 0, "N", OPTION_COUNT, &o.releases, "with --releases-in-flight: releases in all (1000)"},
        {"period", 0, "TIME", OPTION_TIME, &o.period_ns,
         "with --releases-in-flight: release k is due after k times this; 500, 20us, 3ms, 1s"},
        {"deadline", 0, "TIME", OPTION_TIME, &o.deadline_ns,
         "with --period: releases that take longer (than the period) are counted; with this option the exit status "
         "is 1 then"},
        {"profile", 0, "F.json", OPTION_INPUT, &o.input.profile,
         INPUT_PROFILE_HELP ", and predict a range; one graph only"},
        {"foreign", 0, NULL, OPTION_FLAG, &o.input.foreign, INPUT_FOREIGN_HELP},
        {"samples", 0, "N", OPTION_U64, &o.samples,
         "with --profile: predict from so many simulations with drawn durations (200)"},
        {"log", 0, "F", OPTION_OUTPUT, &o.log, "write the log of inputs and decisions (clotho.log/1)"},
        {"replay", 0, "LOG", OPTION_INPUT, &o.replay,
         "repeat the run of this log, simulated or real, and compare each record"},
        {"csv", 0, "F.csv", OPTION_OUTPUT, &o.csv, "write a row for each job; of several policies, for each run"},
        {"svg", 0, "F.svg", OPTION_OUTPUT, &o.svg, "of several policies: draw the ratios"},
        {"trace", 0, "F.json", OPTION_OUTPUT, &o.trace, "write a Chrome / Perfetto trace (one graph only)"},
        {"gantt", 'g', "F.svg", OPTION_OUTPUT, &o.gantt, "draw what happened; of several policies, as --svg"},
        {"report", 0, "F.html", OPTION_OUTPUT, &o.report, "write a page with a chart and tables of what happened"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print one JSON object (--seeds: one for each) on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    o.policy = o.policies.count > 0 ? o.policies.items[0] : NULL;
    code = check_options(&o);
    if (o.policy == NULL && o.planner == NULL && o.replay == NULL && o.releases_in_flight == 0)
        o.policy = "auto";
    return code != EXIT_GOOD ? code : simulate_operand(operands[0], &o);
}
