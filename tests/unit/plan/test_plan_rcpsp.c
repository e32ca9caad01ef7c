/* The packing core against a builder that looks at every ns: serial and parallel generation, both directions, one and
 * several machines, lanes of 16 and 32 bits, up to nine of them, more steps than a chunk holds. */
#include "fixture.h"

#include "base/numbers/noise.h"
#include "base/numbers/rng.h"
#include "plan/graphene/space.h"
#include "plan/rcpsp/boxes.h"
#include "plan/rcpsp/priority.h"
#include "plan/rcpsp/search.h"

enum { TASKS_MAX = 200, MACHINES_MAX = 3, HORIZON = 20000 };

typedef struct shape {
    uint32_t tasks, machines, executors, resources; /* executors: of each machine */
    int64_t capacity, time_max;
    bool has_zeros; /* some tasks take no time */
} shape;

/* A random packing; ids are not in topological order. */
static fixture packing_new(const shape *s, clo_rng *rng)
{
    fixture f = fixture_new();
    clo_executor list[MACHINES_MAX * 64] = {0};
    int64_t capacities[MACHINES_MAX * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t t = 0; t < s->tasks; t++) {
        clo_task task = {.work_ns = 1 + clo_rng_below(rng, (uint32_t)s->time_max)};
        if (s->has_zeros && clo_rng_below(rng, 8) == 0)
            task.work_ns = 0;
        for (uint32_t r = 0; r < s->resources; r++)
            task.demand[r] = clo_rng_below(rng, (uint32_t)s->capacity + 1);
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    for (uint32_t t = 1; t < s->tasks; t++)
        if (clo_rng_below(rng, 3) > 0)
            ok(clo_graph_add_edge(f.graph, s->tasks - 1 - clo_rng_below(rng, t), s->tasks - 1 - t, 0));
    for (uint32_t e = 0; e < s->machines * s->executors; e++) {
        list[e] = (clo_executor){.machine = e % s->machines, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE << e % s->machines;
    }
    for (uint32_t i = 0; i < s->machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < s->resources ? s->capacity : -1;
    desc.executors_count = s->machines * s->executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.machines_count = s->machines;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &f.platform));
    return f;
}

/* What is in use at every ns of every machine: the resources, then the executors. */
typedef struct ledger {
    int64_t used[MACHINES_MAX][HORIZON][CLO_RESOURCES_MAX + 1];
} ledger;

static bool has_room(const ledger *l, const fixture *f, const shape *s, uint32_t machine, int64_t at, uint32_t task)
{
    const int64_t *used = l->used[machine][at];
    clo_task row;

    ok(clo_graph_task(f->graph, task, &row));
    for (uint32_t r = 0; r < s->resources; r++)
        if (used[r] + row.demand[r] > s->capacity)
            return false;
    return used[CLO_RESOURCES_MAX] < s->executors;
}

static int64_t earliest(const ledger *l, const fixture *f, const shape *s, uint32_t machine, uint32_t task,
                        int64_t ready, int64_t time)
{
    for (int64_t start = ready, at = ready;; at++) {
        if (at == start + time)
            return start;
        assert_true(at < HORIZON);
        if (!has_room(l, f, s, machine, at, task))
            start = at + 1;
    }
}

static void book(ledger *l, const fixture *f, const shape *s, uint32_t machine, uint32_t task, int64_t start,
                 int64_t time)
{
    clo_task row;

    ok(clo_graph_task(f->graph, task, &row));
    for (int64_t at = start; at < start + time; at++) {
        for (uint32_t r = 0; r < s->resources; r++)
            l->used[machine][at][r] += row.demand[r];
        l->used[machine][at][CLO_RESOURCES_MAX]++;
    }
}

/* True if everything before `task` in this direction is done. */
static int64_t ready_at(const clo_rcpsp *problem, int direction, const clo_packing *built, const bool *done,
                        uint32_t task)
{
    const clo_graph *g = problem->graph;
    const uint32_t *first = direction == CLO_RCPSP_FORWARD ? g->in_first : g->out_first;
    const clo_ids list = direction == CLO_RCPSP_FORWARD ? g->in : clo_ids_wide(g->out);
    int64_t ready = 0;

    assert_int_equal(g->instances, g->tasks);
    for (uint32_t edge = first[task]; edge < first[task + 1]; edge++) {
        if (!done[clo_ids_at(list, edge)])
            return -1;
        int64_t finish = clo_rcpsp_finish_ns(problem, built, clo_ids_at(list, edge));
        ready = finish > ready ? finish : ready;
    }
    return ready;
}

/* Serial generation, naively: the least (key, id) of all that are ready, on the machine where it ends first. */
static void expect_serial(const clo_rcpsp *problem, const fixture *f, const shape *s, int direction,
                          const int64_t *keys, const clo_packing *built)
{
    ledger *l = calloc(1, sizeof *l);
    bool done[TASKS_MAX] = {false};
    assert_non_null(l);

    for (uint32_t round = 0; round < s->tasks; round++) {
        uint32_t next = CLO_NONE;
        for (uint32_t t = 0; t < s->tasks; t++)
            if (!done[t] && ready_at(problem, direction, built, done, t) >= 0 &&
                (next == CLO_NONE || keys[t] < keys[next]))
                next = t;
        int64_t ready = ready_at(problem, direction, built, done, next), best = INT64_MAX, best_start = 0;
        uint32_t machine = 0;
        for (uint32_t m = 0; m < s->machines; m++) {
            int64_t time = problem->time_ns[m * s->tasks + next];
            int64_t start = time == 0 ? ready : earliest(l, f, s, m, next, ready, time);
            if (start + time < best) {
                best = start + time;
                best_start = start;
                machine = m;
            }
        }
        assert_int_equal(built->start_ns[next], best_start);
        assert_int_equal(built->machine[next], machine);
        book(l, f, s, machine, next, best_start, best - best_start);
        done[next] = true;
    }
    free(l);
}

/* No overlap beyond capacity, no precedence broken, and nothing that is ready and fits waits. */
static void expect_parallel(const clo_rcpsp *problem, const fixture *f, const shape *s, int direction,
                            const clo_packing *built)
{
    ledger *l = calloc(1, sizeof *l);
    bool all[TASKS_MAX];
    assert_non_null(l);

    memset(all, true, sizeof all);
    for (uint32_t t = 0; t < s->tasks; t++)
        book(l, f, s, built->machine[t], t, built->start_ns[t],
             clo_rcpsp_finish_ns(problem, built, t) - built->start_ns[t]);
    for (uint32_t t = 0; t < s->tasks; t++) {
        int64_t ready = ready_at(problem, direction, built, all, t);
        assert_true(built->start_ns[t] >= ready);
        for (int64_t at = built->start_ns[t]; at < clo_rcpsp_finish_ns(problem, built, t); at++)
            for (uint32_t r = 0; r <= CLO_RESOURCES_MAX; r++)
                assert_true(l->used[built->machine[t]][at][r] <= (r == CLO_RESOURCES_MAX ? s->executors : s->capacity));
        for (uint32_t m = 0; m < s->machines && s->machines == 1; m++)
            for (int64_t at = ready; at < built->start_ns[t]; at++)
                assert_false(has_room(l, f, s, m, at, t));
    }
    free(l);
}

static void expect_plan(const clo_rcpsp *problem, const fixture *f, int direction, const clo_packing *built,
                        bool has_zeros)
{
    clo_schedule schedule;

    ok(clo_schedule_open(&schedule, f->cost, 1));
    ok(clo_rcpsp_realise(problem, built, direction, &schedule));
    assert_int_equal(schedule.count, problem->tasks);
    if (!has_zeros)
        assert_true(clo_schedule_makespan_ns(&schedule) <= built->makespan_ns);
    clo_schedule_close(&schedule);
}

static void check_shape(const shape *s, uint64_t seed)
{
    clo_rng rng = clo_rng_seed(seed);
    fixture f = packing_new(s, &rng);
    clo_rcpsp problem;
    clo_rcpsp_builder builder;
    clo_packing built;
    int64_t keys[TASKS_MAX];

    ok(clo_graph_seal(f.graph));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_rcpsp_builder_open(&builder, &problem));
    ok(clo_packing_open(&built, &problem));
    for (int direction = 0; direction < 2; direction++) {
        for (uint32_t t = 0; t < s->tasks; t++)
            keys[t] = clo_rng_below(&rng, 50);
        clo_rcpsp_serial(&builder, direction, keys, &built);
        expect_serial(&problem, &f, s, direction, keys, &built);
        expect_plan(&problem, &f, direction, &built, s->has_zeros);
        clo_rcpsp_parallel(&builder, direction, keys, &built);
        expect_parallel(&problem, &f, s, direction, &built);
        expect_plan(&problem, &f, direction, &built, s->has_zeros);
        clo_rcpsp_turn(&problem, &built, keys); /* justified from the other end it is no longer */
        int64_t before = built.makespan_ns;
        clo_rcpsp_serial(&builder, !direction, keys, &built);
        if (s->machines == 1 && !s->has_zeros)
            assert_true(built.makespan_ns <= before);
    }
    clo_packing_close(&built);
    clo_rcpsp_builder_close(&builder);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
}

