/* rpc.c - the coordinator: runs a workflow, or a stream of requests, on services. README.md explains it. */
#include "answer.h"
#include "engine.h"
#include "options.h"
#include "parcel.h"
#include "resume.h"

#include <clotho/planner.h>
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
    engine_config engine;
    char *route;
    const char *planner, *journal_path;
    FILE *latencies;
    uint32_t repeat, idle_ms, is_durable, is_json;
} options;

typedef struct outcome {
    clo_status status;
    uint64_t hash, done_before, again, executed, commits, records, plan_hash;
    int64_t makespan_ns, idle_cpu_us, p50_us, p99_us, p999_us, p95_us;
    uint32_t answered;
    long rss_first_kb, rss_last_kb;
    int fds_first, fds_last;
    engine_stats stats;
    char clotho[512];
} outcome;

static atomic_bool is_interrupted; /* the signal may come to any thread */

static void on_signal(int number)
{
    (void)number;
    is_interrupted = true;
}

static void read_route(options *o, const char *list)
{
    free(o->route);
    o->flow.hops = 0;
    if ((o->route = strdup(list)) == NULL)
        option_fail("no memory");
    for (char *save = NULL, *hop = strtok_r(o->route, ",", &save); hop != NULL; hop = strtok_r(NULL, ",", &save)) {
        if (o->flow.hops == HOPS_MAX || strlen(hop) >= ENDPOINT_MAX)
            option_fail("--route: at most %d endpoints of less than %d bytes", HOPS_MAX, ENDPOINT_MAX);
        o->engine.hop[o->flow.hops++] = hop;
    }
}

/* Options of what is run. Returns 0 where argv[*at] is none of them. */
static int read_flow_option(options *o, int argc, char **argv, int *at)
{
    const char *name = argv[*at];

    if (option_is(name, "--services")) {
        char error[512];
        if (flow_services(option_text(argc, argv, at), &o->flow, error, sizeof error) != 0)
            option_fail("%s", error);
    } else if (option_is(name, "--graph"))
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
        o->flow.slots = (uint32_t)option_number(argc, argv, at, CLO_EXECUTORS_MAX);
    else if (option_is(name, "--route"))
        read_route(o, option_text(argc, argv, at));
    else if (option_is(name, "--work-us"))
        o->flow.work_us = option_number(argc, argv, at, 1000000000);
    else if (option_is(name, "--link-us"))
        o->flow.link_us = (uint32_t)option_number(argc, argv, at, 1000000000);
    else if (option_is(name, "--link-mbit"))
        o->flow.link_mbit = (uint32_t)option_number(argc, argv, at, 1000000000);
    else if (option_is(name, "--bytes"))
        o->flow.output_bytes = (uint32_t)option_number(argc, argv, at, PARCEL_MAX);
    else if (option_is(name, "--effects"))
        o->flow.effect_percent = (uint32_t)option_number(argc, argv, at, 100);
    else if (option_is(name, "--once"))
        o->flow.effect = EFFECT_ONCE;
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
        o->engine.deadline_us = (int64_t)option_number(argc, argv, at, 1000000000) * 1000;
    else if (option_is(name, "--attempts"))
        o->engine.attempts = (uint32_t)option_number(argc, argv, at, ATTEMPTS_MAX);
    else if (option_is(name, "--backoff-ms"))
        o->engine.backoff_us = (int64_t)option_number(argc, argv, at, 1000000) * 1000;
    else if (option_is(name, "--attempt-ms"))
        o->engine.attempt_us = (int64_t)option_number(argc, argv, at, 1000000000) * 1000;
    else if (option_is(name, "--beat-ms"))
        o->engine.beat_ms = (uint32_t)option_number(argc, argv, at, 3600000);
    else if (option_is(name, "--keep-going"))
        o->engine.keeps_going = 1;
    else if (option_is(name, "--no-hedge"))
        o->engine.is_hedging = 0;
    else if (option_is(name, "--journal"))
        o->journal_path = option_text(argc, argv, at);
    else if (option_is(name, "--durable"))
        o->is_durable = 1;
    else if (option_is(name, "--run"))
        o->engine.run = option_number(argc, argv, at, UINT64_MAX);
    else if (option_is(name, "--seed"))
        o->engine.seed = option_number(argc, argv, at, UINT64_MAX);
    else if (option_is(name, "--events"))
        o->engine.events = option_file(argc, argv, at, "w");
    else if (option_is(name, "--latencies"))
        o->latencies = option_file(argc, argv, at, "w");
    else if (option_is(name, "--idle-ms"))
        o->idle_ms = (uint32_t)option_number(argc, argv, at, 3600000);
    else if (option_is(name, "--json"))
        o->is_json = 1;
    else
        option_fail("'%s' is not known; see --help", name);
}

