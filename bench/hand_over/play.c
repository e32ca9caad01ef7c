/* play.c - see play.h. An event is the next thing that a worker does; the earliest comes first, of equals the one with
 * the lowest number. What a worker does at one moment is seen by all others from that moment on. */
#include "hand_over/play.h"

#include "run/sharing/share_rule.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, BYPASSES_MAX = 32, PACE_ITEMS = 64, PAUSES_MAX = 32, LINE_COUNTERS = 8 };

const play_costs play_costs_default = {.task = 12,
                                       .hit = 3,
                                       .line = 50,
                                       .give = 50,
                                       .take = 50,
                                       .push = 30,
                                       .steal = 30,
                                       .look = 1,
                                       .pause = 27,
                                       .call = 5000,
                                       .wake = 8000,
                                       .spin = 20000};

/* LOOKS: for work, between two looks. WAKES: on its way out of sleep. */
typedef enum doing { BEGINS, ENDS, LOOKS, SLEEPS, WAKES } doing;

typedef struct player {
    doing next;
    int64_t at_ns; /* when it does it */
    int32_t item;
    int64_t body_end_ns;
    uint32_t old, young; /* deque[old .. young-1] */
    int32_t *deque, *list;
    uint32_t listed; /* list[listed-1] is on top */
    int32_t mailbox;
    uint32_t asked; /* 1 + worker */
    uint32_t feeds, fed, exchanges, judged, affinity_stride, ran, bypasses, pauses;
    bool keeps_last, has_affinity, is_trusted;
    int64_t task_time_ns, task_time_since_ns, declined_ns, look_until_ns;
} player;

typedef struct stage {
    const bench_graph *graph;
    const int64_t *body_ns;
    const play_costs *costs;
    uint32_t count, sleepers;
    player players[PLAY_WORKERS_MAX];
    int32_t *items; /* memory of deques and lists */
    uint32_t *left; /* of each task: predecessors */
    int8_t *owner;  /* of each line of counters: who wrote it last */
    bool *has_ended;
    int64_t *idle_at; /* of each task: idle_ns when it became ready */
    int64_t now_ns, idle_ns;
    uint32_t ready; /* tasks that wait */
    uint64_t random;
    play_result *out;
} stage;

static uint32_t deque_count(const player *p)
{
    return p->young - p->old;
}

static void wake(stage *s, player *by, player *p)
{
    if (p->next != SLEEPS)
        return;
    p->next = WAKES;
    p->at_ns = s->now_ns + s->costs->wake;
    by->at_ns += s->costs->call;
    s->out->wakes++;
}

static void wake_one(stage *s, player *by)
{
    for (uint32_t w = 0; w < s->count && s->sleepers > 0; w++)
        if (s->players[w].next == SLEEPS) {
            wake(s, by, &s->players[w]);
            return;
        }
}

/* As clo_runtime_call: one that looks will find it, else a sleeper is woken. */
static void call(stage *s, player *by)
{
    for (uint32_t w = 0; w < s->count && s->sleepers > 0; w++)
        if (s->players[w].next == LOOKS) {
            s->players[w].is_trusted = true;
            return;
        }
    wake_one(s, by);
}

/* As publish of share.c: the oldest, the youngest of them on top. */
static void publish(stage *s, player *p, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        p->list[p->listed++] = p->deque[p->old++];
    p->at_ns += s->costs->push;
}

static void hold_out(stage *s, player *p)
{
    player *fed = &s->players[p->fed];

    if (clo_share_stops_feeding(p->task_time_ns, fed->next == SLEEPS)) {
        p->feeds = 0;
        p->has_affinity = p->task_time_ns >= CLO_WORTH_NS;
    }
    if (!clo_share_holds_out(p->feeds, deque_count(p)))
        return;
    if (fed->mailbox != NONE) {
        p->feeds--;
        return;
    }
    fed->mailbox = p->deque[p->old++];
    p->feeds = CLO_FEEDS;
    p->exchanges++;
    p->at_ns += s->costs->give;
    if (fed->next == LOOKS && fed->at_ns > s->now_ns + s->costs->pause) /* its pause ends when it sees it */
        fed->at_ns = s->now_ns + s->costs->pause;
    s->out->hand_overs++;
}

