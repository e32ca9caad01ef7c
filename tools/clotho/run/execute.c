/* execute.c - predict, run, take the trace, check it, replay it. See run.h.
 *
 * Every run is checked, not only the last: order, overlap, placement and completeness of what really
 * happened, full cost arithmetic under the virtual clock, and equal output bytes in every run. */
#include "clotho/common/interrupt.h"
#include "clotho/common/plan_file.h"
#include "clotho/common/policy_option.h"
#include "clotho/run/commands.h"
#include "clotho/run/run.h"

#include <clotho/planner.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *run_mode(const run_outcome *out)
{
    return out->options->policy == NULL ? "replay" : out->policy != NULL ? "policy" : "steal";
}

const char *run_dispatch(const run_options *options)
{
    return options->plan != NULL ? "plan file" : options->policy != NULL ? options->policy : options->planner;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The lower median of |measured - centre|, of the times themselves with centre 0: an element that occurred. */
static int64_t median_around(const run_outcome *out, int64_t centre)
{
    for (uint32_t i = 0; i < out->runs; i++)
        out->sorted[i] = out->measured_ns[i] < centre ? centre - out->measured_ns[i] : out->measured_ns[i] - centre;
    qsort(out->sorted, out->runs, sizeof *out->sorted, by_value);
    return out->sorted[(out->runs - 1) / 2];
}

int64_t run_median_ns(const run_outcome *out)
{
    return out->runs > 0 ? median_around(out, 0) : out->last.makespan_ns;
}

const clo_job_result *run_median(const run_outcome *out)
{
    int64_t median = run_median_ns(out);

    for (uint32_t i = 0; i < out->runs; i++)
        if (out->measured_ns[i] == median)
            return &out->results[i];
    return &out->last;
}

double run_prediction_error(const run_outcome *out)
{
    if (out->runs == 0 || out->predicted_ns <= 0)
        return NAN;
    return (double)median_around(out, out->predicted_ns) / (double)out->predicted_ns;
}

/* The plan to replay: of a file, or made here. */
static clo_status make_plan(run_outcome *out)
{
    const run_options *o = out->options;
    const clo_cost *cost = o->plan != NULL ? out->in->cost : commands_planning_cost(out->commands, out->in);
    clo_plan_config planning = CLO_PLAN_CONFIG_INIT;

    planning.planner = clo_planner_find(o->planner);
    planning.seed = o->seed;
    if (o->plan == NULL && commands_without_time(out->commands) == 0)
        input_warn_untimed(out->in);
    clo_status status =
        o->plan != NULL ? clo_plan_load(o->plan, cost, &out->plan) : clo_plan_create(cost, &planning, &out->plan);
    if (status == CLO_OK)
        status = clo_plan_check(out->plan, cost, CLO_CHECK_FULL);
    if (status == CLO_OK && commands_without_time(out->commands) == 0)
        out->predicted_ns = clo_plan_makespan_ns(out->plan);
    return status;
}

/* The plan to replay, or what the simulator expects of the policy. */
static clo_status predict(run_outcome *out)
{
    const run_options *o = out->options;
    clo_sim_config simulation = CLO_SIM_CONFIG_INIT;
    clo_job_result expected = CLO_JOB_RESULT_INIT;

    if (o->policy == NULL)
        return make_plan(out);
    simulation.policy = out->policy;
    simulation.argument = out->argument;
    simulation.seed = o->seed;
    clo_trace *trace = NULL;
    clo_status status = clo_simulate(out->in->cost, &simulation, &expected, o->report != NULL ? &trace : NULL, NULL);
    if (status == CLO_OK)
        out->predicted_ns = expected.makespan_ns;
    if (status == CLO_OK && trace != NULL)
        status = clo_trace_to_plan(trace, out->in->cost, &out->expected);
    if (out->expected != NULL && status == CLO_OK)
        status = clo_plan_set_planner(out->expected, "simulated");
    clo_trace_destroy(trace);
    return status;
}

/* With a profile: what the runs will take, before the first one. Of platforms with ports there is no such prediction. */
static clo_status predict_spread(run_outcome *out)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    if (out->in->profile == NULL)
        return CLO_OK;
    config.plan = out->plan;
    config.policy = out->policy;
    config.argument = out->argument;
    out->prediction.seed = out->options->seed;
    clo_status status = clo_profile_predict(out->in->profile, out->in->cost, &config, &out->prediction);
    return status == CLO_ERR_UNSUPPORTED ? CLO_OK : status;
}

