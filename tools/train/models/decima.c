/* decima.c - the network, operation by operation, and jobs to try it on.
 *
 * Deviation: spark-sched-sim sends messages along all edges among the tasks of a depth and their children. Where a
 * child of such a task is also a child of another one, it is computed anew from these edges alone, and loses its other
 * children. Here each task gets the messages of all its children, once. Graphs without such triangles give the same. */
#include "train/models/decima.h"

#include "train/models/quantize.h"

#include <math.h>
#include <string.h>

#define NONE CLO_MODEL_NONE

const uint32_t decima_shapes[DECIMA_MLPS][DECIMA_DEPTH + 1] = {
    {5, 32, 16, 16},  {16, 32, 16, 16}, {16, 32, 16, 16}, {21, 32, 16, 16},
    {16, 32, 16, 16}, {53, 64, 64, 1},  {36, 64, 64, 1},
};

/* Groups of values with one exponent, and layers over several inputs. */
enum { BY_ITSELF = NETWORK_NONE, OF_TASKS = 0, OF_MESSAGES, OF_JOBS, OF_ALL };
enum { JOIN_DAG, JOIN_STAGE, JOIN_LIMIT };

static double slope_of(const decima_weights *weights)
{
    return weights->slope > 0 ? weights->slope : 0.2;
}

static uint32_t add_value(network *net, clo_model_domain domain, uint32_t width, int group)
{
    net->values[net->values_count] =
        (network_value){.domain = domain,
                        .width = width,
                        .join = NETWORK_NONE,
                        .group = group,
                        .exponent = NETWORK_NONE,
                        .exponent_max = group == BY_ITSELF ? QUANTIZE_TANH_IN : DECIMA_EXPONENT};
    return net->values_count++;
}

/* Units of the inputs. Counts are exact: an executor is 80 units, a task 16. Work is the widest, 0 to 32: its four
 * parts have a unit four times as large, and add up to it. */
enum { UNITS_EACH_EXECUTOR = 80, UNITS_EACH_TASK = 16, WORK_EXPONENT = DECIMA_EXPONENT - 2, WORK_SHIFT = 47 };

static void set_units(network *net, const decima_weights *weights)
{
    const double one = 1 << DECIMA_EXPONENT, executor = one / ((double)UNITS_EACH_EXECUTOR * weights->executors);
    const double units[] = {executor, 1, executor, one / ((double)UNITS_EACH_TASK * weights->tasks_scale),
                            DECIMA_WORK_PARTS};

    memcpy(net->units, units, sizeof units);
}

/* `units` of each number. */
static uint32_t add_input(network *net, clo_model_domain domain, uint32_t width, const double *units)
{
    uint32_t value = add_value(net, domain, width, BY_ITSELF);

    net->values[value].is_input = true;
    net->values[value].exponent = DECIMA_EXPONENT;
    net->values[value].steps = units;
    return value;
}

static void add_op(network *net, clo_model_operation op, clo_model_on on, uint32_t out, uint32_t a, uint32_t b,
                   uint32_t c, uint32_t argument)
{
    net->ops[net->ops_count++] = (clo_model_op){.op = op, .on = on, .out = out, .in = {a, b, c}, .argument = argument};
}

static uint32_t add_layer(network *net, const decima_weights *weights, int mlp, int depth, double leaky)
{
    const uint32_t *shape = &decima_shapes[mlp][depth];

    net->layers[net->layers_count] = (network_layer){
        shape[0], shape[1], shape[0], 0, weights->weights[mlp][depth], weights->biases[mlp][depth], leaky, false};
    return net->layers_count++;
}

/* The three layers of an MLP that is used more than once. */
static void add_layers(network *net, const decima_weights *weights, int mlp, uint32_t layers[DECIMA_DEPTH])
{
    for (int depth = 0; depth < DECIMA_DEPTH; depth++)
        layers[depth] = add_layer(net, weights, mlp, depth, depth + 1 < DECIMA_DEPTH ? slope_of(weights) : 1);
}

/* Layers [from, 3) on a value; returns the last output. */
static uint32_t add_rest(network *net, const decima_weights *weights, int mlp, int from, uint32_t in, int group)
{
    for (int depth = from; depth < DECIMA_DEPTH; depth++) {
        bool is_last = depth + 1 == DECIMA_DEPTH;
        uint32_t layer = add_layer(net, weights, mlp, depth, is_last ? 1 : slope_of(weights));
        uint32_t out =
            add_value(net, net->values[in].domain, decima_shapes[mlp][depth + 1], is_last ? group : BY_ITSELF);
        add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, out, in, NONE, NONE, layer);
        in = out;
    }
    return in;
}

