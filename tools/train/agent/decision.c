/* decision.c - see decision.h. */
#include "train/agent/decision.h"

#include "train/models/decima.h"
#include "train/numbers/losses.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_RAW = 5, JOB_RAW = 3, STAGE_INTEGERS = 8, TASKS_SCALE = 200 };

#define WORK_SCALE_MS 1e5

/* What the features are divided by, as in spark-sched-sim. */
static decima_weights scales(double executors)
{
    return (decima_weights){.executors = executors, .tasks_scale = TASKS_SCALE, .work_scale_ms = WORK_SCALE_MS};
}

/* All arrays of a decision lie in one block. */
static bool make_room(decision *d, const clo_learned_decision *seen, uint32_t limits)
{
    const clo_model_case *from = &seen->input;
    size_t stages = from->stages, edges = from->child_begin[stages];
    size_t inputs = STAGE_RAW * stages + JOB_RAW * from->jobs + limits;
    size_t numbers = inputs + seen->candidates_count + limits;
    size_t integers = STAGE_INTEGERS * stages + JOB_RAW * from->jobs + limits;
    size_t words = 2 * stages + 1 + edges + limits + seen->candidates_count;
    double *memory = malloc(numbers * sizeof *memory + words * sizeof(uint32_t) + integers * sizeof(int16_t));

    if (memory == NULL)
        return false;
    uint32_t *job_of_stage = (uint32_t *)(void *)(memory + numbers), *child_begin = job_of_stage + stages,
             *children = child_begin + stages + 1, *job_of_limit = children + edges;
    d->inputs = memory;
    d->wishes = memory + inputs;
    d->candidates = job_of_limit + limits;
    d->integers = (int16_t *)(void *)(d->candidates + seen->candidates_count);
    memcpy(job_of_stage, from->job_of_stage, stages * sizeof *job_of_stage);
    memcpy(child_begin, from->child_begin, (stages + 1) * sizeof *child_begin);
    memcpy(children, from->children, edges * sizeof *children);
    memcpy(d->candidates, seen->candidates, seen->candidates_count * sizeof *d->candidates);
    d->shape = (clo_model_case){from->stages, from->jobs, limits,       job_of_stage,
                                child_begin,  children,   job_of_limit, d->integers};
    return true;
}

typedef struct writer {
    double *number;
    int16_t *integer;
    double units[STAGE_RAW];
    clo_model_feature features[DECIMA_FEATURES];
} writer;

static int16_t scaled(const clo_model_feature *as, int64_t raw, uint32_t part, uint32_t parts)
{
    int64_t share = as->shift > 0 ? ((int64_t)(2 * part + 1) << (as->shift - 1)) / parts : 0;
    int64_t most = (INT64_C(1) << 62) / as->mult;
    int64_t sum = (raw > most ? most : raw < -most ? -most : raw) * as->mult + share;

    sum = sum < 0 ? ~(~sum >> as->shift) : sum >> as->shift;
    return (int16_t)(sum < as->lo ? as->lo : sum > as->hi ? as->hi : sum);
}

/* Feature 0 .. 4 of a stage; those of jobs and limits are among them. A number as large as the integers can hold. */
static void put(writer *w, uint32_t feature, int64_t raw)
{
    uint32_t parts = feature == STAGE_RAW - 1 ? DECIMA_WORK_PARTS : 1;
    int64_t whole = 0;

    for (uint32_t i = 0; i < parts; i++)
        whole += *w->integer++ = scaled(&w->features[feature], raw, i, parts);
    bool is_cut = whole == parts * (int64_t)w->features[feature].hi;
    double number = (double)raw * w->units[feature];
    *w->number++ = is_cut && feature == STAGE_RAW - 1 ? (double)whole / (1 << DECIMA_EXPONENT) : number;
}

/* The limits of `job` are asked about. */
static void put_inputs(decision *d, const clo_learned_decision *seen, uint32_t job, double executors)
{
    const decima_weights by = scales(executors);
    writer w = {.number = d->inputs, .integer = d->integers};
    const double units[] = {1 / executors, 1, 1 / executors, 1 / by.tasks_scale, 1e-6 / by.work_scale_ms};
    uint32_t *job_of_limit = (uint32_t *)(uintptr_t)d->shape.job_of_limit;

    memcpy(w.units, units, sizeof units);
    decima_features(&by, w.features);
    for (uint32_t s = 0; s < d->shape.stages; s++)
        for (uint32_t i = 0; i < STAGE_RAW; i++)
            put(&w, i, seen->stage_raw[STAGE_RAW * (size_t)s + i]);
    for (uint32_t j = 0; j < d->shape.jobs; j++)
        for (uint32_t i = 0; i < JOB_RAW; i++)
            put(&w, i, seen->job_raw[JOB_RAW * (size_t)j + i]);
    for (uint32_t l = 0; l < d->shape.limits; l++) {
        put(&w, 0, l);
        job_of_limit[l] = job;
    }
}

