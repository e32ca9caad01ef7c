/* commands.c - see commands.h.
 *
 * The graph of a document is sealed, so a copy of it gets bodies that stand around clo_body_command. With -k a failed
 * command ends its body well, and those that wait for it are left out by their own bodies: so the engine goes on.
 *
 * A command with instances runs once for each: they are counted one by one, each has a clo_command of its own, and one
 * that fails fails the task. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/run/commands.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITS, DONE, LEFT_OUT, FAILED }; /* of many instances the worst counts */
enum { SLOT_WORKERS_MAX = 256 /* of a runtime */ };
enum { EQUAL_NS = 1000000 /* of each command where no time is known */ };

typedef struct command_task {
    run_commands *owner;
    clo_task_fn inner; /* of the original; NULL: the task does nothing */
    void *argument;
    clo_command *command; /* the argument, where `inner` is clo_body_command; else NULL */
    uint32_t task;
    uint32_t runs, ended; /* of the command: its instances, or ranges of them */
    uint8_t state;
    bool lacks_time;
} command_task;

struct run_commands {
    const clo_graph *original;
    clo_graph *graph, *equal; /* the copies; `equal` only where times lack */
    clo_graph *bare;          /* with handles: one whose edges carry only what handles carry; else NULL */
    clo_cost *cost, *equal_cost;
    command_task *tasks;
    uint32_t *first, *before; /* before[first[t]] .. before[first[t + 1] - 1]: what t waits for */
    uint32_t count, runs, ended, failed, failures_most, first_failed;
    int failed_code;     /* of the first that failed */
    char *failed_output; /* what it has printed; NULL: that was not kept */
    uint32_t lacking;    /* commands without a time */
    int64_t mean_ns;
    bool is_silent;
    pthread_mutex_t lock; /* of the states and of standard output */
};

static const char *name_of(const run_commands *c, uint32_t task, char scratch[16])
{
    return show_name(clo_graph_task_name(c->original, task, scratch));
}

/* "exit status 3"; a shell says 128 + N for a signal, and so does clo_body_command. */
static void describe(int code, char text[96])
{
    if (code == 127)
        snprintf(text, 96, "exit status 127, it was not found or cannot be started");
    else if (code > 128 && code < 128 + 65)
        snprintf(text, 96, "exit status %d, ended by signal %d (%s)", code, code - 128, strsignal(code - 128));
    else
        snprintf(text, 96, "exit status %d", code);
}

