/* cmd.c - `clotho serve`: the scheduler for somebody else's cluster. Events in, choices out. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/commands.h"
#include "clotho/common/policy_option.h"
#include "clotho/serve/serve.h"
#include "clotho/simulate/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY_BYTES = 512 };

/* What a service needs, in the order in which it is made. */
typedef struct serving {
    serve_options options;
    char policy_text[POLICY_BYTES]; /* of the log that it goes on from */
    clo_log *before;                /* that log; NULL: it begins */
    clo_workload *jobs_before;      /* the session takes it */
    clo_platform *platform;
    const clo_policy *policy;
    const char *argument_text;
    void *argument;
    clo_log *log; /* NULL: none is wanted */
    clo_session *session;
} serving;

static atomic_bool stopped; /* the signal may come to any thread */

static void stop(int number)
{
    (void)number;
    stopped = true;
}

/* SIGINT, SIGTERM and SIGHUP come while the loop waits, and end it; a driver that hangs up is no signal. */
static void take_signals(sigset_t *waiting)
{
    struct sigaction action = {.sa_handler = stop};
    sigset_t ours;

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigprocmask(SIG_BLOCK, &ours, waiting);
    sigdelset(waiting, SIGINT);
    sigdelset(waiting, SIGTERM);
    sigdelset(waiting, SIGHUP);
}

static int check_options(const serve_options *o)
{
    if (o->clock != NULL && strcmp(o->clock, "client") != 0 && strcmp(o->clock, "real") != 0)
        return misuse("--clock is '%s'; write client or real", show_name(o->clock));
    if (o->users.count > 0 && o->socket == NULL)
        return misuse("--allow-uid is of a socket; name one by --socket");
    if (o->restart != NULL && o->workload == NULL)
        return misuse("--restart needs --workload F: the jobs that the log speaks of");
    if (o->restart != NULL && strcmp(o->restart, "-") == 0)
        return misuse("standard input belongs to the driver; name the file of --restart");
    if (o->socket != NULL && ((o->log != NULL && strcmp(o->log, o->socket) == 0) ||
                              (o->workload != NULL && strcmp(o->workload, o->socket) == 0)))
        return misuse("--socket is also the name of a file that is written; name another path");
    if ((o->log != NULL && strcmp(o->log, "-") == 0) || (o->workload != NULL && strcmp(o->workload, "-") == 0))
        return misuse("standard output belongs to the driver; name files");
    return EXIT_GOOD;
}

/* A log that is to be gone on from says what the command line does not. */
static int read_before(serving *s)
{
    serve_options *o = &s->options;
    clo_status status = clo_log_load(o->restart, &s->before);

    if (status != CLO_OK)
        return complain_status(o->restart, status);
    const clo_log_header *about = clo_log_about(s->before);
    if (about->policies_count != 1 || about->run != CLO_LOG_RUN_REAL)
        return complain(o->restart, "is no log of a service; see 'clotho serve --help'");
    status = workload_load(o->workload, NULL, &s->jobs_before);
    if (status != CLO_OK)
        return complain_status(o->workload, status);
    const clo_log_policy *policy = &about->policies[0];
    snprintf(s->policy_text, sizeof s->policy_text, "%s%s%s", policy->name, policy->argument != NULL ? ":" : "",
             policy->argument != NULL ? policy->argument : "");
    o->log = o->log != NULL ? o->log : o->restart; /* or the jobs would go on and the log not */
    o->policy = o->policy != NULL ? o->policy : s->policy_text;
    o->spec = o->spec != NULL ? o->spec : about->platform;
    o->live = o->live > 0 ? o->live : about->jobs_max;
    o->steps_max = o->steps_max > 0 ? o->steps_max : about->steps_max;
    o->seed = o->seed > 0 ? o->seed : about->seed;
    if (o->live != about->jobs_max || o->steps_max != about->steps_max)
        return complain(o->restart, "is of a service with --live %u --steps-max %u; leave these options out",
                        about->jobs_max, about->steps_max);
    return strcmp(o->policy, s->policy_text) == 0
               ? EXIT_GOOD
               : complain(o->restart, "is of the policy '%s'; leave --policy out", show_name(s->policy_text));
}

static int open_log(serving *s)
{
    const serve_options *o = &s->options;
    const clo_log_policy policy = {.name = s->policy->name, .argument = s->argument_text};
    clo_log_header header = CLO_LOG_HEADER_INIT;

    if (o->log == NULL && o->restart == NULL)
        return EXIT_GOOD;
    header.platform = o->spec;
    header.platform_hash = platform_hash(s->platform);
    header.workload = o->workload;
    header.seed = o->seed;
    header.policies = &policy;
    header.policies_count = 1;
    clo_status status = clo_log_create(&header, 0, &s->log);
    return status == CLO_OK ? EXIT_GOOD : complain_status(o->log, status);
}

