/* live.c - see live.h. */
#include "policy/synch/live.h"

#include "base/numbers/saturate.h"

#include <string.h>

#define WEIGHT_ONE (INT64_C(1) << 24)

enum { LEVELS = 3, TASKS_A_STEP = 8, CELLS_A_STEP = 16 };

/* Bins of a platform; with the levels, if so many are too many without them, and then without resources. */
static uint32_t fill_bins(const clo_synch_places *places, uint32_t levels, bool has_resources, clo_synch_bin *bins)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < places->count; p++)
        bins[count++] = (clo_synch_bin){p, CLO_NONE, 0};
    for (uint32_t d = 0; d < places->domains && has_resources; d++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            for (uint32_t level = 0; level <= levels && places->capacity[d][r] > 0; level++) {
                if (count == CLO_SYNCH_BINS_MAX)
                    return CLO_NONE;
                bins[count++] = (clo_synch_bin){d, r, level};
            }
    return count;
}

static uint32_t choose_bins(const clo_synch_places *places, clo_synch_bin *bins)
{
    uint32_t count = fill_bins(places, LEVELS, true, bins);

    if (count == CLO_NONE)
        count = fill_bins(places, 0, true, bins);
    return count != CLO_NONE ? count : fill_bins(places, 0, false, bins);
}

static uint32_t ranked_of(const clo_limits *limits)
{
    return limits->jobs < CLO_SYNCH_RANKED_MAX ? limits->jobs : CLO_SYNCH_RANKED_MAX;
}

size_t clo_synch_live_bytes(const clo_limits *limits)
{
    clo_synch_bin bins[CLO_SYNCH_BINS_MAX];
    clo_synch_places places;

    clo_synch_places_open(&places, limits->platform);
    size_t ranked = ranked_of(limits), cells = ranked * choose_bins(&places, bins);
    size_t bytes = sizeof(clo_synch_live) + (cells + ranked) * sizeof(int64_t) +
                   limits->jobs * (sizeof(clo_heap_item) + sizeof(uint64_t) + sizeof(uint32_t)) +
                   (limits->executors + ranked) * sizeof(uint32_t);
    return (bytes + 7) / 8 * 8;
}

void clo_synch_live_open(clo_synch_live *live, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);

    clo_synch_places_open(&live->places, limits->platform);
    live->bins_count = choose_bins(&live->places, live->bins);
    live->jobs = limits->jobs;
    live->ranked_max = ranked_of(limits);
    live->load = (int64_t *)(void *)(live + 1);
    live->left = live->load + (size_t)live->ranked_max * live->bins_count;
    live->by_smith =
        (clo_heap){.items = (clo_heap_item *)(void *)(live->left + live->ranked_max), .capacity = limits->jobs};
    live->id = (uint64_t *)(void *)(live->by_smith.items + limits->jobs);
    live->order = (uint32_t *)(void *)(live->id + limits->jobs);
    live->member = live->order + limits->jobs;
    live->place_of = live->member + live->ranked_max;
    for (uint32_t e = 0; e < limits->executors; e++)
        live->place_of[e] = clo_synch_place_of(&live->places, e);
}

/* Takes out those that have ended. */
static void compact(clo_synch_live *live, const clo_view *view)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < live->count; i++)
        if (clo_synch_live_job(live, view, i) != NULL) {
            live->order[kept] = live->order[i];
            live->id[kept++] = live->id[i];
        }
    live->count = kept;
}

static void arrive(clo_synch_live *live, const clo_view *view, uint32_t slot)
{
    const clo_live_job *row = clo_view_job(view, slot);
    clo_synch_job *job = clo_synch_job_of(view, slot);

    job->rest_ns = 0;
    for (uint32_t t = 0; t < row->cost->graph->tasks; t++)
        job->rest_ns =
            clo_time_add(job->rest_ns, clo_time_mul(job->load_ns[t], clo_view_stage(view, slot, t)->unstarted));
    if (live->count == live->jobs)
        compact(live, view);
    live->order[live->count] = slot;
    live->id[live->count++] = row->id;
    live->is_stale = true;
}

void clo_synch_live_event(clo_synch_live *live, const clo_view *view, const clo_event *event)
{
    if (event->job == CLO_NONE)
        return;
    if (event->kind == CLO_EVENT_ARRIVE)
        arrive(live, view, event->job);
    if (event->kind != CLO_EVENT_START)
        return;
    clo_synch_job *job = clo_synch_job_of(view, event->job);
    int64_t less = clo_time_mul(job->load_ns[event->stage], event->count);
    job->rest_ns -= less < job->rest_ns ? less : job->rest_ns;
}

/* What an instance takes of the bin's resource, of `capacity`: at level k all that is more than a part in k + 1 counts as
 * parts in k. */
static int64_t use_of(int64_t demand, int64_t capacity, uint32_t level)
{
    if (level == 0)
        return demand;
    int64_t whole = capacity / level, times = clo_time_mul(level + 1, demand);
    if (whole == 0)
        return demand;
    return times % whole == 0 ? clo_time_mul(demand, level) : times / whole * whole;
}

/* What work_ns of the task is on the bin. */
static int64_t load_on(const clo_synch_live *live, const clo_cost *cost, uint32_t task, int64_t work_ns,
                       const clo_synch_bin *bin)
{
    if (bin->resource == CLO_NONE)
        return work_ns / live->places.size[bin->at];
    int64_t capacity = live->places.capacity[bin->at][bin->resource];
    return clo_synch_part(work_ns, use_of(clo_synch_demand(cost, task, bin->resource), capacity, bin->level), capacity);
}