static clo_status learn(run_outcome *out, const clo_trace *trace)
{
    size_t samples = 0;
    clo_status status =
        out->learned != NULL ? clo_profile_learn_trace(out->learned, out->in->cost, trace, &samples) : CLO_OK;

    out->samples += samples;
    return status;
}

/* What the file has, before anything runs: a file that is no profile is refused then. */
static int open_learned(run_outcome *out)
{
    const char *path = out->options->learn;

    if (path == NULL)
        return EXIT_GOOD;
    clo_status status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &out->learned);
    if (status == CLO_OK && access(path, F_OK) == 0 && !is_empty_file(path))
        status = clo_profile_load(out->learned, path, 0);
    return status == CLO_OK ? input_check_alone(out->learned, path) : complain_status(path, status);
}

static int save_learned(run_outcome *out)
{
    const char *path = out->options->learn;

    if (out->learned == NULL)
        return EXIT_GOOD;
    clo_status status = clo_profile_publish(out->learned);
    if (status == CLO_OK)
        status = clo_profile_save(out->learned, path);
    if (status == CLO_OK && out->samples == 0)
        note("%s: nothing was learned; tasks need a codelet or a command, and a body that works", path);
    return status == CLO_OK ? EXIT_GOOD : complain_status(path, status);
}

/* Takes over `trace`, and measures it. */
static clo_status look_at(run_outcome *out, clo_trace *trace)
{
    const clo_cost *cost = out->in->cost;

    clo_trace_destroy(out->trace);
    clo_plan_destroy(out->happened);
    out->trace = trace;
    out->happened = NULL;
    clo_status status = clo_trace_to_plan(trace, cost, &out->happened);
    return status == CLO_OK ? clo_plan_measure(out->happened, cost, &out->metrics) : status;
}

/* Takes over `trace`, and judges it. */
static clo_status judge(run_outcome *out, clo_trace *trace)
{
    const clo_cost *cost = out->in->cost;

    clo_status status = look_at(out, trace);
    if (status == CLO_OK)
        status = learn(out, trace);
    if (status != CLO_OK)
        return status;
    status = clo_plan_check(out->happened, cost,
                            out->options->clock == CLO_CLOCK_VIRTUAL ? CLO_CHECK_FULL : CLO_CHECK_MEASURED);
    out->reportable = status == CLO_OK || status == CLO_ERR_INVALID;
    return status;
}

/* Of all runs, that with the median time. */
static clo_status look_at_median(run_outcome *out)
{
    return look_at(out, median_take(&out->median, run_median_ns(out)));
}

/* The recorded run once more in the simulator: every decision must be equal. Work stealing decides nothing that could
 * be compared. */
static clo_status replay(run_outcome *out)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    if (out->options->no_replay_check || (out->plan == NULL && out->policy == NULL))
        return CLO_OK;
    config.plan = out->plan;
    config.policy = out->policy;
    config.argument = out->argument;
    config.recorded = out->trace;
    clo_status status = clo_simulate(out->in->cost, &config, NULL, NULL, NULL);
    if (status == CLO_OK || status == CLO_ERR_STATE)
        out->replay = status == CLO_OK ? REPLAY_EQUAL : REPLAY_DIFFERS;
    return status;
}

/* Books a run that ended well. */
static int book(run_outcome *out, uint64_t hash)
{
    bool is_same = clo_graph_branches(clo_document_graph(out->in->document)) == 0; /* else each run chooses anew */

    if (is_same && out->runs > 0 && hash != out->output_hash)
        return complain(out->in->path,
                        "run %u gave output bytes %016" PRIx64 ", the runs before %016" PRIx64
                        "; a task is not a function of its inputs",
                        out->runs + 1, hash, out->output_hash);
    out->output_hash = hash;
    out->results[out->runs] = out->last;
    out->measured_ns[out->runs++] = out->last.makespan_ns;
    median_keep(&out->median, out->trace, out->last.makespan_ns);
    out->trace = NULL;
    return EXIT_GOOD;
}

static uint64_t memory_limit_bytes(const run_options *o)
{
    return o->memory_limit_mib < UINT64_MAX >> 20 ? o->memory_limit_mib << 20 : UINT64_MAX;
}

/* With -k commands fail while the job goes on: it has failed all the same. */
static bool has_failed(run_outcome *out)
{
    uint32_t skipped;

    if (out->commands == NULL || commands_failed(out->commands, &out->last.failed_task, &skipped) == 0)
        return false;
    out->last.status = CLO_ERR_TASK;
    out->last.failed_code = commands_failed_code(out->commands);
    return true;
}

static int complain_run(run_outcome *out, clo_status status)
{
    bool is_of_command = (status == CLO_OK || status == CLO_ERR_TASK) && has_failed(out);

    return is_of_command ? commands_complain(out->commands, out->in->path) : complain_status(out->in->path, status);
}

