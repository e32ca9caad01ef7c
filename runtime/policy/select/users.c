/* users.c - see users.h. A user has an account of what it holds, and a place among the users of a band: a group has a
 * place in each band. */
#include "policy/select/users.h"

#include <string.h>

#define PLACES_OF_GROUPS (CLO_BANDS_MAX * CLO_USER_GROUPS)

static uint32_t account_of(const clo_users *users, uint32_t slot)
{
    return users->group[slot] != CLO_NONE ? users->group[slot] : CLO_USER_GROUPS + slot;
}

static uint32_t place_of(const clo_users *users, uint32_t slot)
{
    return users->group[slot] != CLO_NONE ? users->band[slot] * CLO_USER_GROUPS + users->group[slot]
                                          : PLACES_OF_GROUPS + slot;
}

size_t clo_users_bytes(const clo_limits *limits, const void *argument)
{
    size_t jobs = limits->jobs;

    (void)argument;
    return sizeof(clo_users) + (CLO_USER_GROUPS + jobs) * CLO_SHARE_AMOUNTS * sizeof(int64_t) +
           (PLACES_OF_GROUPS + 2 * jobs) * sizeof(clo_heaps_node) + (PLACES_OF_GROUPS + 4 * jobs) * sizeof(uint32_t);
}

void clo_users_open(clo_users *users, const clo_view *view, bool by_dominant)
{
    uint32_t jobs = clo_view_limits(view)->jobs;

    users->jobs = jobs;
    users->by_dominant = by_dominant;
    users->used = (int64_t(*)[CLO_SHARE_AMOUNTS])(users + 1);
    users->users = (clo_heaps_node *)(users->used + CLO_USER_GROUPS + jobs);
    users->job_nodes = users->users + PLACES_OF_GROUPS + jobs;
    users->first_job = (uint32_t *)(users->job_nodes + jobs);
    users->group = users->first_job + PLACES_OF_GROUPS + jobs;
    users->band = users->group + jobs;
    users->aside = users->band + jobs;
    memset(users->first_job, 0xff, (PLACES_OF_GROUPS + jobs) * sizeof(uint32_t));
    memset(users->first_user, 0xff, sizeof users->first_user);
    clo_share_totals(clo_view_limits(view)->platform, users->totals);
}

size_t clo_users_job_bytes(const clo_cost *cost)
{
    return cost->graph->tasks * sizeof(uint32_t);
}

static int64_t share_of(const clo_users *users, uint32_t account)
{
    const int64_t *used = users->used[account];
    int64_t most = clo_share(used[CLO_SHARE_EXECUTORS], users->totals[CLO_SHARE_EXECUTORS]);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && users->by_dominant; r++) {
        int64_t part = used[r] > 0 ? clo_share(used[r], users->totals[r]) : 0;
        most = part > most ? part : most;
    }
    return most;
}

/* The user stands among those of the band exactly while some job of it has something to start. */
static void settle_place(clo_users *users, uint32_t band, uint32_t place, uint32_t account)
{
    uint32_t first = users->first_job[place];

    if (clo_heaps_has(users->users, place))
        clo_heaps_remove(users->users, &users->first_user[band], place);
    if (first != CLO_NONE)
        clo_heaps_put(users->users, &users->first_user[band], place, share_of(users, account),
                      users->job_nodes[first].tie);
}

/* In all bands: the account has changed. */
static void settle(clo_users *users, uint32_t slot)
{
    uint32_t account = account_of(users, slot);

    if (users->group[slot] == CLO_NONE)
        settle_place(users, users->band[slot], place_of(users, slot), account);
    for (uint32_t b = 0; b < CLO_BANDS_MAX && users->group[slot] != CLO_NONE; b++)
        if (users->first_job[b * CLO_USER_GROUPS + account] != CLO_NONE)
            settle_place(users, b, b * CLO_USER_GROUPS + account, account);
}

