/* disk.h - files of a build. */
#ifndef CLOTHO_NINJA_DISK_H
#define CLOTHO_NINJA_DISK_H

#include "text.h"

/* When the file was changed; 0: it is not there; -1: the system refuses to say, with errno set. A file from the first
 * second of 1970 is 1 ns old, as ninja has it. */
int64_t disk_mtime_ns(const char *path);
/* Makes the folders that `path` lies in. False: errno says why. */
bool disk_make_folders(const char *path);

#endif
