/* The pictures and files of plans and traces, under tests/golden/trace: in full where a reader can look at them (open
 * the SVG in a browser), as length and hash for further shapes. After a wanted change: CLO_UPDATE_GOLDEN=1
 * build/.../test_trace_golden, then look at the difference. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "base/text.h"
#include "random.h"
#include "report/gantt.h"
#include "scene.h"

#include <clotho/planner.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char made[64]; /* a file in a directory of this program's own */

static void is_golden(const char *name, const char *text, size_t length)
{
    char path[512], *wanted;
    size_t bytes;

    snprintf(path, sizeof path, CLO_SOURCE "/tests/golden/trace/%s", name);
    if (getenv("CLO_UPDATE_GOLDEN") != NULL) {
        ok(clo_file_write(path, text, length));
        return;
    }
    ok(clo_file_read(path, 1 << 22, &wanted, &bytes));
    size_t line = 1, i = 0;
    for (; i < bytes && i < length && wanted[i] == text[i]; i++)
        line += text[i] == '\n';
    if (i < bytes || i < length)
        fail_msg("%s differs from line %zu on", path, line);
    free(wanted);
}

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

/* The file that was just written; release with free. */
static char *read_back(size_t *bytes)
{
    char *text;

    ok(clo_file_read(made, 1 << 24, &text, bytes));
    assert_int_equal(remove(made), 0);
    return text;
}

/* Cholesky with replicas on big and little cores. */
static clo_plan *plan_small(clo_graph **graph, clo_platform **platform, clo_cost **cost)
{
    clo_generate_config config = {
        .size = sizeof config, .seed = 6, .tasks = 20, .ccr = 1, .work_spread = 0.6, .duplicable = 1};
    clo_plan_config planning = {.size = sizeof planning, .planner = &clo_planner_deft};
    clo_plan *plan;

    ok(clo_graph_generate("cholesky", &config, graph));
    ok(clo_platform_open("rk3588", platform));
    ok(clo_cost_create(*graph, *platform, cost));
    ok(clo_plan_create(*cost, &planning, &plan));
    return plan;
}

