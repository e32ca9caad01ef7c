/* trainer_run.c - see trainer.h. */
#define _POSIX_C_SOURCE 200809L
#include "train/trainer/trainer.h"

#include "train/rollout/rollout_order.h"
#include "train/search/crew.h"
#include "train/trainer/trainer_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fail(char *why, const char *text)
{
    snprintf(why, TRAINER_WHY_BYTES, "%s", text);
    return false;
}

/* The phase of update `done`, and how far it is in it: 0 at its first update, 1 at its last. */
static const train_phase *phase_of(const trainer *t, uint32_t done, double *at, uint32_t *index)
{
    const train_phase *phases = t->config.phases;
    uint32_t i = 0;

    while (i + 1 < t->config.phases_count && done >= phases[i].updates)
        done -= phases[i++].updates;
    *at = phases[i].updates > 1 ? (double)done / (phases[i].updates - 1) : 0;
    *index = i;
    return &phases[i];
}

static uint32_t rollouts_of(const train_phase *phase)
{
    return phase->instances * (phase->method == TRAIN_IMITATION ? 1 : phase->rollouts);
}

static rollout_plan plan_of(const trainer *t, const train_phase *phase, double at)
{
    return (rollout_plan){
        .environment = t->config.environment,
        .net = t->config.net,
        .critic = t->config.critic,
        .parameters = t->config.parameters,
        .parameters_count = t->config.parameters_count,
        .how = phase->method == TRAIN_IMITATION ? ROLLOUT_TAUGHT : ROLLOUT_DRAWN,
        .method = phase->method,
        .steps_max = phase->steps_first > 0 ? (uint32_t)lround(schedule(phase->steps_first, phase->steps_last, at)) : 0,
        .entropy = schedule(phase->entropy_first, phase->entropy_last, at),
        .clip = phase->clip_ratio,
        .critic_weight = phase->critic_weight};
}

typedef struct batch {
    trainer *t;
    const rollout_plan *plan;
    void (*each)(const rollout_plan *, rollout_room *, rollout *);
    uint32_t count;
} batch;

static void run_one(void *argument, uint32_t thread, uint32_t i)
{
    const batch *b = argument;

    b->each(b->plan, &b->t->rooms[thread], &b->t->rollouts[i]);
}

/* An environment is played at once, or one choice after the other. */
static batch batch_of(trainer *t, const rollout_plan *plan, bool learns, uint32_t count)
{
    bool is_order = plan->environment->order != NULL;

    if (learns)
        return (batch){t, plan, is_order ? rollout_order_learn : rollout_learn, count};
    return (batch){t, plan, is_order ? rollout_order_play : rollout_play, count};
}

static bool run_batch(batch b, char *why)
{
    crew_run(b.t->threads, b.count, run_one, &b);
    for (uint32_t i = 0; i < b.count; i++)
        if (b.t->rollouts[i].failed) {
            snprintf(why, TRAINER_WHY_BYTES, "seed %llu: %s", (unsigned long long)b.t->rollouts[i].seed,
                     b.t->rollouts[i].error);
            return false;
        }
    return true;
}

static void begin_rollouts(trainer *t, const train_phase *phase)
{
    uint32_t each = phase->method == TRAIN_IMITATION ? 1 : phase->rollouts;

    for (uint32_t i = 0; i < rollouts_of(phase); i++) {
        uint64_t turn = (uint64_t)t->done * phase->instances + i / each;
        t->rollouts[i].seed = t->config.seeds[turn % t->config.seeds_count];
        t->rollouts[i].draws_seed = draws_key(t->config.seed, t->done, i);
    }
}

/* Room for three numbers of each step of some rollouts. */
static bool make_scratch(trainer *t, size_t steps)
{
    if (steps <= t->scratch_capacity)
        return true;
    double *grown = realloc(t->scratch, 6 * steps * sizeof *grown);
    if (grown == NULL)
        return false;
    t->scratch = grown;
    t->scratch_capacity = 2 * steps;
    return true;
}

