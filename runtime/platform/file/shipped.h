/* platform/file/shipped.h - the boards under platforms/, as toolchain/embed.cmake lists them. One of them is part of the
 * library, so that its name always works; the others are read from their files (platform/build/boards.h). */
#ifndef CLO_PLATFORM_FILE_SHIPPED_H
#define CLO_PLATFORM_FILE_SHIPPED_H

#include <stddef.h>
#include <stdint.h>

typedef struct clo_shipped_file {
    const char *name, *summary;
    /* NULL: in a file. */
    const unsigned char *data;
    size_t bytes;
} clo_shipped_file;

/* The boards, then the platforms that are computed from their name, then a row of NULLs. */
extern const clo_shipped_file clo_shipped_files[];
extern const uint32_t clo_shipped_files_count; /* the boards alone */

#endif
