/* history.c - see history.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/logs/history.h"
#include "ninja/manifest/bindings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS = 7, LINES_BEFORE_REWRITE = 100, LINES_PER_ENTRY = 3 };

/* Before anything is known of how a class varies: as if FEW steps had been off by a part of the mean. */
enum { FEW = 2, FEW_VARY = 4 };

static const char HEADER[] = "# clotho steps v", THIS_VERSION[] = "# clotho steps v1\n";
static const uint64_t MOST = (uint64_t)1 << 50; /* of a number, so that sums stay small */

piece history_class_of(const ninja_manifest *m, uint32_t edge)
{
    piece name = ninja_rule_name(m, edge);

    for (size_t i = 1; i + 1 < name.bytes; i++)
        if (name.at[i] == '_' && name.at[i + 1] == '_')
            return (piece){name.at, i};
    return name;
}

static piece output_of(const ninja_manifest *m, uint32_t edge)
{
    const ninja_node *node = &m->nodes[m->edges[edge].outputs[0]];

    return (piece){node->path, node->bytes};
}

/* The entry of an output, a new one where there is none; NULL: no memory. */
static history_entry *take_entry(step_history *h, piece output)
{
    history_entry *grown = array_grow(h->entries, &h->capacity, h->count + 1, sizeof *grown);
    if (grown == NULL)
        return NULL;
    h->entries = grown;
    uint32_t at = path_list_take(&h->outputs, output);
    if (at == NINJA_NONE)
        return NULL;
    if (at == h->count)
        h->entries[h->count++] = (history_entry){.output = h->outputs.paths[at]};
    return &h->entries[at];
}

static uint32_t find_class(const step_history *h, piece name)
{
    for (uint32_t i = 0; i < h->classes_count; i++)
        if (piece_equal(h->classes[i].name, name))
            return i;
    return NINJA_NONE;
}

/* NINJA_NONE: no memory. */
static uint32_t take_class(step_history *h, piece name)
{
    uint32_t found = find_class(h, name);

    if (found != NINJA_NONE)
        return found;
    history_class *grown = array_grow(h->classes, &h->classes_capacity, h->classes_count + 1, sizeof *grown);
    if (grown == NULL)
        return NINJA_NONE;
    h->classes = grown;
    char *copy = store_copy(&h->outputs.store, name);
    if (copy == NULL)
        return NINJA_NONE;
    h->classes[h->classes_count] = (history_class){.name = {copy, name.bytes}};
    return (uint32_t)h->classes_count++;
}

/* False: no memory. */
static bool learn(step_history *h, piece output, piece class_name, const history_entry *taken)
{
    uint32_t class_ = take_class(h, class_name);
    history_entry *entry = class_ != NINJA_NONE ? take_entry(h, output) : NULL;

    if (entry == NULL)
        return false;
    history_class *c = &h->classes[class_];
    c->walls_ms[c->count % HISTORY_CLASS_PEAKS] = taken->wall_ms;
    c->cpus_ms[c->count % HISTORY_CLASS_PEAKS] = taken->cpu_ms;
    c->peaks_kib[c->count++ % HISTORY_CLASS_PEAKS] = taken->peak_kib;
    piece kept = entry->output;
    *entry = *taken;
    entry->output = kept;
    entry->class_ = class_;
    return true;
}

/* A number that ends at a tab. False: it is none, or too large. */
static bool next_number(const char **at, int base, uint64_t most, uint64_t *number)
{
    char *end;

    if (**at == '-' || **at == '+' || **at == ' ' || **at == '\t' || **at == '\n')
        return false;
    errno = 0;
    *number = strtoull(*at, &end, base);
    if (errno != 0 || end == *at || *end != '\t' || *number > most)
        return false;
    *at = end + 1;
    return true;
}

/* False: no memory. A line that is not as it should be is passed over. */
static bool read_line(step_history *h, const char *at, const char *end)
{
    uint64_t numbers[FIELDS];

    for (int i = 0; i < FIELDS; i++)
        if (!next_number(&at, i == FIELDS - 1 ? 16 : 10, i == FIELDS - 1 ? UINT64_MAX : MOST, &numbers[i]) || at > end)
            return true;
    const char *tab = memchr(at, '\t', (size_t)(end - at));
    if (tab == NULL || tab == at || tab + 1 == end || numbers[4] > UINT32_MAX || numbers[5] > HISTORY_EXACT)
        return true;
    const history_entry taken = {.wall_ms = (int64_t)numbers[0],
                                 .cpu_ms = (int64_t)numbers[1],
                                 .peak_kib = (int64_t)numbers[2],
                                 .held_kib = (int64_t)numbers[3],
                                 .count = (uint32_t)numbers[4],
                                 .how = (uint8_t)numbers[5],
                                 .hash = numbers[6]};
    h->lines++;
    return learn(h, (piece){tab + 1, (size_t)(end - tab - 1)}, (piece){at, (size_t)(tab - at)}, &taken);
}

