/* lp.c - see lp.h. CLP is loaded when it is first asked for, so that programs that solve no LP pay nothing for it. */
#include "plan/synch_lp/lp.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#if CLO_HAS_CLP
#include <coin/Clp_C_Interface.h>
#include <dlfcn.h>
#endif

#define MARGIN 0x1p-40
#define SOLVER_ROUNDS_MAX 5000000

struct clo_lp {
    uint32_t columns, rows, elements;
    double *cost, *most;      /* [columns] */
    double *lowest, *highest; /* [rows] */
    uint32_t *first;          /* [rows] its first element */
    uint32_t *column;         /* [elements] */
    double *factor;           /* [elements] */
    size_t cost_room, most_room, lowest_room, highest_room, first_room, column_room, factor_room;
    bool has_failed; /* to allocate */
};

clo_lp *clo_lp_create(void)
{
    return clo_allocate(1, sizeof(clo_lp));
}

void clo_lp_destroy(clo_lp *lp)
{
    if (lp == NULL)
        return;
    clo_free(lp->cost);
    clo_free(lp->most);
    clo_free(lp->lowest);
    clo_free(lp->highest);
    clo_free(lp->first);
    clo_free(lp->column);
    clo_free(lp->factor);
    clo_free(lp);
}

static bool grow(clo_lp *lp, void *array, size_t *room, size_t need, size_t bytes)
{
    void *memory;

    memcpy(&memory, array, sizeof memory);
    if (lp->has_failed || clo_grow(&memory, room, need, bytes) != 0)
        lp->has_failed = true;
    else
        memcpy(array, &memory, sizeof memory);
    return !lp->has_failed;
}

uint32_t clo_lp_column(clo_lp *lp, int64_t most_num, int64_t most_den, double cost)
{
    if (grow(lp, &lp->cost, &lp->cost_room, lp->columns + 1, sizeof *lp->cost) &&
        grow(lp, &lp->most, &lp->most_room, lp->columns + 1, sizeof *lp->most)) {
        lp->cost[lp->columns] = cost;
        lp->most[lp->columns] = (double)most_num / (double)most_den;
        return lp->columns++;
    }
    return 0;
}

void clo_lp_row(clo_lp *lp, clo_lp_row_kind kind, double side)
{
    if (!grow(lp, &lp->lowest, &lp->lowest_room, lp->rows + 1, sizeof *lp->lowest) ||
        !grow(lp, &lp->highest, &lp->highest_room, lp->rows + 1, sizeof *lp->highest) ||
        !grow(lp, &lp->first, &lp->first_room, lp->rows + 1, sizeof *lp->first))
        return;
    lp->lowest[lp->rows] = kind == CLO_LP_AT_MOST ? -INFINITY : side;
    lp->highest[lp->rows] = kind == CLO_LP_AT_LEAST ? INFINITY : side;
    lp->first[lp->rows++] = lp->elements;
}

void clo_lp_entry(clo_lp *lp, uint32_t column, double value)
{
    if (!grow(lp, &lp->column, &lp->column_room, lp->elements + 1, sizeof *lp->column) ||
        !grow(lp, &lp->factor, &lp->factor_room, lp->elements + 1, sizeof *lp->factor))
        return;
    lp->column[lp->elements] = column;
    lp->factor[lp->elements++] = value;
}

clo_lp_size clo_lp_measure(const clo_lp *lp)
{
    return (clo_lp_size){lp->columns, lp->rows, lp->elements};
}

#if CLO_HAS_CLP

/* The functions of CLP that we call. */
typedef struct solver {
    void *library;
    __typeof__(&Clp_newModel) new_model;
    __typeof__(&Clp_deleteModel) delete_model;
    __typeof__(&Clp_loadProblem) load;
    __typeof__(&Clp_setLogLevel) log_level;
    __typeof__(&Clp_setMaximumSeconds) seconds;
    __typeof__(&Clp_setMaximumIterations) iterations;
    __typeof__(&Clp_initialDualSolve) solve;
    __typeof__(&Clp_status) status;
    __typeof__(&Clp_getColSolution) solution;
    __typeof__(&Clp_getRowPrice) prices;
} solver;

