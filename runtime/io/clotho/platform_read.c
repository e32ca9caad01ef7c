/* platform_read.c - the "platform" object of the own format: plain arrays, which platform_write.c writes. Where the
 * numbers come from and the picture of the machine belong to the platform's own XML file, not here. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/names.h"
#include "platform/model/platform.h"

#include <string.h>

/* Everything read so far; names point into the JSON tree. */
typedef struct draft {
    const clo_json *json;
    clo_platform_desc desc;
    clo_executor *executors;
    const char **executor_names;
    const char **kind_names; /* [executors_count + listed kinds] */
    clo_names kinds;         /* of the same */
    bool kinds_listed;
    const char *resource_names[CLO_RESOURCES_MAX];
    int64_t *capacities;
    size_t rows;        /* of the links' matrices: executors, or 1 where all links are alike */
    uint32_t *group_of; /* [executors_count], of one group; NULL: none */
    int64_t *latency_ns;
    double *bandwidth; /* [1 + cuts][rows^2] */
    double *ports;     /* [machines_count]; NULL: none is stated */
    uint64_t cuts[CLO_LINK_PIECES_MAX - 1];
} draft;

static void free_draft(draft *d)
{
    clo_free(d->executors);
    clo_free(d->executor_names);
    clo_free(d->kind_names);
    clo_names_free(&d->kinds);
    clo_free(d->capacities);
    clo_free(d->group_of);
    clo_free(d->latency_ns);
    clo_free(d->bandwidth);
    clo_free(d->ports);
}

static clo_status kind_of(draft *d, const cJSON *item, uint32_t *kind)
{
    const char *name;
    clo_status status = clo_json_text(d->json, item, &name);

    if (status != CLO_OK)
        return status;
    *kind = clo_names_find(&d->kinds, name);
    if (*kind != CLO_NONE)
        return CLO_OK;
    if (d->kinds_listed)
        return clo_json_want(d->json, item, "one of the \"kinds\" of the platform");
    *kind = d->desc.kinds_count;
    if (clo_names_add(&d->kinds, name, *kind) != 0)
        return clo_fail_memory("the kinds");
    d->kind_names[d->desc.kinds_count++] = name;
    return CLO_OK;
}

static clo_status read_speed(const draft *d, const cJSON *item, uint32_t *q16)
{
    double speed;
    clo_status status = clo_json_number(d->json, item, &speed);

    if (status != CLO_OK)
        return status;
    double scaled = speed * CLO_SPEED_ONE;
    if (!(scaled >= 0.5 && scaled < UINT32_MAX))
        return clo_json_want(d->json, item, "a speed between 0.00002 and 65535 (1 is the reference executor)");
    *q16 = (uint32_t)clo_round(scaled);
    return CLO_OK;
}

/* "speed": 2.5 for all classes, then "speeds": {"float": 4} for single ones. */
static clo_status read_speeds(const draft *d, const cJSON *object, uint32_t *q16)
{
    static const char *const known[] = {"generic", "integer", "float", "memory", NULL};
    const cJSON *item, *speeds;

    for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
        q16[c] = CLO_SPEED_ONE;
    clo_status status = clo_json_get(d->json, object, "speed", false, &item);
    if (status == CLO_OK && item != NULL)
        status = read_speed(d, item, &q16[0]);
    for (uint32_t c = 1; c < CLO_CLASSES_BUILTIN; c++)
        q16[c] = q16[0];
    if (status == CLO_OK)
        status = clo_json_get(d->json, object, "speeds", false, &speeds);
    if (status != CLO_OK || speeds == NULL)
        return status;
    status = clo_json_keys(d->json, speeds, known);
    for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN && status == CLO_OK; c++) {
        status = clo_json_get(d->json, speeds, known[c], false, &item);
        if (status == CLO_OK && item != NULL)
            status = read_speed(d, item, &q16[c]);
    }
    return status;
}

