/* discover.c - hwloc discovers this machine, we cut it down to the CPUs that this thread may use and let hwloc write
 * it as XML; file/topology.c reads that like any file, so the running machine and a file take the same way.
 *
 * hwloc obeys environment variables that make it describe another machine (HWLOC_XMLFILE, HWLOC_SYNTHETIC,
 * HWLOC_FSROOT ...), silently: refused here. */
#define _GNU_SOURCE
#include "platform/build/discover.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/build/core_names.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPU_SET_CPUS 65536 /* more than any kernel is built for */
#define CPUINFO_BYTES_MAX (16u << 20)

struct clo_native {
    hwloc_topology_t topology;
};

static clo_status check_environment(void)
{
    static const char *const names[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL)
            return clo_fail(CLO_ERR_PLATFORM,
                            "native: %s is set, hwloc would describe another machine; unset it, or "
                            "give the file as the platform",
                            names[i]);
    return CLO_OK;
}

/* The CPUs of the calling thread: what taskset, a container or a batch system left it. Release with clo_free; NULL:
 * *status says why. */
static cpu_set_t *read_affinity(clo_status *status)
{
    cpu_set_t *set = clo_allocate(1, CPU_ALLOC_SIZE(CPU_SET_CPUS));

    if (set == NULL) {
        *status = clo_fail_memory("a CPU set");
        return NULL;
    }
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(CPU_SET_CPUS), set) != 0) {
        *status = clo_fail(CLO_ERR_SYSTEM, "native: sched_getaffinity: %s", strerror(errno));
        clo_free(set);
        return NULL;
    }
    return set;
}

clo_status clo_native_may_use(const uint32_t *cpus, uint32_t count, bool *out)
{
    clo_status status = CLO_OK;
    cpu_set_t *set = read_affinity(&status);
    bool may = true;

    if (set == NULL)
        return status;
    for (uint32_t i = 0; i < count; i++)
        may &= cpus[i] < CPU_SET_CPUS && CPU_ISSET_S(cpus[i], CPU_ALLOC_SIZE(CPU_SET_CPUS), set);
    clo_free(set);
    *out = may;
    return CLO_OK;
}

/* Where /sys does not say what CPUs there are (some containers), hwloc numbers them from 0, whatever their numbers. If
 * none is right, the machine is the CPUs of `set`, beside each other and with one memory. */
static clo_status load_flat(clo_native *native, const cpu_set_t *set)
{
    clo_text text = {0};
    char *description;
    const char *before = "(indexes=";

    clo_text_add(&text, "numa:1 pu:%d", CPU_COUNT_S(CPU_ALLOC_SIZE(CPU_SET_CPUS), set));
    for (unsigned cpu = 0; cpu < CPU_SET_CPUS; cpu++)
        if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(CPU_SET_CPUS), set)) {
            clo_text_add(&text, "%s%u", before, cpu);
            before = ",";
        }
    clo_text_add(&text, ")");
    if (clo_text_take(&text, &description) != CLO_OK)
        return clo_fail_memory("the native platform");
    hwloc_topology_t flat;
    bool failed = hwloc_topology_init(&flat) != 0;
    if (!failed && (hwloc_topology_set_synthetic(flat, description) != 0 || hwloc_topology_load(flat) != 0)) {
        hwloc_topology_destroy(flat);
        failed = true;
    }
    clo_free(description);
    if (failed)
        return clo_fail(CLO_ERR_SYSTEM, "native: hwloc knows none of the CPUs this thread may use; mount /sys");
    hwloc_get_obj_by_type(flat, HWLOC_OBJ_NUMANODE, 0)->attr->numanode.local_memory = 0; /* unknown, not the 1 GiB */
    hwloc_topology_destroy(native->topology);
    native->topology = flat;
    return CLO_OK;
}

static clo_status restrict_to_affinity(clo_native *native)
{
    clo_status status = CLO_OK;
    cpu_set_t *set = read_affinity(&status);

    if (set == NULL)
        return status;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    bool failed = allowed == NULL;
    for (unsigned cpu = 0; cpu < CPU_SET_CPUS && !failed; cpu++)
        if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(CPU_SET_CPUS), set))
            failed = hwloc_bitmap_set(allowed, cpu) != 0;
    if (failed)
        status = clo_fail_memory("a CPU set");
    else if (!hwloc_bitmap_intersects(allowed, hwloc_topology_get_topology_cpuset(native->topology)))
        status = load_flat(native, set);
    else if (hwloc_topology_restrict(native->topology, allowed, 0) != 0)
        status = clo_fail(CLO_ERR_SYSTEM, "native: hwloc_topology_restrict: %s", strerror(errno));
    clo_free(set);
    hwloc_bitmap_free(allowed);
    return status;
}

static clo_status add_core_name(void *of, uint32_t cpu, const char *name)
{
    clo_native *native = of;

    if (hwloc_get_pu_obj_by_os_index(native->topology, cpu) == NULL) /* not ours to use */
        return CLO_OK;
    return clo_native_add_info(native, (int32_t)cpu, "clotho.kind", name);
}

