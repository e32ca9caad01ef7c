/* rpc.c - the coordinator: runs a workflow, or a stream of requests, on services. README.md explains it. */
#include "answer.h"
#include "flow.h"
#include "options.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: example-rpc --services LIST (--graph FILE [--pick N] | --requests N) [options]\n"
    "  --services LIST      NAME=ENDPOINT,ENDPOINT;NAME=... an endpoint is ADDRESS:PORT or http://...\n"
    "                       a node of a graph runs on the service of its NAME; '*' in one stands for anything\n"
    "  --graph FILE         call graphs (data/rpc_callgraph); --pick N: which, from 0\n"
    "  --order WORD         callees of one caller: parallel, sequence (parallel)\n"
    "  --requests N         instead: N requests; --rate R: they arrive at R a second (0: at once)\n"
    "  --repeat N           run N times (1)\n"
    "  --local              compute the answers here, without services\n"
    "  --planner NAME       follow a plan (heft, deft ...); else tasks are dealt out when they are ready\n"
    "  --slots N            units of concurrency of a replica (8; with --rate: one for each request)\n"
    "  --route LIST         ENDPOINT,ENDPOINT...: services that each call passes on to\n"
    "  --work-us N --bytes N   expected time (5000) and largest answer (64) of a call\n"
    "  --link-us N --link-mbit N   links between hosts, for the planner (0: they cost nothing)\n"
    "  --deadline-ms N      of the run, or of each request with --rate (0: none)\n"
    "  --attempts N --backoff-ms N   at most (5), and the first backoff (10)\n"
    "  --attempt-ms N       an attempt without an answer for so long is given up (60000 or 10 times --work-us)\n"
    "  --beat-ms N          a service is asked for a sign of life so often, and given up after five (2000; 0: never)\n"
    "  --keep-going         the others go on when a request fails\n"
    "  --no-hedge           one attempt at a time\n"
    "  --effects PERCENT    tasks that have an effect, applied once for each key; --once: without keys\n"
    "  --journal FILE --durable   go on where a run that was killed stopped; survive a loss of power\n"
    "  --run N --seed N     number of the run (that of the journal, or a new one), and of what is drawn (1)\n"
    "  --events FILE --latencies FILE   one line an attempt; one number a request\n"
    "  --idle-ms N          afterwards do nothing for so long, and measure the CPU time\n"
    "  --json               print the result as one line of JSON\n";

typedef struct options {
    flow_config flow;
    clo_rpc_config workflow;
    const char *hop[CLO_RPC_HOPS_MAX];
    char *route;
    const char *planner;
    FILE *events, *latencies;
    uint32_t repeat, idle_ms, is_json;
} options;

typedef struct outcome {
    clo_status status;
    clo_rpc_result run;
    flow_counts counts;
    int64_t idle_cpu_us, p50_us, p99_us, p999_us, p95_us;
    uint32_t answered;
    long rss_first_kb, rss_last_kb;
    int fds_first, fds_last;
    char why[512];
} outcome;

/* The signal may come to any thread. */
static clo_rpc_workflow *_Atomic interruptible;
static atomic_bool is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = true;
    clo_rpc_workflow_cancel(interruptible);
}

static void write_event(void *argument, const char *line)
{
    fprintf(argument, "%s\n", line);
}

/* 0: never, which is not the library's 0. */
static int64_t beat_of(uint64_t ms)
{
    return ms > 0 ? (int64_t)ms * 1000000 : -1;
}

static void read_route(options *o, const char *list)
{
    free(o->route);
    o->flow.hops = 0;
    if ((o->route = strdup(list)) == NULL)
        option_fail("no memory");
    for (char *save = NULL, *hop = strtok_r(o->route, ",", &save); hop != NULL; hop = strtok_r(NULL, ",", &save)) {
        if (o->flow.hops == CLO_RPC_HOPS_MAX || strlen(hop) >= CLO_RPC_NAME_BYTES)
            option_fail("--route: at most %u endpoints of less than %u bytes", CLO_RPC_HOPS_MAX, CLO_RPC_NAME_BYTES);
        o->hop[o->flow.hops++] = hop;
    }
}

