/* random.c - platforms of unlike executors. */
#include "common/random.h"

#include <stdlib.h>

clo_platform *random_platform(uint32_t executors, const uint32_t *speed_q16, int64_t latency_ns, double bytes_per_ns,
                              int64_t capacity)
{
    size_t pairs = (size_t)executors * executors;
    clo_executor *list = calloc(executors, sizeof *list);
    int64_t *latency = calloc(pairs, sizeof *latency);
    double *bandwidth = calloc(pairs, sizeof *bandwidth);
    static const char *const names[CLO_RESOURCES_MAX] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
    int64_t capacities[CLO_RESOURCES_MAX];
    clo_platform *platform = NULL;

    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = capacity;
    if (list != NULL && latency != NULL && bandwidth != NULL) {
        for (uint32_t e = 0; e < executors; e++) {
            list[e] = (clo_executor){.memory = e, .os_index = -1};
            for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
                list[e].speed_q16[c] = speed_q16[e];
        }
        for (size_t i = 0; i < pairs; i++) {
            latency[i] = latency_ns;
            bandwidth[i] = bytes_per_ns;
        }
        clo_platform_desc desc = {.size = sizeof desc,
                                  .executors_count = executors,
                                  .executors = list,
                                  .kinds_count = 1,
                                  .capacities = capacity > 0 ? capacities : NULL,
                                  .resource_names = capacity > 0 ? names : NULL,
                                  .latency_ns = latency,
                                  .bandwidth_bytes_per_ns = bandwidth};
        if (clo_platform_create(&desc, &platform) != CLO_OK)
            bench_fail("cannot make a platform");
    }
    free(list);
    free(latency);
    free(bandwidth);
    return platform;
}
