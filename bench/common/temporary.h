/* temporary.h - a temporary directory. */
#ifndef CLO_BENCH_TEMPORARY_H
#define CLO_BENCH_TEMPORARY_H

#include <stdbool.h>

enum { TEMPORARY_MAX = 64 };

/* Makes a new directory under /tmp and puts its path into path[TEMPORARY_MAX]; false, and an empty path, on failure. */
bool temporary_make(char *path);
/* Removes it with all that is in it. An empty path is allowed. */
void temporary_remove(const char *path);

#endif
