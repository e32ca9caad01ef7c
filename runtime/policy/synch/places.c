/* places.c - see places.h. */
#include "policy/synch/places.h"

#include "base/numbers/saturate.h"
#include "policy/packing/packing.h"

#include <string.h>

enum { FREE_MAX = 1024 };

static void pool(clo_synch_places *places)
{
    const clo_platform *platform = places->platform;

    places->count = places->domains = 1;
    places->domain_of[0] = 0;
    places->size[0] = platform->executors_count;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t *sum = &places->capacity[0][r];
        *sum = 0;
        for (uint32_t m = 0; m < platform->machines_count && *sum >= 0; m++) {
            int64_t capacity = platform->capacities[(size_t)m * CLO_RESOURCES_MAX + r];
            *sum = capacity < 0 ? -1 : clo_time_add(*sum, capacity);
        }
    }
}

static uint32_t find(const clo_synch_places *places, uint32_t machine, uint32_t kind)
{
    uint32_t p = 0;

    while (p < places->count && (places->machine[p] != machine || places->kind[p] != kind))
        p++;
    return p;
}

/* The domain of the machine, which may be new. */
static uint32_t domain_for(clo_synch_places *places, uint32_t machine)
{
    for (uint32_t p = 0; p < places->count; p++)
        if (places->machine[p] == machine)
            return places->domain_of[p];
    memcpy(places->capacity[places->domains], &places->platform->capacities[(size_t)machine * CLO_RESOURCES_MAX],
           sizeof places->capacity[0]);
    return places->domains++;
}

void clo_synch_places_open(clo_synch_places *places, const clo_platform *platform)
{
    *places = (clo_synch_places){.platform = platform};
    for (uint32_t e = 0; e < platform->executors_count; e++) {
        uint32_t machine = platform->executors[e].machine, kind = platform->executors[e].kind;
        uint32_t p = find(places, machine, kind);
        if (p == CLO_SYNCH_PLACES_MAX) {
            pool(places);
            return;
        }
        if (p == places->count) {
            places->domain_of[p] = domain_for(places, machine);
            places->machine[p] = machine;
            places->kind[p] = kind;
            places->count++;
        }
        places->size[p]++;
    }
}

uint32_t clo_synch_place_of(const clo_synch_places *places, uint32_t executor)
{
    const clo_executor *row = &places->platform->executors[executor];

    return places->count == 1 ? 0 : find(places, row->machine, row->kind);
}

int64_t clo_synch_part(int64_t a, int64_t b, int64_t c)
{
    if (c <= 0)
        return INT64_MAX / 4;
    clo_u128 part = (clo_u128)a * (clo_u128)b / (clo_u128)c;

    return part > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)part;
}

int64_t clo_synch_demand(const clo_cost *cost, uint32_t task, uint32_t resource)
{
    const int64_t *demand = clo_graph_demand(cost->graph, task);
    int64_t sum = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (cost->resource_of[r] == resource)
            sum = clo_time_add(sum, demand[r]);
    return sum;
}

/* -1: more than there is. */
static int64_t share_of(const clo_synch_places *places, const clo_cost *cost, uint32_t task, uint32_t domain)
{
    int64_t most = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = places->capacity[domain][r], demand = clo_synch_demand(cost, task, r);
        if (capacity < 0 || demand == 0)
            continue;
        if (demand > capacity)
            return -1;
        int64_t share = clo_synch_part(demand, 65536, capacity);
        most = share > most ? share : most;
    }
    return most;
}

int64_t clo_synch_share_q16(const clo_synch_places *places, const clo_cost *cost, uint32_t task, uint32_t domain)
{
    int64_t share = share_of(places, cost, task, domain);

    return share < 0 ? 65536 : share;
}

/* Sizes of the arrays of a job. */
static size_t cells(const clo_cost *cost, const clo_synch_places *places)
{
    return (size_t)cost->graph->tasks * places->count;
}

size_t clo_synch_job_bytes(const clo_cost *cost, const void *argument)
{
    clo_synch_places places;
    size_t tasks = cost->graph->tasks;

    (void)argument;
    clo_synch_places_open(&places, cost->platform);
    return sizeof(clo_synch_job) + (cells(cost, &places) + tasks) * sizeof(int64_t) +
           (cells(cost, &places) + 2 * tasks) * sizeof(uint32_t);
}

static void fill_task(clo_synch_job *job, const clo_cost *cost, const clo_synch_places *places, uint32_t task)
{
    int64_t *time_ns = &job->time_ns[(size_t)task * places->count];
    uint32_t best = CLO_NONE;

    for (uint32_t p = 0; p < places->count; p++) {
        if (share_of(places, cost, task, places->domain_of[p]) < 0)
            time_ns[p] = CLO_TIME_NEVER;
        if (time_ns[p] != CLO_TIME_NEVER && (best == CLO_NONE || time_ns[p] < time_ns[best]))
            best = p;
    }
    job->fastest[task] = best;
    if (best == CLO_NONE)
        return;
    int64_t by_share = clo_synch_part(time_ns[best], share_of(places, cost, task, places->domain_of[best]), 65536);
    int64_t by_executor = time_ns[best] / places->size[best];
    job->load_ns[task] = (by_share > by_executor ? by_share : by_executor) + 1;
}

clo_status clo_synch_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    clo_synch_job *job = job_state;
    uint32_t tasks = cost->graph->tasks;
    clo_synch_places places;

    (void)argument;
    clo_synch_places_open(&places, cost->platform);
    job->time_ns = (int64_t *)(void *)(job + 1);
    job->load_ns = job->time_ns + cells(cost, &places);
    job->fastest = (uint32_t *)(job->load_ns + tasks);
    job->queued = job->fastest + tasks;
    for (size_t i = 0; i < cells(cost, &places); i++)
        job->time_ns[i] = CLO_TIME_NEVER;
    for (uint32_t e = 0; e < cost->platform->executors_count; e++) {
        uint32_t place = clo_synch_place_of(&places, e);
        for (uint32_t t = 0; t < tasks; t++) {
            int64_t *least = &job->time_ns[(size_t)t * places.count + place], time_ns = clo_cost_time(cost, t, e);
            *least = time_ns < *least ? time_ns : *least;
        }
    }
    for (uint32_t t = 0; t < tasks; t++)
        fill_task(job, cost, &places, t);
    return CLO_OK;
}

uint32_t clo_synch_executor(const clo_view *view, const clo_synch_places *places, const uint32_t *place_of,
                            clo_ready_stage stage, uint32_t place, const int64_t *kept_ns)
{
    const clo_cost *cost = clo_view_job(view, stage.job)->cost;
    uint32_t best = CLO_NONE, full = CLO_NONE, looks = 0; /* full: the machine that had no room last */
    int64_t best_ns = CLO_TIME_NEVER, now_ns = clo_view_now_ns(view);

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE && looks < FREE_MAX;
         e = clo_view_next_free(view, e), looks++) {
        uint32_t machine = places->platform->executors[e].machine;
        if ((place != CLO_NONE && place_of[e] != place) || machine == full)
            continue;
        int64_t time_ns = clo_cost_time(cost, stage.stage, e);
        if (time_ns >= best_ns ||
            (kept_ns != NULL && clo_time_add(now_ns, time_ns) > kept_ns[places->domain_of[place_of[e]]]))
            continue;
        if (!clo_packing_has_room(view, cost, stage.stage, machine) ||
            !clo_view_fits(view, stage.job, stage.stage, e)) {
            full = machine;
            continue;
        }
        best = e;
        best_ns = time_ns;
    }
    return best;
}