/* Kinds are those of the cores, where the kernel says what they are: hwloc knows that of x86 alone. */
static clo_status name_cores(clo_native *native)
{
    char *cpuinfo;
    size_t bytes;

    clo_status status = clo_file_read("/proc/cpuinfo", CPUINFO_BYTES_MAX, &cpuinfo, &bytes);

    if (status != CLO_OK) /* without it they are told apart by capacity */
        return status == CLO_ERR_MEMORY ? status : CLO_OK;
    status = clo_core_names_read(cpuinfo, add_core_name, native);
    clo_free(cpuinfo);
    return status;
}

static clo_status load(clo_native *native)
{
    if (hwloc_topology_load(native->topology) != 0)
        return clo_fail(CLO_ERR_SYSTEM, "native: hwloc cannot read this machine: %s", strerror(errno));
    if (!hwloc_topology_is_thissystem(native->topology))
        return clo_fail(CLO_ERR_PLATFORM, "native: hwloc describes another machine; unset the HWLOC_ variables");
    clo_status status = restrict_to_affinity(native);
    return status == CLO_OK ? name_cores(native) : status;
}

clo_status clo_native_open(clo_native **out)
{
    clo_status status = check_environment();

    if (status != CLO_OK)
        return status;
    clo_native *native = clo_allocate(1, sizeof *native);
    if (native == NULL)
        return clo_fail_memory("the native platform");
    if (hwloc_topology_init(&native->topology) != 0) {
        clo_free(native);
        return clo_fail_memory("the native platform");
    }
    status = load(native);
    if (status != CLO_OK)
        return clo_native_close(native), status;
    *out = native;
    return CLO_OK;
}

void clo_native_close(clo_native *native)
{
    if (native == NULL)
        return;
    hwloc_topology_destroy(native->topology);
    clo_free(native);
}

clo_status clo_native_add_info(clo_native *native, int32_t cpu, const char *name, const char *value)
{
    hwloc_obj_t object =
        cpu < 0 ? hwloc_get_root_obj(native->topology) : hwloc_get_pu_obj_by_os_index(native->topology, (unsigned)cpu);

    if (object == NULL)
        return clo_fail(CLO_ERR_PLATFORM, "native: no CPU %d", cpu);
    return hwloc_obj_add_info(object, name, value) == 0 ? CLO_OK : clo_fail_memory("the native platform");
}

clo_status clo_native_add_matrix(clo_native *native, const char *name, bool is_bandwidth, const uint32_t *cpus,
                                 uint32_t count, const uint64_t *values)
{
    unsigned long kind = HWLOC_DISTANCES_KIND_FROM_USER |
                         (is_bandwidth ? HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH : HWLOC_DISTANCES_KIND_MEANS_LATENCY);
    hwloc_obj_t *objects = clo_allocate(count, sizeof *objects);
    hwloc_uint64_t *copy = clo_allocate((size_t)count * count, sizeof *copy);
    bool failed = objects == NULL || copy == NULL;

    for (uint32_t i = 0; i < count && !failed; i++) {
        objects[i] = hwloc_get_pu_obj_by_os_index(native->topology, cpus[i]);
        failed = objects[i] == NULL;
    }
    for (size_t i = 0; i < (size_t)count * count && !failed; i++)
        copy[i] = values[i];
    hwloc_distances_add_handle_t handle = failed ? NULL : hwloc_distances_add_create(native->topology, name, kind, 0);
    /* A failing add_values or add_commit has already freed the handle. */
    failed = handle == NULL || hwloc_distances_add_values(native->topology, handle, count, objects, copy, 0) != 0 ||
             hwloc_distances_add_commit(native->topology, handle, 0) != 0;
    clo_free(objects);
    clo_free(copy);
    return failed ? clo_fail_memory("the native platform") : CLO_OK;
}

clo_status clo_native_export(clo_native *native, char **xml, size_t *bytes)
{
    char *buffer, *copy;
    int length;

    if (hwloc_topology_export_xmlbuffer(native->topology, &buffer, &length, 0) != 0)
        return clo_fail(CLO_ERR_SYSTEM, "native: hwloc cannot write the topology: %s", strerror(errno));
    copy = clo_allocate((size_t)length + 1, 1);
    if (copy != NULL)
        memcpy(copy, buffer, (size_t)length);
    hwloc_free_xmlbuffer(native->topology, buffer);
    if (copy == NULL)
        return clo_fail_memory("the native platform");
    *xml = copy;
    *bytes = strlen(copy);
    return CLO_OK;
}

/* Appends the value of the first "key : value" line of /proc/cpuinfo. */
static void add_cpuinfo(const char *key, char *out, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, key, strlen(key)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        size_t used = strlen(out);
        snprintf(out + used, bytes - used, "%s,", colon + 1);
        break;
    }
    if (file != NULL)
        fclose(file);
}

void clo_native_describe(char *out, size_t bytes)
{
    struct utsname system;

    snprintf(out, bytes, "%s,", uname(&system) == 0 ? system.machine : "unknown");
    add_cpuinfo("model name", out, bytes);
    add_cpuinfo("CPU implementer", out, bytes);
    add_cpuinfo("CPU part", out, bytes);
    add_cpuinfo("uarch", out, bytes);
    size_t used = strlen(out);
    snprintf(out + used, bytes - used, " %ld CPUs", sysconf(_SC_NPROCESSORS_CONF));
}
