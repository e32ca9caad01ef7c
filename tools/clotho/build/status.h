/* status.h - the lines of a build as ninja prints them: NINJA_STATUS before what a step does; on a terminal line
 * over line, with the output of steps below. The caller lets no two threads in at once. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_STATUS_H
#define CLO_TOOLS_CLOTHO_BUILD_STATUS_H

#include "ninja/text/spool.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct build_counts {
    uint32_t started, finished, running, steps;
} build_counts;

enum { STATUS_RATES = 256 };

typedef struct build_status {
    const char *format; /* NINJA_STATUS */
    bool is_smart;      /* a terminal that can go back to the begin of a line */
    bool has_color;     /* else colours are taken out of what steps print */
    bool has_console;   /* a step has the terminal: others' text waits */
    bool is_on_line;    /* the cursor stands behind a line that may be written over */
    spool held;         /* what waits for the console */
    buffer line;        /* that may be written over */
    int64_t start_ns;
    int64_t ends_ns[STATUS_RATES]; /* when steps ended, a ring: of the last `window` */
    uint32_t ends, window;
} build_status;

/* The first '%' in `format` that means nothing, with what stands behind it; NULL: there is none. */
const char *status_unknown(const char *format);

/* jobs: steps at once, to which %c looks back. format: as NINJA_STATUS; NULL: "[%f/%t] ". is_plain: as to a file. */
void status_begin(build_status *s, const char *format, uint32_t jobs, bool is_plain, int64_t now_ns);

/* "[2/7] what". of_console: of the step that has the console or gets it. */
void status_line(build_status *s, const build_counts *counts, piece what, int64_t now_ns, bool of_console);

/* Text of a step, on lines of its own. */
void status_text(build_status *s, piece text, bool of_console);
/* The same of all that a step has said, without colours where this output shows none. */
void status_output(build_status *s, const spool *text);

/* A step ended: for %c. */
void status_ended(build_status *s, int64_t now_ns);

/* A step gets the terminal, and gives it back. */
void status_give_console(build_status *s);
void status_take_console(build_status *s);

/* Ends the line, prints what waits, and frees all. */
void status_end(build_status *s);

#endif
