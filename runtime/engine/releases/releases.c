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

static uint32_t rows_of(const clo_releases *releases)
{
    return releases->room.first_row + releases->room.queues_count;
}

/* One on its executor, and one in the queue of each resource that is demanded. */
static clo_status fill_seats(clo_releases *releases, const clo_releases_config *config, const uint32_t *position,
                             seat *seats)
{
    const clo_program *program = releases->program;

    for (size_t i = 0; i < config->count; i++) {
        const clo_placement *p = &config->placements[i];
        uint32_t execution = program->graph->first_instance[p->task] + p->instance;
        /* What takes no time at the end of an interval still belongs to it: clo_plan_in_flight counts no other one. */
        int64_t length_ns = p->finish_ns - p->start_ns, late_ns = length_ns == 0 && p->start_ns > 0;
        int64_t stage = (p->start_ns - late_ns) / config->interval_ns;
        if (stage >= releases->slots)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "releases_in_flight is %u, and the plan begins a task in interval %lld of "
                            "its release; allow more, or plan with clo_pipeline_config.releases_in_flight",
                            releases->slots, (long long)stage);
        releases->stages = stage >= releases->stages ? (uint32_t)stage + 1 : releases->stages;
        releases->stage[execution] = (uint32_t)stage;
        seat mine = {p->start_ns - stage * config->interval_ns,
                     length_ns,
                     p->executor,
                     (uint32_t)stage,
                     position[execution],
                     execution};
        *seats++ = mine;
        uint32_t machine = program->platform->executors[p->executor].machine;
        uint32_t bits = releases->room.first != NULL ? clo_capacity_order_demanded(program, p->task, p->executor) : 0;
        for (; bits != 0; bits &= bits - 1) {
            mine.row = releases->room.first_row + machine * CLO_RESOURCES_MAX + (uint32_t)__builtin_ctz(bits);
            *seats++ = mine;
        }
    }
    return CLO_OK;
}

static void take_seat(clo_releases *releases, const seat *taken, uint32_t place)
{
    int64_t demand[CLO_RESOURCES_MAX];

    releases->turn[place] = taken->execution;
    releases->turn_first[taken->row + 1] = place + 1;
    if (taken->row < releases->room.first_row) {
        releases->place[taken->execution] = place;
        return;
    }
    clo_program_demand(releases->program, clo_program_task(releases->program, taken->execution), demand);
    clo_releases_capacity_fill(&releases->room, taken->execution, taken->row, place,
                               demand[(taken->row - releases->room.first_row) % CLO_RESOURCES_MAX]);
}

/* Nobody comes between an execution and itself in the next release. */
static void fill_free(clo_releases *releases)
{
    releases->stages = 1;
    for (uint32_t i = 0; i < releases->executions; i++) {
        releases->turn[i] = releases->place[i] = i;
        releases->turn_first[i + 1] = i + 1;
    }
}

static clo_status fill_turns(clo_releases *releases, const clo_releases_config *config, clo_arena *arena)
{
    const clo_graph *graph = releases->program->graph;
    uint32_t count = releases->executions + clo_releases_capacity_asks(&releases->room, releases->executions);
    seat *seats = clo_arena_take(arena, count, sizeof *seats);
    seat *other = clo_arena_take(arena, count, sizeof *other);
    uint32_t *position = clo_arena_take(arena, graph->instances, sizeof *position);

    if (seats == NULL || other == NULL || position == NULL)
        return clo_fail_memory("releases in flight");
    for (uint32_t i = 0; i < graph->instances; i++)
        position[graph->order[i]] = i;
    clo_status status = fill_seats(releases, config, position, seats);
    if (status != CLO_OK)
        return status;
    seats = sort_seats(seats, other, count);
    for (uint32_t i = 0; i < count; i++)
        take_seat(releases, &seats[i], i);
    for (uint32_t row = 0; row < rows_of(releases); row++)
        if (releases->turn_first[row + 1] < releases->turn_first[row])
            releases->turn_first[row + 1] = releases->turn_first[row];
    return CLO_OK;
}

