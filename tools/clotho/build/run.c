/* run.c - the steps of a build as tasks on slots.
 *
 * A policy chooses among the ready steps, pools are capacities, -j N are N slots. The body of a task hands the step to
 * the driver (drive.h) and returns; so no thread waits for a command, and one thread sees to all of them. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/build/run.h"
#include "clotho/build/drive.h"
#include "clotho/build_plan/graph.h"
#include "clotho/build_plan/packing.h"
#include "clotho/common/report.h"
#include "ninja/step/finish.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The argument of a body. */
typedef struct run_step {
    build_driver *driver;
    uint32_t edge;
} run_step;

static int body(const clo_call *call)
{
    const run_step *mine = call->argument;
    clo_token token;

    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 1;
    drive_post(mine->driver, call->executor, mine->edge, token);
    return CLO_PENDING;
}

static const clo_policy *policy_of(const build_run_options *options, const build_graph *g)
{
    if (options->policy == NULL && g->memory_kib != NULL)
        return &build_packing;
    return clo_policy_find(options->policy != NULL ? options->policy : "rank");
}

/* Submits the graph and waits for its end. *trace, *makespan_ns: of the run. */
static clo_status run_job(const build_run_options *options, const build_graph *g, build_live *live, clo_trace **trace,
                          int64_t *makespan_ns)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    build_think think;

    config.spin_ns = -1;
    config.jobs_max = 1;
    config.slot_workers = 1; /* bodies only post */
    config.trace = build_report_needs_trace(&options->report);
    clo_status status = clo_runtime_create(g->platform, &config, &runtime);
    if (status != CLO_OK)
        return status;
    job_config.policy = policy_of(options, g);
    if (job_config.policy == &build_packing)
        job_config.argument = &think;
    think_open(&think, live);
    status = clo_job_create(runtime, g->cost, &job_config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, &result);
    *makespan_ns = result.makespan_ns;
    if (status == CLO_OK && config.trace != 0)
        status = clo_job_trace(job, trace);
    think_close(&think);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return status;
}

static int run_driven(build_driver *d, const build_graph *g, const build_run_options *options)
{
    clo_trace *trace = NULL;
    int64_t makespan_ns = 0;
    pthread_t driver;

    if (g->memory_kib != NULL && !memory_tell(&d->memory, g->tasks, clo_graph_tasks(g->graph)))
        return complain(NULL, "%s", show_name(d->folder->manifest.error));
    int error = pthread_create(&driver, NULL, drive, d);

    if (error != 0)
        return complain(NULL, "a thread cannot be begun: %s; look at the limits of this user", strerror(error));
    clo_status status = run_job(options, g, &d->memory.live, &trace, &makespan_ns);
    drive_stop(d);
    pthread_join(driver, NULL);
    status_end(&d->printer.status);
    int code = build_report_write(&d->report, trace, makespan_ns);
    return status == CLO_OK ? code : complain_status(NULL, status);
}

static void print_memory(const build_memory *memory)
{
    buffer line = {0};

    memory_describe(memory, &line);
    printf("%s: %.*s\n", report_speaker(), (int)line.bytes, line.at);
    buffer_free(&line);
}

static void print_hosts(const build_hosts *hosts)
{
    buffer line = {0};

    hosts_describe(hosts, &line);
    printf("%s: %.*s\n", report_speaker(), (int)line.bytes, line.at);
    buffer_free(&line);
}

/* The last line of a build that did not end well, as ninja has it: scripts and editors look for it. */
static int stop_as_ninja(const char *manifest, const char *why, int code)
{
    if (manifest != NULL)
        return complain(NULL, "rebuilding '%s': %s", show_name(manifest), why);
    printf("ninja: build stopped: %s.\n", why);
    return code;
}

/* ninja's exit status is 2, and 1 where its manifest was made. */
static int say_interrupted(const build_driver *d, const char *manifest)
{
    const ninja_manifest *m = &d->folder->manifest;

    if (d->signal == SIGPIPE)
        return EXIT_INTERRUPTED; /* nobody reads */
    if (report_is_ninja())
        return stop_as_ninja(manifest, "interrupted by user", EXIT_INTERRUPTED);
    if (d->interrupter == NINJA_NONE)
        complain(NULL, "the build was interrupted by %s; call again to go on", strsignal(d->signal));
    else
        complain(m->nodes[m->edges[d->interrupter].outputs[0]].path,
                 "its command was ended by %s, which interrupts the build; call again to go on", strsignal(d->signal));
    return EXIT_INTERRUPTED;
}

