/* fuzz_cluster.c - cluster files. What was read is one platform that holds the others: as many executors, nothing
 * between two machines that takes no time where the link has a latency. */
#include "fuzz.h"
#include "io/cluster/cluster.h"

static void check(const clo_cluster *cluster)
{
    const clo_platform *whole = clo_cluster_platform(cluster);
    uint32_t machines = clo_cluster_machines(cluster), executors = 0;

    PROMISE(machines >= 1);
    for (uint32_t m = 0; m < machines; m++) {
        PROMISE(cluster->first_executor[m] == executors);
        PROMISE(clo_cluster_machine_name(cluster, m) != NULL);
        executors += clo_platform_executors(cluster->own[m]);
    }
    PROMISE(cluster->first_executor[machines] == executors && clo_platform_executors(whole) == executors);
    PROMISE(!clo_platform_is_coherent(whole));
    for (uint64_t bytes = 1; bytes < (uint64_t)1 << 40; bytes *= 1024)
        PROMISE(clo_platform_transfer_ns(whole, bytes, 0, executors - 1) <= INT64_MAX / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_cluster *cluster = NULL;

    if (clo_cluster_parse("fuzz.json", (const char *)data, bytes, &cluster) == CLO_OK)
        check(cluster);
    else
        PROMISE(cluster == NULL && clo_last_error()[0] != '\0');
    clo_cluster_destroy(cluster);
    return 0;
}
