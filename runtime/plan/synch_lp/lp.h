/* plan/synch_lp/lp.h - linear programs: min c x, rows lowest <= A x <= highest, 0 <= x <= most. The only floating point
 * of plan/synch and plan/synch_lp.
 *
 * The bound that a solve returns holds whatever the solver did: it is computed from the solver's duals by weak duality
 * (Neumaier and Shcherbina 2004), for any duals. From it 2^-40 of the sum of the magnitudes of all its terms is taken
 * off, more than all roundings of the coefficients and of the sum can be, and the rest is rounded down. */
#ifndef CLO_PLAN_SYNCH_LP_LP_H
#define CLO_PLAN_SYNCH_LP_LP_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stdint.h>

/* One of a solved column's value. */
#define CLO_LP_ONE (INT64_C(1) << 30)

typedef struct clo_lp clo_lp;

/* NULL: no memory. */
clo_lp *clo_lp_create(void);
void clo_lp_destroy(clo_lp *lp);

/* A column 0 <= x <= most_num / most_den of cost cost_num / cost_den. Returns its index. Failures to allocate are kept,
 * and clo_lp_solve returns them. */
uint32_t clo_lp_column(clo_lp *lp, int64_t most_num, int64_t most_den, double cost);

typedef enum clo_lp_row_kind { CLO_LP_EQUAL, CLO_LP_AT_LEAST, CLO_LP_AT_MOST } clo_lp_row_kind;

/* A new row; the entries that follow belong to it. */
void clo_lp_row(clo_lp *lp, clo_lp_row_kind kind, double side);
void clo_lp_entry(clo_lp *lp, uint32_t column, double value);

typedef struct clo_lp_size {
    uint32_t columns, rows, elements;
} clo_lp_size;
clo_lp_size clo_lp_measure(const clo_lp *lp);

/* Solves it.
 *   scale  one of the objective is so much of the bound.
 *   value  [columns] receives x in units of 1 / CLO_LP_ONE, >= 0, rounded to nearest.
 *   bound  receives the bound, >= 0; +`constant`, which is not scaled. May be NULL.
 * Returns CLO_OK, CLO_ERR_UNSUPPORTED, CLO_ERR_INVALID (infeasible, unbounded), CLO_ERR_TIMEOUT, CLO_ERR_MEMORY. */
clo_status clo_lp_solve(const clo_lp *lp, const char *name, uint32_t seconds, double scale, int64_t constant,
                        int64_t *value, int64_t *bound);

/* True if CLP is built in and can be loaded; else clo_last_error says why not. */
bool clo_lp_is_there(void);

#endif
