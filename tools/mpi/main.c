/* main.c - `clotho-mpi GRAPH --hosts F`: one rank of a run over several machines; started by mpirun or srun.
 * `clotho-mpi calibrate --hosts F`: the same of `clotho platform calibrate`. */
#define _GNU_SOURCE
#include "calibrate_remote.h"
#include "clotho/common/options.h"
#include "clotho/common/outputs.h"
#include "run_remote.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define END_MICROSECONDS 300000        /* for the rank to hear that it shall end */
#define END_GOOD_MICROSECONDS 10000000 /* for MPI to end; then the process ends without it */
#define END_PMI_MICROSECONDS 200000    /* the same where the process manager can be told so */
#define PMI_MILLISECONDS 10000         /* for its answer */
#define END_BAD_MICROSECONDS 1000000   /* the same after an error, of which the other ranks may know nothing */
#define WORDS_NS 100000000             /* MPICH's launcher may drop what was written just before an abort */
#define START_NS 120000000000          /* as clo_remote_config.start_ns */

static volatile int told_to_end;
static volatile int has_begun; /* MPI_Init and what else blocks have come back */
static volatile int exit_code;
static pthread_t main_thread; /* that calls MPI */
static int pmi = -1;          /* where the process manager listens (PMI-1, as of MPICH's mpiexec) */
static char last_words[CLO_REMOTE_WORDS_BYTES];

/* The rank looks at told_to_end; if MPI holds it fast, the timer ends it. */
static void end_soon(int number)
{
    const struct itimerval soon = {.it_value = {.tv_usec = END_MICROSECONDS}};

    (void)number;
    told_to_end = 1;
    exit_code = EXIT_BAD_INPUT;
    (void)setitimer(ITIMER_REAL, &soon, NULL);
}

/* All is done and printed, but MPI does not come back: after an abort, or in MPI_Finalize of MPICH 4.0 over UCX and
 * TCP, where ranks that have closed their ends wait in a barrier and no longer answer those that have not. MPICH's
 * mpiexec may take an end without "finalize" for a failure and end the other ranks, even where the exit code is 0.
 * The thread that calls MPI does it: it would take the answer to "finalize" for that of its barrier, and abort. */
