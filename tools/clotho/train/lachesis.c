/* lachesis.c - `clotho train lachesis WORKLOAD...`: a network that orders the tasks of a graph, for the planner
 * and the policy "lachesis". REINFORCE: each batch is ordered several times by scores with noise, and these rollouts
 * share a baseline (../train/trainer.h). The network adds to a prior, so it begins as DEFT in the order of rank_u. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/clock.h"
#include "clotho/common/input.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"
#include "clotho/simulate/hash.h"
#include "clotho/train/model.h"
#include "clotho/train/train.h"
#include "learn/infer/lachesis_features.h"
#include "train/numbers/fnv.h"
#include "train/trainer/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKLOADS_MAX = 32, LINE_BYTES = 256, ERROR_BYTES = 256 };

typedef struct training {
    lachesis_options *o;
    char *const *paths;
    int paths_count;
    clo_workload *loaded[WORKLOADS_MAX], *jobs;
    clo_platform *opened;
    batch_set set;
    network net;
    double *parameters;
    uint64_t *seeds, *validation;
    trainer *trainer;
} training;

/* "A-B" or "A". */
static bool read_range(const char *text, uint32_t least, uint32_t most, uint32_t *first, uint32_t *last)
{
    const char *dash = strchr(text, '-');
    char low[32];
    uint64_t a, b;

    snprintf(low, sizeof low, "%.*s", dash != NULL ? (int)(dash - text) : 31, text);
    if (!parse_u64(low, &a) || !parse_u64(dash != NULL ? dash + 1 : low, &b) || a < least || b < a || b > most)
        return false;
    *first = (uint32_t)a;
    *last = (uint32_t)b;
    return true;
}

static int read_ccrs(const char *text, batch_law *law)
{
    const char *at = text;
    char *end;

    if (strcmp(text, "own") == 0)
        return EXIT_GOOD;
    do { /* ends: every turn takes a number or leaves */
        double ccr = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') || !(ccr >= 0 && ccr <= 1000) ||
            law->ccrs_count == BATCH_CCRS_MAX)
            return misuse("--ccr is '%.60s'; write 'own', or up to %d numbers from 0 to 1000 with commas between", text,
                          BATCH_CCRS_MAX);
        law->ccrs[law->ccrs_count++] = ccr;
        at = end + 1;
    } while (*end == ',');
    return EXIT_GOOD;
}

static int read_speeds(const char *text, batch_law *law)
{
    char *end, *last;
    double low = strtod(text, &end), high = *end == '-' ? strtod(end + 1, &last) : -1;

    if (end == text || *end != '-' || last == end + 1 || *last != '\0' || !(low >= 0.1 && high >= low && high <= 100))
        return misuse("--speeds is '%.60s'; write two numbers from 0.1 to 100 as 2.1-3.6", text);
    law->speed_first = (uint32_t)lround(low * 10);
    law->speed_last = (uint32_t)lround(high * 10);
    return EXIT_GOOD;
}

static int check_numbers(const lachesis_options *o)
{
    network *net = calloc(1, sizeof *net);
    bool is_shape = net == NULL || lachesis_network(&o->shape, NULL, net, NULL);

    free(net);
    if (o->shape.width < 1 || o->shape.width > 64)
        return misuse("--width is from 1 to 64, not %u", o->shape.width);
    if (!is_shape)
        return misuse("--rounds is from 1 to %d, not %u", LACHESIS_ROUNDS_MAX, o->shape.rounds);
    if (o->updates < 1 || o->updates > 1000000 || o->generations > 10000)
        return misuse("--updates is from 1 to 1000000, --tune at most 10000");
    if (o->phase.instances < 1 || o->phase.instances > 4096 || o->phase.rollouts < 2 || o->phase.rollouts > 4096)
        return misuse("--instances is from 1 to 4096, --rollouts from 2 to 4096");
    if (!(o->prior > 0 && o->prior <= 1000) || !(o->spread > 0 && o->spread <= 100) ||
        !(o->phase.rate_first > 0 && o->phase.rate_first <= 1))
        return misuse("--prior is above 0, at most 1000; --spread above 0, at most 100; --rate above 0, at most 1");
    if (!(o->agree >= 0 && o->agree <= 100))
        return misuse("--agree is from 0 to 100 percent");
    if (o->law.executors < 1 || o->law.executors > 4096)
        return misuse("--executors is from 1 to 4096");
    return EXIT_GOOD;
}

