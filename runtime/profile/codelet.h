/* profile/codelet.h - under which name and size the times of a task are kept. */
#ifndef CLO_PROFILE_CODELET_H
#define CLO_PROFILE_CODELET_H

#include <clotho/profile.h>
#include <stdbool.h>

/* Bytes that one execution of the task reads and writes, as the footprint and the line over sizes count them. */
uint64_t clo_profile_bytes_of(const clo_graph *graph, uint32_t task);

/* What the task runs on executors of a kind of the platform: its codelet, else a name for its body in this process.
 * False: neither. `key` has the bytes; `scratch`: CLO_PROFILE_SCRATCH bytes for the name. */
enum { CLO_PROFILE_SCRATCH = 40 };
bool clo_profile_codelet_of(const clo_graph *graph, uint32_t task, const char *kind, char *scratch,
                            clo_profile_entry *key);

/* A number that tasks of the graph have in common, together with `size`, only if they run the same on the kind, so that what
 * was looked up for one of them holds for all; 0: this task has none. O(1). */
uintptr_t clo_profile_same_of(const clo_graph *graph, uint32_t task, const char *kind, uint64_t *size);

#endif
