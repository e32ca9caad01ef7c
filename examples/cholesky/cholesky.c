/* cholesky.c - tiled Cholesky factorisation A = L L^T as a task graph: one task per tile operation.
 *
 * For k = 0 .. tiles-1: POTRF factors the diagonal tile, TRSM solves the tiles below it, SYRK and GEMM update what
 * is left of the matrix. The operations work in place, so a task executed twice would be wrong: the tasks are not
 * duplicable, the tiles are the application's own memory (handed over as arguments, not as runtime buffers), and the
 * edges carry the bytes of a tile only as a cost, for the planner to weigh. Every tile is updated in the order of k, so
 * L is the same bit for bit under every schedule. Checked with plain loops that share no code with the kernels:
 * ||A - L L^T||_F <= 1e-10 ||A||_F. */
#include "../common/driver.h"
#include "tiles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POTRF, TRSM, SYRK, GEMM, KERNELS };
enum { OPTION_N, OPTION_TILE, OPTIONS };
enum { TILES_MAX = 128 };

/* One tile operation; NULLs where the kernel needs less. */
typedef struct operation {
    uint32_t size;
    const double *a, *b;
    double *in_place;

    /* The same on a device. */
    clo_kernel of_device;
    clo_operand operands[3];
    clo_scalar scalars[2];
    uint32_t stride;
} operation;

typedef struct matrix {
    uint32_t n, tile, tiles;
    double *original; /* tiles of the lower half, one behind the other */
    double *working;  /* the same, factored in place                   */
    operation *operations;
    uint32_t *writers; /* [tiles * tiles] last task that wrote a tile, + 1; 0: none */
} matrix;

static int run_potrf(const clo_call *call)
{
    const operation *op = call->argument;

    return tile_potrf(op->size, op->in_place);
}

static int run_trsm(const clo_call *call)
{
    const operation *op = call->argument;

    tile_trsm(op->size, op->a, op->in_place);
    return 0;
}

static int run_syrk(const clo_call *call)
{
    const operation *op = call->argument;

    tile_syrk(op->size, op->a, op->in_place);
    return 0;
}

static int run_gemm(const clo_call *call)
{
    const operation *op = call->argument;

    tile_gemm(op->size, op->a, op->b, op->in_place);
    return 0;
}

static size_t matrix_doubles(const matrix *m)
{
    return tile_doubles(m->tile) * m->tiles * (m->tiles + 1u) / 2;
}

/* Tile (row, column), row >= column, of `tiles` (original or working). */
static double *tile_at(const matrix *m, double *tiles, uint32_t row, uint32_t column)
{
    return tiles + tile_doubles(m->tile) * ((size_t)row * (row + 1u) / 2 + column);
}

static double *element(const matrix *m, double *tiles, uint32_t i, uint32_t j)
{
    return tile_at(m, tiles, i / m->tile, j / m->tile) + (j % m->tile) * tile_stride(m->tile) + i % m->tile;
}

/* Symmetric, random in (-1, 1), and heavy on the diagonal, hence positive definite. */
static void generate(matrix *m, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;

    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            *element(m, m->original, i, j) = (double)(int64_t)state * 0x1p-63 + (i == j ? m->n : 0);
        }
}

/* POTRF for each k; TRSM, SYRK for each pair; GEMM for each triple. */
static size_t operations_count(size_t tiles)
{
    return tiles * (tiles + 1) * (tiles + 2) / 6;
}

static const char *matrix_open(application *app)
{
    matrix *m = calloc(1, sizeof *m);
    int64_t n = app->options[OPTION_N].value, tile = app->options[OPTION_TILE].value;

    app->data = m;
    if (m == NULL)
        return "out of memory; use a smaller --n";
    if (tile % TILE_STEP != 0 || n % tile != 0)
        return "the tile size must be a multiple of 8 and --n a multiple of --tile; try --n 1024 --tile 128";
    m->n = (uint32_t)n;
    m->tile = (uint32_t)tile;
    m->tiles = m->n / m->tile;
    if (m->tiles > TILES_MAX)
        return "more than 128 tiles a side; use a larger --tile";
    m->original = calloc(matrix_doubles(m), sizeof(double));
    m->working = calloc(matrix_doubles(m), sizeof(double));
    m->operations = calloc(operations_count(m->tiles), sizeof(operation));
    m->writers = calloc((size_t)m->tiles * m->tiles, sizeof(uint32_t));
    if (!m->original || !m->working || !m->operations || !m->writers)
        return "out of memory; use a smaller --n";
    generate(m, app->seed);
    return NULL;
}

