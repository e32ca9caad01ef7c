/* pieces.c - see pieces.h. */
#include "remote/messages/pieces.h"

#define PIECE_NS 1000000  /* what a piece takes at most, by the cluster file */
#define QUEUE_NS 50000000 /* a piece that takes so much more than the shortest stood in a line */

uint64_t clo_piece_bytes(const clo_platform *platform, uint32_t from, uint32_t to)
{
    uint64_t bytes = CLO_PIECE_MAX_BYTES;
    int64_t latency_ns = clo_platform_transfer_ns(platform, 1, from, to);

    while (bytes > CLO_PIECE_MIN_BYTES && clo_platform_transfer_ns(platform, bytes, from, to) - latency_ns > PIECE_NS)
        bytes /= 2;
    return bytes;
}

void clo_lane_open(clo_lane *lane)
{
    *lane = (clo_lane){.window = 1};
}

void clo_lane_went(clo_lane *lane, int64_t since_ns, int64_t now_ns)
{
    int64_t took_ns = now_ns > since_ns ? now_ns - since_ns : 1;

    if (lane->best_ns == 0 || took_ns < lane->best_ns)
        lane->best_ns = took_ns;
    if (since_ns < lane->changed_ns)
        return;
    if (took_ns - lane->best_ns > QUEUE_NS && lane->window > 1) {
        lane->window /= 2;
        lane->changed_ns = now_ns;
        lane->went = 0;
    } else if (took_ns - lane->best_ns < QUEUE_NS / 2 && ++lane->went >= lane->window &&
               lane->window < CLO_WINDOW_MAX) {
        lane->window++;
        lane->went = 0;
    }
}