static bool judge_with_critic(trainer *t, const train_phase *phase, rollout *r)
{
    if (!make_scratch(t, r->count))
        return false;
    double *rewards = t->scratch, *values = rewards + r->count, *out = values + r->count;
    for (uint32_t i = 0; i < r->count; i++) {
        rewards[i] = r->steps[i].reward;
        values[i] = r->steps[i].value;
    }
    advantages_of_critic(rewards, values, r->count, phase->gamma, phase->lambda, out);
    for (uint32_t i = 0; i < r->count; i++) {
        r->steps[i].advantage = out[i];
        r->steps[i].target = out[i] + values[i];
    }
    return true;
}

/* Rollouts of one instance against each other: their whole returns. */
static bool judge_whole(trainer *t, const train_phase *phase, rollout *group, uint32_t rollouts)
{
    if (!make_scratch(t, rollouts))
        return false;
    for (uint32_t k = 0; k < rollouts; k++) {
        double total = 0;
        for (uint32_t i = group[k].count; i-- > 0;)
            total = group[k].steps[i].reward + phase->gamma * total;
        t->scratch[k] = total;
    }
    advantages_of_group(t->scratch, rollouts, t->scratch);
    for (uint32_t k = 0; k < rollouts; k++)
        for (uint32_t i = 0; i < group[k].count; i++)
            group[k].steps[i].advantage = group[k].steps[i].target = t->scratch[k];
    return true;
}

/* The same with what comes behind each decision, at the time of the decision; then in standard deviations. */
static bool judge_by_time(trainer *t, const train_phase *phase, rollout *group, uint32_t rollouts)
{
    uint32_t *counts = calloc(rollouts + 1, sizeof *counts);
    size_t total = 0, at = 0;

    for (uint32_t k = 0; k < rollouts; k++)
        total += group[k].count;
    if (counts == NULL || !make_scratch(t, total)) {
        free(counts);
        return false;
    }
    double *times = t->scratch, *returns = times + total, *out = returns + total, squares = 0;
    for (uint32_t k = 0; k < rollouts; at += counts[k++]) {
        counts[k] = group[k].count;
        for (uint32_t i = 0; i < counts[k]; i++) {
            times[at + i] = group[k].steps[i].time;
            returns[at + i] = group[k].steps[i].reward;
        }
        returns_to_go(returns + at, counts[k], phase->gamma, returns + at);
    }
    advantages_by_time(times, returns, counts, rollouts, out);
    for (size_t i = 0; i < total; i++)
        squares += out[i] * out[i] / (double)total;
    at = 0;
    for (uint32_t k = 0; k < rollouts; at += counts[k++])
        for (uint32_t i = 0; i < counts[k]; i++)
            group[k].steps[i].advantage = group[k].steps[i].target = squares > 0 ? out[at + i] / sqrt(squares) : 0;
    free(counts);
    return true;
}

static bool judge(trainer *t, const train_phase *phase)
{
    bool has_critic =
        phase->method == TRAIN_ACTOR_CRITIC || (phase->method == TRAIN_PPO && t->config.critic != CLO_MODEL_NONE);
    bool is_good = true;

    for (uint32_t i = 0; i < phase->instances * phase->rollouts && has_critic; i++)
        is_good = is_good && judge_with_critic(t, phase, &t->rollouts[i]);
    for (uint32_t i = 0; i < phase->instances && !has_critic; i++) {
        rollout *group = &t->rollouts[(size_t)i * phase->rollouts];
        is_good = is_good && (phase->by_time ? judge_by_time(t, phase, group, phase->rollouts)
                                             : judge_whole(t, phase, group, phase->rollouts));
    }
    return is_good;
}