static void matrix_close(application *app)
{
    matrix *m = app->data;

    if (m != NULL) {
        free(m->original);
        free(m->working);
        free(m->operations);
        free(m->writers);
    }
    free(m);
    app->data = NULL;
}

static void matrix_prepare(application *app)
{
    const matrix *m = app->data;

    memcpy(m->working, m->original, matrix_doubles(m) * sizeof(double));
}

/* A tile by its place. */
typedef struct place {
    uint32_t row, column;
} place;

/* Its tiles, then `size` and the stride. */
static void describe_for_device(operation *op, uint32_t kernel, clo_task_fn body)
{
    const size_t bytes = tile_doubles(op->size) * sizeof(double);
    union { /* they are read only: the mode says so */
        const double *from;
        void *to;
    } reads[2] = {{op->a}, {op->b}};
    uint32_t count = 0;

    for (uint32_t i = 0; i < 2; i++)
        if (reads[i].from != NULL)
            op->operands[count++] = (clo_operand){
                .source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_READ, .address = reads[i].to, .bytes = bytes};
    op->operands[count++] =
        (clo_operand){.source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_UPDATE, .address = op->in_place, .bytes = bytes};
    op->stride = (uint32_t)tile_stride(op->size);
    op->scalars[0] = (clo_scalar){&op->size, sizeof op->size};
    op->scalars[1] = (clo_scalar){&op->stride, sizeof op->stride};
    op->of_device = (clo_kernel){.size = sizeof op->of_device,
                                 .operands = op->operands,
                                 .operands_count = count,
                                 .scalars = op->scalars,
                                 .scalars_count = 2,
                                 .global = {op->size / 8, kernel == TRSM ? 1 : op->size / 4}, /* tiles_opencl.c */
                                 .fallback = body,
                                 .argument = op};
}

/* Adds an operation that updates `target` and reads `reads`: after the last writer of each of them. */
static void add(matrix *m, application_graph *graph, uint32_t kernel, place target, const place *reads, uint32_t count)
{
    static const clo_task_fn bodies[KERNELS] = {run_potrf, run_trsm, run_syrk, run_gemm};
    static const char *const names[KERNELS] = {"potrf", "trsm", "syrk", "gemm"};
    const uint64_t bytes = (uint64_t)m->tile * m->tile * sizeof(double);
    operation *op = &m->operations[graph->tasks];
    char name[64];

    *op = (operation){.size = m->tile,
                      .a = count > 0 ? tile_at(m, m->working, reads[0].row, reads[0].column) : NULL,
                      .b = count > 1 ? tile_at(m, m->working, reads[1].row, reads[1].column) : NULL,
                      .in_place = tile_at(m, m->working, target.row, target.column)};
    snprintf(name, sizeof name, "%s(%u,%u)", names[kernel], target.row, target.column);
    clo_task task = {.name = name, .body = bodies[kernel], .argument = op, .task_class = CLO_CLASS_FLOAT};
    uint32_t id = application_add_task(graph, kernel, &task);

    describe_for_device(op, kernel, bodies[kernel]);
    application_set_kernel(graph, kernel, &op->of_device);
    for (uint32_t i = 0; i <= count; i++) {
        place p = i < count ? reads[i] : target;
        uint32_t writer = m->writers[p.row * m->tiles + p.column];

        if (writer != 0)
            application_add_edge(graph, writer - 1, id, bytes);
    }
    m->writers[target.row * m->tiles + target.column] = id + 1;
}

