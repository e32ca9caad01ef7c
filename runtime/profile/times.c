/* times.c - for each kind of a platform and each task the best that a snapshot knows (clo_time_basis). Times of other
 * sizes lie on a straight line by least squares over the locations of the sizes that were measured: medians, so that no
 * sample bends it. */
#include "profile/times.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "platform/model/platform.h"
#include "profile/codelet.h"
#include "profile/snapshot.h"

#include <string.h>

enum { SIZES_MIN = 3, SIZES_SPAN = 4, LINES_KEPT = 64 };

__extension__ typedef __int128 wide;

static const clo_profile_time unknown = {.basis = CLO_TIME_TYPED};

/* Of the entries of one codelet, version and kind that were measured here. */
typedef struct line {
    uint32_t sizes;
    uint64_t least, most; /* bytes */
    wide x, y, xx, xy;    /* sums */
    /* The largest spread and high value, by their locations. */
    int64_t spread_q16, high_q16;
    uint32_t end; /* behind the last entry; 0: there is no line */
    uint32_t first;
} line;

typedef struct reader {
    clo_profile_times *times;
    const clo_profile_view *view;
    uint64_t *bytes;        /* [tasks] */
    uint32_t *first_of;     /* [kinds] the first executor of each */
    line lines[LINES_KEPT]; /* those that were worked out last, by their first entry */
} reader;

static void add_size(line *l, const clo_profile_entry *entry)
{
    int64_t location_ns = entry->location_ns > 0 ? entry->location_ns : 1;
    int64_t spread_q16 = (int64_t)(((wide)entry->spread_ns << 16) / location_ns);
    int64_t high_q16 = (int64_t)(((wide)entry->high_ns << 16) / location_ns);
    wide x = (wide)entry->bytes, y = (wide)entry->location_ns;

    l->least = l->sizes == 0 || entry->bytes < l->least ? entry->bytes : l->least;
    l->most = entry->bytes > l->most ? entry->bytes : l->most;
    l->spread_q16 = spread_q16 > l->spread_q16 ? spread_q16 : l->spread_q16;
    l->high_q16 = high_q16 > l->high_q16 ? high_q16 : l->high_q16;
    l->x += x;
    l->y += y;
    l->xx += x * x;
    l->xy += x * y;
    l->sizes++;
}

static bool is_near(const line *l, uint64_t bytes)
{
    return l->sizes >= SIZES_MIN && l->least > 0 && l->most / SIZES_SPAN >= l->least && bytes >= l->least / 2 &&
           bytes / 2 <= l->most;
}

/* y = a + b x at `bytes`, by the mean of x and y; at least 1. */
static int64_t at(const line *l, uint64_t bytes)
{
    wide n = l->sizes, below = n * l->xx - l->x * l->x, slope = n * l->xy - l->x * l->y; /* b = slope / below */
    wide from_mean = n * (wide)bytes - l->x;                                             /* n (bytes - mean x) */

    while (below > INT64_MAX || slope > INT64_MAX || slope < INT64_MIN) { /* 128 bits: halves at most 64 times */
        below /= 2;
        slope /= 2;
    }
    wide ns = (below > 0 ? l->y + slope * from_mean / below : l->y) / n;
    return ns < 1 ? 1 : ns > CLO_ESTIMATOR_MOST_NS ? CLO_ESTIMATOR_MOST_NS : (int64_t)ns;
}

static int64_t part(int64_t ns, int64_t share_q16)
{
    wide all = ((wide)ns * share_q16) >> 16;

    return all > CLO_ESTIMATOR_MOST_NS ? CLO_ESTIMATOR_MOST_NS : (int64_t)all;
}

static clo_profile_time time_of(const reader *s, const clo_profile_entry *entry, clo_time_basis basis)
{
    clo_memory_part none = {0};

    return (clo_profile_time){basis,
                              entry->location_ns,
                              entry->spread_ns,
                              entry->high_ns,
                              entry->mean_ns,
                              basis == CLO_TIME_SCALED ? none : s->view->memory[entry - s->view->entries]};
}

