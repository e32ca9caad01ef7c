/* diff.c - what differs between two models, a line for each thing. */
#include "clotho/common/report.h"
#include "clotho/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool count_differs(const char *what, uint32_t a, uint32_t b)
{
    if (a != b)
        printf("%s: %u, %u\n", what, a, b);
    return a != b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool info_differs(const clo_model_info *a, const clo_model_info *b)
{
    bool differs = strcmp(a->name, b->name) != 0;

    if (differs)
        printf("name: %s, %s\n", a->name, b->name);
    differs |= count_differs("kind", a->kind, b->kind);
    differs |= count_differs("minor version", a->minor, b->minor);
    differs |= count_differs("feature list", a->feature_set, b->feature_set);
    differs |= count_differs("features", a->features, b->features);
    differs |= count_differs("values", a->values, b->values);
    differs |= count_differs("layers", a->layers, b->layers);
    differs |= count_differs("tables", a->tables, b->tables);
    differs |= count_differs("operations", a->ops, b->ops);
    differs |= count_differs("golden vectors", a->golden, b->golden);
    differs |= count_differs("scores of stages", a->score, b->score);
    differs |= count_differs("scores of limits", a->limit, b->limit);
    return differs;
}

static bool feature_differs(const clo_model *a, const clo_model *b, uint32_t i)
{
    clo_model_feature x, y;

    if (clo_model_feature_at(a, i, &x) != CLO_OK || clo_model_feature_at(b, i, &y) != CLO_OK)
        return true;
    if (strcmp(x.name, y.name) == 0 && x.mult == y.mult && x.shift == y.shift && x.lo == y.lo && x.hi == y.hi)
        return false;
    printf("feature %u: %s (raw * %d) >> %u, %d to %d; %s (raw * %d) >> %u, %d to %d\n", i, x.name, x.mult, x.shift,
           x.lo, x.hi, y.name, y.mult, y.shift, y.lo, y.hi);
    return true;
}

static bool value_differs(const clo_model *a, const clo_model *b, uint32_t i)
{
    clo_model_value x, y;

    if (clo_model_value_at(a, i, &x) != CLO_OK || clo_model_value_at(b, i, &y) != CLO_OK)
        return true;
    if (x.number == y.number && x.domain == y.domain && x.width == y.width && x.exponent == y.exponent &&
        x.is_input == y.is_input)
        return false;
    printf("value %u: shape or scale (width %u, %u; exponent %d, %d)\n", i, x.width, y.width, x.exponent, y.exponent);
    return true;
}

/* Weights as they are packed: 16 outputs, 4 inputs at a time. */
static bool weights_differ(const clo_model_layer *x, const clo_model_layer *y, uint32_t i)
{
    size_t bytes = (size_t)((x->inputs + 3) / 4 * 4) * ((x->outputs + 15) / 16 * 16);
    uint32_t weights = 0, biases = 0;
    int most = 0;

    for (size_t k = 0; k < bytes; k++) {
        int apart = abs(x->weights[k] - y->weights[k]);
        weights += apart != 0;
        most = apart > most ? apart : most;
    }
    for (uint32_t n = 0; n < x->outputs; n++)
        biases += x->bias[n] != y->bias[n];
    if (weights == 0 && biases == 0)
        return false;
    printf("layer %u: %u of %u weights (by %d at most), %u of %u biases\n", i, weights, x->inputs * x->outputs, most,
           biases, x->outputs);
    return true;
}

static bool layer_differs(const clo_model *a, const clo_model *b, uint32_t i)
{
    clo_model_layer x, y;

    if (clo_model_layer_at(a, i, &x) != CLO_OK || clo_model_layer_at(b, i, &y) != CLO_OK)
        return true;
    if (x.inputs != y.inputs || x.outputs != y.outputs || x.number != y.number) {
        printf("layer %u: %u -> %u, %u -> %u, or other numbers\n", i, x.inputs, x.outputs, y.inputs, y.outputs);
        return true;
    }
    bool found = x.inputs > 0 && weights_differ(&x, &y, i);
    bool has_rule = x.number != CLO_MODEL_S32;
    bool differs = has_rule && (x.lo != y.lo || x.hi != y.hi || x.leaky != y.leaky ||
                                memcmp(x.pre, y.pre, x.outputs * sizeof *x.pre) != 0 ||
                                memcmp(x.m, y.m, x.outputs * sizeof *x.m) != 0);
    if (differs)
        printf("layer %u: rule\n", i);
    return differs || found;
}

static bool op_differs(const clo_model *a, const clo_model *b, uint32_t i)
{
    clo_model_op x, y;

    if (clo_model_op_at(a, i, &x) != CLO_OK || clo_model_op_at(b, i, &y) != CLO_OK)
        return true;
    if (x.op == y.op && x.on == y.on && x.out == y.out && x.argument == y.argument &&
        memcmp(x.in, y.in, sizeof x.in) == 0)
        return false;
    printf("operation %u\n", i);
    return true;
}

int model_print_difference(const clo_model *a, const clo_model *b)
{
    clo_model_info x = CLO_MODEL_INFO_INIT, y = CLO_MODEL_INFO_INIT;
    size_t x_bytes, y_bytes;
    const void *x_data = clo_model_data(a, &x_bytes), *y_data = clo_model_data(b, &y_bytes);

    if (x_bytes == y_bytes && memcmp(x_data, y_data, x_bytes) == 0) {
        printf("equal\n");
        return report_flush(EXIT_GOOD);
    }
    if (clo_model_inspect(a, &x) != CLO_OK || clo_model_inspect(b, &y) != CLO_OK)
        return complain_status(NULL, CLO_ERR_ARGUMENT);
    bool found = info_differs(&x, &y);
    for (uint32_t i = 0; i < smaller(x.features, y.features); i++)
        found |= feature_differs(a, b, i);
    for (uint32_t i = 0; i < smaller(x.values, y.values); i++)
        found |= value_differs(a, b, i);
    for (uint32_t i = 0; i < smaller(x.layers, y.layers); i++)
        found |= layer_differs(a, b, i);
    for (uint32_t i = 0; i < smaller(x.ops, y.ops); i++)
        found |= op_differs(a, b, i);
    if (!found)
        printf("tables, golden vectors or layout\n");
    return report_flush(EXIT_BAD_INPUT);
}
