/* cmd.c - `clotho run GRAPH...|WORKLOAD`: execute on workers, predicted beside measured. A workload:
 * clotho/workload/workload.c. */
#include "clotho/common/commands.h"
#include "clotho/common/interrupt.h"
#include "clotho/common/options.h"
#include "clotho/common/policy_option.h"
#include "clotho/run/commands.h"
#include "clotho/run/hosts.h"
#include "clotho/run/releases.h"
#include "clotho/run/run.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/arrivals.h"
#include "clotho/workload/workload.h"

#include <clotho/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What happened beside what was expected of it. */
static clo_status write_report(const run_outcome *out, const clo_report_config *config)
{
    clo_report_schedule schedules[2] = {{.plan = out->happened, .trace = out->trace, .is_invalid = !out->valid}};
    const clo_plan *expected = out->plan != NULL ? out->plan : out->expected;

    schedules[1].plan = expected;
    bool is_predicted = expected != NULL && out->predicted_ns > 0; /* else its times are none that anybody knows */
    return clo_report_plans(out->in->cost, schedules, is_predicted ? 2 : 1, config, out->options->report);
}

static int write_files(const run_outcome *out)
{
    const run_options *o = out->options;
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    char title[512];
    clo_status status;
    int code = EXIT_GOOD;

    snprintf(title, sizeof title, "%s on %s, %s%s", clo_graph_name(clo_document_graph(out->in->document)),
             clo_platform_name(out->in->platform), run_dispatch(o), o->clock != CLO_CLOCK_REAL ? ", emulated" : "");
    config.title = title;
    config.deadline_ns = o->deadline_ns;
    config.failed = &out->last.failed_task;
    config.failed_count = out->last.status == CLO_ERR_TASK && out->last.failed_task != CLO_NONE;
    if (out->runs > 1 && config.failed_count == 0)
        config.note = "The run with the median time of several.";
    if (o->trace != NULL && (status = clo_trace_write_chrome(out->trace, out->in->cost, title, o->trace)) != CLO_OK)
        code = complain_status(o->trace, status);
    if (o->gantt != NULL && (status = clo_report_svg(out->in->cost, out->happened, &config, o->gantt)) != CLO_OK)
        code = complain_status(o->gantt, status);
    if (o->report != NULL && (status = write_report(out, &config)) != CLO_OK)
        code = complain_status(o->report, status);
    return code;
}

static int run_file(const char *path, const run_options *o, bool again)
{
    input in;
    run_outcome out;
    int code = input_open(&in, path, &o->input);

    if (code != EXIT_GOOD)
        return code;
    if (again && !o->as_json)
        printf("\n");
    if (o->releases_in_flight > 0) {
        code = run_flight(&in, o);
        input_close(&in);
        return code;
    }
    run_commands *commands;
    code = commands_open(&in, o, &commands);
    if (code == EXIT_GOOD && commands == NULL && (o->is_dry || o->failures != 1))
        code = complain(in.place, "has no commands, for which --dry-run and --keep-going are; leave them out");
    if (code != EXIT_GOOD || o->is_dry) {
        code = code == EXIT_GOOD ? run_dry(&in, o, commands) : code;
        input_close(&in);
        commands_close(commands);
        return code;
    }
    code = run_execute(&in, o, commands, &out);
    int printed = !out.reportable || run_to_output(o) > 0 ? EXIT_GOOD
                  : o->as_json                            ? run_print_json(&out)
                                                          : run_print_text(&out);
    if (out.reportable && out.happened != NULL && printed == EXIT_GOOD)
        printed = write_files(&out);
    if (out.reportable && code == EXIT_GOOD && printed == EXIT_GOOD)
        code = run_check_deadline(&out);
    if (out.is_cut)
        code = EXIT_BAD_INPUT;
    run_close(&out);
    input_close(&in);
    commands_close(commands);
    return code != EXIT_GOOD ? code : printed;
}

/* The worst exit code of all. */
static int run_files(char **paths, int count, const run_options *o)
{
    int code = EXIT_GOOD, i;

    for (i = 0; i < count && !is_interrupted(); i++) {
        int one = run_file(paths[i], o, i > 0);
        code = one > code ? one : code;
    }
    if (i == count)
        return code;
    warn("interrupted: %d of %d graphs were not run", count - i, count);
    return code == EXIT_GOOD ? EXIT_BAD_INPUT : code;
}

static int read_clock(run_options *o)
{
    static const struct {
        const char *name;
        clo_clock clock;
    } clocks[] = {{"real", CLO_CLOCK_REAL}, {"padded", CLO_CLOCK_PADDED}, {"virtual", CLO_CLOCK_VIRTUAL}};

    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        if (strcmp(o->clock_name, clocks[i].name) == 0) {
            o->clock = clocks[i].clock;
            return EXIT_GOOD;
        }
    return misuse("--clock is '%s'; write real, padded or virtual", o->clock_name);
}

