/* hosts.h - `clotho run GRAPH --hosts F` and `clotho platform calibrate --hosts F`: another program does it. */
#ifndef CLO_TOOLS_CLOTHO_RUN_HOSTS_H
#define CLO_TOOLS_CLOTHO_RUN_HOSTS_H

#include <stdbool.h>

/* True if the arguments of a verb name hosts. */
bool run_has_hosts(int argc, char **argv);

/* Becomes clotho-mpi with the same arguments; with --engine mpich: clotho-mpich. Returns only on failure, with an exit
 * code. argv: of the verb. */
int run_hosts(int argc, char **argv);

/* The same for `clotho platform calibrate`. */
int calibrate_hosts(int argc, char **argv);

#endif
