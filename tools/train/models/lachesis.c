/* lachesis.c - the network, operation by operation.
 *
 *   prep  x -> 16 -> D                       e(0) = prep
 *   e(l+1) = g(sum of the children's e(l)) + h(x) + prep,   g and h the same in all rounds
 *   y = sum over a job of f(e), z = sum over jobs of k(y)
 *   score = [x, e, y, job, z, system] -> 32 -> 16 -> 8 -> 1, and a prior: a sum over x; or the prior alone
 *
 * Every layer but the last has a leaky slope of 0.2.
 *
 * Deviations: h sees all features of a stage and not only its outgoing data, which list 2 has as a mean; the head also
 * sees the features of the job and of the system. */
#include "train/models/lachesis.h"

#include "train/numbers/layers.h"

#include <math.h>
#include <string.h>

#define NONE CLO_MODEL_NONE

enum { BY_ITSELF = NETWORK_NONE, OF_STAGES = 0, OF_JOBS, OF_ALL };
/* Sums that share their units. */
enum { JOIN = 0, SCORES };

enum { PRIOR_TIMES_MOST = 5 };

static const uint32_t head_shape[LACHESIS_HEAD_DEPTH] = {32, 16, 8, 1};
static const uint32_t critic_shape[] = {32, 16, 1};

static uint32_t add_sum(layers *b, clo_model_domain domain, uint32_t in, int group)
{
    uint32_t width = b->net->values[in].width, each = layers_new_dense(b, in, width, LAYERS_SLOPE, group);
    uint32_t out = layers_value(b, domain, width, group);

    layers_op(b, CLO_MODEL_SUM, out, (const uint32_t[]){each, NONE, NONE}, NONE);
    return out;
}

/* What the first layer of the head makes of the inputs of one domain: columns of one matrix, `column` on. */
static uint32_t add_parts(layers *b, network_layer whole, uint32_t *column, uint32_t first, uint32_t second)
{
    const uint32_t in[2] = {first, second};
    uint32_t parts[3] = {NONE, NONE, NONE}, count = 0;

    for (int i = 0; i < 2 && in[i] != NONE; i++) {
        parts[count++] = layers_part(b, whole, in[i], *column, JOIN);
        *column += b->net->values[in[i]].width;
    }
    return count == 1 ? parts[0] : layers_join(b, b->net->values[first].domain, parts, JOIN);
}

static uint32_t head_inputs(const lachesis_shape *shape)
{
    return shape->stage_inputs + shape->job_inputs + shape->system_inputs + 3 * shape->width;
}

static uint32_t add_head(layers *b, const lachesis_shape *shape, const uint32_t in[6])
{
    uint32_t column = 0, index = layers_matrix(b, head_inputs(shape), head_shape[0], 1);
    network_layer whole = b->net->layers[index];

    b->net->layers_count--; /* its slices stand for it */
    uint32_t stage = add_parts(b, whole, &column, in[0], in[1]), job = add_parts(b, whole, &column, in[2], in[3]);
    uint32_t all = add_parts(b, whole, &column, in[4], in[5]);
    uint32_t score = layers_join(b, CLO_MODEL_STAGE, (const uint32_t[]){stage, job, all}, NETWORK_NONE);
    for (int depth = 1; depth < LACHESIS_HEAD_DEPTH; depth++)
        score = layers_new_dense(b, score, head_shape[depth], depth + 1 < LACHESIS_HEAD_DEPTH ? LAYERS_SLOPE : 1,
                                 BY_ITSELF);
    b->net->values[score].is_sum = true;
    return score;
}

static uint32_t add_critic(layers *b, uint32_t z)
{
    for (size_t depth = 0; depth < 3; depth++)
        z = layers_new_dense(b, z, critic_shape[depth], depth < 2 ? LAYERS_SLOPE : 1, BY_ITSELF);
    return z;
}

/* int16 numbers between would make equal what is not: most decisions that integers change are changed by one rounding
 * to 15 bits. */
static uint32_t add_prior(layers *b, const lachesis_shape *shape, uint32_t x, uint32_t score)
{
    uint32_t index = layers_matrix(b, shape->stage_inputs, 1, 1);
    network_layer own = b->net->layers[index];

    b->net->layers_count--; /* the part stands for it */
    uint32_t once = layers_part(b, own, x, 0, SCORES), times = once;
    for (uint32_t n = 1; n < shape->prior_times; n += 2)
        times = layers_join(b, CLO_MODEL_STAGE, (const uint32_t[]){times, once, once}, SCORES);
    if (score == NONE)
        return times;
    b->net->values[score].join = SCORES;
    return layers_join(b, CLO_MODEL_STAGE, (const uint32_t[]){score, times, NONE}, SCORES);
}

