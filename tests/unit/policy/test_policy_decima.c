/* The policy decima: its argument, what it does at its bounds, and that a watcher sees what decides. */
#define _POSIX_C_SOURCE 200809L
#include "policy_scene.h"

#include "base/numbers/crc.h"
#include "learn/format/format.h"

#include <clotho/learned.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Jobs of three stages (a fork) that overlap in time. */
static void make_jobs(policy_scene *s, uint32_t jobs)
{
    scene_open(s, 4);
    for (uint32_t j = 0; j < jobs; j++) {
        clo_task tasks[3] = {{.work_ns = 100 + 7 * (int64_t)j, .instances = 1 + j % 5},
                             {.work_ns = 50, .instances = 3},
                             {.work_ns = 300 - 5 * (int64_t)j, .instances = 2}};
        clo_graph *graph = scene_graph(s, tasks, 3);
        ok(clo_graph_add_edge(graph, 0, 1, 0));
        ok(clo_graph_add_edge(graph, 0, 2, 0));
        scene_add(s, graph, (clo_workload_job){.arrival_ns = 40 * (int64_t)j});
    }
    ok(clo_platform_create(&s->desc, &s->platform));
}

static clo_status try_with(policy_scene *s, const clo_learned_argument *argument, uint32_t steps_max)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;

    s->result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    config.policy = clo_policy_find("decima");
    config.argument = argument;
    config.outcomes = s->outcomes;
    config.steps_max = steps_max;
    return clo_stream_simulate(s->workload, s->platform, &config, &s->result);
}

/* All jobs end, and no choice is refused. */
static uint64_t run_with(policy_scene *s, const clo_learned_argument *argument, uint32_t steps_max)
{
    uint64_t sum = 0;

    ok(try_with(s, argument, steps_max));
    assert_int_equal(s->result.refused, 0);
    assert_int_equal(s->result.jobs_ended, s->jobs);
    for (uint32_t j = 0; j < s->jobs; j++)
        sum = sum * 31 + (uint64_t)s->outcomes[j].finish_ns;
    return sum;
}

static clo_model *open_builtin(void)
{
    size_t bytes;
    const void *data = clo_model_builtin("decima", &bytes);
    clo_model *model;

    assert_non_null(data);
    ok(clo_model_open("decima", data, bytes, &model));
    return model;
}

static void the_built_in_model_is_valid_and_the_only_one_of_its_name(void **state)
{
    clo_model *model = open_builtin();
    clo_model_info info = CLO_MODEL_INFO_INIT;
    size_t bytes = 1;

    (void)state;
    ok(clo_model_verify(model));
    ok(clo_model_inspect(model, &info));
    assert_int_equal(info.kind, CLO_MODEL_DECIMA);
    assert_int_equal(info.golden, 4);
    clo_model_destroy(model);
    assert_null(clo_model_builtin("decimal", &bytes));
    assert_int_equal(bytes, 0);
    assert_null(clo_model_builtin(NULL, NULL));
}

static void a_file_a_model_and_no_argument_decide_alike(void **state)
{
    const clo_policy *policy = clo_policy_find("decima");
    clo_learned_argument by_model = CLO_LEARNED_ARGUMENT_INIT, by_file;
    clo_model *model = open_builtin();
    size_t bytes;
    const void *data = clo_model_data(model, &bytes);
    char path[] = "/tmp/clotho-decima-XXXXXX", text[64];
    policy_scene s;

    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    assert_int_equal(close(fd), 0);
    make_jobs(&s, 12);
    uint64_t plain = run_with(&s, NULL, 0);
    by_model.model = model;
    assert_true(plain == run_with(&s, &by_model, 0));
    assert_true(policy->argument_bytes == sizeof by_file);
    ok(policy->parse(path, &by_file));
    assert_true(plain == run_with(&s, &by_file, 0));
    policy->release(&by_file);
    snprintf(text, sizeof text, "%s,seed=7,sampled", path);
    ok(policy->parse(text, &by_file));
    by_model.is_sampled = 1;
    by_model.seed = 7;
    assert_true(run_with(&s, &by_model, 0) == run_with(&s, &by_file, 0));
    policy->release(&by_file);
    assert_int_equal(unlink(path), 0);
    clo_model_destroy(model);
    scene_close(&s);
}

