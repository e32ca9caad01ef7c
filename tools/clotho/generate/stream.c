/* stream.c - `clotho generate stream`: a workload of jobs that are drawn from a few generated graphs. The
 * graphs come first, each with its weight, limit and deadline; then clo_workload_arrivals draws jobs among them. */
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/stream/arrivals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRAPHS_MAX 100000

static const command cmd = {
    "generate stream",
    "",
    0,
    0,
    "Writes a seeded workload (clotho.workload/1): jobs drawn from generated graphs, in order of arrival.",
    "Example: clotho generate stream --jobs 1000 --arrivals poisson:20ms --weights 3 --deadline 4 -o stream.jsonl\n"
    "The graphs are of all families but switches in turn, or of those given. The same options give the same file\n"
    "everywhere."};

typedef struct stream_options {
    const char *path, *arrivals;
    option_list families;
    clo_generate_config graph;
    uint32_t jobs, graphs, weights, limits;
    double deadline;
    bool as_json;
} stream_options;

typedef struct stream {
    const stream_options *o;
    clo_workload *pool, *jobs;
    uint64_t state; /* of the random numbers below */
} stream;

/* 1 .. most. Splitmix64 (Steele, Lea, Flood 2014), multiply-shift. */
static uint32_t draw(stream *s, uint32_t most)
{
    uint64_t x = s->state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return 1 + (uint32_t)(((x ^ (x >> 31)) >> 32) * most >> 32);
}

/* Graphs with branches are not known to all that reads streams: such a family is taken where it is asked for. */
static const char *family_of(const stream_options *o, uint32_t index)
{
    uint32_t count = 0;

    if (o->families.count > 0)
        return o->families.items[index % o->families.count];
    while (family_at(count) != NULL && strcmp(family_at(count), "switches") != 0)
        count++;
    return count > 0 ? family_at(index % count) : NULL;
}

/* Work of all instances, at most 2^61. */
static int64_t work_of(const clo_graph *graph)
{
    const int64_t most = (int64_t)1 << 61;
    int64_t sum = 0;
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK)
            sum = task.work_ns < most - sum ? sum + task.work_ns : most;
    return sum;
}

static clo_status add_graph(stream *s, uint32_t index)
{
    const stream_options *o = s->o;
    const char *family = family_of(o, index);
    clo_generate_config config = o->graph;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_graph *graph = NULL;
    char name[96];

    config.seed += index;
    config.tasks = draw(s, config.tasks < UINT32_MAX / 2 ? 2 * config.tasks - 1 : UINT32_MAX);
    job.weight = o->weights > 1 ? draw(s, o->weights) : 1;
    job.limit = o->limits > 0 ? draw(s, o->limits) : 0;
    clo_status status = clo_graph_generate(family, &config, &graph);
    if (status != CLO_OK)
        return status;
    status = clo_workload_adopt(s->pool, graph);
    if (status != CLO_OK)
        return clo_graph_destroy(graph), status;
    double deadline_ns = (double)work_of(graph) * o->deadline;
    if (deadline_ns > 0)
        job.deadline_ns = deadline_ns < 0x1p60 ? (int64_t)ceil(deadline_ns) : (int64_t)1 << 60;
    snprintf(name, sizeof name, "%.60s-%u", family, index);
    job.name = name;
    job.graph = graph;
    return clo_workload_add(s->pool, &job);
}

static clo_status make(stream *s, const clo_arrivals_config *arrivals)
{
    clo_status status = clo_workload_create("stream", &s->pool);

    for (uint32_t g = 0; g < s->o->graphs && status == CLO_OK; g++)
        status = add_graph(s, g);
    if (status == CLO_OK)
        status = clo_workload_arrivals(s->pool, arrivals, &s->jobs);
    return status;
}

static int report(const stream *s)
{
    json out;

    if (!s->o->as_json) {
        if (strcmp(s->o->path, "-") != 0)
            printf("%s: %u jobs of %u graphs\n", show_name(s->o->path), clo_workload_jobs(s->jobs), s->o->graphs);
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "workload", clo_workload_name(s->jobs));
    json_count(&out, "jobs", clo_workload_jobs(s->jobs));
    json_count(&out, "graphs", s->o->graphs);
    json_count(&out, "seed", s->o->graph.seed);
    json_text(&out, "file", s->o->path);
    return json_print(&out);
}