static int make_batches(training *t)
{
    const lachesis_options *o = t->o;
    uint32_t count = o->seeds.count + o->validation.count;

    t->set = (batch_set){.list = calloc(count, sizeof *t->set.list), .prior = o->prior};
    t->set.weights[CLO_FEATURE_RANK_UP] = 1;
    t->seeds = calloc(o->seeds.count, sizeof *t->seeds);
    t->validation = calloc(o->validation.count, sizeof *t->validation);
    if (t->set.list == NULL || t->seeds == NULL || t->validation == NULL)
        return complain(NULL, "out of memory");
    seeds_fill(o->seeds, t->seeds);
    seeds_fill(o->validation, t->validation);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t seed = i < o->seeds.count ? t->seeds[i] : t->validation[i - o->seeds.count];
        t->set.list[i] = batch_create(&o->law, seed);
        if (t->set.list[i] == NULL)
            return complain(t->paths[0], "seed %llu: %s", (unsigned long long)seed, clo_last_error());
        t->set.count++;
    }
    return EXIT_GOOD;
}

/* Of the batches themselves: jobs, costs and what DEFT makes of them. */
static uint64_t hash_of(const training *t)
{
    uint64_t hash = fnv_number(FNV_BEGIN, workload_hash(t->jobs)), bits;

    for (uint32_t i = 0; i < t->set.count; i++)
        hash = fnv_number(fnv_number(fnv_number(hash, t->set.list[i]->seed), t->set.list[i]->shape.stages),
                          (uint64_t)t->set.list[i]->reference_ns);
    memcpy(&bits, &t->set.prior, sizeof bits);
    hash = fnv_number(hash, bits);
    for (int k = 0; k < CLO_FEATURES_STAGE; k++) {
        memcpy(&bits, &t->set.weights[k], sizeof bits);
        hash = fnv_number(hash, bits);
    }
    memcpy(&bits, &t->o->spread, sizeof bits);
    return fnv_number(fnv_number(fnv_number(hash, bits), t->o->shape.width), t->o->shape.rounds);
}

static int open_trainer(training *t, const train_environment *environment)
{
    lachesis_options *o = t->o;
    uint32_t count = lachesis_parameters(&o->shape);
    char why[TRAINER_WHY_BYTES];
    network net;
    t->parameters = calloc(count, sizeof *t->parameters);
    if (t->parameters == NULL || !lachesis_network(&o->shape, t->parameters, &net, NULL))
        return complain(NULL, "out of memory");
    parameters_init(&net, t->parameters, o->seed);
    parameters_zero(&net, t->parameters, net.score);
    t->net = net;
    o->phase.updates = o->updates;
    const trainer_config config = {.environment = environment,
                                   .net = &t->net,
                                   .parameters = t->parameters,
                                   .parameters_count = count,
                                   .critic = CLO_MODEL_NONE,
                                   .phases = &o->phase,
                                   .phases_count = 1,
                                   .seeds = t->seeds,
                                   .validation = t->validation,
                                   .seeds_count = o->seeds.count,
                                   .validation_count = o->validation.count,
                                   .validate_every = o->validate_every,
                                   .seed = o->seed,
                                   .threads = o->threads,
                                   .hash = hash_of(t)};
    t->trainer = trainer_create(&config, why);
    if (t->trainer == NULL)
        return complain(NULL, "%s", why);
    if (o->checkpoint != NULL && !trainer_load(t->trainer, o->checkpoint, why))
        return complain(NULL, "%s", why);
    return EXIT_GOOD;
}

/* The curve, a line for each validation; on a terminal the last line moves with every update. */
static void show(const training *t, const train_point *point, int64_t begin_ns, uint32_t done_here)
{
    char line[LINE_BYTES];
    bool is_terminal = takes_escapes(STDOUT_FILENO), is_kept = !isnan(point->validation);

    if (t->o->as_json || (!is_terminal && !is_kept))
        return;
    curve_line(t->trainer, t->o->phase.method, point, seconds_since(begin_ns), done_here, line, sizeof line);
    printf("%s%s%s", is_terminal ? "\r\033[K" : "", line, is_kept ? "\n" : "");
    fflush(stdout);
}

static int train(training *t, int64_t begin_ns)
{
    uint32_t first = trainer_updates_done(t->trainer), points;
    char why[TRAINER_WHY_BYTES];
    (void)trainer_curve(t->trainer, &points);
    while (trainer_updates_done(t->trainer) < trainer_updates(t->trainer) || points == 0) { /* ends: done grows */
        train_point point;
        if (!trainer_update(t->trainer, &point, why))
            return complain(NULL, "%s", why);
        points++;
        show(t, &point, begin_ns, trainer_updates_done(t->trainer) - first);
        if (t->o->checkpoint != NULL && !isnan(point.validation) && !trainer_save(t->trainer, t->o->checkpoint, why))
            return complain(NULL, "%s", why);
    }
    return EXIT_GOOD;
}

