/* comparison.c - planners beside each other on the same instances. */
#include "quality/comparison.h"

#include <clotho/planner.h>
#include <clotho/sim.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Published figures are rounded, as our nanoseconds are: this share is no difference. */
#define ROUNDING 1e-7

static const double within_limits[3] = {0.01, 0.05, 0.10};

bool is_planner(const char *name)
{
    return clo_planner_find(name) != NULL;
}

uint32_t candidates_find(const candidates *chosen, const char *label)
{
    for (uint32_t i = 0; i < chosen->count; i++)
        if (strcmp(chosen->items[i].label, label) == 0)
            return i;
    return CLO_NONE;
}

static bool read_budget(const char *text, candidate *c)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    if (end == text || *text == '-' || number == 0 || number > 1000000000)
        return false;
    if (*end == '\0')
        c->schedules_max = number;
    else if (strcmp(end, "ms") == 0)
        c->budget_ns = (int64_t)number * 1000000;
    else
        return false;
    return true;
}

static bool append(candidates *chosen, const candidate *c)
{
    if (candidates_find(chosen, c->label) != CLO_NONE)
        return true;
    if (chosen->count == CANDIDATES_MAX) {
        fprintf(stderr, "bench: more than %d planners; ask for fewer\n", CANDIDATES_MAX);
        return false;
    }
    chosen->items[chosen->count++] = *c;
    return true;
}

bool candidates_add(candidates *chosen, const char *planner, const bench_list *budgets)
{
    candidate c = {.planner = planner};

    if (!is_planner(planner)) {
        fprintf(stderr, "bench: there is no planner '%s'; see clotho list planners\n", planner);
        return false;
    }
    snprintf(c.label, sizeof c.label, "%.48s", planner);
    if (strcmp(planner, "best") != 0)
        return append(chosen, &c);
    for (uint32_t i = 0; i < budgets->count; i++) {
        c = (candidate){.planner = planner};
        snprintf(c.label, sizeof c.label, "%.40s %.16s", planner, budgets->items[i]);
        if (!read_budget(budgets->items[i], &c)) {
            fprintf(stderr, "bench: '%s' is no budget; write a number of schedules, or 100ms\n", budgets->items[i]);
            return false;
        }
        if (!append(chosen, &c))
            return false;
    }
    return true;
}

bool candidates_add_all(candidates *chosen, const bench_list *budgets)
{
    clo_entry planner = CLO_ENTRY_INIT;

    for (uint32_t i = 0; clo_registry_entry("planners", i, &planner); i++)
        if (!candidates_add(chosen, planner.name, budgets))
            return false;
    return true;
}

bool candidates_justify(candidates *chosen)
{
    for (uint32_t i = 0, count = chosen->count; i < count; i++) {
        candidate c = chosen->items[i];

        c.justify = 1;
        snprintf(c.label, sizeof c.label, "%.50s justified", chosen->items[i].label);
        if (!append(chosen, &c))
            return false;
    }
    return true;
}

bool comparison_open(comparison *c, const char *name, comparison_style style, candidates *chosen, const char *baseline)
{
    *c = (comparison){.style = style, .candidates = chosen, .baseline = candidates_find(chosen, baseline)};
    snprintf(c->name, sizeof c->name, "%s", name);
    if (c->baseline == CLO_NONE)
        fprintf(stderr, "bench: %s: the baseline %s is not among the planners; add it\n", name, baseline);
    return c->baseline != CLO_NONE;
}

void comparison_close(comparison *c)
{
    free(c->list);
    free(c->entries);
    *c = (comparison){0};
}

void comparison_note(comparison *c, const char *format, ...)
{
    size_t used = strlen(c->note);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(c->note + used, sizeof c->note - used, format, arguments);
    va_end(arguments);
}

static bool grow(comparison *c)
{
    if (c->instances < c->capacity)
        return true;
    uint32_t capacity = c->capacity > 0 ? 2 * c->capacity : 64;
    instance *list = realloc(c->list, capacity * sizeof *list);
    if (list != NULL)
        c->list = list;
    entry *entries = realloc(c->entries, (size_t)capacity * c->candidates->count * sizeof *entries);
    if (entries != NULL)
        c->entries = entries;
    if (list == NULL || entries == NULL) {
        fprintf(stderr, "bench: no memory for %u instances\n", capacity);
        return false;
    }
    c->capacity = capacity;
    return true;
}