static clo_status read_depth(const draft *d, const cJSON *object, bool is_slot, int64_t *depth)
{
    const cJSON *item;
    clo_status status = clo_json_get(d->json, object, "depth", false, &item);

    if (status == CLO_OK && item != NULL)
        status = clo_json_integer(d->json, item, CLO_SLOT_DEPTH_MAX, depth);
    if (status == CLO_OK && item != NULL && (!is_slot || *depth == 0))
        return clo_json_want(d->json, item, "a number from 1 on, of an executor with \"slot\": true");
    return status;
}

static clo_status read_executor(draft *d, const cJSON *object, uint32_t index)
{
    static const char *const known[] = {"name", "kind",  "machine", "memory", "cpu",
                                        "slot", "depth", "speed",   "speeds", NULL};
    int64_t machine = 0, memory = index, cpu = -1, depth = 1;
    bool is_slot = false;
    const cJSON *name, *kind;
    clo_executor *e = &d->executors[index];
    clo_status status = clo_json_keys(d->json, object, known);

    if (status == CLO_OK)
        status = clo_json_get(d->json, object, "name", false, &name);
    if (status == CLO_OK && name != NULL)
        status = clo_json_text(d->json, name, &d->executor_names[index]);
    if (status == CLO_OK)
        status = clo_json_get(d->json, object, "kind", true, &kind);
    if (status == CLO_OK)
        status = kind_of(d, kind, &e->kind);
    if (status == CLO_OK)
        status = clo_json_get_integer(d->json, object, "machine", (int64_t)d->desc.machines_count - 1, &machine);
    if (status == CLO_OK)
        status = clo_json_get_integer(d->json, object, "memory", CLO_EXECUTORS_MAX - 1, &memory);
    if (status == CLO_OK)
        status = clo_json_get_integer(d->json, object, "cpu", INT32_MAX, &cpu);
    if (status == CLO_OK)
        status = clo_json_get_boolean(d->json, object, "slot", &is_slot);
    if (status == CLO_OK)
        status = read_depth(d, object, is_slot, &depth);
    if (status == CLO_OK)
        status = read_speeds(d, object, e->speed_q16);
    e->machine = (uint32_t)machine;
    e->memory = (uint32_t)memory;
    e->os_index = is_slot ? CLO_OS_SLOT_DEEP(depth) : (int32_t)cpu;
    return status;
}

static clo_status read_kinds(draft *d, const cJSON *kinds)
{
    const cJSON *item;
    uint32_t kind;

    cJSON_ArrayForEach (item, kinds) {
        uint32_t before = d->desc.kinds_count;
        clo_status status = kind_of(d, item, &kind);
        if (status == CLO_OK && kind != before)
            status = clo_json_fail(d->json, CLO_ERR_FORMAT, item, "is there twice; remove one");
        if (status != CLO_OK)
            return status;
    }
    d->kinds_listed = kinds != NULL;
    return CLO_OK;
}