static void print_head(const training *t)
{
    const lachesis_options *o = t->o;

    printf("training on  %u jobs, %u to %u a batch; %s\n", clo_workload_jobs(t->jobs), o->law.jobs_first,
           o->law.jobs_last,
           o->law.platform != NULL ? clo_platform_name(o->law.platform) : "clusters of unlike speeds");
    printf("seeds        %llu-%llu (list %016llx), validation %llu-%llu (list %016llx), weights and draws seed %llu\n",
           (unsigned long long)o->seeds.first, (unsigned long long)(o->seeds.first + o->seeds.count - 1),
           (unsigned long long)seeds_hash(o->seeds), (unsigned long long)o->validation.first,
           (unsigned long long)(o->validation.first + o->validation.count - 1),
           (unsigned long long)seeds_hash(o->validation), (unsigned long long)o->seed);
    printf("network      %u parameters; rewards are -makespan / that of DEFT\n\n", lachesis_parameters(&o->shape));
    fflush(stdout);
}

static void show_generation(void *context, uint32_t generation, double training_ratio, double validation_ratio)
{
    const struct training *t = context;

    if (!t->o->as_json)
        printf("prior %6u/%-6u of DEFT's makespan: training %.5f, validation %.5f\n", generation, t->o->generations,
               training_ratio, validation_ratio);
    fflush(stdout);
}

/* The weights of the prior, before the network adds to it. */
static int tune(training *t)
{
    const lachesis_options *o = t->o;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const batch_tuning how = {.training = o->seeds.count,
                              .generations = o->generations,
                              .threads = o->threads > 0           ? o->threads
                                         : cpus > 0 && cpus < 256 ? (uint32_t)cpus
                                                                  : 1,
                              .seed = o->seed,
                              .told = show_generation,
                              .context = t};
    double found;

    if (!batch_tune(&t->set, &how, &found))
        return complain(NULL, "out of memory");
    if (!o->as_json)
        printf(
            "prior        %g * (rank-up %+.4f time %+.4f input %+.4f output %+.4f rank-down %+.4f children): %.5f\n\n",
            o->prior, t->set.weights[CLO_FEATURE_TIME], t->set.weights[CLO_FEATURE_INPUT],
            t->set.weights[CLO_FEATURE_OUTPUT], t->set.weights[CLO_FEATURE_RANK_DOWN],
            t->set.weights[CLO_FEATURE_CHILDREN], found);
    return EXIT_GOOD;
}

static int run(training *t)
{
    int64_t begin_ns = monotonic_ns();
    int code = train_load_jobs(t->paths, t->paths_count, 1, t->loaded, &t->jobs);

    t->o->law.workload = t->jobs;
    if (code == EXIT_GOOD && t->o->spec != NULL)
        code = platform_open(t->o->spec, &t->opened);
    t->o->law.platform = t->opened;
    if (code == EXIT_GOOD)
        code = make_batches(t);
    if (code == EXIT_GOOD && !t->o->as_json)
        print_head(t);
    if (code == EXIT_GOOD && t->o->generations > 0)
        code = tune(t);
    const train_environment environment = batch_environment(&t->set, t->o->spread);
    if (code == EXIT_GOOD)
        code = open_trainer(t, &environment);
    if (code == EXIT_GOOD)
        code = train(t, begin_ns);
    if (code == EXIT_GOOD)
        code = train_model_report(t->o, t->trainer, &t->set, seconds_since(begin_ns));
    trainer_destroy(t->trainer);
    for (uint32_t i = 0; i < t->set.count; i++)
        batch_destroy(t->set.list[i]);
    free(t->set.list);
    free(t->seeds);
    free(t->validation);
    free(t->parameters);
    clo_platform_destroy(t->opened);
    clo_workload_destroy(t->jobs);
    for (int i = 0; i < t->paths_count; i++)
        clo_workload_destroy(t->loaded[i]);
    return code;
}

static const command cmd = {
    "train lachesis",
    "WORKLOAD...",
    1,
    WORKLOADS_MAX,
    "Trains a network for the planner 'lachesis', beside a rule. Jobs of the workloads are drawn and merged, as if all "
    "were there at "
    "time 0;\n"
    "a stage counts as one task. The network chooses which task comes next, DEFT places it, and the makespan is made "
    "small.\n"
    "Writes the model that was best on the batches of validation; the rule alone where no network was. Interrupted, it "
    "goes on from its checkpoint.",
    "The same options give the same model with any number of threads.\n"
    "Example: clotho train lachesis tpch_2g.jsonl tpch_5g.jsonl --jobs 1-20 -o lachesis.model"};

