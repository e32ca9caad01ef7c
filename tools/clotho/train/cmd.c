/* cmd.c - `clotho train ACTION`, and its action `parametric WORKLOAD`: finds the numbers of the policy
 * "parametric" for a workload. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/actions.h"
#include "clotho/common/commands.h"
#include "clotho/common/options.h"
#include "clotho/stream/arrivals.h"
#include "clotho/train/train.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int check_options(train_options *o, const train_seeds *seeds)
{
    int code = train_read_seeds(seeds, &o->seeds, &o->validation, NULL);

    if (code != EXIT_GOOD)
        return code;
    if (o->population < 4 || o->population > 10000)
        return misuse("--population is %u; write 4 to 10000", o->population);
    if (o->generations < 1 || o->generations > 100000)
        return misuse("--generations is %u; write 1 to 100000", o->generations);
    return known_environment(o->environment);
}

static int parametric(int argc, char **argv)
{
    static const command cmd = {
        "train parametric",
        "WORKLOAD",
        1,
        1,
        "Finds the numbers of the policy 'parametric', 'graphene' or 'easy-parametric' for a workload by the\n"
        "cross-entropy method: streams of its jobs are simulated, and the mean completion time (--for) is made small,\n"
        "relative to that of a baseline. Prints the argument that "
        "was best on the seeds of validation. Interrupted, it goes on from its checkpoint.",
        "The same seeds give the same numbers with any number of threads.\n"
        "Example: clotho train parametric tpch.jsonl --platform uniform:50 --jobs 20 "
        "--arrivals batch --environment decima\n"
        "Example: clotho train parametric tpch.jsonl --scene uniform:50/20/batch --scene uniform:1000/150/batch"};
    train_options o = {.policy = "parametric",
                       .baseline = "fair",
                       .goal = "mean",
                       .generations = 25,
                       .population = 40,
                       .seeds_each = 8,
                       .scale = 1};
    train_seeds seeds = {"100-163", "200-215", NULL};
    const option_spec options[] = {
        {"policy", 0, "NAME", OPTION_TEXT, &o.policy,
         "whose numbers: parametric (default), graphene or easy-parametric"},
        {"platform", 'p', "SPEC", OPTION_INPUT, &o.spec, "as in 'clotho plan'"},
        {"environment", 0, "NAME", OPTION_TEXT, &o.environment, "as in 'clotho simulate'"},
        {"jobs", 0, "N", OPTION_COUNT, &o.jobs, "jobs of a stream (20)"},
        {"arrivals", 0, ARRIVALS_ARGUMENT, OPTION_TEXT, &o.arrivals, ARRIVALS_HELP " (batch)"},
        {"scene", 0, "SPEC/JOBS/ARRIVALS", OPTION_LIST, &o.scenes,
         "in place of the three: numbers that serve each scene; may be repeated"},
        {"for", 0, "GOAL", OPTION_TEXT, &o.goal,
         "mean (default), weighted, p95, makespan, late or tardy: what is made small"},
        {"deadlines", 0, "X-Y", OPTION_TEXT, &o.deadlines, "jobs have a deadline of X to Y times their lower bound"},
        {"scale", 0, "X", OPTION_FACTOR, &o.scale, "multiply times and bytes by X"},
        {"baseline", 0, "NAME[:ARG]", OPTION_TEXT, &o.baseline, "the policy that scores are relative to (fair)"},
        {"start", 0, "ARG", OPTION_TEXT, &o.start,
         "the argument to begin with (the built-in one); its unit of time is learnt"},
        {"seeds", 0, "A-B", OPTION_TEXT, &seeds.seeds, "streams to train on (100-163)"},
        {"each", 0, "N", OPTION_COUNT, &o.seeds_each, "of these, how many a generation, in turn (8)"},
        {"validation", 0, "A-B", OPTION_TEXT, &seeds.validation, "streams that say what is kept (200-215)"},
        {"generations", 0, "N", OPTION_COUNT, &o.generations, "how many (25)"},
        {"population", 0, "N", OPTION_COUNT, &o.population, "samples of a generation (40)"}};
    const train_shared shared = {&o.seed, &o.threads, &o.checkpoint, &o.output, &o.as_json};
    char **operands;
    int count,
        code = train_parse(&cmd, options, sizeof options / sizeof options[0], &shared, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&o, &seeds);
    if (o.scenes.count == 0) {
        o.arrivals = o.arrivals != NULL ? o.arrivals : "batch";
        o.jobs = o.jobs > 0 ? o.jobs : 20;
    }
    return code != EXIT_GOOD ? code : train_parametric(operands[0], &o);
}

int cmd_train(int argc, char **argv)
{
    static const action actions[] = {
        {"parametric", parametric, "the numbers of the policies 'parametric', 'graphene' and 'easy-parametric'"},
        {"lachesis", train_lachesis, "the network of the planner 'lachesis'"},
        {"decima", train_decima, "the network of the policy 'residual'"},
        {"easy-residual", train_easy_residual, "the network of the policy 'easy-residual'"},
        {"decima-network", train_decima_network, "the network of the policy 'decima'"},
        {"edges", train_edges, "the network of the planners 'edges'"},
        {NULL, NULL, NULL}};

    return actions_run("train", actions, argc, argv);
}
