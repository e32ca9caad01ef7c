/* beside.c - `clotho train decima` and `clotho train easy-residual`: the networks of the policies "residual" and
 * "easy-residual", by evolution strategies (../train/es.h) on what the policies are for: streams of jobs are simulated,
 * and mean completion times, or with --deadlines mean tardiness, are made small, relative to those of the rule that the
 * network is beside, on the same streams. Each sample is a model in integers that the policy itself runs. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/train/beside_compare.h"
#include "train/numbers/fnv.h"

#include "clotho/common/actions.h"
#include "clotho/common/clock.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/model/model.h"
#include "clotho/room/room.h"
#include "clotho/simulate/hash.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/arrivals.h"
#include "clotho/train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const beside_kind of_parametric = {"decima", "residual", "parametric", &residual_of_parametric, false};
static const beside_kind of_easy = {"easy-residual", "easy-residual", "easy-parametric", &residual_of_easy, true};

static residual_seen measure_rows(const beside_training *t)
{
    const uint32_t features = t->kind->shape->features;
    residual_seen seen = {{0}, {0}};

    for (uint32_t f = 0; f < features; f++) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < t->rows_count; i++) {
            double x = t->rows[(size_t)i * features + f] / 16.0;
            sum += x;
            squares += x * x;
        }
        seen.mean[f] = sum / t->rows_count;
        seen.deviation[f] = sqrt(fmax(0, squares / t->rows_count - seen.mean[f] * seen.mean[f]));
    }
    return seen;
}

static uint64_t hash_of(const beside_training *t)
{
    const beside_options *o = &t->o;
    const uint64_t all[] = {workload_hash(t->jobs),
                            platform_hash(t->streams.platform),
                            o->jobs,
                            o->generations,
                            o->pairs,
                            o->each,
                            o->seeds.first,
                            o->seeds.count,
                            o->validation.first,
                            o->validation.count,
                            o->seed,
                            o->trains_all,
                            o->validate_every,
                            o->is_common,
                            o->is_whitened};
    const uint64_t ranged = BESIDE_RANGED;
    uint64_t hash = FNV_BEGIN;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        hash = fnv_bytes(hash, &all[i], sizeof all[i]);
    hash = fnv_bytes(fnv_bytes(fnv_bytes(hash, &o->scale, sizeof o->scale), &o->sigma, sizeof o->sigma), &o->rate,
                     sizeof o->rate);
    hash = fnv_text(fnv_text(fnv_text(hash, o->environment), o->arrivals), o->numbers);
    if (t->kind->is_ranged)
        hash = fnv_bytes(hash, &ranged, sizeof ranged);
    return o->deadlines != NULL ? fnv_text(hash, o->deadlines) : hash;
}

static int open_streams(beside_training *t)
{
    int code = EXIT_GOOD;

    t->streams = (train_streams){
        .jobs = t->jobs, .environment = t->o.environment, .threads = t->o.threads, .is_common = t->o.is_common};
    t->streams.goal = t->o.deadlines != NULL ? TRAIN_TARDY : TRAIN_MEAN;
    t->streams.arrivals = (clo_arrivals_config)CLO_ARRIVALS_CONFIG_INIT;
    code = arrivals_parse("arrivals", t->o.arrivals, &t->streams.arrivals);
    t->streams.arrivals.jobs = t->o.jobs;
    t->streams.arrivals.shuffled = 1;
    if (code == EXIT_GOOD && t->streams.arrivals.kind == CLO_ARRIVALS_TRACE)
        return misuse("--arrivals is trace, but streams are drawn; write batch or poisson:S");
    t->streams.platform = clo_workload_platform(t->loaded[0]);
    if (code == EXIT_GOOD && (t->o.spec != NULL || t->streams.platform == NULL)) {
        code = platform_open(t->o.spec != NULL ? t->o.spec : "native", &t->opened);
        t->streams.platform = t->opened;
    }
    if (code == EXIT_GOOD)
        code = deadlines_open(t->o.deadlines, t->jobs, t->streams.platform, &t->streams.deadlines);
    if (t->o.numbers == NULL)
        t->o.numbers = t->kind == &of_easy                                ? ""
                       : t->o.deadlines != NULL                           ? "any"
                       : t->streams.arrivals.kind == CLO_ARRIVALS_POISSON ? "stream"
                                                                          : "batch";
    const clo_policy *rule = clo_policy_find(t->kind->rule);
    if (code != EXIT_GOOD || (t->kind == &of_easy && t->o.numbers[0] == '\0'))
        return code;
    t->base_argument = calloc(1, rule->argument_bytes);
    if (t->base_argument == NULL)
        return complain(NULL, "out of memory");
    return rule->parse(t->o.numbers, t->base_argument) == CLO_OK ? EXIT_GOOD
                                                                 : misuse("--parametric: %s", clo_last_error());
}

static int open_training(beside_training *t)
{
    const beside_options *o = &t->o;

    t->policy = clo_policy_find(t->kind->policy);
    t->base_ns = calloc((size_t)o->seeds.count + o->validation.count, sizeof *t->base_ns);
    t->rows = calloc((size_t)BESIDE_ROWS * t->kind->shape->features, sizeof *t->rows);
    t->curve = calloc((size_t)o->generations + 1, sizeof *t->curve);
    if (t->base_ns == NULL || t->rows == NULL || t->curve == NULL)
        return complain(NULL, "out of memory");
    t->hash = hash_of(t);
    int code = t->kind->is_ranged ? beside_find_range(t) : EXIT_GOOD;
    if (code == EXIT_GOOD)
        code = beside_collect(t, t->numbers, o->seeds.first);
    if (code != EXIT_GOOD)
        return code;
    const residual_seen seen = measure_rows(t);
    residual_init(t->kind->shape, t->numbers, &seen, o->seed);
    t->last_count = residual_last(t->kind->shape, t->moved);
    if (o->is_whitened)
        residual_whiten(&seen, t->rows, t->rows_count, &t->directions);
    t->es = (es){.numbers = o->is_whitened  ? t->directions.count
                            : o->trains_all ? residual_numbers(t->kind->shape)
                                            : t->last_count,
                 .seed = o->seed,
                 .sigma = o->sigma,
                 .rate_first = o->rate,
                 .rate_last = o->rate / 10,
                 .generations = o->generations,
                 .best_score = INFINITY};
    for (uint32_t n = 0; n < residual_numbers(t->kind->shape) && o->trains_all; n++)
        t->moved[n] = n;
    for (uint32_t n = 0; n < t->es.numbers && !o->is_whitened; n++)
        t->es.mean[n] = t->es.best[n] = t->numbers[t->moved[n]];
    return beside_read_checkpoint(t);
}

static void print_head(const beside_training *t)
{
    printf("training on  %u graphs, %u jobs a stream, on %s%s%s\n", clo_workload_jobs(t->jobs), t->o.jobs,
           t->kind->rule, t->o.numbers[0] != '\0' ? ":" : "", t->o.numbers);
    printf("seeds        %s (list %016llx), validation %s (list %016llx), samples seed %llu\n", t->o.texts.seeds,
           (unsigned long long)seeds_hash(t->o.seeds), t->o.texts.validation,
           (unsigned long long)seeds_hash(t->o.validation), (unsigned long long)t->o.seed);
    printf("network      %u numbers, %u of them move; scores are %s over that of %s\n\n",
           residual_numbers(t->kind->shape), t->es.numbers, train_goal_words(t->streams.goal), t->kind->rule);
    fflush(stdout);
}

static void print_comparison(const beside_training *t)
{
    const beside_comparison *rounded = &t->real[BESIDE_ROUNDED], *unrounded = &t->real[BESIDE_UNROUNDED];

    if (rounded->choices > 0) /* else there were ties alone */
        printf("integers     choose as real numbers do in %.2f %% of %llu choices of %d, in %.2f %% as those before "
               "the grid\n",
               100 * rounded->agreement, (unsigned long long)rounded->choices, BESIDE_GROUP,
               100 * unrounded->agreement);
    if (t->o.compared.count == 0)
        return;
    printf("compared     on streams %s (list %016llx): %.4f of what %s reaches;\n", t->o.texts.compare,
           (unsigned long long)seeds_hash(t->o.compared), t->compared_score, t->kind->rule);
    printf("             %+.3f (+- %.3f) %% against real numbers, %+.3f (+- %.3f) %% against those before the grid\n",
           100 * rounded->change, 100 * rounded->change_error, 100 * unrounded->change, 100 * unrounded->change_error);
}