/* "executors": P (equal ones) or [{...}]. */
static clo_status read_executors(draft *d, const cJSON *object)
{
    const cJSON *list, *kinds, *item;
    int64_t count = 0;
    uint32_t index = 0;
    clo_status status = clo_json_get(d->json, object, "executors", true, &list);

    if (status == CLO_OK)
        status = clo_json_get_array(d->json, object, "kinds", false, &kinds);
    if (status == CLO_OK && cJSON_IsNumber(list))
        status = clo_json_integer(d->json, list, CLO_EXECUTORS_MAX, &count);
    if (status != CLO_OK)
        return status;
    if (cJSON_IsArray(list))
        count = cJSON_GetArraySize(list);
    if (count < 1 || count > CLO_EXECUTORS_MAX)
        return clo_json_fail(d->json, CLO_ERR_FORMAT, list, "must be a number or a list of 1 .. %u executors",
                             CLO_EXECUTORS_MAX);

    size_t kinds_max = (size_t)count + (kinds != NULL ? (size_t)cJSON_GetArraySize(kinds) : 0);
    d->executors = clo_allocate((size_t)count, sizeof *d->executors);
    d->executor_names = clo_allocate((size_t)count, sizeof *d->executor_names);
    d->kind_names = clo_allocate(kinds_max, sizeof *d->kind_names);
    if (d->executors == NULL || d->executor_names == NULL || d->kind_names == NULL)
        return clo_fail_memory("the executors");
    d->desc.executors_count = (uint32_t)count;
    if ((status = read_kinds(d, kinds)) != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, list)
        if ((status = read_executor(d, item, index++)) != CLO_OK)
            return status;

    if (d->desc.kinds_count == 0)
        d->kind_names[d->desc.kinds_count++] = "cpu";
    for (; index < d->desc.executors_count; index++)
        d->executors[index] = (clo_executor){
            .memory = index, .os_index = -1, .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    return CLO_OK;
}

static clo_status read_capacity(draft *d, const cJSON *item, uint32_t machine, uint32_t resource)
{
    return cJSON_IsNull(item) ? CLO_OK
                              : clo_json_integer(d->json, item, CLO_JSON_INTEGER_MAX,
                                                 &d->capacities[(size_t)machine * CLO_RESOURCES_MAX + resource]);
}

/* A machine: {"memory": 4096} or [4096, null]; what is missing is unlimited. */
static clo_status read_machine(draft *d, const cJSON *machine, uint32_t index)
{
    const cJSON *item;
    uint32_t r = 0;
    bool named = cJSON_IsObject(machine);

    if (!named && !cJSON_IsArray(machine))
        return clo_json_want(d->json, machine, "{\"resource\": capacity} or an array of capacities");
    cJSON_ArrayForEach (item, machine) {
        for (r = named ? 0 : r; named && r < CLO_RESOURCES_MAX; r++)
            if (d->resource_names[r] != NULL && strcmp(d->resource_names[r], item->string) == 0)
                break;
        if (r == CLO_RESOURCES_MAX)
            return clo_json_fail(d->json, CLO_ERR_FORMAT, item, "%s",
                                 named ? "is not a resource of the platform; add it to its \"resources\""
                                       : "is one too many; there are at most 8 resources");
        clo_status status = read_capacity(d, item, index, r++);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_machines(draft *d, const cJSON *object)
{
    const cJSON *resources, *machines, *item;
    uint32_t r = 0, index = 0;
    clo_status status = clo_json_get_array(d->json, object, "resources", false, &resources);

    if (status == CLO_OK)
        status = clo_json_get_array(d->json, object, "machines", false, &machines);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, resources) {
        if (r == CLO_RESOURCES_MAX)
            return clo_json_fail(d->json, CLO_ERR_LIMIT, item, "is one too many; there are at most 8 resources");
        if (!cJSON_IsNull(item) && (status = clo_json_text(d->json, item, &d->resource_names[r])) != CLO_OK)
            return status;
        r++;
    }
    int count = machines != NULL ? cJSON_GetArraySize(machines) : 1;
    if (count < 1 || count > (int)CLO_EXECUTORS_MAX)
        return clo_json_fail(d->json, CLO_ERR_FORMAT, machines, "must list 1 .. %u machines", CLO_EXECUTORS_MAX);
    d->desc.machines_count = (uint32_t)count;
    d->capacities = clo_allocate((size_t)count, CLO_RESOURCES_MAX * sizeof *d->capacities);
    if (d->capacities == NULL)
        return clo_fail_memory("the machines");
    for (size_t i = 0; i < (size_t)count * CLO_RESOURCES_MAX; i++)
        d->capacities[i] = -1;
    cJSON_ArrayForEach (item, machines)
        if ((status = read_machine(d, item, index++)) != CLO_OK)
            return status;
    return CLO_OK;
}

static clo_status read_latency(draft *d, const cJSON *item, size_t cell)
{
    return clo_json_integer(d->json, item, CLO_JSON_INTEGER_MAX, &d->latency_ns[cell]);
}

static clo_status read_rate(const draft *d, const cJSON *item, double *out)
{
    if (cJSON_IsNull(item))
        return CLO_OK; /* infinite */
    if (!cJSON_IsNumber(item) || !(item->valuedouble > 0))
        return clo_json_want(d->json, item, "bytes per ns (GB/s) > 0, or null for infinite");
    return clo_json_number(d->json, item, out);
}

static clo_status read_bandwidth(draft *d, const cJSON *item, size_t cell)
{
    return read_rate(d, item, &d->bandwidth[cell]);
}

/* One port for all machines, or one for each. */
static clo_status read_ports(draft *d, const cJSON *object)
{
    const cJSON *ports, *item;
    uint32_t machine = 0;
    clo_status status = clo_json_get(d->json, object, "port_bytes_per_ns", false, &ports);

    if (status != CLO_OK || ports == NULL)
        return status;
    d->ports = clo_allocate(d->desc.machines_count, sizeof *d->ports);
    if (d->ports == NULL)
        return clo_fail_memory("the ports");
    bool is_list = cJSON_IsArray(ports);
    if (is_list)
        status = clo_json_count(d->json, ports, d->desc.machines_count, "machine");
    item = is_list ? ports->child : ports;
    for (; machine < d->desc.machines_count && status == CLO_OK; item = is_list ? item->next : item)
        status = read_rate(d, item, &d->ports[machine++]);
    return status;
}

/* One value for all pairs, or a row for each executor; the first goes to `cell`. NULL: nothing is stated. */
static clo_status read_matrix(draft *d, const cJSON *matrix, size_t cell,
                              clo_status (*read)(draft *d, const cJSON *item, size_t cell))
{
    const cJSON *row, *item;
    size_t n = d->rows;
    clo_status status = CLO_OK;

    if (matrix == NULL)
        return CLO_OK;
    if (!cJSON_IsArray(matrix)) {
        for (size_t i = 0; i < n * n && status == CLO_OK; i++)
            status = read(d, matrix, cell + i);
        return status;
    }
    if ((size_t)cJSON_GetArraySize(matrix) != n)
        return clo_json_fail(d->json, CLO_ERR_FORMAT, matrix, "has %d row%s; write one for each of the %zu executors",
                             cJSON_GetArraySize(matrix), cJSON_GetArraySize(matrix) == 1 ? "" : "s", n);
    cJSON_ArrayForEach (row, matrix) {
        if (!cJSON_IsArray(row) || (size_t)cJSON_GetArraySize(row) != n)
            return clo_json_fail(d->json, CLO_ERR_FORMAT, row, "must be an array of %zu numbers, one an executor", n);
        cJSON_ArrayForEach (item, row)
            if ((status = read(d, item, cell++)) != CLO_OK)
                return status;
    }
    return CLO_OK;
}

/* The bytes at which the pieces of the links begin, the first one left out. */
static clo_status read_cuts(draft *d, const cJSON *cuts, const cJSON *beyond)
{
    const cJSON *item;
    int count = cJSON_GetArraySize(cuts);
    int64_t before = 0, bytes = 0;

    if (beyond == NULL || cuts == NULL)
        return clo_json_fail(d->json, CLO_ERR_FORMAT, beyond == NULL ? cuts : beyond, "stands without \"%s\"; add it",
                             beyond == NULL ? "bandwidth_beyond" : "cut_bytes");
    if (count < 1 || count >= CLO_LINK_PIECES_MAX)
        return clo_json_fail(d->json, CLO_ERR_FORMAT, cuts, "has %d cuts; write 1 .. %d", count,
                             CLO_LINK_PIECES_MAX - 1);
    cJSON_ArrayForEach (item, cuts) {
        clo_status status = clo_json_integer(d->json, item, CLO_JSON_INTEGER_MAX, &bytes);
        if (status != CLO_OK)
            return status;
        if (bytes <= before)
            return clo_json_want(d->json, item, "bytes > 0, more than the cut before");
        d->cuts[d->desc.cuts_count++] = (uint64_t)(before = bytes);
    }
    return clo_json_count(d->json, beyond, d->desc.cuts_count, "cut");
}

/* One row where no matrix has more. */
static clo_status count_rows(draft *d, const cJSON *latency, const cJSON *bandwidth, const cJSON *beyond)
{
    const cJSON *item;
    bool has_rows = cJSON_IsArray(latency) || cJSON_IsArray(bandwidth);

    cJSON_ArrayForEach (item, beyond)
        has_rows |= cJSON_IsArray(item) != 0;
    d->rows = has_rows ? d->desc.executors_count : 1;
    if (has_rows)
        return CLO_OK;
    d->desc.groups_count = 1;
    d->group_of = clo_allocate(d->desc.executors_count, sizeof *d->group_of);
    return d->group_of != NULL ? CLO_OK : clo_fail_memory("the links");
}

static clo_status read_links(draft *d, const cJSON *object)
{
    size_t n, cell = 0;
    const cJSON *latency, *bandwidth, *cuts, *beyond, *item;
    clo_status status = clo_json_get(d->json, object, "latency_ns", false, &latency);

    if (status == CLO_OK)
        status = clo_json_get(d->json, object, "bandwidth_bytes_per_ns", false, &bandwidth);
    if (status == CLO_OK)
        status = clo_json_get_array(d->json, object, "cut_bytes", false, &cuts);
    if (status == CLO_OK)
        status = clo_json_get_array(d->json, object, "bandwidth_beyond", false, &beyond);
    if (status == CLO_OK && (cuts != NULL || beyond != NULL))
        status = read_cuts(d, cuts, beyond);
    if (status != CLO_OK || (latency == NULL && bandwidth == NULL && d->desc.cuts_count == 0))
        return status;
    status = count_rows(d, latency, bandwidth, beyond);
    if (status != CLO_OK)
        return status;
    n = d->rows;
    d->latency_ns = clo_allocate(n * n, sizeof *d->latency_ns);
    d->bandwidth = clo_allocate(n * n, (1 + d->desc.cuts_count) * sizeof *d->bandwidth);
    if (d->latency_ns == NULL || d->bandwidth == NULL)
        return clo_fail_memory("the links");
    status = read_matrix(d, latency, 0, read_latency);
    if (status == CLO_OK)
        status = read_matrix(d, bandwidth, 0, read_bandwidth);
    cJSON_ArrayForEach (item, beyond)
        if (status == CLO_OK)
            status = read_matrix(d, item, cell += n * n, read_bandwidth);
    return status;
}

clo_status clo_platform_read(const clo_json *json, const cJSON *object, clo_platform **out)
{
    static const char *const known[] = {
        "name",      "coherent",   "mean_includes_self",     "resources", "machines",         "kinds",
        "executors", "latency_ns", "bandwidth_bytes_per_ns", "cut_bytes", "bandwidth_beyond", "port_bytes_per_ns",
        NULL};
    draft d = {.json = json, .desc = CLO_PLATFORM_DESC_INIT};
    bool coherent = false, self = false;
    const cJSON *name;
    clo_status status = clo_json_keys(json, object, known);

    if (status == CLO_OK)
        status = clo_json_get(json, object, "name", false, &name);
    if (status == CLO_OK && name != NULL)
        status = clo_json_text(json, name, &d.desc.name);
    if (status == CLO_OK)
        status = clo_json_get_boolean(json, object, "coherent", &coherent);
    if (status == CLO_OK)
        status = clo_json_get_boolean(json, object, "mean_includes_self", &self);
    if (status == CLO_OK)
        status = read_machines(&d, object);
    if (status == CLO_OK)
        status = read_executors(&d, object);
    if (status == CLO_OK)
        status = read_links(&d, object);
    if (status == CLO_OK)
        status = read_ports(&d, object);
    if (status == CLO_OK) {
        d.desc.coherent = coherent;
        d.desc.mean_includes_self = self;
        d.desc.executors = d.executors;
        d.desc.executor_names = d.executor_names;
        d.desc.kind_names = d.kind_names;
        d.desc.capacities = d.capacities;
        d.desc.resource_names = d.resource_names;
        d.desc.latency_ns = d.latency_ns;
        d.desc.bandwidth_bytes_per_ns = d.bandwidth;
        d.desc.cut_bytes = d.cuts;
        d.desc.port_bytes_per_ns = d.ports;
        d.desc.group_of = d.group_of;
        d.desc.bandwidth_beyond = d.desc.cuts_count > 0 ? d.bandwidth + d.rows * d.rows : NULL;
        status = clo_json_place(json, object, clo_platform_create(&d.desc, out));
    }
    free_draft(&d);
    return status;
}
