/* platform/file/shipped.h - the files under platforms/, made part of the library by toolchain/embed.cmake, so that a
 * shipped name works from a build tree, installed, and after relocation. */
#ifndef CLO_PLATFORM_FILE_SHIPPED_H
#define CLO_PLATFORM_FILE_SHIPPED_H

#include <stddef.h>
#include <stdint.h>

typedef struct clo_shipped_file {
    const char *name, *summary;
    const unsigned char *data;
    size_t bytes;
} clo_shipped_file;

/* The files, then the platforms that are computed from their name, without data, then a row of NULLs. */
extern const clo_shipped_file clo_shipped_files[];
extern const uint32_t clo_shipped_files_count; /* the files alone */

#endif
