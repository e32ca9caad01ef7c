/* drawn_model.c - C leaves the order of arguments open, so at most one of them draws. */
#include "drawn_model.h"

#include <stdbool.h>
#include <string.h>

#define NONE CLO_MODEL_NONE
#define NOTHING UINT32_MAX

static const uint32_t widths[] = {1, 3, 5, 16, 17, DRAWN_WIDTH_MAX};

enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* splitmix64 (Steele et al. 2014) */
static uint32_t below(uint64_t *state, uint32_t bound)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) >> 16) % bound;
}

static int32_t between(uint64_t *state, int32_t lo, int32_t hi)
{
    return lo + (int32_t)below(state, (uint32_t)(hi - lo + 1));
}

static uint32_t any_width(drawn_model *d)
{
    return widths[below(&d->state, WIDTHS)];
}

static clo_model_number any_number(drawn_model *d, uint32_t kinds)
{
    return (clo_model_number)below(&d->state, kinds);
}

static uint32_t add_value(drawn_model *d, clo_model_number number, clo_model_domain domain, uint32_t width)
{
    d->values[d->desc.values_count] = (clo_model_value){.number = number, .domain = domain, .width = width};
    return d->desc.values_count++;
}

static uint32_t add_layer(drawn_model *d, uint32_t inputs, uint32_t outputs, clo_model_number number)
{
    uint32_t i = d->desc.layers_count++;
    clo_model_layer *layer = &d->layers[i];

    *layer = (clo_model_layer){.inputs = inputs, .outputs = outputs, .number = number};
    for (uint32_t k = 0; k < inputs * outputs; k++)
        d->weights[i][k] = (int8_t)between(&d->state, -127, 127);
    for (uint32_t k = 0; k < outputs; k++) {
        d->bias[i][k] = between(&d->state, -100000, 100000);
        d->pre[i][k] = between(&d->state, 0, 12);
        d->m[i][k] = (int16_t)between(&d->state, 1, 32767);
    }
    if (inputs > 0) {
        layer->weights = d->weights[i];
        layer->bias = d->bias[i];
    }
    if (number != CLO_MODEL_S32) {
        bool is_full = below(&d->state, 2) != 0;
        layer->pre = d->pre[i];
        layer->m = d->m[i];
        layer->lo = number == CLO_MODEL_S8 ? -128 : is_full ? -32767 : -20000;
        layer->hi = number == CLO_MODEL_S8 ? 127 : is_full ? 32767 : 20000;
        layer->leaky = below(&d->state, 2) != 0 ? 51 : 256;
    }
    return i;
}

static void add_op(drawn_model *d, clo_model_operation op, clo_model_on on, uint32_t out, const uint32_t in[3],
                   uint32_t argument)
{
    d->ops[d->desc.ops_count++] = (clo_model_op){op, on, out, {in[0], in[1], in[2]}, argument};
}

/* From a value to a new one, or to `out`. */
static uint32_t add_dense(drawn_model *d, clo_model_on on, uint32_t in, uint32_t out, clo_model_number number,
                          uint32_t width)
{
    if (in >= DRAWN_VALUES_MAX) /* never; the compiler does not see it */
        return 0;
    if (out == NOTHING)
        out = add_value(d, number, d->values[in].domain, width);
    add_op(d, CLO_MODEL_DENSE, on, out, (const uint32_t[]){in, NONE, NONE},
           add_layer(d, d->values[in].width, d->values[out].width, d->values[out].number));
    return out;
}

/* A value that may be read, from a random one on, or NOTHING. */
static uint32_t find(drawn_model *d, bool is_s32, uint32_t domain, uint32_t width)
{
    uint32_t count = d->desc.values_count, from = below(&d->state, count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = (from + i) % count;
        if (!d->is_gone[v] && (d->values[v].number == CLO_MODEL_S32) == is_s32 &&
            (domain == NOTHING || d->values[v].domain == domain) && (width == 0 || d->values[v].width == width))
            return v;
    }
    return NOTHING;
}

