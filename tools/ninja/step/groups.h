/* groups.h - memory control groups of a build: one for the whole of it, and in that one for each step at a time.
 *
 * Version 1 where the memory controller is there, else version 2. Both count the page cache as used, so what a step
 * needs is sampled: anonymous memory, and what the kernel keeps for its processes (page tables, stacks). Where groups
 * cannot be made (not root, no delegation, a read-only tree) there are none, and `why` says so. A group is used again
 * for the next step, because a removed one lives on as long as a page of it does. */
#ifndef CLO_TOOLS_NINJA_STEP_GROUPS_H
#define CLO_TOOLS_NINJA_STEP_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct step_group {
    int stat, kernel, peak, events; /* files; -1: none */
    int64_t kills;                  /* counted before the step that runs there */
    bool has_peak;                  /* memory.peak could be reset */
} step_group;

typedef struct step_groups {
    int version;        /* 1, 2; 0: there are none */
    bool has_limit;     /* the whole build is limited */
    bool has_moved;     /* this process has left `parent` for a group below it */
    char parent[1024];  /* folder of this process's group */
    char whole[1100];   /* folder of the build's */
    char why[256];      /* there are none */
    step_group *groups; /* [count] */
    uint32_t count;
} step_groups;

/* Makes the groups of `count` steps. limit_kib: of all of them together; 0: none. Also removes what a build that was
 * killed has left. Where it does not succeed version is 0. groups_close in every case. */
void groups_open(step_groups *g, uint32_t count, int64_t limit_kib);
/* The same below a folder that is known to be a group of version 1 or 2. */
void groups_open_at(step_groups *g, int version, const char *parent, uint32_t count, int64_t limit_kib);
void groups_close(step_groups *g);

/* The folder of a step's group, for step_options.group, into `path`; NULL: none. */
const char *groups_folder(const step_groups *g, uint32_t step, char path[1200]);

/* Before a step begins there. */
void groups_begin(step_groups *g, uint32_t step);
/* Memory of a step now that nobody can take back from it: anonymous, and the kernel's for it; -1: not known. */
int64_t groups_held_kib(const step_groups *g, uint32_t step);
/* Most memory of the step since its begin, page cache included; -1: not known. */
int64_t groups_peak_kib(const step_groups *g, uint32_t step);
/* Processes of the step that the kernel has killed for memory since its begin. */
int64_t groups_kills(const step_groups *g, uint32_t step);
/* A step has ended: servers that it has started leave its group for that of this process. */
void groups_leave(const step_groups *g, uint32_t step);

/* What this process may still use: the smaller of the machine's available memory and the room below the limits of its
 * groups; -1: not known. */
int64_t groups_available_kib(void);

#endif
