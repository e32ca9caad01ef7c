/* compare.c - see compare.h. A graph counts once all planners have had it: one that Ctrl-C cuts short counts nowhere. Of
 * each graph only its makespans are kept, so there may be many. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/plan/compare.h"

#include "clotho/common/interrupt.h"
#include "clotho/compare/comparison.h"
#include "clotho/plan/compare_report.h"

#include <assert.h>
#include <clotho/planner.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int no_memory(void)
{
    return complain(NULL, "out of memory for what is compared; compare fewer graphs at once");
}

/* The planners' own names: "HEFT_append" was asked for, "heft-append" is compared. */
static option_list own_names(const plan_options *o)
{
    option_list names = {.count = o->planners.count};

    for (uint32_t i = 0; i < names.count; i++)
        names.items[i] = clo_planner_find(o->planners.items[i])->name;
    return names;
}

static int begin(plan_comparison *p, const plan_options *o)
{
    option_list names = own_names(o);
    const char *asked = o->baseline != NULL ? clo_planner_find(o->baseline)->name : NULL;
    uint32_t baseline;

    *p = (plan_comparison){.options = o};
    int code = comparison_baseline(&names, asked, "heft", "planner", &baseline);
    if (code != EXIT_GOOD)
        return code;
    return comparison_open(&p->comparison, &names, baseline, 1) && rows_open(&p->rows, p->options->csv) ? EXIT_GOOD
                                                                                                        : no_memory();
}

/* "file 2 of 20, graph 7 of 288: deft"; the next line writes over it. */
static void show_progress(const plan_comparison *p, const input *in, const char *planner)
{
    char files[64] = "", graphs[64] = "";

    if (p->files > 1)
        snprintf(files, sizeof files, "file %zu of %zu", p->file, p->files);
    if (in->count > 1)
        snprintf(graphs, sizeof graphs, "graph %zu of %zu", p->graph, in->count);
    progress_over("%s%s%s: %s", files, files[0] != '\0' && graphs[0] != '\0' ? ", " : "", graphs, planner);
}

/* The first failure of each planner is a line; all are counted, and in the CSV. */
static void take_failure(plan_comparison *p, const contender *row, const char *place, const char *error)
{
    if (p->tallies[row->index].failed++ == 0)
        complain(strncmp(error, place, strlen(place)) == 0 ? NULL : place, "%s (planner %s%s)", error, row->name,
                 p->options->csv == NULL ? "; its other failures are counted" : "; all its failures: --csv");
}

static void take_plan(plan_comparison *p, contender *row, const input *in, const planned *made)
{
    plan_tally *tally = &p->tallies[row->index];
    int64_t makespan = made->metrics.makespan_ns > 1 ? made->metrics.makespan_ns : 1;
    int64_t bound = made->metrics.lower_bound_ns > 1 ? made->metrics.lower_bound_ns : 1;

    row->values[0][p->comparison.cases - 1] = (double)makespan; /* of a graph without times 1 ns */
    tally->over_bound_logs += log((double)makespan / (double)bound);
    tally->plan_ns += (double)made->plan_ns;
    if (published_ns(in) > 0) {
        tally->published++;
        tally->over_published_logs += log((double)makespan / published_ns(in));
    }
}

/* All planners on the graph at hand. */
static int plan_graph(plan_comparison *p, const input *in)
{
    int code = EXIT_GOOD;

    for (uint32_t i = 0; i < p->comparison.count && !is_interrupted(); i++) {
        contender *row = &p->comparison.rows[i];
        planned made;
        show_progress(p, in, row->name);
        clo_status status = plan_make(in, p->options, p->options->planners.items[i], &made);
        const char *error = status == CLO_OK ? NULL : status == CLO_ERR_MEMORY ? "out of memory" : clo_last_error();
        rows_add(&p->rows, in, row->name, made.measured ? &made : NULL, error);
        if (status == CLO_OK) {
            take_plan(p, row, in, &made);
        } else if (!is_interrupted()) {
            take_failure(p, row, in->place, error);
            code = EXIT_BAD_INPUT;
        }
        clo_plan_destroy(made.plan);
    }
    return code;
}

static void remember_platform(plan_comparison *p, const char *name)
{
    if (p->comparison.cases == 1)
        snprintf(p->platform, sizeof p->platform, "%s", name);
    else if (strncmp(p->platform, name, sizeof p->platform - 1) != 0)
        p->platform[0] = '\0';
}

/* The tallies of what is taken back go back, too. */
static int add_graph(plan_comparison *p, const input *in)
{
    plan_tally before[OPTION_LIST_MAX];

    if (!comparison_add_case(&p->comparison))
        return no_memory();
    input_warn_untimed(in);
    memcpy(before, p->tallies, sizeof before);
    rows_begin_graph(&p->rows);
    int code = plan_graph(p, in);
    if (is_interrupted()) {
        comparison_drop_case(&p->comparison);
        rows_drop_graph(&p->rows);
        memcpy(p->tallies, before, sizeof before);
    } else {
        remember_platform(p, clo_platform_name(in->platform));
    }
    return code;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int add_file(plan_comparison *p, input *in)
{
    int code = EXIT_GOOD;

    for (size_t i = 0; i < in->count && !is_interrupted(); i++) {
        p->graph = i + 1;
        int one = input_next(in);
        p->unread += one != EXIT_GOOD && !is_interrupted();
        code = worse(code, one == EXIT_GOOD ? add_graph(p, in) : one);
    }
    return code;
}

static int end(plan_comparison *p, int code)
{
    progress_clear();
    if (is_interrupted()) {
        warn("interrupted: %zu graph%s done", p->comparison.cases, p->comparison.cases == 1 ? " is" : "s are");
        code = worse(code, EXIT_BAD_INPUT);
    }
    return worse(code, plan_compare_report(p));
}

static void leave(plan_comparison *p)
{
    comparison_close(&p->comparison);
    rows_close(&p->rows);
}

int plan_compare_file(input *in, const plan_options *o)
{
    plan_comparison p;
    int code = begin(&p, o);

    if (code == EXIT_GOOD) {
        interrupts_catch();
        code = end(&p, add_file(&p, in));
        interrupts_let_go();
    }
    leave(&p);
    return code;
}

int plan_compare(const path_list *paths, const plan_options *o)
{
    plan_comparison p;
    int code = begin(&p, o);

    if (code != EXIT_GOOD) {
        leave(&p);
        return code;
    }
    interrupts_catch();
    p.files = paths->count;
    p.unread = paths->empty;
    for (p.file = 1; p.file <= p.files && !is_interrupted(); p.file++) {
        input in;
        int opened = input_open_all(&in, paths->items[p.file - 1], &o->input);
        p.unread += opened != EXIT_GOOD && !is_interrupted();
        code = worse(code, opened == EXIT_GOOD ? add_file(&p, &in) : opened);
        if (opened == EXIT_GOOD)
            input_close(&in);
    }
    code = end(&p, code);
    interrupts_let_go();
    leave(&p);
    return code;
}
