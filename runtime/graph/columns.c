/* columns.c - see columns.h. */
#include "graph/columns.h"

#include "base/memory.h"

#include <string.h>

/* Bytes of a task, and what each of them is where it has nothing. */
static const struct {
    size_t item_bytes;
    int nothing;
} kinds[CLO_COLUMNS] = {
    [CLO_COLUMN_NAME] = {sizeof(uint32_t), 0xff},    [CLO_COLUMN_DEMAND] = {sizeof(uint32_t), 0xff},
    [CLO_COLUMN_SPECIAL] = {sizeof(uint32_t), 0xff}, [CLO_COLUMN_PLACEMENT] = {sizeof(uint32_t), 0xff},
    [CLO_COLUMN_OUTPUT] = {sizeof(uint64_t), 0},     [CLO_COLUMN_GRAIN] = {sizeof(clo_graph_grain), 0},
    [CLO_COLUMN_CODELET] = {sizeof(uint32_t), 0xff},
};

int clo_columns_reserve(clo_graph_columns *columns, unsigned wanted, size_t tasks, size_t more)
{
    for (unsigned c = 0; c < CLO_COLUMNS; c++) {
        bool is_new = columns->of[c] == NULL;
        if (is_new && (wanted >> c & 1) == 0)
            continue;
        /* At least one item, so that a column that was made is not NULL. */
        size_t need = tasks + more > 0 ? tasks + more : 1;
        if (clo_grow(&columns->of[c], &columns->capacity[c], need, kinds[c].item_bytes) != 0)
            return -1;
        if (is_new)
            memset(columns->of[c], kinds[c].nothing, tasks * kinds[c].item_bytes);
        columns->made |= 1u << c;
    }
    return 0;
}

void clo_columns_clear(clo_graph_columns *columns, uint32_t task)
{
    for (unsigned c = 0; c < CLO_COLUMNS; c++)
        if (columns->of[c] != NULL)
            memset((unsigned char *)columns->of[c] + task * kinds[c].item_bytes, kinds[c].nothing, kinds[c].item_bytes);
}

void clo_columns_shrink(clo_graph_columns *columns, size_t tasks, size_t slack_max)
{
    for (unsigned c = 0; c < CLO_COLUMNS; c++)
        if (columns->of[c] != NULL && columns->capacity[c] - tasks >= slack_max) {
            clo_shrink(&columns->of[c], tasks * kinds[c].item_bytes);
            columns->capacity[c] = tasks;
        }
}

void clo_columns_free(clo_graph_columns *columns)
{
    for (unsigned c = 0; c < CLO_COLUMNS; c++)
        clo_free(columns->of[c]);
}