static void enter(clo_users *users, uint32_t slot, uint64_t id, bool is_in)
{
    uint32_t place = place_of(users, slot);

    if (is_in == clo_heaps_has(users->job_nodes, slot))
        return;
    if (is_in)
        clo_heaps_put(users->job_nodes, &users->first_job[place], slot, 0, id);
    else
        clo_heaps_remove(users->job_nodes, &users->first_job[place], slot);
    settle_place(users, users->band[slot], place, account_of(users, slot));
}

/* Adds `times` executors with the demand of the stage to an account. */
static void add(int64_t *used, const clo_cost *cost, uint32_t stage, int64_t times)
{
    const int64_t *demand = clo_graph_demand(cost->graph, stage);

    used[CLO_SHARE_EXECUTORS] += times;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && cost->resource_of[r] != CLO_NONE)
            used[cost->resource_of[r]] += times * demand[r];
}

/* What the stage holds now, in place of what has been counted of it. True: that differs. */
static bool count(clo_users *users, const clo_view *view, uint32_t slot, uint32_t stage, uint32_t *counted)
{
    const clo_cost *cost = clo_view_job(view, slot)->cost;
    const clo_live_stage *row = clo_view_stage(view, slot, stage);
    uint32_t holds = row->running + row->committed;
    int64_t change = (int64_t)holds - counted[stage];

    counted[stage] = holds;
    if (change == 0)
        return false;
    add(users->used[CLO_USER_GROUPS + slot], cost, stage, change);
    if (users->group[slot] != CLO_NONE)
        add(users->used[users->group[slot]], cost, stage, change);
    return true;
}

/* A job comes, with what it holds already (after a swap). */
static void arrive(clo_users *users, const clo_view *view, uint32_t slot, uint32_t *counted)
{
    const clo_live_job *job = clo_view_job(view, slot);
    uint32_t tasks = job->cost->graph->tasks;

    users->group[slot] = job->group != 0 ? job->group % CLO_USER_GROUPS : CLO_NONE;
    users->band[slot] = job->band;
    memset(users->used[CLO_USER_GROUPS + slot], 0, sizeof users->used[0]);
    memset(counted, 0, tasks * sizeof *counted);
    for (uint32_t stage = 0; stage < tasks && job->running + job->committed > 0; stage++)
        (void)count(users, view, slot, stage, counted);
    settle(users, slot);
}

/* What a cancelled job had in queues left them without a word. */
static void end(clo_users *users, uint32_t slot)
{
    const int64_t *used = users->used[CLO_USER_GROUPS + slot];

    enter(users, slot, 0, false);
    for (uint32_t r = 0; r < CLO_SHARE_AMOUNTS && users->group[slot] != CLO_NONE; r++)
        users->used[users->group[slot]][r] -= used[r];
    settle(users, slot);
}

void clo_users_event(clo_users *users, const clo_view *view, const clo_event *event, uint32_t *counted)
{
    uint32_t slot = event->job;

    if (slot == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, slot);
    if (event->kind == CLO_EVENT_ARRIVE) {
        arrive(users, view, slot, counted);
        return;
    }
    if (event->kind == CLO_EVENT_END) {
        end(users, slot);
        return;
    }
    if (event->stage != CLO_NONE && count(users, view, slot, event->stage, counted))
        settle(users, slot);
    enter(users, slot, job->id, job->first_ready != CLO_NONE && event->kind != CLO_EVENT_CANCEL);
}

uint32_t clo_users_first(void *order, const clo_view *view, uint32_t band)
{
    const clo_users *users = order;
    uint32_t place = users->first_user[band];

    (void)view;
    return place != CLO_NONE ? users->first_job[place] : CLO_NONE;
}

void clo_users_pass(void *order, const clo_view *view, uint32_t band)
{
    clo_users *users = order;
    uint32_t slot = clo_users_first(order, view, band);

    enter(users, slot, 0, false);
    users->aside[users->aside_count++] = slot;
}

void clo_users_restore(void *order, const clo_view *view)
{
    clo_users *users = order;

    while (users->aside_count > 0) {
        uint32_t slot = users->aside[--users->aside_count];
        enter(users, slot, clo_view_job(view, slot)->id, true);
    }
}
