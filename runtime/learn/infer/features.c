/* features.c - a model is only of use with the very features that it was trained on, in their order. Decima: as
 * spark-sched-sim computes them (its DecimaObsWrapper). */
#include "learn/infer/features.h"

#include "base/status.h"
#include "learn/infer/edges_features.h"
#include "learn/infer/lachesis_features.h"

#include <string.h>

typedef struct wanted {
    const char *name;
    uint8_t domain;
} wanted;

static const wanted decima[] = {
    {"commit-cap", CLO_MODEL_STAGE},      {"own-job", CLO_MODEL_STAGE}, {"executors", CLO_MODEL_STAGE},
    {"remaining-tasks", CLO_MODEL_STAGE}, {"work", CLO_MODEL_STAGE},    {"commit-cap", CLO_MODEL_JOB},
    {"own-job", CLO_MODEL_JOB},           {"executors", CLO_MODEL_JOB}, {"limit", CLO_MODEL_LIMIT},
};

/* As list 1, with work as four numbers that add up to it (clo_feature_part). */
static const wanted decima_fine[] = {
    {"commit-cap", CLO_MODEL_STAGE}, {"own-job", CLO_MODEL_STAGE},
    {"executors", CLO_MODEL_STAGE},  {"remaining-tasks", CLO_MODEL_STAGE},
    {"work", CLO_MODEL_STAGE},       {"work", CLO_MODEL_STAGE},
    {"work", CLO_MODEL_STAGE},       {"work", CLO_MODEL_STAGE},
    {"commit-cap", CLO_MODEL_JOB},   {"own-job", CLO_MODEL_JOB},
    {"executors", CLO_MODEL_JOB},    {"limit", CLO_MODEL_LIMIT},
};

/* LACHESIS: as lachesis_features.h counts them. */
static const wanted lachesis[] = {
    {"time", CLO_MODEL_STAGE},        {"input", CLO_MODEL_STAGE},     {"output", CLO_MODEL_STAGE},
    {"rank-up", CLO_MODEL_STAGE},     {"rank-down", CLO_MODEL_STAGE}, {"children", CLO_MODEL_STAGE},
    {"instances", CLO_MODEL_STAGE},   {"tasks-left", CLO_MODEL_JOB},  {"work-left", CLO_MODEL_JOB},
    {"work-left-log", CLO_MODEL_JOB}, {"scale", CLO_MODEL_JOB},       {"executors", CLO_MODEL_JOB},
    {"jobs", CLO_MODEL_GLOBAL},       {"free", CLO_MODEL_GLOBAL},
};

/* Edge adding: as edges_features.h counts them. */
static const wanted edges[] = {
    {"time", CLO_MODEL_STAGE},   {"tail", CLO_MODEL_STAGE},   {"demand", CLO_MODEL_STAGE},
    {"wait", CLO_MODEL_STAGE},   {"slack", CLO_MODEL_STAGE},  {"position", CLO_MODEL_STAGE},
    {"second", CLO_MODEL_STAGE}, {"before", CLO_MODEL_STAGE}, {"overlap", CLO_MODEL_STAGE},
    {"spare", CLO_MODEL_STAGE},  {"excess", CLO_MODEL_STAGE}, {"shorter", CLO_MODEL_STAGE},
};

/* The policy "residual": as residual_features.h counts them. */
static const wanted residual[] = {
    {"work", CLO_MODEL_STAGE},      {"path", CLO_MODEL_STAGE},       {"executors", CLO_MODEL_STAGE},
    {"startable", CLO_MODEL_STAGE}, {"unfinished", CLO_MODEL_STAGE}, {"time", CLO_MODEL_STAGE},
    {"drain", CLO_MODEL_STAGE},     {"spare", CLO_MODEL_STAGE},      {"jobs", CLO_MODEL_STAGE},
    {"relative", CLO_MODEL_STAGE},  {"load", CLO_MODEL_STAGE},       {"ready", CLO_MODEL_STAGE},
    {"idle", CLO_MODEL_STAGE},      {"stays", CLO_MODEL_STAGE},      {"waits", CLO_MODEL_STAGE},
    {"work", CLO_MODEL_LIMIT},      {"path", CLO_MODEL_LIMIT},       {"executors", CLO_MODEL_LIMIT},
    {"startable", CLO_MODEL_LIMIT}, {"unfinished", CLO_MODEL_LIMIT}, {"time", CLO_MODEL_LIMIT},
    {"drain", CLO_MODEL_LIMIT},     {"spare", CLO_MODEL_LIMIT},      {"jobs", CLO_MODEL_LIMIT},
    {"relative", CLO_MODEL_LIMIT},  {"load", CLO_MODEL_LIMIT},       {"ready", CLO_MODEL_LIMIT},
    {"idle", CLO_MODEL_LIMIT},
};