static void an_argument_that_says_nothing_sensible_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "is none of its parts"},           {"sampled,", "is none of its parts"},
        {"sampled,m.model", "is none of its"},  {"seed=", "holds no whole number"},
        {"seed=-1", "holds no whole number"},   {"seed=18446744073709551616", "holds no whole number"},
        {"stages=65537", "holds no whole num"}, {"jobs=1x", "holds no whole number"},
        {"sampled,seed=1,,jobs=2", "is none"},
    };
    const clo_policy *policy = clo_policy_find("decima");
    clo_learned_argument argument;
    policy_scene s;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        fails(CLO_ERR_ARGUMENT, bad[i].says, policy->parse(bad[i].text, &argument));
    fails(CLO_ERR_IO, "no/such.model", policy->parse("no/such.model,sampled", &argument));
    ok(policy->parse("seed=18446744073709551615,jobs=65536,stages=1,sampled", &argument));
    assert_true(argument.seed == UINT64_MAX && argument.jobs_max == 65536 && argument.stages_max == 1);
    assert_int_equal(argument.is_sampled, 1);
    policy->release(&argument);

    make_jobs(&s, 2);
    argument = (clo_learned_argument)CLO_LEARNED_ARGUMENT_INIT;
    argument.stages_max = CLO_LEARNED_ROWS_MAX + 1;
    fails(CLO_ERR_ARGUMENT, "stages_max is 65537", try_with(&s, &argument, 0));
    argument.size = 4;
    assert_int_equal(try_with(&s, &argument, 0), CLO_ERR_ARGUMENT);
    scene_close(&s);
}

static void a_model_of_another_kind_is_refused(void **state)
{
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    clo_model *model;
    policy_scene s;

    (void)state;
    ok(clo_model_load(CLO_SOURCE "/tests/fuzz/corpus/model/tiny.model", &model));
    argument.model = model;
    make_jobs(&s, 2);
    fails(CLO_ERR_ARGUMENT, "is not of the kind Decima", try_with(&s, &argument, 0));
    scene_close(&s);
    clo_model_destroy(model);
}

/* The built-in model with another exponent for its scores of stages, or of limits. */
static clo_model *open_with_exponent(bool of_limits, int16_t exponent)
{
    size_t bytes, crc_at = offsetof(clo_format_header, crc);
    const void *data = clo_model_builtin("decima", &bytes);
    _Alignas(16) static unsigned char copy[1 << 16];
    clo_format_header *header = (void *)copy;
    clo_model *model;

    assert_true(bytes <= sizeof copy);
    memcpy(copy, data, bytes);
    clo_format_value *values = (void *)(copy + header->parts[CLO_PART_VALUES].offset);
    values[of_limits ? header->limit : header->score].exponent = exponent;
    header->crc = clo_crc32c(clo_crc32c(0, copy, crc_at), copy + crc_at + 4, bytes - crc_at - 4);
    ok(clo_model_open("other exponent", copy, bytes, &model));
    return model;
}

static void scores_of_a_scale_that_cannot_be_drawn_from_are_refused_where_it_is_sampled(void **state)
{
    static const int16_t exponents[] = {1, 2, 32, 33};
    policy_scene s;

    (void)state;
    make_jobs(&s, 2);
    for (uint32_t i = 0; i < 8; i++) {
        clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
        int16_t exponent = exponents[i % 4];
        clo_model *model = open_with_exponent(i >= 4, exponent);
        argument.model = model;
        ok(try_with(&s, &argument, 0));
        argument.is_sampled = 1;
        if (exponent >= 2 && exponent <= 32)
            ok(try_with(&s, &argument, 0));
        else
            fails(CLO_ERR_ARGUMENT, "can be drawn from with 2 to 32 only", try_with(&s, &argument, 0));
        clo_model_destroy(model);
    }
    scene_close(&s);
}