static void add_task(clo_synch_live *live, const clo_live_job *row, const clo_synch_job *job, uint32_t task,
                     uint32_t count, int64_t *load)
{
    const clo_synch_places *places = &live->places;
    const int64_t *time_ns = &job->time_ns[(size_t)task * places->count];
    uint32_t ties = 0;

    if (job->fastest[task] == CLO_NONE || count == 0)
        return;
    int64_t fastest_ns = time_ns[job->fastest[task]];
    for (uint32_t p = 0; p < places->count; p++)
        ties += time_ns[p] == fastest_ns;
    if (ties == 0)
        return;
    int64_t work_ns = clo_time_mul(fastest_ns, count) / ties;
    for (uint32_t p = 0; p < places->count; p++)
        for (uint32_t b = 0; b < live->bins_count && time_ns[p] == fastest_ns; b++) {
            const clo_synch_bin *bin = &live->bins[b];
            if (bin->at == (bin->resource == CLO_NONE ? p : places->domain_of[p]))
                load[b] = clo_time_add(load[b], load_on(live, row->cost, task, work_ns, bin));
        }
}

/* The loads of the members. False: the decision has reached its bound. */
static bool find_loads(clo_synch_live *live, const clo_view *view, uint32_t count)
{
    memset(live->total, 0, sizeof live->total);
    for (uint32_t i = 0; i < count; i++) {
        const clo_live_job *row = clo_view_job(view, live->member[i]);
        const clo_synch_job *job = row->state;
        int64_t *load = &live->load[(size_t)i * live->bins_count];
        if (!clo_view_steps(view, row->cost->graph->tasks / TASKS_A_STEP + live->bins_count / CELLS_A_STEP + 1))
            return false;
        memset(load, 0, live->bins_count * sizeof *load);
        for (uint32_t t = 0; t < row->cost->graph->tasks; t++)
            add_task(live, row, job, t, clo_view_stage(view, live->member[i], t)->unstarted, load);
        live->left[i] = clo_time_mul(row->weight, WEIGHT_ONE);
        for (uint32_t b = 0; b < live->bins_count; b++)
            live->total[b] = clo_time_add(live->total[b], load[b]);
    }
    return true;
}

/* Is a's weight per load less than b's? Loads > 0. */
static bool is_lighter(const clo_synch_live *live, uint32_t a, uint32_t b, uint32_t bin)
{
    return (clo_u128)live->left[a] * (clo_u128)live->load[(size_t)b * live->bins_count + bin] <
           (clo_u128)live->left[b] * (clo_u128)live->load[(size_t)a * live->bins_count + bin];
}

/* The member that goes last of those that are left; of those without load there, the last one. */
static uint32_t choose_last(const clo_synch_live *live, uint32_t count, uint32_t bin)
{
    uint32_t best = CLO_NONE, any = CLO_NONE;

    for (uint32_t i = 0; i < count; i++) {
        if (live->member[i] == CLO_NONE)
            continue;
        any = i;
        if (live->load[(size_t)i * live->bins_count + bin] > 0 && (best == CLO_NONE || is_lighter(live, i, best, bin)))
            best = i;
    }
    return best != CLO_NONE ? best : any;
}

static void place_last(clo_synch_live *live, uint32_t count, uint32_t last, uint32_t bin)
{
    const int64_t *load = &live->load[(size_t)last * live->bins_count];
    int64_t weight = live->left[last];

    live->member[last] = CLO_NONE;
    for (uint32_t b = 0; b < live->bins_count; b++)
        live->total[b] -= load[b] < live->total[b] ? load[b] : live->total[b];
    for (uint32_t i = 0; i < count && load[bin] > 0; i++)
        if (live->member[i] != CLO_NONE) {
            int64_t less = clo_synch_part(weight, live->load[(size_t)i * live->bins_count + bin], load[bin]);
            live->left[i] -= less < live->left[i] ? less : live->left[i];
        }
}

/* Fills order[0 .. count) by the reverse rule. */
static void reverse(clo_synch_live *live, const clo_view *view, uint32_t count)
{
    for (uint32_t place = count; place > 0; place--) {
        uint32_t bin = 0;
        for (uint32_t b = 1; b < live->bins_count; b++)
            if (live->total[b] > live->total[bin])
                bin = b;
        uint32_t last = choose_last(live, count, bin);
        live->order[place - 1] = live->member[last];
        live->id[place - 1] = clo_view_job(view, live->member[last])->id;
        place_last(live, count, last, bin);
    }
}

bool clo_synch_live_sort(clo_synch_live *live, const clo_view *view)
{
    if (!live->is_stale)
        return true;
    if (!clo_view_steps(view, live->count + 1))
        return false;
    compact(live, view);
    live->by_smith.count = 0;
    for (uint32_t i = 0; i < live->count; i++) {
        const clo_live_job *job = clo_synch_live_job(live, view, i);
        clo_heap_push(&live->by_smith, job->remaining_ns / job->weight, (job->id << 24) | live->order[i]);
    }
    for (uint32_t i = 0; i < live->count; i++) {
        live->order[i] = (uint32_t)(clo_heap_pop(&live->by_smith).id & 0xffffff);
        live->id[i] = clo_view_job(view, live->order[i])->id;
    }
    uint32_t count = live->count < live->ranked_max ? live->count : live->ranked_max;
    memcpy(live->member, live->order, count * sizeof *live->member);
    live->is_stale = false;
    uint64_t steps = (uint64_t)count * (count + live->bins_count) / CELLS_A_STEP;
    if (!find_loads(live, view, count) || !clo_view_steps(view, steps))
        return false;
    reverse(live, view, count);
    return true;
}
