/* driver.c - plan, run, compare, report. */
#include "driver.h"

#include "load.h"
#include "measure.h"
#include "options.h"
#include "session.h"
#include "speed.h"

#include <clotho/planner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is reported. */
typedef struct report {
    dispatch how;
    clo_clock clock;
    uint32_t workers, tasks, edges, runs;
    uint32_t kept, dropped; /* turns with CPUs of steady speed, and others */
    int64_t predicted_ns, measured_ns, lowest_ns, highest_ns, serial_ns; /* medians, and the measured range */
    int64_t low_ns, high_ns; /* what 9 of 10 runs were predicted to take; medians; 0: not predicted */
    uint32_t inside;         /* runs that took that */
    double error, speedup;   /* medians over the rounds of |measured - predicted| / measured, one core / measured */
    double own_error;        /* as error, if predicted by the plan's own earlier runs */
    double deviation;        /* median of |measured - its median| / its median */
    clo_job_result result;   /* of the last run */
    uint64_t hash;
    bool is_right; /* the check of the application */
    bool is_same;  /* every run gave the bytes that one core gave */
    clo_device_stats device;
    double foreign_load; /* share of the CPUs that other programs used meanwhile */
    char line[256], json[256];
} report;

/* Turns which the figures are of: those that were kept; the last one, if none was. */
static uint32_t counted(const report *r)
{
    return r->kept > 0 ? r->kept : 1;
}

static double ratio(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : 0.0;
}

/* |a - b| / b */
static double relative(int64_t a, int64_t b)
{
    return ratio(a > b ? a - b : b - a, b);
}

/* Time of the whole graph on the best single executor by the cost model: what "one core" means under an emulated
 * clock. */
static int64_t serial_by_model(const session *s)
{
    int64_t best_ns = CLO_TIME_NEVER;

    for (uint32_t e = 0; e < clo_platform_executors(s->platform); e++) {
        int64_t sum_ns = 0;

        for (uint32_t t = 0; t < s->graph.tasks; t++)
            sum_ns += clo_cost_execution_ns(s->cost, t, e);
        if (sum_ns < best_ns)
            best_ns = sum_ns;
    }
    return best_ns;
}

/* The plan, and what it or the simulated steal or policy takes by the model. */
static clo_status predict(session *s, report *r)
{
    clo_plan_config config = {.size = sizeof config, .planner = clo_planner_find(r->how.planner)};
    clo_sim_config sim = {.size = sizeof sim, .policy = r->how.policy};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status;

    if (r->how.planner == NULL) {
        status = clo_simulate(s->cost, &sim, &result, NULL, NULL);
        r->predicted_ns = result.makespan_ns;
        return status;
    }
    status = clo_plan_create(s->cost, &config, &s->plan);
    if (status == CLO_OK)
        status = clo_plan_check(s->plan, s->cost, CLO_CHECK_FULL);
    if (status == CLO_OK)
        r->predicted_ns = clo_plan_makespan_ns(s->plan);
    return status;
}

static clo_status write_pictures(const options *o, const session *s, const clo_trace *trace, const char *title)
{
    clo_plan *happened = NULL;
    clo_status status = CLO_OK;

    if (o->trace != NULL)
        status = clo_trace_write_chrome(trace, s->cost, title, o->trace);
    if (status == CLO_OK && o->gantt != NULL) {
        status = clo_trace_to_plan(trace, s->cost, &happened);
        if (status == CLO_OK)
            status = clo_plan_check(happened, s->cost, CLO_CHECK_MEASURED);
        if (status == CLO_OK)
            status = clo_plan_gantt_svg(happened, s->cost, title, o->gantt);
        clo_plan_destroy(happened);
    }
    return status;
}

/* Steal and policies are not run by threads under the virtual clock; the simulator executes the bodies itself. */
static clo_status run_simulated(application *app, const options *o, session *s, report *r, uint64_t expected_hash)
{
    clo_sim_config config = {.size = sizeof config, .policy = r->how.policy, .execute = 1};
    clo_trace *trace = NULL;
    clo_status status;

    if (app->prepare != NULL)
        app->prepare(app);
    status = clo_simulate(s->cost, &config, &r->result, &trace, &r->hash);
    if (status == CLO_OK) {
        r->runs = r->kept = 1;
        r->measured_ns = r->lowest_ns = r->highest_ns = r->result.makespan_ns;
        r->error = relative(r->predicted_ns, r->measured_ns);
        r->speedup = ratio(r->serial_ns, r->measured_ns);
        if (app->hash != NULL)
            r->hash = app->hash(app);
        r->is_same = r->hash == expected_hash;
        r->is_right = app->check(app, r->line, r->json, sizeof r->line);
        status = write_pictures(o, s, trace, app->name);
    }
    clo_trace_destroy(trace);
    return status;
}

