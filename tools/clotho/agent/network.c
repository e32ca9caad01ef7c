/* network.c - `clotho train decima-network`: the network of the policy "decima" (Mao et al., SIGCOMM 2019), of the
 * published one's shape, trained in Decima's environment: it imitates "parametric", then learns by REINFORCE. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/agent/training.h"

#include "clotho/common/clock.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/policy_option.h"
#include "clotho/common/report.h"
#include "clotho/model/model.h"
#include "clotho/simulate/hash.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/arrivals.h"
#include "clotho/train/train.h"
#include "train/numbers/fnv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const network_training *t)
{
    const network_options *o = &t->o;
    const uint64_t counts[] = {workload_hash(t->jobs),
                               o->imitations,
                               o->updates,
                               o->instances,
                               o->rollouts,
                               o->decisions,
                               o->jobs_first,
                               o->scenes.jobs,
                               o->validate_every,
                               o->batch,
                               o->scenes.seeds.first,
                               o->scenes.seeds.count,
                               o->scenes.validation.first,
                               o->scenes.seed,
                               o->parts.lacks_limits,
                               o->scenes.validation.count,
                               t->scenes_count,
                               o->parts.lacks_messages};
    const double reals[] = {o->rate, o->rate_last, o->entropy, o->entropy_last, o->horizon_s, o->scenes.scale};
    uint64_t hash = fnv_bytes(fnv_bytes(FNV_BEGIN, counts, sizeof counts), reals, sizeof reals);

    for (uint32_t s = 0; s < t->scenes_count; s++) {
        const clo_arrivals_config *a = &t->scenes[s].arrivals;
        const uint64_t scene[] = {platform_hash(t->scenes[s].platform), (uint64_t)a->kind, (uint64_t)a->mean_ns,
                                  a->jobs};
        hash = fnv_bytes(hash, scene, sizeof scene);
    }
    if (o->from != NULL)
        hash = fnv_bytes(hash, t->numbers, agent_numbers() * sizeof *t->numbers);
    return fnv_text(fnv_text(hash, o->scenes.environment), o->scenes.baseline);
}

/* The first numbers. */
static int begin(network_training *t)
{
    clo_model *model = NULL;
    int code = t->o.from != NULL ? model_load(t->o.from, &model) : EXIT_GOOD;

    if (t->o.from == NULL)
        agent_init(t->numbers, &t->o.parts, t->o.scenes.seed);
    else if (code == EXIT_GOOD && !agent_read(model, t->numbers))
        code = complain(t->o.from, "is no model that this command makes");
    clo_model_destroy(model);
    memcpy(t->best, t->numbers, agent_numbers() * sizeof *t->best);
    return code;
}

static int open_training(network_training *t)
{
    uint32_t numbers = agent_numbers();
    const char *text;
    int code = train_scenes_open(&t->o.scenes, t->jobs, t->scenes, &t->scenes_count);

    t->policy = clo_policy_find("decima");
    t->executors = 50; /* what the features are divided by, on every platform */
    if (code == EXIT_GOOD)
        code = policy_open(t->o.scenes.baseline, &t->baseline, &text, &t->baseline_argument);
    double **arrays[] = {&t->numbers, &t->best, &t->gradient, &t->adam.m, &t->adam.v};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && code == EXIT_GOOD; i++) {
        *arrays[i] = calloc(numbers, sizeof(double));
        if (*arrays[i] == NULL)
            return complain(NULL, "out of memory");
    }
    t->curve = calloc((size_t)t->o.imitations + t->o.updates + 2, sizeof *t->curve);
    if (code != EXIT_GOOD || t->curve == NULL)
        return code != EXIT_GOOD ? code : complain(NULL, "out of memory");
    t->adam.count = numbers;
    t->best_score = INFINITY;
    code = begin(t);
    t->hash = hash_of(t);
    agent_network(t->numbers, t->executors, &t->net);
    code = code == EXIT_GOOD ? network_prepare(t) : code;
    return code == EXIT_GOOD ? network_read_checkpoint(t) : code;
}

