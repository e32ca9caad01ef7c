/* report/stream_picture.c - a stream as SVG: a row an executor, colours by job.
 *
 * The size stays bounded whatever the number of bodies: a row is divided into cells, some thousand in all, each in the
 * colour of the job that has most of it, pale where it is mostly idle. Neighbours of one job are one box. The bodies of
 * an executor are found in order of their ends, which is that of their starts too. */
#include "report/stream_picture.h"

#include "report/gantt.h"
#include "report/kinds.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    CELLS = 8000, /* of all rows, but at least MIN_COLUMNS in each */
    MIN_COLUMNS = 48,
    SHARERS = 8, /* jobs that are told apart in a cell */
    PAGE = 1280,
    RIGHT = 30,
    NAME_MAX = 20, /* characters of an executor's name */
    TOP = 96,
    BOTTOM = 34, /* to the legend */
    LINE = 20,   /* of the legend */
    NAMED = 16   /* jobs that the legend names one by one */
};

/* Who has a cell. */
typedef struct cell {
    uint64_t jobs[SHARERS];
    double shares[SHARERS];
    uint32_t count;
    double sum;
} cell;

typedef struct picture {
    const clo_log_record *records;
    size_t count;
    const clo_platform *platform;
    const char *title;
    clo_text *out;
    size_t *first;   /* [executors + 1] into members          */
    size_t *members; /* indices of records, by executor       */
    cell *cells;     /* [columns] of the row that is drawn    */
    int64_t begin_ns, end_ns;
    uint64_t jobs, bodies, due, missed; /* due: that have a deadline */
    int left, width;                    /* of the rows, pixels */
    int columns, row_height;
    uint64_t named[NAMED]; /* [named_count] jobs in the order in which they first ended something */
    uint32_t named_count;  /* > NAMED: too many */
} picture;

/* Where the next entry of the legend goes. */
typedef struct legend {
    const picture *p;
    bool is_drawn; /* else only measured */
    int x, line;
} legend;

static bool is_body(const clo_log_record *r)
{
    return r->what == CLO_LOG_FINISH || r->what == CLO_LOG_PREEMPT;
}

/* The name of a row, as much of it as there is room for, into text[CLO_KIND_NAME_BYTES]. */
static const char *row_name(const picture *p, uint32_t executor, char *text)
{
    const char *name = clo_platform_executor_name(p->platform, executor);

    return clo_kind_name(name, strlen(name), NAME_MAX, text);
}

static void lay_out(picture *p)
{
    uint32_t widest = 0;
    char text[CLO_KIND_NAME_BYTES];

    for (uint32_t e = 0; e < clo_platform_executors(p->platform); e++) {
        uint32_t width = clo_drawn_width(row_name(p, e, text)) * 12 / 1000;
        widest = width > widest ? width : widest;
    }
    p->left = 30 + (int)widest;
    p->width = PAGE - p->left - RIGHT;
}

static clo_status measure(picture *p)
{
    uint32_t executors = clo_platform_executors(p->platform);

    p->end_ns = p->begin_ns = p->count > 0 ? p->records[0].now_ns : 0;
    for (size_t i = 0; i < p->count; i++) {
        const clo_log_record *r = &p->records[i];
        p->jobs += r->what == CLO_LOG_ARRIVE;
        p->due += r->what == CLO_LOG_JOB && r->value != CLO_TIME_NEVER;
        if (!is_body(r))
            continue;
        if (r->executor >= executors || r->value < p->begin_ns || r->now_ns < r->value)
            return clo_fail(CLO_ERR_ARGUMENT, "record %zu is no body on this platform; judge the log first", i);
        p->bodies++;
        p->first[r->executor + 1]++;
        if (r->now_ns > p->end_ns)
            p->end_ns = r->now_ns;
    }
    lay_out(p);
    p->columns = (int)(CELLS / executors);
    p->columns = p->columns > p->width ? p->width : p->columns < MIN_COLUMNS ? MIN_COLUMNS : p->columns;
    p->row_height = executors <= 12 ? 40 : executors <= 32 ? 30 : executors <= 128 ? 18 : 12;
    return CLO_OK;
}

static clo_status sort_by_executor(picture *p)
{
    uint32_t executors = clo_platform_executors(p->platform);

    p->members = clo_allocate(p->bodies > 0 ? (size_t)p->bodies : 1, sizeof *p->members);
    if (p->members == NULL)
        return clo_fail_memory("a picture of a stream");
    for (uint32_t e = 0; e < executors; e++)
        p->first[e + 1] += p->first[e];
    for (size_t i = 0; i < p->count; i++)
        if (is_body(&p->records[i]))
            p->members[p->first[p->records[i].executor]++] = i;
    for (uint32_t e = executors; e > 0; e--)
        p->first[e] = p->first[e - 1];
    p->first[0] = 0;
    return CLO_OK;
}

