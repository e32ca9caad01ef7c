/* test_trainer.c - training on toys finds what is best; the same bytes at any number of threads, and after a stop. */
#define _POSIX_C_SOURCE 200809L
#include "fault.h"
#include "support.h"
#include "toys.h"
#include "train/trainer/curve.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEEDS = 64, VALIDATION = 32 };

typedef struct fixture {
    network net;
    double parameters[TOY_PARAMETERS_MAX], best[TOY_PARAMETERS_MAX];
    uint64_t seeds[SEEDS], validation[VALIDATION];
    train_phase phases[2];
    trainer_config config;
    char folder[64], path[96], why[TRAINER_WHY_BYTES];
    double first, reward;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    for (uint64_t i = 0; i < SEEDS; i++)
        f->seeds[i] = 100 + i;
    for (uint64_t i = 0; i < VALIDATION; i++)
        f->validation[i] = 1000 + i;
    snprintf(f->folder, sizeof f->folder, "/tmp/clotho-trainer-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/checkpoint", f->folder);
    f->config = (trainer_config){.environment = &toy_rule,
                                 .net = &f->net,
                                 .parameters = f->parameters,
                                 .critic = CLO_MODEL_NONE,
                                 .phases = f->phases,
                                 .phases_count = 1,
                                 .seeds = f->seeds,
                                 .seeds_count = SEEDS,
                                 .validation = f->validation,
                                 .validation_count = VALIDATION,
                                 .seed = 1,
                                 .threads = 2};
    f->phases[0] = f->phases[1] = (train_phase)TRAIN_PHASE_INIT;
    f->phases[0].instances = f->phases[0].rollouts = 8;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    (void)remove(f->path);
    (void)rmdir(f->folder);
    free(f);
    return 0;
}

static void use_rule(fixture *f)
{
    f->config.environment = &toy_rule;
    toy_rule_network(f->parameters, &f->config.parameters_count, &f->net);
    parameters_init(&f->net, f->parameters, 3);
}

static void use_machines(fixture *f, bool has_critic)
{
    f->config.environment = &toy_machines;
    toy_machines_network(f->parameters, &f->config.parameters_count, &f->net, has_critic ? &f->config.critic : NULL);
    parameters_init(&f->net, f->parameters, 3);
}

static trainer *make(fixture *f)
{
    trainer *t = trainer_create(&f->config, f->why);

    if (t == NULL)
        fail_msg("%s", f->why);
    return t;
}

static void go_on(fixture *f, trainer *t, uint32_t until)
{
    train_point point;

    do
        if (!trainer_update(t, &point, f->why))
            fail_msg("%s", f->why);
    while (trainer_updates_done(t) < until);
}

/* Fills first and reward: on validation, before and the best. */
static void train(fixture *f)
{
    trainer *t = make(f);
    uint32_t count;

    go_on(f, t, trainer_updates(t));
    f->first = trainer_curve(t, &count)[0].validation;
    assert_int_equal(count, trainer_updates(t) + 1);
    memcpy(f->best, trainer_best(t, &f->reward, NULL), f->config.parameters_count * sizeof *f->best);
    trainer_destroy(t);
}

static void imitation_finds_the_hidden_rule(void **state)
{
    fixture *f = *state;

    use_rule(f);
    f->phases[0].method = TRAIN_IMITATION;
    f->phases[0].updates = 90;
    f->phases[0].rate_first = 2e-2;
    train(f);
    assert_true(f->first < -0.8);
    assert_true(f->reward > -0.05);
}

static void reinforce_finds_the_hidden_rule(void **state)
{
    fixture *f = *state;

    use_rule(f);
    f->phases[0].updates = 120;
    f->phases[0].rate_first = 2e-2;
    train(f);
    assert_true(f->first < -0.8);
    assert_true(f->reward > -0.05);
}

/* Makespans over that of the best list: what a random network has, and near 1. */
static void schedules(fixture *f, bool has_critic, uint32_t updates)
{
    use_machines(f, has_critic);
    f->phases[0].updates = updates;
    f->phases[0].rate_first = 1e-2;
    train(f);
    if (!(f->reward > -1.02 && f->reward > f->first + 0.03))
        fail_msg("%g, at first %g", f->reward, f->first);
}

static void imitation_schedules_nearly_as_the_best_list(void **state)
{
    fixture *f = *state;

    f->phases[0].method = TRAIN_IMITATION;
    schedules(f, false, 20);
}

static void reinforce_schedules_nearly_as_the_best_list(void **state)
{
    fixture *f = *state;

    schedules(f, false, 20);
}

