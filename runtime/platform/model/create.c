/* create.c - the platform object: checked and copied from plain arrays, then only read.
 *
 * Invariant: every index inside the object is in range, every speed > 0, every latency in [0, CLO_LATENCY_NS_MAX];
 * readers need no checks. Links (links.c) are kept as ns per byte in Q32, so a transfer time is two multiplications and
 * the same on every machine. A piece of a link begins with the rounded time at which the piece before ends, so the time
 * never falls where the bytes grow. */
#include "platform/model/platform.h"

#include "base/memory.h"
#include "base/status.h"
#include "platform/model/links.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void free_names(char **names, uint32_t count)
{
    for (uint32_t i = 0; names != NULL && i < count; i++)
        clo_free(names[i]);
    clo_free(names);
}

void clo_platform_destroy(clo_platform *platform)
{
    if (platform == NULL)
        return;
    free_names(platform->executor_names, platform->executors_count);
    free_names(platform->kind_names, platform->kinds_count);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        clo_free(platform->resource_names[r]);
    for (uint32_t f = 0; f < platform->facts_count; f++) {
        clo_free(platform->facts[f].fact);
        clo_free(platform->facts[f].status);
        clo_free(platform->facts[f].source);
    }
    for (uint32_t d = 0; d < platform->drives_count; d++) {
        clo_free(platform->drives[d].driver);
        clo_free(platform->drives[d].device);
    }
    clo_free(platform->drives);
    clo_free(platform->facts);
    clo_free(platform->places);
    clo_free(platform->executors);
    clo_free(platform->capacities);
    clo_free(platform->group_of);
    clo_free(platform->source_of);
    clo_free(platform->port_q32);
    clo_free(platform->latency_ns);
    clo_free(platform->ns_per_byte_q32);
    clo_free(platform->summary);
    clo_free(platform->name);
    clo_free(platform);
}

clo_status clo_platform_add_fact(clo_platform *platform, const char *fact, const char *status, const char *source)
{
    size_t count = platform->facts_count;
    clo_platform_fact *facts = clo_allocate(count + 1, sizeof *facts);
    clo_platform_fact added = {clo_duplicate(fact), clo_duplicate(status), clo_duplicate(source)};

    if (facts == NULL || added.fact == NULL || added.status == NULL || added.source == NULL) {
        clo_free(facts);
        clo_free(added.fact);
        clo_free(added.status);
        clo_free(added.source);
        return clo_fail_memory("a platform's facts");
    }
    if (count > 0)
        memcpy(facts, platform->facts, count * sizeof *facts);
    facts[count] = added;
    clo_free(platform->facts);
    platform->facts = facts;
    platform->facts_count++;
    return CLO_OK;
}

static clo_status check_executor(const clo_platform_desc *desc, uint32_t index)
{
    const clo_executor *e = &desc->executors[index];
    uint32_t machines = desc->machines_count == 0 ? 1 : desc->machines_count;

    if (e->kind >= desc->kinds_count)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u: kind %u of %u kinds; count kinds from 0", index, e->kind,
                        desc->kinds_count);
    if (e->machine >= machines)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u: machine %u of %u machines; count machines from 0", index,
                        e->machine, machines);
    if (e->memory >= CLO_EXECUTORS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u: memory %u; use numbers below %u", index, e->memory,
                        CLO_EXECUTORS_MAX);
    if (e->os_index < CLO_OS_SLOT_DEEP(CLO_SLOT_DEPTH_MAX))
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u: os_index %d; use a CPU number, or -1 for none", index,
                        e->os_index);
    if (e->os_index > CLO_OS_SLOT && index > 0 && desc->executors[index - 1].os_index <= CLO_OS_SLOT)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u comes after a slot; put the slots last", index);
    for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
        if (e->speed_q16[c] == 0)
            return clo_fail(CLO_ERR_ARGUMENT, "executor %u: speed 0 for task class %u; use %u for the reference speed",
                            index, c, CLO_SPEED_ONE);
    return CLO_OK;
}

static clo_status check_counts(const clo_platform_desc *desc)
{
    if (desc->executors_count == 0 || desc->executors == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "a platform without executors; give at least one");
    if (desc->executors_count > CLO_EXECUTORS_MAX || desc->kinds_count > CLO_EXECUTORS_MAX ||
        desc->machines_count > CLO_EXECUTORS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "%u executors, %u kinds, %u machines; at most %u of each", desc->executors_count,
                        desc->kinds_count, desc->machines_count, CLO_EXECUTORS_MAX);
    if (desc->kinds_count == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "a platform without executor kinds; set kinds_count to at least 1");
    return CLO_OK;
}

