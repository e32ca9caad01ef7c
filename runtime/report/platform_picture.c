/* report/platform_picture.c - a platform as boxes: packages, in them clusters, in them cores. Drawn on a grid of
 * characters that grows downwards; a box is drawn once its content is known. */
#include "report/platform_picture.h"

#include "base/memory.h"
#include "platform/model/figures.h"
#include "report/kinds.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CELLS_MAX 24 /* cores drawn one by one; more become one cell */

enum {
    LEFT_RIGHT = 0x2500,
    UP_DOWN = 0x2502,
    TOP_LEFT = 0x250c,
    TOP_RIGHT = 0x2510,
    LOW_LEFT = 0x2514,
    LOW_RIGHT = 0x2518
};

typedef struct grid {
    uint32_t *cells; /* code points, 0: blank */
    size_t capacity, rows;
    uint32_t columns, widest; /* that there are, and that the widest package takes */
    bool failed;
    clo_text *svg; /* boxes and texts are written there too; NULL: no SVG */
} grid;

typedef struct size {
    uint32_t width, height;
} size;

/* Without a grid nothing is drawn: the caller only wants to know the size. */
static void put(grid *g, uint32_t x, uint32_t y, uint32_t code)
{
    if (g == NULL || x >= g->columns || g->failed)
        return;
    size_t need = ((size_t)y + 1) * g->columns, had = g->rows * g->columns;
    void *cells = g->cells;

    if (need > had) {
        if (clo_grow(&cells, &g->capacity, need, sizeof *g->cells) != 0) {
            g->failed = true;
            return;
        }
        g->cells = cells;
        memset(g->cells + had, 0, (need - had) * sizeof *g->cells);
        g->rows = (size_t)y + 1;
    }
    g->cells[(size_t)y * g->columns + x] = code;
}

enum { CELL_WIDTH = 8, CELL_HEIGHT = 17, TITLE = 17 }; /* of a character, pixels of the SVG */

static void svg_text(clo_text *svg, const char *shape, uint32_t x, uint32_t y, const char *text, size_t bytes)
{
    clo_text cut = {0};

    clo_text_add_bytes(&cut, text, bytes);
    clo_text_add(svg, "<text class=\"%s\" x=\"%u\" y=\"%u\">", shape, CELL_WIDTH * x, CELL_HEIGHT * y + 13);
    clo_text_add_xml(svg, cut.data != NULL ? cut.data : "");
    clo_text_add(svg, "</text>\n");
    svg->failed |= cut.failed;
    clo_text_free(&cut);
}

static void put_text(grid *g, uint32_t x, uint32_t y, uint32_t limit, const char *text)
{
    const char *begin = text;

    for (uint32_t i = 0; *text != '\0' && i < limit; i++)
        put(g, x + i, y, clo_text_next(&text));
    if (g != NULL && g->svg != NULL)
        svg_text(g->svg, "in", x, y, begin, (size_t)(text - begin));
}

static void put_box(grid *g, uint32_t x, uint32_t y, size box, const char *title)
{
    uint32_t right = x + box.width - 1, low = y + box.height - 1;

    assert(box.width >= 2 && box.height >= 2);
    for (uint32_t i = x; i < right; i++) {
        put(g, i, y, LEFT_RIGHT);
        put(g, i, low, LEFT_RIGHT);
    }
    for (uint32_t i = y; i < low; i++) {
        put(g, x, i, UP_DOWN);
        put(g, right, i, UP_DOWN);
    }
    put(g, x, y, TOP_LEFT);
    put(g, right, y, TOP_RIGHT);
    put(g, x, low, LOW_LEFT);
    put(g, right, low, LOW_RIGHT);
    if (g != NULL && g->svg != NULL)
        clo_text_add(g->svg, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"5\"/>\n", CELL_WIDTH * x + 4,
                     CELL_HEIGHT * y + 8, CELL_WIDTH * (box.width - 1), CELL_HEIGHT * (box.height - 1));
    if (title[0] != '\0' && box.width > 6) {
        uint32_t limit = box.width - 6, width = clo_text_width(title);
        put(g, x + 2, y, ' ');
        put_text(g, x + 3, y, limit, title);
        put(g, x + 3 + (width < limit ? width : limit), y, ' ');
    }
}

