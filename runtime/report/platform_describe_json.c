/* report/platform_describe_json.c - the facts of a platform as one JSON object, for programs. */
#include "base/status.h"
#include "base/text.h"
#include "platform/model/figures.h"
#include "platform/model/platform.h"
#include "report/closeness.h"

#define MATRIX_MAX 256 /* with more executors, the link classes alone */

static const char *const class_names[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};

static void json_executor(const clo_platform *p, uint32_t e, clo_text *out)
{
    const clo_executor *x = &p->executors[e];

    clo_text_add(out, "%s{\"name\":", e > 0 ? "," : "");
    clo_text_add_json(out, p->executor_names[e]);
    clo_text_add(out, ",\"kind\":");
    clo_text_add_json(out, p->kind_names[x->kind]);
    clo_text_add(out, ",\"os_index\":%d,\"machine\":%u,\"memory\":%u,\"speed_q16\":{", x->os_index, x->machine,
                 x->memory);
    for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
        clo_text_add(out, "%s\"%s\":%u", c > 0 ? "," : "", class_names[c], x->speed_q16[c]);
    clo_text_add(out, "}");
    if (clo_platform_driver(p, e) != NULL) {
        clo_text_add(out, ",\"driver\":");
        clo_text_add_json(out, clo_platform_driver(p, e));
        clo_text_add(out, ",\"device\":");
        clo_text_add_json(out, clo_platform_device(p, e));
    }
    if (p->places != NULL) {
        const clo_place *place = &p->places[e];
        clo_text_add(out, ",\"package\":%u,\"cluster\":%u,\"core\":%u,\"caches\":{", place->package, place->cluster,
                     place->core);
        bool first = true;
        for (uint32_t level = 1; level < CLO_CACHE_LEVELS; level++)
            if (place->cache_bytes[level] > 0) {
                clo_text_add(out, "%s\"L%u\":%llu", first ? "" : ",", level,
                             (unsigned long long)place->cache_bytes[level]);
                first = false;
            }
        clo_text_add(out, "}");
    }
    clo_text_add(out, "}");
}

/* A matrix of latencies, or of the bandwidths of a piece in MB/s with null for "unlimited", as inside a memory. */
static void json_matrix(const clo_platform *p, uint32_t piece, bool latency, clo_text *out)
{
    uint32_t n = p->executors_count;

    clo_text_add(out, "[");
    for (uint32_t a = 0; a < n; a++) {
        clo_text_add(out, "%s[", a > 0 ? "," : "");
        for (uint32_t b = 0; b < n; b++) {
            size_t at = clo_platform_cell(p, piece, a, b);
            bool is_link = p->executors[a].memory != p->executors[b].memory;
            uint64_t mbps = is_link ? clo_rate_mbps(p->ns_per_byte_q32[at]) : 0;
            clo_text_add(out, b > 0 ? "," : "");
            if (latency)
                clo_text_add(out, "%lld", is_link ? (long long)p->latency_ns[at] : 0);
            else if (mbps == 0)
                clo_text_add(out, "null");
            else
                clo_text_add(out, "%llu", (unsigned long long)mbps);
        }
        clo_text_add(out, "]");
    }
    clo_text_add(out, "]");
}

static void json_range(const clo_link_class *l, clo_text *out)
{
    clo_text_add(out, l->q32_max == 0 ? "[null," : "[%llu,", (unsigned long long)clo_rate_mbps(l->q32_max));
    clo_text_add(out, l->q32_min == 0 ? "null]" : "%llu]", (unsigned long long)clo_rate_mbps(l->q32_min));
}

/* What a class has beyond each cut. */
static void json_beyond(const clo_platform *p, uint32_t c, clo_text *out)
{
    clo_link_class classes[CLO_CLOSENESS_COUNT];

    for (uint32_t k = 1; k < p->pieces_count; k++) {
        clo_link_classes(p, k, classes);
        clo_text_add(out, k == 1 ? ",\"bandwidth_beyond_MBps\":[" : ",");
        json_range(&classes[c], out);
    }
    clo_text_add(out, p->pieces_count > 1 ? "]" : "");
}