/* As the rule, but for the part that is left out. */
static bool prefers(const stage *s, const player *p, uint32_t task, uint32_t kept, uint32_t successor)
{
    if (s->costs->without == PLAY_STAGE)
        return p->keeps_last;
    return clo_share_prefers(p->affinity_stride, p->keeps_last, task, kept, successor);
}

static clo_share_choice choose(const stage *s, clo_share_view *view)
{
    if (s->costs->without == PLAY_SUM)
        view->declined_ns = INT64_MIN / 2; /* never reaches what a wake is worth */
    clo_share_choice choice = clo_share_choose(view);
    if (s->costs->without != PLAY_FEEDING || !choice.feeds)
        return choice;
    choice.feeds = false;
    choice.has_affinity = view->count <= CLO_NARROW_ITEMS;
    if (choice.holds_out)
        choice.publish = (view->count + 1) / 2;
    choice.holds_out = false;
    return choice;
}

/* As clo_worker_share. */
static void share(stage *s, player *p, int64_t next_ns)
{
    clo_share_view view = {.task_time_ns = p->task_time_ns,
                           .next_ns = next_ns,
                           .count = deque_count(p),
                           .is_asked = p->asked != 0,
                           .declined_ns = p->declined_ns};
    clo_share_choice choice = choose(s, &view);
    uint32_t asked = p->asked;

    p->declined_ns = view.declined_ns;
    p->has_affinity = choice.has_affinity;
    p->exchanges += choice.publish;
    if (choice.answers)
        p->asked = 0;
    if (choice.feeds) {
        p->feeds = CLO_FEEDS;
        p->fed = asked - 1;
    }
    if (choice.holds_out)
        hold_out(s, p);
    if (choice.publish > 0)
        publish(s, p, choice.publish);
    if (choice.stops_feeding)
        p->feeds = 0;
    if (choice.wakes)
        call(s, p);
}

/* As clo_worker_look_up. */
static void look_up(stage *s, player *p, int64_t next_ns)
{
    bool is_slow = clo_share_is_slow(p->task_time_ns, next_ns);

    if (deque_count(p) == 0) {
        if (p->feeds > 0 && is_slow) {
            p->feeds = 0;
            wake_one(s, p);
        }
    } else if (p->asked != 0 || is_slow || s->sleepers != 0) {
        share(s, p, next_ns);
    } else if (p->feeds > 0) {
        hold_out(s, p);
    }
}

static void take_pace(stage *s, player *p)
{
    if (p->ran > 0) {
        p->task_time_ns = clo_share_pace(p->task_time_ns, (s->now_ns - p->task_time_since_ns) / p->ran + 1);
        p->judged += p->ran;
        if (p->judged >= CLO_JUDGED_ITEMS) {
            if (s->costs->without != PLAY_ORDER && clo_share_is_restless(p->exchanges, p->judged)) {
                p->keeps_last = !p->keeps_last;
                p->affinity_stride = 0;
            }
            p->judged = p->exchanges = 0;
        }
    }
    p->ran = 0;
    p->task_time_since_ns = s->now_ns;
}

static void begin(stage *s, player *p)
{
    uint32_t task = (uint32_t)p->item;

    for (uint32_t e = s->graph->pred_first[task]; e < s->graph->pred_first[task + 1]; e++)
        s->out->is_ordered = s->out->is_ordered && s->has_ended[s->graph->pred[e]];
    s->ready--;
    if (s->idle_ns - s->idle_at[task] > s->out->waited_ns)
        s->out->waited_ns = s->idle_ns - s->idle_at[task];
    look_up(s, p, s->body_ns[task]);
    p->at_ns += s->costs->task + s->body_ns[task];
    p->next = ENDS;
}

static void add_ready(stage *s, uint32_t task)
{
    s->ready++;
    s->idle_at[task] = s->idle_ns;
}

