/* reservation.c - see reservation.h. */
#include "policy/packing/reservation.h"

#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "platform/model/platform.h"

/* Ends of a machine that are looked at, and machines times executors. */
enum { ENDS_MAX = 256, LOOKS_MAX = 65536 };

/* What ends on a machine, and when. */
typedef struct ending {
    int64_t at_ns;
    uint32_t executor;
} ending;

/* The executors of the machine by the ends of what they run, the first ones. False: the decision has reached its
 * bound. */
static bool sort_ends(const clo_view *view, const clo_platform *platform, uint32_t machine, ending *ends,
                      uint32_t *count)
{
    int64_t now_ns = clo_view_now_ns(view);

    *count = 0;
    if (!clo_view_steps(view, platform->executors_count))
        return false;
    for (uint32_t e = 0; e < platform->executors_count; e++) {
        const clo_live_executor *row = clo_view_executor(view, e);
        if (platform->executors[e].machine != machine)
            continue;
        ending add = {row->job == CLO_NONE && row->committed == 0 ? now_ns : row->free_ns, e};
        add.at_ns = add.at_ns > now_ns || row->job == CLO_NONE ? add.at_ns : now_ns + 1; /* late: at any moment */
        if (*count == ENDS_MAX && ends[ENDS_MAX - 1].at_ns <= add.at_ns)
            continue;
        uint32_t at = *count < ENDS_MAX ? (*count)++ : ENDS_MAX - 1;
        for (; at > 0 && ends[at - 1].at_ns > add.at_ns; at--)
            ends[at] = ends[at - 1];
        ends[at] = add;
    }
    return true;
}

/* Adds what the executor's instance holds. */
static void give_back(const clo_view *view, uint32_t executor, int64_t left[CLO_RESOURCES_MAX])
{
    const clo_live_executor *row = clo_view_executor(view, executor);

    if (row->job == CLO_NONE || row->is_moving != 0)
        return;
    const clo_cost *cost = clo_view_job(view, row->job)->cost;
    const int64_t *demand = clo_graph_demand(cost->graph, row->stage);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && cost->resource_of[r] < CLO_RESOURCES_MAX)
            left[cost->resource_of[r]] = clo_time_add(left[cost->resource_of[r]], demand[r]);
}

/* What an instance of the stage takes of the machine's resources that are limited. */
static void find_needs(const clo_cost *cost, uint32_t stage, uint32_t machine, int64_t needs[CLO_RESOURCES_MAX])
{
    const int64_t *demand = clo_graph_demand(cost->graph, stage);

    memset(needs, 0, CLO_RESOURCES_MAX * sizeof needs[0]);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && clo_cost_capacity(cost, machine, r) >= 0)
            needs[cost->resource_of[r]] = demand[r];
}

static bool is_enough(const int64_t left[CLO_RESOURCES_MAX], const int64_t needs[CLO_RESOURCES_MAX])
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (left[r] < needs[r] && needs[r] > 0)
            return false;
    return true;
}

static void take_off(int64_t left[CLO_RESOURCES_MAX], const int64_t needs[CLO_RESOURCES_MAX])
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        left[r] -= needs[r];
}

/* On this machine, while an instance runs from at_ns until until_ns. */
static bool overlaps(const clo_reservation *kept, uint32_t machine, int64_t at_ns, int64_t until_ns)
{
    return kept->machine == machine && kept->from_ns < until_ns && kept->until_ns > at_ns;
}

/* An instance may run at that time without delaying what room is kept for. `left`: what is left at at_ns beside what runs
 * then; what is kept at that time is taken off. */
static bool fits_between(const clo_reservations *kept, const clo_reservation *add, int64_t left[CLO_RESOURCES_MAX],
                         uint32_t executors)
{
    uint32_t held = 0;

    for (uint32_t k = 0; k < kept->count; k++) {
        const clo_reservation *one = &kept->list[k];
        if (!overlaps(one, add->machine, add->from_ns, add->until_ns))
            continue;
        if (one->from_ns > add->from_ns && !is_enough(one->spare, add->needs))
            return false;
        if (one->from_ns <= add->from_ns) {
            take_off(left, one->needs);
            held++;
        }
    }
    return executors > held && is_enough(left, add->needs);
}