/* The columns of the first layer that belong to one input. One part of the layer has its biases. */
static uint32_t add_part(network *net, const decima_weights *weights, int mlp, uint32_t in, uint32_t column,
                         bool has_bias, int join)
{
    uint32_t layer = add_layer(net, weights, mlp, 0, 1);
    uint32_t out = add_value(net, net->values[in].domain, decima_shapes[mlp][1], BY_ITSELF);

    net->layers[layer].inputs = net->values[in].width;
    net->layers[layer].column = column;
    if (!has_bias)
        net->layers[layer].bias = NULL;
    net->values[out].is_sum = true;
    net->values[out].join = join;
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, out, in, NONE, NONE, layer);
    return out;
}

static uint32_t add_join(network *net, clo_model_domain domain, const uint32_t parts[3], double leaky, bool is_sum)
{
    uint32_t width = net->values[parts[0]].width, out = add_value(net, domain, width, BY_ITSELF);

    net->layers[net->layers_count] = (network_layer){.outputs = width, .leaky = leaky};
    net->values[out].is_sum = is_sum;
    net->values[out].join = is_sum ? net->values[parts[0]].join : NETWORK_NONE;
    add_op(net, CLO_MODEL_JOIN, CLO_MODEL_ALL, out, parts[0], parts[1], parts[2], net->layers_count++);
    return out;
}

/* Prep, and messages from children to parents. Returns the tasks' embeddings. */
static uint32_t add_tasks(network *net, const decima_weights *weights, uint32_t x)
{
    uint32_t update[DECIMA_DEPTH], message[DECIMA_DEPTH];
    uint32_t prep = add_rest(net, weights, DECIMA_PREP, 0, x, OF_TASKS);
    uint32_t sum = add_value(net, CLO_MODEL_STAGE, 16, OF_MESSAGES), h = add_value(net, CLO_MODEL_STAGE, 16, OF_TASKS);
    uint32_t u1 = add_value(net, CLO_MODEL_STAGE, 32, BY_ITSELF), u2 = add_value(net, CLO_MODEL_STAGE, 16, BY_ITSELF);
    uint32_t u3 = add_value(net, CLO_MODEL_STAGE, 16, OF_TASKS), m1 = add_value(net, CLO_MODEL_STAGE, 32, BY_ITSELF);
    uint32_t m2 = add_value(net, CLO_MODEL_STAGE, 16, BY_ITSELF), m3 = add_value(net, CLO_MODEL_STAGE, 16, OF_MESSAGES);

    add_layers(net, weights, DECIMA_UPDATE, update);
    uint32_t inner = add_layer(net, weights, DECIMA_UPDATE, 0, slope_of(weights));
    add_layers(net, weights, DECIMA_MESSAGE, message);
    add_op(net, CLO_MODEL_LOOP, CLO_MODEL_ALL, h, prep, NONE, NONE, NONE);
    add_op(net, CLO_MODEL_SUM_CHILDREN, CLO_MODEL_INNER, sum, m3, NONE, NONE, NONE);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_LEAVES, u1, prep, NONE, NONE, update[0]);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_INNER, u1, sum, NONE, NONE, inner);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, u2, u1, NONE, NONE, update[1]);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_LEAVES, h, u2, NONE, NONE, update[2]);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_INNER, u3, u2, NONE, NONE, update[2]);
    add_op(net, CLO_MODEL_ADD, CLO_MODEL_INNER, h, prep, u3, NONE, NONE);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, m1, h, NONE, NONE, message[0]);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, m2, m1, NONE, NONE, message[1]);
    add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, m3, m2, NONE, NONE, message[2]);
    add_op(net, CLO_MODEL_END, CLO_MODEL_ALL, NONE, NONE, NONE, NONE, NONE);
    return h;
}

/* From the sums of a head's first layer to its score. */
static uint32_t add_head(network *net, const decima_weights *weights, int mlp, uint32_t joined)
{
    for (int depth = 1; depth < DECIMA_DEPTH; depth++) {
        uint32_t bent = add_value(net, net->values[joined].domain, decima_shapes[mlp][depth], BY_ITSELF);
        uint32_t layer = add_layer(net, weights, mlp, depth, 1);

        net->values[joined].exponent = QUANTIZE_TANH_IN;
        net->values[bent].exponent = QUANTIZE_TANH_OUT;
        add_op(net, CLO_MODEL_TANH, CLO_MODEL_ALL, bent, joined, NONE, NONE, 0);
        joined = add_value(net, net->values[bent].domain, decima_shapes[mlp][depth + 1], BY_ITSELF);
        add_op(net, CLO_MODEL_DENSE, CLO_MODEL_ALL, joined, bent, NONE, NONE, layer);
    }
    net->values[joined].is_sum = true;
    return joined;
}