static void print(const grid *g, clo_text *out)
{
    for (size_t row = 0; row < g->rows; row++) {
        const uint32_t *cells = g->cells + row * g->columns;
        uint32_t used = g->columns;
        while (used > 0 && cells[used - 1] == 0)
            used--;
        for (uint32_t x = 0; x < used; x++)
            clo_text_put(out, cells[x] == 0 ? ' ' : cells[x]);
        clo_text_add(out, "\n");
    }
}

/* Where an executor is drawn; a platform made from arrays shows its machines and kinds. */
static clo_place place_of(const clo_platform *p, uint32_t e)
{
    const clo_executor *x = &p->executors[e];

    if (p->places != NULL)
        return p->places[e];
    return (clo_place){.package = x->machine, .cluster = x->machine * p->kinds_count + x->kind, .core = e, .cpu = -1};
}

/* The executors of one cluster, in order; cores are runs of equal place.core. */
typedef struct members {
    uint32_t *executors;
    uint32_t count, cores;
} members;

static bool is_new_core(const clo_platform *p, const members *m, uint32_t i)
{
    uint32_t core = place_of(p, m->executors[i]).core;

    for (uint32_t before = 0; before < i; before++)
        if (place_of(p, m->executors[before]).core == core)
            return false;
    return true;
}

static void core_label(const clo_platform *p, const members *m, uint32_t first, char *out, size_t bytes)
{
    uint32_t core = place_of(p, m->executors[first]).core;

    snprintf(out, bytes, "%s", p->executor_names[m->executors[first]]);
    for (uint32_t i = first + 1; i < m->count; i++)
        if (place_of(p, m->executors[i]).core == core) {
            size_t used = strlen(out);
            snprintf(out + used, bytes - used, " %s", p->executor_names[m->executors[i]]);
        }
}

/* "4 × cortex-a55 · L2 2M": the kinds by number of executors, then what the cluster shares. */
static void cluster_title(const clo_platform *p, const members *m, char *out, size_t bytes)
{
    clo_place place = place_of(p, m->executors[0]);
    char figure[CLO_FIGURE_BYTES];

    out[0] = '\0';
    for (uint32_t kind = 0; kind < p->kinds_count; kind++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < m->count; i++)
            count += p->executors[m->executors[i]].kind == kind;
        size_t used = strlen(out);
        if (count > 0)
            snprintf(out + used, bytes - used, "%s%u \u00d7 %s", used > 0 ? ", " : "", count, p->kind_names[kind]);
    }
    for (uint32_t level = 1; level < CLO_CACHE_LEVELS; level++)
        if (place.cache_scope[level] == CLO_SCOPE_CLUSTER) {
            size_t used = strlen(out);
            clo_figure_bytes(place.cache_bytes[level], figure);
            snprintf(out + used, bytes - used, " \u00b7 L%u %s", level, figure);
        }
}

static void cluster_caption(const clo_platform *p, const members *m, char *out, size_t bytes)
{
    clo_place place = place_of(p, m->executors[0]);
    char figure[CLO_FIGURE_BYTES];

    out[0] = '\0';
    for (uint32_t level = 1; level < CLO_CACHE_LEVELS; level++)
        if (place.cache_scope[level] == CLO_SCOPE_CORE) {
            size_t used = strlen(out);
            clo_figure_bytes(place.cache_bytes[level], figure);
            snprintf(out + used, bytes - used, "%sL%u %s",
                     used > 0       ? ", "
                     : m->cores > 1 ? "each "
                                    : "",
                     level, figure);
        }
}