/* More runs are wanted. With a signal the run in progress is the last one; a second signal ends the command. */
static bool goes_on(const run_outcome *out)
{
    return out->runs < out->options->repeat && !is_interrupted();
}

/* Work stealing in virtual time: the policy of that name. */
static int run_simulated(run_outcome *out)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.policy = out->policy;
    config.argument = out->argument;
    config.execute = 1;
    config.deadline_ns = out->options->deadline_ns;
    config.memory_limit_bytes = memory_limit_bytes(out->options);
    while (goes_on(out)) {
        clo_trace *trace = NULL;
        uint64_t hash = 0;
        config.seed = out->options->seed + out->runs;
        if (out->commands != NULL)
            commands_begin(out->commands);
        clo_status status = clo_simulate(out->in->cost, &config, &out->last, &trace, &hash);
        out->reportable = status == CLO_ERR_TASK;
        if (status == CLO_OK)
            status = judge(out, trace);
        if (status != CLO_OK || has_failed(out))
            return complain_run(out, status);
        if (book(out, hash) != EXIT_GOOD)
            return EXIT_BAD_INPUT;
    }
    return EXIT_GOOD;
}

static clo_status name_what_happened(run_outcome *out)
{
    char label[128];

    snprintf(label, sizeof label, "%s, %s", run_dispatch(out->options),
             out->options->clock == CLO_CLOCK_REAL ? "measured" : "emulated");
    return clo_plan_set_planner(out->happened, label);
}

/* After the error line. What ran until a task failed, for pictures: where there is no memory for it, there are none. */
static void look_at_failed(run_outcome *out, const clo_job *job)
{
    clo_trace *trace = NULL;

    clo_plan_destroy(out->happened);
    out->happened = NULL;
    if (clo_job_trace(job, &trace) == CLO_OK && (look_at(out, trace) != CLO_OK || name_what_happened(out) != CLO_OK))
        note("%s: no memory to draw the run that failed", out->in->path);
}

static int run_once(run_outcome *out, clo_job *job)
{
    clo_trace *trace = NULL;

    if (out->commands != NULL)
        commands_begin(out->commands);
    clo_status status = clo_job_submit(job);
    out->reportable = false;
    if (status == CLO_OK) {
        status = clo_job_wait(job, &out->last);
        out->reportable = status == CLO_ERR_TASK;
    }
    if (status == CLO_OK)
        status = clo_job_trace(job, &trace);
    if (status == CLO_OK)
        status = judge(out, trace);
    if (status == CLO_OK && !has_failed(out))
        return book(out, clo_job_output_hash(job));
    int code = complain_run(out, status);
    if (status == CLO_ERR_TASK)
        look_at_failed(out, job);
    return code;
}

static int run_job(run_outcome *out, clo_runtime *runtime)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;
    int code = EXIT_GOOD;

    config.plan = out->plan;
    config.policy = out->policy;
    config.argument = out->argument;
    config.deadline_ns = out->options->deadline_ns;
    config.seed = out->options->seed;
    config.memory_limit_bytes = memory_limit_bytes(out->options);
    clo_status status = clo_job_create(runtime, out->in->cost, &config, &job);
    if (status != CLO_OK)
        return complain_status(out->in->path, status);
    while (goes_on(out) && code == EXIT_GOOD)
        code = run_once(out, job);
    clo_job_destroy(job);
    return code;
}

static int run_on_workers(run_outcome *out)
{
    const run_options *o = out->options;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.clock = o->clock;
    config.jobs_max = 1;
    config.trace = 1;
    config.fifo_priority = (int32_t)o->fifo;
    config.unpinned = o->unpinned;
    config.copy_always = o->copy_always;
    config.dilate = o->dilate;
    config.slot_workers = commands_at_once(out->in);
    clo_status status = clo_runtime_create(out->in->platform, &config, &runtime);
    if (status != CLO_OK)
        return complain_status(out->in->path, status);
    int code = run_job(out, runtime);
    clo_runtime_destroy(runtime);
    return code;
}

/* Padded workers that share a CPU spin for each other's time: their wall time says nothing about a speedup, unless it
 * is stretched. */
static bool enough_cpus(const input *in)
{
    clo_platform *here;
    bool enough;

    if (clo_platform_open("native", &here) != CLO_OK)
        return false;
    enough = clo_platform_executors(in->platform) <= clo_platform_executors(here);
    if (!enough)
        warn("%u padded workers on %u CPUs: their times disturb each other, so no speedup is printed; add --dilate 50",
             clo_platform_executors(in->platform), clo_platform_executors(here));
    clo_platform_destroy(here);
    return enough;
}

