/* report/page/bars.c - see bars.h. */
#include "report/page/bars.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <stdlib.h>

clo_status clo_bars_open(clo_bars *bars, size_t count, uint32_t executors)
{
    *bars = (clo_bars){.count = count, .executors = executors};
    bars->all = clo_allocate(count, sizeof bars->all[0]);
    bars->first = clo_allocate((size_t)executors + 1, sizeof bars->first[0]);
    return bars->all != NULL && bars->first != NULL ? CLO_OK : clo_fail_memory("a report");
}

void clo_bars_close(clo_bars *bars)
{
    clo_free(bars->all);
    clo_free(bars->first);
    *bars = (clo_bars){0};
}

static int by_place(const void *left, const void *right)
{
    const clo_bar *a = left, *b = right;

    if (a->executor != b->executor)
        return a->executor < b->executor ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return a->instance < b->instance ? -1 : a->instance > b->instance;
}

void clo_bars_sort(clo_bars *bars)
{
    qsort(bars->all, bars->count, sizeof bars->all[0], by_place);
    for (size_t e = 0, i = 0; e <= bars->executors; e++) {
        while (i < bars->count && bars->all[i].executor < e)
            i++;
        bars->first[e] = i;
    }
}

int64_t clo_bars_busy_ns(const clo_bars *bars, uint32_t executor)
{
    int64_t sum = 0;

    for (size_t i = bars->first[executor]; i < bars->first[executor + 1]; i++)
        sum = clo_time_add(sum, bars->all[i].finish_ns - bars->all[i].start_ns);
    return sum;
}
