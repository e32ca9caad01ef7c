/* decision/parts.c - see parts.h. */
#include "decision/parts.h"

#include "common/lachesis_model.h"
#include "common/platform.h"
#include "decision/scene.h"

#include "policy/network/learned_head.h"

#include <stdlib.h>

const char *const parts_kinds[PARTS_KINDS] = {"features of a job and of the system", "a stage comes and goes",
                                              "one job changed", "system, head and arg-max",
                                              "all: a job changed, decide"};
const uint32_t parts_candidates[PARTS_CANDIDATES] = {1, 10, 16, 32, 100, 1000, 10000};

enum { ALIGN = 64, EXECUTORS = 16 };

bool parts_open(parts_network *network, uint64_t seed)
{
    uint32_t count, mine = clo_cpu_isa();
    const clo_variant *list = clo_kernels_variants(&count);
    size_t bytes = 0;

    *network = (parts_network){.argument = CLO_LEARNED_ARGUMENT_INIT};
    network->data = lachesis_model_draw(seed, LACHESIS_MODEL_DIRECT, &bytes);
    if (network->data == NULL || clo_model_open("drawn", network->data, bytes, &network->model) != CLO_OK)
        return bench_fail("cannot make a network"), false;
    network->argument.model = network->model;
    for (uint32_t v = count; v-- > 0 && network->variants < PARTS_VARIANTS_MAX;)
        if ((list[v].needs & mine) == list[v].needs) {
            network->names[network->variants] = list[v].name;
            network->isa[network->variants++] = list[v].needs;
        }
    return true;
}

void parts_close(parts_network *network)
{
    clo_model_destroy(network->model);
    free(network->data);
}

void parts_use(void *policy_state, uint32_t isa)
{
    clo_kernels_select(&clo_learned_head_of(policy_state)->head.kernels, isa);
}

/* Jobs of one stage; as many of them as there are candidates have it ready. */
typedef struct parts_scene {
    clo_head head;
    clo_scored set;
    void *set_memory;
    unsigned char *jobs_memory;
    uint32_t jobs;
    clo_system_figures system;
    uint64_t draws;
} parts_scene;

static void *take(size_t bytes)
{
    return aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
}

static void parts_scene_close(parts_scene *s)
{
    free(s->set_memory);
    free(s->jobs_memory);
}

static void add_job(parts_scene *s, uint32_t slot, void *memory)
{
    static const uint32_t begin[2], none[1];
    const clo_head_graph graph = {1, NULL, begin, none};
    clo_head_job *job = clo_head_job_open(&s->head, 1, memory);
    clo_scored_job row = {.job = job, .id = slot, .is_open = true, .figures = {.executors = EXECUTORS}};

    for (uint32_t i = 0; i < CLO_FEATURES_STAGE; i++)
        job->features[i] = (int32_t)bench_random_below(&s->draws, CLO_FEATURE_TIME_UNITS);
    row.figures.tasks_left = 1 + slot % 100;
    clo_head_job_prepare(&s->head, job, &graph);
    clo_scored_arrive(&s->set, slot, &row);
}

static bool parts_scene_open(parts_scene *s, const parts_network *network, uint32_t isa, uint32_t candidates,
                             uint32_t jobs)
{
    *s = (parts_scene){.jobs = jobs > candidates ? jobs : candidates, .draws = candidates};
    s->system = (clo_system_figures){s->jobs, 1, EXECUTORS};
    if (clo_head_open(network->model, isa, &s->head) != CLO_OK)
        return false;
    size_t job_bytes = (clo_head_job_bytes(&s->head, 1) + ALIGN - 1) / ALIGN * ALIGN;
    s->set_memory = take(clo_scored_bytes(&s->head, candidates + 1, s->jobs));
    s->jobs_memory = take(s->jobs * job_bytes);
    if (s->set_memory == NULL || s->jobs_memory == NULL)
        return false;
    clo_scored_open(&s->set, &s->head, candidates + 1, s->jobs, s->set_memory);
    for (uint32_t j = 0; j < s->jobs; j++) {
        add_job(s, j, s->jobs_memory + j * job_bytes);
        if (j < candidates)
            (void)clo_scored_add(&s->set, j, 0);
    }
    clo_scored_score(&s->set, &s->system);
    return true;
}

static volatile uint32_t kept;

/* One sample of what parts_kinds says. */
static void do_part(parts_scene *s, uint32_t kind, uint32_t slot)
{
    int32_t row[CLO_FEATURES_JOB];
    clo_job_figures figures = s->set.jobs[slot].figures;

    switch (kind) {
    case 0:
        (void)clo_features_job(&figures, row);
        kept = (uint32_t)row[CLO_FEATURE_WORK_LEFT];
        (void)clo_features_system(&s->system, row);
        kept = (uint32_t)row[CLO_FEATURE_JOBS];
        break;
    case 1:
        clo_scored_remove(&s->set, slot, 0);
        (void)clo_scored_add(&s->set, slot, 0);
        break;
    case 2:
        clo_scored_changed(&s->set, slot, &figures, true);
        clo_scored_refresh(&s->set);
        break;
    case 4:
        figures.tasks_left++;
        clo_scored_changed(&s->set, slot, &figures, true);
        clo_scored_score(&s->set, &s->system);
        kept = clo_scored_best(&s->set, 0);
        break;
    default:
        clo_scored_score(&s->set, &s->system);
        kept = clo_scored_best(&s->set, 0);
        break;
    }
}

