/* edges.c - `clotho train edges WORKLOAD...`: the network that says which edges make a list schedule shorter.
 *
 * Instances are drawn from the jobs of the workloads (../train/edges_environment.h). The network begins as the prior of
 * plan/edges/steps.h; REINFORCE with the mean of the rollouts of an instance as the baseline of each step then changes
 * it (Hua et al.). What was best on validation is quantized, and compared with floating point on other seeds. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/clock.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"
#include "clotho/model/model.h"
#include "clotho/simulate/hash.h"
#include "clotho/train/train.h"
#include "train/models/edges_cases.h"
#include "train/models/edges_network.h"
#include "train/trainer/curve.h"
#include "train/trainer/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAMMA 0.9

/* Of the decisions that scales are from, one of SCALE_EVERY is kept: one of an instance, so that there are many. */
enum { SCALE_CASES = 256, SCALE_EVERY = 31, TEST_CASES = 512, WORKLOADS_MAX = 64 };

typedef struct training {
    train_seeds texts;
    const char *jobs, *rule, *checkpoint, *output, *svg, *name;
    uint32_t edges, lessons, updates, instances, rollouts, threads, validate_every;
    double rate, scale, agree;
    uint64_t seed;
    bool as_json;
    /* compared.count 0: no instances to compare integers with real numbers on but those of validation. */
    seed_list seeds, validation, compared;
    uint64_t *seeds_list, *validation_list, *compared_list;
    clo_workload *workloads[WORKLOADS_MAX];
    uint32_t workloads_count;
    uint64_t hash;
    edges_world world;
    train_environment environment;
    network net;
    double *parameters;
    train_phase phases[2];
    uint32_t phases_count;
    trainer *trainer;
    int64_t begin_ns;
    uint32_t done_before;
    /* Of the model file. */
    void *model;
    size_t model_bytes;
    quantize_agreement agreement;
    double integers; /* validation with the model */
    /* On the instances of `compared`. */
    quantize_agreement aside;
    paired change;
} training;

/* "5" or "5-8" */
static bool read_range(const char *text, uint32_t *least, uint32_t *most)
{
    const char *dash = strchr(text, '-');
    char first[16];
    uint64_t low, high;

    snprintf(first, sizeof first, "%.*s", dash != NULL ? (int)(dash - text) : 12, text);
    if (!parse_u64(first, &low) || (dash != NULL && !parse_u64(dash + 1, &high)))
        return false;
    high = dash != NULL ? high : low;
    *least = (uint32_t)low;
    *most = (uint32_t)high;
    return low > 0 && low <= high && high <= EDGES_JOBS_MAX;
}

static int check_options(training *t)
{
    static const char *const rules[] = {"cp", "sjf", "tetris", "any"};
    int code = train_read_seeds(&t->texts, &t->seeds, &t->validation, &t->compared);

    if (code != EXIT_GOOD)
        return code;
    if (!read_range(t->jobs, &t->world.jobs_least, &t->world.jobs_most))
        return misuse("--jobs is '%.40s'; write a number from 1 to %d, or two as 5-8", t->jobs, EDGES_JOBS_MAX);
    uint32_t rule = 0;
    while (rule < 4 && strcmp(t->rule, rules[rule]) != 0)
        rule++;
    if (rule == 4)
        return misuse("--rule is '%.40s'; write cp, sjf, tetris or any", t->rule);
    t->world.has_any_rule = rule == 3;
    t->world.rule = t->world.has_any_rule ? CLO_EDGES_CP : (clo_edges_rule)rule;
    if (t->edges < 1 || t->edges > CLO_EDGES_MAX || t->updates > 1000000 || t->lessons > 1000000)
        return misuse("--edges is from 1 to %d, --lessons and --updates to 1000000", CLO_EDGES_MAX);
    if (t->lessons + t->updates == 0)
        return misuse("--lessons and --updates are 0; nothing would be trained");
    if (t->instances < 1 || t->instances > 1000 || t->rollouts < 2 || t->rollouts > 1000)
        return misuse("--instances is from 1 to 1000, --rollouts from 2 to 1000");
    if (!(t->agree >= 0 && t->agree <= 100))
        return misuse("--agree is from 0 to 100 percent");
    if (!(t->rate > 0))
        return misuse("--rate is 0; write a number > 0");
    t->world.edges = t->edges;
    return train_check_name(t->name);
}

static bool has(const edges_world *world, const clo_graph *graph)
{
    for (uint32_t i = 0; i < world->graphs_count; i++)
        if (world->graphs[i] == graph)
            return true;
    return false;
}

