/* workload.c - see workload.h. */
#include "clotho/workload/workload.h"

#include "clotho/workload/stream.h"

#include <clotho/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `clotho simulate` would be told. */
static simulate_options simulate_of(const run_options *o)
{
    return (simulate_options){.input = o->input,
                              .policy = o->policy,
                              .arrivals = o->arrivals,
                              .jobs = o->jobs,
                              .steps_max = o->steps_max,
                              .seed = o->seed};
}

static bool uses_bands_or_limits(const clo_workload *workload)
{
    for (uint32_t i = 0; i < clo_workload_jobs(workload); i++) {
        const clo_workload_job *job = clo_workload_get(workload, i);
        if (job->band > 0 || job->limit > 0)
            return true;
    }
    return false;
}

/* What the simulator expects of the same jobs and the same policy. No job waits for room there. */
static int predict(stream_run *run)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;

    config.policy = run->sim.policy;
    config.argument = run->sim.argument;
    config.steps_max = run->options->steps_max;
    config.seed = run->options->seed; /* which draws the arms of branches */
    run->predicted = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    clo_status status = clo_stream_simulate(run->run.workload, run->sim.platform, &config, &run->predicted);
    return status == CLO_OK ? EXIT_GOOD : complain_status(run->sim.path, status);
}

static int open_run(stream_run *run)
{
    int code = simulation_open(&run->sim);

    if (code == EXIT_GOOD)
        code = run_arrivals(run);
    if (code != EXIT_GOOD)
        return code;
    run->is_steal = run->options->clock != CLO_CLOCK_VIRTUAL && strcmp(run->sim.policy_name, "steal") == 0;
    if (run->is_steal && uses_bands_or_limits(run->run.workload))
        warn("%s: work stealing knows no bands and no limits of jobs; choose a policy of 'clotho list policies'",
             show_name(run->sim.path));
    code = run_log_open(run);
    return code == EXIT_GOOD ? predict(run) : code;
}

static int write_files(const stream_run *run)
{
    const run_options *o = run->options;
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    char title[256];
    int code = EXIT_GOOD;
    clo_status status = CLO_OK;

    snprintf(title, sizeof title, "%.120s, policy %s%s", clo_workload_name(run->sim.loaded), run->sim.policy_name,
             o->clock != CLO_CLOCK_REAL ? ", emulated" : "");
    if (run->gantt != NULL && o->gantt != NULL)
        status = clo_stream_gantt_svg(run->gantt, run->sim.platform, title, o->gantt);
    if (status != CLO_OK)
        code = complain_status(o->gantt, status);
    config.title = title;
    if (run->gantt != NULL && o->report != NULL &&
        (status = clo_report_stream(run->gantt, run->run.workload, run->sim.platform, &config, o->report)) != CLO_OK)
        code = complain_status(o->report, status);
    if (o->log != NULL && (status = clo_log_save(run->log, o->log)) != CLO_OK)
        code = complain_status(o->log, status);
    if (o->csv != NULL && simulated_csv(&run->run, o->csv) != EXIT_GOOD)
        code = EXIT_BAD_INPUT;
    return code;
}

static void close_run(stream_run *run)
{
    clo_log_destroy(run->gantt);
    clo_log_destroy(run->log);
    stream_case_close(&run->jobs);
    simulated_run_close(&run->run);
    clo_workload_destroy(run->releases);
    simulation_close(&run->sim);
}

/* Reports what happened. Returns the worse exit code of that and of the run. */
static int report(stream_run *run, int code)
{
    const run_sums *sums = &run->sums;
    int printed = EXIT_GOOD;

    if (run->run.outcomes == NULL || sums->ended + sums->cancelled + sums->failed == 0)
        return code;
    int judged = run_log_judge(run);
    if (run->options->as_json)
        printed = run_workload_json(run);
    else if (run_to_output(run->options) == 0)
        run_workload_text(run);
    if (printed == EXIT_GOOD)
        printed = write_files(run);
    if (code != EXIT_GOOD)
        return code;
    return judged != EXIT_GOOD ? judged : printed;
}

int run_workload(const char *path, const run_options *options)
{
    stream_run run = {.options = options,
                      .simulate = simulate_of(options),
                      .draws = options->gantt != NULL || options->report != NULL,
                      .keeps_traces = options->csv != NULL || options->gantt != NULL || options->report != NULL,
                      .run.seed = options->seed};

    run.sim = (simulation){.path = path, .options = &run.simulate, .drops_misfits = true};
    int code = open_run(&run);
    if (code == EXIT_GOOD) {
        code = run_drive(&run);
        code = report(&run, run.misfits > 0 ? EXIT_BAD_INPUT : code);
    }
    close_run(&run);
    return code;
}
