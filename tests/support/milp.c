/* milp.c - see milp.h. CBC is loaded when it is first asked for, and declared here: its headers are not needed. */
#include "milp.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 1024, ROWS_MAX = 4096, ENTRIES_MAX = 32768, T = MILP_TASKS_MAX, E = MILP_EXECUTORS_MAX };

typedef struct cbc {
    void *(*new_model)(void);
    void (*delete_model)(void *);
    void (*load)(void *, int, int, const int *, const int *, const double *, const double *, const double *,
                 const double *, const double *, const double *);
    void (*set_integer)(void *, int);
    void (*log_level)(void *, int);
    int (*solve)(void *);
    int (*is_optimal)(void *);
    double (*objective)(void *);
} cbc;

static bool look_up(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool cbc_open(cbc *s)
{
    void *library = dlopen("libCbcSolver.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    return library != NULL && look_up(library, "Cbc_newModel", &s->new_model) &&
           look_up(library, "Cbc_deleteModel", &s->delete_model) && look_up(library, "Cbc_loadProblem", &s->load) &&
           look_up(library, "Cbc_setInteger", &s->set_integer) && look_up(library, "Cbc_setLogLevel", &s->log_level) &&
           look_up(library, "Cbc_solve", &s->solve) && look_up(library, "Cbc_isProvenOptimal", &s->is_optimal) &&
           look_up(library, "Cbc_getObjValue", &s->objective);
}

bool milp_has_solver(void)
{
    cbc s = {0};

    return cbc_open(&s);
}

typedef struct entry {
    int row, column;
    double value;
} entry;

/* Columns by meaning; -1: there is none. */
typedef struct program {
    const milp_problem *p;
    int columns, rows, entries;
    double most[COLUMNS_MAX], cost[COLUMNS_MAX], lowest[ROWS_MAX], highest[ROWS_MAX];
    bool is_integer[COLUMNS_MAX];
    entry entry[ENTRIES_MAX];
    int end, start[T], on[T][E], before[T][T];
    int pipeline[T + 1][T + 1][E]; /* from, to, machine; T: the machine itself, at the beginning and at the end */
} program;

static int column(program *m, double most, bool is_integer)
{
    assert_true(m->columns < COLUMNS_MAX);
    m->most[m->columns] = most;
    m->is_integer[m->columns] = is_integer;
    return m->columns++;
}

static void row(program *m, double lowest, double highest)
{
    assert_true(m->rows < ROWS_MAX);
    m->lowest[m->rows] = lowest;
    m->highest[m->rows++] = highest;
}

/* An entry of the last row; the same column may come more than once. */
static void add(program *m, int of, double value)
{
    for (int i = m->entries; i > 0 && m->entry[i - 1].row == m->rows - 1; i--)
        if (m->entry[i - 1].column == of) {
            m->entry[i - 1].value += value;
            return;
        }
    assert_true(of >= 0 && m->entries < ENTRIES_MAX);
    m->entry[m->entries++] = (entry){m->rows - 1, of, value};
}

/* factor * the time that task i takes. */
static void add_time(program *m, uint32_t i, double factor)
{
    for (uint32_t e = 0; e < m->p->executors; e++)
        if (m->on[i][e] >= 0)
            add(m, m->on[i][e], factor * (double)m->p->time[i][e]);
}

static bool is_limited(const milp_problem *p, uint32_t machine)
{
    return p->capacity[machine] >= 0;
}

static void make_columns(program *m)
{
    const milp_problem *p = m->p;

    m->end = column(m, (double)p->longest, false);
    m->cost[m->end] = 1;
    for (uint32_t i = 0; i < p->tasks; i++) {
        m->start[i] = column(m, (double)p->longest, false);
        for (uint32_t e = 0; e < p->executors; e++)
            m->on[i][e] = p->time[i][e] != CLO_TIME_NEVER ? column(m, 1, true) : -1;
        for (uint32_t k = 0; k < p->tasks; k++)
            m->before[i][k] = i != k ? column(m, 1, true) : -1;
    }
    for (uint32_t i = 0; i <= T; i++)
        for (uint32_t k = 0; k <= T; k++)
            for (uint32_t machine = 0; machine < p->machines; machine++) {
                double from = i == T ? (double)p->capacity[machine] : i < p->tasks ? (double)p->demand[i] : 0;
                double to = k == T ? (double)p->capacity[machine] : k < p->tasks ? (double)p->demand[k] : 0;
                bool is_there = is_limited(p, machine) && (i != k) && from > 0 && to > 0;
                m->pipeline[i][k][machine] = is_there ? column(m, from < to ? from : to, false) : -1;
            }
}

/* Task i: one executor, and it ends by the end of all. */
static void add_task(program *m, uint32_t i)
{
    row(m, 1, 1);
    for (uint32_t e = 0; e < m->p->executors; e++)
        if (m->on[i][e] >= 0)
            add(m, m->on[i][e], 1);
    row(m, 0, INFINITY);
    add(m, m->end, 1);
    add(m, m->start[i], -1);
    add_time(m, i, -1);
}

/* If i is before k it ends before k starts: start k - start i - time i >= -longest * (1 - before). The longest is
 * enough, because no task ends later. */
static void add_order(program *m, uint32_t i, uint32_t k)
{
    double big = (double)m->p->longest;

    row(m, -big, INFINITY);
    add(m, m->start[k], 1);
    add(m, m->start[i], -1);
    add_time(m, i, -1);
    add(m, m->before[i][k], -big);
    if (m->p->is_edge[i][k]) {
        row(m, 1, 1);
        add(m, m->before[i][k], 1);
    }
}

/* Not both before the other; one of them where they share an executor. */
static void add_pair(program *m, uint32_t i, uint32_t k)
{
    row(m, -INFINITY, 1);
    add(m, m->before[i][k], 1);
    add(m, m->before[k][i], 1);
    for (uint32_t e = 0; e < m->p->executors; e++) {
        if (m->on[i][e] < 0 || m->on[k][e] < 0)
            continue;
        row(m, -1, INFINITY);
        add(m, m->before[i][k], 1);
        add(m, m->before[k][i], 1);
        add(m, m->on[i][e], -1);
        add(m, m->on[k][e], -1);
    }
}

/* start k >= start i + time i + transfer, if i is on `from` and k on `to`. */
static void add_transfer(program *m, uint32_t i, uint32_t k, uint32_t from, uint32_t to)
{
    double transfer = (double)m->p->transfer[i][k][from][to];

    if (m->on[i][from] < 0 || m->on[k][to] < 0 || !(transfer > 0))
        return;
    row(m, -transfer, INFINITY);
    add(m, m->start[k], 1);
    add(m, m->start[i], -1);
    add_time(m, i, -1);
    add(m, m->on[i][from], -transfer);
    add(m, m->on[k][to], -transfer);
}

/* What flows into the task, or out of it, is its demand on the machine that it is on. */
static void add_flow(program *m, uint32_t i, uint32_t machine, bool is_in)
{
    const milp_problem *p = m->p;

    row(m, 0, 0);
    for (uint32_t k = 0; k <= T; k++) {
        int of = is_in ? m->pipeline[k][i][machine] : m->pipeline[i][k][machine];
        if (of >= 0)
            add(m, of, 1);
    }
    for (uint32_t e = 0; e < p->executors; e++)
        if (m->on[i][e] >= 0 && p->machine_of[e] == machine)
            add(m, m->on[i][e], -(double)p->demand[i]);
}

static void add_flows(program *m, uint32_t machine)
{
    const milp_problem *p = m->p;

    row(m, -INFINITY, (double)p->capacity[machine]);
    for (uint32_t k = 0; k < p->tasks; k++)
        if (m->pipeline[T][k][machine] >= 0)
            add(m, m->pipeline[T][k][machine], 1);
    for (uint32_t i = 0; i < p->tasks; i++) {
        if (p->demand[i] == 0)
            continue;
        add_flow(m, i, machine, true);
        add_flow(m, i, machine, false);
        for (uint32_t k = 0; k < p->tasks; k++)
            if (m->pipeline[i][k][machine] >= 0) { /* only to one that comes behind it */
                row(m, -INFINITY, 0);
                add(m, m->pipeline[i][k][machine], 1);
                add(m, m->before[i][k], -m->most[m->pipeline[i][k][machine]]);
            }
    }
}

/* What follows from the other rows, and what the solver would take long to see: an executor, or a resource of a
 * machine, does no more than it can until the end of all. machine: CLO_NONE: time; else what the machine's tasks hold.
 */
static void add_work(program *m, uint32_t executor, uint32_t machine)
{
    const milp_problem *p = m->p;

    row(m, 0, INFINITY);
    add(m, m->end, machine == CLO_NONE ? 1 : (double)p->capacity[machine]);
    for (uint32_t i = 0; i < p->tasks; i++)
        for (uint32_t e = 0; e < p->executors; e++) {
            bool is_here = machine == CLO_NONE ? e == executor : p->machine_of[e] == machine;
            if (is_here && m->on[i][e] >= 0)
                add(m, m->on[i][e], -(double)p->time[i][e] * (machine == CLO_NONE ? 1 : (double)p->demand[i]));
        }
}

static void make_program(program *m)
{
    const milp_problem *p = m->p;

    make_columns(m);
    for (uint32_t e = 0; e < p->executors; e++)
        add_work(m, e, CLO_NONE);
    for (uint32_t i = 0; i < p->tasks; i++) {
        add_task(m, i);
        for (uint32_t k = 0; k < p->tasks; k++) {
            if (i != k)
                add_order(m, i, k);
            if (i < k)
                add_pair(m, i, k);
            for (uint32_t from = 0; from < p->executors && i != k && p->is_edge[i][k]; from++)
                for (uint32_t to = 0; to < p->executors; to++)
                    add_transfer(m, i, k, from, to);
        }
    }
    for (uint32_t machine = 0; machine < p->machines; machine++)
        if (is_limited(p, machine)) {
            add_work(m, CLO_NONE, machine);
            add_flows(m, machine);
        }
}

static int by_column(const void *left, const void *right)
{
    const entry *a = left, *b = right;

    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static double solve(program *m, const cbc *s)
{
    static int first[COLUMNS_MAX + 1], rows[ENTRIES_MAX];
    static double values[ENTRIES_MAX], zeros[COLUMNS_MAX];
    void *model = s->new_model();

    qsort(m->entry, (size_t)m->entries, sizeof m->entry[0], by_column);
    for (int i = 0, c = 0; c <= m->columns; c++) {
        first[c] = i;
        for (; i < m->entries && m->entry[i].column == c; i++) {
            rows[i] = m->entry[i].row;
            values[i] = m->entry[i].value;
        }
    }
    assert_non_null(model);
    s->load(model, m->columns, m->rows, first, rows, values, zeros, m->most, m->cost, m->lowest, m->highest);
    for (int c = 0; c < m->columns; c++)
        if (m->is_integer[c])
            s->set_integer(model, c);
    s->log_level(model, 0);
    (void)s->solve(model);
    if (!s->is_optimal(model))
        fail_msg("CBC proves no optimum of %d columns and %d rows", m->columns, m->rows);
    double value = s->objective(model);
    s->delete_model(model);
    return value;
}

int64_t milp_shortest(const milp_problem *problem)
{
    cbc s = {0};
    program *m = calloc(1, sizeof *m);

    if (m == NULL || !cbc_open(&s)) {
        free(m);
        fail_msg("no memory, or no CBC");
        return -1;
    }
    m->p = problem;
    make_program(m);
    double value = solve(m, &s);
    free(m);
    if (fabs(value - floor(value + 0.5)) > 1e-4)
        fail_msg("CBC's makespan %.9g is no whole number", value);
    return (int64_t)(value + 0.5);
}
