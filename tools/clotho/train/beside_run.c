/* beside_run.c - see beside_run.h: samples and what they are worth, generations, checkpoints. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/train/beside_run.h"

#include "clotho/common/clock.h"
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"
#include "train/trainer/checkpoint_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOO_SHORT "the streams are too short to train on; write more --jobs"

/* A model that a sample makes, and the argument of the policy with it. */
typedef struct sample {
    void *bytes;
    clo_residual_argument argument;
} sample;

static void close_sample(sample *s)
{
    clo_model_destroy((clo_model *)s->argument.model);
    free(s->bytes);
}

static clo_status open_sample(const beside_training *t, const double *numbers, sample *out)
{
    static const int16_t zeros[RESIDUAL_FEATURES_MAX];
    const int16_t *any = t->kind->is_ranged ? t->range.least : zeros; /* golden, while no rows are known */
    clo_model *model = NULL;
    size_t bytes = 0;

    *out = (sample){.argument = CLO_RESIDUAL_ARGUMENT_INIT};
    clo_status status = residual_model(t->kind->shape, numbers, t->kind->is_ranged ? &t->range : NULL, t->o.name,
                                       t->rows_count >= BESIDE_GOLDEN ? t->rows : any,
                                       t->rows_count >= BESIDE_GOLDEN ? BESIDE_GOLDEN : 1, &out->bytes, &bytes);
    if (status == CLO_OK)
        status = clo_model_open(t->o.name, out->bytes, bytes, &model);
    out->argument.model = model;
    snprintf(out->argument.parametric, sizeof out->argument.parametric, "%s", t->o.numbers);
    return status;
}

/* The numbers of the network with those that move put in. */
void beside_put_moved(const beside_training *t, const double *moved, double *out)
{
    memcpy(out, t->numbers, sizeof t->numbers);
    for (uint32_t n = 0; n < t->es.numbers && !t->o.is_whitened; n++)
        out[t->moved[n]] = moved[n];
    for (uint32_t n = 0; n < t->es.numbers && t->o.is_whitened; n++)
        for (uint32_t i = 0; i < t->last_count; i++)
            out[t->moved[i]] += moved[n] * t->directions.of[n][i];
}

static uint64_t seed_at(const beside_training *t, size_t at)
{
    return at < t->o.seeds.count ? t->o.seeds.first + at : t->o.validation.first + at - t->o.seeds.count;
}

/* Fills base_ns at so many places that are 0 there. */
static int measure_base(beside_training *t, const size_t *at, uint32_t count)
{
    train_stream *list = calloc(count, sizeof *list);
    const clo_policy *rule = clo_policy_find(t->kind->rule);
    uint32_t used = 0;

    if (list == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        if (t->base_ns[at[i]] <= 0) {
            t->base_ns[at[i]] = 1;
            list[used++] = (train_stream){.policy = rule, .argument = t->base_argument, .seed = seed_at(t, at[i])};
        }
    int code = train_streams_run(&t->streams, NULL, list, used);
    used = 0;
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++)
        if (t->base_ns[at[i]] == 1)
            t->base_ns[at[i]] = fmax(2, list[used++].reached);
    free(list);
    return code;
}

/* scores[samples]: mean of (completion time / that of the rule) of sample s on `each` places from at[s * each]. */
static int score(beside_training *t, const sample *samples, uint32_t count, const size_t *at, uint32_t each,
                 double *scores)
{
    train_stream *list = count > 0 && each > 0 ? calloc((size_t)count * each, sizeof *list) : NULL;

    if (list == NULL)
        return complain(NULL, "out of memory");
    int code = measure_base(t, at, count * each);
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = s * each; i < (s + 1) * each; i++)
            list[i] = (train_stream){.policy = t->policy, .argument = &samples[s].argument, .seed = seed_at(t, at[i])};
    if (code == EXIT_GOOD)
        code = train_streams_run(&t->streams, NULL, list, count * each);
    for (uint32_t s = 0; s < count && code == EXIT_GOOD; s++) {
        scores[s] = 0;
        for (uint32_t i = s * each; i < (s + 1) * each; i++)
            scores[s] += list[i].reached / t->base_ns[at[i]] / each;
    }
    free(list);
    return code;
}

