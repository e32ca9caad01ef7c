/* report/page/plans.c - pages about schedules of one graph: see clotho/report.h. */
#include "report/page/page.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/plan.h"
#include "report/gantt.h"
#include "report/page/causes.h"
#include "trace/trace.h"

#include <clotho/pipeline.h>

static clo_status check(const clo_cost *cost, const clo_report_config *config)
{
    for (uint32_t i = 0; i < config->failed_count; i++)
        if (config->failed == NULL || config->failed[i] >= clo_graph_tasks(clo_cost_graph(cost)))
            return clo_fail(CLO_ERR_ARGUMENT, "failed[%u] is no task of the graph", i);
    return CLO_OK;
}

static void mark(clo_gantt *chart, const clo_report_config *config)
{
    chart->title = config->title;
    if (config->failed_count > 0) /* the bound is of a run of all tasks */
        chart->bound_ns = 0;
    chart->failed = config->failed;
    chart->failed_count = config->failed_count;
}

clo_status clo_report_svg(const clo_cost *cost, const clo_plan *plan, const clo_report_config *config, const char *path)
{
    clo_report_config mine = CLO_REPORT_CONFIG_INIT;
    clo_text text = {0};
    clo_gantt chart;
    void *kept = NULL;

    if (cost == NULL || plan == NULL || path == NULL)
        return clo_fail_null("clo_report_svg", "cost, plan or path");
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_report_config");
    if (status == CLO_OK)
        status = check(cost, &mine);
    if (status == CLO_OK)
        status = clo_gantt_of_plan(plan, cost, &chart, &kept);
    if (status == CLO_OK) {
        mark(&chart, &mine);
        status = clo_gantt_svg(&chart, &text);
    }
    if (status == CLO_OK)
        status = clo_file_write(path, text.data, text.bytes);
    clo_text_free(&text);
    clo_free(kept);
    return status;
}

/* Says which events of the trace are which bars: both are of one instance, on one executor, from the same start. */
static void take_events(clo_bars *bars, const clo_trace *trace)
{
    for (size_t k = 0; k < trace->count; k++) {
        const clo_trace_event *event = &trace->events[k];
        size_t low = bars->first[event->executor], high = bars->first[event->executor + 1];
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (bars->all[middle].start_ns < event->start_ns)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < bars->first[event->executor + 1] && bars->all[low].start_ns == event->start_ns; low++)
            if (bars->all[low].task == event->task && bars->all[low].instance == event->instance) {
                bars->all[low].input_ns = event->transfer_ns;
                bars->all[low].flags |= event->is_lost ? CLO_BAR_LOST : 0;
            }
    }
}

static clo_status make_bars(const clo_page *page, const clo_gantt *chart, const clo_report_schedule *from,
                            clo_page_schedule *to)
{
    clo_status status = clo_bars_open(&to->bars, chart->count, clo_platform_executors(clo_cost_platform(chart->cost)));

    if (status != CLO_OK)
        return status;
    to->bars.has_groups = chart->cycle != NULL;
    for (size_t i = 0; i < chart->count; i++) {
        const clo_placement *p = &chart->placements[i];
        to->bars.all[i] = (clo_bar){.task = p->task,
                                    .instance = p->instance,
                                    .group = chart->cycle != NULL ? chart->cycle->release[i] : 0,
                                    .executor = p->executor,
                                    .flags = p->is_replica ? CLO_BAR_REPLICA : 0,
                                    .start_ns = p->start_ns,
                                    .finish_ns = p->finish_ns};
        if (clo_plan_is_skipped(from->plan, p->task))
            to->bars.all[i].flags |= CLO_BAR_SKIPPED;
        for (uint32_t f = 0; f < page->failed_count; f++)
            if (page->failed[f] == p->task)
                to->bars.all[i].flags |= CLO_BAR_FAILED;
    }
    clo_bars_sort(&to->bars);
    if (from->trace != NULL)
        take_events(&to->bars, from->trace);
    to->has_bars = true;
    return clo_causes_find(page, &to->bars, &to->causes);
}