static bool judge(const clo_plan *plan, const clo_cost *cost, const char *where, entry *out)
{
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    if (clo_plan_check(plan, cost, CLO_CHECK_FULL) != CLO_OK || clo_plan_measure(plan, cost, &metrics) != CLO_OK) {
        fprintf(stderr, "bench: %s: the plan of %s is wrong: %s\n", where, clo_plan_planner(plan), clo_last_error());
        return false;
    }
    if (metrics.makespan_ns < metrics.lower_bound_ns) {
        fprintf(stderr, "bench: %s: the plan of %s is shorter than the lower bound; report the instance\n", where,
                clo_plan_planner(plan));
        return false;
    }
    out->makespan_ns = metrics.makespan_ns;
    out->gap = metrics.gap;
    out->speedup = metrics.speedup;
    out->slr = metrics.slr;
    return out->is_measured = true;
}

enum { OTHER_SEEDS = 5000 }; /* not those of a planner that samples, too */

/* The mean over outcomes in place of the plan's makespan. */
static bool sample(const comparison *c, const clo_plan *plan, const clo_cost *cost, const char *where, entry *out)
{
    double sum = 0;

    for (uint32_t i = 0; i < c->outcomes; i++) {
        const clo_sim_config config = {.size = sizeof config, .plan = plan, .seed = OTHER_SEEDS + i};
        clo_job_result result = CLO_JOB_RESULT_INIT;

        if (clo_simulate(cost, &config, &result, NULL, NULL) != CLO_OK)
            return bench_fail(where);
        sum += (double)result.makespan_ns;
    }
    out->makespan_ns = (int64_t)(sum / c->outcomes);
    return true;
}

/* True if the candidate is let in: one with a budget, and one that will not take too long. The slow ones grow about as
 * (instances x executors)^1.5. */
static bool is_let_in(const candidate *who, double pairs, int64_t limit_ns)
{
    double growth = who->slowest_pairs > 0 ? pow(pairs / who->slowest_pairs, 1.5) : 0;

    return who->budget_ns > 0 || who->schedules_max > 0 || who->slowest_ns * growth <= (double)limit_ns;
}

static bool compete(const comparison *c, uint32_t at, const clo_cost *cost, const char *where, entry *out)
{
    candidate *who = &c->candidates->items[at];
    const clo_plan_config config = {.size = sizeof config,
                                    .planner = clo_planner_find(who->planner),
                                    .seed = c->candidates->seed,
                                    .schedules_max = who->schedules_max,
                                    .justify = who->justify,
                                    .budget_ns = who->budget_ns};
    clo_plan *plan = NULL;
    double pairs = (double)clo_graph_instances(clo_cost_graph(cost)) * clo_platform_executors(clo_cost_platform(cost));

    if (at != c->baseline && !is_let_in(who, pairs, c->candidates->limit_ns))
        return true;
    int64_t start_ns = bench_now_ns();
    if (clo_plan_create(cost, &config, &plan) != CLO_OK) {
        fprintf(stderr, "bench: %s: %s: %s\n", where, who->label, clo_last_error());
        return false;
    }
    out->plan_ns = bench_now_ns() - start_ns;
    if (out->plan_ns > c->candidates->limit_ns / 20 &&
        (double)out->plan_ns > who->slowest_ns) { /* short ones are noise */
        who->slowest_ns = (double)out->plan_ns;
        who->slowest_pairs = pairs;
    }
    bool is_good = judge(plan, cost, where, out) && (c->outcomes == 0 || sample(c, plan, cost, where, out));
    clo_plan_destroy(plan);
    return is_good;
}