static void print_head(const network_training *t)
{
    const network_options *o = &t->o;

    printf("training on  %u graphs, %u scenes; %u updates by imitation of parametric, %u by REINFORCE\n",
           clo_workload_jobs(t->jobs), t->scenes_count, o->imitations, o->updates);
    printf("seeds        %s (list %016llx), validation %s (list %016llx), draws %llu\n", o->texts.seeds,
           (unsigned long long)seeds_hash(o->scenes.seeds), o->texts.validation,
           (unsigned long long)seeds_hash(o->scenes.validation), (unsigned long long)o->scenes.seed);
    printf("network      %u numbers; validation is completion times over those of %s\n\n", agent_numbers(),
           o->scenes.baseline);
    fflush(stdout);
}

static double share_of(const network_training *t, uint64_t same)
{
    return t->agreement.decisions > 0 ? (double)same / (double)t->agreement.decisions : 1;
}

static int report(const network_training *t)
{
    const network_options *o = &t->o;
    const network_agreement *found = &t->agreement;
    char text[32];
    json out;

    snprintf(text, sizeof text, "%016llx", (unsigned long long)fnv_bytes(FNV_BEGIN, t->model, t->model_bytes));
    if (!o->scenes.as_json) {
        printf("\nbest         %.4f of %s's completion times on validation, after update %u, in %.1f s\n",
               t->best_score, o->scenes.baseline, t->best_update, seconds_since(t->begin_ns));
        if (o->compared.count > 0)
            printf("integers     choose as real numbers do in %.2f %% of %llu decisions (the stage in %.2f %%, the "
                   "limit in "
                   "%.2f %%), completion times %+.3f (+- %.3f) %%\n",
                   100 * share_of(t, found->same), (unsigned long long)found->decisions,
                   100 * share_of(t, found->same_stages), 100 * share_of(t, found->same_limits),
                   100 * paired_mean(&found->change), 100 * paired_error(&found->change));
        printf("model        %zu bytes, hash %s%s%s\n", t->model_bytes, text, o->scenes.output != NULL ? ", " : "",
               o->scenes.output != NULL ? show_name(o->scenes.output) : "");
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "model", o->name);
    json_text(&out, "model_hash", text);
    json_count(&out, "bytes", t->model_bytes);
    json_real(&out, "validation", t->best_score);
    json_real(&out, "validation_first", -t->curve[0].validation);
    json_count(&out, "best_update", t->best_update);
    json_count(&out, "updates", t->done);
    if (o->compared.count > 0) {
        json_count(&out, "decisions", found->decisions);
        json_real(&out, "agreement", share_of(t, found->same));
        json_real(&out, "agreement_of_stages", share_of(t, found->same_stages));
        json_real(&out, "agreement_of_limits", share_of(t, found->same_limits));
        json_real(&out, "objective_change", paired_mean(&found->change));
        json_real(&out, "objective_change_error", paired_error(&found->change));
    }
    json_count(&out, "seeds_hash", seeds_hash(o->scenes.seeds));
    json_count(&out, "validation_hash", seeds_hash(o->scenes.validation));
    json_real(&out, "seconds", seconds_since(t->begin_ns));
    return json_print(&out);
}

static int check_options(network_options *o)
{
    train_options *s = &o->scenes;
    int code = train_read_seeds(&o->texts, &s->seeds, &s->validation, &o->compared);

    if (code == EXIT_GOOD)
        code = train_check_name(o->name);
    if (code != EXIT_GOOD)
        return code;
    bool has_none = o->imitations + o->updates == 0 && o->from == NULL;
    if (o->imitations > 1000000 || o->updates > 1000000 || has_none)
        return misuse("--imitations and --updates are at most 1000000, not both 0 without --from");
    if (o->from != NULL && (o->parts.lacks_messages || o->parts.lacks_limits))
        return misuse("--from takes all parts of a network: leave --no-messages and --no-limits out");
    o->stop = o->stop == 0 || o->stop > o->imitations + o->updates ? o->imitations + o->updates : o->stop;
    if (o->instances < 1 || o->instances > 1000 || o->rollouts < 2 || o->rollouts > 1000 || o->decisions < 1 ||
        o->decisions > 100000 || o->batch < 1 || o->validate_every < 1)
        return misuse("--instances is from 1 to 1000, --rollouts from 2 to 1000, --decisions from 1 to 100000, "
                      "--batch and --validate-every from 1");
    if (!(o->rate > 0 && o->rate <= 1) || !(o->rate_last > 0 && o->rate_last <= 1) ||
        !(o->entropy >= 0 && o->entropy_last >= 0) || !(o->horizon_s >= 0))
        return misuse("--rate and --rate-last are above 0, at most 1; --entropy, --entropy-last and "
                      "--horizon are not below 0");
    if (s->scenes.count == 0) {
        s->arrivals = s->arrivals != NULL ? s->arrivals : "batch";
        s->jobs = s->jobs > 0 ? s->jobs : 20;
    }
    return EXIT_GOOD;
}

