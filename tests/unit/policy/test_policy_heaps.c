/* The leftist heaps and the walk over a job queue against sorting. */
#include "policy/select/heaps.h"
#include "policy/select/job_queue.h"
#include "support.h"

#include "base/numbers/rng.h"

#include <string.h>

enum { NODES = 60, ROOTS = 3 };

/* The first node of heap `root` by looking at all. */
static uint32_t first_of(const clo_heaps_node *nodes, const uint32_t *in, uint32_t root, const bool *taken)
{
    uint32_t first = CLO_NONE;

    for (uint32_t n = 0; n < NODES; n++)
        if (in[n] == root && !taken[n] &&
            (first == CLO_NONE || nodes[n].key < nodes[first].key ||
             (nodes[n].key == nodes[first].key && nodes[n].tie < nodes[first].tie)))
            first = n;
    return first;
}

static void expect_heap(const clo_heaps_node *nodes, uint32_t root, const uint32_t *in, uint32_t which)
{
    bool taken[NODES] = {false};
    clo_heaps_walk walk;

    clo_heaps_walk_open(&walk, nodes, root);
    for (uint32_t i = 0; i < CLO_HEAPS_WALK_MAX; i++) {
        uint32_t want = first_of(nodes, in, which, taken), got = clo_heaps_walk_next(&walk);
        assert_int_equal(got, want);
        if (want == CLO_NONE)
            return;
        taken[want] = true;
    }
    assert_int_equal(clo_heaps_walk_next(&walk), CLO_NONE);
}

static void many_heaps_over_the_same_nodes_keep_their_order(void **state)
{
    clo_rng rng = clo_rng_seed(3);

    (void)state;
    for (int round = 0; round < 50; round++) {
        clo_heaps_node nodes[NODES] = {{0}};
        uint32_t roots[ROOTS] = {CLO_NONE, CLO_NONE, CLO_NONE}, in[NODES];
        memset(in, 0xff, sizeof in);
        for (int step = 0; step < 400; step++) {
            uint32_t n = clo_rng_below(&rng, NODES), root = round % 2 == 0 ? clo_rng_below(&rng, ROOTS) : 0;
            assert_int_equal(clo_heaps_has(nodes, n), in[n] != CLO_NONE);
            if (in[n] != CLO_NONE) {
                clo_heaps_remove(nodes, &roots[in[n]], n);
                in[n] = CLO_NONE;
            } else {
                clo_heaps_put(nodes, &roots[root], n, clo_rng_below(&rng, 20), n % 5 == 0 ? 100 + n : n);
                in[n] = root;
            }
            for (uint32_t r = 0; r < ROOTS; r++)
                expect_heap(nodes, roots[r], in, r);
        }
    }
}

static int compare_keys(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void a_walk_sees_the_first_jobs_of_a_queue_in_order(void **state)
{
    enum { JOBS = 100 };
    clo_rng rng = clo_rng_seed(4);
    void *memory = calloc(1, clo_job_queue_bytes(JOBS));
    clo_job_queue queue = {0};

    (void)state;
    assert_non_null(memory);
    for (int round = 0; round < 100; round++) {
        int64_t keys[JOBS]; /* with the id behind, for ties */
        uint32_t count = 1 + clo_rng_below(&rng, JOBS), seen = 0, slot;
        clo_job_walk walk;
        clo_job_queue_open(&queue, memory, JOBS);
        for (uint32_t j = 0; j < count; j++) {
            clo_live_job job = {.id = j, .band = 2};
            uint32_t key = clo_rng_below(&rng, 30);
            clo_job_queue_put(&queue, &job, j, key);
            keys[j] = (int64_t)key * JOBS + j;
        }
        qsort(keys, count, sizeof keys[0], compare_keys);
        clo_job_walk_open(&walk, &queue, 2);
        for (; (slot = clo_job_walk_next(&walk)) != CLO_NONE; seen++)
            assert_int_equal(slot, keys[seen] % JOBS);
        assert_int_equal(seen, count < CLO_JOB_WALK_MAX ? count : CLO_JOB_WALK_MAX);
    }
    free(memory);
}

/* The job with the least key of those in the queue, ties by number; CLO_NONE: there is none. */
static uint32_t least_of(const int64_t *keys, uint32_t jobs)
{
    uint32_t best = CLO_NONE;

    for (uint32_t j = 0; j < jobs; j++)
        if (keys[j] >= 0 && (best == CLO_NONE || keys[j] < keys[best]))
            best = j;
    return best;
}

/* A job whose key has changed may stand where it stood; nobody sees that. */
static void a_queue_knows_its_first_job_after_every_change_of_a_key(void **state)
{
    enum { JOBS = 40, CHANGES = 20000 };
    clo_rng rng = clo_rng_seed(5);
    void *memory = calloc(1, clo_job_queue_bytes(JOBS));
    clo_job_queue queue = {0};
    int64_t keys[JOBS];

    (void)state;
    assert_non_null(memory);
    clo_job_queue_open(&queue, memory, JOBS);
    for (uint32_t j = 0; j < JOBS; j++)
        keys[j] = -1; /* not in the queue */
    for (uint32_t i = 0; i < CHANGES; i++) {
        uint32_t j = clo_rng_below(&rng, i % 100 < 50 ? 4 : JOBS);
        clo_live_job job = {.id = j, .band = j % 2 + 1};
        assert_int_equal(clo_job_queue_has(&queue, j), keys[j] >= 0);
        if (clo_rng_below(&rng, 8) == 0) {
            clo_job_queue_remove(&queue, j);
            keys[j] = -1;
        } else {
            keys[j] = clo_rng_below(&rng, 12);
            clo_job_queue_put(&queue, &job, j, keys[j]);
            assert_int_equal(clo_job_queue_key(&queue, j), keys[j]);
        }
        for (uint32_t band = 1; band <= 2; band++) {
            int64_t of_band[JOBS];
            for (uint32_t k = 0; k < JOBS; k++)
                of_band[k] = k % 2 + 1 == band ? keys[k] : -1;
            uint32_t first = least_of(of_band, JOBS);
            assert_int_equal(clo_job_queue_first(&queue, band), first);
            if (first == CLO_NONE || clo_rng_below(&rng, 4) > 0)
                continue;
            clo_job_queue_pass(&queue, band);
            of_band[first] = -1;
            assert_int_equal(clo_job_queue_first(&queue, band), least_of(of_band, JOBS));
            clo_job_queue_restore(&queue);
        }
    }
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_heaps_over_the_same_nodes_keep_their_order),
        cmocka_unit_test(a_walk_sees_the_first_jobs_of_a_queue_in_order),
        cmocka_unit_test(a_queue_knows_its_first_job_after_every_change_of_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
