/* report/kinds.h - kinds of tasks and their colours, the same in every picture of a graph.
 *
 * A kind is what tasks have in common: the beginning of their names, or their class where they have none. Which kind
 * has which colour follows from the graph alone, whoever planned it and wherever it ran: the kinds with the most work
 * come first, then those with the most tasks, then those that were added first. Pages of streams add several graphs. */
#ifndef CLO_REPORT_KINDS_H
#define CLO_REPORT_KINDS_H

#include <clotho/graph.h>

enum {
    CLO_KIND_COLORS = 16,                  /* kinds with a colour of their own */
    CLO_KIND_SHADES = CLO_KIND_COLORS + 1, /* and one for all others        */
    CLO_KINDS_MAX = 64                     /* kinds that are told apart        */
};

typedef struct clo_task_kind {
    const char *name; /* not 0-terminated; owned by the graph */
    size_t bytes;
    double work_ns;
    uint64_t tasks;
    uint32_t color; /* < CLO_KIND_SHADES */
} clo_task_kind;

typedef struct clo_task_kinds {
    clo_task_kind kinds[CLO_KINDS_MAX + 1]; /* the last one: all others */
    uint32_t count;
} clo_task_kinds;

/* Adds the kinds of a graph's tasks. kind_of: [tasks] receives them; CLO_KINDS_MAX: one of the others. */
void clo_task_kinds_add(clo_task_kinds *kinds, const clo_graph *graph, uint8_t *kind_of);

/* Once all graphs were added. */
void clo_task_kinds_choose_colors(clo_task_kinds *kinds);

/* The index of the kind with that colour, below CLO_KIND_COLORS; CLO_NONE: there is none. */
uint32_t clo_task_kinds_with_color(const clo_task_kinds *kinds, uint32_t color);

/* Tasks of kinds without a colour of their own. */
uint64_t clo_task_kinds_others(const clo_task_kinds *kinds);

/* "#0072b2", and what is read on it: "#fff". color < CLO_KIND_SHADES. */
const char *clo_kind_fill(uint32_t color);
const char *clo_kind_ink(uint32_t color);

/* The name of a kind in at most `characters` (>= 5), 0-terminated, into text[CLO_KIND_NAME_BYTES]. Of a longer one the
 * middle is left out, as names differ at their ends; below 9 characters, the end. Returns text. */
enum { CLO_KIND_NAME_BYTES = 256 };
const char *clo_kind_name(const char *name, size_t bytes, size_t characters, char *text);

/* How wide the font of the pictures draws a text, in thousandths of its size: DejaVu Sans, the widest in their lists. */
uint32_t clo_drawn_width(const char *text);

#endif
