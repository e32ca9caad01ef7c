/* read.c - cluster files, "clotho.cluster/1" (docs/FORMATS.md): machines with the SPEC of their platforms, and
 * links from machine to machine. What they become is cluster.c's. */
#include "io/cluster/cluster.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/text/json_read.h"

#include <assert.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)16 << 20)
#define CUTS_MAX (CLO_LINK_PIECES_MAX - 1)

typedef struct reading {
    const clo_json *json;
    clo_cluster *cluster;
    clo_cluster_links links;
    bool *is_said; /* [machines^2] a link is given in this direction */
} reading;

bool clo_cluster_is_path(const char *spec)
{
    size_t bytes = strlen(spec);

    return strchr(spec, '/') != NULL || (bytes > 4 && strcmp(spec + bytes - 4, ".xml") == 0);
}

/* A SPEC that is a path is relative to the folder of the cluster file. */
static char *spec_beside(const char *file, const char *spec)
{
    const char *slash = strrchr(file, '/');
    clo_text text = {0};
    char *out = NULL;

    if (clo_cluster_is_path(spec) && spec[0] != '/' && slash != NULL)
        clo_text_add_bytes(&text, file, (size_t)(slash - file) + 1);
    clo_text_add(&text, "%s", spec);
    return clo_text_take(&text, &out) == CLO_OK ? out : NULL;
}

/* null: infinite. */
static clo_status read_bandwidth(const reading *r, const cJSON *item, double *out)
{
    *out = 0;
    if (cJSON_IsNull(item))
        return CLO_OK;
    clo_status status = clo_json_number(r->json, item, out);
    if (status == CLO_OK && !(*out > 0))
        return clo_json_want(r->json, item, "bytes per ns > 0, or null for no limit");
    return status;
}

/* The port of one machine, or of those that do not say; `out` stays where there is none. */
static clo_status read_port(const reading *r, const cJSON *object, double *out)
{
    const cJSON *item;
    clo_status status = clo_json_get(r->json, object, "port_bytes_per_ns", false, &item);

    return status == CLO_OK && item != NULL ? read_bandwidth(r, item, out) : status;
}

static clo_status read_machine(reading *r, const cJSON *object, uint32_t m)
{
    static const char *const known[] = {"name", "platform", "port_bytes_per_ns", NULL};
    const char *name, *spec;
    clo_status status = clo_json_keys(r->json, object, known);

    if (status == CLO_OK)
        status = read_port(r, object, &r->links.port[m]);
    if (status == CLO_OK)
        status = clo_json_get_string(r->json, object, "name", &name);
    if (status == CLO_OK)
        status = clo_json_get_string(r->json, object, "platform", &spec);
    if (status != CLO_OK)
        return status;
    for (uint32_t other = 0; other < m; other++)
        if (strcmp(r->cluster->names[other], name) == 0)
            return clo_json_fail(r->json, CLO_ERR_FORMAT, object, "has the name of another machine; give it its own");
    char *path = spec_beside(r->json->file, spec);
    if (path == NULL || (r->cluster->names[m] = clo_duplicate(name)) == NULL)
        return clo_free(path), clo_fail_memory("a machine");
    status = clo_json_place(r->json, object, clo_platform_open(path, &r->cluster->own[m]));
    clo_free(path);
    return status;
}

static clo_status read_machines(reading *r)
{
    const cJSON *list, *item;
    uint32_t m = 0;
    double port = 0;
    clo_status status = clo_json_get_array(r->json, r->json->root, "machines", true, &list);

    if (status == CLO_OK)
        status = read_port(r, r->json->root, &port);
    if (status != CLO_OK)
        return status;
    int count = cJSON_GetArraySize(list);
    if (count < 1 || count > (int)CLO_CLUSTER_MACHINES_MAX)
        return clo_json_fail(r->json, CLO_ERR_FORMAT, list, "must be a list of 1 .. %u machines",
                             CLO_CLUSTER_MACHINES_MAX);
    size_t pairs = (size_t)count * (size_t)count;
    r->cluster->own = clo_allocate((size_t)count, sizeof(clo_platform *));
    r->cluster->names = clo_allocate((size_t)count, sizeof(char *));
    r->cluster->first_executor = clo_allocate((size_t)count + 1, sizeof(uint32_t));
    r->links.latency_ns = clo_allocate(pairs, sizeof(int64_t));
    r->links.bandwidth = clo_allocate(pairs, CLO_LINK_PIECES_MAX * sizeof(double));
    r->links.port = clo_allocate((size_t)count, sizeof(double));
    r->is_said = clo_allocate(pairs, sizeof(bool));
    if (r->cluster->own == NULL || r->cluster->names == NULL || r->cluster->first_executor == NULL ||
        r->links.latency_ns == NULL || r->links.bandwidth == NULL || r->links.port == NULL || r->is_said == NULL)
        return clo_fail_memory("a cluster");
    r->cluster->machines = (uint32_t)count;
    for (size_t i = 0; i < pairs; i++)
        r->links.latency_ns[i] = -1;
    for (int i = 0; i < count; i++)
        r->links.port[i] = port;
    cJSON_ArrayForEach (item, list)
        if (status == CLO_OK)
            status = read_machine(r, item, m++);
    return status;
}