/* Options of what is run. Returns 0 where argv[*at] is none of them. */
static int read_flow_option(options *o, int argc, char **argv, int *at)
{
    const char *name = argv[*at];

    if (option_is(name, "--services"))
        o->workflow.services = o->flow.services = option_text(argc, argv, at);
    else if (option_is(name, "--graph"))
        o->flow.path = option_text(argc, argv, at);
    else if (option_is(name, "--pick"))
        o->flow.pick = (uint32_t)option_number(argc, argv, at, UINT32_MAX - 1);
    else if (option_is(name, "--order")) {
        const char *word = option_text(argc, argv, at);
        if (!option_is(word, "parallel") && !option_is(word, "sequence"))
            option_fail("--order: '%s' is neither parallel nor sequence", word);
        o->flow.order = option_is(word, "sequence") ? FLOW_SEQUENCE : FLOW_PARALLEL;
    } else if (option_is(name, "--requests"))
        o->flow.requests = (uint32_t)option_number(argc, argv, at, 10000000);
    else if (option_is(name, "--rate"))
        o->flow.rate = option_real(argc, argv, at, 1e6);
    else if (option_is(name, "--local"))
        o->flow.is_local = 1;
    else if (option_is(name, "--slots"))
        o->workflow.slots = (uint32_t)option_number(argc, argv, at, CLO_EXECUTORS_MAX);
    else if (option_is(name, "--route"))
        read_route(o, option_text(argc, argv, at));
    else if (option_is(name, "--work-us"))
        o->flow.work_us = option_number(argc, argv, at, 1000000000);
    else if (option_is(name, "--link-us"))
        o->workflow.link_ns = (int64_t)option_number(argc, argv, at, 1000000000) * 1000;
    else if (option_is(name, "--link-mbit"))
        o->workflow.link_mbit = (uint32_t)option_number(argc, argv, at, 1000000000);
    else if (option_is(name, "--bytes"))
        o->flow.output_bytes = (uint32_t)option_number(argc, argv, at, CLO_RPC_BYTES_MAX);
    else if (option_is(name, "--effects"))
        o->flow.effect_percent = (uint32_t)option_number(argc, argv, at, 100);
    else if (option_is(name, "--once"))
        o->flow.effect = CLO_RPC_ONCE;
    else
        return 0;
    return 1;
}

static void read_option(options *o, int argc, char **argv, int *at)
{
    const char *name = argv[*at];

    if (option_is(name, "--help") || option_is(name, "-h")) {
        fputs(usage, stdout);
        exit(0);
    }
    if (read_flow_option(o, argc, argv, at))
        return;
    if (option_is(name, "--repeat"))
        o->repeat = (uint32_t)option_number(argc, argv, at, 1000000);
    else if (option_is(name, "--planner"))
        o->planner = option_text(argc, argv, at);
    else if (option_is(name, "--deadline-ms"))
        o->workflow.deadline_ns = (int64_t)option_number(argc, argv, at, 1000000000) * 1000000;
    else if (option_is(name, "--attempts"))
        o->workflow.attempts = (uint32_t)option_number(argc, argv, at, CLO_RPC_ATTEMPTS_MAX);
    else if (option_is(name, "--backoff-ms"))
        o->workflow.backoff_ns = (int64_t)option_number(argc, argv, at, 1000000) * 1000000;
    else if (option_is(name, "--attempt-ms"))
        o->workflow.attempt_ns = (int64_t)option_number(argc, argv, at, 1000000000) * 1000000;
    else if (option_is(name, "--beat-ms"))
        o->workflow.beat_ns = beat_of(option_number(argc, argv, at, 3600000));
    else if (option_is(name, "--keep-going"))
        o->workflow.keeps_going = 1;
    else if (option_is(name, "--no-hedge"))
        o->workflow.no_hedges = 1;
    else if (option_is(name, "--journal"))
        o->workflow.journal = option_text(argc, argv, at);
    else if (option_is(name, "--durable"))
        o->workflow.is_durable = 1;
    else if (option_is(name, "--run"))
        o->workflow.run = option_number(argc, argv, at, UINT64_MAX);
    else if (option_is(name, "--seed"))
        o->workflow.seed = o->flow.seed = option_number(argc, argv, at, UINT64_MAX);
    else if (option_is(name, "--events"))
        o->events = option_file(argc, argv, at, "w");
    else if (option_is(name, "--latencies"))
        o->latencies = option_file(argc, argv, at, "w");
    else if (option_is(name, "--idle-ms"))
        o->idle_ms = (uint32_t)option_number(argc, argv, at, 3600000);
    else if (option_is(name, "--json"))
        o->is_json = 1;
    else
        option_fail("'%s' is not known; see --help", name);
}

/* Of the service that requests go to. */
static uint32_t replicas_of_first(const char *services)
{
    uint32_t count = 1;

    for (; *services != '\0' && *services != ';'; services++)
        count += *services == ',';
    return count;
}