static clo_status run_once(application *app, session *s, report *r, uint64_t expected_hash)
{
    clo_status status = session_run(s, app, &r->result);

    if (status != CLO_OK)
        return status;
    r->hash = result_hash(app, s->job);
    r->is_same = r->is_same && r->hash == expected_hash;
    /* Equal bytes need no second check. */
    if (r->runs == 0 || r->hash != expected_hash)
        r->is_right = app->check(app, r->line, r->json, sizeof r->line) && (r->runs == 0 || r->is_right);
    r->runs++;
    return CLO_OK;
}

/* What the plan (or steal, or the policy) takes as far as is known at this very moment. */
static clo_status predict_afresh(const session *s, const report *r, const clo_profile *profile, uint32_t round,
                                 clo_prediction *prediction)
{
    const clo_sim_config sim = {.size = sizeof sim, .plan = s->plan, .policy = r->how.policy};

    *prediction = (clo_prediction)CLO_PREDICTION_INIT;
    prediction->seed = round;
    return clo_profile_predict(profile, s->cost, &sim, prediction);
}

/* Figures of the rounds; each column is sorted at the end. */
typedef struct rounds {
    int64_t *predicted, *low, *high, *own, *measured, *serial, *ppm;
} rounds;

enum { COLUMNS = 7 };

static double median_of_ppm(const rounds *t, uint32_t count)
{
    return (double)median_ns(t->ppm, count) / 1e6;
}

static void summarise(const rounds *t, uint32_t count, report *r)
{
    for (uint32_t i = 0; i < count; i++) {
        t->ppm[i] = (int64_t)(relative(t->predicted[i], t->measured[i]) * 1e6);
        r->inside += t->low[i] <= t->measured[i] && t->measured[i] <= t->high[i];
    }
    r->error = median_of_ppm(t, count);
    for (uint32_t i = 0; i < count; i++)
        t->ppm[i] = (int64_t)(relative(t->own[i], t->measured[i]) * 1e6);
    r->own_error = median_of_ppm(t, count);
    for (uint32_t i = 0; i < count; i++)
        t->ppm[i] = (int64_t)(ratio(t->serial[i], t->measured[i]) * 1e6);
    r->speedup = median_of_ppm(t, count);
    r->predicted_ns = median_ns(t->predicted, count);
    r->low_ns = median_ns(t->low, count);
    r->high_ns = median_ns(t->high, count);
    r->serial_ns = median_ns(t->serial, count);
    r->measured_ns = median_ns(t->measured, count);
    r->lowest_ns = t->measured[0];
    r->highest_ns = t->measured[count - 1];
    for (uint32_t i = 0; i < count; i++)
        t->ppm[i] = (int64_t)(relative(t->measured[i], r->measured_ns) * 1e6);
    r->deviation = median_of_ppm(t, count);
}

enum { FIRST_READINGS = 3 };

/* What turns need. */
typedef struct turns {
    application *app;
    session *s;
    yardstick *y;
    clo_profile *own; /* of what the plan's own runs take */
    const rounds *t;
    int32_t cpus[SPEED_CPUS_MAX]; /* of the session's executors */
    uint32_t cpus_count;
} turns;

static void list_cpus(turns *a)
{
    const clo_platform *platform = a->s->platform;

    for (uint32_t e = 0; e < clo_platform_executors(platform) && a->cpus_count < SPEED_CPUS_MAX; e++) {
        int32_t cpu = clo_platform_executor(platform, e)->os_index;
        if (cpu >= 0)
            a->cpus[a->cpus_count++] = cpu;
    }
}

static bool read_speeds(const turns *a, speeds *out)
{
    return speeds_read(a->s->is_crowded ? NULL : a->cpus, a->cpus_count, out);
}

static clo_status learn_from(session *s, application *app, clo_profile *profile)
{
    clo_status status = session_run(s, app, NULL);

    return status == CLO_OK ? session_learn(s, profile) : status;
}

/* A run by its own plan and one by work stealing. */
static clo_status learn(const turns *a)
{
    clo_status status = learn_from(a->s, a->app, a->own);

    return status == CLO_OK ? learn_from(&a->y->all, a->app, a->y->profile) : status;
}

