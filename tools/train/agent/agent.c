/* agent.c - see agent.h. */
#include "train/agent/agent.h"

#include "train/models/decima.h"
#include "train/models/quantize.h"
#include "train/numbers/losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the integers' rule can hold: 0.2 is none of its slopes. */
#define SLOPE (51 / 256.)

enum { GOLDEN = 4, GOLDEN_STAGES = 48 };

/* Scores of limits that are apart by so much for each executor: the largest is drawn, too. */
#define ALL_EXECUTORS 4000.0

static uint32_t numbers_of(int mlp, int depth)
{
    return (decima_shapes[mlp][depth] + 1) * decima_shapes[mlp][depth + 1];
}

/* Numbers before those of a layer; weights come first, then biases. */
static uint32_t offset_of(int mlp, int depth)
{
    uint32_t sum = 0;

    for (int m = 0; m < mlp; m++)
        for (int d = 0; d < DECIMA_DEPTH; d++)
            sum += numbers_of(m, d);
    for (int d = 0; d < depth; d++)
        sum += numbers_of(mlp, d);
    return sum;
}

uint32_t agent_numbers(void)
{
    return offset_of(DECIMA_MLPS, 0);
}

void agent_network(double *numbers, double executors, network *net)
{
    decima_weights weights = {.executors = executors, .tasks_scale = 200, .work_scale_ms = 1e5, .slope = SLOPE};

    for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
        for (int depth = 0; depth < DECIMA_DEPTH; depth++) {
            weights.weights[mlp][depth] = numbers + offset_of(mlp, depth);
            weights.biases[mlp][depth] =
                weights.weights[mlp][depth] + decima_shapes[mlp][depth] * decima_shapes[mlp][depth + 1];
        }
    decima_network(&weights, net);
}

/* All of an MLP. */
static void clear(double *numbers, int mlp, int depth)
{
    memset(numbers + offset_of(mlp, depth), 0, (offset_of(mlp + 1, 0) - offset_of(mlp, depth)) * sizeof *numbers);
}

/* The score of a limit grows with it, whatever else there is. */
static void take_all(double *numbers)
{
    clear(numbers, DECIMA_LIMIT, 0);
    numbers[offset_of(DECIMA_LIMIT, 0) + decima_shapes[DECIMA_LIMIT][0] - 1] = 1;
    numbers[offset_of(DECIMA_LIMIT, 1)] = 1;
    numbers[offset_of(DECIMA_LIMIT, 2)] = ALL_EXECUTORS;
}

void agent_init(double *numbers, const agent_parts *parts, uint64_t seed)
{
    network *net = calloc(1, sizeof *net);

    memset(numbers, 0, agent_numbers() * sizeof *numbers);
    if (net == NULL)
        return;
    agent_network(numbers, 50, net);
    parameters_init(net, numbers, seed);
    free(net);
    if (parts->lacks_messages)
        clear(numbers, DECIMA_MESSAGE, DECIMA_DEPTH - 1);
    if (parts->lacks_limits)
        take_all(numbers);
}

void agent_freeze(double *gradient, const agent_parts *parts)
{
    if (parts->lacks_messages)
        clear(gradient, DECIMA_MESSAGE, 0);
    if (parts->lacks_limits)
        clear(gradient, DECIMA_LIMIT, 0);
}

void agent_room_free(agent_room *room)
{
    network_tape_free(&room->tape);
    free(room->wanted);
    free(room->log_p);
    *room = (agent_room){0};
}

static bool make_room(agent_room *room, const network *net, const decision *d)
{
    uint32_t most = d->candidates_count > d->shape.limits ? d->candidates_count : d->shape.limits;

    if (d->shape.stages > room->stages_capacity) {
        free(room->wanted);
        room->wanted = calloc(2 * (size_t)d->shape.stages, 1);
        room->stages_capacity = room->wanted != NULL ? 2 * d->shape.stages : 0;
    }
    if (most > room->log_p_capacity) {
        free(room->log_p);
        room->log_p = malloc(4 * (size_t)most * sizeof *room->log_p); /* log p, then slopes */
        room->log_p_capacity = room->log_p != NULL ? 2 * most : 0;
    }
    return room->wanted != NULL && room->log_p != NULL && network_tape_fit(&room->tape, net, &d->shape);
}

/* One of the two choices. */
typedef struct question {
    const double *scores;
    double *slopes;
    /* Of the choices; NULL: row i is choice i. */
    const uint32_t *rows;
    uint32_t count, chosen;
    /* Log-probabilities that a teacher would like; NULL: there is none. */
    const double *wishes;
} question;

/* Whether the best score is the one of the choice. */
static bool is_best(const double *scores, const question *q, agent_learned *out)
{
    uint32_t best = choice_best(scores, q->count);

    for (uint32_t i = 0; i < q->count; i++)
        out->is_tie = out->is_tie || (i != best && scores[i] == scores[best]);
    return best == q->chosen;
}

/* Returns whether the best choice is the one that was made. */
static bool learn_choice(const question *q, const agent_wish *wish, agent_room *room, agent_learned *out)
{
    double *log_p = room->log_p, *by = log_p + room->log_p_capacity;
    double shares = q->count > 1 ? 1 / log(q->count) : 0;

    for (uint32_t i = 0; i < q->count; i++) {
        log_p[i] = q->scores[q->rows != NULL ? q->rows[i] : i];
        by[i] = 0;
    }
    const bool agrees = is_best(log_p, q, out);
    choice_log_softmax(log_p, q->count, log_p);
    out->log_p += log_p[q->chosen];
    out->entropy += shares * choice_entropy(log_p, q->count) / 2;
    if (q->wishes == NULL)
        choice_slopes(log_p, q->count, q->chosen, -wish->weight, -wish->entropy * shares / 2, by);
    for (uint32_t i = 0; i < q->count && q->wishes != NULL; i++)
        by[i] = wish->weight * (exp(log_p[i]) - exp(q->wishes[i])); /* of the cross-entropy */
    for (uint32_t i = 0; i < q->count; i++)
        q->slopes[q->rows != NULL ? q->rows[i] : i] += by[i];
    return agrees;
}

