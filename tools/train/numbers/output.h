/* output.h - a text that is put together as a stream and written as a file once it is whole (clotho/file.h): an
 * interrupted program leaves the old file or the new one. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_OUTPUT_H
#define CLO_TOOLS_TRAIN_NUMBERS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct output {
    FILE *file;
    const char *path;
    char *text;
    size_t bytes;
    /* The whole text could not be written: clo_last_error() says why. What else goes wrong is a lack of memory. */
    bool is_refused;
} output;

/* Begins it. False: no memory; there is nothing to close. */
bool output_open(output *o, const char *path);

/* Ends it. is_whole: all was put into the stream; else nothing is written. False: not written. */
bool output_close(output *o, bool is_whole);

#endif
