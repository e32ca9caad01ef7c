/* families.c - the graph families, as the literature draws them.
 *
 *   layered   random layers in the manner of Topcuoglu, Hariri, Wu, IEEE TPDS 2002, section 5.1, with shape
 *             alpha = 1: about sqrt(v) layers of sqrt(v) tasks on average, widths uniform. Deviation: in-degree
 *             instead of out-degree is drawn (1..4, the first parent in the layer before), so that every task
 *             depends on the layer before it.
 *   gauss     the same, section 5.2.1 and Cosnard, Marrakchi, Robert, Trystram, Parallel Computing 1988:
 *             (m^2 + m - 2) / 2 tasks for a matrix of m columns; the work of step k falls with m - k.
 *   fft       the same, section 5.2.2: 2 m - 1 recursive calls and m log2 m butterflies for m points, all alike.
 *   cholesky  right-looking tiled Cholesky (Buttari et al., Parallel Computing 2009): POTRF, TRSM, SYRK, GEMM with
 *             work as their flops, 1 : 3 : 3 : 6.
 *   montage   the nine steps of Montage with mean run times in the proportions of Juve et al., FGCS 2013, where the
 *             serial steps grow with the images. Deviations: the images lie on a grid, overlaps are right, below
 *             and diagonal; one mImgtbl, mAdd and mShrink stand for those of 16 or 17 tiles, with the time of one.
 *   wavefront a square grid, each cell after its upper and its left neighbour.
 *
 * Sizes: each family takes the size nearest to the wanted number of tasks, the smaller of two equally near. */
#include "generate/families.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

#include <clotho/branch.h>

#include <stdarg.h>

#define UNIT 100u /* weight of an ordinary task */

uint32_t clo_shape_task(clo_shape *shape, uint32_t weight, const char *format, ...)
{
    char name[64];
    void *weights = shape->weights;
    uint32_t id = clo_graph_tasks(shape->graph);
    va_list arguments;

    if (shape->failed != CLO_OK)
        return 0;
    va_start(arguments, format);
    clo_print_list(name, sizeof name, format, arguments);
    va_end(arguments);
    if (clo_grow(&weights, &shape->weights_capacity, (size_t)id + 1, sizeof *shape->weights) != 0) {
        shape->failed = clo_fail_memory("a generated graph");
        return 0;
    }
    shape->weights = weights;
    shape->weights[id] = weight;
    shape->weight_sum += weight;
    shape->failed = clo_graph_add_task(shape->graph, &(clo_task){.name = name}, NULL);
    return id;
}

void clo_shape_edge(clo_shape *shape, uint32_t from, uint32_t to, uint32_t weight)
{
    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_add_edge(shape->graph, from, to, weight);
}

