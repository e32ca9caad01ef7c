/* cmd.c - `clotho generate KIND`: seeded graph families. */
#include "clotho/common/actions.h"
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const command cmd = {
    "generate",
    "KIND",
    1,
    1,
    "Writes a seeded graph of a known family: chain, forkjoin, intree, outtree, layered, wavefront, cholesky,\n"
    "fft, gauss, montage or independent. The same options give the same file on every machine.",
    "Example: clotho generate cholesky --tasks 220 --work 200us --ccr 0.5 -o cholesky.json\n"
    "'clotho list families' describes the families. 'clotho generate stream' writes jobs that arrive over time:\n"
    "see 'clotho generate stream --help'.\n"
    "Demands are in thousandths of a machine: of each resource r0, r1 ... a task demands 1 to 1000, where 1000 is all\n"
    "that a machine of capacity 1000 has. A platform that does not name the resource does not limit it."};

/* "4" or "2-8". */
static bool read_range(const char *text, uint32_t *least, uint32_t *most)
{
    char *end;

    if (text == NULL)
        return true;
    for (int k = 0; k < 2; k++) {
        if (*text < '1' || *text > '9')
            return false;
        unsigned long number = strtoul(text, &end, 10);
        if (number > UINT32_MAX || (k == 0 && *end != '-' && *end != '\0') || (k == 1 && *end != '\0'))
            return false;
        *(k == 0 ? least : most) = (uint32_t)number;
        if (k == 0 && *end == '\0')
            *most = *least;
        if (*end == '\0')
            return *least <= *most;
        text = end + 1;
    }
    return false;
}

static int report(const clo_graph *graph, const char *family, const char *path, uint64_t seed)
{
    json out;

    json_begin(&out);
    json_text(&out, "graph", clo_graph_name(graph));
    json_text(&out, "kind", family);
    json_count(&out, "tasks", clo_graph_tasks(graph));
    json_count(&out, "edges", clo_graph_edges(graph));
    json_count(&out, "seed", seed);
    json_text(&out, "file", path);
    return json_print(&out);
}

static int write_graph(const char *family, const clo_generate_config *config, const char *format, const char *path,
                       bool as_json)
{
    clo_document *document = NULL;
    clo_graph *graph = NULL;
    clo_status status = clo_graph_generate(family, config, &graph);

    if (status != CLO_OK)
        return generate_refuse(NULL, status);
    if (status == CLO_OK)
        status = clo_document_create(graph, NULL, &document);
    if (status != CLO_OK) {
        clo_graph_destroy(graph);
        return complain_status(NULL, status);
    }
    status = clo_document_save(document, format, path);
    int code = EXIT_GOOD;
    if (status != CLO_OK)
        code = status == CLO_ERR_ARGUMENT ? misuse("%s", clo_last_error()) : complain_status(path, status);
    else if (as_json)
        code = report(graph, family, path, config->seed);
    else if (strcmp(path, "-") != 0)
        printf("%s: %s, %u tasks, %u edges\n", show_name(path), show_name(clo_graph_name(graph)),
               clo_graph_tasks(graph), clo_graph_edges(graph));
    clo_document_destroy(document);
    return code;
}

static const char *kind_at(uint32_t index)
{
    return index == 0 ? "stream" : family_at(index - 1);
}

int cmd_generate(int argc, char **argv)
{
    static const action actions[] = {{"stream", generate_stream, "write a seeded workload: jobs over time"}, {0}};

    if (argc > 1 && strcmp(argv[1], actions[0].name) == 0)
        return generate_stream(argc - 1, argv + 1);
    (void)actions_describe("generate", actions, argc, argv); /* the options of the verb itself follow */
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    const char *path = "-", *format = NULL, *instances = NULL;
    bool as_json = false, duplicable = false, outputs = false;
    const option_spec options[] = {
        {"output", 'o', "F", OPTION_OUTPUT, &path, "file to write; '-': standard output (default)"},
        {"format", 'f', "NAME", OPTION_TEXT, &format, "clotho, dot or wfformat; default: by the suffix of F"},
        {"tasks", 'n', "N", OPTION_COUNT, &config.tasks, "about this many tasks (100)"},
        {"seed", 0, "N", OPTION_U64, &config.seed, "fix every random choice (0)"},
        {"width", 0, "N", OPTION_U32, &config.width, "layer width, branches, lanes or arity, by family"},
        {"work", 0, "TIME", OPTION_TIME, &config.work_mean_ns, "mean work of a task (100us)"},
        {"spread", 0, "X", OPTION_REAL, &config.work_spread, "work uniform in mean*(1 +- X), 0 to 1 (0)"},
        {"ccr", 0, "X", OPTION_REAL, &config.ccr, "communication to computation ratio (0)"},
        {"kinds", 0, "N", OPTION_U32, &config.kinds,
         "number of executor kinds k0, k1 ..., each with its own times (0)"},
        {"beta", 0, "X", OPTION_REAL, &config.beta, "heterogeneity over the kinds, below 2 (0)"},
        {"demands", 0, "R", OPTION_U32, &config.demands, "number of resources r0, r1 ... that every task demands (0)"},
        {"instances", 0, "A-B", OPTION_TEXT, &instances, "instances of each task, from A to B, or A (1)"},
        {"outputs", 0, NULL, OPTION_FLAG, &outputs, "give each task an output buffer as large as its largest edge"},
        {"duplicable", 0, NULL, OPTION_FLAG, &duplicable, "tasks may be executed more than once"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print the report as one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    const char *near = nearest_name(operands[0], kind_at);
    if (near != NULL && strcmp(near, kind_at(0)) == 0)
        return misuse("'%s' is no kind of graph; did you mean '%s'?", show_name(operands[0]), near);
    if (known_family(operands[0]) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    if (known_output(path, format) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    if (format != NULL && strcmp(format, "workload") == 0)
        return misuse("--format is workload, but this is one graph; 'clotho generate stream' writes workloads");
    if (format != NULL && strcmp(format, "saga") == 0)
        return misuse("--format is saga, whose files have a platform, and generated graphs have none; write clotho");
    if (as_json && strcmp(path, "-") == 0)
        return misuse("--json and -o '-' both want standard output; name a file");
    if (!read_range(instances, &config.instances_min, &config.instances_max))
        return misuse("--instances is '%s'; write a number > 0, or two with the smaller one first such as 2-8",
                      instances);
    config.duplicable = duplicable;
    config.outputs = outputs;
    return write_graph(operands[0], &config, format, path, as_json);
}
