/* test_ready.c - a head that is kept up to date event by event gives the very scores that learn/infer/run.c gives for
 * the case of all stages that are not finished, row by row: every variant of the kernels, every shape of the network,
 * random streams of events. */
#include "base/numbers/rng.h"
#include "common/lachesis_model.h"
#include "learn/infer/lachesis_features.h"
#include "learn/infer/run.h"
#include "learn/jobs/ready.h"
#include "support.h"

#include <string.h>

/* Then all of the head is of the graph alone. */

enum { JOBS = 8, STAGES = 24, EDGES = STAGES * 4, CAPACITY = 40 };

typedef struct drawn_job {
    uint32_t stages;
    uint32_t child_begin[STAGES + 1], children[EDGES], order[STAGES];
    int64_t times[5][STAGES];
    uint32_t counts[2][STAGES];
    clo_stage_figures figures;
    bool is_done[STAGES], is_candidate[STAGES];
    /* as the network sees them */
    int32_t rows[STAGES * CLO_FEATURES_STAGE], scale;
    clo_job_figures now;
    clo_scored_job live;
    void *memory;
} drawn_job;

typedef struct fixture {
    clo_rng rng;
    void *data, *memory;
    clo_model *model;
    clo_head head;
    clo_scored ready;
    drawn_job jobs[JOBS];
    uint32_t jobs_count, next_id;
    clo_system_figures system;
} fixture;

static void *aligned(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

    assert_non_null(memory);
    memset(memory, 0x5a, bytes);
    return memory;
}

static void set_up(fixture *f, uint64_t seed, unsigned shape, uint32_t isa)
{
    size_t bytes;

    memset(f, 0, sizeof *f);
    f->rng = clo_rng_seed(seed);
    f->data = lachesis_model_draw(seed, shape, &bytes);
    if (f->data == NULL)
        fail_msg("%s", clo_last_error());
    ok(clo_model_open("m", f->data, bytes, &f->model));
    ok(clo_head_open(f->model, isa, &f->head));
    f->memory = aligned(clo_scored_bytes(&f->head, CAPACITY, JOBS));
    clo_scored_open(&f->ready, &f->head, CAPACITY, JOBS, f->memory);
    f->system = (clo_system_figures){0, 3, 8};
}

static void tear_down(fixture *f)
{
    for (uint32_t j = 0; j < JOBS; j++)
        free(f->jobs[j].memory);
    free(f->memory);
    clo_model_destroy(f->model);
    free(f->data);
}

static uint32_t below(fixture *f, uint32_t n)
{
    return (uint32_t)clo_rng_below(&f->rng, n);
}

/* Edges go from lower to higher ids; the order is another one that fits: it begins with stages without parents. */
static void draw_graph(fixture *f, drawn_job *job)
{
    bool has_parent[STAGES] = {false};
    uint32_t edges = 0, at = 0;

    job->stages = 1 + below(f, STAGES);
    for (uint32_t s = 0; s < job->stages; s++) {
        job->child_begin[s] = edges;
        for (uint32_t to = s + 1; to < job->stages && edges - job->child_begin[s] < 4; to++)
            if (below(f, 4) == 0) {
                job->children[edges++] = to;
                has_parent[to] = true;
            }
    }
    job->child_begin[job->stages] = edges;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t s = 0; s < job->stages; s++)
            if (has_parent[s] == (pass == 1))
                job->order[at++] = s;
}

static void draw_figures(fixture *f, drawn_job *job)
{
    int64_t unit = INT64_C(1) << below(f, 50);

    job->figures = (clo_stage_figures){job->times[0], job->times[1],  job->times[2], job->times[3],
                                       job->times[4], job->counts[0], job->counts[1]};
    for (uint32_t s = 0; s < job->stages; s++) {
        for (int k = 0; k < 5; k++)
            job->times[k][s] = below(f, 40) == 0 ? INT64_MAX : unit * below(f, 1000);
        job->counts[0][s] = below(f, 5);
        job->counts[1][s] = 1 + below(f, 1000);
    }
}

