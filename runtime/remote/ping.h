/* remote/ping.h - ping-pong between two ranks, as links.h says. */
#ifndef CLO_REMOTE_PING_H
#define CLO_REMOTE_PING_H

#include "remote/fit.h"
#include "remote/remote.h"

/* One direction, measured; int64 throughout: it travels as that. */
typedef struct clo_ping {
    int64_t count; /* sizes */
    int64_t ns[CLO_FIT_SIZES];
    int64_t flows2_permille, flows4_permille;
} clo_ping;

#define CLO_PING_WORDS (CLO_FIT_SIZES + 3)

typedef struct clo_pings clo_pings; /* opaque: buffers */

clo_status clo_pings_open(clo_remote *remote, int is_quick, clo_pings **out);
void clo_pings_close(clo_pings *pings);

/* Measures the way to another rank, which answers meanwhile. */
clo_status clo_ping_to(clo_pings *pings, int rank, clo_ping *out);
clo_status clo_ping_answer(clo_pings *pings, int rank);

#endif
