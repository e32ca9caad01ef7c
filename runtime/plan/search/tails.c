/* plan/search/tails.c - a search in list schedules, for small budgets.
 *
 * A list schedule by earliest finish does not see what a choice of executor means for the readers. Where a plan of the
 * whole graph is known, that is no guess: the *tail* of task t on executor e is the longest way from its end to the end
 * of all if its readers stay where that plan has them,
 *
 *     tail(t, e) = max over readers c of  transfer(t -> c, e, executor(c)) + time(c) + tail(c, executor(c)).
 *
 * The next schedule takes the tasks in order of time + tail, and puts each where finish + part * tail is least (DEFT's
 * choice otherwise, duplicates included). Its plan gives the next tails if it is not longer. PEFT (Arabnejad and
 * Barbosa 2014) has the same sum in a table with the best executor for each reader. One pass more costs no more than
 * that table, and sees where the readers really went, so the passes improve one another.
 *
 * The first pass is HEFT. Then comes all on one executor, where that ends before HEFT's plan. The next passes take the
 * parts 0 (that is DEFT), 1/2, 1, 1/4, 3/4; then the part is drawn, and noise on order and tails. A pass is given up
 * where it cannot end as early as the last plan that was taken. Integers only: every machine finds the same plan for a
 * seed. */
#include "plan/search/search.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/order/sort_keys.h"
#include "base/status.h"
#include "plan/schedule/arrivals.h"

#include <string.h>

enum { HEFT, DEFT, FIRST_PASSES = 6, ONE_Q8 = 256 };

static const int32_t first_parts_q8[FIRST_PASSES] = {0, 0, 128, 256, 64, 192};

/* Standard deviations of the noise: on keys of the order, in 2^-12 of the key; on tails, in 2^-8 of the mean time. */
enum { KEY_NOISES = 3, TAIL_NOISES = 2 };
static const int32_t key_noise_q12[KEY_NOISES] = {80, 205, 615};
static const int32_t tail_noise_q8[TAIL_NOISES] = {13, 51};

enum {
    PART_Q16 = 4096,       /* of the budget: a sixteenth for the passes that are drawn */
    SORTED_BY_STEPS = 128, /* tasks */
    FINE_BITS = 35         /* HEFT's plan takes 2^35 fine units or more */
};

enum { BY_WAYS_OF_10 = 7 }; /* of 10 drawn passes; the others take the tasks by rank_u */

typedef struct tails {
    clo_sketch *sketch;
    const clo_graph *graph;
    clo_rng rng;
    uint32_t tasks, executors;
    uint32_t shift;              /* of fine units; 0 until HEFT's plan is known */
    int64_t *tail_ns, *later_ns; /* [tasks][executors]; later: of the next pass */
    int64_t *way_ns, *rank_ns;   /* [tasks] time + tail where the plan has it; rank_u */
    int64_t *mean, *key;         /* [tasks] in fine units */
    clo_sort_key *keys, *other_keys;
    uint32_t *order, *by_way, *by_rank, *executor;
    int64_t current_ns;
    void *block;
} tails;

static clo_status open(tails *s, clo_sketch *sketch, uint64_t seed)
{
    clo_block block = {0};

    *s = (tails){.sketch = sketch,
                 .graph = sketch->graph,
                 .rng = clo_rng_seed(seed),
                 .tasks = sketch->graph->tasks,
                 .executors = sketch->executors,
                 .current_ns = INT64_MAX};
    size_t cells = (size_t)s->tasks * s->executors;
    clo_carve(&block, &s->tail_ns, cells);
    clo_carve(&block, &s->later_ns, cells);
    clo_carve(&block, &s->way_ns, s->tasks);
    clo_carve(&block, &s->rank_ns, s->tasks);
    clo_carve(&block, &s->mean, s->tasks);
    clo_carve(&block, &s->key, s->tasks);
    clo_carve(&block, &s->keys, s->tasks > SORTED_BY_STEPS ? s->tasks : 0);
    clo_carve(&block, &s->other_keys, s->tasks > SORTED_BY_STEPS ? s->tasks : 0);
    clo_carve(&block, &s->order, s->tasks);
    clo_carve(&block, &s->by_way, s->tasks);
    clo_carve(&block, &s->by_rank, s->tasks);
    clo_carve(&block, &s->executor, s->tasks);
    s->block = clo_block_allocate(&block);
    return s->block == NULL ? clo_fail_memory("a search for a plan") : CLO_OK;
}