static int run(network_training *t, char **paths, int count)
{
    t->begin_ns = monotonic_ns();
    int code = train_load_jobs(paths, count, t->o.scenes.scale, t->loaded, &t->jobs);
    if (code == EXIT_GOOD)
        code = open_training(t);
    if (code == EXIT_GOOD && !t->o.is_forced)
        code = network_room(t);
    if (code == EXIT_GOOD && !t->o.scenes.as_json)
        print_head(t);
    if (code == EXIT_GOOD)
        code = network_train(t);
    if (code == EXIT_GOOD)
        code = network_model(t, t->best, &t->model, &t->model_bytes, NULL);
    if (code == EXIT_GOOD && t->o.compared.count > 0)
        code = network_compare(t);
    if (code == EXIT_GOOD && t->o.scenes.output != NULL)
        code = model_write(t->o.scenes.output, t->model, t->model_bytes);
    if (code == EXIT_GOOD && t->o.svg != NULL)
        code = train_write_curve(t->curve, t->curve_count, "clotho train decima-network", t->o.svg);
    return code == EXIT_GOOD ? report(t) : code;
}

static void close_all(network_training *t)
{
    episode kept = {.kept = t->scaled, .kept_count = t->scaled_count};

    episode_free(&kept);
    train_scenes_close(t->scenes, t->scenes_count);
    clo_workload_destroy(t->jobs);
    for (int i = 0; i < NETWORK_WORKLOADS_MAX; i++)
        clo_workload_destroy(t->loaded[i]);
    policy_close(t->baseline, t->baseline_argument);
    free(t->baseline_ns);
    free(t->numbers);
    free(t->best);
    free(t->gradient);
    free(t->adam.m);
    free(t->adam.v);
    free(t->curve);
    free(t->model);
    free(t);
}

static const command cmd = {
    "train decima-network",
    "WORKLOAD...",
    1,
    NETWORK_WORKLOADS_MAX,
    "Trains the network of the policy 'decima', of the published one's shape: it imitates the rule of "
    "'parametric', "
    "then learns\n"
    "from episodes by REINFORCE. What is best on validation becomes a model file. Where an oracle that knows all gains "
    "less\n"
    "than 2 % over 'auto', nothing is trained (--force). Interrupted, it goes on from its checkpoint.",
    "The same seeds give the same bytes with any number of threads.\n"
    "Example: clotho train decima-network tpch.jsonl --scene uniform:50/20/batch --scene "
    "uniform:50/100/poisson:13.8 --horizon 600 -o own.model"};