/* Twice: from runs by work stealing, which is all that is known of a plan that has not run yet, and from its own. */
static clo_status predict_both(const turns *a, const report *r)
{
    const rounds *t = a->t;
    uint32_t i = r->kept;
    clo_prediction prediction = CLO_PREDICTION_INIT;
    clo_status status = predict_afresh(a->s, r, a->own, i, &prediction);

    t->own[i] = prediction.median_ns;
    if (status == CLO_OK)
        status = predict_afresh(a->s, r, a->y->profile, i, &prediction);
    t->predicted[i] = prediction.median_ns;
    t->low[i] = prediction.low_ns;
    t->high[i] = prediction.high_ns;
    return status;
}

/* Measure, predict, run. `is_steady`: no CPU changed its speed meanwhile. Else it may end early, unless it `must_run`. */
static clo_status run_turn(const turns *a, report *r, bool must_run, bool *is_steady)
{
    speeds before, between, after;
    bool is_same = read_speeds(a, &before);
    clo_status status = yardstick_serial(a->y, a->app, &a->t->serial[r->kept]);

    *is_steady = false;
    if (status == CLO_OK)
        status = learn(a);
    is_same = is_same && read_speeds(a, &between) && !speeds_differ(&before, &between);
    if (status != CLO_OK || (!is_same && !must_run))
        return status;
    status = predict_both(a, r);
    if (status == CLO_OK)
        status = run_once(a->app, a->s, r, a->y->hash);
    *is_steady =
        is_same && read_speeds(a, &after) && !speeds_differ(&before, &after) && !speeds_differ(&between, &after);
    return status;
}

/* So many turns are tried for one that is kept, if the first round of them had any. */
enum { TRIES = 4 };

static bool goes_on(const report *r, uint32_t wanted)
{
    uint32_t tried = r->kept + r->dropped;

    return r->kept < wanted && tried / TRIES < wanted && (r->kept > 0 || tried < wanted);
}

/* Under an emulated clock time is what the model says: nothing to measure. */
static clo_status run_emulated(const turns *a, report *r, uint32_t wanted)
{
    clo_status status = CLO_OK;

    for (; r->kept < wanted && status == CLO_OK; r->kept++) {
        a->t->predicted[r->kept] = r->predicted_ns;
        a->t->serial[r->kept] = r->serial_ns;
        status = run_once(a->app, a->s, r, a->y->hash);
        a->t->measured[r->kept] = r->result.makespan_ns;
    }
    return status;
}

/* Turns of measure, predict, run: as many as are wanted, or those that were kept, or the last one. */
static clo_status run_rounds(turns *a, report *r, uint32_t wanted)
{
    clo_status status = session_run(a->s, a->app, NULL); /* warms up */

    if (status == CLO_OK && r->clock != CLO_CLOCK_REAL)
        status = run_emulated(a, r, wanted);
    for (int i = 0; i < FIRST_READINGS && r->clock == CLO_CLOCK_REAL && status == CLO_OK; i++)
        status = learn_from(a->s, a->app, a->own);
    while (status == CLO_OK && r->clock == CLO_CLOCK_REAL && goes_on(r, wanted)) {
        bool is_steady, is_last = r->kept == 0 && r->dropped + 1 >= wanted;

        status = run_turn(a, r, is_last, &is_steady);
        a->t->measured[r->kept] = r->result.makespan_ns;
        r->kept += is_steady;
        r->dropped += !is_steady;
    }
    return status;
}

static clo_status run_repeatedly(application *app, const options *o, session *s, yardstick *y, report *r)
{
    const bool has_pictures = o->trace != NULL || o->gantt != NULL;
    const uint32_t count = o->repeat;
    int64_t *columns = calloc((size_t)COLUMNS * count, sizeof *columns);

    if (columns == NULL)
        return CLO_ERR_MEMORY;
    const size_t n = count;
    const rounds t = {columns,         columns + n,     columns + 2 * n, columns + 3 * n,
                      columns + 4 * n, columns + 5 * n, columns + 6 * n};
    clo_status status = session_start(s, r->clock, &r->how, has_pictures || r->clock == CLO_CLOCK_REAL);
    r->is_same = true;
    turns a = {.app = app, .s = s, .y = y, .t = &t};
    list_cpus(&a);
    if (status == CLO_OK)
        status = clo_profile_create(0, &a.own);
    if (status == CLO_OK)
        status = run_rounds(&a, r, count);
    if (status == CLO_OK)
        summarise(&t, counted(r), r);
    clo_profile_destroy(a.own);
    if (status == CLO_OK && has_pictures) {
        clo_trace *trace = NULL;

        status = clo_job_trace(s->job, &trace);
        if (status == CLO_OK)
            status = write_pictures(o, s, trace, app->name);
        clo_trace_destroy(trace);
    }
    free(columns);
    return status;
}

