/* patterns.c - the dependence patterns of Task Bench (Slaughter et al., SC 2020; core/core.cc there defines them).
 *
 * Point p of step t depends on points of step t - 1, out of those that exist there. Deviation: what is random in
 * random_nearest comes from another hash function, so it is another graph of the same distribution. */
#include "metg/patterns.h"

#include <stdlib.h>
#include <string.h>

enum { PERIOD = 3, RADIX_MAX = 16, RADIX = 5, RADIX_OF_SPREAD = 3 };

/* With this one random_nearest of width 8 and radix 5 has 22 links of the expected 19.5, and no point from which on
 * the graph falls into two parts that never meet (a graph in two parts flatters work stealing). */
#define SALT ((uint64_t)37 << 56)

/* Points of the step before that `point` of `step` depends on, into out[PATTERN_WIDTH_MAX]; some may not exist. */
typedef uint32_t (*inputs_fn)(pattern_size size, uint32_t step, uint32_t point, uint32_t *out);

static uint32_t no_comm(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    (void)size, (void)step;
    out[0] = point;
    return 1;
}

static uint32_t tree(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    (void)size, (void)step;
    out[0] = point / 2;
    return 1;
}

/* The points from `point` - below to `point` + above, as far as they are in the row. */
static uint32_t around(pattern_size size, uint32_t point, uint32_t below, uint32_t above, uint32_t *out)
{
    uint32_t first = point > below ? point - below : 0;
    uint32_t last = point + above < size.width ? point + above : size.width - 1;

    for (uint32_t i = first; i <= last; i++)
        out[i - first] = i;
    return last - first + 1;
}

static uint32_t stencil_1d(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    (void)step;
    return around(size, point, 1, 1, out);
}

static uint32_t nearest(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    (void)step;
    return around(size, point, size.radix / 2, (size.radix - 1) / 2, out);
}

static uint32_t all_to_all(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    (void)step;
    return around(size, point, size.width, size.width, out);
}

static uint32_t fft(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    uint32_t sets = 0, count = 0;

    while ((1u << sets) < size.width)
        sets++;
    sets = sets > 0 ? sets : 1;
    uint32_t distance = 1u << ((step + sets - 1) % sets);
    if (point >= distance)
        out[count++] = point - distance;
    out[count++] = point;
    if (point + distance < size.width)
        out[count++] = point + distance;
    return count;
}

static uint32_t spread(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    for (uint32_t i = 0; i < size.radix; i++)
        out[i] = (point + i * size.width / size.radix + (i > 0 ? step % PERIOD : 0)) % size.width;
    return size.radix;
}

static uint32_t random_nearest(pattern_size size, uint32_t step, uint32_t point, uint32_t *out)
{
    uint32_t near[PATTERN_WIDTH_MAX] = {0}, count = nearest(size, step, point, near), kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t seed =
            SALT ^ ((uint64_t)size.radix << 48) ^ ((uint64_t)(step % PERIOD) << 32) ^ ((uint64_t)near[i] << 16) ^ point;

        if (near[i] == point || bench_random_below(&seed, 4) == 0)
            out[kept++] = near[i];
    }
    return kept;
}

typedef struct pattern_kind {
    const char *name;
    inputs_fn inputs; /* NULL: none */
} pattern_kind;