/* Numbers that an operation may take: there are inputs of stages, jobs and limits. */
static uint32_t find_numbers(drawn_model *d, uint32_t domain)
{
    uint32_t found = find(d, false, domain, 0);

    if (found != NOTHING)
        return found;
    return domain == CLO_MODEL_LIMIT ? 2 : domain == CLO_MODEL_JOB ? 1 : 0;
}

static bool is_coarser(uint32_t from, uint32_t to)
{
    return from == CLO_MODEL_GLOBAL ? to != CLO_MODEL_GLOBAL
                                    : from == CLO_MODEL_JOB && (to == CLO_MODEL_STAGE || to == CLO_MODEL_LIMIT);
}

/* One to three sums of one width, of the domain or coarser ones. */
static uint32_t add_join(drawn_model *d, clo_model_domain domain, uint32_t width, clo_model_number number)
{
    uint32_t in[3] = {NONE, NONE, NONE}, count = 0, wanted = 1 + below(&d->state, 3);

    for (uint32_t tries = 0; tries < 12 && count < wanted; tries++) {
        uint32_t v = find(d, true, NOTHING, width);
        if (v != NOTHING && (d->values[v].domain == domain || is_coarser(d->values[v].domain, domain)))
            in[count++] = v;
    }
    if (count == 0)
        return NOTHING;
    uint32_t out = add_value(d, number, domain, width);
    add_op(d, CLO_MODEL_JOIN, CLO_MODEL_ALL, out, in, add_layer(d, 0, width, number));
    return out;
}

static void add_elementwise(drawn_model *d, uint32_t v)
{
    const clo_model_value *value = &d->values[v];
    uint32_t twin = find(d, false, value->domain, value->width), kind = below(&d->state, 2);

    if (kind == 0 && twin != NOTHING && d->values[twin].number == value->number) {
        uint32_t third = below(&d->state, 2) != 0 ? v : NONE;
        add_op(d, CLO_MODEL_ADD, CLO_MODEL_ALL, add_value(d, value->number, value->domain, value->width),
               (const uint32_t[]){v, twin, third}, NONE);
        return;
    }
    bool is_s8 = value->number == CLO_MODEL_S8;
    add_op(d, is_s8 ? CLO_MODEL_LOOKUP : CLO_MODEL_TANH, CLO_MODEL_ALL,
           add_value(d, value->number, value->domain, value->width), (const uint32_t[]){v, NONE, NONE}, is_s8 ? 0 : 1);
}

static void add_sum(drawn_model *d, uint32_t v)
{
    const clo_model_value *value = &d->values[v];
    bool is_children = value->domain == CLO_MODEL_STAGE && below(&d->state, 3) == 0;
    clo_model_domain domain = is_children                        ? CLO_MODEL_STAGE
                              : value->domain == CLO_MODEL_STAGE ? CLO_MODEL_JOB
                                                                 : CLO_MODEL_GLOBAL;

    if (value->domain != CLO_MODEL_STAGE && value->domain != CLO_MODEL_JOB)
        return;
    add_op(d, is_children ? CLO_MODEL_SUM_CHILDREN : CLO_MODEL_SUM, CLO_MODEL_ALL,
           add_value(d, any_number(d, 2), domain, value->width), (const uint32_t[]){v, NONE, NONE}, NONE);
}

/* The same value of leaves and of inner stages, by two layers. */
static void add_masked(drawn_model *d)
{
    uint32_t a = find_numbers(d, CLO_MODEL_STAGE), b = find_numbers(d, CLO_MODEL_STAGE), width = any_width(d);
    uint32_t out = add_dense(d, CLO_MODEL_LEAVES, a, NOTHING, any_number(d, 3), width);

    add_dense(d, CLO_MODEL_INNER, b, out, CLO_MODEL_S8, 0);
}