static clo_status read_cuts(reading *r)
{
    const cJSON *list, *item;
    clo_status status = clo_json_get_array(r->json, r->json->root, "cut_bytes", false, &list);

    if (status != CLO_OK || list == NULL)
        return status;
    if (cJSON_GetArraySize(list) > CUTS_MAX)
        return clo_json_fail(r->json, CLO_ERR_FORMAT, list, "has more than %d cuts", CUTS_MAX);
    cJSON_ArrayForEach (item, list) {
        int64_t bytes;
        uint32_t k = r->links.cuts_count;
        status = clo_json_integer(r->json, item, CLO_JSON_INTEGER_MAX, &bytes);
        if (status != CLO_OK)
            return status;
        if (bytes == 0 || (k > 0 && (uint64_t)bytes <= r->links.cut_bytes[k - 1]))
            return clo_json_want(r->json, item, "numbers of bytes > 0 that rise");
        r->links.cut_bytes[r->links.cuts_count++] = (uint64_t)bytes;
    }
    return CLO_OK;
}

/* latency and bandwidth[cuts + 1] of a link. */
static clo_status read_figures(const reading *r, const cJSON *object, int64_t *latency_ns, double *bandwidth)
{
    const cJSON *item, *one;
    uint32_t k = 0;
    clo_status status = clo_json_get(r->json, object, "latency_ns", true, &item);

    if (status == CLO_OK)
        status = clo_json_integer(r->json, item, CLO_JSON_INTEGER_MAX, latency_ns);
    if (status == CLO_OK)
        status = clo_json_get(r->json, object, "bandwidth_bytes_per_ns", true, &item);
    if (status != CLO_OK)
        return status;
    if (!cJSON_IsArray(item)) {
        status = read_bandwidth(r, item, &bandwidth[0]);
        for (k = 1; k <= r->links.cuts_count; k++)
            bandwidth[k] = bandwidth[0];
        return status;
    }
    status = clo_json_count(r->json, item, r->links.cuts_count + 1, "piece of the links (cut_bytes)");
    cJSON_ArrayForEach (one, item)
        if (status == CLO_OK)
            status = read_bandwidth(r, one, &bandwidth[k++]);
    return status;
}

static void set_link(reading *r, size_t pair, int64_t latency_ns, const double *bandwidth)
{
    size_t pairs = (size_t)r->cluster->machines * r->cluster->machines;

    r->links.latency_ns[pair] = latency_ns;
    for (uint32_t k = 0; k <= r->links.cuts_count; k++)
        r->links.bandwidth[k * pairs + pair] = bandwidth[k];
}

static clo_status read_end(const reading *r, const cJSON *object, const char *key, uint32_t *machine)
{
    const char *name;
    clo_status status = clo_json_get_string(r->json, object, key, &name);

    if (status != CLO_OK)
        return status;
    for (*machine = 0; *machine < r->cluster->machines; ++*machine)
        if (strcmp(r->cluster->names[*machine], name) == 0)
            return CLO_OK;
    const cJSON *item;
    (void)clo_json_get(r->json, object, key, true, &item);
    return clo_json_want(r->json, item, "the name of a machine");
}

/* A link holds for both directions, unless the other one has a line of its own. */
static clo_status read_link(reading *r, const cJSON *object)
{
    static const char *const known[] = {"from", "to", "latency_ns", "bandwidth_bytes_per_ns", "status", "source", NULL};
    uint32_t from, to, machines = r->cluster->machines;
    int64_t latency_ns;
    double bandwidth[CLO_LINK_PIECES_MAX] = {0};
    clo_status status = clo_json_keys(r->json, object, known);

    if (status == CLO_OK)
        status = read_end(r, object, "from", &from);
    if (status == CLO_OK)
        status = read_end(r, object, "to", &to);
    if (status == CLO_OK && from == to)
        status = clo_json_fail(r->json, CLO_ERR_FORMAT, object, "leads from a machine to itself; remove it");
    if (status == CLO_OK && r->is_said[(size_t)from * machines + to])
        status = clo_json_fail(r->json, CLO_ERR_FORMAT, object, "is there twice; remove one");
    if (status == CLO_OK)
        status = read_figures(r, object, &latency_ns, bandwidth);
    if (status != CLO_OK)
        return status;
    r->is_said[(size_t)from * machines + to] = true;
    set_link(r, (size_t)from * machines + to, latency_ns, bandwidth);
    if (!r->is_said[(size_t)to * machines + from])
        set_link(r, (size_t)to * machines + from, latency_ns, bandwidth);
    return CLO_OK;
}

