/* batch_environment.c - the order of a batch, one task after the other: see batch.h. The network sees the same numbers
 * at each decision, so it runs once an episode. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ordering {
    const batch_set *set;
    const batch *b;
    /* Room for so many tasks. */
    uint32_t capacity, count, done;
    /* The tasks that may be next by falling rank_u; their priors; parents that were not chosen; keys for the planner. */
    uint32_t *rows, *waiting;
    double *prior;
    int64_t *keys;
} ordering;

static void *create(const void *argument)
{
    ordering *o = calloc(1, sizeof *o);

    if (o != NULL)
        o->set = argument;
    return o;
}

static void destroy(void *self)
{
    ordering *o = self;

    free(o->rows);
    free(o->waiting);
    free(o->prior);
    free(o->keys);
    free(o);
}

static bool make_room(ordering *o, uint32_t tasks)
{
    if (tasks <= o->capacity)
        return true;
    free(o->rows);
    free(o->waiting);
    free(o->prior);
    free(o->keys);
    o->rows = malloc(tasks * sizeof *o->rows);
    o->waiting = malloc(tasks * sizeof *o->waiting);
    o->prior = malloc(tasks * sizeof *o->prior);
    o->keys = malloc(tasks * sizeof *o->keys);
    bool is_good = o->rows != NULL && o->waiting != NULL && o->prior != NULL && o->keys != NULL;
    o->capacity = is_good ? tasks : 0;
    return is_good;
}

static void insert(ordering *o, uint32_t task)
{
    uint32_t at = o->count++;

    while (at > 0 && o->b->place[o->rows[at - 1]] > o->b->place[task]) {
        o->rows[at] = o->rows[at - 1];
        o->prior[at] = o->prior[at - 1];
        at--;
    }
    o->rows[at] = task;
    o->prior[at] = o->set->prior * o->b->rank[task];
}

static bool reset(void *self, uint64_t seed)
{
    ordering *o = self;

    o->b = batch_find(o->set, seed);
    if (o->b == NULL || !make_room(o, o->b->shape.stages))
        return false;
    o->count = o->done = 0;
    for (uint32_t t = 0; t < o->b->shape.stages; t++) {
        o->waiting[t] = o->b->parents[t];
        if (o->waiting[t] == 0)
            insert(o, t);
    }
    return true;
}

static bool look(void *self, train_view *out)
{
    const ordering *o = self;

    if (o->count == 0)
        return false;
    *out = (train_view){.input = &o->b->input,
                        .stays = true,
                        .stages = {.rows = o->rows, .count = o->count, .prior = o->prior},
                        .time = o->done};
    return true;
}

static double step(void *self, const train_choice *choice)
{
    ordering *o = self;
    const clo_model_case *shape = &o->b->shape;
    uint32_t task = o->rows[choice->stage], behind = --o->count - choice->stage;

    memmove(o->rows + choice->stage, o->rows + choice->stage + 1, behind * sizeof *o->rows);
    memmove(o->prior + choice->stage, o->prior + choice->stage + 1, behind * sizeof *o->prior);
    o->keys[task] = (int64_t)shape->stages - o->done++;
    for (uint32_t c = shape->child_begin[task]; c < shape->child_begin[task + 1]; c++)
        if (--o->waiting[shape->children[c]] == 0)
            insert(o, shape->children[c]);
    if (o->done < shape->stages)
        return 0;
    int64_t makespan_ns = batch_makespan_ns(o->b, o->keys);
    return makespan_ns < 0 ? NAN : -(double)makespan_ns / (double)o->b->reference_ns;
}

train_environment batch_environment(const batch_set *set)
{
    return (train_environment){.name = "batch",
                               .argument = set,
                               .create = create,
                               .destroy = destroy,
                               .reset = reset,
                               .look = look,
                               .step = step};
}
