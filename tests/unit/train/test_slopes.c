/* test_slopes.c - the slopes of weights against finite differences, for every operation, on drawn networks and jobs. */
#include "random_network.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { NETWORKS = 30, TRIED = 40 };

typedef struct fixture {
    random_network r;
    network_tape tape, moved;
    /* of each number of each value in the loss */
    double share[RANDOM_NUMBERS_MAX], gradient[RANDOM_PARAMETERS_MAX];
} fixture;

static int set_up(void **state)
{
    *state = calloc(1, sizeof(fixture));
    assert_non_null(*state);
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    network_tape_free(&f->tape);
    network_tape_free(&f->moved);
    free(f);
    return 0;
}

static size_t numbers_of(const fixture *f)
{
    size_t numbers = 0;

    for (uint32_t v = 0; v < f->r.net.values_count; v++)
        numbers += (size_t)network_rows(&f->r.shape, f->r.net.values[v].domain) * f->r.net.values[v].width;
    return numbers;
}

/* Fills tape. Every number of every value stands in the loss, so that each way through the network counts. */
static double loss_of(fixture *f, network_tape *tape)
{
    double loss = 0;

    assert_true(network_tape_fit(tape, &f->r.net, &f->r.shape));
    network_forward(&f->r.net, &f->r.input, tape);
    for (size_t i = 0, numbers = numbers_of(f); i < numbers; i++)
        loss += f->share[i % RANDOM_NUMBERS_MAX] * tape->memory[i];
    return loss;
}

static void fill_gradient(fixture *f)
{
    (void)loss_of(f, &f->tape);
    network_slopes_clear(&f->r.net, &f->r.shape, &f->tape);
    for (size_t i = 0, numbers = numbers_of(f); i < numbers; i++)
        f->tape.slopes[0][i] = f->share[i % RANDOM_NUMBERS_MAX];
    memset(f->gradient, 0, sizeof f->gradient);
    network_backward(&f->r.net, &f->r.shape, &f->tape, f->r.parameters, f->gradient);
}

/* No number goes through 0, where leaky layers have a kink. */
static bool is_smooth(const fixture *f)
{
    for (size_t i = 0, numbers = numbers_of(f); i < numbers; i++)
        if (signbit(f->tape.memory[i]) != signbit(f->moved.memory[i]))
            return false;
    return true;
}

static double try_step(fixture *f, uint32_t parameter, double step, bool *smooth)
{
    double was = f->r.parameters[parameter];

    f->r.parameters[parameter] = was + step;
    double loss = loss_of(f, &f->moved);
    f->r.parameters[parameter] = was;
    *smooth = *smooth && is_smooth(f);
    return loss;
}

static uint32_t agrees(fixture *f, random_kind kind, uint64_t seed)
{
    const double step = 1e-5;
    uint32_t tried = 0;

    random_network_draw(&f->r, kind, seed);
    for (uint32_t i = 0; i < RANDOM_NUMBERS_MAX; i++)
        f->share[i] = 2 * draws_uniform(&f->r.d) - 1;
    assert_true(network_lies_in(&f->r.net, f->r.parameters, f->r.parameters_count));
    fill_gradient(f);
    for (uint32_t n = 0; n < TRIED; n++) {
        uint32_t i = (uint32_t)(draws_next(&f->r.d) % f->r.parameters_count);
        bool smooth = true;
        double up = try_step(f, i, step, &smooth), down = try_step(f, i, -step, &smooth);
        double measured = (up - down) / (2 * step);
        if (!smooth)
            continue;
        tried++;
        if (fabs(measured - f->gradient[i]) > 2e-6 * (1 + fabs(measured) + fabs(up)))
            fail_msg("kind %d, seed %llu: slope %u is %g, measured %g", kind, (unsigned long long)seed, i,
                     f->gradient[i], measured);
    }
    return tried;
}

static void slopes_are_those_of_finite_differences(void **state)
{
    fixture *f = *state;

    for (int kind = 0; kind < RANDOM_KINDS; kind++) {
        uint32_t tried = 0;
        for (uint64_t seed = 1; seed <= (kind == RANDOM_OPS ? 3 : 1) * NETWORKS; seed++)
            tried += agrees(f, (random_kind)kind, seed);
        assert_true(tried > NETWORKS * TRIED / 2); /* few stand at a kink */
    }
}

/* The drawn networks have them all, on all stages, leaves and inner ones, with loops that run and loops that are
 * skipped. */