static int validate(beside_training *t, const double *numbers, double *out)
{
    uint32_t count = t->o.validation.count;
    size_t *at = calloc(count, sizeof *at);
    sample mine;
    clo_status status = at != NULL ? open_sample(t, numbers, &mine) : CLO_ERR_MEMORY;

    if (status != CLO_OK) {
        free(at);
        return complain_status(NULL, status);
    }
    for (uint32_t i = 0; i < count; i++)
        at[i] = t->o.seeds.count + i;
    int code = score(t, &mine, 1, at, count, out);
    close_sample(&mine);
    free(at);
    return code;
}

static int keep_if_best(beside_training *t, double *valid)
{
    double numbers[RESIDUAL_NUMBERS_MAX];

    beside_put_moved(t, t->es.mean, numbers);
    int code = validate(t, numbers, valid);
    if (code == EXIT_GOOD && *valid < t->es.best_score) {
        t->es.best_score = *valid;
        t->es.best_generation = t->es.generation;
        memcpy(t->es.best, t->es.mean, sizeof t->es.best);
    }
    return code;
}

/* What pairs of samples are worth, and the step that follows. *training: the mean of all samples. */
static int run_generation(beside_training *t, double *train_score)
{
    const uint32_t pairs = t->o.pairs, each = t->o.each;
    sample *samples = calloc(2 * (size_t)pairs, sizeof *samples);
    size_t *at = calloc(2 * (size_t)pairs * each, sizeof *at);
    double *scores = calloc(2 * (size_t)pairs, sizeof *scores), moved[ES_NUMBERS_MAX], numbers[RESIDUAL_NUMBERS_MAX];
    clo_status status = CLO_OK;
    uint32_t made = 0;

    if (samples == NULL || at == NULL || scores == NULL) {
        free(samples);
        free(at);
        free(scores);
        return complain(NULL, "out of memory");
    }
    while (made < 2 * pairs && status == CLO_OK) {
        es_sample(&t->es, made / 2, made % 2 == 0 ? 1 : -1, moved);
        beside_put_moved(t, moved, numbers);
        for (uint32_t i = 0; i < each; i++)
            at[made * each + i] = (((size_t)t->es.generation * pairs + made / 2) * each + i) % t->o.seeds.count;
        status = open_sample(t, numbers, &samples[made++]);
    }
    int code = status == CLO_OK ? score(t, samples, made, at, each, scores) : complain_status(NULL, status);
    *train_score = 0;
    for (uint32_t p = 0; p < pairs && code == EXIT_GOOD; p++) {
        *train_score += (scores[2 * p] + scores[2 * p + 1]) / (2.0 * pairs);
        scores[p] = scores[2 * p] - scores[2 * p + 1];
    }
    if (code == EXIT_GOOD)
        es_update(&t->es, scores, pairs);
    for (uint32_t i = 0; i < made; i++)
        close_sample(&samples[i]);
    free(samples);
    free(at);
    free(scores);
    return code;
}

static int write_checkpoint(const beside_training *t)
{
    output out;

    if (t->o.checkpoint == NULL)
        return EXIT_GOOD;
    if (checkpoint_begin(&out, t->o.checkpoint, t->kind->action, t->hash) &&
        checkpoint_end(&out, es_write(&t->es, out.file)))
        return EXIT_GOOD;
    return output_complain(&out);
}

int beside_read_checkpoint(beside_training *t)
{
    size_t bytes = 0;
    FILE *lines = NULL;
    unsigned char *data = t->o.checkpoint != NULL ? checkpoint_read(t->o.checkpoint, &bytes) : NULL;

    if (data == NULL)
        return t->o.checkpoint == NULL || errno == ENOENT ? EXIT_GOOD
                                                          : complain(t->o.checkpoint, "%s", strerror(errno));
    const char *wrong = checkpoint_lines((char *)data, bytes, t->kind->action, t->hash, &lines);
    if (wrong == NULL && !(es_read(&t->es, lines) && t->es.generation <= t->o.generations))
        wrong = "is damaged; delete it to begin anew";
    if (lines != NULL)
        fclose(lines);
    free(data);
    return wrong == NULL ? EXIT_GOOD : complain(t->o.checkpoint, "%s", wrong);
}

static void tell(beside_training *t, double train_score, double valid)
{
    t->curve[t->curve_count++] =
        (train_point){.update = t->es.generation, .reward = -train_score, .validation = -valid};
    if (t->o.as_json || isnan(valid))
        return;
    printf("%10u %13.4f %15.4f %8.4f %8.1f s\n", t->es.generation, train_score, valid, t->es.best_score,
           seconds_since(t->begin_ns));
    fflush(stdout);
}

