/* remote/links/ping.h - ping-pong between two ranks, as clotho_mpi/links.h says. */
#ifndef CLO_REMOTE_LINKS_PING_H
#define CLO_REMOTE_LINKS_PING_H

#include "remote/links/fit.h"
#include "remote/messages/remote.h"

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

/* Most others of clo_ping_all. */
#define CLO_PING_OTHERS 4

/* How long it takes until messages of so many bytes have gone to ranks[count] at once, each with an answer of one byte,
 * or, `inwards`, until they have come from there after a byte to each: the least of the medians of several rounds. They
 * answer meanwhile. bytes: at most CLO_PING_ALL_BYTES. */
#define CLO_PING_ALL_BYTES ((uint64_t)1 << 20)
clo_status clo_ping_all(clo_pings *pings, const int *ranks, int count, uint64_t bytes, int inwards, int64_t *ns);
/* They need not answer any more. */
clo_status clo_ping_end(clo_pings *pings, const int *ranks, int count);

/* A time that a message of some size may take. */
int64_t clo_pings_stop_ns(const clo_pings *pings);

#endif
