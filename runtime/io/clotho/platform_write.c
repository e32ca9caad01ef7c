/* platform_write.c - the "platform" object of the own format, which platform_read.c reads. */
#include "io/text/reader.h"

#include "base/status.h"
#include "platform/model/platform.h"

/* null: an infinite bandwidth. */
static void write_figure(int64_t latency_ns, uint64_t slope_q32, bool latency, clo_text *text)
{
    if (latency)
        clo_text_add(text, "%lld", (long long)latency_ns);
    else if (slope_q32 == 0)
        clo_text_add(text, "null");
    else
        clo_text_add_double(text, 0x1p32 / (double)slope_q32);
}

/* Inside a memory there is no link, which takes no time. */
static void write_pair(const clo_platform *p, uint32_t piece, uint32_t from, uint32_t to, bool latency, clo_text *text)
{
    size_t cell = clo_platform_cell(p, piece, from, to);
    bool is_link = p->executors[from].memory != p->executors[to].memory;

    write_figure(is_link ? p->latency_ns[cell] : 0, is_link ? p->ns_per_byte_q32[cell] : 0, latency, text);
}

/* One number where all links are alike; else rows. */
static void write_matrix(const clo_platform *p, uint32_t piece, bool latency, clo_text *text)
{
    const clo_link_span *span = &p->spans[piece];
    uint32_t n = p->executors_count;

    if (latency ? span->latency_least_ns == span->latency_most_ns
                : span->ns_per_byte_least_q32 == span->ns_per_byte_most_q32) {
        write_figure(span->latency_most_ns, span->ns_per_byte_most_q32, latency, text);
        return;
    }
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++) {
            clo_text_add(text, "%s%s", from == 0 && to == 0 ? "[" : ", ", to == 0 ? "\n      [" : "");
            write_pair(p, piece, from, to, latency, text);
            clo_text_add(text, "%s", to == n - 1 ? "]" : "");
        }
    clo_text_add(text, "]");
}

/* Nothing where it is the default. */
static void write_links(const clo_platform *p, clo_text *text)
{
    if (p->spans[0].latency_most_ns != 0) {
        clo_text_add(text, ",\n    \"latency_ns\": ");
        write_matrix(p, 0, true, text);
    }
    if (p->spans[0].ns_per_byte_most_q32 != 0) {
        clo_text_add(text, ",\n    \"bandwidth_bytes_per_ns\": ");
        write_matrix(p, 0, false, text);
    }
    for (uint32_t k = 1; k < p->pieces_count; k++)
        clo_text_add(text, "%s%llu%s", k == 1 ? ",\n    \"cut_bytes\": [" : ", ", (unsigned long long)p->cut_bytes[k],
                     k + 1 == p->pieces_count ? "]" : "");
    for (uint32_t k = 1; k < p->pieces_count; k++) {
        clo_text_add(text, "%s", k == 1 ? ",\n    \"bandwidth_beyond\": [" : ", ");
        write_matrix(p, k, false, text);
        clo_text_add(text, "%s", k + 1 == p->pieces_count ? "]" : "");
    }
}

static void write_executor(const clo_platform *p, uint32_t index, clo_text *text)
{
    static const char *const classes[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};
    const clo_executor *e = &p->executors[index];

    clo_text_add(text, "%s\n      {\"name\": ", index == 0 ? "" : ",");
    clo_text_add_json(text, p->executor_names[index]);
    clo_text_add(text, ", \"kind\": ");
    clo_text_add_json(text, p->kind_names[e->kind]);
    if (e->machine > 0)
        clo_text_add(text, ", \"machine\": %u", (unsigned)e->machine);
    clo_text_add(text, ", \"memory\": %u", (unsigned)e->memory);
    if (e->os_index >= 0)
        clo_text_add(text, ", \"cpu\": %d", (int)e->os_index);
    if (e->os_index <= CLO_OS_SLOT)
        clo_text_add(text, ", \"slot\": true");
    if (e->os_index < CLO_OS_SLOT)
        clo_text_add(text, ", \"depth\": %d", (int)clo_slot_depth(e));
    clo_text_add(text, ", \"speed\": ");
    clo_text_add_double(text, e->speed_q16[0] / (double)CLO_SPEED_ONE);
    const char *before = ", \"speeds\": {";
    for (uint32_t c = 1; c < CLO_CLASSES_BUILTIN; c++) {
        if (e->speed_q16[c] == e->speed_q16[0])
            continue;
        clo_text_add(text, "%s\"%s\": ", before, classes[c]);
        clo_text_add_double(text, e->speed_q16[c] / (double)CLO_SPEED_ONE);
        before = ", ";
    }
    clo_text_add(text, before[2] == '\0' ? "}}" : "}");
}

