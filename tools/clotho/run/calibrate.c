/* calibrate.c - `clotho calibrate GRAPH...`: runs graphs until it is known what each codelet takes on each kind.
 *
 * A policy of our own decides where: in round r a task runs on the (r mod n)th of the n kinds that can run it, so after
 * as many rounds as there are kinds each task has been everywhere, whatever the times are. */
#include "clotho/common/commands.h"
#include "clotho/common/options.h"
#include "clotho/run/calibrate_memory.h"

#include <clotho/policy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS_MAX 10000u
#define ROUNDS_DEFAULT 100u

/* The `turn`th kind, round and round, of those that can run the task; *count: how many there are. */
static uint32_t kind_in_turn(const input *in, uint32_t task, uint32_t turn, uint32_t *count)
{
    uint32_t executors = clo_platform_executors(in->platform), kinds = clo_platform_kinds(in->platform), found = 0;
    uint32_t wanted = CLO_NONE;

    for (int pass = 0; pass < 2; pass++) { /* how many, then which */
        uint32_t at = 0;
        for (uint32_t k = 0; k < kinds; k++) {
            bool can_run = false;
            for (uint32_t e = 0; e < executors && !can_run; e++)
                can_run = clo_platform_executor(in->platform, e)->kind == k &&
                          clo_cost_execution_ns(in->cost, task, e) != CLO_TIME_NEVER;
            if (can_run && pass == 1 && at == turn % found)
                wanted = k;
            at += can_run;
        }
        found = at;
        if (found == 0)
            break;
    }
    *count = found;
    return wanted;
}

static bool is_wanted(const calibration *c, uint32_t task, uint32_t e)
{
    if (c->only == CLO_NONE)
        return clo_platform_executor(c->in->platform, e)->kind == c->kind_of[task];
    return e == c->only || clo_cost_execution_ns(c->in->cost, task, c->only) == CLO_TIME_NEVER;
}

/* Some executor is busy. */
static bool is_busy(const calibration *c, const clo_view *view)
{
    uint32_t free = 0;

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_view_next_free(view, e))
        free++;
    return free < clo_platform_executors(c->in->platform);
}

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    const calibration *c = clo_view_argument(view);

    (void)state;
    if (c->only != CLO_NONE && is_busy(c, view))
        return false;
    for (clo_ready_stage r = clo_view_first_ready(view); r.job != CLO_NONE; r = clo_view_next_ready(view, r))
        for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_view_next_free(view, e)) {
            if (!clo_view_step(view))
                return false;
            if (!is_wanted(c, r.stage, e) || clo_view_execution_ns(view, r.job, r.stage, e) == CLO_TIME_NEVER ||
                !clo_view_fits(view, r.job, r.stage, e))
                continue;
            *choice = (clo_choice){.job = r.job, .stage = r.stage, .count = 1, .executor = e, .duplicate = CLO_NONE};
            return true;
        }
    return false;
}

static const clo_policy in_turn = {
    .size = sizeof(clo_policy),
    .name = "calibrate",
    .summary = "each task on another kind of executor in each run",
    .decide = decide,
};

/* Runs once, and learns. */
static int run_round(calibration *c, clo_job *job)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    uint32_t first, skipped;
    clo_trace *trace = NULL;

    if (c->commands != NULL)
        commands_begin(c->commands);
    clo_status status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, &result);
    if (c->commands != NULL && (status == CLO_OK || status == CLO_ERR_TASK) &&
        commands_failed(c->commands, &first, &skipped) > 0)
        return commands_complain(c->commands, c->in->path);
    if (status == CLO_OK)
        status = clo_job_trace(job, &trace);
    if (status == CLO_OK)
        status = clo_profile_learn_trace(c->learned, c->in->cost, trace, NULL);
    clo_trace_destroy(trace);
    return status == CLO_OK ? EXIT_GOOD : complain_status(c->in->path, status);
}

/* How much is known by now. */
static int look(calibration *c)
{
    clo_profile_entry entry;
    clo_status status = clo_profile_publish(c->learned);

    c->entries = clo_profile_entries(c->learned);
    c->trusted = 0;
    for (uint32_t i = 0; clo_profile_entry_at(c->learned, i, &entry) == CLO_OK; i++)
        c->trusted += entry.samples >= CLO_PROFILE_TRUSTED;
    return status == CLO_OK ? EXIT_GOOD : complain_status(c->in->path, status);
}