/* An order of one release on one executor is kept by its turns. */
static bool is_kept_by_turns(const clo_releases *releases, uint32_t from, uint32_t to)
{
    const clo_program *program = releases->program;

    return !releases->is_free && from < program->executions && to < program->executions &&
           program->executor[from] == program->executor[to];
}

static void fill_rows(clo_releases *releases)
{
    const clo_program *program = releases->program;
    uint32_t count = 0;

    for (uint32_t row = 0; row < releases->entries; row++) {
        releases->succ_first[row] = count;
        for (uint32_t i = program->succ_first[row]; i < program->succ_first[row + 1]; i++) {
            uint32_t to = program->succ[i];
            if (is_kept_by_turns(releases, row, to))
                continue;
            releases->succ[count++] = to;
            releases->needs[to]++;
        }
    }
    releases->succ_first[releases->entries] = count;
    for (uint32_t execution = 0; execution < releases->executions; execution++)
        if (releases->needs[execution] == 0) {
            releases->gated[releases->gated_count++] = execution;
            releases->needs[execution]++;
        }
    for (uint32_t execution = 0; execution < releases->executions; execution++) /* the one before it in each row */
        releases->needs[execution] +=
            1 +
            (releases->room.first != NULL ? releases->room.first[execution + 1] - releases->room.first[execution] : 0);
}

/* Whether an end of `consumer` is what `producer` waits for before it writes again. */
static bool frees(const clo_releases *releases, uint32_t producer, uint32_t consumer)
{
    return releases->data.depth[producer] < releases->slots && !is_kept_by_turns(releases, producer, consumer);
}

static bool has_ring(const clo_releases *releases, uint32_t task)
{
    return clo_graph_output(releases->program->graph, task) > 0 &&
           clo_program_barrier(releases->program, task) == CLO_NONE;
}

/* Producers of instances behind a barrier have as many buffers as there are slots: else each of n would wait for each
 * of m. */
static void fill_depths(clo_releases *releases, const uint32_t *depths)
{
    const clo_graph *graph = releases->program->graph;

    for (uint32_t execution = 0; execution < releases->executions; execution++) {
        uint32_t depth = depths != NULL ? depths[execution] : releases->slots, task = graph->task_of[execution];
        bool is_deep = depth > releases->slots || (clo_graph_output(graph, task) > 0 && !has_ring(releases, task));
        releases->data.depth[execution] = is_deep ? releases->slots : depth;
    }
}

/* Rows of consumers; counted first, then filled. */
static uint64_t fill_back(clo_releases *releases, bool fills)
{
    const clo_graph *graph = releases->program->graph;
    uint64_t count = 0;

    for (uint32_t task = 0; task < graph->tasks; task++)
        for (uint32_t consumer = graph->first_instance[task]; consumer < graph->first_instance[task + 1]; consumer++) {
            if (fills)
                releases->back_first[consumer] = (uint32_t)count;
            for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
                uint32_t from = clo_graph_source(graph, k);
                if (!has_ring(releases, from))
                    continue;
                for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++) {
                    if (!frees(releases, i, consumer))
                        continue;
                    if (fills) {
                        releases->back[count] = i;
                        releases->back_needs[i]++;
                        releases->needs[i]++;
                    }
                    count++;
                }
            }
        }
    if (fills)
        releases->back_first[releases->executions] = (uint32_t)count;
    return count;
}

