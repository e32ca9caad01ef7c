/* plan/pick/holes.c - see holes.h. */
#include "plan/pick/holes.h"

#include "base/memory.h"
#include "base/status.h"

clo_status clo_holes_open(clo_holes *holes, const clo_schedule *schedule)
{
    for (uint32_t slot = 0; slot < CLO_HOLES_MAX; slot++)
        holes->list[slot].end_ns = -1;
    holes->machines = clo_allocate(schedule->platform->machines_count, sizeof holes->machines[0]);
    return holes->machines != NULL ? CLO_OK : clo_fail_memory("a plan");
}

void clo_holes_close(clo_holes *holes)
{
    clo_free(holes->machines);
}

static const clo_occupancy *profile_of(const clo_row *row, uint32_t executor)
{
    const clo_schedule *schedule = row->ready.schedule;

    return &schedule->occupancies[schedule->platform->executors[executor].machine];
}

static const int64_t *demand_of(const clo_row *row, const clo_row_entry *entry)
{
    return clo_graph_demand(row->ready.schedule->graph, entry->task);
}

static int64_t time_on(const clo_row *row, const clo_row_entry *entry, uint32_t executor)
{
    return clo_cost_time(row->ready.schedule->cost, entry->task, executor);
}

/* The last steps; at least half of what there is room for, if there are so many. */
static void read_machine(clo_holes_machine *machine, const clo_occupancy *occupancy)
{
    for (;;) { /* ends: each round begins half the steps later */
        machine->count = clo_occupancy_read(occupancy, machine->from_ns, machine->steps, CLO_HOLES_STEPS);
        if (machine->count < CLO_HOLES_STEPS)
            return;
        machine->from_ns = machine->steps[CLO_HOLES_STEPS / 2].time_ns;
    }
}

static void read_steps(clo_holes *holes, const clo_row *row)
{
    const clo_schedule *schedule = row->ready.schedule;

    for (uint32_t e = 0; e < row->executors; e++) {
        uint32_t m = schedule->platform->executors[e].machine;
        clo_holes_machine *machine = &holes->machines[m];
        if (machine->seen > row->changed[e])
            continue;
        read_machine(machine, &schedule->occupancies[m]);
        machine->seen = row->step + 1;
    }
}

/* Brings a hole up to date; false: nothing is left of it, or it left out nothing. */
static bool renew_hole(const clo_row *row, clo_hole *hole)
{
    int64_t available_ns = row->ready.available_ns[hole->executor];

    hole->begin_ns = hole->begin_ns > available_ns ? hole->begin_ns : available_ns;
    if (hole->hits == 0 || hole->begin_ns >= hole->end_ns) {
        hole->end_ns = -1;
        return false;
    }
    clo_occupancy_least_free(profile_of(row, hole->executor), hole->begin_ns, hole->end_ns, NULL, hole->room);
    return true;
}

void clo_holes_renew(clo_holes *holes, const clo_row *row)
{
    uint32_t count = 0;

    read_steps(holes, row);
    for (uint32_t i = 0; i < holes->count; i++) {
        uint32_t slot = holes->order[i], at = count;
        if (!renew_hole(row, &holes->list[slot]))
            continue;
        for (; at > 0 && holes->list[holes->order[at - 1]].hits < holes->list[slot].hits; at--)
            holes->order[at] = holes->order[at - 1];
        holes->order[at] = slot;
        count++;
    }
    holes->count = count;
    for (uint32_t slot = 0; slot < CLO_HOLES_MAX; slot++)
        holes->list[slot].hits = 0;
}

static bool fits(const clo_occupancy *occupancy, const int64_t *demand, const int64_t *room)
{
    int64_t lack = 0;

    for (uint32_t k = 0; k < occupancy->counted_count; k++)
        lack |= room[k] - demand[occupancy->counted[k]];
    return lack >= 0;
}

/* From base_ns on: the first time at which the machine is not known to be too full for a demand that lasts shortest_ns
 * at least; or something behind enough_ns before it. */
static int64_t pass_full(clo_holes_machine *machine, const clo_occupancy *occupancy, const int64_t *demand,
                         int64_t base_ns, int64_t shortest_ns, int64_t enough_ns)
{
    uint32_t low = 0, high = machine->count, last = machine->last;

    if (high == 0 || shortest_ns == 0 || base_ns < machine->steps[0].time_ns)
        return base_ns;
    if (last + 1 < high && machine->steps[last].time_ns <= base_ns && base_ns < machine->steps[last + 1].time_ns)
        low = last, high = last + 1;
    while (high - low > 1) { /* to the step that holds at base_ns */
        uint32_t middle = low + (high - low) / 2;
        if (machine->steps[middle].time_ns <= base_ns)
            low = middle;
        else
            high = middle;
    }
    machine->last = low;
    for (uint32_t at = low; at + 1 < machine->count; at++) { /* in the last one there may be room */
        if (machine->steps[at].time_ns >= base_ns + shortest_ns || base_ns > enough_ns)
            return base_ns;
        if (!fits(occupancy, demand, machine->steps[at].free))
            base_ns = machine->steps[at + 1].time_ns;
    }
    return base_ns;
}