static int read_dispatch(run_options *o)
{
    if (o->plan != NULL && (o->planner != NULL || o->policy != NULL))
        return misuse("--plan replays the plan of a file; leave --planner and --policy out");
    if (o->planner != NULL && o->policy != NULL)
        return misuse("--planner and --policy exclude each other; a plan is replayed, a policy decides during the run");
    if (o->policy != NULL) {
        const clo_policy *policy;
        const char *text;
        void *argument;
        int code = policy_open(o->policy, &policy, &text, &argument);
        if (code == EXIT_GOOD)
            policy_close(policy, argument);
        return code;
    }
    if (o->plan != NULL)
        return EXIT_GOOD;
    o->names_planner = o->planner != NULL;
    if (o->planner == NULL)
        o->planner = "heft";
    if (strcmp(o->planner, "steal") == 0) /* what everybody tries first */
        return misuse("work stealing needs no plan; write --policy steal");
    return known_planner(&o->planner);
}

int run_check_body(const run_options *o)
{
    if (o->input.body == NULL || strcmp(o->input.body, "spin") == 0 || strcmp(o->input.body, "memory") == 0 ||
        strcmp(o->input.body, "command") == 0)
        return EXIT_GOOD;
    return misuse("--body is '%s'; write spin, memory or command", o->input.body);
}

int run_read_slots(run_options *o)
{
    if (o->at_once == UINT32_MAX)
        return EXIT_GOOD;
    if (o->at_once == 0 || o->at_once > CLO_EXECUTORS_MAX)
        return misuse("-j is %u; write a number from 1 to %u", o->at_once, CLO_EXECUTORS_MAX);
    if (o->input.spec != NULL)
        return misuse("-j %u is --platform slots:%u; leave one of them out", o->at_once, o->at_once);
    snprintf(o->slots, sizeof o->slots, "slots:%u", o->at_once);
    o->input.spec = o->slots;
    return EXIT_GOOD;
}

/* Of graphs whose tasks are commands, and of plan files. */
static int check_commands(run_options *o, int graphs)
{
    if (o->plan != NULL && (graphs > 1 || o->releases_in_flight > 0))
        return misuse("--plan is of one GRAPH and of one run of it at a time; leave the rest out");
    if (o->is_dry && o->as_json)
        return misuse("--dry-run prints commands; leave --json out");
    if (o->releases_in_flight > 0 && (o->is_dry || o->failures != 1))
        return misuse("--releases-in-flight goes with neither --dry-run nor --keep-going; leave one out");
    return run_read_slots(o);
}

static int check_outputs(const run_options *o)
{
    int wanted = o->as_json + run_to_output(o);

    if (o->as_json && wanted > 1)
        return misuse("--json and '-' both want standard output; name a file");
    return wanted > 1 ? misuse("two files want standard output; name one") : EXIT_GOOD;
}

static int check_options(run_options *o, int graphs)
{
    int code = read_clock(o);

    if (code == EXIT_GOOD)
        code = check_commands(o, graphs);
    if (code == EXIT_GOOD)
        code = run_flight_check(o);
    if (code == EXIT_GOOD)
        code = read_dispatch(o);
    if (code == EXIT_GOOD)
        code = run_check_body(o);
    if (code != EXIT_GOOD)
        return code;
    if (o->engine != NULL)
        return misuse("--engine is for runs on several machines; add --hosts F.json");
    if (o->dilate == 0 || o->dilate > CLO_DILATE_MAX)
        return misuse("--dilate is %u; write 1 to %u", o->dilate, CLO_DILATE_MAX);
    if (o->learn != NULL && (o->clock != CLO_CLOCK_REAL || o->releases_in_flight > 0))
        return misuse("--learn measures real runs, one at a time; leave --clock and --releases-in-flight out");
    if (o->dilate > 1 && o->clock != CLO_CLOCK_PADDED)
        return misuse("--dilate stretches the padded clock; add --clock padded");
    if (o->repeat == 0 || o->repeat > RUN_REPEAT_MAX)
        return misuse("--repeat is %u; write 1 to %u", o->repeat, RUN_REPEAT_MAX);
    if (graphs > 1 && (o->trace != NULL || o->gantt != NULL || o->report != NULL))
        return misuse("--trace, --gantt and --report take one GRAPH; run the command once for each");
    return check_outputs(o);
}

/* Options that speak of more than one job, or that only a whole workload has. */
static bool has_stream_options(const run_options *o)
{
    return o->jobs > 0 || o->arrivals != NULL || o->csv != NULL || o->log != NULL || o->live > 0 || o->steps_max > 0;
}

