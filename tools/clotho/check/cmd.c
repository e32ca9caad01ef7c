/* cmd.c - `clotho check GRAPH PLAN`: the independent checkers, on a plan file and on the log of a run; and
 * the admission test of a workload. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/check/admission.h"
#include "clotho/check/log.h"
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/plan_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct verdict {
    bool valid;
    const char
        *violation; /* the checker's text; NULL if valid. Of the thread's last error: use before the next failure */
    clo_plan_metrics metrics;
} verdict;

static int print_json(const input *in, const char *plan_path, const clo_plan *plan, const verdict *v)
{
    json out;

    json_begin(&out);
    json_text(&out, "graph", clo_graph_name(clo_document_graph(in->document)));
    json_text(&out, "plan", plan_path);
    json_text(&out, "platform", clo_platform_name(in->platform));
    json_text(&out, "planner", clo_plan_planner(plan));
    json_bool(&out, "valid", v->valid);
    json_text(&out, "violation", v->violation);
    json_real(&out, "makespan", (double)clo_plan_makespan_ns(plan) / clo_document_unit_ns(in->document));
    json_integer(&out, "makespan_ns", clo_plan_makespan_ns(plan));
    if (v->valid) {
        json_integer(&out, "lower_bound_ns", v->metrics.lower_bound_ns);
        json_real(&out, "gap", v->metrics.gap);
        json_count(&out, "duplicates", v->metrics.duplicates);
    }
    return json_print(&out);
}

static int check(const input *in, const char *plan_path, int mode, bool as_json)
{
    clo_plan *plan;
    clo_status status = clo_plan_load(plan_path, in->cost, &plan);
    verdict v = {.metrics = CLO_PLAN_METRICS_INIT};
    int code = EXIT_GOOD;

    if (status != CLO_OK)
        return plan_file_complain(plan_path, in, status);
    status = clo_plan_check(plan, in->cost, mode);
    v.valid = status == CLO_OK;
    if (v.valid)
        status = clo_plan_measure(plan, in->cost, &v.metrics);
    if (status != CLO_OK && status != CLO_ERR_INVALID) {
        code = complain_status(plan_path, status);
    } else {
        if (!v.valid)
            v.violation = clo_last_error();
        if (as_json)
            code = print_json(in, plan_path, plan, &v);
        else if (v.valid)
            printf("%s: valid; makespan %s, lower bound %s, gap %s, %u replicas\n", show_name(plan_path),
                   show_ns(v.metrics.makespan_ns), show_ns(v.metrics.lower_bound_ns), show_percent(v.metrics.gap),
                   v.metrics.duplicates);
        if (!v.valid)
            code = plan_file_complain(plan_path, in, status);
    }
    clo_plan_destroy(plan);
    return code;
}

static const command cmd = {
    "check",
    "GRAPH PLAN | WORKLOAD LOG | WORKLOAD --admission",
    1,
    2,
    "Checks a plan file with a checker that shares no code with the planners. It checks that every task has a\n"
    "place where it can run, that nothing overlaps, that inputs arrive in time and that capacities are kept.\n"
    "Exit status 1 if the plan is not valid.\n"
    "A LOG (recognised by content) is judged likewise across all jobs of its run: arrivals, bands, limits and\n"
    "cancellations too. Its platform is --platform, else the one that the log names.\n"
    "--admission asks, before anything runs, whether the periodic jobs of a WORKLOAD meet their deadlines under\n"
    "--policy (edf, or any other greedy one): admitted, refused or unknown, with a bound of the response time of each.",
    "Admitted holds for virtual time: no body takes longer than in the cost model, --overhead included. Bodies are "
    "not\n"
    "preempted, so one of a lower band blocks each executor at most once each time that a job waits. Exit status 1\n"
    "unless all jobs are admitted.\n"
    "Example: clotho check pipeline.jsonl --admission --policy edf --platform uniform:2 --overhead 20us"};

/* The plan or the log, before the first file is read: what is wrong with it is not the first one's fault. */
static int check_second(const char *path)
{
    struct stat about;

    if (strcmp(path, "-") == 0)
        return EXIT_GOOD;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        return complain(path, "%s; give a plan or a log", strerror(errno));
    return S_ISDIR(about.st_mode) ? complain(path, "Is a directory; give a plan or a log") : EXIT_GOOD;
}

int cmd_check(int argc, char **argv)
{
    input_config config = {.scale = 1};
    bool measured = false, as_json = false, is_admission = false;
    admission_options admission = {.input = &config};
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &config.spec, "as in 'clotho plan'"},
        {"strict", 0, NULL, OPTION_FLAG, &config.strict, INPUT_STRICT_HELP},
        {"scale", 0, "X", OPTION_FACTOR, &config.scale, "multiply times and bytes of the graph by X first"},
        {"instance", 'i', "NAME", OPTION_TEXT, &config.instance,
         "take only the instance of this name, from a file with many"},
        {"profile", 0, "F.json", OPTION_INPUT, &config.profile, INPUT_PROFILE_HELP},
        {"foreign", 0, NULL, OPTION_FLAG, &config.foreign, INPUT_FOREIGN_HELP},
        {"measured", 0, NULL, OPTION_FLAG, &measured,
         "the times were measured: do not compare durations and transfers with the cost model"},
        {"admission", 0, NULL, OPTION_FLAG, &is_admission, "test whether the jobs of a workload meet their deadlines"},
        {"policy", 0, "NAME[:ARG]", OPTION_TEXT, &admission.policy, "with --admission: the policy (any greedy one)"},
        {"overhead", 0, "TIME", OPTION_TIME, &admission.overhead_ns, "with --admission: added to each instance (0)"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);
    input in;

    if (code != OPTIONS_GO_ON)
        return code;
    admission.as_json = as_json;
    if (is_admission && config.profile != NULL)
        return misuse("--profile is of graphs; the admission test takes the times of its WORKLOAD");
    if (is_admission && count != 1)
        return misuse("--admission takes one WORKLOAD; leave '%s' out", operands[1]);
    if (is_admission)
        return check_admission(operands[0], &admission);
    if (admission.policy != NULL || admission.overhead_ns > 0)
        return misuse("--policy and --overhead are of the admission test; add --admission");
    if (count < 2)
        return misuse("'check' needs GRAPH PLAN, WORKLOAD LOG or WORKLOAD --admission; see 'clotho check --help'");
    code = check_second(operands[1]);
    if (code != EXIT_GOOD)
        return code;
    if (is_empty_file(operands[1]))
        return complain(operands[1], "the file is empty; give a plan or a log");
    if (is_log_file(operands[1]) && config.profile != NULL)
        return misuse("--profile is of graphs; a LOG has the times of its WORKLOAD");
    if (is_log_file(operands[1]))
        return check_log(operands[0], operands[1], &config, as_json);
    code = input_open(&in, operands[0], &config);
    if (code != EXIT_GOOD)
        return code;
    code = check(&in, operands[1], measured ? CLO_CHECK_MEASURED : CLO_CHECK_FULL, as_json);
    input_close(&in);
    return code;
}
