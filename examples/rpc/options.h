/* options.h - "--name value" pairs of a command line. Each ends the program with one line where it is wrong. */
#ifndef RPC_OPTIONS_H
#define RPC_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

/* True where argv[*at] is `name`. */
int option_is(const char *argument, const char *name);

/* The value after argv[*at], which moves on to it. */
const char *option_text(int argc, char **argv, int *at);
uint64_t option_number(int argc, char **argv, int *at, uint64_t most);
double option_real(int argc, char **argv, int *at, double most);
/* The file of that name, opened for writing as `mode` says, and written line by line. */
FILE *option_file(int argc, char **argv, int *at, const char *mode);

/* Writes one line and ends the program with status 2. */
_Noreturn void option_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