static clo_status copy_names(char ***out, uint32_t count, const char *const *names, const char *prefix)
{
    char **copies = clo_allocate(count, sizeof *copies);
    bool failed = copies == NULL;

    *out = copies;
    for (uint32_t i = 0; i < count && !failed; i++) {
        char numbered[32];
        snprintf(numbered, sizeof numbered, "%s%u", prefix, i);
        copies[i] = clo_duplicate(names != NULL && names[i] != NULL ? names[i] : numbered);
        failed = copies[i] == NULL;
    }
    return failed ? clo_fail_memory("a platform's names") : CLO_OK;
}

/* Schedulers know what is unlimited by INT64_MAX that is left. */
static int64_t capacity_of(const clo_platform_desc *desc, size_t i)
{
    bool is_limited = desc->capacities != NULL && desc->capacities[i] >= 0 && desc->capacities[i] < INT64_MAX;

    return is_limited ? desc->capacities[i] : -1;
}

static clo_status copy_capacities(clo_platform *platform, const clo_platform_desc *desc)
{
    size_t count = (size_t)platform->machines_count * CLO_RESOURCES_MAX;

    platform->capacities = clo_allocate(count, sizeof(int64_t));
    if (platform->capacities == NULL)
        return clo_fail_memory("a platform's capacities");
    for (size_t i = 0; i < count; i++)
        platform->capacities[i] = capacity_of(desc, i);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && desc->resource_names != NULL; r++) {
        if (desc->resource_names[r] == NULL)
            continue;
        platform->resource_names[r] = clo_duplicate(desc->resource_names[r]);
        if (platform->resource_names[r] == NULL)
            return clo_fail_memory("a platform's resources");
    }
    return CLO_OK;
}

/* Nothing is kept where no port is finite. */
static clo_status copy_ports(clo_platform *platform, const clo_platform_desc *desc)
{
    for (uint32_t m = 0; m < platform->machines_count && desc->port_bytes_per_ns != NULL; m++) {
        double port = desc->port_bytes_per_ns[m];
        if (isnan(port) || (port > 0 && (port < 0x1p-30 || port > 0x1p30)))
            return clo_fail(CLO_ERR_ARGUMENT, "the port of machine %u moves %g bytes/ns; use 2^-30 .. 2^30, or 0", m,
                            port);
        if (port > 0 && platform->port_q32 == NULL)
            platform->port_q32 = clo_allocate(platform->machines_count, sizeof *platform->port_q32);
        if (port > 0 && platform->port_q32 == NULL)
            return clo_fail_memory("a platform's ports");
        if (port > 0)
            platform->port_q32[m] = (uint64_t)(port * 0x1p32);
    }
    return CLO_OK;
}

static clo_status copy_executors(clo_platform *platform, const clo_platform_desc *desc)
{
    platform->executors = clo_allocate(desc->executors_count, sizeof *platform->executors);
    if (platform->executors == NULL)
        return clo_fail_memory("a platform's executors");
    memcpy(platform->executors, desc->executors, desc->executors_count * sizeof *platform->executors);
    platform->native = true; /* the caller's word: pinning will tell */
    for (uint32_t e = 0; e < desc->executors_count; e++) {
        if (desc->executors[e].memory >= platform->memories_count)
            platform->memories_count = desc->executors[e].memory + 1;
        platform->native &= desc->executors[e].os_index != -1;
    }
    return CLO_OK;
}

static clo_status fill(clo_platform *platform, const clo_platform_desc *desc)
{
    platform->executors_count = desc->executors_count;
    platform->kinds_count = desc->kinds_count;
    platform->machines_count = desc->machines_count == 0 ? 1 : desc->machines_count;
    platform->coherent = desc->coherent != 0;
    platform->mean_includes_self = desc->mean_includes_self != 0;
    platform->name = clo_duplicate(desc->name == NULL ? "platform" : desc->name);
    if (platform->name == NULL)
        return clo_fail_memory("a platform's name");

    clo_status status = copy_executors(platform, desc);
    if (status == CLO_OK)
        status = copy_names(&platform->executor_names, desc->executors_count, desc->executor_names, "e");
    if (status == CLO_OK)
        status = copy_names(&platform->kind_names, desc->kinds_count, desc->kind_names, "k");
    if (status == CLO_OK)
        status = copy_capacities(platform, desc);
    if (status == CLO_OK)
        status = clo_links_copy(platform, desc);
    if (status == CLO_OK)
        status = copy_ports(platform, desc);
    if (status == CLO_OK)
        status = clo_links_survey(platform);
    return status;
}