static void schedules_are_those_of_a_builder_that_looks_at_every_ns(void **state)
{
    (void)state;
    static const shape shapes[] = {
        {40, 1, 40, 1, 10, 20, false},   /* one lane                                     */
        {40, 1, 5, 0, 1, 20, false},     /* executors alone                              */
        {30, 1, 30, 4, 12, 20, true},    /* a full word of 16 bits, lengths of 0         */
        {30, 1, 4, 8, 50, 20, false},    /* nine lanes, three words                      */
        {30, 1, 8, 3, 70001, 20, false}, /* 32 bits                                      */
        {40, 3, 3, 2, 9, 16, false},     /* machines of different speed                  */
        {200, 1, 16, 2, 10, 60, false},  /* many more steps than fit one chunk           */
    };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (uint64_t seed = 0; seed < 20; seed++)
            check_shape(&shapes[i], seed);
}

/* A star on 8 executors: what waits is not looked at while nothing is free, and what is released by and by is not put
 * into its place among all that waits. */
static void parallel_generation_looks_at_few_of_many_that_wait(void **state)
{
    (void)state;
    enum { LEAVES = 20000 };
    clo_rng rng = clo_rng_seed(1);
    fixture f = fixture_new();
    clo_rcpsp problem;
    clo_rcpsp_builder builder;
    clo_packing built;
    int64_t *keys = calloc(LEAVES + 1, sizeof *keys);
    assert_non_null(keys);

    for (uint32_t t = 0; t <= LEAVES; t++) {
        fixture_task(&f, NULL, 1 + clo_rng_below(&rng, 1000));
        keys[t] = clo_rng_below(&rng, LEAVES);
    }
    for (uint32_t t = 1; t <= LEAVES; t++)
        ok(clo_graph_add_edge(f.graph, 0, t, 0));
    fixture_seal(&f, 8, NULL, -1);
    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_rcpsp_builder_open(&builder, &problem));
    ok(clo_packing_open(&built, &problem));
    for (int direction = 0; direction < 2; direction++) {
        clo_rcpsp_parallel(&builder, direction, keys, &built);
        assert_int_equal(builder.looks, LEAVES + 1);
    }
    clo_packing_close(&built);
    clo_rcpsp_builder_close(&builder);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
    free(keys);
}

