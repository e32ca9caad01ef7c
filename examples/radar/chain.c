/* chain.c - pulse compression, corner turn, Doppler processing and detection. (Richards, Fundamentals of Radar Signal
 * Processing, 2nd edition, 2014: matched filter 4.2, pulse-Doppler processing 5.3, cell-averaging CFAR 6.5.)
 *
 * The sums of a cell are taken in a fixed order by one task, so the outputs are the same bit for bit wherever and
 * however often a task runs. */
#include "chain.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Cells of range on each side: skipped beside the cell under test, then averaged. The threshold for 32 averaged cells
 * and a false alarm probability of p a cell is 32 (p^(-1/32) - 1). The tapered filter makes neighbours alike, so that
 * 32 cells average less than 32 independent ones would: p is 1e-12, far below what a scene of 1e6 cells asks for. */
enum { GUARD = 4, TRAINING = 16, REACH = GUARD + TRAINING };
static const float THRESHOLD = 43.88f;
/* A detection is the largest cell of its neighbourhood: this far in range and in Doppler. */
enum { PEAK_REACH = 4 };

static double hamming(uint32_t i, uint32_t count)
{
    return 0.54 - 0.46 * cos(6.283185307179586 * (i + 0.5) / count);
}

/* Spectrum of the time-reversed chirp, tapered to -42 dB sidelobes and scaled so that noise keeps power 1. */
static bool make_filter(chain *c)
{
    const uint32_t ranges = c->scene->ranges;
    float *work = calloc((size_t)2 * ranges, sizeof *work);
    double power = 0.0;

    if (work == NULL)
        return false;
    for (uint32_t i = 0; i < CHIRP_SAMPLES; i++)
        power += hamming(i, CHIRP_SAMPLES) * hamming(i, CHIRP_SAMPLES);
    for (uint32_t i = 0; i < CHIRP_SAMPLES; i++) {
        float taper = (float)(hamming(i, CHIRP_SAMPLES) / sqrt(power) / ranges);

        c->filter_re[i] = taper * c->scene->chirp_re[i];
        c->filter_im[i] = taper * c->scene->chirp_im[i];
    }
    fft_forward(&c->fast, (signal){c->filter_re, c->filter_im}, (signal){work, work + ranges});
    for (uint32_t i = 0; i < ranges; i++)
        c->filter_im[i] = -c->filter_im[i];
    free(work);
    return true;
}

static void make_window(chain *c)
{
    double power = 0.0;

    for (uint32_t i = 0; i < c->scene->pulses; i++)
        power += hamming(i, c->scene->pulses) * hamming(i, c->scene->pulses);
    for (uint32_t i = 0; i < c->scene->pulses; i++)
        c->window[i] = (float)(hamming(i, c->scene->pulses) / sqrt(power));
}

bool chain_open(chain *c, const scene *s, uint32_t batch, uint32_t block)
{
    assert(s->pulses <= PULSES_MAX && s->pulses % batch == 0);
    assert(s->ranges % block == 0 && block >= REACH);
    *c = (chain){.scene = s, .batch = batch, .block = block};
    c->filter_re = calloc(s->ranges, sizeof(float));
    c->filter_im = calloc(s->ranges, sizeof(float));
    c->window = calloc(s->pulses, sizeof(float));
    if (!fft_open(&c->fast, s->ranges) || !fft_open(&c->slow, s->pulses) || !c->filter_re || !c->filter_im ||
        !c->window || !make_filter(c))
        return false;
    make_window(c);
    return true;
}

void chain_close(chain *c)
{
    fft_close(&c->fast);
    fft_close(&c->slow);
    free(c->filter_re);
    free(c->filter_im);
    free(c->window);
    *c = (chain){0};
}

void chain_matched_filter(const chain *c, uint32_t batch, float *compressed)
{
    const uint32_t ranges = c->scene->ranges;
    float scratch[2 * FFT_LENGTH_MAX];
    const signal work = {scratch, scratch + ranges};

    for (uint32_t p = 0; p < c->batch; p++) {
        signal in = scene_pulse(c->scene, batch * c->batch + p);
        float *re_out = compressed + (size_t)2 * ranges * p;
        signal x = {re_out, re_out + ranges};

        memcpy(x.re, in.re, ranges * sizeof(float));
        memcpy(x.im, in.im, ranges * sizeof(float));
        fft_forward(&c->fast, x, work);
        for (uint32_t i = 0; i < ranges; i++) {
            float re = x.re[i] * c->filter_re[i] - x.im[i] * c->filter_im[i];

            x.im[i] = x.re[i] * c->filter_im[i] + x.im[i] * c->filter_re[i];
            x.re[i] = re;
        }
        fft_backward(&c->fast, x, work);
    }
}

