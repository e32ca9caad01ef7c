/* peer_tables.h - what each peer_NAME.c defines. */
#ifndef CLO_BENCH_PEER_TABLES_H
#define CLO_BENCH_PEER_TABLES_H

#include "peers/peer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tables end with a row whose name is NULL; all but the first and the last are empty where the peer is not
 * installed. */
/* The same for a loop: tasks without edges, which the peer may run PEER_LOOP_GRAIN at a time. */
extern const peer loops_clotho[], loops_tbb[], loops_openmp[];
enum { PEER_LOOP_GRAIN = 500 };

/* Without and with a profile that learns what tasks take, from each execution and from one of 32. */
extern const peer learners_clotho[];

/* Clotho by its C++ face. */
extern const peer peers_cpp[];

extern const peer peers_clotho[], peers_tbb[], peers_openmp[], peers_starpu[], peers_serial[];

#ifdef __cplusplus
}
#endif
#endif