/* The size n >= least whose count(n) is nearest to `wanted`; count grows with n, by at least one a step. */
static uint32_t nearest(uint64_t (*count)(uint64_t n), uint64_t least, uint64_t wanted)
{
    uint64_t low = least, high = least; /* count(high) >= wanted; low is the largest size known to be below, or least */

    while (count(high) < wanted) { /* ends: count grows */
        low = high;
        high = 2 * high;
    }
    while (high - low > 1) { /* bisection */
        uint64_t middle = low + (high - low) / 2;
        if (count(middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)(count(low) >= wanted || wanted - count(low) <= count(high) - wanted ? low : high);
}

static void chain(clo_shape *shape)
{
    for (uint32_t t = 0; t < shape->tasks_wanted; t++) {
        clo_shape_task(shape, UNIT, "link(%u)", t);
        if (t > 0)
            clo_shape_edge(shape, t - 1, t, UNIT);
    }
}

static void independent(clo_shape *shape)
{
    for (uint32_t t = 0; t < shape->tasks_wanted; t++)
        clo_shape_task(shape, UNIT, "task(%u)", t);
}

static void forkjoin(clo_shape *shape)
{
    uint32_t branches = shape->width > 0 ? shape->width : 8;
    uint64_t stage = (uint64_t)branches + 1, wanted = shape->tasks_wanted;
    uint64_t stages = wanted > stage ? (wanted - 1 + stage / 2 - (stage % 2 == 0)) / stage : 1;
    uint32_t last = clo_shape_task(shape, UNIT, "fork");

    for (uint32_t s = 0; s < stages && shape->failed == CLO_OK; s++) {
        uint32_t fork = last;
        for (uint32_t b = 0; b < branches; b++)
            clo_shape_edge(shape, fork, clo_shape_task(shape, UNIT, "branch(%u,%u)", s, b), UNIT);
        last = clo_shape_task(shape, UNIT, "join(%u)", s);
        for (uint32_t b = 0; b < branches; b++)
            clo_shape_edge(shape, last - branches + b, last, UNIT);
    }
}

static void outtree(clo_shape *shape)
{
    uint32_t arity = shape->width > 0 ? shape->width : 2;

    for (uint32_t t = 0; t < shape->tasks_wanted; t++) {
        clo_shape_task(shape, UNIT, t == 0 ? "root(%u)" : "child(%u)", t);
        if (t > 0)
            clo_shape_edge(shape, (t - 1) / arity, t, UNIT);
    }
}

static void intree(clo_shape *shape)
{
    uint32_t arity = shape->width > 0 ? shape->width : 2, last = shape->tasks_wanted - 1;

    for (uint32_t t = 0; t <= last; t++) /* an out-tree counted backwards */
        clo_shape_task(shape, UNIT, t == last ? "root(%u)" : "child(%u)", t);
    for (uint32_t t = 0; t < last; t++)
        clo_shape_edge(shape, t, last - (last - t - 1) / arity, UNIT);
}

/* One task of a layer: 1..4 parents, the first in the layer before, the others anywhere before. */
static void layered_parents(clo_shape *shape, uint32_t task, uint32_t before, uint32_t layer)
{
    uint32_t parents[4] = {0}, wanted = 1 + clo_rng_below(&shape->rng, 4), count = 0;

    for (uint32_t k = 0; k < wanted; k++) {
        uint32_t parent =
            k == 0 ? before + clo_rng_below(&shape->rng, layer - before) : clo_rng_below(&shape->rng, layer);
        uint32_t known = 0;
        while (known < count && parents[known] != parent)
            known++;
        if (known < count)
            continue; /* drawn twice: one parent fewer */
        parents[count++] = parent;
        clo_shape_edge(shape, parent, task, UNIT);
    }
}

static uint64_t squares(uint64_t n)
{
    return n * n;
}

static void layered(clo_shape *shape)
{
    uint32_t width = shape->width > 0 ? shape->width : nearest(squares, 1, shape->tasks_wanted);
    uint32_t before = 0, layer = 0; /* first tasks of the layer before and of this one */

    for (uint32_t l = 0; layer < shape->tasks_wanted && shape->failed == CLO_OK; l++) {
        uint64_t size = 1 + (uint64_t)(clo_rng_unit(&shape->rng) * (2.0 * width - 1)); /* 1 .. 2 width - 1 */
        uint32_t left = shape->tasks_wanted - layer;
        uint32_t here = size < left ? (uint32_t)size : left;
        for (uint32_t i = 0; i < here; i++) {
            uint32_t task = clo_shape_task(shape, UNIT, "layer(%u,%u)", l, i);
            if (l > 0)
                layered_parents(shape, task, before, layer);
        }
        before = layer;
        layer += here;
    }
}

static void wavefront(clo_shape *shape)
{
    uint32_t n = nearest(squares, 1, shape->tasks_wanted);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t task = clo_shape_task(shape, UNIT, "cell(%u,%u)", i, j);
            if (i > 0)
                clo_shape_edge(shape, task - n, task, UNIT);
            if (j > 0)
                clo_shape_edge(shape, task - 1, task, UNIT);
        }
}

static uint64_t cholesky_tasks(uint64_t n)
{
    return n * (n + 1) * (n + 2) / 6;
}

/* Makes `task` the last writer of tile (i, j), after the one before. */
static void write_tile(clo_shape *shape, uint32_t *writer, uint32_t tile, uint32_t task)
{
    if (writer[tile] != CLO_NONE)
        clo_shape_edge(shape, writer[tile], task, UNIT);
    writer[tile] = task;
}

static void cholesky(clo_shape *shape)
{
    uint32_t n = nearest(cholesky_tasks, 1, shape->tasks_wanted);
    uint32_t *writer = clo_allocate((size_t)n * n, sizeof *writer); /* who wrote each tile last */

    if (writer == NULL) {
        shape->failed = clo_fail_memory("a generated graph");
        return;
    }
    for (size_t tile = 0; tile < (size_t)n * n; tile++)
        writer[tile] = CLO_NONE;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t potrf = clo_shape_task(shape, UNIT, "potrf(%u)", k);
        write_tile(shape, writer, k * n + k, potrf);
        for (uint32_t i = k + 1; i < n; i++) {
            uint32_t trsm = clo_shape_task(shape, 3 * UNIT, "trsm(%u,%u)", i, k);
            clo_shape_edge(shape, potrf, trsm, UNIT);
            write_tile(shape, writer, i * n + k, trsm);
        }
        for (uint32_t i = k + 1; i < n; i++) {
            uint32_t syrk = clo_shape_task(shape, 3 * UNIT, "syrk(%u,%u)", i, k);
            clo_shape_edge(shape, writer[i * n + k], syrk, UNIT);
            write_tile(shape, writer, i * n + i, syrk);
            for (uint32_t j = k + 1; j < i; j++) {
                uint32_t gemm = clo_shape_task(shape, 6 * UNIT, "gemm(%u,%u,%u)", i, j, k);
                clo_shape_edge(shape, writer[i * n + k], gemm, UNIT);
                clo_shape_edge(shape, writer[j * n + k], gemm, UNIT);
                write_tile(shape, writer, i * n + j, gemm);
            }
        }
    }
    clo_free(writer);
}

