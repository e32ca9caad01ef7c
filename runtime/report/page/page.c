/* report/page/page.c - see page.h: the graphs and kinds of a page, and how it ends. */
#include "report/page/page.h"

#include "base/memory.h"
#include "base/status.h"

clo_status clo_page_open(clo_page *page, const clo_graph *const *graphs, uint32_t count)
{
    uint64_t tasks = 0, edges = 0;

    page->graphs = clo_allocate(count, sizeof page->graphs[0]);
    page->first_task = clo_allocate((size_t)count + 1, sizeof page->first_task[0]);
    if (page->graphs == NULL || page->first_task == NULL)
        return clo_fail_memory("a report");
    page->graphs_count = count;
    for (uint32_t g = 0; g < count; g++) {
        page->graphs[g] = graphs[g];
        tasks += clo_graph_tasks(graphs[g]);
        edges += clo_graph_edges(graphs[g]);
        if (tasks >= CLO_NONE)
            return clo_fail(CLO_ERR_LIMIT, "the graphs of a report have %llu tasks; 2^32 are too many",
                            (unsigned long long)tasks);
        page->first_task[g + 1] = (uint32_t)tasks;
    }
    page->kind_of = clo_allocate(tasks, 1);
    if (page->kind_of == NULL)
        return clo_fail_memory("a report");
    for (uint32_t g = 0; g < count; g++)
        clo_task_kinds_add(&page->kinds, graphs[g], page->kind_of + page->first_task[g]);
    clo_task_kinds_choose_colors(&page->kinds);
    page->has_edges = edges <= CLO_REPORT_EDGES_MAX;
    return CLO_OK;
}

void clo_page_close(clo_page *page)
{
    for (size_t s = 0; s < page->schedules_count; s++) {
        clo_bars_close(&page->schedules[s].bars);
        clo_free(page->schedules[s].causes);
    }
    clo_free(page->schedules);
    clo_free(page->graphs);
    clo_free(page->first_task);
    clo_free(page->kind_of);
    *page = (clo_page){0};
}

const char *clo_page_task_name(const clo_page *page, uint32_t task, char *scratch)
{
    uint32_t low = 0, high = page->graphs_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (page->first_task[middle] <= task)
            low = middle;
        else
            high = middle;
    }
    return clo_graph_task_name(page->graphs[low], task - page->first_task[low], scratch);
}
