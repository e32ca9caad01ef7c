/* build_run.c - the steps of a build as bodies of tasks, on the workers of a runtime.
 *
 * A policy chooses among the ready steps, pools are capacities, and a worker waits for its command. What ninja would do
 * around a command happens under one lock; the manifest, the logs and the order belong to whoever holds it. A step that
 * restat has made needless, or that waits for one that failed, ends at once.
 *
 * A thread of its own takes SIGINT, SIGTERM and SIGHUP, and passes them on to the process groups of the running
 * steps. */
#define _POSIX_C_SOURCE 200809L
#include "build_run.h"
#include "../ninja/bindings.h"
#include "../ninja/finish.h"
#include "../ninja/step.h"
#include "build_gate.h"
#include "build_graph.h"
#include "build_report.h"
#include "build_status.h"
#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

typedef struct build_run_state {
    build_folder *folder;
    const build_run_options *options;
    pthread_mutex_t lock; /* of all below and of the folder */
    pid_t *running;       /* [jobs] process groups; 0: none */
    build_status status;  /* what is printed */
    build_counts counts;
    build_gate gate; /* has a lock of its own */
    build_report report;
    uint32_t failed;
    int signal;     /* that ended the build; 0: none */
    bool is_broken; /* the build itself failed: the manifest's error says why */
    int64_t start_ns;
    sigset_t mask; /* of the caller, for the commands */
} build_run_state;

/* The argument of a body. */
typedef struct run_step {
    build_run_state *state;
    uint32_t edge;
} run_step;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_stopped(const build_run_state *s)
{
    return s->signal != 0 || s->is_broken || (s->options->failures_most > 0 && s->failed >= s->options->failures_most);
}

static void print(build_run_state *s, piece text, bool has_console)
{
    status_text(&s->status, text, has_console);
}

/* "[finished/steps] what". */
static void print_status(build_run_state *s, uint32_t edge, bool has_console)
{
    buffer line = {0};

    s->counts.steps = s->folder->order.steps;
    if (build_describe(s->folder, edge, s->options->is_verbose, &line))
        status_line(&s->status, &s->counts, buffer_piece(&line), now_ns(), has_console);
    buffer_free(&line);
}

static void print_failure(build_run_state *s, uint32_t edge, const char *why, bool has_console)
{
    const ninja_manifest *m = &s->folder->manifest;
    buffer text = {0};

    buffer_add_text(&text, s->status.has_color ? "\033[31mFAILED: \033[0m" : "FAILED: ");
    for (uint32_t i = 0; i < m->edges[edge].outputs_count; i++) {
        buffer_add_text(&text, m->nodes[m->edges[edge].outputs[i]].path);
        buffer_add_text(&text, " ");
    }
    buffer_add_text(&text, "\n");
    if (ninja_edge_command(&s->folder->manifest, edge, false, &text))
        buffer_add_text(&text, "\n");
    buffer_add_text(&text, why);
    print(s, buffer_piece(&text), has_console);
    buffer_free(&text);
}

static void fail_step(build_run_state *s, uint32_t edge, const char *why, bool has_console)
{
    s->failed++;
    print_failure(s, edge, why, has_console);
    s->is_broken |= !order_failed(&s->folder->order, edge);
}

/* Under the lock: all that is needed before the command, which is put into `command`, terminated. False: not to be
 * run. */
static bool begin(build_run_state *s, uint32_t edge, uint32_t worker, bool has_console, buffer *command, step *child)
{
    if (!finish_prepare(s->folder, edge) || !ninja_edge_command(&s->folder->manifest, edge, false, command)) {
        s->is_broken = true;
        return false;
    }
    buffer_add(command, "", 1);
    s->counts.started++;
    s->counts.running++;
    if (has_console || s->status.is_smart)
        print_status(s, edge, has_console);
    if (has_console)
        status_give_console(&s->status);
    int error = command->failed ? ENOMEM : step_begin(child, command->at, has_console, &s->mask);
    if (error != 0) {
        s->counts.running--;
        if (has_console)
            status_take_console(&s->status);
        s->is_broken =
            !ninja_fail(&s->folder->manifest, "'%.200s' cannot be begun: %s; look at the limits of this user",
                        command->failed ? "sh" : command->at, strerror(error));
        return false;
    }
    s->running[worker] = has_console ? 0 : child->pid; /* the terminal signals a step of the console itself */
    return true;
}