/* room: executions that may still be kept. */
static clo_status make_schedule(const clo_page *page, const clo_cost *cost, const clo_report_schedule *from,
                                size_t *room, clo_page_schedule *to)
{
    clo_gantt chart;
    void *kept = NULL;

    *to = (clo_page_schedule){.name = clo_plan_planner(from->plan),
                              .metrics = CLO_PLAN_METRICS_INIT,
                              .pipeline = CLO_PIPELINE_METRICS_INIT,
                              .planned_in_ns = from->planned_in_ns,
                              .has_happened = from->trace != NULL,
                              .is_emulated = from->plan->is_emulated,
                              .is_invalid = from->is_invalid != 0};
    clo_status status = clo_plan_measure(from->plan, cost, &to->metrics);
    if (status == CLO_OK && from->trace != NULL)
        status = clo_trace_matches(from->trace, cost);
    if (status == CLO_OK)
        status = clo_gantt_of_plan(from->plan, cost, &chart, &kept);
    if (status == CLO_OK) {
        to->makespan_ns = chart.makespan_ns;
        to->bound_ns = from->trace != NULL && page->failed_count > 0 ? 0 : chart.bound_ns; /* not all ran */
        to->interval_ns = clo_plan_interval_ns(from->plan);
    }
    if (status == CLO_OK && to->interval_ns > 0)
        status = clo_plan_pipeline_measure(from->plan, cost, &to->pipeline);
    if (status == CLO_OK && chart.count <= *room) {
        *room -= chart.count;
        status = make_bars(page, &chart, from, to);
    }
    clo_free(kept);
    return status;
}

/* The first that happened, else the shortest; beside it the first that was planned. */
static void choose(clo_page *page, const clo_report_schedule *schedules, size_t count)
{
    size_t happened = count, shortest = 0, planned = count;

    for (size_t i = count; i-- > 0;) {
        happened = schedules[i].trace != NULL ? i : happened;
        planned = schedules[i].trace == NULL ? i : planned;
        if (clo_plan_makespan_ns(schedules[i].plan) <= clo_plan_makespan_ns(schedules[shortest].plan))
            shortest = i;
    }
    page->drawn = happened < count ? happened : shortest;
    page->compared = happened < count && planned < count ? planned : page->drawn;
}

static clo_status make_schedules(clo_page *page, const clo_cost *cost, const clo_report_schedule *schedules,
                                 size_t count)
{
    size_t room = CLO_REPORT_EXECUTIONS_MAX;
    clo_status status = CLO_OK;

    page->schedules = clo_allocate(count, sizeof page->schedules[0]);
    if (page->schedules == NULL)
        return clo_fail_memory("a report");
    page->schedules_count = count;
    choose(page, schedules, count);
    status = make_schedule(page, cost, &schedules[page->drawn], &room, &page->schedules[page->drawn]);
    if (status == CLO_OK && page->compared != page->drawn)
        status = make_schedule(page, cost, &schedules[page->compared], &room, &page->schedules[page->compared]);
    for (size_t i = 0; i < count && status == CLO_OK; i++)
        if (i != page->drawn && i != page->compared)
            status = make_schedule(page, cost, &schedules[i], &room, &page->schedules[i]);
    return status;
}

static clo_status draw(const clo_page *page, const clo_cost *cost, const clo_report_schedule *schedule,
                       const clo_report_config *config, clo_text *svg)
{
    clo_gantt chart;
    void *kept = NULL;
    clo_status status = clo_gantt_of_plan(schedule->plan, cost, &chart, &kept);

    if (status == CLO_OK) {
        mark(&chart, config);
        chart.title = page->title;
        status = clo_gantt_svg(&chart, svg);
    }
    clo_free(kept);
    return status;
}

clo_status clo_report_plans(const clo_cost *cost, const clo_report_schedule *schedules, size_t count,
                            const clo_report_config *config, const char *path)
{
    clo_report_config mine = CLO_REPORT_CONFIG_INIT;
    clo_page page = {0};
    clo_text svg = {0};

    if (cost == NULL || schedules == NULL || count == 0 || path == NULL)
        return clo_fail_null("clo_report_plans", "cost, schedules or path");
    for (size_t i = 0; i < count; i++)
        if (schedules[i].plan == NULL)
            return clo_fail(CLO_ERR_ARGUMENT, "clo_report_plans: schedules[%zu].plan is NULL", i);
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_report_config");
    if (status == CLO_OK)
        status = check(cost, &mine);
    if (status != CLO_OK)
        return status;
    const clo_graph *graph = clo_cost_graph(cost);
    page.title = mine.title != NULL ? mine.title : clo_graph_name(graph);
    page.note = mine.note;
    page.platform = clo_cost_platform(cost);
    page.deadline_ns = mine.deadline_ns;
    page.failed = mine.failed;
    page.failed_count = mine.failed_count;
    status = clo_page_open(&page, &graph, 1);
    if (status == CLO_OK)
        status = make_schedules(&page, cost, schedules, count);
    if (status == CLO_OK)
        status = draw(&page, cost, &schedules[page.drawn], &mine, &svg);
    if (status == CLO_OK)
        status = clo_page_write(&page, &svg, path);
    clo_text_free(&svg);
    clo_page_close(&page);
    return status;
}
