/* random_network.c - see random_network.h. */
#include "random_network.h"

#include <string.h>

#define NONE CLO_MODEL_NONE

static uint32_t below(random_network *r, uint32_t bound)
{
    return (uint32_t)(draws_next(&r->d) % bound);
}

static double number(random_network *r)
{
    return 2 * draws_uniform(&r->d) - 1;
}

static uint32_t add_value(random_network *r, clo_model_domain domain, uint32_t width)
{
    r->net.values[r->net.values_count] = (network_value){.domain = domain, .width = width};
    return r->net.values_count++;
}

static void add_op(random_network *r, clo_model_operation op, clo_model_on on, const uint32_t io[4], uint32_t argument)
{
    r->net.ops[r->net.ops_count++] =
        (clo_model_op){.op = op, .on = on, .out = io[0], .in = {io[1], io[2], io[3]}, .argument = argument};
}

/* A new matrix, or a slice of a wider one, or one that an earlier operation of the same shape has. */
static uint32_t choose_layer(random_network *r, uint32_t inputs, uint32_t outputs)
{
    uint32_t extra = below(r, 3), column = extra > 0 ? below(r, extra + 1) : 0;

    for (uint32_t i = 0; i < r->net.layers_count && below(r, 2) == 0; i++)
        if (r->net.layers[i].inputs == inputs && r->net.layers[i].outputs == outputs)
            return i;
    network_layer *layer = &r->net.layers[r->net.layers_count];
    *layer = (network_layer){.inputs = inputs,
                             .outputs = outputs,
                             .stride = inputs + extra,
                             .column = column,
                             .weights = r->parameters + r->parameters_count,
                             .leaky = below(r, 3) == 0   ? 1
                                      : below(r, 3) == 0 ? 0
                                                         : 0.2};
    r->parameters_count += layer->stride * outputs;
    if (below(r, 4) != 0) {
        layer->bias = r->parameters + r->parameters_count;
        r->parameters_count += outputs;
    }
    return r->net.layers_count++;
}

static uint32_t dense(random_network *r, uint32_t in, uint32_t outputs)
{
    uint32_t out = add_value(r, r->net.values[in].domain, outputs);

    add_op(r, CLO_MODEL_DENSE, CLO_MODEL_ALL, (const uint32_t[]){out, in, NONE, NONE},
           choose_layer(r, r->net.values[in].width, outputs));
    return out;
}

static uint32_t of_one(random_network *r, clo_model_operation op, clo_model_domain domain, uint32_t in)
{
    uint32_t out = add_value(r, domain, r->net.values[in].width);

    add_op(r, op, CLO_MODEL_ALL, (const uint32_t[]){out, in, NONE, NONE}, NONE);
    return out;
}

static uint32_t join(random_network *r, clo_model_domain domain, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t out = add_value(r, domain, r->net.values[a].width), layer = r->net.layers_count++;

    r->net.layers[layer] = (network_layer){.outputs = r->net.values[a].width, .leaky = 0.3};
    add_op(r, CLO_MODEL_JOIN, CLO_MODEL_ALL, (const uint32_t[]){out, a, b, c}, layer);
    return out;
}

/* Leaves and inner stages go different ways; with an input, sets of jobs without edges skip it. */
static uint32_t loop(random_network *r, uint32_t x)
{
    uint32_t width = r->net.values[x].width, h = add_value(r, CLO_MODEL_STAGE, width);
    uint32_t sum = add_value(r, CLO_MODEL_STAGE, width), bent = add_value(r, CLO_MODEL_STAGE, width);
    uint32_t message = add_value(r, CLO_MODEL_STAGE, width);

    add_op(r, CLO_MODEL_LOOP, CLO_MODEL_ALL, (const uint32_t[]){h, below(r, 2) == 0 ? x : NONE, NONE, NONE}, NONE);
    add_op(r, CLO_MODEL_SUM_CHILDREN, CLO_MODEL_INNER, (const uint32_t[]){sum, message, NONE, NONE}, NONE);
    add_op(r, CLO_MODEL_DENSE, CLO_MODEL_LEAVES, (const uint32_t[]){bent, x, NONE, NONE},
           choose_layer(r, width, width));
    add_op(r, CLO_MODEL_TANH, CLO_MODEL_INNER, (const uint32_t[]){bent, sum, NONE, NONE}, 0);
    add_op(r, CLO_MODEL_ADD, CLO_MODEL_ALL, (const uint32_t[]){h, bent, x, NONE}, NONE);
    add_op(r, CLO_MODEL_DENSE, CLO_MODEL_ALL, (const uint32_t[]){message, h, NONE, NONE},
           choose_layer(r, width, width));
    add_op(r, CLO_MODEL_END, CLO_MODEL_ALL, (const uint32_t[]){NONE, NONE, NONE, NONE}, NONE);
    return h;
}

