/* cmd_list.c - `clotho list`: names with one line each. */
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"

#include <stdio.h>
#include <string.h>

/* Lists of which this machine can use a part. */
static bool has_marks(const char *list)
{
    return strcmp(list, "kernels") == 0 || strcmp(list, "drivers") == 0;
}

static const char *list_at(uint32_t index)
{
    clo_entry entry = CLO_ENTRY_INIT;

    return clo_registry_entry(NULL, index, &entry) ? entry.name : NULL;
}

/* Policies stand in two registries; a reader wants all of them. */
static bool entry_at(const char *list, uint32_t index, clo_entry *entry)
{
    clo_entry more = CLO_ENTRY_INIT;
    uint32_t count = 0;

    if (clo_registry_entry(list, index, entry))
        return true;
    if (strcmp(list, "policies") != 0)
        return false;
    while (clo_registry_entry(list, count, &more))
        count++;
    return clo_registry_entry("learned", index - count, entry);
}

static int print_json(const char *list)
{
    json out;
    clo_entry entry = CLO_ENTRY_INIT;

    json_begin(&out);
    json_open(&out, list, '[');
    for (uint32_t i = 0; entry_at(list, i, &entry); i++) {
        json_open(&out, NULL, '{');
        json_text(&out, "name", entry.name);
        json_text(&out, "summary", entry.summary);
        if (entry.directions != NULL)
            json_text(&out, "directions", entry.directions);
        if (has_marks(list))
            json_bool(&out, "used", entry.is_used != 0);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    return json_print(&out);
}

static void print_text(const char *list)
{
    clo_entry entry = CLO_ENTRY_INIT;

    for (uint32_t i = 0; entry_at(list, i, &entry); i++) {
        if (entry.directions != NULL)
            printf("%-14s %-3s %s\n", entry.name, entry.directions, entry.summary);
        else if (has_marks(list))
            printf("%-14s %-8s %s\n", entry.name, entry.is_used != 0 ? "used" : "-", entry.summary);
        else
            printf("%-14s %s\n", entry.name, entry.summary);
    }
}

int cmd_list(int argc, char **argv)
{
    static const command cmd = {"list",
                                "planners|policies|platforms|formats|kernels|drivers|families|models",
                                1,
                                1,
                                "Prints what this library knows, one name per line.\n"
                                "Marked 'used' are the kernels that this CPU has the instructions for, and the\n"
                                "drivers that can open a device here.",
                                NULL};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    const char *list;

    for (uint32_t i = 0; (list = list_at(i)) != NULL; i++) {
        if (strcmp(operands[0], list) != 0)
            continue;
        if (as_json)
            return print_json(list);
        print_text(list);
        return EXIT_GOOD;
    }
    const char *near = nearest_name(operands[0], list_at);
    return misuse("'%s' is no list; %s%s%s", operands[0], near != NULL ? "did you mean '" : "choose one of ",
                  near != NULL ? near : cmd.operands, near != NULL ? "'?" : "");
}
