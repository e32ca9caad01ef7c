/* remote/messages/pieces.h - in how many pieces a message goes, and how many of them at once.
 *
 * Signs of life share a connection with messages, and stand behind what was handed to MPI before them. So no piece may
 * take long, nor may many stand in line: a piece is what the link carries in 1 ms by the cluster file, which may be
 * wrong by far, and the number of pieces under way follows the times that they really take, as the window of TCP Vegas
 * does (Brakmo and Peterson, 1995: more than the shortest time means a queue). A piece that has come, or that its
 * receiver has asked for, is a sign of life itself. */
#ifndef CLO_REMOTE_MESSAGES_PIECES_H
#define CLO_REMOTE_MESSAGES_PIECES_H

#include <clotho/platform.h>

#define CLO_PIECE_MIN_BYTES ((uint64_t)16 << 10)
#define CLO_PIECE_MAX_BYTES ((uint64_t)1 << 20)
#define CLO_WINDOW_MAX 64u

/* The way to another machine and back. */
typedef struct clo_lane {
    uint64_t in_bytes, out_bytes; /* of a piece from there, and to there */
    uint32_t window;              /* pieces of one message that may be under way to there; at least 1 */
    uint32_t went;                /* in good time since the window is what it is */
    int64_t best_ns;              /* the shortest time of a piece; 0: none has gone yet */
    int64_t changed_ns;           /* when the window became smaller: what went before says nothing of the new one */
} clo_lane;

/* Bytes of a piece between two executors of different machines: the same on all ranks. A power of two. */
uint64_t clo_piece_bytes(const clo_platform *platform, uint32_t from, uint32_t to);

/* The first window of a lane. */
void clo_lane_open(clo_lane *lane);

/* A piece was handed to MPI at since_ns, and its receiver has asked for it until now_ns. */
void clo_lane_went(clo_lane *lane, int64_t since_ns, int64_t now_ns);

#endif