/* A graph by its name, and several files, are graphs. So is standard input, unless an option says otherwise. */
static bool is_stream(const run_options *o, int count, const char *path)
{
    if (count > 1 || o->input.instance != NULL)
        return false;
    if (has_stream_options(o) || names_workload(path))
        return true;
    return o->policy != NULL && !is_read_once(path) && is_workload_file(path);
}

static int check_stream(const run_options *o)
{
    if (o->plan != NULL || o->is_dry || o->failures != 1 || o->at_once != UINT32_MAX)
        return misuse("--plan, --dry-run, --keep-going and -j are of graphs; see 'clotho run --help'");
    if (o->policy == NULL && o->names_planner)
        return misuse(
            "--planner is of graphs; a policy decides for the jobs of a workload: write --policy NAME (auto)");
    if (o->clock == CLO_CLOCK_VIRTUAL && o->live > 0)
        return misuse(
            "--live bounds the jobs at once in real time; with --clock virtual all of them exist, leave it out");
    if (o->releases_in_flight > 0 || o->period_ns > 0)
        return misuse("--releases-in-flight and --period are of graphs; jobs of a workload have releases of their own");
    if (o->repeat > 1)
        return misuse("--repeat is of graphs; a workload runs once (--jobs N makes it longer)");
    if (o->deadline_ns > 0)
        return misuse("--deadline is of graphs; jobs of a workload have deadlines of their own");
    if (o->trace != NULL)
        return misuse("--trace is of graphs; see 'clotho run --help'");
    if (o->learn != NULL || o->input.profile != NULL)
        return misuse("--learn and --profile are of graphs; see 'clotho run --help'");
    return check_outputs(o);
}

static const command cmd = {
    "run",
    "GRAPH...|WORKLOAD",
    1,
    1 << 20,
    "Executes each graph with one worker per executor and prints predicted beside measured times. Workers replay\n"
    "a plan (--planner), or a policy decides during the run (--policy); 'steal' is work stealing. The jobs of a\n"
    "workload arrive over time, and a policy (auto) decides for all of them.",
    "Clocks: real runs at the speed of this machine. padded makes each worker as slow as its executor. virtual\n"
    "computes the time from the cost model. The last two are labelled 'emulated'. With more executors than CPUs,\n"
    "padded workers disturb each other; --dilate 50 stretches time 50 times, and workers sleep.\n"
    "The independent checker checks what happened. The simulator replays it; every decision must be equal.\n"
    "A workload is a clotho.workload/1 or CSV file, with --policy any file that 'clotho simulate' reads; it has the\n"
    "same --jobs, --arrivals and --seed. Its jobs count from their arrival, also where they wait for room (--live).\n"
    "Ctrl-C cancels what lives and prints the rest.\n"
    "With --clock virtual its jobs end when 'clotho simulate' says, and the bodies run on workers.\n"
    "With --repeat Ctrl-C ends after the run in progress; a series of releases ends with those that are done.\n"
    "A graph of commands (\"command\" of docs/FORMATS.md) prints a line for each that has ended, with what it said.\n"
    "Where commands make files of files, 'clotho build' with a build.ninja runs only what is out of date.\n"
    "Example: clotho run steps.json -j 4 -k 0\n"
    "Example: clotho run montage.json --scale 0.001 --planner deft --gantt out.svg\n"
    "Example: clotho run stream.jsonl --jobs 1000 --arrivals poisson:2ms --csv jobs.csv"};

static int run_operands(char **operands, int count, const run_options *o)
{
    if (is_stream(o, count, operands[0])) {
        run_options stream = *o;
        int code = check_stream(o);
        stream.policy = o->policy != NULL ? o->policy : "auto";
        return code == EXIT_GOOD ? run_workload(operands[0], &stream) : code;
    }
    if (has_stream_options(o))
        return misuse(
            "--jobs, --arrivals, --live, --steps-max, --log and --csv are of one workload; see 'clotho run --help'");
    return run_files(operands, count, o);
}