static int open_session(serving *s)
{
    const serve_options *o = &s->options;
    clo_session_config config = CLO_SESSION_CONFIG_INIT;

    config.service = (clo_service_config)CLO_SERVICE_CONFIG_INIT;
    config.service.policy = s->policy;
    config.service.argument = s->argument;
    config.service.jobs_max = o->live;
    config.service.steps_max = o->steps_max;
    config.service.log = s->log;
    config.service.seed = o->seed;
    config.policy = o->policy;
    config.is_real = o->clock != NULL && strcmp(o->clock, "real") == 0;
    config.log_path = o->log;
    config.workload_path = o->workload;
    clo_status status = clo_session_create(s->platform, &config, &s->session);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    if (s->before == NULL)
        return EXIT_GOOD;
    clo_workload *jobs = s->jobs_before;
    s->jobs_before = NULL;
    status = clo_session_restart(s->session, jobs, s->before);
    return status == CLO_OK ? EXIT_GOOD : complain_status(o->restart, status);
}

static int open_all(serving *s)
{
    serve_options *o = &s->options;
    int code = check_options(o);

    if (code == EXIT_GOOD && o->restart != NULL)
        code = read_before(s);
    o->spec = o->spec != NULL ? o->spec : "native";
    o->policy = o->policy != NULL ? o->policy : "auto";
    if (code == EXIT_GOOD)
        code = policy_open(o->policy, &s->policy, &s->argument_text, &s->argument);
    if (code == EXIT_GOOD)
        code = platform_open(o->spec, &s->platform);
    if (code == EXIT_GOOD && s->before != NULL)
        code = refuse_other_run(o->restart, s->before, s->jobs_before, s->platform, o->spec);
    if (code == EXIT_GOOD)
        code = open_log(s);
    return code == EXIT_GOOD ? open_session(s) : code;
}

/* The files are written even if the driver could not be told everything. */
static int finish(const serving *s, int code)
{
    clo_service_end_log(clo_session_service(s->session));
    clo_status status = clo_session_save(s->session);

    if (status != CLO_OK)
        return complain_status(NULL, status);
    if (clo_log_dropped(s->log) > 0)
        return complain(s->options.log, "there was no memory for %llu records: the log cannot be replayed",
                        (unsigned long long)clo_log_dropped(s->log));
    return code;
}

static int serve(const serving *s)
{
    serve_socket listening = {.file = -1};
    bool has_socket = s->options.socket != NULL;
    sigset_t waiting;

    take_signals(&waiting);
    int code = has_socket ? serve_socket_open(&listening, &s->options) : EXIT_GOOD;
    if (code != EXIT_GOOD)
        return code;
    code = serve_loop(s->session, &s->options, has_socket ? &listening : NULL, &stopped, &waiting);
    serve_socket_close(&listening);
    return finish(s, code);
}

static void close_all(serving *s)
{
    clo_session_destroy(s->session);
    clo_workload_destroy(s->jobs_before);
    clo_log_destroy(s->log);
    clo_log_destroy(s->before);
    policy_close(s->policy, s->argument);
    clo_platform_destroy(s->platform);
}

static const command cmd = {
    "serve",
    "",
    0,
    0,
    "The scheduler for somebody else's cluster: reads events, one JSON object a line, from standard input or a\n"
    "socket, and writes what to start where. Nothing runs here. docs/FORMATS.md has the protocol.",
    "'clotho simulate F.jsonl --replay LOG' repeats the session of --log and --workload, and compares each\n"
    "choice. SIGINT, SIGTERM, SIGHUP, the event \"end\" and the end of standard input end the service: it writes its "
    "files\nand exits 0. A driver that hangs up leaves the schedule as it is; the next one is told what runs.\n"
    "Example: clotho serve --platform uniform:8 --policy fair --socket /tmp/s --log s.log --workload s.jsonl"};

int cmd_serve(int argc, char **argv)
{
    serving s = {.options.spec = NULL};
    serve_options *o = &s.options;
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &o->spec, "the cluster, as in 'clotho plan' (native)"},
        {"policy", 0, "NAME[:ARG]", OPTION_TEXT, &o->policy,
         "the policy (auto), with its argument; see 'clotho list policies'"},
        {"socket", 0, "PATH", OPTION_TEXT, &o->socket,
         "listen at this Unix socket, for one driver at a time (standard input and output)"},
        {"allow-uid", 0, "N", OPTION_LIST, &o->users, "this user may connect, too; may be repeated"},
        {"clock", 0, "NAME", OPTION_TEXT, &o->clock,
         "client (default): events say when they happened; real: the clock of this machine does"},
        {"heartbeat", 0, "TIME", OPTION_TIME, &o->heartbeat_ns,
         "a driver that says nothing for so long has lost its executors; 3ms, 1s (never)"},
        {"live", 0, "N", OPTION_COUNT, &o->live, "refuse jobs that arrive while N jobs live (1024)"},
        {"steps-max", 0, "N", OPTION_COUNT, &o->steps_max, "bound of the steps of a decision"},
        {"seed", 0, "N", OPTION_U64, &o->seed, "for arms of branches that no driver names (0)"},
        {"log", 0, "F", OPTION_OUTPUT, &o->log, "write the log of events and choices (clotho.log/1)"},
        {"workload", 0, "F.jsonl", OPTION_OUTPUT, &o->workload, "write the jobs that arrived (clotho.workload/1)"},
        /* No OPTION_INPUT: it is read as a whole before --log, which may be the same file, is written. */
        {"restart", 0, "LOG", OPTION_TEXT, &o->restart,
         "go on from this log (and with it, without --log); its jobs are read from the file of --workload"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    code = open_all(&s);
    if (code == EXIT_GOOD)
        code = serve(&s);
    close_all(&s);
    return code;
}
