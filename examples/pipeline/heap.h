/* heap.h - counts allocations of the whole program, library included, between two moments. */
#ifndef EXAMPLES_HEAP_H
#define EXAMPLES_HEAP_H

#include <stdint.h>

void heap_count_start(void);
uint64_t heap_count_stop(void); /* calls of malloc and its kin since then */

#endif
