/* check_ops.c - one pass over the operations with what is known of each value: which stages it was written for, and how
 * large it can get. The bound of a sum is exact for the worst input within the ranges, so what passes can never
 * wrap. */
#include "base/status.h"
#include "learn/format/check.h"

#include <stdbool.h>
#include <stdio.h>

enum { LEAVES = 1, INNER = 2, ALL = LEAVES | INNER };

typedef struct known {
    /* Most that |x| can be. */
    int64_t max[CLO_MODEL_VALUES_MAX];
    /* LEAVES | INNER. */
    uint8_t written[CLO_MODEL_VALUES_MAX];
    /* Written in the loop that is open, read in it before that, and gone with it. */
    bool in_loop[CLO_MODEL_VALUES_MAX], is_awaited[CLO_MODEL_VALUES_MAX], is_gone[CLO_MODEL_VALUES_MAX];
    const clo_format_op *loop;
} known;

static const uint8_t masks[] = {ALL, LEAVES, INNER};

static bool is_coarser(uint32_t from, uint32_t to)
{
    return from == CLO_MODEL_GLOBAL ? to != CLO_MODEL_GLOBAL
                                    : from == CLO_MODEL_JOB && (to == CLO_MODEL_STAGE || to == CLO_MODEL_LIMIT);
}

static bool is_summed(uint32_t from, uint32_t to)
{
    return (from == CLO_MODEL_STAGE && to == CLO_MODEL_JOB) || (from == CLO_MODEL_JOB && to == CLO_MODEL_GLOBAL);
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

static int64_t range_of(uint32_t number)
{
    return number == CLO_MODEL_S8 ? 128 : number == CLO_MODEL_S16 ? 32768 : INT32_MAX;
}

static int64_t rule_max(const clo_dense *layer)
{
    int64_t lo = magnitude(layer->rule.lo), hi = magnitude(layer->rule.hi);

    return lo > hi ? lo : hi;
}

/* Largest |sum| of any output for |x| <= x_max <= 32768. */
static int64_t dense_max(const clo_dense *layer, int64_t x_max)
{
    uint32_t quads = clo_up(layer->inputs, 4) / 4;
    int64_t most = 0;

    for (uint32_t n = 0; n < layer->outputs; n++) {
        const int8_t *weights = layer->weights + (size_t)(n / CLO_LANES) * quads * CLO_LANES * 4 + n % CLO_LANES * 4;
        int64_t sum = 0;
        for (uint32_t q = 0; q < quads; q++)
            for (uint32_t k = 0; k < 4; k++)
                sum += magnitude(weights[(size_t)q * CLO_LANES * 4 + k]);
        sum = magnitude(layer->bias[n]) + sum * x_max;
        most = sum > most ? sum : most;
    }
    return most;
}

static void begin(const clo_model *model, known *k)
{
    uint32_t feature = 0;

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++) {
        k->written[v] = model->values[v].is_input ? ALL : 0;
        for (uint32_t i = 0; model->values[v].is_input && i < model->values[v].width; i++, feature++) {
            int64_t lo = magnitude(model->features[feature].lo), hi = magnitude(model->features[feature].hi);
            int64_t most = lo > hi ? lo : hi;
            k->max[v] = most > k->max[v] ? most : k->max[v];
        }
    }
}

/* How many inputs an operation has, at least and at most, and whether it has an argument. */
static const struct {
    uint8_t min, max;
    bool has_layer, has_table, has_out;
} shapes[] = {
    [CLO_MODEL_DENSE] = {1, 1, true, false, true},
    [CLO_MODEL_JOIN] = {1, CLO_MODEL_OP_INPUTS, true, false, true},
    [CLO_MODEL_SUM] = {1, 1, false, false, true},
    [CLO_MODEL_SUM_CHILDREN] = {1, 1, false, false, true},
    [CLO_MODEL_ADD] = {2, CLO_MODEL_OP_INPUTS, false, false, true},
    [CLO_MODEL_TANH] = {1, 1, false, true, true},
    [CLO_MODEL_LOOKUP] = {1, 1, false, true, true},
    [CLO_MODEL_LOOP] = {0, 1, false, false, true},
    [CLO_MODEL_END] = {0, 0, false, false, false},
};