static uint64_t fft_tasks(uint64_t log_points)
{
    return (2ull << log_points) - 1 + (log_points << log_points);
}

static void fft(clo_shape *shape)
{
    uint32_t log_points = nearest(fft_tasks, 1, shape->tasks_wanted), points = 1u << log_points;

    for (uint32_t t = 0; t < 2 * points - 1; t++) { /* a heap: the leaves are the last `points` */
        clo_shape_task(shape, UNIT, "call(%u)", t);
        if (t > 0)
            clo_shape_edge(shape, (t - 1) / 2, t, UNIT);
    }
    uint32_t before = points - 1;
    for (uint32_t level = 0; level < log_points; level++) {
        uint32_t first = clo_graph_tasks(shape->graph);
        for (uint32_t i = 0; i < points && shape->failed == CLO_OK; i++) {
            uint32_t task = clo_shape_task(shape, UNIT, "butterfly(%u,%u)", level, i);
            clo_shape_edge(shape, before + i, task, UNIT);
            clo_shape_edge(shape, before + (i ^ (1u << level)), task, UNIT);
        }
        before = first;
    }
}

static uint64_t gauss_tasks(uint64_t m)
{
    return (m * m + m - 2) / 2;
}

static void gauss(clo_shape *shape)
{
    uint32_t m = nearest(gauss_tasks, 2, shape->tasks_wanted);
    uint32_t above = 0; /* first update of the step before: columns k .. m */

    for (uint32_t k = 1; k < m && shape->failed == CLO_OK; k++) {
        uint32_t pivot = clo_shape_task(shape, UNIT * (m - k), "pivot(%u)", k);
        if (k > 1)
            clo_shape_edge(shape, above, pivot, m - k + 1);
        for (uint32_t j = k + 1; j <= m; j++) {
            uint32_t update = clo_shape_task(shape, 2 * UNIT * (m - k), "update(%u,%u)", k, j);
            clo_shape_edge(shape, pivot, update, m - k);
            if (k > 1)
                clo_shape_edge(shape, above + (j - k), update, m - k + 1);
        }
        above = pivot + 1;
    }
}