static void draws_depend_on_the_seed_alone(void **state)
{
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    uint32_t different = 0;
    policy_scene s;

    (void)state;
    make_jobs(&s, 16);
    uint64_t best = run_with(&s, NULL, 0);
    argument.is_sampled = 1;
    for (argument.seed = 0; argument.seed < 8; argument.seed++) {
        uint64_t first = run_with(&s, &argument, 0);
        assert_true(first == run_with(&s, &argument, 0));
        different += first != best;
    }
    assert_true(different >= 4);
    scene_close(&s);
}

/* A job that never fits; jobs that fit one at a time; more executors than limits that are looked at. */
static void jobs_beyond_the_sizes_are_served_too(void **state)
{
    static const uint32_t stages[] = {1, 2, 3, 4, 7}, jobs[] = {1, 2, 16};
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    policy_scene s;

    (void)state;
    make_jobs(&s, 16);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++) {
            argument.stages_max = stages[i];
            argument.jobs_max = jobs[k];
            run_with(&s, &argument, 0);
            assert_int_equal(s.result.fallbacks, 0);
            assert_true(s.result.partial > 0); /* 16 jobs of several stages never fit */
        }
    scene_close(&s);
}

static void beyond_the_bound_of_a_decision_the_rule_decides(void **state)
{
    policy_scene s;

    (void)state;
    make_jobs(&s, 16);
    run_with(&s, NULL, 1 << 20);
    assert_int_equal(s.result.fallbacks, 0);
    assert_int_equal(s.result.partial, 0);
    assert_in_range(s.result.decision_steps, 1000, 1 << 20);
    for (uint32_t steps = 1; steps < 2000; steps = 3 * steps + 1) {
        run_with(&s, NULL, steps);
        assert_true(s.result.fallbacks > 0);
        assert_in_range(s.result.decision_steps, 1, steps);
    }
    scene_close(&s);
}

typedef struct seen {
    const clo_model *model;
    /* Numbers of a stage that are its work: list 4 has four, list 1 has one. */
    uint32_t work_parts;
    uint32_t decisions, choices;
} seen;

/* What the model's rule makes of a feature's number. */
static int64_t scaled(const clo_model *model, uint32_t feature, int64_t raw)
{
    clo_model_feature as;

    ok(clo_model_feature_at(model, feature, &as));
    int64_t value = (raw * as.mult + (INT64_C(1) << as.shift >> 1)) >> as.shift;
    return value < as.lo ? as.lo : value > as.hi ? as.hi : value;
}

/* All numbers of stages but the parts of work. */
static void check_stages(const seen *all, const clo_learned_decision *d)
{
    for (uint32_t s = 0; s < d->input.stages; s++)
        for (uint32_t i = 0; i < 4 + (all->work_parts == 1); i++)
            assert_int_equal(d->input.inputs[(4 + all->work_parts) * (size_t)s + i],
                             scaled(all->model, i, d->stage_raw[5 * (size_t)s + i]));
}

/* The four parts of work add up to it, rounded at four times the model's scale (docs/MODELS.md, list 4). */
static void check_work(const clo_model *model, const clo_learned_decision *d)
{
    clo_model_feature work;

    ok(clo_model_feature_at(model, 4, &work));
    for (uint32_t s = 0; s < d->input.stages; s++) {
        const int16_t *parts = d->input.inputs + 8 * (size_t)s + 4;
        int64_t whole =
            (d->stage_raw[5 * (size_t)s + 4] * work.mult * 4 + (INT64_C(1) << (work.shift - 1))) >> work.shift;
        assert_int_equal(parts[0] + parts[1] + parts[2] + parts[3], whole);
    }
}

