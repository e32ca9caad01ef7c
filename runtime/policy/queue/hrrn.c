/* hrrn.c - highest response ratio next (Brinch Hansen 1971): the job with the largest (wait + work) / work, where
 * `wait` is the time since its arrival and `work` its remaining work; in it the stage that became ready first. Short
 * jobs go first, but a long one that has waited for long enough goes before them.
 *
 * The ratios grow at different speeds, so the order changes while nothing happens. The jobs are the leaves of a
 * tournament; each match knows until when its result holds, and the matches above know the earliest of these. A
 * decision plays again only what does not hold any more (a kinetic tournament: Basch, Guibas, Hershberger 1999).
 * Exact, in integers. O(log jobs) an event; a decision O(log jobs) for each result that has changed since the last
 * one. */
#include "policy/select/policies.h"
#include "policy/select/select.h"

#include "base/numbers/saturate.h"
#include "base/order/tournament.h"
#include "platform/model/platform.h"

#include <string.h>

/* Deeper than any tree of UINT32_MAX leaves. */
enum { DEPTH_MAX = 33 };

typedef struct hrrn_match {
    int64_t until_ns; /* the results of this match and of those below hold up to here */
    uint32_t winner;  /* slot; CLO_NONE: nobody */
} hrrn_match;

typedef struct hrrn_entry {
    uint64_t id;
    int64_t arrival_ns, work_ns;
    uint32_t band;
} hrrn_entry;

typedef struct hrrn {
    uint32_t leaves; /* a power of two */
    uint32_t aside_count;
    hrrn_entry *entries; /* [jobs] of those that play */
    hrrn_match *matches; /* [bands][2 * leaves] the final at 1, the leaf of slot s at leaves + s */
    uint32_t *aside;     /* [jobs] slots passed in one decision */
} hrrn;

static size_t hrrn_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(hrrn) + (size_t)limits->jobs * (sizeof(hrrn_entry) + sizeof(uint32_t)) +
           (size_t)CLO_BANDS_MAX * 2 * clo_tournament_leaves(limits->jobs) * sizeof(hrrn_match);
}

static clo_status hrrn_init(void *state, const clo_view *view)
{
    uint32_t jobs = clo_view_limits(view)->jobs;
    hrrn *h = state;

    h->leaves = clo_tournament_leaves(jobs);
    h->entries = (hrrn_entry *)(h + 1);
    h->matches = (hrrn_match *)(h->entries + jobs);
    h->aside = (uint32_t *)(h->matches + (size_t)CLO_BANDS_MAX * 2 * h->leaves);
    for (size_t i = 0; i < (size_t)CLO_BANDS_MAX * 2 * h->leaves; i++)
        h->matches[i] = (hrrn_match){INT64_MAX, CLO_NONE};
    return CLO_OK;
}

/* wait_a / work_a against wait_b / work_b, crosswise; no ratio of two times overflows. Ties: who came first. */
static bool beats(const hrrn_entry *a, const hrrn_entry *b, int64_t now_ns)
{
    clo_u128 left = (clo_u128)(uint64_t)clo_time_sub(now_ns, a->arrival_ns) * (uint64_t)b->work_ns;
    clo_u128 right = (clo_u128)(uint64_t)clo_time_sub(now_ns, b->arrival_ns) * (uint64_t)a->work_ns;

    return left != right ? left > right : a->id < b->id;
}

/* Until when `a`, which leads now, leads `b`: for ever where b's ratio grows no faster. */
static int64_t leads_until_ns(const hrrn_entry *a, const hrrn_entry *b, int64_t now_ns)
{
    if (b->work_ns >= a->work_ns)
        return INT64_MAX;
    clo_u128 ahead = (clo_u128)(uint64_t)clo_time_sub(now_ns, a->arrival_ns) * (uint64_t)b->work_ns -
                     (clo_u128)(uint64_t)clo_time_sub(now_ns, b->arrival_ns) * (uint64_t)a->work_ns;
    uint64_t gain = (uint64_t)(a->work_ns - b->work_ns);
    if (ahead > 0 && b->id < a->id) /* an equal ratio would be lost */
        ahead--;
    clo_u128 wait = ahead / gain;
    return wait > INT64_MAX ? INT64_MAX : clo_time_add(now_ns, (int64_t)wait);
}