static int read_and_run(network_training *t, int argc, char **argv)
{
    network_options *o = &t->o;
    train_options *s = &o->scenes;
    const option_spec specs[] = {
        {"platform", 'p', "SPEC", OPTION_INPUT, &s->spec, "as in 'clotho plan'"},
        {"environment", 0, "NAME", OPTION_TEXT, &s->environment, "as in 'clotho simulate' (decima)"},
        {"jobs", 0, "N", OPTION_COUNT, &s->jobs, "jobs of a stream (20)"},
        {"arrivals", 0, ARRIVALS_ARGUMENT, OPTION_TEXT, &s->arrivals, ARRIVALS_HELP " (batch)"},
        {"scene", 0, "SPEC/JOBS/ARRIVALS", OPTION_LIST, &s->scenes,
         "in place of the three: trains on each in turn; may be repeated"},
        {"scale", 0, "X", OPTION_FACTOR, &s->scale, "multiply times and bytes by X"},
        {"baseline", 0, "NAME[:ARG]", OPTION_TEXT, &s->baseline, "the policy that validation is relative to (decima)"},
        {"seeds", 0, "A-B", OPTION_TEXT, &o->texts.seeds, "streams to train on (100-1123)"},
        {"validation", 0, "A-B", OPTION_TEXT, &o->texts.validation, "streams that say what is kept (5000-5015)"},
        {"compare", 0, "A-B", OPTION_TEXT, &o->texts.compare,
         "other streams, to say what integers change against real numbers"},
        {"from", 0, "MODEL", OPTION_INPUT, &o->from,
         "a model of this command, or a built-in one: training begins with its numbers"},
        {"imitations", 0, "N", OPTION_U32, &o->imitations, "updates by imitation (300)"},
        {"updates", 0, "N", OPTION_U32, &o->updates, "updates by REINFORCE behind them (300)"},
        {"stop", 0, "N", OPTION_U32, &o->stop, "stop after this update, as if interrupted"},
        {"instances", 0, "N", OPTION_COUNT, &o->instances, "streams of an update (2)"},
        {"rollouts", 0, "N", OPTION_COUNT, &o->rollouts, "of each stream, which share a baseline (8)"},
        {"decisions", 0, "N", OPTION_COUNT, &o->decisions, "of an update that are learned from (256)"},
        {"batch", 0, "N", OPTION_COUNT, &o->batch, "of these, for each step of an imitation (64)"},
        {"jobs-first", 0, "N", OPTION_COUNT, &o->jobs_first,
         "jobs of an episode in the first update by REINFORCE; whole ones from the middle on"},
        {"rate", 0, "X", OPTION_REAL, &o->rate, "of Adam; ten times as much where imitation begins (0.0003)"},
        {"rate-last", 0, "X", OPTION_REAL, &o->rate_last, "in the last update (0.00003)"},
        {"entropy", 0, "X", OPTION_REAL, &o->entropy, "what entropy is worth in the first update (0.01)"},
        {"entropy-last", 0, "X", OPTION_REAL, &o->entropy_last, "in the last one (0)"},
        {"horizon", 0, "SECONDS", OPTION_REAL, &o->horizon_s,
         "later times count e times less each so many seconds; 0: all count the same (0)"},
        {"force", 0, NULL, OPTION_FLAG, &o->is_forced, "train where an oracle says that there is nothing to learn"},
        {"no-messages", 0, NULL, OPTION_FLAG, &o->parts.lacks_messages, "leave the messages between stages out"},
        {"no-limits", 0, NULL, OPTION_FLAG, &o->parts.lacks_limits, "a stage gets all executors that are asked about"},
        {"validate-every", 0, "N", OPTION_U32, &o->validate_every, "updates between two validations (20)"},
        {"name", 0, "NAME", OPTION_TEXT, &o->name, "of the model (decima-own)"},
        {"svg", 0, "F.svg", OPTION_OUTPUT, &o->svg, "draw the learning curve"}};
    const train_shared shared = {&s->seed, &s->threads, &s->checkpoint, &s->output, &s->as_json};
    char **operands;
    int count, code = train_parse(&cmd, specs, sizeof specs / sizeof specs[0], &shared, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(o);
    return code == EXIT_GOOD ? run(t, operands, count) : code;
}

int train_decima_network(int argc, char **argv)
{
    network_training *t = calloc(1, sizeof *t);

    if (t == NULL)
        return complain(NULL, "out of memory");
    t->o = (network_options){.scenes = {.environment = "decima", .baseline = "decima", .goal = "mean", .scale = 1},
                             .texts = {.seeds = "100-1123", .validation = "5000-5015"},
                             .name = "decima-own",
                             .imitations = 300,
                             .updates = 300,
                             .validate_every = 20,
                             .instances = 2,
                             .rollouts = 8,
                             .decisions = 256,
                             .batch = 64,
                             .rate = 3e-4,
                             .rate_last = 3e-5,
                             .entropy = 0.01};
    int code = read_and_run(t, argc, argv);
    close_all(t);
    return code;
}