/* Tasks that all demand more than half of the machine: one follows the other, and what is free beside them is too
 * little for any. A search passes that by chunks. */
static void serial_generation_passes_chunks_that_are_too_full(void **state)
{
    (void)state;
    enum { TASKS = 5000, WHOLE = 20000 };
    fixture f = fixture_new();
    clo_rcpsp problem;
    clo_rcpsp_builder builder;
    clo_packing built;
    int64_t *keys = calloc(TASKS, sizeof *keys);
    assert_non_null(keys);

    for (uint32_t t = 0; t < TASKS; t++) {
        clo_task task = {.work_ns = 1 + t % 7, .demand = {WHOLE / 2 + 1 + t % (WHOLE / 2 - 1)}};
        ok(clo_graph_add_task(f.graph, &task, NULL));
        keys[t] = t * 7919 % TASKS;
    }
    fixture_seal(&f, 2, NULL, WHOLE);
    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_rcpsp_builder_open(&builder, &problem));
    ok(clo_packing_open(&built, &problem));
    for (int direction = 0; direction < 2; direction++) {
        clo_rcpsp_serial(&builder, direction, keys, &built);
        assert_true(builder.steps[0].looks <= 64 * TASKS);
    }
    clo_packing_close(&built);
    clo_rcpsp_builder_close(&builder);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
    free(keys);
}

