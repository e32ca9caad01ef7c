/* report/page/facts.c - the figures below the title of a page. */
#include "report/page/page.h"

#include "base/numbers/saturate.h"
#include "report/gantt.h"

#include <clotho/log.h>
#include <string.h>

enum { FAILED_SHOWN = 5 };

/* begin: of its element, with a class where something has gone wrong. */
static void add_fact_in(clo_text *out, const char *begin, const char *name, const char *value)
{
    clo_text_add(out, "%s<dt>%s</dt><dd>", begin, name);
    clo_text_add_xml(out, value);
    clo_text_add(out, "</dd></div>\n");
}

static void add_fact(clo_text *out, const char *name, const char *value)
{
    add_fact_in(out, "<div>", name, value);
}

static void add_bad_fact(clo_text *out, const char *name, const char *value)
{
    add_fact_in(out, "<div class=\"bad\">", name, value);
}

static void add_time_fact(clo_text *out, const char *name, int64_t ns)
{
    char text[24];

    add_fact(out, name, clo_gantt_time(ns, ns, text));
}

const char *clo_page_what_it_is(const clo_page_schedule *s)
{
    return !s->has_happened ? "planned" : s->is_emulated ? "emulated" : "measured";
}

/* Into text[24]. */
static const char *bytes_text(uint64_t bytes, char *text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    size_t u = 0;

    for (; value >= 1000 && u + 1 < sizeof units / sizeof units[0]; u++)
        value /= 1000;
    clo_print(text, 24, "%.4g %s", value, units[u]);
    return text;
}

bool clo_page_has_times(const clo_page_schedule *s)
{
    return s->metrics.lower_bound_ns > 0;
}

static void add_plan_facts(const clo_page *page, const clo_page_schedule *s, clo_text *out)
{
    char text[64], bytes[24];

    if (page->compared != page->drawn && page->failed_count == 0) {
        int64_t predicted_ns = page->schedules[page->compared].makespan_ns;
        add_time_fact(out, "predicted", predicted_ns);
        clo_print(text, sizeof text, "%+.1f %%",
                  100 * (clo_page_ratio((double)s->makespan_ns, (double)predicted_ns) - 1));
        add_fact(out, "against the prediction", text);
    }
    if (s->bound_ns > 0) {
        add_time_fact(out, "lower bound", s->bound_ns);
        clo_print(text, sizeof text, "%.1f %%",
                  100 * (clo_page_ratio((double)s->makespan_ns, (double)s->bound_ns) - 1));
        add_fact(out, "gap", text);
    }
    clo_print(text, sizeof text, "%.2f", s->metrics.speedup);
    if (page->failed_count == 0 && clo_page_has_times(s))
        add_fact(out, "speedup", text);
    clo_print(text, sizeof text, "%.1f %%", 100 * s->metrics.utilization);
    add_fact(out, "executors in use", text);
    clo_print(text, sizeof text, "%zu, %u replica%s", s->bars.count, s->metrics.duplicates,
              s->metrics.duplicates == 1 ? "" : "s");
    if (s->has_bars)
        add_fact(out, "executions", text);
    clo_print(text, sizeof text, "%llu, %s", (unsigned long long)s->metrics.transfers,
              bytes_text(s->metrics.transferred_bytes, bytes));
    add_fact(out, "transfers", text);
    if (page->deadline_ns > 0) {
        char time[24];
        clo_print(text, sizeof text, "%s, %s", clo_gantt_time(page->deadline_ns, page->deadline_ns, time),
                  s->makespan_ns > page->deadline_ns ? "missed" : "kept");
        (s->makespan_ns > page->deadline_ns ? add_bad_fact : add_fact)(out, "deadline", text);
    }
}

static void add_pipeline_facts(const clo_page_schedule *s, clo_text *out)
{
    const clo_pipeline_metrics *m = &s->pipeline;
    char text[64];

    add_time_fact(out, "interval", m->interval_ns);
    add_time_fact(out, "no interval is below", m->bound_ns);
    clo_print(text, sizeof text, "%.1f %%", 100 * m->gap);
    add_fact(out, "gap", text);
    add_time_fact(out, "latency", m->latency_ns);
    clo_print(text, sizeof text, "%u", m->in_flight);
    add_fact(out, "releases in flight", text);
    clo_print(text, sizeof text, "%.1f %%", 100 * m->utilization);
    add_fact(out, "executors in use", text);
}

int64_t clo_page_completion_ns(const clo_page_job *job)
{
    if (job->finish_ns == CLO_TIME_NEVER || job->arrival_ns == CLO_TIME_NEVER)
        return CLO_TIME_NEVER;
    return clo_time_sub(job->finish_ns, job->arrival_ns);
}