static void matrix_build(application *app, application_graph *graph)
{
    matrix *m = app->data;

    memset(m->writers, 0, (size_t)m->tiles * m->tiles * sizeof(uint32_t));
    for (uint32_t k = 0; k < m->tiles; k++) {
        const place diagonal = {k, k};

        add(m, graph, POTRF, diagonal, &diagonal, 0);
        for (uint32_t i = k + 1; i < m->tiles; i++)
            add(m, graph, TRSM, (place){i, k}, &diagonal, 1);
        for (uint32_t i = k + 1; i < m->tiles; i++) {
            for (uint32_t j = k + 1; j < i; j++)
                add(m, graph, GEMM, (place){i, j}, (const place[]){{i, k}, {j, k}}, 2);
            add(m, graph, SYRK, (place){i, i}, &(const place){i, k}, 1);
        }
    }
}

/* Column j of A - L L^T into residual[j .. n-1], by plain loops. */
static void residual_column(const matrix *m, const double *l, uint32_t j, double *residual)
{
    for (uint32_t i = j; i < m->n; i++)
        residual[i] = *element(m, m->original, i, j);
    for (uint32_t k = 0; k <= j; k++) {
        const double *column = l + (size_t)k * m->n, factor = column[j];

        for (uint32_t i = j; i < m->n; i++)
            residual[i] -= factor * column[i];
    }
}

/* ||A - L L^T||_F / ||A||_F; both are symmetric, so an element below the diagonal counts twice. */
static double relative_residual(const matrix *m, double *l, double *residual)
{
    double off = 0.0, whole = 0.0;

    for (uint32_t j = 0; j < m->n; j++)
        for (uint32_t i = j; i < m->n; i++)
            l[(size_t)j * m->n + i] = *element(m, m->working, i, j);
    for (uint32_t j = 0; j < m->n; j++) {
        residual_column(m, l, j, residual);
        for (uint32_t i = j; i < m->n; i++) {
            double times = i == j ? 1.0 : 2.0, a = *element(m, m->original, i, j);

            off += times * residual[i] * residual[i];
            whole += times * a * a;
        }
    }
    return sqrt(off) / sqrt(whole);
}

static bool matrix_check(application *app, char *line, char *json, size_t bytes)
{
    const matrix *m = app->data;
    double *l = calloc((size_t)m->n * m->n, sizeof *l), *residual = calloc(m->n, sizeof *residual);
    double relative = l != NULL && residual != NULL ? relative_residual(m, l, residual) : INFINITY;

    snprintf(line, bytes, "residual %.2e (limit 1e-10): %s", relative, relative < 1e-10 ? "right" : "WRONG");
    /* JSON has no word for infinity and none for "not a number". */
    snprintf(json, bytes, isfinite(relative) ? "\"residual\": %.3e" : "\"residual\": null", relative);
    free(l);
    free(residual);
    return relative < 1e-10;
}

/* FNV-1a over the bits of the lower triangle. */
static uint64_t matrix_hash(application *app)
{
    const matrix *m = app->data;
    uint64_t hash = 0xcbf29ce484222325u;

    for (uint32_t j = 0; j < m->n; j++)
        for (uint32_t i = j; i < m->n; i++) {
            uint64_t bits;

            memcpy(&bits, element(m, m->working, i, j), sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
            hash ^= hash >> 32;
        }
    return hash;
}

int main(int argc, char **argv)
{
    static const char *const kernels[KERNELS] = {"potrf", "trsm", "syrk", "gemm"};
    application_option options[OPTIONS] = {
        [OPTION_N] =
            {.name = "n", .help = "rows of the matrix", .value = 1536, .quick_value = 512, .low = 8, .high = 8192},
        [OPTION_TILE] = {
            .name = "tile", .help = "rows of a tile", .value = 128, .quick_value = 64, .low = 8, .high = 4096}};
    application app = {.name = "cholesky",
                       .summary = "tiled Cholesky factorisation, the residual checked",
                       .kernels = kernels,
                       .kernels_count = KERNELS,
                       .options = options,
                       .options_count = OPTIONS,
                       .open = matrix_open,
                       .close = matrix_close,
                       .build = matrix_build,
                       .prepare = matrix_prepare,
                       .check = matrix_check,
                       .hash = matrix_hash,
                       .program = tiles_program};

    return application_main(&app, argc, argv);
}