/* No schedule is shorter than the bound: what is published below it is wrong. */
static void take_reference(comparison *c, instance *i, int64_t reference_ns)
{
    i->reference_ns = reference_ns;
    if (reference_ns <= 0 || (double)reference_ns >= (double)i->bound_ns * (1 - ROUNDING))
        return;
    i->reference_ns = i->bound_ns;
    c->impossible++;
    if (strlen(c->note) + NAME_MAX_BYTES + 8 < sizeof c->note)
        comparison_note(c, "%s%s (%.6g of our bound)", c->impossible > 1 ? ", " : "too low to be true: ", i->name,
                        (double)reference_ns / (double)i->bound_ns);
}

bool comparison_add(comparison *c, const char *name, const clo_cost *cost, int64_t reference_ns)
{
    clo_bound bound = CLO_BOUND_INIT;
    uint32_t count = c->candidates->count;

    if (!grow(c))
        return false;
    if (clo_cost_bound(cost, &bound) != CLO_OK)
        return bench_fail(name);
    instance *i = &c->list[c->instances];
    entry *entries = c->entries + (size_t)c->instances * count;
    *i = (instance){.bound_ns = bound.best_ns};
    snprintf(i->name, sizeof i->name, "%s", name);
    take_reference(c, i, reference_ns);
    memset(entries, 0, count * sizeof *entries);
    for (uint32_t p = 0; p < count; p++)
        if (!compete(c, p, cost, name, &entries[p]))
            return false;
    c->instances++;
    return true;
}

static double not_zero(int64_t ns)
{
    return ns > 0 ? (double)ns : 1;
}

/* Adds one instance to the sums. */
static void add_entry(summary *s, const entry *e, const entry *base, const instance *i)
{
    s->plans++;
    s->gap += e->gap;
    s->makespan_ms += (double)e->makespan_ns / 1e6;
    s->room += 1 - not_zero(i->bound_ns) / not_zero(e->makespan_ns);
    s->speedup += e->speedup;
    s->slr += e->slr;
    for (int w = 0; w < 3; w++)
        s->within[w] += e->gap <= within_limits[w];
    s->ratio += log(not_zero(e->makespan_ns) / not_zero(base->makespan_ns));
    s->reduction += 1 - not_zero(e->makespan_ns) / not_zero(base->makespan_ns);
    if (i->reference_ns > 0) {
        s->references++;
        s->reference_gap += (double)e->makespan_ns / (double)i->reference_ns - 1;
        s->reached += (double)e->makespan_ns <= (double)i->reference_ns * (1 + ROUNDING);
        s->beaten += (double)e->makespan_ns < (double)i->reference_ns * (1 - ROUNDING);
    }
}

static void divide(summary *s)
{
    double n = s->plans > 0 ? s->plans : 1;

    s->gap /= n;
    s->makespan_ms /= n;
    s->room /= n;
    s->speedup /= n;
    s->slr /= n;
    for (int w = 0; w < 3; w++)
        s->within[w] /= n;
    s->ratio = exp(s->ratio / n);
    s->reduction /= n;
    s->reference_gap /= s->references > 0 ? s->references : 1;
}

bool comparison_summarise(const comparison *c, uint32_t who, summary *out)
{
    double *times = calloc(c->instances + 1, sizeof *times), *gains = calloc(c->instances + 1, sizeof *gains);

    *out = (summary){0};
    for (uint32_t i = 0; i < c->instances && times != NULL && gains != NULL; i++) {
        const entry *row = c->entries + (size_t)i * c->candidates->count, *e = &row[who], *base = &row[c->baseline];

        if (!e->is_measured || !base->is_measured)
            continue;
        times[out->plans] = (double)e->plan_ns / 1e6;
        gains[out->plans] = 1 - not_zero(base->makespan_ns) / not_zero(e->makespan_ns);
        add_entry(out, e, base, &c->list[i]);
    }
    bool is_good = times != NULL && gains != NULL;
    if (is_good) {
        bench_sort(times, out->plans);
        out->plan_ms = bench_quantile(times, out->plans, 0.5);
        out->plan_ms_p98 = bench_quantile(times, out->plans, 0.98);
        out->gain = bench_summarise(gains, out->plans).median;
        divide(out);
    }
    free(times);
    free(gains);
    return is_good;
}

