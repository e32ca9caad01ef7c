/* replay.c - `clotho simulate WORKLOAD --replay LOG`: the run of a log again, compared record by record. The header of
 * the log says what is repeated. A simulated run is simulated again, inputs and all. Of a real run nobody can compute
 * the times: the scheduler is told the inputs of the log (clo_stream_replay). */
#include "clotho/simulate/simulate.h"

#include "clotho/common/json.h"
#include "clotho/common/policy_option.h"
#include "clotho/simulate/hash.h"
#include "clotho/stream/stream_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 400, POLICY_BYTES = 512 };

typedef struct replay {
    simulate_options options; /* with what the log says in its place */
    clo_log *log;
    char policy[POLICY_BYTES]; /* of the log, with its argument */
} replay;

/* Inputs that a simulation of a workload does not make. */
static bool is_foreign(uint32_t what)
{
    return what == CLO_LOG_CANCEL || what == CLO_LOG_SWAP || what == CLO_LOG_CAPACITY;
}

static int check_log_can_be_replayed(const replay *r, const char *path)
{
    const clo_log_header *about = clo_log_about(r->log);
    size_t count;
    const clo_log_record *records = clo_log_records(r->log, &count);

    if (clo_log_dropped(r->log) > 0)
        return complain(path, "the log was full and dropped %llu records; it cannot be replayed",
                        (unsigned long long)clo_log_dropped(r->log));
    if (about->policies_count == 0)
        return complain(path, "the log names no policy; it cannot be replayed");
    if (about->clock != CLO_CLOCK_VIRTUAL && about->run != CLO_LOG_RUN_REAL)
        return complain(path, "the log is of a real run, but its header does not say so; it was changed");
    if (about->run == CLO_LOG_RUN_UNKNOWN)
        return complain(path, "the log does not say whether its run was simulated: an earlier version wrote it; write "
                              "it again");
    for (size_t i = 0; i < count && about->run == CLO_LOG_RUN_SIMULATED; i++)
        if (is_foreign(records[i].what))
            return complain(path, "record %zu is %s, which no simulation of a workload makes; it cannot be replayed", i,
                            clo_log_kind_name(records[i].what));
    return EXIT_GOOD;
}

/* The run of the log, but for what the command line says otherwise. */
static void take_header(replay *r)
{
    const clo_log_header *about = clo_log_about(r->log);
    const clo_log_policy *policy = &about->policies[0];
    simulate_options *o = &r->options;

    snprintf(r->policy, sizeof r->policy, "%s%s%s", policy->name, policy->argument != NULL ? ":" : "",
             policy->argument != NULL ? policy->argument : "");
    if (o->policy == NULL)
        o->policy = r->policy;
    if (o->input.spec == NULL)
        o->input.spec = about->platform;
    if (o->live == 0)
        o->live = about->jobs_max;
    if (o->steps_max == 0)
        o->steps_max = about->steps_max;
    if (o->input.scale == 1 && about->scale > 0)
        o->input.scale = about->scale;
    if (o->environment == NULL)
        o->environment = about->environment;
    o->arrivals = about->arrivals;
    o->seed = about->arrivals != NULL && about->environment == NULL ? about->arrivals_seed : about->seed;
}

/* How the arrivals were drawn, to the letter. */
static void take_arrivals(const replay *r, simulation *sim)
{
    const clo_log_header *about = clo_log_about(r->log);

    sim->draws = about->arrivals != NULL;
    sim->arrivals.jobs = about->jobs;
    sim->arrivals.shuffled = about->shuffled;
}

static int print_equal(const replay *r, const simulation *sim, uint64_t decisions)
{
    size_t count;
    json out;

    clo_log_records(r->log, &count);
    if (!r->options.as_json) {
        printf("equal: %zu records, %llu decisions\n", count, (unsigned long long)decisions);
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(sim->loaded));
    json_text(&out, "log", r->options.replay);
    json_text(&out, "policy", sim->policy_name);
    json_bool(&out, "equal", true);
    json_count(&out, "records", count);
    json_count(&out, "decisions", decisions);
    return json_print(&out);
}

/* The policy's name is in the sums: it may be all that differs. */
static bool is_sum(const clo_log *log, size_t at)
{
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);

    return at < count && records[at].what == CLO_LOG_SUM;
}

static int compare(const replay *r, const simulation *sim, const simulated_run *run)
{
    const char *path = r->options.replay;
    char text[TEXT_BYTES];

    if (run->log == NULL)
        return complain(path, "%s", run->error);
    size_t first = clo_log_first_difference(r->log, run->log, text, sizeof text);
    bool is_other = strcmp(r->options.policy, r->policy) != 0;
    if (first != CLO_LOG_EQUAL && !(is_other && is_sum(r->log, first)))
        return complain(path, "%sthe simulation (second) is another run than the log: %s",
                        is_other ? "--policy is another one than the log's; leave it out: " : "", text);
    if (run->status != CLO_OK)
        return complain(path, "%s", run->error);
    if (is_other)
        return complain(path, "the log is of the policy '%s', not '%s', though both decide the same here", r->policy,
                        r->options.policy);
    return print_equal(r, sim, run->result.decisions);
}