static int open_workload(training *t, const char *path)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    clo_workload *jobs = NULL;

    load.scale = t->scale;
    clo_status status = workload_load(path, &load, &jobs);
    if (status != CLO_OK)
        return complain_status(path, status);
    t->workloads[t->workloads_count++] = jobs;
    for (uint32_t j = 0; j < clo_workload_jobs(jobs); j++) {
        const clo_graph *graph = clo_workload_get(jobs, j)->graph;
        if (t->world.graphs_count < EDGES_GRAPHS_MAX && !has(&t->world, graph))
            t->world.graphs[t->world.graphs_count++] = graph;
    }
    t->hash = (t->hash ^ workload_hash(jobs)) * UINT64_C(1099511628211);
    return EXIT_GOOD;
}

/* First what the teacher does, then what brings more. Either may be left out. */
static void make_phases(training *t)
{
    train_phase phase = TRAIN_PHASE_INIT;

    phase.rate_first = t->rate;
    phase.rate_last = t->rate / 10;
    phase.method = TRAIN_IMITATION;
    phase.updates = t->lessons;
    phase.instances = 2 * t->instances;
    if (t->lessons > 0)
        t->phases[t->phases_count++] = phase;
    phase.method = TRAIN_REINFORCE;
    phase.updates = t->updates;
    phase.instances = t->instances;
    phase.rollouts = t->rollouts;
    phase.rate_first = t->lessons > 0 ? t->rate / 3 : t->rate;
    phase.by_time = true;
    phase.gamma = GAMMA;
    if (t->updates > 0)
        t->phases[t->phases_count++] = phase;
}

static int open_trainer(training *t)
{
    char why[TRAINER_WHY_BYTES] = "";

    t->seeds_list = calloc(t->seeds.count, sizeof *t->seeds_list);
    t->validation_list = calloc(t->validation.count, sizeof *t->validation_list);
    t->parameters = calloc(edges_parameters(), sizeof *t->parameters);
    t->compared_list = calloc((size_t)t->compared.count + 1, sizeof *t->compared_list);
    if (t->seeds_list == NULL || t->validation_list == NULL || t->compared_list == NULL || t->parameters == NULL)
        return complain(NULL, "out of memory");
    seeds_fill(t->compared, t->compared_list);
    seeds_fill(t->seeds, t->seeds_list);
    seeds_fill(t->validation, t->validation_list);
    edges_network(t->parameters, &t->net);
    parameters_init(&t->net, t->parameters, t->seed);
    parameters_zero(&t->net, t->parameters, t->net.score);
    make_phases(t);
    t->hash = (t->hash ^ t->world.jobs_least) * UINT64_C(1099511628211) + t->world.jobs_most;
    t->hash =
        (t->hash ^ t->edges) * UINT64_C(1099511628211) + (uint64_t)t->world.rule + (t->world.has_any_rule ? 3 : 0);
    t->environment = edges_environment;
    t->environment.argument = &t->world;
    const trainer_config config = {.environment = &t->environment,
                                   .net = &t->net,
                                   .parameters = t->parameters,
                                   .parameters_count = edges_parameters(),
                                   .critic = CLO_MODEL_NONE,
                                   .phases = t->phases,
                                   .phases_count = t->phases_count,
                                   .seeds = t->seeds_list,
                                   .seeds_count = t->seeds.count,
                                   .validation = t->validation_list,
                                   .validation_count = t->validation.count,
                                   .validate_every = t->validate_every,
                                   .seed = t->seed,
                                   .threads = t->threads,
                                   .hash = t->hash};
    t->trainer = trainer_create(&config, why);
    if (t->trainer == NULL)
        return complain(NULL, "%s", why);
    if (t->checkpoint != NULL && !trainer_load(t->trainer, t->checkpoint, why))
        return complain(NULL, "%s", why);
    t->done_before = trainer_updates_done(t->trainer);
    return EXIT_GOOD;
}

static void print_head(const training *t)
{
    printf("training on  %u graphs, %u to %u of them an instance; rule %s, %u edges are tried\n", t->world.graphs_count,
           t->world.jobs_least, t->world.jobs_most, t->rule, t->edges);
    printf("seeds        %s (list %016llx), validation %s (list %016llx), samples seed %llu\n", t->texts.seeds,
           (unsigned long long)seeds_hash(t->seeds), t->texts.validation, (unsigned long long)seeds_hash(t->validation),
           (unsigned long long)t->seed);
    printf("network      %u numbers; rewards: what the makespan falls by, in percent\n\n", edges_parameters());
    fflush(stdout);
}