uint32_t comparison_rank(const comparison *c, summary *all, uint32_t *order)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < c->candidates->count; p++) {
        if (!comparison_summarise(c, p, &all[p]) || all[p].plans == 0)
            continue;
        uint32_t at = count++; /* insertion: there are few */
        for (; at > 0 && all[order[at - 1]].ratio > all[p].ratio; at--)
            order[at] = order[at - 1];
        order[at] = p;
    }
    return count;
}

static void print_row(const comparison *c, const char *label, const summary *s)
{
    printf("%-16s %6u %8.4f %8.2f", label, s->plans, s->ratio, 100 * s->gap);
    if (c->style == STYLE_SET && s->references > 0)
        printf(" %8.2f %7u %6u", 100 * s->reference_gap, s->reached, s->beaten);
    else if (c->style == STYLE_SET)
        printf(" %8s %7s %6s", "-", "-", "-");
    if (c->style == STYLE_PAPER)
        printf(" %8.2f %8.2f %6.0f %6.0f %6.0f %8.2f %8.3f", 100 * s->reduction, 100 * s->gain, 100 * s->within[0],
               100 * s->within[1], 100 * s->within[2], s->speedup, s->slr);
    printf(" %10.3f", s->plan_ms);
    if (c->style == STYLE_PAPER)
        printf(" %10.3f", s->plan_ms_p98);
    printf("\n");
}

void comparison_print(const comparison *c)
{
    summary all[CANDIDATES_MAX];
    uint32_t order[CANDIDATES_MAX], count = comparison_rank(c, all, order);

    printf("%s: %u instances, compared with %s\n%-16s %6s %8s %8s", c->name, c->instances,
           c->candidates->items[c->baseline].label, "planner", "plans", "ratio", "gap %");
    if (c->style == STYLE_SET)
        printf(" %8s %7s %6s", "publ. %", "reached", "better");
    if (c->style == STYLE_PAPER)
        printf(" %8s %8s %6s %6s %6s %8s %8s", "less %", "gain %", "in 1 %", "5 %", "10 %", "speedup", "SLR");
    printf(" %10s%s\n", "ms a plan", c->style == STYLE_PAPER ? "   98th pct" : "");
    for (uint32_t i = 0; i < count; i++)
        print_row(c, c->candidates->items[order[i]].label, &all[order[i]]);
    if (c->impossible > 0)
        printf("%u published figures are below our lower bound, which stands in for them\n", c->impossible);
    printf("%s%s\n", c->note, c->note[0] != '\0' ? "\n" : "");
    fflush(stdout);
}

void comparison_print_json(const comparison *c)
{
    summary all[CANDIDATES_MAX];
    uint32_t order[CANDIDATES_MAX], count = comparison_rank(c, all, order);

    printf(
        "{\"set\": \"%s\", \"instances\": %u, \"baseline\": \"%s\", \"impossible_references\": %u, \"note\": \"%s\", "
        "\"rows\": [",
        c->name, c->instances, c->candidates->items[c->baseline].label, c->impossible, c->note);
    for (uint32_t i = 0; i < count; i++) {
        const summary *s = &all[order[i]];

        printf("%s{\"planner\": \"%s\", \"plans\": %u, \"ratio\": %.6f, \"reduction\": %.6f, \"baseline_gain\": %.6f, "
               "\"gap\": %.6f, \"room\": %.6f, \"makespan_ms\": %.6f, \"speedup\": %.4f, \"slr\": %.4f, "
               "\"plan_ms\": %.4f, \"plan_ms_p98\": %.4f, \"within\": [%.4f, %.4f, %.4f]",
               i > 0 ? ", " : "", c->candidates->items[order[i]].label, s->plans, s->ratio, s->reduction, s->gain,
               s->gap, s->room, s->makespan_ms, s->speedup, s->slr, s->plan_ms, s->plan_ms_p98, s->within[0],
               s->within[1], s->within[2]);
        if (s->references > 0)
            printf(", \"references\": %u, \"reference_gap\": %.6f, \"reached\": %u, \"better\": %u", s->references,
                   s->reference_gap, s->reached, s->beaten);
        printf("}");
    }
    printf("]}");
}
