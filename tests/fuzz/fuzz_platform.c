/* fuzz_platform.c - platform files. The library takes a path, so the input goes through a file in memory; what was read
 * is described and goes through the platform object of own JSON. */
#define _GNU_SOURCE
#include "round_trip.h"

#include <sys/mman.h>
#include <unistd.h>

static void check(clo_platform *platform)
{
    clo_document d = {.platform = platform, .unit_ns = 1};
    clo_task task = {.name = "t"};
    char *text = NULL;

    PROMISE(clo_platform_executors(platform) > 0);
    PROMISE(clo_platform_describe(platform, 80, &text) == CLO_OK);
    free(text);
    PROMISE(clo_platform_describe_json(platform, &text) == CLO_OK);
    free(text);
    PROMISE(clo_graph_create("g", &d.graph) == CLO_OK && clo_graph_add_task(d.graph, &task, NULL) == CLO_OK);
    PROMISE(clo_graph_seal(d.graph) == CLO_OK);
    own_round_trip(&d);
    clo_document_destroy(&d);
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