clo_status clo_platform_create(const clo_platform_desc *desc, clo_platform **out)
{
    clo_platform_desc mine = CLO_PLATFORM_DESC_INIT;

    if (desc == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_platform_create: desc or out is NULL");
    clo_status status = clo_config_read(&mine, sizeof mine, desc, "platform desc");
    if (status == CLO_OK)
        status = check_counts(&mine);
    for (uint32_t e = 0; e < mine.executors_count && status == CLO_OK; e++)
        status = check_executor(&mine, e);
    if (status != CLO_OK)
        return status;

    clo_platform *platform = clo_allocate(1, sizeof *platform);
    if (platform == NULL)
        return clo_fail_memory("a platform");
    status = fill(platform, &mine);
    if (status != CLO_OK)
        return clo_platform_destroy(platform), status;
    *out = platform;
    return CLO_OK;
}

const char *clo_platform_name(const clo_platform *platform)
{
    return platform != NULL ? platform->name : NULL;
}

uint32_t clo_platform_executors(const clo_platform *platform)
{
    return platform != NULL ? platform->executors_count : 0;
}

uint32_t clo_platform_kinds(const clo_platform *platform)
{
    return platform != NULL ? platform->kinds_count : 0;
}

uint32_t clo_platform_machines(const clo_platform *platform)
{
    return platform != NULL ? platform->machines_count : 0;
}

uint32_t clo_platform_memories(const clo_platform *platform)
{
    return platform != NULL ? platform->memories_count : 0;
}

bool clo_platform_is_native(const clo_platform *platform)
{
    return platform != NULL && platform->native;
}

bool clo_platform_is_coherent(const clo_platform *platform)
{
    return platform != NULL && platform->coherent;
}

const clo_executor *clo_platform_executor(const clo_platform *platform, uint32_t executor)
{
    return platform != NULL && executor < platform->executors_count ? &platform->executors[executor] : NULL;
}

static const clo_platform_drive *drive_of(const clo_platform *platform, uint32_t executor)
{
    for (uint32_t d = 0; platform != NULL && d < platform->drives_count; d++)
        if (executor >= platform->drives[d].first && executor - platform->drives[d].first < platform->drives[d].count)
            return &platform->drives[d];
    return NULL;
}

const char *clo_platform_driver(const clo_platform *platform, uint32_t executor)
{
    const clo_platform_drive *drive = drive_of(platform, executor);

    return drive != NULL ? drive->driver : NULL;
}

const char *clo_platform_device(const clo_platform *platform, uint32_t executor)
{
    const clo_platform_drive *drive = drive_of(platform, executor);

    return drive != NULL ? drive->device : NULL;
}

const char *clo_platform_executor_name(const clo_platform *platform, uint32_t executor)
{
    return platform != NULL && executor < platform->executors_count ? platform->executor_names[executor] : NULL;
}

const char *clo_platform_kind_name(const clo_platform *platform, uint32_t kind)
{
    return platform != NULL && kind < platform->kinds_count ? platform->kind_names[kind] : NULL;
}

const char *clo_platform_resource_name(const clo_platform *platform, uint32_t resource)
{
    return platform != NULL && resource < CLO_RESOURCES_MAX ? platform->resource_names[resource] : NULL;
}

int64_t clo_platform_capacity(const clo_platform *platform, uint32_t machine, uint32_t resource)
{
    if (platform == NULL || machine >= platform->machines_count || resource >= CLO_RESOURCES_MAX)
        return -1;
    return platform->capacities[(size_t)machine * CLO_RESOURCES_MAX + resource];
}

double clo_platform_port_bytes_per_ns(const clo_platform *platform, uint32_t machine)
{
    bool is_finite = platform != NULL && platform->port_q32 != NULL && machine < platform->machines_count;

    return is_finite ? (double)platform->port_q32[machine] * 0x1p-32 : 0;
}

int64_t clo_platform_transfer_ns(const clo_platform *platform, uint64_t bytes, uint32_t from, uint32_t to)
{
    if (platform == NULL || from >= platform->executors_count || to >= platform->executors_count)
        return CLO_TIME_NEVER;
    if (from == to || platform->executors[from].memory == platform->executors[to].memory)
        return 0;
    return clo_platform_link_ns(platform, from, to, bytes);
}

uint32_t clo_platform_link_pieces(const clo_platform *platform)
{
    return platform == NULL ? 0 : platform->pieces_count;
}

uint64_t clo_platform_cut_bytes(const clo_platform *platform, uint32_t piece)
{
    return platform != NULL && piece < platform->pieces_count ? platform->cut_bytes[piece] : UINT64_MAX;
}