/* The counters of what the task releases. Returns what is run next. */
static int32_t release(stage *s, player *p, uint32_t task)
{
    int32_t kept = NONE;
    int8_t me = (int8_t)(p - s->players);

    for (uint32_t e = s->graph->succ_first[task]; e < s->graph->succ_first[task + 1]; e++) {
        uint32_t successor = s->graph->succ[e];
        int8_t *owner = &s->owner[successor / LINE_COUNTERS];
        p->at_ns += *owner == me ? s->costs->hit : s->costs->line;
        *owner = me;
        if (--s->left[successor] > 0)
            continue;
        add_ready(s, successor);
        bool swaps = kept != NONE && p->has_affinity && prefers(s, p, task, (uint32_t)kept, successor);
        if (kept != NONE)
            p->deque[p->young++] = swaps ? kept : (int32_t)successor;
        if (kept == NONE || swaps)
            kept = (int32_t)successor;
    }
    if (p->has_affinity && kept != NONE)
        p->affinity_stride = (uint32_t)kept - task;
    return kept;
}

static int32_t take_mailbox(stage *s, player *p, player *of)
{
    int32_t item = of->mailbox;

    if (item == NONE)
        return NONE;
    of->mailbox = NONE;
    p->at_ns += s->costs->take;
    p->exchanges++;
    return item;
}

static int32_t take_list(stage *s, player *p, player *of)
{
    if (of->listed == 0)
        return NONE;
    int32_t first = of->list[--of->listed];
    p->at_ns += p == of ? s->costs->hit : s->costs->steal;
    s->out->steals += p != of;
    p->exchanges += p != of;
    if (p->task_time_ns > CLO_SHORT_NS) { /* the rest stays public: ours */
        if (p != of)
            while (of->listed > 0)
                p->list[p->listed++] = of->list[--of->listed];
        if (p->listed > 0)
            wake_one(s, p);
        return first;
    }
    while (of->listed > 0)
        p->deque[--p->old] = of->list[--of->listed];
    return first;
}

static int32_t take_own(stage *s, player *p)
{
    if (deque_count(p) > 0)
        return p->deque[--p->young];
    int32_t item = take_mailbox(s, p, p);
    return item != NONE ? item : take_list(s, p, p);
}

static int32_t steal(stage *s, player *p)
{
    uint32_t offset = s->count > 2 ? bench_random_below(&s->random, s->count) : 0;

    for (uint32_t i = 0; i < s->count; i++) {
        player *victim = &s->players[(offset + i) % s->count];
        if (victim == p)
            continue;
        p->at_ns += s->costs->look;
        int32_t item = take_mailbox(s, p, victim);
        if (item == NONE)
            item = take_list(s, p, victim);
        if (item != NONE)
            return item;
    }
    return NONE;
}

/* As end_lookout, where it was relied on. */
static void pass_on(stage *s, player *p)
{
    bool has_public = false;

    for (uint32_t w = 0; w < s->count; w++)
        has_public = has_public || s->players[w].listed > 0;
    if (p->is_trusted && has_public)
        wake_one(s, p);
    p->is_trusted = false;
}

static void start(stage *s, player *p, int32_t item)
{
    pass_on(s, p);
    p->item = item;
    p->next = BEGINS;
    p->ran = p->bypasses = 0;
    p->task_time_since_ns = s->now_ns;
}

static void ask(stage *s, const player *p)
{
    for (uint32_t w = 0; w < s->count; w++)
        if (&s->players[w] != p && s->players[w].asked == 0)
            s->players[w].asked = (uint32_t)(p - s->players) + 1;
}

static void pause(stage *s, player *p)
{
    ask(s, p);
    p->at_ns += p->pauses * s->costs->pause;
    p->pauses = p->pauses < PAUSES_MAX ? 2 * p->pauses : PAUSES_MAX;
    p->next = LOOKS;
}