/* What the texts say. */
static int read_texts(lachesis_options *o, const train_seeds *seeds, const char *const text[4])
{
    int code = train_read_seeds(seeds, &o->seeds, &o->validation, &o->compared);

    if (code == EXIT_GOOD && !read_range(text[0], 1, 1000, &o->law.jobs_first, &o->law.jobs_last))
        return misuse("--jobs is '%.60s'; write one or two whole numbers from 1 to 1000 as 1-20", text[0]);
    if (code == EXIT_GOOD)
        code = read_ccrs(text[1], &o->law);
    if (code == EXIT_GOOD)
        code = read_speeds(text[2], &o->law);
    o->law.has_even = strcmp(text[3], "producer") != 0;
    o->law.has_producer = strcmp(text[3], "even") != 0;
    if (code == EXIT_GOOD && o->law.has_even && o->law.has_producer && strcmp(text[3], "both") != 0)
        return misuse("--edges is '%.60s'; write even, producer or both", text[3]);
    return code == EXIT_GOOD ? check_numbers(o) : code;
}

int train_lachesis(int argc, char **argv)
{
    lachesis_options o = {.name = "lachesis",
                          .updates = 300,
                          .prior = 20,
                          .spread = 1,
                          .agree = TRAIN_AGREE_LEAST,
                          .phase = TRAIN_PHASE_INIT,
                          .shape = LACHESIS_SHAPE_INIT,
                          .law = {.executors = 50}};
    train_seeds seeds = {"1000-1255", "2000-2063", NULL};
    const char *text[4] = {"1-20", "0.1,1,5", "2.1-3.6", "both"};
    const option_spec options[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &o.spec,
         "one for all batches, as in 'clotho plan' (a cluster for each)"},
        {"executors", 0, "N", OPTION_COUNT, &o.law.executors, "of a drawn cluster (50)"},
        {"speeds", 0, "A-B", OPTION_TEXT, &text[2], "of a drawn cluster, in tenths; links of 1 byte/ns (2.1-3.6)"},
        {"jobs", 0, "A-B", OPTION_TEXT, &text[0], "jobs of a batch (1-20)"},
        {"ccr", 0, "LIST", OPTION_TEXT, &text[1],
         "mean transfer / mean time, or 'own': the workload's bytes (0.1,1,5)"},
        {"edges", 0, "LAW", OPTION_TEXT, &text[3], "even, producer or both: what an edge carries goes by (both)"},
        {"seeds", 0, "A-B", OPTION_TEXT, &seeds.seeds, "batches to train on (1000-1255)"},
        {"validation", 0, "A-B", OPTION_TEXT, &seeds.validation, "batches that say what is kept (2000-2063)"},
        {"compare", 0, "A-B", OPTION_TEXT, &seeds.compare,
         "other batches, to say what integers change of makespans against real numbers"},
        {"updates", 0, "N", OPTION_U32, &o.updates, "steps of the weights (300)"},
        {"instances", 0, "N", OPTION_COUNT, &o.phase.instances, "batches of an update, in turn (16)"},
        {"rollouts", 0, "N", OPTION_COUNT, &o.phase.rollouts, "orders of each, which share a baseline (16)"},
        {"rate", 0, "X", OPTION_REAL, &o.phase.rate_first, "Adam's step at first; a tenth at last (0.002)"},
        {"validate", 0, "N", OPTION_U32, &o.validate_every, "updates between two validations (10)"},
        {"tune", 0, "N", OPTION_U32, &o.generations, "generations that tune the prior's weights before; 0: rank_u (0)"},
        {"prior", 0, "X", OPTION_REAL, &o.prior, "the score that the largest rank_u has by itself (20)"},
        {"spread", 0, "X", OPTION_REAL, &o.spread, "standard deviation of the noise that scores are tried with (1)"},
        {"width", 0, "N", OPTION_U32, &o.shape.width, "numbers of an embedding (16)"},
        {"rounds", 0, "N", OPTION_U32, &o.shape.rounds, "how often stages see their children (3)"},
        {"agree", 0, "P", OPTION_REAL, &o.agree,
         "percent of decisions in which integers must choose as real numbers, or the network is left out (99)"},
        {"name", 0, "NAME", OPTION_TEXT, &o.name, "of the model (lachesis)"},
        {"curve", 0, "F.svg", OPTION_OUTPUT, &o.curve, "write the learning curve there"}};
    const train_shared shared = {&o.seed, &o.threads, &o.checkpoint, &o.output, &o.as_json};
    char **operands;
    int count,
        code = train_parse(&cmd, options, sizeof options / sizeof options[0], &shared, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    code = read_texts(&o, &seeds, text);
    if (code != EXIT_GOOD)
        return code;
    o.phase.rate_last = o.phase.rate_first / 10;
    training t = {.o = &o, .paths = operands, .paths_count = count};
    return run(&t);
}
