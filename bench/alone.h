/* alone.h - starts a peer in a process of its own, and reads the sizes of its library. */
#ifndef CLO_BENCH_ALONE_H
#define CLO_BENCH_ALONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What to run: bin/peer-FAMILY beside this program. */
typedef struct alone_task {
    const char *family;
    uint32_t index, workers, tasks;
} alone_task;

typedef struct alone_result {
    char name[64];
    char library[FILENAME_MAX]; /* "": none of its own */
    int64_t wall_ns;            /* from before the process was made until it had ended */
    uint64_t memory_bytes;      /* the most it had; 0: the system does not tell        */
} alone_result;

/* False if there is no such peer in this build. */
bool alone_run(const alone_task *task, alone_result *result);

/* Sections of an ELF file that are loaded. */
typedef struct alone_sizes {
    uint64_t code, text, data, bss; /* text: all that is read-only, code included, as size(1) has it */
} alone_sizes;

/* False if the file is not a 64-bit ELF file of this byte order. */
bool alone_library_sizes(const char *path, alone_sizes *sizes);

#endif