static void read_options(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_option(o, argc, argv, &i);
    if (o->workflow.services == NULL)
        option_fail("--services is missing; see --help");
    if ((o->flow.path == NULL) == (o->flow.requests == 0))
        option_fail("give one of --graph FILE and --requests N; see --help");
    if (o->flow.path != NULL && (o->flow.rate > 0 || o->workflow.keeps_going))
        option_fail("--rate and --keep-going need --requests");
    if (o->workflow.journal != NULL && o->workflow.keeps_going)
        option_fail("--journal: leave out --keep-going, or what has failed would count as done");
    if (o->repeat == 0 || o->workflow.attempts == 0)
        option_fail("--repeat and --attempts must be at least 1");
    if (o->workflow.journal != NULL && (o->repeat > 1 || o->flow.is_local))
        option_fail("--journal is of one run on services: leave out --repeat and --local");
    if (o->workflow.slots == 0 && o->flow.rate > 0) /* open loop: no request waits for another one's unit */
        o->workflow.slots = o->flow.requests / replicas_of_first(o->workflow.services) + 1;
    o->workflow.route = o->hop;
    o->workflow.hops = o->flow.hops;
    o->workflow.event = o->events != NULL ? write_event : NULL;
    o->workflow.argument = o->events;
    o->workflow.planner = o->planner != NULL ? clo_planner_find(o->planner) : NULL;
    if (o->planner != NULL && o->workflow.planner == NULL)
        option_fail("%s", clo_last_error());
}

static long rss_kb(void)
{
    char line[128] = "";
    char *end = line;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) != NULL)
        (void)strtol(line, &end, 10); /* of all pages the resident ones come second */
    fclose(file);
    return strtol(end, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (folder != NULL && readdir(folder) != NULL) // cppcheck-suppress readdirCalled ; only this thread reads it
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

static int64_t cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* Quantiles of the requests that were answered. */
static void measure(const options *o, const clo_rpc_workflow *w, outcome *out)
{
    int64_t *sorted = calloc(out->run.instances, sizeof *sorted);
    uint32_t n = 0;

    for (uint32_t t = 0; sorted != NULL && t < out->run.tasks; t++)
        for (uint32_t i = 0; i < clo_rpc_workflow_instances(w, t); i++) {
            int64_t ns = clo_rpc_workflow_latency_ns(w, t, i), us = ns < 0 ? -1 : ns / 1000;
            if (us >= 0)
                sorted[n++] = us;
            if (o->latencies != NULL)
                fprintf(o->latencies, "%" PRId64 "\n", us);
        }
    out->answered = n;
    if (n > 0) {
        qsort(sorted, n, sizeof *sorted, by_value);
        out->p50_us = sorted[n / 2];
        out->p95_us = sorted[(uint64_t)n * 95 / 100];
        out->p99_us = sorted[(uint64_t)n * 99 / 100];
        out->p999_us = sorted[(uint64_t)n * 999 / 1000];
    }
    free(sorted);
}

static clo_status run_all(const options *o, clo_rpc_workflow *w, outcome *out)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < o->repeat && status == CLO_OK; i++) {
        status = clo_rpc_workflow_run(w);
        snprintf(out->why, sizeof out->why, "%s", status == CLO_OK ? "" : clo_last_error());
        out->rss_last_kb = rss_kb();
        out->fds_last = open_fds();
        if (i == 0) {
            out->rss_first_kb = out->rss_last_kb;
            out->fds_first = out->fds_last;
        }
    }
    if (clo_rpc_workflow_result(w, &out->run) == CLO_OK && !o->flow.is_local)
        measure(o, w, out);
    if (o->idle_ms > 0) {
        struct timespec rest = {.tv_sec = o->idle_ms / 1000, .tv_nsec = o->idle_ms % 1000 * 1000000L};
        int64_t before_us = cpu_us();
        nanosleep(&rest, NULL);
        out->idle_cpu_us = cpu_us() - before_us;
    }
    return status;
}

