/* The planners that look again at few pairs of ready task and executor, against the plain way: look at all of them, at
 * every step. Random graphs with all features. */
#include "fixture.h"

#include "pairs.h"
#include "plan/schedule/ready.h"
#include "random.h"

enum { SEEDS = 120 };

typedef enum rule { ETF, DLS, MINMIN, MAXMIN, SUFFERAGE } rule;

static const char *const names[] = {"etf", "dls", "minmin", "maxmin", "sufferage"};

typedef struct brute {
    clo_schedule schedule;
    clo_ready ready;
    test_pairs pairs;
    rule by;
    uint32_t *batch; /* ready instances that may be chosen */
    uint32_t count;
    int64_t *level_ns; /* [instances] longest way to an exit in mean times, without transfers */
} brute;

/* What makes an instance better than another: lower first, then lower second, then lower id. */
typedef struct worth {
    int64_t first, second;
    clo_slot slot;
} worth;

static void find_levels(brute *b)
{
    const clo_graph *graph = b->schedule.graph;

    for (uint32_t i = graph->instances; i-- > 0;) {
        uint32_t v = graph->order[i];
        int64_t longest = 0;
        for (uint32_t at = b->pairs.after_first[v]; at < b->pairs.after_first[v + 1]; at++)
            if (b->level_ns[b->pairs.after[at]] > longest)
                longest = b->level_ns[b->pairs.after[at]];
        b->level_ns[v] = longest + b->schedule.cost->mean_ns[graph->task_of[v]];
    }
}

/* The slot with the least start (ETF) or finish, and by how much the second best finish is later. */
static clo_slot best_slot(brute *b, uint32_t instance, int64_t *loss)
{
    uint32_t task = b->schedule.graph->task_of[instance];
    clo_slot best = {INT64_MAX, INT64_MAX, CLO_NONE};
    int64_t second = INT64_MAX;

    for (uint32_t e = 0; e < b->schedule.executors; e++) {
        clo_slot slot = clo_ready_append(&b->ready, task, e, clo_schedule_inputs_ns(&b->schedule, instance, e));
        if (slot.executor == CLO_NONE)
            continue;
        if (b->by == ETF ? slot.start_ns < best.start_ns : slot.finish_ns < best.finish_ns) {
            second = best.finish_ns;
            best = slot;
        } else if (slot.finish_ns < second) {
            second = slot.finish_ns;
        }
    }
    *loss = second == INT64_MAX ? 0 : second - best.finish_ns;
    return best;
}

static worth look(brute *b, uint32_t instance)
{
    int64_t loss;
    clo_slot slot = best_slot(b, instance, &loss);

    switch (b->by) {
    case ETF:
        return (worth){slot.start_ns, -b->level_ns[instance], slot};
    case DLS:
        return (worth){slot.finish_ns - b->level_ns[instance] -
                           b->schedule.cost->mean_ns[b->schedule.graph->task_of[instance]],
                       0, slot};
    case MINMIN:
        return (worth){slot.finish_ns, 0, slot};
    case MAXMIN:
        return (worth){-slot.finish_ns, 0, slot};
    case SUFFERAGE:
        break;
    }
    return (worth){-loss, 0, slot};
}

static bool is_better(const worth *a, uint32_t instance, const worth *best, uint32_t chosen)
{
    if (a->first != best->first)
        return a->first < best->first;
    return a->second != best->second ? a->second < best->second : instance < chosen;
}

static void place_next(brute *b)
{
    uint32_t at = 0;
    bool in_rounds = b->by == MINMIN || b->by == MAXMIN;

    while ((b->count == 0 || !in_rounds) && clo_ready_next(&b->ready, &b->batch[b->count]))
        do {
            b->count++;
        } while (clo_ready_next(&b->ready, &b->batch[b->count]));
    worth best = look(b, b->batch[0]);
    for (uint32_t i = 1; i < b->count; i++) {
        worth found = look(b, b->batch[i]);
        if (is_better(&found, b->batch[i], &best, b->batch[at])) {
            best = found;
            at = i;
        }
    }
    ok(clo_ready_place(&b->ready, b->batch[at], best.slot));
    b->batch[at] = b->batch[--b->count];
}

static void expect_same(const brute *b, const clo_plan *plan, uint64_t seed)
{
    const clo_graph *graph = b->schedule.graph;
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);

    assert_int_equal(count, b->schedule.count);
    for (size_t i = 0; i < count; i++) {
        const clo_execution *execution =
            &b->schedule.executions[b->schedule.first_execution[graph->first_instance[p[i].task] + p[i].instance]];
        if (execution->executor != p[i].executor || execution->start_ns != p[i].start_ns)
            fail_msg("seed %llu, %s: task %u is on e%u at %lld, not on e%u at %lld", (unsigned long long)seed,
                     clo_plan_planner(plan), p[i].task, p[i].executor, (long long)p[i].start_ns, execution->executor,
                     (long long)execution->start_ns);
    }
}

static void compare(const fixture *f, rule by, uint64_t seed)
{
    uint32_t instances = clo_graph_instances(f->graph);
    brute b = {.by = by, .batch = calloc(instances + 1, sizeof *b.batch)};
    clo_plan *plan = fixture_plan(f, names[by]);

    b.level_ns = calloc(instances, sizeof *b.level_ns);
    assert_non_null(b.batch);
    assert_non_null(b.level_ns);
    ok(clo_schedule_open(&b.schedule, f->cost, 1));
    ok(clo_ready_open(&b.ready, &b.schedule));
    b.pairs = pairs_of(b.schedule.graph);
    find_levels(&b);
    while (b.schedule.count < instances)
        place_next(&b);
    expect_same(&b, plan, seed);
    clo_ready_close(&b.ready);
    clo_schedule_close(&b.schedule);
    clo_plan_destroy(plan);
    free(b.batch);
    free(b.level_ns);
    pairs_free(&b.pairs);
}

static void looking_again_at_few_pairs_is_looking_at_all(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        unsigned features = seed % 2 == 0 ? RANDOM_ALL : RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS;
        fixture f = {.graph = random_graph(seed, features),
                     .platform = random_platform(seed, features & RANDOM_DEMANDS)};
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        for (rule by = ETF; by <= SUFFERAGE; by++)
            compare(&f, by, seed);
        fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_again_at_few_pairs_is_looking_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
