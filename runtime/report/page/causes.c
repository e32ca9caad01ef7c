/* report/page/causes.c - see causes.h. One pass forward finds where each input came from; one backward, in order of
 * falling starts, hands the latest possible end from consumers to producers (the critical path method, Kelley and
 * Walker 1959, with the order on each executor as further edges). */
#include "report/page/causes.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "graph/graph.h"

#include <stdlib.h>

#define PAIRS_MAX UINT64_C(40000000)

/* Bars by job, task, instance and start: those of one task follow each other. */
typedef struct place {
    uint32_t group, task, instance;
    int64_t start_ns;
    uint32_t bar;
} place;

typedef struct finder {
    const clo_page *page;
    const clo_bars *bars;
    place *places;      /* [bars] sorted */
    uint32_t *place_of; /* [bars] where each bar stands among them */
    uint32_t *order;    /* [bars] by start */
    int64_t *latest_ns; /* [bars] latest end */
    clo_cause *causes;
} finder;

static uint32_t graph_of(const clo_page *page, const clo_bar *bar)
{
    return page->jobs != NULL ? page->jobs[bar->group].graph : 0;
}

static bool is_too_much(const clo_page *page, const clo_bars *bars)
{
    uint64_t pairs = 0;

    for (size_t i = 0; i < bars->count && pairs <= PAIRS_MAX; i++) {
        uint32_t g = graph_of(page, &bars->all[i]), task = bars->all[i].task - page->first_task[g];
        const clo_graph *graph = page->graphs[g];
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++)
            pairs += clo_graph_instances_of(graph, clo_graph_source(graph, edge));
    }
    return pairs > PAIRS_MAX || bars->count >= CLO_NONE;
}

static int by_place(const void *left, const void *right)
{
    const place *a = left, *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->bar < b->bar ? -1 : a->bar > b->bar;
}

static void sort_places(finder *f)
{
    for (size_t i = 0; i < f->bars->count; i++) {
        const clo_bar *bar = &f->bars->all[i];
        f->places[i] = (place){bar->group, bar->task, bar->instance, bar->start_ns, (uint32_t)i};
    }
    qsort(f->places, f->bars->count, sizeof f->places[0], by_place);
    for (size_t k = 0; k < f->bars->count; k++)
        f->place_of[f->places[k].bar] = (uint32_t)k;
}

/* The first place of a task in a job, or of what comes behind it. */
static size_t first_place(const finder *f, uint32_t group, uint32_t task)
{
    size_t low = 0, high = f->bars->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const place *p = &f->places[middle];
        if (p->group < group || (p->group == group && p->task < task))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An input: from a bar, so many bytes. */
typedef struct input {
    uint32_t by;
    int64_t way_ns;
} input;

static void look_at_input(const finder *f, uint32_t i, input from, bool is_backward)
{
    const clo_bar *bar = &f->bars->all[i];
    clo_cause *cause = &f->causes[i];
    int64_t finish_ns = f->bars->all[from.by].finish_ns, room = bar->start_ns - finish_ns;
    int64_t way = from.way_ns < room ? from.way_ns : room > 0 ? room : 0, length_ns = bar->finish_ns - bar->start_ns;

    if (is_backward) {
        int64_t latest = f->latest_ns[i] - length_ns - way;
        f->latest_ns[from.by] = latest < f->latest_ns[from.by] ? latest : f->latest_ns[from.by];
        return;
    }
    int64_t path_ns = clo_time_add(clo_time_add(f->causes[from.by].path_ns, way), length_ns);
    cause->path_ns = path_ns > cause->path_ns ? path_ns : cause->path_ns;
    if (cause->by != CLO_NONE && finish_ns + way <= cause->ready_ns)
        return;
    cause->by = from.by;
    cause->ready_ns = finish_ns + way;
    cause->transfer_ns = way;
}

/* Of each instance of the source, the execution whose data arrive first. */
static void look_at_source(const finder *f, uint32_t i, uint32_t source, uint64_t bytes, bool is_backward)
{
    const clo_bar *bar = &f->bars->all[i];
    size_t k = first_place(f, bar->group, source);

    while (k < f->bars->count && f->places[k].group == bar->group && f->places[k].task == source) {
        uint32_t instance = f->places[k].instance;
        input best = {CLO_NONE, 0};
        int64_t earliest = INT64_MAX;
        for (; k < f->bars->count && f->places[k].group == bar->group && f->places[k].task == source &&
               f->places[k].instance == instance;
             k++) {
            const clo_bar *from = &f->bars->all[f->places[k].bar];
            int64_t way = clo_platform_transfer_ns(f->page->platform, bytes, from->executor, bar->executor);
            int64_t arrival = clo_time_add(from->finish_ns, way);
            if ((from->flags & (CLO_BAR_LOST | CLO_BAR_STOPPED)) != 0 || arrival >= earliest)
                continue;
            earliest = arrival;
            best = (input){f->places[k].bar, way};
        }
        if (best.by != CLO_NONE)
            look_at_input(f, i, best, is_backward);
    }
}

/* What was stopped before goes on; CLO_NONE: it begins. */
static uint32_t stopped_before(const finder *f, uint32_t i)
{
    size_t k = f->place_of[i];

    if (k == 0)
        return CLO_NONE;
    const clo_bar *bar = &f->bars->all[i], *before = &f->bars->all[f->places[k - 1].bar];
    bool is_same = before->group == bar->group && before->task == bar->task && before->instance == bar->instance;
    return is_same && (before->flags & CLO_BAR_STOPPED) != 0 ? f->places[k - 1].bar : CLO_NONE;
}

static void look_at_inputs(const finder *f, uint32_t i, bool is_backward)
{
    const clo_bar *bar = &f->bars->all[i];
    uint32_t g = graph_of(f->page, bar), first = f->page->first_task[g], task = bar->task - first;
    const clo_graph *graph = f->page->graphs[g];
    uint32_t before = stopped_before(f, i);

    if (before != CLO_NONE) {
        look_at_input(f, i, (input){before, 0}, is_backward);
        return;
    }
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++)
        look_at_source(f, i, first + clo_graph_source(graph, edge), clo_graph_in_bytes(graph, edge), is_backward);
}