static int write_stream(const stream_options *o, const clo_arrivals_config *arrivals)
{
    stream s = {.o = o, .state = o->graph.seed};
    clo_status status = make(&s, arrivals);
    int code;

    if (status == CLO_OK)
        status = clo_workload_save(s.jobs, o->path);
    if (status == CLO_OK)
        code = report(&s);
    else
        code = generate_refuse(o->path, status);
    clo_workload_destroy(s.jobs);
    clo_workload_destroy(s.pool);
    return code;
}

static int check(const stream_options *o)
{
    for (uint32_t f = 0; f < o->families.count; f++)
        if (known_family(o->families.items[f]) != EXIT_GOOD)
            return EXIT_BAD_USAGE;
    if (o->jobs == 0 || o->graphs == 0 || o->graphs > GRAPHS_MAX || o->graph.tasks == 0)
        return misuse("--jobs, --tasks and --graphs must be > 0, --graphs at most %d", GRAPHS_MAX);
    if (o->as_json && strcmp(o->path, "-") == 0)
        return misuse("--json and -o '-' both want standard output; name a file");
    if (ending_names_kind(o->path, "json"))
        return misuse("'%s' is no name of a workload file; write F.jsonl", show_name(o->path));
    return EXIT_GOOD;
}

int generate_stream(int argc, char **argv)
{
    stream_options o = {.path = "-", .arrivals = "batch", .jobs = 100, .graphs = 22, .weights = 1};
    clo_arrivals_config arrivals = CLO_ARRIVALS_CONFIG_INIT;
    const clo_generate_config defaults = CLO_GENERATE_CONFIG_INIT;
    const option_spec options[] = {
        {"output", 'o', "F", OPTION_OUTPUT, &o.path, "file to write; '-': standard output (default)"},
        {"jobs", 0, "N", OPTION_COUNT, &o.jobs, "number of jobs (100)"},
        {"arrivals", 0, "batch|poisson:S", OPTION_TEXT, &o.arrivals,
         "all at once (default), or with a mean gap of S seconds (or 20ms ...)"},
        {"seed", 0, "N", OPTION_U64, &o.graph.seed, "fix every random choice (0)"},
        {"graphs", 0, "N", OPTION_COUNT, &o.graphs, "number of graphs that the jobs are drawn from (22)"},
        {"family", 0, "NAME", OPTION_LIST, &o.families,
         "take graphs of this family; may be repeated (all but switches)"},
        {"tasks", 'n', "N", OPTION_COUNT, &o.graph.tasks, "mean number of tasks; each graph has 1 to 2N-1 (100)"},
        {"work", 0, "TIME", OPTION_TIME, &o.graph.work_mean_ns, "mean work of a task (100us)"},
        {"spread", 0, "X", OPTION_REAL, &o.graph.work_spread, "work uniform in mean*(1 +- X), 0 to 1 (0.5)"},
        {"ccr", 0, "X", OPTION_REAL, &o.graph.ccr, "communication to computation ratio (0)"},
        {"weights", 0, "N", OPTION_U32, &o.weights, "weights from 1 to N (1)"},
        {"limits", 0, "N", OPTION_U32, &o.limits, "a limit of 1 to N executors for each job (none)"},
        {"deadline", 0, "X", OPTION_REAL, &o.deadline, "a deadline of X times the work of the job (none)"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print the report as one JSON object on standard output"}};
    char **operands;
    int count;

    o.graph = defaults;
    o.graph.tasks = 100;
    o.graph.work_spread = 0.5;
    int code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check(&o);
    if (code == EXIT_GOOD)
        code = arrivals_parse("arrivals", o.arrivals, &arrivals);
    if (code != EXIT_GOOD)
        return code;
    if (arrivals.kind == CLO_ARRIVALS_TRACE)
        return misuse("--arrivals is trace, but nothing was recorded; write batch or poisson:SECONDS");
    arrivals.jobs = o.jobs;
    arrivals.shuffled = 1;
    arrivals.seed = o.graph.seed;
    return write_stream(&o, &arrivals);
}