int cmd_run(int argc, char **argv)
{
    run_options o = {
        .clock_name = "real", .repeat = 1, .dilate = 1, .input.scale = 1, .failures = 1, .at_once = UINT32_MAX};
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &o.input.spec, "as in 'clotho plan'"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o.input.instance, "take only this instance of a file with many"},
        {"planner", 0, "NAME", OPTION_TEXT, &o.planner, "replay the plan of this planner (heft); ./FILE.so: your own"},
        {"plan", 0, "F.json", OPTION_INPUT, &o.plan, "replay the plan that 'clotho plan --out' has written"},
        {"policy", 0, "NAME[:ARG]", OPTION_TEXT, &o.policy,
         "steal, or a policy of 'clotho list policies', with its argument; a workload's default is auto"},
        {"parallel", 'j', "N", OPTION_U32, &o.at_once, "commands: N at once, on N slots (as --platform slots:N)"},
        {"keep-going", 'k', "N", OPTION_U32, &o.failures, "commands: go on until N have failed (1); 0: to the end"},
        {"dry-run", 'n', NULL, OPTION_FLAG, &o.is_dry,
         "commands: print them in an order that would run, and run none; with --hosts -n N is --repeat N"},
        {"jobs", 0, "N", OPTION_COUNT, &o.jobs, "workload: run N jobs, as in 'clotho simulate'"},
        {"arrivals", 0, ARRIVALS_ARGUMENT, OPTION_TEXT, &o.arrivals, ARRIVALS_HELP " (default)"},
        {"live", 0, "N", OPTION_COUNT, &o.live, "workload: at most N jobs at once, later ones wait for room (4096)"},
        {"steps-max", 0, "N", OPTION_COUNT, &o.steps_max, "workload: bound of the steps of a decision"},
        {"log", 0, "F", OPTION_OUTPUT, &o.log, "workload: write the log of inputs and decisions (clotho.log/1)"},
        {"csv", 0, "F.csv", OPTION_OUTPUT, &o.csv, "workload: write a row for each job"},
        {"clock", 0, "KIND", OPTION_TEXT, &o.clock_name, "real (default), padded or virtual"},
        {"profile", 0, "F.json", OPTION_INPUT, &o.input.profile, INPUT_PROFILE_HELP},
        {"foreign", 0, NULL, OPTION_FLAG, &o.input.foreign, INPUT_FOREIGN_HELP},
        {"learn", 0, "F.json", OPTION_OUTPUT, &o.learn, "merge what the tasks take into this profile; it may be new"},
        {"strict", 0, NULL, OPTION_FLAG, &o.input.strict, INPUT_STRICT_HELP},
        {"dilate", 0, "N", OPTION_U32, &o.dilate, "with --clock padded: stretch time N times, but no reported time"},
        {"scale", 0, "X", OPTION_FACTOR, &o.input.scale, "multiply times and bytes by X"},
        {"repeat", 0, "N", OPTION_U32, &o.repeat, "run N times and print the median"},
        {"body", 0, "NAME", OPTION_TEXT, &o.input.body, "of tasks that name none: spin (default), memory or command"},
        {"releases-in-flight", 0, "N", OPTION_COUNT, &o.releases_in_flight, "a series of releases, up to N at once"},
        {"releases", 0, "N", OPTION_COUNT, &o.releases, "with --releases-in-flight: releases in all (1000)"},
        {"traced-releases", 0, "N", OPTION_COUNT, &o.traced_releases,
         "with --releases-in-flight and --trace or --report: the last N (100); all of them are checked, too"},
        {"late-releases", 0, "N", OPTION_COUNT, &o.late_releases, "likewise: and N that missed their deadline (100)"},
        {"period", 0, "TIME", OPTION_TIME, &o.period_ns,
         "with --releases-in-flight: release k is due after k times this; 500, 20us, 3ms, 1s"},
        {"deadline", 0, "TIME", OPTION_TIME, &o.deadline_ns, "count longer runs: exit status 1; 500, 20us, 3ms, 1s"},
        {"trace", 0, "F.json", OPTION_OUTPUT, &o.trace, "write a Chrome / Perfetto trace: the median run, or releases"},
        {"gantt", 'g', "F.svg", OPTION_OUTPUT, &o.gantt, "draw the run (of several, that with the median time)"},
        {"report", 0, "F.html", OPTION_OUTPUT, &o.report, "write a page: chart and tables, beside the prediction"},
        {"fifo", 0, "PRIORITY", OPTION_FIFO, &o.fifo, "run the workers with SCHED_FIFO at this priority, 1 to 98"},
        {"unpinned", 0, NULL, OPTION_FLAG, &o.unpinned, "do not pin workers to CPUs"},
        {"copy", 0, NULL, OPTION_FLAG, &o.copy_always, "copy between memories even if they are coherent"},
        {"memory-limit", 0, "MIB", OPTION_U64, &o.memory_limit_mib,
         "limit of the memory for outputs and their copies (3/4 of this machine's)"},
        {"no-replay-check", 0, NULL, OPTION_FLAG, &o.no_replay_check, "do not replay the run in the simulator"},
        {"seed", 0, "N", OPTION_U64, &o.seed, "fix every random choice (0)"},
        {"hosts", 0, "F.json", OPTION_INPUT, &o.hosts,
         "run on the machines of a cluster file, as a rank under mpirun or srun; other options: clotho-mpi --help"},
        {"engine", 0, "NAME", OPTION_TEXT, &o.engine, "with --hosts: openmpi or mpich (as the launcher is)"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print one JSON object per line on standard output"}};
    char **operands;

    if (run_has_hosts(argc, argv))
        return run_hosts(argc, argv);
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&o, count);
    return code == EXIT_GOOD ? run_operands(operands, count, &o) : code;
}
