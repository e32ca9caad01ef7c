/* easy_network.c - see easy_network.h. */
#include "policy/network/easy_network.h"

#include "base/memory.h"
#include "base/numbers/log2.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "learn/infer/easy_features.h"
#include "policy/select/share.h"

/* A share of 1 as a feature, and a place. */
enum { SHARE_LOG2 = 6, PLACE = 4 };
_Static_assert((int)CLO_EASY_FEATURES <= (int)CLO_ANSWERS_FEATURES_MAX, "room for a row");
_Static_assert((int)CLO_EASY_CANDIDATES_MAX <= (int)CLO_ANSWERS_ROWS_MAX, "all candidates at once");

const clo_answers_kind clo_easy_answers = {.policy = "easy-residual",
                                           .rule = "easy-parametric",
                                           .command = "easy-residual",
                                           .argument = "FILE",
                                           .feature_set = CLO_FEATURES_EASY,
                                           .features = CLO_EASY_FEATURES,
                                           .limit_features = CLO_EASY_FEATURES};

struct clo_easy_network {
    clo_answers *network;
    int32_t next_log[CLO_EASY_CANDIDATES_MAX]; /* on the machine of each candidate */
    int64_t next_ns;                           /* the first of these times, from now on; INT64_MAX: none */
    bool is_known;                             /* all features of all candidates are within the ranges of training */
    int16_t rows[CLO_EASY_CANDIDATES_MAX * CLO_EASY_FEATURES];
};

size_t clo_easy_network_bytes(const clo_model *model)
{
    return CLO_CACHE_LINE_BYTES + clo_answers_up(sizeof(clo_easy_network)) +
           clo_answers_bytes(model, CLO_EASY_CANDIDATES_MAX);
}

clo_easy_network *clo_easy_network_open(const clo_residual_argument *argument, void *memory)
{
    unsigned char *at = memory;

    at += clo_answers_up((uintptr_t)at) - (uintptr_t)at;
    clo_easy_network *n = (void *)at;
    n->network = clo_answers_open(&clo_easy_answers, argument, CLO_EASY_CANDIDATES_MAX, at + clo_answers_up(sizeof *n));
    return n;
}

enum { ROOM_BYTES = 8192 };

static clo_status open_built_in(void *room, size_t *room_bytes, clo_residual_argument *with)
{
    clo_status status = clo_answers_read(&clo_easy_answers, NULL, with);

    return status == CLO_OK
               ? clo_answers_put_model(&clo_easy_answers, &clo_builtin_easy_residual, room, room_bytes, with)
               : status;
}

size_t clo_easy_network_built_in_bytes(void)
{
    _Alignas(16) unsigned char room[ROOM_BYTES];
    size_t room_bytes = sizeof room;
    clo_residual_argument with;

    if (open_built_in(room, &room_bytes, &with) != CLO_OK)
        return 0; /* a big-endian machine opens no model */
    return clo_answers_up(room_bytes) + clo_easy_network_bytes(with.model);
}

clo_easy_network *clo_easy_network_built_in(void *memory)
{
    size_t room_bytes = ROOM_BYTES;
    clo_residual_argument with;

    if (open_built_in(memory, &room_bytes, &with) != CLO_OK)
        return NULL;
    return clo_easy_network_open(&with, (char *)memory + clo_answers_up(room_bytes));
}

/* The time until the first of what runs on the machine is expected to end; INT64_MAX: nothing runs there that is not late.
 * Nobody waits for what is: it may go on for ever. */
static int64_t find_next(const clo_view *view, uint32_t machine)
{
    const clo_platform *platform = clo_view_limits(view)->platform;
    int64_t next_ns = INT64_MAX, now_ns = clo_view_now_ns(view);

    for (uint32_t e = 0; e < platform->executors_count; e++) {
        const clo_live_executor *row = clo_view_executor(view, e);
        if (platform->executors[e].machine != machine || (row->job == CLO_NONE && row->committed == 0) ||
            row->free_ns < now_ns)
            continue;
        int64_t in_ns = row->free_ns > now_ns ? row->free_ns - now_ns : 1;
        next_ns = in_ns < next_ns ? in_ns : next_ns;
    }
    return next_ns;
}

static int32_t share(int64_t part, int64_t whole)
{
    return (int32_t)(clo_share(part, whole) >> (32 - SHARE_LOG2));
}

