/* output_write.h - one way to write what a command has made, into a file or on standard output. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_OUTPUT_WRITE_H
#define CLO_TOOLS_CLOTHO_COMMON_OUTPUT_WRITE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a whole file; '-': standard output. put: false if it could not write all. Returns an exit code. */
int output_write(const char *path, bool (*put)(FILE *file, const void *content), const void *content);

#endif
