/* What the planners hrrn and tetris choose from: beside a scan of everything, and how little they look at. */
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "cost/cost.h"
#include "fixture.h"
#include "plan/list/response.h"
#include "plan/rcpsp/boxes.h"
#include "plan/rcpsp/priority.h"

enum { TASKS = 60, KINDS = 4 };

/* The scan that the tournament replaces. */
static uint32_t first_of_all(const clo_cost *cost, const int64_t *since_ns, int64_t now_ns)
{
    uint32_t best = CLO_NONE;

    for (uint32_t t = 0; t < TASKS; t++) {
        if (since_ns[t] < 0)
            continue;
        if (best == CLO_NONE ||
            (now_ns - since_ns[t]) * cost->mean_ns[best] > (now_ns - since_ns[best]) * cost->mean_ns[t])
            best = t;
    }
    return best;
}

static void the_tournament_finds_the_highest_response_ratio(void **state)
{
    uint32_t found = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        fixture f = fixture_new();
        int64_t since_ns[TASKS], now_ns = 0;
        clo_response response;
        for (uint32_t t = 0; t < TASKS; t++) {
            fixture_task(&f, NULL, 1 + clo_rng_below(&rng, seed % 2 ? 8 : 1000));
            since_ns[t] = -1;
        }
        fixture_seal(&f, 1, NULL, -1);
        ok(clo_response_open(&response, f.cost));
        for (uint32_t step = 0; step < 400; step++) {
            uint32_t t = clo_rng_below(&rng, TASKS);
            now_ns += clo_rng_below(&rng, 3) > 0 ? clo_rng_below(&rng, 50) : 0;
            if (since_ns[t] < 0)
                clo_response_add(&response, t, since_ns[t] = now_ns - clo_rng_below(&rng, (uint32_t)now_ns + 1),
                                 now_ns);
            uint32_t first = clo_response_first(&response, now_ns);
            assert_int_equal(first, first_of_all(f.cost, since_ns, now_ns));
            if (first == CLO_NONE || clo_rng_below(&rng, 2) == 0)
                continue;
            clo_response_remove(&response, first, now_ns);
            since_ns[first] = -1;
            found++;
        }
        clo_response_close(&response);
        fixture_free(&f);
    }
    assert_true(found > 1000);
}

static bool is_of_one_kind(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a % KINDS == b % KINDS;
}

static uint64_t hash_of_kind(const void *context, uint32_t task)
{
    (void)context;
    return task % KINDS % 2; /* two kinds share each hash */
}

/* A node beside a look at all leaves below it. */
static void expect_node(const clo_boxes *boxes, uint32_t node, const uint64_t *work, const uint8_t *way)
{
    uint32_t from = node, to = node, count = 0, lowest = CLO_NONE, kinds = 0, ways = 0;
    uint64_t least_work = UINT64_MAX, all_work = 0;
    int64_t least = INT64_MAX, most = 0;
    const clo_box *box = &boxes->nodes[node];

    while (from < boxes->leaves) {
        from = 2 * from;
        to = 2 * to + 1;
    }
    for (uint32_t leaf = from; leaf <= to; leaf++) {
        if (boxes->nodes[leaf].count == 0)
            continue;
        uint32_t task = boxes->task[leaf - boxes->leaves];
        int64_t demand = clo_rcpsp_lane(boxes->problem, &boxes->problem->demand[task * boxes->problem->words], 0);
        count++;
        kinds |= 1u << task % KINDS;
        ways |= way[task];
        lowest = task < lowest ? task : lowest;
        least_work = work[task] < least_work ? work[task] : least_work;
        all_work += work[task];
        least = demand < least ? demand : least;
        most = demand > most ? demand : most;
    }
    assert_int_equal(box->count, count);
    if (count == 0)
        return;
    assert_int_equal(box->first, lowest);
    assert_int_equal(box->group == CLO_NONE, (kinds & (kinds - 1)) != 0);
    assert_true(box->work == least_work && box->all_work == all_work);
    assert_int_equal(clo_rcpsp_lane(boxes->problem, &boxes->least[node * boxes->problem->words], 0), least);
    assert_int_equal(clo_rcpsp_lane(boxes->problem, &boxes->most[node * boxes->problem->words], 0), most);
    assert_int_equal(boxes->ways[node], ways);
    assert_true(!box->is_uniform || (least == most && (ways & (ways - 1)) == 0 && box->group != CLO_NONE &&
                                     all_work == count * least_work));
}

static void boxes_tell_what_is_ready_below_each_node(void **state)
{
    enum { READY = 50, STEPS = 600 };
    clo_rng rng = clo_rng_seed(3);
    fixture f = fixture_new();
    clo_rcpsp problem;
    clo_boxes boxes;
    clo_block block = {0};
    uint64_t work[READY];
    uint8_t way[READY];
    bool is_ready[READY] = {false};

    (void)state;
    for (uint32_t t = 0; t < READY; t++) {
        clo_task task = {.work_ns = 5, .demand = {1 + clo_rng_below(&rng, 9)}};
        ok(clo_graph_add_task(f.graph, &task, NULL));
        work[t] = clo_rng_below(&rng, 3);
        way[t] = clo_rng_below(&rng, 2) == 0 ? CLO_BOX_NEAR : CLO_BOX_FAR;
    }
    fixture_seal(&f, 2, NULL, 100);
    ok(clo_rcpsp_open(&problem, f.cost));
    clo_boxes_carve(&boxes, &problem, SIZE_MAX, &block);
    void *memory = clo_block_allocate(&block);
    assert_non_null(memory);
    boxes.is_alike = is_of_one_kind;
    boxes.hash_of = hash_of_kind;
    clo_boxes_begin(&boxes);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t t = clo_rng_below(&rng, READY);
        if (is_ready[t])
            clo_boxes_take(&boxes, t);
        else
            clo_boxes_add(&boxes, t, &way[t], work[t]);
        is_ready[t] = !is_ready[t];
        for (uint32_t node = 1; node < 2 * boxes.leaves; node++)
            expect_node(&boxes, node, work, way);
    }
    assert_int_equal(boxes.groups_count, KINDS);
    clo_free(memory);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tournament_finds_the_highest_response_ratio),
        cmocka_unit_test(boxes_tell_what_is_ready_below_each_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
