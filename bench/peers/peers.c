/* peers.c - which peers there are, in one program. */
#include "peers/peers.h"

#include "peers/peer_tables.h"

#include <stdio.h>

typedef struct family {
    const peer *peers;
    const char *name, *package;
} family;

static const family families[] = {{peers_clotho, "Clotho", ""},
                                  {peers_tbb, "oneTBB", "libtbb-dev"},
                                  {peers_openmp, "OpenMP", "gcc"},
                                  {peers_starpu, "StarPU", "libstarpu-dev"},
                                  {peers_serial, "serial floor", ""}};
enum { FAMILIES = sizeof families / sizeof *families };

uint32_t peer_rows(peer_row *rows, bool only_most)
{
    uint32_t count = 0, most = bench_cpus() < 2 ? 1 : 2;

    for (uint32_t f = 0; f < FAMILIES; f++) {
        const peer *p = families[f].peers;

        if (p->name == NULL)
            fprintf(stderr,
                    "bench: %s is left out: it was not there (package %s) when this was built, or this is a "
                    "sanitizer build\n",
                    families[f].name, families[f].package);
        for (; p->name != NULL; p++)
            for (uint32_t workers = most; workers > (only_most ? most - 1 : 0) && count < PEER_ROWS_MAX; workers--)
                if (p->workers_max == 0 || (workers <= p->workers_max && !only_most))
                    rows[count++] = (peer_row){p, workers};
    }
    return count;
}
