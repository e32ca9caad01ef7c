/* sync/structure/pingpong.h - two threads that take strict turns, to measure how fast a cache line travels.
 *
 * Who needs external exclusion (X) against whom:
 *
 *               pass   wait
 *       pass     X      -      (one thread holds the ball)
 *       wait     -      X      (one thread waits for it)
 *
 * Progress: wait blocks until the partner passes; it yields now and then, so that two threads on one CPU get on.
 * Ordering: everything written before pass(turn) happens before what follows the wait(turn) of the partner.
 * Mutation list: [A] relaxed, [B] relaxed: the plain data handed over with the ball becomes a race. */
#ifndef CLO_SYNC_STRUCTURE_PINGPONG_H
#define CLO_SYNC_STRUCTURE_PINGPONG_H

#include "library.h"
#include <stdint.h>

typedef struct clo_pingpong clo_pingpong; /* opaque: one word alone on its cache lines */

CLO_INTERNAL clo_pingpong *clo_pingpong_create(void); /* NULL: no memory; turn 0 */
CLO_INTERNAL void clo_pingpong_destroy(clo_pingpong *pingpong);

/* Hands the ball over: turn numbers count up by one with each pass, of either side. */
CLO_INTERNAL void clo_pingpong_pass(clo_pingpong *pingpong, uint32_t turn);

/* Waits for the pass with this number. */
CLO_INTERNAL void clo_pingpong_wait(clo_pingpong *pingpong, uint32_t turn);

/* `rounds` returns of the ball, the first pass having number turn + 1; each side returns the last number. */
CLO_INTERNAL uint32_t clo_pingpong_serve(clo_pingpong *pingpong, uint32_t turn, uint32_t rounds);
CLO_INTERNAL uint32_t clo_pingpong_return(clo_pingpong *pingpong, uint32_t turn, uint32_t rounds);

#endif
