/* scene.h - what a pulse-Doppler radar would receive from known targets, and the radar's own numbers.
 *
 * Complex baseband samples at 20 MHz, `pulses` pulses at 4 kHz on a carrier of 10 GHz, `ranges` samples after each.
 * Noise has power 1 a sample. Range cell r is the echo delay of r samples; Doppler cell d is d / pulses cycles a pulse
 * (cells above the half are negative velocities: receding targets). */
#ifndef EXAMPLES_RADAR_SCENE_H
#define EXAMPLES_RADAR_SCENE_H

#include "fft.h"

enum { CHIRP_SAMPLES = 256, TARGETS = 8 };

/* A target as a person would state it. */
typedef struct target {
    double range_m, velocity_mps; /* velocity > 0: approaching              */
    double snr_db;                /* of one sample before any processing    */
} target;

/* Where the processing must find it. */
typedef struct cell {
    uint32_t range, doppler;
} cell;

typedef struct scene {
    uint32_t pulses, ranges;
    float *samples; /* [pulses][2][ranges]: real parts, imaginary parts of each pulse */
    target targets[TARGETS];
    cell cells[TARGETS];                                    /* of the targets, sorted by (range, doppler) */
    float chirp_re[CHIRP_SAMPLES], chirp_im[CHIRP_SAMPLES]; /* the pulse sent: linear frequency sweep */
} scene;

double scene_metres_per_range_cell(void);
double scene_mps_per_doppler_cell(uint32_t pulses);

/* Places the targets and generates the samples. False if there is no memory. */
bool scene_open(scene *s, uint32_t pulses, uint32_t ranges, uint64_t seed);
void scene_close(scene *s);

static inline signal scene_pulse(const scene *s, uint32_t pulse)
{
    float *re = s->samples + (uint64_t)2 * s->ranges * pulse;

    return (signal){re, re + s->ranges};
}

#endif