static uint32_t build_all(layers *b, const lachesis_shape *shape)
{
    uint32_t x = layers_input(b, CLO_MODEL_STAGE, shape->stage_inputs, shape->exponent);
    uint32_t job = layers_input(b, CLO_MODEL_JOB, shape->job_inputs, shape->exponent);
    uint32_t system = layers_input(b, CLO_MODEL_GLOBAL, shape->system_inputs, shape->exponent);

    b->net->limit = NONE;
    if (shape->rounds == 0) {
        b->net->score = add_prior(b, shape, x, NONE);
        return NONE;
    }
    uint32_t e = layers_embed(b, x, shape->width, shape->rounds, OF_STAGES);
    uint32_t y = add_sum(b, CLO_MODEL_JOB, e, OF_JOBS), z = add_sum(b, CLO_MODEL_GLOBAL, y, OF_ALL);

    b->net->score = add_head(b, shape, (const uint32_t[]){x, e, y, job, z, system});
    if (shape->prior_times > 0)
        b->net->score = add_prior(b, shape, x, b->net->score);
    return shape->has_critic ? add_critic(b, z) : NONE;
}

/* Of all that comes before the head. */
static uint32_t encoder_parameters(const lachesis_shape *shape)
{
    const uint32_t d = shape->width;

    return (shape->stage_inputs + 1) * (LAYERS_PREP + d) + (LAYERS_PREP + 1) * d + 3 * (d + 1) * d;
}

uint32_t lachesis_parameters(const lachesis_shape *shape)
{
    uint32_t count = encoder_parameters(shape), in = head_inputs(shape);

    if (shape->rounds == 0)
        return shape->stage_inputs + 1;
    for (int depth = 0; depth < LACHESIS_HEAD_DEPTH; depth++) {
        count += (in + 1) * head_shape[depth];
        in = head_shape[depth];
    }
    for (int depth = 0; shape->has_critic && depth < 3; depth++)
        count += ((depth > 0 ? critic_shape[depth - 1] : shape->width) + 1) * critic_shape[depth];
    return count + (shape->prior_times > 0 ? shape->stage_inputs + 1 : 0);
}

uint32_t lachesis_prior_times(double scale, int exponent)
{
    uint32_t best = 1;
    double least = 1;

    for (uint32_t times = 1; times <= PRIOR_TIMES_MOST; times += 2) {
        double bits = -log2(scale / times / 127) + exponent, away = fabs(bits - nearbyint(bits));
        if (away < least) {
            least = away;
            best = times;
        }
    }
    return best;
}

void lachesis_with_prior(const lachesis_shape *shape, const double *parameters, const double *weights, double scale,
                         double *out)
{
    uint32_t count = lachesis_parameters(shape) - (shape->stage_inputs + 1);

    if (count > 0)
        memcpy(out, parameters, count * sizeof *out);
    for (uint32_t k = 0; k < shape->stage_inputs; k++)
        out[count + k] = scale / shape->prior_times * weights[k];
    out[count + shape->stage_inputs] = 0;
}

bool lachesis_network(const lachesis_shape *shape, const double *parameters, network *net, uint32_t *critic)
{
    layers b = {.net = net, .parameters = parameters};

    if (shape->stage_inputs < 1 || shape->stage_inputs > CLO_MODEL_WIDTH_MAX ||
        shape->job_inputs > CLO_MODEL_WIDTH_MAX || shape->system_inputs > CLO_MODEL_WIDTH_MAX || shape->width < 1 ||
        shape->width > CLO_MODEL_WIDTH_MAX || (shape->rounds == 0 && shape->prior_times == 0) ||
        shape->rounds > LACHESIS_ROUNDS_MAX || shape->prior_times > PRIOR_TIMES_MOST ||
        (shape->prior_times > 0 && shape->prior_times % 2 == 0) || (shape->prior_times > 0 && shape->has_critic))
        return false;
    memset(net, 0, sizeof *net);
    uint32_t value = build_all(&b, shape);
    if (critic != NULL)
        *critic = value;
    return true;
}
