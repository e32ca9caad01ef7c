/* releases.c - the order of executions over releases, made from a plan with an interval, and its counters. */
#include "engine/releases/releases.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/program/capacity_order.h"

#include <assert.h>
#include <string.h>

/* The place of an execution in a row: by offset in the interval; of those without length the later stage, which is the
 * earlier release, comes first, and then the graph's order. */
typedef struct seat {
    int64_t offset_ns, length_ns;
    uint32_t row, stage, position, execution;
} seat;

static bool sits_before(const seat *a, const seat *b)
{
    if (a->row != b->row)
        return a->row < b->row;
    if (a->offset_ns != b->offset_ns)
        return a->offset_ns < b->offset_ns;
    if (a->length_ns != b->length_ns)
        return a->length_ns < b->length_ns;
    if (a->stage != b->stage)
        return a->stage > b->stage;
    return a->position < b->position;
}

/* By merging, bottom up; qsort may allocate. Returns the array of the two that holds the result. */
static seat *sort_seats(seat *seats, seat *other, uint32_t count)
{
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * width) {
            uint64_t middle = first + width < count ? first + width : count;
            uint64_t end = middle + width < count ? middle + width : count, a = first, b = middle;
            for (uint64_t i = first; i < end; i++)
                other[i] = a < middle && (b == end || !sits_before(&seats[b], &seats[a])) ? seats[a++] : seats[b++];
        }
        seat *sorted = other;
        other = seats;
        seats = sorted;
    }
    return seats;
}

static uint32_t rows_of(const clo_flight *flight)
{
    return flight->room.first_row + flight->room.queues_count;
}

/* One on its executor, and one in the queue of each resource that is demanded. */
static clo_status fill_seats(clo_flight *flight, const clo_flight_config *config, const uint32_t *position, seat *seats)
{
    const clo_program *program = flight->program;

    for (size_t i = 0; i < config->count; i++) {
        const clo_placement *p = &config->placements[i];
        uint32_t execution = program->graph->first_instance[p->task] + p->instance;
        /* What takes no time at the end of an interval still belongs to it: clo_plan_in_flight counts no other one. */
        int64_t length_ns = p->finish_ns - p->start_ns, late_ns = length_ns == 0 && p->start_ns > 0;
        int64_t stage = (p->start_ns - late_ns) / config->interval_ns;
        if (stage >= flight->slots)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "releases_in_flight is %u, and the plan begins a task in interval %lld of "
                            "its release; allow more, or plan with clo_pipeline_config.releases_in_flight",
                            flight->slots, (long long)stage);
        flight->stages = stage >= flight->stages ? (uint32_t)stage + 1 : flight->stages;
        flight->stage[execution] = (uint32_t)stage;
        seat mine = {p->start_ns - stage * config->interval_ns,
                     length_ns,
                     p->executor,
                     (uint32_t)stage,
                     position[execution],
                     execution};
        *seats++ = mine;
        uint32_t machine = program->platform->executors[p->executor].machine;
        uint32_t bits = flight->room.first != NULL ? clo_turns_demanded(program, p->task, p->executor) : 0;
        for (; bits != 0; bits &= bits - 1) {
            mine.row = flight->room.first_row + machine * CLO_RESOURCES_MAX + (uint32_t)__builtin_ctz(bits);
            *seats++ = mine;
        }
    }
    return CLO_OK;
}

static void take_seat(clo_flight *flight, const seat *taken, uint32_t place)
{
    int64_t demand[CLO_RESOURCES_MAX];

    flight->turn[place] = taken->execution;
    flight->turn_first[taken->row + 1] = place + 1;
    if (taken->row < flight->room.first_row) {
        flight->place[taken->execution] = place;
        return;
    }
    clo_program_demand(flight->program, clo_program_task(flight->program, taken->execution), demand);
    clo_flight_room_fill(&flight->room, taken->execution, taken->row, place,
                         demand[(taken->row - flight->room.first_row) % CLO_RESOURCES_MAX]);
}

/* Nobody comes between an execution and itself in the next release. */
static void fill_free(clo_flight *flight)
{
    flight->stages = 1;
    for (uint32_t i = 0; i < flight->executions; i++) {
        flight->turn[i] = flight->place[i] = i;
        flight->turn_first[i + 1] = i + 1;
    }
}