bool history_parse(step_history *h, ninja_manifest *m, const char *text, size_t bytes)
{
    const char *at = text, *stop = text + bytes, *end = memchr(text, '\n', bytes);

    *h = (step_history){0};
    if (end == NULL || strncmp(at, HEADER, sizeof HEADER - 1) != 0)
        return true; /* cut off, or none of ours: it is written anew */
    if ((size_t)(end + 1 - at) != sizeof THIS_VERSION - 1 || memcmp(at, THIS_VERSION, sizeof THIS_VERSION - 1) != 0) {
        h->is_foreign = true;
        return true;
    }
    for (at = end + 1; (end = memchr(at, '\n', (size_t)(stop - at))) != NULL; at = end + 1)
        if (!read_line(h, at, end))
            return ninja_no_memory(m);
    h->good_bytes = (size_t)(at - text);
    return true;
}

bool history_load(step_history *h, ninja_manifest *m, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;

    *h = (step_history){0};
    bool is_good = log_file_read(m, path, &text, &bytes) && (text == NULL || history_parse(h, m, text, bytes));
    free(text);
    return is_good;
}

static void write_entry(const step_history *h, FILE *file, const history_entry *e)
{
    piece class_name = h->classes[e->class_].name;

    fprintf(file, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu32 "\t%d\t%" PRIx64 "\t%.*s\t",
            e->wall_ms, e->cpu_ms, e->peak_kib, e->held_kib, e->count, e->how, e->hash, (int)class_name.bytes,
            class_name.at);
    fwrite(e->output.at, 1, e->output.bytes, file);
    fputc('\n', file);
}

/* Without what no statement makes any more. */
static bool write_anew(void *self, ninja_manifest *m, FILE *file)
{
    const step_history *h = self;

    fputs(THIS_VERSION, file);
    for (size_t i = 0; i < h->count; i++) {
        uint32_t node = ninja_find_node(m, h->entries[i].output);
        if (node != NINJA_NONE && m->nodes[node].producer != NINJA_NONE)
            write_entry(h, file, &h->entries[i]);
    }
    return fflush(file) == 0 && !ferror(file);
}

bool history_open(step_history *h, ninja_manifest *m, const char *path)
{
    bool is_long = h->lines > LINES_BEFORE_REWRITE && h->lines > LINES_PER_ENTRY * h->count;

    if (h->is_foreign)
        return true;
    h->file = log_file_open(m, path, is_long ? 0 : h->good_bytes, write_anew, h);
    return h->file != NULL;
}

void history_close(step_history *h)
{
    if (h->file != NULL)
        fclose(h->file);
    free(h->entries);
    path_list_free(&h->outputs);
    free(h->classes);
    *h = (step_history){0};
}

const history_entry *history_find(const step_history *h, const ninja_manifest *m, uint32_t edge, uint64_t hash)
{
    uint32_t entry = path_list_find(&h->outputs, output_of(m, edge));

    return entry != NINJA_NONE && h->entries[entry].hash == hash ? &h->entries[entry] : NULL;
}

uint32_t history_take_class(step_history *h, const ninja_manifest *m, uint32_t edge)
{
    return take_class(h, history_class_of(m, edge));
}

history_guess history_guess_of(const step_history *h, uint32_t class_)
{
    const history_class *c = &h->classes[class_];
    history_guess guess = {.count = c->count < HISTORY_CLASS_PEAKS ? c->count : HISTORY_CLASS_PEAKS,
                           .sure = h->sure > 0 ? h->sure : (double)HISTORY_SURE};
    double squares = 0;

    if (guess.count == 0)
        return guess;
    for (uint32_t i = 0; i < guess.count; i++) {
        guess.mean_kib += (double)c->peaks_kib[i] / guess.count;
        guess.mean_ms += (double)c->walls_ms[i] / guess.count;
        guess.cpus += (double)c->cpus_ms[i] / guess.count;
    }
    guess.cpus /= guess.mean_ms > 1 ? guess.mean_ms : 1;
    for (uint32_t i = 0; i < guess.count; i++) {
        double off = (double)c->peaks_kib[i] - guess.mean_kib;
        squares += off * off;
    }
    double usual = guess.mean_kib / (double)FEW_VARY;
    guess.square_kib = ((double)FEW * usual * usual + squares) / ((double)FEW + guess.count - 1);
    return guess;
}

double history_sum_square(const history_guess *guess, uint32_t steps)
{
    return guess->square_kib * steps * (1 + (double)steps / guess->count); /* the mean is not known exactly */
}

double history_sum_kib(const history_guess *guess, uint32_t steps)
{
    return guess->mean_kib * steps + guess->sure * sqrt(history_sum_square(guess, steps));
}

bool history_add(step_history *h, ninja_manifest *m, uint32_t edge, const history_entry *taken)
{
    const history_entry *old = history_find(h, m, edge, taken->hash);
    history_entry now = *taken;

    now.held_kib = now.peak_kib;
    now.count = 1;
    if (old != NULL) {
        if (old->held_kib > now.peak_kib)
            now.held_kib = old->held_kib - (old->held_kib - now.peak_kib + 3) / 4;
        now.count = old->count < UINT32_MAX ? old->count + 1 : old->count;
    }
    if (!learn(h, output_of(m, edge), history_class_of(m, edge), &now))
        return ninja_no_memory(m);
    if (h->file == NULL)
        return true;
    write_entry(h, h->file, &h->entries[path_list_find(&h->outputs, output_of(m, edge))]);
    if (fflush(h->file) != 0 || ferror(h->file))
        return ninja_fail(m, ".clotho_steps: cannot be written: %s; look at the disk", strerror(errno));
    return true;
}