static const pattern_kind kinds[] = {{"trivial", NULL},
                                     {"no_comm", no_comm},
                                     {"tree", tree},
                                     {"fft", fft},
                                     {"random_nearest", random_nearest},
                                     {"stencil_1d", stencil_1d},
                                     {"nearest", nearest},
                                     {"spread", spread},
                                     {"all_to_all", all_to_all}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *pattern_name(uint32_t index)
{
    return index < KINDS ? kinds[index].name : NULL;
}

/* Points that a step has: a tree doubles from one. */
static uint32_t width_at(const pattern_kind *kind, pattern_size size, uint32_t step)
{
    return kind->inputs == tree && step < 31 && (1u << step) < size.width ? 1u << step : size.width;
}

static void run_point(bench_graph *g, uint32_t task)
{
    pattern *p = g->context;
    volatile double kept;

    /* Plain reads: whoever dispatches must have ordered them behind the predecessors' writes. */
    for (uint32_t e = g->pred_first[task]; e < g->pred_first[task + 1]; e++) {
        const pattern_output *input = &p->outputs[g->pred[e]];

        if (input->step != (p->run << 32 | (p->step[task] - 1)) || input->point != p->point[g->pred[e]])
            __atomic_fetch_add(&g->violations, 1, __ATOMIC_RELAXED);
    }
    kept = bench_compute(g->iterations);
    (void)kept;
    p->outputs[task] = (pattern_output){.step = p->run << 32 | p->step[task], .point = p->point[task]};
}

/* The tasks of one step; `before` is the first task of the step before it. */
static void add_step(pattern *p, bench_builder *b, const pattern_kind *kind, pattern_size size, uint32_t step)
{
    uint32_t width = width_at(kind, size, step), width_before = step > 0 ? width_at(kind, size, step - 1) : 0;
    uint32_t first = b->tasks, inputs[PATTERN_WIDTH_MAX];

    for (uint32_t point = 0; point < width && !b->has_failed; point++) {
        uint32_t count = step > 0 && kind->inputs != NULL ? kind->inputs(size, step, point, inputs) : 0;

        p->step[b->tasks] = step;
        p->point[b->tasks] = point;
        for (uint32_t i = 0; i < count; i++)
            if (inputs[i] < width_before)
                bench_edge(b, first - width_before + inputs[i]);
        bench_task(b);
    }
}

static bool allocate(pattern *p, uint32_t tasks)
{
    p->step = calloc(tasks, sizeof *p->step);
    p->point = calloc(tasks, sizeof *p->point);
    p->outputs = aligned_alloc(_Alignof(pattern_output), tasks * sizeof *p->outputs);
    if (p->outputs != NULL)
        memset(p->outputs, 0, tasks * sizeof *p->outputs);
    return p->step != NULL && p->point != NULL && p->outputs != NULL;
}

uint32_t pattern_radix(const char *name)
{
    return strcmp(name, "spread") == 0 ? RADIX_OF_SPREAD : RADIX;
}

bool pattern_open(pattern *p, const char *name, pattern_size size)
{
    const pattern_kind *kind = kinds;
    bench_builder b;
    uint32_t tasks = 0;

    *p = (pattern){.run = 0};
    size.radix = size.radix > 0 ? size.radix : pattern_radix(name);
    while (kind < kinds + KINDS && strcmp(kind->name, name) != 0)
        kind++;
    if (kind == kinds + KINDS || size.steps == 0 || size.width == 0 || size.width > PATTERN_WIDTH_MAX ||
        size.radix >= RADIX_MAX || (kind->inputs == spread && PERIOD > (size.width + size.radix - 1) / size.radix))
        return false;
    for (uint32_t step = 0; step < size.steps; step++)
        tasks += width_at(kind, size, step);
    bench_begin(&b, &p->graph, kind->name, tasks);
    p->graph.body = run_point;
    p->graph.context = p;
    if (!allocate(p, tasks))
        return false;
    for (uint32_t step = 0; step < size.steps; step++)
        add_step(p, &b, kind, size, step);
    return bench_end(&b);
}

void pattern_close(pattern *p)
{
    bench_graph_close(&p->graph);
    free(p->step);
    free(p->point);
    free(p->outputs);
    *p = (pattern){.run = 0};
}

void pattern_arm(pattern *p)
{
    p->run++;
}

bool pattern_is_right(const pattern *p)
{
    for (uint32_t t = 0; t < p->graph.tasks; t++)
        if (p->outputs[t].step != (p->run << 32 | p->step[t]) || p->outputs[t].point != p->point[t])
            return false;
    return p->graph.violations == 0;
}