/* The plain way of a model gives the same scores, and the best one was chosen. */
static void check_decision(void *context, const clo_learned_decision *d)
{
    seen *all = context;
    int16_t inputs[2048];
    uint32_t job_of_limit[64];
    int32_t scores[64], limits[64];
    clo_model_case input = d->input;
    uint32_t numbers = (4 + all->work_parts) * input.stages + 3 * input.jobs, row = d->candidates[d->candidate];

    assert_true(input.stages <= 64 && input.limits <= 64 && d->limit < input.limits);
    memcpy(inputs, input.inputs, numbers * sizeof *inputs);
    memcpy(inputs + numbers, d->limit_inputs, input.limits * sizeof *inputs);
    for (uint32_t k = 0; k < input.limits; k++)
        job_of_limit[k] = input.job_of_stage[row];
    check_stages(all, d);
    if (all->work_parts == 4)
        check_work(all->model, d);
    input.inputs = inputs;
    input.job_of_limit = job_of_limit;
    ok(clo_model_scores(all->model, &input, scores, limits));
    for (uint32_t i = 0; i < d->candidates_count; i++) {
        assert_int_equal(d->scores[i], scores[d->candidates[i]]);
        assert_true(d->scores[i] <= d->scores[d->candidate]);
    }
    for (uint32_t k = 0; k < input.limits; k++) {
        assert_int_equal(d->limit_scores[k], limits[k]);
        assert_true(d->limit_scores[k] <= d->limit_scores[d->limit]);
    }
    all->decisions++;
    all->choices += d->candidates_count > 1;
}

/* What the model itself would take: the best stage, then the best limit of its job. */
static void choose_as_model(void *context, const clo_learned_decision *d, uint32_t *candidate, uint32_t *limit)
{
    const seen *all = context;
    clo_learned_decision with = *d;
    int16_t inputs[2048];
    uint32_t job_of_limit[64];
    int32_t scores[64], limits[64];
    uint32_t numbers = (4 + all->work_parts) * d->input.stages + 3 * d->input.jobs;

    assert_int_equal(d->input.limits, 0);
    memcpy(inputs, d->input.inputs, numbers * sizeof *inputs);
    with.input.inputs = inputs;
    with.input.job_of_limit = job_of_limit;
    ok(clo_model_scores(all->model, &with.input, scores, NULL));
    *candidate = 0;
    for (uint32_t i = 1; i < d->candidates_count; i++)
        *candidate = scores[d->candidates[i]] > scores[d->candidates[*candidate]] ? i : *candidate;
    uint32_t job = d->input.job_of_stage[d->candidates[*candidate]];
    with.input.limits = (uint32_t)d->job_raw[3 * job];
    memcpy(inputs + numbers, d->limit_inputs, with.input.limits * sizeof *inputs);
    for (uint32_t k = 0; k < with.input.limits; k++)
        job_of_limit[k] = job;
    ok(clo_model_scores(all->model, &with.input, scores, limits));
    *limit = 0;
    for (uint32_t k = 1; k < with.input.limits; k++)
        *limit = limits[k] > limits[*limit] ? k : *limit;
}

/* A number that is too large counts as the largest; the watcher sees what became of it. */
static void choose_too_much(void *context, const clo_learned_decision *d, uint32_t *candidate, uint32_t *limit)
{
    (void)context;
    (void)d;
    *candidate = *limit = UINT32_MAX;
}

static void see_the_last(void *context, const clo_learned_decision *d)
{
    assert_int_equal(d->candidate, d->candidates_count - 1);
    assert_int_equal(d->limit, d->input.limits - 1);
    ++*(uint32_t *)context;
}

static void somebody_else_chooses(void **state)
{
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    clo_model *model = open_builtin();
    seen all = {.model = model, .work_parts = 4};
    uint32_t decisions = 0;
    policy_scene s;

    (void)state;
    make_jobs(&s, 12);
    argument.choose = choose_as_model;
    argument.choose_context = &all;
    uint64_t chosen = run_with(&s, &argument, 0);
    assert_true(chosen == run_with(&s, NULL, 0));
    argument.choose = choose_too_much;
    argument.watch = see_the_last;
    argument.watch_context = &decisions;
    (void)run_with(&s, &argument, 0);
    assert_true(decisions >= 12);
    scene_close(&s);
    clo_model_destroy(model);
}