static clo_status check_shape(const clo_model *model, const clo_format_op *op)
{
    uint32_t inputs = 0, arguments = op->op < sizeof shapes / sizeof shapes[0] && shapes[op->op].has_table
                                         ? model->counts[CLO_PART_TABLES]
                                         : model->counts[CLO_PART_LAYERS];
    bool has_argument;

    if (op->op == 0 || op->op >= sizeof shapes / sizeof shapes[0] || op->on > CLO_MODEL_INNER)
        return clo_fail(CLO_ERR_UNSUPPORTED, "operation %u on %u is unknown; it may need a newer library", op->op,
                        op->on);
    while (inputs < CLO_MODEL_OP_INPUTS && op->in[inputs] != CLO_MODEL_NONE)
        inputs++;
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS; i++)
        if (i < inputs ? op->in[i] >= model->counts[CLO_PART_VALUES] : op->in[i] != CLO_MODEL_NONE)
            return clo_fail(CLO_ERR_FORMAT, "input %u is no value", i);
    has_argument = shapes[op->op].has_layer || shapes[op->op].has_table;
    if (inputs < shapes[op->op].min || inputs > shapes[op->op].max)
        return clo_fail(CLO_ERR_FORMAT, "%u inputs are not what it needs", inputs);
    if (shapes[op->op].has_out ? op->out >= model->counts[CLO_PART_VALUES] : op->out != CLO_MODEL_NONE)
        return clo_fail(CLO_ERR_FORMAT, "its output is no value");
    if (has_argument ? op->argument >= arguments : op->argument != CLO_MODEL_NONE)
        return clo_fail(CLO_ERR_FORMAT, "its layer or table does not exist");
    if (op->on != CLO_MODEL_ALL && (op->op >= CLO_MODEL_LOOP || model->values[op->out].domain != CLO_MODEL_STAGE))
        return clo_fail(CLO_ERR_FORMAT, "leaves and inner ones are stages; it works on something else");
    for (uint32_t i = 0; model->header->minor <= CLO_MODEL_MINOR && i < sizeof op->zeros / sizeof op->zeros[0]; i++)
        if (op->zeros[i] != 0)
            return clo_fail(CLO_ERR_FORMAT, "uses bytes that are zero in this version");
    return CLO_OK;
}

/* All inputs are there for the stages that the operation works on. */
static clo_status check_reads(const clo_model *model, const clo_format_op *op, known *k)
{
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++) {
        uint32_t v = op->in[i];
        bool is_stage = model->values[v].domain == CLO_MODEL_STAGE;
        bool is_whole =
            !is_stage || op->op == CLO_MODEL_SUM || op->op == CLO_MODEL_LOOP || op->op == CLO_MODEL_SUM_CHILDREN;
        uint8_t need = is_whole ? ALL : masks[op->on];

        if (k->is_gone[v])
            return clo_fail(CLO_ERR_FORMAT, "value %u is read behind the loop that may be skipped", v);
        if (op->op == CLO_MODEL_SUM_CHILDREN && k->loop != NULL && k->written[v] != ALL)
            k->is_awaited[v] = true;
        else if ((k->written[v] & need) != need)
            return clo_fail(CLO_ERR_FORMAT, "value %u is read before it is written", v);
    }
    return CLO_OK;
}

static clo_status check_write(const clo_model *model, const clo_format_op *op, known *k, int64_t max)
{
    if (k->loop != NULL && model->values[op->out].domain != CLO_MODEL_STAGE)
        return clo_fail(CLO_ERR_FORMAT, "a loop writes values of stages only");
    if (model->values[op->out].is_input || (k->written[op->out] & masks[op->on]) != 0 || k->is_gone[op->out])
        return clo_fail(CLO_ERR_FORMAT, "value %u is an input or written twice", op->out);
    if (k->written[op->out] != 0 && k->in_loop[op->out] != (k->loop != NULL))
        return clo_fail(CLO_ERR_FORMAT, "value %u is written within a loop and outside of it", op->out);
    k->written[op->out] |= masks[op->on];
    k->in_loop[op->out] = k->loop != NULL;
    k->max[op->out] = max > k->max[op->out] ? max : k->max[op->out];
    return CLO_OK;
}