static void arrive(fixture *f, uint32_t slot)
{
    drawn_job *job = &f->jobs[slot];

    memset(job, 0, sizeof *job);
    draw_graph(f, job);
    draw_figures(f, job);
    (void)clo_features_stages(&job->figures, job->stages, &job->scale, job->rows);
    job->memory = aligned(clo_head_job_bytes(&f->head, job->stages));
    clo_head_job *made = clo_head_job_open(&f->head, job->stages, job->memory);
    memcpy(made->features, job->rows, (size_t)job->stages * CLO_FEATURES_STAGE * sizeof *job->rows);
    made->scale = job->scale;
    const clo_head_graph graph = {job->stages, job->order, job->child_begin, job->children};
    clo_head_job_prepare(&f->head, made, &graph);
    job->now = (clo_job_figures){.scale = job->scale, .executors = 8, .tasks_left = 100, .work_left_ns = 12345};
    job->live = (clo_scored_job){.job = made, .id = f->next_id++, .is_open = true, .figures = job->now};
    clo_scored_arrive(&f->ready, slot, &job->live);
    f->jobs_count++;
}

static void leave(fixture *f, uint32_t slot)
{
    clo_scored_leave(&f->ready, slot);
    free(f->jobs[slot].memory);
    f->jobs[slot] = (drawn_job){0};
    f->jobs_count--;
}

static bool parents_are_done(const drawn_job *job, uint32_t stage)
{
    for (uint32_t s = 0; s < stage; s++)
        for (uint32_t e = job->child_begin[s]; e < job->child_begin[s + 1]; e++)
            if (job->children[e] == stage && !job->is_done[s])
                return false;
    return true;
}

static void touch_stage(fixture *f, uint32_t slot, uint32_t what)
{
    drawn_job *job = &f->jobs[slot];
    uint32_t stage = below(f, job->stages);

    if (job->is_done[stage]) {
        clo_scored_done(&f->ready, slot, stage); /* does no harm */
    } else if (what < 4) {
        bool has_room = f->ready.count < CAPACITY || job->is_candidate[stage];
        assert_int_equal(clo_scored_add(&f->ready, slot, stage), has_room);
        job->is_candidate[stage] = job->is_candidate[stage] || has_room;
    } else if (what < 6) {
        clo_scored_remove(&f->ready, slot, stage);
        job->is_candidate[stage] = false;
    } else if (parents_are_done(job, stage)) {
        clo_scored_done(&f->ready, slot, stage);
        job->is_candidate[stage] = false;
        job->is_done[stage] = true;
    }
}

static void do_event(fixture *f)
{
    uint32_t slot = below(f, JOBS), what = below(f, 12);

    if (f->jobs[slot].memory == NULL) {
        arrive(f, slot);
    } else if (what == 0) {
        leave(f, slot);
    } else if (what < 3) {
        drawn_job *job = &f->jobs[slot];
        job->now.executors_used = below(f, 9);
        job->now.tasks_left = below(f, 1000);
        job->now.work_left_ns = (int64_t)(clo_rng_next(&f->rng) >> (1 + below(f, 62)));
        clo_scored_changed(&f->ready, slot, &job->now, true);
    } else {
        touch_stage(f, slot, what - 3);
    }
    f->system = (clo_system_figures){f->jobs_count, below(f, 9), 8};
}

/* The case of all that is not finished, as run.c wants it. */
typedef struct whole {
    uint32_t job_of_stage[JOBS * STAGES], child_begin[JOBS * STAGES + 1], children[JOBS * EDGES];
    int16_t inputs[JOBS * STAGES * CLO_FEATURES_STAGE + JOBS * CLO_FEATURES_JOB + CLO_FEATURES_SYSTEM];
    uint32_t row_of[JOBS][STAGES];
    clo_model_case input;
} whole;

static void add_job(whole *w, const drawn_job *job, uint32_t slot, uint32_t *edges)
{
    for (uint32_t s = 0; s < job->stages; s++)
        if (!job->is_done[s]) {
            w->row_of[slot][s] = w->input.stages++;
            w->job_of_stage[w->row_of[slot][s]] = w->input.jobs;
        }
    for (uint32_t s = 0; s < job->stages; s++) {
        if (job->is_done[s])
            continue;
        w->child_begin[w->row_of[slot][s]] = *edges;
        for (uint32_t e = job->child_begin[s]; e < job->child_begin[s + 1]; e++)
            w->children[(*edges)++] = w->row_of[slot][job->children[e]];
    }
    w->input.jobs++;
}

static void scale_rows(const fixture *f, uint32_t first, uint32_t count, const int32_t *raw, int16_t **to)
{
    clo_model_feature features[16];

    for (uint32_t i = 0; i < count; i++)
        ok(clo_model_feature_at(f->model, first + i, &features[i]));
    (void)clo_features_scale(features, count, raw, *to);
    *to += count;
}