bool decision_make(decision *d, const clo_learned_decision *seen, uint32_t candidate, double executors)
{
    uint32_t job = seen->input.job_of_stage[seen->candidates[candidate]];

    *d = (decision){.candidates_count = seen->candidates_count, .candidate = candidate, .now_ns = seen->now_ns};
    if (!make_room(d, seen, (uint32_t)seen->job_raw[JOB_RAW * (size_t)job]))
        return false;
    put_inputs(d, seen, job, executors);
    return true;
}

static bool keep(episode *e, const clo_learned_decision *seen, uint32_t candidate, uint32_t limit)
{
    if (e->kept_count == e->kept_capacity) {
        uint32_t capacity = 2 * e->kept_capacity + 16;
        decision *more = realloc(e->kept, capacity * sizeof *more);
        if (more == NULL)
            return false;
        e->kept = more;
        e->kept_capacity = capacity;
    }
    decision *d = &e->kept[e->kept_count];
    if (!decision_make(d, seen, candidate, e->executors))
        return false;
    if (e->taught_by != NULL) {
        memcpy(d->wishes, e->keys, d->candidates_count * sizeof *d->wishes);
        choice_log_softmax(d->wishes, d->candidates_count, d->wishes);
        teacher_limits(limit, d->shape.limits, d->wishes + d->candidates_count);
        choice_log_softmax(d->wishes + d->candidates_count, d->shape.limits, d->wishes + d->candidates_count);
    } else {
        d->wishes = NULL;
    }
    d->limit = limit;
    d->at = e->decisions_count;
    e->kept_count++;
    return true;
}

/* The number of the decision and its time. */
static bool count(episode *e, int64_t now_ns)
{
    if (e->decisions_count == e->times_capacity) {
        uint32_t capacity = 2 * e->times_capacity + 256;
        int64_t *more = realloc(e->times_ns, capacity * sizeof *more);
        if (more == NULL)
            return false;
        e->times_ns = more;
        e->times_capacity = capacity;
    }
    e->times_ns[e->decisions_count++] = now_ns;
    return true;
}

static bool teach(episode *e, const clo_learned_decision *seen, uint32_t *candidate, uint32_t *limit)
{
    if (seen->input.stages > e->ranks_capacity) {
        free(e->ranks);
        e->ranks_capacity = 2 * seen->input.stages;
        e->ranks = malloc(2 * (size_t)e->ranks_capacity * sizeof *e->ranks);
        if (e->ranks == NULL) {
            e->ranks_capacity = 0;
            return false;
        }
        e->keys = e->ranks + e->ranks_capacity;
    }
    teacher_choose(e->taught_by, seen, e->ranks, e->keys, candidate, limit);
    return true;
}

static bool take(episode *e, const clo_learned_decision *seen, uint32_t candidate, uint32_t limit)
{
    draws d = {draws_key(e->seed, e->decisions_count, 1)};

    return (draws_uniform(&d) >= e->keep || keep(e, seen, candidate, limit)) && count(e, seen->now_ns);
}

void episode_watch(void *context, const clo_learned_decision *seen)
{
    episode *e = context;
    uint32_t candidate = seen->candidate, limit = seen->limit;

    if (e->is_led || e->has_failed)
        return;
    e->has_failed = (e->taught_by != NULL && !teach(e, seen, &candidate, &limit)) || !take(e, seen, candidate, limit);
}

void episode_choose(void *context, const clo_learned_decision *seen, uint32_t *candidate, uint32_t *limit)
{
    episode *e = context;

    e->has_failed = e->has_failed || !teach(e, seen, candidate, limit) || !take(e, seen, *candidate, *limit);
}

void episode_free(episode *e)
{
    for (uint32_t i = 0; i < e->kept_count; i++)
        free(e->kept[i].inputs);
    free(e->kept);
    free(e->times_ns);
    free(e->ranks);
    e->kept = NULL;
    e->times_ns = NULL;
    e->ranks = NULL;
    e->kept_count = e->kept_capacity = e->decisions_count = e->times_capacity = e->ranks_capacity = 0;
}