static void a_baseline_by_time_schedules_too(void **state)
{
    fixture *f = *state;

    f->phases[0].by_time = true;
    schedules(f, false, 20);
}

static void actor_critic_schedules_too(void **state)
{
    fixture *f = *state;

    f->phases[0].method = TRAIN_ACTOR_CRITIC;
    schedules(f, true, 20);
}

static void ppo_schedules_too(void **state)
{
    fixture *f = *state;

    f->phases[0].method = TRAIN_PPO;
    schedules(f, false, 20);
}

/* Imitation, then PPO with entropy and a curriculum: all that a training may have. */
static void use_two_phases(fixture *f)
{
    use_machines(f, true);
    f->phases[0].method = TRAIN_IMITATION;
    f->phases[1].method = TRAIN_PPO;
    f->phases[0].updates = f->phases[1].updates = 6;
    f->phases[1].instances = 5;
    f->phases[1].rollouts = 3;
    f->phases[1].steps_first = 3;
    f->phases[1].steps_last = 9;
    f->phases[1].entropy_first = 0.05;
    f->config.phases_count = 2;
    f->config.validate_every = 4;
}

static size_t read_file(const char *path, unsigned char **data)
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    *data = malloc(1 << 20);
    assert_non_null(*data);
    size_t bytes = fread(*data, 1, 1 << 20, file);
    assert_true(bytes > 0 && bytes < 1 << 20);
    fclose(file);
    return bytes;
}

/* Trains to the end, stopping at `stop` in between, and returns the last checkpoint. */
static size_t train_in_parts(fixture *f, uint32_t stop, uint32_t threads, unsigned char **data)
{
    use_two_phases(f);
    f->config.threads = threads;
    trainer *t = make(f);
    if (stop > 0) {
        go_on(f, t, stop);
        assert_true(trainer_save(t, f->path, f->why));
        trainer_destroy(t);
        parameters_init(&f->net, f->parameters, 99); /* what is in memory is lost */
        f->config.threads = threads % 3 + 1;
        t = make(f);
        if (!trainer_load(t, f->path, f->why))
            fail_msg("%s", f->why);
        assert_int_equal(trainer_updates_done(t), stop);
    }
    go_on(f, t, trainer_updates(t));
    assert_true(trainer_save(t, f->path, f->why));
    trainer_destroy(t);
    return read_file(f->path, data);
}

static void the_same_seed_gives_the_same_bytes_at_any_number_of_threads(void **state)
{
    fixture *f = *state;
    unsigned char *one, *more;
    size_t bytes = train_in_parts(f, 0, 1, &one);

    for (uint32_t threads = 2; threads <= 3; threads++) {
        assert_int_equal(train_in_parts(f, 0, threads, &more), bytes);
        assert_memory_equal(one, more, bytes);
        free(more);
    }
    f->config.seed = 2;
    assert_int_equal(train_in_parts(f, 0, 1, &more), bytes);
    assert_true(memcmp(one, more, bytes) != 0);
    free(one);
    free(more);
}

static void a_training_that_was_stopped_ends_with_the_same_bytes(void **state)
{
    fixture *f = *state;
    unsigned char *whole, *parts;
    size_t bytes = train_in_parts(f, 0, 2, &whole);

    for (uint32_t stop = 1; stop < 12; stop += 5) { /* in each phase, and at its end */
        assert_int_equal(train_in_parts(f, stop, stop % 3 + 1, &parts), bytes);
        assert_memory_equal(whole, parts, bytes);
        free(parts);
    }
    free(whole);
}