static void make_whole(const fixture *f, whole *w)
{
    int16_t *to = w->inputs;
    int32_t row[CLO_FEATURES_STAGE];
    uint32_t edges = 0;

    memset(w, 0, sizeof *w);
    w->input = (clo_model_case){
        .job_of_stage = w->job_of_stage, .child_begin = w->child_begin, .children = w->children, .inputs = w->inputs};
    for (uint32_t j = 0; j < JOBS; j++)
        if (f->jobs[j].memory != NULL)
            add_job(w, &f->jobs[j], j, &edges);
    w->child_begin[w->input.stages] = edges;
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t s = 0; s < f->jobs[j].stages; s++)
            if (!f->jobs[j].is_done[s])
                scale_rows(f, 0, CLO_FEATURES_STAGE, f->jobs[j].rows + s * CLO_FEATURES_STAGE, &to);
    for (uint32_t j = 0; j < JOBS; j++)
        if (f->jobs[j].memory != NULL) {
            (void)clo_features_job(&f->jobs[j].now, row);
            scale_rows(f, CLO_FEATURES_STAGE, CLO_FEATURES_JOB, row, &to);
        }
    (void)clo_features_system(&f->system, row);
    scale_rows(f, CLO_FEATURES_STAGE + CLO_FEATURES_JOB, CLO_FEATURES_SYSTEM, row, &to);
}

static void compare(fixture *f, whole *w)
{
    static int32_t scores[JOBS * STAGES];
    clo_kernels scalar;
    uint32_t candidates = 0;

    make_whole(f, w);
    clo_kernels_select(&scalar, 0);
    clo_scored_score(&f->ready, &f->system);
    ok(clo_run_ops(f->model, &scalar, &w->input, scores, NULL));
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t s = 0; s < f->jobs[j].stages; s++) {
            if (!f->jobs[j].is_candidate[s])
                continue;
            candidates++;
            uint32_t place = f->jobs[j].live.job->place[s];
            assert_in_range(place, 0, f->ready.count - 1);
            assert_int_equal(f->ready.keys[place], (uint64_t)f->jobs[j].live.id << 32 | s);
            assert_int_equal(f->ready.scores[place], scores[w->row_of[j][s]]);
        }
    assert_int_equal(candidates, f->ready.count);
}

/* Several events between two decisions, then one by one. */
static void play(fixture *f, uint32_t events)
{
    whole *w = malloc(sizeof *w);

    assert_non_null(w);
    for (uint32_t i = 0; i < events; i++) {
        do_event(f);
        if (i % 3 == 0 || below(f, 2) == 0)
            compare(f, w);
    }
    free(w);
}

static void lanes_give_the_scores_of_the_whole_case(void **state)
{
    uint32_t variants, mine = clo_cpu_isa();
    const clo_variant *list = clo_kernels_variants(&variants);
    fixture *f = malloc(sizeof *f);

    (void)state;
    assert_non_null(f);
    for (uint32_t v = 0; v < variants; v++)
        for (unsigned i = 0; i < 2 * LACHESIS_MODEL_SKIP && (list[v].needs & mine) == list[v].needs; i++) {
            unsigned shape = i % LACHESIS_MODEL_SKIP;
            set_up(f, 100 + i, i < LACHESIS_MODEL_SKIP ? shape : shape | LACHESIS_MODEL_DIRECT, list[v].needs);
            play(f, SANITIZED || i >= LACHESIS_MODEL_SKIP ? 25 : 60);
            tear_down(f);
        }
    free(f);
}