/* A platform file may carry any name. */
static void print_json_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void print_json(const application *app, const session *s, const report *r)
{
    printf("{\"app\": \"%s\", \"dispatch\": \"%s\", \"planner\": \"%s\", \"platform\": ", app->name, r->how.mode,
           r->how.planner != NULL  ? r->how.planner
           : r->how.policy != NULL ? r->how.policy->name
                                   : "steal");
    print_json_string(clo_platform_name(s->platform));
    printf(", \"workers\": %u, \"tasks\": %u, \"edges\": %u, ", r->workers, r->tasks, r->edges);
    printf("\"predicted_ns\": %lld, ", (long long)r->predicted_ns);
    if (r->high_ns > 0)
        printf("\"predicted_low_ns\": %lld, \"predicted_high_ns\": %lld, \"runs_inside\": %u, \"own_error\": %.4f, ",
               (long long)r->low_ns, (long long)r->high_ns, r->inside, r->own_error);
    printf("\"measured_ns\": %lld, \"serial_ns\": %lld, \"runs\": %u, \"speedup\": %.4f, "
           "\"error\": %.4f, \"valid\": %s, %s, \"emulated\": %s, ",
           (long long)r->measured_ns, (long long)r->serial_ns, counted(r), r->speedup, r->error,
           r->is_right && r->is_same ? "true" : "false", r->json, r->clock != CLO_CLOCK_REAL ? "true" : "false");
    printf("\"deviation\": %.4f, \"turns_kept\": %u, \"turns_dropped\": %u, ", r->deviation, r->kept, r->dropped);
    printf("\"foreign_load\": %.3f, \"device_kernels\": %llu, \"device_fallbacks\": %llu, ", r->foreign_load,
           (unsigned long long)r->device.launched, (unsigned long long)r->device.fallbacks);
    printf("\"emulation_error\": %.4f, \"duplicates_run\": %llu, \"transfers\": %llu, \"output_hash\": \"%016llx\"}\n",
           r->result.emulation_error, (unsigned long long)r->result.duplicates_run,
           (unsigned long long)r->result.transfers, (unsigned long long)r->hash);
}

static void print_text(const application *app, const options *o, const session *s, const report *r,
                       const application_times *times)
{
    static const char *const clocks[] = {"real clock", "padded clock, emulated", "virtual clock, emulated"};

    printf("%-10s", app->name);
    for (uint32_t i = 0; i < app->options_count; i++)
        printf(" %s %lld,", app->options[i].name, (long long)app->options[i].value);
    printf(" %u tasks, %u edges\n", r->tasks, r->edges);
    printf("machine    %s, %u workers%s, %s\nkernels   ", clo_platform_name(s->platform), r->workers,
           s->is_crowded ? " (more than CPUs, not pinned)" : "", clocks[r->clock]);
    for (uint32_t k = 0; k < app->kernels_count; k++)
        printf(" %s %.3f ms", app->kernels[k], (double)times->reference_ns[k] / 1e6);
    printf(" (measured here, medians)\n%-10s predicted %.3f ms, measured %.3f ms (medians of %u, %.3f to %.3f), "
           "error %.1f %%\n",
           o->planner, (double)r->predicted_ns / 1e6, (double)r->measured_ns / 1e6, counted(r),
           (double)r->lowest_ns / 1e6, (double)r->highest_ns / 1e6, 100.0 * r->error);
    if (r->high_ns > 0)
        printf("interval   9 of 10 runs were to take %.3f to %.3f ms; %u of %u did\n"
               "error      %.1f %% if predicted by its own earlier runs, %.1f %% by their median\n",
               (double)r->low_ns / 1e6, (double)r->high_ns / 1e6, r->inside, counted(r), 100.0 * r->own_error,
               100.0 * r->deviation);
    printf("one core   %.3f ms, speedup %.2f\n", (double)r->serial_ns / 1e6, r->speedup);
    printf("result     %s, %s as on one core\n", r->line, r->is_same ? "the same bytes" : "NOT THE SAME BYTES");
    if (r->result.duplicates_run + r->result.transfers > 0)
        printf("data       %llu replicas run, %llu transfers\n", (unsigned long long)r->result.duplicates_run,
               (unsigned long long)r->result.transfers);
    if (r->clock == CLO_CLOCK_PADDED)
        printf("emulation  executions off by %.1f %%%s\n", 100.0 * r->result.emulation_error,
               r->result.emulation_error > 0.1 ? ": the machine is too slow or too busy for this platform" : "");
    if (r->device.launched + r->device.fallbacks > 0)
        printf("device     %s: %llu kernels%s, %llu fallbacks%s%s\n", r->device.facts.name,
               (unsigned long long)r->device.launched,
               2 * r->device.synchronous > r->device.launched ? " (its driver blocks)" : "",
               (unsigned long long)r->device.fallbacks, r->device.is_lost ? "; lost: " : "", r->device.reason);
    if (r->dropped > 0)
        printf("dropped    %u of %u runs%s: a CPU changed its speed meanwhile\n", r->dropped, r->dropped + r->kept,
               r->kept == 0 ? ", so that the error tells nothing" : "");
    if (r->foreign_load > 0.05)
        printf("disturbed  other programs used %.0f %% of the CPUs meanwhile\n", 100.0 * r->foreign_load);
    if (o->trace != NULL)
        printf("trace      %s (open it in ui.perfetto.dev)\n", o->trace);
    if (o->gantt != NULL)
        printf("gantt      %s\n", o->gantt);
}

