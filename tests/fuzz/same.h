/* same.h - are two documents the same? For round trips, in property tests and fuzz targets. */
#ifndef CLO_TEST_SAME_H
#define CLO_TEST_SAME_H

#include "graph/control_flow.h"
#include "platform/model/platform.h"

#include <clotho/clotho.h>
#include <stdbool.h>
#include <string.h>

static inline bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static inline bool same_command(const clo_command *a, const clo_command *b)
{
    size_t i = 0;

    if (a == NULL || b == NULL)
        return a == b;
    for (; a->argv[i] != NULL && b->argv[i] != NULL; i++)
        if (strcmp(a->argv[i], b->argv[i]) != 0)
            return false;
    return a->argv[i] == b->argv[i] && same_text(a->directory, b->directory);
}

static inline bool same_executors(const clo_graph *a, const clo_graph *b, uint32_t t)
{
    static _Thread_local uint32_t x[CLO_EXECUTORS_MAX], y[CLO_EXECUTORS_MAX];
    uint32_t count = clo_graph_executors(a, t, x, CLO_EXECUTORS_MAX);

    return count == clo_graph_executors(b, t, y, CLO_EXECUTORS_MAX) && memcmp(x, y, count * sizeof *x) == 0;
}

static inline bool same_codelet(const clo_graph *a, const clo_graph *b, uint32_t t)
{
    clo_codelet x = {0}, y = {0};

    return clo_graph_codelet(a, t, &x) == clo_graph_codelet(b, t, &y) && same_text(x.name, y.name) &&
           x.version == y.version && x.footprint == y.footprint;
}

static inline bool same_task(const clo_graph *a, const clo_graph *b, uint32_t t)
{
    clo_task s, u;

    if (clo_graph_task(a, t, &s) != CLO_OK || clo_graph_task(b, t, &u) != CLO_OK)
        return false;
    for (uint32_t k = 0; k < clo_graph_kinds(a); k++) {
        int64_t x = -1, y = -1;
        if (clo_graph_time(a, t, k, &x) != clo_graph_time(b, t, k, &y) || x != y)
            return false;
    }
    return same_text(s.name, u.name) && s.work_ns == u.work_ns && s.output_bytes == u.output_bytes &&
           s.instances == u.instances && s.grain == u.grain && s.task_class == u.task_class &&
           s.duplicable == u.duplicable && same_executors(a, b, t) && same_codelet(a, b, t) &&
           memcmp(s.demand, u.demand, sizeof s.demand) == 0 && s.body == u.body &&
           (s.body != clo_body_command || same_command(s.argument, u.argument));
}

static inline bool same_control_flow(const clo_graph *a, const clo_graph *b)
{
    bool same = clo_graph_branches(a) == clo_graph_branches(b);

    for (uint32_t t = 0; same && t < clo_graph_tasks(a); t++) {
        same = clo_graph_arms(a, t) == clo_graph_arms(b, t) && clo_graph_bound(a, t) == clo_graph_bound(b, t) &&
               clo_graph_is_merge(a, t) == clo_graph_is_merge(b, t);
        for (uint32_t k = 0; same && k < clo_graph_arms(a, t); k++)
            same = clo_graph_chance(a, t, k) == clo_graph_chance(b, t, k);
    }
    for (uint32_t e = 0; same && e < clo_graph_edges(a); e++)
        same = clo_graph_edge_arm(a, e) == clo_graph_edge_arm(b, e);
    return same;
}

static inline bool same_graph(const clo_graph *a, const clo_graph *b)
{
    clo_edge x, y;
    bool same = strcmp(clo_graph_name(a), clo_graph_name(b)) == 0 && clo_graph_tasks(a) == clo_graph_tasks(b) &&
                clo_graph_edges(a) == clo_graph_edges(b) && clo_graph_kinds(a) == clo_graph_kinds(b) &&
                clo_graph_instances(a) == clo_graph_instances(b);

    for (uint32_t k = 0; same && k < clo_graph_kinds(a); k++)
        same = strcmp(clo_graph_kind_name(a, k), clo_graph_kind_name(b, k)) == 0;
    for (uint32_t r = 0; same && r < CLO_RESOURCES_MAX; r++)
        same = same_text(clo_graph_resource_name(a, r), clo_graph_resource_name(b, r));
    for (uint32_t t = 0; same && t < clo_graph_tasks(a); t++)
        same = same_task(a, b, t);
    same = same && clo_graph_handles(a) == clo_graph_handles(b) && clo_graph_accesses(a) == clo_graph_accesses(b) &&
           clo_graph_edges_added(a) == clo_graph_edges_added(b);
    for (uint32_t h = 0; same && h < clo_graph_handles(a); h++) {
        clo_handle s, u;
        same = clo_graph_handle(a, h, &s) == CLO_OK && clo_graph_handle(b, h, &u) == CLO_OK && s.bytes == u.bytes &&
               same_text(s.name, u.name) && (s.kept != 0 || s.address != NULL) == (u.kept != 0);
    }
    for (uint32_t i = 0; same && i < clo_graph_accesses(a); i++) {
        clo_access s, u;
        same = clo_graph_access(a, i, &s) == CLO_OK && clo_graph_access(b, i, &u) == CLO_OK &&
               memcmp(&s, &u, sizeof s) == 0;
    }
    for (uint32_t e = 0; same && e < clo_graph_edges(a); e++)
        same = clo_graph_edge(a, e, &x) == CLO_OK && clo_graph_edge(b, e, &y) == CLO_OK && x.from == y.from &&
               x.to == y.to && x.bytes == y.bytes;
    return same && same_control_flow(a, b);
}

static inline bool same_links(const clo_platform *a, const clo_platform *b)
{
    static const uint64_t sizes[] = {0, 1, 300, 4096, 70000, 3000000, 1000000007};
    uint32_t n = clo_platform_executors(a);

    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                if (clo_platform_transfer_ns(a, sizes[s], from, to) != clo_platform_transfer_ns(b, sizes[s], from, to))
                    return false;
    return true;
}

static inline bool same_platform(const clo_platform *a, const clo_platform *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool same = strcmp(clo_platform_name(a), clo_platform_name(b)) == 0 &&
                clo_platform_executors(a) == clo_platform_executors(b) &&
                clo_platform_kinds(a) == clo_platform_kinds(b) &&
                clo_platform_machines(a) == clo_platform_machines(b) &&
                clo_platform_is_coherent(a) == clo_platform_is_coherent(b);

    for (uint32_t e = 0; same && e < clo_platform_executors(a); e++)
        same = strcmp(clo_platform_executor_name(a, e), clo_platform_executor_name(b, e)) == 0 &&
               memcmp(clo_platform_executor(a, e), clo_platform_executor(b, e), sizeof(clo_executor)) == 0;
    for (uint32_t k = 0; same && k < clo_platform_kinds(a); k++)
        same = strcmp(clo_platform_kind_name(a, k), clo_platform_kind_name(b, k)) == 0;
    for (uint32_t r = 0; same && r < CLO_RESOURCES_MAX; r++) {
        same = same_text(clo_platform_resource_name(a, r), clo_platform_resource_name(b, r));
        for (uint32_t m = 0; same && m < clo_platform_machines(a); m++)
            same = clo_platform_capacity(a, m, r) == clo_platform_capacity(b, m, r);
    }
    for (uint32_t m = 0; same && m < clo_platform_machines(a); m++)
        same = clo_platform_port_bytes_per_ns(a, m) == clo_platform_port_bytes_per_ns(b, m);
    return same && same_links(a, b);
}

#endif
