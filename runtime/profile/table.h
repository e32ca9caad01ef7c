/* profile/table.h - the rows of a profile. All calls under its lock. */
#ifndef CLO_PROFILE_TABLE_H
#define CLO_PROFILE_TABLE_H

#include "profile/state.h"

/* The row of an entry's key; made if there is none, in place of the oldest one if there is no room. NULL without memory. */
clo_profile_row *clo_profile_row_of(clo_profile *profile, const clo_profile_entry *entry);

/* The same; NULL: there is none that has a sample. */
clo_profile_row *clo_profile_row_find(clo_profile *profile, const clo_profile_entry *entry);

/* A sample of this process; now_s: as clo_profile_entry.newest_s. */
void clo_profile_row_learn(clo_profile_row *row, int64_t sample_ns, int64_t now_s);

/* The mean of its executions in a run, after their samples. Where the level has changed in it or in the run
 * before it, and the mean with it, those of earlier runs count no more. */
void clo_profile_row_learn_run(clo_profile_row *row, int64_t mean_ns);

/* Both pieces of a row, merged, without names and key. */
clo_profile_entry clo_profile_row_times(const clo_profile_row *row);

/* The same; the names are the profile's. */
clo_profile_entry clo_profile_row_read(const clo_profile *profile, const clo_profile_row *row);

#endif