/* "own" is the built-in model that was trained here, on its own and with the other parts. */
static void own_is_the_model_that_was_trained_here(void **state)
{
    const clo_policy *policy = clo_policy_find("decima");
    clo_learned_argument by_name, by_model = CLO_LEARNED_ARGUMENT_INIT;
    clo_model *model = NULL;
    size_t bytes = 0;
    const void *data = clo_model_builtin("decima-own", &bytes);
    policy_scene s;

    (void)state;
    make_jobs(&s, 12);
    ok(clo_model_open("own", data, bytes, &model));
    by_model.model = model;
    uint64_t own = run_with(&s, &by_model, 0);
    ok(policy->parse("own", &by_name));
    assert_true(own == run_with(&s, &by_name, 0));
    assert_true(own != run_with(&s, NULL, 0));
    policy->release(&by_name);
    ok(policy->parse("own,sampled,seed=3", &by_name));
    assert_true(by_name.is_sampled == 1 && by_name.seed == 3 && by_name.model != NULL);
    policy->release(&by_name);
    fails(CLO_ERR_ARGUMENT, "none of its parts", policy->parse("sampled,own", &by_name));
    scene_close(&s);
    clo_model_destroy(model);
}

static void a_watcher_sees_what_decides(void **state)
{
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    clo_model *model = open_builtin();
    seen all = {.model = model, .work_parts = 4};
    policy_scene s;

    (void)state;
    argument.watch = check_decision;
    argument.watch_context = &all;
    make_jobs(&s, 12);
    uint64_t watched = run_with(&s, &argument, 0);
    assert_true(watched == run_with(&s, NULL, 0));
    assert_true(all.decisions >= 12 && all.choices > 0);
    scene_close(&s);
    clo_model_destroy(model);
}

/* What the built-in model is made of, for others like it. */
typedef struct parts {
    clo_model_feature features[12];
    clo_model_value values[CLO_MODEL_VALUES_MAX];
    clo_model_layer layers[CLO_MODEL_LAYERS_MAX];
    clo_model_op ops[CLO_MODEL_OPS_MAX];
    int8_t weights[CLO_MODEL_LAYERS_MAX][64 * 64];
    clo_model_table table;
    clo_model_desc desc;
} parts;

/* Packed weights to rows (docs/MODELS.md), the first `inputs` numbers of each. */
static void unpack(const clo_model_layer *layer, uint32_t inputs, int8_t *rows)
{
    const uint32_t quads = (layer->inputs + 3) / 4;

    for (uint32_t n = 0; n < layer->outputs; n++)
        for (uint32_t k = 0; k < inputs; k++)
            *rows++ = layer->weights[(((size_t)(n / 16) * quads + k / 4) * 16 + n % 16) * 4 + k % 4];
}

/* The layers of stages' features take the first 4 + `work_parts` of them. */
static void take_parts(const clo_model *model, uint32_t work_parts, parts *p)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;

    ok(clo_model_inspect(model, &info));
    assert_int_equal(info.features, 12);
    for (uint32_t i = 0, at = 0; i < info.features; i++)
        if (i < 4 + work_parts || i >= 8)
            ok(clo_model_feature_at(model, i, &p->features[at++]));
    for (uint32_t i = 0; i < info.values; i++)
        ok(clo_model_value_at(model, i, &p->values[i]));
    assert_int_equal(p->values[0].width, 8);
    p->values[0].width = 4 + work_parts;
    for (uint32_t i = 0; i < info.ops; i++)
        ok(clo_model_op_at(model, i, &p->ops[i]));
    for (uint32_t i = 0; i < info.layers; i++) {
        ok(clo_model_layer_at(model, i, &p->layers[i]));
        uint32_t inputs = p->layers[i].inputs == 8 ? 4 + work_parts : p->layers[i].inputs;
        assert_true(inputs <= 64 && p->layers[i].outputs <= 64);
        unpack(&p->layers[i], inputs, p->weights[i]);
        p->layers[i].inputs = inputs;
        p->layers[i].weights = inputs > 0 ? p->weights[i] : NULL;
    }
    assert_int_equal(info.tables, 1);
    const unsigned char *bytes = clo_model_data(model, NULL);
    const clo_format_header *header = (const void *)bytes;
    const clo_format_table *table = (const void *)(bytes + header->parts[CLO_PART_TABLES].offset);
    p->table = (clo_model_table){CLO_MODEL_S16, bytes + table->offset};
    p->desc = (clo_model_desc){.size = sizeof p->desc,
                               .name = "like the built-in one",
                               .kind = CLO_MODEL_DECIMA,
                               .feature_set = work_parts == 1 ? 1 : 4,
                               .features = p->features,
                               .features_count = 8 + work_parts,
                               .values = p->values,
                               .values_count = info.values,
                               .layers = p->layers,
                               .layers_count = info.layers,
                               .tables = &p->table,
                               .tables_count = 1,
                               .ops = p->ops,
                               .ops_count = info.ops,
                               .score = info.score,
                               .limit = info.limit};
}