/* Runs the network; only the scores of candidates are there. */
static bool run(const network *net, const decision *d, agent_room *room)
{
    if (!make_room(room, net, d))
        return false;
    memset(room->wanted, 0, d->shape.stages);
    for (uint32_t k = 0; k < d->candidates_count; k++)
        room->wanted[d->candidates[k]] = 1;
    room->tape.wanted = room->wanted;
    network_forward(net, &(network_case){&d->shape, d->inputs}, &room->tape);
    return true;
}

bool agent_choose(const network *net, double executors, const clo_learned_decision *seen, agent_room *room,
                  uint32_t *candidate, uint32_t *limit)
{
    uint32_t best = 0, asked;
    decision d;

    do { /* ends: the second time the limits are those of the best candidate's job */
        asked = seen->input.job_of_stage[seen->candidates[best]];
        bool is_good = decision_make(&d, seen, best, executors) && run(net, &d, room);
        best = 0;
        for (uint32_t k = 0; k < d.candidates_count && is_good; k++) {
            const double *scores = room->tape.rows[net->score];
            best = scores[d.candidates[k]] > scores[d.candidates[best]] ? k : best;
        }
        *limit = is_good ? choice_best(room->tape.rows[net->limit], d.shape.limits) : 0;
        free(d.inputs);
        if (!is_good)
            return false;
    } while (asked != seen->input.job_of_stage[seen->candidates[best]]);
    *candidate = best;
    return true;
}

bool agent_learn(const network *net, const double *numbers, const decision *d, const agent_wish *wish, agent_room *room,
                 double *gradient, agent_learned *out)
{
    network_tape *tape = &room->tape;

    *out = (agent_learned){.limit_agrees = true};
    if (!run(net, d, room))
        return false;
    network_slopes_clear(net, &d->shape, tape);
    const question of_stage = {
        tape->rows[net->score], tape->slopes[net->score], d->candidates, d->candidates_count, d->candidate, d->wishes};
    const question of_limit = {tape->rows[net->limit],
                               tape->slopes[net->limit],
                               NULL,
                               d->shape.limits,
                               d->limit,
                               d->wishes != NULL ? d->wishes + d->candidates_count : NULL};
    out->stage_agrees = learn_choice(&of_stage, wish, room, out);
    if (!wish->leaves_limit)
        out->limit_agrees = learn_choice(&of_limit, wish, room, out);
    out->agrees = out->stage_agrees && out->limit_agrees;
    if (gradient != NULL)
        network_backward(net, &d->shape, tape, numbers, gradient);
    return true;
}

static bool is_small(const clo_model_case *shape)
{
    return shape->stages <= GOLDEN_STAGES && shape->limits <= CLO_MODEL_GOLDEN_ROWS_MAX &&
           shape->child_begin[shape->stages] <= CLO_MODEL_GOLDEN_EDGES_MAX;
}

/* Layers of each MLP, from the first on, that int8 alone holds too badly for choices that are nearly equally good: sums
 * over stages and jobs add up what their layers err, and the weights of a head's largest inputs leave few steps to those
 * beside them. */
static const int fine_depth[DECIMA_MLPS] = {[DECIMA_PREP] = DECIMA_DEPTH,
                                            [DECIMA_DAG] = DECIMA_DEPTH,
                                            [DECIMA_GLOBAL] = DECIMA_DEPTH,
                                            [DECIMA_STAGE] = 1,
                                            [DECIMA_LIMIT] = 1};

static void make_fine(const double *numbers, network *net)
{
    for (uint32_t i = 0; i < net->layers_count; i++)
        for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
            for (int depth = 0; depth < fine_depth[mlp]; depth++)
                net->layers[i].is_fine =
                    net->layers[i].is_fine || net->layers[i].weights == numbers + offset_of(mlp, depth);
}

clo_status agent_model(double *numbers, double executors, const char *name, const decision *list, uint32_t count,
                       void **out, size_t *bytes, const char **why)
{
    const decima_weights by = {.executors = executors, .tasks_scale = 200, .work_scale_ms = 1e5};
    clo_model_feature features[DECIMA_FEATURES];
    clo_model_case golden[GOLDEN];
    network *net = calloc(1, sizeof *net);
    quantize_config config = {.name = name,
                              .kind = CLO_MODEL_DECIMA,
                              .feature_set = 4,
                              .features = features,
                              .features_count = DECIMA_FEATURES,
                              .cases = golden,
                              .margin = 2,
                              .has_room_before_slope = true};
    measure seen;

    *why = NULL;
    if (net == NULL)
        return CLO_ERR_MEMORY;
    agent_network(numbers, executors, net);
    make_fine(numbers, net);
    decima_features(&by, features);
    bool is_good = measure_open(&seen, net);
    for (uint32_t i = 0; i < count && is_good; i++) {
        is_good = measure_add(&seen, net, &(network_case){&list[i].shape, list[i].inputs});
        if (config.cases_count < GOLDEN && is_small(&list[i].shape))
            golden[config.cases_count++] = list[i].shape;
    }
    clo_status status = is_good ? quantize(net, &seen, &config, out, bytes, why) : CLO_ERR_MEMORY;
    measure_close(&seen);
    free(net);
    return status;
}