static clo_status read_links(reading *r)
{
    static const char *const known[] = {"latency_ns", "bandwidth_bytes_per_ns", "status", "source", NULL};
    const cJSON *all = NULL, *list = NULL, *item;
    uint32_t machines = r->cluster->machines;
    clo_status status = clo_json_get(r->json, r->json->root, "link", false, &all);

    assert(r->links.latency_ns != NULL); /* of read_machines */
    if (status == CLO_OK)
        status = clo_json_get_array(r->json, r->json->root, "links", false, &list);
    if (status == CLO_OK && all != NULL) {
        int64_t latency_ns = 0;
        double bandwidth[CLO_LINK_PIECES_MAX] = {0};
        status = clo_json_keys(r->json, all, known);
        if (status == CLO_OK)
            status = read_figures(r, all, &latency_ns, bandwidth);
        for (size_t pair = 0; pair < (size_t)machines * machines && status == CLO_OK; pair++)
            set_link(r, pair, latency_ns, bandwidth);
    }
    cJSON_ArrayForEach (item, list) /* none where list is NULL */
        if (status == CLO_OK)
            status = read_link(r, item);
    for (uint32_t a = 0; a < machines && status == CLO_OK; a++)
        for (uint32_t b = 0; b < machines && status == CLO_OK; b++)
            if (a != b && r->links.latency_ns[(size_t)a * machines + b] < 0)
                status = clo_json_fail(r->json, CLO_ERR_FORMAT, r->json->root,
                                       "says nothing of the link from '%s' to '%s'; add it to \"links\", or \"link\" "
                                       "for all others",
                                       r->cluster->names[a], r->cluster->names[b]);
    return status;
}

static clo_status read_cluster(reading *r)
{
    static const char *const known[] = {"format",    "name", "machines", "port_bytes_per_ns",
                                        "cut_bytes", "link", "links",    NULL};
    const char *format, *name = "cluster";
    const cJSON *item;
    clo_status status = clo_json_get_string(r->json, r->json->root, "format", &format);

    if (status == CLO_OK && strcmp(format, "clotho.cluster/1") != 0)
        status = clo_json_fail(r->json, CLO_ERR_FORMAT, r->json->root,
                               "is no cluster file: its format is \"%.60s\"; platforms are cluster files "
                               "(clotho.cluster/1) and XML files of hwloc",
                               format);
    if (status == CLO_OK)
        status = clo_json_keys(r->json, r->json->root, known);
    if (status == CLO_OK)
        status = clo_json_get(r->json, r->json->root, "name", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_string(r->json, item, &name);
    if (status == CLO_OK)
        status = read_machines(r);
    if (status == CLO_OK)
        status = read_cuts(r);
    if (status == CLO_OK)
        status = read_links(r);
    if (status == CLO_OK)
        status = clo_json_place(r->json, r->json->root, clo_cluster_join(r->cluster, name, &r->links));
    return status;
}

clo_status clo_cluster_parse(const char *name, const char *text, size_t text_bytes, clo_cluster **out)
{
    clo_json json;

    if (name == NULL || (text == NULL && text_bytes > 0) || out == NULL)
        return clo_fail_null("clo_cluster_parse", "name, text or out");
    const clo_source source = {.name = name, .text = text != NULL ? text : "", .bytes = text_bytes};
    clo_status status = clo_text_check(&source);
    if (status == CLO_OK)
        status = clo_json_open(&json, &source);
    if (status != CLO_OK)
        return status;
    reading r = {.json = &json, .cluster = clo_allocate(1, sizeof(clo_cluster))};
    status = r.cluster != NULL ? read_cluster(&r) : clo_fail_memory("a cluster");
    clo_free(r.links.latency_ns);
    clo_free(r.links.bandwidth);
    clo_free(r.links.port);
    clo_free(r.is_said);
    clo_json_close(&json);
    if (status != CLO_OK)
        return clo_cluster_destroy(r.cluster), status;
    *out = r.cluster;
    return CLO_OK;
}

clo_status clo_cluster_load(const char *path, clo_cluster **out)
{
    char *text;
    size_t bytes;

    if (path == NULL || out == NULL)
        return clo_fail_null("clo_cluster_load", "path or out");
    clo_status status = clo_file_read(path, FILE_BYTES_MAX, &text, &bytes);
    if (status != CLO_OK)
        return status;
    status = clo_cluster_parse(path, text, bytes, out);
    clo_free(text);
    return status;
}

clo_status clo_cluster_open_platform(const char *spec, clo_platform **out)
{
    clo_cluster *cluster;
    size_t length = spec != NULL ? strlen(spec) : 0;

    if (spec == NULL || out == NULL)
        return clo_fail_null("clo_cluster_open_platform", "spec or out");
    if (length < 5 || strcmp(spec + length - 5, ".json") != 0)
        return clo_platform_open(spec, out);
    clo_status status = clo_cluster_load(spec, &cluster);
    if (status != CLO_OK)
        return status;
    *out = cluster->platform;
    cluster->platform = NULL; /* it has copies of all that it needs */
    clo_cluster_destroy(cluster);
    return CLO_OK;
}