/* Rounds until all that can be known is trusted; *rounds: how many there were. */
static int run_rounds(calibration *c, clo_job *job, uint32_t *rounds)
{
    uint32_t tasks = clo_graph_tasks(clo_document_graph(c->in->document));
    int code = EXIT_GOOD;

    for (*rounds = 0; *rounds < c->options->rounds && code == EXIT_GOOD; ++*rounds) {
        if (*rounds >= c->kinds_most && c->entries > 0 && c->trusted == c->entries)
            break;
        for (uint32_t t = 0; t < tasks; t++) {
            uint32_t kinds;
            c->kind_of[t] = kind_in_turn(c->in, t, *rounds, &kinds);
            c->kinds_most = kinds > c->kinds_most ? kinds : c->kinds_most;
        }
        code = run_round(c, job);
        if (code == EXIT_GOOD)
            code = look(c);
        if (code == EXIT_GOOD && *rounds >= c->kinds_most && c->entries == 0)
            break; /* nothing there can be learned */
    }
    return code;
}

static int run_all(calibration *c, clo_runtime *runtime, uint32_t *rounds)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = &in_turn;
    config.argument = c;
    clo_status status = clo_job_create(runtime, c->in->cost, &config, &job);
    if (status != CLO_OK)
        return complain_status(c->in->path, status);
    int code = c->options->contention ? calibrate_memory(c, job, rounds) : run_rounds(c, job, rounds);
    clo_job_destroy(job);
    return code == EXIT_GOOD ? look(c) : code;
}

static int report(const calibration *c, uint32_t rounds)
{
    const clo_graph *graph = clo_document_graph(c->in->document);
    clo_measured found = CLO_MEASURED_INIT; /* what is known of this graph */
    clo_cost *cost = NULL;
    clo_status status = clo_cost_create_measured(graph, c->in->platform, c->learned, &found, &cost);
    uint32_t tasks = clo_graph_tasks(graph), measured = found.tasks_by[CLO_TIME_MEASURED];
    json out;

    clo_cost_destroy(cost);
    if (status != CLO_OK)
        return complain_status(c->in->path, status);
    if (measured < tasks)
        note("%s: %u of %u tasks were not measured on each kind: they have neither a codelet nor a command, or a body "
             "that takes what it is told",
             c->in->path, tasks - measured, tasks);
    if (c->trusted < c->entries)
        note("%s: %u of %u times have fewer than %d samples after %u rounds; add --rounds %u", c->in->path,
             c->entries - c->trusted, c->entries, CLO_PROFILE_TRUSTED, rounds,
             rounds < ROUNDS_MAX / 2 ? 2 * rounds : ROUNDS_MAX);
    if (!c->options->as_json) {
        printf("%-12s %u round%s: %u times of %u of %u tasks, %u of them from %d samples or more\n", "calibrated",
               rounds, rounds == 1 ? "" : "s", c->entries, measured, tasks, c->trusted, CLO_PROFILE_TRUSTED);
        if (c->options->contention)
            printf("%-12s %u of them wait for memory in a part of their time\n", "contention", c->with_part);
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "graph", clo_graph_name(graph));
    json_count(&out, "rounds", rounds);
    json_count(&out, "tasks", tasks);
    json_count(&out, "tasks_measured", measured);
    json_count(&out, "times", c->entries);
    json_count(&out, "times_trusted", c->trusted);
    if (c->options->contention)
        json_count(&out, "times_with_memory_part", c->with_part);
    return json_print(&out);
}

/* What was learned goes into `all`. */
static int add_all(const calibration *c, clo_profile *all)
{
    clo_profile_entry entry;
    clo_status status = CLO_OK;

    for (uint32_t i = 0; status == CLO_OK && clo_profile_entry_at(c->learned, i, &entry) == CLO_OK; i++)
        if (entry.codelet[0] != CLO_CODELET_ADDRESS) {
            const clo_memory_part part = clo_profile_memory_part(c->learned, i);
            status = clo_profile_add(all, &entry);
            if (status == CLO_OK && c->options->contention)
                status = clo_profile_add_memory_part(all, &entry, &part);
        }
    const clo_run_spread runs = clo_profile_run_spread(c->learned);
    if (status == CLO_OK && runs.runs > 0)
        status = clo_profile_add_run_spread(all, &runs);
    return status == CLO_OK ? EXIT_GOOD : complain_status(c->in->path, status);
}

static int calibrate_graph(calibration *c, clo_profile *all)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    uint32_t rounds = 0;

    config.jobs_max = 1;
    config.trace = 1;
    config.slot_workers = commands_at_once(c->in);
    c->kind_of = calloc((size_t)clo_graph_tasks(clo_document_graph(c->in->document)) + 1, sizeof *c->kind_of);
    clo_status status = c->kind_of != NULL ? CLO_OK : CLO_ERR_MEMORY;
    if (status == CLO_OK)
        status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &c->learned);
    if (status == CLO_OK)
        status = clo_runtime_create(c->in->platform, &config, &runtime);
    int code = status == CLO_OK ? run_all(c, runtime, &rounds) : complain_status(c->in->path, status);
    clo_runtime_destroy(runtime);
    if (code == EXIT_GOOD)
        code = add_all(c, all);
    if (code == EXIT_GOOD)
        code = report(c, rounds);
    clo_profile_destroy(c->learned);
    free(c->kind_of);
    return code;
}

