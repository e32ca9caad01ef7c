/* rollout.c - see rollout.h. While a view stays, the network runs once, and the slopes of all its decisions go back
 * through it together. */
#include "train/rollout/rollout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE, LIMIT };

typedef struct play {
    const rollout_plan *plan;
    rollout_room *room;
    rollout *r;
    draws d;
    bool learns, has_run;
} play;

bool rollout_fail(rollout *r, const char *text)
{
    r->failed = true;
    snprintf(r->error, sizeof r->error, "%s", text);
    return false;
}

bool rollout_begin(const rollout_plan *plan, rollout_room *room, rollout *r)
{
    const train_environment *e = plan->environment;

    r->failed = false;
    r->loss = r->entropy = r->total = 0;
    r->agreed = 0;
    if (room->environment == NULL)
        room->environment = e->create(e->argument);
    if (room->environment == NULL)
        return rollout_fail(r, "out of memory");
    return e->reset(room->environment, r->seed) || rollout_fail(r, clo_last_error());
}

bool rollout_make_room(rollout_room *room, uint32_t count)
{
    if (count <= room->log_p_capacity)
        return true;
    for (int i = 0; i < 3; i++) {
        double **list = i < 2 ? &room->log_p[i] : &room->slopes;
        double *grown = realloc(*list, 2 * (size_t)count * sizeof *grown);
        if (grown == NULL)
            return false;
        *list = grown;
    }
    room->log_p_capacity = 2 * count;
    return true;
}

