/* chain.h - the five steps from samples to detections, each a pure function from blocks of memory to blocks of memory.
 *
 *   matched filter  a batch of pulses:  [batch][2][ranges]   of samples -> the same of compressed pulses
 *   corner turn     a block of ranges:  compressed batches -> [block][2][pulses]
 *   Doppler         the same block:     -> power [block][pulses]
 *   CFAR            the same block, with its neighbours: -> a list of detections
 *   merge           all lists -> one list
 */
#ifndef EXAMPLES_RADAR_CHAIN_H
#define EXAMPLES_RADAR_CHAIN_H

#include "scene.h"

enum { DETECTIONS_MAX = 255, PULSES_MAX = 4096 };

/* Everything constant; read-only while tasks run. */
typedef struct chain {
    const scene *scene;
    uint32_t batch, block;        /* pulses a batch, range cells a block */
    fft fast, slow;               /* over ranges, over pulses            */
    float *filter_re, *filter_im; /* [ranges] spectrum of the matched filter, windowed */
    float *window;                /* [pulses] against Doppler sidelobes */
} chain;

/* Detections, sorted by (range, doppler); `count` may exceed DETECTIONS_MAX, the list holds no more than that. */
typedef struct detections {
    uint32_t count, reserved;
    cell cells[DETECTIONS_MAX];
} detections;

/* False if there is no memory. `s` must outlive the chain. */
bool chain_open(chain *c, const scene *s, uint32_t batch, uint32_t block);
void chain_close(chain *c);

void chain_matched_filter(const chain *c, uint32_t batch, float *compressed);
/* `batches`: one pointer for each batch, in order. */
void chain_corner_turn(const chain *c, uint32_t block, const void *const *batches, float *turned);
void chain_doppler(const chain *c, const float *turned, float *power);
/* `below` and `above`: the power of the blocks of nearer and farther ranges; NULL at the ends. */
void chain_cfar(const chain *c, uint32_t block, const float *below, const float *here, const float *above,
                detections *out);
/* In OpenCL C: "filter" and "doppler", the same as chain_matched_filter and chain_doppler. */
extern const char chain_program[];

void chain_merge(const void *const *lists, uint32_t count, detections *out);

#endif
