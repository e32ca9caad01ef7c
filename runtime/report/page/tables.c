/* report/page/tables.c - the tables of a page. A cell that shows a number rounded has it exact in
 * data-v, by which the script sorts. */
#include "report/page/page.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "report/gantt.h"
#include "report/page/causes.h"

#include <clotho/job.h>
#include <clotho/log.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_SHOWN = 100, JOBS_SHOWN = 100, EXECUTORS_SHOWN = 512, NAME_CHARACTERS = 40 };

static void begin_table(clo_text *out, const char *id, const char *title, const char *const *columns, size_t count)
{
    clo_text_add(out, "<section>\n<h2>%s</h2>\n<div class=\"wide\"><table id=\"%s\">\n<thead><tr>", title, id);
    for (size_t c = 0; c < count; c++) /* a blank in front: a column of texts */
        clo_text_add(out, columns[c][0] == ' ' ? "<th scope=\"col\">%s</th>" : "<th scope=\"col\" class=\"n\">%s</th>",
                     columns[c] + (columns[c][0] == ' '));
    clo_text_add(out, "</tr></thead>\n<tbody>\n");
}

static void end_table(clo_text *out, const char *remark)
{
    clo_text_add(out, "</tbody></table></div>\n");
    if (remark != NULL)
        clo_text_add(out, "<p class=\"remark\">%s</p>\n", remark);
    clo_text_add(out, "</section>\n");
}

static void add_text_cell(clo_text *out, const char *text)
{
    clo_text_add(out, "<td>");
    clo_text_add_xml(out, text);
    clo_text_add(out, "</td>");
}

static void add_count_cell(clo_text *out, uint64_t count)
{
    clo_text_add(out, "<td class=\"n\">%llu</td>", (unsigned long long)count);
}

static void add_time_cell(clo_text *out, int64_t ns)
{
    char text[24];

    if (ns == CLO_TIME_NEVER)
        clo_text_add(out, "<td class=\"n\">–</td>");
    else
        clo_text_add(out, "<td class=\"n\" data-v=\"%lld\">%s</td>", (long long)ns,
                     clo_gantt_time(ns, ns < 0 ? -ns : ns, text));
}

static void add_percent_cell(clo_text *out, double share)
{
    clo_text_add(out, "<td class=\"n\" data-v=\"%.6g\">%.1f %%</td>", share, 100 * share);
}

static void add_schedules(const clo_page *page, clo_text *out)
{
    static const char *const columns[] = {" schedule", " kind",    "makespan",  "gap",        "SLR",   "speedup",
                                          "in use",    "replicas", "transfers", "planned in", " check"};

    begin_table(out, "planners", "Planners and runs", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < page->schedules_count; i++) {
        const clo_page_schedule *s = &page->schedules[i];
        clo_text_add(out, i == page->drawn ? "<tr class=\"drawn\">" : "<tr>");
        add_text_cell(out, s->name);
        add_text_cell(out, clo_page_what_it_is(s));
        add_time_cell(out, s->metrics.makespan_ns);
        if (s->bound_ns > 0)
            add_percent_cell(out, s->metrics.gap);
        else
            clo_text_add(out, "<td class=\"n\">–</td>");
        bool has_failed = s->has_happened && page->failed_count > 0; /* and not all ran */
        if (has_failed || s->interval_ns > 0 || !clo_page_has_times(s))
            clo_text_add(out, "<td class=\"n\">–</td><td class=\"n\">–</td>");
        else
            clo_text_add(out, "<td class=\"n\">%.3f</td><td class=\"n\">%.2f</td>", s->metrics.slr, s->metrics.speedup);
        add_percent_cell(out, s->interval_ns > 0 ? s->pipeline.utilization : s->metrics.utilization);
        add_count_cell(out, s->metrics.duplicates);
        add_count_cell(out, s->metrics.transfers);
        add_time_cell(out, s->planned_in_ns > 0 ? s->planned_in_ns : CLO_TIME_NEVER);
        add_text_cell(out, has_failed ? "failed" : s->is_invalid ? "NOT VALID" : "valid");
        clo_text_add(out, "</tr>\n");
    }
    end_table(out, NULL);
}