static clo_status check_dense(const clo_model *model, const clo_format_op *op, const known *k, int64_t *max)
{
    const clo_format_value *in = &model->values[op->in[0]], *out = &model->values[op->out];
    const clo_dense *layer = &model->dense[op->argument];

    if (in->number == CLO_MODEL_S32 || in->domain != out->domain || layer->inputs != in->width)
        return clo_fail(CLO_ERR_FORMAT, "its input does not fit layer %u", op->argument);
    int64_t sum = dense_max(layer, k->max[op->in[0]]);
    if (sum > INT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "sums of layer %u could overflow 32 bits; make the weights or the range smaller",
                        op->argument);
    *max = out->number == CLO_MODEL_S32 ? sum : rule_max(layer);
    return CLO_OK;
}

static clo_status check_join(const clo_model *model, const clo_format_op *op, const known *k, int64_t *max)
{
    const clo_format_value *out = &model->values[op->out];
    const clo_dense *layer = &model->dense[op->argument];
    int64_t sum = 0;

    if (layer->inputs != 0)
        return clo_fail(CLO_ERR_FORMAT, "layer %u has weights; a sum takes the rule alone", op->argument);
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++) {
        const clo_format_value *in = &model->values[op->in[i]];
        if (in->number != CLO_MODEL_S32 || in->width != out->width ||
            (in->domain != out->domain && !is_coarser(in->domain, out->domain)))
            return clo_fail(CLO_ERR_FORMAT, "value %u cannot be added to value %u", op->in[i], op->out);
        sum += k->max[op->in[i]];
    }
    if (sum > INT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the sum could overflow 32 bits; make the parts smaller");
    *max = out->number == CLO_MODEL_S32 ? sum : rule_max(layer);
    return CLO_OK;
}

static clo_status check_sum(const clo_model *model, const clo_format_op *op, int64_t *max)
{
    const clo_format_value *in = &model->values[op->in[0]], *out = &model->values[op->out];
    bool fits = op->op == CLO_MODEL_SUM ? is_summed(in->domain, out->domain)
                                        : in->domain == CLO_MODEL_STAGE && out->domain == CLO_MODEL_STAGE;

    if (!fits || in->number == CLO_MODEL_S32 || in->width != out->width)
        return clo_fail(CLO_ERR_FORMAT, "value %u cannot be summed up to value %u", op->in[0], op->out);
    *max = range_of(out->number);
    return CLO_OK;
}

static clo_status check_same(const clo_model *model, const clo_format_op *op, int64_t *max)
{
    const clo_format_value *out = &model->values[op->out];

    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++) {
        const clo_format_value *in = &model->values[op->in[i]];
        if (in->number != out->number || in->number == CLO_MODEL_S32 || in->domain != out->domain ||
            in->width != out->width || (op->op == CLO_MODEL_ADD && in->exponent != out->exponent))
            return clo_fail(CLO_ERR_FORMAT, "values %u and %u have not the same shape and scale", op->in[i], op->out);
    }
    if (op->op != CLO_MODEL_ADD && (model->tables[op->argument].number != out->number ||
                                    out->number != (op->op == CLO_MODEL_TANH ? CLO_MODEL_S16 : CLO_MODEL_S8)))
        return clo_fail(CLO_ERR_FORMAT, "table %u is for other numbers", op->argument);
    *max = range_of(out->number);
    return CLO_OK;
}

