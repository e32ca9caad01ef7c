/* table.h - a comparison as a table: a row for each contender, as wide as its longest cells. Also the members that each
 * has in a JSON object. */
#ifndef CLO_TOOLS_CLOTHO_COMPARE_TABLE_H
#define CLO_TOOLS_CLOTHO_COMPARE_TABLE_H

#include "clotho/common/json.h"
#include "clotho/compare/comparison.h"

enum { TABLE_CELL = 96 };

typedef struct table_column {
    const char *head;
    void (*put)(char text[TABLE_CELL], const contender *row, const struct table_column *column);
    uint32_t figure;     /* of table_ratio and table_interval */
    const void *context; /* for columns of the caller */
} table_column;

/* The first column has the names, under `head`. */
void table_print(const comparison *c, const char *head, const table_column *columns, size_t columns_count);

/* Cells. */
void table_interval(char text[TABLE_CELL], const contender *row,
                    const table_column *column); /* "0.950 [0.941, 0.96]" */
void table_ratio(char text[TABLE_CELL], const contender *row, const table_column *column);
void table_done(char text[TABLE_CELL], const contender *row, const table_column *column);
void table_failed(char text[TABLE_CELL], const contender *row, const table_column *column);
void table_shorter(char text[TABLE_CELL], const contender *row, const table_column *column);
void table_longer(char text[TABLE_CELL], const contender *row, const table_column *column);
void table_best(char text[TABLE_CELL], const contender *row, const table_column *column);

/* {"ratio": 0.95, "low": 0.941, "high": 0.96} */
void table_json_ratio(json *out, const char *key, const paired_ratio *r);
/* "failed", "shorter", "longer", "best" of the first figure. */
void table_json_counts(json *out, const contender *row);

/* Two lines of a report that say what the ratios and counts are. what: "makespans"; one_case: "graph". */
void table_explain(const comparison *c, const char *what, const char *one_case);

#endif