/* The session to measure: built and priced with the first readings, planned. */
static clo_status plan_application(application *app, const options *o, yardstick *y, session *s, report *r,
                                   application_times *times)
{
    clo_status status = clo_profile_create(0, &y->profile);

    if (status == CLO_OK)
        status = yardstick_open(y, app, o->workers);
    if (status == CLO_OK)
        status = yardstick_read(y, app, FIRST_READINGS, &r->serial_ns, times);
    if (status == CLO_OK)
        status = session_open(s, app, o->platform, o->workers, NULL, y->profile);
    if (status != CLO_OK)
        return status;
    r->clock = o->clock >= 0                         ? (clo_clock)o->clock
               : clo_platform_is_native(s->platform) ? CLO_CLOCK_REAL
                                                     : CLO_CLOCK_VIRTUAL;
    r->workers = clo_platform_executors(s->platform);
    r->tasks = clo_graph_tasks(s->graph.graph);
    r->edges = clo_graph_edges(s->graph.graph);
    if (r->clock != CLO_CLOCK_REAL)
        r->serial_ns = serial_by_model(s);
    return predict(s, r);
}

static clo_status run_application(application *app, const options *o, report *r)
{
    application_times times = {0};
    yardstick y = {0};
    session s = {0};
    load before = load_now();
    clo_status status = plan_application(app, o, &y, &s, r, &times);

    if (status == CLO_OK && r->clock == CLO_CLOCK_VIRTUAL && s.plan == NULL)
        status = run_simulated(app, o, &s, r, y.hash);
    else if (status == CLO_OK)
        status = run_repeatedly(app, o, &s, &y, r);
    r->foreign_load = load_foreign(before);
    if (status == CLO_OK && app->device != NULL)
        status = clo_device_get_stats(app->device, &r->device);
    if (status == CLO_OK && o->json)
        print_json(app, &s, r);
    else if (status == CLO_OK)
        print_text(app, o, &s, r, &times);
    session_close(&s);
    yardstick_close(&y);
    clo_profile_destroy(y.profile);
    return status;
}

/* The device asked for, with the kernels of the application. */
static clo_status open_device(application *app, const options *o)
{
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    const clo_driver *driver = clo_driver_find("opencl");

    if (o->device == NULL)
        return CLO_OK;
    if (app->program == NULL)
        return clo_device_fail(CLO_ERR_UNSUPPORTED, "it has no kernels for devices; leave --device out");
    if (driver == NULL)
        return clo_device_fail(CLO_ERR_UNSUPPORTED, "the library was built without opencl-c-headers");
    config.program = app->program;
    config.options = app->program_options;
    return clo_device_open(driver, o->device, &config, &app->device);
}

int application_main(application *app, int argc, char **argv)
{
    options o;
    report r = {.result = CLO_JOB_RESULT_INIT, .device = CLO_DEVICE_STATS_INIT};
    int exit_status = options_read(&o, app, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    if (dispatch_find(o.planner, &r.how) != CLO_OK) {
        fprintf(stderr, "example-%s: no planner or policy is called '%s'; see clotho list planners and policies\n",
                app->name, o.planner);
        return 2;
    }
    const char *wrong = app->open(app);
    if (wrong != NULL) {
        fprintf(stderr, "example-%s: %s\n", app->name, wrong);
        app->close(app);
        return 2;
    }
    clo_status status = open_device(app, &o);
    if (status == CLO_OK)
        status = run_application(app, &o, &r);
    clo_device_close(app->device);
    app->close(app);
    if (status != CLO_OK) {
        fprintf(stderr, "example-%s: %s\n", app->name,
                status == CLO_ERR_MEMORY ? "out of memory; use a smaller problem" : clo_last_error());
        return 1;
    }
    return r.is_right && r.is_same ? 0 : 1;
}