static clo_status make_back(clo_releases *releases, clo_arena *arena)
{
    uint64_t count = fill_back(releases, false);

    if (count >= UINT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the plan has more than 2^32 data movements");
    releases->back = clo_arena_take(arena, (size_t)count, sizeof *releases->back);
    if (releases->back == NULL)
        return clo_fail_memory("releases in flight");
    (void)fill_back(releases, true);
    return CLO_OK;
}

static clo_status check(const clo_program *program, const clo_releases_config *config)
{
    const clo_graph *graph = program->graph;

    if (program->executions != program->instances)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the plan has replicas; releases in flight run each task once: plan with clo_plan_pipeline");
    if (graph->data != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the graph has handles, each with one buffer for all releases; releases in "
                                          "flight need outputs (clo_task.output_bytes)");
    if (graph->control_flow != NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the graph has branches; releases in flight run every task: set releases_in_flight to 0");
    if ((uint64_t)config->slots * (program->executions + program->barriers) >= UINT32_MAX / 2)
        return clo_fail(CLO_ERR_LIMIT, "%u releases in flight of %u tasks are more than 2^31; allow fewer",
                        config->slots, program->executions);
    return CLO_OK;
}

static clo_status allocate(clo_releases *releases, const clo_releases_config *config, clo_arena *arena)
{
    const clo_program *program = releases->program;
    size_t executions = releases->executions, entries = releases->entries, slots = releases->slots;
    size_t executors = program->platform->executors_count;
    clo_block block = {0};

    clo_carve(&block, &releases->succ_first, entries + 1);
    clo_carve(&block, &releases->succ, program->succ_first[entries]);
    clo_carve(&block, &releases->back_first, executions + 1);
    clo_carve(&block, &releases->turn_first, (size_t)rows_of(releases) + 1);
    clo_carve(&block, &releases->turn, executions + clo_releases_capacity_asks(&releases->room, releases->executions));
    clo_carve(&block, &releases->place, executions);
    clo_carve(&block, &releases->stage, executions);
    clo_carve(&block, &releases->gated, executions);
    clo_carve(&block, &releases->needs, entries);
    clo_carve(&block, &releases->back_needs, entries);
    clo_carve(&block, &releases->pending, slots * entries);
    clo_carve(&block, &releases->left, slots);
    clo_carve(&block, &releases->number, slots);
    clo_carve(&block, &releases->free_ns, executors);
    clo_carve(&block, &releases->data.depth, executions);
    if (releases->is_free)
        clo_carve(&block, &releases->data.ran_on, slots * executions);
    if (config->is_timed) {
        clo_carve(&block, &releases->gate_ns, slots);
        clo_carve(&block, &releases->finish_ns, slots * executions);
    }
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("releases in flight");
}

clo_status clo_releases_create(const clo_program *program, const clo_releases_config *config, clo_arena *arena,
                               clo_releases **out)
{
    clo_status status = check(program, config);
    clo_releases *releases = status == CLO_OK ? clo_arena_take(arena, 1, sizeof *releases) : NULL;

    if (status != CLO_OK)
        return status;
    if (releases == NULL)
        return clo_fail_memory("releases in flight");
    *releases = (clo_releases){.program = program,
                               .slots = config->slots,
                               .period_ns = config->period_ns,
                               .is_free = config->placements == NULL,
                               .executions = program->executions,
                               .entries = program->executions + program->barriers};
    releases->data.program = program;
    releases->data.slots = config->slots;
    if (releases->is_free)
        releases->room.first_row = releases->executions;
    else
        status = clo_releases_capacity_create(program, config->is_timed, arena, &releases->room);
    if (status == CLO_OK)
        status = allocate(releases, config, arena);
    if (status == CLO_OK && config->placements == NULL)
        fill_free(releases);
    else if (status == CLO_OK)
        status = fill_turns(releases, config, arena);
    if (status != CLO_OK)
        return status;
    fill_rows(releases);
    fill_depths(releases, config->depths);
    status = make_back(releases, arena);
    if (status == CLO_OK)
        status = clo_releases_data_create(&releases->data, config->has_data, config->copies, arena);
    if (status == CLO_OK)
        *out = releases;
    return status;
}

/* An execution in a release. */
typedef struct occasion {
    uint32_t execution;
    uint64_t release;
} occasion;

/* What comes in a row from place `place` of turn `turn` on: the next one whose release exists. */
static occasion next_occasion(const clo_releases *releases, uint32_t row, uint32_t place, uint64_t turn)
{
    uint32_t first = releases->turn_first[row], end = releases->turn_first[row + 1];

    for (;;) { /* ends: in turn `stages` at the latest all releases exist */
        if (place == end) {
            place = first;
            turn++;
        }
        uint32_t execution = releases->turn[place++];
        if (turn >= releases->stage[execution])
            return (occasion){execution, turn - releases->stage[execution]};
    }
}

static uint32_t hit(clo_releases *releases, uint32_t slot, uint32_t execution)
{
    bool is_ready = clo_countdown_hit(&releases->pending[(size_t)slot * releases->entries + execution]);

    return is_ready ? slot * releases->executions + execution : CLO_NONE;
}

static uint32_t hit_occasion(clo_releases *releases, occasion next)
{
    return hit(releases, (uint32_t)(next.release % releases->slots), next.execution);
}

/* The first releases have nobody before them: what such a one would give is given here. Never all that an execution
 * needs, for it waits for the gate or for an input. */
void clo_releases_begin(clo_releases *releases)
{
    uint64_t newest = 0;

    assert(releases->slots > 0);
    for (uint32_t slot = 0; slot < releases->slots; slot++) {
        newest = releases->number[slot] > newest ? releases->number[slot] : newest;
        releases->number[slot] = 0;
        clo_countdown_arm(&releases->left[slot], releases->executions);
        for (uint32_t entry = 0; entry < releases->entries; entry++) {
            clo_countdown *pending = &releases->pending[(size_t)slot * releases->entries + entry];
            clo_countdown_arm(pending, releases->needs[entry]);
            bool is_early = releases->back_needs[entry] > 0 && slot < releases->data.depth[entry];
            if (is_early && clo_countdown_hit_many(pending, releases->back_needs[entry]))
                assert(false);
        }
    }
    releases->data.rounds += newest + 2;
    clo_releases_capacity_begin(&releases->room);
    for (uint32_t row = 0; row < rows_of(releases); row++) {
        if (row < releases->program->platform->executors_count)
            releases->free_ns[row] = 0;
        if (releases->turn_first[row] == releases->turn_first[row + 1])
            continue;
        uint32_t item = hit_occasion(releases, next_occasion(releases, row, releases->turn_first[row], 0));
        assert(item == CLO_NONE);
        (void)item;
    }
}

int64_t clo_releases_end_ns(const clo_releases *releases, uint32_t slot)
{
    const int64_t *finish_ns = releases->finish_ns + (size_t)slot * releases->executions;
    int64_t ended_ns = 0;

    for (uint32_t i = 0; i < releases->executions; i++)
        ended_ns = finish_ns[i] > ended_ns ? finish_ns[i] : ended_ns;
    return ended_ns;
}

void clo_releases_open(clo_releases *releases, uint64_t release)
{
    uint32_t slot = (uint32_t)(release % releases->slots);

    if (releases->gate_ns != NULL) {
        int64_t ended_ns =
            release >= releases->slots ? clo_releases_end_ns(releases, slot) : 0; /* of who had the slot */
        int64_t due_ns = clo_releases_due_ns(releases, release);
        releases->gate_ns[slot] = ended_ns > due_ns ? ended_ns : due_ns;
    }
    releases->number[slot] = release;
}

uint32_t clo_releases_opened(clo_releases *releases, uint64_t release, uint32_t *cursor)
{
    while (*cursor < releases->gated_count) {
        uint32_t item = hit(releases, (uint32_t)(release % releases->slots), releases->gated[(*cursor)++]);
        if (item != CLO_NONE)
            return item;
    }
    return CLO_NONE;
}

/* The next entry of the row, or of that of a barrier in it; CLO_NONE: no more. */
static uint32_t released_here(clo_releases *releases, clo_releases_release *r)
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
        if (!clo_countdown_hit(&releases->pending[(size_t)r->slot * releases->entries + successor]))
            continue;
        if (successor < releases->executions)
            return r->slot * releases->executions + successor;
        r->own_row = r->row;
        r->own_left = r->left;
        r->row = releases->succ + releases->succ_first[successor];
        r->left = releases->succ_first[successor + 1] - releases->succ_first[successor];
    }
}

