/* remote/messages/clocks.h - how the clocks of the ranks stand to that of rank 0.
 *
 * Before and after a run rank 0 asks each rank for its time, many times. The shortest round trip gives the offset, and
 * half of it is the largest error (Cristian 1989): whatever the two ways took, the answer was given in between. Between
 * the two moments the offset is taken as a straight line. */
#ifndef CLO_REMOTE_MESSAGES_CLOCKS_H
#define CLO_REMOTE_MESSAGES_CLOCKS_H

#include "remote/messages/remote.h"

/* One comparison; on rank 0 only. */
typedef struct clo_offset {
    int64_t at_ns;     /* on the other's clock */
    int64_t offset_ns; /* clock of rank 0 - the other's */
    int64_t error_ns;
} clo_offset;

/* Compares. offsets: [ranks]; written on rank 0. All ranks must call. */
clo_status clo_clocks_compare(clo_remote *remote, clo_offset *offsets);

/* A moment of the other's clock on that of rank 0. */
int64_t clo_clocks_convert(const clo_offset *before, const clo_offset *after, int64_t ns);

#endif
