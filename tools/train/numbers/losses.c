/* losses.c - see losses.h. */
#include "train/numbers/losses.h"

#include <math.h>

void choice_log_softmax(const double *scores, uint32_t count, double *out)
{
    double most = scores[0];

    for (uint32_t i = 1; i < count; i++)
        most = fmax(most, scores[i]);
    double sum = exp(scores[0] - most);
    for (uint32_t i = 1; i < count; i++)
        sum += exp(scores[i] - most);
    double log_sum = log(sum);
    for (uint32_t i = 0; i < count; i++)
        out[i] = scores[i] - most - log_sum;
}

double choice_entropy(const double *log_p, uint32_t count)
{
    double entropy = 0;

    for (uint32_t i = 0; i < count; i++)
        entropy -= exp(log_p[i]) * fmax(log_p[i], -700); /* exp(-700) is nearly 0, -inf * 0 is no number */
    return entropy;
}

void choice_slopes(const double *log_p, uint32_t count, uint32_t chosen, double by_log_p, double by_entropy,
                   double *slopes)
{
    double entropy = by_entropy != 0 ? choice_entropy(log_p, count) : 0;

    for (uint32_t i = 0; i < count; i++) {
        double p = exp(log_p[i]);
        slopes[i] += by_log_p * ((i == chosen) - p);
        if (by_entropy != 0)
            slopes[i] -= by_entropy * p * (fmax(log_p[i], -700) + entropy);
    }
}

uint32_t choice_sample(const double *log_p, uint32_t count, draws *d)
{
    double left = draws_uniform(d);

    for (uint32_t i = 0; i + 1 < count; i++) {
        left -= exp(log_p[i]);
        if (left < 0)
            return i;
    }
    return count - 1;
}

uint32_t choice_best(const double *scores, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        if (scores[i] > scores[best])
            best = i;
    return best;
}

loss loss_imitation(double log_p)
{
    return (loss){-log_p, -1};
}

loss loss_reinforce(double log_p, double advantage)
{
    return (loss){-advantage * log_p, -advantage};
}

loss loss_ppo(double log_p, double old_log_p, double advantage, double clip)
{
    double ratio = exp(log_p - old_log_p), near = fmin(fmax(ratio, 1 - clip), 1 + clip);

    if (near * advantage < ratio * advantage)
        return (loss){-near * advantage, 0};
    return (loss){-ratio * advantage, -ratio * advantage};
}

loss loss_critic(double value, double target)
{
    return (loss){(value - target) * (value - target) / 2, value - target};
}

void returns_to_go(const double *rewards, uint32_t count, double gamma, double *out)
{
    double sum = 0;

    for (uint32_t i = count; i-- > 0;)
        out[i] = sum = rewards[i] + gamma * sum;
}

void advantages_of_group(const double *returns, uint32_t count, double *out)
{
    double mean = 0, squares = 0;

    for (uint32_t i = 0; i < count; i++)
        mean += returns[i] / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (returns[i] - mean) * (returns[i] - mean) / count;
    double deviation = sqrt(squares);
    for (uint32_t i = 0; i < count; i++)
        out[i] = deviation > 1e-9 * (1 + fabs(mean)) ? (returns[i] - mean) / deviation : 0;
}

void advantages_of_critic(const double *rewards, const double *values, uint32_t count, double gamma, double lambda,
                          double *out)
{
    double sum = 0, next = 0;

    for (uint32_t i = count; i-- > 0;) {
        sum = rewards[i] + gamma * next - values[i] + gamma * lambda * sum;
        next = values[i];
        out[i] = sum;
    }
}

/* The polygon through (times, returns) at `at`; level before the first point, 0 behind the last. */
static double polygon_at(const double *times, const double *returns, uint32_t count, double at)
{
    uint32_t low = 0, high = count;

    if (count == 0 || at > times[count - 1])
        return 0;
    while (low < high) { /* the first time that is not before `at` */
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || times[low] <= at)
        return returns[low];
    double part = (at - times[low - 1]) / (times[low] - times[low - 1]);
    return returns[low - 1] + part * (returns[low] - returns[low - 1]);
}

void advantages_by_time(const double *times, const double *returns, const uint32_t *counts, uint32_t rollouts,
                        double *out)
{
    size_t total = 0;

    for (uint32_t r = 0; r < rollouts; r++)
        total += counts[r];
    for (size_t i = 0; i < total; i++) {
        double baseline = 0;
        size_t from = 0;
        for (uint32_t r = 0; r < rollouts; from += counts[r++])
            baseline += polygon_at(times + from, returns + from, counts[r], times[i]) / rollouts;
        out[i] = returns[i] - baseline;
    }
}
