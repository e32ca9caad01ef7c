/* report/page/data.c - what a page knows, as one JSON object "clotho.report/1": see docs/FORMATS.md. Columns of bars are
 * arrays of equal length, by executor and start; a column of zeros is the number 0. */
#include "report/page/page.h"

#include "graph/graph.h"
#include "report/page/causes.h"

#include <string.h>

enum {
    NAME_BYTES_MAX = 200, /* of a task or a job; longer names are cut  */
    NAMED_MAX = 1 << 20   /* tasks; the graphs of many jobs have more  */
};

/* The number of digits matters less than the time of printf: there are millions. */
static void add_integer(clo_text *out, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        digits[--at] = '-';
    clo_text_add_bytes(out, digits + at, sizeof digits - at);
}

static void add_key_integer(clo_text *out, const char *key, int64_t value)
{
    clo_text_add(out, ",\"%s\":", key);
    add_integer(out, value);
}

static void add_key_text(clo_text *out, const char *key, const char *value)
{
    clo_text_add(out, ",\"%s\":", key);
    if (value != NULL)
        clo_text_add_json(out, value);
    else
        clo_text_add(out, "null");
}

/* A name of bounded length; the middle is left out. */
static void add_name(clo_text *out, const char *name)
{
    char cut[CLO_KIND_NAME_BYTES];
    size_t bytes = strlen(name);

    clo_text_add_json(out, bytes > NAME_BYTES_MAX ? clo_kind_name(name, bytes, NAME_BYTES_MAX / 4, cut) : name);
}

static void add_platform(const clo_page *page, clo_text *out)
{
    const clo_platform *platform = page->platform;

    add_key_text(out, "platform", clo_platform_name(platform));
    clo_text_add(out, ",\"executors\":[");
    for (uint32_t e = 0; e < clo_platform_executors(platform); e++) {
        clo_text_add(out, e > 0 ? "," : "");
        clo_text_add_json(out, clo_platform_executor_name(platform, e));
    }
    clo_text_add(out, "],\"executor_kind\":[");
    for (uint32_t e = 0; e < clo_platform_executors(platform); e++)
        clo_text_add(out, "%s%u", e > 0 ? "," : "", clo_platform_executor(platform, e)->kind);
    clo_text_add(out, "],\"executor_kinds\":[");
    for (uint32_t k = 0; k < clo_platform_kinds(platform); k++) {
        clo_text_add(out, k > 0 ? "," : "");
        clo_text_add_json(out, clo_platform_kind_name(platform, k));
    }
    clo_text_add(out, "]");
}

static void add_kinds(const clo_page *page, clo_text *out)
{
    char name[CLO_KIND_NAME_BYTES];

    clo_text_add(out, ",\n\"kinds\":[");
    for (uint32_t k = 0; k <= page->kinds.count; k++) {
        const clo_task_kind *kind = &page->kinds.kinds[k < page->kinds.count ? k : CLO_KINDS_MAX];
        clo_text_add(out, k > 0 ? ",[" : "[");
        if (k < page->kinds.count)
            clo_text_add_json(out, clo_kind_name(kind->name, kind->bytes, 60, name));
        else
            clo_text_add(out, "\"other\"");
        clo_text_add(out, ",%u]", kind->color);
    }
    clo_text_add(out, "],\"colors\":[");
    for (uint32_t c = 0; c < CLO_KIND_SHADES; c++)
        clo_text_add(out, "%s[\"%s\",\"%s\"]", c > 0 ? "," : "", clo_kind_fill(c), clo_kind_ink(c));
    clo_text_add(out, "]");
}

static void add_task_names(const clo_page *page, clo_text *out)
{
    char scratch[16];

    clo_text_add(out, ",\n\"tasks\":");
    if (clo_page_tasks(page) > NAMED_MAX) {
        clo_text_add(out, "null");
        return;
    }
    for (uint32_t g = 0, all = 0; g < page->graphs_count; g++)
        for (uint32_t t = 0; t < clo_graph_tasks(page->graphs[g]); t++) {
            clo_text_add_bytes(out, all++ > 0 ? "," : "[", 1);
            add_name(out, clo_graph_task_name(page->graphs[g], t, scratch));
        }
    clo_text_add(out, clo_page_tasks(page) > 0 ? "]" : "[]");
}