int beside_train(beside_training *t)
{
    double train_score = NAN, valid = NAN;
    int code = EXIT_GOOD;

    if (!t->o.as_json)
        printf("generation   on training   on validation     best       time\n");
    if (t->es.generation == 0) {
        code = keep_if_best(t, &valid);
        if (code == EXIT_GOOD)
            tell(t, 1, valid);
    }
    while (t->es.generation < t->o.stop && code == EXIT_GOOD) { /* each round is a generation */
        code = run_generation(t, &train_score);
        bool validates = t->es.generation % t->o.validate_every == 0 || t->es.generation == t->o.stop;
        valid = NAN;
        if (code == EXIT_GOOD && validates)
            code = keep_if_best(t, &valid);
        if (code == EXIT_GOOD && validates)
            code = write_checkpoint(t);
        if (code == EXIT_GOOD)
            tell(t, train_score, valid);
    }
    return code;
}

static void watch(void *context, const int16_t *row, int32_t value, int32_t limit)
{
    beside_training *t = context;
    const uint32_t features = t->kind->shape->features;

    (void)value;
    (void)limit;
    if (t->rows_seen++ % BESIDE_SPARSE == 0 && t->rows_count < BESIDE_ROWS)
        memcpy(t->rows + (size_t)t->rows_count++ * features, row, features * sizeof *row);
}

static void widen(void *context, const int16_t *row, int32_t value, int32_t limit)
{
    beside_training *t = context;

    (void)value;
    (void)limit;
    for (uint32_t f = 0; f < t->kind->shape->features; f++) {
        t->range.least[f] = row[f] < t->range.least[f] ? row[f] : t->range.least[f];
        t->range.most[f] = row[f] > t->range.most[f] ? row[f] : t->range.most[f];
    }
    t->rows_seen++;
}

static void set_range(residual_range *range, int16_t least, int16_t most)
{
    for (uint32_t f = 0; f < RESIDUAL_FEATURES_MAX; f++) {
        range->least[f] = least;
        range->most[f] = most;
    }
}

int beside_find_range(beside_training *t)
{
    const uint32_t count = t->o.seeds.count < BESIDE_RANGED ? t->o.seeds.count : BESIDE_RANGED;
    int code = EXIT_GOOD;
    sample mine;

    set_range(&t->range, INT16_MIN + 1, INT16_MAX);
    clo_status status = open_sample(t, t->numbers, &mine);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    mine.argument.watch = widen;
    mine.argument.watch_context = t;
    set_range(&t->range, INT16_MAX, INT16_MIN + 1);
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++) { /* one at a time: they widen one range */
        train_stream one = {.policy = t->policy, .argument = &mine.argument, .seed = t->o.seeds.first + i};
        code = train_streams_run(&t->streams, NULL, &one, 1);
    }
    close_sample(&mine);
    return code == EXIT_GOOD && t->rows_seen == 0 ? complain(NULL, TOO_SHORT) : code;
}

/* Rows that the network meets on a stream. */
int beside_collect(beside_training *t, const double *numbers, uint64_t seed)
{
    sample mine;
    clo_status status = open_sample(t, numbers, &mine);

    if (status != CLO_OK)
        return complain_status(NULL, status);
    mine.argument.watch = watch;
    mine.argument.watch_context = t;
    t->rows_count = 0;
    t->rows_seen = 0;
    train_stream one = {.policy = t->policy, .argument = &mine.argument, .seed = seed};
    int code = train_streams_run(&t->streams, NULL, &one, 1);
    close_sample(&mine);
    if (code == EXIT_GOOD && t->rows_count < BESIDE_GOLDEN)
        code = complain(NULL, TOO_SHORT);
    return code;
}

int beside_make_model(beside_training *t)
{
    double *rounded = t->best[BESIDE_ROUNDED], *unrounded = t->best[BESIDE_UNROUNDED];

    beside_put_moved(t, t->es.best, unrounded);
    if (t->o.is_zero)
        memcpy(unrounded, t->numbers, sizeof t->numbers);
    memcpy(rounded, unrounded, sizeof t->best[BESIDE_ROUNDED]);
    residual_round(t->kind->shape, rounded);
    int code = beside_collect(t, unrounded, t->o.validation.first);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = residual_model(t->kind->shape, unrounded, t->kind->is_ranged ? &t->range : NULL, t->o.name,
                                       t->rows, BESIDE_GOLDEN, &t->model, &t->model_bytes);
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}
