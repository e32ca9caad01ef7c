/* scene.c - chirp, targets and noise. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static const double LIGHT_MPS = 299792458.0;
static const double CARRIER_HZ = 10e9;
static const double SAMPLE_HZ = 20e6;
static const double SWEEP_HZ = 16e6;
static const double PULSE_REPETITION_HZ = 4000.0;

double scene_metres_per_range_cell(void)
{
    return LIGHT_MPS / SAMPLE_HZ / 2.0;
}

double scene_mps_per_doppler_cell(uint32_t pulses)
{
    return LIGHT_MPS / CARRIER_HZ / 2.0 * PULSE_REPETITION_HZ / pulses;
}

/* Targets stand at these shares of the unambiguous range and velocity, so that every size of scene has them all, well
 * apart; SNR is before 256-fold pulse compression (24 dB) and Doppler integration of `pulses` (18 to 24 dB). */
static void place_targets(scene *s)
{
    static const double places[TARGETS][3] = {{0.052, 0.110, -14.0},  {0.171, -0.350, -17.0}, {0.247, 0.301, -15.0},
                                              {0.333, -0.062, -12.0}, {0.418, 0.455, -16.0},  {0.581, -0.212, -17.0},
                                              {0.660, 0.187, -10.0},  {0.902, -0.437, -16.0}};

    for (uint32_t t = 0; t < TARGETS; t++) {
        long range = lround(places[t][0] * (s->ranges - CHIRP_SAMPLES)), doppler = lround(places[t][1] * s->pulses);
        /* Off the middle of the cell, yet far enough from its edge that noise cannot push the peak over it. */
        double velocity = (double)doppler + 0.2 * ((int)t % 3 - 1);

        s->targets[t] = (target){(double)range * scene_metres_per_range_cell(),
                                 velocity * scene_mps_per_doppler_cell(s->pulses), places[t][2]};
        s->cells[t] = (cell){(uint32_t)range, (uint32_t)(doppler + (long)s->pulses) % s->pulses};
    }
}

static void make_chirp(scene *s)
{
    const double duration_s = (double)CHIRP_SAMPLES / SAMPLE_HZ;

    for (uint32_t i = 0; i < CHIRP_SAMPLES; i++) {
        double t = (i + 0.5) / SAMPLE_HZ - duration_s / 2.0, phase = PI * SWEEP_HZ / duration_s * t * t;

        s->chirp_re[i] = (float)cos(phase);
        s->chirp_im[i] = (float)sin(phase);
    }
}

/* splitmix64 (Steele, Lea, Flood 2014): uniform in (0, 1]. */
static double uniform(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)(((x ^ (x >> 31)) >> 11) + 1) * 0x1p-53;
}

/* Complex Gaussian noise of power 1 (Box and Muller). */
static void add_noise(scene *s, uint64_t seed)
{
    uint64_t state = seed;

    for (uint32_t p = 0; p < s->pulses; p++) {
        signal x = scene_pulse(s, p);

        for (uint32_t i = 0; i < s->ranges; i++) {
            double size = sqrt(-log(uniform(&state))), angle = 2.0 * PI * uniform(&state);

            x.re[i] += (float)(size * cos(angle));
            x.im[i] += (float)(size * sin(angle));
        }
    }
}

/* The target moves by less than a cell while it is looked at, so only the phase changes from pulse to pulse. */
static void add_target(scene *s, uint32_t index)
{
    const target *t = &s->targets[index];
    const double size = pow(10.0, t->snr_db / 20.0), turns = t->velocity_mps / scene_mps_per_doppler_cell(s->pulses);
    const uint32_t first = (uint32_t)lround(t->range_m / scene_metres_per_range_cell());

    for (uint32_t p = 0; p < s->pulses; p++) {
        double phase = 2.0 * PI * (turns * p / s->pulses + 0.37 * index);
        float c = (float)(size * cos(phase)), d = (float)(size * sin(phase));
        signal x = scene_pulse(s, p);

        for (uint32_t i = 0; i < CHIRP_SAMPLES; i++) {
            x.re[first + i] += c * s->chirp_re[i] - d * s->chirp_im[i];
            x.im[first + i] += c * s->chirp_im[i] + d * s->chirp_re[i];
        }
    }
}

bool scene_open(scene *s, uint32_t pulses, uint32_t ranges, uint64_t seed)
{
    *s = (scene){.pulses = pulses, .ranges = ranges};
    s->samples = calloc((size_t)2 * ranges * pulses, sizeof(float));
    if (s->samples == NULL)
        return false;
    make_chirp(s);
    place_targets(s);
    add_noise(s, seed);
    for (uint32_t t = 0; t < TARGETS; t++)
        add_target(s, t);
    return true;
}

void scene_close(scene *s)
{
    free(s->samples);
    *s = (scene){0};
}