/* Overlaps of n images on a grid: right, below, and below right. */
static uint32_t montage_overlaps(uint32_t n, uint32_t columns, uint32_t image, uint32_t others[3])
{
    uint32_t count = 0;
    bool has_right = (image + 1) % columns != 0 && image + 1 < n;

    if (has_right)
        others[count++] = image + 1;
    if ((uint64_t)image + columns < n)
        others[count++] = image + columns;
    if ((image + 1) % columns != 0 && (uint64_t)image + columns + 1 < n)
        others[count++] = image + columns + 1;
    return count;
}

static uint32_t montage_columns(uint64_t n)
{
    uint32_t columns = 1;

    while ((uint64_t)columns * columns < n)
        columns++;
    return columns;
}

static uint64_t montage_tasks(uint64_t n)
{
    uint64_t columns = montage_columns(n), rows = (n + columns - 1) / columns, last = n - (rows - 1) * columns;
    uint64_t right = (rows - 1) * (columns - 1) + (last - 1), below = n - columns;
    uint64_t diagonal = rows >= 2 ? (rows - 2) * (columns - 1) + (last == columns ? columns - 1 : last - 1) : 0;

    return 2 * n + right + below + diagonal + 6;
}

/* Weights in 1/100 s as Juve et al. measured them, the serial steps per image (2 102 there) or per overlap (6 172). */
static void montage(clo_shape *shape)
{
    uint32_t n = nearest(montage_tasks, 2, shape->tasks_wanted), columns = montage_columns(n);
    uint32_t others[3], first_diff = n, diffs = 0;

    for (uint32_t i = 0; i < n; i++)
        clo_shape_task(shape, 173, "mProject(%u)", i);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = montage_overlaps(n, columns, i, others);
        for (uint32_t k = 0; k < count; k++, diffs++) {
            uint32_t diff = clo_shape_task(shape, 66, "mDiffFit(%u,%u)", i, others[k]);
            clo_shape_edge(shape, i, diff, 4 * UNIT);
            clo_shape_edge(shape, others[k], diff, 4 * UNIT);
        }
    }
    uint32_t concat = clo_shape_task(shape, 1 + (uint32_t)((uint64_t)diffs * 14326 / 6172), "mConcatFit");
    for (uint32_t d = 0; d < diffs; d++)
        clo_shape_edge(shape, first_diff + d, concat, 1);
    uint32_t model = clo_shape_task(shape, 1 + (uint32_t)((uint64_t)n * 38449 / 2102), "mBgModel");
    clo_shape_edge(shape, concat, model, 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t background = clo_shape_task(shape, 172, "mBackground(%u)", i);
        clo_shape_edge(shape, model, background, 1);
        clo_shape_edge(shape, i, background, 4 * UNIT);
    }
    uint32_t table = clo_shape_task(shape, 1 + (uint32_t)((uint64_t)n * 278 / 2102), "mImgtbl");
    uint32_t add = clo_shape_task(shape, 1 + (uint32_t)((uint64_t)n * 28237 / 2102), "mAdd");
    for (uint32_t i = 0; i < n; i++) {
        clo_shape_edge(shape, model + 1 + i, table, 1);
        clo_shape_edge(shape, model + 1 + i, add, 4 * UNIT);
    }
    clo_shape_edge(shape, table, add, 2);
    uint32_t shrink = clo_shape_task(shape, 1 + (uint32_t)((uint64_t)n * 6610 / 2102), "mShrink");
    clo_shape_edge(shape, add, shrink, 8 * UNIT);
    clo_shape_edge(shape, shrink, clo_shape_task(shape, 64, "mJPEG"), UNIT);
}

/* Branches (clotho/branch.h): stages of switches side by side. A switch has two likely short arms and an unlikely long
 * one, and a merge behind them; each switch of the next stage waits for those of its own lane and of another one. */