/* Of the size that is the nearest to that many bytes. */
static clo_memory_part nearest_part(const reader *s, uint32_t first, uint32_t end, uint64_t bytes)
{
    uint64_t least = UINT64_MAX;
    uint32_t nearest = first;

    for (uint32_t i = first; i < end; i++) {
        uint64_t at = s->view->entries[i].bytes, apart = at > bytes ? at - bytes : bytes - at;
        if (!s->view->entries[i].is_assumed && apart < least) {
            least = apart;
            nearest = i;
        }
    }
    return s->view->memory[nearest];
}

/* Over these entries; sizes beyond 2^40 bytes are left out, so that sums fit. */
static const line *line_over(reader *s, uint32_t first, uint32_t end)
{
    line *l = &s->lines[first % LINES_KEPT];

    if (l->end == end && l->first == first)
        return l;
    *l = (line){.first = first, .end = end};
    for (uint32_t i = first; i < end; i++)
        if (!s->view->entries[i].is_assumed && s->view->entries[i].bytes >> 40 == 0)
            add_size(l, &s->view->entries[i]);
    return l;
}

static clo_profile_time from_sizes(reader *s, const clo_profile_entry *key)
{
    uint32_t first, end = clo_profile_view_range(s->view, key, &first);
    const line *l = line_over(s, first, end);

    if (!is_near(l, key->bytes) || key->bytes >> 41 != 0)
        return unknown;
    int64_t ns = at(l, key->bytes);
    return (clo_profile_time){CLO_TIME_SIZED,        ns, part(ns, l->spread_q16),
                              part(ns, l->high_q16), 0,  nearest_part(s, first, end, key->bytes)};
}

static clo_profile_time find(reader *s, uint32_t task, uint32_t kind)
{
    clo_profile_entry key = {.bytes = s->bytes[task]};
    char scratch[CLO_PROFILE_SCRATCH];

    if (!clo_profile_codelet_of(s->times->graph, task, s->times->platform->kind_names[kind], scratch, &key))
        return unknown;
    const clo_profile_entry *entry = clo_profile_view_find(s->view, &key);
    if (entry != NULL)
        return time_of(s, entry, entry->is_assumed ? CLO_TIME_ASSUMED : CLO_TIME_MEASURED);
    return from_sizes(s, &key);
}

/* The codelet was measured on kinds that the platform lacks: as if on the reference executor, whose speed is 1. */
static clo_profile_time from_elsewhere(const reader *s, uint32_t task)
{
    clo_profile_entry key = {.bytes = s->bytes[task]};
    char scratch[CLO_PROFILE_SCRATCH];

    if (!clo_profile_codelet_of(s->times->graph, task, "", scratch, &key))
        return unknown;
    for (uint32_t i = clo_profile_view_codelet(s->view, &key);
         i < s->view->count && strcmp(s->view->entries[i].codelet, key.codelet) == 0 &&
         s->view->entries[i].version == key.version;
         i++)
        if (s->view->entries[i].footprint == key.footprint)
            return time_of(s, &s->view->entries[i], CLO_TIME_SCALED);
    return unknown;
}

/* Speed of the first executor of a kind, for a class: what scale_work of the cost divides by. */
static uint32_t speed_of(const reader *s, uint32_t kind, uint32_t task_class)
{
    uint32_t class = task_class < CLO_CLASSES_BUILTIN ? task_class : CLO_CLASS_GENERIC;

    return s->first_of[kind] != CLO_NONE ? s->times->platform->executors[s->first_of[kind]].speed_q16[class]
                                         : CLO_SPEED_ONE;
}

static int64_t by_speed(int64_t ns, uint32_t from, uint32_t to)
{
    wide all = ((wide)ns * from + to / 2) / to;

    return all > CLO_ESTIMATOR_MOST_NS ? CLO_ESTIMATOR_MOST_NS : (int64_t)all;
}

