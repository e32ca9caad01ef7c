/* list.c - see list.h and preempt.h. */
#include "plan/synch/list.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

#define ONE CLO_SYNCH_PROGRESS_ONE

/* What goes on from one event to the next. */
typedef struct active {
    size_t entry;
    uint32_t executor;
} active;

typedef struct scheduler {
    clo_synch_list *list;
    const clo_synch_problem *p;
    clo_synch_runs *runs;
    int64_t now;
    int64_t *used;           /* [bins] */
    int64_t *progress;       /* [units] */
    int64_t *time, *spent;   /* [units] of the groups where it ran last, equally fast: its time there, and how long */
    int64_t *base;           /* [units] progress before it came there */
    bool *is_done;           /* [units] */
    bool *is_running;        /* [units] since this event */
    uint32_t *last;          /* [units] its last run + 1; 0: none */
    uint32_t *newest;        /* [executors] the last run there + 1; 0: none */
    uint32_t *owner;         /* [executors] unit that has it since this event; CLO_NONE */
    active *active, *before; /* [executors] */
    size_t active_count, before_count;
    size_t entries; /* that may still be wanted, at the beginning of the list */
    uint32_t rest;  /* units that are not done */
    uint32_t wide;  /* PSRS: the first wide unit that is not done; CLO_NONE */
    int64_t wide_since;
    bool has_failed;
} scheduler;

static int64_t time_of(const scheduler *s, const clo_synch_entry *e)
{
    return clo_synch_time(s->p, s->list->kind_of[e->unit], e->group);
}

/* How long the entry may run from now on: until the unit is done, or to its limit. */
static int64_t remaining(const scheduler *s, const clo_synch_entry *e)
{
    int64_t time = time_of(s, e), left = e->limit_ns - e->spent_ns;
    bool goes_on = s->time[e->unit] == time;
    int64_t rest = ONE - (goes_on ? s->base[e->unit] : s->progress[e->unit]);
    int64_t need = clo_synch_ratio(rest, time, ONE);

    if (clo_synch_ratio(need, ONE, time > 0 ? time : 1) < rest && time > 0)
        need++;
    need -= goes_on ? s->spent[e->unit] : 0;
    return need < left ? need : left;
}

static bool has_room(const scheduler *s, uint32_t kind, uint32_t group)
{
    for (uint32_t i = s->p->bin_first[group]; i < s->p->bin_first[group + 1]; i++)
        if (s->used[s->p->bin_of[i]] + clo_synch_use(s->p, kind, s->p->bin_of[i]) > s->p->capacity[s->p->bin_of[i]])
            return false;
    return true;
}

/* Starts the entry, if its unit waits and it fits. */
static void offer(scheduler *s, size_t index)
{
    const clo_synch_entry *e = &s->list->entries[index];
    uint32_t kind = s->list->kind_of[e->unit];

    if (s->is_done[e->unit] || s->is_running[e->unit] || s->used[e->group] >= s->p->capacity[e->group] ||
        s->p->arrival[s->p->job_of[kind]] > s->now || e->spent_ns >= e->limit_ns || !has_room(s, kind, e->group))
        return;
    for (uint32_t i = s->p->bin_first[e->group]; i < s->p->bin_first[e->group + 1]; i++)
        s->used[s->p->bin_of[i]] += clo_synch_use(s->p, kind, s->p->bin_of[i]);
    s->is_running[e->unit] = true;
    s->active[s->active_count++] = (active){index, CLO_NONE};
}

static bool is_wide(const scheduler *s, uint32_t unit)
{
    uint32_t kind = s->list->kind_of[unit], g = clo_synch_fastest(s->p, kind);

    for (uint32_t i = s->p->bin_first[g]; i < s->p->bin_first[g + 1]; i++)
        if (s->p->bin_of[i] >= s->p->groups && s->p->level[s->p->bin_of[i]] == 0 &&
            clo_synch_use(s->p, kind, s->p->bin_of[i]) > s->p->capacity[s->p->bin_of[i]] / 2)
            return true;
    return false;
}

