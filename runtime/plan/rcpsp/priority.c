/* plan/rcpsp/priority.c - see priority.h. */
#include "plan/rcpsp/priority.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>

static clo_status place_next(clo_ready *ready, clo_heap *heap)
{
    uint32_t instance = (uint32_t)clo_heap_pop(heap).id;

    return clo_ready_place(ready, instance, clo_ready_earliest(ready, instance, true));
}

static clo_status dispatch_at_once(clo_ready *ready, const int64_t *keys)
{
    clo_status status = CLO_OK;
    uint32_t instance;

    for (uint32_t placed = 0; status == CLO_OK && placed < ready->schedule->graph->instances; placed++) {
        while (clo_ready_next(ready, &instance))
            clo_heap_push(&ready->heap, keys[instance], instance);
        status = place_next(ready, &ready->heap);
    }
    return status;
}

/* Into ready->heap by the time when it becomes executable; from there into `now` by its key. */
static void take_executable(clo_ready *ready, clo_heap *now, const int64_t *keys, int64_t clock_ns)
{
    uint32_t instance;

    while (clo_ready_next(ready, &instance))
        clo_heap_push(&ready->heap, clo_schedule_producers_ns(ready->schedule, instance), instance);
    while (ready->heap.count > 0 && ready->heap.items[0].key <= clock_ns) {
        uint64_t id = clo_heap_pop(&ready->heap).id;
        clo_heap_push(now, keys[id], id);
    }
}

/* Ends: each round places an instance, or moves the clock to where one becomes executable or an executor idle. */
static clo_status dispatch_by_clock(clo_ready *ready, clo_heap *now, const int64_t *keys)
{
    int64_t clock_ns = 0;
    clo_status status = CLO_OK;

    for (uint32_t placed = 0; status == CLO_OK && placed < ready->schedule->graph->instances;) {
        take_executable(ready, now, keys, clock_ns);
        int64_t idle_ns = clo_ready_first_idle_ns(ready);
        if (now->count > 0 && idle_ns <= clock_ns) {
            status = place_next(ready, now);
            placed++;
            continue;
        }
        int64_t next_ns = now->count > 0 ? idle_ns : INT64_MAX;
        if (ready->heap.count > 0 && ready->heap.items[0].key < next_ns)
            next_ns = ready->heap.items[0].key;
        assert(next_ns > clock_ns);
        assert(next_ns < INT64_MAX);
        clock_ns = next_ns;
    }
    return status;
}

clo_status clo_priority_dispatch(clo_schedule *schedule, const int64_t *keys, bool by_clock)
{
    clo_ready ready;
    clo_heap now = {.capacity = schedule->graph->instances};
    clo_status status = clo_ready_open(&ready, schedule);

    if (status != CLO_OK)
        return status;
    now.items = clo_allocate(by_clock ? now.capacity : 0, sizeof *now.items);
    if (now.items == NULL)
        status = clo_fail_memory("a plan");
    else
        status = by_clock ? dispatch_by_clock(&ready, &now, keys) : dispatch_at_once(&ready, keys);
    clo_free(now.items);
    clo_ready_close(&ready);
    return status;
}

static clo_status pack(const clo_rcpsp *problem, const int64_t *keys, clo_priority_order way, clo_schedule *schedule)
{
    clo_rcpsp_builder builder;
    clo_packing packing;
    bool is_serial = way == CLO_PRIORITY_SERIAL || way == CLO_PRIORITY_SERIAL_BACKWARD;
    int direction = way == CLO_PRIORITY_SERIAL || way == CLO_PRIORITY_PARALLEL ? CLO_RCPSP_FORWARD : CLO_RCPSP_BACKWARD;
    clo_status status = clo_rcpsp_builder_open(&builder, problem);

    if (status != CLO_OK)
        return status;
    status = clo_packing_open(&packing, problem);
    if (status == CLO_OK) {
        if (is_serial)
            clo_rcpsp_serial(&builder, direction, keys, &packing);
        else
            clo_rcpsp_parallel(&builder, direction, keys, &packing);
        status = clo_rcpsp_realise(problem, &packing, direction, schedule);
        clo_packing_close(&packing);
    }
    clo_rcpsp_builder_close(&builder);
    return status;
}

clo_status clo_priority_fill(clo_schedule *schedule, const int64_t *keys, clo_priority_order way)
{
    clo_rcpsp problem;
    clo_status status = clo_rcpsp_open(&problem, schedule->cost);

    if (status == CLO_OK)
        status = pack(&problem, keys, way, schedule);
    else if (status == CLO_ERR_UNSUPPORTED)
        status = clo_priority_dispatch(schedule, keys,
                                       way == CLO_PRIORITY_PARALLEL || way == CLO_PRIORITY_PARALLEL_BACKWARD);
    clo_rcpsp_close(&problem);
    return status;
}