static void print_json(const outcome *r)
{
    const clo_rpc_result *s = &r->run;

    printf("{\"status\": \"%s\", \"hash\": \"%016" PRIx64 "\", \"graph_hash\": \"%016" PRIx64
           "\", \"plan_hash\": \"%016" PRIx64 "\", \"tasks\": %u, \"instances\": %u, \"done_before\": %" PRIu64
           ", \"again\": %" PRIu64 ", \"executed\": %" PRIu64,
           clo_status_text(r->status), s->output_hash, s->graph_hash, s->plan_hash, s->tasks, s->instances,
           s->done_before, s->again, s->executed);
    printf(", \"sequenced\": %u, \"not_sequenced\": %u, \"makespan_ms\": %.3f, \"answered\": %u", r->counts.sequenced,
           r->counts.not_sequenced, (double)s->makespan_ns * 1e-6, r->answered);
    printf(", \"p50_us\": %" PRId64 ", \"p95_us\": %" PRId64 ", \"p99_us\": %" PRId64 ", \"p999_us\": %" PRId64,
           r->p50_us, r->p95_us, r->p99_us, r->p999_us);
    printf(", \"requests\": %" PRIu64 ", \"calls\": %" PRIu64 ", \"hedges\": %" PRIu64 ", \"hedges_won\": %" PRIu64
           ", \"held_back\": %" PRIu64 ", \"cancelled\": %" PRIu64 ", \"retries\": %" PRIu64 ", \"failures\": %" PRIu64
           ", \"payload_bytes\": %" PRIu64,
           s->requests, s->calls, s->hedges, s->hedges_won, s->held_back, s->cancelled, s->retries, s->failures,
           s->payload_bytes);
    printf(", \"commits\": %" PRIu64 ", \"records\": %" PRIu64 ", \"idle_cpu_us\": %" PRId64
           ", \"rss_first_kb\": %ld, \"rss_last_kb\": %ld, \"fds_first\": %d, \"fds_last\": %d}\n",
           s->commits, s->records, r->idle_cpu_us, r->rss_first_kb, r->rss_last_kb, r->fds_first, r->fds_last);
}

static void print_text(const outcome *r)
{
    const clo_rpc_result *s = &r->run;

    printf("%s: tasks %u, instances %u (%" PRIu64 " done before) in %.1f ms", clo_status_text(r->status), s->tasks,
           s->instances, s->done_before, (double)s->makespan_ns * 1e-6);
    if (r->status == CLO_OK)
        printf(", output %016" PRIx64, s->output_hash);
    if (s->requests > 0)
        printf("\nrequests %" PRIu64 ": calls %" PRIu64 ", hedges %" PRIu64 " (%" PRIu64 " won), retries %" PRIu64
               ", failures %" PRIu64,
               s->requests, s->calls, s->hedges, s->hedges_won, s->retries, s->failures);
    if (r->answered > 0)
        printf("; p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms", (double)r->p50_us * 1e-3, (double)r->p99_us * 1e-3,
               (double)r->p999_us * 1e-3);
    printf("\n");
    if (r->counts.not_sequenced > 0)
        printf("%u callees are not in sequence: other callers share them\n", r->counts.not_sequenced);
}

static int run(const options *o)
{
    outcome out = {.run = CLO_RPC_RESULT_INIT};
    clo_rpc_workflow *w = NULL;

    out.status = clo_rpc_workflow_create(&o->workflow, &w);
    interruptible = w;
    if (out.status == CLO_OK)
        out.status = flow_add(&o->flow, w, &out.counts);
    if (out.status == CLO_OK)
        out.status = clo_rpc_workflow_seal(w);
    if (out.status != CLO_OK) {
        fprintf(stderr, "rpc: %s\n", clo_last_error());
        interruptible = NULL;
        clo_rpc_workflow_destroy(w);
        return 2;
    }
    out.status = run_all(o, w, &out);
    (o->is_json ? print_json : print_text)(&out);
    int code = out.status == CLO_OK && out.run.failures == 0 ? 0 : is_interrupted ? 130 : 1;
    if (code == 1)
        fprintf(stderr, "rpc: %s\n", out.why[0] != '\0' ? out.why : out.run.failure);
    interruptible = NULL;
    clo_rpc_workflow_destroy(w);
    return code;
}

/* What was written is there; NULL: nothing was to be. Else one line says so. */
static int close_output(FILE *file, const char *name)
{
    if (file == NULL)
        return 0;
    int is_bad = ferror(file);
    is_bad |= file == stdout ? fflush(file) : fclose(file);
    if (is_bad)
        fprintf(stderr, "rpc: %s: not all could be written; is the disk full?\n", name);
    return is_bad;
}

int main(int argc, char **argv)
{
    options o = {.flow = {.work_us = 5000, .output_bytes = 64, .effect = CLO_RPC_KEYED, .seed = 1},
                 .workflow = CLO_RPC_CONFIG_INIT,
                 .repeat = 1};
    struct sigaction stop = {.sa_handler = on_signal};

    o.workflow.attempts = CLO_RPC_ATTEMPTS_MAX;
    o.workflow.seed = 1;
    read_options(&o, argc, argv);
    signal(SIGPIPE, SIG_IGN); /* of what it prints; the library sees to its own */
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    int code = run(&o);
    int is_bad = close_output(o.events, "--events");
    is_bad |= close_output(o.latencies, "--latencies");
    is_bad |= close_output(stdout, "the output");
    free(o.route);
    return code == 0 && is_bad ? 1 : code;
}