static int64_t patience(const scheduler *s)
{
    int64_t time = clo_synch_time(s->p, s->list->kind_of[s->wide], clo_synch_fastest(s->p, s->list->kind_of[s->wide]));

    return time / 5 * 14;
}

static void find_wide(scheduler *s)
{
    if (s->wide != CLO_NONE && !s->is_done[s->wide])
        return;
    s->wide = CLO_NONE;
    for (size_t i = 0; i < s->entries && s->wide == CLO_NONE; i++) {
        uint32_t unit = s->list->entries[i].unit;
        if (!s->is_done[unit] && s->p->arrival[s->p->job_of[s->list->kind_of[unit]]] <= s->now && is_wide(s, unit))
            s->wide = unit;
    }
    s->wide_since = s->now;
}

static void choose_psrs(scheduler *s)
{
    find_wide(s);
    if (s->wide != CLO_NONE && s->now - s->wide_since >= patience(s))
        for (size_t i = 0; i < s->entries; i++)
            if (s->list->entries[i].unit == s->wide)
                offer(s, i);
    for (size_t i = 0; i < s->before_count; i++)
        offer(s, s->before[i].entry);
}

static void choose(scheduler *s)
{
    const clo_synch_problem *p = s->p;
    active *old = s->before;

    s->before = s->active;
    s->before_count = s->active_count;
    s->active = old;
    s->active_count = 0;
    for (uint32_t b = 0; b < p->bins; b++)
        s->used[b] = 0;
    for (size_t i = 0; i < s->before_count; i++)
        s->is_running[s->list->entries[s->before[i].entry].unit] = false;
    if (s->list->is_psrs)
        choose_psrs(s);
    for (size_t i = 0; i < s->entries && s->active_count < clo_platform_executors(p->platform); i++)
        offer(s, i);
}

static bool is_on(const scheduler *s, uint32_t executor, uint32_t group)
{
    for (uint32_t i = s->p->group_first[group]; i < s->p->group_first[group + 1]; i++)
        if (s->p->group_executor[i] == executor)
            return true;
    return false;
}

/* Who had an executor of the group keeps it; then the others take what is free. */
static void give_executors(scheduler *s)
{
    for (uint32_t e = 0; e < clo_platform_executors(s->p->platform); e++)
        s->owner[e] = CLO_NONE;
    for (size_t i = 0; i < s->active_count; i++) {
        const clo_synch_entry *e = &s->list->entries[s->active[i].entry];
        uint32_t executor = s->last[e->unit] > 0 ? s->runs->run[s->last[e->unit] - 1].executor : CLO_NONE;
        if (executor == CLO_NONE || s->owner[executor] != CLO_NONE || !is_on(s, executor, e->group))
            continue;
        s->owner[executor] = e->unit;
        s->active[i].executor = executor;
    }
    for (size_t i = 0; i < s->active_count; i++) {
        const clo_synch_entry *e = &s->list->entries[s->active[i].entry];
        for (uint32_t k = s->p->group_first[e->group]; s->active[i].executor == CLO_NONE; k++) {
            assert(k < s->p->group_first[e->group + 1]);
            if (s->owner[s->p->group_executor[k]] != CLO_NONE)
                continue;
            s->active[i].executor = s->p->group_executor[k];
            s->owner[s->active[i].executor] = e->unit;
        }
    }
}

/* A stretch of the unit up to `until`: the last one grows if it ends now on the same executor. */
static void add_run(scheduler *s, const active *a, int64_t until)
{
    const clo_synch_entry *e = &s->list->entries[a->entry];
    clo_synch_run *last = s->last[e->unit] > 0 ? &s->runs->run[s->last[e->unit] - 1] : NULL;
    void *runs = s->runs->run;

    if (until == s->now && time_of(s, e) > 0) /* others take no time */
        return;
    if (last != NULL && last->finish_ns == s->now && s->newest[a->executor] == s->last[e->unit]) {
        last->finish_ns = until;
        return;
    }
    if (clo_grow(&runs, &s->runs->room, s->runs->count + 1, sizeof *last) != 0) {
        s->has_failed = true;
        return;
    }
    s->runs->run = runs;
    s->runs->run[s->runs->count++] =
        (clo_synch_run){s->list->kind_of[e->unit], s->list->index_of[e->unit], a->executor, s->now, until};
    s->last[e->unit] = s->newest[a->executor] = (uint32_t)s->runs->count;
}

