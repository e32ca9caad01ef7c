/* test_losses.c - choices, losses and advantages: slopes against finite differences, and identities of the
 * textbooks. */
#include "support.h"
#include "train/numbers/losses.h"
#include "train/search/seeds.h"

#include <math.h>
#include <string.h>

enum { COUNT = 7 };

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-7 * (1 + fabs(a) + fabs(b));
}

static double worth(const double *scores, double by_log_p, double by_entropy)
{
    double log_p[COUNT];

    choice_log_softmax(scores, COUNT, log_p);
    return by_log_p * log_p[3] + by_entropy * choice_entropy(log_p, COUNT);
}

static void slopes_of_a_choice_are_those_of_finite_differences(void **state)
{
    draws d = {1};

    (void)state;
    for (int round = 0; round < 50; round++) {
        double scores[COUNT], log_p[COUNT], slopes[COUNT] = {0}, step = 1e-5;
        for (int i = 0; i < COUNT; i++)
            scores[i] = 6 * draws_uniform(&d) - 3;
        choice_log_softmax(scores, COUNT, log_p);
        choice_slopes(log_p, COUNT, 3, 0.7, -0.4, slopes);
        for (int i = 0; i < COUNT; i++) {
            double was = scores[i];
            scores[i] = was + step;
            double up = worth(scores, 0.7, -0.4);
            scores[i] = was - step;
            double down = worth(scores, 0.7, -0.4);
            scores[i] = was;
            assert_true(fabs((up - down) / (2 * step) - slopes[i]) < 1e-8);
        }
    }
}

static void probabilities_hold_at_the_ends(void **state)
{
    double far[] = {-1e6, 0, 1e6}, equal[] = {5, 5}, log_p[3], slopes[3] = {0};

    (void)state;
    choice_log_softmax(far, 3, log_p);
    assert_true(log_p[2] == 0 && log_p[0] < -1e5);
    assert_true(choice_entropy(log_p, 3) == 0);
    choice_slopes(log_p, 3, 0, 1, 1, slopes);
    assert_true(slopes[0] == 1 && slopes[1] == 0 && slopes[2] == -1);
    choice_log_softmax(equal, 2, log_p);
    assert_true(near(log_p[0], -log(2)) && near(choice_entropy(log_p, 2), log(2)));
    assert_int_equal(choice_best(equal, 2), 0);
    assert_int_equal(choice_best(far, 3), 2);
}

static void samples_come_as_often_as_they_are_likely(void **state)
{
    const double scores[] = {0, log(2), log(5)};
    double log_p[3];
    uint32_t seen[3] = {0};
    draws d = {42};

    (void)state;
    choice_log_softmax(scores, 3, log_p);
    for (int i = 0; i < 80000; i++)
        seen[choice_sample(log_p, 3, &d)]++;
    for (int i = 0; i < 3; i++)
        assert_true(fabs(seen[i] / 80000.0 - exp(log_p[i])) < 0.01);
}

static void slopes_of_losses_are_those_of_finite_differences(void **state)
{
    const double step = 1e-6;

    (void)state;
    for (int i = 0; i < 40; i++) {
        double log_p = -3 + 0.07 * i, advantage = i % 3 - 1.0, old = -1.5;
        const loss at[] = {loss_imitation(log_p), loss_reinforce(log_p, advantage),
                           loss_ppo(log_p, old, advantage, 0.2), loss_critic(log_p, 0.5)};
        const loss up[] = {loss_imitation(log_p + step), loss_reinforce(log_p + step, advantage),
                           loss_ppo(log_p + step, old, advantage, 0.2), loss_critic(log_p + step, 0.5)};
        for (int k = 0; k < 4; k++)
            assert_true(fabs((up[k].value - at[k].value) / step - at[k].slope) < 1e-4);
    }
}

static void ppo_stops_where_the_ratio_has_gone_far_enough(void **state)
{
    (void)state;
    assert_true(loss_ppo(0.3, 0, 1, 0.2).slope == 0); /* already likelier */
    assert_true(near(loss_ppo(0.3, 0, 1, 0.2).value, -1.2));
    assert_true(loss_ppo(-0.3, 0, -1, 0.2).slope == 0);           /* already less likely */
    assert_true(near(loss_ppo(0.3, 0, -1, 0.2).slope, exp(0.3))); /* wrong way: the whole slope */
    assert_true(near(loss_ppo(0, 0, 2, 0.2).slope, -2));
}

static void advantages_compare_rollouts_of_one_instance(void **state)
{
    double returns[] = {1, 2, 3, 6}, equal[] = {0.1, 0.1, 0.1}, out[4];

    (void)state;
    advantages_of_group(returns, 4, out);
    assert_true(near(out[0] + out[1] + out[2] + out[3], 0));
    assert_true(near(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3], 4));
    assert_true(out[3] > out[2] && out[2] == 0);
    advantages_of_group(equal, 3, out);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
}

static void advantages_of_a_critic_join_one_step_and_the_whole_return(void **state)
{
    const double rewards[] = {1, -2, 4}, values[] = {0.5, 1.5, -1};
    double togo[3], out[3];

    (void)state;
    returns_to_go(rewards, 3, 0.9, togo);
    assert_true(near(togo[2], 4) && near(togo[1], 1.6) && near(togo[0], 2.44));
    advantages_of_critic(rewards, values, 3, 0.9, 1, out);
    for (int i = 0; i < 3; i++)
        assert_true(near(out[i], togo[i] - values[i]));
    advantages_of_critic(rewards, values, 3, 0.9, 0, out);
    assert_true(near(out[0], 1 + 0.9 * 1.5 - 0.5) && near(out[1], -2 - 0.9 - 1.5) && near(out[2], 4 + 1.0));
}