/* The machine's limited resources: what is free, what the instance holds, and what it would leave. */
static void fill_shares(const clo_view *view, const clo_candidate *c, int32_t *raw)
{
    const clo_cost *cost = clo_view_job(view, c->job)->cost;
    const int64_t *demand = clo_graph_demand(cost->graph, c->stage);
    uint32_t machine = cost->platform->executors[c->executor].machine;
    int64_t holds[CLO_RESOURCES_MAX] = {0};
    int32_t least = 1 << SHARE_LOG2, rest = 1 << SHARE_LOG2, free = 0, held = 0, limited = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && cost->resource_of[r] != CLO_NONE)
            holds[cost->resource_of[r]] = demand[r];
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = cost->platform->capacities[(size_t)machine * CLO_RESOURCES_MAX + r];
        if (capacity <= 0)
            continue;
        int64_t left = clo_view_capacity_left(view, machine, r);
        int32_t now = share(left, capacity), then = share(left > holds[r] ? left - holds[r] : 0, capacity);
        least = now < least ? now : least;
        rest = then < rest ? then : rest;
        free += now;
        held += share(holds[r], capacity);
        limited++;
    }
    raw[CLO_EASY_LEAST] = least;
    raw[CLO_EASY_FREE] = limited > 0 ? free / limited : 1 << SHARE_LOG2;
    raw[CLO_EASY_REST] = rest;
    raw[CLO_EASY_DEMAND] = held;
}

/* A logarithm in Q16 in sixteenths. */
static int32_t in_16ths(int32_t log_q16)
{
    return log_q16 >> 12;
}

static void fill(const clo_view *view, const clo_easy_choice *c, uint32_t i, int32_t next, int32_t *raw)
{
    const clo_easy_candidate *of = &c->list[i];
    int32_t unit = c->unit_log;

    raw[CLO_EASY_WORK] = in_16ths(of->work_log - unit);
    raw[CLO_EASY_RELATIVE] = in_16ths(of->work_log - c->typical_log);
    raw[CLO_EASY_AREA] = in_16ths(of->area_log - unit);
    raw[CLO_EASY_TIME] = in_16ths(of->time_log - unit);
    raw[CLO_EASY_BEHIND] = in_16ths(of->behind_log - unit);
    raw[CLO_EASY_STARTABLE] = in_16ths(of->ready_log);
    raw[CLO_EASY_FIT] = (int32_t)(clo_time_mul(of->at.fit_q16, 1 << SHARE_LOG2) / c->mean_fit_q16);
    fill_shares(view, &of->at, raw);
    raw[CLO_EASY_JOBS] = in_16ths(clo_log2_q16(clo_view_jobs(view)));
    raw[CLO_EASY_CANDIDATES] = in_16ths(clo_log2_q16(c->count));
    raw[CLO_EASY_WAIT] = c->has_kept ? in_16ths(c->wait_log - unit) : 0;
    raw[CLO_EASY_FIRST] = c->has_kept ? in_16ths(c->first_log - unit) : 0;
    raw[CLO_EASY_DELAYS] = of->delays ? 1 << SHARE_LOG2 : 0;
    raw[CLO_EASY_PLACE] = (int32_t)of->place * PLACE;
    raw[CLO_EASY_NEXT] = next != INT32_MAX ? in_16ths(next - unit) : 0;
}

void clo_easy_network_scores(clo_easy_network *n, const clo_view *view, const clo_easy_choice *c, int32_t *scores)
{
    const clo_platform *platform = clo_view_limits(view)->platform;
    uint32_t machine = CLO_NONE;
    int32_t raw[CLO_EASY_FEATURES], next = 0;

    n->is_known = true;
    n->next_ns = INT64_MAX;
    for (uint32_t i = 0; i < c->count && n->is_known; i++) {
        if (platform->executors[c->list[i].at.executor].machine != machine) {
            machine = platform->executors[c->list[i].at.executor].machine;
            if (!(n->is_known = clo_view_steps(view, platform->executors_count)))
                return;
            int64_t next_ns = find_next(view, machine);
            n->next_ns = next_ns < n->next_ns ? next_ns : n->next_ns;
            next = next_ns != INT64_MAX ? clo_log2_q16((uint64_t)next_ns) : INT32_MAX;
        }
        n->next_log[i] = next;
        fill(view, c, i, next, raw);
        n->is_known = clo_answers_row(n->network, raw, n->rows + (size_t)i * CLO_EASY_FEATURES);
    }
    if (!n->is_known)
        return;
    clo_answers_values(n->network, n->rows, c->count, scores);
    for (uint32_t i = 0; i < c->count; i++)
        clo_answers_tell(n->network, n->rows + (size_t)i * CLO_EASY_FEATURES, scores[i], 0);
}

bool clo_easy_network_lets(clo_easy_network *n, const clo_easy_choice *c, uint32_t i)
{
    const clo_easy_candidate *of = &c->list[i];

    if (!n->is_known)
        return of->may > 0;
    int64_t said = clo_answers_limit(n->network, n->rows + (size_t)i * CLO_EASY_FEATURES);
    bool need_not_wait = n->next_log[i] == INT32_MAX ? of->may > 0 : !of->delays && of->time_log <= n->next_log[i];
    return of->may + said * 65536 > 0 || need_not_wait;
}

int64_t clo_easy_network_wake_ns(const clo_easy_network *n, const clo_view *view)
{
    return n->is_known && n->next_ns != INT64_MAX ? clo_time_add(clo_view_now_ns(view), clo_time_add(n->next_ns, 1))
                                                  : 0;
}
