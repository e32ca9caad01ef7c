/* bench_predict.c - does a run take as long as its plan says? Generated graphs whose tasks compute for 100 to 300 us,
 * on all CPUs of this machine, replayed as HEFT and as DEFT planned them.
 *
 * The error of a run is |measured - predicted| / predicted. The criterion: a median of at most 10 % over 20 runs, on
 * a machine that does nothing else. The bodies stop by the clock, so what is measured is what the runtime adds:
 * hand-over between cores, waking up, and whatever the machine does meanwhile. Bodies that do real work: real.c. */
#include "bed.h"
#include "predict.h"

#include <clotho/planner.h>
#include <stdio.h>
#include <stdlib.h>

enum { FAMILIES = 5, PLANNERS = 2 };

typedef struct row {
    const char *family, *planner;
    uint32_t tasks, runs;
    int64_t predicted_ns;
    bench_stats measured_ms, error;
} row;

static clo_status open_bed(bed *b, const row *r, const bench_options *o)
{
    const clo_generate_config generate = {.size = sizeof generate,
                                          .seed = o->seed,
                                          .tasks = o->quick ? 60 : 200,
                                          .work_mean_ns = 200000,
                                          .work_spread = 0.5,
                                          .duplicable = 1};
    const clo_plan_config plan = {.size = sizeof plan, .planner = clo_planner_find(r->planner)};
    clo_status status = clo_platform_open("native", &b->platform);

    if (status == CLO_OK)
        status = clo_graph_generate(r->family, &generate, &b->graph);
    if (status == CLO_OK)
        status = clo_cost_create(b->graph, b->platform, &b->cost);
    if (status == CLO_OK)
        status = clo_plan_create(b->cost, &plan, &b->plan);
    return status == CLO_OK ? bed_start(b, false) : status;
}

/* Appends the errors of this row to `all`. */
static bool measure(row *r, const bench_options *o, double *all, size_t *count)
{
    double *ms = calloc(o->rounds, sizeof *ms), *errors = calloc(o->rounds, sizeof *errors);
    bed b = {0};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status = ms != NULL && errors != NULL ? open_bed(&b, r, o) : CLO_ERR_MEMORY;

    if (status == CLO_OK)
        status = bed_run(&b, NULL); /* warms up */
    for (uint32_t i = 0; i < o->rounds && status == CLO_OK; i++) {
        status = bed_run(&b, &result);
        r->predicted_ns = clo_plan_makespan_ns(b.plan);
        double off = (double)(result.makespan_ns - r->predicted_ns) / (double)r->predicted_ns;
        ms[i] = (double)result.makespan_ns / 1e6;
        all[(*count)++] = errors[i] = off < 0 ? -off : off;
    }
    if (status == CLO_OK) {
        r->tasks = clo_graph_tasks(b.graph);
        r->runs = o->rounds;
        r->measured_ms = bench_summarise(ms, o->rounds);
        r->error = bench_summarise(errors, o->rounds);
    }
    bed_close(&b);
    free(ms);
    free(errors);
    return status == CLO_OK || bench_fail(r->family);
}

static void print_row(const row *r, bool is_json, const char *comma)
{
    if (is_json)
        printf("%s{\"graph\": \"%s\", \"planner\": \"%s\", \"tasks\": %u, \"runs\": %u, \"predicted_ns\": %lld, "
               "\"measured_ns\": %.0f, \"error\": %.5f, \"error_p90\": %.5f}",
               comma, r->family, r->planner, r->tasks, r->runs, (long long)r->predicted_ns, r->measured_ms.median * 1e6,
               r->error.median, r->error.p90);
    else
        printf("%-12s %-5s %6u %11.3f %11.3f [%.3f .. %.3f]  %6.2f %% [90th percentile %.2f %%]\n", r->family,
               r->planner, r->tasks, (double)r->predicted_ns / 1e6, r->measured_ms.median, r->measured_ms.p10,
               r->measured_ms.p90, 100 * r->error.median, 100 * r->error.p90);
}

int main(int argc, char **argv)
{
    static const char *const families[FAMILIES] = {"layered", "cholesky", "fft", "montage", "forkjoin"};
    static const char *const planners[PLANNERS] = {"heft", "deft"};
    const bench_about about = {
        .name = "predict", .question = "does a run take as long as its plan says?", .rounds = 20, .quick_rounds = 5};
    bench_options o;
    const char *comma = "";
    size_t count = 0;
    int exit_status = bench_options_read(&o, &about, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    load before = load_now();
    double *all = calloc((size_t)o.rounds * FAMILIES * PLANNERS, sizeof *all);
    if (all == NULL)
        return 1;
    printf(o.json ? "{\"bench\": \"predict\", \"rows\": ["
                  : "graph        plan   tasks predicted ms measured ms [10th .. 90th]     error, median\n");
    for (int f = 0; f < FAMILIES; f++)
        for (int p = 0; p < PLANNERS; p++, comma = ", ") {
            row r = {.family = families[f], .planner = planners[p]};

            if (!measure(&r, &o, all, &count)) {
                free(all);
                return 1;
            }
            print_row(&r, o.json, comma);
        }
    bench_stats error = bench_summarise(all, count);
    double foreign = load_foreign(before);
    free(all);
    printf(o.json ? "], \"error\": %.5f, \"error_p90\": %.5f, \"foreign_load\": %.3f, \"within_10_percent\": %s"
                  : "all runs: median error %.4f, 90th percentile %.4f; other programs used %.3f of the CPUs; "
                    "median within 10 %%: %s\n",
           error.median, error.p90, foreign,
           error.median <= 0.1 ? o.json ? "true" : "yes"
           : o.json            ? "false"
                               : "NO");
    bool is_good = predict_real(&o);
    if (o.json)
        printf("}\n");
    return is_good ? 0 : 1;
}
