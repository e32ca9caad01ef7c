/* disk.h - files of a build. */
#ifndef CLO_TOOLS_NINJA_TEXT_DISK_H
#define CLO_TOOLS_NINJA_TEXT_DISK_H

#include "ninja/text/text.h"

/* When the file was changed; 0: it is not there; -1: the system refuses to say, with errno set. A file of 1970's first
 * second or from before has the time 1, the oldest that there is. */
int64_t disk_mtime_ns(const char *path);
/* The time that a file would get now, where its file system lies on this machine: that of the last tick. */
int64_t disk_now_ns(void);
/* A file without a name in the folder of `path`, for reading and writing; -1: none can be made. */
int disk_open_nameless(const char *path);
/* The time that a file beside such a one would get now, by the file system itself; where that does not say, and with
 * -1, disk_now_ns. */
int64_t disk_clock_ns(int file);
/* Whether a regular file was written, renamed or touched at `ns` (disk_now_ns) or later; true also where it is
 * not there any more. */
bool disk_is_newer(const char *path, int64_t ns);
/* Whether `path` is another file by now than this open one: a tool put a new one in its place, or removed it from a
 * folder that still takes files. */
bool disk_is_replaced(int file, const char *path);
/* Makes the folders that `path` lies in. False: errno says why. */
bool disk_make_folders(const char *path);

#endif