static void write_file(const char *path, const unsigned char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void refuses(fixture *f, trainer *t, const char *text)
{
    double before = f->parameters[0];

    assert_false(trainer_load(t, f->path, f->why));
    if (strncmp(f->why, f->path, strlen(f->path)) != 0 || strstr(f->why, text) == NULL || strchr(f->why, '\n') != NULL)
        fail_msg("'%s' lacks '%s'", f->why, text);
    assert_true(before == f->parameters[0]);
    assert_int_equal(trainer_updates_done(t), 0);
}

static void a_damaged_or_foreign_checkpoint_is_refused_with_one_line(void **state)
{
    fixture *f = *state;
    unsigned char *data;
    size_t bytes = train_in_parts(f, 0, 1, &data);
    trainer *t = make(f);

    for (size_t at = 12; at < bytes; at += bytes / 97) {
        data[at] ^= 1;
        write_file(f->path, data, bytes);
        refuses(f, t, "is damaged");
        data[at] ^= 1;
    }
    for (size_t cut = bytes - 1; cut > 80; cut /= 2) {
        write_file(f->path, data, cut);
        refuses(f, t, "is damaged");
    }
    write_file(f->path, data, 20);
    refuses(f, t, "is no checkpoint");
    write_file(f->path, (const unsigned char *)"", 0);
    refuses(f, t, "is no checkpoint");
    data[8]++;
    write_file(f->path, data, bytes);
    refuses(f, t, "another version");
    data[8]--;
    data[0]++;
    write_file(f->path, data, bytes);
    refuses(f, t, "is no checkpoint");
    data[0]--;
    trainer_destroy(t);

    write_file(f->path, data, bytes);
    f->phases[1].gamma = 0.5;
    t = make(f);
    refuses(f, t, "other jobs or options");
    trainer_destroy(t);
    f->phases[1].gamma = 1;
    f->config.hash = 7;
    t = make(f);
    refuses(f, t, "other jobs or options");
    remove(f->path);
    assert_int_equal(mkdir(f->path, 0700), 0);
    refuses(f, t, "Is a directory");
    assert_int_equal(rmdir(f->path), 0);
    assert_true(trainer_load(t, f->path, f->why)); /* there is none yet */
    assert_int_equal(trainer_updates_done(t), 0);
    trainer_destroy(t);
    free(data);
}

static void a_checkpoint_that_cannot_be_written_leaves_the_old_one(void **state)
{
    fixture *f = *state;
    unsigned char *before, *after;
    size_t bytes = train_in_parts(f, 0, 1, &before);
    struct rlimit old, full;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    trainer *t = make(f);
    full = (struct rlimit){bytes / 2, old.rlim_max}; /* as if the disk were full */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    bool is_saved = trainer_save(t, f->path, f->why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_false(is_saved);
    assert_non_null(strstr(f->why, "cannot be written"));
    assert_int_equal(read_file(f->path, &after), bytes);
    assert_memory_equal(before, after, bytes);
    assert_int_equal(remove(f->path), 0);
    assert_int_equal(rmdir(f->folder), 0); /* nothing else is left */
    trainer_destroy(t);
    free(before);
    free(after);
}

/* Views that stay run the network once for an episode, and learn the same. */
static void a_view_that_stays_learns_what_views_anew_learn(void **state)
{
    fixture *f = *state;

    double most = 0, *anew = malloc(sizeof f->parameters);

    assert_non_null(anew);
    f->phases[0].updates = 5;
    use_machines(f, false);
    f->config.environment = &toy_machines_anew;
    train(f);
    memcpy(anew, f->parameters, sizeof f->parameters);
    use_machines(f, false);
    train(f);
    for (uint32_t i = 0; i < f->config.parameters_count; i++)
        most = fmax(most, fabs(anew[i] - f->parameters[i]));
    free(anew);
    assert_true(most < 1e-9);
}

static void what_fails_says_why(void **state)
{
    fixture *f = *state;
    train_point point;

    use_machines(f, false);
    f->config.environment = &toy_broken;
    f->phases[0].updates = 3;
    f->validation[5] = 13;
    trainer *t = make(f);
    assert_false(trainer_update(t, &point, f->why));
    assert_non_null(strstr(f->why, "seed 13: "));
    trainer_destroy(t);
}

/* Each allocation of a training fails once. With the address sanitizer, nothing is lost either. */
static void without_memory_it_says_so(void **state)
{
    fixture *f = *state;
    train_point point;
    bool has_failed = true;
    uint32_t failures = 0;

    f->config.threads = 1;
    f->config.validation_count = 2;
    f->phases[0].by_time = true;
    f->phases[0].instances = f->phases[0].rollouts = 2;
    f->phases[0].updates = 1;
    for (uint64_t n = 1; has_failed; n++) { /* ends: a training makes so many allocations */
        use_machines(f, true);
        fault_fail_nth(n);
        trainer *t = trainer_create(&f->config, f->why);
        bool is_good = t != NULL && trainer_update(t, &point, f->why) && trainer_update(t, &point, f->why) &&
                       trainer_save(t, f->path, f->why);
        has_failed = fault_happened() != 0;
        fault_fail_nth(0);
        trainer_destroy(t);
        assert_int_equal(is_good, !has_failed);
        if (has_failed && strstr(f->why, "out of memory") == NULL)
            fail_msg("allocation %llu: %s", (unsigned long long)n, f->why);
        failures += has_failed;
    }
    assert_true(failures > 20);
}

static void refused(fixture *f, const char *text)
{
    assert_null(trainer_create(&f->config, f->why));
    if (strstr(f->why, text) == NULL)
        fail_msg("'%s' lacks '%s'", f->why, text);
}

static void a_wrong_configuration_is_refused(void **state)
{
    fixture *f = *state;

    use_machines(f, false);
    refused(f, "no updates");
    f->phases[0].updates = 1;
    f->phases[0].method = TRAIN_ACTOR_CRITIC;
    refused(f, "needs a network with a critic");
    f->phases[0].method = TRAIN_IMITATION;
    f->config.environment = &toy_broken;
    refused(f, "no teacher");
    f->phases[0].method = TRAIN_PPO;
    f->phases[0].epochs = 0;
    refused(f, "PPO needs");
    f->phases[0].epochs = 1;
    f->config.parameters_count--;
    refused(f, "outside of the parameters");
    f->config.parameters_count++;
    f->config.validation_count = 0;
    refused(f, "no seeds");
    f->config.validation_count = 1;
    f->config.phases_count = 0;
    refused(f, "one to four phases");
}

static void a_training_is_seen_as_a_line_and_as_a_picture(void **state)
{
    fixture *f = *state;
    char line[512], *svg = NULL;
    size_t bytes = 0;
    uint32_t count;
    train_point point;

    use_two_phases(f);
    trainer *t = make(f);
    assert_true(trainer_update(t, &point, f->why));
    assert_true(isnan(point.reward) && !isnan(point.validation));
    go_on(f, t, 6);
    const train_point *points = trainer_curve(t, &count);
    curve_line(t, f->phases[0].method, &points[count - 1], 3, 6, line, sizeof line);
    assert_non_null(strstr(line, "6/12"));
    assert_non_null(strstr(line, "50%"));
    assert_non_null(strstr(line, "0:03, 0:03 left"));
    go_on(f, t, 12);
    points = trainer_curve(t, &count);
    FILE *out = open_memstream(&svg, &bytes);
    assert_non_null(out);
    assert_true(curve_svg(points, count, "a < b & c", out));
    fclose(out);
    assert_non_null(strstr(svg, "a &lt; b &amp; c"));
    assert_non_null(strstr(svg, "</svg>"));
    assert_non_null(strstr(svg, "stroke-dasharray")); /* between the phases */
    assert_non_null(strstr(svg, ">next phase</text>"));
    assert_null(strstr(svg, "nan"));
    free(svg);
    trainer_destroy(t);
}

/* Whatever the rewards, few lines at round numbers, none twice. */
static void the_grid_of_a_curve_is_at_round_numbers(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        const char *wanted;
    } cases[] = {{0.0171, 0.0932, "0.02 0.04 0.06 0.08 "},
                 {-3.3, 4.1, "-2 0 2 4 "},
                 {-1.0371, -1.0349, "-1.037 -1.0365 -1.036 -1.0355 -1.035 "},
                 {0, 6, "0 1 2 3 4 5 6 "},
                 {7, 7, "6.6 6.8 7 7.2 7.4 "},
                 {1e17, 1e17, NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const train_point points[] = {{.update = 0, .reward = (double)NAN, .validation = cases[i].low},
                                      {.update = 5, .reward = (double)NAN, .validation = cases[i].high}};
        char *svg = NULL, said[256] = "";
        size_t bytes = 0;
        FILE *out = open_memstream(&svg, &bytes);
        assert_non_null(out);
        assert_true(curve_svg(points, 2, "t", out));
        fclose(out);
        const char *mark = "text-anchor=\"end\">";
        for (const char *at = strstr(svg, mark); at != NULL; at = strstr(at + 1, mark)) {
            strncat(said, at + strlen(mark), strcspn(at + strlen(mark), "<"));
            strcat(said, " ");
        }
        if (cases[i].wanted != NULL)
            assert_memory_equal(said, cases[i].wanted, strlen(cases[i].wanted));
        free(svg);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(imitation_finds_the_hidden_rule),
        TEST(reinforce_finds_the_hidden_rule),
        TEST(imitation_schedules_nearly_as_the_best_list),
        TEST(reinforce_schedules_nearly_as_the_best_list),
        TEST(a_baseline_by_time_schedules_too),
        TEST(actor_critic_schedules_too),
        TEST(ppo_schedules_too),
        TEST(the_same_seed_gives_the_same_bytes_at_any_number_of_threads),
        TEST(a_training_that_was_stopped_ends_with_the_same_bytes),
        TEST(a_damaged_or_foreign_checkpoint_is_refused_with_one_line),
        TEST(a_checkpoint_that_cannot_be_written_leaves_the_old_one),
        TEST(a_view_that_stays_learns_what_views_anew_learn),
        TEST(what_fails_says_why),
        TEST(without_memory_it_says_so),
        TEST(a_wrong_configuration_is_refused),
        TEST(a_training_is_seen_as_a_line_and_as_a_picture),
        cmocka_unit_test(the_grid_of_a_curve_is_at_round_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