/* The gradient of a decision on average, added up in the order of rollouts. */
static void add_up(trainer *t, uint32_t rollouts, train_point *out)
{
    uint64_t decisions = 0, agreed = 0;
    double losses = 0, entropy = 0;

    memset(t->gradient, 0, t->config.parameters_count * sizeof *t->gradient);
    for (uint32_t r = 0; r < rollouts; r++) {
        const rollout *from = &t->rollouts[r];
        decisions += from->count;
        agreed += from->agreed;
        losses += from->loss;
        entropy += from->entropy;
        for (uint32_t i = 0; i < t->config.parameters_count; i++)
            t->gradient[i] += from->gradient[i];
    }
    double all = decisions > 0 ? (double)decisions : 1;
    for (uint32_t i = 0; i < t->config.parameters_count; i++)
        t->gradient[i] /= all;
    out->loss = losses / all;
    out->entropy = entropy / all;
    out->agreed = (double)agreed / all;
}

/* Greedy choices on all instances of validation. */
static bool validate(trainer *t, train_point *out, char *why)
{
    rollout_plan plan = plan_of(t, &t->config.phases[0], 0);
    double sum = 0;

    plan.how = ROLLOUT_GREEDY;
    plan.steps_max = 0;
    for (uint32_t i = 0; i < t->config.validation_count; i++)
        t->rollouts[i].seed = t->config.validation[i];
    if (!run_batch(batch_of(t, &plan, false, t->config.validation_count), why))
        return false;
    for (uint32_t i = 0; i < t->config.validation_count; i++)
        sum += t->rollouts[i].total;
    out->validation = sum / t->config.validation_count;
    if (!(out->validation > t->best_reward))
        return true;
    t->best_reward = out->validation;
    t->best_update = t->done;
    memcpy(t->best, t->config.parameters, t->config.parameters_count * sizeof *t->best);
    return true;
}

static bool learn(trainer *t, const train_phase *phase, double at, train_point *out, char *why)
{
    rollout_plan plan = plan_of(t, phase, at);
    uint32_t rollouts = rollouts_of(phase), epochs = phase->method == TRAIN_PPO ? phase->epochs : 1;
    double reward = 0;

    begin_rollouts(t, phase);
    if (phase->method != TRAIN_IMITATION &&
        (!run_batch(batch_of(t, &plan, false, rollouts), why) || (!judge(t, phase) && !fail(why, "out of memory"))))
        return false;
    for (uint32_t epoch = 0; epoch < epochs; epoch++) {
        if (!run_batch(batch_of(t, &plan, true, rollouts), why))
            return false;
        add_up(t, rollouts, out);
        out->gradient = gradient_clip(t->gradient, t->config.parameters_count, phase->clip_gradient);
        if (!isfinite(out->gradient))
            return fail(why, "the gradient is no number; a smaller rate may help");
        adam_step(&t->adam, t->config.parameters, t->gradient, schedule(phase->rate_first, phase->rate_last, at));
    }
    for (uint32_t i = 0; i < rollouts; i++)
        reward += t->rollouts[i].total;
    out->reward = reward / rollouts;
    return true;
}

bool trainer_update(trainer *t, train_point *out, char *why)
{
    train_point point = {.update = t->done,
                         .reward = NAN,
                         .validation = NAN,
                         .loss = NAN,
                         .entropy = NAN,
                         .agreed = NAN,
                         .gradient = NAN};
    uint32_t every = t->config.validate_every > 0 ? t->config.validate_every : 10;
    double at;

    const train_phase *phase = phase_of(t, t->done, &at, &point.phase);
    if (t->has_begun && t->done < t->updates) {
        if (!learn(t, phase, at, &point, why))
            return false;
        point.update = ++t->done;
    }
    if (!t->has_begun || t->done % every == 0 || t->done == t->updates)
        if (!validate(t, &point, why))
            return false;
    t->has_begun = true;
    if (t->curve_count <= t->updates)
        t->curve[t->curve_count++] = point;
    *out = point;
    return true;
}

