/* peer_process.h - starts a peer in a process of its own, and reads the sizes of its library. */
#ifndef CLO_BENCH_PEER_PROCESS_H
#define CLO_BENCH_PEER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The path of a program in the folder of this one; false if it is not there. */
bool program_find(const char *name, char path[FILENAME_MAX]);

/* What to run: bin/peer-FAMILY beside this program. */
typedef struct peer_process {
    const char *family;
    uint32_t index, workers, tasks;
} peer_process;

typedef struct peer_process_result {
    char name[64];
    char library[FILENAME_MAX]; /* "": none of its own */
    int64_t wall_ns;            /* from before the process was made until it had ended */
    uint64_t memory_bytes;      /* the most it had; 0: the system does not tell        */
} peer_process_result;

/* False if there is no such peer in this build. */
bool peer_process_run(const peer_process *task, peer_process_result *result);

/* Sections of an ELF file that are loaded. */
typedef struct library_sizes {
    uint64_t code, text, data, bss; /* text: all that is read-only, code included, as size(1) has it */
} library_sizes;

/* False if the file is not a 64-bit ELF file of this byte order. */
bool library_read_sizes(const char *path, library_sizes *sizes);

#endif