/* order[]: by falling key, as it was for equal ones. Few tasks pass one another in a short order, or stand where they
 * belong already. */
static void sort(tails *s, uint32_t *order)
{
    if (s->tasks > SORTED_BY_STEPS) {
        for (uint32_t i = 0; i < s->tasks; i++)
            s->keys[i] = (clo_sort_key){~clo_sort_key_of(s->key[order[i]]), order[i]};
        const clo_sort_key *sorted = clo_sort_keys(s->keys, s->other_keys, s->tasks);
        for (uint32_t i = 0; i < s->tasks; i++)
            order[i] = sorted[i].index;
        return;
    }
    for (uint32_t i = 1; i < s->tasks; i++) {
        uint32_t t = order[i], at = i;
        for (; at > 0 && s->key[order[at - 1]] < s->key[t]; at--) /* ends: towards the beginning */
            order[at] = order[at - 1];
        order[at] = t;
    }
}

/* No key above that of a producer; `topological` has producers first. */
static void lower_keys(tails *s, const uint32_t *topological)
{
    const clo_graph *graph = s->graph;

    for (uint32_t i = 0; i < s->tasks; i++) {
        uint32_t t = topological[i];
        for (uint32_t at = graph->out_first[t]; at < graph->out_first[t + 1]; at++)
            if (s->key[graph->out[at]] > s->key[t])
                s->key[graph->out[at]] = s->key[t];
    }
}

static clo_status order_by_rank(tails *s, clo_schedule *schedule)
{
    clo_status status = clo_schedule_order(schedule);

    clo_cost_rank_u(schedule->cost, s->rank_ns);
    memcpy(s->by_rank, schedule->order, s->tasks * sizeof *s->by_rank);
    memcpy(s->by_way, schedule->order, s->tasks * sizeof *s->by_way);
    return status;
}

/* A share of a time, and noise on it, are shares of its 2^shift-th part: then they are no zeros where tasks take a few
 * nanoseconds. Times that are far beyond HEFT's plan are cut off. */
static inline int64_t fine(const tails *s, int64_t ns)
{
    int64_t most_ns = INT64_MAX >> 1 >> s->shift;

    return (ns < most_ns ? ns : most_ns) << s->shift;
}

static void find_shift(tails *s)
{
    while (s->shift < FINE_BITS && s->current_ns >> (FINE_BITS - s->shift) == 0)
        s->shift++;
}

static void find_means(tails *s)
{
    for (uint32_t t = 0; t < s->tasks; t++) {
        const int64_t *time_ns = &s->sketch->time_ns[(size_t)t * s->executors];
        int64_t sum = 0, count = 0;
        for (uint32_t e = 0; e < s->executors; e++)
            if (time_ns[e] != CLO_TIME_NEVER)
                sum += fine(s, time_ns[e]) / s->executors, count++;
        s->mean[t] = sum / (count > 0 ? count : 1) * s->executors; /* every task has an executor */
    }
}

/* The tails of a task over one edge. */
static void add_edge(tails *s, uint32_t task, uint32_t reader, uint64_t bytes)
{
    const clo_schedule *schedule = s->sketch->schedule;
    int64_t *tail_ns = &s->tail_ns[(size_t)task * s->executors];
    uint32_t to = s->executor[reader];

    for (uint32_t e = 0; e < s->executors; e++) {
        int64_t tail = clo_schedule_transfer_ns(schedule, bytes, e, to) + s->way_ns[reader];
        tail_ns[e] = tail > tail_ns[e] ? tail : tail_ns[e];
    }
}