static clo_status fill_turns(clo_flight *flight, const clo_flight_config *config, clo_arena *arena)
{
    const clo_graph *graph = flight->program->graph;
    uint32_t count = flight->executions + clo_flight_room_asks(&flight->room, flight->executions);
    seat *seats = clo_arena_take(arena, count, sizeof *seats);
    seat *other = clo_arena_take(arena, count, sizeof *other);
    uint32_t *position = clo_arena_take(arena, graph->instances, sizeof *position);

    if (seats == NULL || other == NULL || position == NULL)
        return clo_fail_memory("releases in flight");
    for (uint32_t i = 0; i < graph->instances; i++)
        position[graph->order[i]] = i;
    clo_status status = fill_seats(flight, config, position, seats);
    if (status != CLO_OK)
        return status;
    seats = sort_seats(seats, other, count);
    for (uint32_t i = 0; i < count; i++)
        take_seat(flight, &seats[i], i);
    for (uint32_t row = 0; row < rows_of(flight); row++)
        if (flight->turn_first[row + 1] < flight->turn_first[row])
            flight->turn_first[row + 1] = flight->turn_first[row];
    return CLO_OK;
}

/* An order of one release on one executor is kept by its turns. */
static bool is_kept_by_turns(const clo_flight *flight, uint32_t from, uint32_t to)
{
    const clo_program *program = flight->program;

    return !flight->is_free && from < program->executions && to < program->executions &&
           program->executor[from] == program->executor[to];
}

static void fill_rows(clo_flight *flight)
{
    const clo_program *program = flight->program;
    uint32_t count = 0;

    for (uint32_t row = 0; row < flight->entries; row++) {
        flight->succ_first[row] = count;
        for (uint32_t i = program->succ_first[row]; i < program->succ_first[row + 1]; i++) {
            uint32_t to = program->succ[i];
            if (is_kept_by_turns(flight, row, to))
                continue;
            flight->succ[count++] = to;
            flight->needs[to]++;
        }
    }
    flight->succ_first[flight->entries] = count;
    for (uint32_t execution = 0; execution < flight->executions; execution++)
        if (flight->needs[execution] == 0) {
            flight->gated[flight->gated_count++] = execution;
            flight->needs[execution]++;
        }
    for (uint32_t execution = 0; execution < flight->executions; execution++) /* the one before it in each row */
        flight->needs[execution] +=
            1 + (flight->room.first != NULL ? flight->room.first[execution + 1] - flight->room.first[execution] : 0);
}

/* Whether an end of `consumer` is what `producer` waits for before it writes again. */
static bool frees(const clo_flight *flight, uint32_t producer, uint32_t consumer)
{
    return flight->data.depth[producer] < flight->slots && !is_kept_by_turns(flight, producer, consumer);
}

static bool has_ring(const clo_flight *flight, uint32_t task)
{
    return clo_graph_output(flight->program->graph, task) > 0 && clo_program_barrier(flight->program, task) == CLO_NONE;
}

/* Producers of instances behind a barrier have as many buffers as there are slots: else each of n would wait for each
 * of m. */
static void fill_depths(clo_flight *flight, const uint32_t *depths)
{
    const clo_graph *graph = flight->program->graph;

    for (uint32_t execution = 0; execution < flight->executions; execution++) {
        uint32_t depth = depths != NULL ? depths[execution] : flight->slots, task = graph->task_of[execution];
        bool is_deep = depth > flight->slots || (clo_graph_output(graph, task) > 0 && !has_ring(flight, task));
        flight->data.depth[execution] = is_deep ? flight->slots : depth;
    }
}

/* Rows of consumers; counted first, then filled. */
static uint64_t fill_back(clo_flight *flight, bool fills)
{
    const clo_graph *graph = flight->program->graph;
    uint64_t count = 0;

    for (uint32_t task = 0; task < graph->tasks; task++)
        for (uint32_t consumer = graph->first_instance[task]; consumer < graph->first_instance[task + 1]; consumer++) {
            if (fills)
                flight->back_first[consumer] = (uint32_t)count;
            for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
                uint32_t from = clo_graph_source(graph, k);
                if (!has_ring(flight, from))
                    continue;
                for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++) {
                    if (!frees(flight, i, consumer))
                        continue;
                    if (fills) {
                        flight->back[count] = i;
                        flight->back_needs[i]++;
                        flight->needs[i]++;
                    }
                    count++;
                }
            }
        }
    if (fills)
        flight->back_first[flight->executions] = (uint32_t)count;
    return count;
}