static clo_status begin_loop(const clo_model *model, const clo_format_op *op, known *k)
{
    const clo_format_value *out = &model->values[op->out];

    if (k->loop != NULL)
        return clo_fail(CLO_ERR_FORMAT, "a loop within a loop");
    if (out->domain != CLO_MODEL_STAGE || k->written[op->out] != 0)
        return clo_fail(CLO_ERR_FORMAT, "the loop's output is not of stages, or written before");
    if (op->in[0] != CLO_MODEL_NONE) {
        const clo_format_value *in = &model->values[op->in[0]];
        if (in->number != out->number || in->width != out->width || in->domain != out->domain ||
            in->exponent != out->exponent)
            return clo_fail(CLO_ERR_FORMAT, "what replaces the loop's output has another shape or scale");
        k->max[op->out] = k->max[op->in[0]];
    }
    k->loop = op;
    return CLO_OK;
}

static clo_status end_loop(const clo_model *model, known *k)
{
    if (k->loop == NULL)
        return clo_fail(CLO_ERR_FORMAT, "no loop is open");
    if (k->written[k->loop->out] != ALL || !k->in_loop[k->loop->out])
        return clo_fail(CLO_ERR_FORMAT, "the loop does not write its output for all stages");
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++) {
        if (k->is_awaited[v] && (k->written[v] != ALL || !k->in_loop[v]))
            return clo_fail(CLO_ERR_FORMAT, "value %u of the children is not written for all stages", v);
        if (k->in_loop[v] && v != k->loop->out && k->loop->in[0] != CLO_MODEL_NONE)
            k->is_gone[v] = true;
        k->in_loop[v] = k->is_awaited[v] = false;
    }
    k->loop = NULL;
    return CLO_OK;
}

static clo_status check_op(const clo_model *model, const clo_format_op *op, known *k)
{
    int64_t max = 0;
    clo_status status = check_shape(model, op);

    if (status == CLO_OK)
        status = check_reads(model, op, k);
    if (status != CLO_OK)
        return status;
    switch ((clo_model_operation)op->op) {
    case CLO_MODEL_LOOP:
        return begin_loop(model, op, k);
    case CLO_MODEL_END:
        return end_loop(model, k);
    case CLO_MODEL_DENSE:
        status = check_dense(model, op, k, &max);
        break;
    case CLO_MODEL_JOIN:
        status = check_join(model, op, k, &max);
        break;
    case CLO_MODEL_SUM:
    case CLO_MODEL_SUM_CHILDREN:
        status = check_sum(model, op, &max);
        break;
    case CLO_MODEL_ADD:
    case CLO_MODEL_TANH:
    case CLO_MODEL_LOOKUP:
        status = check_same(model, op, &max);
        break;
    }
    if (status != CLO_OK)
        return status;
    if (shapes[op->op].has_layer && (model->dense[op->argument].outputs != model->values[op->out].width ||
                                     (uint32_t)model->dense[op->argument].rule.out != model->values[op->out].number))
        return clo_fail(CLO_ERR_FORMAT, "layer %u does not give value %u", op->argument, op->out);
    return check_write(model, op, k, max);
}

static clo_status check_output(const clo_model *model, const known *k, uint32_t value, uint32_t domain)
{
    if (value >= model->counts[CLO_PART_VALUES] || model->values[value].domain != domain ||
        model->values[value].width != 1 || model->values[value].number != CLO_MODEL_S32 || k->written[value] != ALL ||
        k->is_gone[value])
        return clo_fail(CLO_ERR_FORMAT, "the scores of %s are no int32 value of width 1 that is written",
                        domain == CLO_MODEL_STAGE ? "stages" : "limits");
    return CLO_OK;
}

clo_status clo_check_ops(const clo_model *model)
{
    known k = {0};

    begin(model, &k);
    for (uint32_t i = 0; i < model->counts[CLO_PART_OPS]; i++) {
        char place[40];
        clo_status status = check_op(model, &model->ops[i], &k);
        if (status == CLO_OK)
            continue;
        snprintf(place, sizeof place, "operation %u: ", i);
        return clo_fail_prefix(status, place);
    }
    if (k.loop != NULL)
        return clo_fail(CLO_ERR_FORMAT, "its last loop has no end");
    clo_status status = check_output(model, &k, model->header->score, CLO_MODEL_STAGE);
    return status != CLO_OK || model->header->limit == CLO_MODEL_NONE
               ? status
               : check_output(model, &k, model->header->limit, CLO_MODEL_LIMIT);
}