/* The policies of the log by name; the first is that of the command line, if that names one. */
typedef struct policy_list {
    clo_replay_policy policies[CLO_LOG_POLICIES_MAX];
    void *arguments[CLO_LOG_POLICIES_MAX]; /* owned */
    uint32_t count;
} policy_list;

static int open_policies(const replay *r, policy_list *list)
{
    const clo_log_header *about = clo_log_about(r->log);
    char name[POLICY_BYTES];
    const char *text;

    for (list->count = 0; list->count < about->policies_count; list->count++) {
        const clo_log_policy *policy = &about->policies[list->count];
        clo_replay_policy *mine = &list->policies[list->count];
        snprintf(name, sizeof name, "%s%s%s", policy->name, policy->argument != NULL ? ":" : "",
                 policy->argument != NULL ? policy->argument : "");
        if (policy_open(list->count == 0 ? r->options.policy : name, &mine->policy, &text,
                        &list->arguments[list->count]) != EXIT_GOOD)
            return EXIT_BAD_INPUT;
        mine->argument = list->arguments[list->count];
    }
    return EXIT_GOOD;
}

static int tell_inputs(const replay *r, const simulation *sim, const stream_case *jobs, const policy_list *policies)
{
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_result result = CLO_REPLAY_RESULT_INIT;
    const clo_cost **costs = calloc(jobs->jobs_count + 1, sizeof *costs);

    if (costs == NULL)
        return complain(r->options.replay, "out of memory");
    for (size_t i = 0; i < jobs->jobs_count; i++)
        costs[i] = jobs->jobs[i].cost;
    config.platform = sim->platform;
    config.costs = costs;
    config.costs_count = jobs->jobs_count;
    config.policies = policies->policies;
    config.policies_count = policies->count;
    clo_status status = clo_stream_replay(&config, r->log, &result);
    free(costs);
    if (status == CLO_OK)
        return print_equal(r, sim, result.decisions);
    if (status != CLO_ERR_INVALID || strcmp(r->options.policy, r->policy) == 0)
        return complain_status(r->options.replay, status);
    return complain(r->options.replay, "the log is of the policy '%s', not '%s': %s", r->policy, r->options.policy,
                    clo_last_error());
}

/* A real run: its inputs are those of the log. */
static int repeat(const replay *r, const simulation *sim)
{
    simulated_run run = {.seed = r->options.seed};
    policy_list *policies = calloc(1, sizeof *policies);
    stream_case jobs = {0};

    if (policies == NULL)
        return complain(sim->path, "out of memory");
    clo_status status = simulation_draw(sim, &run);
    if (status == CLO_OK)
        status = stream_case_open_fitting(&jobs, run.workload, sim->platform);
    int code = status == CLO_OK           ? open_policies(r, policies)
               : status == CLO_ERR_MEMORY ? complain(sim->path, "out of memory")
                                          : complain_status(sim->path, status);
    if (code == EXIT_GOOD)
        code = tell_inputs(r, sim, &jobs, policies);
    for (uint32_t p = 0; p < CLO_LOG_POLICIES_MAX; p++)
        policy_close(policies->policies[p].policy, policies->arguments[p]);
    free(policies);
    stream_case_close(&jobs);
    simulated_run_close(&run);
    return code;
}

static int replay_log(replay *r, const char *path)
{
    simulation sim = {.path = path, .options = &r->options, .keeps_log = true};
    simulated_run run = {.seed = r->options.seed};
    bool is_real = clo_log_about(r->log)->run == CLO_LOG_RUN_REAL;

    sim.drops_misfits = is_real; /* which refused them */
    int code = simulation_open(&sim);
    if (code == EXIT_GOOD)
        code = refuse_other_run(r->options.replay, r->log, sim.loaded, sim.platform, sim.spec);
    if (code == EXIT_GOOD)
        take_arrivals(r, &sim);
    if (code == EXIT_GOOD && is_real)
        code = repeat(r, &sim);
    if (code == EXIT_GOOD && !is_real) {
        simulation_run(&sim, &run);
        code = compare(r, &sim, &run);
        simulated_run_close(&run);
    }
    simulation_close(&sim);
    return code;
}

int simulate_replay(const char *path, const simulate_options *options)
{
    replay r = {.options = *options};
    clo_status status = clo_log_load(options->replay, &r.log);

    if (status != CLO_OK)
        return complain_status(options->replay, status);
    int code = check_log_can_be_replayed(&r, options->replay);
    if (code == EXIT_GOOD) {
        take_header(&r);
        code = replay_log(&r, path);
    }
    clo_log_destroy(r.log);
    return code == EXIT_BAD_USAGE && options->policy == NULL ? EXIT_BAD_INPUT : code;
}