static parts_row measure_part(parts_scene *s, uint32_t kind, uint32_t samples, double *values)
{
    double clock_ns = scene_clock_ns();

    for (uint32_t i = 0; i < samples + samples / 4; i++) { /* the first quarter warms up */
        uint32_t slot = bench_random_below(&s->draws, s->set.count);
        int64_t before_ns = bench_now_ns();
        do_part(s, kind, s->set.candidates[slot].slot);
        double ns = (double)(bench_now_ns() - before_ns) - clock_ns;
        if (i >= samples / 4)
            values[i - samples / 4] = ns > 0 ? ns : 0;
    }
    bench_sort(values, samples);
    return (parts_row){bench_quantile(values, samples, 0.5), bench_quantile(values, samples, 0.99),
                       bench_quantile(values, samples, 0.999), values[samples - 1]};
}

bool parts_measure(const parts_network *network, uint32_t isa, uint32_t jobs, uint32_t samples,
                   parts_row rows[PARTS_KINDS][PARTS_CANDIDATES])
{
    double *values = calloc(samples, sizeof *values);
    bool is_good = values != NULL;

    for (uint32_t c = 0; c < PARTS_CANDIDATES && is_good; c++) {
        parts_scene s;
        is_good = parts_scene_open(&s, network, isa, parts_candidates[c], jobs);
        for (uint32_t kind = 0; kind < PARTS_KINDS && is_good; kind++)
            rows[kind][c] = measure_part(&s, kind, parts_candidates[c] > 1000 ? samples / 10 + 1 : samples, values);
        parts_scene_close(&s);
    }
    free(values);
    return is_good || (bench_fail("cannot make candidates"), false);
}

enum { HEAD = 32, FLOAT_LAYERS = 3 };

static const uint32_t float_widths[FLOAT_LAYERS + 1] = {HEAD, 16, 8, 1};

typedef struct float_head {
    float weights[FLOAT_LAYERS][HEAD * HEAD], system[HEAD];
    float *stage, *job; /* [candidates][HEAD] */
} float_head;

static float bent(float x)
{
    return x < 0 ? x * 0.2f : x;
}

static float score_float(const float_head *h, uint32_t candidate)
{
    float in[HEAD], out[HEAD];

    for (uint32_t i = 0; i < HEAD; i++)
        in[i] = bent(h->stage[(size_t)candidate * HEAD + i] + h->job[(size_t)candidate * HEAD + i] + h->system[i]);
    for (uint32_t l = 0; l < FLOAT_LAYERS; l++) {
        for (uint32_t o = 0; o < float_widths[l + 1]; o++) {
            float sum = 0;
            for (uint32_t i = 0; i < float_widths[l]; i++)
                sum += h->weights[l][o * HEAD + i] * in[i];
            out[o] = l + 1 < FLOAT_LAYERS ? bent(sum) : sum;
        }
        for (uint32_t o = 0; o < float_widths[l + 1]; o++)
            in[o] = out[o];
    }
    return in[0];
}

static uint32_t best_float(const float_head *h, uint32_t candidates)
{
    float most = score_float(h, 0);
    uint32_t best = 0;

    for (uint32_t c = 1; c < candidates; c++) {
        float score = score_float(h, c);
        best = score > most ? c : best;
        most = score > most ? score : most;
    }
    return best;
}

static void draw_float(float *numbers, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = ((float)bench_random_below(seed, 255) - 127) / 500;
}

static parts_row time_float(const float_head *h, uint32_t candidates, uint32_t samples, double *values)
{
    for (uint32_t i = 0; i < samples; i++) {
        int64_t before_ns = bench_now_ns();
        kept = best_float(h, candidates);
        values[i] = (double)(bench_now_ns() - before_ns) - scene_clock_ns();
    }
    bench_sort(values, samples);
    return (parts_row){bench_quantile(values, samples, 0.5), bench_quantile(values, samples, 0.99),
                       bench_quantile(values, samples, 0.999), values[samples - 1]};
}

bool parts_measure_float(uint64_t seed, uint32_t samples, parts_row rows[PARTS_CANDIDATES])
{
    const size_t most = (size_t)parts_candidates[PARTS_CANDIDATES - 1] * HEAD;
    double *values = calloc(samples, sizeof *values);
    float_head *h = calloc(1, sizeof *h);
    float *numbers = calloc(2 * most, sizeof *numbers);
    bool is_good = values != NULL && h != NULL && numbers != NULL;

    if (is_good) {
        h->stage = numbers;
        h->job = numbers + most;
        draw_float(numbers, 2 * most, &seed);
        for (uint32_t l = 0; l < FLOAT_LAYERS; l++)
            draw_float(h->weights[l], (size_t)HEAD * HEAD, &seed);
        draw_float(h->system, HEAD, &seed);
    }
    for (uint32_t c = 0; c < PARTS_CANDIDATES && is_good; c++)
        rows[c] = time_float(h, parts_candidates[c], parts_candidates[c] > 1000 ? samples / 100 + 1 : samples / 10 + 1,
                             values);
    free(numbers);
    free(h);
    free(values);
    return is_good;
}
