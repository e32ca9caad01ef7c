/* hunger.c - how long threads of this process waited for a CPU: a call that others keep from running is no hang. */
#include "fuzz_api.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 512 };

typedef struct task {
    long id;
    uint64_t waited_ns;
} task;

static task tasks[TASKS]; /* those of the last call, for one thread */
static size_t tasks_count;

/* What it has waited in its life; 0 where the kernel does not say. */
static uint64_t waited_ns(long id)
{
    char path[64], line[128] = "", *second;

    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", id);
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    (void)strtoull(line, &second, 10); /* what it ran */
    return strtoull(second, NULL, 10);
}

/* Since the last call; a thread that is new has waited for nothing. */
static uint64_t growth_ns(const task *now)
{
    for (size_t i = 0; i < tasks_count; i++)
        if (tasks[i].id == now->id)
            return now->waited_ns > tasks[i].waited_ns ? now->waited_ns - tasks[i].waited_ns : 0;
    return 0;
}

uint64_t hunger_ns(void)
{
    static task now[TASKS];
    size_t count = 0;
    uint64_t most_ns = 0;
    DIR *folder = opendir("/proc/self/task");

    for (const struct dirent *entry; folder != NULL && count < TASKS && (entry = readdir(folder)) != NULL;) {
        long id = strtol(entry->d_name, NULL, 10);
        if (id <= 0)
            continue;
        now[count] = (task){id, waited_ns(id)};
        uint64_t grown_ns = growth_ns(&now[count++]);
        most_ns = grown_ns > most_ns ? grown_ns : most_ns;
    }
    if (folder != NULL)
        closedir(folder);
    for (tasks_count = 0; tasks_count < count; tasks_count++)
        tasks[tasks_count] = now[tasks_count];
    return most_ns;
}
