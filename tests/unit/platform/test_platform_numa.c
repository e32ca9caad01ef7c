/* Platform `native` on machines of several NUMA nodes of which the thread may use a part: taskset, batch systems,
 * cpusets; memories without CPUs. The linker puts the __wrap_ functions in the place of hwloc's load, which then
 * describes the machine of a scene as this one, and of sched_getaffinity. */
#define _GNU_SOURCE
#include "support.h"

#include "base/memory.h"
#include "platform/model/platform.h"

#include <dirent.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MAX = 1024, PACKAGES_MAX = 64 };

/* The machine, one of the two; and what hwloc said of it. `xml`: the folder, once it is read. */
static struct {
    const char *synthetic, *folder;
    char *xml;
    int xml_bytes;
    bool may_use[CPUS_MAX];
    uint32_t packages;
    int package_of[CPUS_MAX]; /* -1: no CPU that this machine lets us use */
    int node_of[CPUS_MAX];    /* OS number of the node that hangs nearest above it; -1: none */
} scene;

static bool is_scene(void)
{
    return scene.synthetic != NULL || scene.folder != NULL;
}

static int nearest_node(hwloc_obj_t at)
{
    for (; at != NULL; at = at->parent)
        for (hwloc_obj_t m = at->memory_first_child; m != NULL; m = m->memory_first_child)
            if (m->type == HWLOC_OBJ_NUMANODE)
                return (int)m->os_index;
    return -1;
}

static void look_around(hwloc_topology_t topology)
{
    memset(scene.package_of, 0xff, sizeof scene.package_of);
    scene.packages = (uint32_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL;) {
        hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
        assert_true(pu->os_index < CPUS_MAX);
        scene.package_of[pu->os_index] = package != NULL ? (int)package->logical_index : 0;
        scene.node_of[pu->os_index] = nearest_node(pu);
    }
}

static void keep_xml(hwloc_topology_t topology)
{
    char *xml;

    assert_int_equal(hwloc_topology_export_xmlbuffer(topology, &xml, &scene.xml_bytes, 0), 0);
    scene.xml = malloc((size_t)scene.xml_bytes);
    assert_non_null(scene.xml);
    memcpy(scene.xml, xml, (size_t)scene.xml_bytes);
    hwloc_free_xmlbuffer(topology, xml);
}

int __real_hwloc_topology_load(hwloc_topology_t topology);
int __wrap_hwloc_topology_load(hwloc_topology_t topology);

int __wrap_hwloc_topology_load(hwloc_topology_t topology)
{
    static const char *const names[] = {"HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"};

    if (!is_scene())
        return __real_hwloc_topology_load(topology);
    if (scene.synthetic != NULL)
        setenv("HWLOC_SYNTHETIC", scene.synthetic, 1);
    if (scene.xml != NULL) {
        assert_int_equal(hwloc_topology_set_xmlbuffer(topology, scene.xml, scene.xml_bytes), 0);
    } else if (scene.folder != NULL) {
        setenv("HWLOC_FSROOT", scene.folder, 1);
        setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    }
    setenv("HWLOC_THISSYSTEM", "1", 1);
    int result = __real_hwloc_topology_load(topology);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    assert_int_equal(result, 0);
    look_around(topology);
    if (scene.folder != NULL && scene.xml == NULL)
        keep_xml(topology);
    return result;
}

int __real_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    if (!is_scene())
        return __real_sched_getaffinity(pid, bytes, set);
    CPU_ZERO_S(bytes, set);
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (scene.may_use[cpu])
            CPU_SET_S(cpu, bytes, set);
    return 0;
}

/* "0-3,8" */
static void use_cpus(const char *list)
{
    memset(scene.may_use, 0, sizeof scene.may_use);
    while (*list != '\0') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (; first <= last; first++)
            scene.may_use[first] = true;
        list = *end == ',' ? end + 1 : end;
    }
}

/* A chain and a fork of tasks with data, planned and checked. */
static void plan_on(const clo_platform *platform)
{
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_graph_create("scene", &graph));
    for (uint32_t t = 0; t < 6; t++) {
        clo_task task = {.work_ns = 1000 * (t + 1), .output_bytes = 64};
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(graph, t / 2, t, 64));
    }
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
}