enum { SWITCH_ARMS = 3, SWITCH_TASKS = SWITCH_ARMS + 2 };

static void add_arm(clo_shape *shape, uint32_t from, uint32_t to, uint32_t arm)
{
    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_add_arm(shape->graph, from, to, UNIT, arm);
}

/* The long arm has a chance of 1/64 to 1/8, and 4 to 15 times the work of a short one. */
static uint32_t add_switch(clo_shape *shape, uint32_t stage, uint32_t lane)
{
    uint32_t seldom = CLO_CHANCES_ONE / 64 + clo_rng_below(&shape->rng, CLO_CHANCES_ONE / 64 * 7 + 1);
    uint32_t rest = CLO_CHANCES_ONE - seldom, first = rest / 4 + clo_rng_below(&shape->rng, rest / 2 + 1);
    const uint32_t chances[SWITCH_ARMS] = {first, rest - first, seldom};
    uint32_t branch = clo_shape_task(shape, UNIT / 4, "switch(%u,%u)", stage, lane);

    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_set_branch(shape->graph, branch, SWITCH_ARMS, chances);
    for (uint32_t a = 0; a < SWITCH_ARMS; a++) {
        uint32_t times = a + 1 == SWITCH_ARMS ? 4 + clo_rng_below(&shape->rng, 12) : 1;
        uint32_t task =
            clo_shape_task(shape, times * UNIT, a + 1 == SWITCH_ARMS ? "seldom(%u,%u)" : "usual(%u,%u)", stage, lane);
        add_arm(shape, branch, task, a);
    }
    uint32_t merge = clo_shape_task(shape, UNIT / 4, "merge(%u,%u)", stage, lane);
    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_set_merge(shape->graph, merge);
    for (uint32_t a = 0; a < SWITCH_ARMS; a++)
        clo_shape_edge(shape, branch + 1 + a, merge, UNIT);
    return branch;
}

static void switches(clo_shape *shape)
{
    uint32_t lanes = shape->width > 0 ? shape->width : 4;
    uint64_t size = (uint64_t)lanes * SWITCH_TASKS, stages = (shape->tasks_wanted + size / 2) / size;

    for (uint32_t s = 0; (s == 0 || s < stages) && shape->failed == CLO_OK; s++)
        for (uint32_t l = 0; l < lanes && shape->failed == CLO_OK; l++) {
            uint32_t branch = add_switch(shape, s, l), before = branch - lanes * SWITCH_TASKS; /* of this lane */
            if (s == 0)
                continue;
            clo_shape_edge(shape, before + SWITCH_TASKS - 1, branch, UNIT);
            uint32_t other = lanes > 1 ? (l + 1 + clo_rng_below(&shape->rng, lanes - 1)) % lanes : l;
            if (other != l)
                clo_shape_edge(shape, before - l * SWITCH_TASKS + other * SWITCH_TASKS + SWITCH_TASKS - 1, branch,
                               UNIT);
        }
}

const clo_family clo_families[] = {
    {"chain", "one task after the other", chain},
    {"forkjoin", "stages of parallel branches between a fork and a join (width: branches)", forkjoin},
    {"intree", "a reduction towards one root (width: arity)", intree},
    {"outtree", "a distribution from one root (width: arity)", outtree},
    {"layered", "random layers (Topcuoglu 2002; width: mean layer)", layered},
    {"wavefront", "a square grid, each cell after its upper and left neighbour", wavefront},
    {"cholesky", "tiled Cholesky factorisation: POTRF, TRSM, SYRK, GEMM", cholesky},
    {"fft", "fast Fourier transform: recursive calls, then butterflies", fft},
    {"gauss", "Gaussian elimination: pivots and updates", gauss},
    {"montage", "the astronomy workflow Montage: projections, overlaps, one mosaic", montage},
    {"independent", "tasks without edges", independent},
    {"switches", "stages of branches with two likely short arms and an unlikely long one (width: lanes)", switches},
    {NULL, NULL, NULL},
};
