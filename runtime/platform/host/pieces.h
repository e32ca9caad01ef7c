/* platform/host/pieces.h - a link's measured times as a line in pieces. */
#ifndef CLO_PLATFORM_HOST_PIECES_H
#define CLO_PLATFORM_HOST_PIECES_H

#include "platform/host/measure.h"
#include "platform/model/platform.h"

/* Where pieces begin, the first one (at 0) left out. */
typedef struct clo_cuts {
    uint32_t count; /* < CLO_LINK_PIECES_MAX */
    uint64_t bytes[CLO_LINK_PIECES_MAX - 1];
} clo_cuts;

/* A link as the platform file states it. */
typedef struct clo_line {
    uint64_t latency_ns;
    uint64_t mbps[CLO_LINK_PIECES_MAX]; /* by piece; 0: unlimited */
} clo_line;

/* Chooses the cuts that suit `count` links (>= 1), all measured with the same sizes: as few as it takes for an error
 * below CLO_PIECE_PERMILLE. */
#define CLO_PIECE_PERMILLE 70
void clo_pieces_choose(const clo_measured_way *const *ways, uint32_t count, clo_cuts *out);

/* The line through the measured latency whose pieces have the least squares of relative errors at the sizes to fit. No
 * piece falls. */
void clo_pieces_fit(const clo_measured_way *way, const clo_cuts *cuts, clo_line *out);

/* What the platform says about `bytes`, once it has read the line. */
int64_t clo_line_ns(const clo_line *line, const clo_cuts *cuts, uint64_t bytes);

/* Relative error of the line at size `index`, in permille of what was measured. */
uint32_t clo_line_error(const clo_line *line, const clo_cuts *cuts, const clo_measured_way *way, uint32_t index);

/* The piece that `bytes` lie in. */
uint32_t clo_cuts_piece(const clo_cuts *cuts, uint64_t bytes);

#endif
