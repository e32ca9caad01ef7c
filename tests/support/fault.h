/* fault.h - makes the n-th allocation fail.
 *
 * Every test program is linked with --wrap for malloc, calloc, realloc, aligned_alloc and posix_memalign, so each
 * call that the library (linked statically) or the test itself makes is counted; what shared libraries
 * allocate for themselves is not. Works in sanitizer builds; there the leak check proves that nothing is lost.
 *
 * In a test:
 *
 *     static clo_status make_and_drop(void *context)
 *     {
 *         clo_graph *graph;
 *         clo_status status = clo_graph_create("g", &graph);
 *         if (status == CLO_OK)
 *             clo_graph_destroy(graph);
 *         return status;
 *     }
 *     ...
 *     assert_int_equal(fault_each(make_and_drop, NULL), 2);
 *
 * Or for a whole program: CLO_TEST_FAIL_ALLOC=n ./test_x makes its n-th allocation fail. */
#ifndef CLO_TEST_FAULT_H
#define CLO_TEST_FAULT_H

#include <clotho/status.h>
#include <stdint.h>

/* The n-th allocation from now on fails, once, on whatever thread; 0: none. Starts counting afresh. */
void fault_fail_nth(uint64_t n);

/* Allocations since the last fault_fail_nth (or the start of the program), the failed one included. */
uint64_t fault_count(void);

/* 1 if the failure asked for has happened. */
int fault_happened(void);

/* Runs fn with allocation 1, 2, 3 ... failing until it gets through without a failure, and fails the test unless
 * each run before returned CLO_ERR_MEMORY with an error line, and the last CLO_OK. fn must free what it makes, in
 * every case. Returns the number of allocations of a good run. */
uint64_t fault_each(clo_status (*fn)(void *context), void *context);

#endif