static void end_now(int number)
{
    static const char not_begun[] =
        "clotho: MPI does not begin on all ranks; is one stopped, or can it not be reached? "
        "--start TIME gives them longer\n";
    static const char finalize[] = "cmd=finalize\n";

    if (!pthread_equal(pthread_self(), main_thread)) {
        (void)pthread_kill(main_thread, number);
        return;
    }
    if (!has_begun && !told_to_end && write(STDERR_FILENO, not_begun, sizeof not_begun - 1) > 0)
        (void)kill(getpid(), SIGKILL); /* after an exit MPICH's launcher would leave the other ranks alone */
    if (told_to_end && write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(EXIT_BAD_INPUT);
    if (exit_code == EXIT_GOOD && pmi >= 0 && write(pmi, finalize, sizeof finalize - 1) > 0)
        (void)poll(&(struct pollfd){.fd = pmi, .events = POLLIN}, 1, PMI_MILLISECONDS);
    _exit(exit_code);
}

/* A launcher that ends the ranks sends SIGTERM first: time to say what was awaited. */
static void catch_end(void)
{
    struct sigaction action = {.sa_handler = end_soon, .sa_flags = SA_RESTART};

    main_thread = pthread_self();
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = end_now;
    (void)sigaction(SIGALRM, &action, NULL);
}

static const command cmd = {
    "run",
    "GRAPH",
    1,
    1,
    "Runs one plan over several machines. Each rank is a machine of the cluster file, in order, and has one worker\n"
    "per executor of it. Start it with mpirun, mpiexec or srun, one rank for each machine.",
    "Each rank reads the files and plans for itself; whether all have the same is checked. A rank that is silent for\n"
    "--silence ends the run, with its name and the task that is awaited from it. See docs/REMOTE.md.\n"
    "Example: mpirun -np 3 --bind-to none clotho run cholesky.json --hosts cluster.json --planner deft"};

static int read_options(remote_options *o, int argc, char **argv, char ***operands)
{
    bool unpinned = false;
    const option_spec options[] = {
        {"hosts", 0, "F.json", OPTION_TEXT, &o->hosts, "the machines and their links (clotho.cluster/1)"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o->instance,
         "take only the instance of this name, from a file with many"},
        {"planner", 0, "NAME", OPTION_TEXT, &o->planner, "run the plan of this planner (heft)"},
        {"plan", 0, "F.json", OPTION_TEXT, &o->plan, "run this plan, as 'clotho plan --out' writes it"},
        {"schedules", 0, "N", OPTION_U32, &o->schedules, "for planners that search: schedules to try"},
        {"no-duplicates", 0, NULL, OPTION_FLAG, &o->no_duplicates, "plan no replicas"},
        {"seed", 0, "N", OPTION_U64, &o->seed, "fix every random choice (0)"},
        {"scale", 0, "X", OPTION_REAL, &o->scale, "multiply times and bytes by X"},
        {"body", 0, "NAME", OPTION_TEXT, &o->body, "spin (default) or memory: the body of tasks that name none"},
        {"repeat", 'n', "N", OPTION_U32, &o->repeat,
         "run N times and print the median; without --hosts, -n of 'clotho run' is --dry-run"},
        {"unpinned", 0, NULL, OPTION_FLAG, &unpinned, "do not pin workers to CPUs"},
        {"silence", 0, "TIME", OPTION_TIME, &o->run.silence_ns, "a rank silent for so long is lost (1s)"},
        {"start", 0, "TIME", OPTION_TIME, &o->run.start_ns, "ranks may begin so far apart (120s)"},
        {"posted", 0, "N", OPTION_U32, &o->run.posted_max, "receives posted before the run (10000)"},
        {"flows", 0, "N", OPTION_U32, &o->run.flows_max, "large messages sent at once (4)"},
        {"piece", 0, "BYTES", OPTION_U64, &o->run.piece_bytes,
         "send messages in pieces of so many bytes (what the link carries in 1 ms)"},
        {"trace", 0, "F.json", OPTION_TEXT, &o->trace, "write a Chrome / Perfetto trace of all ranks"},
        {"gantt", 'g', "F.svg", OPTION_TEXT, &o->gantt, "draw the last run"},
        {"json", 0, NULL, OPTION_FLAG, &o->as_json, "print one JSON object on standard output"}};
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    o->run.unpinned = unpinned;
    o->run.runs = o->repeat;
    if (o->hosts == NULL)
        return misuse("no cluster file; write --hosts F.json");
    if (o->repeat == 0 || o->repeat > REMOTE_REPEAT_MAX)
        return misuse("--repeat is %u; write 1 to %u", o->repeat, REMOTE_REPEAT_MAX);
    if (!(o->scale > 0))
        return misuse("--scale is 0; write a number > 0");
    if (o->plan != NULL && o->planner != NULL)
        return misuse("--plan and --planner exclude each other");
    return OPTIONS_GO_ON;
}

/* Before the run, on the rank that writes; others may have no such folder. */
static int check_outputs(const remote_options *o, const char *graph)
{
    const named_file inputs[] = {{NULL, graph}, {"hosts", o->hosts}, {"plan", o->plan}};
    named_file outputs[2];
    size_t count = 0;

    if (o->trace != NULL)
        outputs[count++] = (named_file){"trace", o->trace};
    if (o->gantt != NULL)
        outputs[count++] = (named_file){"gantt", o->gantt};
    int code = outputs_check(outputs, count, inputs, o->plan != NULL ? 3 : 2);
    return code == EXIT_GOOD ? OPTIONS_GO_ON : code;
}

/* Its output may be the cluster file. */
static int check_calibration(const calibrate_options *o)
{
    int code = o->output != NULL ? output_check(o->output) : EXIT_GOOD;

    return code == EXIT_GOOD ? OPTIONS_GO_ON : code;
}

/* 0: none. */
static void set_timer(int64_t us)
{
    const struct itimerval timer = {.it_value = {.tv_sec = us / 1000000, .tv_usec = us % 1000000}};

    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Ends with MPI, which may not come back. */
static int end(clo_remote *remote, int code)
{
    code = report_flush(code);
    if (code == EXIT_GOOD) { /* rank 0 may write for long; whoever goes meanwhile is taken for lost */
        clo_status status = clo_remote_barrier(remote, 0);
        code = status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
    }
    exit_code = code;
    set_timer(code != EXIT_GOOD ? END_BAD_MICROSECONDS : pmi >= 0 ? END_PMI_MICROSECONDS : END_GOOD_MICROSECONDS);
    if (told_to_end && code != EXIT_GOOD)
        _exit(code);
    (void)signal(SIGTERM, SIG_DFL); /* whoever tells us now waits for us */
    if (code != EXIT_GOOD) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WORDS_NS}, NULL);
        clo_remote_abort(remote, code);
    }
    clo_remote_close(remote);
    return code;
}

/* A timer of end_soon goes before it. */
static void limit_begin(int64_t us)
{
    set_timer(us);
    if (told_to_end)
        end_soon(SIGTERM);
}

/* MPI_Init waits for all ranks, and nobody can look after them meanwhile. start_ns: 0 is the default. */
static clo_status begin(int64_t start_ns, int *argc, char ***argv, clo_remote **remote)
{
    const int64_t limit_us = (start_ns > 0 ? start_ns : START_NS) / 1000 + 1;
    const char *fd = getenv("PMI_FD");

    if (fd != NULL && *fd != '\0')
        pmi = (int)strtol(fd, NULL, 10);
    exit_code = EXIT_BAD_INPUT;
    catch_end();
    limit_begin(limit_us);
    clo_status status = clo_remote_open(argc, argv, remote);
    has_begun = 1;
    limit_begin(0);
    return status;
}

int main(int argc, char **argv)
{
    remote_options o = {.repeat = 1, .scale = 1, .run = CLO_REMOTE_CONFIG_INIT};
    calibrate_options c = {.run = CLO_REMOTE_CONFIG_INIT};
    clo_remote *remote;
    char **operands = NULL;
    bool calibrates = argc > 1 && strcmp(argv[1], "calibrate") == 0;
    int parsed = calibrates ? calibrate_read_options(&c, argc - 1, argv + 1) : read_options(&o, argc, argv, &operands);

    if (parsed == EXIT_GOOD) /* --help */
        return report_flush(EXIT_GOOD);
    clo_status status = begin(calibrates ? c.run.start_ns : o.run.start_ns, &argc, &argv, &remote);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    catch_end(); /* an MPI may have taken the signals for itself */
    o.run.stop = c.run.stop = &told_to_end;
    o.run.words = c.run.words = last_words;
    if (parsed == OPTIONS_GO_ON && clo_remote_rank(remote) == 0)
        parsed = calibrates ? check_calibration(&c) : check_outputs(&o, operands[0]);
    if (parsed != OPTIONS_GO_ON)
        return end(remote, parsed);
    return end(remote, calibrates ? calibrate_remote(remote, &c) : run_remote(remote, operands[0], &o));
}