/* Under the lock: all that follows the command. */
static void end(build_run_state *s, uint32_t edge, uint32_t worker, bool has_console, int status, const buffer *output,
                int64_t began_ns)
{
    int64_t ended_ns = now_ns();
    int64_t start_ms = (began_ns - s->start_ns) / 1000000, end_ms = (ended_ns - s->start_ns) / 1000000;
    bool is_bad = false, is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

    s->running[worker] = 0;
    build_report_step(&s->report, edge, ended_ns - began_ns);
    if (s->signal != 0) {
        s->is_broken |= !finish_interrupted(s->folder, edge);
        return;
    }
    s->counts.finished++;
    status_ended(&s->status, ended_ns);
    if (is_good && !finish_succeeded(s->folder, edge, start_ms, end_ms, &is_bad)) {
        s->is_broken = true;
        return;
    }
    if (!has_console)
        print_status(s, edge, false);
    s->counts.running--;
    if (!is_good || is_bad)
        fail_step(s, edge, is_bad ? s->folder->manifest.error : "", has_console);
    if (is_bad)
        print(s, piece_of("\n"), has_console);
    status_output(&s->status, buffer_piece(output));
    if (has_console)
        status_take_console(&s->status);
}

static void run_command(build_run_state *s, uint32_t edge, uint32_t worker)
{
    bool has_console = s->folder->manifest.edges[edge].pool == NINJA_POOL_CONSOLE;
    buffer command = {0}, output = {0};
    int64_t began_ns = now_ns();
    step child;

    if (begin(s, edge, worker, has_console, &command, &child)) {
        pthread_mutex_unlock(&s->lock);
        int status = step_end(&child, &output);
        pthread_mutex_lock(&s->lock);
        end(s, edge, worker, has_console, status, &output, began_ns);
    }
    buffer_free(&command);
    buffer_free(&output);
}

/* Whether the edge is to be run now. */
static bool is_due(const build_run_state *s, uint32_t edge)
{
    return !is_stopped(s) && order_may_run(&s->folder->order, edge);
}

/* Under the lock, which is given up while the step waits for a token. */
static void run_when_let_in(build_run_state *s, uint32_t edge, uint32_t worker)
{
    pthread_mutex_unlock(&s->lock);
    bool is_in = build_gate_enter(&s->gate);
    pthread_mutex_lock(&s->lock);
    if (!is_in)
        return;
    if (is_due(s, edge))
        run_command(s, edge, worker);
    build_gate_leave(&s->gate);
    if (is_stopped(s))
        build_gate_shut(&s->gate);
}

static int body(const clo_call *call)
{
    const run_step *mine = call->argument;
    build_run_state *s = mine->state;

    pthread_mutex_lock(&s->lock);
    if (is_due(s, mine->edge)) {
        if (ninja_is_phony(&s->folder->manifest, mine->edge))
            s->is_broken |= !order_finished(&s->folder->order, mine->edge);
        else
            run_when_let_in(s, mine->edge, call->executor);
    }
    pthread_mutex_unlock(&s->lock);
    return 0;
}

/* A shell may miss a signal that comes between two of its commands: it is sent again until all have ended, and at last
 * one that nobody can miss. */
enum { RESEND_NS = 100000000, ROUNDS_BEFORE_KILL = 30 };

static void pass_on(const build_run_state *s, int number)
{
    for (uint32_t i = 0; i < s->options->jobs; i++)
        if (s->running[i] > 0)
            kill(-s->running[i], number);
}

