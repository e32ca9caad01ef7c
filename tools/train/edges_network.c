/* edges_network.c - the network, operation by operation, for one set of features and D = 8.
 *
 *   prep  x -> 16 -> D                       e(0) = prep
 *   e(l+1) = g(sum of the children's e(l)) + h(x) + prep,   g and h the same in both rounds
 *   score = [x, e] -> 16 -> 8 -> 1
 *
 * Every layer but the last has a leaky slope of 0.2.
 *
 * Deviations from Hua et al. and from PPO-BiHyb: no vector of the whole graph, so that the scores of a task do not
 * change with the number of tasks, and a network that was trained on 50 of them works on 900; messages go from children
 * to parents alone, as what lies before a task stands in its features (its wait, its start). Their second network,
 * which sees the chosen start, is the same one with the features that compare a task with it. */
#include "edges_network.h"

#include "quantize.h"

#include <string.h>

#define NONE CLO_MODEL_NONE
#define LOG(name)                 \
    {                             \
        name, 2, 0, -16384, 16384 \
    }
#define SHARE(name)               \
    {                             \
        name, 1, 1, -16384, 16384 \
    }

enum { PREP_HIDDEN = 16, HEAD_WIDE = 16, HEAD_NARROW = 8, EXPONENT_MAX = 12, GROUP = 0, JOIN = 0 };

static const double slope = 0.2;

const clo_model_feature edges_features[CLO_EDGES_FEATURES] = {
    [CLO_EDGES_TIME] = LOG("time"),       [CLO_EDGES_TAIL] = LOG("tail"),
    [CLO_EDGES_DEMAND] = SHARE("demand"), [CLO_EDGES_WAIT] = LOG("wait"),
    [CLO_EDGES_SLACK] = LOG("slack"),     [CLO_EDGES_POSITION] = SHARE("position"),
    [CLO_EDGES_SECOND] = SHARE("second"), [CLO_EDGES_BEFORE] = LOG("before"),
    [CLO_EDGES_OVERLAP] = LOG("overlap"), [CLO_EDGES_SPARE] = LOG("spare"),
    [CLO_EDGES_EXCESS] = SHARE("excess"), [CLO_EDGES_SHORTER] = LOG("shorter"),
};

typedef struct build {
    network *net;
    const double *parameters;
    uint32_t used;
} build;

static uint32_t add_value(build *b, uint32_t width, int group)
{
    b->net->values[b->net->values_count] = (network_value){.domain = CLO_MODEL_STAGE,
                                                           .width = width,
                                                           .join = NETWORK_NONE,
                                                           .group = group,
                                                           .exponent = NETWORK_NONE,
                                                           .exponent_max = EXPONENT_MAX};
    return b->net->values_count++;
}

static void add_op(build *b, clo_model_operation op, uint32_t out, const uint32_t in[3], uint32_t argument)
{
    b->net->ops[b->net->ops_count++] =
        (clo_model_op){.op = op, .out = out, .in = {in[0], in[1], in[2]}, .argument = argument};
}

static uint32_t add_layer(build *b, uint32_t inputs, uint32_t outputs, double leaky)
{
    const double *weights = b->parameters != NULL ? b->parameters + b->used : NULL;
    const double *bias = weights != NULL ? weights + (size_t)inputs * outputs : NULL;

    b->used += (inputs + 1) * outputs;
    b->net->layers[b->net->layers_count] = (network_layer){inputs, outputs, inputs, 0, weights, bias, leaky};
    return b->net->layers_count++;
}

static uint32_t add_dense(build *b, uint32_t in, uint32_t layer, int group)
{
    uint32_t out = add_value(b, b->net->layers[layer].outputs, group);

    add_op(b, CLO_MODEL_DENSE, out, (const uint32_t[]){in, NONE, NONE}, layer);
    return out;
}

static uint32_t add_new_dense(build *b, uint32_t in, uint32_t outputs, double leaky, int group)
{
    return add_dense(b, in, add_layer(b, b->net->values[in].width, outputs, leaky), group);
}

static uint32_t add_tasks(build *b, uint32_t x)
{
    uint32_t prep = add_new_dense(b, x, PREP_HIDDEN, slope, NETWORK_NONE);

    prep = add_new_dense(b, prep, EDGES_WIDTH, slope, GROUP);
    uint32_t own = add_new_dense(b, x, EDGES_WIDTH, slope, GROUP), e = prep;
    uint32_t g = add_layer(b, EDGES_WIDTH, EDGES_WIDTH, slope);
    for (uint32_t round = 0; round < EDGES_ROUNDS; round++) {
        uint32_t sum = add_value(b, EDGES_WIDTH, GROUP);
        add_op(b, CLO_MODEL_SUM_CHILDREN, sum, (const uint32_t[]){e, NONE, NONE}, NONE);
        uint32_t message = add_dense(b, sum, g, GROUP);
        e = add_value(b, EDGES_WIDTH, GROUP);
        add_op(b, CLO_MODEL_ADD, e, (const uint32_t[]){message, own, prep}, NONE);
    }
    return e;
}

/* A part of the head's first layer: columns of one matrix. */
static uint32_t add_part(build *b, network_layer whole, uint32_t in, uint32_t column)
{
    uint32_t out = add_value(b, whole.outputs, NETWORK_NONE);

    whole.inputs = b->net->values[in].width;
    whole.column = column;
    whole.bias = column == 0 ? whole.bias : NULL;
    b->net->layers[b->net->layers_count] = whole;
    b->net->values[out].is_sum = true;
    b->net->values[out].join = JOIN;
    add_op(b, CLO_MODEL_DENSE, out, (const uint32_t[]){in, NONE, NONE}, b->net->layers_count++);
    return out;
}

static uint32_t add_head(build *b, uint32_t x, uint32_t e)
{
    uint32_t index = add_layer(b, CLO_EDGES_FEATURES + EDGES_WIDTH, HEAD_WIDE, 1);
    const network_layer whole = b->net->layers[index];

    b->net->layers_count--; /* its parts stand for it */
    uint32_t first = add_part(b, whole, x, 0), second = add_part(b, whole, e, CLO_EDGES_FEATURES);
    uint32_t score = add_value(b, HEAD_WIDE, NETWORK_NONE);
    b->net->layers[b->net->layers_count] = (network_layer){.outputs = HEAD_WIDE, .leaky = slope};
    add_op(b, CLO_MODEL_JOIN, score, (const uint32_t[]){first, second, NONE}, b->net->layers_count++);
    score = add_new_dense(b, score, HEAD_NARROW, slope, NETWORK_NONE);
    score = add_new_dense(b, score, 1, 1, NETWORK_NONE);
    b->net->values[score].is_sum = true;
    return score;
}

static uint32_t build_all(build *b)
{
    uint32_t x = add_value(b, CLO_EDGES_FEATURES, NETWORK_NONE);

    b->net->values[x].is_input = true;
    b->net->values[x].exponent = EDGES_EXPONENT;
    b->net->score = add_head(b, x, add_tasks(b, x));
    b->net->limit = NONE;
    return b->used;
}

uint32_t edges_parameters(void)
{
    network net = {0};

    return build_all(&(build){.net = &net});
}

void edges_network(const double *parameters, network *net)
{
    memset(net, 0, sizeof *net);
    (void)build_all(&(build){.net = net, .parameters = parameters});
}