void decima_network(const decima_weights *weights, network *net)
{
    memset(net, 0, sizeof *net);
    set_units(net, weights);
    uint32_t x = add_input(net, CLO_MODEL_STAGE, DECIMA_STAGE_FEATURES, net->units),
             j = add_input(net, CLO_MODEL_JOB, DECIMA_JOB_FEATURES, net->units);
    uint32_t l = add_input(net, CLO_MODEL_LIMIT, 1, net->units), h;

    net->values[x].more_of_last = DECIMA_WORK_PARTS - 1;
    h = add_tasks(net, weights, x);
    uint32_t dag_x = add_part(net, weights, DECIMA_DAG, x, 0, true, JOIN_DAG);
    uint32_t dag_h = add_part(net, weights, DECIMA_DAG, h, 5, false, JOIN_DAG);
    uint32_t dag = add_join(net, CLO_MODEL_STAGE, (const uint32_t[]){dag_x, dag_h, NONE}, slope_of(weights), false);
    uint32_t each = add_rest(net, weights, DECIMA_DAG, 1, dag, OF_JOBS);
    uint32_t y = add_value(net, CLO_MODEL_JOB, 16, OF_JOBS);

    add_op(net, CLO_MODEL_SUM, CLO_MODEL_ALL, y, each, NONE, NONE, NONE);
    each = add_rest(net, weights, DECIMA_GLOBAL, 0, y, OF_ALL);
    uint32_t z = add_value(net, CLO_MODEL_GLOBAL, 16, OF_ALL);
    add_op(net, CLO_MODEL_SUM, CLO_MODEL_ALL, z, each, NONE, NONE, NONE);

    uint32_t s_x = add_part(net, weights, DECIMA_STAGE, x, 0, false, JOIN_STAGE);
    uint32_t s_h = add_part(net, weights, DECIMA_STAGE, h, 5, false, JOIN_STAGE);
    uint32_t s_y = add_part(net, weights, DECIMA_STAGE, y, 21, false, JOIN_STAGE);
    uint32_t s_z = add_part(net, weights, DECIMA_STAGE, z, 37, true, JOIN_STAGE);
    uint32_t s_own = add_join(net, CLO_MODEL_STAGE, (const uint32_t[]){s_x, s_h, NONE}, 1, true);
    uint32_t s = add_join(net, CLO_MODEL_STAGE, (const uint32_t[]){s_own, s_y, s_z}, 1, false);
    net->score = add_head(net, weights, DECIMA_STAGE, s);

    uint32_t l_j = add_part(net, weights, DECIMA_LIMIT, j, 0, false, JOIN_LIMIT);
    uint32_t l_y = add_part(net, weights, DECIMA_LIMIT, y, 3, false, JOIN_LIMIT);
    uint32_t l_z = add_part(net, weights, DECIMA_LIMIT, z, 19, true, JOIN_LIMIT);
    uint32_t l_l = add_part(net, weights, DECIMA_LIMIT, l, 35, false, JOIN_LIMIT);
    uint32_t l_job = add_join(net, CLO_MODEL_JOB, (const uint32_t[]){l_j, l_y, NONE}, 1, true);
    uint32_t joined = add_join(net, CLO_MODEL_LIMIT, (const uint32_t[]){l_l, l_job, l_z}, 1, false);
    net->limit = add_head(net, weights, DECIMA_LIMIT, joined);
}

static clo_model_feature feature(const char *name, int32_t mult, uint32_t shift)
{
    return (clo_model_feature){name, mult, shift, -INT16_MAX, INT16_MAX};
}

void decima_features(const decima_weights *weights, clo_model_feature features[DECIMA_FEATURES])
{
    const double work = ldexp(1e-6 / weights->work_scale_ms, WORK_EXPONENT);
    clo_model_feature *of_job = &features[DECIMA_STAGE_FEATURES + DECIMA_WORK_PARTS - 1];

    features[0] = feature("commit-cap", UNITS_EACH_EXECUTOR, 0);
    features[1] = feature("own-job", 1 << DECIMA_EXPONENT, 0);
    features[2] = feature("executors", UNITS_EACH_EXECUTOR, 0);
    features[3] = feature("remaining-tasks", UNITS_EACH_TASK, 0);
    for (uint32_t i = 0; i < DECIMA_WORK_PARTS; i++)
        features[4 + i] = feature("work", (int32_t)lround(ldexp(work, WORK_SHIFT)), WORK_SHIFT);
    memcpy(of_job, features, DECIMA_JOB_FEATURES * sizeof *features);
    of_job[DECIMA_JOB_FEATURES] = feature("limit", UNITS_EACH_EXECUTOR, 0);
}

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(next(state) % bound);
}