/* Waits for a signal that ends the build, and passes it on. It is cancelled when the build has ended. */
static void *wait_for_signals(void *argument)
{
    build_run_state *s = argument;
    const struct timespec again = {0, RESEND_NS};
    int unused, first = 0;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    for (int rounds = 0;;) { /* ends: it is cancelled */
        int got = first == 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &again);
        if (got < 0 && errno != EAGAIN)
            continue; /* a signal of another kind */
        first = first == 0 ? got : first;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
        pthread_mutex_lock(&s->lock);
        s->signal = first;
        build_gate_shut(&s->gate);
        pass_on(s, ++rounds > ROUNDS_BEFORE_KILL ? SIGKILL : first);
        pthread_mutex_unlock(&s->lock);
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &unused);
    }
    return NULL;
}

/* Submits the graph and waits for its end. *trace, *makespan_ns: of the run. */
static clo_status run_job(const build_run_state *s, const build_graph *g, clo_trace **trace, int64_t *makespan_ns)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;

    config.unpinned = 1; /* a command uses the CPUs that this process may use */
    config.spin_ns = -1;
    config.jobs_max = 1;
    config.trace = build_report_needs_trace(&s->options->report);
    clo_status status = clo_runtime_create(g->platform, &config, &runtime);
    if (status != CLO_OK)
        return status;
    job_config.policy = clo_policy_find(s->options->policy);
    status = clo_job_create(runtime, g->cost, &job_config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, &result);
    *makespan_ns = result.makespan_ns;
    if (status == CLO_OK && config.trace != 0)
        status = clo_job_trace(job, trace);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return status;
}

static int run_watched(build_run_state *s, const build_graph *g)
{
    pthread_t watcher;
    sigset_t set;
    clo_trace *trace = NULL;
    int64_t makespan_ns = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, &s->mask);
    int error = pthread_create(&watcher, NULL, wait_for_signals, s);
    clo_status status = CLO_OK;
    if (error == 0) {
        status = run_job(s, g, &trace, &makespan_ns);
        pthread_cancel(watcher);
        pthread_join(watcher, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
    if (error != 0)
        return complain(NULL, "a thread cannot be begun: %s; look at the limits of this user", strerror(error));
    status_end(&s->status);
    int code = build_report_write(&s->report, trace, makespan_ns);
    return status == CLO_OK ? code : complain_status(NULL, status);
}

/* What came of it, as one line where something is wrong. */
static int judge(const build_run_state *s)
{
    if (s->signal != 0)
        return complain(NULL, "the build was interrupted by %s; call again to go on", strsignal(s->signal));
    if (s->is_broken)
        return complain(NULL, "%s", show_name(s->folder->manifest.error));
    if (s->failed > 0)
        return complain(NULL, "%u step%s failed; see above", s->failed, s->failed == 1 ? "" : "s");
    return EXIT_GOOD;
}

int build_run(build_folder *folder, const build_run_options *options)
{
    build_run_state s = {.folder = folder, .options = options, .lock = PTHREAD_MUTEX_INITIALIZER, .start_ns = now_ns()};
    build_graph g = {.folder = folder, .body = body, .argument_bytes = sizeof(run_step)};
    run_step *steps = calloc(folder->manifest.edges_count + 1, sizeof *steps);

    s.running = calloc(options->jobs, sizeof *s.running);
    int code = steps != NULL && s.running != NULL ? EXIT_GOOD : complain(NULL, "out of memory");
    for (uint32_t e = 0; steps != NULL && e < folder->manifest.edges_count; e++)
        steps[e] = (run_step){&s, e};
    g.arguments = steps;
    if (code == EXIT_GOOD && !finish_open_logs(folder))
        code = complain(NULL, "%s", show_name(folder->manifest.error));
    if (code == EXIT_GOOD)
        code = build_graph_make(&g, NULL, 0, true, options->jobs);
    if (code == EXIT_GOOD)
        code = build_report_begin(&s.report, &options->report, &g, options->policy, options->jobs);
    if (code == EXIT_GOOD) {
        status_begin(&s.status, options->status_format, options->jobs, options->is_verbose, s.start_ns);
        build_gate_open(&s.gate, options->tokens, options->load_most);
        int ran = run_watched(&s, &g);
        code = ran == EXIT_GOOD ? judge(&s) : ran;
        status_end(&s.status);
        build_gate_close(&s.gate);
    }
    build_report_end(&s.report);
    build_graph_end(&g);
    free(steps);
    free(s.running);
    return code;
}