/* Sixteen ranges at a time: the lines of the sixteen rows being written stay in the cache while p runs. */
void chain_corner_turn(const chain *c, uint32_t block, const void *const *batches, float *turned)
{
    enum { STRIP = 16 };
    const size_t ranges = c->scene->ranges, pulses = c->scene->pulses;

    for (uint32_t first = 0; first < c->block; first += STRIP) {
        const uint32_t end = first + STRIP < c->block ? first + STRIP : c->block;

        for (uint32_t p = 0; p < pulses; p++) {
            const float *re = (const float *)batches[p / c->batch] + 2 * ranges * (p % c->batch);

            re += (size_t)block * c->block;
            for (uint32_t r = first; r < end; r++) {
                turned[2 * pulses * r + p] = re[r];
                turned[2 * pulses * r + pulses + p] = re[ranges + r];
            }
        }
    }
}

void chain_doppler(const chain *c, const float *turned, float *power)
{
    const uint32_t pulses = c->scene->pulses;
    float scratch[4 * PULSES_MAX];
    const signal x = {scratch, scratch + pulses}, work = {scratch + 2 * pulses, scratch + 3 * pulses};

    for (uint32_t r = 0; r < c->block; r++) {
        const float *re = turned + (size_t)2 * pulses * r, *im = re + pulses;

        for (uint32_t p = 0; p < pulses; p++) {
            x.re[p] = re[p] * c->window[p];
            x.im[p] = im[p] * c->window[p];
        }
        fft_forward(&c->slow, x, work);
        for (uint32_t d = 0; d < pulses; d++)
            power[(size_t)pulses * r + d] = x.re[d] * x.re[d] + x.im[d] * x.im[d];
    }
}

/* The power of this block with REACH rows of each neighbour, by row number from -REACH on. */
typedef struct view {
    const float *below, *here, *above;
    int32_t block, pulses;
} view;

/* NULL beyond the ends of the range. */
static const float *row_of(const view *v, int32_t row)
{
    if (row < 0)
        return v->below != NULL ? v->below + (ptrdiff_t)v->pulses * (v->block + row) : NULL;
    if (row >= v->block)
        return v->above != NULL ? v->above + (ptrdiff_t)v->pulses * (row - v->block) : NULL;
    return v->here + (ptrdiff_t)v->pulses * row;
}

/* Adds row `row` to `sums`; returns the number of rows added. */
static uint32_t add_row(const view *v, int32_t row, float *sums)
{
    const float *cells = row_of(v, row);

    if (cells == NULL)
        return 0;
    for (int32_t d = 0; d < v->pulses; d++)
        sums[d] += cells[d];
    return 1;
}

static bool is_peak(const view *v, int32_t row, int32_t doppler)
{
    const float top = row_of(v, row)[doppler];

    for (int32_t r = row - PEAK_REACH; r <= row + PEAK_REACH; r++) {
        const float *cells = row_of(v, r);

        for (int32_t d = -PEAK_REACH; cells != NULL && d <= PEAK_REACH; d++)
            if (cells[(doppler + d + v->pulses) % v->pulses] > top)
                return false;
    }
    return true;
}

void chain_cfar(const chain *c, uint32_t block, const float *below, const float *here, const float *above,
                detections *out)
{
    const view v = {below, here, above, (int32_t)c->block, (int32_t)c->scene->pulses};
    float sums[PULSES_MAX];

    memset(out, 0, sizeof *out);
    for (int32_t row = 0; row < v.block; row++) {
        const float *cells = row_of(&v, row);
        uint32_t rows = 0;

        memset(sums, 0, (size_t)v.pulses * sizeof *sums);
        for (int32_t off = GUARD + 1; off <= REACH; off++)
            rows += add_row(&v, row - off, sums) + add_row(&v, row + off, sums);
        for (int32_t d = 0; d < v.pulses; d++)
            if (cells[d] * (float)rows > THRESHOLD * sums[d] && is_peak(&v, row, d)) {
                if (out->count < DETECTIONS_MAX)
                    out->cells[out->count] = (cell){block * c->block + (uint32_t)row, (uint32_t)d};
                out->count++;
            }
    }
}

void chain_merge(const void *const *lists, uint32_t count, detections *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        const detections *list = lists[i];

        for (uint32_t k = 0; k < list->count && k < DETECTIONS_MAX; k++) {
            if (out->count < DETECTIONS_MAX)
                out->cells[out->count] = list->cells[k];
            out->count++;
        }
        if (list->count > DETECTIONS_MAX)
            out->count += list->count - DETECTIONS_MAX;
    }
}