/* Independent tasks that demand different amounts. */
static fixture different_tasks(uint32_t tasks, uint32_t executors, uint32_t seed)
{
    fixture f = fixture_new();
    clo_rng rng = clo_rng_seed(seed);

    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.work_ns = 1 + clo_rng_below(&rng, 1000)};
        task.demand[0] = 1 + clo_rng_below(&rng, 300);
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    fixture_seal(&f, executors, NULL, 1000);
    return f;
}

/* Holes among tasks that demand different amounts are many and too short: each search looked at about 60 steps of a
 * hundred chunks. */
static void serial_generation_looks_at_few_holes_that_are_too_short(void **state)
{
    (void)state;
    enum { TASKS = 5000 };
    fixture f = different_tasks(TASKS, 8, 1);
    clo_rcpsp problem;
    clo_rcpsp_builder builder;
    clo_packing built;
    int64_t *keys = calloc(TASKS, sizeof *keys);
    assert_non_null(keys);

    for (uint32_t t = 0; t < TASKS; t++)
        keys[t] = t * 7919 % TASKS;
    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_rcpsp_builder_open(&builder, &problem));
    ok(clo_packing_open(&built, &problem));
    for (int direction = 0; direction < 2; direction++) {
        clo_rcpsp_serial(&builder, direction, keys, &built);
        assert_true(builder.steps[0].looks <= 400 * TASKS);
    }
    clo_packing_close(&built);
    clo_rcpsp_builder_close(&builder);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
    free(keys);
}

/* True if the tasks that have a place in the space leave one executor and so much of the machine at a time. */
static bool leaves(const clo_space *space, int64_t time_ns, uint32_t executors, int64_t demand)
{
    const clo_rcpsp *problem = space->problem;
    uint32_t running = 0;

    for (uint32_t i = 0; i < space->placed_count; i++) {
        uint32_t v = space->placed[i];
        if (space->start_ns[v] > time_ns || time_ns >= space->start_ns[v] + problem->time_ns[v])
            continue;
        running++;
        demand += clo_graph_demand(problem->graph, v)[0];
    }
    return running < executors && demand <= 1000;
}

/* What is held only rises where something begins. */
static bool fits_from(const clo_space *space, uint32_t v, int64_t start_ns, uint32_t executors)
{
    const clo_rcpsp *problem = space->problem;
    int64_t demand = clo_graph_demand(problem->graph, v)[0];

    for (uint32_t i = 0; i <= space->placed_count; i++) {
        int64_t at_ns = i == space->placed_count ? start_ns : space->start_ns[space->placed[i]];
        if (at_ns < start_ns || at_ns >= start_ns + problem->time_ns[v])
            continue;
        if (!leaves(space, at_ns, executors, demand))
            return false;
    }
    return true;
}

/* Graphene's space: forward the earliest start, backward the latest one of all, in turns of some tasks each. */
static void a_space_finds_the_first_and_the_last_place(void **state)
{
    (void)state;
    enum { TASKS = 260, TURN = 7, EXECUTORS = 8 };

    for (uint32_t seed = 0; seed < 4; seed++) {
        fixture f = different_tasks(TASKS, EXECUTORS, seed);
        clo_rcpsp problem;
        clo_space space;
        ok(clo_rcpsp_open(&problem, f.cost));
        ok(clo_space_open(&space, &problem));
        for (uint32_t v = 0; v < TASKS; v++) {
            int direction = v / TURN % 2 == 0 ? CLO_SPACE_FORWARD : CLO_SPACE_BACKWARD;
            int64_t step = direction == CLO_SPACE_FORWARD ? 1 : -1;
            int64_t want = direction == CLO_SPACE_FORWARD ? space.from_ns : space.to_ns - problem.time_ns[v];
            while (!fits_from(&space, v, want, EXECUTORS))
                want += step;
            clo_space_place(&space, v, direction);
            assert_int_equal(space.start_ns[v], want);
        }
        clo_space_close(&space);
        clo_rcpsp_close(&problem);
        fixture_free(&f);
    }
}