uint32_t clo_releases_released(clo_releases *releases, clo_releases_release *r)
{
    uint32_t item = released_here(releases, r);

    while (item == CLO_NONE && r->back < r->back_end) {
        uint32_t producer = releases->back[r->back++];
        uint64_t again = r->number + releases->data.depth[producer];
        item = hit(releases, (uint32_t)(again % releases->slots), producer);
    }
    if (item == CLO_NONE && !r->has_turned) {
        uint32_t row = releases->is_free ? r->execution : releases->program->executor[r->execution];
        r->has_turned = true;
        item = hit_occasion(releases, next_occasion(releases, row, releases->place[r->execution] + 1,
                                                    r->number + releases->stage[r->execution]));
    }
    return item;
}

uint32_t clo_releases_let_ask(clo_releases *releases, uint32_t item, uint32_t *cursor)
{
    const clo_releases_capacity *room = &releases->room;
    uint32_t execution = clo_releases_execution(releases, item), next = CLO_NONE;
    uint32_t count = room->first != NULL ? room->first[execution + 1] - room->first[execution] : 0;

    while (next == CLO_NONE && *cursor < count) {
        const clo_releases_ask *ask = &room->asks[room->first[execution] + (*cursor)++];
        uint64_t turn = releases->number[clo_releases_slot(releases, item)] + releases->stage[execution];
        next = hit_occasion(releases, next_occasion(releases, ask->row, ask->place + 1, turn));
    }
    return next;
}

