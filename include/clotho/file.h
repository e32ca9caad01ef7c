/* file.h - files are written whole: the way in which the library writes plans, traces, logs and pictures, for what a
 * program writes beside them.
 *
 * Library: libclotho. */
#ifndef CLOTHO_FILE_H
#define CLOTHO_FILE_H

#include <clotho/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes `bytes` bytes of `data` as the file `path` ("-": standard output), or leaves what was there.
 *
 * A regular file is written beside its place under a hidden name (.clotho- and 16 digits), synced and renamed, so that
 * a full disk, an error or a kill at any moment leaves the old file or the new one, whole. A file that is there keeps
 * its rights; behind a symbolic link the target is replaced. A file without the right to write is refused. Devices,
 * pipes and links of /proc and /dev/fd are written in their place. Hidden files of programs that were killed are
 * removed.
 *
 *   path   not NULL, not empty.
 *   data   borrowed for the call; may be NULL where `bytes` is 0.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, or CLO_ERR_IO with the reason.
 *
 * Threads: safe; the umask is not touched. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_file_write(const char *path, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
