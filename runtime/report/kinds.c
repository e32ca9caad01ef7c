/* report/kinds.c - see kinds.h. The first seven colours are Okabe and Ito's, safe for the colour-blind; the others
 * were chosen to differ from these and from each other in lightness, too. */
#include "report/kinds.h"

#include "report/gantt.h"

#include <string.h>

static const struct {
    const char *fill, *ink;
} colors[CLO_KIND_SHADES] = {
    {"#0072b2", "#fff"}, {"#e69f00", "#222"}, {"#009e73", "#fff"}, {"#cc79a7", "#222"}, {"#56b4e9", "#222"},
    {"#d55e00", "#fff"}, {"#f0e442", "#222"}, {"#6a3d9a", "#fff"}, {"#8c564b", "#fff"}, {"#a6d854", "#222"},
    {"#1f3b73", "#fff"}, {"#8e0152", "#fff"}, {"#00c5c5", "#222"}, {"#b39bd8", "#222"}, {"#7f7f00", "#fff"},
    {"#f4a582", "#222"}, {"#9a9a9a", "#222"},
};

const char *clo_kind_fill(uint32_t color)
{
    return colors[color].fill;
}

const char *clo_kind_ink(uint32_t color)
{
    return colors[color].ink;
}

static const char *class_name(uint32_t task_class)
{
    static const char *const names[] = {"generic", "integer", "float", "memory"};

    return task_class < CLO_CLASSES_BUILTIN ? names[task_class] : "own class";
}

static uint32_t find(clo_task_kinds *kinds, const char *name, size_t bytes)
{
    for (uint32_t k = 0; k < kinds->count; k++)
        if (kinds->kinds[k].bytes == bytes && memcmp(kinds->kinds[k].name, name, bytes) == 0)
            return k;
    if (kinds->count == CLO_KINDS_MAX)
        return CLO_KINDS_MAX;
    kinds->kinds[kinds->count] = (clo_task_kind){.name = name, .bytes = bytes};
    return kinds->count++;
}

void clo_task_kinds_add(clo_task_kinds *kinds, const clo_graph *graph, uint8_t *kind_of)
{
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
        clo_task task = CLO_TASK_INIT;
        if (clo_graph_task(graph, t, &task) != CLO_OK)
            continue;
        const char *name = task.name != NULL ? task.name : class_name(task.task_class);
        uint32_t k = find(kinds, name, task.name != NULL ? clo_gantt_prefix(name) : strlen(name));
        kinds->kinds[k].work_ns += (double)task.work_ns * (double)clo_graph_ranges(graph, t);
        kinds->kinds[k].tasks++;
        kind_of[t] = (uint8_t)k;
    }
}

static bool is_ahead(const clo_task_kind *a, const clo_task_kind *b)
{
    return a->work_ns != b->work_ns ? a->work_ns > b->work_ns : a->tasks > b->tasks;
}

void clo_task_kinds_choose_colors(clo_task_kinds *kinds)
{
    for (uint32_t k = 0; k <= CLO_KINDS_MAX; k++)
        kinds->kinds[k].color = CLO_KIND_COLORS;
    for (uint32_t color = 0; color < CLO_KIND_COLORS; color++) {
        uint32_t best = CLO_NONE;
        for (uint32_t k = 0; k < kinds->count; k++)
            if (kinds->kinds[k].color == CLO_KIND_COLORS &&
                (best == CLO_NONE || is_ahead(&kinds->kinds[k], &kinds->kinds[best])))
                best = k;
        if (best == CLO_NONE)
            return;
        kinds->kinds[best].color = color;
    }
}

uint32_t clo_task_kinds_with_color(const clo_task_kinds *kinds, uint32_t color)
{
    for (uint32_t k = 0; k < kinds->count; k++)
        if (kinds->kinds[k].color == color)
            return k;
    return CLO_NONE;
}

uint64_t clo_task_kinds_others(const clo_task_kinds *kinds)
{
    uint64_t tasks = 0;

    for (uint32_t k = 0; k <= CLO_KINDS_MAX; k++)
        if (kinds->kinds[k].color == CLO_KIND_COLORS)
            tasks += kinds->kinds[k].tasks;
    return tasks;
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Where character `index` begins. */
static size_t character_at(const char *name, size_t bytes, size_t index)
{
    size_t at = 0;

    for (; at < bytes; at++)
        if (begins_character(name[at]) && index-- == 0)
            return at;
    return bytes;
}

const char *clo_kind_name(const char *name, size_t bytes, size_t characters, char *text)
{
    size_t all = 0, head = bytes, tail = bytes;

    for (size_t i = 0; i < bytes; i++)
        all += begins_character(name[i]);
    if (all > characters) {
        size_t kept = characters < 9 ? 0 : (characters - 1) * 2 / 5; /* at the end */
        head = character_at(name, bytes, characters - 1 - kept);
        tail = character_at(name, bytes, all - kept);
    }
    if (head + 3 + bytes - tail >= CLO_KIND_NAME_BYTES) { /* no UTF-8 */
        head = CLO_KIND_NAME_BYTES / 2 - 4;
        tail = bytes - head;
    }
    memcpy(text, name, head);
    if (tail > head)
        memcpy(text + head, "\xe2\x80\xa6", 3);
    memcpy(text + head + (tail > head ? 3 : 0), name + tail, bytes - tail);
    text[head + (tail > head ? 3 : 0) + bytes - tail] = '\0';
    return text;
}

/* Thousandths of the size, from the space on. */
static const uint16_t widths[] = {
    318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, /* space to slash */
    636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, /* 0 to ? */
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, /* @ to O */
    603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, /* P to _ */
    500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, /* ` to o */
    635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,      /* p to ~ */
};

uint32_t clo_drawn_width(const char *text)
{
    uint32_t width = 0;

    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= ' ' && c - ' ' < (int)(sizeof widths / sizeof widths[0]))
            width += widths[c - ' '];
        else if (begins_character(*text))
            width += 1000;
    }
    return width;
}