static void json_comparison(const beside_training *t, json *out)
{
    const beside_comparison *rounded = &t->real[BESIDE_ROUNDED], *unrounded = &t->real[BESIDE_UNROUNDED];

    json_real(out, "agreement", rounded->agreement);
    json_real(out, "agreement_before_grid", unrounded->agreement);
    json_count(out, "choices", rounded->choices);
    if (t->o.compared.count == 0)
        return;
    json_count(out, "compared_hash", seeds_hash(t->o.compared));
    json_real(out, "compared", t->compared_score);
    json_real(out, "objective_change", rounded->change);
    json_real(out, "objective_change_error", rounded->change_error);
    json_real(out, "objective_change_before_grid", unrounded->change);
    json_real(out, "objective_change_before_grid_error", unrounded->change_error);
}

static int report(const beside_training *t)
{
    uint64_t hash = fnv_bytes(FNV_BEGIN, t->model, t->model_bytes);
    char text[32];
    json out;

    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    if (!t->o.as_json) {
        printf("\nbest         %.4f of what %s reaches on validation, after generation %u, in %.1f s\n",
               t->es.best_score, t->kind->rule, t->es.best_generation, seconds_since(t->begin_ns));
        if (t->es.best_generation == 0 && !t->o.is_zero)
            printf("             nothing was learned: the model leaves %s as it is\n", t->kind->rule);
        print_comparison(t);
        printf("model        %zu bytes, hash %s%s%s\n", t->model_bytes, text, t->o.output != NULL ? ", " : "",
               t->o.output != NULL ? show_name(t->o.output) : "");
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "model", t->o.name);
    json_text(&out, "parametric", t->o.numbers);
    json_text(&out, "model_hash", text);
    json_count(&out, "bytes", t->model_bytes);
    json_real(&out, "validation", t->es.best_score);
    json_count(&out, "best_generation", t->es.best_generation);
    json_count(&out, "generations", t->es.generation);
    json_comparison(t, &out);
    json_count(&out, "seeds_hash", seeds_hash(t->o.seeds));
    json_count(&out, "validation_hash", seeds_hash(t->o.validation));
    json_real(&out, "seconds", seconds_since(t->begin_ns));
    return json_print(&out);
}