static void show(const training *t, const train_point *point)
{
    char line[256];

    if (t->as_json)
        return;
    curve_line(t->trainer, t->phases[point->phase].method, point, seconds_since(t->begin_ns),
               point->update - t->done_before, line, sizeof line);
    if (!isnan(point->validation))
        printf("%s%s\n", takes_escapes(STDOUT_FILENO) ? "\r\033[K" : "", line);
    else if (takes_escapes(STDOUT_FILENO))
        printf("\r\033[K%s", line);
    fflush(stdout);
}

static int train(training *t)
{
    char why[TRAINER_WHY_BYTES] = "";
    train_point point = {0};
    bool has_begun = false;

    while (!has_begun || trainer_updates_done(t->trainer) <
                             trainer_updates(t->trainer)) { /* each round is an update, but the first */
        if (trainer_updates_done(t->trainer) == trainer_updates(t->trainer))
            break;
        has_begun = true;
        if (!trainer_update(t->trainer, &point, why))
            return complain(NULL, "%s", why);
        show(t, &point);
        if (t->checkpoint != NULL && !isnan(point.validation) && !trainer_save(t->trainer, t->checkpoint, why))
            return complain(NULL, "%s", why);
    }
    return EXIT_GOOD;
}

/* Of an instance. */
static uint32_t most_tasks(const training *t)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < t->world.graphs_count; i++)
        most = clo_graph_tasks(t->world.graphs[i]) > most ? clo_graph_tasks(t->world.graphs[i]) : most;
    return most * t->world.jobs_most;
}

/* Instances that nothing was chosen by: all decisions of each. */
static clo_status compare_aside(training *t, const clo_model *model)
{
    edges_case *cases = calloc(TEST_CASES, sizeof *cases);
    clo_status status = cases != NULL ? CLO_OK : CLO_ERR_MEMORY;

    for (uint32_t i = 0; i < t->compared.count && status == CLO_OK; i++) {
        uint32_t count = edges_cases_collect(&t->world, &t->compared_list[i], 1, 1, cases, TEST_CASES);
        status = edges_compare(&t->net, model, cases, count, &t->aside);
        edges_cases_free(cases, count);
    }
    free(cases);
    if (status == CLO_OK && most_tasks(t) <= CLO_MODEL_GOLDEN_ROWS_MAX)
        status = edges_compare_schedules(&t->world, &t->net, model, t->compared_list, t->compared.count, &t->change);
    return status;
}

