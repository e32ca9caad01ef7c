/* batch_environment.c - a batch is ordered by scores, all at once: see batch.h. */
#include "train/batch/batch.h"

#include <math.h>
#include <stdlib.h>

/* Scores become keys in steps of 2^-24. */
enum { KEY_UNITS = 1 << 24 };

typedef struct ordering {
    const batch_set *set;
    const batch *b;
    /* Room for so many tasks. */
    uint32_t capacity;
    /* 0, 1 ...; what the network adds to; keys of the planner */
    uint32_t *rows;
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

static void free_room(ordering *o)
{
    free(o->rows);
    free(o->prior);
    free(o->keys);
    o->rows = NULL;
    o->prior = NULL;
    o->keys = NULL;
    o->capacity = 0;
}

static void destroy(void *self)
{
    free_room(self);
    free(self);
}

static bool make_room(ordering *o, uint32_t tasks)
{
    if (tasks <= o->capacity)
        return true;
    free_room(o);
    o->rows = malloc(tasks * sizeof *o->rows);
    o->prior = malloc(tasks * sizeof *o->prior);
    o->keys = malloc(tasks * sizeof *o->keys);
    if (o->rows == NULL || o->prior == NULL || o->keys == NULL)
        return false;
    for (uint32_t t = 0; t < tasks; t++)
        o->rows[t] = t;
    o->capacity = tasks;
    return true;
}

static bool reset(void *self, uint64_t seed)
{
    ordering *o = self;

    o->b = batch_find(o->set, seed);
    if (o->b == NULL || !make_room(o, o->b->shape.stages))
        return false;
    for (uint32_t t = 0; t < o->b->shape.stages; t++)
        o->prior[t] = o->set->prior * batch_prior(o->b, o->set->weights, t);
    return true;
}

static bool look(void *self, train_view *out)
{
    const ordering *o = self;

    *out = (train_view){.input = &o->b->input,
                        .stays = true,
                        .stages = {.rows = o->rows, .count = o->b->shape.stages, .prior = o->prior}};
    return true;
}

static double play(void *self, const double *scores)
{
    ordering *o = self;

    for (uint32_t t = 0; t < o->b->shape.stages; t++)
        o->keys[t] = (int64_t)llround(scores[t] * (double)KEY_UNITS);
    int64_t makespan_ns = batch_makespan_ns(o->b, o->keys);
    return makespan_ns < 0 ? NAN : -(double)makespan_ns / (double)o->b->reference_ns;
}

train_environment batch_environment(const batch_set *set, double spread)
{
    return (train_environment){.name = "batch",
                               .argument = set,
                               .create = create,
                               .destroy = destroy,
                               .reset = reset,
                               .look = look,
                               .order = play,
                               .spread = spread};
}
