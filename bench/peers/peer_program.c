/* peer_program.c - a program that runs one graph with one peer and links that peer alone: what bench-footprint starts.
 *
 * usage: peer-NAME INDEX WORKERS TASKS. Prints the peer's name and library and the most memory it had, one line
 * each; PEERS and LIBRARY come from the build. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "peers/peer_tables.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_library(struct dl_phdr_info *info, size_t size, void *found)
{
    const char *name = strrchr(info->dlpi_name, '/');

    (void)size;
    if (name == NULL || strncmp(name + 1, LIBRARY, strlen(LIBRARY)) != 0)
        return 0;
    snprintf(found, FILENAME_MAX, "%s", info->dlpi_name);
    return 1;
}

/* Copies the line of this process's status that tells the high-water mark of its memory. */
static void print_memory(void)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("memory_kib %ld\n", strtol(line + 6, NULL, 10));
    if (file != NULL)
        fclose(file);
}

static bool run(const peer *p, uint32_t workers, uint32_t tasks)
{
    bench_graph graph;
    void *state = bench_graph_open(&graph, "rand", tasks, 1) ? peer_make(p, &graph, workers) : NULL;
    bool is_good = state != NULL && p->run(state);

    if (state != NULL)
        p->close(state);
    bench_graph_close(&graph);
    return is_good;
}

int main(int argc, char **argv)
{
    char library[FILENAME_MAX] = "";
    uint32_t index = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : UINT32_MAX, count = 0;

    while (PEERS[count].name != NULL)
        count++;
    if (index >= count)
        return 2;
    if (!run(&PEERS[index], (uint32_t)strtoul(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10)))
        return 1;
    dl_iterate_phdr(find_library, library);
    printf("name %s\nlibrary %s\n", PEERS[index].name, library);
    print_memory();
    return 0;
}
