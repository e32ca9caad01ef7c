/* print.h - what a running build says of its steps. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PRINT_H
#define CLO_TOOLS_CLOTHO_BUILD_PRINT_H

#include "clotho/build/status.h"
#include "ninja/state/build.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct build_printer {
    build_folder *folder;
    bool is_verbose;
    bool is_quiet; /* no lines of steps */
    build_status status;
    build_counts counts; /* but for the steps, the caller's */
} build_printer;

/* The line of a step. */
void printer_step(build_printer *p, uint32_t edge, int64_t now_ns, bool has_console);
/* "FAILED: outputs", the command, and `why`. */
void printer_failure(build_printer *p, uint32_t edge, const char *why, bool has_console);

#endif