/* The policy "easy-residual": as easy_features.h counts them. */
static const wanted easy[] = {
    {"work", CLO_MODEL_STAGE},       {"relative", CLO_MODEL_STAGE}, {"area", CLO_MODEL_STAGE},
    {"time", CLO_MODEL_STAGE},       {"behind", CLO_MODEL_STAGE},   {"startable", CLO_MODEL_STAGE},
    {"fit", CLO_MODEL_STAGE},        {"least", CLO_MODEL_STAGE},    {"free", CLO_MODEL_STAGE},
    {"rest", CLO_MODEL_STAGE},       {"demand", CLO_MODEL_STAGE},   {"jobs", CLO_MODEL_STAGE},
    {"candidates", CLO_MODEL_STAGE}, {"wait", CLO_MODEL_STAGE},     {"first", CLO_MODEL_STAGE},
    {"delays", CLO_MODEL_STAGE},     {"place", CLO_MODEL_STAGE},    {"next", CLO_MODEL_STAGE},
    {"work", CLO_MODEL_LIMIT},       {"relative", CLO_MODEL_LIMIT}, {"area", CLO_MODEL_LIMIT},
    {"time", CLO_MODEL_LIMIT},       {"behind", CLO_MODEL_LIMIT},   {"startable", CLO_MODEL_LIMIT},
    {"fit", CLO_MODEL_LIMIT},        {"least", CLO_MODEL_LIMIT},    {"free", CLO_MODEL_LIMIT},
    {"rest", CLO_MODEL_LIMIT},       {"demand", CLO_MODEL_LIMIT},   {"jobs", CLO_MODEL_LIMIT},
    {"candidates", CLO_MODEL_LIMIT}, {"wait", CLO_MODEL_LIMIT},     {"first", CLO_MODEL_LIMIT},
    {"delays", CLO_MODEL_LIMIT},     {"place", CLO_MODEL_LIMIT},    {"next", CLO_MODEL_LIMIT},
};

/* Index: the number of the list. A list without entries takes any features. */
static const struct {
    const wanted *list;
    uint32_t count;
} sets[] = {{NULL, 0},
            {decima, sizeof decima / sizeof decima[0]},
            {lachesis, sizeof lachesis / sizeof lachesis[0]},
            {edges, sizeof edges / sizeof edges[0]},
            {decima_fine, sizeof decima_fine / sizeof decima_fine[0]},
            {residual, sizeof residual / sizeof residual[0]},
            {easy, sizeof easy / sizeof easy[0]}};

static bool is_same_scale(const clo_format_feature *a, const clo_format_feature *b)
{
    return a->mult == b->mult && a->shift == b->shift && a->lo == b->lo && a->hi == b->hi;
}

clo_status clo_features_check(const clo_model *model)
{
    uint32_t set = model->header->feature_set, at = 0;

    if (set >= sizeof sets / sizeof sets[0])
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "wants list %u of features, which this library does not have; use a newer one", set);
    if (sets[set].count == 0)
        return CLO_OK;
    if (sets[set].count != model->counts[CLO_PART_FEATURES])
        return clo_fail(CLO_ERR_UNSUPPORTED, "has %u features, list %u of this library has %u; train it for that list",
                        model->counts[CLO_PART_FEATURES], set, sets[set].count);
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        for (uint32_t i = 0; model->values[v].is_input && i < model->values[v].width; i++, at++)
            if (strcmp(model->features[at].name, sets[set].list[at].name) != 0 ||
                model->values[v].domain != sets[set].list[at].domain)
                return clo_fail(CLO_ERR_UNSUPPORTED,
                                "feature %u is '%s', list %u of this library has '%s'; train it for that list", at,
                                model->features[at].name, set, sets[set].list[at].name);
    for (uint32_t i = 4; set == CLO_FEATURES_DECIMA_FINE && i < 4 + CLO_WORK_PARTS; i++)
        if (model->features[i].shift <= CLO_WORK_PARTS_LOG2 || !is_same_scale(&model->features[i], &model->features[4]))
            return clo_fail(CLO_ERR_UNSUPPORTED, "the parts of 'work' have not one scale, with a shift of 3 or more");
    return CLO_OK;
}
