/* Files as lstopo writes them, to which nobody has added anything, are platforms: of real machines, too. */
#include "platform_text.h"
#include "support.h"

#include "base/memory.h"
#include "base/text.h"
#include "platform/build/build.h"

#include <clotho/cost.h>
#include <clotho/generate.h>
#include <clotho/plan.h>
#include <clotho/planner.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const char *const plain[] = {"  <info name=\"clotho.schema\" value=\"1\"/>\n", "",
                                    "  <info name=\"clotho.platform\" value=\"base\"/>\n", "", NULL};

static void a_plain_file_is_called_as_the_file_is(void **state)
{
    static const struct {
        const char *file, *name;
    } rows[] = {{"board.xml", "board"}, {"a/b.c/board.v2.xml", "board.v2"},
                {"x.xmlx", "x.xmlx"},   {"-", "-"},
                {"dir/.xml", ".xml"},   {"other", "other"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = file_with(plain);
        clo_platform *p;
        ok(clo_platform_parse(rows[i].file, text, strlen(text), &p));
        assert_string_equal(clo_platform_name(p), rows[i].name);
        assert_int_equal(clo_platform_executors(p), 4);
        assert_int_equal(clo_platform_memories(p), 2);
        assert_false(clo_platform_is_native(p));
        clo_platform_destroy(p);
        free(text);
    }
}

static void half_of_the_two_infos_is_a_mistake(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *pairs[] = {plain[2 * i], "", NULL};
        char *text = file_with(pairs);
        clo_platform *p;
        fails(CLO_ERR_FORMAT, "f.xml:4: the Machine has one of the infos clotho.schema and clotho.platform",
              clo_platform_parse("f.xml", text, strlen(text), &p));
        free(text);
    }
}

static uint32_t count(const char *text, const char *what)
{
    uint32_t found = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        found++;
    return found;
}

/* Opens, has at most the PUs of the file as executors, and takes a plan. */
static void plans_without_editing(const char *path, const char *text)
{
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    clo_platform *p;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_platform_open(path, &p));
    assert_in_range(clo_platform_executors(p), 1, count(text, "type=\"PU\""));
    if (strstr(text, "allowed_cpuset") == NULL)
        assert_int_equal(clo_platform_executors(p), count(text, "type=\"PU\""));
    config.tasks = 100;
    ok(clo_graph_generate("layered", &config, &graph));
    ok(clo_cost_create(graph, p, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(p);
}

static void real_machines_plan_without_editing(void **state)
{
    static const char folder[] = CLO_DATA "/topologies/xml";
    DIR *listing = opendir(folder);
    uint32_t files = 0;

    (void)state;
    if (listing == NULL)
        skip_because("no " CLO_DATA "/topologies", "unpack the shared data");
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[600], *text;
        size_t bytes;
        clo_platform *p;
        if (strstr(entry->d_name, ".xml") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ok(clo_file_read(path, 64 << 20, &text, &bytes));
        if (strstr(text, "<topology version=\"2.") != NULL)
            plans_without_editing(path, text);
        else
            fails(CLO_ERR_FORMAT, "export it with hwloc 2", clo_platform_open(path, &p));
        clo_free(text);
        files++;
    }
    closedir(listing);
    assert_true(files > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_called_as_the_file_is),
        cmocka_unit_test(half_of_the_two_infos_is_a_mistake),
        cmocka_unit_test(real_machines_plan_without_editing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