static void a_space_looks_at_few_holes_that_are_too_short(void **state)
{
    (void)state;
    enum { TASKS = 5000 };
    fixture f = different_tasks(TASKS, 8, 1);
    clo_rcpsp problem;
    clo_space space;

    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_space_open(&space, &problem));
    for (int direction = 0; direction < 2; direction++) {
        clo_space_clear(&space);
        for (uint32_t v = 0; v < TASKS; v++)
            clo_space_place(&space, v, direction);
        assert_true(space.steps[0].looks <= 400 * TASKS);
    }
    clo_space_close(&space);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
}

static bool all_alike(const void *context, uint32_t a, uint32_t b)
{
    return context == NULL || a == b;
}

static uint64_t one_hash(const void *context, uint32_t task)
{
    return context == NULL ? 0 : task;
}

/* Boxes with so many sums. Returns their memory. */
static void *open_boxes(clo_boxes *boxes, const clo_rcpsp *problem, size_t sums_max)
{
    clo_block block = {0};

    clo_boxes_carve(boxes, problem, sums_max, &block);
    void *memory = clo_block_allocate(&block);
    assert_non_null(memory);
    boxes->is_alike = all_alike;
    boxes->hash_of = one_hash;
    clo_boxes_begin(boxes);
    return memory;
}

/* The sum over all tasks for machines like that, from as far above as there are sums. */
static uint64_t sum_of_all(const clo_boxes *boxes, uint32_t like, uint32_t lane)
{
    uint64_t sum = 0;

    for (uint32_t node = 1, next; node > 0; node = next) {
        next = clo_boxes_after(node);
        if (boxes->nodes[node].count == 0)
            continue;
        if (clo_boxes_has_sums(boxes, node))
            sum += clo_boxes_sum(boxes, node, like, lane);
        else
            next = 2 * node + 1;
    }
    return sum;
}

static void boxes_with_few_sums_give_those_of_boxes_with_all(void **state)
{
    (void)state;
    static const shape s = {.tasks = 100, .machines = 3, .executors = 4, .resources = 3, .capacity = 50, .time_max = 9};
    static const size_t limits[] = {0, 100, SIZE_MAX};
    enum { LIMITS = sizeof limits / sizeof limits[0] };
    clo_rng rng = clo_rng_seed(3);
    fixture f = packing_new(&s, &rng);
    clo_rcpsp problem;
    clo_boxes boxes[LIMITS];
    void *memory[LIMITS];
    uint8_t ways[MACHINES_MAX] = {CLO_BOX_NEAR, CLO_BOX_NEAR, CLO_BOX_NEAR}, is_there[TASKS_MAX] = {0};

    ok(clo_graph_seal(f.graph));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_rcpsp_open(&problem, f.cost));
    for (uint32_t m = 0; m < s.machines; m++)
        problem.capacity[(size_t)m * problem.words] -= m; /* three shapes */
    for (uint32_t i = 0; i < LIMITS; i++)
        memory[i] = open_boxes(&boxes[i], &problem, limits[i]);
    assert_int_equal(boxes[0].summed, 2);
    assert_int_equal(boxes[LIMITS - 1].summed, 2 * boxes[0].leaves);
    for (uint32_t step = 0; step < 1000; step++) {
        uint32_t task = clo_rng_below(&rng, s.tasks);
        for (uint32_t i = 0; i < LIMITS; i++)
            if (is_there[task])
                clo_boxes_take(&boxes[i], task);
            else
                clo_boxes_add(&boxes[i], task, ways, 0);
        is_there[task] ^= 1;
        for (uint32_t l = 0; l < clo_rcpsp_lanes(&problem); l++) {
            uint64_t want = sum_of_all(&boxes[LIMITS - 1], boxes[0].shape_of[1], l);
            for (uint32_t i = 0; i + 1 < LIMITS; i++)
                assert_int_equal(sum_of_all(&boxes[i], boxes[i].shape_of[1], l), want);
        }
    }
    for (uint32_t i = 0; i < LIMITS; i++)
        clo_free(memory[i]);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
}