/* Where a time lies, in cells. */
static double cell_at(const picture *p, int64_t ns)
{
    double span = (double)(p->end_ns - p->begin_ns);

    return span > 0 ? (double)(ns - p->begin_ns) / span * p->columns : 0;
}

static void add_share(cell *c, uint64_t job, double share)
{
    uint32_t k = 0;

    c->sum += share;
    while (k < c->count && c->jobs[k] != job)
        k++;
    if (k == SHARERS)
        return;
    if (k == c->count) {
        c->jobs[k] = job;
        c->shares[k] = 0;
        c->count++;
    }
    c->shares[k] += share;
}

static void fill_row(const picture *p, uint32_t executor)
{
    memset(p->cells, 0, (size_t)p->columns * sizeof *p->cells);
    for (size_t m = p->first[executor]; m < p->first[executor + 1]; m++) {
        const clo_log_record *r = &p->records[p->members[m]];
        double from = cell_at(p, r->value), to = cell_at(p, r->now_ns);
        for (int c = (int)from; c < p->columns && c < to; c++)
            add_share(&p->cells[c], r->job, (to < c + 1 ? to : c + 1) - (from > c ? from : c));
    }
}

/* The job with most of a cell; CLO_LOG_NO_JOB: it is idle. */
static uint64_t owner_of(const cell *c)
{
    uint32_t best = 0;

    for (uint32_t k = 1; k < c->count; k++)
        if (c->shares[k] > c->shares[best])
            best = k;
    return c->count > 0 ? c->jobs[best] : CLO_LOG_NO_JOB;
}

static int pixel_of(const picture *p, int column)
{
    return p->left + (int)((int64_t)column * p->width / p->columns);
}

static int64_t time_of(const picture *p, int column)
{
    return p->begin_ns + (int64_t)((double)(p->end_ns - p->begin_ns) * column / p->columns);
}

static void add_box(const picture *p, uint32_t executor, int from, int to)
{
    const cell *c = &p->cells[from];
    int y = TOP + p->row_height * (int)executor + p->row_height / 8;
    int64_t end_ns = time_of(p, to);
    char begin[24], end[24];

    clo_text_add(p->out, "<rect class=\"c%u%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>job %llu\n%s to %s",
                 (unsigned)(owner_of(c) % CLO_KIND_COLORS), c->sum < 0.5 ? " pale" : "", pixel_of(p, from), y,
                 pixel_of(p, to) - pixel_of(p, from), p->row_height - 2 * (p->row_height / 8),
                 (unsigned long long)owner_of(c), clo_gantt_time(time_of(p, from), p->end_ns, begin),
                 clo_gantt_time(end_ns, p->end_ns, end));
    clo_text_add(p->out, "</title></rect>\n");
}

static void add_row(const picture *p, uint32_t executor)
{
    fill_row(p, executor);
    for (int c = 0, end; c < p->columns; c = end) {
        uint64_t job = owner_of(&p->cells[c]);
        bool is_pale = p->cells[c].sum < 0.5;
        for (end = c + 1; end < p->columns && owner_of(&p->cells[end]) == job; end++)
            if ((p->cells[end].sum < 0.5) != is_pale)
                break;
        if (job != CLO_LOG_NO_JOB)
            add_box(p, executor, c, end);
    }
}

static void name_jobs(picture *p)
{
    for (size_t i = 0; i < p->count && p->named_count <= NAMED; i++) {
        uint32_t k = 0;
        if (!is_body(&p->records[i]))
            continue;
        while (k < p->named_count && p->named[k] != p->records[i].job)
            k++;
        if (k < p->named_count)
            continue;
        if (k < NAMED)
            p->named[k] = p->records[i].job;
        p->named_count++;
    }
}

static int bottom_of(const picture *p)
{
    return TOP + p->row_height * (int)clo_platform_executors(p->platform);
}

/* A mark and a text, on the next line where this one is full. */
static void add_entry(legend *at, const char *mark, const char *text)
{
    int width = 38 + (int)(clo_drawn_width(text) * 12 / 1000);

    if (at->x > at->p->left && at->x + width > PAGE - 8) {
        at->x = at->p->left;
        at->line++;
    }
    int y = bottom_of(at->p) + BOTTOM + LINE * at->line;
    if (at->is_drawn)
        clo_text_add(at->p->out, "<path %s transform=\"translate(%d %d)\"/><text x=\"%d\" y=\"%d\">%s</text>\n", mark,
                     at->x, y, at->x + 20, y + 10, text);
    at->x += width;
}

