/* Control groups of a build, on a tree of plain files: what is written where, and what is read as what, for both
 * versions of the kernel's interface. Real groups: tests/cli/test_build_memory.py. */
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */
#include "support.h"

#include "base/cgroup.h"
#include "tools/ninja/step/cpus.h"
#include "tools/ninja/step/groups.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 2, LIMIT_KIB = 1000 };

static char parent[64], whole[128];

static void put(const char *folder, const char *name, const char *text)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *get(const char *folder, const char *name)
{
    static char text[256];
    char path[300];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static const char *step_folder(uint32_t step)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/s%u", whole, step);
    return path;
}

/* The folders and files that the kernel would make. */
static void make_tree(void)
{
    static const char *const in_whole[] = {"cgroup.subtree_control", "memory.max", "memory.limit_in_bytes"};
    static const char *const in_step[] = {"cgroup.procs", "memory.oom.group",          "memory.stat",
                                          "memory.peak",  "memory.max_usage_in_bytes", "memory.kmem.usage_in_bytes"};

    snprintf(parent, sizeof parent, "/tmp/clotho-groups-XXXXXX");
    assert_non_null(mkdtemp(parent));
    snprintf(whole, sizeof whole, "%s/clotho-build-%d", parent, (int)getpid());
    assert_int_equal(mkdir(whole, 0755), 0);
    put(parent, "cgroup.subtree_control", "");
    for (size_t i = 0; i < sizeof in_whole / sizeof in_whole[0]; i++)
        put(whole, in_whole[i], "");
    for (uint32_t s = 0; s < STEPS; s++) {
        assert_int_equal(mkdir(step_folder(s), 0755), 0);
        for (size_t i = 0; i < sizeof in_step / sizeof in_step[0]; i++)
            put(step_folder(s), in_step[i], "");
        put(step_folder(s), "memory.events", "low 0\nhigh 0\nmax 0\noom 3\noom_kill 2\noom_group_kill 1\n");
        put(step_folder(s), "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    }
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

static void remove_tree(void)
{
    assert_int_equal(nftw(parent, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void version_2_is_delegated_limited_and_read(void **state)
{
    step_groups g;
    char path[1200];

    (void)state;
    make_tree();
    groups_open_at(&g, 2, parent, STEPS, LIMIT_KIB);
    assert_int_equal(g.version, 2);
    assert_true(g.has_limit);
    assert_string_equal(get(parent, "cgroup.subtree_control"), "+memory");
    assert_string_equal(get(whole, "cgroup.subtree_control"), "+memory");
    assert_string_equal(get(whole, "memory.max"), "1024000");
    assert_string_equal(get(step_folder(1), "memory.oom.group"), "1");
    assert_string_equal(groups_folder(&g, 1, path), step_folder(1));
    assert_null(groups_folder(&g, STEPS, path));

    groups_begin(&g, 1);
    assert_int_equal(groups_held_kib(&g, 1), -1); /* an empty file says nothing */
    put(step_folder(1), "memory.stat",
        "anon 8192000\nfile 999999999\nkernel 5000000\nkernel_stack 16384\npagetables 4096\n"
        "slab_reclaimable 900000\nslab_unreclaimable 10240\nanon_thp 77\n");
    assert_int_equal(groups_held_kib(&g, 1), 8000 + 16 + 4 + 10);
    put(step_folder(1), "memory.stat", "anon 1024\n"); /* an old kernel has fewer lines */
    assert_int_equal(groups_held_kib(&g, 1), 1);
    put(step_folder(1), "memory.peak", "12345678\n");
    assert_int_equal(groups_peak_kib(&g, 1), 12345678 / 1024);
    assert_int_equal(groups_kills(&g, 1), 0);
    put(step_folder(1), "memory.events", "low 0\noom 9\noom_kill 5\n");
    assert_int_equal(groups_kills(&g, 1), 3); /* since its begin */
    groups_close(&g);
    remove_tree();
}

/* Before Linux 6.12 memory.peak cannot be reset: it is of an earlier step, and says nothing of this one. */
static void a_peak_that_cannot_be_reset_is_not_believed(void **state)
{
    step_groups g;
    char path[200];

    (void)state;
    make_tree();
    snprintf(path, sizeof path, "%s/memory.peak", step_folder(0));
    assert_int_equal(unlink(path), 0);
    groups_open_at(&g, 2, parent, STEPS, 0);
    assert_int_equal(g.version, 2);
    assert_false(g.has_limit);
    assert_string_equal(get(whole, "memory.max"), "");
    groups_begin(&g, 0);
    assert_int_equal(groups_peak_kib(&g, 0), -1);
    groups_close(&g);
    remove_tree();
}

static void version_1_is_limited_and_read(void **state)
{
    step_groups g;

    (void)state;
    make_tree();
    groups_open_at(&g, 1, parent, STEPS, LIMIT_KIB);
    assert_int_equal(g.version, 1);
    assert_string_equal(get(whole, "memory.limit_in_bytes"), "1024000");
    assert_string_equal(get(parent, "cgroup.subtree_control"), "");
    groups_begin(&g, 0);
    assert_string_equal(get(step_folder(0), "memory.max_usage_in_bytes"), "0"); /* reset */
    put(step_folder(0), "memory.stat", "cache 4096\nrss 1\ntotal_cache 4096\ntotal_rss 2048000\n");
    put(step_folder(0), "memory.kmem.usage_in_bytes", "51200\n");
    assert_int_equal(groups_held_kib(&g, 0), 2000 + 50);
    put(step_folder(0), "memory.max_usage_in_bytes", "4096000\n");
    assert_int_equal(groups_peak_kib(&g, 0), 4000);
    put(step_folder(0), "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    assert_int_equal(groups_kills(&g, 0), 1);
    groups_close(&g);
    remove_tree();
}

static void without_delegation_there_are_none_and_a_reason(void **state)
{
    step_groups g;
    char path[200];

    (void)state;
    make_tree();
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", parent);
    assert_int_equal(unlink(path), 0);
    groups_open_at(&g, 2, parent, STEPS, LIMIT_KIB);
    assert_int_equal(g.version, 0);
    assert_int_not_equal(strlen(g.why), 0);
    assert_int_equal(groups_held_kib(&g, 0), -1);
    assert_int_equal(groups_peak_kib(&g, 0), -1);
    assert_int_equal(groups_kills(&g, 0), 0);
    groups_begin(&g, 0);
    groups_close(&g);
    remove_tree();
}

static int64_t milli_of(int version)
{
    clo_cgroup_quota quota = {0};

    return clo_cgroup_least(version, whole, &quota) ? quota.milli : 0;
}

/* The least of a group and those above it, in thousandths of a CPU. */
static void a_quota_of_cpu_time_is_so_many_cpus(void **state)
{
    static const struct {
        const char *own, *above;
        int64_t milli;
    } cases[] = {{"max 100000\n", "max 100000\n", 0},
                 {"200000 100000\n", "max 100000\n", 2000},
                 {"350000 100000\n", "max 100000", 3500},
                 {"10 100000\n", "max 100000\n", 1},
                 {"800000 100000\n", "250000 50000", 5000},
                 {"max 100000\n", "400000 100000\n", 4000},
                 {"5 0\n", "-1 100000\n", 0},
                 {"", "9223372036854775807 1\n", 0}};

    (void)state;
    make_tree();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(whole, "cpu.max", cases[i].own);
        put(parent, "cpu.max", cases[i].above);
        assert_int_equal(milli_of(2), cases[i].milli);
        assert_int_equal(milli_of(1), 0);
    }
    put(whole, "cpu.cfs_quota_us", "-1\n");
    put(whole, "cpu.cfs_period_us", "100000\n");
    assert_int_equal(milli_of(1), 0);
    put(parent, "cpu.cfs_quota_us", "300000\n");
    put(parent, "cpu.cfs_period_us", "100000\n");
    assert_int_equal(milli_of(1), 3000);
    put(whole, "cpu.cfs_quota_us", "160000\n");
    assert_int_equal(milli_of(1), 1600);
    assert_in_range(cpus_usable(), 1, 1 << 16);
    remove_tree();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_is_delegated_limited_and_read),
        cmocka_unit_test(a_peak_that_cannot_be_reset_is_not_believed),
        cmocka_unit_test(version_1_is_limited_and_read),
        cmocka_unit_test(without_delegation_there_are_none_and_a_reason),
        cmocka_unit_test(a_quota_of_cpu_time_is_so_many_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
