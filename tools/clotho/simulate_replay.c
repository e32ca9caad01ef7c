/* simulate_replay.c - see simulate_replay.h. The header of the log says what is simulated again; what it does not say
 * (--live, --steps-max) is given on the command line as for the run. */
#include "simulate_replay.h"

#include "json.h"

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
    if (about->clock != CLO_CLOCK_VIRTUAL)
        return complain(path,
                        "the log is of a real run, whose times no simulation gives; judge it with 'clotho check'");
    if (about->policies_count == 0)
        return complain(path, "the log names no policy; it cannot be replayed");
    for (size_t i = 0; i < count; i++)
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

static int check_same(const replay *r, const simulation *sim)
{
    const clo_log_header *about = clo_log_about(r->log);
    const char *path = r->options.replay;

    if (about->executors != 0 && about->executors != clo_platform_executors(sim->platform))
        return complain(path,
                        "the log is of a platform with %u executors, this one has %u; name the platform of the run",
                        about->executors, clo_platform_executors(sim->platform));
    if (about->platform_hash != 0 && about->platform_hash != sim->platform_hash)
        return complain(path, "the log is of another platform than '%s'; name that of the run", sim->spec);
    if (about->workload_hash != 0 && about->workload_hash != sim->workload_hash)
        return complain(path, "the log is of another workload; name that of the run%s%.200s",
                        about->workload != NULL ? ", " : "", about->workload != NULL ? about->workload : "");
    return EXIT_GOOD;
}

static int print_equal(const replay *r, const simulation *sim, const simulated_run *run)
{
    size_t count;
    json out;

    clo_log_records(run->log, &count);
    if (!r->options.as_json) {
        printf("equal: %zu records, %llu decisions\n", count, (unsigned long long)run->result.decisions);
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(sim->loaded));
    json_text(&out, "log", r->options.replay);
    json_text(&out, "policy", sim->policy_name);
    json_bool(&out, "equal", true);
    json_count(&out, "records", count);
    json_count(&out, "decisions", run->result.decisions);
    return json_print(&out);
}

static int compare(const replay *r, const simulation *sim, const simulated_run *run)
{
    const char *path = r->options.replay;
    char text[TEXT_BYTES];

    if (run->log == NULL)
        return complain(path, "%s", run->error);
    size_t first = clo_log_first_difference(r->log, run->log, text, sizeof text);
    if (first != CLO_LOG_EQUAL)
        return complain(path, "the simulation (second) is another run than the log: %s", text);
    if (run->status != CLO_OK)
        return complain(path, "%s", run->error);
    if (strcmp(r->options.policy, r->policy) != 0)
        return complain(path, "the log is of the policy '%s', not '%s', though both decide the same here", r->policy,
                        r->options.policy);
    return print_equal(r, sim, run);
}

static int replay_log(replay *r, const char *path)
{
    simulation sim = {.path = path, .options = &r->options, .keeps_log = true};
    simulated_run run = {.seed = r->options.seed};

    int code = simulation_open(&sim);
    if (code == EXIT_GOOD)
        code = check_same(r, &sim);
    if (code == EXIT_GOOD) {
        take_arrivals(r, &sim);
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
