/* cmd_convert.c - `clotho convert IN OUT`: between graph formats, and from data sets to workloads. */
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/outputs.h"

#include <stdio.h>
#include <string.h>

typedef struct convert_options {
    const char *in, *out, *format;
    clo_load_config config;
    bool as_json;
} convert_options;

static int convert_graph(const convert_options *o)
{
    clo_document *document = NULL;
    int code = EXIT_GOOD;
    clo_status status = clo_document_load(o->in, &o->config, &document);
    json out;

    if (status != CLO_OK)
        return complain_status(o->in, status);
    if (clo_document_note(document) != NULL)
        note("%s", clo_document_note(document));
    status = clo_document_save(document, o->format, o->out);
    if (status == CLO_ERR_ARGUMENT)
        code = misuse("%s", clo_last_error());
    else if (status != CLO_OK)
        code = complain_status(o->out, status);
    if (code == EXIT_GOOD && o->as_json) {
        json_begin(&out);
        json_text(&out, "graph", clo_graph_name(clo_document_graph(document)));
        json_count(&out, "tasks", clo_graph_tasks(clo_document_graph(document)));
        json_count(&out, "edges", clo_graph_edges(clo_document_graph(document)));
        json_text(&out, "from", clo_document_format(document));
        json_text(&out, "file", o->out);
        code = json_print(&out);
    }
    clo_document_destroy(document);
    return code;
}

static int convert_workload(const convert_options *o)
{
    clo_workload *workload = NULL;
    int code = EXIT_GOOD;
    clo_status status = workload_load(o->in, &o->config, &workload);
    json out;

    if (status != CLO_OK)
        return complain_status(o->in, status);
    status = clo_workload_save(workload, o->out);
    if (status != CLO_OK)
        code = complain_status(o->out, status);
    if (code == EXIT_GOOD && o->as_json) {
        json_begin(&out);
        json_text(&out, "workload", clo_workload_name(workload));
        json_count(&out, "jobs", clo_workload_jobs(workload));
        json_text(&out, "file", o->out);
        code = json_print(&out);
    }
    clo_workload_destroy(workload);
    return code;
}

int cmd_convert(int argc, char **argv)
{
    static const command cmd = {
        "convert",
        "IN OUT",
        2,
        2,
        "Reads a graph or a workload in any known format (recognised by content) and writes it in another.",
        "'-' is standard input or output. Without --format the suffix of OUT decides: .dot and .gv are Graphviz,\n"
        "all others Clotho's own JSON; endings of pictures and other formats are refused. 'clotho list formats'\n"
        "prints the formats.\n"
        "--format workload makes each instance of IN a job, with its arrival where IN says one."};
    convert_options o = {.config = CLO_LOAD_CONFIG_INIT};

    o.config.scale = 1;
    const option_spec options[] = {
        {"format", 'f', "NAME", OPTION_TEXT, &o.format, "clotho, dot, wfformat, saga or workload"},
        {"scale", 0, "X", OPTION_FACTOR, &o.config.scale, "multiply times and bytes by X"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o.config.instance,
         "take only the instance of this name, from a file with many"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print the report as one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    if (o.as_json && strcmp(operands[1], "-") == 0)
        return misuse("--json and OUT '-' both want standard output; name a file");
    bool is_workload = o.format != NULL && strcmp(o.format, "workload") == 0;
    if (is_workload && o.config.instance != NULL)
        return misuse("--instance takes one graph, --format workload all of them; leave one out");
    o.in = operands[0];
    o.out = operands[1];
    if (known_output(o.out, o.format) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    if (outputs_are_same(o.in, o.out))
        return misuse("OUT would replace IN, %s; name another file", show_name(o.in));
    code = output_check(o.out);
    if (code == EXIT_GOOD)
        code = refuse_log(o.in);
    if (code == EXIT_GOOD && !is_workload && names_workload(o.in))
        code = complain(o.in, "this is a workload, no graph; write it with --format workload");
    if (code != EXIT_GOOD)
        return code;
    return is_workload ? convert_workload(&o) : convert_graph(&o);
}
