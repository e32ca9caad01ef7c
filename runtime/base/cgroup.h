/* base/cgroup.h - the control groups of this process: version 1, version 2, and hosts that have both. */
#ifndef CLO_BASE_CGROUP_H
#define CLO_BASE_CGROUP_H

#include "library.h"
#include <stdbool.h>
#include <stdint.h>

#define CLO_CGROUP_BYTES 1024 /* of a folder */

/* A limit of CPU time: the group runs quota_us of each period_us, on all CPUs together. */
typedef struct clo_cgroup_quota {
    /* 1 or 2 */
    int version;
    /* The group that has it. */
    char folder[CLO_CGROUP_BYTES];
    int64_t quota_us, period_us;
    /* The same in thousandths of a CPU, at least 1. */
    int64_t milli;
} clo_cgroup_quota;

/* The folder of this process's group in the tree of a controller ("memory", "cpu"). `root` stands before /proc and in
 * `folder`; "" but in tests. Returns the version; 0: none. The controller may be missing there in version 2, and the
 * folder too where the group lies outside the part of the tree that is mounted. */
int clo_cgroup_find(const char *root, const char *controller, char folder[CLO_CGROUP_BYTES]);

/* The least limit of CPU time of a group and of those above it; false: there is none. */
bool clo_cgroup_least(int version, const char *folder, clo_cgroup_quota *out);

/* The same of this process. */
CLO_INTERNAL bool clo_cgroup_limit(const char *root, clo_cgroup_quota *out);

#endif