/* Executors are the CPUs that may be used; two have one memory where the nearest node is the same. */
static void check_scene(const clo_platform *p, const char *what)
{
    uint32_t count = 0, first_of[CPUS_MAX];

    memset(first_of, 0xff, sizeof first_of);
    assert_true(clo_platform_is_native(p));
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!scene.may_use[cpu] || scene.package_of[cpu] < 0)
            continue;
        const clo_executor *x = clo_platform_executor(p, count);
        if (x == NULL || x->os_index != cpu)
            fail_msg("%s: executor %u is not CPU %d", what, count, cpu);
        assert_true(x->memory < clo_platform_memories(p));
        if (scene.node_of[cpu] >= 0) {
            assert_true(scene.node_of[cpu] < CPUS_MAX);
            uint32_t *first = &first_of[scene.node_of[cpu]];
            *first = *first == UINT32_MAX ? x->memory : *first;
            if (*first != x->memory)
                fail_msg("%s: CPU %d is in memory %u, others of its node in %u", what, cpu, x->memory, *first);
        }
        count++;
    }
    for (int a = 0; a < CPUS_MAX; a++)
        for (int b = 0; b < a && first_of[a] != UINT32_MAX; b++)
            assert_true(first_of[a] != first_of[b]);
    assert_int_equal(clo_platform_executors(p), count);
}

static void open_scene(const char *what)
{
    clo_platform *p;

    if (clo_platform_open("native", &p) != CLO_OK)
        fail_msg("%s: %s", what, clo_last_error());
    check_scene(p, what);
    plan_on(p);
    clo_platform_destroy(p);
}

static void a_part_of_the_cpus_is_a_platform_whatever_memory_they_leave(void **state)
{
    static const struct {
        const char *machine, *cpus;
        uint32_t memories;
    } scenes[] = {{"node:2 core:1 pu:1", "0", 1},
                  {"pack:2 node:1 core:1 pu:1", "1", 1},
                  {"pack:2 [numa] l3:1 core:1 pu:1", "0", 1},
                  {"pack:2 [numa] l3:1 core:1 pu:1", "0-1", 2},
                  {"pack:4 [numa] core:2 pu:2", "4-5,12", 2},
                  {"pack:2 die:2 [numa] l3:1 core:2 pu:1", "0-1,6", 2},
                  {"pack:2 [numa] [numa] core:2 pu:1", "0-3", 2}, /* DRAM and HBM on each */
                  {"[numa] pack:2 [numa] core:2 pu:1", "2", 1},   /* CXL on the machine */
                  {"[numa] pack:2 core:2 pu:1", "1,3", 1},
                  {"group:2 [numa] group:2 [numa] core:1 pu:2", "0,7", 2}};

    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        clo_platform *p;
        scene.synthetic = scenes[i].machine;
        use_cpus(scenes[i].cpus);
        if (clo_platform_open("native", &p) != CLO_OK)
            fail_msg("%s, CPUs %s: %s", scenes[i].machine, scenes[i].cpus, clo_last_error());
        check_scene(p, scenes[i].machine);
        if (clo_platform_memories(p) != scenes[i].memories)
            fail_msg("%s, CPUs %s: %u memories", scenes[i].machine, scenes[i].cpus, clo_platform_memories(p));
        plan_on(p);
        clo_platform_destroy(p);
    }
    scene.synthetic = NULL;
}

/* hwloc numbers CPUs from 0 where /sys is not there; the affinity knows better. */
static void cpus_that_hwloc_does_not_know_are_a_flat_machine(void **state)
{
    (void)state;
    scene.synthetic = "core:4 pu:1";
    use_cpus("40-42,100");
    open_scene(scene.synthetic);
    scene.synthetic = NULL;
}

static void what_is_left_out_is_said(void **state)
{
    clo_platform *p;
    char *text;

    (void)state;
    scene.synthetic = "pack:3 [numa] core:1 pu:1";
    use_cpus("1");
    ok(clo_platform_open("native", &p));
    ok(clo_platform_describe(p, 100, &text));
    assert_non_null(strstr(text, "2 of 3 NUMA nodes left out"));
    free(text);
    clo_platform_destroy(p);
    scene.synthetic = NULL;
}

/* What the kernel says of the CPUs of a scene; NULL: what it says here. */
static const char *cpuinfo;

clo_status __real_clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes);
clo_status __wrap_clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes);