static void json_links(const clo_platform *p, clo_text *out)
{
    clo_link_class classes[CLO_CLOSENESS_COUNT];
    bool first = true;

    clo_link_classes(p, 0, classes);
    clo_text_add(out, ",\"links\":{\"classes\":{");
    for (uint32_t c = 0; c < CLO_CLOSENESS_COUNT; c++) {
        const clo_link_class *l = &classes[c];
        if (l->pairs == 0)
            continue;
        clo_text_add(out, "%s\"%s\":{\"pairs\":%llu,\"latency_ns\":[%lld,%lld],\"bandwidth_MBps\":", first ? "" : ",",
                     clo_closeness_name((clo_closeness)c), (unsigned long long)l->pairs, (long long)l->latency_min_ns,
                     (long long)l->latency_max_ns);
        json_range(l, out);
        json_beyond(p, c, out);
        clo_text_add(out, "}");
        first = false;
    }
    clo_text_add(out, "}");
    if (p->executors_count <= MATRIX_MAX) {
        clo_text_add(out, ",\"latency_ns\":");
        json_matrix(p, 0, true, out);
        clo_text_add(out, ",\"bandwidth_MBps\":");
        json_matrix(p, 0, false, out);
    }
    for (uint32_t k = 1; k < p->pieces_count; k++)
        clo_text_add(out, "%s%llu%s", k == 1 ? ",\"cut_bytes\":[" : ",", (unsigned long long)p->cut_bytes[k],
                     k + 1 == p->pieces_count ? "]" : "");
    for (uint32_t k = 1; k < p->pieces_count && p->executors_count <= MATRIX_MAX; k++) {
        clo_text_add(out, k == 1 ? ",\"bandwidth_beyond_MBps\":[" : ",");
        json_matrix(p, k, false, out);
        clo_text_add(out, k + 1 == p->pieces_count ? "]" : "");
    }
    clo_text_add(out, "}");
}

static void json_capacities(const clo_platform *p, clo_text *out)
{
    bool first = true;

    clo_text_add(out, ",\"capacities\":[");
    for (uint32_t m = 0; m < p->machines_count; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            if (clo_platform_capacity(p, m, r) < 0)
                continue;
            clo_text_add(out, "%s{\"machine\":%u,\"resource\":%u,\"name\":", first ? "" : ",", m, r);
            if (p->resource_names[r] == NULL)
                clo_text_add(out, "null");
            else
                clo_text_add_json(out, p->resource_names[r]);
            clo_text_add(out, ",\"capacity\":%lld}", (long long)clo_platform_capacity(p, m, r));
            first = false;
        }
    clo_text_add(out, "]");
}

static void json_sources(const clo_platform *p, clo_text *out)
{
    clo_text_add(out, ",\"sources\":{");
    for (uint32_t f = 0; f < p->facts_count; f++) {
        clo_text_add(out, f > 0 ? "," : "");
        clo_text_add_json(out, p->facts[f].fact);
        clo_text_add(out, ":{\"status\":");
        clo_text_add_json(out, p->facts[f].status);
        clo_text_add(out, ",\"source\":");
        clo_text_add_json(out, p->facts[f].source);
        clo_text_add(out, "}");
    }
    clo_text_add(out, "}");
}

clo_status clo_platform_describe_json(const clo_platform *platform, char **out)
{
    clo_text text = {0};

    if (platform == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_platform_describe_json: platform or out is NULL");
    clo_text_add(&text, "{\"name\":");
    clo_text_add_json(&text, platform->name);
    clo_text_add(&text, ",\"summary\":");
    if (platform->summary == NULL)
        clo_text_add(&text, "null");
    else
        clo_text_add_json(&text, platform->summary);
    clo_text_add(&text, ",\"native\":%s,\"coherent\":%s,\"machines\":%u,\"memories\":%u,\"kinds\":[",
                 platform->native ? "true" : "false", platform->coherent ? "true" : "false", platform->machines_count,
                 platform->memories_count);
    for (uint32_t k = 0; k < platform->kinds_count; k++) {
        clo_text_add(&text, k > 0 ? "," : "");
        clo_text_add_json(&text, platform->kind_names[k]);
    }
    clo_text_add(&text, "],\"executors\":[");
    for (uint32_t e = 0; e < platform->executors_count; e++)
        json_executor(platform, e, &text);
    clo_text_add(&text, "]");
    json_capacities(platform, &text);
    json_links(platform, &text);
    json_sources(platform, &text);
    clo_text_add(&text, "}");
    return clo_text_take(&text, out) == CLO_OK ? CLO_OK : clo_fail_memory("a platform's description");
}