/* Of executor[]. */
static void find_tails(tails *s)
{
    const clo_graph *graph = s->graph;

    memset(s->tail_ns, 0, (size_t)s->tasks * s->executors * sizeof *s->tail_ns);
    for (uint32_t i = s->tasks; i-- > 0;) {
        uint32_t t = graph->task_order[i];
        size_t row = (size_t)t * s->executors;
        for (uint32_t at = graph->out_first[t]; at < graph->out_first[t + 1]; at++)
            add_edge(s, t, graph->out[at], clo_graph_out_bytes(graph, at));
        s->way_ns[t] = s->sketch->time_ns[row + s->executor[t]] + s->tail_ns[row + s->executor[t]];
    }
    memcpy(s->key, s->way_ns, s->tasks * sizeof *s->key);
    lower_keys(s, graph->task_order);
    memcpy(s->by_way, s->by_rank, s->tasks * sizeof *s->by_way);
    sort(s, s->by_way);
}

/* A triangle from -2 to 2 times sqrt(3 / 2): mean 0, variance 1 in Q8. */
static inline int32_t triangle_q8(uint32_t draw)
{
    return ((int32_t)(draw & 0xffff) + (int32_t)(draw >> 16) - 65535) * 157 / 16384;
}

static void draw_keys(tails *s, const int64_t *from, int32_t noise_q12)
{
    for (uint32_t t = 0; t < s->tasks; t += 2) {
        uint64_t draw = clo_rng_next(&s->rng);
        for (uint32_t u = t; u < t + 2 && u < s->tasks; u++, draw >>= 32)
            s->key[u] = fine(s, from[u]) + fine(s, from[u]) / 1048576 * (triangle_q8((uint32_t)draw) * noise_q12);
    }
}

static void draw_tails(tails *s, int64_t part_q8, int32_t noise_q8)
{
    for (uint32_t t = 0; t < s->tasks; t++) {
        int64_t unit = s->mean[t] / 65536 * noise_q8;
        uint64_t draw = 0;
        for (uint32_t e = 0; e < s->executors; e++, draw >>= 32) {
            size_t at = (size_t)t * s->executors + e;
            draw = e % 2 == 0 ? clo_rng_next(&s->rng) : draw;
            int64_t later = fine(s, s->tail_ns[at]) / ONE_Q8 * part_q8 + unit * triangle_q8((uint32_t)draw);
            s->later_ns[at] = later >> s->shift;
        }
    }
}

static void prepare(tails *s, uint32_t pass)
{
    bool is_first = pass < FIRST_PASSES;
    bool by_way = is_first ? pass > DEFT && pass % 2 != 0 : clo_rng_below(&s->rng, 10) < BY_WAYS_OF_10;
    int64_t part_q8 = is_first ? first_parts_q8[pass] : (int64_t)clo_rng_below(&s->rng, ONE_Q8 + 1);
    int32_t of_keys = is_first ? 0 : key_noise_q12[clo_rng_below(&s->rng, KEY_NOISES)];
    int32_t of_tails = is_first ? 0 : tail_noise_q8[clo_rng_below(&s->rng, TAIL_NOISES)];
    const uint32_t *base = by_way ? s->by_way : s->by_rank;

    draw_keys(s, by_way ? s->way_ns : s->rank_ns, of_keys);
    lower_keys(s, base);
    memcpy(s->order, base, s->tasks * sizeof *s->order);
    sort(s, s->order);
    draw_tails(s, part_q8, of_tails);
}