/* Messages from children to parents, around something in their middle. */
static void add_loop(drawn_model *d)
{
    uint32_t x = find_numbers(d, CLO_MODEL_STAGE), first = d->desc.values_count;
    clo_model_number number = d->values[x].number;
    uint32_t width = d->values[x].width, message_width = any_width(d);
    bool has_way_around = below(&d->state, 2) != 0;
    clo_model_on on = below(&d->state, 2) != 0 ? CLO_MODEL_INNER : CLO_MODEL_ALL;
    uint32_t h = add_value(d, number, CLO_MODEL_STAGE, width);
    uint32_t message = add_value(d, any_number(d, 2), CLO_MODEL_STAGE, message_width);
    uint32_t sum = add_value(d, any_number(d, 2), CLO_MODEL_STAGE, message_width), update;

    add_op(d, CLO_MODEL_LOOP, CLO_MODEL_ALL, h, (const uint32_t[]){has_way_around ? x : NONE, NONE, NONE}, NONE);
    add_op(d, CLO_MODEL_SUM_CHILDREN, on, sum, (const uint32_t[]){message, NONE, NONE}, NONE);
    if (on == CLO_MODEL_ALL) {
        update = add_dense(d, CLO_MODEL_ALL, sum, NOTHING, number, width);
        add_op(d, CLO_MODEL_ADD, CLO_MODEL_ALL, h, (const uint32_t[]){x, update, NONE}, NONE);
    } else {
        update = add_dense(d, CLO_MODEL_LEAVES, x, NOTHING, number, width);
        add_dense(d, CLO_MODEL_INNER, sum, update, number, width);
        uint32_t further = add_dense(d, CLO_MODEL_ALL, update, NOTHING, number, width);
        add_dense(d, CLO_MODEL_LEAVES, further, h, number, width);
        add_op(d, CLO_MODEL_ADD, CLO_MODEL_INNER, h, (const uint32_t[]){x, further, update}, NONE);
    }
    add_dense(d, CLO_MODEL_ALL, h, message, number, 0);
    add_op(d, CLO_MODEL_END, CLO_MODEL_ALL, NONE, (const uint32_t[]){NONE, NONE, NONE}, NONE);
    for (uint32_t v = first; v < d->desc.values_count; v++)
        d->is_gone[v] = v != h && (has_way_around || on == CLO_MODEL_INNER);
}

static void add_any(drawn_model *d)
{
    uint32_t v = find_numbers(d, NOTHING), kind = below(&d->state, 16), width = any_width(d);
    clo_model_number number = any_number(d, 3);

    if (kind < 5)
        add_dense(d, CLO_MODEL_ALL, v, NOTHING, number, width);
    else if (kind < 9)
        add_join(d, (clo_model_domain)below(&d->state, 4), width, number);
    else if (kind < 11)
        add_elementwise(d, v);
    else if (kind < 14)
        add_sum(d, v);
    else if (kind < 15)
        add_masked(d);
    else
        add_loop(d);
}

static void add_inputs(drawn_model *d)
{
    static const clo_model_domain domains[] = {CLO_MODEL_STAGE, CLO_MODEL_JOB, CLO_MODEL_LIMIT, CLO_MODEL_GLOBAL,
                                               CLO_MODEL_STAGE};
    uint32_t count = 3 + below(&d->state, 3);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = any_width(d), v = add_value(d, any_number(d, 2), domains[i], width);
        bool is_s8 = d->values[v].number == CLO_MODEL_S8;
        d->values[v].is_input = 1;
        for (uint32_t k = 0; k < d->values[v].width; k++)
            d->features[d->desc.features_count++] =
                (clo_model_feature){"drawn", 1, 0, (int16_t)(is_s8 ? -128 : -32768), (int16_t)(is_s8 ? 127 : 32767)};
    }
}