static void every_operation_is_drawn(void **state)
{
    fixture *f = *state;
    uint32_t seen[CLO_MODEL_END + 1] = {0}, on[3] = {0}, skipped = 0, looped = 0;

    for (uint64_t seed = 1; seed <= 3 * NETWORKS; seed++) {
        random_network_draw(&f->r, RANDOM_OPS, seed);
        for (uint32_t i = 0; i < f->r.net.ops_count; i++) {
            const clo_model_op *op = &f->r.net.ops[i];
            seen[op->op]++;
            on[op->on]++;
            if (op->op == CLO_MODEL_LOOP)
                ++*(network_skips_loop(&f->r.shape, op) ? &skipped : &looped);
        }
    }
    for (int op = CLO_MODEL_DENSE; op <= CLO_MODEL_END; op++)
        assert_true(op == CLO_MODEL_LOOKUP || seen[op] > 10); /* a table of integers has no slope */
    assert_true(on[0] > 0 && on[1] > 0 && on[2] > 0);
    assert_true(skipped > 0 && looped > 0);
}

static void slopes_add_to_what_is_there(void **state)
{
    fixture *f = *state;

    random_network_draw(&f->r, RANDOM_LACHESIS, 5);
    for (uint32_t i = 0; i < RANDOM_NUMBERS_MAX; i++)
        f->share[i] = 1;
    fill_gradient(f);
    double *once = malloc(sizeof f->gradient);
    assert_non_null(once);
    memcpy(once, f->gradient, sizeof f->gradient);
    network_slopes_clear(&f->r.net, &f->r.shape, &f->tape);
    network_backward(&f->r.net, &f->r.shape, &f->tape, f->r.parameters, f->gradient);
    assert_memory_equal(once, f->gradient, sizeof f->gradient); /* slopes of 0 */
    free(once);
}

/* A tape holds the largest case that it has seen, and a smaller one leaves nothing of it behind. */
static void a_tape_serves_cases_of_any_size(void **state)
{
    fixture *f = *state;

    for (uint64_t seed = 1; seed < 30; seed++) {
        random_network_draw(&f->r, RANDOM_DECIMA, seed);
        double used = loss_of(f, &f->tape);
        double *memory = f->tape.memory;
        assert_true(network_tape_fit(&f->tape, &f->r.net, &f->r.shape));
        assert_ptr_equal(f->tape.memory, memory);
        network_tape_free(&f->moved);
        assert_true(used == loss_of(f, &f->moved));
    }
}

/* One neuron, by hand: y = leaky(2 * 3 - 7) = -0.2, dy/dw = 0.2 * 3. */
static void a_neuron_has_the_slopes_of_the_textbook(void **state)
{
    const uint32_t job_of_stage[] = {0}, child_begin[] = {0, 0};
    double parameters[] = {2, -7}, x[] = {3}, gradient[2] = {0};
    network *net = calloc(1, sizeof *net);
    network_tape tape = {0};
    const clo_model_case shape = {1, 1, 0, job_of_stage, child_begin, NULL, NULL, NULL};

    (void)state;
    assert_non_null(net);
    net->values[0] = (network_value){.width = 1, .is_input = true};
    net->values[1] = (network_value){.width = 1};
    net->layers[0] = (network_layer){1, 1, 1, 0, parameters, parameters + 1, 0.2, false};
    net->ops[0] = (clo_model_op){.op = CLO_MODEL_DENSE, .out = 1, .in = {0, CLO_MODEL_NONE, CLO_MODEL_NONE}};
    net->values_count = 2;
    net->layers_count = net->ops_count = 1;
    net->score = 1;
    assert_true(network_tape_fit(&tape, net, &shape));
    network_forward(net, &(network_case){&shape, x}, &tape);
    assert_true(fabs(tape.rows[1][0] + 0.2) < 1e-12);
    network_slopes_clear(net, &shape, &tape);
    tape.slopes[1][0] = 1;
    network_backward(net, &shape, &tape, parameters, gradient);
    assert_true(fabs(gradient[0] - 0.6) < 1e-12 && fabs(gradient[1] - 0.2) < 1e-12);
    assert_true(fabs(tape.slopes[0][0] - 0.4) < 1e-12);
    assert_false(network_lies_in(net, parameters, 1));
    network_tape_free(&tape);
    free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slopes_are_those_of_finite_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_operation_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slopes_add_to_what_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tape_serves_cases_of_any_size, set_up, tear_down),
        cmocka_unit_test(a_neuron_has_the_slopes_of_the_textbook),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
