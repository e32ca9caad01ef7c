/* show.c - a model as text and as JSON. */
#include "clotho/common/json.h"
#include "clotho/common/report.h"
#include "clotho/model/model.h"

#include <stdio.h>

static const char *const kinds[] = {"head", "decima", "lachesis"};
static const char *const numbers[] = {"int8", "int16", "int32"};
static const char *const domains[] = {"stage", "job", "global", "limit"};
static const char *const operations[] = {"?",   "dense", "join",   "sum",  "sum-children",
                                         "add", "tanh",  "lookup", "loop", "end"};
static const char *const stages[] = {"", " (leaves)", " (inner)"};

/* What a model was checked for cannot be missing. */
static bool lacks(clo_status status)
{
    return status != CLO_OK;
}

static void print_features(const clo_model *model, uint32_t count)
{
    clo_model_feature feature;

    printf("\nfeatures\n");
    for (uint32_t i = 0; i < count && !lacks(clo_model_feature_at(model, i, &feature)); i++)
        printf("  %3u  %-23s (raw * %d) >> %u, %d to %d\n", i, feature.name, feature.mult, feature.shift, feature.lo,
               feature.hi);
}

static void print_values(const clo_model *model, uint32_t count)
{
    clo_model_value value;

    printf("\nvalues\n");
    for (uint32_t i = 0; i < count && !lacks(clo_model_value_at(model, i, &value)); i++)
        printf("  %3u  %-6s  %-5s x %-3u  2^%d%s\n", i, domains[value.domain], numbers[value.number], value.width,
               -value.exponent, value.is_input ? "  input" : "");
}

static void print_layers(const clo_model *model, uint32_t count)
{
    clo_model_layer layer;

    printf("\nlayers\n");
    for (uint32_t i = 0; i < count && !lacks(clo_model_layer_at(model, i, &layer)); i++) {
        printf("  %3u  %3u -> %-3u  %-5s", i, layer.inputs, layer.outputs, numbers[layer.number]);
        if (layer.number != CLO_MODEL_S32)
            printf("  %d to %d", layer.lo, layer.hi);
        if (layer.number != CLO_MODEL_S32 && layer.leaky != 256)
            printf(", leaky %d/256", layer.leaky);
        putchar('\n');
    }
}

static void print_ops(const clo_model *model, uint32_t count)
{
    clo_model_op op;

    printf("\noperations\n");
    for (uint32_t i = 0; i < count && !lacks(clo_model_op_at(model, i, &op)); i++) {
        printf("  %3u  %-12s", i, operations[op.op]);
        if (op.out != CLO_MODEL_NONE)
            printf("  %3u =", op.out);
        for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op.in[k] != CLO_MODEL_NONE; k++)
            printf(" %u", op.in[k]);
        if (op.argument != CLO_MODEL_NONE)
            printf(", %s %u", op.op == CLO_MODEL_TANH || op.op == CLO_MODEL_LOOKUP ? "table" : "layer", op.argument);
        printf("%s\n", stages[op.on]);
    }
}

int model_print(const clo_model *model)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;
    size_t bytes;
    clo_status status = clo_model_inspect(model, &info);

    if (status != CLO_OK)
        return complain_status(NULL, status);
    clo_model_data(model, &bytes);
    printf("model     %s, %s, version %u.%u\n", info.name, kinds[info.kind], info.major, info.minor);
    printf("file      %zu bytes, CRC-32C %08x, feature list %u, %u golden vectors\n", bytes, info.crc, info.feature_set,
           info.golden);
    printf("weights   %llu; multiplications for each", (unsigned long long)info.weights);
    for (int i = 0; i < 4; i++)
        printf("%s %s %llu", i == 0 ? "" : ",", domains[i], (unsigned long long)info.multiplications[i]);
    printf("\nscores    of stages: value %u", info.score);
    if (info.limit != CLO_MODEL_NONE)
        printf("; of limits: value %u", info.limit);
    putchar('\n');
    print_features(model, info.features);
    print_values(model, info.values);
    print_layers(model, info.layers);
    print_ops(model, info.ops);
    return report_flush(EXIT_GOOD);
}

/* Entry `i` of one of the model's tables, within an object that is open. False: there is none. */
typedef bool (*json_entry_fn)(json *out, const clo_model *model, uint32_t i);

static void json_table(json *out, const char *name, const clo_model *model, uint32_t count, json_entry_fn entry)
{
    json_open(out, name, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(out, NULL, '{');
        bool is_there = entry(out, model, i);
        json_close(out, '}');
        if (!is_there)
            break;
    }
    json_close(out, ']');
}

static bool json_feature(json *out, const clo_model *model, uint32_t i)
{
    clo_model_feature feature;

    if (lacks(clo_model_feature_at(model, i, &feature)))
        return false;
    json_text(out, "name", feature.name);
    json_integer(out, "mult", feature.mult);
    json_count(out, "shift", feature.shift);
    json_integer(out, "lo", feature.lo);
    json_integer(out, "hi", feature.hi);
    return true;
}

static bool json_value(json *out, const clo_model *model, uint32_t i)
{
    clo_model_value value;

    if (lacks(clo_model_value_at(model, i, &value)))
        return false;
    json_text(out, "domain", domains[value.domain]);
    json_text(out, "number", numbers[value.number]);
    json_count(out, "width", value.width);
    json_integer(out, "exponent", value.exponent);
    json_bool(out, "input", value.is_input != 0);
    return true;
}

static bool json_layer(json *out, const clo_model *model, uint32_t i)
{
    clo_model_layer layer;

    if (lacks(clo_model_layer_at(model, i, &layer)))
        return false;
    json_count(out, "inputs", layer.inputs);
    json_count(out, "outputs", layer.outputs);
    json_text(out, "number", numbers[layer.number]);
    json_integer(out, "leaky", layer.leaky);
    return true;
}

static bool json_operation(json *out, const clo_model *model, uint32_t i)
{
    clo_model_op op;

    if (lacks(clo_model_op_at(model, i, &op)))
        return false;
    json_text(out, "op", operations[op.op]);
    json_open(out, "in", '[');
    for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op.in[k] != CLO_MODEL_NONE; k++)
        json_count(out, NULL, op.in[k]);
    json_close(out, ']');
    if (op.out != CLO_MODEL_NONE)
        json_count(out, "out", op.out);
    if (op.argument != CLO_MODEL_NONE)
        json_count(out, "argument", op.argument);
    return true;
}

int model_print_json(const clo_model *model)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;
    json out;
    size_t bytes;
    clo_status status = clo_model_inspect(model, &info);

    if (status != CLO_OK)
        return complain_status(NULL, status);
    clo_model_data(model, &bytes);
    json_begin(&out);
    json_text(&out, "name", info.name);
    json_text(&out, "kind", kinds[info.kind]);
    json_count(&out, "major", info.major);
    json_count(&out, "minor", info.minor);
    json_count(&out, "bytes", bytes);
    json_count(&out, "crc32c", info.crc);
    json_count(&out, "feature_set", info.feature_set);
    json_count(&out, "golden", info.golden);
    json_count(&out, "weights", info.weights);
    json_count(&out, "score", info.score);
    if (info.limit != CLO_MODEL_NONE)
        json_count(&out, "limit", info.limit);
    json_table(&out, "features", model, info.features, json_feature);
    json_table(&out, "values", model, info.values, json_value);
    json_table(&out, "layers", model, info.layers, json_layer);
    json_table(&out, "operations", model, info.ops, json_operation);
    return json_print(&out);
}
