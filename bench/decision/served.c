/* served.c - see served.h. The driver is this process, and waits in read(2): what a client sees, wake-ups included. */
#define _GNU_SOURCE /* SOCK_CLOEXEC, sched_setaffinity */
#include "decision/served.h"

#include "common/platform.h"
#include "common/temporary.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096, PATH_BYTES = 4096, INSTANCES = 1 << 20, TRIES = 2000 };

#define GRAPH "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"name\": \"t\", \"work_ns\": 1000, \"instances\": %d}]}"

typedef struct running {
    unsigned long long job;
    unsigned stage, instance, executor;
} running;

/* Both sides of one policy. */
typedef struct served {
    char folder[TEMPORARY_MAX];
    cpu_set_t cpus; /* of this process before */
    pid_t server, echo;
    int link, echo_link; /* -1: not open */
    running choices[SERVED_EXECUTORS];
    long long now_ns;
    char text[TEXT_BYTES]; /* of the last answer */
    size_t bytes;
    size_t echo_bytes; /* of the answers of the echo */
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_service *service;
    clo_service_choice alone[SERVED_EXECUTORS];
    double *values; /* [samples] */
} served;

static bool fail(const char *what)
{
    fprintf(stderr, "bench: decision through a socket: %s\n", what);
    return false;
}

static bool is_whole(const char *text, size_t bytes)
{
    const char *last = memrchr(text, '\n', bytes - (bytes > 0));

    if (bytes == 0 || text[bytes - 1] != '\n')
        return false;
    last = last != NULL ? last + 1 : text;
    return strncmp(last, "{\"ok\"", 5) == 0 || strncmp(last, "{\"error\"", 8) == 0 ||
           strncmp(last, "{\"state\"", 8) == 0;
}