static void add_tasks(const clo_page *page, clo_text *out)
{
    add_task_names(page, out);
    clo_text_add(out, ",\n\"task_kind\":[");
    for (uint32_t t = 0; t < clo_page_tasks(page); t++) {
        clo_text_add_bytes(out, ",", t > 0);
        add_integer(out, page->kind_of[t] < page->kinds.count ? page->kind_of[t] : page->kinds.count);
    }
    clo_text_add(out, "]");
}

/* The sources of each task's inputs, as distances to it in numbers of tasks, and their bytes: of one pair of
 * instances. */
static void add_edges(const clo_page *page, clo_text *out)
{
    bool has_bytes = false;

    clo_text_add(out, ",\n\"inputs\":");
    if (!page->has_edges) {
        clo_text_add(out, "null");
        return;
    }
    clo_text_add(out, "[");
    for (uint32_t g = 0, all = 0; g < page->graphs_count; g++) {
        const clo_graph *graph = page->graphs[g];
        has_bytes |= clo_graph_has_bytes(graph);
        for (uint32_t t = 0; t < graph->tasks; t++) {
            uint32_t count = graph->in_first[t + 1] - graph->in_first[t];
            clo_text_add_bytes(out, ",", all++ > 0);
            add_integer(out, count);
            for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++) {
                clo_text_add_bytes(out, ",", 1);
                add_integer(out, (int64_t)t - clo_graph_source(graph, edge));
            }
        }
    }
    clo_text_add(out, "],\n\"input_bytes\":%s", has_bytes ? "[" : "0");
    for (uint32_t g = 0, all = 0; has_bytes && g < page->graphs_count; g++)
        for (uint32_t edge = 0; edge < page->graphs[g]->edges; edge++) {
            clo_text_add_bytes(out, ",", all++ > 0);
            add_integer(out, (int64_t)(clo_graph_in_bytes(page->graphs[g], edge) & INT64_MAX));
        }
    clo_text_add(out, has_bytes ? "]" : "");
}

/* The columns of a schedule. */
typedef enum column { TASK, INSTANCE, GROUP, FLAGS, GAP, LENGTH, INPUT, WAIT, SLACK, CAUSE, COLUMNS } column;

static int64_t value_of(const clo_page_schedule *s, size_t i, column what)
{
    const clo_bar *bar = &s->bars.all[i];
    bool is_first = i == s->bars.first[bar->executor];

    switch (what) {
    case TASK:
        return bar->task;
    case INSTANCE:
        return bar->instance;
    case GROUP:
        return bar->group;
    case FLAGS:
        return bar->flags;
    case GAP:
        return bar->start_ns - (is_first ? 0 : bar[-1].finish_ns);
    case LENGTH:
        return bar->finish_ns - bar->start_ns;
    case INPUT:
        return s->has_happened || s->causes == NULL ? bar->input_ns : s->causes[i].transfer_ns;
    case WAIT:
        return s->causes != NULL ? bar->start_ns - s->causes[i].ready_ns : 0;
    case SLACK:
        return s->causes != NULL ? s->causes[i].slack_ns : 0;
    case CAUSE:
        return s->causes == NULL || s->causes[i].by == CLO_NONE ? -1 : (int64_t)s->causes[i].by;
    case COLUMNS:
        break;
    }
    return 0;
}

static void add_column(clo_text *out, const clo_page_schedule *s, const char *key, column what)
{
    size_t i = 0;

    clo_text_add(out, ",\n\"%s\":", key);
    while (i < s->bars.count && value_of(s, i, what) == 0)
        i++;
    if (i == s->bars.count) {
        clo_text_add(out, "0");
        return;
    }
    for (i = 0; i < s->bars.count; i++) {
        clo_text_add_bytes(out, i > 0 ? "," : "[", 1);
        add_integer(out, value_of(s, i, what));
    }
    clo_text_add_bytes(out, "]", 1);
}

