/* columns.c - see columns.h. Most machines have a few columns, among which the right one is found by looking at all;
 * beyond that a hash table finds it. */
#include "cost/columns.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define LOOKED_AT 16u /* columns that are looked at in turn */

/* What a task can see of an executor, without gaps. */
typedef struct traits {
    int64_t capacities[CLO_RESOURCES_MAX]; /* by the graph's resources; 0 where the graph has no demands */
    uint32_t speed_q16[CLO_CLASSES_BUILTIN];
    uint32_t kind, unused;
} traits;

static traits traits_of(const clo_cost *cost, uint32_t executor)
{
    const clo_executor *e = &cost->platform->executors[executor];
    traits t;

    memset(&t, 0, sizeof t);
    t.kind = e->kind;
    memcpy(t.speed_q16, e->speed_q16, sizeof t.speed_q16);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && cost->graph->has_demands; r++)
        t.capacities[r] = clo_cost_capacity(cost, e->machine, r);
    return t;
}

/* Open addressing: columns by the hash of their traits. */
typedef struct table {
    uint32_t *slots; /* [size] CLO_NONE: free; NULL: there is no table yet */
    size_t size;
    clo_hash_key key;
} table;

/* The slot of the column with these traits, or the free one where it belongs. */
static uint32_t *slot_of(const clo_cost *cost, const table *in, const traits *wanted)
{
    size_t at = clo_hash(in->key, wanted, sizeof *wanted) & (in->size - 1);

    for (; in->slots[at] != CLO_NONE; at = (at + 1) & (in->size - 1)) { /* ends: at most half of them are taken */
        traits other = traits_of(cost, cost->column_first[in->slots[at]]);
        if (memcmp(&other, wanted, sizeof other) == 0)
            break;
    }
    return &in->slots[at];
}

static clo_status open_table(const clo_cost *cost, table *out)
{
    for (out->size = 64; out->size < 2 * (size_t)cost->platform->executors_count;) /* ends: doubled */
        out->size *= 2;
    out->key = clo_hash_key_random();
    out->slots = clo_allocate(out->size, sizeof *out->slots);
    if (out->slots == NULL)
        return clo_fail_memory("a cost");
    memset(out->slots, 0xff, out->size * sizeof *out->slots);
    for (uint32_t c = 0; c < cost->columns; c++) {
        traits t = traits_of(cost, cost->column_first[c]);
        *slot_of(cost, out, &t) = c;
    }
    return CLO_OK;
}

/* The column of an executor; cost->columns: there is none yet. */
static uint32_t find_column(const clo_cost *cost, const table *in, uint32_t executor)
{
    traits wanted = traits_of(cost, executor);

    if (in->slots != NULL) {
        uint32_t *slot = slot_of(cost, in, &wanted);
        if (*slot == CLO_NONE)
            *slot = cost->columns;
        return *slot;
    }
    for (uint32_t c = 0; c < cost->columns; c++) {
        traits other = traits_of(cost, cost->column_first[c]);
        if (memcmp(&other, &wanted, sizeof other) == 0)
            return c;
    }
    return cost->columns;
}

/* The rule: executors in a row are alike. */
static bool is_as_before(const clo_cost *cost, uint32_t executor)
{
    const clo_executor *all = cost->platform->executors;

    return executor > 0 && all[executor].kind == all[executor - 1].kind &&
           all[executor].machine == all[executor - 1].machine &&
           memcmp(all[executor].speed_q16, all[executor - 1].speed_q16, sizeof all->speed_q16) == 0;
}

clo_status clo_cost_find_columns(clo_cost *cost)
{
    table by_traits = {0};
    clo_status status = CLO_OK;

    for (uint32_t e = 0; e < cost->platform->executors_count && status == CLO_OK; e++) {
        bool is_same = is_as_before(cost, e);
        if (!is_same && cost->columns == LOOKED_AT && by_traits.slots == NULL)
            status = open_table(cost, &by_traits);
        if (status != CLO_OK)
            break;
        uint32_t column = is_same ? cost->column_of[e - 1] : find_column(cost, &by_traits, e);
        if (column == cost->columns) {
            cost->column_first[column] = e;
            cost->columns++;
        }
        cost->column_of[e] = column;
        cost->column_size[column]++;
    }
    clo_free(by_traits.slots);
    return status;
}