static int check_options(beside_training *t)
{
    beside_options *o = &t->o;
    int code = train_read_seeds(&o->texts, &o->seeds, &o->validation, &o->compared);

    if (code != EXIT_GOOD)
        return code;
    if (o->stop == 0 || o->stop > o->generations)
        o->stop = o->generations;
    if (o->generations < 1 || o->generations > 1000000 || o->pairs < 1 || o->pairs > 1000 || o->each < 1 ||
        o->each > 1000 || o->validate_every < 1)
        return misuse("--generations is from 1 to 1000000, --pairs and --each from 1 to 1000, --validate-every from 1");
    if (o->is_whitened && t->kind != &of_parametric)
        return misuse("--whiten is for clotho train decima alone; leave it away");
    if (o->trains_all && o->is_whitened)
        return misuse("--whiten and --all train different numbers; write one of them");
    if (o->is_common && o->environment == NULL)
        return misuse("--common draws times in an environment; write --environment decima");
    if (!(o->sigma > 0 && o->sigma <= 10))
        return misuse("--sigma is %g; write a number > 0, at most 10", o->sigma);
    if (!(o->rate > 0 && o->rate <= 10))
        return misuse("--rate is %g; write a number > 0, at most 10", o->rate);
    if (o->numbers != NULL && strlen(o->numbers) >= sizeof((clo_residual_argument *)0)->parametric)
        return misuse("--parametric is too long");
    code = known_environment(o->environment);
    return code == EXIT_GOOD ? train_check_name(o->name) : code;
}

