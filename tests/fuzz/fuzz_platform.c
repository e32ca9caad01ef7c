/* fuzz_platform.c - platform files. The library takes a path, so the input goes through a file in memory; what was read
 * is described and goes through the platform object of own JSON. */
#define _GNU_SOURCE
#include "round_trip.h"

#include <sys/mman.h>
#include <unistd.h>

/* Between the first and the last executor, both ways: never falls, not where a piece begins either. */
static void check_links(const clo_platform *platform)
{
    uint32_t last = clo_platform_executors(platform) - 1, pieces = clo_platform_link_pieces(platform);

    for (uint32_t way = 0; way < 2; way++) {
        int64_t before = 0;
        for (uint32_t k = 0; k < pieces; k++) {
            uint64_t begin = clo_platform_cut_bytes(platform, k), end = clo_platform_cut_bytes(platform, k + 1);
            uint64_t sizes[] = {begin, begin + 1, begin + (end - begin) / 2, end - 1};
            for (size_t s = 0; s < 4; s++) {
                int64_t ns = clo_platform_transfer_ns(platform, sizes[s], way * last, last - way * last);
                PROMISE(ns >= before && ns <= INT64_MAX / 2);
                before = ns;
            }
        }
    }
}

static void check(clo_platform *platform)
{
    clo_document *d = NULL;
    clo_graph *graph = NULL;
    clo_task task = {.name = "t"};
    char *text = NULL;

    PROMISE(clo_platform_executors(platform) > 0);
    check_links(platform);
    PROMISE(clo_platform_describe(platform, 80, &text) == CLO_OK);
    free(text);
    PROMISE(clo_platform_describe_json(platform, &text) == CLO_OK);
    free(text);
    PROMISE(clo_graph_create("g", &graph) == CLO_OK && clo_graph_add_task(graph, &task, NULL) == CLO_OK);
    PROMISE(clo_graph_seal(graph) == CLO_OK);
    PROMISE(clo_document_create(graph, platform, &d) == CLO_OK);
    own_round_trip(d);
    clo_document_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    clo_platform *platform = NULL;
    int fd = memfd_create("platform.xml", MFD_CLOEXEC);

    PROMISE(fd >= 0);
    PROMISE(bytes == 0 || write(fd, data, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (clo_platform_open(path, &platform) == CLO_OK)
        check(platform);
    else
        PROMISE(platform == NULL && clo_last_error()[0] != '\0');
    close(fd);
    return 0;
}