/* False: it was given up. budget: NULL: whatever it is. */
static bool build(tails *s, const clo_budget *budget)
{
    clo_sketch_clear(s->sketch);
    for (uint32_t i = 0; i < s->tasks; i++) {
        uint32_t t = s->order[i];
        int64_t finish_ns = clo_sketch_place(s->sketch, t, &s->later_ns[(size_t)t * s->executors]);
        if (!clo_sketch_may_end(s->sketch, t, finish_ns, s->current_ns))
            return false;
        if (i % CLO_STOP_EVERY == CLO_STOP_EVERY - 1 && budget != NULL && clo_budget_is_late(budget))
            return false;
    }
    return s->sketch->makespan_ns <= s->current_ns;
}

static void take(tails *s, const clo_execution *executions, uint32_t count, int64_t makespan_ns)
{
    for (uint32_t c = count; c-- > 0;) /* an original stands before its replicas */
        s->executor[executions[c].instance] = executions[c].executor;
    s->current_ns = makespan_ns;
    find_tails(s);
}

static void run_pass(tails *s, uint32_t pass, clo_budget *budget, clo_snapshot *best)
{
    s->sketch->may_copy = pass != HEFT && s->sketch->schedule->may_duplicate;
    prepare(s, pass);
    budget->schedules++;
    if (!build(s, pass == HEFT ? NULL : budget))
        return;
    take(s, s->sketch->executions, s->sketch->count, s->sketch->makespan_ns);
    (void)clo_sketch_keep(best, s->sketch);
    budget->best_ns = best->makespan_ns < budget->best_ns ? best->makespan_ns : budget->best_ns;
}

/* All tasks on the executor where they take the least, if that is shorter than HEFT's plan: transfers take longer than
 * tasks. */
static void try_serial(tails *s, clo_budget *budget, clo_snapshot *best)
{
    int64_t least_ns = best->makespan_ns;
    uint32_t chosen = CLO_NONE;

    for (uint32_t e = 0; e < s->executors; e++) {
        int64_t sum_ns = 0;
        for (uint32_t t = 0; t < s->tasks && sum_ns < least_ns; t++) {
            int64_t time_ns = s->sketch->time_ns[(size_t)t * s->executors + e];
            sum_ns = time_ns == CLO_TIME_NEVER ? INT64_MAX : sum_ns + time_ns;
        }
        if (sum_ns < least_ns) {
            least_ns = sum_ns;
            chosen = e;
        }
    }
    if (chosen == CLO_NONE || clo_budget_is_spent(budget))
        return;
    int64_t finish_ns = 0;
    for (uint32_t i = 0; i < s->tasks; i++) {
        int64_t start_ns = finish_ns;
        finish_ns += s->sketch->time_ns[(size_t)s->by_rank[i] * s->executors + chosen];
        best->executions[i] = (clo_execution){start_ns, finish_ns, s->by_rank[i], chosen, CLO_NONE};
    }
    best->count = s->tasks;
    best->makespan_ns = budget->best_ns = finish_ns;
    budget->schedules++;
}

clo_status clo_tails(clo_sketch *sketch, clo_schedule *schedule, clo_budget *budget, clo_snapshot *best,
                     int64_t *heft_ns)
{
    int64_t begin_ns = clo_clock_ns();
    tails s;
    clo_status status = open(&s, sketch, budget->config->seed);

    if (status == CLO_OK)
        status = order_by_rank(&s, schedule);
    if (status == CLO_OK) {
        run_pass(&s, HEFT, budget, best);
        find_shift(&s);
        find_means(&s);
        *heft_ns = clo_clock_ns() - begin_ns;
        status = clo_budget_bound(budget, schedule->cost, *heft_ns);
    }
    if (status == CLO_OK)
        try_serial(&s, budget, best);
    for (uint32_t pass = DEFT; status == CLO_OK && !clo_budget_is_spent(budget) &&
                               (pass < FIRST_PASSES || clo_budget_part_q16(budget) < PART_Q16);
         pass++)
        run_pass(&s, pass, budget, best);
    clo_free(s.block);
    return status;
}
