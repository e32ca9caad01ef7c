/* write.c - a cluster file again, with other links and ports. What is written has been read: names and
 * platforms stay, word for word, and the new text must pass clo_cluster_parse before it takes its place. */
#include "io/cluster/cluster.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/text/json_read.h"

#include <math.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)16 << 20)

/* What is asked for; see clo_cluster_save_links. */
typedef struct writing {
    const clo_cluster *cluster;
    const uint64_t *cut_bytes;
    uint32_t cuts_count;
    const clo_cluster_link *links;
    size_t links_count;
    const double *ports; /* [ports_count] bytes/ns, <= 0: infinite; NULL: as they were read */
    uint32_t ports_count;
} writing;

static size_t folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool is_same_folder(const char *a, const char *b)
{
    size_t bytes = folder_bytes(a);

    return bytes == folder_bytes(b) && memcmp(a, b, bytes) == 0;
}

/* As it was read, if it is there: of a machine, or of the file. */
static clo_status write_port(const clo_json *json, const cJSON *object, const char *before, const char *after,
                             clo_text *text)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, object, "port_bytes_per_ns", false, &item);

    if (status != CLO_OK || item == NULL)
        return status;
    clo_text_add(text, "%s\"port_bytes_per_ns\": ", before);
    if (cJSON_IsNumber(item))
        clo_text_add(text, "%.17g", item->valuedouble);
    else
        clo_text_add(text, "null");
    clo_text_add(text, "%s", after);
    return CLO_OK;
}

/* As it was measured. */
static void write_measured_port(double port, clo_text *text)
{
    if (port > 0)
        clo_text_add(text, ", \"port_bytes_per_ns\": %.6g", port);
    else
        clo_text_add(text, ", \"port_bytes_per_ns\": null");
}

static clo_status write_machines(const writing *w, const clo_json *json, const char *from, const char *to,
                                 clo_text *text)
{
    const cJSON *list, *item;
    const char *name, *spec, *before = "";
    uint32_t machine = 0;
    clo_status status = clo_json_get_array(json, json->root, "machines", true, &list);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, " \"machines\": [");
    cJSON_ArrayForEach (item, list) {
        status = clo_json_get_string(json, item, "name", &name);
        if (status == CLO_OK)
            status = clo_json_get_string(json, item, "platform", &spec);
        if (status != CLO_OK)
            return status;
        if (clo_cluster_is_path(spec) && spec[0] != '/' && !is_same_folder(from, to))
            return clo_fail(CLO_ERR_ARGUMENT,
                            "%s: machine '%s' has its platform in '%s', beside %s; write the file there", to, name,
                            spec, from);
        clo_text_add(text, "%s{\"name\": ", before);
        clo_text_add_json(text, name);
        clo_text_add(text, ", \"platform\": ");
        clo_text_add_json(text, spec);
        if (w->ports != NULL)
            write_measured_port(w->ports[machine++], text);
        else if ((status = write_port(json, item, ", ", "", text)) != CLO_OK)
            return status;
        clo_text_add(text, "}");
        before = ",\n  ";
    }
    clo_text_add(text, "],\n");
    return w->ports != NULL ? CLO_OK : write_port(json, json->root, " ", ",\n", text);
}

static void write_link(const writing *w, const clo_cluster_link *link, clo_text *text)
{
    clo_text_add(text, "  {\"from\": ");
    clo_text_add_json(text, w->cluster->names[link->from]);
    clo_text_add(text, ", \"to\": ");
    clo_text_add_json(text, w->cluster->names[link->to]);
    clo_text_add(text, ", \"latency_ns\": %lld, \"bandwidth_bytes_per_ns\": [", (long long)link->latency_ns);
    for (uint32_t k = 0; k <= w->cuts_count; k++) {
        double bandwidth = link->bandwidth_bytes_per_ns[k];
        if (bandwidth > 0)
            clo_text_add(text, "%s%.6g", k > 0 ? ", " : "", bandwidth);
        else
            clo_text_add(text, "%snull", k > 0 ? ", " : "");
    }
    clo_text_add(text, "]");
    if (link->status != NULL) {
        clo_text_add(text, ", \"status\": ");
        clo_text_add_json(text, link->status);
    }
    if (link->source != NULL) {
        clo_text_add(text, ", \"source\": ");
        clo_text_add_json(text, link->source);
    }
    clo_text_add(text, "}");
}