static void a_model_with_work_as_one_number_decides_too(void **state)
{
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    static parts p;
    clo_model *builtin = open_builtin(), *model;
    seen all = {.work_parts = 1};
    policy_scene s;
    size_t bytes;
    void *data;

    (void)state;
    take_parts(builtin, 1, &p);
    ok(clo_model_build(&p.desc, &data, &bytes));
    ok(clo_model_open("list 1", data, bytes, &model));
    argument.model = all.model = model;
    argument.watch = check_decision;
    argument.watch_context = &all;
    make_jobs(&s, 12);
    uint64_t watched = run_with(&s, &argument, 0);
    argument.watch = NULL;
    assert_true(watched == run_with(&s, &argument, 0));
    assert_true(all.decisions >= 12 && all.choices > 0);
    argument.is_sampled = 1;
    run_with(&s, &argument, 0);
    scene_close(&s);
    clo_model_destroy(model);
    free(data);
    clo_model_destroy(builtin);
}

static void parts_of_work_with_scales_of_their_own_are_refused(void **state)
{
    clo_model *builtin = open_builtin();
    clo_model_feature work;
    static parts p;
    size_t bytes;
    void *data;

    (void)state;
    take_parts(builtin, 4, &p);
    ok(clo_model_build(&p.desc, &data, &bytes));
    free(data);
    work = p.features[7];
    for (int what = 0; what < 4; what++) {
        p.features[7] = work;
        p.features[7].mult += what == 0;
        p.features[7].shift += what == 1;
        p.features[7].lo = (int16_t)(work.lo + (what == 2));
        p.features[7].hi = (int16_t)(work.hi - (what == 3));
        fails(CLO_ERR_UNSUPPORTED, "the parts of 'work' have not one scale", clo_model_build(&p.desc, &data, &bytes));
    }
    for (int i = 4; i < 8; i++)
        p.features[i].mult = 1, p.features[i].shift = 2;
    p.features[7].lo = work.lo;
    p.features[7].hi = work.hi;
    fails(CLO_ERR_UNSUPPORTED, "with a shift of 3 or more", clo_model_build(&p.desc, &data, &bytes));
    clo_model_destroy(builtin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_model_is_valid_and_the_only_one_of_its_name),
        cmocka_unit_test(a_file_a_model_and_no_argument_decide_alike),
        cmocka_unit_test(an_argument_that_says_nothing_sensible_is_refused),
        cmocka_unit_test(a_model_of_another_kind_is_refused),
        cmocka_unit_test(scores_of_a_scale_that_cannot_be_drawn_from_are_refused_where_it_is_sampled),
        cmocka_unit_test(draws_depend_on_the_seed_alone),
        cmocka_unit_test(jobs_beyond_the_sizes_are_served_too),
        cmocka_unit_test(beyond_the_bound_of_a_decision_the_rule_decides),
        cmocka_unit_test(somebody_else_chooses),
        cmocka_unit_test(own_is_the_model_that_was_trained_here),
        cmocka_unit_test(a_watcher_sees_what_decides),
        cmocka_unit_test(a_model_with_work_as_one_number_decides_too),
        cmocka_unit_test(parts_of_work_with_scales_of_their_own_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