static int run(beside_training *t, char **paths, int count)
{
    char title[64];

    snprintf(title, sizeof title, "clotho train %s", t->kind->action);
    t->begin_ns = monotonic_ns();
    int code = train_load_jobs(paths, count, t->o.scale, t->loaded, &t->jobs);
    if (code == EXIT_GOOD)
        code = open_streams(t);
    if (code == EXIT_GOOD && !t->o.is_zero && !t->o.is_forced)
        code =
            room_check(&t->streams, 1, clo_policy_find(t->kind->rule), t->base_argument, t->o.validation, t->o.as_json);
    if (code == EXIT_GOOD)
        code = open_training(t);
    if (code == EXIT_GOOD && !t->o.as_json)
        print_head(t);
    if (code == EXIT_GOOD && !t->o.is_zero)
        code = beside_train(t);
    if (code == EXIT_GOOD)
        code = beside_make_model(t);
    if (code == EXIT_GOOD)
        code = beside_compare(t);
    if (code == EXIT_GOOD && t->o.output != NULL)
        code = model_write(t->o.output, t->model, t->model_bytes);
    if (code == EXIT_GOOD && t->o.svg != NULL)
        code = train_write_curve(t->curve, t->curve_count, title, t->o.svg);
    return code == EXIT_GOOD ? report(t) : code;
}

static void close_all(beside_training *t)
{
    deadlines_close(&t->streams.deadlines);
    clo_workload_destroy(t->jobs);
    for (int i = 0; i < BESIDE_WORKLOADS_MAX; i++)
        clo_workload_destroy(t->loaded[i]);
    clo_platform_destroy(t->opened);
    free(t->base_argument);
    free(t->base_ns);
    free(t->rows);
    free(t->curve);
    free(t->model);
    free(t);
}

static const command for_parametric = {
    "train decima",
    "WORKLOAD...",
    1,
    BESIDE_WORKLOADS_MAX,
    "Trains the network of the policy 'residual', which adds to what 'parametric' decides by: streams "
    "of the jobs are\n"
    "simulated, and mean completion times are made small by evolution strategies. What is best on "
    "validation becomes\n"
    "a model file. Where an oracle that knows all gains less than 2 % over 'parametric', nothing is trained "
    "(--force).\n"
    "Interrupted, it goes on from its checkpoint.",
    "The same seeds give the same bytes with any number of threads.\n"
    "Example: clotho train decima tpch.jsonl --platform uniform:50 --jobs 20 --arrivals batch --environment "
    "decima"};

static const command for_easy = {
    "train easy-residual",
    "WORKLOAD...",
    1,
    BESIDE_WORKLOADS_MAX,
    "Trains the network of the policy 'easy-residual', which adds to what 'easy-parametric' decides by, and may let "
    "what\n"
    "has room wait: streams of jobs that share limited resources are simulated, and mean completion times are made "
    "small\n"
    "by evolution strategies. What is best on validation becomes a model file. Interrupted, it goes on from its "
    "checkpoint.",
    "The same seeds give the same bytes with any number of threads.\n"
    "Example: clotho train easy-residual four.jsonl --arrivals poisson:2.2 --jobs 200 -o packing.model"};