static void read_options(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_option(o, argc, argv, &i);
    if (o->flow.services_count == 0)
        option_fail("--services is missing; see --help");
    if ((o->flow.path == NULL) == (o->flow.requests == 0))
        option_fail("give one of --graph FILE and --requests N; see --help");
    if (o->flow.path != NULL && (o->flow.rate > 0 || o->engine.keeps_going))
        option_fail("--rate and --keep-going need --requests");
    if (o->journal_path != NULL && o->engine.keeps_going)
        option_fail("--journal: leave out --keep-going, or what has failed would count as done");
    if (o->flow.slots == 0) /* open loop: no request waits for another one's unit */
        o->flow.slots = o->flow.rate > 0 ? o->flow.requests / o->flow.services[0].replicas + 1 : 8;
    int64_t expected_us = (int64_t)o->flow.work_us * (o->flow.hops + 1);
    if (o->engine.attempt_us == 0)
        o->engine.attempt_us = expected_us > 6000000 ? expected_us * 10 : 60000000;
    if (o->repeat == 0 || o->engine.attempts == 0)
        option_fail("--repeat and --attempts must be at least 1");
    if (o->journal_path != NULL && (o->repeat > 1 || o->flow.is_local))
        option_fail("--journal is of one run on services: leave out --repeat and --local");
    o->flow.seed = o->engine.seed;
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
static void measure(const options *o, const flow *f, const int64_t *latencies, outcome *out)
{
    int64_t *sorted = calloc(f->instances, sizeof *sorted);
    uint32_t n = 0;

    for (uint32_t i = 0; sorted != NULL && i < f->instances; i++) {
        if (latencies[i] >= 0)
            sorted[n++] = latencies[i];
        if (o->latencies != NULL)
            fprintf(o->latencies, "%" PRId64 "\n", latencies[i]);
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

/* One run, to its end. An interrupt cancels it. */
static clo_status run_once(clo_job *job, clo_job_result *result)
{
    clo_status status = clo_job_submit(job);

    if (status != CLO_OK)
        return status;
    while ((status = clo_job_wait_for(job, 100000000, result)) == CLO_ERR_TIMEOUT)
        if (is_interrupted)
            clo_job_cancel(job);
    return status;
}

static void run_all(const options *o, const flow *f, clo_job *job, engine *e, outcome *out)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;

    for (uint32_t i = 0; i < o->repeat && !is_interrupted; i++) {
        if (e != NULL)
            engine_begin(e);
        out->status = run_once(job, &result);
        snprintf(out->clotho, sizeof out->clotho, "%s", out->status == CLO_OK ? "" : clo_last_error());
        if (e != NULL)
            engine_settle(e, &out->stats);
        out->rss_last_kb = rss_kb();
        out->fds_last = open_fds();
        if (i == 0) {
            out->rss_first_kb = out->rss_last_kb;
            out->fds_first = out->fds_last;
        }
        if (out->status != CLO_OK)
            break;
    }
    out->executed = result.executed;
    out->makespan_ns = result.makespan_ns;
    if (out->status == CLO_OK)
        out->hash = clo_job_output_hash(job);
    if (e != NULL)
        measure(o, f, engine_latencies(e), out);
    if (o->idle_ms > 0) {
        struct timespec rest = {.tv_sec = o->idle_ms / 1000, .tv_nsec = o->idle_ms % 1000 * 1000000L};
        int64_t before_us = cpu_us();
        nanosleep(&rest, NULL);
        out->idle_cpu_us = cpu_us() - before_us;
    }
}

static uint64_t hash_plan(const clo_plan *plan)
{
    size_t count = 0;
    const clo_placement *placements = plan != NULL ? clo_plan_placements(plan, &count) : NULL;

    return answer_hash(ANSWER_BEGIN, placements, count * sizeof *placements);
}

/* Starts the runtime and the engine, and runs the job. Returns the exit status. */
static int run_job(options *o, const flow *f, const clo_plan *plan, const resume *before, outcome *out)
{
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    engine *e = NULL;
    char error[512];
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = plan;
    config.done = before->done;
    config.done_outputs = before->outputs;
    o->engine.services = o->flow.services;
    o->engine.services_count = o->flow.services_count;
    o->engine.replica_of = f->replica_of;
    o->engine.methods = f->methods;
    o->engine.methods_count = f->methods_count;
    o->engine.instances = f->instances;
    o->engine.attempts_before = before->attempts;
    if (!o->flow.is_local && (e = engine_start(&o->engine, error, sizeof error)) == NULL) {
        fprintf(stderr, "rpc: %s\n", error);
        return 2;
    }
    if (clo_runtime_create(f->platform, NULL, &runtime) != CLO_OK ||
        clo_job_create(runtime, f->cost, &config, &job) != CLO_OK) {
        fprintf(stderr, "rpc: %s\n", clo_last_error());
        clo_runtime_destroy(runtime);
        engine_stop(e);
        return 2;
    }
    run_all(o, f, job, e, out);
    clo_runtime_destroy(runtime); /* and the job */
    engine_stop(e);
    if (out->status == CLO_OK && out->stats.failures == 0 && out->stats.journal[0] == '\0')
        return 0;
    return is_interrupted ? 130 : 1;
}

static void print_json(const flow *f, const outcome *r)
{
    const engine_stats *s = &r->stats;

    printf("{\"status\": \"%s\", \"hash\": \"%016" PRIx64 "\", \"graph_hash\": \"%016" PRIx64
           "\", \"plan_hash\": \"%016" PRIx64 "\", \"tasks\": %u, \"instances\": %u, \"done_before\": %" PRIu64
           ", \"again\": %" PRIu64 ", \"executed\": %" PRIu64,
           clo_status_text(r->status), r->hash, f->hash, r->plan_hash, f->methods_count, f->instances, r->done_before,
           r->again, r->executed);
    printf(", \"sequenced\": %u, \"not_sequenced\": %u, \"makespan_ms\": %.3f, \"answered\": %u", f->sequenced,
           f->not_sequenced, (double)r->makespan_ns * 1e-6, r->answered);
    printf(", \"p50_us\": %" PRId64 ", \"p95_us\": %" PRId64 ", \"p99_us\": %" PRId64 ", \"p999_us\": %" PRId64,
           r->p50_us, r->p95_us, r->p99_us, r->p999_us);
    printf(", \"requests\": %" PRIu64 ", \"calls\": %" PRIu64 ", \"hedges\": %" PRIu64 ", \"hedges_won\": %" PRIu64
           ", \"held_back\": %" PRIu64 ", \"cancelled\": %" PRIu64 ", \"retries\": %" PRIu64 ", \"failures\": %" PRIu64
           ", \"payload_bytes\": %" PRIu64,
           s->requests, s->calls, s->hedges, s->hedges_won, s->held_back, s->cancelled, s->retries, s->failures,
           s->payload_bytes);
    printf(", \"commits\": %" PRIu64 ", \"records\": %" PRIu64 ", \"idle_cpu_us\": %" PRId64
           ", \"rss_first_kb\": %ld, \"rss_last_kb\": %ld, \"fds_first\": %d, \"fds_last\": %d}\n",
           r->commits, r->records, r->idle_cpu_us, r->rss_first_kb, r->rss_last_kb, r->fds_first, r->fds_last);
}

static void print_text(const flow *f, const outcome *r)
{
    const engine_stats *s = &r->stats;

    printf("%s: tasks %u, instances %u (%" PRIu64 " done before) in %.1f ms", clo_status_text(r->status),
           f->methods_count, f->instances, r->done_before, (double)r->makespan_ns * 1e-6);
    if (r->status == CLO_OK)
        printf(", output %016" PRIx64, r->hash);
    if (s->requests > 0)
        printf("\nrequests %" PRIu64 ": calls %" PRIu64 ", hedges %" PRIu64 " (%" PRIu64 " won), retries %" PRIu64
               ", failures %" PRIu64,
               s->requests, s->calls, s->hedges, s->hedges_won, s->retries, s->failures);
    if (r->answered > 0)
        printf("; p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms", (double)r->p50_us * 1e-3, (double)r->p99_us * 1e-3,
               (double)r->p999_us * 1e-3);
    printf("\n");
    if (f->not_sequenced > 0)
        printf("%u callees are not in sequence: other callers share them\n", f->not_sequenced);
}

static int make_plan(const options *o, const flow *f, clo_plan **plan)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    if (o->planner == NULL)
        return 0;
    config.planner = clo_planner_find(o->planner);
    if (config.planner != NULL && clo_plan_create(f->cost, &config, plan) == CLO_OK)
        return 0;
    fprintf(stderr, "rpc: %s\n", clo_last_error());
    return -1;
}

/* Opens the journal, if there is to be one, and reads what is done. */
static int open_journal(options *o, const flow *f, outcome *result, resume *before)
{
    uint64_t identity[3] = {o->engine.run, f->hash, result->plan_hash};
    bool is_resumed = false;
    char error[512];

    if (o->journal_path == NULL) {
        o->engine.run = o->engine.run != 0 ? o->engine.run : journal_new_run();
        return 0;
    }
    o->engine.journal = journal_open(o->journal_path, o->is_durable, identity, &is_resumed, error, sizeof error);
    o->engine.run = identity[0];
    if (o->engine.journal == NULL ||
        (is_resumed && resume_read(o->engine.journal, f, before, error, sizeof error) != 0)) {
        fprintf(stderr, "rpc: %s\n", error);
        return -1;
    }
    result->done_before = before->finished;
    result->again = before->again;
    return 0;
}

/* Why it has not ended well, in one line. */
static const char *reason(const outcome *r)
{
    if (r->stats.journal[0] != '\0')
        return r->stats.journal;
    return r->stats.failure[0] != '\0' ? r->stats.failure : r->clotho;
}

static int run(options *o)
{
    flow f;
    clo_plan *plan = NULL;
    resume before = {.finished = 0};
    outcome result = {.status = CLO_ERR_STATE};
    char error[512];
    int code = 2;

    if (flow_create(&o->flow, &f, error, sizeof error) != 0) {
        fprintf(stderr, "rpc: %s\n", error);
        return 2;
    }
    if (make_plan(o, &f, &plan) == 0) {
        result.plan_hash = hash_plan(plan);
        if (open_journal(o, &f, &result, &before) == 0)
            code = run_job(o, &f, plan, &before, &result);
    }
    if (o->engine.journal != NULL) {
        result.commits = journal_commits(o->engine.journal);
        result.records = journal_records(o->engine.journal);
        journal_close(o->engine.journal);
    }
    if (code != 2)
        (o->is_json ? print_json : print_text)(&f, &result);
    if (code == 1)
        fprintf(stderr, "rpc: %s\n", reason(&result));
    resume_free(&before, &f);
    clo_plan_destroy(plan);
    flow_destroy(&f);
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
    options o = {.flow = {.work_us = 5000, .output_bytes = 64, .effect = EFFECT_KEYED},
                 .engine = {.seed = 1,
                            .attempts = ATTEMPTS_MAX,
                            .is_hedging = 1,
                            .backoff_us = 10000,
                            .backoff_max_us = 1000000,
                            .beat_ms = 2000},
                 .repeat = 1};
    struct sigaction stop = {.sa_handler = on_signal};

    read_options(&o, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    int code = run(&o);
    int is_bad = close_output(o.engine.events, "--events");
    is_bad |= close_output(o.latencies, "--latencies");
    is_bad |= close_output(stdout, "the output");
    free(o.route);
    return code == 0 && is_bad ? 1 : code;
}