static void add_bars(const clo_page_schedule *s, clo_text *out)
{
    static const char *const keys[COLUMNS] = {"task",   "instance", "group", "flags", "gap",
                                              "length", "input",    "wait",  "slack", "cause"};

    add_key_integer(out, "count", (int64_t)s->bars.count);
    clo_text_add(out, ",\"rows\":[");
    for (uint32_t e = 0; e < s->bars.executors; e++)
        clo_text_add(out, "%s%zu", e > 0 ? "," : "", s->bars.first[e + 1] - s->bars.first[e]);
    clo_text_add(out, "]");
    for (column c = TASK; c < COLUMNS; c++)
        add_column(out, s, keys[c], c);
}

static void add_schedule(const clo_page_schedule *s, clo_text *out)
{
    clo_text_add(out, "{\"name\":");
    clo_text_add_json(out, s->name);
    clo_text_add(out, ",\"happened\":%s,\"emulated\":%s,\"valid\":%s,\"causes\":%s", s->has_happened ? "true" : "false",
                 s->is_emulated ? "true" : "false", s->is_invalid ? "false" : "true",
                 s->causes != NULL ? "true" : "false");
    add_key_integer(out, "makespan_ns", s->makespan_ns);
    add_key_integer(out, "bound_ns", s->bound_ns);
    add_key_integer(out, "interval_ns", s->interval_ns);
    if (s->has_bars)
        add_bars(s, out);
    clo_text_add(out, "}");
}

static void add_time_or_null(clo_text *out, int64_t ns)
{
    if (ns == CLO_TIME_NEVER)
        clo_text_add(out, ",null");
    else
        clo_text_add_bytes(out, ",", 1), add_integer(out, ns);
}

static void add_jobs(const clo_page *page, clo_text *out)
{
    add_key_text(out, "job_word", page->job_word);
    clo_text_add(out, ",\n\"jobs\":[");
    for (size_t i = 0; i < page->jobs_count; i++) {
        const clo_page_job *job = &page->jobs[i];
        clo_text_add(out, i > 0 ? ",\n[%llu," : "\n[%llu,", (unsigned long long)job->number);
        add_name(out, job->name);
        add_time_or_null(out, job->arrival_ns);
        add_time_or_null(out, job->start_ns);
        add_time_or_null(out, job->finish_ns);
        add_time_or_null(out, job->deadline_ns);
        clo_text_add(out, ",%d,", job->end);
        add_integer(out, job->path_ns);
        clo_text_add_bytes(out, "]", 1);
    }
    clo_text_add(out, "]");
}

void clo_page_add_data(const clo_page *page, clo_text *out)
{
    clo_text_add(out, "{\"format\":\"clotho.report/1\"");
    add_key_text(out, "title", page->title);
    add_key_integer(out, "deadline_ns", page->deadline_ns);
    add_key_integer(out, "drawn", (int64_t)page->drawn);
    add_key_integer(out, "compared", (int64_t)page->compared);
    clo_text_add(out, ",\"failed\":[");
    for (size_t i = 0; i < page->failed_count; i++)
        clo_text_add(out, "%s%u", i > 0 ? "," : "", page->failed[i]);
    clo_text_add(out, "]");
    add_platform(page, out);
    add_kinds(page, out);
    if (page->schedules[page->drawn].has_bars) {
        add_tasks(page, out);
        add_edges(page, out);
    } else {
        clo_text_add(out, ",\n\"tasks\":null,\"task_kind\":[],\"inputs\":null"); /* nothing would show them */
    }
    if (page->jobs != NULL)
        add_jobs(page, out);
    clo_text_add(out, ",\n\"schedules\":[");
    for (size_t s = 0; s < page->schedules_count; s++) {
        clo_text_add(out, s > 0 ? ",\n" : "\n");
        add_schedule(&page->schedules[s], out);
    }
    clo_text_add(out, "]}");
}