clo_status __wrap_clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes)
{
    if (cpuinfo == NULL || strcmp(path, "/proc/cpuinfo") != 0)
        return __real_clo_file_read(path, max_bytes, data, bytes);
    *bytes = strlen(cpuinfo);
    *data = clo_duplicate(cpuinfo);
    return *data != NULL ? CLO_OK : CLO_ERR_MEMORY;
}

/* One of the CPUs that are named is not ours to use, and of one nothing is said. */
static void kinds_are_those_of_the_cores_where_the_kernel_names_them(void **state)
{
    clo_platform *p;

    (void)state;
    scene.synthetic = "node:1 core:4 pu:1";
    cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
              "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n"
              "processor\t: 3\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n";
    use_cpus("0-2");
    ok(clo_platform_open("native", &p));
    assert_int_equal(clo_platform_executors(p), 3);
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 0)->kind), "cortex-a55");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 1)->kind), "cortex-a76");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 2)->kind), "cpu");
    clo_platform_destroy(p);
    cpuinfo = NULL;
    scene.synthetic = NULL;
}

static void open_with(const char *what, bool (*use)(uint32_t cpu, uint32_t argument), uint32_t argument)
{
    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
        scene.may_use[cpu] = use(cpu, argument);
    open_scene(what);
}

static bool is_any(uint32_t cpu, uint32_t argument)
{
    (void)cpu, (void)argument;
    return true;
}

static bool is_this(uint32_t cpu, uint32_t argument)
{
    return cpu == argument;
}

static bool is_second(uint32_t cpu, uint32_t argument)
{
    static uint32_t seen;

    seen = cpu == 0 ? 0 : seen;
    return scene.package_of[cpu] >= 0 && seen++ % 2 == argument;
}

static bool is_in_package(uint32_t cpu, uint32_t argument)
{
    return scene.package_of[cpu] == (int)argument;
}

static void use_parts_of(const char *name)
{
    int package_of[CPUS_MAX];

    open_with(name, is_any, 0);
    uint32_t packages = scene.packages;
    memcpy(package_of, scene.package_of, sizeof package_of);
    for (uint32_t k = 0; k < packages; k++) {
        bool has_cpu = false;
        for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
            has_cpu |= package_of[cpu] == (int)k;
        if (has_cpu)
            open_with(name, is_in_package, k);
    }
    open_with(name, is_second, 0);
    for (uint32_t cpu = 0, one = 0; cpu < CPUS_MAX; cpu++)
        if (package_of[cpu] >= 0 && one++ % 7 == 0)
            open_with(name, is_this, cpu);
}

/* The one folder in `folder`, its path appended. */
static void enter_only(char *folder, size_t bytes)
{
    DIR *listing = opendir(folder);
    size_t used = strlen(folder);

    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            snprintf(folder + used, bytes - used, "/%s", entry->d_name);
    closedir(listing);
}

static void real_machines_open_with_each_part_of_their_cpus(void **state)
{
    static const char dumps[] = CLO_DATA "/topologies/sysfs";
    DIR *listing = opendir(dumps);
    uint32_t count = 0;

    (void)state;
    if (listing == NULL)
        skip_because("no " CLO_DATA "/topologies", "unpack the shared data");
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char folder[600], root[] = CLO_BINARY "/test_numa_XXXXXX", command[1400];
        if (strstr(entry->d_name, ".tar.bz2") == NULL)
            continue;
        assert_non_null(mkdtemp(root));
        snprintf(command, sizeof command,
                 "tar -C '%s' --exclude='*/cache/index[012]' --exclude='*/device-tree' -xjf '%s/%s'", root, dumps,
                 entry->d_name); /* half of the files: caches of one core */
        assert_int_equal(system(command), 0);
        snprintf(folder, sizeof folder, "%s", root);
        enter_only(folder, sizeof folder);
        scene.folder = folder;
        use_parts_of(entry->d_name);
        scene.folder = NULL;
        free(scene.xml);
        scene.xml = NULL;
        snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -r '%s'", root, root);
        assert_int_equal(system(command), 0);
        count++;
    }
    closedir(listing);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_the_cpus_is_a_platform_whatever_memory_they_leave),
        cmocka_unit_test(cpus_that_hwloc_does_not_know_are_a_flat_machine),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(kinds_are_those_of_the_cores_where_the_kernel_names_them),
        cmocka_unit_test(real_machines_open_with_each_part_of_their_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
