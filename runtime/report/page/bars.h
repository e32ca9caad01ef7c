/* report/page/bars.h - the executions of a schedule as a page holds them: by executor, each row in order of starts. */
#ifndef CLO_REPORT_PAGE_BARS_H
#define CLO_REPORT_PAGE_BARS_H

#include <clotho/trace.h>

enum {
    CLO_BAR_REPLICA = 1,
    CLO_BAR_LOST = 2,
    CLO_BAR_SKIPPED = 4,
    CLO_BAR_FAILED = 8,
    CLO_BAR_STOPPED = 16 /* goes on later */
};

typedef struct clo_bar {
    uint32_t task;
    uint32_t instance;
    uint32_t group; /* the release, or the place of the job on the page */
    uint32_t executor;
    uint32_t flags; /* CLO_BAR_... */
    int64_t start_ns, finish_ns;
    int64_t input_ns; /* before the start, on moving inputs */
} clo_bar;

/* Bars of executor e: all[first[e]] .. all[first[e + 1] - 1]. */
typedef struct clo_bars {
    clo_bar *all;
    size_t count;
    size_t *first; /* [executors + 1] */
    uint32_t executors;
    bool has_groups;
} clo_bars;

/* Room for `count` bars, to be filled in any order and sorted then. Returns CLO_OK or CLO_ERR_MEMORY; clo_bars_close is
 * safe in each case. */
clo_status clo_bars_open(clo_bars *bars, size_t count, uint32_t executors);
void clo_bars_sort(clo_bars *bars);
void clo_bars_close(clo_bars *bars);

/* Sum of the times of a row. */
int64_t clo_bars_busy_ns(const clo_bars *bars, uint32_t executor);

#endif
