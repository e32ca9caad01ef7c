/* history.h - .clotho_steps: what each step took when it ran last, learned for the next builds.
 *
 * A text beside .ninja_log. Behind "# clotho steps v1" each line is WALL_MS CPU_MS PEAK_KIB HELD_KIB COUNT HOW HASH
 * CLASS OUTPUT with tabs between; the last line of an output (the first one of its statement) counts. PEAK is the
 * newest peak of memory, HELD a maximum that forgets: after a smaller peak it falls by a quarter of the difference.
 * HASH is that of the command: another command is another step. Lines that are torn or odd are passed over; a file of
 * a newer version is left alone.
 *
 * A step that is not known is judged by its class: its rule, and of CMake's rules, one for each target, what stands
 * before "__". */
#ifndef CLO_TOOLS_NINJA_LOGS_HISTORY_H
#define CLO_TOOLS_NINJA_LOGS_HISTORY_H

#include "ninja/logs/log_file.h"

/* How a peak was measured: the largest process; samples of the group; the group's own maximum, which is exact where it
 * counts hardly any page cache. */
enum { HISTORY_RUSAGE, HISTORY_GROUP, HISTORY_EXACT };
enum { HISTORY_CLASS_PEAKS = 64, HISTORY_SURE = 2 /* deviations above a mean */ };

typedef struct history_entry {
    piece output;
    uint64_t hash;
    int64_t wall_ms, cpu_ms, peak_kib, held_kib;
    uint32_t count; /* runs */
    uint32_t class_;
    uint8_t how;
} history_entry;

/* The last steps of a class. */
typedef struct history_class {
    piece name;
    int64_t peaks_kib[HISTORY_CLASS_PEAKS], walls_ms[HISTORY_CLASS_PEAKS], cpus_ms[HISTORY_CLASS_PEAKS];
    uint32_t count; /* all so far */
} history_class;

/* What a step of a class is expected to take. */
typedef struct history_guess {
    uint32_t count;    /* steps that it comes from; 0: none, and all else but `sure` is 0 */
    double mean_kib;   /* of their peaks */
    double square_kib; /* variance of a peak; of few steps it is mostly that of a deviation of a quarter of the mean */
    double mean_ms, cpus; /* and how many CPUs it uses meanwhile */
    double sure;          /* deviations above the mean that sums of them keep */
} history_guess;

typedef struct step_history {
    history_entry *entries; /* [count] of the outputs, in their order */
    size_t count, capacity;
    path_list outputs; /* its store keeps the names of classes too */
    history_class *classes;
    size_t classes_count, classes_capacity;
    size_t lines, good_bytes; /* of the file: all, and behind its last whole line */
    bool is_foreign;          /* of a newer version */
    double sure;              /* of guesses; 0: HISTORY_SURE */
    FILE *file;               /* NULL: not open for writing */
} step_history;

/* Reads the file; an empty history where there is none. Returns false with m->error set: no memory, the disk.
 * history_close in both cases. */
bool history_load(step_history *h, ninja_manifest *m, const char *path);
/* The same from memory: a terminated text. False: no memory. */
bool history_parse(step_history *h, ninja_manifest *m, const char *text, size_t bytes);
/* Makes the file ready for appending, without a torn line; written anew where most of its lines are old. */
bool history_open(step_history *h, ninja_manifest *m, const char *path);
void history_close(step_history *h);

/* What a step has taken; NULL: never seen with this command. */
const history_entry *history_find(const step_history *h, const ninja_manifest *m, uint32_t edge, uint64_t hash);
/* The class of an edge as an index into h->classes, a new one where it has none; NINJA_NONE: no memory. */
uint32_t history_take_class(step_history *h, const ninja_manifest *m, uint32_t edge);
history_guess history_guess_of(const step_history *h, uint32_t class_);
/* The sum of peaks that so many steps of a class keep below together, nearly always: a sum varies less than its parts.
 * Of a class of which something is known (count > 0). */
double history_sum_kib(const history_guess *guess, uint32_t steps);
/* The variance of that sum, as far as it is known. */
double history_sum_square(const history_guess *guess, uint32_t steps);

/* A step has run: learns of it, and appends a line where the file is open. */
bool history_add(step_history *h, ninja_manifest *m, uint32_t edge, const history_entry *taken);

/* The class of an edge. */
piece history_class_of(const ninja_manifest *m, uint32_t edge);

#endif