/* A word as a shell takes it. */
static void print_word(const char *word)
{
    if (word[0] != '\0' &&
        word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%")] == '\0') {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, stdout);
    putchar('\'');
}

static void print_command(const clo_command *command)
{
    if (command->directory != NULL) {
        fputs("cd ", stdout);
        print_word(command->directory);
        fputs(" && ", stdout);
    }
    for (char *const *word = command->argv; *word != NULL; word++) {
        fputs(word == command->argv ? "" : " ", stdout);
        print_word(*word);
    }
    putchar('\n');
}

/* What a command has printed, on lines of its own. */
static void print_output(const clo_command *command)
{
    size_t bytes = command->output != NULL ? strlen(command->output) : 0;

    if (bytes == 0)
        return;
    fwrite(command->output, 1, bytes, stdout);
    if (command->output[bytes - 1] != '\n')
        putchar('\n');
    if (bytes + 1 == command->output_bytes)
        printf("(%zu bytes of its output; what followed was dropped)\n", bytes);
}

/* The lock is held. */
static void say_end(const run_commands *c, const command_task *t, const clo_call *call, const clo_command *ran)
{
    char scratch[16], text[96], instance[32] = "";
    const char *name = name_of(c, t->task, scratch);

    if (c->is_silent)
        return;
    if (t->runs > 1)
        snprintf(instance, sizeof instance, ", instance %u", call->instance);
    printf("[%u/%u] ", c->ended, c->runs);
    if (ran->exit_status != 0) {
        describe(ran->exit_status, text);
        printf("FAILED: %s%s: %s\n", name, instance, text);
        print_command(ran);
    } else {
        printf("%s%s\n", name, instance);
    }
    print_output(ran);
    fflush(stdout);
}

/* What still waits when those after it may go on was skipped by a branch. The lock is held. */
static bool may_run(const run_commands *c, const command_task *t)
{
    bool may = c->failures_most == 0 || c->failed < c->failures_most;

    for (uint32_t i = c->first[t->task]; may && i < c->first[t->task + 1]; i++)
        may = c->tasks[c->before[i]].state <= DONE;
    return may;
}

/* The lock is held. */
static void worsen(command_task *t, uint8_t state)
{
    if (t->state < state)
        t->state = state;
}

/* Books a call that has ended. True: it is the failure that ends the job. */
static bool book_end(run_commands *c, command_task *t, const clo_call *call, clo_command *ran)
{
    bool is_bad = ran->exit_status != 0;

    pthread_mutex_lock(&c->lock);
    worsen(t, is_bad ? FAILED : DONE);
    t->ended++;
    c->ended++;
    say_end(c, t, call, ran);
    if (is_bad && c->failed++ == 0) {
        c->first_failed = t->task;
        c->failed_code = ran->exit_status;
        c->failed_output = ran->output;
        ran->output = NULL;
    }
    bool ends = is_bad && c->failures_most > 0 && c->failed >= c->failures_most;
    pthread_mutex_unlock(&c->lock);
    return ends;
}

static int body(const clo_call *call)
{
    command_task *t = call->argument;
    run_commands *c = t->owner;
    clo_call inner = *call;

    pthread_mutex_lock(&c->lock);
    bool runs = may_run(c, t);
    if (!runs || t->command == NULL)
        worsen(t, runs ? DONE : LEFT_OUT);
    pthread_mutex_unlock(&c->lock);
    inner.argument = t->argument;
    if (!runs || t->command == NULL)
        return runs && t->inner != NULL ? t->inner(&inner) : 0;
    clo_command own = *t->command;                                       /* other instances run at the same time */
    own.output = own.output_bytes > 0 ? malloc(own.output_bytes) : NULL; /* NULL: it is dropped */
    inner.argument = &own;
    int code = t->inner(&inner);
    bool ends = book_end(c, t, call, &own);
    free(own.output);
    return ends ? code : 0;
}

/* The bodies of the copy are ours, so a command that names no codelet is one by its words. */
static bool codelet_of(const clo_graph *graph, uint32_t task, clo_codelet *codelet)
{
    clo_task about;

    if (clo_graph_codelet(graph, task, codelet))
        return true;
    return clo_graph_task(graph, task, &about) == CLO_OK && about.body == clo_body_command &&
           clo_body_command_codelet(about.argument, codelet);
}

/* The task on the kinds and executors of the original. */
static clo_status copy_limits(const clo_graph *from, clo_graph *to, uint32_t task, bool is_equal)
{
    clo_status status = CLO_OK;
    clo_codelet codelet;
    int64_t time_ns;

    for (uint32_t k = 0; status == CLO_OK && !is_equal && k < clo_graph_kinds(from); k++)
        if (clo_graph_time(from, task, k, &time_ns))
            status = clo_graph_set_time(to, task, k, time_ns);
    if (status == CLO_OK && codelet_of(from, task, &codelet))
        status = clo_graph_set_codelet(to, task, &codelet);
    uint32_t count = clo_graph_executors(from, task, NULL, 0);
    if (status != CLO_OK || count == 0)
        return status;
    uint32_t *executors = malloc(count * sizeof *executors);
    if (executors == NULL)
        return CLO_ERR_MEMORY;
    clo_graph_executors(from, task, executors, count);
    status = clo_graph_set_executors(to, task, executors, count);
    free(executors);
    return status;
}

static clo_status copy_handles(const clo_graph *from, clo_graph *to)
{
    clo_status status = CLO_OK;
    clo_handle handle;
    clo_access access;

    for (uint32_t h = 0; status == CLO_OK && h < clo_graph_handles(from); h++) {
        status = clo_graph_handle(from, h, &handle);
        if (status == CLO_OK)
            status = clo_graph_add_handle(to, &handle, NULL);
    }
    for (uint32_t a = 0; status == CLO_OK && a < clo_graph_accesses(from); a++) {
        status = clo_graph_access(from, a, &access);
        if (status == CLO_OK)
            status = clo_graph_add_access(to, access.task, access.handle, access.mode);
    }
    return status;
}

/* A branch or a merge; that a condition is the last of a loop is of no use to a command. */
static clo_status copy_choice(const clo_graph *from, clo_graph *to, uint32_t task)
{
    uint32_t chances[CLO_ARMS_MAX], sum = 0, arms = clo_graph_arms(from, task);

    for (uint32_t a = 0; a < arms; a++)
        sum += chances[a] = clo_graph_chance(from, task, a);
    clo_status status =
        arms > 0 ? clo_graph_set_branch(to, task, arms, sum == CLO_CHANCES_ONE ? chances : NULL) : CLO_OK;
    return status == CLO_OK && clo_graph_is_merge(from, task) ? clo_graph_set_merge(to, task) : status;
}

/* The edges that were added; sealing the copy derives the others again. */
static clo_status copy_edges(const run_commands *c, clo_graph *to)
{
    const clo_graph *from = c->original;
    const bool is_bare = c->bare == NULL && clo_graph_handles(from) > 0;
    clo_status status = CLO_OK;
    clo_edge edge, beside = {0};

    for (uint32_t e = 0; status == CLO_OK && e < clo_graph_edges_added(from); e++) {
        uint32_t arm = clo_graph_edge_arm(from, e);
        status = clo_graph_edge(from, e, &edge);
        if (status == CLO_OK && c->bare != NULL)
            status = clo_graph_edge(c->bare, e, &beside);
        uint64_t bytes = is_bare ? 0 : edge.bytes - beside.bytes;
        if (status == CLO_OK)
            status = arm == CLO_NONE ? clo_graph_add_edge(to, edge.from, edge.to, bytes)
                                     : clo_graph_add_arm(to, edge.from, edge.to, bytes, arm);
    }
    return status;
}

static clo_status copy_graph(run_commands *c, bool is_equal, clo_graph **out)
{
    const clo_graph *from = c->original;
    clo_status status = clo_graph_create(clo_graph_name(from), out);
    clo_task task;
    uint32_t kind;

    for (uint32_t k = 0; status == CLO_OK && k < clo_graph_kinds(from); k++)
        status = clo_graph_kind(*out, clo_graph_kind_name(from, k), &kind);
    for (uint32_t r = 0; status == CLO_OK && r < CLO_RESOURCES_MAX; r++)
        if (clo_graph_resource_name(from, r) != NULL)
            status = clo_graph_set_resource(*out, r, clo_graph_resource_name(from, r));
    for (uint32_t t = 0; status == CLO_OK && t < c->count; t++) {
        status = clo_graph_task(from, t, &task);
        task.body = body;
        task.argument = &c->tasks[t];
        task.executors_mask = 0;
        task.work_ns = is_equal && c->tasks[t].lacks_time ? c->mean_ns : task.work_ns;
        if (status == CLO_OK)
            status = clo_graph_add_task(*out, &task, NULL);
        if (status == CLO_OK)
            status = copy_limits(from, *out, t, is_equal && c->tasks[t].lacks_time);
        if (status == CLO_OK)
            status = copy_choice(from, *out, t);
    }
    if (status == CLO_OK)
        status = copy_handles(from, *out);
    if (status == CLO_OK)
        status = copy_edges(c, *out);
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

/* Takes the tasks of the graph. False: none is a command, or it cannot be copied. */
static bool take_tasks(run_commands *c)
{
    clo_task task;

    for (uint32_t t = 0; t < c->count; t++) {
        if (clo_graph_task(c->original, t, &task) != CLO_OK)
            return false;
        clo_command *command = task.body == clo_body_command ? task.argument : NULL;
        uint32_t grain = task.grain > 0 ? task.grain : 1;
        uint32_t runs = command != NULL ? 1 + (task.instances - 1) / grain : 0;
        c->tasks[t] = (command_task){c, task.body, task.argument, command, t, runs, 0, WAITS, false};
        c->runs += runs;
    }
    return c->runs > 0;
}

/* What each task waits for. */
static bool take_edges(run_commands *c)
{
    uint32_t edges = clo_graph_edges(c->original);
    clo_edge edge;

    c->first = calloc((size_t)c->count + 2, sizeof *c->first);
    c->before = calloc((size_t)edges + 1, sizeof *c->before);
    if (c->first == NULL || c->before == NULL)
        return false;
    for (uint32_t e = 0; e < edges; e++)
        if (clo_graph_edge(c->original, e, &edge) == CLO_OK)
            c->first[edge.to + 2]++;
    for (uint32_t t = 2; t < c->count + 2; t++)
        c->first[t] += c->first[t - 1];
    for (uint32_t e = 0; e < edges; e++)
        if (clo_graph_edge(c->original, e, &edge) == CLO_OK)
            c->before[c->first[edge.to + 1]++] = edge.from;
    return true;
}

static bool has_time(const input *in, uint32_t task)
{
    for (uint32_t e = 0; e < clo_platform_executors(in->platform); e++) {
        int64_t time_ns = clo_cost_execution_ns(in->cost, task, e);
        if (time_ns > 0 && time_ns < CLO_TIME_NEVER)
            return true;
    }
    return false;
}

/* Marks the commands without a time; they are taken for the mean of the others. */
static void look_for_times(run_commands *c, const input *in)
{
    uint32_t known = 0;
    double sum_ns = 0;

    for (uint32_t t = 0; t < c->count; t++) {
        if (c->tasks[t].command == NULL)
            continue;
        c->tasks[t].lacks_time = !has_time(in, t);
        c->lacking += c->tasks[t].lacks_time;
        known += !c->tasks[t].lacks_time;
        sum_ns += c->tasks[t].lacks_time ? 0 : (double)clo_cost_mean_execution_ns(in->cost, t);
    }
    c->mean_ns = known > 0 ? 1 + (int64_t)(sum_ns / known) : EQUAL_NS;
}

static clo_status make_costs(run_commands *c, input *in)
{
    clo_graph *bare = NULL;
    clo_status status = clo_graph_handles(c->original) > 0 ? copy_graph(c, false, &bare) : CLO_OK;

    c->bare = bare;
    if (status == CLO_OK)
        status = copy_graph(c, false, &c->graph);
    if (status == CLO_OK)
        status = input_cost(in, c->graph, NULL, &c->cost);
    look_for_times(c, in);
    if (status == CLO_OK && c->lacking > 0) {
        status = copy_graph(c, true, &c->equal);
        if (status == CLO_OK)
            status = input_cost(in, c->equal, NULL, &c->equal_cost);
    }
    if (status != CLO_OK)
        return status;
    clo_cost *own = in->cost;
    in->cost = c->cost; /* input_close frees the one that is there */
    c->cost = own;
    return CLO_OK;
}

int commands_open(input *in, const run_options *options, run_commands **out)
{
    run_commands *c = calloc(1, sizeof *c);

    *out = NULL;
    if (c == NULL)
        return complain(in->place, "out of memory");
    c->original = clo_document_graph(in->document);
    c->count = clo_graph_tasks(c->original);
    c->failures_most = options->failures;
    c->is_silent = options->as_json || run_to_output(options) > 0;
    c->first_failed = CLO_NONE;
    pthread_mutex_init(&c->lock, NULL);
    c->tasks = calloc((size_t)c->count + 1, sizeof *c->tasks);
    if (c->tasks != NULL && !take_tasks(c)) {
        commands_close(c);
        return EXIT_GOOD;
    }
    clo_status status = c->tasks != NULL && take_edges(c) ? make_costs(c, in) : CLO_ERR_MEMORY;
    *out = c;
    return status == CLO_OK ? EXIT_GOOD : complain_status(in->place, status);
}

void commands_close(run_commands *c)
{
    if (c == NULL)
        return;
    clo_cost_destroy(c->equal_cost);
    clo_cost_destroy(c->cost);
    clo_graph_destroy(c->equal);
    clo_graph_destroy(c->graph);
    clo_graph_destroy(c->bare);
    pthread_mutex_destroy(&c->lock);
    free(c->tasks);
    free(c->first);
    free(c->before);
    free(c->failed_output);
    free(c);
}

uint32_t commands_without_time(const run_commands *c)
{
    return c != NULL ? c->lacking : 0;
}

const clo_cost *commands_planning_cost(const run_commands *c, const input *in)
{
    return commands_without_time(c) > 0 ? c->equal_cost : in->cost;
}

void commands_begin(run_commands *c)
{
    c->ended = c->failed = 0;
    c->first_failed = CLO_NONE;
    c->failed_code = 0;
    free(c->failed_output);
    c->failed_output = NULL;
    for (uint32_t t = 0; t < c->count; t++) {
        c->tasks[t].state = WAITS;
        c->tasks[t].ended = 0;
    }
}

uint32_t commands_failed(const run_commands *c, uint32_t *first, uint32_t *skipped)
{
    *first = c->first_failed;
    *skipped = c->ended < c->runs ? c->runs - c->ended : 0;
    return c->failed;
}

int commands_failed_code(const run_commands *c)
{
    return c->failed_code;
}

uint32_t commands_at_once(const input *in)
{
    const clo_graph *graph = clo_document_graph(in->document);
    uint32_t executors = clo_platform_executors(in->platform);
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK && task.body == clo_body_command)
            return executors < SLOT_WORKERS_MAX ? executors : SLOT_WORKERS_MAX;
    return 0;
}

const char *commands_output(const run_commands *c)
{
    return c->failed_output;
}

/* Up to four names of commands that did not run: ": 'a', 'b', ...". */
static void name_skipped(const run_commands *c, char *text, size_t bytes)
{
    size_t used = 0;
    uint32_t named = 0;
    char scratch[16];

    for (uint32_t t = 0; t < c->count && named < 5 && used + 90 < bytes; t++) {
        const command_task *at = &c->tasks[t];
        if (at->ended >= at->runs)
            continue;
        used += named == 4 ? (size_t)snprintf(text + used, bytes - used, ", ...")
                           : (size_t)snprintf(text + used, bytes - used, "%s'%.60s'", named == 0 ? ": " : ", ",
                                              name_of(c, t, scratch));
        named++;
    }
}

int commands_complain(const run_commands *c, const char *path)
{
    uint32_t first, skipped, failed = commands_failed(c, &first, &skipped);
    char text[96], others[64] = "", names[480] = "", scratch[16];

    describe(c->failed_code, text);
    if (failed > 1)
        snprintf(others, sizeof others, "; %u commands failed in all", failed);
    if (skipped == 0)
        return complain(path, "command '%s' failed: %s%s", name_of(c, first, scratch), text, others);
    name_skipped(c, names, sizeof names);
    return complain(path, "command '%s' failed: %s%s; %u of %u did not run%s", name_of(c, first, scratch), text, others,
                    skipped, c->runs, names);
}

/* One of those that would run. */
typedef struct planned {
    int64_t start_ns;
    uint32_t level, task;
} planned;

static int by_start(const void *a, const void *b)
{
    const planned *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->level != y->level) /* of no time: what it waits for stands before it */
        return x->level < y->level ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static void print_planned(const clo_graph *graph, const planned *all, uint32_t count)
{
    char scratch[16];
    clo_task task;

    for (uint32_t i = 0; i < count; i++) {
        bool is_command = clo_graph_task(graph, all[i].task, &task) == CLO_OK && task.body == clo_body_command;
        printf("[%u/%u] ", i + 1, count);
        if (is_command)
            print_command(task.argument);
        else
            printf("%s\n", show_name(clo_graph_task_name(graph, all[i].task, scratch)));
    }
}

int commands_print(const input *in, const clo_plan *plan)
{
    const clo_graph *graph = clo_document_graph(in->document);
    uint32_t count = 0, tasks = clo_graph_tasks(graph);
    size_t placements;
    const clo_placement *at = clo_plan_placements(plan, &placements);
    planned *all = malloc((placements + 1) * sizeof *all);
    uint32_t *levels = malloc(((size_t)tasks + 1) * sizeof *levels);
    bool *is_in = calloc((size_t)tasks + 1, 1);
    bool is_good = all != NULL && levels != NULL && is_in != NULL;

    if (is_good)
        clo_graph_levels(graph, levels);
    for (size_t p = 0; is_good && p < placements; p++) {
        if (is_in[at[p].task])
            continue; /* an instance or a replica of one that is there */
        is_in[at[p].task] = true;
        all[count++] = (planned){at[p].start_ns, levels[at[p].task], at[p].task};
    }
    if (is_good) {
        qsort(all, count, sizeof *all, by_start);
        print_planned(graph, all, count);
    }
    free(all);
    free(levels);
    free(is_in);
    return is_good ? EXIT_GOOD : complain(in->place, "out of memory");
}