static clo_status make_back(clo_flight *flight, clo_arena *arena)
{
    uint64_t count = fill_back(flight, false);

    if (count >= UINT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the plan has more than 2^32 data movements");
    flight->back = clo_arena_take(arena, (size_t)count, sizeof *flight->back);
    if (flight->back == NULL)
        return clo_fail_memory("releases in flight");
    (void)fill_back(flight, true);
    return CLO_OK;
}

static clo_status check(const clo_program *program, const clo_flight_config *config)
{
    const clo_graph *graph = program->graph;

    if (program->executions != program->instances)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "the plan has replicas; releases in flight run each task once: plan with clo_plan_pipeline");
    if (graph->data != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "the graph has handles, each with one buffer for all releases; releases in "
                        "flight need outputs (clo_task.output_bytes)");
    if (graph->modes != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "the graph has branches; releases in flight run every task: set releases_in_flight to 0");
    if (graph->may_pend)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "tasks may finish later (clo_task.may_pend), which releases in flight cannot; "
                        "set releases_in_flight to 0");
    if ((uint64_t)config->slots * (program->executions + program->barriers) >= UINT32_MAX / 2)
        return clo_fail(CLO_ERR_LIMIT, "%u releases in flight of %u tasks are more than 2^31; allow fewer",
                        config->slots, program->executions);
    return CLO_OK;
}

static clo_status allocate(clo_flight *flight, const clo_flight_config *config, clo_arena *arena)
{
    const clo_program *program = flight->program;
    size_t executions = flight->executions, entries = flight->entries, slots = flight->slots;
    size_t executors = program->platform->executors_count;
    clo_block block = {0};

    clo_carve(&block, &flight->succ_first, entries + 1);
    clo_carve(&block, &flight->succ, program->succ_first[entries]);
    clo_carve(&block, &flight->back_first, executions + 1);
    clo_carve(&block, &flight->turn_first, (size_t)rows_of(flight) + 1);
    clo_carve(&block, &flight->turn, executions + clo_flight_room_asks(&flight->room, flight->executions));
    clo_carve(&block, &flight->place, executions);
    clo_carve(&block, &flight->stage, executions);
    clo_carve(&block, &flight->gated, executions);
    clo_carve(&block, &flight->needs, entries);
    clo_carve(&block, &flight->back_needs, entries);
    clo_carve(&block, &flight->pending, slots * entries);
    clo_carve(&block, &flight->left, slots);
    clo_carve(&block, &flight->number, slots);
    clo_carve(&block, &flight->free_ns, executors);
    clo_carve(&block, &flight->data.depth, executions);
    if (flight->is_free)
        clo_carve(&block, &flight->data.ran_on, slots * executions);
    if (config->is_timed) {
        clo_carve(&block, &flight->gate_ns, slots);
        clo_carve(&block, &flight->finish_ns, slots * executions);
    }
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("releases in flight");
}

clo_status clo_flight_create(const clo_program *program, const clo_flight_config *config, clo_arena *arena,
                             clo_flight **out)
{
    clo_status status = check(program, config);
    clo_flight *flight = status == CLO_OK ? clo_arena_take(arena, 1, sizeof *flight) : NULL;

    if (status != CLO_OK)
        return status;
    if (flight == NULL)
        return clo_fail_memory("releases in flight");
    *flight = (clo_flight){.program = program,
                           .slots = config->slots,
                           .period_ns = config->period_ns,
                           .is_free = config->placements == NULL,
                           .executions = program->executions,
                           .entries = program->executions + program->barriers};
    flight->data.program = program;
    flight->data.slots = config->slots;
    if (flight->is_free)
        flight->room.first_row = flight->executions;
    else
        status = clo_flight_room_create(program, config->is_timed, arena, &flight->room);
    if (status == CLO_OK)
        status = allocate(flight, config, arena);
    if (status == CLO_OK && config->placements == NULL)
        fill_free(flight);
    else if (status == CLO_OK)
        status = fill_turns(flight, config, arena);
    if (status != CLO_OK)
        return status;
    fill_rows(flight);
    fill_depths(flight, config->depths);
    status = make_back(flight, arena);
    if (status == CLO_OK)
        status = clo_flight_data_create(&flight->data, config->has_data, config->copies, arena);
    if (status == CLO_OK)
        *out = flight;
    return status;
}

/* An execution in a release. */
typedef struct occasion {
    uint32_t execution;
    uint64_t release;
} occasion;

