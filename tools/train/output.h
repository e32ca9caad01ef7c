/* output.h - a file to write that takes its name once it is whole and on the disk. An interrupted program leaves the
 * old file or the new one, never a part. */
#ifndef CLOTHO_TRAIN_OUTPUT_H
#define CLOTHO_TRAIN_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
    FILE *file;
    const char *path;
    char beside[4096]; /* where it is written first; "": at `path` itself */
} output;

/* Opens a file beside `path`; what is there and is no regular file, such as a device, is written in its place. False:
 * errno is set, and there is nothing to close. */
bool output_open(output *o, const char *path);

/* Ends it. is_whole: all was written so far; else the file does not take its name. False: errno says why, where
 * is_whole was true. */
bool output_close(output *o, bool is_whole);

#endif
