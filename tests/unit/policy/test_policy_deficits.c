/* Graphene's deficits: nobody is ever owed more than the threshold and the largest single grant, whatever groups come,
 * go, rest or have nothing that fits; by themselves, and under the policy on random streams. */
#include "policy/select/deficits.h"
#include "policy_scene.h"
#include "random.h"

#include "base/numbers/rng.h"

static void grants_are_paid_by_the_group_that_gets_them(void **state)
{
    clo_deficits d = {.threshold = 100};

    (void)state;
    for (uint32_t g = 0; g < 4; g++)
        clo_deficits_join(&d, g);
    clo_deficits_grant(&d, 0, 0x7, 40); /* group 3 has nothing that fits */
    assert_int_equal(d.owed[0], -20);
    assert_int_equal(d.owed[1], 10);
    assert_int_equal(d.owed[2], 10);
    assert_int_equal(d.owed[3], 0);
    clo_deficits_grant(&d, 0, 0x1, 40); /* alone: nobody is owed anything for it */
    assert_int_equal(d.owed[0], -20);
    assert_int_equal(d.largest_grant, 40);
}

static void who_is_owed_most_goes_first_beyond_the_threshold_only(void **state)
{
    clo_deficits d = {.threshold = 100};

    (void)state;
    for (uint32_t g = 0; g < 3; g++)
        clo_deficits_join(&d, g);
    d.owed[1] = 100, d.owed[2] = 50;
    assert_int_equal(clo_deficits_choose(&d, 0x7), CLO_NONE);
    d.owed[1] = 101;
    assert_int_equal(clo_deficits_choose(&d, 0x7), 1);
    assert_int_equal(clo_deficits_choose(&d, 0x5), 2); /* the one owed most has nothing that fits */
    clo_deficits_rest(&d, 1);
    assert_int_equal(clo_deficits_choose(&d, 0x7), CLO_NONE);
    clo_deficits_leave(&d, 1);
    assert_int_equal(d.owed[1], 0);
    assert_int_equal(d.groups, 2);
}

/* What a policy does that serves whom it likes as long as it may; the choices look for trouble. */
static void step(clo_deficits *d, clo_rng *rng, uint32_t groups)
{
    uint32_t g = clo_rng_below(rng, groups), what = clo_rng_below(rng, 200);
    uint64_t fits = 0;

    if (what == 0 && d->jobs[g] < 2)
        clo_deficits_join(d, g);
    else if (what == 1 && d->jobs[g] > 0)
        clo_deficits_leave(d, g);
    else if (what == 2)
        clo_deficits_rest(d, g);
    for (uint32_t i = 0; i < groups; i++)
        if (d->jobs[i] > 0 && clo_rng_below(rng, 4) != 0)
            fits |= UINT64_C(1) << i;
    if (fits == 0)
        return;
    uint32_t served = clo_deficits_choose(d, fits), poorest = CLO_NONE;
    for (uint32_t i = 0; i < groups; i++)
        if ((fits >> i & 1) != 0 && (poorest == CLO_NONE || d->owed[i] < d->owed[poorest]))
            poorest = i;
    if (served == CLO_NONE)
        served = poorest;
    clo_deficits_grant(d, served, fits, clo_rng_below(rng, 2) == 0 ? 1000 : clo_rng_below(rng, 1001));
}

static void expect_bound(const clo_deficits *d)
{
    for (uint32_t g = 0; g < CLO_DEFICIT_GROUPS; g++)
        if (d->owed[g] > d->threshold + d->largest_grant)
            fail_msg("group %u is owed %lld, beyond %lld + %lld", g, (long long)d->owed[g], (long long)d->threshold,
                     (long long)d->largest_grant);
}

static void nobody_is_owed_more_than_the_threshold_and_a_grant(void **state)
{
    int64_t most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_deficits d = {.threshold = clo_rng_below(&rng, 5000)};
        uint32_t groups = 2 + clo_rng_below(&rng, CLO_DEFICIT_GROUPS - 2);
        for (uint32_t g = 0; g < groups; g++)
            clo_deficits_join(&d, g);
        for (int i = 0; i < 5000; i++) {
            step(&d, &rng, groups);
            expect_bound(&d);
            for (uint32_t g = 0; g < groups; g++)
                most = d.owed[g] - d.threshold > most ? d.owed[g] - d.threshold : most;
        }
    }
    assert_true(most > 500); /* the bound is met by half and more: it is not idle */
}

static uint64_t decisions, above;

static bool watched_decide(void *state, const clo_view *view, clo_choice *choice)
{
    bool has_choice = clo_policy_find("graphene")->decide(state, view, choice);
    const clo_deficits *d = state; /* its first member */

    expect_bound(d);
    decisions++;
    for (uint32_t g = 0; g < CLO_DEFICIT_GROUPS; g++)
        above += d->jobs[g] > 0 && d->owed[g] > d->threshold;
    return has_choice;
}

static void graphene_keeps_the_bound_on_random_streams(void **state)
{
    _Alignas(16) unsigned char argument[64];
    clo_policy watched = *clo_policy_find("graphene");

    (void)state;
    watched.decide = watched_decide;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        clo_platform *platform = random_platform(seed, RANDOM_ALL);
        clo_stream_config config = CLO_STREAM_CONFIG_INIT;
        clo_workload *workload;
        ok(clo_workload_create("w", &workload));
        for (uint32_t j = 0; j < 20; j++) {
            clo_graph *graph = random_graph(seed, RANDOM_ALL);
            clo_workload_job row = CLO_WORKLOAD_JOB_INIT;
            row.graph = graph;
            row.group = j % (1 + (uint32_t)seed % 6);
            row.arrival_ns = (int64_t)(j * seed % 7) * 10000;
            row.band = seed % 5 == 0 ? j % 2 : 0;
            ok(clo_workload_adopt(workload, graph));
            ok(clo_workload_add(workload, &row));
        }
        ok(clo_workload_sort(workload));
        ok(watched.parse(seed % 2 == 0 ? "kappa=0" : "kappa=0.3,srpt=1", argument));
        config.policy = &watched;
        config.argument = argument;
        config.steps_max = seed % 4 == 0 ? 3 : 0;
        ok(clo_stream_simulate(workload, platform, &config, NULL));
        clo_workload_destroy(workload);
        clo_platform_destroy(platform);
    }
    assert_true(decisions > 10000 && above > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_are_paid_by_the_group_that_gets_them),
        cmocka_unit_test(who_is_owed_most_goes_first_beyond_the_threshold_only),
        cmocka_unit_test(nobody_is_owed_more_than_the_threshold_and_a_grant),
        cmocka_unit_test(graphene_keeps_the_bound_on_random_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