/* Few jobs by their numbers; of many, that colours come in turn. Returns the number of its lines. */
static int add_legend(const picture *p, bool is_drawn)
{
    legend at = {p, is_drawn, p->left, 0};
    char mark[64], text[32];

    for (uint32_t k = 0; k < p->named_count && p->named_count <= NAMED; k++) {
        clo_print(mark, sizeof mark, "class=\"c%u\" d=\"M0 0h14v12h-14z\"", (unsigned)(p->named[k] % CLO_KIND_COLORS));
        clo_print(text, sizeof text, "job %llu", (unsigned long long)p->named[k]);
        add_entry(&at, mark, text);
    }
    if (p->named_count > NAMED)
        add_entry(&at, "class=\"c0\" d=\"M0 0h14v12h-14z\"", "a colour for each job, 16 in turn");
    if (p->jobs > 0)
        add_entry(&at, "class=\"c0\" d=\"M2 1h10l-5 10z\"", "arrival");
    if (p->missed > 0)
        add_entry(&at, "class=\"missed\" d=\"M2 11h10l-5 -10z\"", "missed deadline");
    add_entry(&at, "class=\"c0 pale\" d=\"M0 0h14v12h-14z\"", "pale: mostly idle");
    return at.line + 1;
}

static void add_head(const picture *p)
{
    int height = bottom_of(p) + BOTTOM + LINE * add_legend(p, false) + 12;
    char time[24];

    clo_text_add(
        p->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>text{font-family:Inter,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:12px;"
        "fill:#333}.title{font-size:19px;font-weight:600;fill:#111}.soft{fill:#777}.small{font-size:10.5px}"
        ".end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:#e3e3e3}.pale{fill-opacity:.4}.missed{fill:#c00}",
        PAGE, height, PAGE, height);
    for (uint32_t c = 0; c < CLO_KIND_COLORS; c++)
        clo_text_add(p->out, ".c%u{fill:%s}", c, clo_kind_fill(c));
    clo_text_add(p->out,
                 "</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text class=\"title\" x=\"20\" y=\"32\">",
                 PAGE, height);
    clo_text_add_xml(p->out, p->title);
    clo_text_add(p->out, "</text>\n<text class=\"soft\" x=\"20\" y=\"52\">%llu jobs, %llu executions on ",
                 (unsigned long long)p->jobs, (unsigned long long)p->bodies);
    clo_text_add_xml(p->out, clo_platform_name(p->platform));
    clo_text_add(p->out, " · makespan %s</text>\n",
                 clo_gantt_time(p->end_ns - p->begin_ns, p->end_ns - p->begin_ns, time));
}

/* Names of the rows, and vertical lines with times below. */
static void add_axes(const picture *p)
{
    uint32_t executors = clo_platform_executors(p->platform);
    int64_t span_ns = p->end_ns - p->begin_ns, step = clo_gantt_step(span_ns, 12);
    int bottom = bottom_of(p);
    char time[24], name[CLO_KIND_NAME_BYTES];

    for (uint32_t e = 0; e < executors; e++) {
        clo_text_add(p->out, "<text class=\"end%s\" x=\"%d\" y=\"%d\">", p->row_height < 18 ? " small" : "",
                     p->left - 10, TOP + p->row_height * (int)e + p->row_height / 2 + 4);
        clo_text_add_xml(p->out, row_name(p, e, name));
        clo_text_add(p->out, "</text>\n");
    }
    for (int64_t k = 0; k <= span_ns / step; k++) {
        int x = span_ns > 0 ? p->left + (int)((double)(k * step) / (double)span_ns * p->width) : p->left;
        clo_text_add(p->out,
                     "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
                     "<text class=\"soft small mid\" x=\"%d\" y=\"%d\">%s</text>\n",
                     x, x, TOP, bottom + 5, x, bottom + 19, k == 0 ? "0" : clo_gantt_time(k * step, span_ns, time));
    }
}

/* A mark for each arrival, in the colour of its job; of those that share a pixel, the first. */
static void add_arrivals(const picture *p)
{
    double span = (double)(p->end_ns - p->begin_ns);
    int last = -1;

    for (size_t i = 0; i < p->count; i++) {
        const clo_log_record *r = &p->records[i];
        if (r->what != CLO_LOG_ARRIVE || r->now_ns < p->begin_ns || r->now_ns > p->end_ns)
            continue;
        int x = span > 0 ? p->left + (int)((double)(r->now_ns - p->begin_ns) / span * p->width) : p->left;
        if (x == last)
            continue;
        last = x;
        clo_text_add(p->out, "<path class=\"c%u\" d=\"M%d %dh8l-4 9z\"><title>job %llu arrives</title></path>\n",
                     (unsigned)(r->job % CLO_KIND_COLORS), x - 4, TOP - 12, (unsigned long long)r->job);
    }
}

/* What the log says of the end of a job, by its number. */
typedef struct due_job {
    uint64_t job;
    int64_t deadline_ns, end_ns; /* CLO_TIME_NEVER: none, or it has not ended */
} due_job;

static int by_job(const void *left, const void *right)
{
    const due_job *a = left, *b = right;

    return a->job < b->job ? -1 : a->job > b->job;
}

/* Jobs with deadlines, in the order of their numbers, with their ends. */
static size_t list_due(const picture *p, due_job *jobs)
{
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        if (p->records[i].what == CLO_LOG_JOB && p->records[i].value != CLO_TIME_NEVER)
            jobs[count++] = (due_job){p->records[i].job, p->records[i].value, CLO_TIME_NEVER};
    qsort(jobs, count, sizeof *jobs, by_job);
    for (size_t i = 0; i < p->count && count > 0; i++) {
        const due_job wanted = {.job = p->records[i].job};
        due_job *job = p->records[i].what == CLO_LOG_DONE ? bsearch(&wanted, jobs, count, sizeof *jobs, by_job) : NULL;
        if (job != NULL)
            job->end_ns = p->records[i].now_ns;
    }
    return count;
}

/* A mark at each deadline that was missed; of those that share a pixel, the first. jobs: [p->due] scratch. Returns how
 * many were. */
static uint64_t add_missed(const picture *p, due_job *jobs, bool is_drawn)
{
    size_t count = list_due(p, jobs);
    uint64_t missed = 0;
    bool is_marked[PAGE] = {false};

    for (size_t i = 0; i < count; i++) {
        if (jobs[i].end_ns <= jobs[i].deadline_ns || jobs[i].deadline_ns < p->begin_ns ||
            jobs[i].deadline_ns > p->end_ns)
            continue;
        int x = (int)(cell_at(p, jobs[i].deadline_ns) * p->width / p->columns);
        missed++;
        if (is_drawn && !is_marked[x])
            clo_text_add(p->out,
                         "<path class=\"missed\" d=\"M%d %dh8l-4 -9z\"><title>job %llu misses its deadline</title>"
                         "</path>\n",
                         p->left + x - 4, TOP - 3, (unsigned long long)jobs[i].job);
        is_marked[x] = true;
    }
    return missed;
}

static clo_status draw(picture *p)
{
    uint32_t executors = clo_platform_executors(p->platform);

    p->first = clo_allocate((size_t)executors + 1, sizeof *p->first);
    if (p->first == NULL)
        return clo_fail_memory("a picture of a stream");
    memset(p->first, 0, ((size_t)executors + 1) * sizeof *p->first);
    clo_status status = measure(p);
    if (status == CLO_OK)
        status = sort_by_executor(p);
    if (status != CLO_OK)
        return status;
    p->cells = clo_allocate((size_t)p->columns, sizeof *p->cells);
    if (p->cells == NULL)
        return clo_fail_memory("a picture of a stream");
    due_job *jobs = clo_allocate(p->due, sizeof *jobs);
    if (jobs == NULL)
        return clo_fail_memory("a picture of a stream");
    p->missed = add_missed(p, jobs, false);
    name_jobs(p);
    add_head(p);
    add_axes(p);
    for (uint32_t e = 0; e < executors; e++)
        add_row(p, e);
    add_arrivals(p);
    (void)add_missed(p, jobs, true);
    clo_free(jobs);
    (void)add_legend(p, true);
    clo_text_add(p->out, "</svg>\n");
    return p->out->failed ? clo_fail_memory("a picture of a stream") : CLO_OK;
}

clo_status clo_stream_svg(const clo_log *log, const clo_platform *platform, const char *title, clo_text *out)
{
    if (clo_log_dropped(log) > 0)
        return clo_fail(CLO_ERR_STATE, "the log was full and dropped records; nothing can be drawn of it");
    picture p = {.platform = platform, .title = title != NULL ? title : "stream", .out = out};

    p.records = clo_log_records(log, &p.count);
    clo_status status = draw(&p);
    clo_free(p.first);
    clo_free(p.members);
    clo_free(p.cells);
    return status;
}

clo_status clo_stream_gantt_svg(const clo_log *log, const clo_platform *platform, const char *title, const char *path)
{
    clo_text text = {0};

    if (log == NULL || platform == NULL || path == NULL)
        return clo_fail_null("clo_stream_gantt_svg", "log, platform or path");
    clo_status status = clo_stream_svg(log, platform, title, &text);
    if (status == CLO_OK)
        status = clo_file_write(path, text.data, text.bytes);
    clo_text_free(&text);
    return status;
}
