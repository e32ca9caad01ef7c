/* real.c - predictions of real work: of graphs that were not run before, by what their codelets took in others.
 *
 * Three processes, one after the other, which share nothing but files: the first runs two graphs by work stealing and saves
 * a profile, and another one of what tasks take alone and lose to each other (alone.h); the second reads them, plans the
 * other graphs, and writes what their runs will take (median and range of 200 simulations); the third reads these, makes the
 * same plans, and runs them. Turns at which some CPU is a tenth faster or slower than when times were learned are left out,
 * and counted. */
#define _GNU_SOURCE
#include "predict.h"

#include "../examples/common/speed.h"
#include "alone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIDE = 72,
    SORTED = 6000,
    HASHED = 60000,
    COPIED = 1 << 20,
    POOL = 64 << 20,
    LEARN_RUNS = 12,
    LEARN_ATTEMPTS = 3
};
enum { CODELETS = 4, MIXES = 2, LEARNED = 2, PREDICTED = 4, PLANNERS = 2, ROWS = MIXES * PREDICTED * PLANNERS };

static unsigned char *pool; /* [POOL] what is copied from and to */

static _Thread_local volatile uint64_t kept; /* else compilers would leave the work out */

static int hash(const clo_call *call)
{
    uint64_t value = call->task;

    for (int i = 0; i < HASHED; i++)
        value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9u;
    kept = value;
    return 0;
}