int build_say_failed(const char *manifest, uint32_t failed, uint32_t most)
{
    bool is_at_most = most > 0 && failed >= most;

    if (report_is_ninja())
        return stop_as_ninja(manifest,
                             !is_at_most ? "cannot make progress due to previous errors"
                             : most == 1 ? "subcommand failed"
                                         : "subcommands failed",
                             EXIT_BAD_INPUT);
    return complain(NULL, "%u step%s failed; see above", failed, failed == 1 ? "" : "s");
}

/* What came of it, as one line where something is wrong. */
static int judge(const build_driver *d, const build_run_options *options)
{
    bool goes_on = options->is_phase && (d->failures_most == 0 || d->failed < d->failures_most);

    if (d->signal != 0)
        return say_interrupted(d, options->remakes);
    if (d->is_broken)
        return complain(NULL, "%s", show_name(d->folder->manifest.error));
    return d->failed == 0 || goes_on ? EXIT_GOOD : build_say_failed(options->remakes, d->failed, d->failures_most);
}

/* Between the making of the graph and its end. */
static int run_graph(build_driver *d, build_graph *g, const build_run_options *options)
{
    int code = build_report_begin(&d->report, &options->report, g, policy_of(options, g), options->jobs);

    if (code != EXIT_GOOD)
        return code;
    status_begin(&d->printer.status, options->status_format, options->jobs, options->is_verbose, d->start_ns);
    d->printer.status.held.beside = d->folder->log_path;
    build_gate_open(&d->gate, options->tokens, options->load_most);
    code = run_driven(d, g, options);
    d->is_broken |= !finish_logs(d->folder);
    if (d->memory.budget_kib > 0 || d->memory.kills > 0)
        print_memory(&d->memory);
    if (options->report.summarizes && options->hosts->count > 0)
        print_hosts(options->hosts);
    if (code == EXIT_GOOD)
        code = judge(d, options);
    status_end(&d->printer.status);
    build_gate_close(&d->gate);
    return code;
}

int build_run(build_folder *folder, const build_run_options *options)
{
    build_driver d = {.folder = folder,
                      .failures_most = options->failures_most,
                      .failed = *options->failed,
                      .hosts = options->hosts,
                      .kept = options->lock,
                      .ends_servers = options->ends_servers,
                      .printer = {.is_verbose = options->is_verbose, .is_quiet = options->is_quiet}};
    build_graph g = {.folder = folder, .body = body, .argument_bytes = sizeof(run_step)};
    run_step *steps = calloc(folder->manifest.edges_count + 1, sizeof *steps);
    int code = steps != NULL ? drive_open(&d, options->jobs) : complain(NULL, "out of memory");

    for (uint32_t e = 0; steps != NULL && e < folder->manifest.edges_count; e++)
        steps[e] = (run_step){&d, e};
    g.arguments = steps;
    g.elsewhere = options->hosts->elsewhere;
    if (code == EXIT_GOOD && !finish_open_logs(folder))
        code = complain(NULL, "%s", show_name(folder->manifest.error));
    if (code == EXIT_GOOD)
        code = memory_open(&d.memory, folder, options->jobs, options->memory_kib);
    if (code == EXIT_GOOD && d.memory.budget_kib > 0) {
        g.memory_kib = d.memory.demand_kib;
        g.budget_kib = d.memory.capacity_kib;
        g.cpu_milli = memory_is_cpu_bound(&d.memory) ? d.memory.cpu_milli : NULL;
        g.cpus_milli = d.memory.cpus_milli;
        g.learned_ns = d.memory.learned_ns;
    }
    if (code == EXIT_GOOD)
        code = build_graph_make(&g, NULL, 0, true, options->jobs);
    if (code == EXIT_GOOD)
        code = run_graph(&d, &g, options);
    *options->failed = d.failed;
    build_report_end(&d.report);
    build_graph_end(&g);
    memory_close(&d.memory);
    if (steps != NULL)
        drive_end(&d);
    free(steps);
    if (d.signal == SIGPIPE)
        raise(SIGPIPE); /* ends this process as it ends any other whose output nobody reads */
    return code;
}