/* What comes in a row from place `place` of turn `turn` on: the next one whose release exists. */
static occasion next_occasion(const clo_flight *flight, uint32_t row, uint32_t place, uint64_t turn)
{
    uint32_t first = flight->turn_first[row], end = flight->turn_first[row + 1];

    for (;;) { /* ends: in turn `stages` at the latest all releases exist */
        if (place == end) {
            place = first;
            turn++;
        }
        uint32_t execution = flight->turn[place++];
        if (turn >= flight->stage[execution])
            return (occasion){execution, turn - flight->stage[execution]};
    }
}

static uint32_t hit(clo_flight *flight, uint32_t slot, uint32_t execution)
{
    bool is_ready = clo_countdown_hit(&flight->pending[(size_t)slot * flight->entries + execution]);

    return is_ready ? slot * flight->executions + execution : CLO_NONE;
}

static uint32_t hit_occasion(clo_flight *flight, occasion next)
{
    return hit(flight, (uint32_t)(next.release % flight->slots), next.execution);
}

/* The first releases have nobody before them: what such a one would give is given here. Never all that an execution
 * needs, for it waits for the gate or for an input. */
void clo_flight_begin(clo_flight *flight)
{
    uint64_t newest = 0;

    assert(flight->slots > 0);
    for (uint32_t slot = 0; slot < flight->slots; slot++) {
        newest = flight->number[slot] > newest ? flight->number[slot] : newest;
        flight->number[slot] = 0;
        clo_countdown_arm(&flight->left[slot], flight->executions);
        for (uint32_t entry = 0; entry < flight->entries; entry++) {
            clo_countdown *pending = &flight->pending[(size_t)slot * flight->entries + entry];
            clo_countdown_arm(pending, flight->needs[entry]);
            bool is_early = flight->back_needs[entry] > 0 && slot < flight->data.depth[entry];
            if (is_early && clo_countdown_hit_many(pending, flight->back_needs[entry]))
                assert(false);
        }
    }
    flight->data.rounds += newest + 2;
    clo_flight_room_begin(&flight->room);
    for (uint32_t row = 0; row < rows_of(flight); row++) {
        if (row < flight->program->platform->executors_count)
            flight->free_ns[row] = 0;
        if (flight->turn_first[row] == flight->turn_first[row + 1])
            continue;
        uint32_t item = hit_occasion(flight, next_occasion(flight, row, flight->turn_first[row], 0));
        assert(item == CLO_NONE);
        (void)item;
    }
}

int64_t clo_flight_end_ns(const clo_flight *flight, uint32_t slot)
{
    const int64_t *finish_ns = flight->finish_ns + (size_t)slot * flight->executions;
    int64_t ended_ns = 0;

    for (uint32_t i = 0; i < flight->executions; i++)
        ended_ns = finish_ns[i] > ended_ns ? finish_ns[i] : ended_ns;
    return ended_ns;
}

void clo_flight_open(clo_flight *flight, uint64_t release)
{
    uint32_t slot = (uint32_t)(release % flight->slots);

    if (flight->gate_ns != NULL) {
        int64_t ended_ns = release >= flight->slots ? clo_flight_end_ns(flight, slot) : 0; /* of who had the slot */
        int64_t due_ns = clo_flight_due_ns(flight, release);
        flight->gate_ns[slot] = ended_ns > due_ns ? ended_ns : due_ns;
    }
    flight->number[slot] = release;
}

uint32_t clo_flight_opened(clo_flight *flight, uint64_t release, uint32_t *cursor)
{
    while (*cursor < flight->gated_count) {
        uint32_t item = hit(flight, (uint32_t)(release % flight->slots), flight->gated[(*cursor)++]);
        if (item != CLO_NONE)
            return item;
    }
    return CLO_NONE;
}

/* The next entry of the row, or of that of a barrier in it; CLO_NONE: no more. */
static uint32_t released_here(clo_flight *flight, clo_flight_release *r)
{
    for (;;) { /* each turn takes an entry off, or ends a barrier's row */
        if (r->left == 0) {
            if (r->own_left == 0)
                return CLO_NONE;
            r->row = r->own_row;
            r->left = r->own_left;
            r->own_left = 0;
            continue;
        }
        uint32_t successor = *r->row++;
        r->left--;
        if (!clo_countdown_hit(&flight->pending[(size_t)r->slot * flight->entries + successor]))
            continue;
        if (successor < flight->executions)
            return r->slot * flight->executions + successor;
        r->own_row = r->row;
        r->own_left = r->left;
        r->row = flight->succ + flight->succ_first[successor];
        r->left = flight->succ_first[successor + 1] - flight->succ_first[successor];
    }
}

