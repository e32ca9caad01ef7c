/* plan/rcpsp/priority.c - see packing.h. The dispatch by a clock is the one of dispatch.c with keys in place of rules. */
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

    for (uint32_t placed = 0; status == CLO_OK && placed < ready->draft->graph->instances; placed++) {
        while (clo_ready_next(ready, &instance))
            clo_heap_push(&ready->heap, keys[instance], instance);
        status = place_next(ready, &ready->heap);
    }
    return status;
}

static int64_t producers_end_ns(const clo_draft *draft, uint32_t instance)
{
    int64_t latest = 0;

    for (uint32_t arc = draft->graph->pred_first[instance]; arc < draft->graph->pred_first[instance + 1]; arc++) {
        int64_t finish = draft->copies[draft->first_copy[draft->graph->pred[arc]]].finish_ns;
        latest = finish > latest ? finish : latest;
    }
    return latest;
}

/* Into ready->heap by the time when it becomes executable; from there into `now` by its key. */
static void take_executable(clo_ready *ready, clo_heap *now, const int64_t *keys, int64_t clock_ns)
{
    uint32_t instance;

    while (clo_ready_next(ready, &instance))
        clo_heap_push(&ready->heap, producers_end_ns(ready->draft, instance), instance);
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

    for (uint32_t placed = 0; status == CLO_OK && placed < ready->draft->graph->instances;) {
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

clo_status clo_packing_dispatch(clo_draft *draft, const int64_t *keys, bool by_clock)
{
    clo_ready ready;
    clo_heap now = {.capacity = draft->graph->instances};
    clo_status status = clo_ready_open(&ready, draft);

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

static clo_status pack(const clo_pool *pool, const int64_t *keys, clo_packing_way way, clo_draft *draft)
{
    clo_pool_builder builder;
    clo_pool_schedule schedule;
    bool is_serial = way == CLO_PACKING_SERIAL || way == CLO_PACKING_SERIAL_BACKWARD;
    int direction = way == CLO_PACKING_SERIAL || way == CLO_PACKING_PARALLEL ? CLO_POOL_FORWARD : CLO_POOL_BACKWARD;
    clo_status status = clo_pool_builder_open(&builder, pool);

    if (status != CLO_OK)
        return status;
    status = clo_pool_schedule_open(&schedule, pool);
    if (status == CLO_OK) {
        if (is_serial)
            clo_pool_serial(&builder, direction, keys, &schedule);
        else
            clo_pool_parallel(&builder, direction, keys, &schedule);
        status = clo_pool_realise(pool, &schedule, direction, draft);
        clo_pool_schedule_close(&schedule);
    }
    clo_pool_builder_close(&builder);
    return status;
}

clo_status clo_packing_fill(clo_draft *draft, const int64_t *keys, clo_packing_way way)
{
    clo_pool pool;
    clo_status status = clo_pool_open(&pool, draft->cost);

    if (status == CLO_OK)
        status = pack(&pool, keys, way, draft);
    else if (status == CLO_ERR_UNSUPPORTED)
        status = clo_packing_dispatch(draft, keys, way == CLO_PACKING_PARALLEL || way == CLO_PACKING_PARALLEL_BACKWARD);
    clo_pool_close(&pool);
    return status;
}