/* What is not known on one kind is scaled from the best of the others. A task that is known on none stays so. */
static void fill_task(reader *s, uint32_t task)
{
    uint32_t kinds = s->times->platform->kinds_count, best = CLO_NONE;
    clo_profile_time *row = &s->times->of[(size_t)task * kinds];

    for (uint32_t k = 0; k < kinds; k++) {
        row[k] = find(s, task, k);
        if (row[k].basis < CLO_TIME_TYPED && (best == CLO_NONE || row[k].basis < row[best].basis))
            best = k;
    }
    if (clo_graph_special_first(s->times->graph, task) != CLO_NONE) /* it may say what other kinds take */
        return;
    uint32_t task_class = s->times->graph->rows[task].task_class;
    clo_profile_time known = best != CLO_NONE ? row[best] : from_elsewhere(s, task);
    uint32_t from = best != CLO_NONE ? speed_of(s, best, task_class) : CLO_SPEED_ONE;
    for (uint32_t k = 0; k < kinds && known.basis != CLO_TIME_TYPED; k++) {
        uint32_t to = speed_of(s, k, task_class);
        if (row[k].basis == CLO_TIME_TYPED)
            row[k] = (clo_profile_time){.basis = CLO_TIME_SCALED,
                                        .location_ns = by_speed(known.location_ns, from, to),
                                        .spread_ns = by_speed(known.spread_ns, from, to),
                                        .high_ns = by_speed(known.high_ns, from, to),
                                        .mean_ns = by_speed(known.mean_ns, from, to)};
    }
}

/* The first executor of each kind, and the sizes of the tasks. */
static void prepare(reader *s)
{
    const clo_profile_times *times = s->times;

    memset(s->first_of, 0xff, times->platform->kinds_count * sizeof *s->first_of);
    for (uint32_t e = times->platform->executors_count; e-- > 0;)
        s->first_of[times->platform->executors[e].kind] = e;
    for (uint32_t t = 0; t < times->graph->tasks; t++)
        s->bytes[t] = clo_profile_bytes_of(times->graph, t);
}

static void free_reader(reader *s)
{
    clo_free(s->bytes);
    clo_free(s->first_of);
    clo_free(s);
}

clo_status clo_profile_times_open(clo_profile_times *times, const clo_graph *graph, const clo_platform *platform,
                                  const clo_profile *profile)
{
    reader *s = clo_allocate(1, sizeof *s);

    if (s == NULL)
        return clo_fail_memory("measured times");
    *times = (clo_profile_times){.graph = graph, .platform = platform};
    s->times = times;
    s->bytes = clo_allocate(graph->tasks, sizeof *s->bytes);
    s->first_of = clo_allocate(platform->kinds_count, sizeof *s->first_of);
    times->of = clo_allocate((size_t)graph->tasks * platform->kinds_count, sizeof *times->of);
    if (s->bytes == NULL || s->first_of == NULL || times->of == NULL) {
        clo_profile_times_close(times);
        free_reader(s);
        return clo_fail_memory("measured times");
    }
    prepare(s);
    clo_rcu_enter();
    s->view = clo_rcu_read(&profile->published);
    times->snapshot = s->view->hash;
    times->run = unknown;
    if (s->view->runs.runs > 0)
        times->run = (clo_profile_time){.basis = CLO_TIME_MEASURED,
                                        .location_ns = s->view->runs.location_q16,
                                        .spread_ns = s->view->runs.spread_q16,
                                        .high_ns = s->view->runs.high_q16};
    for (uint32_t t = 0; t < graph->tasks; t++)
        fill_task(s, t);
    clo_rcu_leave();
    free_reader(s);
    return CLO_OK;
}

void clo_profile_times_close(clo_profile_times *times)
{
    clo_free(times->of);
    times->of = NULL;
}