static int calibrate_file(const char *path, const calibrate_options *o, clo_profile *all)
{
    input in;
    calibration c = {.in = &in, .options = o, .only = CLO_NONE, .run_round = run_round};
    int code = input_open(&in, path, &o->run.input);

    if (code != EXIT_GOOD)
        return code;
    if (!clo_platform_is_native(in.platform))
        code = complain(in.place, "platform '%s' is not this machine, of which times are measured; leave it out",
                        clo_platform_name(in.platform));
    if (code == EXIT_GOOD)
        code = commands_open(&in, &o->run, &c.commands);
    if (code == EXIT_GOOD && !o->as_json)
        input_print(&in);
    if (code == EXIT_GOOD)
        code = calibrate_graph(&c, all);
    input_close(&in);
    commands_close(c.commands);
    return code;
}

/* All graphs; the file is written once all of them have been run. */
static int calibrate_files(char **paths, int count, const calibrate_options *o)
{
    clo_profile *all = NULL;
    clo_status status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &all);

    if (status == CLO_OK && access(o->output, F_OK) == 0 && !is_empty_file(o->output))
        status = clo_profile_load(all, o->output, 0);
    int code = status == CLO_OK ? EXIT_GOOD : complain_status(o->output, status);
    if (code == EXIT_GOOD && !o->contention)
        code = input_check_alone(all, o->output);
    else if (code == EXIT_GOOD && clo_profile_entries(all) > 0 && !input_has_parts(all))
        input_warn_together(o->output);
    for (int i = 0; i < count && code == EXIT_GOOD; i++)
        code = calibrate_file(paths[i], o, all);
    if (code == EXIT_GOOD && (status = clo_profile_publish(all)) == CLO_OK)
        status = clo_profile_save(all, o->output);
    if (code == EXIT_GOOD && status != CLO_OK)
        code = complain_status(o->output, status);
    if (code == EXIT_GOOD && !o->as_json)
        printf("%-12s %s: %u times; 'clotho profile show %s' prints them\n", "profile", show_name(o->output),
               clo_profile_entries(all), show_name(o->output));
    clo_profile_destroy(all);
    return code;
}

static const command cmd = {
    "calibrate",
    "GRAPH...",
    1,
    1 << 20,
    "Runs each graph, each task on one kind of executor after another, until it is known what all of them take.\n"
    "What is known is merged into a file of measured times, for --profile of other verbs.",
    "A time counts as known from nine samples on. Tasks without a codelet or a command are not measured.\n"
    "Example: clotho calibrate steps.json -o times.json && clotho plan steps.json --profile times.json"};

int cmd_calibrate(int argc, char **argv)
{
    calibrate_options o = {.rounds = ROUNDS_DEFAULT,
                           .run = {.clock_name = "real",
                                   .repeat = 1,
                                   .dilate = 1,
                                   .input.scale = 1,
                                   .failures = 1,
                                   .at_once = UINT32_MAX,
                                   .as_json = true}}; /* commands print no lines */
    const option_spec options[] = {
        {"output", 'o', "F.json", OPTION_OUTPUT, &o.output, "merge the times into this file; it may be new"},
        {"platform", 'p', "SPEC", OPTION_INPUT, &o.run.input.spec, "as in 'clotho plan'; it must be this machine"},
        {"instance", 'i', "NAME", OPTION_TEXT, &o.run.input.instance, "take only this instance of a file with many"},
        {"body", 0, "NAME", OPTION_TEXT, &o.run.input.body,
         "spin (default), memory or command: of tasks that name none"},
        {"parallel", 'j', "N", OPTION_U32, &o.run.at_once, "commands: N at once, on N slots (as --platform slots:N)"},
        {"rounds", 0, "N", OPTION_U32, &o.rounds, "run each graph at most N times (100)"},
        {"contention", 0, NULL, OPTION_FLAG, &o.contention,
         "run tasks one at a time, alone and beside CPUs that read memory: what they lose tells predictions how tasks "
         "slow each other down"},
        {"json", 0, NULL, OPTION_FLAG, &o.as_json, "print one JSON object per line on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    if (o.output == NULL)
        return misuse("no output named; add --output F.json");
    if (o.rounds == 0 || o.rounds > ROUNDS_MAX)
        return misuse("--rounds is %u; write 1 to %u", o.rounds, ROUNDS_MAX);
    if (o.contention && o.run.at_once != UINT32_MAX)
        return misuse("--contention runs tasks on CPUs, one at a time: leave -j out");
    code = run_check_body(&o.run);
    if (code == EXIT_GOOD)
        code = run_read_slots(&o.run);
    return code == EXIT_GOOD ? calibrate_files(operands, count, &o) : code;
}