static clo_status write_cluster(const writing *w, const clo_json *json, const char *from, const char *to,
                                clo_text *text)
{
    clo_text_add(text, "{\"format\": \"clotho.cluster/1\", \"name\": ");
    clo_text_add_json(text, clo_platform_name(w->cluster->platform));
    clo_text_add(text, ",\n");
    clo_status status = write_machines(w, json, from, to, text);
    clo_text_add(text, " \"cut_bytes\": [");
    for (uint32_t k = 0; k < w->cuts_count; k++)
        clo_text_add(text, "%s%llu", k > 0 ? ", " : "", (unsigned long long)w->cut_bytes[k]);
    clo_text_add(text, "],\n \"links\": [");
    for (size_t i = 0; i < w->links_count; i++) {
        clo_text_add(text, i > 0 ? ",\n" : "\n");
        write_link(w, &w->links[i], text);
    }
    clo_text_add(text, "]}\n");
    return status;
}

static clo_status check_links(const writing *w)
{
    uint32_t machines = w->cluster->machines;

    for (size_t i = 0; i < w->links_count; i++) {
        const clo_cluster_link *link = &w->links[i];
        if (link->from >= machines || link->to >= machines || link->latency_ns < 0)
            return clo_fail(
                CLO_ERR_ARGUMENT,
                "clo_cluster_save_links: link %zu is from machine %u to %u (of %u), with a latency of %lld ns", i,
                link->from, link->to, machines, (long long)link->latency_ns);
        for (uint32_t k = 0; k <= w->cuts_count; k++)
            if (!isfinite(link->bandwidth_bytes_per_ns[k]))
                return clo_fail(CLO_ERR_ARGUMENT, "clo_cluster_save_links: bandwidth %u of link %zu is no number", k,
                                i);
    }
    return CLO_OK;
}

static clo_status check_ports(const writing *w)
{
    if (w->ports == NULL)
        return CLO_OK;
    if (w->ports_count != w->cluster->machines)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_cluster_save_network: %u ports; give one for each of %u machines",
                        w->ports_count, w->cluster->machines);
    for (uint32_t m = 0; m < w->ports_count; m++)
        if (!isfinite(w->ports[m]))
            return clo_fail(CLO_ERR_ARGUMENT, "clo_cluster_save_network: the port of machine %u is no number", m);
    return CLO_OK;
}

/* Reads what is there, and writes it again. `text`: of the file `from`. */
static clo_status rewrite(writing *w, const char *from, const clo_source *source, const char *to, clo_text *out)
{
    clo_json json;
    clo_cluster *cluster, *again;
    clo_status status = clo_cluster_parse(from, source->text, source->bytes, &cluster);

    if (status != CLO_OK)
        return status;
    w->cluster = cluster;
    status = check_links(w);
    if (status == CLO_OK)
        status = check_ports(w);
    if (status == CLO_OK)
        status = clo_json_open(&json, source);
    if (status == CLO_OK) {
        status = write_cluster(w, &json, from, to, out);
        clo_json_close(&json);
    }
    clo_cluster_destroy(cluster);
    if (status == CLO_OK && out->failed)
        status = clo_fail_memory("a cluster file");
    if (status == CLO_OK)
        status = clo_cluster_parse(to, out->data, out->bytes, &again);
    if (status == CLO_OK)
        clo_cluster_destroy(again);
    return status;
}

clo_status clo_cluster_save_network(const char *from, const uint64_t *cut_bytes, uint32_t cuts_count,
                                    const clo_cluster_link *links, size_t links_count, const double *ports,
                                    uint32_t ports_count, const char *to)
{
    writing w = {.cut_bytes = cut_bytes,
                 .cuts_count = cuts_count,
                 .links = links,
                 .links_count = links_count,
                 .ports = ports,
                 .ports_count = ports_count};
    clo_text text = {0};
    char *old;
    size_t bytes;

    if (from == NULL || to == NULL || (cut_bytes == NULL && cuts_count > 0) || (links == NULL && links_count > 0) ||
        (ports == NULL && ports_count > 0))
        return clo_fail_null("clo_cluster_save_network", "from, cut_bytes, links, ports or to");
    if (cuts_count >= CLO_LINK_PIECES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_cluster_save_network: %u cuts; give at most %d", cuts_count,
                        CLO_LINK_PIECES_MAX - 1);
    clo_status status = clo_file_read(from, FILE_BYTES_MAX, &old, &bytes);
    if (status != CLO_OK)
        return status;
    const clo_source source = {.name = from, .text = old, .bytes = bytes};
    status = rewrite(&w, from, &source, to, &text);
    if (status == CLO_OK)
        status = clo_file_write(to, text.data, text.bytes);
    clo_text_free(&text);
    clo_free(old);
    return status;
}
