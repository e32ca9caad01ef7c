/* profile/snapshot.h - searches a snapshot. */
#ifndef CLO_PROFILE_SNAPSHOT_H
#define CLO_PROFILE_SNAPSHOT_H

#include "profile/state.h"

/* The entry with all four parts of the key; NULL: there is none. O(log entries). */
const clo_profile_entry *clo_profile_view_find(const clo_profile_view *view, const clo_profile_entry *key);

/* The entries that have the codelet, the version and the kind: [*first, return value). */
uint32_t clo_profile_view_range(const clo_profile_view *view, const clo_profile_entry *key, uint32_t *first);

/* The first entry that has the codelet and the version, whatever its kind; the count: there is none. */
uint32_t clo_profile_view_codelet(const clo_profile_view *view, const clo_profile_entry *key);

#endif
