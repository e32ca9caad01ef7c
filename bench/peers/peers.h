/* peers.h - all peers of a program, as rows of a table. */
#ifndef CLO_BENCH_PEERS_H
#define CLO_BENCH_PEERS_H

#include "peers/peer.h"

/* What a benchmark compares: a peer with a number of workers. */
typedef struct peer_row {
    const peer *peer;
    uint32_t workers;
} peer_row;
enum { PEER_ROWS_MAX = 24 };

/* All peers with 2, 1 workers, as far as the CPUs go, into rows[PEER_ROWS_MAX]; only_most: with the larger number
 * alone, the serial floor left out. Tells on stderr which are not installed. Returns their number. */
uint32_t peer_rows(peer_row *rows, bool only_most);

/* The same for loops: graphs without edges. */
uint32_t peer_loop_rows(peer_row *rows);

/* Clotho without and with learning. */
uint32_t peer_learning_rows(peer_row *rows);

#endif
