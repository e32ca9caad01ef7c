/* whiten.c - see whiten.h. Eigenvectors by rotations (Jacobi 1846). */
#include "train/models/whiten.h"
#include "learn/infer/residual_features.h"

#include <math.h>
#include <string.h>

enum { PLAIN = CLO_RESIDUAL_LIMIT_FEATURES, QUESTIONS = 4, LIMIT = 3, ROWS_LEAST = 64, SWEEPS = 60 };

/* Of a component, where each feature varies by 1: less is rounding, and what others say already. */
#define VARIANCE_LEAST 0.03

typedef struct moments {
    uint32_t count;
    /* Of features less `seen.mean`, in units of their hinges. */
    double mean[PLAIN], covariance[PLAIN][PLAIN];
} moments;

static double unit_of(const residual_seen *seen, uint32_t feature)
{
    return fmax(0.55, seen->deviation[feature]);
}

static bool is_asked(const int16_t *row, uint32_t question)
{
    uint32_t met = row[CLO_RESIDUAL_STAYS] > 0 ? 1 : row[CLO_RESIDUAL_WAITS] > 0 ? 2 : 0;

    return met == (question == LIMIT ? 0 : question);
}

static void scaled(const residual_seen *seen, const int16_t *row, double *x)
{
    for (uint32_t f = 0; f < PLAIN; f++)
        x[f] = (row[f] / 16.0 - seen->mean[f]) / unit_of(seen, f);
}

static moments measure(const residual_seen *seen, const int16_t *rows, uint32_t count, uint32_t question)
{
    moments m = {.count = 0};
    double x[PLAIN];

    for (uint32_t i = 0; i < count; i++) {
        const int16_t *row = rows + (size_t)i * CLO_RESIDUAL_FEATURES;
        if (!is_asked(row, question))
            continue;
        m.count++;
        scaled(seen, row, x);
        for (uint32_t f = 0; f < PLAIN; f++) {
            m.mean[f] += x[f];
            for (uint32_t g = 0; g < PLAIN; g++)
                m.covariance[f][g] += x[f] * x[g];
        }
    }
    for (uint32_t f = 0; f < PLAIN && m.count > 0; f++)
        m.mean[f] /= m.count;
    for (uint32_t f = 0; f < PLAIN && m.count > 0; f++)
        for (uint32_t g = 0; g < PLAIN; g++)
            m.covariance[f][g] = m.covariance[f][g] / m.count - m.mean[f] * m.mean[g];
    return m;
}

/* Makes a[p][q] zero; the columns of `vectors` turn along. */
static void rotate(double a[PLAIN][PLAIN], double vectors[PLAIN][PLAIN], uint32_t p, uint32_t q)
{
    if (fabs(a[p][q]) < 1e-12)
        return;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (uint32_t k = 0; k < PLAIN; k++) {
        double x = a[k][p], y = a[k][q], v = vectors[k][p], w = vectors[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
        vectors[k][p] = c * v - s * w;
        vectors[k][q] = s * v + c * w;
    }
    for (uint32_t k = 0; k < PLAIN; k++) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
}

/* Two hinges at the mean of each feature, one each way (residual_init), make a line: weights w and -w. */
static void add(residual_directions *out, uint32_t question, double constant, const double *weights)
{
    double *sums = out->of[out->count++] + (size_t)question * RESIDUAL_GROUP;

    for (uint32_t f = 0; f < PLAIN && weights != NULL; f++) {
        sums[2 * f] = weights[f];
        sums[2 * f + 1] = -weights[f];
    }
    sums[2 * PLAIN] = constant;
}

static void add_components(residual_directions *out, uint32_t question, moments *m)
{
    double vectors[PLAIN][PLAIN] = {{0}};

    for (uint32_t f = 0; f < PLAIN; f++)
        vectors[f][f] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t p = 0; p < PLAIN; p++)
            for (uint32_t q = p + 1; q < PLAIN; q++)
                rotate(m->covariance, vectors, p, q);
    for (uint32_t d = 0; d < PLAIN; d++) {
        double weights[PLAIN], constant = 0, variance = m->covariance[d][d];
        if (variance < VARIANCE_LEAST)
            continue;
        for (uint32_t f = 0; f < PLAIN; f++) {
            weights[f] = vectors[f][d] / sqrt(variance);
            constant -= weights[f] * m->mean[f];
        }
        add(out, question, constant, weights);
    }
}

void residual_whiten(const residual_seen *seen, const int16_t *rows, uint32_t count, residual_directions *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t q = 0; q < QUESTIONS; q++) {
        moments m = measure(seen, rows, count, q);
        if (q > 0) /* what is added to the value of each job changes nothing */
            add(out, q, 1, NULL);
        if (m.count >= ROWS_LEAST)
            add_components(out, q, &m);
    }
}
