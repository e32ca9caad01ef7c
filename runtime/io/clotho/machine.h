/* io/clotho/machine.h - what tells this machine and this program from others, for files of measured times. */
#ifndef CLO_IO_CLOTHO_MACHINE_H
#define CLO_IO_CLOTHO_MACHINE_H

#include "base/text.h"

#include <clotho/status.h>

/* Times that were measured on one machine hold on another one with the same architecture, CPUs and clocks. The texts
 * are 0-terminated. */
typedef struct clo_machine {
    char architecture[65]; /* "x86_64" */
    /* One line for each kind of CPU, in order: vendor, family, model, stepping, or what arm64 and riscv64 have; then
     * the highest clocks in kHz, where the kernel knows them. */
    clo_text cpus;
} clo_machine;

/* Reads it from /proc and /sys under `root` ("": this machine). Returns CLO_OK or CLO_ERR_MEMORY. Release it with
 * clo_text_free of `cpus`. */
clo_status clo_machine_read(const char *root, clo_machine *machine);

/* Appends `"name": "value"` members of what may explain other times, and is not compared: the kernel, the size of a
 * page, the governor of the clock. */
void clo_machine_describe(const char *root, clo_text *text);

/* The build id of the program in hexadecimal digits; "": it has none. */
void clo_machine_program(char *digits, size_t bytes);

#endif