/* Arrays by index: capacities of unnamed resources have no other name. */
static void write_machines(const clo_platform *p, clo_text *text)
{
    uint32_t named = CLO_RESOURCES_MAX;

    while (named > 0 && p->resource_names[named - 1] == NULL)
        named--;
    for (uint32_t r = 0; r < named; r++) {
        clo_text_add(text, r == 0 ? ",\n    \"resources\": [" : ", ");
        if (p->resource_names[r] == NULL)
            clo_text_add(text, "null");
        else
            clo_text_add_json(text, p->resource_names[r]);
    }
    clo_text_add(text, "%s,\n    \"machines\": [", named > 0 ? "]" : "");
    for (uint32_t m = 0; m < p->machines_count; m++) {
        uint32_t count = CLO_RESOURCES_MAX;
        while (count > 0 && clo_platform_capacity(p, m, count - 1) < 0)
            count--;
        clo_text_add(text, m == 0 ? "[" : ", [");
        for (uint32_t r = 0; r < count; r++) {
            int64_t capacity = clo_platform_capacity(p, m, r);
            if (capacity < 0)
                clo_text_add(text, r == 0 ? "null" : ", null");
            else
                clo_text_add(text, r == 0 ? "%lld" : ", %lld", (long long)capacity);
        }
        clo_text_add(text, "]");
    }
    clo_text_add(text, "]");
}

static void write_ports(const clo_platform *p, clo_text *text)
{
    for (uint32_t m = 0; m < p->machines_count && p->port_q32 != NULL; m++) {
        clo_text_add(text, m == 0 ? ",\n    \"port_bytes_per_ns\": [" : ", ");
        if (p->port_q32[m] == 0)
            clo_text_add(text, "null");
        else
            clo_text_add_double(text, clo_platform_port_bytes_per_ns(p, m));
    }
    clo_text_add(text, p->port_q32 != NULL ? "]" : "");
}

static clo_status check_exact(const clo_platform *p)
{
    for (size_t i = 0; i < (size_t)p->machines_count * CLO_RESOURCES_MAX; i++)
        if (p->capacities[i] > CLO_JSON_INTEGER_MAX)
            return clo_fail(CLO_ERR_UNSUPPORTED,
                            "platform '%s': a capacity of %lld; JSON holds integers up to 2^53 exactly", p->name,
                            (long long)p->capacities[i]);
    if (p->spans[0].latency_most_ns > CLO_JSON_INTEGER_MAX)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "platform '%s': a latency of %lld ns; JSON holds integers up to 2^53 exactly", p->name,
                        (long long)p->spans[0].latency_most_ns);
    if (p->cut_bytes[p->pieces_count - 1] > CLO_JSON_INTEGER_MAX)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "platform '%s': a piece begins at %llu bytes; JSON holds integers up to 2^53 exactly", p->name,
                        (unsigned long long)p->cut_bytes[p->pieces_count - 1]);
    return CLO_OK;
}

clo_status clo_platform_write(const clo_platform *p, clo_text *text)
{
    clo_status status = check_exact(p);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, "{\n    \"name\": ");
    clo_text_add_json(text, p->name);
    clo_text_add(text, "%s%s", p->coherent ? ",\n    \"coherent\": true" : "",
                 p->mean_includes_self ? ",\n    \"mean_includes_self\": true" : "");
    write_machines(p, text);
    for (uint32_t k = 0; k < p->kinds_count; k++) {
        clo_text_add(text, k == 0 ? ",\n    \"kinds\": [" : ", ");
        clo_text_add_json(text, p->kind_names[k]);
    }
    clo_text_add(text, "],\n    \"executors\": [");
    for (uint32_t e = 0; e < p->executors_count; e++)
        write_executor(p, e, text);
    clo_text_add(text, "]");
    write_links(p, text);
    write_ports(p, text);
    clo_text_add(text, "\n  }");
    return CLO_OK;
}