uint32_t clo_flight_released(clo_flight *flight, clo_flight_release *r)
{
    uint32_t item = released_here(flight, r);

    while (item == CLO_NONE && r->back < r->back_end) {
        uint32_t producer = flight->back[r->back++];
        uint64_t again = r->number + flight->data.depth[producer];
        item = hit(flight, (uint32_t)(again % flight->slots), producer);
    }
    if (item == CLO_NONE && !r->has_turned) {
        uint32_t row = flight->is_free ? r->execution : flight->program->executor[r->execution];
        r->has_turned = true;
        item = hit_occasion(flight, next_occasion(flight, row, flight->place[r->execution] + 1,
                                                  r->number + flight->stage[r->execution]));
    }
    return item;
}

uint32_t clo_flight_let_ask(clo_flight *flight, uint32_t item, uint32_t *cursor)
{
    const clo_flight_room *room = &flight->room;
    uint32_t execution = clo_flight_execution(flight, item), next = CLO_NONE;
    uint32_t count = room->first != NULL ? room->first[execution + 1] - room->first[execution] : 0;

    while (next == CLO_NONE && *cursor < count) {
        const clo_flight_ask *ask = &room->asks[room->first[execution] + (*cursor)++];
        uint64_t turn = flight->number[clo_flight_slot(flight, item)] + flight->stage[execution];
        next = hit_occasion(flight, next_occasion(flight, ask->row, ask->place + 1, turn));
    }
    return next;
}

/* When the consumers of the buffer that the execution writes have ended. Those on its own executor have. */
static int64_t freed_ns(const clo_flight *flight, uint32_t execution, uint64_t release)
{
    const clo_graph *graph = flight->program->graph;
    uint32_t task = graph->task_of[execution], depth = flight->data.depth[execution];
    int64_t freed_ns = 0;

    if (flight->back_needs[execution] == 0 || release < depth)
        return 0;
    size_t slot = (release - depth) % flight->slots;
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++)
            if (frees(flight, execution, i) && flight->finish_ns[slot * flight->executions + i] > freed_ns)
                freed_ns = flight->finish_ns[slot * flight->executions + i];
    return freed_ns;
}

static int64_t arrived_ns(const clo_flight *flight, uint32_t execution, uint32_t slot)
{
    const clo_program *program = flight->program;
    const int64_t *finish_ns = flight->finish_ns + (size_t)slot * flight->executions;
    clo_inputs inputs = clo_inputs_of(program, execution);
    uint32_t here = program->executor[execution];
    int64_t latest_ns = 0;

    while (clo_inputs_next(&inputs))
        for (uint32_t i = 0; i < inputs.count; i++) {
            uint32_t source = clo_inputs_source(&inputs, i);
            int64_t transfer_ns =
                clo_platform_transfer_ns(program->platform, inputs.bytes, program->executor[source], here);
            int64_t there_ns = clo_time_add(finish_ns[source], transfer_ns);
            latest_ns = there_ns > latest_ns ? there_ns : latest_ns;
        }
    return latest_ns;
}

clo_flight_span clo_flight_time(clo_flight *flight, uint32_t item, bool is_empty)
{
    const clo_program *program = flight->program;
    uint32_t execution = clo_flight_execution(flight, item), slot = clo_flight_slot(flight, item);
    uint32_t executor = program->executor[execution];
    int64_t length_ns = is_empty ? 0 : clo_cost_time(program->cost, clo_program_task(program, execution), executor);
    const int64_t waits_ns[] = {flight->gate_ns[slot], arrived_ns(flight, execution, slot),
                                freed_ns(flight, execution, flight->number[slot])};
    int64_t start_ns = flight->free_ns[executor];

    for (size_t i = 0; i < sizeof waits_ns / sizeof waits_ns[0] && !is_empty; i++)
        start_ns = waits_ns[i] > start_ns ? waits_ns[i] : start_ns;
    if (!is_empty && clo_flight_room_has(&flight->room, execution))
        start_ns = clo_flight_room_take(&flight->room, execution, start_ns, length_ns);
    clo_flight_span span = {start_ns, clo_time_add(start_ns, length_ns)};
    flight->free_ns[executor] = span.finish_ns;
    flight->finish_ns[item] = span.finish_ns;
    return span;
}