static const char *check(const trainer_config *c)
{
    if (c->phases_count < 1 || c->phases_count > TRAINER_PHASES_MAX)
        return "a training has one to four phases";
    if (c->seeds_count < 1 || c->validation_count < 1)
        return "there are no seeds to train or to validate on";
    if (!network_lies_in(c->net, c->parameters, c->parameters_count))
        return "a layer lies outside of the parameters";
    for (uint32_t i = 0; i < c->phases_count; i++) {
        const train_phase *phase = &c->phases[i];
        if (phase->updates < 1 || phase->instances < 1 || (phase->method != TRAIN_IMITATION && phase->rollouts < 1))
            return "a phase has no updates, no instances or no rollouts";
        if (phase->method == TRAIN_IMITATION && c->environment->teach == NULL)
            return "this environment has no teacher to imitate";
        if (phase->method == TRAIN_ACTOR_CRITIC && c->critic == CLO_MODEL_NONE)
            return "actor-critic needs a network with a critic";
        if (phase->method == TRAIN_PPO && (phase->epochs < 1 || !(phase->clip_ratio > 0)))
            return "PPO needs an epoch at least and a clip > 0";
    }
    return NULL;
}

static bool allocate(trainer *t)
{
    const trainer_config *c = &t->config;
    bool is_good = true;

    t->rollouts_max = c->validation_count;
    for (uint32_t i = 0; i < c->phases_count; i++) {
        t->updates += c->phases[i].updates;
        if (rollouts_of(&c->phases[i]) > t->rollouts_max)
            t->rollouts_max = rollouts_of(&c->phases[i]);
    }
    t->adam = (adam){.count = c->parameters_count,
                     .m = calloc(c->parameters_count, sizeof(double)),
                     .v = calloc(c->parameters_count, sizeof(double))};
    t->gradient = calloc(c->parameters_count, sizeof(double));
    t->best = calloc(c->parameters_count, sizeof(double));
    t->curve = calloc((size_t)t->updates + 1, sizeof *t->curve);
    t->rollouts = calloc(t->rollouts_max, sizeof *t->rollouts);
    t->rooms = calloc(t->threads, sizeof *t->rooms);
    for (uint32_t i = 0; i < t->rollouts_max && t->rollouts != NULL; i++) {
        t->rollouts[i].gradient = calloc(c->parameters_count, sizeof(double));
        is_good = is_good && t->rollouts[i].gradient != NULL;
    }
    return is_good && t->adam.m != NULL && t->adam.v != NULL && t->gradient != NULL && t->best != NULL &&
           t->curve != NULL && t->rollouts != NULL && t->rooms != NULL;
}

trainer *trainer_create(const trainer_config *config, char *why)
{
    const char *wrong = check(config);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    trainer *t = wrong == NULL ? calloc(1, sizeof *t) : NULL;

    if (t == NULL) {
        (void)fail(why, wrong != NULL ? wrong : "out of memory");
        return NULL;
    }
    t->config = *config;
    t->threads = config->threads > 0 ? config->threads : cpus > 0 ? (uint32_t)cpus : 1;
    t->threads = t->threads < CREW_THREADS_MAX ? t->threads : CREW_THREADS_MAX;
    t->best_reward = -INFINITY;
    if (allocate(t))
        return t;
    (void)fail(why, "out of memory");
    trainer_destroy(t);
    return NULL;
}

void trainer_destroy(trainer *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->threads && t->rooms != NULL; i++)
        rollout_room_free(&(rollout_plan){.environment = t->config.environment}, &t->rooms[i]);
    for (uint32_t i = 0; i < t->rollouts_max && t->rollouts != NULL; i++)
        rollout_free(&t->rollouts[i]);
    free(t->adam.m);
    free(t->adam.v);
    free(t->gradient);
    free(t->best);
    free(t->curve);
    free(t->rollouts);
    free(t->rooms);
    free(t->scratch);
    free(t);
}

uint32_t trainer_updates(const trainer *t)
{
    return t->updates;
}

uint32_t trainer_updates_done(const trainer *t)
{
    return t->done;
}

const double *trainer_best(const trainer *t, double *reward, uint32_t *update)
{
    if (reward != NULL)
        *reward = t->best_reward;
    if (update != NULL)
        *update = t->best_update;
    return t->best;
}

const train_point *trainer_curve(const trainer *t, uint32_t *count)
{
    *count = t->curve_count;
    return t->curve;
}
