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

/* Adds the peers of a family. */
static uint32_t add_rows(const family *from, peer_row *rows, uint32_t count, bool only_most)
{
    uint32_t most = bench_cpus() < 2 ? 1 : 2;
    const peer *p = from->peers;

    if (p->name == NULL)
        fprintf(stderr,
                "bench: %s is left out: it was not there (package %s) when this was built, or this is a "
                "sanitizer build\n",
                from->name, from->package);
    for (; p->name != NULL; p++)
        for (uint32_t workers = most; workers > (only_most ? most - 1 : 0) && count < PEER_ROWS_MAX; workers--)
            if (p->workers_max == 0 || (workers <= p->workers_max && !only_most))
                rows[count++] = (peer_row){p, workers};
    return count;
}

uint32_t peer_rows(peer_row *rows, bool only_most)
{
    uint32_t count = 0;

    for (uint32_t f = 0; f < FAMILIES; f++)
        count = add_rows(&families[f], rows, count, only_most);
    return count;
}

uint32_t peer_loop_rows(peer_row *rows)
{
    static const family loops[] = {{loops_clotho, "Clotho", ""},
                                   {loops_tbb, "oneTBB", "libtbb-dev"},
                                   {loops_openmp, "OpenMP", "gcc"},
                                   {peers_serial, "serial floor", ""}};
    uint32_t count = 0;

    for (uint32_t f = 0; f < sizeof loops / sizeof *loops; f++)
        count = add_rows(&loops[f], rows, count, false);
    return count;
}

uint32_t peer_learning_rows(peer_row *rows)
{
    return add_rows(&(family){learners_clotho, "Clotho", ""}, rows, 0, false);
}