/* Between 1 and 2^bits, small numbers as often as large ones. */
static int64_t spread(uint64_t *state, uint32_t bits)
{
    uint32_t size = below(state, bits);

    return ((int64_t)1 << size) + (int64_t)(next(state) & (((uint64_t)1 << size) - 1));
}

static void draw_shape(decima_case *drawn, uint64_t *state)
{
    uint32_t jobs = 1 + below(state, 10), stages = 0, edges = 0, limits = 0;
    bool has_edges = below(state, 16) != 0;

    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t first = stages, count = 1 + below(state, 18);
        for (uint32_t i = 0; i < count; i++, stages++) {
            drawn->job_of_stage[stages] = j;
            drawn->child_begin[stages] = edges;
            for (uint32_t child = stages + 1; has_edges && child < first + count; child++)
                if (below(state, 4) == 0)
                    drawn->children[edges++] = child;
        }
        for (uint32_t i = 0; i < 5; i++)
            drawn->job_of_limit[limits++] = j;
    }
    drawn->child_begin[stages] = edges;
    drawn->shape = (clo_model_case){
        stages,         jobs, limits, drawn->job_of_stage, drawn->child_begin, drawn->children, drawn->job_of_limit,
        drawn->integers};
    drawn->real = (network_case){&drawn->shape, drawn->numbers};
}

/* Appends the number as the model gets it, in `parts` that add up to it (docs/MODELS.md, list 4). */
static void put_integers(decima_case *drawn, const clo_model_feature *as, uint32_t parts, uint32_t *at, int64_t raw)
{
    for (uint32_t i = 0; i < parts; i++) {
        int64_t share = as->shift > 0 ? ((int64_t)(2 * i + 1) << (as->shift - 1)) / parts : 0;
        int64_t sum = raw * as->mult + share, scaled = sum < 0 ? ~(~sum >> as->shift) : sum >> as->shift;
        scaled = scaled < as->lo ? as->lo : scaled > as->hi ? as->hi : scaled;
        drawn->integers[(*at)++] = (int16_t)scaled;
    }
}

typedef struct places {
    uint32_t integer, number;
} places;

/* Feature 0 .. 4 of a stage; those of jobs and limits are among them. */
static void put(decima_case *drawn, const decima_weights *weights, uint32_t feature, places *at, int64_t raw)
{
    const double executor = 1 / weights->executors, task = 1 / weights->tasks_scale, ns = 1e-6 / weights->work_scale_ms;
    const double each[DECIMA_STAGE_FEATURES] = {executor, 1, executor, task, ns};
    clo_model_feature features[DECIMA_FEATURES];
    bool is_work = feature == DECIMA_STAGE_FEATURES - 1;

    decima_features(weights, features);
    put_integers(drawn, &features[feature], is_work ? DECIMA_WORK_PARTS : 1, &at->integer, raw);
    drawn->numbers[at->number++] = (double)raw * each[feature];
}

void decima_draw(decima_case *drawn, const decima_weights *weights, uint64_t seed)
{
    uint64_t state = seed;
    places at = {0, 0};
    uint32_t executors = (uint32_t)weights->executors;
    int64_t job[16][DECIMA_JOB_FEATURES] = {{0}};

    draw_shape(drawn, &state);
    uint32_t source = below(&state, drawn->shape.jobs + 1);
    for (uint32_t j = 0; j < drawn->shape.jobs; j++) {
        job[j][0] = below(&state, executors + 1);
        job[j][1] = j == source ? 1 : -1;
        job[j][2] = below(&state, executors + 1);
    }
    for (uint32_t s = 0; s < drawn->shape.stages; s++) {
        int64_t tasks = spread(&state, 9), each_ns = 1000000 * spread(&state, 13);
        for (uint32_t i = 0; i < DECIMA_JOB_FEATURES; i++)
            put(drawn, weights, i, &at, job[drawn->job_of_stage[s]][i]);
        put(drawn, weights, 3, &at, tasks);
        put(drawn, weights, 4, &at, tasks * each_ns);
    }
    for (uint32_t j = 0; j < drawn->shape.jobs; j++)
        for (uint32_t i = 0; i < DECIMA_JOB_FEATURES; i++)
            put(drawn, weights, i, &at, job[j][i]);
    for (uint32_t l = 0; l < drawn->shape.limits; l++)
        put(drawn, weights, 0, &at, below(&state, executors));
}