static void play(const hrrn *h, hrrn_match *tree, uint32_t at, int64_t now_ns)
{
    const hrrn_match *a = &tree[2 * at], *b = &tree[2 * at + 1];
    int64_t until_ns = a->until_ns < b->until_ns ? a->until_ns : b->until_ns, own_ns = INT64_MAX;

    if (a->winner == CLO_NONE || b->winner == CLO_NONE) {
        tree[at] = (hrrn_match){until_ns, a->winner != CLO_NONE ? a->winner : b->winner};
        return;
    }
    const hrrn_entry *x = &h->entries[a->winner], *y = &h->entries[b->winner];
    bool is_first = beats(x, y, now_ns);
    own_ns = is_first ? leads_until_ns(x, y, now_ns) : leads_until_ns(y, x, now_ns);
    tree[at] = (hrrn_match){own_ns < until_ns ? own_ns : until_ns, is_first ? a->winner : b->winner};
}

/* The slot plays, or plays no more, from now on. */
static void enter(hrrn *h, uint32_t slot, bool plays, int64_t now_ns)
{
    hrrn_match *tree = h->matches + (size_t)h->entries[slot].band * 2 * h->leaves;

    tree[h->leaves + slot].winner = plays ? slot : CLO_NONE;
    for (uint32_t at = (h->leaves + slot) / 2; at > 0; at /= 2)
        play(h, tree, at, now_ns);
}

static bool is_in(const hrrn *h, uint32_t slot)
{
    return h->matches[(size_t)h->entries[slot].band * 2 * h->leaves + h->leaves + slot].winner != CLO_NONE;
}

static void hrrn_event(void *state, const clo_view *view, const clo_event *event)
{
    hrrn *h = state;
    int64_t now_ns = clo_view_now_ns(view);

    if (event->job == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    hrrn_entry *entry = &h->entries[event->job];
    bool plays = job->first_ready != CLO_NONE && event->kind != CLO_EVENT_CANCEL && event->kind != CLO_EVENT_END;
    if (event->kind == CLO_EVENT_ARRIVE) {
        *entry = (hrrn_entry){job->id, job->arrival_ns, 0, job->band};
        return;
    }
    int64_t work_ns = job->remaining_ns > 0 ? job->remaining_ns : 1;
    if (plays == is_in(h, event->job) && (!plays || entry->work_ns == work_ns))
        return;
    entry->work_ns = work_ns;
    enter(h, event->job, plays, now_ns);
}

/* Plays again below the final what does not hold any more, from the leaves up. Ends where the decision's bound is
 * reached: then an older result stands. */
static void refresh(hrrn *h, hrrn_match *tree, const clo_view *view)
{
    struct {
        uint32_t at;
        bool is_below_done;
    } stack[2 * DEPTH_MAX];
    int64_t now_ns = clo_view_now_ns(view);
    uint32_t depth = 0;

    if (tree[1].until_ns < now_ns)
        stack[depth++].at = 1, stack[0].is_below_done = false;
    while (depth > 0) { /* each match is put on it once at most */
        uint32_t at = stack[depth - 1].at;
        if (stack[depth - 1].is_below_done) {
            play(h, tree, at, now_ns);
            depth--;
            continue;
        }
        if (!clo_view_step(view))
            return;
        stack[depth - 1].is_below_done = true;
        for (uint32_t child = 2 * at; child <= 2 * at + 1; child++)
            if (child < h->leaves && tree[child].until_ns < now_ns) {
                stack[depth].at = child;
                stack[depth++].is_below_done = false;
            }
    }
}

static uint32_t first(void *order, const clo_view *view, uint32_t band)
{
    hrrn *h = order;
    hrrn_match *tree = h->matches + (size_t)band * 2 * h->leaves;

    if (h->leaves > 1)
        refresh(h, tree, view);
    return tree[1].winner;
}

static void pass(void *order, const clo_view *view, uint32_t band)
{
    hrrn *h = order;
    uint32_t slot = h->matches[(size_t)band * 2 * h->leaves + 1].winner;

    enter(h, slot, false, clo_view_now_ns(view));
    h->aside[h->aside_count++] = slot;
}

static void restore(void *order, const clo_view *view)
{
    hrrn *h = order;

    while (h->aside_count > 0)
        enter(h, h->aside[--h->aside_count], true, clo_view_now_ns(view));
}

static const clo_job_order by_ratio = {.first = first, .pass = pass, .restore = restore, .pick = clo_select_oldest};

static bool hrrn_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    return clo_select_by(&by_ratio, state, view, may, choice);
}

static bool hrrn_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return hrrn_select(state, view, clo_select_startable, choice);
}

const clo_policy clo_policy_hrrn = {
    .size = sizeof(clo_policy),
    .name = "hrrn",
    .summary = "the job with the highest (wait + remaining work) / remaining work first, in it the oldest ready stage",
    .state_bytes = hrrn_bytes,
    .init = hrrn_init,
    .event = hrrn_event,
    .decide = hrrn_decide,
};

const clo_selector clo_selector_hrrn = {&clo_policy_hrrn, hrrn_select, NULL};
