/* rollout_order.c - episodes that are one decision of many real numbers: scores with normal noise. REINFORCE (Williams
 * 1992) for a normal distribution with a fixed deviation: the slope of the log-density along a score is noise /
 * deviation^2. An order stays as it is where all scores move alike, so the mean of the slopes is left out: it would
 * only be noise, along the direction in which sums over all stages grow fastest. The noise is drawn again where it is
 * learned from, from the same seed. */
#include "train/rollout/rollout_order.h"

#include <math.h>
#include <string.h>

static const double turn = 6.283185307179586;

/* Box and Muller 1958. */
static double normal(draws *d)
{
    double u = 1 - draws_uniform(d), v = draws_uniform(d);

    return sqrt(-2 * log(u)) * cos(turn * v);
}

static void play(const rollout_plan *plan, rollout_room *room, rollout *r, const train_view *view)
{
    const double *scores = room->tape.rows[plan->net->score];
    double *noisy = room->log_p[0], spread = plan->how == ROLLOUT_GREEDY ? 0 : plan->environment->spread;
    draws d = {r->draws_seed};

    for (uint32_t i = 0; i < view->stages.count; i++) {
        noisy[i] = scores[view->stages.rows[i]] + (view->stages.prior != NULL ? view->stages.prior[i] : 0);
        if (spread > 0)
            noisy[i] += spread * normal(&d);
    }
    r->count = 1;
    r->steps[0] = (rollout_step){.choice = {CLO_MODEL_NONE, CLO_MODEL_NONE}, .time = view->time};
    r->total = r->steps[0].reward = plan->environment->order(room->environment, noisy);
}

static double mean_noise(uint64_t seed, uint32_t count)
{
    draws d = {seed};
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += normal(&d);
    return count > 0 ? sum / count : 0;
}

static void learn(const rollout_plan *plan, rollout_room *room, rollout *r, const train_view *view)
{
    double *slopes = room->tape.slopes[plan->net->score], scale = r->steps[0].advantage / plan->environment->spread;
    double mean = mean_noise(r->draws_seed, view->stages.count);
    draws d = {r->draws_seed};

    network_slopes_clear(plan->net, view->input->shape, &room->tape);
    for (uint32_t i = 0; i < view->stages.count; i++)
        slopes[view->stages.rows[i]] -= scale * (normal(&d) - mean);
    network_backward(plan->net, view->input->shape, &room->tape, plan->parameters, r->gradient);
    r->total = r->steps[0].reward;
}

/* The network's numbers at the begin of the episode. */
static bool open_view(const rollout_plan *plan, rollout_room *room, rollout *r, train_view *view)
{
    if (!rollout_begin(plan, room, r))
        return false;
    if (!plan->environment->look(room->environment, view) || !rollout_make_room(room, view->stages.count) ||
        (r->capacity == 0 && !rollout_make_step(r)) || !network_tape_fit(&room->tape, plan->net, view->input->shape))
        return rollout_fail(r, "out of memory");
    network_forward(plan->net, view->input, &room->tape);
    return true;
}

void rollout_order_play(const rollout_plan *plan, rollout_room *room, rollout *r)
{
    train_view view = {0};

    if (open_view(plan, room, r, &view))
        play(plan, room, r, &view);
}

void rollout_order_learn(const rollout_plan *plan, rollout_room *room, rollout *r)
{
    train_view view = {0};

    memset(r->gradient, 0, plan->parameters_count * sizeof *r->gradient);
    if (open_view(plan, room, r, &view))
        learn(plan, room, r, &view);
}