bool rollout_make_step(rollout *r)
{
    if (r->count < r->capacity)
        return true;
    uint32_t capacity = r->capacity > 0 ? 2 * r->capacity : 64;
    rollout_step *grown = realloc(r->steps, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    r->steps = grown;
    r->capacity = capacity;
    return true;
}

static bool run_network(play *p, const train_view *view)
{
    if (p->has_run)
        return true;
    if (!network_tape_fit(&p->room->tape, p->plan->net, view->input->shape))
        return rollout_fail(p->r, "out of memory");
    network_forward(p->plan->net, view->input, &p->room->tape);
    if (p->learns)
        network_slopes_clear(p->plan->net, view->input->shape, &p->room->tape);
    p->has_run = true;
    return true;
}

/* Fills log_p[which]. */
static bool score(play *p, int which, const train_candidates *candidates)
{
    const double *scores = p->room->tape.rows[which == STAGE ? p->plan->net->score : p->plan->net->limit];

    if (!rollout_make_room(p->room, candidates->count))
        return rollout_fail(p->r, "out of memory");
    double *log_p = p->room->log_p[which];
    for (uint32_t i = 0; i < candidates->count; i++)
        log_p[i] = scores[candidates->rows[i]] + (candidates->prior != NULL ? candidates->prior[i] : 0);
    choice_log_softmax(log_p, candidates->count, log_p);
    return true;
}

static uint32_t choose(play *p, int which, uint32_t count)
{
    return p->plan->how == ROLLOUT_GREEDY ? choice_best(p->room->log_p[which], count)
                                          : choice_sample(p->room->log_p[which], count, &p->d);
}

/* Of a loss with slope `by_log_p` along the log-probability of the choice. */
static void add_slopes(play *p, int which, const train_candidates *candidates, uint32_t chosen, double by_log_p)
{
    double *slopes = p->room->tape.slopes[which == STAGE ? p->plan->net->score : p->plan->net->limit];
    const double *log_p = p->room->log_p[which];

    memset(p->room->slopes, 0, candidates->count * sizeof *slopes);
    choice_slopes(log_p, candidates->count, chosen, by_log_p, -p->plan->entropy, p->room->slopes);
    for (uint32_t i = 0; i < candidates->count; i++)
        slopes[candidates->rows[i]] += p->room->slopes[i];
    p->r->entropy += choice_entropy(log_p, candidates->count);
    p->r->agreed += which == STAGE && choice_best(log_p, candidates->count) == chosen;
}

static loss loss_of(const rollout_plan *plan, const rollout_step *step, double log_p)
{
    if (plan->method == TRAIN_IMITATION)
        return loss_imitation(log_p);
    return plan->method == TRAIN_PPO ? loss_ppo(log_p, step->log_p, step->advantage, plan->clip)
                                     : loss_reinforce(log_p, step->advantage);
}

static void learn(play *p, const train_view *view, const train_candidates *limits, const rollout_step *step)
{
    double log_p = p->room->log_p[STAGE][step->choice.stage];

    if (limits->count > 0)
        log_p += p->room->log_p[LIMIT][step->choice.limit];
    loss made = loss_of(p->plan, step, log_p);
    add_slopes(p, STAGE, &view->stages, step->choice.stage, made.slope);
    if (limits->count > 0)
        add_slopes(p, LIMIT, limits, step->choice.limit, made.slope);
    if (p->plan->critic != CLO_MODEL_NONE && p->plan->method != TRAIN_IMITATION) {
        loss of_critic = loss_critic(p->room->tape.rows[p->plan->critic][0], step->target);
        p->room->tape.slopes[p->plan->critic][0] += p->plan->critic_weight * of_critic.slope;
        made.value += p->plan->critic_weight * of_critic.value;
    }
    p->r->loss += made.value;
}

static void go_back(play *p, const clo_model_case *shape)
{
    if (p->learns)
        network_backward(p->plan->net, shape, &p->room->tape, p->plan->parameters, p->r->gradient);
    p->has_run = false;
}

/* One decision. `replayed`: the step of an earlier play, or NULL. False: it failed. */
static bool decide(play *p, const train_view *view, rollout_step *step, bool is_replayed)
{
    const train_environment *e = p->plan->environment;
    train_candidates limits = {0};
    bool is_taught = p->plan->how == ROLLOUT_TAUGHT;

    if (!run_network(p, view) || !score(p, STAGE, &view->stages))
        return false;
    if (!is_replayed) {
        *step = (rollout_step){.time = view->time};
        step->choice = is_taught ? e->teach(p->room->environment)
                                 : (train_choice){choose(p, STAGE, view->stages.count), CLO_MODEL_NONE};
    }
    if (e->limits != NULL) {
        e->limits(p->room->environment, step->choice.stage, &limits);
        if (!score(p, LIMIT, &limits))
            return false;
        if (!is_replayed && !is_taught)
            step->choice.limit = choose(p, LIMIT, limits.count);
    }
    if (!is_replayed) {
        step->log_p = p->room->log_p[STAGE][step->choice.stage];
        step->log_p += limits.count > 0 ? p->room->log_p[LIMIT][step->choice.limit] : 0;
        step->value = p->plan->critic != CLO_MODEL_NONE ? p->room->tape.rows[p->plan->critic][0] : 0;
    }
    if (p->learns)
        learn(p, view, &limits, step);
    return true;
}

static void run(play *p, bool is_replay)
{
    const rollout_plan *plan = p->plan;
    rollout *r = p->r;
    uint32_t most = is_replay ? r->count : plan->steps_max > 0 ? plan->steps_max : UINT32_MAX, done = 0;
    train_view view = {0};

    if (!is_replay)
        r->count = 0;
    p->d.state = r->draws_seed;
    if (!rollout_begin(plan, p->room, r))
        return;
    while (done < most && plan->environment->look(p->room->environment, &view)) {
        if (!is_replay && !rollout_make_step(r)) {
            rollout_fail(r, "out of memory");
            return;
        }
        rollout_step *step = &r->steps[done++];
        if (!is_replay)
            r->count = done;
        if (!decide(p, &view, step, is_replay))
            return;
        if (!view.stays)
            go_back(p, view.input->shape);
        double reward = plan->environment->step(p->room->environment, &step->choice);
        step->reward = is_replay ? step->reward : reward;
        r->total += reward;
    }
    if (p->has_run) /* the view stayed to the end */
        go_back(p, view.input->shape);
    if (is_replay && done != r->count)
        rollout_fail(r, "the environment ended earlier than it did before with the same seed and choices");
}

void rollout_play(const rollout_plan *plan, rollout_room *room, rollout *r)
{
    play p = {.plan = plan, .room = room, .r = r};

    run(&p, false);
}

void rollout_learn(const rollout_plan *plan, rollout_room *room, rollout *r)
{
    play p = {.plan = plan, .room = room, .r = r, .learns = true};

    memset(r->gradient, 0, plan->parameters_count * sizeof *r->gradient);
    run(&p, plan->method != TRAIN_IMITATION);
}

void rollout_room_free(const rollout_plan *plan, rollout_room *room)
{
    if (room->environment != NULL)
        plan->environment->destroy(room->environment);
    network_tape_free(&room->tape);
    free(room->log_p[0]);
    free(room->log_p[1]);
    free(room->slopes);
    *room = (rollout_room){0};
}

void rollout_free(rollout *r)
{
    free(r->steps);
    free(r->gradient);
    *r = (rollout){0};
}