static void add_executor_row(const clo_page *page, const clo_page_schedule *s, uint32_t e, clo_text *out)
{
    int64_t end_ns = 0, idle_ns = 0, input_ns = 0, busy_ns = clo_bars_busy_ns(&s->bars, e);
    uint64_t replicas = 0;

    for (size_t i = s->bars.first[e]; i < s->bars.first[e + 1]; i++) {
        const clo_bar *bar = &s->bars.all[i];
        idle_ns = bar->start_ns - end_ns > idle_ns ? bar->start_ns - end_ns : idle_ns;
        end_ns = bar->finish_ns > end_ns ? bar->finish_ns : end_ns;
        replicas += (bar->flags & CLO_BAR_REPLICA) != 0;
        input_ns =
            clo_time_add(input_ns, s->has_happened || s->causes == NULL ? bar->input_ns : s->causes[i].transfer_ns);
    }
    idle_ns = s->makespan_ns - end_ns > idle_ns ? s->makespan_ns - end_ns : idle_ns;
    clo_text_add(out, "<tr>");
    add_text_cell(out, clo_platform_executor_name(page->platform, e));
    add_text_cell(out, clo_platform_kind_name(page->platform, clo_platform_executor(page->platform, e)->kind));
    add_count_cell(out, s->bars.first[e + 1] - s->bars.first[e]);
    add_count_cell(out, replicas);
    add_time_cell(out, busy_ns);
    add_percent_cell(out, clo_page_ratio((double)busy_ns, (double)s->makespan_ns));
    add_time_cell(out, input_ns);
    add_time_cell(out, idle_ns);
    add_time_cell(out, end_ns);
    clo_text_add(out, "</tr>\n");
}

/* Of very many executors, the first that ran anything. */
static void add_executors(const clo_page *page, const clo_page_schedule *s, clo_text *out)
{
    static const char *const columns[] = {" executor", " kind",  "executions",   "replicas", "busy",
                                          "in use",    "inputs", "longest idle", "last end"};
    uint32_t shown = 0, left_out = 0;

    begin_table(out, "executors", "Executors", columns, sizeof columns / sizeof columns[0]);
    for (uint32_t e = 0; e < s->bars.executors; e++) {
        bool is_idle = s->bars.first[e] == s->bars.first[e + 1];
        if (shown == EXECUTORS_SHOWN || (is_idle && s->bars.executors > EXECUTORS_SHOWN)) {
            left_out++;
            continue;
        }
        add_executor_row(page, s, e, out);
        shown++;
    }
    end_table(out, "“inputs”: the time that the last input of each task took to arrive.");
    if (left_out > 0)
        clo_text_add(out, "<p class=\"remark\">%u more executors are left out: idle ones first.</p>\n", left_out);
}

typedef struct kind_sums {
    uint64_t count;
    int64_t sum_ns, least_ns, most_ns; /* the sum: CLO_TIME_NEVER where it is beyond all times */
    double about_ns;                   /* the sum, which has no end here */
} kind_sums;

static void add_kinds(const clo_page *page, const clo_page_schedule *s, clo_text *out)
{
    static const char *const columns[] = {" kind of task", "executions", "time in all", "share",
                                          "mean",          "least",      "most"};
    kind_sums sums[CLO_KINDS_MAX + 1] = {{0}};
    double all_ns = 0;
    char name[CLO_KIND_NAME_BYTES];

    for (size_t i = 0; i < s->bars.count; i++) {
        kind_sums *sum = &sums[page->kind_of[s->bars.all[i].task]];
        int64_t ns = s->bars.all[i].finish_ns - s->bars.all[i].start_ns;
        sum->least_ns = sum->count == 0 || ns < sum->least_ns ? ns : sum->least_ns;
        sum->most_ns = ns > sum->most_ns ? ns : sum->most_ns;
        sum->sum_ns = clo_time_add(sum->sum_ns, ns);
        sum->about_ns += (double)ns;
        sum->count++;
        all_ns += (double)ns;
    }
    begin_table(out, "kinds", "Kinds of tasks", columns, sizeof columns / sizeof columns[0]);
    for (uint32_t k = 0; k <= CLO_KINDS_MAX; k++) {
        const clo_task_kind *kind = &page->kinds.kinds[k];
        if (sums[k].count == 0)
            continue;
        clo_text_add(out, "<tr><td><i class=\"k%u\"></i>", kind->color);
        clo_text_add_xml(out,
                         k < CLO_KINDS_MAX ? clo_kind_name(kind->name, kind->bytes, NAME_CHARACTERS, name) : "other");
        clo_text_add(out, "</td>");
        add_count_cell(out, sums[k].count);
        add_time_cell(out, sums[k].sum_ns);
        add_percent_cell(out, clo_page_ratio(sums[k].about_ns, all_ns));
        add_time_cell(out, sums[k].sum_ns == CLO_TIME_NEVER ? (int64_t)(sums[k].about_ns / (double)sums[k].count)
                                                            : sums[k].sum_ns / (int64_t)sums[k].count);
        add_time_cell(out, sums[k].least_ns);
        add_time_cell(out, sums[k].most_ns);
        clo_text_add(out, "</tr>\n");
    }
    end_table(out, NULL);
}

