/* A graph that is a module of an empty graph is that graph again; twice in one graph it is there twice. */
#include "../fuzz/same.h"
#include "random.h"
#include "support.h"

#include <clotho/handle.h>

#define SEEDS 1000
#define SEEDS_STEP (SANITIZED ? 7u : 1u)

static void a_module_of_an_empty_graph_is_the_graph_again(void **state)
{
    (void)state;
    uint32_t derived = 0, pinned = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP) {
        clo_graph *module = random_graph(seed, RANDOM_ALL | RANDOM_GRAIN | RANDOM_HANDLES), *once = NULL, *twice = NULL;
        uint32_t tasks = clo_graph_tasks(module), first = 0;

        ok(clo_graph_create(clo_graph_name(module), &once));
        ok(clo_graph_add_module(once, module, NULL, NULL));
        ok(clo_graph_create("twice", &twice));
        ok(clo_graph_add_module(twice, module, NULL, NULL));
        ok(clo_graph_add_module(twice, module, NULL, &first));
        assert_int_equal(first, tasks);
        ok(clo_graph_seal(once));
        ok(clo_graph_seal(twice));
        if (!same_graph(module, once))
            fail_msg("seed %u: the module differs from its graph", (unsigned)seed);
        assert_int_equal(clo_graph_instances(twice), 2 * clo_graph_instances(module));
        assert_int_equal(clo_graph_edges(twice), 2 * clo_graph_edges(module));
        for (uint32_t t = 0; t < tasks; t++) {
            assert_int_equal(clo_graph_pinned_by(once, t), clo_graph_pinned_by(module, t));
            pinned += clo_graph_pinned_by(once, t) != CLO_NONE;
        }
        derived += clo_graph_edges(module) - clo_graph_edges_added(module);
        clo_graph_destroy(module);
        clo_graph_destroy(once);
        clo_graph_destroy(twice);
    }
    assert_true(derived > 100 && pinned > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_of_an_empty_graph_is_the_graph_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
