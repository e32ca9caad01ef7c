/* cmd_platform.c - `clotho platform show | calibrate | list | check`. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/actions.h"
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/outputs.h"
#include "clotho/run/hosts.h"

#include <clotho/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a platform as text or as its JSON object. */
static int describe(const clo_platform *platform, bool as_json)
{
    char *text = NULL;
    clo_status status = as_json ? clo_platform_describe_json(platform, &text)
                                : clo_platform_describe(platform, terminal_columns(), &text);

    if (status != CLO_OK)
        return complain_status(NULL, status);
    size_t length = strlen(text);
    if (as_json)
        fwrite(text, 1, length, stdout);
    else
        print_drawing(text);
    if (length == 0 || text[length - 1] != '\n')
        putchar('\n');
    free(text);
    return EXIT_GOOD;
}

static int show(int argc, char **argv)
{
    static const command cmd = {
        "platform show",
        "[SPEC]",
        0,
        1,
        "Prints the executors, kinds, speeds, caches and links of a platform.",
        "SPEC is native (default), the name of a shipped platform (see 'clotho platform list'), an hwloc XML\n"
        "file, a cluster file F.json, uniform:P, or slots:P."};
    bool as_json = false;
    const char *spec = NULL, *svg = NULL;
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &spec, "the same as the operand"},
        {"svg", 0, "F.svg", OPTION_OUTPUT, &svg, "draw its packages, clusters and cores"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 3, argc, argv, &operands, &count);
    clo_platform *platform;

    if (code != OPTIONS_GO_ON)
        return code;
    if (count > 0 && spec != NULL)
        return misuse("--platform is '%s', and the operand is '%s'; leave one out", spec, operands[0]);
    if (is_output(svg) && as_json)
        return misuse("--json and --svg - both want standard output; name a file");
    code = platform_open(count > 0 ? operands[0] : spec != NULL ? spec : "native", &platform);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = svg != NULL ? clo_platform_svg(platform, svg) : CLO_OK;
    code = status == CLO_OK ? EXIT_GOOD : complain_status(svg, status);
    if (code == EXIT_GOOD && !is_output(svg))
        code = describe(platform, as_json);
    clo_platform_destroy(platform);
    return code;
}

static int calibrate(int argc, char **argv)
{
    static const command cmd = {
        "platform calibrate",
        "",
        0,
        0,
        "Measures this machine: the speed of each executor for integer, floating-point and memory-bound\n"
        "work, and latency and bandwidth of each pair. Takes about 10 s on 2 cores.",
        "Other verbs read the file with --platform F.xml."};
    bool as_json = false, quick = false;
    const char *path = NULL, *hosts = NULL; /* with hosts another program takes over below */
    const option_spec options[] = {
        {"output", 'o', "F.xml", OPTION_OUTPUT, &path, "write the platform file there"},
        {"quick", 0, NULL, OPTION_FLAG, &quick, "take about a second; less exact"},
        {"hosts", 0, "F.json", OPTION_INPUT, &hosts,
         "measure the links of a cluster instead; started by mpirun or srun"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    clo_platform *platform = NULL;
    if (run_has_hosts(argc, argv))
        return calibrate_hosts(argc, argv);
    int count, code = options_parse(&cmd, options, 4, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    if (is_output(path))
        return misuse("-o is '-'; name a file, standard output carries the report");
    clo_status status = clo_platform_calibrate(quick, progress, NULL, path, &platform);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    code = describe(platform, as_json);
    clo_platform_destroy(platform);
    if (code == EXIT_GOOD && path != NULL && !as_json)
        printf("\nwritten to %s\n", show_name(path));
    return code;
}

static int list(int argc, char **argv)
{
    static const command cmd = {"platform list", "", 0, 0, "Prints the shipped platforms.", NULL};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);
    char *forwarded[] = {(char[]){"list"}, (char[]){"platforms"}, (char[]){"--json"}, NULL};

    return code != OPTIONS_GO_ON ? code : cmd_list(as_json ? 3 : 2, forwarded);
}

/* The lines of clo_platform_check_host, "STATE text", as objects. `text` is cut into pieces. */
static int print_checks(char *text, uint32_t lacking)
{
    json out;
    char *rest = NULL;

    json_begin(&out);
    json_open(&out, "checks", '[');
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        size_t word = strcspn(line, " \t");
        char *after = line + word + strspn(line + word, " \t");
        line[word] = '\0';
        json_open(&out, NULL, '{');
        json_text(&out, "state", line);
        json_text(&out, "text", after);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_count(&out, "lacking", lacking);
    return json_print(&out);
}

static int check(int argc, char **argv)
{
    static const command cmd = {
        "platform check",
        "",
        0,
        0,
        "Prints what this host offers and lacks for real-time work. Each line begins with ok, warn or lack.",
        NULL};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);
    uint32_t lacking;
    char *text;

    if (code != OPTIONS_GO_ON)
        return code;
    clo_status status = clo_platform_check_host(&text, &lacking);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    code = EXIT_GOOD;
    if (as_json)
        code = print_checks(text, lacking);
    else
        fputs(text, stdout);
    free(text);
    return code;
}

static const action actions[] = {
    {"show", show, "show executors, kinds, speeds and links of a platform, and a picture"},
    {"calibrate", calibrate, "measure this machine"},
    {"list", list, "list the shipped platforms"},
    {"check", check, "print the real-time settings that this host lacks"},
    {0},
};

int cmd_platform(int argc, char **argv)
{
    return actions_run("platform", actions, argc, argv);
}