/* When the consumers of the buffer that the execution writes have ended. Those on its own executor have. */
static int64_t freed_ns(const clo_releases *releases, uint32_t execution, uint64_t release)
{
    const clo_graph *graph = releases->program->graph;
    uint32_t task = graph->task_of[execution], depth = releases->data.depth[execution];
    int64_t freed_ns = 0;

    if (releases->back_needs[execution] == 0 || release < depth)
        return 0;
    size_t slot = (release - depth) % releases->slots;
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++)
            if (frees(releases, execution, i) && releases->finish_ns[slot * releases->executions + i] > freed_ns)
                freed_ns = releases->finish_ns[slot * releases->executions + i];
    return freed_ns;
}

static int64_t arrived_ns(const clo_releases *releases, uint32_t execution, uint32_t slot)
{
    const clo_program *program = releases->program;
    const int64_t *finish_ns = releases->finish_ns + (size_t)slot * releases->executions;
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

clo_releases_span clo_releases_time(clo_releases *releases, uint32_t item, bool is_empty)
{
    const clo_program *program = releases->program;
    uint32_t execution = clo_releases_execution(releases, item), slot = clo_releases_slot(releases, item);
    uint32_t executor = program->executor[execution];
    int64_t length_ns = is_empty ? 0 : clo_cost_time(program->cost, clo_program_task(program, execution), executor);
    const int64_t waits_ns[] = {releases->gate_ns[slot], arrived_ns(releases, execution, slot),
                                freed_ns(releases, execution, releases->number[slot])};
    int64_t start_ns = releases->free_ns[executor];

    for (size_t i = 0; i < sizeof waits_ns / sizeof waits_ns[0] && !is_empty; i++)
        start_ns = waits_ns[i] > start_ns ? waits_ns[i] : start_ns;
    if (!is_empty && clo_releases_capacity_has(&releases->room, execution))
        start_ns = clo_releases_capacity_take(&releases->room, execution, start_ns, length_ns);
    clo_releases_span span = {start_ns, clo_time_add(start_ns, length_ns)};
    releases->free_ns[executor] = span.finish_ns;
    releases->finish_ns[item] = span.finish_ns;
    return span;
}