/* A bar and how long it took. */
typedef struct ranked {
    int64_t ns;
    size_t index;
} ranked;

static int longest_first(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void add_task_row(const clo_page *page, const clo_page_schedule *s, size_t i, clo_text *out)
{
    const clo_bar *bar = &s->bars.all[i];
    char scratch[16], name[CLO_KIND_NAME_BYTES];
    const char *text = clo_page_task_name(page, bar->task, scratch);
    size_t bytes = 0;

    while (text[bytes] != '\0')
        bytes++;
    clo_text_add(out, "<tr data-bar=\"%zu\"><td><i class=\"k%u\"></i>", i,
                 page->kinds.kinds[page->kind_of[bar->task]].color);
    clo_text_add_xml(out, clo_kind_name(text, bytes, NAME_CHARACTERS, name));
    clo_text_add(out, "</td>");
    add_text_cell(out, clo_platform_executor_name(page->platform, bar->executor));
    add_time_cell(out, bar->start_ns);
    add_time_cell(out, bar->finish_ns - bar->start_ns);
    if (s->causes != NULL) {
        add_time_cell(out, bar->start_ns - s->causes[i].ready_ns);
        add_time_cell(out, s->causes[i].slack_ns);
    }
    clo_text_add(out, "</tr>\n");
}

static void add_tasks(const clo_page *page, const clo_page_schedule *s, clo_text *out)
{
    static const char *const columns[] = {" task", " executor", "start", "time", "wait", "slack"};
    ranked *rows = clo_allocate(s->bars.count, sizeof *rows);

    if (rows == NULL) {
        out->failed = 1;
        return;
    }
    for (size_t i = 0; i < s->bars.count; i++)
        rows[i] = (ranked){s->bars.all[i].finish_ns - s->bars.all[i].start_ns, i};
    qsort(rows, s->bars.count, sizeof *rows, longest_first);
    begin_table(out, "tasks", s->bars.count > TASKS_SHOWN ? "The 100 longest executions" : "Executions", columns,
                s->causes != NULL ? 6 : 4);
    for (size_t i = 0; i < s->bars.count && i < TASKS_SHOWN; i++)
        add_task_row(page, s, rows[i].index, out);
    end_table(out,
              s->causes == NULL ? NULL
              : page->jobs != NULL
                  ? "“wait”: from when all inputs were there to the start. “slack”: how much later it could end while "
                    "nothing else ends later."
                  : "“wait”: from when all inputs were there to the start. “slack”: how much later the task could "
                    "end while the last one ends when it does.");
    clo_free(rows);
}

static const char *ending(const clo_page_job *job)
{
    static const char *const words[] = {"ended", "cancelled", "failed"};

    if (job->end >= 0 && job->end <= CLO_LOG_DONE_FAILED)
        return job->end == CLO_LOG_DONE_OK && job->finish_ns > job->deadline_ns ? "late" : words[job->end];
    return job->finish_ns != CLO_TIME_NEVER ? "ended" : "not ended";
}

/* Which columns the jobs of a page need. */
typedef struct job_columns {
    bool has_names, has_deadlines;
} job_columns;

static job_columns columns_of_jobs(const clo_page *page)
{
    job_columns needed = {false, false};

    for (size_t i = 0; i < page->jobs_count; i++) {
        needed.has_names |= page->jobs[i].name[0] != '\0';
        needed.has_deadlines |= page->jobs[i].deadline_ns != CLO_TIME_NEVER;
    }
    return needed;
}

static void add_job_row(const clo_page *page, size_t index, job_columns needed, clo_text *out)
{
    const clo_page_job *job = &page->jobs[index];

    clo_text_add(out, "<tr data-job=\"%zu\">", index);
    add_count_cell(out, job->number);
    if (needed.has_names)
        add_text_cell(out, job->name);
    add_text_cell(out, ending(job));
    if (needed.has_deadlines) {
        add_time_cell(out, job->deadline_ns);
        add_time_cell(out, clo_page_tardiness_ns(job));
    }
    add_time_cell(out, job->arrival_ns);
    add_time_cell(out, job->start_ns);
    add_time_cell(out, job->finish_ns);
    add_time_cell(out, clo_page_completion_ns(job));
    add_time_cell(out, clo_page_wait_ns(job));
    add_time_cell(out, job->path_ns > 0 ? job->path_ns : CLO_TIME_NEVER);
    add_time_cell(out, job->busy_ns);
    add_count_cell(out, job->executions);
    clo_text_add(out, "</tr>\n");
}

static void begin_jobs(const clo_page *page, job_columns needed, clo_text *out)
{
    static const char *const times[] = {"arrival", "first start",   "end",  "completion",
                                        "wait",    "critical path", "busy", "executions"};
    const char *columns[13];
    size_t count = 0;
    char title[64];

    columns[count++] = page->job_word;
    if (needed.has_names)
        columns[count++] = " name";
    columns[count++] = " outcome";
    if (needed.has_deadlines) {
        columns[count++] = "deadline";
        columns[count++] = "late by";
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        columns[count++] = times[i];
    clo_print(title, sizeof title, page->jobs_count > JOBS_SHOWN ? "The 100 %ss that took longest" : "All %ss",
              page->job_word);
    begin_table(out, "jobs", title, columns, count);
}

static void add_jobs(const clo_page *page, clo_text *out)
{
    ranked *rows = clo_allocate(page->jobs_count, sizeof *rows);
    job_columns needed = columns_of_jobs(page);

    if (rows == NULL) {
        out->failed = 1;
        return;
    }
    for (size_t i = 0; i < page->jobs_count; i++)
        rows[i] = (ranked){clo_page_completion_ns(&page->jobs[i]), i};
    qsort(rows, page->jobs_count, sizeof *rows, longest_first);
    begin_jobs(page, needed, out);
    for (size_t i = 0; i < page->jobs_count && i < JOBS_SHOWN; i++)
        add_job_row(page, rows[i].index, needed, out);
    end_table(out, "“wait”: from the arrival to the first start. “critical path”: the longest chain of executions and "
                   "transfers of it alone; executors without end could not have ended it sooner. “late by”: after its "
                   "deadline.");
    clo_free(rows);
}

enum { BUCKETS_A_ROW = 8 }; /* four rows an octave */

/* How long all releases took. Rows of the histogram's buckets; the meter is drawn without a script. */
static void add_responses(const clo_page *page, clo_text *out)
{
    static const char *const columns[] = {"from", "to", "releases", "share", "up to here", " "};
    const uint32_t *buckets = page->responses;
    uint64_t all = 0, most = 0, seen = 0, rows[CLO_LATENCY_BUCKETS / BUCKETS_A_ROW] = {0};

    for (uint32_t b = 0; b < CLO_LATENCY_BUCKETS; b++) {
        uint64_t *row = &rows[b / BUCKETS_A_ROW];
        *row += buckets[b];
        all += buckets[b];
        most = *row > most ? *row : most;
    }
    begin_table(out, "responses", "Response times of all releases", columns, sizeof columns / sizeof columns[0]);
    for (uint32_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        if (rows[r] == 0)
            continue;
        seen += rows[r];
        clo_text_add(out, "<tr>");
        add_time_cell(out, clo_latency_bucket_ns(r * BUCKETS_A_ROW));
        add_time_cell(out, clo_latency_bucket_ns((r + 1) * BUCKETS_A_ROW));
        add_count_cell(out, rows[r]);
        add_percent_cell(out, clo_page_ratio((double)rows[r], (double)all));
        add_percent_cell(out, clo_page_ratio((double)seen, (double)all));
        clo_text_add(out, "<td><meter max=\"%llu\" value=\"%llu\"></meter></td></tr>\n", (unsigned long long)most,
                     (unsigned long long)rows[r]);
    }
    end_table(out, "From when a release was due to its end, of all releases of the series.");
}

void clo_page_add_tables(const clo_page *page, clo_text *out)
{
    const clo_page_schedule *s = &page->schedules[page->drawn];

    if (!s->has_bars)
        clo_text_add(out, "<p class=\"remark\">There are too many executions for details: %d are kept.</p>\n",
                     CLO_REPORT_EXECUTIONS_MAX);
    else if (!page->has_edges)
        clo_text_add(out, "<p class=\"remark\">There are too many edges to show dependencies: %d are kept.</p>\n",
                     CLO_REPORT_EDGES_MAX);
    if (page->responses != NULL)
        add_responses(page, out);
    if (page->jobs != NULL)
        add_jobs(page, out);
    else
        add_schedules(page, out);
    if (!s->has_bars)
        return;
    add_executors(page, s, out);
    add_kinds(page, s, out);
    add_tasks(page, s, out);
}
