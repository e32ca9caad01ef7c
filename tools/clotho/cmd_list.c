/* cmd_list.c - `clotho list`: names with one line each. */
#include "commands.h"
#include "input.h"
#include "json.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

/* One entry of a list: false past the end. */
typedef bool (*entry_fn)(uint32_t index, const char **name, const char **summary, const char **directions);

static bool planner_entry(uint32_t index, const char **name, const char **summary, const char **directions)
{
    (void)directions;
    return clo_planner(index, name, summary);
}

static bool policy_entry(uint32_t index, const char **name, const char **summary, const char **directions)
{
    const clo_policy *policy = clo_policy_at(index);

    (void)directions;
    if (policy == NULL)
        return false;
    *name = policy->name;
    *summary = policy->summary;
    return true;
}

static bool platform_entry(uint32_t index, const char **name, const char **summary, const char **directions)
{
    (void)directions;
    return clo_platform_shipped(index, name, summary);
}

static bool family_entry(uint32_t index, const char **name, const char **summary, const char **directions)
{
    (void)directions;
    *name = clo_generate_family(index);
    *summary = clo_generate_summary(index);
    return *name != NULL;
}

static bool kernel_entry(uint32_t index, const char **name, const char **summary, const char **directions)
{
    (void)index;
    (void)name;
    (void)summary;
    (void)directions;
    return false; /* integer kernels come with the learned policies */
}

static const struct {
    const char *name;
    entry_fn entry;
} lists[] = {
    {"planners", planner_entry}, {"policies", policy_entry}, {"platforms", platform_entry},
    {"formats", clo_format},     {"kernels", kernel_entry},  {"families", family_entry},
};

static const char *list_at(uint32_t index)
{
    return index < sizeof lists / sizeof lists[0] ? lists[index].name : NULL;
}

static int print_json(const char *title, entry_fn entry)
{
    json out;
    const char *name, *summary, *directions = NULL;

    json_begin(&out);
    json_open(&out, title, '[');
    for (uint32_t i = 0; entry(i, &name, &summary, &directions); i++) {
        json_open(&out, NULL, '{');
        json_text(&out, "name", name);
        json_text(&out, "summary", summary);
        if (directions != NULL)
            json_text(&out, "directions", directions);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    return json_print(&out);
}

static void print_text(entry_fn entry)
{
    const char *name, *summary, *directions = NULL;

    for (uint32_t i = 0; entry(i, &name, &summary, &directions); i++) {
        if (directions != NULL)
            printf("%-14s %-3s %s\n", name, directions, summary);
        else
            printf("%-14s %s\n", name, summary);
    }
}

int cmd_list(int argc, char **argv)
{
    static const command cmd = {"list", "planners|policies|platforms|formats|kernels|families", 1,
                                1,      "Prints what this library knows, one name per line.",   NULL};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(operands[0], lists[i].name) != 0)
            continue;
        if (lists[i].entry == kernel_entry)
            fprintf(stderr, "clotho: no integer kernels are built yet; the list is empty\n");
        if (as_json)
            return print_json(lists[i].name, lists[i].entry);
        print_text(lists[i].entry);
        return EXIT_GOOD;
    }
    const char *near = nearest_name(operands[0], list_at);
    return misuse("'%s' is no list; %s%s%s", operands[0], near != NULL ? "did you mean '" : "choose one of ",
                  near != NULL ? near : cmd.operands, near != NULL ? "'?" : "");
}
