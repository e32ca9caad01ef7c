/* usage.c - see usage.h. A resource of a machine is a list of steps, each from its offset to the next one's. */
#include "plan/modulo/usage.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* In use from here on. */
typedef struct step {
    int64_t offset_ns, used;
} step;

/* [count] by offset; the first one is at 0, the last one reaches to the end of the interval. */
typedef struct steps {
    step *rows;
    uint32_t count;
    size_t room;
} steps;

struct clo_usage {
    const clo_cost *cost;
    int64_t interval_ns;
    steps *of; /* [machines * resources] */
    void *memory;
};

clo_status clo_usage_open(const clo_cost *cost, clo_usage **out)
{
    clo_usage *usage = NULL, parts = {.cost = cost};
    clo_block block = {0};

    *out = NULL;
    if (!cost->graph->has_demands)
        return CLO_OK;
    clo_carve(&block, &usage, 1);
    clo_carve(&block, &parts.of, (size_t)cost->platform->machines_count * CLO_RESOURCES_MAX);
    parts.memory = clo_block_allocate(&block);
    if (parts.memory == NULL)
        return clo_fail_memory("a plan");
    *usage = parts;
    *out = usage;
    return CLO_OK;
}

void clo_usage_close(clo_usage *usage)
{
    if (usage == NULL)
        return;
    for (size_t i = 0; i < (size_t)usage->cost->platform->machines_count * CLO_RESOURCES_MAX; i++)
        clo_free(usage->of[i].rows);
    clo_free(usage->memory);
}

void clo_usage_begin(clo_usage *usage, int64_t interval_ns)
{
    if (usage == NULL)
        return;
    usage->interval_ns = interval_ns;
    for (size_t i = 0; i < (size_t)usage->cost->platform->machines_count * CLO_RESOURCES_MAX; i++)
        usage->of[i].count = 0;
}

/* What the task demands, as the platform numbers its resources. */
static void demand_of(const clo_cost *cost, uint32_t task, int64_t *demand)
{
    const int64_t *own = clo_graph_demand(cost->graph, task);

    memset(demand, 0, CLO_RESOURCES_MAX * sizeof *demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (cost->resource_of[r] != CLO_NONE)
            demand[cost->resource_of[r]] = clo_time_add(demand[cost->resource_of[r]], own[r]);
}

/* The last row at or before `offset_ns`. */
static uint32_t row_at(const steps *list, int64_t offset_ns)
{
    uint32_t low = 0, high = list->count;

    while (high - low > 1) { /* the distance halves */
        uint32_t middle = low + (high - low) / 2;
        if (list->rows[middle].offset_ns <= offset_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* From from_ns on: when at most `most` is in use for length_ns, and at one point at least. Moments count from the begin
 * of the interval of from_ns. */
static int64_t find_low(const steps *list, int64_t interval_ns, int64_t from_ns, int64_t length_ns, int64_t most)
{
    int64_t first_ns = from_ns % interval_ns, at_ns = first_ns, turns_ns = 0;

    if (list->count == 0)
        return from_ns;
    for (uint32_t row = row_at(list, first_ns);;) { /* two intervals and length_ns at most */
        bool is_last = row + 1 == list->count;
        int64_t end_ns = turns_ns + (is_last ? interval_ns : list->rows[row + 1].offset_ns);
        if (list->rows[row].used > most)
            at_ns = end_ns;
        else if (end_ns - at_ns >= length_ns && end_ns > at_ns)
            return from_ns + (at_ns - first_ns);
        if (at_ns - first_ns > interval_ns)
            return -1;
        row = is_last ? 0 : row + 1;
        turns_ns += is_last ? interval_ns : 0;
    }
}

int64_t clo_usage_find(const clo_usage *usage, uint32_t task, uint32_t executor, int64_t from_ns, int64_t length_ns)
{
    int64_t demand[CLO_RESOURCES_MAX], at_ns = from_ns, before_ns;

    if (usage == NULL)
        return from_ns;
    if (length_ns > usage->interval_ns)
        return -1;
    const clo_platform *platform = usage->cost->platform;
    size_t first = (size_t)platform->executors[executor].machine * CLO_RESOURCES_MAX;
    demand_of(usage->cost, task, demand);
    do { /* each turn but the last is later, and within an interval */
        before_ns = at_ns;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX && at_ns >= 0; r++)
            if (demand[r] > 0 && platform->capacities[first + r] >= 0)
                at_ns = find_low(&usage->of[first + r], usage->interval_ns, at_ns, length_ns,
                                 platform->capacities[first + r] - demand[r]);
        if (at_ns < 0 || at_ns - from_ns > usage->interval_ns)
            return -1;
    } while (at_ns > before_ns);
    return at_ns;
}

/* The row that begins there; there is memory for one more. */
static uint32_t split(steps *list, int64_t offset_ns)
{
    uint32_t row = row_at(list, offset_ns);

    if (list->rows[row].offset_ns == offset_ns)
        return row;
    memmove(&list->rows[row + 2], &list->rows[row + 1], (list->count - row - 1) * sizeof *list->rows);
    list->rows[row + 1] = (step){offset_ns, list->rows[row].used};
    list->count++;
    return row + 1;
}

static void use(steps *list, int64_t from_ns, int64_t end_ns, int64_t interval_ns, int64_t demand)
{
    uint32_t first = split(list, from_ns), end = end_ns < interval_ns ? split(list, end_ns) : list->count;

    for (uint32_t row = first; row < end; row++)
        list->rows[row].used += demand;
}

bool clo_usage_take(clo_usage *usage, uint32_t task, uint32_t executor, int64_t start_ns, int64_t length_ns)
{
    int64_t demand[CLO_RESOURCES_MAX];

    if (usage == NULL || length_ns == 0)
        return true;
    const clo_platform *platform = usage->cost->platform;
    size_t first = (size_t)platform->executors[executor].machine * CLO_RESOURCES_MAX;
    int64_t offset_ns = start_ns % usage->interval_ns, over_ns = length_ns - (usage->interval_ns - offset_ns);
    assert(length_ns <= usage->interval_ns);
    demand_of(usage->cost, task, demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        steps *list = &usage->of[first + r];
        if (demand[r] == 0 || platform->capacities[first + r] < 0)
            continue;
        if (clo_grow((void **)&list->rows, &list->room, (size_t)list->count + 4, sizeof *list->rows) != 0)
            return false;
        if (list->count == 0)
            list->rows[list->count++] = (step){0, 0};
        use(list, offset_ns, over_ns >= 0 ? usage->interval_ns : offset_ns + length_ns, usage->interval_ns, demand[r]);
        if (over_ns > 0)
            use(list, 0, over_ns, usage->interval_ns, demand[r]);
    }
    return true;
}

int64_t clo_usage_share(const clo_usage *usage, uint32_t task, uint32_t executor)
{
    int64_t demand[CLO_RESOURCES_MAX], largest_q16 = 0;

    if (usage == NULL)
        return 0;
    const clo_platform *platform = usage->cost->platform;
    size_t first = (size_t)platform->executors[executor].machine * CLO_RESOURCES_MAX;
    demand_of(usage->cost, task, demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = platform->capacities[first + r];
        if (demand[r] == 0 || capacity <= 0)
            continue;
        int64_t share_q16 = demand[r] <= INT64_MAX >> 16 ? (demand[r] << 16) / capacity
                            : capacity >> 16 > 0         ? demand[r] / (capacity >> 16)
                                                         : INT64_MAX;
        largest_q16 = share_q16 > largest_q16 ? share_q16 : largest_q16;
    }
    return largest_q16;
}
