/* clean.h - removes what a build has made, as `ninja -t clean` and `-t cleandead` do. */
#ifndef CLO_TOOLS_NINJA_LISTING_CLEAN_H
#define CLO_TOOLS_NINJA_LISTING_CLEAN_H

#include "ninja/logs/build_log.h"

typedef struct cleaner {
    ninja_manifest *m;
    bool is_dry;     /* removes nothing, counts and says what it would */
    buffer *lines;   /* "Remove PATH\n" for each file; NULL: not wanted */
    uint32_t count;  /* files that were removed */
    uint32_t failed; /* files that could not be, and names that mean nothing; why[]: the first of them */
    char why[1100];
} cleaner;

/* Each returns false only for want of memory, with the manifest's error set. A file that cannot be removed is counted
 * in `failed`, and the rest goes on; what is not there is no failure. Outputs go, with the depfile and the response
 * file of their statement; phony statements have none. */

/* All outputs; those of generator statements only with `generators`. */
bool clean_all(cleaner *c, bool generators);
/* The file or target `name` and what it is made of, as far as it is made; without other outputs of the same
 * statements. */
bool clean_target(cleaner *c, const char *name);
/* The outputs of all rules of that name; one of them stands in the file that was opened. */
bool clean_rule(cleaner *c, const char *name);
/* Files that the log knows as outputs, and that the manifest does not mention any more. */
bool clean_dead(cleaner *c, const build_log *log);

#endif