static void package_title(const clo_platform *p, uint32_t first, char *out, size_t bytes)
{
    clo_place place = place_of(p, first);
    char figure[CLO_FIGURE_BYTES];

    if (place.outside)
        snprintf(out, bytes, "outside the operating system");
    else
        snprintf(out, bytes, "%s %u", p->places == NULL ? "machine" : "package", place.package);
    for (uint32_t level = 1; level < CLO_CACHE_LEVELS; level++)
        if (place.cache_scope[level] == CLO_SCOPE_PACKAGE) {
            size_t used = strlen(out);
            clo_figure_bytes(place.cache_bytes[level], figure);
            snprintf(out + used, bytes - used, " \u00b7 L%u %s", level, figure);
        }
    if (place.memory_bytes > 0) {
        size_t used = strlen(out);
        clo_figure_bytes(place.memory_bytes, figure);
        snprintf(out + used, bytes - used, " \u00b7 memory %s", figure);
    }
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cells of one width in rows; returns the space they take. */
static size draw_cores(grid *g, const clo_platform *p, const members *m, uint32_t x, uint32_t y, uint32_t room)
{
    char label[64];
    uint32_t cell = 4, drawn = 0;

    assert(room >= 4);
    for (uint32_t i = 0; i < m->count; i++)
        if (is_new_core(p, m, i)) {
            core_label(p, m, i, label, sizeof label);
            cell = larger(cell, clo_text_width(label) + 4);
        }
    cell = smaller(cell, room);
    uint32_t in_row = larger(1, room / cell);
    for (uint32_t i = 0; i < m->count; i++) {
        if (!is_new_core(p, m, i))
            continue;
        uint32_t left = x + drawn % in_row * cell, top = y + drawn / in_row * 3;
        core_label(p, m, i, label, sizeof label);
        put_box(g, left, top, (size){cell, 3}, "");
        put_text(g, left + 2, top + 1, cell - 4, label);
        drawn++;
    }
    return (size){smaller(drawn, in_row) * cell, (drawn + in_row - 1) / in_row * 3};
}

static size draw_many(grid *g, const clo_platform *p, const members *m, uint32_t x, uint32_t y, uint32_t room)
{
    char label[160];

    snprintf(label, sizeof label, "%s .. %s: %u cores", p->executor_names[m->executors[0]],
             p->executor_names[m->executors[m->count - 1]], m->cores);
    size box = {smaller(clo_text_width(label) + 4, room), 3};
    put_box(g, x, y, box, "");
    put_text(g, x + 2, y + 1, box.width - 4, label);
    return box;
}

static void count_cores(const clo_platform *p, members *m)
{
    m->cores = m->count;
    if (m->count > 4 * CELLS_MAX) /* too many to draw one by one, whatever they share */
        return;
    m->cores = 0;
    for (uint32_t i = 0; i < m->count; i++)
        m->cores += is_new_core(p, m, i);
}

static size cluster_size(const clo_platform *p, const members *m, uint32_t room)
{
    char title[200], caption[100];
    size inside = m->cores > CELLS_MAX ? draw_many(NULL, p, m, 0, 0, room - 4) : draw_cores(NULL, p, m, 0, 0, room - 4);

    cluster_title(p, m, title, sizeof title);
    cluster_caption(p, m, caption, sizeof caption);
    inside.width = larger(inside.width + 4, larger(clo_text_width(title) + 6, clo_text_width(caption) + 4));
    inside.width = smaller(inside.width, room);
    inside.height += caption[0] != '\0' ? 3 : 2;
    return inside;
}

static void draw_cluster(grid *g, const clo_platform *p, const members *m, uint32_t x, uint32_t y, size box)
{
    char title[200], caption[100];
    uint32_t room = box.width - 4;

    cluster_title(p, m, title, sizeof title);
    cluster_caption(p, m, caption, sizeof caption);
    put_box(g, x, y, box, title);
    if (m->cores > CELLS_MAX)
        draw_many(g, p, m, x + 2, y + 1, room);
    else
        draw_cores(g, p, m, x + 2, y + 1, room);
    put_text(g, x + 2, y + box.height - 2, room, caption);
}

/* The members of the cluster that executor `first` opens; false if an earlier one did. */
static bool collect_cluster(const clo_platform *p, uint32_t first, members *m)
{
    clo_place mine = place_of(p, first);

    m->count = 0;
    for (uint32_t e = 0; e < p->executors_count; e++) {
        clo_place place = place_of(p, e);
        bool same = place.cluster == mine.cluster ||
                    (place.outside && mine.outside && p->executors[e].kind == p->executors[first].kind);
        if (!same)
            continue;
        if (e < first)
            return false;
        m->executors[m->count++] = e;
    }
    count_cores(p, m);
    return true;
}

/* Draws the package that executor `first` opens at row y; returns the row after it. */
static uint32_t draw_package(grid *g, const clo_platform *p, uint32_t first, members *m, uint32_t y)
{
    uint32_t package = place_of(p, first).package, room = g->columns - 4;
    uint32_t x = 2, top = y + 1, low = y + 1, width = 0;
    char title[200];

    for (uint32_t e = first; e < p->executors_count && !g->failed; e++) {
        if (place_of(p, e).package != package || !collect_cluster(p, e, m))
            continue;
        size box = cluster_size(p, m, room);
        if (x > 2 && x + box.width > room + 2) {
            x = 2;
            top = low;
        }
        draw_cluster(g, p, m, x, top, box);
        x += box.width + 1;
        low = larger(low, top + box.height);
        width = larger(width, x - 3);
    }
    package_title(p, first, title, sizeof title);
    width = larger(width + 4, smaller(clo_text_width(title) + 6, g->columns));
    put_box(g, 0, y, (size){width, low - y + 1}, title);
    g->widest = larger(g->widest, width);
    return low + 1;
}

static bool opens_package(const clo_platform *p, uint32_t e)
{
    uint32_t package = place_of(p, e).package;

    for (uint32_t before = 0; before < e; before++)
        if (place_of(p, before).package == package)
            return false;
    return true;
}

static void draw_all(grid *g, const clo_platform *platform)
{
    members m = {.executors = clo_allocate(platform->executors_count, sizeof(uint32_t))};
    uint32_t y = 0;

    g->failed = m.executors == NULL;
    for (uint32_t e = 0; e < platform->executors_count && !g->failed; e++)
        if (opens_package(platform, e))
            y = draw_package(g, platform, e, &m, y);
    clo_free(m.executors);
}

void clo_picture_draw(const clo_platform *platform, uint32_t columns, clo_text *out)
{
    grid g = {.columns = columns};

    draw_all(&g, platform);
    print(&g, out);
    out->failed |= g.failed;
    clo_free(g.cells);
}

void clo_picture_svg(const clo_platform *platform, uint32_t columns, clo_text *out)
{
    clo_text boxes = {0};
    grid g = {.columns = columns, .svg = &boxes};

    draw_all(&g, platform);
    unsigned title = clo_drawn_width(clo_platform_name(platform)) * TITLE * 11 / 10000; /* it is bold */
    unsigned width = smaller(larger(CELL_WIDTH * g.widest, title + 8), CELL_WIDTH * columns) + 40,
             height = CELL_HEIGHT * (unsigned)g.rows + 70;
    clo_text_add(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
        "<style>text{font:12px Inter,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;fill:#222}"
        "rect{fill:#0072b2;fill-opacity:.06;stroke:#5c6f7d}.in{paint-order:stroke;stroke:#fff;stroke-width:5px}"
        ".title{font-size:17px;font-weight:600}</style>\n<path fill=\"#fff\" d=\"M0 0h%uv%uH0z\"/>\n"
        "<text class=\"title\" x=\"24\" y=\"32\">",
        width, height, width, height, width, height);
    clo_text_add_xml(out, clo_platform_name(platform));
    clo_text_add(out, "</text>\n<g transform=\"translate(20 48)\">\n");
    clo_text_add_bytes(out, boxes.data != NULL ? boxes.data : "", boxes.bytes);
    clo_text_add(out, "</g>\n</svg>\n");
    out->failed |= g.failed || boxes.failed;
    clo_text_free(&boxes);
    clo_free(g.cells);
}