static void a_baseline_by_time_is_between_the_decisions_of_the_others(void **state)
{
    const double times[] = {0, 10, 5, 20}, returns[] = {4, 2, 6, 1};
    const uint32_t counts[] = {2, 2};
    double out[4];

    (void)state;
    advantages_by_time(times, returns, counts, 2, out);
    assert_true(near(out[0], 4 - (4 + 6) / 2.0));           /* before the other begins */
    assert_true(near(out[1], 2 - (2 + (6 - 5 / 3.0)) / 2)); /* a third between its decisions */
    assert_true(near(out[2], 6 - (3 + 6) / 2.0));           /* half between */
    assert_true(near(out[3], 1 - (0 + 1) / 2.0));           /* behind the end of the other */
}

static void adam_and_the_clip_do_what_the_papers_say(void **state)
{
    double base[] = {1, 1}, gradient[] = {3, -4}, m[2] = {0}, v[2] = {0};
    adam a = {.count = 2, .m = m, .v = v};

    (void)state;
    assert_true(near(gradient_clip(gradient, 2, 0), 5) && gradient[0] == 3);
    assert_true(near(gradient_clip(gradient, 2, 1), 5) && near(gradient[0], 0.6) && near(gradient[1], -0.8));
    adam_step(&a, base, gradient, 0.1); /* the first step is the rate, in the direction of the sign */
    assert_true(fabs(base[0] - 0.9) < 1e-6 && fabs(base[1] - 1.1) < 1e-6);
    for (int i = 0; i < 2000; i++) {
        gradient[0] = 2 * (base[0] - 3);
        gradient[1] = 20 * (base[1] + 2);
        adam_step(&a, base, gradient, 0.02);
    }
    assert_true(fabs(base[0] - 3) < 1e-2 && fabs(base[1] + 2) < 1e-2);
    assert_true(schedule(2, 1, 0.25) == 1.75 && schedule(2, 1, 7) == 1);
}

/* The same on every machine. */
static void weights_begin_the_same_everywhere(void **state)
{
    double base[12];
    network *net = calloc(1, sizeof *net);

    (void)state;
    assert_non_null(net);
    net->layers[0] = (network_layer){2, 3, 3, 0, base, base + 9, 0.2, false};
    net->layers[1] = (network_layer){1, 3, 3, 2, base, NULL, 0.2, false}; /* another slice of the same matrix */
    net->layers_count = 2;
    memset(base, 0xff, sizeof base);
    parameters_init(net, base, 7);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(base[i]) <= 1 && base[i] != 0);
    assert_true(base[9] == 0 && base[10] == 0 && base[11] == 0);
    draws d = {draws_key(7, 0, 0)};
    assert_true(base[0] == 2 * draws_uniform(&d) - 1);
    d.state = 0;
    assert_true(draws_next(&d) == UINT64_C(0xe220a8397b1dcdaf)); /* SplitMix64 */
    free(net);
}

static void seeds_of_tests_are_refused(void **state)
{
    char why[128];
    uint64_t list[3];

    (void)state;
    assert_true(seeds_check((seed_list){100, 64}, (seed_list){200, 16}, why, sizeof why));
    assert_false(seeds_check((seed_list){8990, 11}, (seed_list){200, 16}, why, sizeof why));
    assert_non_null(strstr(why, "9000 to 9999 are kept for tests"));
    assert_false(seeds_check((seed_list){100, 64}, (seed_list){9999, 1}, why, sizeof why));
    assert_non_null(strstr(why, "kept for tests"));
    assert_true(seeds_check((seed_list){8990, 10}, (seed_list){10000, 5}, why, sizeof why));
    assert_false(seeds_check((seed_list){100, 64}, (seed_list){163, 2}, why, sizeof why));
    assert_non_null(strstr(why, "share seeds"));
    assert_false(seeds_check((seed_list){100, 0}, (seed_list){163, 2}, why, sizeof why));
    assert_false(seeds_overlap((seed_list){UINT64_MAX, 1}, (seed_list){0, 5}));
    assert_true(seeds_hash((seed_list){100, 64}) != seeds_hash((seed_list){100, 63}));
    seeds_fill((seed_list){7, 3}, list);
    assert_true(list[0] == 7 && list[2] == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_of_a_choice_are_those_of_finite_differences),
        cmocka_unit_test(probabilities_hold_at_the_ends),
        cmocka_unit_test(samples_come_as_often_as_they_are_likely),
        cmocka_unit_test(slopes_of_losses_are_those_of_finite_differences),
        cmocka_unit_test(ppo_stops_where_the_ratio_has_gone_far_enough),
        cmocka_unit_test(advantages_compare_rollouts_of_one_instance),
        cmocka_unit_test(advantages_of_a_critic_join_one_step_and_the_whole_return),
        cmocka_unit_test(a_baseline_by_time_is_between_the_decisions_of_the_others),
        cmocka_unit_test(adam_and_the_clip_do_what_the_papers_say),
        cmocka_unit_test(weights_begin_the_same_everywhere),
        cmocka_unit_test(seeds_of_tests_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