/* The answer to an event, up to its "ok"; `line` NULL: what the service says first. */
static bool ask(served *s, const char *line, size_t bytes)
{
    if (line != NULL && send(s->link, line, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        return false;
    for (s->bytes = 0; s->bytes == 0 || !is_whole(s->text, s->bytes);) {
        ssize_t got = read(s->link, s->text + s->bytes, TEXT_BYTES - 1 - s->bytes);
        if (got <= 0)
            return false;
        s->bytes += (size_t)got;
    }
    s->text[s->bytes] = '\0';
    return strstr(s->text, "\"error\"") == NULL;
}

/* The number behind the key, which stands behind *at; moves *at there. */
static unsigned long long number_of(const char **at, const char *key)
{
    const char *found = strstr(*at, key);

    if (found == NULL)
        return ULLONG_MAX;
    *at = found + strlen(key);
    return strtoull(*at, NULL, 10);
}

/* Keeps the choices of the answer. */
static void take_choices(served *s)
{
    for (const char *at = s->text; (at = strstr(at, "{\"choice\"")) != NULL;) {
        running r = {.job = number_of(&at, "\"job\": ")};
        r.stage = (uint32_t)number_of(&at, "\"stage\": ");
        r.instance = (uint32_t)number_of(&at, "\"instance\": ");
        r.executor = (uint32_t)number_of(&at, "\"executor\": ");
        if (r.executor < SERVED_EXECUTORS)
            s->choices[r.executor] = r;
        at++;
    }
}

static void run_server(const char *folder, const char *policy)
{
    char path[PATH_BYTES], platform[32], place[TEMPORARY_MAX + 8];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    char *slash;

    path[length > 0 ? length : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL)
        _exit(127);
    snprintf(slash, 16, "/clotho");
    snprintf(platform, sizeof platform, "uniform:%d", SERVED_EXECUTORS);
    snprintf(place, sizeof place, "%s/s", folder);
    execl(path, path, "serve", "--platform", platform, "--policy", policy, "--socket", place, (char *)NULL);
    _exit(127);
}

/* Once the service listens. */
static bool connect_to(served *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timespec moment = {.tv_nsec = 5000000};

    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", s->folder);
    s->link = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (int i = 0; i < TRIES && s->link >= 0; i++) {
        if (connect(s->link, (const struct sockaddr *)&address, sizeof address) == 0)
            return true;
        if (waitpid(s->server, NULL, WNOHANG) == s->server) {
            s->server = 0;
            return fail("the program 'clotho' beside this one does not run; build it");
        }
        nanosleep(&moment, NULL);
    }
    return fail("nobody listens");
}

/* What the echo says to each line: as many bytes as the service. */
static void run_echo(int link, const char *answer, size_t bytes)
{
    char text[TEXT_BYTES];

    for (ssize_t got; (got = read(link, text, sizeof text)) > 0;) /* until the driver hangs up */
        if (text[got - 1] == '\n' && send(link, answer, bytes, MSG_NOSIGNAL) < 0)
            break;
    _exit(0);
}

static bool open_echo(served *s)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return fail("no pair of sockets");
    s->echo_bytes = s->bytes;
    s->echo = fork();
    if (s->echo == 0) {
        close(pair[0]);
        run_echo(pair[1], s->text, s->bytes);
    }
    close(pair[1]);
    s->echo_link = pair[0];
    return s->echo > 0 || fail("no process");
}

static size_t write_finish(served *s, uint32_t turn, char *line)
{
    const running *r = &s->choices[turn % SERVED_EXECUTORS];

    s->now_ns += 1000;
    return (size_t)snprintf(line, TEXT_BYTES,
                            "{\"event\": \"finish\", \"time_ns\": %lld, \"job\": %llu, \"stage\": %u, \"instance\": "
                            "%u, \"executor\": %u}\n",
                            s->now_ns, r->job, r->stage, r->instance, r->executor);
}

static bool measure_through(served *s, uint32_t samples)
{
    char line[TEXT_BYTES];

    for (uint32_t i = 0; i < samples; i++) {
        size_t bytes = write_finish(s, i, line);
        int64_t before_ns = bench_now_ns();
        bool is_good = ask(s, line, bytes);
        s->values[i] = (double)(bench_now_ns() - before_ns);
        if (!is_good)
            return fail("the service refuses an event, or has ended");
        take_choices(s);
    }
    return true;
}

static bool measure_raw(served *s, uint32_t samples)
{
    char line[TEXT_BYTES], answer[TEXT_BYTES];
    size_t bytes = write_finish(s, 0, line);

    for (uint32_t i = 0; i < samples; i++) {
        int64_t before_ns = bench_now_ns();
        ssize_t got = send(s->echo_link, line, bytes, MSG_NOSIGNAL);
        for (size_t have = 0; got > 0 && have < s->echo_bytes; have += (size_t)got)
            got = read(s->echo_link, answer, sizeof answer);
        s->values[i] = (double)(bench_now_ns() - before_ns);
        if (got <= 0)
            return fail("the echo has ended");
    }
    return true;
}

static bool finish_alone(served *s, uint32_t turn)
{
    const clo_service_choice *c = &s->alone[turn % SERVED_EXECUTORS];
    clo_service_report report = CLO_SERVICE_REPORT_INIT;
    clo_service_choice next;

    report.job = c->job;
    report.stage = c->stage;
    report.instance = c->instance;
    report.executor = c->executor;
    if (clo_service_finish(s->service, &report, clo_service_now_ns(s->service) + 1000) != CLO_OK)
        return bench_fail("clo_service_finish");
    while (clo_service_next(s->service, &next))
        s->alone[next.executor] = next;
    return true;
}

static bool measure_alone(served *s, uint32_t samples)
{
    for (uint32_t i = 0; i < samples; i++) {
        int64_t before_ns = bench_now_ns();
        if (!finish_alone(s, i))
            return false;
        s->values[i] = (double)(bench_now_ns() - before_ns);
    }
    return true;
}

/* Jobs whose instances do not come to an end. */
static bool fill_server(served *s)
{
    char line[TEXT_BYTES];

    if (!ask(s, NULL, 0))
        return fail("the service does not speak");
    for (int j = 0; j < SERVED_JOBS; j++) {
        int bytes = j == 0 ? snprintf(line, sizeof line,
                                      "{\"event\": \"arrive\", \"time_ns\": 0, \"graph\": " GRAPH "}\n", INSTANCES)
                           : snprintf(line, sizeof line, "{\"event\": \"arrive\", \"time_ns\": 0, \"graph\": 0}\n");
        if (!ask(s, line, (size_t)bytes))
            return fail("a job is refused");
        take_choices(s);
    }
    return true;
}

static bool fill_alone(served *s, const char *policy)
{
    const clo_task task = {.name = "t", .work_ns = 1000, .instances = INSTANCES};
    clo_service_config config = CLO_SERVICE_CONFIG_INIT;
    clo_service_job job = CLO_SERVICE_JOB_INIT;
    clo_service_choice choice;
    char platform[32];

    config.policy = clo_policy_find(policy);
    snprintf(platform, sizeof platform, "uniform:%d", SERVED_EXECUTORS);
    if (clo_graph_create("t", &s->graph) || clo_graph_add_task(s->graph, &task, NULL) || clo_graph_seal(s->graph) ||
        clo_platform_open(platform, &s->platform) || clo_cost_create(s->graph, s->platform, &s->cost) ||
        clo_service_create(s->platform, &config, &s->service))
        return bench_fail("a service");
    job.cost = s->cost;
    for (int j = 0; j < SERVED_JOBS; j++) {
        if (clo_service_arrive(s->service, &job, 0, NULL) != CLO_OK)
            return bench_fail("clo_service_arrive");
        while (clo_service_next(s->service, &choice))
            s->alone[choice.executor] = choice;
    }
    return true;
}

/* All three processes run on one CPU. On two the system wakes an idle one for each line or does not, as it likes: one
 * round trip took 4 us or 45. On one the service has nothing behind which its own time could hide. */
static void stay_on_one_cpu(served *s)
{
    cpu_set_t one;
    size_t cpu = 0;

    if (sched_getaffinity(0, sizeof s->cpus, &s->cpus) != 0)
        return;
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &s->cpus))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one); /* without it figures vary */
}

