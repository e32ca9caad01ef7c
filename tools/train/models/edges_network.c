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
#include "train/models/edges_network.h"

#include "train/numbers/layers.h"

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

enum { HEAD_WIDE = 16, HEAD_NARROW = 8, GROUP = 0, JOIN = 0 };

const clo_model_feature edges_features[CLO_EDGES_FEATURES] = {
    [CLO_EDGES_TIME] = LOG("time"),       [CLO_EDGES_TAIL] = LOG("tail"),
    [CLO_EDGES_DEMAND] = SHARE("demand"), [CLO_EDGES_WAIT] = LOG("wait"),
    [CLO_EDGES_SLACK] = LOG("slack"),     [CLO_EDGES_POSITION] = SHARE("position"),
    [CLO_EDGES_SECOND] = SHARE("second"), [CLO_EDGES_BEFORE] = LOG("before"),
    [CLO_EDGES_OVERLAP] = LOG("overlap"), [CLO_EDGES_SPARE] = LOG("spare"),
    [CLO_EDGES_EXCESS] = SHARE("excess"), [CLO_EDGES_SHORTER] = LOG("shorter"),
};

static uint32_t add_head(layers *b, uint32_t x, uint32_t e)
{
    uint32_t index = layers_matrix(b, CLO_EDGES_FEATURES + EDGES_WIDTH, HEAD_WIDE, 1);
    const network_layer whole = b->net->layers[index];

    b->net->layers_count--; /* its parts stand for it */
    uint32_t first = layers_part(b, whole, x, 0, JOIN), second = layers_part(b, whole, e, CLO_EDGES_FEATURES, JOIN);
    uint32_t score = layers_join(b, CLO_MODEL_STAGE, (const uint32_t[]){first, second, NONE}, NETWORK_NONE);
    score = layers_new_dense(b, score, HEAD_NARROW, LAYERS_SLOPE, NETWORK_NONE);
    score = layers_new_dense(b, score, 1, 1, NETWORK_NONE);
    b->net->values[score].is_sum = true;
    return score;
}

static uint32_t build_all(layers *b)
{
    uint32_t x = layers_input(b, CLO_MODEL_STAGE, CLO_EDGES_FEATURES, EDGES_EXPONENT);

    b->net->score = add_head(b, x, layers_embed(b, x, EDGES_WIDTH, EDGES_ROUNDS, GROUP));
    b->net->limit = NONE;
    return b->used;
}

uint32_t edges_parameters(void)
{
    network net = {0};

    return build_all(&(layers){.net = &net});
}

void edges_network(const double *parameters, network *net)
{
    memset(net, 0, sizeof *net);
    (void)build_all(&(layers){.net = net, .parameters = parameters});
}