int64_t clo_holes_base_ns(clo_holes *holes, const clo_row *row, clo_row_entry *entry, int64_t enough_ns)
{
    const clo_schedule *schedule = row->ready.schedule;
    int64_t from_ns = entry->base_ns > row->idle_ns ? entry->base_ns : row->idle_ns, base_ns = INT64_MAX;

    for (uint32_t m = 0; m < schedule->platform->machines_count && base_ns > from_ns; m++) {
        int64_t passed_ns = pass_full(&holes->machines[m], &schedule->occupancies[m], demand_of(row, entry), from_ns,
                                      entry->shortest_ns, enough_ns);
        base_ns = passed_ns < base_ns ? passed_ns : base_ns;
    }
    entry->base_ns = base_ns;
    return base_ns;
}

int64_t clo_holes_least_ns(const clo_row *row, const clo_row_entry *entry)
{
    int64_t least_ns = INT64_MAX;

    for (uint32_t e = 0; e < row->executors; e++) {
        int64_t time_ns = time_on(row, entry, e), start_ns = clo_row_start_ns(row, entry, e);
        start_ns = start_ns > entry->base_ns ? start_ns : entry->base_ns;
        if (time_ns != CLO_TIME_NEVER && start_ns + clo_row_add_ns(row, time_ns) < least_ns)
            least_ns = start_ns + clo_row_add_ns(row, time_ns);
    }
    return least_ns;
}

/* True if the task may end in a hole by limit_ns. */
static bool has_place(const clo_row *row, const clo_row_entry *entry, const clo_hole *hole, int64_t limit_ns)
{
    limit_ns = hole->end_ns < limit_ns ? hole->end_ns : limit_ns;
    return time_on(row, entry, hole->executor) <= limit_ns - hole->begin_ns &&
           clo_row_start_ns(row, entry, hole->executor) <= hole->begin_ns &&
           fits(profile_of(row, hole->executor), demand_of(row, entry), hole->room);
}

/* True if the task may end by limit_ns in the holes that it may have ended in before. */
static bool has_old_places(clo_holes *holes, const clo_row *row, const clo_row_entry *entry, int64_t limit_ns)
{
    clo_hole *a = &holes->list[entry->holes[0]], *b = &holes->list[entry->holes[1]];

    if (!has_place(row, entry, a, limit_ns) ||
        (clo_row_has_two(row) && (a->executor == b->executor || !has_place(row, entry, b, limit_ns))))
        return false;
    a->hits++;
    b->hits += clo_row_has_two(row);
    return true;
}

/* The same for any holes. */
static bool has_places(clo_holes *holes, const clo_row *row, clo_row_entry *entry, int64_t limit_ns)
{
    clo_hole *first = NULL;

    for (uint32_t i = 0; i < holes->count; i++) {
        clo_hole *hole = &holes->list[holes->order[i]];
        if ((first != NULL && first->executor == hole->executor) || !has_place(row, entry, hole, limit_ns))
            continue;
        hole->hits++;
        entry->holes[first != NULL] = holes->order[i];
        if (first != NULL || !clo_row_has_two(row))
            return true;
        first = hole;
    }
    return false;
}

bool clo_holes_have_place(clo_holes *holes, const clo_row *row, clo_row_entry *entry, int64_t limit_ns)
{
    int64_t from_ns = clo_row_has_two(row) ? entry->least_ns : 0;

    if (has_old_places(holes, row, entry, from_ns + limit_ns))
        return true;
    if (clo_row_has_two(row)) {
        (void)clo_holes_base_ns(holes, row, entry, INT64_MAX);
        int64_t least_ns = clo_holes_least_ns(row, entry);
        entry->least_ns = from_ns = least_ns > entry->least_ns ? least_ns : entry->least_ns;
    }
    return has_places(holes, row, entry, from_ns + limit_ns);
}

/* Puts a slot without a hole behind the others of the order. Returns its place in it. */
static uint32_t add_slot(clo_holes *holes)
{
    uint32_t used = 0, slot = 0;

    for (uint32_t i = 0; i < holes->count; i++)
        used |= UINT32_C(1) << holes->order[i];
    while ((used >> slot & 1) != 0) /* ends: one is free */
        slot++;
    holes->order[holes->count] = slot;
    return holes->count++;
}

/* Adds the hole around an execution that ends at end_ns; in the place of the one that left out least, where there are
 * many. */
static void add_hole(clo_holes *holes, const clo_row *row, const clo_row_entry *entry, uint32_t executor,
                     int64_t end_ns)
{
    int64_t begin_ns = end_ns - time_on(row, entry, executor);
    clo_hole hole = {.executor = executor, .begin_ns = begin_ns, .hits = 1};
    uint32_t at = 0;

    hole.end_ns =
        clo_occupancy_least_free(profile_of(row, executor), begin_ns, INT64_MAX, demand_of(row, entry), hole.room);
    for (uint32_t i = 0; i < holes->count; i++) {
        const clo_hole *other = &holes->list[holes->order[i]];
        if (other->executor == executor && other->begin_ns == begin_ns && other->end_ns == hole.end_ns)
            return;
        at = other->hits < holes->list[holes->order[at]].hits ? i : at;
    }
    if (holes->count < CLO_HOLES_MAX)
        at = add_slot(holes);
    holes->list[holes->order[at]] = hole;
}

void clo_holes_learn(clo_holes *holes, const clo_row *row, const clo_row_entry *entry)
{
    add_hole(holes, row, entry, entry->two[0].executor, entry->two[0].ns);
    if (clo_row_has_two(row) && entry->two[1].executor != CLO_NONE)
        add_hole(holes, row, entry, entry->two[1].executor, entry->two[1].ns);
}