/* The bar before on the executor, if it ended after all inputs were there. */
static void look_before(const finder *f, uint32_t i)
{
    const clo_bar *bars = f->bars->all;
    bool is_first = i == f->bars->first[bars[i].executor];

    if (!is_first && bars[i - 1].finish_ns >= f->causes[i].ready_ns && bars[i - 1].finish_ns <= bars[i].start_ns)
        f->causes[i].by = i - 1;
}

typedef struct started {
    int64_t start_ns, finish_ns;
    uint32_t bar;
} started;

static int by_start(const void *left, const void *right)
{
    const started *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns ? -1 : 1;
    return a->bar < b->bar ? -1 : a->bar > b->bar;
}

static bool sort_by_start(finder *f)
{
    started *rows = clo_allocate(f->bars->count, sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < f->bars->count; i++)
        rows[i] = (started){f->bars->all[i].start_ns, f->bars->all[i].finish_ns, (uint32_t)i};
    qsort(rows, f->bars->count, sizeof *rows, by_start);
    for (size_t i = 0; i < f->bars->count; i++)
        f->order[i] = rows[i].bar;
    clo_free(rows);
    return true;
}

/* All may end when the last one did, or each job when it did. */
static void begin(finder *f)
{
    const clo_page_job *jobs = f->page->jobs;
    int64_t end_ns = 0;

    for (size_t i = 0; i < f->bars->count; i++)
        end_ns = f->bars->all[i].finish_ns > end_ns ? f->bars->all[i].finish_ns : end_ns;
    for (size_t i = 0; i < f->bars->count; i++) {
        const clo_bar *bar = &f->bars->all[i];
        f->causes[i] = (clo_cause){.by = CLO_NONE, .path_ns = bar->finish_ns - bar->start_ns};
        f->latest_ns[i] = end_ns;
        if (jobs == NULL)
            continue;
        int64_t came_ns = jobs[bar->group].arrival_ns; /* CLO_TIME_NEVER: not known */
        f->causes[i].ready_ns = came_ns < bar->start_ns ? came_ns : bar->start_ns;
        if (jobs[bar->group].finish_ns != CLO_TIME_NEVER)
            f->latest_ns[i] = jobs[bar->group].finish_ns;
    }
}

static void find(finder *f)
{
    const clo_bar *bars = f->bars->all;
    size_t count = f->bars->count;

    begin(f);
    for (size_t k = 0; k < count; k++) {
        look_at_inputs(f, f->order[k], false);
        look_before(f, f->order[k]);
    }
    for (size_t k = count; k-- > 0;) {
        uint32_t i = f->order[k];
        int64_t latest_start = f->latest_ns[i] - (bars[i].finish_ns - bars[i].start_ns);
        if (i > f->bars->first[bars[i].executor] && latest_start < f->latest_ns[i - 1])
            f->latest_ns[i - 1] = latest_start;
        look_at_inputs(f, i, true);
        f->causes[i].slack_ns = f->latest_ns[i] > bars[i].finish_ns ? f->latest_ns[i] - bars[i].finish_ns : 0;
    }
    for (size_t i = 0; i < count && f->page->jobs != NULL; i++) {
        clo_page_job *job = &f->page->jobs[bars[i].group];
        job->path_ns = f->causes[i].path_ns > job->path_ns ? f->causes[i].path_ns : job->path_ns;
    }
}

clo_status clo_causes_find(const clo_page *page, const clo_bars *bars, clo_cause **out)
{
    finder f = {.page = page, .bars = bars};

    *out = NULL;
    if (is_too_much(page, bars))
        return CLO_OK;
    f.places = clo_allocate(bars->count, sizeof f.places[0]);
    f.place_of = clo_allocate(bars->count, sizeof f.place_of[0]);
    f.order = clo_allocate(bars->count, sizeof f.order[0]);
    f.latest_ns = clo_allocate(bars->count, sizeof f.latest_ns[0]);
    f.causes = clo_allocate(bars->count, sizeof f.causes[0]);
    bool has_room = f.places != NULL && f.place_of != NULL && f.order != NULL && f.latest_ns != NULL &&
                    f.causes != NULL && sort_by_start(&f);
    if (has_room) {
        sort_places(&f);
        find(&f);
        *out = f.causes;
    } else {
        clo_free(f.causes);
    }
    clo_free(f.places);
    clo_free(f.place_of);
    clo_free(f.order);
    clo_free(f.latest_ns);
    return has_room ? CLO_OK : clo_fail_memory("a report");
}