static int read_and_run(beside_training *t, int argc, char **argv)
{
    beside_options *o = &t->o;
    const option_spec specs[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &o->spec, "as in 'clotho plan'"},
        {"environment", 0, "NAME", OPTION_TEXT, &o->environment, "as in 'clotho simulate'"},
        {"jobs", 0, "N", OPTION_COUNT, &o->jobs, "jobs of a stream (20)"},
        {"arrivals", 0, "batch|poisson:S", OPTION_TEXT, &o->arrivals, "all at once, or with a mean gap (batch)"},
        {"deadlines", 0, "X-Y", OPTION_TEXT, &o->deadlines,
         "jobs have a deadline of X to Y times their lower bound; mean tardiness is made small"},
        {"scale", 0, "X", OPTION_FACTOR, &o->scale, "multiply times and bytes by X"},
        {"parametric", 0, "ARG", OPTION_TEXT, &o->numbers,
         "the numbers it adds to (the built-in ones: of parametric batch, for a poisson process stream, with "
         "--deadlines any)"},
        {"seeds", 0, "A-B", OPTION_TEXT, &o->texts.seeds, "streams to train on (100-1123)"},
        {"validation", 0, "A-B", OPTION_TEXT, &o->texts.validation, "streams that say what is kept (5000-5031)"},
        {"compare", 0, "A-B", OPTION_TEXT, &o->texts.compare,
         "other streams, to say what integers change of completion times against real numbers"},
        {"generations", 0, "N", OPTION_U32, &o->generations, "how many (100)"},
        {"stop", 0, "N", OPTION_U32, &o->stop, "stop after this one, as if interrupted (--generations)"},
        {"pairs", 0, "N", OPTION_COUNT, &o->pairs, "of samples, of a generation (16)"},
        {"each", 0, "N", OPTION_COUNT, &o->each, "streams of a pair (4)"},
        {"sigma", 0, "X", OPTION_REAL, &o->sigma, "of the noise (0.08)"},
        {"rate", 0, "X", OPTION_REAL, &o->rate, "of Adam, a tenth of it at the end (0.02)"},
        {"whiten", 0, NULL, OPTION_FLAG, &o->is_whitened,
         "train along the principal components of the features: few numbers, for long streams (decima)"},
        {"common", 0, NULL, OPTION_FLAG, &o->is_common,
         "draw times by job, stage and instance, so that both of a pair meet the same ones"},
        {"all", 0, NULL, OPTION_FLAG, &o->trains_all, "train the hinges too, not only what sums them up"},
        {"force", 0, NULL, OPTION_FLAG, &o->is_forced, "train where an oracle says that there is nothing to learn"},
        {"zero-residual", 0, NULL, OPTION_FLAG, &o->is_zero, "train nothing: a model that leaves the rule as it is"},
        {"validate-every", 0, "N", OPTION_U32, &o->validate_every, "generations between two validations (5)"},
        {"name", 0, "NAME", OPTION_TEXT, &o->name, "of the model (that of the policy)"},
        {"svg", 0, "F.svg", OPTION_OUTPUT, &o->svg, "draw the learning curve"}};
    const train_shared shared = {&o->seed, &o->threads, &o->checkpoint, &o->output, &o->as_json};
    char **operands;
    int count, code = train_parse(t->kind == &of_easy ? &for_easy : &for_parametric, specs,
                                  sizeof specs / sizeof specs[0], &shared, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(t);
    return code == EXIT_GOOD ? run(t, operands, count) : code;
}

static int train_beside(const beside_kind *kind, int argc, char **argv)
{
    beside_training *t = calloc(1, sizeof *t);

    if (t == NULL)
        return complain(NULL, "out of memory");
    t->kind = kind;
    t->o = (beside_options){.arrivals = "batch",
                            .name = kind->policy,
                            .texts = {.seeds = "100-1123", .validation = "5000-5031"},
                            .jobs = 20,
                            .generations = 100,
                            .pairs = 16,
                            .each = 4,
                            .validate_every = 5,
                            .scale = 1,
                            .sigma = 0.08,
                            .rate = 0.02};
    int code = read_and_run(t, argc, argv);
    close_all(t);
    return code;
}

int train_decima(int argc, char **argv)
{
    return train_beside(&of_parametric, argc, argv);
}

int train_easy_residual(int argc, char **argv)
{
    return train_beside(&of_easy, argc, argv);
}
