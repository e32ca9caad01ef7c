/* model.h - runs a few threads in every order, under C11's memory orders, and says when something can go wrong.
 *
 * Threads are coroutines; each atomic operation is a point where another may go on. A load may return any write that
 * the order of happens-before does not forbid: each location keeps its writes, each thread the oldest it may still
 * read. Executions are enumerated depth first by running again with the next choice.
 *
 * Memory model: views, as in Kang et al. 2017 ("A promising semantics for relaxed-memory concurrency") without
 * promises, which is close to RC11 (Lahav et al. 2017). An acquire load joins the view of a release write; a
 * read-modify-write reads the newest write and continues its release sequence (C++20's definition: plain stores of the
 * same thread do not). seq_cst operations have one order, that of the execution, and on each place none
 * of them passes another (C++20: they are no fences for other places); membarrier exchanges the views of all threads.
 * Left out, so not found here: a load that is satisfied by a later store of its own thread's future (load buffering), a
 * store that is ordered before one that has already been made (2+2W). Both would need an address or control dependence
 * to be broken, which the code under test does not rely on being kept.
 * Bounds: the number of switches away from a thread that could go on (Musuvathi and Qadeer 2007, "Iterative context
 * bounding"), given with each scenario; nothing else is cut.
 *
 * Plain data go through model_read and model_write, which complain unless happens-before orders every write with every
 * other access. A state in which nobody can go on and somebody has not ended is a failure too: a lost wake-up. */
#ifndef CLO_MODEL_H
#define CLO_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_THREADS_MAX = 4 };
typedef enum model_order { MODEL_RELAXED, MODEL_ACQUIRE, MODEL_RELEASE, MODEL_ACQ_REL, MODEL_SEQ_CST } model_order;
typedef enum model_operation { MODEL_SET, MODEL_ADD, MODEL_OR } model_operation;

typedef struct model_scenario {
    const char *name;
    uint32_t threads;
    uint32_t switches_max; /* preemptive ones in one execution */
    void (*set_up)(void);  /* before each execution; atomic_init and plain stores */
    void (*run)(uint32_t thread);
    void (*finish)(void); /* after it: model_check what must hold */
} model_scenario;

/* Number of executions explored; 0: one of them failed, and how was printed. */
uint64_t model_explore(const model_scenario *scenario);

/* In a thread or in finish. */
void model_check(bool holds, const char *what);
void model_read(const void *plain);
void model_write(const void *plain);

/* What the shim calls. */
void model_init(const volatile void *place, size_t bytes, uint64_t value);
uint64_t model_load(const volatile void *place, size_t bytes, model_order order);
void model_store(volatile void *place, size_t bytes, uint64_t value, model_order order);
uint64_t model_rmw(volatile void *place, size_t bytes, model_operation what, uint64_t operand, model_order order);
bool model_compare_exchange(volatile void *place, size_t bytes, void *expected, uint64_t desired, model_order order,
                            model_order failure);

/* What park.c's system calls become (it is compiled with -Dsyscall=model_syscall), and clo_relax: nothing more to do
 * until somebody writes. */
long model_syscall(long number, ...);
void model_relax(void);

#endif