/* The next end after at_ns of what room is kept for on the machine; INT64_MAX: none. */
static int64_t next_end(const clo_reservations *kept, uint32_t machine, int64_t at_ns)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t k = 0; k < kept->count; k++)
        if (kept->list[k].machine == machine && kept->list[k].until_ns > at_ns && kept->list[k].until_ns < next_ns)
            next_ns = kept->list[k].until_ns;
    return next_ns;
}

/* What is looked for, and when at the latest it must begin. */
typedef struct wish {
    const clo_cost *cost;
    uint32_t stage;
    int64_t before_ns;
} wish;

/* Where there is room on the machine first: at the ends of what runs, or of what room is kept for. False: nowhere. */
static bool find_room(const clo_view *view, const wish *w, const clo_reservations *kept, const ending *ends,
                      uint32_t count, clo_reservation *add)
{
    int64_t free[CLO_RESOURCES_MAX];

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        free[r] = clo_view_capacity_left(view, add->machine, r);
    find_needs(w->cost, w->stage, add->machine, add->needs);
    for (uint32_t i = 0; i < count && ends[i].at_ns < w->before_ns; i++) {
        int64_t time_ns = clo_cost_time(w->cost, w->stage, ends[i].executor), at_ns = ends[i].at_ns;
        int64_t until_ns = i + 1 < count && ends[i + 1].at_ns < w->before_ns ? ends[i + 1].at_ns : w->before_ns;
        give_back(view, ends[i].executor, free);
        if (time_ns == CLO_TIME_NEVER)
            continue;
        do {
            add->from_ns = at_ns;
            add->until_ns = clo_time_add(at_ns, time_ns);
            memcpy(add->spare, free, sizeof free);
            if (fits_between(kept, add, add->spare, i + 1)) {
                take_off(add->spare, add->needs);
                return true;
            }
            at_ns = next_end(kept, add->machine, at_ns);
        } while (at_ns < until_ns);
    }
    return false;
}

bool clo_reservation_make(const clo_view *view, uint32_t slot, uint32_t stage, int64_t before_ns,
                          clo_reservations *kept)
{
    const clo_cost *cost = clo_view_job(view, slot)->cost;
    clo_reservation *best = &kept->list[kept->count];
    bool is_found = false;
    ending ends[ENDS_MAX];
    uint32_t count;

    if (kept->count == CLO_RESERVATIONS_MAX ||
        (uint64_t)cost->platform->machines_count * cost->platform->executors_count > LOOKS_MAX)
        return true;
    for (uint32_t m = 0; m < cost->platform->machines_count; m++) {
        clo_reservation add = {.machine = m};
        if (!sort_ends(view, cost->platform, m, ends, &count))
            return false;
        if (find_room(view, &(wish){cost, stage, before_ns}, kept, ends, count, &add)) {
            *best = add;
            before_ns = add.from_ns;
            is_found = true;
        }
    }
    /* Of what begins while the new one runs, less is left over. */
    for (uint32_t k = 0; k < kept->count && is_found; k++)
        if (overlaps(best, kept->list[k].machine, kept->list[k].from_ns, clo_time_add(kept->list[k].from_ns, 1)))
            take_off(kept->list[k].spare, best->needs);
    kept->count += is_found;
    return true;
}

bool clo_reservations_let_pass(const clo_view *view, const clo_reservations *kept, const clo_candidate *c)
{
    const clo_cost *cost = clo_view_job(view, c->job)->cost;
    uint32_t machine = cost->platform->executors[c->executor].machine;
    int64_t needs[CLO_RESOURCES_MAX], end_ns = INT64_MAX;

    for (uint32_t k = 0; k < kept->count; k++) {
        if (kept->list[k].machine != machine)
            continue;
        if (end_ns == INT64_MAX) {
            end_ns = clo_time_add(clo_view_now_ns(view), clo_cost_time(cost, c->stage, c->executor));
            find_needs(cost, c->stage, machine, needs);
        }
        if (end_ns > kept->list[k].from_ns && !is_enough(kept->list[k].spare, needs))
            return false;
    }
    return true;
}