/* A score of a value of the domain, mostly behind a join with what all know. */
static uint32_t add_score(drawn_model *d, clo_model_domain domain)
{
    uint32_t width = any_width(d), own = find_numbers(d, domain), job = find_numbers(d, CLO_MODEL_JOB);

    add_dense(d, CLO_MODEL_ALL, own, NOTHING, CLO_MODEL_S32, width);
    add_dense(d, CLO_MODEL_ALL, job, NOTHING, CLO_MODEL_S32, width);
    uint32_t joined = add_join(d, domain, width, any_number(d, 2));
    return add_dense(d, CLO_MODEL_ALL, joined != NOTHING ? joined : own, NOTHING, CLO_MODEL_S32, 1);
}

void drawn_model_draw(drawn_model *d, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    d->state = seed;
    d->desc = (clo_model_desc)CLO_MODEL_DESC_INIT;
    d->desc.name = "drawn";
    d->desc.features = d->features;
    d->desc.values = d->values;
    d->desc.layers = d->layers;
    d->desc.tables = d->tables;
    d->desc.tables_count = 2;
    d->desc.ops = d->ops;
    for (int i = 0; i < 256; i++)
        d->look[i] = (int8_t)between(&d->state, -128, 127);
    for (int i = 0; i < 257; i++)
        d->bend[i] = (int16_t)between(&d->state, -32768, 32767);
    d->tables[0] = (clo_model_table){CLO_MODEL_S8, d->look};
    d->tables[1] = (clo_model_table){CLO_MODEL_S16, d->bend};
    add_inputs(d);
    for (uint32_t ops = below(&d->state, 20); d->desc.ops_count < ops;)
        add_any(d);
    d->desc.score = add_score(d, CLO_MODEL_STAGE);
    d->desc.limit = below(&d->state, 5) != 0 ? add_score(d, CLO_MODEL_LIMIT) : NONE;
}

static void draw_edges(drawn_case *drawn, drawn_shape shape, uint32_t stages, uint64_t *state)
{
    uint32_t edges = 0, density = 1 + below(state, 12);

    for (uint32_t s = 0; s < stages; s++) {
        drawn->child_begin[s] = edges;
        for (uint32_t child = s + 1; child < stages && edges < DRAWN_EDGES_MAX; child++)
            if (shape == DRAWN_CHAIN ? child == s + 1
                                     : shape == DRAWN_ANY && drawn->job_of_stage[s] == drawn->job_of_stage[child] &&
                                           below(state, density + 1) == 0)
                drawn->children[edges++] = child;
    }
    drawn->child_begin[stages] = edges;
}

void drawn_case_draw(drawn_case *drawn, const clo_model_desc *model, drawn_shape shape, uint32_t stages, uint64_t seed)
{
    uint64_t state = seed;
    uint32_t count = shape == DRAWN_ONE ? 1 : 1 + below(&state, stages);
    uint32_t jobs = shape == DRAWN_SINGLES ? count : shape == DRAWN_CHAIN ? 1 : 1 + below(&state, count);
    uint32_t limits = below(&state, stages), at = 0, feature = 0;

    for (uint32_t s = 0; s < count; s++)
        drawn->job_of_stage[s] = shape == DRAWN_SINGLES ? s : below(&state, jobs);
    for (uint32_t i = 0; i < limits; i++)
        drawn->job_of_limit[i] = below(&state, jobs);
    draw_edges(drawn, shape, count, &state);
    const uint32_t rows[] = {count, jobs, 1, limits};
    for (uint32_t v = 0; v < model->values_count; v++)
        if (model->values[v].is_input) {
            for (uint32_t i = 0; i < rows[model->values[v].domain] * model->values[v].width; i++) {
                const clo_model_feature *as = &model->features[feature + i % model->values[v].width];
                drawn->inputs[at++] = (int16_t)between(&state, as->lo, as->hi);
            }
            feature += model->values[v].width;
        }
    drawn->input = (clo_model_case){
        count,        jobs, limits, drawn->job_of_stage, drawn->child_begin, drawn->children, drawn->job_of_limit,
        drawn->inputs};
}