static void begin_to_look(stage *s, player *p)
{
    int32_t item = take_own(s, p);

    if (item == NONE)
        item = steal(s, p);
    if (item != NONE) {
        start(s, p, item);
        return;
    }
    p->pauses = 4;
    p->look_until_ns = s->now_ns + s->costs->spin;
    pause(s, p);
}

static void look(stage *s, player *p)
{
    int32_t item = take_own(s, p);

    if (item == NONE)
        item = steal(s, p);
    if (item != NONE) {
        start(s, p, item);
    } else if (s->now_ns < p->look_until_ns) {
        pause(s, p);
    } else {
        p->next = SLEEPS;
        p->is_trusted = false;
        s->sleepers++;
    }
}

/* A chain of successors gives way to what has waited longest. */
static int32_t rotate(stage *s, player *p, int32_t item)
{
    int32_t other = deque_count(p) > 0 ? p->deque[p->old++] : take_mailbox(s, p, p);

    if (other == NONE)
        other = take_list(s, p, p);
    if (other == NONE)
        return item;
    p->deque[p->young++] = item;
    return other;
}

static void end(stage *s, player *p)
{
    uint32_t task = (uint32_t)p->item;

    s->has_ended[task] = true;
    s->out->ran++;
    int32_t item = release(s, p, task);
    p->bypasses++;
    p->next = BEGINS;
    if (item == NONE || p->bypasses >= BYPASSES_MAX) {
        p->ran += p->bypasses;
        p->bypasses = 0;
        if (p->ran >= PACE_ITEMS)
            take_pace(s, p);
        item = item == NONE ? take_own(s, p) : rotate(s, p, item);
    }
    p->item = item;
    if (item != NONE)
        return;
    take_pace(s, p);
    begin_to_look(s, p);
}

static void step(stage *s, player *p)
{
    switch (p->next) {
    case BEGINS:
        begin(s, p);
        break;
    case ENDS:
        end(s, p);
        break;
    case WAKES:
        s->sleepers--;
        begin_to_look(s, p);
        break;
    default:
        look(s, p);
    }
}

static player *earliest(stage *s)
{
    player *best = NULL;

    for (uint32_t w = 0; w < s->count; w++) {
        player *p = &s->players[w];
        if (p->next != SLEEPS && (best == NULL || p->at_ns < best->at_ns))
            best = p;
    }
    return best;
}

/* Worker time that is lost until the moment `to_ns`. */
static void account(stage *s, int64_t to_ns)
{
    uint32_t idle = 0;

    for (uint32_t w = 0; w < s->count; w++)
        idle += s->players[w].next >= LOOKS;
    int64_t passed_ns = to_ns - s->now_ns;
    s->idle_ns += idle > 0 ? passed_ns : 0;
    s->out->lost_ns += passed_ns * (idle < s->ready ? idle : s->ready);
    s->now_ns = to_ns;
}

static bool open_stage(stage *s)
{
    uint32_t tasks = s->graph->tasks;
    size_t room = 4 * (size_t)tasks + 4;

    s->items = calloc(s->count * room, sizeof *s->items);
    s->left = calloc(tasks, sizeof *s->left);
    s->owner = calloc(tasks / LINE_COUNTERS + 1, sizeof *s->owner);
    s->has_ended = calloc(tasks, sizeof *s->has_ended);
    s->idle_at = calloc(tasks, sizeof *s->idle_at);
    for (uint32_t w = 0; w < s->count && s->items != NULL; w++) {
        player *p = &s->players[w];
        *p = (player){.next = SLEEPS, .item = NONE, .mailbox = NONE};
        p->list = s->items + w * room;
        p->deque = p->list + tasks;
        p->old = p->young = tasks; /* either end moves by one for each task at most, and back */
    }
    return s->items != NULL && s->left != NULL && s->owner != NULL && s->has_ended != NULL && s->idle_at != NULL;
}

static void close_stage(stage *s)
{
    free(s->items);
    free(s->left);
    free(s->owner);
    free(s->has_ended);
    free(s->idle_at);
}

