/* peer_tables.h - what each peer_NAME.c defines. */
#ifndef CLO_BENCH_PEER_TABLES_H
#define CLO_BENCH_PEER_TABLES_H

#include "peers/peer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tables end with a row whose name is NULL; all but the first and the last are empty where the peer is not
 * installed. */
extern const peer peers_clotho[], peers_tbb[], peers_openmp[], peers_starpu[], peers_serial[];

#ifdef __cplusplus
}
#endif
#endif