/* The records and sums of a job, before and after others have come and gone. */
static void a_job_that_comes_changes_no_number_of_others(void **state)
{
    fixture *f = malloc(sizeof *f);

    (void)state;
    assert_non_null(f);
    for (uint64_t seed = 1; seed < 20; seed++) {
        set_up(f, seed, LACHESIS_MODEL_NO_SYSTEM, clo_cpu_isa());
        arrive(f, 0);
        for (uint32_t s = 0; s < f->jobs[0].stages; s++)
            assert_true(clo_scored_add(&f->ready, 0, s));
        clo_scored_score(&f->ready, &f->system);
        size_t bytes = clo_head_job_bytes(&f->head, f->jobs[0].stages);
        void *before = malloc(bytes);
        int32_t scores[STAGES];
        assert_non_null(before);
        memcpy(before, f->jobs[0].memory, bytes);
        memcpy(scores, f->ready.scores, sizeof scores);
        uint64_t recomputed = f->ready.recomputed;
        for (uint32_t slot = 1; slot < JOBS; slot++)
            arrive(f, slot);
        f->system = (clo_system_figures){JOBS, 0, 8};
        clo_scored_score(&f->ready, &f->system);
        assert_memory_equal(before, f->jobs[0].memory, bytes);
        assert_memory_equal(scores, f->ready.scores, f->jobs[0].stages * sizeof *scores);
        assert_int_equal(f->ready.recomputed, recomputed + JOBS - 1); /* the new ones alone */
        free(before);
        tear_down(f);
    }
    free(f);
}

static void closed_jobs_and_other_bands_are_passed_over(void **state)
{
    fixture *f = malloc(sizeof *f);

    (void)state;
    assert_non_null(f);
    set_up(f, 7, 0, clo_cpu_isa());
    for (uint32_t slot = 0; slot < 3; slot++) {
        arrive(f, slot);
        leave(f, slot);
        arrive(f, slot); /* in a slot that is in the list of changed ones */
        f->ready.jobs[slot].band = slot == 2;
        assert_true(clo_scored_add(&f->ready, slot, 0));
    }
    clo_scored_score(&f->ready, &f->system);
    assert_int_equal(f->ready.candidates[clo_scored_best(&f->ready, 1)].slot, 2);
    uint32_t best = f->ready.candidates[clo_scored_best(&f->ready, 0)].slot;
    assert_in_range(best, 0, 1);
    clo_scored_changed(&f->ready, best, &f->jobs[best].now, false);
    clo_scored_score(&f->ready, &f->system);
    assert_int_equal(f->ready.candidates[clo_scored_best(&f->ready, 0)].slot, 1 - best);
    clo_scored_changed(&f->ready, 1 - best, &f->jobs[1 - best].now, false);
    clo_scored_score(&f->ready, &f->system);
    assert_int_equal(clo_scored_best(&f->ready, 0), CLO_SCORED_NONE);
    assert_int_equal(clo_scored_best(&f->ready, 5), CLO_SCORED_NONE);
    leave(f, best);
    clo_scored_score(&f->ready, &f->system);
    assert_int_equal(clo_scored_best(&f->ready, 0), CLO_SCORED_NONE);
    tear_down(f);
    free(f);
}

/* Equal scores: all weights see the same stage. */
static void ties_go_to_the_lowest_job_then_the_lowest_stage(void **state)
{
    fixture *f = malloc(sizeof *f);

    (void)state;
    assert_non_null(f);
    set_up(f, 3, 0, clo_cpu_isa());
    for (uint32_t slot = 0; slot < 3; slot++) {
        arrive(f, slot);
        assert_true(clo_scored_add(&f->ready, slot, f->jobs[slot].stages - 1));
        assert_true(clo_scored_add(&f->ready, slot, 0));
    }
    clo_scored_score(&f->ready, &f->system);
    for (uint32_t i = 0; i < CAPACITY; i++)
        f->ready.scores[i] = 5;
    uint32_t best = clo_scored_best(&f->ready, 0);
    assert_int_equal(f->ready.candidates[best].slot, 0);
    assert_int_equal(f->ready.candidates[best].stage, 0);
    tear_down(f);
    free(f);
}

enum { MANY = SANITIZED ? 1000 : 10000, MANY_CANDIDATES = 200 };

