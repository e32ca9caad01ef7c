/* report.h - error lines, exit codes, and numbers as a person reads them.
 *
 * Every failure is one line on standard error, "clotho: [PLACE: ]what is wrong; what to do", and an exit code. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_REPORT_H
#define CLO_TOOLS_CLOTHO_COMMON_REPORT_H

#include <clotho/clotho.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From here on the command stands for ninja: its lines begin with "ninja: ", those of errors with "ninja: error: ", and bad
 * usage has ninja's exit code. Before any thread is there. */
void report_speak_as_ninja(void);
bool report_is_ninja(void);
const char *report_speaker(void); /* "clotho" or "ninja" */

enum { EXIT_GOOD = 0, EXIT_BAD_INPUT = 1, EXIT_BAD_USAGE = 2 };

/* One error line. place: a file, or NULL. Return EXIT_BAD_INPUT and EXIT_BAD_USAGE (for ninja EXIT_BAD_INPUT). */
int complain(const char *place, const char *format, ...) __attribute__((format(printf, 2, 3)));
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line that something is as it should be, but not as one may expect: "clotho: note: ...". */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One warning line, "clotho: warning: ...". */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The library's own text for a failed call, behind `place` unless the text names the place itself. Returns
 * EXIT_BAD_INPUT. */
int complain_status(const char *place, clo_status status);

/* A progress line; silent unless standard error is a terminal. Of type clo_progress_fn. */
void progress(void *context, const char *line);

/* A line on a terminal that the next one writes over, ten times a second at most; silent elsewhere. Error lines take it away;
 * whoever prints something else clears it first. */
void progress_over(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

/* A name or path from outside without what could command a terminal (clo_printable), at most 4095 bytes; each call
 * returns one of four static buffers of this thread in turn. */
const char *show_name(const char *name);

/* "1.23 ms" and the like; each call returns one of eight static-duration buffers of this thread in turn. */
const char *show_ns(int64_t ns);
const char *show_bytes(uint64_t bytes);
const char *show_energy(int64_t nj);
const char *show_percent(double share); /* 0.123 -> "12.3 %" */

/* True if the file is a terminal that takes escape sequences: what is written over itself goes there only. */
bool takes_escapes(int file);

/* True if the locale of the environment (LC_ALL, else LC_CTYPE, else LANG) has UTF-8. */
bool locale_has_utf8(void);

/* Prints a text with what a picture is drawn of: box characters where the locale has them, else ASCII, one for one. */
void print_drawing(const char *text);

/* Width of the terminal on standard output; else COLUMNS, else 80. At least 40, at most 200. */
uint32_t terminal_columns(void);

/* Among the 0-terminated names that `at` lists, the one nearest to `word` in edit distance, if it is near enough
 * to be a slip of the finger; else NULL. */
const char *nearest_name(const char *word, const char *(*at)(uint32_t index));

/* Flushes standard output. Returns `code`, or EXIT_BAD_INPUT after an error line if it could not be written. */
int report_flush(int code);

/* Name of a status as in the headers: "CLO_OK", "CLO_ERR_TASK" ... */
const char *status_name(clo_status status);

/* One row an executor: kind, executions, replicas, busy time, share of the makespan. Returns EXIT_GOOD, or
 * EXIT_BAD_INPUT after an error line. */
int report_executors(const clo_plan *plan, const clo_platform *platform);

#endif