/* 100 000 tasks on 1 024 machines that all differ: the sums of all boxes would take gigabytes. */
static void sums_of_boxes_take_no_more_memory_than_allowed(void **state)
{
    (void)state;
    enum { MACHINES = 1024, TASKS = 100000, SUMS = 1 << 20 };
    static uint64_t capacity[MACHINES];
    clo_graph graph = {.tasks = TASKS};
    clo_rcpsp problem = {.graph = &graph, .tasks = TASKS, .machines = MACHINES, .words = 1};
    clo_boxes boxes;
    clo_block block = {0};

    problem.guards = UINT64_C(0x8000800080008000);
    problem.capacity = capacity;
    for (uint32_t m = 0; m < MACHINES; m++)
        capacity[m] = problem.guards | m;
    clo_boxes_carve(&boxes, &problem, SUMS, &block);
    assert_int_equal(boxes.shapes, MACHINES);
    size_t others = 2 * (size_t)boxes.leaves * (MACHINES * sizeof *boxes.ways + 2 * sizeof(clo_box));
    assert_true(block.bytes <= SUMS * sizeof *boxes.shares + others);
}

static void what_is_no_packing_is_left_alone(void **state)
{
    (void)state;
    static const double speeds[2] = {1, 2};
    clo_rcpsp problem;
    fixture f = fixture_new();

    fixture_task(&f, NULL, 10); /* executors of one machine that differ */
    fixture_seal(&f, 2, speeds, -1);
    assert_int_equal(clo_rcpsp_open(&problem, f.cost), CLO_ERR_UNSUPPORTED);
    fixture_free(&f);

    f = fixture_new();
    fixture_task(&f, NULL, 10);
    fixture_task(&f, NULL, 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 8)); /* data that take time to move */
    fixture_seal(&f, 2, NULL, -1);
    assert_int_equal(clo_rcpsp_open(&problem, f.cost), CLO_ERR_UNSUPPORTED);
    fixture_free(&f);
}

static void noise_has_the_mean_and_the_spread_of_its_law(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    clo_rng rng = clo_rng_seed(1);
    double exponential = 0, gumbel = 0, squares = 0;

    for (int i = 0; i < DRAWS; i++) {
        double g = clo_gumbel_q16(&rng) / 65536.0;
        exponential += clo_exponential_q16(&rng) / 65536.0 / (double)DRAWS;
        gumbel += g / (double)DRAWS;
        squares += g * g / (double)DRAWS;
    }
    assert_true(exponential > 0.98 && exponential < 1.02);
    assert_true(gumbel > 0.5772 - 0.02 && gumbel < 0.5772 + 0.02);
    assert_true(squares - gumbel * gumbel > 1.6449 - 0.1 && squares - gumbel * gumbel < 1.6449 + 0.1);
    assert_int_equal(clo_minus_ln_q16(UINT32_MAX) >> 10, 0);
    assert_true(clo_minus_ln_q16(1u << 31) > 45426 - 655 && clo_minus_ln_q16(1u << 31) < 45426 + 655);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_are_those_of_a_builder_that_looks_at_every_ns),
        cmocka_unit_test(parallel_generation_looks_at_few_of_many_that_wait),
        cmocka_unit_test(serial_generation_passes_chunks_that_are_too_full),
        cmocka_unit_test(serial_generation_looks_at_few_holes_that_are_too_short),
        cmocka_unit_test(a_space_finds_the_first_and_the_last_place),
        cmocka_unit_test(a_space_looks_at_few_holes_that_are_too_short),
        cmocka_unit_test(boxes_with_few_sums_give_those_of_boxes_with_all),
        cmocka_unit_test(sums_of_boxes_take_no_more_memory_than_allowed),
        cmocka_unit_test(what_is_no_packing_is_left_alone),
        cmocka_unit_test(noise_has_the_mean_and_the_spread_of_its_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