/* All workers sleep; the roots lie on the shared pool of the first, which is woken, as at a submit. */
static void submit(stage *s)
{
    player *first = &s->players[0];

    s->sleepers = s->count;
    for (uint32_t t = 0; t < s->graph->tasks; t++) {
        s->left[t] = s->graph->pred_first[t + 1] - s->graph->pred_first[t];
        if (s->left[t] > 0)
            continue;
        first->list[first->listed++] = (int32_t)t;
        add_ready(s, t);
    }
    for (uint32_t w = 0; w < s->count && w < s->ready; w++) {
        s->players[w].next = WAKES;
        s->players[w].at_ns = s->costs->wake;
    }
}

/* Greedy: whoever is free takes what became ready first. */
static bool schedule_greedily(const bench_graph *g, const int64_t *body_ns, uint32_t workers, play_result *out)
{
    int64_t *path_ns = calloc(g->tasks, sizeof *path_ns);
    uint32_t *left = calloc(g->tasks, sizeof *left), *queue = calloc(g->tasks, sizeof *queue);
    int64_t end_ns[PLAY_WORKERS_MAX] = {0};
    int32_t busy[PLAY_WORKERS_MAX];
    uint32_t head = 0, tail = 0;
    bool is_good = path_ns != NULL && left != NULL && queue != NULL;

    for (uint32_t w = 0; w < workers; w++)
        busy[w] = NONE;
    for (uint32_t t = 0; t < g->tasks && is_good; t++) {
        left[t] = g->pred_first[t + 1] - g->pred_first[t];
        if (left[t] == 0)
            queue[tail++] = t;
    }
    for (int64_t now_ns = 0; is_good;) { /* each turn begins what it can, then ends one */
        uint32_t next = workers;
        for (uint32_t w = 0; w < workers; w++) {
            if (busy[w] == NONE && head < tail) {
                busy[w] = (int32_t)queue[head++];
                end_ns[w] = now_ns + body_ns[busy[w]];
            }
            if (busy[w] != NONE && (next == workers || end_ns[w] < end_ns[next]))
                next = w;
        }
        if (next == workers)
            break;
        uint32_t task = (uint32_t)busy[next];
        now_ns = end_ns[next];
        busy[next] = NONE;
        out->greedy_ns = now_ns;
        out->work_ns += body_ns[task];
        path_ns[task] += body_ns[task];
        if (path_ns[task] > out->critical_ns)
            out->critical_ns = path_ns[task];
        for (uint32_t e = g->succ_first[task]; e < g->succ_first[task + 1]; e++) {
            uint32_t successor = g->succ[e];
            if (path_ns[task] > path_ns[successor])
                path_ns[successor] = path_ns[task];
            if (--left[successor] == 0)
                queue[tail++] = successor;
        }
    }
    free(path_ns);
    free(left);
    free(queue);
    return is_good;
}

bool play(const bench_graph *graph, const int64_t *body_ns, uint32_t workers, const play_costs *costs, play_result *out)
{
    stage s = {.graph = graph, .body_ns = body_ns, .costs = costs, .count = workers, .random = 1, .out = out};
    bool is_good = workers >= 1 && workers <= PLAY_WORKERS_MAX;

    *out = (play_result){.is_ordered = true};
    is_good = is_good && schedule_greedily(graph, body_ns, workers, out) && open_stage(&s);
    if (is_good)
        submit(&s);
    while (is_good && out->ran < graph->tasks) { /* who looks moves on, and ends by sleeping: then nobody is left */
        player *p = earliest(&s);
        if (p == NULL)
            break; /* a task is lost: `ran` tells */
        account(&s, p->at_ns);
        step(&s, p);
    }
    out->makespan_ns = s.now_ns;
    close_stage(&s);
    return is_good;
}

int64_t play_lower_ns(const play_result *result, uint32_t workers)
{
    int64_t share_ns = result->work_ns / workers;

    return share_ns > result->critical_ns ? share_ns : result->critical_ns;
}

int64_t play_mixed_ns(uint64_t *random)
{
    return (int64_t)100 << bench_random_below(random, 10);
}