static int multiply(const clo_call *call)
{
    static _Thread_local double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

    a[0][0] = call->task;
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            for (int j = 0; j < SIDE; j++)
                c[i][j] += a[i][k] * b[k][j];
    kept = (uint64_t)c[0][0];
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int sort(const clo_call *call)
{
    static _Thread_local uint32_t values[SORTED];
    uint32_t state = call->task;

    for (int i = 0; i < SORTED; i++)
        values[i] = state = state * 1664525u + 1013904223u;
    qsort(values, SORTED, sizeof values[0], by_value);
    return 0;
}

static int copy(const clo_call *call)
{
    size_t parts = POOL / COPIED, from = call->task % parts, to = (call->task * 7 + 3) % parts;

    if (from != to)
        memcpy(pool + to * COPIED, pool + from * COPIED, COPIED);
    return 0;
}

static const struct {
    const char *name;
    clo_task_fn body;
} codelets[CODELETS] = {{"hash", hash}, {"multiply", multiply}, {"sort", sort}, {"copy", copy}};

/* Which of ten tasks are of which codelet. */
static const struct {
    const char *name;
    uint32_t of_ten[CODELETS];
} mixes[MIXES] = {{"compute", {4, 3, 3, 0}}, {"memory", {2, 2, 0, 6}}};

static const char *const learned[LEARNED] = {"layered", "fft"};
static const char *const predicted[PREDICTED] = {"cholesky", "montage", "forkjoin", "gauss"};
static const char *const planners[PLANNERS] = {"heft", "deft"};

static clo_status add_task(clo_graph *graph, uint32_t mix, uint64_t *random)
{
    uint32_t drawn = bench_random_below(random, 10), codelet = 0, id;

    while (drawn >= mixes[mix].of_ten[codelet]) /* they are ten in all */
        drawn -= mixes[mix].of_ten[codelet++];
    const clo_task task = {.name = codelets[codelet].name, .body = codelets[codelet].body, .duplicable = codelet != 3};
    clo_status status = clo_graph_add_task(graph, &task, &id);
    return status == CLO_OK ? clo_graph_set_codelet(graph, id, &(clo_codelet){codelets[codelet].name, 1, 1}) : status;
}

/* A graph of the family with the edges of a generated one. */
static clo_status build(const char *family, uint32_t mix, const bench_options *o, clo_graph **out)
{
    const clo_generate_config config = {.size = sizeof config, .seed = o->seed, .tasks = o->quick ? 60 : 200};
    uint64_t random = o->seed + mix;
    clo_graph *shape = NULL;
    clo_status status = clo_graph_generate(family, &config, &shape);

    if (status == CLO_OK)
        status = clo_graph_create(family, out);
    for (uint32_t t = 0; status == CLO_OK && t < clo_graph_tasks(shape); t++)
        status = add_task(*out, mix, &random);
    for (uint32_t e = 0; status == CLO_OK && e < clo_graph_edges(shape); e++) {
        clo_edge edge;
        status = clo_graph_edge(shape, e, &edge);
        if (status == CLO_OK)
            status = clo_graph_add_edge(*out, edge.from, edge.to, 0);
    }
    clo_graph_destroy(shape);
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

/* `profile`: a file; NULL: nothing is known. */
static clo_status open_bed(bed *b, const char *family, uint32_t mix, const bench_options *o, const char *profile,
                           const char *planner)
{
    const clo_plan_config plan = {.size = sizeof plan, .planner = planner != NULL ? clo_planner_find(planner) : NULL};
    clo_status status = clo_platform_open("native", &b->platform);

    if (status == CLO_OK)
        status = clo_profile_create(0, &b->profile);
    if (status == CLO_OK && profile != NULL)
        status = clo_profile_load(b->profile, profile, 0);
    if (status == CLO_OK)
        status = build(family, mix, o, &b->graph);
    if (status == CLO_OK)
        status = clo_cost_create_measured(b->graph, b->platform, b->profile, NULL, &b->cost);
    return status == CLO_OK && planner != NULL ? clo_plan_create(b->cost, &plan, &b->plan) : status;
}

/* The median of a few readings of each CPU. */
static bool read_steady(speeds *out)
{
    speeds each[5];
    double compute_ns[5], read_ns[5];

    for (int i = 0; i < 5; i++)
        if (!speeds_read(NULL, 0, &each[i]))
            return false;
    *out = each[0];
    for (uint32_t cpu = 0; cpu < out->count; cpu++) {
        for (int i = 0; i < 5; i++) {
            compute_ns[i] = each[i].compute_ns[cpu];
            read_ns[i] = each[i].read_ns[cpu];
        }
        out->compute_ns[cpu] = bench_summarise(compute_ns, 5).median;
        out->read_ns[cpu] = bench_summarise(read_ns, 5).median;
    }
    return true;
}

/* Runs, and how many of them found the machine as it is to be. */
typedef struct turns {
    const speeds *wanted; /* NULL: any */
    uint32_t kept, dropped;
} turns;

/* So many are tried for one that is kept. */
enum { TRIES = 4 };

static bool is_as_wanted(const turns *t)
{
    speeds now;

    return t->wanted == NULL || (speeds_read(NULL, 0, &now) && !speeds_differ(t->wanted, &now));
}

/* Learns if the machine was as wanted before and after the run. */
static clo_status learn_run(bed *b, turns *t)
{
    const bool was_as_wanted = is_as_wanted(t);
    clo_trace *trace = NULL;
    clo_status status = bed_run(b, NULL);

    if (status == CLO_OK && was_as_wanted && is_as_wanted(t)) {
        t->kept++;
        status = clo_job_trace(b->job, &trace);
        if (status == CLO_OK)
            status = clo_profile_learn_trace(b->profile, b->cost, trace, NULL);
        clo_trace_destroy(trace);
    } else {
        t->dropped++;
    }
    return status;
}

/* Adds to the file, and the runs to `t`. */
static clo_status learn_from(const char *family, uint32_t mix, const bench_options *o, const char *profile,
                             bool is_first, turns *t)
{
    turns own = {.wanted = t->wanted};
    bed b = {0};
    clo_status status = open_bed(&b, family, mix, o, is_first ? NULL : profile, NULL);

    if (status == CLO_OK)
        status = bed_start(&b, true);
    while (status == CLO_OK && own.kept < LEARN_RUNS && own.kept + own.dropped < TRIES * LEARN_RUNS)
        status = learn_run(&b, &own);
    if (status == CLO_OK)
        status = clo_profile_publish(b.profile);
    if (status == CLO_OK)
        status = clo_profile_save(b.profile, profile);
    bed_close(&b);
    t->kept += own.kept;
    t->dropped += own.dropped;
    return status;
}

/* A row: what is predicted, and then what was measured. `alone`: if runs varied by their tasks alone. By times of tasks that
 * had the machine for themselves: `apart` if they do not slow each other down, `shared` if they share the memory. */
typedef struct row {
    uint32_t mix, graph, planner;
    int64_t predicted_ns, low_ns, high_ns, alone_ns, alone_low_ns, alone_high_ns, apart_ns, shared_ns;
    const char *comma; /* before it */
} row;

static row row_at(uint32_t index)
{
    return (row){.mix = index / (PREDICTED * PLANNERS),
                 .graph = index / PLANNERS % PREDICTED,
                 .planner = index % PLANNERS,
                 .comma = index > 0 ? ", " : ""};
}

/* What a process does; what it writes goes to `file`. */
typedef clo_status (*part)(const bench_options *o, const char *folder, FILE *file);

static const char *path_in(const char *folder, const char *name)
{
    static char paths[2][256];
    static int next;

    next = !next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

/* bed_opener */
static clo_status open_learned(const void *context, uint32_t index, bed *b)
{
    return open_bed(b, learned[index / MIXES], index % MIXES, context, NULL, NULL);
}

/* What the process that learns leaves to the others, beside profiles. */
typedef struct machine {
    speeds speeds;
    memory_rates rates;
    uint32_t learned, dropped; /* runs */
} machine;

/* All of it anew, where the machine has left the speed that it had at the beginning, so that less than half of the runs of
 * some graph counted; in the end at any speed. */
static clo_status learn(const bench_options *o, const char *folder, FILE *file)
{
    machine left = {0};
    clo_status status = alone_learn(open_learned, o, LEARNED * MIXES, path_in(folder, "alone.json"), &left.rates);
    bool is_enough = false;

    for (int attempt = 0; !is_enough && status == CLO_OK; attempt++) {
        turns t = {.wanted = attempt < LEARN_ATTEMPTS ? &left.speeds : NULL};
        if (!read_steady(&left.speeds))
            return CLO_ERR_SYSTEM;
        is_enough = true;
        for (uint32_t g = 0; g < LEARNED * MIXES && is_enough && status == CLO_OK; g++) {
            uint32_t before = t.kept;
            status = learn_from(learned[g / MIXES], g % MIXES, o, path_in(folder, "profile.json"), g == 0, &t);
            is_enough = 2 * (t.kept - before) >= LEARN_RUNS;
        }
        left.dropped += t.dropped;
        left.learned = t.kept;
    }
    return status == CLO_OK && fwrite(&left, sizeof left, 1, file) != 1 ? CLO_ERR_IO : status;
}

static bool read_machine(const char *folder, machine *out)
{
    FILE *file = fopen(path_in(folder, "machine"), "re");
    bool is_good = file != NULL && fread(out, sizeof *out, 1, file) == 1;

    if (file != NULL)
        fclose(file);
    return is_good;
}

/* The entries of a profile, without what runs have in common. */
static clo_status copy_entries(const clo_profile *from, clo_profile **out)
{
    clo_profile_entry entry;
    clo_status status = clo_profile_create(0, out);

    for (uint32_t i = 0; status == CLO_OK && clo_profile_entry_at(from, i, &entry) == CLO_OK; i++)
        status = clo_profile_add(*out, &entry);
    return status == CLO_OK ? clo_profile_publish(*out) : status;
}

static clo_status predict_row(row *r, const bench_options *o, const char *folder, const machine *left)
{
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_prediction prediction = CLO_PREDICTION_INIT, alone = CLO_PREDICTION_INIT;
    clo_profile *entries = NULL;
    bed b = {0};
    clo_status status =
        open_bed(&b, predicted[r->graph], r->mix, o, path_in(folder, "profile.json"), planners[r->planner]);

    sim.plan = b.plan;
    if (status == CLO_OK)
        status = clo_profile_predict(b.profile, b.cost, &sim, &prediction);
    r->predicted_ns = prediction.median_ns;
    r->low_ns = prediction.low_ns;
    r->high_ns = prediction.high_ns;
    if (status == CLO_OK)
        status = copy_entries(b.profile, &entries);
    if (status == CLO_OK)
        status = clo_profile_predict(entries, b.cost, &sim, &alone);
    r->alone_ns = alone.median_ns;
    r->alone_low_ns = alone.low_ns;
    r->alone_high_ns = alone.high_ns;
    if (status == CLO_OK)
        status = alone_predict(&b, path_in(folder, "alone.json"), left->rates.all, &r->apart_ns, &r->shared_ns);
    clo_profile_destroy(entries);
    bed_close(&b);
    return status;
}

static clo_status predict(const bench_options *o, const char *folder, FILE *file)
{
    machine left;
    clo_status status = read_machine(folder, &left) ? CLO_OK : CLO_ERR_IO;

    for (uint32_t i = 0; i < ROWS && status == CLO_OK; i++) {
        row r = row_at(i);
        status = predict_row(&r, o, folder, &left);
        fprintf(file, "%lld %lld %lld %lld %lld %lld %lld %lld\n", (long long)r.predicted_ns, (long long)r.low_ns,
                (long long)r.high_ns, (long long)r.alone_ns, (long long)r.alone_low_ns, (long long)r.alone_high_ns,
                (long long)r.apart_ns, (long long)r.shared_ns);
    }
    return status;
}

/* Of all rows of a mix. */
typedef struct errors {
    double *all, *alone, *apart, *shared;
    size_t count, inside, inside_alone, dropped;
} errors;

static void print_row(const row *r, const turns *t, bench_stats ms, bench_stats error, double inside, bool is_json)
{
    if (t->kept == 0 && !is_json)
        printf("%-8s %-9s %-5s none kept, %u dropped\n", mixes[r->mix].name, predicted[r->graph], planners[r->planner],
               t->dropped);
    else if (is_json)
        printf("%s{\"mix\": \"%s\", \"graph\": \"%s\", \"planner\": \"%s\", \"predicted_ns\": %lld, \"low_ns\": %lld, "
               "\"high_ns\": %lld, \"measured_ns\": %.0f, \"error\": %.5f, \"error_p90\": %.5f, \"inside\": %.3f, "
               "\"kept\": %u, \"dropped\": %u}",
               r->comma, mixes[r->mix].name, predicted[r->graph], planners[r->planner], (long long)r->predicted_ns,
               (long long)r->low_ns, (long long)r->high_ns, ms.median * 1e6, error.median, error.p90, inside, t->kept,
               t->dropped);
    else
        printf("%-8s %-9s %-5s %9.3f [%.3f .. %.3f] %9.3f [%.3f .. %.3f]  %6.2f %% [90th percentile %.2f %%], %.0f %% "
               "inside, %u kept, %u dropped\n",
               mixes[r->mix].name, predicted[r->graph], planners[r->planner], (double)r->predicted_ns / 1e6,
               (double)r->low_ns / 1e6, (double)r->high_ns / 1e6, ms.median, ms.p10, ms.p90, 100 * error.median,
               100 * error.p90, 100 * inside, t->kept, t->dropped);
}

static double error_of(const clo_job_result *result, int64_t predicted_ns)
{
    double error = (double)(result->makespan_ns - predicted_ns) / (double)result->makespan_ns;

    return error < 0 ? -error : error;
}

static clo_status measure_row(const row *r, const bench_options *o, const char *profile, const speeds *wanted,
                              errors *sum)
{
    double *ms = calloc(o->rounds + 1u, sizeof *ms), *off = calloc(o->rounds + 1u, sizeof *off);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    turns t = {.wanted = wanted};
    uint32_t inside = 0;
    bed b = {0};
    clo_status status = ms != NULL && off != NULL
                            ? open_bed(&b, predicted[r->graph], r->mix, o, profile, planners[r->planner])
                            : CLO_ERR_MEMORY;

    if (status == CLO_OK)
        status = bed_start(&b, false);
    if (status == CLO_OK)
        status = bed_run(&b, NULL); /* warms up */
    while (status == CLO_OK && t.kept < o->rounds && t.kept + t.dropped < TRIES * o->rounds) {
        bool is_same = is_as_wanted(&t);
        status = bed_run(&b, &result);
        is_same = is_same && is_as_wanted(&t);
        t.dropped += !is_same;
        if (!is_same)
            continue;
        ms[t.kept] = (double)result.makespan_ns / 1e6;
        sum->alone[sum->count] = error_of(&result, r->alone_ns);
        sum->apart[sum->count] = error_of(&result, r->apart_ns);
        sum->shared[sum->count] = error_of(&result, r->shared_ns);
        off[t.kept++] = sum->all[sum->count++] = error_of(&result, r->predicted_ns);
        sum->inside_alone += r->alone_low_ns <= result.makespan_ns && result.makespan_ns <= r->alone_high_ns;
        inside += r->low_ns <= result.makespan_ns && result.makespan_ns <= r->high_ns;
    }
    sum->inside += inside;
    sum->dropped += t.dropped;
    if (status == CLO_OK)
        print_row(r, &t, bench_summarise(ms, t.kept), bench_summarise(off, t.kept),
                  t.kept > 0 ? (double)inside / t.kept : 0, o->json);
    bed_close(&b);
    free(ms);
    free(off);
    return status;
}

/* Of times alone; `now`: what the memory moves after the runs. */
static void print_memory(const errors sums[MIXES], const bench_options *o, const memory_rates *then,
                         const memory_rates *now)
{
    printf(o->json ? ", \"contention\": {\"one_MBps\": [%u, %u], \"all_MBps\": [%u, %u]"
                   : "a reading CPU moves %u MB/s, %u after the runs; all together %u, then %u\n",
           then->one, now->one, then->all, now->all);
    for (uint32_t m = 0; m < MIXES; m++) {
        bench_stats apart = bench_summarise(sums[m].apart, sums[m].count);
        bench_stats shared = bench_summarise(sums[m].shared, sums[m].count);
        printf(o->json ? ", \"%s\": {\"error_apart\": %.5f, \"error_p90_apart\": %.5f, \"error_shared\": %.5f, "
                         "\"error_p90_shared\": %.5f}"
                       : "%s, times of tasks alone: median error %.4f, 90th percentile %.4f; with the memory shared: "
                         "%.4f, %.4f\n",
               mixes[m].name, apart.median, apart.p90, shared.median, shared.p90);
    }
    printf(o->json ? "}" : "");
}

static void print_sums(errors sums[MIXES], const bench_options *o, double foreign)
{
    for (uint32_t m = 0; m < MIXES; m++) {
        bench_stats error = bench_summarise(sums[m].all, sums[m].count);
        bench_stats alone = bench_summarise(sums[m].alone, sums[m].count);
        double count = sums[m].count > 0 ? (double)sums[m].count : 1;
        printf(o->json
                   ? "%s\"%s\": {\"error\": %.5f, \"error_p90\": %.5f, \"inside\": %.3f, \"error_alone\": %.5f, "
                     "\"error_p90_alone\": %.5f, \"inside_alone\": %.3f, \"kept\": %zu, \"dropped\": %zu}"
                   : "%s%s: median error %.4f, 90th percentile %.4f, %.3f inside; if tasks alone varied: %.4f, %.4f, "
                     "%.3f; %zu turns kept, %zu dropped\n",
               !o->json ? ""
               : m == 0 ? "], "
                        : ", ",
               mixes[m].name, error.median, error.p90, (double)sums[m].inside / count, alone.median, alone.p90,
               (double)sums[m].inside_alone / count, sums[m].count, sums[m].dropped);
    }
    printf(o->json ? ", \"real_foreign_load\": %.3f" : "other programs used %.3f of the CPUs\n", foreign);
}

/* A line of eight numbers. */
static bool read_prediction(FILE *file, row *r)
{
    char line[200], *at = line;
    int64_t *const numbers[] = {&r->predicted_ns, &r->low_ns,        &r->high_ns,  &r->alone_ns,
                                &r->alone_low_ns, &r->alone_high_ns, &r->apart_ns, &r->shared_ns};

    if (fgets(line, sizeof line, file) == NULL)
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char *end;
        *numbers[i] = strtoll(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    return true;
}

/* What the two processes before have left. */
static clo_status read_left(const char *folder, machine *left, row rows[ROWS])
{
    FILE *predictions = fopen(path_in(folder, "predictions"), "re");
    bool is_good = predictions != NULL && read_machine(folder, left);

    for (uint32_t i = 0; i < ROWS && is_good; i++) {
        rows[i] = row_at(i);
        is_good = read_prediction(predictions, &rows[i]);
    }
    if (predictions != NULL)
        fclose(predictions);
    return is_good ? CLO_OK : CLO_ERR_IO;
}

static clo_status measure(const bench_options *o, const char *folder, FILE *file)
{
    const size_t each = (size_t)o->rounds * PREDICTED * PLANNERS;
    double *all = calloc(4 * each * MIXES, sizeof *all);
    load before = load_now();
    row rows[ROWS];
    machine left;
    memory_rates now;

    (void)file;
    if (all == NULL)
        return CLO_ERR_MEMORY;
    errors sums[MIXES] = {0};
    for (size_t m = 0; m < MIXES; m++) {
        double *own = all + 4 * each * m;
        sums[m] = (errors){.all = own, .alone = own + each, .apart = own + 2 * each, .shared = own + 3 * each};
    }
    clo_status status = read_left(folder, &left, rows);
    printf(
        o->json
            ? ", \"real\": ["
            : "\nmix      graph     plan  predicted ms [9 of 10 runs] measured ms [10th .. 90th]     error, median\n");
    for (uint32_t i = 0; i < ROWS && status == CLO_OK; i++)
        status = measure_row(&rows[i], o, path_in(folder, "profile.json"), &left.speeds, &sums[rows[i].mix]);
    if (status == CLO_OK) {
        print_sums(sums, o, load_foreign(before));
        printf(o->json ? ", \"learned\": {\"runs\": %u, \"dropped\": %u}" : "learned from %u runs, %u dropped\n",
               left.learned, left.dropped);
    }
    if (status == CLO_OK)
        status = alone_rates(&now);
    if (status == CLO_OK)
        print_memory(sums, o, &left.rates, &now);
    free(all);
    return status;
}

/* In a process of its own. */
static bool in_process(part what, const bench_options *o, const char *folder, const char *written)
{
    int status = 1;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pool = malloc(POOL);
        FILE *file = fopen(path_in(folder, written), "we");
        if (pool != NULL)
            memset(pool, 1, POOL);
        bool is_good = pool != NULL && file != NULL && what(o, folder, file) == CLO_OK && fclose(file) == 0;
        if (!is_good)
            bench_fail("real work");
        fflush(stdout);
        _exit(is_good ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool predict_real(const bench_options *o)
{
    static const char *const names[] = {"machine", "predictions", "profile.json", "alone.json", "log"};
    char folder[] = "/tmp/clotho-predict-XXXXXX";

    if (mkdtemp(folder) == NULL)
        return perror("bench: /tmp"), false;
    bool is_good = in_process(learn, o, folder, "machine") && in_process(predict, o, folder, "predictions") &&
                   in_process(measure, o, folder, "log");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_in(folder, names[i]));
    rmdir(folder);
    return is_good;
}
