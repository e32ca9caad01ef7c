/* greedy.c - see greedy.h.
 *
 * Tetris with weights: the score of a task on a group is a + r. a: the largest share of a bin of the group that it
 * takes, r: its job's weight / remaining load, as a share of the largest of all jobs that wait. The terms are the
 * paper's, the form is reconstructed.
 *
 * JSQ-MaxWeight: a task joins, when it arrives, the shortest of the queues of the machines that are fastest for it and
 * the common remote queue (if it may run elsewhere, too). A machine serves its own queue if that is at least half as
 * long as the remote one (remote tasks take twice as long: alpha / gamma = 2), and packs from it what fits, in order of
 * arrival; then it does the same with the other queue. */
#include "plan/synch/greedy.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

#define SHARE_ONE INT64_C(65536)

typedef struct running {
    clo_synch_batch batch;
    int64_t finish_ns;
} running;

typedef struct greedy {
    const clo_synch_problem *p;
    clo_synch_timeline *timeline;
    clo_synch_rule rule;
    int64_t now;
    uint32_t machines;
    uint32_t *left;       /* [kinds] not started, of jobs that have arrived */
    bool *has_arrived;    /* [jobs] */
    int64_t *used;        /* [bins] */
    int64_t *merit;       /* [jobs] Tetris: weight / remaining load, or -1 */
    uint32_t *queue;      /* [(machines + 1) * kinds] JSQ: tasks of the kind in the queue; the last one is remote */
    uint64_t *length;     /* [machines + 1] tasks in the queue */
    running *running;     /* what runs, in no order */
    size_t running_count; /* <= executors */
    uint32_t rest;        /* tasks that have not started, arrived or not */
    bool has_failed;
} greedy;

static bool fits(const greedy *s, uint32_t kind, uint32_t group)
{
    const clo_synch_problem *p = s->p;

    if (clo_synch_time(p, kind, group) == CLO_TIME_NEVER)
        return false;
    for (uint32_t i = p->bin_first[group]; i < p->bin_first[group + 1]; i++)
        if (s->used[p->bin_of[i]] + clo_synch_use(p, kind, p->bin_of[i]) > p->capacity[p->bin_of[i]])
            return false;
    return true;
}

static void hold(greedy *s, uint32_t kind, uint32_t group, int64_t sign)
{
    for (uint32_t i = s->p->bin_first[group]; i < s->p->bin_first[group + 1]; i++)
        s->used[s->p->bin_of[i]] += sign * clo_synch_use(s->p, kind, s->p->bin_of[i]);
}

static void start(greedy *s, uint32_t kind, uint32_t group)
{
    int64_t time = clo_synch_time(s->p, kind, group);
    clo_synch_batch batch = {kind, group, 1, s->now};

    hold(s, kind, group, 1);
    clo_synch_timeline_place(s->timeline, batch);
    s->running[s->running_count++] = (running){batch, s->now + (time > 0 ? time : 1)};
    s->left[kind]--;
    s->rest--;
}

static void find_merit(greedy *s)
{
    const clo_synch_problem *p = s->p;

    for (uint32_t j = 0; j < p->jobs; j++) {
        int64_t load = 0;
        for (uint32_t k = p->kind_first[j]; k < p->kind_first[j + 1]; k++)
            if (s->left[k] > 0)
                load += clo_synch_plain_load(p, k, clo_synch_fastest(p, k)) * s->left[k] + 1;
        s->merit[j] = load > 0 ? clo_synch_ratio(p->weight[j], INT64_C(1) << 46, load) : -1;
    }
}

static int64_t share_of(const greedy *s, uint32_t kind, uint32_t group)
{
    int64_t largest = 0;

    for (uint32_t i = s->p->bin_first[group]; i < s->p->bin_first[group + 1]; i++) {
        uint32_t bin = s->p->bin_of[i];
        if (s->p->level[bin] > 0)
            continue;
        int64_t share = clo_synch_ratio(clo_synch_use(s->p, kind, bin), SHARE_ONE, s->p->capacity[bin]);
        largest = share > largest ? share : largest;
    }
    return largest;
}

static bool tetris_step(greedy *s)
{
    const clo_synch_problem *p = s->p;
    int64_t best = -1, most = 1;
    uint32_t kind = CLO_NONE, group = 0;

    find_merit(s);
    for (uint32_t j = 0; j < p->jobs; j++)
        most = s->merit[j] > most ? s->merit[j] : most;
    for (uint32_t g = 0; g < p->groups; g++) {
        if (s->used[g] >= p->capacity[g])
            continue;
        for (uint32_t k = 0; k < p->kinds; k++) {
            if (s->left[k] == 0 || !fits(s, k, g))
                continue;
            int64_t score = share_of(s, k, g) + clo_synch_ratio(s->merit[p->job_of[k]], SHARE_ONE, most);
            if (score < best || (score == best && clo_synch_time(p, k, g) >= clo_synch_time(p, kind, group)))
                continue;
            best = score;
            kind = k;
            group = g;
        }
    }
    if (kind != CLO_NONE)
        start(s, kind, group);
    return kind != CLO_NONE;
}