/* There is no plan, or no prediction: of the file with the plan, or of the graph. */
static int complain_plan(const run_options *options, const input *in, clo_status status)
{
    return options->plan != NULL ? plan_file_complain(options->plan, in, status) : complain_status(in->path, status);
}

int run_dry(const input *in, const run_options *options, run_commands *commands)
{
    run_outcome out = {.in = in, .options = options, .commands = commands};
    clo_sim_config simulation = CLO_SIM_CONFIG_INIT;
    clo_trace *trace = NULL;
    const char *text;
    int code = EXIT_GOOD;
    clo_status status = CLO_OK;

    if (options->policy != NULL && strcmp(options->policy, "steal") != 0)
        code = policy_open(options->policy, &out.policy, &text, &out.argument);
    if (code != EXIT_GOOD)
        return code;
    if (options->policy == NULL) {
        status = make_plan(&out);
    } else {
        simulation.policy = out.policy;
        simulation.argument = out.argument;
        simulation.seed = options->seed;
        status = clo_simulate(commands_planning_cost(commands, in), &simulation, NULL, &trace, NULL);
        if (status == CLO_OK)
            status = clo_trace_to_plan(trace, commands_planning_cost(commands, in), &out.plan);
    }
    code = status == CLO_OK ? commands_print(in, out.plan) : complain_plan(options, in, status);
    clo_trace_destroy(trace);
    run_close(&out);
    return code;
}

int run_execute(const input *in, const run_options *options, run_commands *commands, run_outcome *out)
{
    *out = (run_outcome){.in = in,
                         .options = options,
                         .commands = commands,
                         .last = CLO_JOB_RESULT_INIT,
                         .metrics = CLO_PLAN_METRICS_INIT,
                         .prediction = CLO_PREDICTION_INIT,
                         .speedup_means_something = commands_without_time(commands) == 0};
    out->last.status = CLO_ERR_STATE; /* nothing ran yet */
    out->last.failed_task = CLO_NONE;
    if (options->policy != NULL && strcmp(options->policy, "steal") != 0) {
        const char *text;
        int code = policy_open(options->policy, &out->policy, &text, &out->argument);
        if (code != EXIT_GOOD)
            return code;
    }
    out->results = calloc(options->repeat, sizeof *out->results);
    out->measured_ns = calloc(options->repeat, sizeof *out->measured_ns);
    out->sorted = calloc(options->repeat, sizeof *out->sorted);
    if (out->results == NULL || out->measured_ns == NULL || out->sorted == NULL)
        return complain(in->path, "out of memory for %u runs; lower --repeat", options->repeat);
    int code = open_learned(out);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = predict(out);
    if (status == CLO_OK)
        status = predict_spread(out);
    if (status != CLO_OK)
        return complain_plan(options, in, status);
    if (options->clock == CLO_CLOCK_PADDED && options->dilate == 1)
        out->speedup_means_something &= enough_cpus(in);
    bool simulated = options->clock == CLO_CLOCK_VIRTUAL && options->policy != NULL && out->policy == NULL;
    bool catches = options->repeat > 1 && commands == NULL; /* one run, and commands, end at once */
    if (catches)
        interrupts_catch();
    code = simulated ? run_simulated(out) : run_on_workers(out);
    if (catches)
        interrupts_let_go();
    out->is_cut = code == EXIT_GOOD && out->runs < options->repeat;
    if (out->is_cut)
        warn("%s: interrupted: %u of %u runs are done", in->path, out->runs, options->repeat);
    if (code == EXIT_GOOD)
        code = out->runs > 0 ? save_learned(out) : EXIT_BAD_INPUT;
    if (code != EXIT_GOOD)
        return code;
    out->valid = true;
    status = look_at_median(out);
    if (status == CLO_OK)
        status = replay(out);
    if (status == CLO_OK)
        status = name_what_happened(out);
    if (status == CLO_OK)
        return EXIT_GOOD;
    out->reportable = out->replay == REPLAY_DIFFERS;
    return complain_status(in->path, status);
}

void run_close(run_outcome *out)
{
    clo_plan_destroy(out->happened);
    clo_trace_destroy(out->trace);
    clo_plan_destroy(out->plan);
    clo_plan_destroy(out->expected);
    clo_trace_destroy(median_take(&out->median, 0));
    clo_profile_destroy(out->learned);
    free(out->results);
    free(out->measured_ns);
    free(out->sorted);
    policy_close(out->policy, out->argument);
    *out = (run_outcome){0};
}
