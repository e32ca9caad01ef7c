/* profile/merge.h - two entries of one key become one. */
#ifndef CLO_PROFILE_MERGE_H
#define CLO_PROFILE_MERGE_H

#include <clotho/profile.h>

/* The names are those of one of them. */
clo_profile_entry clo_profile_merge(const clo_profile_entry *a, const clo_profile_entry *b);

#endif
