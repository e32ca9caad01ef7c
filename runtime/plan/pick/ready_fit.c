/* plan/pick/ready_fit.c - see ready_fit.h.
 *
 * A search of a machine's capacities is what costs. So each machine is asked once for the earliest start of the
 * shortest time; behind that, those executors are asked first that may end first, and no more once none of the others
 * can. */
#include "plan/pick/ready_fit.h"

/* No start on the machine is before this one. */
static void raise_starts(const clo_ready_tree *tree, uint32_t machine, const int64_t *demand, int64_t *base_ns)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const clo_executor *executors = schedule->platform->executors;
    int64_t least_ns = INT64_MAX, shortest_ns = CLO_TIME_NEVER;

    for (uint32_t e = 0; e < tree->executors; e++) {
        if (executors[e].machine != machine || tree->times_ns[e] == CLO_TIME_NEVER)
            continue;
        least_ns = tree->from_ns[e] < least_ns ? tree->from_ns[e] : least_ns;
        shortest_ns = tree->times_ns[e] < shortest_ns ? tree->times_ns[e] : shortest_ns;
    }
    if (least_ns == INT64_MAX)
        return;
    if (schedule->platform->machines_count == 1 && *base_ns > least_ns)
        least_ns = *base_ns;
    least_ns = clo_profile_earliest_ns(&schedule->profiles[machine], least_ns, shortest_ns, INT64_MAX, demand);
    *base_ns = least_ns;
    for (uint32_t e = 0; e < tree->executors; e++)
        if (executors[e].machine == machine && tree->from_ns[e] < least_ns)
            tree->from_ns[e] = least_ns;
}

/* Executors come in any order. */
static void take_end(clo_ready_ends *found, uint32_t executor, int64_t end_ns)
{
    if (end_ns == found->first_ns && executor < found->first) {
        uint32_t other = found->first;
        found->first = executor;
        found->second_ns = end_ns;
        found->second = other;
        return;
    }
    clo_ready_take_end(found, executor, end_ns);
}

/* True if an end at limit_ns, the last that counts, would change the earliest one. */
static bool takes_tie(const clo_ready_ends *found, uint32_t executor, int64_t limit_ns)
{
    return found->first == CLO_NONE || (limit_ns == found->first_ns && executor < found->first);
}

clo_ready_ends clo_ready_fit(const clo_ready_tree *tree, const int64_t *demand, int64_t *base_ns)
{
    const clo_schedule *schedule = tree->ready->schedule;
    clo_ready_ends found = clo_ready_no_ends;
    bool wants_second = tree->rule == CLO_PICK_SUFFERAGE;

    for (uint32_t m = 0; m < schedule->platform->machines_count; m++)
        raise_starts(tree, m, demand, base_ns);
    for (;;) { /* ends: each round takes an executor away */
        int64_t least_ns, limit_ns = wants_second ? found.second_ns : found.first_ns;
        uint32_t e = clo_ready_most_promising(tree->executors, tree->from_ns, tree->times_ns, &least_ns);
        if (e == CLO_NONE || least_ns > limit_ns || (least_ns == limit_ns && !takes_tie(&found, e, limit_ns)))
            break;
        int64_t time_ns = tree->times_ns[e], latest_ns = limit_ns == INT64_MAX ? INT64_MAX : limit_ns - time_ns + 1;
        const clo_profile *profile = &schedule->profiles[schedule->platform->executors[e].machine];
        int64_t start_ns = clo_profile_earliest_ns(profile, tree->from_ns[e], time_ns, latest_ns, demand);
        if (start_ns < latest_ns)
            take_end(&found, e, start_ns + time_ns);
        tree->times_ns[e] = CLO_TIME_NEVER;
    }
    if (!wants_second) {
        found.second_ns = INT64_MAX;
        found.second = CLO_NONE;
    }
    return found;
}

bool clo_ready_still_fits(const clo_ready_tree *tree, const int64_t *demand, uint32_t executor, int64_t from_ns,
                          int64_t time_ns, int64_t end_ns)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const clo_profile *profile = &schedule->profiles[schedule->platform->executors[executor].machine];
    int64_t start_ns = end_ns - time_ns;

    return from_ns <= start_ns && clo_profile_earliest_ns(profile, start_ns, time_ns, start_ns + 1, demand) == start_ns;
}
