/* cmd_convert.c - `clotho convert IN OUT`: between graph formats. */
#include "commands.h"
#include "input.h"
#include "json.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

int cmd_convert(int argc, char **argv)
{
    static const command cmd = {
        "convert",
        "IN OUT",
        2,
        2,
        "Reads a graph in any known format (recognised by content) and writes it in another.",
        "'-' is standard input or output. Without --format the suffix of OUT decides: .dot and .gv are Graphviz,\n"
        "all others Clotho's own JSON. 'clotho list formats' prints the formats."};
    const char *format = NULL;
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    bool as_json = false;

    config.scale = 1;
    const option_spec options[] = {
        {"format", 'f', "NAME", OPTION_TEXT, &format, "clotho, dot, wfformat or saga"},
        {"scale", 0, "X", OPTION_REAL, &config.scale, "multiply times and bytes by X"},
        {"instance", 'i', "NAME", OPTION_TEXT, &config.instance,
         "take only the instance of this name, from a file with many"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print the report as one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);
    clo_document *document = NULL;
    json out;

    if (code != OPTIONS_GO_ON)
        return code;
    if (!(config.scale > 0))
        return misuse("--scale is 0; write a number > 0");
    if (as_json && strcmp(operands[1], "-") == 0)
        return misuse("--json and OUT '-' both want standard output; name a file");
    clo_status status = clo_document_load(operands[0], &config, &document);
    if (status != CLO_OK)
        return complain_status(operands[0], status);
    status = clo_document_save(document, format, operands[1]);
    if (status == CLO_ERR_ARGUMENT)
        code = misuse("%s", clo_last_error());
    else if (status != CLO_OK)
        code = complain_status(operands[1], status);
    else
        code = EXIT_GOOD;
    if (code == EXIT_GOOD && as_json) {
        json_begin(&out);
        json_text(&out, "graph", clo_graph_name(clo_document_graph(document)));
        json_count(&out, "tasks", clo_graph_tasks(clo_document_graph(document)));
        json_count(&out, "edges", clo_graph_edges(clo_document_graph(document)));
        json_text(&out, "from", clo_document_format(document));
        json_text(&out, "file", operands[1]);
        code = json_print(&out);
    }
    clo_document_destroy(document);
    return code;
}