/* The machine's group that runs the kind soonest; CLO_NONE: none can. */
static uint32_t group_on(const clo_synch_problem *p, uint32_t kind, uint32_t machine)
{
    uint32_t best = CLO_NONE;

    for (uint32_t g = 0; g < p->groups; g++)
        if (p->machine_of[g] == machine && clo_synch_time(p, kind, g) != CLO_TIME_NEVER &&
            (best == CLO_NONE || clo_synch_time(p, kind, g) < clo_synch_time(p, kind, best)))
            best = g;
    return best;
}

static void join_queue(greedy *s, uint32_t kind)
{
    const clo_synch_problem *p = s->p;
    int64_t fastest = clo_synch_time(p, kind, clo_synch_fastest(p, kind));
    uint32_t best = CLO_NONE;
    bool has_remote = false;

    for (uint32_t m = 0; m < s->machines; m++) {
        uint32_t g = group_on(p, kind, m);
        if (g == CLO_NONE)
            continue;
        if (clo_synch_time(p, kind, g) > fastest)
            has_remote = true;
        else if (best == CLO_NONE || s->length[m] < s->length[best])
            best = m;
    }
    assert(best != CLO_NONE);
    if (has_remote && s->length[s->machines] < s->length[best])
        best = s->machines;
    s->queue[(size_t)best * p->kinds + kind]++;
    s->length[best]++;
}

/* Starts on the machine what fits of the queue, the first to arrive first. */
static bool serve(greedy *s, uint32_t machine, uint32_t queue)
{
    bool has_started = false;

    for (uint32_t k = 0; k < s->p->kinds && s->length[queue] > 0; k++) {
        uint32_t g = s->queue[(size_t)queue * s->p->kinds + k] > 0 ? group_on(s->p, k, machine) : CLO_NONE;
        while (g != CLO_NONE && s->queue[(size_t)queue * s->p->kinds + k] > 0 && fits(s, k, g)) { /* falls */
            s->queue[(size_t)queue * s->p->kinds + k]--;
            s->length[queue]--;
            start(s, k, g);
            has_started = true;
        }
    }
    return has_started;
}

static void jsq_step(greedy *s)
{
    for (uint32_t m = 0; m < s->machines; m++) {
        bool is_local_first = 2 * s->length[m] >= s->length[s->machines];
        (void)serve(s, m, is_local_first ? m : s->machines);
        (void)serve(s, m, is_local_first ? s->machines : m);
    }
}

/* Ends what is over and lets jobs arrive. Returns when the next job arrives. */
static int64_t take_events(greedy *s)
{
    int64_t next = INT64_MAX;

    for (size_t i = s->running_count; i > 0; i--)
        if (s->running[i - 1].finish_ns <= s->now) {
            hold(s, s->running[i - 1].batch.kind, s->running[i - 1].batch.group, -1);
            s->running[i - 1] = s->running[--s->running_count];
        }
    for (uint32_t j = 0; j < s->p->jobs; j++) {
        if (s->has_arrived[j])
            continue;
        if (s->p->arrival[j] > s->now) {
            next = s->p->arrival[j] < next ? s->p->arrival[j] : next;
            continue;
        }
        s->has_arrived[j] = true;
        for (uint32_t k = s->p->kind_first[j]; k < s->p->kind_first[j + 1]; k++) {
            s->left[k] = s->p->count[k];
            for (uint32_t i = 0; i < s->left[k] && s->rule == CLO_SYNCH_JSQ; i++)
                join_queue(s, k);
        }
    }
    return next;
}

static void drive(greedy *s)
{
    while (s->rest > 0 && !s->timeline->has_failed) { /* every round starts a task or lets time pass to an event */
        int64_t next = take_events(s);
        if (s->rule == CLO_SYNCH_JSQ)
            jsq_step(s);
        else
            while (s->rest > 0 && tetris_step(s)) {
            }
        for (size_t i = 0; i < s->running_count; i++)
            next = s->running[i].finish_ns < next ? s->running[i].finish_ns : next;
        s->now = next;
    }
}

clo_status clo_synch_greedy(const clo_synch_problem *problem, clo_synch_rule rule, clo_synch_timeline *timeline)
{
    const clo_synch_problem *p = problem;
    greedy s = {.p = p, .timeline = timeline, .rule = rule, .machines = clo_platform_machines(p->platform)};
    clo_block block = {0};

    clo_carve(&block, &s.left, p->kinds);
    clo_carve(&block, &s.has_arrived, p->jobs);
    clo_carve(&block, &s.used, p->bins);
    clo_carve(&block, &s.merit, p->jobs);
    clo_carve(&block, &s.queue, rule == CLO_SYNCH_JSQ ? ((size_t)s.machines + 1) * p->kinds : 1);
    clo_carve(&block, &s.length, s.machines + 1);
    clo_carve(&block, &s.running, clo_platform_executors(p->platform));
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a plan");
    s.rest = p->tasks;
    drive(&s);
    clo_free(memory);
    return timeline->has_failed ? clo_fail_memory("a plan") : CLO_OK;
}
