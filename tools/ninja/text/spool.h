/* spool.h - what a step says, kept until it is printed whole: in memory, and beyond 8 MiB in a file without a name. */
#ifndef CLO_TOOLS_NINJA_TEXT_SPOOL_H
#define CLO_TOOLS_NINJA_TEXT_SPOOL_H

#include "ninja/text/text.h"

enum { SPOOL_MEMORY_MAX = 8 << 20 };

typedef struct spool {
    const char *beside; /* a path of the caller's: the file lies in its folder; NULL: all stays in memory */
    buffer text;        /* what is not in the file: the end of it */
    int file;           /* with file_bytes > 0 */
    uint64_t file_bytes;
    size_t again; /* the file could not be written; tried again when so many bytes are in memory */
} spool;

/* Appends. Where the file cannot be written (a full disk) more than 8 MiB stay in memory; text.failed: no memory. */
void spool_add(spool *s, const char *bytes, size_t count);
uint64_t spool_bytes(const spool *s);
/* Copies up to `count` bytes that stand at `at`. Returns how many: 0 at the end, or where the disk cannot be read. */
size_t spool_read(const spool *s, uint64_t at, char *bytes, size_t count);
/* Forgets all; `beside` stays. */
void spool_clear(spool *s);
void spool_free(spool *s);

#endif
