/* file.h - writes a file whole or not at all, as the library does with plans, traces, logs and pictures.
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
 * its permissions; behind a symbolic link the target is replaced. A file that this process may not write is refused.
 * Devices, pipes and links of /proc and /dev/fd are written in place. Hidden files of programs that were killed are
 * removed.
 *
 *   path   not NULL, not empty.
 *   data   borrowed for the call; may be NULL where `bytes` is 0.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, or CLO_ERR_IO with the reason.
 *
 * Threads: any; the umask is not touched. Real time: no. O(bytes). */
CLO_API CLO_NODISCARD clo_status clo_file_write(const char *path, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