/* One step after the other on stages, then sums, joins of all domains, and the scores. */
static void draw_ops(random_network *r)
{
    uint32_t width = 1 + below(r, 6), x = add_value(r, CLO_MODEL_STAGE, 1 + below(r, 7));
    uint32_t limits = add_value(r, CLO_MODEL_LIMIT, 2), first = x;

    r->net.values[x].is_input = r->net.values[limits].is_input = true;
    x = dense(r, x, width);
    for (uint32_t steps = 1 + below(r, 5); steps > 0; steps--) {
        uint32_t before = x, kind = below(r, 4);
        x = kind == 0   ? dense(r, x, width)
            : kind == 1 ? of_one(r, CLO_MODEL_TANH, CLO_MODEL_STAGE, x)
            : kind == 2 ? of_one(r, CLO_MODEL_SUM_CHILDREN, CLO_MODEL_STAGE, x)
                        : loop(r, x);
        if (below(r, 2) == 0) {
            uint32_t sum = add_value(r, CLO_MODEL_STAGE, width);
            add_op(r, CLO_MODEL_ADD, CLO_MODEL_ALL, (const uint32_t[]){sum, x, before, dense(r, first, width)}, NONE);
            clo_model_op *last = &r->net.ops[r->net.ops_count - 1], add = last[-1];
            if (last->op == CLO_MODEL_DENSE) { /* it was drawn while the ADD was made: before it then */
                last[-1] = *last;
                *last = add;
            }
            x = sum;
        }
    }
    uint32_t y = of_one(r, CLO_MODEL_SUM, CLO_MODEL_JOB, dense(r, x, width));
    uint32_t z = of_one(r, CLO_MODEL_SUM, CLO_MODEL_GLOBAL, dense(r, y, width));
    uint32_t jobs = join(r, CLO_MODEL_JOB, dense(r, y, width), dense(r, z, width), NONE);
    uint32_t head = join(r, CLO_MODEL_STAGE, dense(r, x, width), jobs, dense(r, z, width));
    r->net.score = dense(r, of_one(r, CLO_MODEL_TANH, CLO_MODEL_STAGE, head), 1);
    r->net.limit = dense(r, join(r, CLO_MODEL_LIMIT, dense(r, limits, width), jobs, z), 1);
}

static void draw_decima(random_network *r)
{
    decima_weights weights = {.executors = 50, .tasks_scale = 200, .work_scale_ms = 1e5};

    for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
        for (int depth = 0; depth < DECIMA_DEPTH; depth++) {
            const uint32_t *shape = &decima_shapes[mlp][depth];
            weights.weights[mlp][depth] = r->parameters + r->parameters_count;
            r->parameters_count += shape[0] * shape[1];
            weights.biases[mlp][depth] = r->parameters + r->parameters_count;
            r->parameters_count += shape[1];
        }
    decima_network(&weights, &r->net);
}

static void draw_lachesis(random_network *r)
{
    lachesis_shape shape = LACHESIS_SHAPE_INIT;

    shape.stage_inputs = 1 + below(r, 9);
    shape.job_inputs = below(r, 4);
    shape.system_inputs = below(r, 3);
    shape.width = 1 + below(r, 17);
    shape.rounds = 1 + below(r, 4);
    shape.has_critic = true;
    r->parameters_count = lachesis_parameters(&shape);
    (void)lachesis_network(&shape, r->parameters, &r->net, NULL);
}

static void draw_case(random_network *r)
{
    uint32_t jobs = 1 + below(r, 4), stages = 0, edges = 0, limits = 0, numbers = 0;
    bool has_edges = below(r, 5) != 0;

    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t first = stages, count = 1 + below(r, RANDOM_STAGES_MAX / 4);
        for (uint32_t i = 0; i < count; i++, stages++) {
            r->job_of_stage[stages] = j;
            r->child_begin[stages] = edges;
            for (uint32_t child = stages + 1; has_edges && child < first + count; child++)
                if (below(r, 2) == 0)
                    r->children[edges++] = child;
        }
        for (uint32_t i = below(r, 4); i > 0; i--)
            r->job_of_limit[limits++] = j;
    }
    r->child_begin[stages] = edges;
    r->shape =
        (clo_model_case){stages, jobs, limits, r->job_of_stage, r->child_begin, r->children, r->job_of_limit, NULL};
    for (uint32_t v = 0; v < r->net.values_count; v++)
        if (r->net.values[v].is_input)
            numbers += network_rows(&r->shape, r->net.values[v].domain) * r->net.values[v].width;
    for (uint32_t i = 0; i < numbers; i++)
        r->inputs[i] = number(r);
    r->input = (network_case){&r->shape, r->inputs};
}

void random_network_draw(random_network *r, random_kind kind, uint64_t seed)
{
    static void (*const draw[RANDOM_KINDS])(random_network *) = {draw_ops, draw_decima, draw_lachesis};

    memset(r, 0, sizeof *r);
    r->d.state = seed;
    draw[kind](r);
    draw_case(r);
    parameters_init(&r->net, r->parameters, seed);
    for (uint32_t i = 0; i < r->parameters_count; i++)
        if (r->parameters[i] == 0) /* a bias */
            r->parameters[i] = number(r) * 0.3;
}
