/* folder.h - a temporary folder. */
#ifndef CLO_BENCH_FOLDER_H
#define CLO_BENCH_FOLDER_H

#include <stdbool.h>

enum { FOLDER_MAX = 64 };

/* Makes a new folder under /tmp and puts its path into path[FOLDER_MAX]; false, and an empty path, on failure. */
bool folder_make(char *path);
/* Removes it with all that is in it. An empty path is allowed. */
void folder_remove(const char *path);

#endif
