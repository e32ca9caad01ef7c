/* losses.h - choosing among candidates, and what a choice is worth: small functions on numbers.
 *
 * A loss says what it is and its slope along the log-probability of the choice that was made; choice_slopes carries
 * that to the scores. Losses are made small. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_LOSSES_H
#define CLO_TOOLS_TRAIN_NUMBERS_LOSSES_H

#include "train/numbers/parameters.h"

/* log softmax of scores[count], count > 0: those of the candidates alone, so that masks are what is left out. `out` may
 * be `scores`. Exact where scores are equal or far apart. */
void choice_log_softmax(const double *scores, uint32_t count, double *out);

/* In nats. */
double choice_entropy(const double *log_p, uint32_t count);

/* Adds to slopes[count], along each score, those of by_log_p * log_p[chosen] + by_entropy * entropy. */
void choice_slopes(const double *log_p, uint32_t count, uint32_t chosen, double by_log_p, double by_entropy,
                   double *slopes);

uint32_t choice_sample(const double *log_p, uint32_t count, draws *d);
/* The first of the largest. */
uint32_t choice_best(const double *scores, uint32_t count);

typedef struct loss {
    double value;
    /* along the log-probability, or along the critic's value */
    double slope;
} loss;

/* Cross-entropy against the choice of a teacher. */
loss loss_imitation(double log_p);
/* REINFORCE (Williams 1992). */
loss loss_reinforce(double log_p, double advantage);
/* The clipped ratio of PPO (Schulman et al. 2017), `old_log_p` of the policy that made the choice. */
loss loss_ppo(double log_p, double old_log_p, double advantage, double clip);
/* Half the square of what the critic is wrong by. */
loss loss_critic(double value, double target);

/* out[i] = rewards[i] + gamma * rewards[i + 1] ...; `out` may be `rewards`. */
void returns_to_go(const double *rewards, uint32_t count, double gamma, double *out);

/* Rollouts of one instance: what each is above their mean, in standard deviations; 0 for all where they are equal.
 * `out` may be `returns`. */
void advantages_of_group(const double *returns, uint32_t count, double *out);

/* Generalized advantage estimation (Schulman et al. 2016); values[count], and 0 behind the last. lambda 1: return minus
 * value; lambda 0: one step of actor-critic. */
void advantages_of_critic(const double *rewards, const double *values, uint32_t count, double gamma, double lambda,
                          double *out);

/* Rollouts of one arrival sequence, whose decisions fall at different times (Mao et al. 2019): the return to go of each
 * is a polygon over times[], and the baseline at a time is the mean of the other polygons and its own.
 *   counts         decisions of each rollout; times and returns hold them one after the other, times ascending.
 *   out            returns minus the baseline. */
void advantages_by_time(const double *times, const double *returns, const uint32_t *counts, uint32_t rollouts,
                        double *out);

#endif