static bool look_up(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* The library stays loaded: its destructors are C++'s affair. */
static clo_status solver_open(solver *s)
{
    s->library = dlopen("libClp.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (s->library == NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "no LP solver: libClp.so.1 cannot be loaded; install coinor-libclp1");
    if (look_up(s->library, "Clp_newModel", &s->new_model) &&
        look_up(s->library, "Clp_deleteModel", &s->delete_model) && look_up(s->library, "Clp_loadProblem", &s->load) &&
        look_up(s->library, "Clp_setLogLevel", &s->log_level) &&
        look_up(s->library, "Clp_setMaximumSeconds", &s->seconds) &&
        look_up(s->library, "Clp_setMaximumIterations", &s->iterations) &&
        look_up(s->library, "Clp_initialDualSolve", &s->solve) && look_up(s->library, "Clp_status", &s->status) &&
        look_up(s->library, "Clp_getColSolution", &s->solution) && look_up(s->library, "Clp_getRowPrice", &s->prices))
        return CLO_OK;
    dlclose(s->library);
    return clo_fail(CLO_ERR_UNSUPPORTED, "no LP solver: libClp.so.1 lacks a function of version 1.17");
}

/* The matrix by columns, as CLP takes it. */
typedef struct by_columns {
    CoinBigIndex *first;
    int *row;
    double *factor;
} by_columns;

static bool turn(const clo_lp *lp, by_columns *out)
{
    out->first = clo_allocate(lp->columns + 2, sizeof *out->first);
    out->row = clo_allocate(lp->elements, sizeof *out->row);
    out->factor = clo_allocate(lp->elements, sizeof *out->factor);
    if (out->first == NULL || out->row == NULL || out->factor == NULL)
        return false;
    for (uint32_t i = 0; i < lp->elements; i++)
        out->first[lp->column[i] + 2]++;
    for (uint32_t c = 0; c < lp->columns; c++)
        out->first[c + 2] += out->first[c + 1];
    for (uint32_t r = 0; r < lp->rows; r++) {
        uint32_t end = r + 1 < lp->rows ? lp->first[r + 1] : lp->elements;
        for (uint32_t i = lp->first[r]; i < end; i++) {
            CoinBigIndex at = out->first[lp->column[i] + 1]++;
            out->row[at] = (int)r;
            out->factor[at] = lp->factor[i];
        }
    }
    return true;
}

/* Weak duality: for any y, min c x >= sum over rows of y * (its side) + sum over columns of min(0, (c - A'y) * most). A
 * price whose side is infinite counts as 0. */
static double safe_bound(const clo_lp *lp, const by_columns *m, const double *prices)
{
    double sum = 0, magnitude = 0;

    for (uint32_t r = 0; r < lp->rows; r++) {
        double side = prices[r] > 0 ? lp->lowest[r] : lp->highest[r];
        if (isfinite(side)) {
            sum += prices[r] * side;
            magnitude += fabs(prices[r] * side);
        }
    }
    for (uint32_t c = 0; c < lp->columns; c++) {
        double rest = lp->cost[c], most = lp->most[c], terms = fabs(rest);
        for (CoinBigIndex i = m->first[c]; i < m->first[c + 1]; i++) {
            double price = prices[m->row[i]];
            if (isfinite(price > 0 ? lp->lowest[m->row[i]] : lp->highest[m->row[i]])) {
                rest -= price * m->factor[i];
                terms += fabs(price * m->factor[i]);
            }
        }
        sum += rest < 0 ? rest * most : 0;
        magnitude += terms * most;
    }
    return sum - magnitude * MARGIN;
}

static clo_status read_solution(const clo_lp *lp, const solver *s, Clp_Simplex *model, int64_t *value)
{
    const double *x = s->solution(model);

    for (uint32_t c = 0; c < lp->columns; c++) {
        double scaled = x[c] * (double)CLO_LP_ONE;
        value[c] = !(scaled > 0) ? 0 : scaled < 0x1p62 ? (int64_t)(scaled + 0.5) : INT64_C(1) << 62;
    }
    return CLO_OK;
}

static clo_status explain(const char *name, int status, uint32_t seconds)
{
    if (status == 1)
        return clo_fail(CLO_ERR_INVALID, "%s is infeasible: the solver finds no solution", name);
    if (status == 2)
        return clo_fail(CLO_ERR_INVALID, "%s is unbounded", name);
    if (status == 3)
        return clo_fail(CLO_ERR_TIMEOUT,
                        "the solver gave up %s after %u s; allow more, a coarser grid, or plan without LP", name,
                        seconds);
    return clo_fail(CLO_ERR_INVALID, "the solver cannot solve %s (CLP status %d); plan without LP", name, status);
}

static clo_status run_solver(const clo_lp *lp, const solver *s, const by_columns *m, const char *name, uint32_t seconds,
                             int64_t *value, double *bound)
{
    Clp_Simplex *model = s->new_model();
    clo_status status;

    if (model == NULL)
        return clo_fail_memory(name);
    s->log_level(model, 0);
    s->seconds(model, seconds);
    s->iterations(model, SOLVER_ROUNDS_MAX);
    s->load(model, (int)lp->columns, (int)lp->rows, m->first, m->row, m->factor, NULL, lp->most, lp->cost, lp->lowest,
            lp->highest);
    s->solve(model);
    if (s->status(model) == 0) {
        status = read_solution(lp, s, model, value);
        *bound = safe_bound(lp, m, s->prices(model));
    } else {
        status = explain(name, s->status(model), seconds);
    }
    s->delete_model(model);
    return status;
}

clo_status clo_lp_solve(const clo_lp *lp, const char *name, uint32_t seconds, double scale, int64_t constant,
                        int64_t *value, int64_t *bound)
{
    solver s = {0};
    by_columns m = {0};
    double found = 0;
    clo_status status;

    if (lp->has_failed || lp->columns >= INT32_MAX || lp->elements >= INT32_MAX)
        return clo_fail_memory(name);
    if ((status = solver_open(&s)) != CLO_OK)
        return status;
    status = turn(lp, &m) ? run_solver(lp, &s, &m, name, seconds, value, &found) : clo_fail_memory(name);
    dlclose(s.library);
    clo_free(m.first);
    clo_free(m.row);
    clo_free(m.factor);
    if (status == CLO_OK && bound != NULL) {
        double scaled = floor(found * scale * (found > 0 ? 1 - MARGIN : 1 + MARGIN));
        int64_t rounded = scaled > -0x1p62 && scaled < 0x1p62 ? (int64_t)scaled : 0;
        *bound = rounded + constant > 0 ? rounded + constant : 0;
    }
    return status;
}

bool clo_lp_is_there(void)
{
    solver s = {0};

    if (solver_open(&s) != CLO_OK)
        return false;
    dlclose(s.library);
    return true;
}

#else

#define NO_SOLVER "no LP solver: this library was built without CLP; build with coinor-libclp-dev, or plan without LP"

clo_status clo_lp_solve(const clo_lp *lp, const char *name, uint32_t seconds, double scale, int64_t constant,
                        int64_t *value, int64_t *bound)
{
    (void)lp, (void)name, (void)seconds, (void)scale, (void)constant, (void)value, (void)bound;
    return clo_fail(CLO_ERR_UNSUPPORTED, NO_SOLVER);
}

bool clo_lp_is_there(void)
{
    return clo_fail(CLO_ERR_UNSUPPORTED, NO_SOLVER) == CLO_OK;
}

#endif