int64_t clo_page_tardiness_ns(const clo_page_job *job)
{
    if (job->finish_ns == CLO_TIME_NEVER || job->deadline_ns == CLO_TIME_NEVER)
        return CLO_TIME_NEVER;
    return job->finish_ns > job->deadline_ns ? clo_time_sub(job->finish_ns, job->deadline_ns) : 0;
}

int64_t clo_page_wait_ns(const clo_page_job *job)
{
    if (job->start_ns == CLO_TIME_NEVER || job->arrival_ns == CLO_TIME_NEVER)
        return CLO_TIME_NEVER;
    return clo_time_sub(job->start_ns, job->arrival_ns);
}

/* A time into text[32]; its unit stays on its line. */
static const char *whole_time(int64_t ns, char *text)
{
    char plain[24];
    const char *unit = strchr(clo_gantt_time(ns, ns < 0 ? -ns : ns, plain), ' ');

    if (unit == NULL)
        clo_print(text, 32, "%s", plain);
    else
        clo_print(text, 32, "%.*s\xc2\xa0%s", (int)(unit - plain), plain, unit + 1);
    return text;
}

/* Mean and most of what is known of some jobs. */
static void add_jobs_fact(const clo_page *page, const char *name, int64_t (*of)(const clo_page_job *), clo_text *out)
{
    double sum_ns = 0;
    int64_t most_ns = 0;
    uint64_t count = 0;
    char text[80], mean[32], most[32];

    for (size_t i = 0; i < page->jobs_count; i++) {
        int64_t ns = of(&page->jobs[i]);
        if (ns == CLO_TIME_NEVER)
            continue;
        sum_ns += (double)ns;
        most_ns = ns > most_ns ? ns : most_ns;
        count++;
    }
    if (count == 0)
        return;
    clo_print(text, sizeof text, "%s, at most %s", whole_time((int64_t)(sum_ns / (double)count), mean),
              whole_time(most_ns, most));
    add_fact(out, name, text);
}

static void add_stream_facts(const clo_page *page, const clo_page_schedule *s, clo_text *out)
{
    uint64_t ended = 0, late = 0, with_deadline = 0, executions = 0;
    double busy_ns = 0;
    char text[64], words[16];

    for (size_t i = 0; i < page->jobs_count; i++) {
        const clo_page_job *job = &page->jobs[i];
        bool has_ended = job->finish_ns != CLO_TIME_NEVER && job->end <= CLO_LOG_DONE_OK;
        ended += has_ended;
        with_deadline += job->deadline_ns != CLO_TIME_NEVER;
        late += has_ended && job->finish_ns > job->deadline_ns;
        busy_ns += (double)job->busy_ns;
        executions += job->executions;
    }
    clo_print(text, sizeof text, "%zu, %llu ended", page->jobs_count, (unsigned long long)ended);
    clo_print(words, sizeof words, "%ss", page->job_word);
    add_fact(out, words, text);
    add_jobs_fact(page, "mean completion", clo_page_completion_ns, out);
    add_jobs_fact(page, "mean wait for the first start", clo_page_wait_ns, out);
    if (with_deadline > 0) {
        clo_print(text, sizeof text, "%llu of %llu", (unsigned long long)late, (unsigned long long)with_deadline);
        (late > 0 ? add_bad_fact : add_fact)(out, "late", text);
        add_jobs_fact(page, "mean tardiness", clo_page_tardiness_ns, out);
    }
    clo_print(text, sizeof text, "%.1f %%", 100 * clo_page_ratio(busy_ns, (double)s->makespan_ns * s->bars.executors));
    add_fact(out, "executors in use", text);
    clo_print(text, sizeof text, "%llu", (unsigned long long)executions); /* of too many there are no bars */
    add_fact(out, "executions", text);
}

void clo_page_add_facts(const clo_page *page, clo_text *out)
{
    const clo_page_schedule *s = &page->schedules[page->drawn];
    char text[64], scratch[16];

    clo_text_add(out, "<dl class=\"facts\">\n");
    for (size_t i = 0; i < page->failed_count && i < FAILED_SHOWN; i++)
        add_bad_fact(out, "failed", clo_page_task_name(page, page->failed[i], scratch));
    clo_print(text, sizeof text, "and %zu more", page->failed_count - FAILED_SHOWN);
    if (page->failed_count > FAILED_SHOWN)
        add_bad_fact(out, "failed", text);
    clo_print(text, sizeof text, s->interval_ns > 0 ? "releases shown, %s" : "makespan, %s", clo_page_what_it_is(s));
    add_time_fact(out, text, s->makespan_ns);
    if (s->interval_ns > 0)
        add_pipeline_facts(s, out);
    else if (page->jobs != NULL)
        add_stream_facts(page, s, out);
    else
        add_plan_facts(page, s, out);
    clo_print(text, sizeof text, "%u", clo_page_tasks(page));
    add_fact(out, "tasks", text);
    add_fact(out, "platform", clo_platform_name(page->platform));
    clo_text_add(out, "</dl>\n");
}