/* One stage each, without edges: the whole case is a row for each job. */
static void ten_thousand_live_jobs_score_as_the_whole_case(void **state)
{
    fixture *f = malloc(sizeof *f);
    uint32_t *begin = calloc(MANY + 1, sizeof *begin), *ids = calloc(MANY, sizeof *ids);
    int16_t *inputs = calloc(MANY, (CLO_FEATURES_STAGE + CLO_FEATURES_JOB) * sizeof *inputs + sizeof *inputs);
    int32_t *scores = calloc(MANY, sizeof *scores), raw[CLO_FEATURES_STAGE], scale;

    (void)state;
    assert_true(f != NULL && begin != NULL && ids != NULL && inputs != NULL && scores != NULL);
    set_up(f, 11, 0, clo_cpu_isa());
    size_t job_bytes = (clo_head_job_bytes(&f->head, 1) + 63) / 64 * 64;
    unsigned char *jobs = aligned(MANY * job_bytes);
    free(f->memory);
    f->memory = aligned(clo_scored_bytes(&f->head, MANY_CANDIDATES, MANY));
    clo_scored_open(&f->ready, &f->head, MANY_CANDIDATES, MANY, f->memory);
    int16_t *stage_to = inputs, *job_to = inputs + (size_t)MANY * CLO_FEATURES_STAGE;
    for (uint32_t j = 0; j < MANY; j++) {
        drawn_job *drawn = &f->jobs[0];
        const clo_head_graph graph = {1, NULL, begin, ids};
        ids[j] = j;
        drawn->stages = 1;
        draw_figures(f, drawn);
        clo_head_job *job = clo_head_job_open(&f->head, 1, jobs + j * job_bytes);
        (void)clo_features_stages(&drawn->figures, 1, &scale, job->features);
        clo_head_job_prepare(&f->head, job, &graph);
        const clo_scored_job row = {
            .job = job, .id = j, .is_open = true, .figures = {.scale = scale, .executors = 8, .tasks_left = j}};
        scale_rows(f, 0, CLO_FEATURES_STAGE, job->features, &stage_to);
        (void)clo_features_job(&row.figures, raw);
        scale_rows(f, CLO_FEATURES_STAGE, CLO_FEATURES_JOB, raw, &job_to);
        clo_scored_arrive(&f->ready, j, &row);
        assert_int_equal(clo_scored_add(&f->ready, j, 0), j < MANY_CANDIDATES);
    }
    f->system = (clo_system_figures){MANY, 1, 8};
    (void)clo_features_system(&f->system, raw);
    scale_rows(f, CLO_FEATURES_STAGE + CLO_FEATURES_JOB, CLO_FEATURES_SYSTEM, raw, &job_to);
    clo_scored_score(&f->ready, &f->system);
    const clo_model_case input = {
        .stages = MANY, .jobs = MANY, .job_of_stage = ids, .child_begin = begin, .children = ids, .inputs = inputs};
    ok(clo_run_ops(f->model, &f->head.kernels, &input, scores, NULL));
    assert_memory_equal(scores, f->ready.scores, MANY_CANDIDATES * sizeof *scores);
    uint64_t before = f->ready.recomputed;
    clo_scored_changed(&f->ready, 7, &f->ready.jobs[7].figures, true);
    clo_scored_score(&f->ready, &f->system);
    assert_int_equal(f->ready.recomputed, before + 1); /* however many live */
    f->jobs[0] = (drawn_job){0};
    tear_down(f);
    free(jobs);
    free(begin);
    free(ids);
    free(inputs);
    free(scores);
    free(f);
}

static void models_of_another_shape_are_refused(void **state)
{
    size_t bytes;
    void *data = lachesis_model_draw(1, LACHESIS_MODEL_SKIP, &bytes);
    clo_model *model;
    clo_head head;

    (void)state;
    assert_non_null(data);
    ok(clo_model_open("m", data, bytes, &model));
    fails(CLO_ERR_UNSUPPORTED, "jobs depend on one another", clo_head_open(model, 0, &head));
    clo_model_destroy(model);
    free(data);
    data = lachesis_model_draw(1, LACHESIS_MODEL_TWICE, &bytes);
    assert_non_null(data);
    ok(clo_model_open("m", data, bytes, &model));
    fails(CLO_ERR_UNSUPPORTED, "does not give the score of the head and one part of stages",
          clo_head_open(model, 0, &head));
    clo_model_destroy(model);
    free(data);
    const void *decima = clo_model_builtin("decima", &bytes);
    ok(clo_model_open("m", decima, bytes, &model));
    fails(CLO_ERR_UNSUPPORTED, "list 2 of features", clo_head_open(model, 0, &head));
    clo_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_give_the_scores_of_the_whole_case),
        cmocka_unit_test(a_job_that_comes_changes_no_number_of_others),
        cmocka_unit_test(closed_jobs_and_other_bands_are_passed_over),
        cmocka_unit_test(ties_go_to_the_lowest_job_then_the_lowest_stage),
        cmocka_unit_test(ten_thousand_live_jobs_score_as_the_whole_case),
        cmocka_unit_test(models_of_another_shape_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