static bool open_all(served *s, const char *policy)
{
    if (!temporary_make(s->folder))
        return fail("no folder for a socket");
    stay_on_one_cpu(s);
    s->server = fork();
    if (s->server == 0)
        run_server(s->folder, policy);
    return s->server > 0 && connect_to(s) && fill_server(s) && fill_alone(s, policy) &&
           measure_through(s, SERVED_EXECUTORS) && open_echo(s); /* the echo answers as the service did last */
}

static void close_all(served *s)
{
    if (s->link >= 0)
        close(s->link);
    if (s->echo_link >= 0)
        close(s->echo_link);
    if (s->server > 0) {
        kill(s->server, SIGTERM);
        waitpid(s->server, NULL, 0);
    }
    if (s->echo > 0)
        waitpid(s->echo, NULL, 0);
    clo_service_destroy(s->service);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
    temporary_remove(s->folder);
    if (CPU_COUNT(&s->cpus) > 0)
        (void)sched_setaffinity(0, sizeof s->cpus, &s->cpus);
}

static double p50_of(const served *s, uint32_t samples)
{
    bench_sort(s->values, samples);
    return bench_quantile(s->values, samples, 0.5);
}

static bool measure_round(served *s, uint32_t samples, double out[3])
{
    if (!measure_raw(s, samples))
        return false;
    out[0] = p50_of(s, samples);
    if (!measure_through(s, samples))
        return false;
    out[1] = p50_of(s, samples);
    if (!measure_alone(s, samples))
        return false;
    out[2] = p50_of(s, samples);
    return true;
}

bool served_measure(const char *policy, uint32_t rounds, uint32_t samples, served_row *out)
{
    served s = {.link = -1, .echo_link = -1};
    double *kept = calloc(4 * (size_t)rounds + samples, sizeof *kept), round[3] = {0};
    double *raw = kept, *through = kept + rounds, *alone = kept + 2 * (size_t)rounds,
           *ratios = kept + 3 * (size_t)rounds;
    bool is_good = kept != NULL;

    s.values = kept + 4 * (size_t)rounds;
    is_good = is_good && open_all(&s, policy);
    for (uint32_t r = 0; r < rounds && is_good; r++) {
        is_good = measure_round(&s, samples, round);
        raw[r] = round[0];
        through[r] = round[1];
        alone[r] = round[2];
        ratios[r] = is_good ? round[1] / (round[0] + round[2]) : 0;
    }
    close_all(&s);
    if (is_good)
        *out = (served_row){bench_summarise(through, rounds).median, bench_summarise(raw, rounds).median,
                            bench_summarise(alone, rounds).median, bench_summarise(ratios, rounds).median};
    free(kept);
    return is_good;
}