static void a_small_plan_in_every_form_is_golden(void **state)
{
    (void)state;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan = plan_small(&graph, &platform, &cost);
    clo_sim_config config = {.size = sizeof config, .plan = plan};
    clo_trace *trace;
    size_t bytes;

    ok(clo_plan_gantt_svg(plan, cost, "Cholesky & Söhne", made));
    char *text = read_back(&bytes);
    is_golden("cholesky.svg", text, bytes);
    free(text);
    for (uint32_t columns = 60; columns <= 140; columns += 40) {
        char name[32];
        ok(clo_plan_gantt_text(plan, cost, columns, &text));
        snprintf(name, sizeof name, "cholesky.%u.txt", columns);
        is_golden(name, text, strlen(text));
        free(text);
    }
    ok(clo_simulate(cost, &config, NULL, &trace, NULL));
    ok(clo_trace_write_chrome(trace, cost, "Cholesky \"in\"\nvirtual time", made));
    text = read_back(&bytes);
    is_golden("cholesky.json", text, bytes);
    free(text);
    ok(clo_trace_write_chrome(trace, cost, NULL, made));
    text = read_back(&bytes);
    is_golden("cholesky.unlabelled.json", text, bytes);
    free(text);
    clo_trace_destroy(trace);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* SVG and text of a HEFT plan, as a line of figures. */
static void add_pictures(clo_text *lines, const char *name, clo_graph *graph, clo_platform *platform)
{
    clo_plan_config planning = {.size = sizeof planning, .planner = &clo_planner_heft};
    clo_cost *cost;
    clo_plan *plan;
    char *text;
    size_t bytes;

    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_create(cost, &planning, &plan));
    ok(clo_plan_gantt_svg(plan, cost, NULL, made));
    text = read_back(&bytes);
    clo_text_add(lines, "%-14s svg %-6zu %016" PRIx64, name, bytes, hash_of(text, bytes));
    free(text);
    for (uint32_t columns = 50; columns <= 250; columns += 100) {
        ok(clo_plan_gantt_text(plan, cost, columns, &text));
        clo_text_add(lines, "  %u columns %016" PRIx64, columns, hash_of(text, strlen(text)));
        free(text);
    }
    clo_text_add(lines, "\n");
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* `kinds` kinds of tasks, told apart by their names, or by their classes where there are none. */
static clo_graph *many_kinds(uint32_t kinds, uint32_t tasks, bool is_named)
{
    clo_graph *graph;

    ok(clo_graph_create("kinds", &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        char name[32];
        uint32_t kind = t % kinds;
        snprintf(name, sizeof name, "%c%c_ID%07u", 'a' + kind / 26, 'a' + kind % 26, t);
        clo_task task = {
            .name = is_named ? name : NULL, .work_ns = 10 + 1000 * kind, .task_class = kind % CLO_CLASSES_BUILTIN};
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

/* Bars from narrow to wide, under names of 1 to 44 characters: where a name just fits, and where it is too long. */
static clo_graph *many_names(void)
{
    clo_graph *graph;

    ok(clo_graph_create("names", &graph));
    for (uint32_t t = 0; t < 44; t++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)t + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        clo_task task = {.name = name, .work_ns = 1000 + 250 * t};
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void pictures_of_every_shape_are_golden(void **state)
{
    (void)state;
    static const uint32_t executors[] = {1, 3, 12, 13, 32, 33, 64};
    clo_text lines = {0};
    clo_platform *platform;

    for (size_t i = 0; i < sizeof executors / sizeof executors[0]; i++) {
        char name[32];
        clo_task task = {.name = "stage", .work_ns = 4000, .instances = 2};
        snprintf(name, sizeof name, "%u executors", executors[i]);
        add_pictures(&lines, name, scene_layers(3, executors[i], &task), scene_platform(executors[i], 1));
    }
    ok(clo_platform_open("uniform:130", &platform));
    add_pictures(&lines, "130 executors", many_kinds(5, 500, true), platform);
    for (uint32_t kinds = 4; kinds <= 70; kinds += 6) {
        char name[32];
        snprintf(name, sizeof name, "%u kinds", kinds);
        add_pictures(&lines, name, many_kinds(kinds, 200, true), scene_platform(4, 0));
    }
    for (uint32_t e = 1; e <= 44; e += e < 8 ? 1 : 9) {
        char name[32];
        snprintf(name, sizeof name, "names on %u", e);
        add_pictures(&lines, name, many_names(), scene_platform(e, 0));
    }
    add_pictures(&lines, "unnamed", many_kinds(9, 40, false), scene_platform(4, 0));
    add_pictures(&lines, "thin", many_kinds(9, 6000, true), scene_platform(3, 0));
    add_pictures(&lines, "many", many_kinds(3, 10100, true), scene_platform(64, 0));
    for (uint64_t seed = 1; seed < 12; seed++) {
        char name[32];
        snprintf(name, sizeof name, "random %u", (unsigned)seed);
        add_pictures(&lines, name, random_graph(seed, RANDOM_ALL), random_platform(seed, RANDOM_DEMANDS));
    }
    assert_false(lines.failed);
    is_golden("pictures.txt", lines.data, lines.bytes);
    clo_text_free(&lines);
}

/* A trace of `tasks` independent tasks, one executor each. */
static clo_trace *trace_of(uint32_t tasks)
{
    clo_task task = {.work_ns = 10};
    clo_graph *graph = scene_layers(1, tasks, &task);
    clo_platform *platform = scene_platform(tasks, 0);
    clo_cost *cost;
    clo_trace *trace;

    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_simulate(cost, NULL, NULL, &trace, NULL));
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return trace;
}

static void a_cost_with_fewer_tasks_or_fewer_executors_is_refused(void **state)
{
    (void)state;
    clo_trace *trace = trace_of(4);

    for (uint32_t tasks = 3; tasks <= 4; tasks++)
        for (uint32_t executors = 3; executors <= 4; executors++) {
            clo_task task = {.work_ns = 10};
            clo_graph *graph = scene_layers(1, tasks, &task);
            clo_platform *platform = scene_platform(executors, 0);
            clo_cost *cost;
            ok(clo_cost_create(graph, platform, &cost));
            if (tasks == 4 && executors == 4) {
                ok(clo_trace_write_chrome(trace, cost, NULL, made));
                assert_int_equal(remove(made), 0);
            } else {
                fails(CLO_ERR_ARGUMENT, "another graph or platform", clo_trace_write_chrome(trace, cost, NULL, made));
                assert_int_not_equal(access(made, F_OK), 0);
            }
            clo_cost_destroy(cost);
            clo_platform_destroy(platform);
            clo_graph_destroy(graph);
        }
    clo_trace_destroy(trace);
}

static char directory[] = "/tmp/clotho-trace-XXXXXX";

static int use_own_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(made, sizeof made, "%s/made", directory);
    return 0;
}

static int leave_directory(void **state)
{
    (void)state;
    return rmdir(directory) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_plan_in_every_form_is_golden),
        cmocka_unit_test(pictures_of_every_shape_are_golden),
        cmocka_unit_test(a_cost_with_fewer_tasks_or_fewer_executors_is_refused),
    };
    return cmocka_run_group_tests(tests, use_own_directory, leave_directory);
}