static int64_t next_event(const scheduler *s)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < s->active_count; i++) {
        int64_t end = s->now + remaining(s, &s->list->entries[s->active[i].entry]);
        next = end < next ? end : next;
    }
    for (uint32_t j = 0; j < s->p->jobs; j++)
        if (s->p->arrival[j] > s->now && s->p->arrival[j] < next)
            next = s->p->arrival[j];
    if (s->list->is_psrs && s->wide != CLO_NONE) {
        int64_t end = s->wide_since + patience(s);
        next = end > s->now && end < next ? end : next;
    }
    return next;
}

/* The unit has run `ran` ns more where it takes `time`. */
static void progress(scheduler *s, uint32_t unit, int64_t time, int64_t ran)
{
    if (s->time[unit] != time) {
        s->base[unit] = s->progress[unit];
        s->time[unit] = time;
        s->spent[unit] = 0;
    }
    s->spent[unit] += ran;
    s->progress[unit] = time == 0 ? ONE : s->base[unit] + clo_synch_ratio(s->spent[unit], ONE, time);
}

static void advance(scheduler *s, int64_t until)
{
    for (size_t i = 0; i < s->active_count && !s->has_failed; i++) {
        clo_synch_entry *e = &s->list->entries[s->active[i].entry];
        add_run(s, &s->active[i], until);
        e->spent_ns += until - s->now;
        progress(s, e->unit, time_of(s, e), until - s->now);
        if (s->progress[e->unit] >= ONE) {
            s->is_done[e->unit] = true;
            s->rest--;
        }
    }
    s->now = until;
}

/* Drops the entries of units that are done, keeping the order; those that run keep their place in `active`. */
static void drop_done(scheduler *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->entries; i++)
        if (!s->is_done[s->list->entries[i].unit])
            s->list->entries[kept++] = s->list->entries[i];
    s->entries = kept;
}

static void drive(scheduler *s)
{
    uint32_t drop_at = s->rest / 2;

    while (s->rest > 0 && !s->has_failed) { /* each round ends an entry, a wait, or brings an arrival */
        choose(s);
        give_executors(s);
        advance(s, next_event(s));
        if (s->rest <= drop_at && !s->list->is_psrs) { /* PSRS knows what runs by its place */
            for (size_t i = 0; i < s->active_count; i++)
                s->is_running[s->list->entries[s->active[i].entry].unit] = false;
            s->active_count = 0;
            drop_done(s);
            drop_at = s->rest / 2;
        }
    }
}

clo_status clo_synch_list_run(clo_synch_list *list, clo_synch_runs *runs)
{
    const clo_synch_problem *p = list->problem;
    uint32_t executors = clo_platform_executors(p->platform);
    scheduler s = {.list = list, .p = p, .runs = runs, .entries = list->count, .rest = p->tasks, .wide = CLO_NONE};
    clo_block block = {0};

    clo_carve(&block, &s.used, p->bins);
    clo_carve(&block, &s.progress, p->tasks);
    clo_carve(&block, &s.time, p->tasks);
    clo_carve(&block, &s.spent, p->tasks);
    clo_carve(&block, &s.base, p->tasks);
    clo_carve(&block, &s.is_done, p->tasks);
    clo_carve(&block, &s.is_running, p->tasks);
    clo_carve(&block, &s.last, p->tasks);
    clo_carve(&block, &s.newest, executors);
    clo_carve(&block, &s.owner, executors);
    clo_carve(&block, &s.active, executors);
    clo_carve(&block, &s.before, executors);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a preemptive plan");
    drive(&s);
    clo_free(memory);
    if (!s.has_failed)
        return CLO_OK;
    clo_free(runs->run);
    *runs = (clo_synch_runs){0};
    return clo_fail_memory("a preemptive plan");
}
