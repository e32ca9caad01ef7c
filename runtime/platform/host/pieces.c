/* pieces.c - see pieces.h.
 *
 * Slopes are found by non-negative least squares: relative errors, else the largest size alone would decide; coordinate
 * descent on the normal equations, which converges because they are convex. Cuts are found greedily: the size at which
 * one more cut lowers the sum of squares most, until all sizes are within CLO_PIECE_PERMILLE or the pieces are used
 * up. */
#include "platform/host/pieces.h"

#include <assert.h>
#include <math.h>

#define SWEEPS_MAX 4000

uint32_t clo_cuts_piece(const clo_cuts *cuts, uint64_t bytes)
{
    uint32_t piece = cuts->count;

    while (piece > 0 && bytes < cuts->bytes[piece - 1])
        piece--;
    return piece;
}

/* How many of the first `bytes` lie in piece k. */
static double length_in(const clo_cuts *cuts, uint32_t k, uint64_t bytes)
{
    uint64_t begin = k == 0 ? 0 : cuts->bytes[k - 1];
    uint64_t end = k < cuts->count && cuts->bytes[k] < bytes ? cuts->bytes[k] : bytes;

    return end > begin ? (double)(end - begin) : 0;
}

typedef struct equations {
    double left[CLO_LINK_PIECES_MAX][CLO_LINK_PIECES_MAX], right[CLO_LINK_PIECES_MAX];
} equations;

static void set_up(const clo_measured_way *way, const clo_cuts *cuts, equations *e)
{
    *e = (equations){0};
    for (uint32_t i = 0; i < way->fitted; i++) {
        double t = way->ns[i] > 0 ? (double)way->ns[i] : 1, row[CLO_LINK_PIECES_MAX];
        double rest = (t - (double)way->line_ns) / t;
        for (uint32_t k = 0; k <= cuts->count; k++)
            row[k] = length_in(cuts, k, clo_link_size(i)) / t;
        for (uint32_t k = 0; k <= cuts->count; k++) {
            e->right[k] += row[k] * rest;
            for (uint32_t l = 0; l <= cuts->count; l++)
                e->left[k][l] += row[k] * row[l];
        }
    }
}

/* ns per byte of each piece. */
static void solve(const equations *e, uint32_t count, double *slopes)
{
    double moved = 1;

    for (uint32_t k = 0; k < count; k++)
        slopes[k] = 0;
    for (uint32_t sweep = 0; sweep < SWEEPS_MAX && moved > 1e-7; sweep++) {
        moved = 0;
        for (uint32_t k = 0; k < count; k++) {
            double rest = e->right[k], before = slopes[k];
            for (uint32_t l = 0; l < count; l++)
                rest -= l == k ? 0 : e->left[k][l] * slopes[l];
            slopes[k] = e->left[k][k] > 0 && rest > 0 ? rest / e->left[k][k] : 0;
            double change = fabs(slopes[k] - before) * sqrt(e->left[k][k]);
            moved = change > moved ? change : moved;
        }
    }
}

void clo_pieces_fit(const clo_measured_way *way, const clo_cuts *cuts, clo_line *out)
{
    double slopes[CLO_LINK_PIECES_MAX];
    equations e;

    set_up(way, cuts, &e);
    solve(&e, cuts->count + 1, slopes);
    *out = (clo_line){.latency_ns = way->line_ns > 0 ? (uint64_t)way->line_ns : 0};
    for (uint32_t k = 0; k <= cuts->count; k++) {
        double mbps = slopes[k] > 1e-6 ? 1000 / slopes[k] : 0; /* beyond 10^9 MB/s it is unlimited, as in the file */
        out->mbps[k] = mbps <= 0 ? 0 : mbps < 1 ? 1 : (uint64_t)(mbps + 0.5);
    }
}

int64_t clo_line_ns(const clo_line *line, const clo_cuts *cuts, uint64_t bytes)
{
    int64_t ns = (int64_t)line->latency_ns;
    uint64_t begin = 0;

    for (uint32_t k = 0; k <= cuts->count && begin <= bytes; k++) {
        uint64_t end = k < cuts->count && cuts->bytes[k] < bytes ? cuts->bytes[k] : bytes;
        uint64_t q32 = line->mbps[k] == 0 ? 0 : (uint64_t)(0x1p32 / ((double)line->mbps[k] / 1000) + 0.5);
        ns = clo_link_ns(ns, q32, end - begin);
        if (end == bytes)
            break;
        begin = end;
    }
    return ns;
}

uint32_t clo_line_error(const clo_line *line, const clo_cuts *cuts, const clo_measured_way *way, uint32_t index)
{
    int64_t real_ns = way->ns[index] > 0 ? way->ns[index] : 1;
    int64_t off_ns = clo_line_ns(line, cuts, clo_link_size(index)) - real_ns;
    int64_t permille = ((off_ns < 0 ? -off_ns : off_ns) * 1000 + real_ns / 2) / real_ns;

    return permille > 1000000 ? 1000000 : (uint32_t)permille;
}

typedef struct quality {
    double squares;
    uint32_t worst; /* permille */
} quality;

static quality judge(const clo_measured_way *const *ways, uint32_t count, const clo_cuts *cuts)
{
    quality all = {0};

    for (uint32_t w = 0; w < count; w++) {
        clo_line line;
        clo_pieces_fit(ways[w], cuts, &line);
        for (uint32_t i = 0; i < ways[w]->fitted; i++) {
            uint32_t error = clo_line_error(&line, cuts, ways[w], i);
            all.squares += (double)error * error;
            all.worst = error > all.worst ? error : all.worst;
        }
    }
    return all;
}

static void insert(clo_cuts *cuts, uint64_t bytes)
{
    uint32_t at = cuts->count++;

    for (; at > 0 && cuts->bytes[at - 1] > bytes; at--)
        cuts->bytes[at] = cuts->bytes[at - 1];
    cuts->bytes[at] = bytes;
}

static bool has(const clo_cuts *cuts, uint64_t bytes)
{
    for (uint32_t c = 0; c < cuts->count; c++)
        if (cuts->bytes[c] == bytes)
            return true;
    return false;
}

void clo_pieces_choose(const clo_measured_way *const *ways, uint32_t count, clo_cuts *out)
{
    clo_cuts best = {0};
    quality now = judge(ways, count, &best);

    assert(count > 0);
    while (now.worst > CLO_PIECE_PERMILLE && best.count + 1 < CLO_LINK_PIECES_MAX) {
        clo_cuts from = best;
        quality before = now;
        for (uint32_t i = 0; i + 1 < ways[0]->fitted; i++) {
            clo_cuts trial = from;
            if (has(&from, clo_link_size(i)))
                continue;
            insert(&trial, clo_link_size(i));
            quality q = judge(ways, count, &trial);
            if (q.squares < now.squares) {
                now = q;
                best = trial;
            }
        }
        if (now.squares >= before.squares * 0.99) { /* nothing helps */
            best = from;
            break;
        }
    }
    *out = best;
}