static int compare(training *t, const edges_case *cases, uint32_t count)
{
    clo_model *model = NULL;
    clo_status status = clo_model_open(t->name, t->model, t->model_bytes, &model);

    if (status == CLO_OK)
        status = edges_compare(&t->net, model, cases, count, &t->agreement);
    t->integers = NAN;
    if (status == CLO_OK && most_tasks(t) <= CLO_MODEL_GOLDEN_ROWS_MAX)
        status = edges_validate(&t->world, model, t->validation_list, t->validation.count, &t->integers);
    if (status == CLO_OK && t->compared.count > 0)
        status = compare_aside(t, model);
    clo_model_destroy(model);
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

/* The best parameters as a model. Scales come from training seeds, the comparison from those of validation. */
static int make_model(training *t)
{
    edges_case *cases = calloc(SCALE_CASES + TEST_CASES, sizeof *cases);
    uint32_t scale = 0, test = 0;
    const char *why = NULL;
    int code = EXIT_GOOD;

    if (cases == NULL)
        return complain(NULL, "out of memory");
    memcpy(t->parameters, trainer_best(t->trainer, NULL, NULL), edges_parameters() * sizeof *t->parameters);
    scale = edges_cases_collect(&t->world, t->seeds_list, t->seeds.count, SCALE_EVERY, cases, SCALE_CASES);
    test = edges_cases_collect(&t->world, t->validation_list, t->validation.count, 1, cases + scale, TEST_CASES);
    clo_status status = edges_quantize(&t->net, t->name, cases, scale, &t->model, &t->model_bytes, &why);
    if (status != CLO_OK)
        code = why != NULL ? complain(NULL, "%s", why) : complain_status(NULL, status);
    else
        code = compare(t, cases + scale, test);
    edges_cases_free(cases, scale + test);
    free(cases);
    return code;
}

static double share_in(const quantize_agreement *found)
{
    return found->choices > 0 ? (double)found->same / (double)found->choices : 1;
}

static double share_of(const training *t)
{
    return share_in(&t->agreement);
}

/* A model whose integers choose otherwise is not what was trained. */
static int check_integers(const training *t)
{
    double reward, change = 0;

    (void)trainer_best(t->trainer, &reward, NULL);
    if (!isnan(t->integers)) /* percent that makespans are shorter by, of those without edges */
        change = (100 - t->integers) / (100 - reward) - 1;
    if (change > TRAIN_CHANGE_MOST && t->agree > 0)
        return complain("the model",
                        "its integers make makespans longer by %.3f %% than real numbers, more than %g %%, and it is "
                        "not written; try another --seed or a lower --rate",
                        100 * change, 100 * TRAIN_CHANGE_MOST);
    if (100 * share_of(t) >= t->agree)
        return EXIT_GOOD;
    return complain("the model",
                    "its integers choose as real numbers in %.2f %% of %llu decisions, less than %g %%, and it is not "
                    "written; try another --seed or a lower --rate",
                    100 * share_of(t), (unsigned long long)t->agreement.choices, t->agree);
}

static void print_aside(const training *t)
{
    if (t->compared.count == 0)
        return;
    printf("held aside   seeds %s (list %016llx): alike in %.2f %% of %llu decisions", t->texts.compare,
           (unsigned long long)seeds_hash(t->compared), 100 * share_in(&t->aside),
           (unsigned long long)t->aside.choices);
    if (t->change.count > 0)
        printf(", makespans %+.4f (+- %.4f) %%", 100 * paired_mean(&t->change), 100 * paired_error(&t->change));
    printf("\n");
}

static void json_aside(const training *t, json *out)
{
    if (t->compared.count == 0)
        return;
    json_count(out, "compared_hash", seeds_hash(t->compared));
    json_count(out, "compared", t->change.count);
    json_count(out, "compared_decisions", t->aside.choices);
    json_real(out, "compared_agreement", share_in(&t->aside));
    json_real(out, "compared_change", paired_mean(&t->change));
    json_real(out, "compared_change_error", paired_error(&t->change));
}

static int report(const training *t)
{
    double reward;
    uint32_t update, points;
    double first = trainer_curve(t->trainer, &points)[0].validation;
    double share = share_of(t);
    json out;

    (void)trainer_best(t->trainer, &reward, &update);
    if (!t->as_json) {
        printf("\nbest         makespans %.3f %% shorter on validation, after %u updates (%.3f %% before), in %.1f s\n",
               reward, update, first, seconds_since(t->begin_ns));
        printf("integers     choose alike in %.2f %% of %llu decisions", 100 * share,
               (unsigned long long)t->agreement.choices);
        if (!isnan(t->integers))
            printf(", makespans %.3f %% shorter", t->integers);
        printf("; %zu bytes\n", t->model_bytes);
        print_aside(t);
        if (t->output != NULL)
            printf("model        %s; build it in with clotho model embed\n", show_name(t->output));
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "model", t->name);
    json_real(&out, "validation", reward);
    json_real(&out, "validation_before", first);
    json_count(&out, "best_update", update);
    json_count(&out, "updates", trainer_updates_done(t->trainer));
    json_real(&out, "validation_integers", t->integers);
    json_real(&out, "agreement", share);
    json_count(&out, "decisions", t->agreement.choices);
    json_aside(t, &out);
    json_count(&out, "bytes", t->model_bytes);
    json_count(&out, "seeds_hash", seeds_hash(t->seeds));
    json_count(&out, "validation_hash", seeds_hash(t->validation));
    json_real(&out, "seconds", seconds_since(t->begin_ns));
    return json_print(&out);
}

static int run(training *t, char **paths, int count)
{
    int code = EXIT_GOOD;

    t->begin_ns = monotonic_ns();
    for (int i = 0; i < count && code == EXIT_GOOD; i++)
        code = open_workload(t, paths[i]);
    if (code == EXIT_GOOD && t->world.graphs_count == 0)
        code = complain(paths[0], "holds no job");
    if (code == EXIT_GOOD)
        code = open_trainer(t);
    if (code == EXIT_GOOD && !t->as_json)
        print_head(t);
    if (code == EXIT_GOOD)
        code = train(t);
    if (code == EXIT_GOOD)
        code = make_model(t);
    if (code == EXIT_GOOD)
        code = check_integers(t);
    if (code == EXIT_GOOD && t->output != NULL)
        code = model_write(t->output, t->model, t->model_bytes);
    uint32_t points_count = 0;
    const train_point *points = code == EXIT_GOOD ? trainer_curve(t->trainer, &points_count) : NULL;
    if (code == EXIT_GOOD && t->svg != NULL)
        code = train_write_curve(points, points_count, "clotho train edges", t->svg);
    return code == EXIT_GOOD ? report(t) : code;
}

static void close_all(training *t)
{
    trainer_destroy(t->trainer);
    for (uint32_t i = 0; i < t->workloads_count; i++)
        clo_workload_destroy(t->workloads[i]);
    free(t->seeds_list);
    free(t->validation_list);
    free(t->compared_list);
    free(t->parameters);
    free(t->model);
    free(t);
}

static int read_and_run(training *t, int argc, char **argv)
{
    static const command cmd = {
        "train edges",
        "WORKLOAD...",
        1,
        WORKLOADS_MAX,
        "Trains the network of the planners 'edges' on graphs that are drawn from the jobs of "
        "the workloads: it says\n"
        "which edges make a list schedule shorter. What is best on validation becomes a model "
        "file. Interrupted,\n"
        "it goes on from its checkpoint.",
        "The same seeds give the same bytes with any number of threads.\n"
        "Example: clotho train edges tpch_2g.jsonl tpch_100g.jsonl --updates 300 -o edges.model"};
    const option_spec options[] = {
        {"jobs", 0, "A-B", OPTION_TEXT, &t->jobs, "jobs of an instance (3-6)"},
        {"rule", 0, "NAME", OPTION_TEXT, &t->rule,
         "list rule: cp, sjf, tetris, or any: the seed of an instance draws it (cp)"},
        {"edges", 0, "N", OPTION_U32, &t->edges, "edges that an episode tries (16)"},
        {"scale", 0, "X", OPTION_FACTOR, &t->scale, "multiply times by X"},
        {"seeds", 0, "A-B", OPTION_TEXT, &t->texts.seeds, "instances to train on (100-4099)"},
        {"validation", 0, "A-B", OPTION_TEXT, &t->texts.validation, "instances that say what is kept (5000-5127)"},
        {"compare", 0, "A-B", OPTION_TEXT, &t->texts.compare,
         "other instances, to say what integers change of makespans against real numbers"},
        {"lessons", 0, "N", OPTION_U32, &t->lessons, "updates that imitate the best single edges (60)"},
        {"updates", 0, "N", OPTION_U32, &t->updates, "updates by reward (240)"},
        {"instances", 0, "N", OPTION_COUNT, &t->instances, "of an update (8)"},
        {"rollouts", 0, "N", OPTION_COUNT, &t->rollouts, "of an instance (12)"},
        {"rate", 0, "X", OPTION_REAL, &t->rate, "of Adam, a tenth of it at the end (0.03)"},
        {"validate-every", 0, "N", OPTION_U32, &t->validate_every, "updates between two validations (20)"},
        {"agree", 0, "P", OPTION_REAL, &t->agree,
         "percent of decisions in which integers must choose as real numbers, or nothing is written (99)"},
        {"name", 0, "NAME", OPTION_TEXT, &t->name, "of the model (edges)"},
        {"svg", 0, "F.svg", OPTION_OUTPUT, &t->svg, "draw the learning curve"}};
    const train_shared shared = {&t->seed, &t->threads, &t->checkpoint, &t->output, &t->as_json};
    char **operands;
    int count,
        code = train_parse(&cmd, options, sizeof options / sizeof options[0], &shared, argc, argv, &operands, &count);

    if (code == OPTIONS_GO_ON)
        code = check_options(t);
    else
        return code;
    return code == EXIT_GOOD ? run(t, operands, count) : code;
}

int train_edges(int argc, char **argv)
{
    training *t = calloc(1, sizeof *t);

    if (t == NULL)
        return complain(NULL, "out of memory");
    t->jobs = "3-6";
    t->rule = "cp";
    t->texts = (train_seeds){.seeds = "100-4099", .validation = "5000-5127"};
    t->name = "edges";
    t->edges = 16;
    t->lessons = 60;
    t->updates = 240;
    t->instances = 8;
    t->rollouts = 12;
    t->validate_every = 20;
    t->rate = 0.03;
    t->scale = 1;
    t->agree = TRAIN_AGREE_LEAST;
    int code = read_and_run(t, argc, argv);
    close_all(t);
    return code;
}
